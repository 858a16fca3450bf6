// Triangles that go through each other: cases on paper, and random sheets against the signs of
// volumes in whole numbers.
#include "detect/sheet_crossings.h"

#include "test.h"

static const TdlVec3 FLAT[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};

TEST(a_segment_and_a_triangle_on_paper) {
    CHECK(segment_meets_triangle((TdlVec3){0.2, 0.2, -1.0}, (TdlVec3){0.2, 0.2, 1.0}, FLAT));
    CHECK(!segment_meets_triangle((TdlVec3){0.7, 0.7, -1.0}, (TdlVec3){0.7, 0.7, 1.0}, FLAT));
    // it ends just before, on and beyond the plane
    CHECK(!segment_meets_triangle((TdlVec3){0.2, 0.2, 1.0}, (TdlVec3){0.2, 0.2, 1.0e-300}, FLAT));
    CHECK(segment_meets_triangle((TdlVec3){0.2, 0.2, 1.0}, (TdlVec3){0.2, 0.2, 0.0}, FLAT));
    CHECK(segment_meets_triangle((TdlVec3){0.2, 0.2, 1.0}, (TdlVec3){0.2, 0.2, -1.0e-300}, FLAT));
    // through a corner and through a side, and past them by the least there is
    CHECK(segment_meets_triangle((TdlVec3){1.0, 0.0, 1.0}, (TdlVec3){1.0, 0.0, -1.0}, FLAT));
    CHECK(segment_meets_triangle((TdlVec3){0.5, 0.5, 1.0}, (TdlVec3){0.5, 0.5, -1.0}, FLAT));
    double past = nextafter(0.5, 1.0);
    CHECK(!segment_meets_triangle((TdlVec3){0.5, past, 1.0}, (TdlVec3){0.5, past, -1.0}, FLAT));
    // in its plane: across, inside, beside
    CHECK(segment_meets_triangle((TdlVec3){-1.0, 0.3, 0.0}, (TdlVec3){2.0, 0.3, 0.0}, FLAT));
    CHECK(segment_meets_triangle((TdlVec3){0.2, 0.2, 0.0}, (TdlVec3){0.3, 0.2, 0.0}, FLAT));
    CHECK(!segment_meets_triangle((TdlVec3){0.6, 0.6, 0.0}, (TdlVec3){2.0, 0.3, 0.0}, FLAT));
}

// Six times the volume of four points with small whole coordinates: exact.
static long volume(const int* a, const int* b, const int* c, const int* d) {
    long m[3][3];
    for (int k = 0; k < 3; ++k) {
        m[0][k] = a[k] - d[k];
        m[1][k] = b[k] - d[k];
        m[2][k] = c[k] - d[k];
    }
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

static int sign(long x) {
    return (x > 0) - (x < 0);
}

// Where no four of the points are in one plane: the ends are on both sides, and the line passes all
// sides of the triangle the same way round.
TEST(random_triangles_against_volumes) {
    unsigned seed = 5;
    int asked = 0, met = 0;
    for (int i = 0; i < 20000; ++i) {
        int p[5][3];
        for (int k = 0; k < 15; ++k) {
            seed = seed * 1664525u + 1013904223u;
            p[k / 3][k % 3] = (int)(seed >> 16) % 1000;
        }
        int s[2], t[3];
        s[0] = sign(volume(p[2], p[3], p[4], p[0]));
        s[1] = sign(volume(p[2], p[3], p[4], p[1]));
        bool plain = s[0] != 0 && s[1] != 0;
        for (int k = 0; k < 3; ++k) {
            t[k] = sign(volume(p[0], p[1], p[2 + k], p[2 + (k + 1) % 3]));
            plain = plain && t[k] != 0;
        }
        if (!plain) {
            continue;
        }
        TdlVec3 q[5];
        for (int k = 0; k < 5; ++k) {
            q[k] = (TdlVec3){ldexp(p[k][0], -10), ldexp(p[k][1], -10), ldexp(p[k][2], -10)};
        }
        bool truth = s[0] != s[1] && t[0] == t[1] && t[1] == t[2];
        CHECK_INT(segment_meets_triangle(q[0], q[1], q + 2), truth);
        ++asked;
        met += truth;
    }
    printf("  %d of %d meet\n", met, asked);
    CHECK(asked > 19000 && met > 500);
}

// Two squares of two triangles, one standing in the other; lifted they are apart.
TEST(pairs_of_a_mesh_are_told) {
    TdlVec3 v[8] = {{-1.0, -1.0, 0.0}, {1.0, -1.0, 0.0}, {1.0, 1.0, 0.0}, {-1.0, 1.0, 0.0},
                    {0.1, 0.2, -0.5},  {0.1, 0.7, -0.5}, {0.1, 0.7, 0.5}, {0.1, 0.2, 0.5}};
    const int t[12] = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7};
    int pair[8][2];
    // the second goes through the half above the diagonal with three edges of its two triangles
    CHECK_INT(sheet_crossings(v, t, 4, 8, pair), 2);
    CHECK(pair[0][0] == 2 && pair[0][1] == 1 && pair[1][0] == 3 && pair[1][1] == 1);
    for (int k = 4; k < 8; ++k) {
        v[k].z += 0.5 + 1.0e-12;
    }
    CHECK_INT(sheet_crossings(v, t, 4, 8, pair), 0);
}
