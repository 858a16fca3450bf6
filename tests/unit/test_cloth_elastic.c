// Elastic cloth: derivatives against differences, uniform stretches whose tension is known, a ring
// whose answer is on paper.
#include "one_cloth.h"

enum { SIDE = 33 };
static TdlVec3 vertices[4 * SIDE * SIDE];
static int faces[8 * SIDE * SIDE];

// Every other quad becomes two triangles.
static void cut_some(TdlClothMesh* mesh) {
    int from = mesh->face_count, to = from + from / 2;
    mesh->face_count = to;
    while (from-- > 0) {
        int v[4];
        memcpy(v, faces + 4 * from, sizeof v);
        if (from % 2 == 1) {
            const int two[8] = {v[0], v[1], v[2], -1, v[0], v[2], v[3], -1};
            memcpy(faces + 4 * (to -= 2), two, sizeof two);
        } else {
            memcpy(faces + 4 * --to, v, sizeof v);
        }
    }
}

// Uneven quads and triangles, flat or not.
static TdlClothDef uneven_def(int columns, int rows, double lift) {
    TdlClothDef def = tdl_cloth_def_default();
    Rng rng = {7};
    def.mesh = tdl_cloth_rectangle(0.3, 0.4, columns, rows, vertices, faces);
    for (int i = 0; i < def.mesh.vertex_count; ++i) {
        double h = 0.2 * 0.3 / (columns - 1);
        vertices[i].x += h * rng_range(&rng, -1.0, 1.0);
        vertices[i].y += h * rng_range(&rng, -1.0, 1.0);
        vertices[i].z += lift * rng_range(&rng, -1.0, 1.0);
    }
    cut_some(&def.mesh);
    def.model = TDL_CLOTH_ELASTIC;
    def.stretch = 800.0;
    def.weft = 300.0;
    def.poisson = 0.4;
    def.shear = 50.0;
    def.warp = (TdlVec3){0.8, 0.5, 0.0};
    return def;
}

// --- derivatives ---------------------------------------------------------------------------------

TEST(gradients_are_those_of_differences) {
    TdlClothDef def = uneven_def(4, 5, 5.0e-3);
    Cloth* c = make(&def);
    int kinds[CLOTH_TWIST + 1] = {0};
    shake(c, 1.0e-2, 1);
    for (int e = 0; e < c->strain_count; ++e) {
        const ClothElement* el = &c->element[e];
        check_gradient(c, el);
        ++kinds[el->kind];
    }
    printf("  %d strains of panels, %d twists\n", kinds[CLOTH_PANEL], kinds[CLOTH_TWIST]);
    CHECK_INT(kinds[CLOTH_PANEL], 3 * def.mesh.face_count);
    CHECK_INT(kinds[CLOTH_TWIST], 2 * 6);
    drop(c);
}

static double* second_of(Cloth* c, const ClothElement* el, double size, double share) {
    size_t count = 9 * (size_t)c->pattern.start[c->node_count];
    memset(c->blocks, 0, count * sizeof *c->blocks);
    cloth_add_geometric(el, c->x, size, 1.0, share, c->blocks);
    return c->blocks;
}

// The entry of coordinates i and j of an element's nodes.
static double entry(const ClothElement* el, const double* blocks, int i, int j) {
    return blocks[9 * el->place[el->count * (i / 3) + j / 3] + 3 * (j % 3) + i % 3];
}

