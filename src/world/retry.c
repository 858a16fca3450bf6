// A step that is made again: which contacts it missed, and which places overlapped anew and are
// held in the next attempt. docs/theory/world.md, W.7 and W.8
#include "world/contact_data.h"

#include "curve/curve.h"

#include <stdlib.h>
#include <string.h>

// A contact nearer than so many radii at the end of an undone step was missed by it.
static const double MISSED_RADII = 0.5;

// Overlap in radii from which a place is held when the step is done again.
static const double SUNK_RADII = 0.015;

// Gap in radii up to which places of sheets are asked for along their normals at the end.
static const double FEATURE_RADII = 1.0;

// A held place may run on over so many curves of the second body in a step.
enum { NEXT_CURVES = 4 };

static int compare_bodies(const int a[2], const int b[2]) {
    int k = a[0] != b[0] ? 0 : 1;
    return (a[k] > b[k]) - (a[k] < b[k]);
}

static int compare_missed(const void* a, const void* b) {
    return compare_bodies(((const Crossing*)a)->body, ((const Crossing*)b)->body);
}

void contacts_start_interval(TdlWorld* world) {
    Contacts* c = world->contacts;
    c->retry.missed.count = 0;
    if (c->response->begin != NULL) {
        c->response->begin(c->responder, world);
    }
}

TdlStatus contacts_note_missed(Contacts* c) {
    CrossingList* missed = &c->retry.missed;
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        const TdlContact* contact = &x->site.contact;
        if (contact->gap < MISSED_RADII * x->radius &&
            !crossing_list_add(&c->host.mem, missed,
                               (Crossing){{contact->body[0], contact->body[1]},
                                          {contact->element[0], contact->element[1]}})) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    if (missed->count > 0) {
        qsort(missed->at, (size_t)missed->count, sizeof *missed->at, compare_missed);
    }
    return TDL_STATUS_OK;
}

static bool share_vertex(const Surface* s, int f, int g) {
    bool found = false;
    for (int k = 0; k < 9; ++k) {
        found = found || s->corner[3 * f + k / 3] == s->corner[3 * g + k % 3];
    }
    return found;
}

// Whether a contact between two sheets, or of one with itself, is of the same triangles on both
// sides, or of neighbours.
static bool same_triangles(const Seen* seen, const Crossing* a, const TdlContact* b) {
    const Surface *s = seen_sheet(seen, b->body[0]), *t = seen_sheet(seen, b->body[1]);
    bool same = share_vertex(s, a->element[0], b->element[0]) &&
                share_vertex(t, a->element[1], b->element[1]);
    bool turned = s == t && share_vertex(s, a->element[0], b->element[1]) &&
                  share_vertex(s, a->element[1], b->element[0]);
    return same || turned;
}

// Whether a contact of the same bodies is of the same curves, or of neighbours, on one side.
// Obstacles and surfaces are each one place.
static bool same_place(const Seen* seen, const Crossing* a, const TdlContact* b, int side) {
    int body = b->body[side];
    bool curve = body >= 0 && a->element[side] < seen->fibre[body].count;
    return !curve || abs(a->element[side] - b->element[side]) <= 1;
}

// Both lists are sorted by bodies.
void contacts_mark_missed(Contacts* c) {
    const CrossingList* missed = &c->retry.missed;
    int from = 0;
    for (int i = 0; i < c->found.count; ++i) {
        Candidate* x = &c->found.at[i];
        const TdlContact* contact = &x->site.contact;
        while (from < missed->count && compare_bodies(missed->at[from].body, contact->body) < 0) {
            ++from;
        }
        for (int k = from; k < missed->count && !x->missed &&
                           compare_bodies(missed->at[k].body, contact->body) == 0;
             ++k) {
            bool sheets =
                seen_sheet(&c->seen, contact->body[0]) && seen_sheet(&c->seen, contact->body[1]);
            x->missed = sheets ? same_triangles(&c->seen, &missed->at[k], contact)
                               : same_place(&c->seen, &missed->at[k], contact, 0) &&
                                     same_place(&c->seen, &missed->at[k], contact, 1);
        }
    }
}

