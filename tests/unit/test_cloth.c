// Sheets by themselves: strains against differences, energies and shapes known on paper.
#include "one_cloth.h"
#include "tendril/tendril.h"

static TdlVec3 vertices[64 * 64];
static int faces[8 * 64 * 64];

// Rolled onto a cylinder of 0.2 m: quads, or as many pairs of triangles.
static TdlClothDef curved_def(int columns, int rows, bool triangles) {
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(0.3, 0.4, columns, rows, vertices, faces);
    for (int i = 0; i < def.mesh.vertex_count; ++i) {
        double s = vertices[i].x / 0.2;
        vertices[i] = (TdlVec3){0.2 * sin(s), vertices[i].y, 0.2 * cos(s)};
    }
    for (int f = def.mesh.face_count - 1; f >= 0 && triangles; --f) {
        int v[4];
        memcpy(v, faces + 4 * f, sizeof v);
        const int two[8] = {v[0], v[1], v[2], -1, v[0], v[2], v[3], -1};
        memcpy(faces + 8 * f, two, sizeof two);
    }
    def.mesh.face_count *= triangles ? 2 : 1;
    return def;
}

static void check_gradients(const Cloth* c) {
    int kinds[3] = {0};
    for (int e = 0; e < c->element_count; ++e) {
        const ClothElement* el = &c->element[e];
        check_gradient(c, el);
        ++kinds[el->kind];
    }
    printf("  %d edges, %d shears, %d hinges\n", kinds[0], kinds[1], kinds[2]);
}

TEST(gradients_are_those_of_differences) {
    TdlClothDef def = curved_def(4, 5, false);
    Cloth* c = make(&def);
    shake(c, 5.0e-3, 1);
    CHECK(c->element_count > c->strain_count); // hinges
    check_gradients(c);
    drop(c);
    def = curved_def(4, 5, true);
    c = make(&def);
    shake(c, 5.0e-3, 1);
    check_gradients(c);
    drop(c);
    def.mesh = tdl_cloth_rectangle(0.3, 0.4, 4, 5, vertices, faces);
    c = make(&def);
    shake(c, 5.0e-3, 2);
    CHECK_INT(c->element_count, c->strain_count);
    check_gradients(c);
    drop(c);
}

// The forces of a step are minus the slope of its energy: the whole equation against differences of
// inertia + energy, where stresses are those of the strains.
TEST(the_equation_is_the_slope_of_an_energy) {
    for (int hinges = 0; hinges < 2; ++hinges) {
        TdlClothDef def = curved_def(4, 4, false);
        if (!hinges) {
            def.mesh = tdl_cloth_rectangle(0.3, 0.3, 4, 4, vertices, faces);
        }
        def.bending_damping = 0.0;
        def.damping = 0.0;
        def.bending = 1.0e-2;
        def.stretch = 10.0;
        Cloth* c = make(&def);
        ClothStep t = {.dt = 1.0e-2, .end = 1.0e-2, .gravity = {0.1, 0.2, -9.81}};
        shake(c, 3.0e-3, 3);
        cloth_prepare(c, &t);
        double v[48], kept[48], want[48];
        Rng rng = {4};
        for (int i = 0; i < 48; ++i) {
            v[i] = rng_range(&rng, -0.1, 0.1);
        }
        REQUIRE(cloth_linearise(c, &t, v));
        // once more there, so that the stresses are those of the strains
        memcpy(c->base.v, v, sizeof v);
        for (int k = 0; k < 2; ++k) {
            cloth_residual(c, &t, v, NULL);
            for (int e = 0; e < c->element_count; ++e) {
                c->base.stress[e] =
                    c->tried.stress[e] + c->element[e].stiffness * c->gain[e] * c->tried.left[e];
                c->base.left[e] = 0.0;
            }
        }
        cloth_residual(c, &t, v, NULL);
        memcpy(want, c->force, sizeof want);
        memcpy(kept, c->x, sizeof kept);
        double error = 0.0, size = 0.0;
        for (int i = 0; i < 48; ++i) {
            double phi[2];
            for (int s = 0; s < 2; ++s) {
                double u = v[i] + (s == 0 ? 1.0e-4 : -1.0e-4);
                phi[s] = 0.0;
                for (int k = 0; k < 48; ++k) {
                    double w = k == i ? u : v[k];
                    c->x[k] = kept[k] + t.dt * w;
                    phi[s] += 0.5 * c->def.density * c->area[k / 3] * w * w;
                }
                TdlEnergy energy = cloth_energy(c, t.gravity);
                phi[s] += energy.elastic + energy.gravity;
            }
            memcpy(c->x, kept, sizeof kept);
            error = fmax(error, fabs((phi[0] - phi[1]) / 2.0e-4 + want[i]));
            size = fmax(size, fabs(want[i]));
        }
        printf("  off by %.2g of %.2g N s\n", error, size);
        CHECK(error < 1.0e-6 * size);
        drop(c);
    }
}