TEST(second_derivatives_are_those_of_differences) {
    TdlClothDef def = uneven_def(3, 4, 5.0e-3);
    Cloth* c = make(&def);
    shake(c, 1.0e-2, 2);
    double worst = 0.0;
    for (int e = 0; e < c->strain_count; ++e) {
        const ClothElement* el = &c->element[e];
        const double* second = second_of(c, el, 1.0, 1.0);
        for (int j = 0; j < 3 * el->count; ++j) {
            double *at = &c->x[3 * el->node[j / 3] + j % 3], kept = *at;
            TdlVec3 high[3][CLOTH_MOST], low[3][CLOTH_MOST];
            for (int s = 0; s < 3; ++s) {
                double h = 1.0e-4 / (1 << s);
                *at = kept + h;
                cloth_strain(el, c->x, high[s]);
                *at = kept - h;
                cloth_strain(el, c->x, low[s]);
                *at = kept;
            }
            for (int i = 0; i < 3 * el->count; ++i) {
                double error[3], exact = entry(el, second, i, j);
                for (int s = 0; s < 3; ++s) {
                    double h = 1.0e-4 / (1 << s);
                    double rise = (&high[s][i / 3].x)[i % 3] - (&low[s][i / 3].x)[i % 3];
                    error[s] = fabs(rise / (2.0 * h) - exact);
                }
                worst = fmax(worst, error[2] / (1.0 + fabs(exact)));
                CHECK(error[2] < 1.0e-2 * (1.0 + fabs(exact)));
                // entries of 1e3 and more, of slopes with roundings of 1e-14 over 1e-4
                CHECK(error[2] < 0.3 * error[1] + 1.0e-8 && error[1] < 0.3 * error[0] + 1.0e-8);
            }
        }
    }
    printf("  off by %.2g at most\n", worst);
    drop(c);
}

// Without its negative part the second derivative has none: random directions find none, for either
// sign of the stress; with it they do.
TEST(without_its_negative_part_it_is_definite) {
    TdlClothDef def = uneven_def(3, 3, 5.0e-3);
    Cloth* c = make(&def);
    Rng rng = {3};
    int negative = 0;
    shake(c, 2.0e-2, 4);
    for (int k = 0; k < 4000; ++k) {
        const ClothElement* el = &c->element[k % c->strain_count];
        double v[12], least[2] = {0}, size = k / c->strain_count % 2 == 0 ? 1.0 : -1.0;
        for (int i = 0; i < 3 * el->count; ++i) {
            v[i] = rng_range(&rng, -1.0, 1.0);
        }
        for (int share = 0; share < 2; ++share) {
            const double* second = second_of(c, el, size, share);
            double largest = 0.0;
            for (int i = 0; i < 9 * el->count * el->count; ++i) {
                int row = i / (3 * el->count), column = i % (3 * el->count);
                double a = entry(el, second, row, column);
                least[share] += v[row] * a * v[column];
                largest = fmax(largest, fabs(a));
            }
            CHECK(share == 1 || least[0] > -1.0e-12 * largest); // some roundings
        }
        CHECK(least[0] >= least[1] - 1.0e-12);
        negative += least[1] < 0.0;
    }
    printf("  %d of 4000 directions are negative with it\n", negative);
    CHECK(negative > 100);
    drop(c);
}

// --- uniform stretches ---------------------------------------------------------------------------

// The energy per area of a uniform map, from U by its eigenvectors.
static double energy_of(const TdlClothDef* def, double F[3][2]) {
    double xx = 0.0, yy = 0.0, xy = 0.0;
    for (int k = 0; k < 3; ++k) {
        xx += F[k][0] * F[k][0];
        yy += F[k][1] * F[k][1];
        xy += F[k][0] * F[k][1];
    }
    double mean = 0.5 * (xx + yy), off = hypot(0.5 * (xx - yy), xy);
    double half = 0.5 * atan2(2.0 * xy, xx - yy), c = cos(half), s = sin(half);
    double p = sqrt(mean + off), q = sqrt(mean - off);
    double e1 = p * c * c + q * s * s - 1.0, e2 = p * s * s + q * c * c - 1.0;
    double e12 = 2.0 * (p - q) * s * c;
    double E1 = def->stretch, E2 = def->weft, nu = def->poisson, k = 1.0 - nu * nu * E2 / E1;
    return 0.5 *
           ((E1 * e1 * e1 + E2 * e2 * e2 + 2.0 * nu * E2 * e1 * e2) / k + def->shear * e12 * e12);
}

