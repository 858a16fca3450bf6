// Sheets against planes and round things: every feature against the slow obvious version.
#include "detect/sheet.h"
#include "math/rotation.h"

#include "ref/sheet_features.h"
#define RANDOM_SEED 3
#include "ref/random_vectors.h"
#include "test.h"
#include "things.h"

enum { CELLS = 6 };
static const double RADIUS = 2.0e-3, MARGIN = 3.0e-3; // m

static SurfaceBody make_sheet(TdlMesh* mesh) {
    TdlHost host = tdl_host_default();
    *mesh = make_grid(CELLS, 0.12);
    TdlVec3* v = (TdlVec3*)(uintptr_t)mesh->vertices;
    for (int i = 0; i < mesh->vertex_count; ++i) {
        v[i] = tdl_add3(v[i], random_vector(4.0e-3));
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

// Sites of one kind of feature, and the sum of their gaps.
typedef struct Tally {
    int count[3]; // corners, edges, faces
    double sum[3];
} Tally;

static Tally tally_sites(const Surface* s, const SiteList* list) {
    Tally t = {0};
    for (int i = 0; i < list->count; ++i) {
        const ContactSite* site = &list->site[i];
        int f = (int)site->arc[0], kind = f < s->vertex_count                   ? 0
                                          : f < s->vertex_count + s->edge_count ? 1
                                                                                : 2;
        ++t.count[kind];
        t.sum[kind] += site->contact.gap;
        // its address is where it says, and the points are along the normal
        const int* corner = s->corner + 3 * site->contact.element[0];
        double u = site->contact.u[0], v = site->contact.v[0];
        TdlVec3 at = tdl_scale3(1.0 - u - v, s->vertex[corner[0]]);
        at = tdl_axpy3(tdl_axpy3(at, u, s->vertex[corner[1]]), v, s->vertex[corner[2]]);
        CHECK_NEAR3(at, site->contact.point[0], 1.0e-15);
        TdlVec3 d = tdl_sub3(site->contact.point[1], at);
        CHECK_NEAR3(tdl_scale3(tdl_dot3(d, site->contact.basis.cx), site->contact.basis.cx), d,
                    1.0e-12);
    }
    return t;
}

static void count_gap(Tally* t, int kind, double gap) {
    if (gap < MARGIN) {
        ++t->count[kind];
        t->sum[kind] += gap;
    }
}

// All features against a piece of an axis; of an endless one no ends.
static Tally tally_round(const Surface* s, const TdlVec3 axis[2], double radius, bool endless) {
    Tally t = {0};
    double radii = radius + s->radius, length = tdl_norm3(tdl_sub3(axis[1], axis[0]));
    bool point = length == 0.0;
    TdlVec3 along = tdl_scale3(point ? 0.0 : 1.0 / length, tdl_sub3(axis[1], axis[0]));
    for (int i = 0; i < s->vertex_count; ++i) {
        TdlVec3 p = s->vertex[i];
        double a = point ? 0.0 : ref_on_segment(axis[0], axis[1], p);
        count_gap(&t, 0, tdl_norm3(tdl_sub3(p, ref_between(axis[0], axis[1], a))) - radii);
    }
    for (int e = 0; e < s->edge_count; ++e) {
        TdlVec3 v[2] = {s->vertex[s->edge[e].vertex[0]], s->vertex[s->edge[e].vertex[1]]};
        double a, b, d = point ? 0.0 : ref_segments(v, axis, &a, &b);
        if (!point && ref_inside(a) && b > 0.0 && b < 1.0) {
            count_gap(&t, 1, d - radii);
        }
        for (int k = 0; k < 1 + !point && !endless; ++k) {
            double at = ref_on_segment(v[0], v[1], axis[k]);
            TdlVec3 from = tdl_sub3(ref_between(v[0], v[1], at), axis[k]);
            double inwards = (k == 0 ? 1.0 : -1.0) * tdl_dot3(from, along);
            if (ref_inside(at) && (point || inwards <= 0.1 * tdl_norm3(from))) {
                count_gap(&t, 1, tdl_norm3(from) - radii);
            }
        }
    }
    for (int f = 0; f < s->triangle_count; ++f) {
        const int* c = s->corner + 3 * f;
        TdlVec3 v[3] = {s->vertex[c[0]], s->vertex[c[1]], s->vertex[c[2]]};
        for (int k = 0; k < 1 + !point && !endless; ++k) {
            double least, height = ref_height(v, axis[k], &least);
            if (least > 0.0) {
                count_gap(&t, 2, fabs(height) - radii);
            }
        }
    }
    return t;
}

static void compare(const Tally* a, const Tally* b, Tally* all) {
    for (int k = 0; k < 3; ++k) {
        CHECK_INT(a->count[k], b->count[k]);
        CHECK_NEAR(a->sum[k], b->sum[k], 1.0e-9 * (1 + a->count[k])); // the sections' end
        all->count[k] += a->count[k];
    }
}

static void against(TdlShape shape) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    Tally all = {0};
    def.margin = MARGIN;
    for (int i = 0; i < 200; ++i) {
        TdlMesh mesh;
        SurfaceBody sheet = make_sheet(&mesh);
        TdlColliderDef o = tdl_collider_def_default();
        o.shape = shape;
        o.radius = random_between(2.0e-3, 0.03);
        o.length = random_between(5.0e-3, 0.05);
        o.pose.position = random_vector(0.03);
        o.pose.position.z += o.radius;
        o.pose.rotation = tdl_frame_from_tangent(random_vector(1.0));
        SiteList list = {0};
        sheet_on_obstacle(&host, &def, &sheet, &o, 4, &list);
        Tally found = tally_sites(sheet.surface, &list), truth = {0};
        TdlVec3 a = o.pose.position, x = o.pose.rotation.cx;
        if (shape == TDL_SHAPE_PLANE) {
            for (int k = 0; k < mesh.vertex_count; ++k) {
                TdlVec3 d = tdl_sub3(mesh.vertices[k], a);
                count_gap(&truth, 0, tdl_dot3(d, o.pose.rotation.cz) - RADIUS);
            }
        } else {
            double from = shape == TDL_SHAPE_CYLINDER ? -1.0 : 0.0;
            double to = shape == TDL_SHAPE_CYLINDER  ? 1.0
                        : shape == TDL_SHAPE_CAPSULE ? o.length
                                                     : 0.0;
            TdlVec3 axis[2] = {tdl_axpy3(a, from, x), tdl_axpy3(a, to, x)};
            truth = tally_round(sheet.surface, axis, o.radius, shape == TDL_SHAPE_CYLINDER);
        }
        compare(&found, &truth, &all);
        CHECK(list.count == 0 || list.site[0].contact.body[1] == -5);
        site_list_free(&host.mem, &list);
        free_sheet(&sheet, mesh);
    }
    printf("  %d corners, %d edges, %d faces\n", all.count[0], all.count[1], all.count[2]);
    CHECK(all.count[0] > 200);
    CHECK(shape == TDL_SHAPE_PLANE || all.count[1] > 200);
}

TEST(planes) {
    against(TDL_SHAPE_PLANE);
}

TEST(balls) {
    against(TDL_SHAPE_SPHERE);
}

TEST(cylinders) {
    against(TDL_SHAPE_CYLINDER);
}

TEST(capsules) {
    against(TDL_SHAPE_CAPSULE);
}

// A ball over the middle of one of two triangles: its face, the three edges and the corners.
TEST(two_triangles_on_paper) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    TdlVec3 v[4] = {{0.0, 0.0, 0.0}, {3.0, 0.0, 0.0}, {3.0, 3.0, 0.0}, {0.0, 3.0, 0.0}};
    const int t[6] = {0, 1, 2, 0, 2, 3};
    TdlMesh mesh = {v, 4, t, 2};
    VertexMotion start = {v, 1, 4, 0.0, 1.0};
    Surface* surface;
    REQUIRE(surface_create(&host, &mesh, &start, 0.1, &surface) == TDL_STATUS_OK);
    SurfaceBody sheet = {.surface = surface, .body = 2, .element = 0};
    sheet.pose.rotation = sheet.before.rotation = tdl_identity33();
    surface_body_measure(&sheet);
    TdlColliderDef ball = tdl_collider_def_default();
    ball.shape = TDL_SHAPE_SPHERE;
    ball.radius = 0.5;
    ball.pose.position = (TdlVec3){2.0, 1.0, 0.7};
    def.margin = 0.2;
    SiteList list = {0};
    sheet_on_obstacle(&host, &def, &sheet, &ball, 0, &list);
    REQUIRE(list.count == 1); // the edges are at 1 and 0.707 across: 1.22 and 0.995 away
    const TdlContact* x = &list.site[0].contact;
    CHECK_NEAR(x->gap, 0.1, 1.0e-15);
    CHECK_NEAR3(x->basis.cx, ((TdlVec3){0.0, 0.0, 1.0}), 0.0);
    CHECK(x->element[0] == 0 && x->body[0] == 2 && x->body[1] == -1);
    CHECK_NEAR(x->u[0], 1.0 / 3.0, 1.0e-15); // 2 = 3 u + 3 v, 1 = 3 v
    CHECK_NEAR(x->v[0], 1.0 / 3.0, 1.0e-15);
    def.margin = 0.4;
    site_list_clear(&list);
    sheet_on_obstacle(&host, &def, &sheet, &ball, 0, &list);
    REQUIRE(list.count == 2);
    int edge = list.site[0].arc[0] < list.site[1].arc[0] ? 0 : 1; // edges are counted before faces
    CHECK_NEAR(list.site[edge].contact.gap, sqrt(0.49 + 0.5) - 0.6, 1.0e-15);
    site_list_free(&host.mem, &list);
    surface_destroy(&host, surface);
}
