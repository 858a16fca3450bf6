// A step that is made again: which contacts it missed, and which places overlapped anew and are
// held in the next attempt. docs/theory/world.md, W.7 and W.8
#include "world/contacts.h"

#include "curve/curve.h"
#include "detect/detector.h"
#include "world/contact_data.h"

#include <stdlib.h>

// A contact nearer than so many radii at the end of an undone step was missed by it.
static const double MISSED_RADII = 0.5;

// Overlap in radii from which a place is held when the step is done again.
static const double SUNK_RADII = 0.015;

static int compare_bodies(const TdlContact* a, const TdlContact* b) {
    int k = a->body[0] != b->body[0] ? 0 : 1;
    return (a->body[k] > b->body[k]) - (a->body[k] < b->body[k]);
}

static int compare_missed(const void* a, const void* b) {
    return compare_bodies(a, b);
}

void contacts_start_interval(Contacts* c) {
    c->missed_count = 0;
}

TdlStatus contacts_note_missed(Contacts* c) {
    if (contacts_room_for_missed(c, c->missed_count + c->count) == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < c->count; ++i) {
        if (c->found[i].site.contact.gap < MISSED_RADII * c->found[i].radius) {
            c->missed[c->missed_count++] = c->found[i].site.contact;
        }
    }
    qsort(c->missed, (size_t)c->missed_count, sizeof *c->missed, compare_missed);
    return TDL_STATUS_OK;
}

// Whether two contacts of the same bodies are of the same curves, or of neighbours.
static bool same_place(const TdlContact* a, const TdlContact* b) {
    bool there = a->body[1] < 0 || abs(a->element[1] - b->element[1]) <= 1;
    return there && abs(a->element[0] - b->element[0]) <= 1;
}

// Both lists are sorted by bodies.
void contacts_mark_missed(Contacts* c) {
    int from = 0;
    for (int i = 0; i < c->count; ++i) {
        const TdlContact* x = &c->found[i].site.contact;
        while (from < c->missed_count && compare_bodies(&c->missed[from], x) < 0) {
            ++from;
        }
        for (int k = from; k < c->missed_count && compare_bodies(&c->missed[k], x) == 0; ++k) {
            c->found[i].missed = c->found[i].missed || same_place(&c->missed[k], x);
        }
    }
}

void contacts_guess_tried(Contacts* c) {
    for (int i = 0; i < c->count && c->tried_count == c->count; ++i) {
        c->found[i].force = c->tried[i];
    }
}

TdlStatus contacts_note_sunk(Contacts* c) {
    c->sunk_count = 0;
    for (int i = 0; i < c->count; ++i) {
        const Candidate* x = &c->found[i];
        const TdlContact* contact = &x->site.contact;
        bool curves = side_curve(c, contact, 0) != NULL && side_curve(c, contact, 1) != NULL;
        bool sunk = x->fresh && contact->gap < -SUNK_RADII * x->radius;
        if (!sunk || x->jointed || x->passed_on || !curves) {
            continue; // where obstacles and surfaces are touched does not run away
        }
        if (!contacts_reserve(&c->host.mem, &c->sunk, &c->sunk_capacity, c->sunk_count + 1,
                              sizeof *c->sunk)) {
            return TDL_STATUS_NO_MEMORY;
        }
        c->sunk[c->sunk_count++] = x->site;
    }
    return TDL_STATUS_OK;
}

// The nearest place on a curve from a guess that is not far: three steps along the tangent.
static double foot(const TdlCurve* curve, TdlVec3 from, double s) {
    for (int k = 0; k < 3; ++k) {
        TdlVec3 t = tdl_curve_derivative(curve, s);
        double along = tdl_dot3(tdl_sub3(from, tdl_curve_point(curve, s)), t) / tdl_dot3(t, t);
        s = fmin(fmax(s + along, 0.0), curve->end);
    }
    return s;
}

static bool is_end(const TdlCurve* curve, double s) {
    return s <= 0.0 || s >= curve->end;
}