static void find_forces(Cloth* c, TdlVec3* out) {
    memset(out, 0, (size_t)c->node_count * sizeof *out);
    for (int e = 0; e < c->element_count; ++e) {
        const ClothElement* el = &c->element[e];
        TdlVec3 slope[CLOTH_MOST];
        double stress = el->stiffness * cloth_strain(el, c->x, slope);
        for (int k = 0; k < el->count; ++k) {
            out[el->node[k]] = tdl_axpy3(out[el->node[k]], stress, slope[k]);
        }
    }
}

// The patch test: an uneven mesh that is mapped uniformly, turned in space, has no force inside,
// and on its rim that of the stress dE/dF, from differences of the energy.
TEST(uniform_maps_have_the_exact_tension) {
    enum { COLUMNS = 5, ROWS = 6 };
    for (int trial = 0; trial < 6; ++trial) {
        TdlClothDef def = uneven_def(COLUMNS, ROWS, 0.0);
        def.bending = 0.0;
        Cloth* c = make(&def);
        Rng rng = {(uint64_t)trial + 11};
        double F[3][2], P[3][2];
        for (int k = 0; k < 6; ++k) { // far from 1: strains of tens of percent, pressed ones too
            F[k / 2][k % 2] = (k == 0 || k == 3 ? 1.0 : 0.0) + rng_range(&rng, -0.5, 0.5);
        }
        for (int k = 0; k < 6; ++k) {
            double *f = &F[k / 2][k % 2], kept = *f, side[2];
            for (int s = 0; s < 2; ++s) {
                *f = kept + (s == 0 ? 1.0e-5 : -1.0e-5);
                side[s] = energy_of(&def, F);
            }
            *f = kept;
            P[k / 2][k % 2] = (side[0] - side[1]) / 2.0e-5;
        }
        TdlVec3 u = tdl_scale3(1.0 / tdl_norm3(def.warp), def.warp), w = {-u.y, u.x, 0.0};
        for (int i = 0; i < c->node_count; ++i) {
            double X = tdl_dot3(u, vertices[i]), Y = tdl_dot3(w, vertices[i]);
            for (int k = 0; k < 3; ++k) {
                c->x[3 * i + k] = F[k][0] * X + F[k][1] * Y;
            }
        }
        TdlVec3 force[COLUMNS * ROWS];
        find_forces(c, force);
        double inside = 0.0, rim = 0.0;
        TdlVec3 want[COLUMNS * ROWS] = {{0}};
        // half of the stress across each edge of the rim to either end
        for (int k = 0; k < 2 * (COLUMNS - 1 + ROWS - 1); ++k) {
            int round[2];
            for (int s = 0; s < 2; ++s) {
                int at = (k + s) % (2 * (COLUMNS - 1 + ROWS - 1)), i, j;
                if (at < COLUMNS - 1) {
                    i = at, j = 0;
                } else if (at < COLUMNS - 1 + ROWS - 1) {
                    i = COLUMNS - 1, j = at - (COLUMNS - 1);
                } else if (at < 2 * (COLUMNS - 1) + ROWS - 1) {
                    i = 2 * (COLUMNS - 1) + ROWS - 1 - at, j = ROWS - 1;
                } else {
                    i = 0, j = 2 * (COLUMNS - 1 + ROWS - 1) - at;
                }
                round[s] = j * COLUMNS + i;
            }
            TdlVec3 d = tdl_sub3(vertices[round[1]], vertices[round[0]]), n = {d.y, -d.x, 0.0};
            double N[2] = {tdl_dot3(u, n), tdl_dot3(w, n)};
            TdlVec3 f = {P[0][0] * N[0] + P[0][1] * N[1], P[1][0] * N[0] + P[1][1] * N[1],
                         P[2][0] * N[0] + P[2][1] * N[1]};
            want[round[0]] = tdl_axpy3(want[round[0]], 0.5, f);
            want[round[1]] = tdl_axpy3(want[round[1]], 0.5, f);
        }
        for (int i = 0; i < c->node_count; ++i) {
            bool edge = i % COLUMNS == 0 || i % COLUMNS == COLUMNS - 1 || i / COLUMNS == 0 ||
                        i / COLUMNS == ROWS - 1;
            double off = tdl_norm3(tdl_sub3(force[i], want[i]));
            inside = edge ? inside : fmax(inside, off);
            rim = edge ? fmax(rim, off) : rim;
        }
        printf("  off by %.2g N inside, %.2g N on the rim\n", inside, rim);
        CHECK(inside < 1.0e-12 * def.stretch);
        CHECK(rim < 1.0e-8 * def.stretch); // differences of 1e-5
        drop(c);
    }
}

