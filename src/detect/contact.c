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
    return 0;
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
        if (end == first + 1) {
            mark[first] = 1;
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

void contact_match(ContactSite* sites, int count, const ContactSite* last, int last_count,
                   double reach, unsigned char* mark) {
    memset(mark, 0, (size_t)last_count);
    int from = 0;
    for (int i = 0; i < count; ++i) {
        ContactSite* site = &sites[i];
        const int* body = site->contact.body;
        site->contact.previous = -1;
        while (from < last_count &&
               (last[from].contact.body[0] < body[0] ||
                (last[from].contact.body[0] == body[0] && last[from].contact.body[1] < body[1]))) {
            ++from;
        }
        double best = reach * site->width;
        for (int k = from; k < last_count && same_bodies(&last[k], site); ++k) {
            double a = fabs(last[k].arc[0] - site->arc[0]);
            if (mark[k] || !(a <= best)) {
                continue;
            }
            double b = fabs(last[k].arc[1] - site->arc[1]);
            if (b <= best) {
                best = a > b ? a : b;
                site->contact.previous = k;
            }
        }
        if (site->contact.previous >= 0) {
            mark[site->contact.previous] = 1;
        }
    }
}
