// Implicit surfaces: exact shapes written as expressions against the built-in ones, peaks, bounds
// on distances, and what is swept against samples.
#include "collider/implicit.h"
#include "detect/on_implicit.h"
#include "detect/sheet.h"
#include "math/rotation.h"
#include "tendril/formats.h"

#define RANDOM_SEED 5
#include "ref/random_vectors.h"
#include "test.h"
#include "things.h"

static const double RADIUS = 2.0e-3, MARGIN = 3.0e-3; // m
// What is deeper in than this is not looked for, as with surfaces of triangles.
static const double DEEPEST = -(3.0e-3 + 2.0 * 2.0e-3); // m: -(margin + 2 radii)
static const char* const NEEDLES = "20*0.075*z - sin(20*x)*sin(20*y)";

static ImplicitSurface* make_surface(const char* text, TdlVec3 low, TdlVec3 high, double finest) {
    TdlHost host = tdl_host_default();
    TdlImplicit h = {0};
    ImplicitSurface* surface = NULL;
    CHECK(tdl_implicit_parse(&host, text, &h) == TDL_STATUS_OK);
    h.low = low;
    h.high = high;
    h.finest = finest;
    CHECK(implicit_create(&host, &h, &surface) == TDL_STATUS_OK);
    tdl_implicit_free(&host, &h);
    return surface;
}

static void free_surface(ImplicitSurface* surface) {
    TdlHost host = tdl_host_default();
    implicit_destroy(&host, surface);
}

static ImplicitSurface* make_cube(const char* text, double half) {
    return make_surface(text, (TdlVec3){-half, -half, -half}, (TdlVec3){half, half, half}, 0.0);
}

static SurfaceBody make_sheet(TdlMesh* mesh, int cells, double side, double rough, TdlVec3 at) {
    TdlHost host = tdl_host_default();
    *mesh = make_grid(cells, side);
    TdlVec3* v = (TdlVec3*)(uintptr_t)mesh->vertices;
    for (int i = 0; i < mesh->vertex_count; ++i) {
        v[i] = tdl_add3(tdl_add3(v[i], at), random_vector(rough));
    }
    VertexMotion start = {v, 1, mesh->vertex_count, 0.0, 1.0};
    Surface* surface;
    CHECK(surface_create(&host, mesh, &start, RADIUS, &surface) == TDL_STATUS_OK);
    SurfaceBody body = {.surface = surface, .body = 0, .self = true};
    body.pose.rotation = body.before.rotation = tdl_identity33();
    surface_body_measure(&body);
    return body;
}

static void free_sheet(SurfaceBody* body, TdlMesh mesh) {
    TdlHost host = tdl_host_default();
    surface_destroy(&host, (Surface*)(uintptr_t)body->surface);
    free_mesh(mesh);
}

static const ContactSite* find_feature(const SiteList* list, int feature) {
    for (int i = 0; i < list->count; ++i) {
        if ((int)list->site[i].arc[0] == feature) {
            return &list->site[i];
        }
    }
    return NULL;
}

// Every site of the one is a site of the other: the same feature, place, gap and normal. Those
// nearly at the margin or at the rim of a feature may be in one only. Returns how many were
// compared.
static int compare_sites(const SiteList* a, const SiteList* b, double tolerance) {
    int compared = 0;
    for (int i = 0; i < a->count; ++i) {
        const ContactSite *x = &a->site[i], *y = find_feature(b, (int)x->arc[0]);
        double u = x->contact.u[0], v = x->contact.v[0], rim = 1.0e-6;
        bool corner = (u == 0.0 || u == 1.0) && (v == 0.0 || v == 1.0);
        bool at_rim =
            !corner && (fabs(u - 1.0) < rim || fabs(v - 1.0) < rim || (u < rim && v < rim) ||
                        (u > 0.0 && u < rim) || (v > 0.0 && v < rim));
        if (y == NULL) {
            if (x->contact.gap < MARGIN - 1.0e-6 && x->contact.gap > DEEPEST + 1.0e-6 && !at_rim) {
                FAIL("feature %d with gap %g at %g %g is missing", (int)x->arc[0], x->contact.gap,
                     u, v);
            }
            continue;
        }
        ++compared;
        CHECK_NEAR(x->contact.gap, y->contact.gap, tolerance);
        CHECK_NEAR3(x->contact.point[0], y->contact.point[0], 100.0 * tolerance);
        CHECK_NEAR3(x->contact.basis.cx, y->contact.basis.cx, 1.0e3 * tolerance);
    }
    return compared;
}