// Of no direction, it is pulled by E (lambda - 1) per width where it is free to narrow by nu of
// that, whichever way the threads go, and pressed likewise.
TEST(an_isotropic_sheet_pulls_the_same_in_all_directions) {
    for (int k = 0; k < 12; ++k) {
        double angle = 0.5 * (k % 6), strain = k < 6 ? 0.25 : -0.6;
        TdlClothDef def = tdl_cloth_def_default();
        def.model = TDL_CLOTH_ELASTIC;
        def.stretch = 500.0;
        def.poisson = 0.35;
        def.mesh = tdl_cloth_rectangle(0.2, 0.3, 5, 7, vertices, faces);
        def.warp = (TdlVec3){cos(angle), sin(angle), 0.0};
        def.bending = 0.0;
        Cloth* c = make(&def);
        for (int i = 0; i < c->node_count; ++i) {
            c->x[3 * i] *= 1.0 + strain;
            c->x[3 * i + 1] *= 1.0 - 0.35 * strain;
        }
        TdlVec3 force[35], sum = {0}, side = {0};
        find_forces(c, force);
        for (int j = 0; j < 7; ++j) {
            sum = tdl_add3(sum, force[5 * j + 4]);
            side = j < 5 ? tdl_add3(side, force[30 + j]) : side;
        }
        CHECK_NEAR(sum.x, 500.0 * strain * 0.3, 1.0e-11);
        CHECK_NEAR(sum.y, 0.0, 1.0e-11);
        CHECK_NEAR(side.y, 0.0, 1.0e-11);
        drop(c);
    }
}

// Along and across its threads, and askew: 1/E = c^4/E1 + (1/G - 2 nu/E1) s^2 c^2 + s^4/E2, of
// small strains.
TEST(two_threads_pull_as_the_law_says) {
    for (int k = 0; k < 7; ++k) {
        TdlClothDef def = tdl_cloth_def_default();
        double a = M_PI / 12.0 * k, cc = cos(a) * cos(a), ss = sin(a) * sin(a);
        def.model = TDL_CLOTH_ELASTIC;
        def.stretch = 900.0;
        def.weft = 200.0;
        def.poisson = 0.5;
        def.shear = 30.0;
        def.bending = 0.0;
        def.mesh = tdl_cloth_rectangle(0.2, 0.3, 5, 7, vertices, faces);
        def.warp = (TdlVec3){cos(a), sin(a), 0.0};
        Cloth* c = make(&def);
        // the strain of the stress 1 along x, in axes of the threads and turned back
        double t1 = cc, t2 = ss, t12 = -sin(a) * cos(a), f = 1.0e-7 * 900.0;
        double e1 = t1 / 900.0 - 0.5 * t2 / 900.0, e2 = t2 / 200.0 - 0.5 * t1 / 900.0;
        double e12 = 0.5 * t12 / 30.0;
        double xx = cc * e1 + ss * e2 - 2.0 * sin(a) * cos(a) * e12;
        double yy = ss * e1 + cc * e2 + 2.0 * sin(a) * cos(a) * e12;
        double xy = sin(a) * cos(a) * (e1 - e2) + (cc - ss) * e12;
        CHECK_NEAR(xx, cc * cc / 900.0 + (1.0 / 30.0 - 1.0 / 900.0) * ss * cc + ss * ss / 200.0,
                   1.0e-15);
        for (int i = 0; i < c->node_count; ++i) {
            double x = c->x[3 * i], y = c->x[3 * i + 1];
            c->x[3 * i] += f * (xx * x + xy * y);
            c->x[3 * i + 1] += f * (xy * x + yy * y);
        }
        TdlVec3 force[35], sum = {0};
        find_forces(c, force);
        for (int j = 0; j < 7; ++j) {
            sum = tdl_add3(sum, force[5 * j + 4]);
        }
        CHECK_NEAR(sum.x / (f * 0.3), 1.0, 1.0e-5); // strains of 1e-6 and their squares
        CHECK_NEAR(sum.y / (f * 0.3), 0.0, 1.0e-5);
        drop(c);
    }
}

