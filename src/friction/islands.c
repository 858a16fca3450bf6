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

// Contacts of one task of a colour.
enum { COLOUR_TASK = 64 };

// Groups of bodies: with more, tasks are too short for the time that threads take to meet.
enum { GROUPS = 16 };

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

// Sorts the contacts by key, keeping their order within one; `start` receives where each begins.
static TdlStatus sort_by(Arena* arena, const int* key, int keys, int* contact, int n, int* start) {
    int* sorted = ARENA_NEW(arena, int, n);
    int* next = ARENA_NEW(arena, int, (size_t)keys + 1);
    if (sorted == NULL || next == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(start, 0, ((size_t)keys + 1) * sizeof(int));
    for (int k = 0; k < n; ++k) {
        ++start[key[contact[k]] + 1];
    }
    for (int c = 0; c < keys; ++c) {
        start[c + 1] += start[c];
        next[c] = start[c];
    }
    for (int k = 0; k < n; ++k) {
        sorted[next[key[contact[k]]]++] = contact[k];
    }
    memcpy(contact, sorted, (size_t)n * sizeof(int));
    return TDL_STATUS_OK;
}

TdlStatus islands_colour(Arena* arena, const TdlFrictionProblem* p, int* contact, int n,
                         Phases* out) {
    int* colour_of = ARENA_NEW(arena, int, p->n);
    int count = 0;
    if (colour_of == NULL ||
        choose_colours(arena, p, contact, n, colour_of, &count) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    int* start = ARENA_NEW(arena, int, (size_t)count + 1);
    out->count = count;
    out->first_task = ARENA_NEW(arena, int, (size_t)count + 1);
    out->start = ARENA_NEW(arena, int, (size_t)(n / COLOUR_TASK + count) + 1);
    if (start == NULL || out->first_task == NULL || out->start == NULL ||
        sort_by(arena, colour_of, count, contact, n, start) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    int tasks = 0;
    for (int c = 0; c < count; ++c) {
        out->first_task[c] = tasks;
        for (int k = start[c]; k < start[c + 1]; k += COLOUR_TASK) {
            out->start[tasks++] = k;
        }
    }
    out->first_task[count] = tasks;
    out->start[tasks] = n;
    return TDL_STATUS_OK;
}

// --- groups --------------------------------------------------------------------------------------

// Groups of bodies, ascending, with about as many contacts each.
static void choose_groups(const TdlFrictionProblem* p, const int* contact, int n, int* group_of) {
    int total = 0, before = 0;
    memset(group_of, 0, (size_t)p->body_count * sizeof(int));
    for (int s = 0; s < 2 * n; ++s) {
        int body = p->body[2 * contact[s / 2] + s % 2];
        if (body >= 0) {
            ++group_of[body];
            ++total;
        }
    }
    for (int body = 0; body < p->body_count; ++body) {
        int own = group_of[body];
        group_of[body] = (int)((GROUPS * (before + 0.5 * own)) / (total + 1.0));
        before += own;
    }
}

// The two groups of a contact as one number; what stands still has none.
static int pair_of(const TdlFrictionProblem* p, int i, const int* group_of) {
    int a = p->body[2 * i], b = p->body[2 * i + 1];
    int ga = a >= 0 ? group_of[a] : b >= 0 ? group_of[b] : 0, gb = b >= 0 ? group_of[b] : ga;
    return ga < gb ? ga * GROUPS + gb : gb * GROUPS + ga;
}

// Deals pairs of groups into phases, the heaviest first, so that those of a phase are alike.
static void deal_pairs(const int* weight, int* task_of, Phases* out) {
    int tasks = 0;
    bool dealt[GROUPS * GROUPS];
    for (int g = 0; g < GROUPS; ++g) {
        task_of[g * GROUPS + g] = tasks++;
    }
    for (int k = 0; k < GROUPS * GROUPS; ++k) {
        dealt[k] = k / GROUPS >= k % GROUPS || weight[k] == 0;
    }
    out->count = 1;
    out->first_task[0] = 0;
    for (bool more = true; more;) {
        bool busy[GROUPS] = {false};
        out->first_task[out->count] = tasks;
        more = false;
        for (int best = 0; best >= 0;) {
            best = -1;
            for (int k = 0; k < GROUPS * GROUPS; ++k) {
                if (!dealt[k] && !busy[k / GROUPS] && !busy[k % GROUPS] &&
                    (best < 0 || weight[k] > weight[best])) {
                    best = k;
                }
            }
            if (best >= 0) {
                dealt[best] = busy[best / GROUPS] = busy[best % GROUPS] = more = true;
                task_of[best] = tasks++;
            }
        }
        out->count += more;
    }
}

TdlStatus islands_group(Arena* arena, const TdlFrictionProblem* p, int* contact, int n,
                        Phases* out) {
    int weight[GROUPS * GROUPS] = {0}, task_of[GROUPS * GROUPS] = {0};
    int* group_of = ARENA_NEW(arena, int, p->body_count);
    int* key = ARENA_NEW(arena, int, p->n);
    out->first_task = ARENA_NEW(arena, int, GROUPS* GROUPS + 1);
    out->start = ARENA_NEW(arena, int, GROUPS* GROUPS + 1);
    if (group_of == NULL || key == NULL || out->first_task == NULL || out->start == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    choose_groups(p, contact, n, group_of);
    for (int k = 0; k < n; ++k) {
        key[contact[k]] = pair_of(p, contact[k], group_of);
        ++weight[key[contact[k]]];
    }
    deal_pairs(weight, task_of, out);
    for (int k = 0; k < n; ++k) {
        key[contact[k]] = task_of[key[contact[k]]];
    }
    return sort_by(arena, key, out->first_task[out->count], contact, n, out->start);
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
