// Meshes that are made, with areas and lengths known on paper; seams that join them.
#include "one_cloth.h"

enum { ROOM = 4000 };
static TdlVec3 vertices[ROOM];
static int faces[4 * ROOM];

// --- shapes --------------------------------------------------------------------------------------

static TdlVec3 way(const TdlClothMesh* m, int i, int j) {
    return tdl_sub3(m->vertices[j], m->vertices[i]);
}

// Of flat quads: half of the product of the diagonals.
static double area_of(const TdlClothMesh* m) {
    double sum = 0.0;
    for (int f = 0; f < m->face_count; ++f) {
        const int* v = m->faces + 4 * f;
        sum += 0.5 * tdl_norm3(tdl_cross3(way(m, v[0], v[2]), way(m, v[1], v[3])));
    }
    return sum;
}

// How often each side is met the one way and the other: `open` sides once, all others once each
// way.
typedef struct Sides {
    int edges, open, wrong;
} Sides;

static Sides count_sides(const TdlClothMesh* m) {
    Sides out = {0};
    for (int k = 0; k < 4 * m->face_count; ++k) {
        int i = m->faces[k], j = m->faces[k % 4 == 3 ? k - 3 : k + 1], same = 0, back = 0;
        for (int l = 0; l < 4 * m->face_count; ++l) {
            int p = m->faces[l], q = m->faces[l % 4 == 3 ? l - 3 : l + 1];
            same += p == i && q == j;
            back += p == j && q == i;
        }
        out.wrong += same != 1 || back > 1;
        out.open += back == 0;
        out.edges += back == 0 || i < j;
    }
    return out;
}

// Sides of a length, of one face each.
static int count_long(const TdlClothMesh* m, double length) {
    int count = 0;
    for (int k = 0; k < 4 * m->face_count; ++k) {
        int i = m->faces[k], j = m->faces[k % 4 == 3 ? k - 3 : k + 1];
        count += fabs(tdl_norm3(way(m, i, j)) - length) < 1.0e-12 * length;
    }
    return count;
}

TEST(a_tube_is_a_prism) {
    for (int around = 3; around < 20; around += 4) {
        int along = around / 2 + 1, face;
        TdlClothMesh m = tdl_cloth_tube(0.1, 0.5, around, along, vertices, faces);
        CHECK(tdl_cloth_mesh_fault(&m, &face) == NULL);
        CHECK_INT(m.vertex_count, around * along);
        CHECK_INT(m.face_count, around * (along - 1));
        CHECK_NEAR(area_of(&m), 0.2 * around * sin(M_PI / around) * 0.5, 1.0e-15);
        Sides sides = count_sides(&m);
        CHECK_INT(sides.wrong, 0);
        CHECK_INT(sides.open, 2 * around);
        CHECK_INT(m.vertex_count - sides.edges + m.face_count, 0); // Euler's of a ring
        CHECK_INT(count_long(&m, 0.2 * sin(M_PI / around)), 2 * m.face_count);
        CHECK_INT(count_long(&m, 0.5 / (along - 1)), 2 * m.face_count);
    }
}

TEST(shorts_are_two_tubes_joined) {
    for (int across = 1; across < 6; ++across) {
        TdlClothShorts s = {.width = 0.4,
                            .depth = 0.06,
                            .rise = 0.25,
                            .legs = 0.2,
                            .spread = 0.05,
                            .across = across,
                            .rise_rows = across + 1,
                            .leg_rows = across};
        int face, vertex_count, face_count;
        TdlClothMesh m = tdl_cloth_shorts(&s, vertices, faces);
        tdl_cloth_shorts_counts(&s, &vertex_count, &face_count);
        CHECK_INT(m.vertex_count, (4 * across + 4) * (across + 2) + 2 * (2 * across + 3) * across);
        CHECK(m.vertex_count == vertex_count && m.face_count == face_count);
        CHECK(tdl_cloth_mesh_fault(&m, &face) == NULL);
        // the trunk; of each leg its front and back, its side, and what goes down from the crotch
        double trunk = (2.0 * (0.4 - 0.06) + 2.0 * sqrt(2.0) * 0.06) * 0.25;
        double leg = (0.4 - 0.06) * 0.2 + 0.06 * sqrt(2.0 * 0.2 * 0.2 + 0.05 * 0.05) +
                     0.06 * hypot(0.2, 0.05);
        CHECK_NEAR(area_of(&m), trunk + 2.0 * leg, 1.0e-15);
        Sides sides = count_sides(&m);
        CHECK_INT(sides.wrong, 0); // all faces the same way round
        CHECK_INT(sides.open, 4 * across + 4 + 2 * (2 * across + 3));
        CHECK_INT(m.vertex_count - sides.edges + m.face_count, -1); // Euler's of three rims
        // across a column; beside it; down the trunk, the legs; the crotch
        CHECK_INT(count_long(&m, 0.17 / across),
                  2 * 4 * across * (across + 1) + 2 * 4 * across * across);
        CHECK_INT(count_long(&m, 0.03 * sqrt(2.0)), 2 * 4 * (across + 1) + 2 * 4 * across);
        CHECK_INT(count_long(&m, 0.25 / (across + 1)), 2 * (4 * across + 4) * (across + 1));
        CHECK_INT(count_long(&m, hypot(0.2, 0.05) / across), 4 * (2 * across + 3) * across);
        CHECK_INT(count_long(&m, 0.06), 2 * 2 * across);
    }
}