// --- a ring --------------------------------------------------------------------------------------

// A quarter of a ring, its inner rim led out by 1e-6 of its radius, the outer held: u = a r + b/r.
// One step so long that inertia does not count. Returns the largest error of u, as a share.
static double ring_error(int along, bool triangles, double* energy) {
    const double in = 0.1, out = 0.2, by = 1.0e-6 * in;
    TdlClothDef def = tdl_cloth_def_default();
    int around = 2 * along, columns = along + 1;
    def.mesh = tdl_cloth_rectangle(1.0, 1.0, columns, around + 1, vertices, faces);
    def.model = TDL_CLOTH_ELASTIC;
    def.stretch = 1000.0;
    def.poisson = 0.3;
    def.weight = 0.0;
    def.damping = 0.0;
    def.warp = (TdlVec3){1.0, 2.0, 0.0};
    for (int i = 0; i < def.mesh.vertex_count; ++i) {
        double r = in + (out - in) * (vertices[i].x + 0.5), a = 0.5 * M_PI * (vertices[i].y + 0.5);
        vertices[i] = (TdlVec3){r * cos(a), r * sin(a), 0.0};
    }
    for (int f = def.mesh.face_count - 1; f >= 0 && triangles; --f) {
        int v[4];
        memcpy(v, faces + 4 * f, sizeof v);
        const int two[8] = {v[0], v[1], v[2], -1, v[0], v[2], v[3], -1};
        memcpy(faces + 8 * f, two, sizeof two);
    }
    def.mesh.face_count *= triangles ? 2 : 1;
    // u(in) = by, u(out) = 0
    double b = by / (1.0 / in - in / (out * out)), a = -b / (out * out);
    static TdlKeyframe keys[4 * SIDE * SIDE][2];
    static TdlClothHold holds[4 * SIDE * SIDE];
    static int held[4 * SIDE * SIDE];
    for (int i = 0; i < def.mesh.vertex_count; ++i) {
        int column = i % columns, row = i / columns;
        if (column > 0 && column < along && row > 0 && row < around) {
            continue;
        }
        double r = tdl_norm3(vertices[i]);
        TdlKeyframe* key = keys[def.hold_count];
        key[0] = (TdlKeyframe){0};
        key[1] =
            (TdlKeyframe){.time = 1.0e4, .position = tdl_scale3((a * r + b / r) / r, vertices[i])};
        held[def.hold_count] = i;
        holds[def.hold_count] = (TdlClothHold){.vertices = &held[def.hold_count], .count = 1};
        holds[def.hold_count].motion.keys = key;
        holds[def.hold_count++].motion.key_count = 2;
    }
    def.holds = holds;
    Cloth* c = make(&def);
    ClothStep t = {.dt = 1.0e4, .end = 1.0e4};
    cloth_prepare(c, &t);
    CHECK(cloth_predict(c, &t));
    cloth_advance(c, &t, NULL);
    double worst = 0.0;
    for (int i = 0; i < c->node_count; ++i) {
        double r = tdl_norm3(vertices[i]);
        TdlVec3 u = tdl_sub3(tdl_load3(c->x, i), vertices[i]);
        TdlVec3 want = tdl_scale3((a * r + b / r) / r, vertices[i]);
        worst = fmax(worst, tdl_norm3(tdl_sub3(u, want)) / by);
    }
    *energy = cloth_energy(c, (TdlVec3){0}).elastic;
    drop(c);
    return worst;
}