TdlStatus contacts_note_tried(TdlWorld* world) {
    Contacts* c = world->contacts;
    Retry* retry = &c->retry;
    int dofs = world_dof_count(world);
    const TdlAllocator* mem = &c->host.mem;
    if (!tdl_reserve(mem, &retry->force, &retry->force_capacity, c->found.count,
                     sizeof *retry->force) ||
        !tdl_reserve(mem, &retry->velocity, &retry->dof_capacity, dofs, sizeof *retry->velocity)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < c->found.count; ++i) {
        retry->force[i] = c->found.at[i].force;
    }
    retry->force_count = c->found.count;
    retry->dof_count = dofs;
    world_gather_free(world, retry->velocity);
    return TDL_STATUS_OK;
}

void contacts_guess_tried(Contacts* c) {
    for (int i = 0; i < c->found.count && c->retry.force_count == c->found.count; ++i) {
        c->found.at[i].force = c->retry.force[i];
    }
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

// How far a held place is from the second body in the present shape: the same place on the first,
// the nearest on the second, which may have run on to the next of its curves.
static double gap_of_held(const Seen* seen, ContactSite* site) {
    TdlContact* x = &site->contact;
    const TdlFibre* other = &seen->fibre[x->body[1]];
    const TdlCurve* a = seen_curve(seen, x, 0);
    TdlVec3 from = tdl_curve_point(a, x->u[0]);
    for (int k = 0; k <= NEXT_CURVES; ++k) {
        const TdlCurve* b = &other->curves[x->element[1]];
        x->u[1] = foot(b, from, x->u[1]);
        int next = x->u[1] >= b->end ? x->element[1] + 1 : x->element[1] - 1;
        bool stays = (x->u[1] > 0.0 && x->u[1] < b->end) || next < 0 || next >= other->count;
        if (stays || k == NEXT_CURVES) {
            double radii = tdl_curve_radius(a, x->u[0]) + tdl_curve_radius(b, x->u[1]);
            return tdl_norm3(tdl_sub3(tdl_curve_point(b, x->u[1]), from)) - radii;
        }
        x->u[1] = next < x->element[1] ? other->curves[next].end : 0.0;
        x->element[1] = next;
    }
    return 0.0;
}

// The first of the held places within a radius of a candidate; where there is none, the count.
// Those of its bodies begin at `from`.
static int find_held(const Retry* retry, int from, int held, const Candidate* x) {
    for (int i = from;
         i < held && compare_bodies(retry->sunk[i].contact.body, x->site.contact.body) == 0; ++i) {
        const ContactSite* site = &retry->sunk[i];
        if (fabs(site->arc[0] - x->site.arc[0]) < x->radius &&
            fabs(site->arc[1] - x->site.arc[1]) < x->radius) {
            return i;
        }
    }
    return held;
}

static bool is_sunk(const Seen* seen, const Candidate* x) {
    const TdlContact* contact = &x->site.contact;
    bool curves = seen_curve(seen, contact, 0) != NULL && seen_curve(seen, contact, 1) != NULL;
    bool sunk = x->fresh && contact->gap < -SUNK_RADII * x->radius;
    // where obstacles, surfaces and bores are touched does not run away
    return sunk && curves && !seen_in_tube(contact) && !x->jointed && !x->passed_on;
}

// A place of a sheet that touches, or nearly so, at the end of the step: all of them are asked for
// along the normals that they have there. (W.31)
static bool is_near(const Candidate* x) {
    double most = x->spare ? -SUNK_RADII : FEATURE_RADII;
    return x->site.feature && !x->jointed && x->site.contact.gap < most * x->radius;
}

// Those of sheets are noted anew in every attempt. Returns how many are left.
static int drop_features(Retry* retry) {
    int kept = 0;
    for (int i = 0; i < retry->sunk_count; ++i) {
        if (!retry->sunk[i].feature) {
            retry->sunk[kept++] = retry->sunk[i];
        }
    }
    return kept;
}

TdlStatus contacts_note_sunk(Contacts* c, bool again) {
    Retry* retry = &c->retry;
    int held = again ? drop_features(retry) : 0, from = 0;
    retry->sunk_count = held;
    for (int i = 0; i < held; ++i) {
        retry->sunk[i].contact.gap = gap_of_held(&c->seen, &retry->sunk[i]);
    }
    // both lists are sorted by bodies
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        const TdlContact* contact = &x->site.contact;
        while (from < held && compare_bodies(retry->sunk[from].contact.body, contact->body) < 0) {
            ++from;
        }
        int at = is_near(x) ? held : is_sunk(&c->seen, x) ? find_held(retry, from, held, x) : -1;
        if (at >= 0 && at < held) {
            double* gap = &retry->sunk[at].contact.gap;
            *gap = fmin(*gap, contact->gap);
        } else if (at == held) {
            if (!tdl_reserve(&c->host.mem, &retry->sunk, &retry->sunk_capacity,
                             retry->sunk_count + 1, sizeof *retry->sunk)) {
                return TDL_STATUS_NO_MEMORY;
            }
            retry->sunk[retry->sunk_count++] = x->site;
        }
    }
    if (held > 0) {
        qsort(retry->sunk, (size_t)retry->sunk_count, sizeof *retry->sunk, contact_compare);
    }
    return TDL_STATUS_OK;
}