// A sheet rolled onto a cylinder about any direction has the energy kappa A / (2 R^2) but for its
// rims, which are not bent.
TEST(bending_is_the_same_in_all_directions) {
    const double R = 0.5;
    for (int k = 0; k < 4; ++k) {
        TdlClothDef def = tdl_cloth_def_default();
        def.mesh = tdl_cloth_rectangle(0.4, 0.4, 41, 41, vertices, faces);
        def.bending = 1.0;
        def.stretch = 1.0e-12; // chords are shorter than arcs
        Cloth* c = make(&def);
        double a = 0.3 * k;
        for (int i = 0; i < c->node_count; ++i) {
            double s = cos(a) * vertices[i].x + sin(a) * vertices[i].y;
            double w = cos(a) * vertices[i].y - sin(a) * vertices[i].x;
            tdl_store3(c->x, i, (TdlVec3){R * sin(s / R), w, R * cos(s / R)});
        }
        // rows through inner nodes stand for a cell each
        double u = cos(a) * cos(a), w = sin(a) * sin(a), area = 0.16;
        double inner = area * 39.0 / 40.0;
        double want = (inner * (u * u + w * w) + 2.0 * area * u * w) / (2.0 * R * R);
        double got = cloth_energy(c, (TdlVec3){0}).elastic;
        printf("  at %.1f rad: %.6f, wanted %.6f\n", a, got, want);
        CHECK_NEAR(got / want, 1.0, 2.0e-3); // h^2 / (12 R^2) and such
        drop(c);
    }
}

// Flattened, what was rolled about a direction of its rows has the same energy, of quads and of
// triangles.
TEST(hinges_bend_a_cylinder_as_rows_do) {
    for (int triangles = 0; triangles < 2; ++triangles) {
        TdlClothDef def = curved_def(31, 31, triangles == 1);
        def.bending = 1.0;
        Cloth* c = make(&def);
        CHECK_NEAR(cloth_energy(c, (TdlVec3){0}).elastic, 0.0, 1.0e-12); // its rest
        tdl_cloth_rectangle(0.3, 0.4, 31, 31, vertices, faces);
        for (int i = 0; i < 31 * 31; ++i) {
            tdl_store3(c->x, i, vertices[i]);
        }
        for (int e = 0; e < c->strain_count; ++e) {
            c->element[e].stiffness = 0.0;
        }
        double want = 0.12 * 29.0 / 30.0 / (2.0 * 0.04);
        double got = cloth_energy(c, (TdlVec3){0}).elastic;
        printf("  %.6f, wanted %.6f\n", got, want);
        CHECK_NEAR(got / want, 1.0, 5.0e-3);
        drop(c);
    }
}

// About other directions they do not, by what theory/cloth.md tells.
TEST(hinges_depend_on_the_direction) {
    double least = INFINITY, most = 0.0;
    for (int k = 0; k <= 8; ++k) {
        TdlClothDef def = curved_def(31, 31, true);
        def.mesh.vertices = vertices;
        tdl_cloth_rectangle(0.3, 0.3, 31, 31, vertices, (int[4 * 900]){0});
        def.bending = 1.0;
        Cloth* c = make(&def);
        double a = M_PI * k / 8.0, R = 0.5;
        for (int i = 0; i < c->node_count; ++i) {
            double s = cos(a) * vertices[i].x + sin(a) * vertices[i].y;
            double w = cos(a) * vertices[i].y - sin(a) * vertices[i].x;
            tdl_store3(c->x, i, (TdlVec3){R * sin(s / R), w, R * cos(s / R)});
        }
        for (int e = 0; e < c->strain_count; ++e) {
            c->element[e].stiffness = 0.0;
        }
        double ratio = cloth_energy(c, (TdlVec3){0}).elastic / (0.09 / (2.0 * R * R));
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        drop(c);
    }
    printf("  from %.3f to %.3f of kappa A / 2 R^2\n", least, most);
    CHECK(least > 0.75 && most < 3.0); // as theory/cloth.md has it
}

