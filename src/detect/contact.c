// The contact basis, merging and matching. Groups of contacts between the same two bodies are
// short, so both are quadratic within a group.
#include "detect/contact.h"

#include "math/rotation.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

// Below this sine of the angle between the tangents their cross product is no normal any more; the
// gap vector takes its place. A distance of 1e-4 m known to 1e-12 has a direction good to 1e-8.
static const double PARALLEL_SINE = 1.0e-3;

// Cosine of the angle between the normals of contacts with a surface that may be one: in a hollow a
// thing touches two faces at one place.
static const double SAME_NORMAL = 1.0 - 1.0e-6;

// Cosine of the angle between the normals of two places of a sheet up to which one may continue the
// other: on its other side there is another contact.
static const double TURNED = 0.5;

// A seat and another place are one within so many widths: a joint, found on both sides.
static const double SEAT_WIDTHS = 1.0e-6;

// n made exactly perpendicular to t1, then completed.
static TdlMat3 complete_basis(TdlVec3 n, TdlVec3 t1) {
    n = tdl_unit3(n);
    t1 = tdl_unit3(tdl_axpy3(t1, -tdl_dot3(t1, n), n));
    return (TdlMat3){n, t1, tdl_cross3(n, t1)};
}

TdlMat3 contact_basis(TdlVec3 ta, TdlVec3 tb, TdlVec3 g, int ends) {
    ta = tdl_unit3(ta);
    tb = tdl_unit3(tb);
    double distance = tdl_norm3(g);

    // the mean of both tangents; of opposite ones, half their difference
    TdlVec3 t1 = tdl_unit3(tdl_axpy3(ta, tdl_dot3(ta, tb) < 0.0 ? -1.0 : 1.0, tb));

    // an end, or a point such as a sphere's centre: the gap itself
    if (ends > 0 && distance > 0.0) {
        return tdl_frame_from_tangent_hint(g, t1);
    }
    TdlVec3 n = tdl_cross3(ta, tb);
    if (ends > 0 || !(tdl_norm3(n) > PARALLEL_SINE)) {
        // the part of the gap across the tangent
        TdlVec3 across = tdl_axpy3(g, -tdl_dot3(t1, g), t1);
        if (tdl_norm3(across) > 1.0e-8 * distance) {
            return complete_basis(across, t1);
        }
        if (!(tdl_norm3(n) > 0.0)) {
            n = tdl_frame_from_tangent(t1).cy; // on top of each other: any normal
        }
    }
    n = tdl_unit3(n);
    return complete_basis(tdl_dot3(n, g) < 0.0 ? tdl_scale3(-1.0, n) : n, t1);
}

int contact_compare(const void* a, const void* b) {
    const TdlContact *x = &((const ContactSite*)a)->contact, *y = &((const ContactSite*)b)->contact;
    const int keys[4][2] = {{x->body[0], y->body[0]},
                            {x->body[1], y->body[1]},
                            {x->element[0], y->element[0]},
                            {x->element[1], y->element[1]}};
    for (int k = 0; k < 4; ++k) {
        if (keys[k][0] != keys[k][1]) {
            return keys[k][0] < keys[k][1] ? -1 : 1;
        }
    }
    for (int k = 0; k < 2; ++k) {
        if (x->u[k] != y->u[k]) {
            return x->u[k] < y->u[k] ? -1 : 1;
        }
    }
    for (int k = 0; k < 2; ++k) {
        if (x->v[k] != y->v[k]) {
            return x->v[k] < y->v[k] ? -1 : 1;
        }
    }
    return 0;
}

void contact_turn(ContactSite* site) {
    TdlContact* x = &site->contact;
    TdlVec3 point = x->point[0];
    int body = x->body[0], element = x->element[0];
    double u = x->u[0], v = x->v[0], arc = site->arc[0];
    x->point[0] = x->point[1];
    x->point[1] = point;
    x->body[0] = x->body[1];
    x->body[1] = body;
    x->element[0] = x->element[1];
    x->element[1] = element;
    x->u[0] = x->u[1];
    x->u[1] = u;
    x->v[0] = x->v[1];
    x->v[1] = v;
    bool tube = x->tube[0];
    x->tube[0] = x->tube[1];
    x->tube[1] = tube;
    site->arc[0] = site->arc[1];
    site->arc[1] = arc;
    x->basis = (TdlMat3){tdl_scale3(-1.0, x->basis.cx), x->basis.cy, tdl_scale3(-1.0, x->basis.cz)};
}