// Planes, balls and cylinders, turned, and each written in several ways: the same contacts as those
// of the built-in shapes to 1e-11 m.
TEST(exact_shapes_give_the_same_contacts) {
    static const struct {
        const char* text;
        TdlShape shape;
    } CASES[] = {
        {"z", TDL_SHAPE_PLANE},
        {"exp(3*z) - 1", TDL_SHAPE_PLANE},
        {"x^2 + y^2 + z^2 - 0.05^2", TDL_SHAPE_SPHERE},
        {"sqrt(x*x + y*y + z*z) - 0.05", TDL_SHAPE_SPHERE},
        {"1 - 0.05^2/(x^2 + y^2 + z^2 + 1e-9)", TDL_SHAPE_SPHERE},
        {"y^2 + z^2 - 0.05^2", TDL_SHAPE_CYLINDER},
        {"sqrt(y^2 + z^2) - 0.05", TDL_SHAPE_CYLINDER},
    };
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = MARGIN;
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; ++c) {
        // the ball that is a little smaller than 5 cm
        double radius = c == 4 ? sqrt(0.05 * 0.05 - 1.0e-9) : 0.05;
        ImplicitSurface* surface = make_cube(CASES[c].text, 0.14);
        int compared = 0;
        for (int n = 0; n < 12; ++n) {
            TdlMesh mesh;
            double height = CASES[c].shape == TDL_SHAPE_PLANE ? 0.002 : 0.052;
            SurfaceBody sheet = make_sheet(&mesh, 6, 0.12, 4.0e-3, (TdlVec3){0.0, 0.0, height});
            TdlColliderDef o = {.shape = CASES[c].shape, .radius = radius};
            o.pose = (TdlPose){random_vector(3.0e-3), tdl_rotation_exp(random_vector(0.1))};
            TdlColliderDef implicit = o;
            implicit.shape = TDL_SHAPE_IMPLICIT;
            implicit.found = surface;
            SiteList known = {.certified = true}, found = {.certified = true};
            sheet_on_obstacle(&host, &def, &sheet, &o, 0, &known);
            implicit_on_surface(&host, &def, &sheet, &implicit, 0, &found);
            CHECK(found.certified);
            compared += compare_sites(&known, &found, 1.0e-11);
            compared += compare_sites(&found, &known, 1.0e-11);
            site_list_free(&host.mem, &known);
            site_list_free(&host.mem, &found);
            free_sheet(&sheet, mesh);
        }
        CHECK(compared > 200);
        free_surface(surface);
    }
}

// S3's (15), corrected: independent m and m', the same sign; radius 1 / (c1^2 / (c1 c2)).
TEST(peaks_of_needles_are_where_they_must_be) {
    TdlHost host = tdl_host_default();
    ImplicitSurface* surface =
        make_surface(NEEDLES, (TdlVec3){-0.45, -0.45, 0.2}, (TdlVec3){0.45, 0.45, 0.7}, 0.0);
    TdlPeak* peak;
    int count, found = 0;
    CHECK(implicit_peaks(&host, surface, (TdlVec3){0.0, 0.0, 1.0}, &peak, &count) == TDL_STATUS_OK);
    double pi = 3.14159265358979323846, c1 = 20.0, c2 = 0.075;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int m = -2; m <= 2; ++m) {
            for (int k = -2; k <= 2; ++k) {
                TdlVec3 p = {(2.0 * pi * m + sign * pi / 2.0) / c1,
                             (2.0 * pi * k + sign * pi / 2.0) / c1, 1.0 / (c1 * c2)};
                if (fabs(p.x) > 0.45 || fabs(p.y) > 0.45) {
                    continue;
                }
                ++found;
                double nearest = INFINITY;
                for (int i = 0; i < count; ++i) {
                    nearest = fmin(nearest, tdl_norm3(tdl_sub3(peak[i].point, p)));
                }
                CHECK_BELOW(nearest, 1.0e-10);
            }
        }
    }
    CHECK_INT(found, 18);
    CHECK_INT(count, found);
    for (int i = 0; i < count; ++i) {
        CHECK_NEAR(peak[i].radius, c2 / c1, 1.0e-9);
    }
    tdl_free(&host.mem, peak);
    free_surface(surface);
}

