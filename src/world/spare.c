// As many contacts as hold: where a body lies level on an obstacle its seats take part, or its
// joints and least gaps, and not both. What is left out is judged all the same. world.md (W.26)
#include "detect/sheet.h"
#include "world/contact_data.h"

#include <string.h>

// Between two seats a candidate is spare that is not this many radii deeper than they: somewhat
// more than the overlap that is left alone. (W.26)
static const double SPARE_RADII = 0.003;

// Cosine of the angle between normals of places on the same plane of a mesh; 1e-3 rad.
static const double SAME_FACE = 1.0 - 5.0e-7;

// So many neighbouring seats are closed about what is spare: what happens where a body lifts off is
// felt an element further by 0.17 of it.
enum { SEAT_ROW = 4 };

// The candidates of a body on an obstacle, in their order along it.
typedef struct Row {
    Candidate* all;
    int* order; // [count] among all
    int count;
    int each;    // curves to an element
    bool joints; // are its seats, which always take part
} Row;

static Candidate* along(const Row* row, int p) {
    return &row->all[row->order[p]];
}

static int element_of(const Row* row, int p) {
    return along(row, p)->site.contact.element[0] / row->each;
}

// Those of an element are not sorted where they are on several triangles.
static void sort_along(Row* row, int first) {
    for (int i = 0; i < row->count; ++i) {
        int p = i;
        double arc = row->all[first + i].site.arc[0];
        for (; p > 0 && along(row, p - 1)->site.arc[0] > arc; --p) {
            row->order[p] = row->order[p - 1];
        }
        row->order[p] = first + i;
    }
}

// The next seat from p on at which the gap is closed; the count: none.
static int next_seat(const Row* row, int p) {
    while (p < row->count && !(along(row, p)->site.seat && !along(row, p)->jointed &&
                               along(row, p)->site.contact.gap <= SLOP * along(row, p)->radius)) {
        ++p;
    }
    return p;
}

// A mesh has many faces, which hold in directions of their own.
static bool same_face(const Candidate* a, const Candidate* b) {
    double cosine = tdl_dot3(a->site.contact.basis.cx, b->site.contact.basis.cx);
    return !a->site.faced || cosine > SAME_FACE;
}

// Whether it is not deeper than two others.
static bool is_held_by(const Candidate* x, const Candidate* a, const Candidate* b) {
    double level = fmin(a->site.contact.gap, b->site.contact.gap);
    return same_face(x, a) && same_face(x, b) &&
           x->site.contact.gap >= level - SPARE_RADII * x->radius;
}

// Between the two in the middle of so many seats of neighbouring elements nothing else is needed.
static void mark_between_seats(const Row* row) {
    int at[SEAT_ROW] = {0}, count = 0;
    const int* middle = at + SEAT_ROW / 2 - 1;
    for (int p = next_seat(row, 0); p < row->count; p = next_seat(row, p + 1)) {
        int last = at[SEAT_ROW - 1];
        bool next = count > 0 && element_of(row, p) <= element_of(row, last) + 1 &&
                    same_face(along(row, p), along(row, last));
        count = next ? count + 1 : 1;
        memmove(at, at + 1, (SEAT_ROW - 1) * sizeof *at);
        at[SEAT_ROW - 1] = p;
        for (int k = middle[0] + 1; count >= SEAT_ROW && k < middle[1]; ++k) {
            Candidate* x = along(row, k);
            x->spare = is_held_by(x, along(row, middle[0]), along(row, middle[1]));
        }
    }
}

static bool is_duplicate(const Candidate* x, const Candidate* seat) {
    bool near = fabs(x->site.arc[0] - seat->site.arc[0]) < x->radius;
    return near && !x->site.seat && is_held_by(x, seat, seat);
}

static bool is_spare_place(const Candidate* x) {
    return x->spare && !x->site.seat;
}

// Elsewhere the ends of elements and the least gaps hold, and seats are not needed unless they are
// such. Where they are needed others within a radius are their duplicates.
static void mark_seats(const Row* row) {
    for (int p = 1; p + 1 < row->count; ++p) {
        Candidate *x = along(row, p), *a = along(row, p - 1), *b = along(row, p + 1);
        int element = element_of(row, p);
        if (!x->site.seat) {
            continue;
        }
        if (row->joints || is_spare_place(a) || is_spare_place(b)) {
            a->spare |= is_duplicate(a, x);
            b->spare |= is_duplicate(b, x);
        } else if (element_of(row, p - 1) >= element - 1 && element_of(row, p + 1) <= element + 1) {
            x->spare = same_face(x, a) && same_face(x, b) &&
                       x->site.contact.gap >= fmin(a->site.contact.gap, b->site.contact.gap);
        }
    }
}