static bool same_bodies(const ContactSite* a, const ContactSite* b) {
    return a->contact.body[0] == b->contact.body[0] && a->contact.body[1] == b->contact.body[1];
}

// Deeper by more than rounding; else a seat, else the first of the two, so that of the edges that
// meet at a corner the same one stands for it from step to step.
static bool deeper(const ContactSite* sites, const ContactBrief* x, const ContactBrief* y) {
    double a = x->gap, b = y->gap;
    bool first = x->seat == y->seat ? x->site < y->site : x->seat;
    if (first ? a < b : a >= b) {
        return first; // whatever rounding is
    }
    const ContactSite* own = &sites[x->site];
    double rounding = 16.0 * DBL_EPSILON * (tdl_norm3(own->contact.point[0]) + own->width);
    return first ? a <= b + rounding : a < b - rounding;
}

static bool near_along(const ContactSite* a, const ContactSite* b) {
    double along = (double)a->along;
    return fabs(a->arc[0] - b->arc[0]) < along && fabs(a->arc[1] - b->arc[1]) < along;
}

// How far another one may be.
static double near_limit(const ContactSite* a, double merge) {
    return merge >= 0.0 ? merge : a->bends ? -merge * a->merge : a->merge;
}

static bool near(const ContactSite* a, const ContactSite* b, double merge) {
    if (merge < 0.0 && near_along(a, b)) {
        return true;
    }
    double limit = near_limit(a, merge);
    if (a->seat != b->seat) {
        limit = fmin(limit, SEAT_WIDTHS * a->width); // the world chooses among them (W.26)
    }
    if (a->faced && tdl_dot3(a->contact.basis.cx, b->contact.basis.cx) < SAME_NORMAL) {
        return false;
    }
    for (int k = 0; k < 2; ++k) {
        TdlVec3 apart = tdl_sub3(a->contact.point[k], b->contact.point[k]);
        if (!(tdl_norm3(apart) < limit)) {
            return false;
        }
    }
    return true;
}

// Marks: 1 stays, 2 goes. The deepest open one stays and removes those about it. Sites are long:
// most are passed by what is kept of the open ones.
static void merge_group(const ContactSite* sites, int first, int end, double merge,
                        ContactBrief* open, unsigned char* mark) {
    int count = 0;
    for (int i = first; i < end; ++i) {
        const TdlContact* x = &sites[i].contact;
        open[count++] = (ContactBrief){x->gap, x->point[0].x, sites[i].arc[0], i, sites[i].seat};
    }
    while (count > 0) {
        int best = 0, left = 0;
        for (int k = 1; k < count; ++k) {
            best = deeper(sites, &open[k], &open[best]) ? k : best;
        }
        ContactBrief own = open[best];
        const ContactSite* a = &sites[own.site];
        double limit = near_limit(a, merge), along = merge < 0.0 ? (double)a->along : 0.0;
        mark[own.site] = 1;
        for (int k = 0; k < count; ++k) {
            ContactBrief x = open[k];
            bool may = fabs(x.x - own.x) < limit || fabs(x.arc - own.arc) < along;
            if (k != best && may && near(a, &sites[x.site], merge)) {
                mark[x.site] = 2;
            } else if (k != best) {
                open[left++] = x;
            }
        }
        count = left;
    }
}

int contact_merge(ContactSite* sites, int count, double merge, ContactBrief* open,
                  unsigned char* mark) {
    memset(mark, 0, (size_t)count);
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && same_bodies(&sites[first], &sites[end]); ++end) {
        }
        if (end == first + 1 || sites[first].feature) {
            memset(mark + first, 1, (size_t)(end - first));
        } else {
            merge_group(sites, first, end, merge, open, mark);
        }
    }
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (mark[i] == 1) {
            sites[kept++] = sites[i];
        }
    }
    return kept;
}

// --- matching -------------------------------------------------------------------------------

