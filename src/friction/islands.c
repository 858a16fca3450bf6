// Islands by union-find, greedy colouring, random order. All O(couplings).
#include "friction/islands.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

static int find_root(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// the lower root wins, so that a root is its island's lowest contact
static void unite(int* parent, int i, int j) {
    int a = find_root(parent, i), b = find_root(parent, j);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

static bool unite_bodies(Arena* arena, const TdlFrictionProblem* p, int* parent) {
    int* last = ARENA_NEW(arena, int, p->body_count);
    if (last == NULL) {
        return false;
    }
    memset(last, 0xff, (size_t)p->body_count * sizeof(int));
    for (int s = 0; s < 2 * p->n; ++s) {
        int body = p->body[s];
        if (body < 0) {
            continue;
        }
        if (last[body] >= 0) {
            unite(parent, last[body], s / 2);
        }
        last[body] = s / 2;
    }
    return true;
}

typedef struct Group {
    int root, size;
} Group;

static int larger_first(const void* a, const void* b) {
    const Group *x = a, *y = b;
    if (x->size != y->size) {
        return x->size > y->size ? -1 : 1;
    }
    return (x->root > y->root) - (x->root < y->root);
}

// groups sorted by size, then contacts dealt to them in ascending order
static TdlStatus deal(Arena* arena, int n, int* parent, Islands* out) {
    Group* group = ARENA_NEW(arena, Group, n);
    int* slot = ARENA_NEW(arena, int, n);
    if (group == NULL || slot == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    int count = 0;
    for (int i = 0; i < n; ++i) {
        int root = find_root(parent, i);
        if (root == i) {
            slot[i] = count;
            group[count++] = (Group){i, 0};
        }
        ++group[slot[root]].size;
    }
    qsort(group, (size_t)count, sizeof(Group), larger_first);
    out->count = count;
    out->start = ARENA_NEW(arena, int, (size_t)count + 1);
    if (out->start == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    out->start[0] = 0;
    for (int g = 0; g < count; ++g) {
        slot[group[g].root] = out->start[g];
        out->start[g + 1] = out->start[g] + group[g].size;
    }
    for (int i = 0; i < n; ++i) {
        out->contact[slot[find_root(parent, i)]++] = i;
    }
    return TDL_STATUS_OK;
}

TdlStatus islands_find(Arena* arena, const TdlFrictionProblem* p, bool split, Islands* out) {
    *out = (Islands){0};
    int* parent = ARENA_NEW(arena, int, p->n);
    out->contact = ARENA_NEW(arena, int, p->n);
    if (parent == NULL || out->contact == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < p->n; ++i) {
        parent[i] = split ? i : 0;
    }
    if (split && problem_has_bodies(p)) {
        if (!unite_bodies(arena, p, parent)) {
            return TDL_STATUS_NO_MEMORY;
        }
    } else if (split) {
        for (int i = 0; i < p->n; ++i) {
            for (int e = p->start[i]; e < p->start[i + 1]; ++e) {
                unite(parent, i, p->column[e]);
            }
        }
    }
    return deal(arena, p->n, parent, out);
}

// --- colours -------------------------------------------------------------------------------------

// sets colour[k] for the k-th contact of the island from the blocks of W
static int colour_rows(const TdlFrictionProblem* p, const int* contact, int n, int* colour_of,
                       int* used) {
    int count = 0;
    for (int k = 0; k < n; ++k) {
        int i = contact[k];
        for (int e = p->start[i]; e < p->start[i + 1]; ++e) {
            int c = colour_of[p->column[e]];
            if (c >= 0) {
                used[c] = i;
            }
        }
        int c = 0;
        while (c < count && used[c] == i) {
            ++c;
        }
        colour_of[i] = c;
        count = c == count ? count + 1 : count;
    }
    return count;
}

// The same from bodies: each body keeps the set of colours its contacts have.
static int colour_bodies(const TdlFrictionProblem* p, const int* contact, int n, int* colour_of,
                         uint64_t* taken, size_t words) {
    static uint64_t none[1];
    int count = 0;
    for (int k = 0; k < n; ++k) {
        int i = contact[k], a = p->body[2 * i], b = p->body[2 * i + 1];
        uint64_t* sa = a < 0 ? NULL : taken + (size_t)a * words;
        uint64_t* sb = b < 0 ? NULL : taken + (size_t)b * words;
        for (size_t w = 0; w < words; ++w) {
            uint64_t both = (sa == NULL ? none[0] : sa[w]) | (sb == NULL ? none[0] : sb[w]);
            if (both == UINT64_MAX) {
                continue;
            }
            int bit = __builtin_ctzll(~both);
            colour_of[i] = (int)(64 * w) + bit;
            if (sa != NULL) {
                sa[w] |= (uint64_t)1 << bit;
            }
            if (sb != NULL) {
                sb[w] |= (uint64_t)1 << bit;
            }
            break;
        }
        count = colour_of[i] >= count ? colour_of[i] + 1 : count;
    }
    return count;
}

static int most_contacts_on_a_body(const TdlFrictionProblem* p, int* degree) {
    int most = 0;
    memset(degree, 0, (size_t)p->body_count * sizeof(int));
    for (int s = 0; s < 2 * p->n; ++s) {
        if (p->body[s] >= 0 && ++degree[p->body[s]] > most) {
            most = degree[p->body[s]];
        }
    }
    return most;
}

static TdlStatus choose_colours(Arena* arena, const TdlFrictionProblem* p, const int* contact,
                                int n, int* colour_of, int* count) {
    memset(colour_of, 0xff, (size_t)p->n * sizeof(int));
    if (!problem_has_bodies(p)) {
        int* used = ARENA_NEW(arena, int, (size_t)n + 1);
        if (used == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memset(used, 0xff, ((size_t)n + 1) * sizeof(int));
        *count = colour_rows(p, contact, n, colour_of, used);
        return TDL_STATUS_OK;
    }
    int* degree = ARENA_NEW(arena, int, p->body_count);
    if (degree == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    // greedy needs at most the sum of two degrees
    size_t words = (2 * (size_t)most_contacts_on_a_body(p, degree) + 64) / 64;
    uint64_t* taken = ARENA_NEW(arena, uint64_t, (size_t)p->body_count * words);
    if (taken == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(taken, 0, (size_t)p->body_count * words * sizeof(uint64_t));
    *count = colour_bodies(p, contact, n, colour_of, taken, words);
    return TDL_STATUS_OK;
}

TdlStatus islands_colour(Arena* arena, const TdlFrictionProblem* p, int* contact, int n,
                         Colours* out) {
    int* colour_of = ARENA_NEW(arena, int, p->n);
    int* sorted = ARENA_NEW(arena, int, n);
    int count = 0;
    if (colour_of == NULL || sorted == NULL ||
        choose_colours(arena, p, contact, n, colour_of, &count) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    int* next = ARENA_NEW(arena, int, (size_t)count + 1);
    out->count = count;
    out->start = ARENA_NEW(arena, int, (size_t)count + 1);
    if (next == NULL || out->start == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(out->start, 0, ((size_t)count + 1) * sizeof(int));
    for (int k = 0; k < n; ++k) {
        ++out->start[colour_of[contact[k]] + 1];
    }
    for (int c = 0; c < count; ++c) {
        out->start[c + 1] += out->start[c];
        next[c] = out->start[c];
    }
    for (int k = 0; k < n; ++k) {
        sorted[next[colour_of[contact[k]]]++] = contact[k];
    }
    memcpy(contact, sorted, (size_t)n * sizeof(int));
    return TDL_STATUS_OK;
}

void islands_shuffle(int* contact, int n, uint64_t seed) {
    Rng rng = rng_seed(seed);
    for (int k = n - 1; k > 0; --k) {
        int j = rng_below(&rng, k + 1);
        int swap = contact[k];
        contact[k] = contact[j];
        contact[j] = swap;
    }
}
