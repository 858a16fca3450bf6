// Sparse square roots against the matrix they are of.
#include "linalg/sparse_root.h"
#include "test.h"

enum { N = 24, GROUPS = 3 };

typedef struct Sparse {
    double dense[N * N], value[N * N];
    int start[N + 1], index[N * N], first[GROUPS + 1];
} Sparse;

// Three groups, each a chain with some entries across it; diagonally dominant.
static void fill(Sparse* s) {
    uint64_t seed = 3;
    *s = (Sparse){.first = {0, 7, 15, N}};
    for (int g = 0; g < GROUPS; ++g) {
        for (int i = s->first[g]; i < s->first[g + 1]; ++i) {
            for (int j = s->first[g]; j < i; ++j) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                if (i - j == 1 || seed >> 61 == 0) {
                    double x = (double)(seed >> 40) / 16777216.0 - 0.5;
                    s->dense[i * N + j] = s->dense[j * N + i] = x;
                    s->dense[i * N + i] += 1.1 * fabs(x);
                    s->dense[j * N + j] += 1.1 * fabs(x);
                }
            }
            s->dense[i * N + i] += 0.1;
        }
    }
    int count = 0;
    for (int j = 0; j < N; ++j) {
        s->start[j] = count;
        for (int i = 0; i < N; ++i) {
            if (s->dense[j * N + i] != 0.0) {
                s->index[count] = i;
                s->value[count++] = s->dense[j * N + i];
            }
        }
    }
    s->start[N] = count;
}

static bool open_root(Sparse* s, Arena* arena, SparseRoot* c) {
    TdlHost host = tdl_host_default();
    SparsePattern pattern = {N, s->start, s->index};
    arena_init(arena, &host.mem);
    return sparse_root_create(c, arena, &pattern, s->value, GROUPS, s->first) == TDL_STATUS_OK;
}

TEST(it_is_a_root_and_groups_stay_where_they_are) {
    Sparse s;
    Arena arena;
    SparseRoot c;
    fill(&s);
    REQUIRE(open_root(&s, &arena, &c));
    for (int g = 0; g < GROUPS; ++g) {
        for (int k = s.first[g]; k < s.first[g + 1]; ++k) {
            CHECK(c.order[k] >= s.first[g] && c.order[k] < s.first[g + 1]);
            CHECK(c.place[c.order[k]] == k);
        }
    }
    double worst = 0.0;
    for (int j = 0; j < N; ++j) {
        // |C' e_j|^2 and products of two are entries of A
        double v[N] = {0}, zj[N], zi[N];
        v[j] = 1.0;
        sparse_root_whiten(&c, 0, N, v, zj);
        for (int i = 0; i < N; ++i) {
            double w[N] = {0}, sum = 0.0;
            w[i] = 1.0;
            sparse_root_whiten(&c, 0, N, w, zi);
            for (int k = 0; k < N; ++k) {
                sum += zi[k] * zj[k];
            }
            worst = fmax(worst, fabs(sum - s.dense[i * N + j]));
        }
    }
    CHECK_BELOW(worst, 1.0e-14); // some roundings of entries of about one
    arena_destroy(&arena);
}

TEST(what_is_whitened_comes_back_group_by_group) {
    Sparse s;
    Arena arena;
    SparseRoot c;
    fill(&s);
    REQUIRE(open_root(&s, &arena, &c));
    double v[N], f[N] = {0}, z[N] = {0}, back[N] = {0}, driven[N] = {0};
    for (int i = 0; i < N; ++i) {
        v[i] = sin(1.0 + i);
    }
    for (int i = 0; i < N * N; ++i) {
        f[i / N] += s.dense[i] * v[i % N]; // f = A v: C^-1 f = C' v
    }
    double worst = 0.0;
    for (int g = 0; g < GROUPS; ++g) {
        sparse_root_whiten(&c, s.first[g], s.first[g + 1], v, z);
        sparse_root_velocity(&c, s.first[g], s.first[g + 1], z, back);
        sparse_root_drive(&c, s.first[g], s.first[g + 1], f, driven);
    }
    for (int i = 0; i < N; ++i) {
        worst = fmax(worst, fmax(fabs(back[i] - v[i]), fabs(driven[i] - z[i])));
    }
    CHECK_BELOW(worst, 1.0e-13); // roundings times the condition of some ten
    arena_destroy(&arena);
}

TEST(what_is_not_positive_definite_is_refused) {
    Sparse s;
    Arena arena;
    SparseRoot c;
    fill(&s);
    for (int e = s.start[9]; e < s.start[10]; ++e) {
        s.value[e] = s.index[e] == 9 ? -0.5 : s.value[e];
    }
    CHECK(!open_root(&s, &arena, &c));
    arena_destroy(&arena);
}
