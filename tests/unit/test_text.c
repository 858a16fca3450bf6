#include "test.h"

static int distance(const char* a, const char* b) {
    return tdl_word_distance(a, strlen(a), b);
}

TEST(word_distance_counts_edits) {
    CHECK_INT(distance("", ""), 0);
    CHECK_INT(distance("", "abc"), 3);
    CHECK_INT(distance("radius", "radius"), 0);
    CHECK_INT(distance("raduis", "radius"), 1);
    CHECK_INT(distance("radus", "radius"), 1);
    CHECK_INT(distance("radiuss", "radius"), 1);
    CHECK_INT(distance("rbdius", "radius"), 1);
    CHECK_INT(distance("kitten", "sitting"), 3);
    CHECK_INT(tdl_word_distance("radius=3", 6, "radius"), 0);
}

TEST(word_distance_is_symmetric_and_bounded_on_long_words) {
    char a[200], b[200];
    memset(a, 'a', sizeof a - 1);
    memset(b, 'b', sizeof b - 1);
    a[199] = b[199] = '\0';
    CHECK_INT(distance(a, a), 0);
    CHECK_INT(distance(a, b), 63);
    CHECK_INT(distance("friction", "fiction"), distance("fiction", "friction"));
}