// The place of a site in the present shape: the same on the first body, the nearest on the second,
// and the gap across both. False when the bodies are turned too much for that.
static bool hold_place(const Contacts* c, ContactSite* site) {
    TdlContact* x = &site->contact;
    const TdlCurve* a = &c->curve[c->first[x->body[0]] + x->element[0]];
    const TdlCurve* b = &c->curve[c->first[x->body[1]] + x->element[1]];
    x->point[0] = tdl_curve_point(a, x->s[0]);
    x->s[1] = foot(b, x->point[0], x->s[1]);
    x->point[1] = tdl_curve_point(b, x->s[1]);
    TdlVec3 ta = side_tangent(c, x, 0), tb = side_tangent(c, x, 1), last = x->basis.cx;
    TdlVec3 between = tdl_sub3(x->point[1], x->point[0]), n = tdl_cross3(ta, tb), t = ta;
    if (tdl_norm3(n) > SIDE_BY_SIDE) {
        bool end = is_end(a, x->s[0]) || is_end(b, x->s[1]);
        n = end ? between : tdl_scale3(tdl_dot3(n, last) < 0.0 ? -1.0 : 1.0, n);
    } else {
        t = tdl_unit3(tdl_axpy3(ta, tdl_dot3(ta, tb) < 0.0 ? -1.0 : 1.0, tb));
        n = tdl_axpy3(between, -tdl_dot3(between, t), t);
    }
    n = tdl_unit3(n);
    t = fabs(tdl_dot3(n, t)) < 0.9 ? t : tb;
    t = tdl_unit3(tdl_axpy3(t, -tdl_dot3(n, t), n));
    x->basis = (TdlMat3){n, t, tdl_cross3(n, t)};
    double radii = tdl_curve_radius(a, x->s[0]) + tdl_curve_radius(b, x->s[1]);
    x->gap = tdl_dot3(between, n) - radii;
    if (x->gap < 0.0) {
        // the tangents of bent rods come nearer than the rods: no overlap but what is there
        x->gap = fmin(fmax(x->gap, tdl_norm3(between) - radii), 0.0);
    }
    x->previous = -1;
    return tdl_dot3(n, last) > 0.5;
}

static int compare_candidates(const void* a, const void* b) {
    return contact_compare(&((const Candidate*)a)->site, &((const Candidate*)b)->site);
}

// The first of the candidates at a site, within a radius along both; where there is none, the
// count. Those of its bodies begin at `from`.
static int find_near(const Contacts* c, int from, int known, const ContactSite* site) {
    for (int i = from; i < known && compare_bodies(&c->found[i].site.contact, &site->contact) == 0;
         ++i) {
        const Candidate* x = &c->found[i];
        if (!x->passed_on && fabs(x->site.arc[0] - site->arc[0]) < x->radius &&
            fabs(x->site.arc[1] - site->arc[1]) < x->radius) {
            return i;
        }
    }
    return c->count;
}

TdlStatus contacts_hold_sunk(TdlWorld* world) {
    Contacts* c = world->contacts;
    int count = c->count + c->sunk_count;
    ArenaMark mark = arena_mark(&c->arena);
    ContactSite* sites = ARENA_NEW(&c->arena, ContactSite, count + 1);
    if (sites == NULL ||
        !contacts_reserve(&c->host.mem, &c->found, &c->capacity, count, sizeof *c->found)) {
        return TDL_STATUS_NO_MEMORY;
    }
    contacts_guess_tried(c);
    // both lists are sorted by bodies
    for (int i = 0, from = 0, known = c->count; i < c->sunk_count; ++i) {
        ContactSite site = c->sunk[i];
        while (from < known && compare_bodies(&c->found[from].site.contact, &site.contact) < 0) {
            ++from;
        }
        double later = site.contact.gap;
        if (!hold_place(c, &site)) {
            continue;
        }
        int at = find_near(c, from, known, &site);
        if (at == c->count) {
            c->found[c->count++] =
                (Candidate){.site = site, .radius = site_radius(c, &site.contact), .missed = true};
        }
        double sunk = RECOVERY * fmin(c->found[at].site.contact.gap, 0.0) - later;
        c->found[at].sunk = fmax(c->found[at].sunk, sunk);
    }
    qsort(c->found, (size_t)c->count, sizeof *c->found, compare_candidates);
    for (int i = 0; i < c->count; ++i) {
        sites[i] = c->found[i].site;
    }
    TdlStatus status = detector_set_last(c->detector, sites, c->count);
    arena_release(&c->arena, mark);
    return status;
}
