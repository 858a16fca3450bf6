// Sheets against surfaces, each other and themselves: every pair of features against the slow
// obvious version.
#include "detect/sheet_pairs.h"

#include "math/rotation.h"
#include "ref/sheet_features.h"
#define RANDOM_SEED 7
#include "ref/random_vectors.h"
#include "test.h"
#include "things.h"

static const double MARGIN = 3.0e-3; // m

// A grid with rough vertices, bent by `roll` about the second axis.
static SurfaceBody make_surface(int cells, double radius, double roll, bool sheet, int body) {
    TdlHost host = tdl_host_default();
    TdlMesh mesh = make_grid(cells, 0.1);
    TdlVec3* v = (TdlVec3*)(uintptr_t)mesh.vertices;
    for (int i = 0; i < mesh.vertex_count; ++i) {
        double x = v[i].x;
        if (roll > 0.0) {
            v[i].x = roll * sin(x / roll) * (1.0 + 4.0 * x);
            v[i].z = roll * cos(x / roll) * (1.0 + 4.0 * x);
        }
        v[i] = tdl_add3(v[i], random_vector(0.04 / cells));
    }
    VertexMotion start = {sheet ? v : NULL, sheet, mesh.vertex_count, 0.0, 1.0};
    Surface* surface;
    CHECK(surface_create(&host, &mesh, &start, radius, &surface) == TDL_STATUS_OK);
    free_mesh(mesh);
    SurfaceBody out = {.surface = surface, .body = body, .self = true};
    out.pose = (TdlPose){{0.0, 0.0, 0.0}, tdl_identity33()};
    out.before = out.pose;
    surface_body_measure(&out);
    return out;
}

static void free_surface(SurfaceBody* body) {
    TdlHost host = tdl_host_default();
    surface_destroy(&host, (Surface*)(uintptr_t)body->surface);
}

typedef struct Tally {
    int face, edge, corner, pair; // a corner over faces, edges, corners; pairs of edges
    double sum;
} Tally;

static int kind_of(const Surface* s, double feature) {
    int f = (int)feature;
    return f < s->vertex_count ? 0 : f < s->vertex_count + s->edge_count ? 1 : 2;
}

static Tally tally_sites(const SurfaceBody* a, const SurfaceBody* b, const SiteList* list) {
    Tally t = {0};
    for (int i = 0; i < list->count; ++i) {
        const ContactSite* x = &list->site[i];
        const Surface* first = x->contact.body[0] == a->body ? a->surface : b->surface;
        const Surface* second = x->contact.body[0] == a->body ? b->surface : a->surface;
        int kinds = 10 * kind_of(first, x->arc[0]) + kind_of(second, x->arc[1]);
        t.face += kinds == 2 || kinds == 20;
        t.edge += kinds == 1 || kinds == 10;
        t.corner += kinds == 0;
        t.pair += kinds == 11;
        CHECK(kinds != 22 && kinds != 12 && kinds != 21);
        t.sum += x->contact.gap;
        // the points are along the normal: a force there has no couple
        TdlVec3 d = tdl_sub3(x->contact.point[1], x->contact.point[0]), n = x->contact.basis.cx;
        CHECK_NEAR(tdl_norm3(tdl_cross3(d, n)), 0.0, 1.0e-12);
    }
    return t;
}

static TdlVec3 seen(const SurfaceBody* body, int vertex) {
    return pose_point(body->pose, body->surface->vertex[vertex]);
}

static void count_gap(Tally* t, int* count, double gap) {
    if (gap < MARGIN) {
        ++*count;
        t->sum += gap;
    }
}

static bool share_corner(const int* a, int count, const int* b, int other) {
    bool shared = false;
    for (int i = 0; i < count * other; ++i) {
        shared = shared || a[i % count] == b[i / count];
    }
    return shared;
}

// Of one sheet: test_surface_neighbours tells that these are what they should be.
static bool are_near(const Surface* s, const int* a, int count, const int* b, int other) {
    bool near = false;
    for (int i = 0; i < count * other; ++i) {
        near = near || surface_are_neighbours(s, a[i % count], b[i / count]);
    }
    return near;
}