// Sites of two bodies in this step and in the last one.
typedef struct Matching {
    ContactSite* sites;
    int first, end;
    const ContactSite* last;
    int last_first, last_end;
    double reach;        // widths
    unsigned char* mark; // of the last ones: taken
} Matching;

static void match_along(const Matching* m) {
    for (int i = m->first; i < m->end; ++i) {
        ContactSite* site = &m->sites[i];
        double best = m->reach * site->width;
        for (int k = m->last_first; k < m->last_end; ++k) {
            double a = fabs(m->last[k].arc[0] - site->arc[0]);
            if (m->mark[k] || !(a <= best)) {
                continue;
            }
            double b = fabs(m->last[k].arc[1] - site->arc[1]);
            if (b <= best) {
                best = a > b ? a : b;
                site->contact.previous = k;
            }
        }
        if (site->contact.previous >= 0) {
            m->mark[site->contact.previous] = 1;
        }
    }
}

bool contact_same_features(const ContactSite* a, const ContactSite* b) {
    return a->arc[0] == b->arc[0] && a->arc[1] == b->arc[1] &&
           a->contact.element[1] == b->contact.element[1];
}

// The one of the same features among those of the same first element, which follow each other.
static int find_features(const Matching* m, const ContactSite* site) {
    int low = m->last_first, high = m->last_end, element = site->contact.element[0];
    while (low < high) {
        int middle = low + (high - low) / 2;
        *(m->last[middle].contact.element[0] < element ? &low : &high) =
            m->last[middle].contact.element[0] < element ? middle + 1 : middle;
    }
    for (; low < m->last_end && m->last[low].contact.element[0] == element; ++low) {
        if (!m->mark[low] && contact_same_features(&m->last[low], site)) {
            return low;
        }
    }
    return -1;
}

// Of those whose features met nothing in the last step, such as a corner that slid to the next
// face: the nearest that is left.
static int find_nearest(const Matching* m, const ContactSite* site) {
    double best = m->reach * site->width;
    int found = -1;
    for (int k = m->last_first; k < m->last_end; ++k) {
        const TdlContact *was = &m->last[k].contact, *is = &site->contact;
        double x = fabs(was->point[0].x - is->point[0].x);
        if (m->mark[k] || !(x <= best) || tdl_dot3(was->basis.cx, is->basis.cx) < TURNED) {
            continue;
        }
        double apart = tdl_norm3(tdl_sub3(was->point[0], is->point[0]));
        if (apart <= best) {
            best = apart;
            found = k;
        }
    }
    return found;
}

static void match_features(const Matching* m) {
    for (int turn = 0; turn < 2; ++turn) {
        for (int i = m->first; i < m->end; ++i) {
            ContactSite* site = &m->sites[i];
            if (site->contact.previous >= 0) {
                continue;
            }
            int at = turn == 0 ? find_features(m, site) : find_nearest(m, site);
            site->contact.previous = at;
            if (at >= 0) {
                m->mark[at] = 1;
            }
        }
    }
}

static bool bodies_before(const ContactSite* a, const ContactSite* b) {
    const int *x = a->contact.body, *y = b->contact.body;
    return x[0] < y[0] || (x[0] == y[0] && x[1] < y[1]);
}

void contact_match(ContactSite* sites, int count, const ContactSite* last, int last_count,
                   double reach, unsigned char* mark) {
    memset(mark, 0, (size_t)last_count);
    Matching m = {.sites = sites, .last = last, .reach = reach, .mark = mark};
    for (; m.first < count; m.first = m.end) {
        for (m.end = m.first; m.end < count && same_bodies(&sites[m.first], &sites[m.end]);) {
            sites[m.end++].contact.previous = -1;
        }
        for (m.last_first = m.last_end;
             m.last_first < last_count && bodies_before(&last[m.last_first], &sites[m.first]);) {
            ++m.last_first;
        }
        for (m.last_end = m.last_first;
             m.last_end < last_count && same_bodies(&last[m.last_end], &sites[m.first]);) {
            ++m.last_end;
        }
        if (sites[m.first].feature) {
            match_features(&m);
        } else {
            match_along(&m);
        }
    }
}