// A face whose corners are all clear of a needle that stands under its middle touches it there.
TEST(peaks_touch_faces_between_corners) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    double x = 3.14159265358979323846 / 40.0, top = 1.0 / 1.5;
    static const char* const TEXT[] = {
        "20*0.075*z - sin(20*x)*sin(20*y)",
        "z - 0.66666666666666663 + sqrt((x - 0.0785398163397448279)^2"
        " + (y - 0.0785398163397448279)^2)"};
    for (int c = 0; c < 2; ++c) {
        ImplicitSurface* surface =
            make_surface(TEXT[c], (TdlVec3){0.0, 0.0, 0.4}, (TdlVec3){0.157, 0.157, 0.7}, 0.0);
        TdlColliderDef o = {.shape = TDL_SHAPE_IMPLICIT, .found = surface};
        o.pose.rotation = tdl_identity33();
        for (int n = 0; n < 20; ++n) {
            TdlMesh mesh;
            double lift = random_between(-0.5e-3, 1.0e-3);
            SurfaceBody sheet =
                make_sheet(&mesh, 1, 0.3, 0.0, (TdlVec3){x + 0.02, x + 0.05, top + RADIUS + lift});
            def.margin = MARGIN;
            SiteList found = {.certified = true};
            implicit_on_surface(&host, &def, &sheet, &o, 0, &found);
            CHECK_INT(found.count, 1);
            if (found.count == 1) {
                const TdlContact* contact = &found.site[0].contact;
                double off = 1.0e-9;
                CHECK_NEAR(contact->gap, lift, off);
                CHECK_NEAR3(contact->point[1], ((TdlVec3){x, x, top}), 2.0 * off + 1.0e-9);
                CHECK_NEAR3(contact->basis.cx, ((TdlVec3){0.0, 0.0, -1.0}), 1.0e-9);
            }
            site_list_free(&host.mem, &found);
            free_sheet(&sheet, mesh);
        }
        free_surface(surface);
    }
}

// The least distance of a point from the surface, by descending from many places of it.
static double sampled_distance(const ImplicitSurface* s, TdlVec3 p) {
    double best = INFINITY;
    for (int i = 0; i < 40; ++i) {
        TdlVec3 x = i == 0 ? p : tdl_add3(p, random_vector(0.02));
        for (int k = 0; k < 60; ++k) {
            ImplicitFrame f;
            if (!implicit_frame(s, x, &f)) {
                break;
            }
            x = tdl_axpy3(x, -f.away, f.normal);
            TdlVec3 d = tdl_sub3(p, x); // along the surface towards p
            x = tdl_axpy3(x, 0.3, tdl_axpy3(d, -tdl_dot3(d, f.normal), f.normal));
        }
        ImplicitFrame f;
        if (implicit_frame(s, x, &f) && fabs(f.away) < 1.0e-3) {
            best = fmin(best, tdl_norm3(tdl_sub3(x, p)) - fabs(f.away) - 1.0e-9);
        }
    }
    return best;
}

