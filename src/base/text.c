// Distance between words, for messages that name the nearest valid key.
#include "tendril/base.h"

#include <string.h>

enum { MAX_WORD = 63 };

static int min_int(int a, int b) {
    return a < b ? a : b;
}

// Damerau's restricted edit distance by the usual table of three rows.
int tdl_word_distance(const char* word, size_t length, const char* other) {
    int n = (int)(length < MAX_WORD ? length : MAX_WORD);
    size_t other_length = strlen(other);
    int m = (int)(other_length < MAX_WORD ? other_length : MAX_WORD);
    int rows[3][MAX_WORD + 1];
    for (int j = 0; j <= m; ++j) {
        rows[0][j] = j;
    }
    for (int i = 1; i <= n; ++i) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *twice = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; ++j) {
            bool same = word[i - 1] == other[j - 1];
            row[j] = min_int(min_int(above[j], row[j - 1]) + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1]) {
                row[j] = min_int(row[j], twice[j - 2] + 1);
            }
        }
    }
    return rows[n % 3][m];
}
