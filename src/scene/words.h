// Words for messages and for the reference page: choices, the nearest word, ranges, what was found.
#ifndef TDL_SCENE_WORDS_H
#define TDL_SCENE_WORDS_H

#include "scene/yaml.h"

// Choices are written "a|b|c".
const char* choice_at(const char* choices, int index, size_t* length); // null past the last
int choice_index(const char* choices, const char* text);               // -1: none of them

// The word nearest to a misspelt one, and "; did you mean 'x'?" for it ("" when none is near).
typedef struct Nearest {
    const char* wrong;
    const char* best;
    int best_length, distance;
} Nearest;
typedef struct Hint {
    char text[96];
} Hint;
Nearest nearest_to(const char* wrong);
void nearest_try(Nearest* nearest, const char* word, size_t length);
Hint nearest_hint(const Nearest* nearest);

// Open ends exclude their bound. All zero: any finite number.
typedef struct Range {
    double min, max;
    bool open_min, open_max;
} Range;

bool range_is_given(const Range* range);
bool range_holds(const Range* range, double x);

typedef struct Phrase {
    char text[160];
} Phrase;
Phrase say_range(const Range* range); // "in (0, 1]"
Phrase say_found(const Node* node);   // "a list of 3", "the text 'x'"

#endif