TEST(a_ring_converges_to_its_answer) {
    // the energy: half of the work of the pressure -T_rr on the inner rim, a quarter of it
    const double in = 0.1, out = 0.2, by = 1.0e-7, E = 1000.0, nu = 0.3;
    double b = by / (1.0 / in - in / (out * out)), a = -b / (out * out);
    double pressure = -E * (a / (1.0 - nu) - b / ((1.0 + nu) * in * in));
    double want = 0.5 * pressure * by * 0.5 * M_PI * in;
    for (int triangles = 0; triangles < 2; ++triangles) {
        double error[3], energy[3];
        for (int k = 0; k < 3; ++k) {
            error[k] = ring_error(4 << k, triangles, &energy[k]);
            printf("  %d cells: off by %.3g, energy %.6f of the answer\n", 4 << k, error[k],
                   energy[k] / want);
        }
        CHECK(error[1] < 0.35 * error[0] && error[2] < 0.3 * error[1]); // second order
        CHECK_NEAR(energy[2] / want, 1.0, 0.01);
    }
}

// --- the step ------------------------------------------------------------------------------------

// A strip hung by its upper edge is stretched by its weight: the mean strain is rho g L / (2 E).
TEST(a_strip_is_stretched_by_its_weight) {
    TdlClothDef def = tdl_cloth_def_default();
    int top[3] = {0, 1, 2};
    TdlClothHold hold = {.vertices = top, .count = 3};
    def.mesh = tdl_cloth_rectangle(0.1, 1.0, 3, 21, vertices, faces);
    for (int i = 0; i < def.mesh.vertex_count; ++i) {
        vertices[i] = (TdlVec3){vertices[i].x, 0.0, -vertices[i].y};
    }
    def.model = TDL_CLOTH_ELASTIC;
    def.stretch = 50.0;
    def.weft = 20.0;
    def.poisson = 0.0;
    def.warp = (TdlVec3){0.0, 0.0, 1.0};
    def.holds = &hold;
    def.hold_count = 1;
    def.damping = 5.0;
    Cloth* c = make(&def);
    for (int k = 0; k < 400; ++k) {
        ClothStep t = {.dt = 0.02, .end = 0.02 * (k + 1), .gravity = {0.0, 0.0, -9.81}};
        cloth_prepare(c, &t);
        REQUIRE(cloth_predict(c, &t));
        cloth_advance(c, &t, NULL);
    }
    double longer = -c->x[3 * (c->node_count - 2) + 2] + c->x[5] - 1.0;
    printf("  longer by %.6f m\n", longer);
    // nodes of the last row weigh half: the sum of strains is rho g L / 2 E exactly, for any rows
    CHECK_NEAR(longer, 0.15 * 9.81 / (2.0 * 50.0), 1.0e-6);
    drop(c);
}

TEST(wrong_elastic_definitions_are_told) {
    TdlClothDef good = uneven_def(4, 5, 0.0), def = good;
    CHECK(tdl_cloth_def_fault(&good) == NULL);
    def.poisson = sqrt(800.0 / 300.0);
    CHECK(strstr(tdl_cloth_def_fault(&def), "poisson") != NULL);
    def = good;
    def.poisson = -0.1;
    CHECK(strstr(tdl_cloth_def_fault(&def), "poisson") != NULL);
    def = good;
    def.weft = NAN;
    CHECK(strstr(tdl_cloth_def_fault(&def), "weft") != NULL);
    def = good;
    def.warp = (TdlVec3){0};
    CHECK(strstr(tdl_cloth_def_fault(&def), "direction") != NULL);
    def.warp = (TdlVec3){0.0, 0.0, 1.0};
    CHECK(strstr(tdl_cloth_def_fault(&def), "across a face") != NULL);
    def.model = (TdlClothModel)7;
    CHECK(strstr(tdl_cloth_def_fault(&def), "model") != NULL);
}