// --- faults of meshes ----------------------------------------------------------------------------

TEST(a_third_face_at_an_edge_is_told) {
    TdlClothMesh m = tdl_cloth_rectangle(1.0, 1.0, 3, 3, vertices, faces);
    int face;
    vertices[9] = (TdlVec3){0.0, 0.0, 1.0};
    const int fin[4] = {4, 9, 1, -1};
    memcpy(faces + 16, fin, sizeof fin);
    m.vertex_count = 10;
    m.face_count = 5;
    CHECK_TEXT(tdl_cloth_mesh_fault(&m, &face), "more than two faces meet at an edge");
    CHECK_INT(face, 4);
    faces[18] = 9;
    faces[17] = 8; // two corners of no common edge
    CHECK(tdl_cloth_mesh_fault(&m, &face) == NULL);
}

// --- seams ---------------------------------------------------------------------------------------

// Two rectangles of columns x 5 side by side, `gap` apart, in one mesh; the seam joins their sides.
typedef struct Two {
    TdlClothDef def;
    int from[5], to[5];
    TdlClothSeam seam;
} Two;

static void make_two(Two* t, double gap, double height) {
    enum { COLUMNS = 4, ROWS = 5, HALF = COLUMNS * ROWS };
    *t = (Two){.def = tdl_cloth_def_default()};
    tdl_cloth_rectangle(0.3, 0.4, COLUMNS, ROWS, vertices, faces);
    int quads = (COLUMNS - 1) * (ROWS - 1);
    tdl_cloth_rectangle(0.3, height, COLUMNS, ROWS, vertices + HALF, faces + 4 * quads);
    for (int i = 0; i < HALF; ++i) {
        vertices[HALF + i].x += 0.3 + gap;
    }
    for (int k = 4 * quads; k < 8 * quads; ++k) {
        faces[k] += HALF;
    }
    for (int j = 0; j < ROWS; ++j) {
        t->from[j] = COLUMNS * j + COLUMNS - 1;
        t->to[j] = HALF + COLUMNS * j;
    }
    t->seam = (TdlClothSeam){t->from, t->to, ROWS, 1.0e-9, 0.0};
    t->def.mesh = (TdlClothMesh){vertices, 2 * HALF, faces, 2 * quads};
    t->def.seams = &t->seam;
    t->def.seam_count = 1;
}

static bool step(Cloth* c, double dt, int k, double gravity) {
    ClothStep t = {.dt = dt, .end = dt * (k + 1), .gravity = {0.0, 0.0, -gravity}};
    cloth_prepare(c, &t);
    bool found = cloth_predict(c, &t);
    cloth_advance(c, &t, NULL);
    return found;
}

// What is sewn of two is what is made of one, strain by strain and step by step.
TEST(two_rectangles_sewn_are_one) {
    Two two;
    make_two(&two, 0.0, 0.4);
    int held[2] = {0, 16}, number[40];
    TdlClothHold hold = {.vertices = held, .count = 2};
    two.def.holds = &hold;
    two.def.hold_count = 1;
    CHECK_INT(tdl_cloth_sewn_vertices(&two.def, number), 35);
    Cloth* sewn = make(&two.def);
    TdlClothDef def = tdl_cloth_def_default();
    static TdlVec3 whole[35];
    static int quads[4 * 24];
    def.mesh = tdl_cloth_rectangle(0.6, 0.4, 7, 5, whole, quads);
    for (int i = 0; i < 35; ++i) {
        whole[i].x += 0.15;
    }
    held[1] = 28;
    def.holds = &hold;
    def.hold_count = 1;
    Cloth* one = make(&def);
    CHECK_INT(sewn->node_count, one->node_count);
    CHECK_INT(sewn->element_count, one->element_count);
    CHECK_INT(sewn->bend_count, 0); // rows that go straight on
    for (int k = 0; k < 40; ++k) {
        REQUIRE(step(one, 0.01, k, 9.81) && step(sewn, 0.01, k, 9.81));
    }
    double worst = 0.0;
    for (int i = 0; i < 40; ++i) {
        int column = i % 4 + (i < 20 ? 0 : 3), row = i % 20 / 4;
        TdlVec3 a = tdl_load3(sewn->x, number[i]), b = tdl_load3(one->x, 7 * row + column);
        worst = fmax(worst, tdl_norm3(tdl_sub3(a, b)));
    }
    printf("  off by %.2g m after it fell for 0.4 s\n", worst);
    CHECK(worst < 1.0e-6); // 1e-8 edges a step, which are 0.1 m
    drop(one);
    drop(sewn);
}