// --- the step ------------------------------------------------------------------------------------

static TdlClothDef hung_def(int columns, int rows, double width, double height,
                            TdlClothHold hold[2], int corner[2]) {
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(width, height, columns, rows, vertices, faces);
    corner[0] = 0;
    corner[1] = columns - 1;
    hold[0] = (TdlClothHold){.vertices = &corner[0], .count = 1};
    hold[1] = (TdlClothHold){.vertices = &corner[1], .count = 1};
    def.holds = hold;
    def.hold_count = 2;
    return def;
}

// Runs it and returns the largest strain met; `iterations`: factorisations in all.
static double run(Cloth* c, double dt, int steps) {
    double most = 0.0;
    for (int k = 0; k < steps; ++k) {
        ClothStep t = {.dt = dt, .end = dt * (k + 1), .gravity = {0.0, 0.0, -9.81}};
        cloth_prepare(c, &t);
        if (!cloth_predict(c, &t)) {
            FAIL("step %d found no velocity", k);
            return INFINITY;
        }
        cloth_advance(c, &t, NULL);
        for (int e = 0; e < c->strain_count; ++e) {
            TdlVec3 slope[CLOTH_MOST];
            most = fmax(most, fabs(cloth_strain(&c->element[e], c->x, slope)));
        }
    }
    return most;
}

// Flat, its corners at full width: a taut start.
TEST(a_taut_start_has_a_step) {
    TdlClothHold hold[2];
    int corner[2];
    TdlClothDef def = hung_def(9, 9, 1.0, 1.0, hold, corner);
    Cloth* c = make(&def);
    double strain = run(c, 0.01, 100);
    printf("  strain %.2g\n", strain);
    CHECK(strain < 1.0e-3);
    drop(c);
}