// --- sheets --------------------------------------------------------------------------------------

// What a sheet has near it on one obstacle, on another sheet or on itself.
typedef struct Patch {
    Candidate* at; // [count]
    int count;
    const Surface* side[2]; // the second null: an obstacle
    int* least;             // [vertices of both] the candidate of least gap about one; -1: none
} Patch;

static int vertices_of(const Patch* p, int i, int out[6]) {
    const ContactSite* site = &p->at[i].site;
    int count = 0;
    for (int k = 0; k < 2 && site->feature && p->side[k] != NULL; ++k) {
        int first = k == 1 && p->side[1] != p->side[0] ? p->side[0]->vertex_count : 0;
        int own = feature_vertices(p->side[k], (int)site->arc[k], out + count);
        for (int end = count + own; count < end; ++count) {
            out[count] += first;
        }
    }
    return count;
}

// Of each vertex the candidate that is nearest of all about it; whether there are more candidates
// than vertices that have one.
static bool has_more_than_vertices(const Patch* p) {
    int candidates = 0, vertices = 0, v[6];
    for (int i = 0; i < p->count; ++i) {
        int count = vertices_of(p, i, v);
        candidates += count > 0;
        for (int k = 0; k < count; ++k) {
            int* least = &p->least[v[k]];
            vertices += *least < 0;
            bool nearer = *least < 0 || p->at[i].site.contact.gap < p->at[*least].site.contact.gap;
            *least = nearer ? i : *least;
        }
    }
    return candidates > vertices;
}

// Faces, edges and corners on a round obstacle are about thrice as many as vertices, those of two
// layers on each other five times. Those that carried stay, and of each vertex the nearest. (W.33)
static void mark_patch(Patch* p) {
    bool many = has_more_than_vertices(p);
    for (int i = 0; i < p->count && many; ++i) {
        int v[6], count = vertices_of(p, i, v);
        bool needed = count == 0 || tdl_dot3(p->at[i].force, p->at[i].force) > 0.0;
        for (int k = 0; k < count; ++k) {
            needed = needed || p->least[v[k]] == i;
        }
        p->at[i].spare = !needed;
    }
}

static bool mark_sheets(Contacts* c, int first, int end, const Surface* a, const Surface* b) {
    int vertices = a->vertex_count + (b == NULL || b == a ? 0 : b->vertex_count);
    int* least = ARENA_NEW(&c->arena, int, vertices);
    Patch patch = {c->found.at + first, end - first, {a, b}, least};
    if (least == NULL) {
        return false;
    }
    for (int k = 0; k < vertices; ++k) {
        least[k] = -1;
    }
    mark_patch(&patch);
    return true;
}

// Marks as spare what others hold of a body that lies level on an obstacle. (W.26)
TdlStatus contacts_mark_spare(Contacts* c) {
    Candidates* found = &c->found;
    ArenaMark mark = arena_mark(&c->arena);
    int* order = ARENA_NEW(&c->arena, int, found->count + 1);
    bool good = order != NULL;
    for (int i = 0, end; i < found->count && good; i = end) {
        const int* body = found->at[i].site.contact.body;
        for (end = i + 1;
             end < found->count && contacts_same_bodies(&found->at[i], &found->at[end]);) {
            ++end;
        }
        const BodyShape* shape = &c->seen.shape[body[0]];
        const Surface *sheet = seen_sheet(&c->seen, body[0]),
                      *other = seen_sheet(&c->seen, body[1]);
        if (shape->seats != TDL_SEATS_NONE && body[1] < 0) {
            Row row = {found->at, order, end - i, shape->pieces, shape->seats == TDL_SEATS_JOINTS};
            sort_along(&row, i);
            mark_between_seats(&row);
            mark_seats(&row);
        } else if (sheet != NULL && (body[1] < 0 || other != NULL)) {
            good = mark_sheets(c, i, end, sheet, other);
        }
    }
    arena_release(&c->arena, mark);
    return good ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
