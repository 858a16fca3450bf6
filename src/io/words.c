// Choices and the nearest word: what a message about a misspelt word needs.
#include "io/schema.h"

#include <string.h>

const char* choice_at(const char* choices, int index, size_t* length) {
    for (; index > 0; --index) {
        choices += strcspn(choices, "|");
        if (*choices++ == '\0') {
            return NULL;
        }
    }
    *length = strcspn(choices, "|");
    return choices;
}

int choice_index(const char* choices, const char* text) {
    size_t length;
    const char* word;
    for (int i = 0; (word = choice_at(choices, i, &length)) != NULL; ++i) {
        if (strlen(text) == length && strncmp(text, word, length) == 0) {
            return i;
        }
    }
    return -1;
}

Nearest nearest_to(const char* wrong) {
    // a word is near when at most a third of its letters, and three, are wrong
    size_t length = strlen(wrong);
    int limit = length < 3 ? 1 : length < 9 ? (int)length / 3 : 3;
    return (Nearest){.wrong = wrong, .distance = limit + 1};
}

void nearest_try(Nearest* nearest, const char* word, size_t length) {
    char copy[64];
    if (length >= sizeof copy) {
        return;
    }
    memcpy(copy, word, length);
    copy[length] = '\0';
    int distance = tdl_word_distance(nearest->wrong, strlen(nearest->wrong), copy);
    if (distance < nearest->distance) {
        nearest->best = word;
        nearest->best_length = (int)length;
        nearest->distance = distance;
    }
}

Hint nearest_hint(const Nearest* nearest) {
    Hint hint = {""};
    if (nearest->best != NULL) {
        snprintf(hint.text, sizeof hint.text, "; did you mean '%.*s'?", nearest->best_length,
                 nearest->best);
    }
    return hint;
}