static bool is_end(const TdlCurve* curve, double s) {
    return s <= 0.0 || s >= curve->end;
}

// The place of a site in the present shape: the same on the first body, the nearest on the second,
// and the gap across both. False when the bodies are turned too much for that.
static bool hold_place(const Seen* seen, ContactSite* site) {
    TdlContact* x = &site->contact;
    const TdlCurve* a = &seen->curve[seen->first[x->body[0]] + x->element[0]];
    const TdlCurve* b = &seen->curve[seen->first[x->body[1]] + x->element[1]];
    x->point[0] = tdl_curve_point(a, x->u[0]);
    x->u[1] = foot(b, x->point[0], x->u[1]);
    x->point[1] = tdl_curve_point(b, x->u[1]);
    TdlVec3 ta = seen_tangent(seen, x, 0), tb = seen_tangent(seen, x, 1), last = x->basis.cx;
    TdlVec3 between = tdl_sub3(x->point[1], x->point[0]), n = tdl_cross3(ta, tb), t = ta;
    if (tdl_norm3(n) > SIDE_BY_SIDE) {
        bool end = is_end(a, x->u[0]) || is_end(b, x->u[1]);
        n = end ? between : tdl_scale3(tdl_dot3(n, last) < 0.0 ? -1.0 : 1.0, n);
    } else {
        t = tdl_unit3(tdl_axpy3(ta, tdl_dot3(ta, tb) < 0.0 ? -1.0 : 1.0, tb));
        n = tdl_axpy3(between, -tdl_dot3(between, t), t);
    }
    n = tdl_unit3(n);
    t = fabs(tdl_dot3(n, t)) < 0.9 ? t : tb;
    t = tdl_unit3(tdl_axpy3(t, -tdl_dot3(n, t), n));
    x->basis = (TdlMat3){n, t, tdl_cross3(n, t)};
    double radii = tdl_curve_radius(a, x->u[0]) + tdl_curve_radius(b, x->u[1]);
    x->gap = tdl_dot3(between, n) - radii;
    if (x->gap < 0.0) {
        // the tangents of bent curves come nearer than the curves: no overlap but what is there
        x->gap = fmin(fmax(x->gap, tdl_norm3(between) - radii), 0.0);
    }
    x->previous = -1;
    return tdl_dot3(n, last) > 0.5;
}

static int compare_candidates(const void* a, const void* b) {
    return contact_compare(&((const Candidate*)a)->site, &((const Candidate*)b)->site);
}