// Whether no way from a place y of an edge or a corner, towards any corner of its faces, comes
// nearer to p.
static bool is_nearest(const SurfaceBody* b, const int* vertex, int count, TdlVec3 y, TdlVec3 p) {
    const Surface* s = b->surface;
    for (int f = 0; f < s->triangle_count; ++f) {
        const int* c = s->corner + 3 * f;
        bool at = true;
        for (int i = 0; i < count; ++i) {
            at = at && (c[0] == vertex[i] || c[1] == vertex[i] || c[2] == vertex[i]);
        }
        for (int k = 0; k < 3 && at; ++k) {
            TdlVec3 way = tdl_sub3(seen(b, c[k]), y);
            if (share_corner(&c[k], 1, vertex, count)) {
                continue;
            }
            if (tdl_dot3(way, tdl_sub3(p, y)) > 0.0) {
                return false;
            }
        }
    }
    return true;
}

// The corners of a over b.
static void tally_corners(const SurfaceBody* a, const SurfaceBody* b, Tally* t) {
    const Surface* s = b->surface;
    double radii = a->surface->radius + s->radius;
    for (int i = 0; i < a->surface->vertex_count; ++i) {
        TdlVec3 p = seen(a, i);
        for (int f = 0; f < s->triangle_count; ++f) {
            const int* c = s->corner + 3 * f;
            TdlVec3 v[3] = {seen(b, c[0]), seen(b, c[1]), seen(b, c[2])};
            double least, height = ref_height(v, p, &least);
            if (least > 0.0 && !(a == b && are_near(s, &i, 1, c, 3))) {
                count_gap(t, &t->face, fabs(height) - radii);
            }
        }
        for (int e = 0; e < s->edge_count; ++e) {
            const int* c = s->edge[e].vertex;
            TdlVec3 v[2] = {seen(b, c[0]), seen(b, c[1])};
            double at = ref_on_segment(v[0], v[1], p);
            TdlVec3 y = ref_between(v[0], v[1], at);
            if (at > 0.0 && at < 1.0 && !(a == b && are_near(s, &i, 1, c, 2)) &&
                is_nearest(b, c, 2, y, p)) {
                count_gap(t, &t->edge, tdl_norm3(tdl_sub3(p, y)) - radii);
            }
        }
        for (int k = 0; k < s->vertex_count; ++k) {
            if (!(a == b && are_near(s, &i, 1, &k, 1)) && is_nearest(b, &k, 1, seen(b, k), p)) {
                count_gap(t, &t->corner, tdl_norm3(tdl_sub3(p, seen(b, k))) - radii);
            }
        }
    }
}

static void tally_edges(const SurfaceBody* a, const SurfaceBody* b, Tally* t) {
    double radii = a->surface->radius + b->surface->radius;
    for (int i = 0; i < a->surface->edge_count; ++i) {
        const int* x = a->surface->edge[i].vertex;
        TdlVec3 v[2] = {seen(a, x[0]), seen(a, x[1])};
        for (int k = a == b ? i + 1 : 0; k < b->surface->edge_count; ++k) {
            const int* y = b->surface->edge[k].vertex;
            TdlVec3 w[2] = {seen(b, y[0]), seen(b, y[1])};
            double s, u, d = ref_segments(v, w, &s, &u);
            if (ref_inside(s) && ref_inside(u) && !(a == b && are_near(a->surface, x, 2, y, 2))) {
                count_gap(t, &t->pair, d - radii);
            }
        }
    }
}

static void look(const SurfaceBody* a, const SurfaceBody* b, SiteList* list) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = MARGIN;
    for (int i = 0; i * SHEET_BLOCK < a->surface->triangle_count; ++i) {
        sheet_on_surface(&host, &def, a, i, b, list);
    }
    for (int i = 0; a != b && i * SHEET_BLOCK < b->surface->triangle_count; ++i) {
        sheet_on_surface(&host, &def, b, i, a, list);
    }
}

static void compare(const SurfaceBody* a, const SurfaceBody* b, Tally* all) {
    TdlHost host = tdl_host_default();
    SiteList list = {0};
    look(a, b, &list);
    Tally found = tally_sites(a, b, &list), truth = {0};
    tally_corners(a, b, &truth);
    if (a != b) {
        tally_corners(b, a, &truth);
    }
    tally_edges(a, b, &truth);
    CHECK_INT(found.face, truth.face);
    CHECK_INT(found.edge, truth.edge);
    CHECK_INT(found.corner, truth.corner);
    CHECK_INT(found.pair, truth.pair);
    CHECK_NEAR(found.sum, truth.sum, 1.0e-9 * (1 + list.count)); // the sections' end
    all->face += found.face;
    all->edge += found.edge;
    all->corner += found.corner;
    all->pair += found.pair;
    site_list_free(&host.mem, &list);
}