// What holds it has its weight, once it hangs still; and nothing pulls sideways by itself.
// Before anything has looked at it, too.
TEST(a_definition_tells_where_vertices_are) {
    TdlHost host = tdl_host_default();
    TdlWorldDef world_def = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId id;
    TdlClothDef def = tdl_cloth_def_default(), got;
    REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    def.mesh = tdl_cloth_rectangle(0.3, 0.2, 4, 3, vertices, faces);
    REQUIRE(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    REQUIRE(tdl_cloth_def(world, id, &got) == TDL_STATUS_OK);
    for (int i = 0; i < 12; ++i) {
        CHECK(tdl_norm3(tdl_sub3(got.mesh.vertices[i], vertices[i])) == 0.0);
    }
    tdl_world_destroy(world);
}

// A free sheet that is pulled at a vertex goes where the force takes its mass, and the work is
// told.
TEST(a_pull_moves_its_mass) {
    TdlHost host = tdl_host_default();
    TdlWorldDef world_def = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId id;
    TdlVec3 before, after, force = {0.01, -0.02, 0.005};
    TdlClothDef def = tdl_cloth_def_default();
    double mass;
    world_def.gravity = (TdlVec3){0};
    world_def.step = 0.005;
    REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    def.mesh = tdl_cloth_rectangle(0.3, 0.2, 4, 3, vertices, faces);
    def.damping = 0.0;
    REQUIRE(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    const TdlPull bad[3] = {{.vertex = 12, .force = force},
                            {.vertex = 5, .force = {NAN, 0.0, 0.0}},
                            {.vertex = 5, .torque = force}};
    for (int i = 0; i < 3; ++i) {
        CHECK(tdl_body_pull(world, id, 1, &bad[i]) == TDL_STATUS_BAD_ARGUMENT);
    }
    TdlPull pull = {.vertex = 5, .force = force};
    REQUIRE(tdl_body_pull(world, id, 1, &pull) == TDL_STATUS_OK);
    tdl_body_centre(world, id, &before, &mass);
    for (int i = 0; i < 20; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        CHECK(info.nowhere < 1.0e-12); // J, of some 1e-4
    }
    tdl_body_centre(world, id, &after, &mass);
    double way = 0.005 * 0.005 * 0.5 * 20.0 * 21.0 / mass; // by Euler's rule
    CHECK_NEAR(tdl_norm3(tdl_sub3(tdl_sub3(after, before), tdl_scale3(way, force))), 0.0, 1.0e-9);
    tdl_world_destroy(world);
}

TEST(holds_bear_the_weight) {
    TdlClothHold hold[2];
    int corner[2];
    TdlClothDef def = hung_def(7, 9, 0.5, 0.7, hold, corner);
    def.damping = 2.0;
    def.weight = 0.3; // twice what it is to inertia
    Cloth* c = make(&def);
    run(c, 0.005, 2500);
    TdlVec3 a = tdl_load3(c->force, corner[0]), b = tdl_load3(c->force, corner[1]);
    CHECK_NEAR(a.z + b.z, 0.3 * 0.35 * 9.81, 1.0e-6);
    CHECK_NEAR(a.x + b.x, 0.0, 1.0e-6);
    CHECK_NEAR(a.z, b.z, 1.0e-6);
    drop(c);
}

// A sheet that nothing touches keeps its momentum but for what gravity gives.
TEST(a_free_sheet_keeps_its_momentum) {
    TdlClothDef def = curved_def(6, 6, false);
    def.damping = 0.0;
    Cloth* c = make(&def);
    Rng rng = {5};
    TdlVec3 before = {0}, after = {0};
    double area = 0.0;
    for (int i = 0; i < c->node_count; ++i) {
        tdl_store3(c->v, i, (TdlVec3){rng_range(&rng, -1.0, 1.0), rng_range(&rng, -1.0, 1.0), 0.3});
        before = tdl_axpy3(before, c->area[i], tdl_load3(c->v, i));
        area += c->area[i];
    }
    run(c, 1.0e-3, 10);
    for (int i = 0; i < c->node_count; ++i) {
        after = tdl_axpy3(after, c->area[i], tdl_load3(c->v, i));
    }
    before.z -= area * 9.81e-2;
    CHECK_NEAR(after.x, before.x, 1.0e-12);
    CHECK_NEAR(after.y, before.y, 1.0e-12);
    CHECK_NEAR(after.z, before.z, 1.0e-12);
    drop(c);
}

// --- faults --------------------------------------------------------------------------------------

TEST(wrong_definitions_are_told) {
    TdlClothDef good = tdl_cloth_def_default();
    good.mesh = tdl_cloth_rectangle(0.3, 0.4, 4, 5, vertices, faces);
    CHECK(tdl_cloth_def_fault(&good) == NULL);
    TdlClothDef def = good;
    def.density = 0.0;
    CHECK(tdl_cloth_def_fault(&def) != NULL);
    def = good;
    def.stretch = NAN;
    CHECK(tdl_cloth_def_fault(&def) != NULL);
    def = good;
    def.bending = -1.0;
    CHECK(tdl_cloth_def_fault(&def) != NULL);
    def = good;
    def.material = TDL_MATERIAL_LIMIT;
    CHECK(tdl_cloth_def_fault(&def) != NULL);
    int far = 20;
    TdlClothHold hold = {.vertices = &far, .count = 1};
    def = good;
    def.holds = &hold;
    def.hold_count = 1;
    CHECK(tdl_cloth_def_fault(&def) != NULL);
    int face = 0, kept = faces[5];
    faces[5] = 99;
    CHECK(tdl_cloth_mesh_fault(&good.mesh, &face) != NULL && face == 1);
    faces[5] = faces[4];
    CHECK(tdl_cloth_mesh_fault(&good.mesh, &face) != NULL && face == 1);
    faces[5] = kept;
    good.mesh.vertex_count = 21; // one that is in no face
    vertices[20] = (TdlVec3){0};
    CHECK(tdl_cloth_mesh_fault(&good.mesh, &face) != NULL && face == -1);
}
