// Words for messages and for the reference page.
#include "scene/words.h"

#include "formats/number.h"

#include <stdio.h>

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

Phrase say_found(const Node* node) {
    Phrase p;
    if (node->kind == NODE_LIST) {
        snprintf(p.text, sizeof p.text, "a list of %d", node->count);
    } else if (node->kind == NODE_MAP) {
        snprintf(p.text, sizeof p.text, "a group of keys");
    } else if (node->text[0] == '\0' && !node->quoted) {
        snprintf(p.text, sizeof p.text, "nothing");
    } else {
        Quote q = quote(node->text);
        snprintf(p.text, sizeof p.text, "the %stext %s", node->quoted ? "quoted " : "", q.text);
    }
    return p;
}

bool range_is_given(const Range* range) {
    return range->min != 0.0 || range->max != 0.0;
}

bool range_holds(const Range* range, double x) {
    bool above = range->open_min ? x > range->min : x >= range->min;
    bool below = range->open_max ? x < range->max : x <= range->max;
    return !range_is_given(range) || (above && below);
}

// A number as one would write it: 1e9 rather than 1e+09, but every digit of 2147483647.
static Phrase say_number(double x) {
    Phrase p;
    double short_value = 0.0;
    snprintf(p.text, sizeof p.text, "%g", x);
    if (parse_real(p.text, &short_value) != NUMBER_FINE || short_value != x) {
        snprintf(p.text, sizeof p.text, "%.17g", x);
    }
    char* power = strchr(p.text, 'e');
    if (power != NULL) {
        char* from = power + 1 + (power[1] == '+');
        char* to = power + 1;
        *to = *from;
        bool minus = *from == '-';
        from += minus;
        to += minus;
        from += strspn(from, "0");
        memmove(to, from, strlen(from) + 1);
    }
    return p;
}

Phrase say_range(const Range* range) {
    Phrase p, min = say_number(range->min), max = say_number(range->max);
    snprintf(p.text, sizeof p.text, "in %c%.32s, %.32s%c", range->open_min ? '(' : '[', min.text,
             max.text, range->open_max ? ')' : ']');
    return p;
}