static void tell(const Tally* all) {
    printf("  over %d faces, %d edges, %d corners; %d pairs of edges\n", all->face, all->edge,
           all->corner, all->pair);
    CHECK(all->face > 200 && all->edge > 200 && all->corner > 5 && all->pair > 200);
}

TEST(two_sheets) {
    Tally all = {0};
    for (int i = 0; i < 300; ++i) {
        SurfaceBody a = make_surface(4, 1.0e-3, 0.0, true, 0);
        SurfaceBody b = make_surface(5, 2.0e-3, 0.0, true, 1);
        b.pose.rotation = tdl_rotation_exp(random_vector(0.4));
        b.pose.position = random_vector(0.01);
        surface_body_measure(&b);
        compare(&a, &b, &all);
        free_surface(&a);
        free_surface(&b);
    }
    tell(&all);
}

// Rolled up, its layers about 5 mm apart.
TEST(a_sheet_and_itself) {
    Tally all = {0};
    for (int i = 0; i < 60; ++i) {
        SurfaceBody a = make_surface(6, 1.0e-3, 0.012, true, 0);
        compare(&a, &a, &all);
        free_surface(&a);
    }
    tell(&all);
}

// Under a corner of a box: one corner of the box over a face, and no corner of the sheet.
TEST(a_corner_of_a_box_on_paper) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    TdlVec3 v[4] = {{-3.0, -2.0, 0.0}, {3.0, -2.0, 0.0}, {3.0, 4.0, 0.0}, {-3.0, 4.0, 0.0}};
    const int t[6] = {0, 1, 2, 0, 2, 3};
    TdlMesh mesh = {v, 4, t, 2};
    VertexMotion start = {v, 1, 4, 0.0, 1.0};
    Surface *surface, *hard;
    REQUIRE(surface_create(&host, &mesh, &start, 0.1, &surface) == TDL_STATUS_OK);
    TdlVec3 vertices[8];
    int triangles[36];
    TdlMesh box = surface_box_mesh((TdlVec3){0.5, 0.5, 0.5}, vertices, triangles);
    REQUIRE(surface_create(&host, &box, &(VertexMotion){0}, 0.0, &hard) == TDL_STATUS_OK);
    SurfaceBody sheet = {.surface = surface, .body = 3};
    sheet.pose.rotation = tdl_identity33();
    SurfaceBody other = {.surface = hard, .body = -2};
    // on its corner: the diagonal upright
    TdlVec3 up = tdl_unit3((TdlVec3){1.0, 1.0, 1.0});
    TdlMat3 frame = tdl_frame_from_tangent(up);
    TdlMat3 from = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    other.pose.rotation = tdl_mul33(from, tdl_transpose33(frame));
    other.pose.position = (TdlVec3){1.0, 0.5, 0.5 * sqrt(3.0) + 0.3};
    surface_body_measure(&sheet);
    surface_body_measure(&other);
    def.margin = 0.25;
    SiteList list = {0};
    sheet_on_surface(&host, &def, &sheet, 0, &other, &list);
    CHECK_INT(list.count, 0);
    sheet_under_corners(&host, &def, &sheet, &other, &list);
    REQUIRE(list.count == 1);
    const TdlContact* x = &list.site[0].contact;
    CHECK_NEAR(x->gap, 0.2, 1.0e-15);
    CHECK(x->body[0] == 3 && x->body[1] == -2 && x->element[0] == 0 && x->element[1] == 0);
    CHECK_NEAR3(x->basis.cx, ((TdlVec3){0.0, 0.0, 1.0}), 1.0e-15);
    CHECK_NEAR3(x->point[0], ((TdlVec3){1.0, 0.5, 0.0}), 1.0e-15);
    site_list_free(&host.mem, &list);
    surface_destroy(&host, surface);
    surface_destroy(&host, hard);
}
