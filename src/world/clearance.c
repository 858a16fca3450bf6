// The clearances of a world, sorted by the two bodies they are about: there may be
// thousands, and every candidate asks.
#include "world/clearance.h"

#include "base/log.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

void clearance_free(const TdlAllocator* mem, ClearanceList* list) {
    tdl_free(mem, list->at);
    tdl_free(mem, list->rooted);
    *list = (ClearanceList){0};
}

// Ids, the lower first.
typedef struct PairKey {
    int low, high;
} PairKey;

static PairKey key_of(const Body* a, const Body* b) {
    int x = a->id.index, y = b->id.index;
    return x < y ? (PairKey){x, y} : (PairKey){y, x};
}

static int compare_keys(PairKey a, PairKey b) {
    int low = (a.low > b.low) - (a.low < b.low);
    return low != 0 ? low : (a.high > b.high) - (a.high < b.high);
}

static int compare(const void* x, const void* y) {
    const Clearance *a = x, *b = y;
    return compare_keys(key_of(a->body[0], a->body[1]), key_of(b->body[0], b->body[1]));
}

static int compare_rooted(const void* x, const void* y) {
    const RootedPair *a = x, *b = y;
    return compare_keys(key_of(a->body[0], a->body[1]), key_of(b->body[0], b->body[1]));
}

void clearance_sort(ClearanceList* list) {
    if (!list->sorted && list->count > 1) {
        qsort(list->at, (size_t)list->count, sizeof *list->at, compare);
    }
    if (list->rooted_count > 1) {
        qsort(list->rooted, (size_t)list->rooted_count, sizeof *list->rooted, compare_rooted);
    }
    list->sorted = true;
}

void clearance_unroot(ClearanceList* list) {
    list->rooted_count = 0;
}

bool clearance_add_rooted(const TdlAllocator* mem, ClearanceList* list, const RootedPair* pair) {
    if (!tdl_reserve(mem, &list->rooted, &list->rooted_capacity, list->rooted_count + 1,
                     sizeof *list->rooted)) {
        return false;
    }
    list->rooted[list->rooted_count++] = *pair;
    return true;
}

// The first of a pair, or where it would be.
static int find_first(const ClearanceList* list, PairKey key) {
    int low = 0, high = list->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const Clearance* own = &list->at[middle];
        if (compare_keys(key_of(own->body[0], own->body[1]), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The same of those that are rooted.
static int find_first_rooted(const ClearanceList* list, PairKey key) {
    int low = 0, high = list->rooted_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const RootedPair* own = &list->rooted[middle];
        if (compare_keys(key_of(own->body[0], own->body[1]), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool are(const Body* const body[2], PairKey key) {
    return compare_keys(key_of(body[0], body[1]), key) == 0;
}

bool clearance_knows(const ClearanceList* list, const Body* a, const Body* b) {
    PairKey key = key_of(a, b);
    int first = find_first(list, key);
    return first < list->count && are(list->at[first].body, key);
}

// Where to look for the balls of a pair: at clearances, then at what is rooted.
typedef struct BallWalk {
    const ClearanceList* list;
    PairKey key;
    int clearance, rooted;
} BallWalk;

static BallWalk walk_balls(const ClearanceList* list, const Body* a, const Body* b) {
    PairKey key = key_of(a, b);
    return (BallWalk){list, key, find_first(list, key), find_first_rooted(list, key)};
}

// The next ball; false: there is none.
static bool next_ball(BallWalk* w, ClearBall* out) {
    const ClearanceList* list = w->list;
    while (w->clearance < list->count && are(list->at[w->clearance].body, w->key)) {
        const Clearance* own = &list->at[w->clearance++];
        out->radius = own->length;
        if (own->anchor(own->owner, &out->centre)) {
            return true;
        }
    }
    if (w->rooted < list->rooted_count && are(list->rooted[w->rooted].body, w->key)) {
        *out = list->rooted[w->rooted++].ball;
        return true;
    }
    return false;
}

int clearance_balls(const ClearanceList* list, const Body* a, const Body* b,
                    ClearBall out[CLEAR_BALLS]) {
    BallWalk walk = walk_balls(list, a, b);
    int found = 0;
    while (found < CLEAR_BALLS && next_ball(&walk, &out[found])) {
        ++found;
    }
    return found;
}

bool clearance_covers(const ClearanceList* list, const Body* a, const Body* b,
                      const TdlVec3* places, int count, double times) {
    BallWalk walk = walk_balls(list, a, b);
    ClearBall ball;
    while (next_ball(&walk, &ball)) {
        for (int k = 0; k < count; ++k) {
            if (tdl_norm3(tdl_sub3(places[k], ball.centre)) <= times * ball.radius) {
                return true;
            }
        }
    }
    return false;
}

static void keep_others(ClearanceList* list, const Body* body, const void* owner) {
    int kept = 0;
    for (int i = 0; i < list->count; ++i) {
        const Clearance* own = &list->at[i];
        bool gone =
            body != NULL ? own->body[0] == body || own->body[1] == body : own->owner == owner;
        if (!gone) {
            list->at[kept++] = *own;
        }
    }
    list->count = kept; // their order stays
}

void clearance_forget(ClearanceList* list, const Body* body) {
    keep_others(list, body, NULL);
    clearance_unroot(list);
}

// --- what kinds of bodies and joints ask of their world --------------------------------------

TdlStatus world_keep_clear(TdlWorld* world, const Clearance* clearance) {
    ClearanceList* list = &world->clearances;
    if (!(clearance->length > 0.0) || !isfinite(clearance->length)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "the length in which bodies do not touch must be positive");
    }
    if (!tdl_reserve(&world->host.mem, &list->at, &list->capacity, list->count + 1,
                     sizeof *list->at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    list->at[list->count++] = *clearance;
    list->sorted = false;
    if (world->contacts != NULL) {
        contacts_clear_again(world, clearance->body[0], clearance->body[1]);
    }
    return TDL_STATUS_OK;
}

void world_end_clearances(TdlWorld* world, const void* owner) {
    Clearance own = {{NULL, NULL}, 0.0, NULL, NULL}; // nobody owns two
    for (int i = 0; i < world->clearances.count; ++i) {
        own = world->clearances.at[i].owner == owner ? world->clearances.at[i] : own;
    }
    keep_others(&world->clearances, NULL, owner);
    if (world->contacts != NULL && own.body[0] != NULL) {
        contacts_clear_again(world, own.body[0], own.body[1]);
    }
}