// The nearest of the candidates at a site, within a radius along both; where there is none, the
// count. Those of its bodies begin at `from`.
static int find_near(const Candidates* found, int from, int known, const ContactSite* site) {
    int best = found->count;
    double least = INFINITY;
    for (int i = from;
         i < known && compare_bodies(found->at[i].site.contact.body, site->contact.body) == 0;
         ++i) {
        const Candidate* x = &found->at[i];
        double away =
            fmax(fabs(x->site.arc[0] - site->arc[0]), fabs(x->site.arc[1] - site->arc[1]));
        if (!x->passed_on && away < x->radius && away < least) {
            least = away;
            best = i;
        }
    }
    return best;
}

// What a place sank by is asked for in the place of what it may lose; of one that was held before
// also what it opened by too much.
static void hold(Candidate* x, double sunk, bool again) {
    if (sunk > 0.0 || again) {
        x->sunk = x->held ? fmax(x->sunk, sunk) : sunk;
        x->held = true;
        x->loss = 0.0;
    } else {
        x->loss = fmin(x->loss, -sunk);
    }
}

// The candidate of the same features; where there is none, the count.
static int find_feature(const Candidates* found, int from, int known, const ContactSite* site) {
    for (int i = from;
         i < known && compare_bodies(found->at[i].site.contact.body, site->contact.body) == 0;
         ++i) {
        if (contact_same_features(&found->at[i].site, site)) {
            return i;
        }
    }
    return found->count;
}

// A place of a sheet as it is at the end of the attempt, so that the next one leaves no overlap
// there. (W.31)
static void hold_feature(Contacts* c, int at, const ContactSite* site) {
    Candidate* x = &c->found.at[at];
    double gap = at == c->found.count ? 0.0 : x->site.contact.gap, later = site->contact.gap;
    if (at == c->found.count) {
        double radius = seen_radius(&c->seen, &site->contact);
        c->found.at[c->found.count++] = (Candidate){.site = *site, .radius = radius};
    } else {
        x->site = *site;
        x->site.contact.gap = gap;
    }
    x->site.contact.previous = -1;
    x->sunk = RECOVERY * fmin(gap, 0.0) - later;
    x->held = true;
}

static TdlStatus tell_detector(Contacts* c) {
    const Candidates* found = &c->found;
    ArenaMark mark = arena_mark(&c->arena);
    ContactSite* sites = ARENA_NEW(&c->arena, ContactSite, found->count + 1);
    if (sites == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < found->count; ++i) {
        sites[i] = found->at[i].site;
    }
    TdlStatus status = detector_set_last(c->seen.detector, sites, found->count);
    arena_release(&c->arena, mark);
    return status;
}

TdlStatus contacts_hold_sunk(TdlWorld* world, bool again) {
    Contacts* c = world->contacts;
    Candidates* found = &c->found;
    int most = found->count + c->retry.sunk_count;
    if (!tdl_reserve(&c->host.mem, &found->at, &found->capacity, most, sizeof *found->at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    contacts_guess_tried(c);
    // both lists are sorted by bodies
    for (int i = 0, from = 0, known = found->count; i < c->retry.sunk_count; ++i) {
        ContactSite site = c->retry.sunk[i];
        while (from < known &&
               compare_bodies(found->at[from].site.contact.body, site.contact.body) < 0) {
            ++from;
        }
        double later = site.contact.gap;
        if (site.feature) {
            hold_feature(c, find_feature(found, from, known, &site), &site);
            continue;
        }
        if (!hold_place(&c->seen, &site)) {
            continue;
        }
        int at = find_near(found, from, known, &site);
        if (at == found->count) {
            double radius = seen_radius(&c->seen, &site.contact);
            found->at[found->count++] = (Candidate){.site = site, .radius = radius, .missed = true};
        }
        hold(&found->at[at], RECOVERY * fmin(found->at[at].site.contact.gap, 0.0) - later, again);
    }
    if (found->count > 0) {
        qsort(found->at, (size_t)found->count, sizeof *found->at, compare_candidates);
    }
    return tell_detector(c);
}