// Sides that are not equally long keep their own lengths.
TEST(each_side_of_a_seam_keeps_its_length) {
    Two two;
    make_two(&two, 0.0, 0.41);
    two.seam.within = 0.01;
    Cloth* c = make(&two.def);
    CHECK_INT(c->node_count, 35);
    int own[2] = {0};
    double area = 0.0;
    for (int e = 0; e < c->strain_count; ++e) {
        const ClothElement* el = &c->element[e];
        area += el->kind == CLOTH_EDGE ? el->stiffness / c->def.stretch : 0.0;
        own[0] += el->kind == CLOTH_EDGE && fabs(el->scale - 0.1) < 1e-12 && el->node[0] % 4 == 3 &&
                  el->node[0] < 20 && el->node[1] < 20 && el->node[1] == el->node[0] + 4;
        own[1] += el->kind == CLOTH_EDGE && fabs(el->scale - 0.1025) < 1e-12 && el->node[0] < 20 &&
                  el->node[1] < 20;
    }
    CHECK_INT(own[0], 4);                            // of the first piece
    CHECK_INT(own[1], 4);                            // of the other, between the same nodes
    CHECK_NEAR(area, 2.0 * (0.12 + 0.123), 1.0e-12); // every side once: half of a quad each
    CHECK(c->bend_count > 0);                        // they are no straight rows
    drop(c);
}

// A flat piece whose sides are sewn to a tube: it is flat at rest, also across the seam.
TEST(a_flat_piece_becomes_a_tube) {
    enum { AROUND = 12, ROWS = 4 };
    TdlClothDef def = tdl_cloth_def_default();
    static TdlVec3 flat[(AROUND + 1) * ROWS];
    double chord = 2.0 * 0.1 * sin(M_PI / AROUND);
    def.mesh = tdl_cloth_rectangle(AROUND * chord, 0.3, AROUND + 1, ROWS, flat, faces);
    int from[ROWS], to[ROWS];
    for (int j = 0; j < ROWS; ++j) {
        from[j] = j * (AROUND + 1);
        to[j] = from[j] + AROUND;
        for (int i = 0; i <= AROUND; ++i) {
            double a = 2.0 * M_PI * i / AROUND;
            vertices[from[j] + i] = (TdlVec3){0.1 * cos(a), 0.1 * sin(a), 0.1 * j};
        }
    }
    TdlClothSeam seam = {from, to, ROWS, 1.0e-6, 0.0};
    def.mesh.vertices = vertices;
    def.rest = flat;
    def.seams = &seam;
    def.seam_count = 1;
    def.bending = 1.0;
    Cloth* c = make(&def);
    CHECK_INT(c->node_count, AROUND * ROWS);
    double strain = 0.0;
    for (int e = 0; e < c->strain_count; ++e) {
        strain = fmax(strain, cloth_stretched(&c->element[e], c->x));
    }
    CHECK(strain < 1.0e-12);
    // rows go straight on across the seam: all of it is bent alike, by its second differences
    double curvature = 2.0 * 0.1 * (1.0 - cos(2.0 * M_PI / AROUND)) / (chord * chord);
    double want = 0.5 * AROUND * chord * 0.3 * curvature * curvature;
    CHECK_INT(c->bend_count, 0);
    CHECK_NEAR(cloth_energy(c, (TdlVec3){0}).elastic, want, 1.0e-9 * want);
    drop(c);
}