TEST(bounds_on_distances_hold) {
    ImplicitSurface* surface =
        make_surface(NEEDLES, (TdlVec3){-0.2, -0.2, 0.3}, (TdlVec3){0.2, 0.2, 0.7}, 0.0);
    int decided = 0, wrong = 0;
    for (int n = 0; n < 500; ++n) {
        TdlVec3 p[3] = {
            {random_between(-0.2, 0.2), random_between(-0.2, 0.2), random_between(0.4, 0.7)}};
        p[1] = tdl_add3(p[0], random_vector(4.0e-3));
        p[2] = tdl_add3(p[0], random_vector(4.0e-3));
        double most = 5.0e-3, bound = implicit_hull_distance(surface, p, 3, most);
        if (!(bound > 0.0)) {
            continue;
        }
        ++decided;
        for (int k = 0; k < 6; ++k) {
            double u = random_between(0.0, 1.0), v = random_between(0.0, 1.0 - u);
            TdlVec3 x = tdl_axpy3(tdl_axpy3(tdl_scale3(1.0 - u - v, p[0]), u, p[1]), v, p[2]);
            TdlImplicitPoint at;
            surface->h.at(surface->h.data, x, &at);
            wrong += at.value <= 0.0 || sampled_distance(surface, x) < bound;
        }
    }
    CHECK(decided > 150);
    CHECK_INT(wrong, 0);
    free_surface(surface);
}

// Triangles that fall on needles: whenever a sample in space and time is inside, it is told; what
// stays clear of them by more than the accuracy is not told.
TEST(what_goes_in_is_never_missed) {
    ImplicitSurface* surface =
        make_surface(NEEDLES, (TdlVec3){-0.2, -0.2, 0.3}, (TdlVec3){0.2, 0.2, 0.75}, 0.0);
    Nearness near = crossing_nearness(1.0e-3, 1.0e-3);
    int inside = 0, missed = 0, told = 0, clear = 0, wrong = 0;
    for (int n = 0; n < 500; ++n) {
        double peak = n % 2 == 0 ? 0.0785 : -0.0785;
        TdlVec3 at = {peak + random_between(-0.04, 0.04), peak + random_between(-0.04, 0.04),
                      random_between(0.67, 0.69)},
                from[3], to[3], way = {0.0, 0.0, random_between(-0.1, 0.03)};
        for (int k = 0; k < 3; ++k) {
            from[k] = tdl_add3(at, random_vector(0.03));
            from[k].z = fmax(from[k].z, 0.669);
            to[k] = tdl_add3(tdl_add3(from[k], way), random_vector(5.0e-3));
        }
        bool in = false;
        double least = INFINITY;
        for (int i = 0; i < 2000; ++i) {
            double u = random_between(0.0, 1.0), v = random_between(0.0, 1.0 - u),
                   t = random_between(0.0, 1.0), share[3] = {1.0 - u - v, u, v};
            TdlVec3 x = {0};
            for (int k = 0; k < 3; ++k) {
                x = tdl_axpy3(x, share[k], tdl_axpy3(tdl_scale3(1.0 - t, from[k]), t, to[k]));
            }
            TdlImplicitPoint p;
            surface->h.at(surface->h.data, x, &p);
            in = in || p.value <= 0.0;
            least = fmin(least, x.z);
        }
        bool met = implicit_is_met(surface, from, to, 3, &near);
        bool high = fmin(fmin(fmin(to[0].z, to[1].z), to[2].z), least) > 0.6672; // above all peaks
        inside += in;
        missed += in && !met;
        told += met;
        clear += high;
        wrong += high && met;
    }
    CHECK(inside > 80);
    CHECK(clear > 30);
    CHECK_INT(missed, 0);
    CHECK_INT(wrong, 0);
    CHECK(told < 500 - clear + 1);
    free_surface(surface);
}

static SiteList sites_on(const TdlColliderDef* o, const TdlCurve* curve, bool stiff) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = MARGIN;
    def.obstacle_ends = true;
    def.all_minima = true;
    Element element = {.curve = curve, .seat = 0.5 * curve->end, .stiff = stiff};
    TdlCurveCapsules capsules;
    tdl_curve_capsules(curve, &capsules);
    SiteList out = {.certified = true};
    if (o->shape == TDL_SHAPE_IMPLICIT) {
        implicit_on_element(&host, &def, &element, NULL, o, 0, &out);
    } else {
        narrow_obstacle(&host, &def, &element, &capsules, o, 0, &out);
    }
    return out;
}

// Each site of the one has one of the other at the same place with the same gap.
static int compare_places(const SiteList* a, const SiteList* b) {
    int compared = 0;
    for (int i = 0; i < a->count; ++i) {
        const TdlContact* x = &a->site[i].contact;
        double best = INFINITY;
        for (int k = 0; k < b->count; ++k) {
            const TdlContact* y = &b->site[k].contact;
            best = fmin(best, fabs(x->u[0] - y->u[0]) + fabs(x->gap - y->gap) +
                                  tdl_norm3(tdl_sub3(x->basis.cx, y->basis.cx)));
        }
        if (x->gap < MARGIN - 1.0e-6 && x->gap > DEEPEST + 1.0e-6) {
            CHECK_BELOW(best, 1.0e-7); // a least gap is flat: its place is known to 1e-8
            ++compared;
        }
    }
    return compared;
}

// Straight and bent rods, and points, on a ball, a cylinder and a plane.
TEST(curves_touch_as_they_do_built_in_shapes) {
    static const struct {
        const char* text;
        TdlShape shape;
    } CASES[] = {{"z", TDL_SHAPE_PLANE},
                 {"x^2 + y^2 + z^2 - 0.05^2", TDL_SHAPE_SPHERE},
                 {"y^2 + z^2 - 0.05^2", TDL_SHAPE_CYLINDER}};
    TdlHost host = tdl_host_default();
    for (int c = 0; c < 3; ++c) {
        ImplicitSurface* surface = make_cube(CASES[c].text, 0.3);
        int compared = 0;
        for (int n = 0; n < 300; ++n) {
            TdlCurve curve;
            TdlColliderDef o = {.shape = CASES[c].shape, .radius = 0.05};
            o.pose = (TdlPose){random_vector(3.0e-3), tdl_rotation_exp(random_vector(0.1))};
            TdlPose start = {{random_between(-0.04, 0.0), random_between(-0.02, 0.02),
                              (c == 0 ? 0.0 : 0.05) + 0.003},
                             tdl_rotation_exp(random_vector(0.2))};
            TdlVec3 bend = n % 3 == 0 ? (TdlVec3){0} : random_vector(8.0);
            tdl_curve_helix(&host, start, bend, n % 3 == 2 ? 0.0 : 0.06, &curve);
            curve.radius[0] = curve.radius[1] = 2.0e-3;
            SiteList known = sites_on(&o, &curve, false);
            o.shape = TDL_SHAPE_IMPLICIT;
            o.found = surface;
            SiteList found = sites_on(&o, &curve, false);
            compared += compare_places(&known, &found);
            compared += compare_places(&found, &known);
            site_list_free(&host.mem, &known);
            site_list_free(&host.mem, &found);
        }
        CHECK(compared > 300);
        free_surface(surface);
    }
}

TEST(surfaces_that_cannot_be_are_refused) {
    TdlHost host = tdl_host_default();
    host.log = NULL;
    static const char* const NONE[] = {"x^2 + y^2 + z^2 + 1", "x - 5",
                                       "sin(3000*x)*sin(3000*y) - z"};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; ++i) {
        TdlImplicit h = {.low = {-1.0, -1.0, -1.0}, .high = {1.0, 1.0, 1.0}};
        ImplicitSurface* surface = NULL;
        CHECK(tdl_implicit_parse(&host, NONE[i], &h) == TDL_STATUS_OK);
        CHECK(implicit_create(&host, &h, &surface) == TDL_STATUS_BAD_INPUT);
        tdl_implicit_free(&host, &h);
    }
    TdlImplicit empty = {0};
    CHECK(implicit_find_fault(&empty) != NULL);
}