// Pieces that do not join at rest want to be flat where they are sewn; those that do want the angle
// that they have there.
TEST(hinges_go_across_seams) {
    for (int joined = 0; joined < 2; ++joined) {
        Two two;
        make_two(&two, 0.0, 0.4);
        static TdlVec3 rest[40];
        for (int i = 0; i < 40; ++i) {
            TdlVec3 x = vertices[i]; // the second stands up from the first, or somewhere else
            rest[i] = i < 20 ? x : (TdlVec3){joined ? 0.15 : 2.0, x.y, x.x - 0.15};
        }
        two.def.rest = rest;
        Cloth* c = make(&two.def);
        int across = 0, quads = 2 * 12;
        for (int e = c->strain_count; e < c->element_count; ++e) {
            const ClothElement* el = &c->element[e];
            bool sewn = el->node[0] < 20 && el->node[0] % 4 == 3 && el->node[1] < 20 &&
                        el->node[1] % 4 == 3;
            across += sewn;
            CHECK_NEAR(fabs(el->rest), sewn && joined ? 0.5 * M_PI : 0.0, 1.0e-12);
        }
        CHECK_INT(across, 4);
        CHECK_INT(c->bend_count, quads + 2 * (2 * 4 + 3 * 3) + 4);
        drop(c);
    }
}

// Pieces that are apart are drawn together in their time, by forces that keep the momentum.
TEST(what_is_apart_is_drawn_together) {
    Two two;
    make_two(&two, 0.1, 0.4);
    two.seam.time = 0.5;
    two.def.damping = 0.0;
    Cloth* c = make(&two.def);
    CHECK_INT(c->node_count, 40);
    CHECK_INT(c->stitch_count, 5);
    double strain = 0.0, supplied = 0.0;
    for (int k = 0; k < 80; ++k) {
        ClothStep t = {.dt = 0.01, .end = 0.01 * (k + 1)};
        cloth_prepare(c, &t);
        if (!cloth_predict(c, &t)) {
            FAIL("no step %d", k);
        }
        supplied += cloth_advance(c, &t, NULL);
        for (int e = 0; e < c->strain_count; ++e) {
            strain = fmax(strain, cloth_stretched(&c->element[e], c->x));
        }
        if (k == 24) {
            TdlVec3 a = tdl_load3(c->x, two.from[2]), b = tdl_load3(c->x, two.to[2]);
            CHECK_NEAR(tdl_norm3(tdl_sub3(b, a)), 0.05, 1.0e-3); // half way
        }
    }
    TdlVec3 sum = {0};
    for (int i = 0; i < c->node_count; ++i) {
        sum = tdl_axpy3(sum, c->area[i], tdl_load3(c->v, i));
    }
    for (int k = 0; k < 5; ++k) {
        TdlVec3 a = tdl_load3(c->x, two.from[k]), b = tdl_load3(c->x, two.to[k]);
        CHECK_NEAR(tdl_norm3(tdl_sub3(b, a)), 1.5e-3, 1.0e-4);
    }
    printf("  strain %.2g, work %.3g J, energy %.3g J\n", strain, supplied,
           cloth_energy(c, (TdlVec3){0}).kinetic);
    CHECK(tdl_norm3(sum) < 1.0e-9);
    CHECK(strain < 1.0e-3);
    CHECK(supplied > 0.0);
    CHECK(cloth_energy(c, (TdlVec3){0}).kinetic <= supplied); // no more than they gave
    drop(c);
}

TEST(wrong_seams_are_told) {
    Two two;
    int seam, pair;
    make_two(&two, 0.1, 0.4);
    CHECK(strstr(tdl_cloth_seam_fault(&two.def, &seam, &pair), "farther apart") != NULL);
    CHECK(seam == 0 && pair == 0);
    CHECK(strstr(tdl_cloth_def_fault(&two.def), "farther apart") != NULL);
    make_two(&two, 0.0, 0.4);
    CHECK(tdl_cloth_seam_fault(&two.def, &seam, &pair) == NULL);
    two.to[3] = 40;
    CHECK(strstr(tdl_cloth_seam_fault(&two.def, &seam, &pair), "not there") != NULL);
    CHECK(seam == 0 && pair == 3);
    two.to[3] = two.from[3];
    CHECK(strstr(tdl_cloth_seam_fault(&two.def, &seam, &pair), "itself") != NULL);
    two.to[3] = two.from[2];
    two.seam.within = 0.2;
    CHECK(strstr(tdl_cloth_seam_fault(&two.def, &seam, &pair), "two corners of a face") != NULL);
    CHECK(seam == -1);
    two.seam.within = -1.0;
    CHECK(strstr(tdl_cloth_seam_fault(&two.def, &seam, &pair), "within") != NULL);
    // a seam inside of the first piece: its column of edges would have four faces
    make_two(&two, 0.0, 0.4);
    for (int j = 0; j < 5; ++j) {
        two.from[j] = 4 * j + 2;
    }
    two.seam.within = 0.2;
    CHECK(strstr(tdl_cloth_seam_fault(&two.def, &seam, &pair), "more than two faces") != NULL);
}
