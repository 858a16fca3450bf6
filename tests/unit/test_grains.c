// Beds of grains: fills, transfers, rows of strain against sums over particles and differences,
// what they do to energy, the state, and what is refused. The solver of the rows has tests of its
// own.
#include "base/rng.h"
#include "bench/friction_nodes.h"
#include "counting_allocator.h"
#include "granular/bed.h"
#include "tendril/world.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

// --- beds ----------------------------------------------------------------------------------------

static TdlGrainsFill box_fill(TdlVec3 low, TdlVec3 high) {
    return (TdlGrainsFill){.shape = TDL_FILL_BOX, .low = low, .high = high};
}

// A grid of 5 x 4 x 6 cells (5 x 6) of which a part is filled.
static TdlGrainsDef small_def(int dimension, TdlGrainsFill* fill) {
    TdlGrainsDef def = tdl_grains_def_default();
    def.dimension = dimension;
    def.spacing = 0.1;
    def.low = (TdlVec3){-0.2, 0.1, 0.3};
    def.high = (TdlVec3){0.3, 0.5, 0.9};
    def.depth = 0.7;
    def.jitter = 0.8;
    def.seed = 3;
    *fill = box_fill((TdlVec3){-0.1, 0.1, 0.4}, (TdlVec3){0.3, 0.4, 0.8});
    def.fills = fill;
    def.fill_count = 1;
    return def;
}

static Bed* make_bed(const TdlGrainsDef* def) {
    TdlHost host = tdl_host_default();
    Bed* bed = NULL;
    const char* fault = tdl_grains_def_fault(def);
    if (fault != NULL) {
        FAIL("%s", fault);
        return NULL;
    }
    CHECK(bed_create(&host, def, &bed) == TDL_STATUS_OK);
    return bed;
}

// Velocities, their gradients and volumes of particles at random.
static void stir(Bed* bed, uint64_t seed) {
    Rng rng = rng_seed(seed);
    for (int p = 0; p < bed->made; ++p) {
        Particle* to = bed->particle + p;
        to->volume *= rng_range(&rng, 0.9, 1.1);
        for (int a = 0; a < bed->grid.axes; ++a) {
            to->v[a] = rng_range(&rng, -1.0, 1.0);
            for (int b = 0; b < bed->grid.axes; ++b) {
                to->c[a][b] = rng_range(&rng, -5.0, 5.0);
            }
        }
    }
}

// --- the slow way --------------------------------------------------------------------------------

// (A.1) of a node at a point, and its gradient (A.2), by the point's distance from the node.
static double hat(const Bed* bed, int node, const double* x, double* slope) {
    const GrainGrid* grid = &bed->grid;
    double at[3], value[3], rise[3];
    for (int a = 0; a < grid->axes; ++a) {
        int index = grid_index(grid->node_step, grid->nodes, a, node);
        at[a] = (x[a] - grid->low[a]) / grid->spacing - index;
        value[a] = fmax(0.0, 1.0 - fabs(at[a]));
        rise[a] = fabs(at[a]) < 1.0 ? (at[a] < 0.0 ? 1.0 : -1.0) / grid->spacing : 0.0;
    }
    double all = 1.0;
    for (int a = 0; a < grid->axes; ++a) {
        all *= value[a];
        for (int b = 0; b < grid->axes; ++b) {
            slope[a] = b == 0 ? 1.0 : slope[a];
            slope[a] *= a == b ? rise[b] : value[b];
        }
    }
    return all;
}

// N_j of a place of stress.
static double stress_hat(const Bed* bed, int place, const double* x) {
    double slope[3], at[3];
    if (bed->def.stress == TDL_GRAINS_CELLS) {
        return grid_cell(&bed->grid, x, at) == place ? 1.0 : 0.0;
    }
    return hat(bed, place, x, slope);
}

typedef struct Momenta {
    double mass;
    TdlVec3 linear, angular; // kg m/s, kg m^2/s about the origin
} Momenta;

static Momenta momenta_of_grid(const Bed* bed, const double* v) {
    Momenta out = {0};
    for (int i = 0; i < bed->node_count; ++i) {
        TdlVec3 p = tdl_scale3(bed->mass[i], tdl_load3(v + bed->coordinate[i], 0));
        out.mass += bed->mass[i];
        out.linear = tdl_add3(out.linear, p);
        out.angular = tdl_add3(out.angular, tdl_cross3(bed->place[i], p));
    }
    return out;
}

// With what a particle's own gradient turns: (A.17)
static Momenta momenta_of_particles(const Bed* bed) {
    Momenta out = {0};
    const GrainGrid* grid = &bed->grid;
    for (int p = 0; p < bed->ledger.count; ++p) {
        const Particle* q = bed->particle + p;
        double mass = bed->def.density * q->volume, at[3];
        TdlVec3 x = grid_point(grid, q->x), v = grid_vector(grid, q->v);
        out.mass += mass;
        out.linear = tdl_axpy3(out.linear, mass, v);
        out.angular = tdl_axpy3(out.angular, mass, tdl_cross3(x, v));
        grid_cell(grid, q->x, at);
        for (int b = 0; b < grid->axes; ++b) {
            double unit[3] = {0}, column[3] = {0};
            double width = grid->spacing * grid->spacing * at[b] * (1.0 - at[b]);
            unit[b] = width;
            for (int a = 0; a < grid->axes; ++a) {
                column[a] = q->c[a][b];
            }
            TdlVec3 e = grid_vector(grid, unit), c = grid_vector(grid, column);
            out.angular = tdl_axpy3(out.angular, mass, tdl_cross3(e, c));
        }
    }
    return out;
}

static void check_momenta(Momenta a, Momenta b) {
    double scale = a.mass; // velocities of 1 m/s, arms of 1 m
    CHECK_NEAR(a.mass, b.mass, 1.0e-13 * scale);
    CHECK_NEAR3(a.linear, b.linear, 1.0e-13 * scale);
    CHECK_NEAR3(a.angular, b.angular, 1.0e-13 * scale);
}

// --- shape functions and transfers ---------------------------------------------------------------

// Particles nearer to a face of their cell than the grid's edge count as being there, so momenta
// about the origin are theirs only where there are none such.
static bool none_at_edges(const Bed* bed) {
    for (int p = 0; p < bed->ledger.count; ++p) {
        for (int a = 0; a < bed->grid.axes; ++a) {
            double at;
            grid_cell_along(&bed->grid, bed->particle[p].x, a, &at);
            if (at == GRID_EDGE || at == 1.0 - GRID_EDGE) {
                return false;
            }
        }
    }
    return true;
}

TEST(shapes_are_a_partition_of_unity_and_know_where_they_are) {
    for (int dimension = 2; dimension <= 3; ++dimension) {
        TdlGrainsFill fill;
        TdlGrainsDef def = small_def(dimension, &fill);
        Bed* bed = make_bed(&def);
        REQUIRE(bed != NULL);
        for (int p = 0; p < bed->made; ++p) {
            double sum = 0.0, place[3] = {0}, total[3] = {0}, slope[3];
            for (int i = 0; i < bed->grid.node_count; ++i) {
                double n = hat(bed, i, bed->particle[p].x, slope);
                sum += n;
                for (int a = 0; a < dimension; ++a) {
                    int index = grid_index(bed->grid.node_step, bed->grid.nodes, a, i);
                    place[a] += n * (bed->grid.low[a] + bed->grid.spacing * index);
                    total[a] += slope[a];
                }
            }
            CHECK_NEAR(sum, 1.0, 1.0e-14);
            for (int a = 0; a < dimension; ++a) {
                CHECK_NEAR(place[a], bed->particle[p].x[a], 1.0e-14);
                CHECK_NEAR(total[a], 0.0, 1.0e-12);
            }
        }
        bed_destroy(bed);
    }
}

// There and back, where nothing acts: mass and momenta to rounding, at each of the two.
TEST(transfers_keep_mass_momentum_and_angular_momentum) {
    for (int dimension = 2; dimension <= 3; ++dimension) {
        TdlGrainsFill fill;
        TdlGrainsDef def = small_def(dimension, &fill);
        Bed* bed = make_bed(&def);
        REQUIRE(bed != NULL);
        stir(bed, 11);
        CHECK(none_at_edges(bed));
        Momenta before = momenta_of_particles(bed);
        BedSums sums = bed_sum_alone(bed);
        double kinetic = bed_energy(bed, &sums, (TdlVec3){0}).kinetic;
        CHECK(bed_predict(bed, 0.01, (TdlVec3){0}));
        check_momenta(momenta_of_grid(bed, bed->v_free), before);
        double on_grid = bed_grid_kinetic(bed, bed->v_free);
        CHECK_BELOW(on_grid, kinetic);
        bed_scatter(bed, 0.0);
        check_momenta(momenta_of_particles(bed), before);
        sums = bed_sum_alone(bed);
        CHECK_BELOW(bed_energy(bed, &sums, (TdlVec3){0}).kinetic, on_grid * (1.0 + 1.0e-15));
        bed_destroy(bed);
    }
}

// v = a + B x is taken to the grid and back exactly.
TEST(affine_velocities_survive_both_ways) {
    for (int dimension = 2; dimension <= 3; ++dimension) {
        TdlGrainsFill fill;
        TdlGrainsDef def = small_def(dimension, &fill);
        Bed* bed = make_bed(&def);
        REQUIRE(bed != NULL);
        static const double A[3] = {0.3, -0.7, 1.1};
        static const double B[3][3] = {{1.0, -2.0, 0.5}, {0.2, 3.0, -1.5}, {-0.6, 0.8, -2.5}};
        for (int p = 0; p < bed->made; ++p) {
            Particle* q = bed->particle + p;
            for (int a = 0; a < dimension; ++a) {
                q->v[a] = A[a];
                for (int b = 0; b < dimension; ++b) {
                    q->c[a][b] = B[a][b];
                    q->v[a] += B[a][b] * q->x[b];
                }
            }
        }
        CHECK(bed_predict(bed, 0.01, (TdlVec3){0}));
        for (int i = 0; i < bed->node_count; ++i) {
            for (int a = 0; a < dimension; ++a) {
                double wanted = A[a];
                for (int b = 0; b < dimension; ++b) {
                    wanted += B[a][b] * grid_component(&bed->grid, bed->place[i], b);
                }
                int k = bed->coordinate[i] + grid_slot(dimension, a);
                CHECK_NEAR(bed->v_free[k], wanted, 2.0e-14); // some roundings of 3
            }
        }
        bed_scatter(bed, 0.0);
        for (int p = 0; p < bed->made; ++p) {
            for (int a = 0; a < dimension; ++a) {
                for (int b = 0; b < dimension; ++b) {
                    // differences of velocities over 0.1 m
                    CHECK_NEAR(bed->particle[p].c[a][b], B[a][b], 5.0e-13);
                }
            }
        }
        bed_destroy(bed);
    }
}

// --- rows ----------------------------------------------------------------------------------------

// Each g against a sum over all particles; where a row is missing its volume is small.
static void check_sums(Bed* bed) {
    int near = bed->strain.rows.near, axes = bed->grid.axes;
    for (int j = 0; j < bed->row_count; ++j) {
        for (int k = 0; k < near; ++k) {
            const double* g = bed->g + ((ptrdiff_t)j * near + k) * axes;
            int node = bed->row_node[(ptrdiff_t)j * near + k];
            double wanted[3] = {0}, slope[3];
            for (int p = 0; p < bed->ledger.count && node >= 0; ++p) {
                const Particle* q = bed->particle + p;
                double weight = q->volume * stress_hat(bed, bed->row_place[j], q->x);
                hat(bed, bed->node[node], q->x, slope);
                for (int a = 0; a < axes; ++a) {
                    wanted[a] += weight * slope[a];
                }
            }
            for (int a = 0; a < axes; ++a) {
                // volumes of 1e-3 m^3 over 0.1 m
                CHECK_NEAR(g[a], wanted[a], 1.0e-16 * pow(10.0, 3 - axes) + 1.0e-15);
            }
        }
    }
}

// Rows of a colour have no node in common.
static void check_colours(const Bed* bed) {
    const StrainRows* rows = &bed->strain.rows;
    int* last = calloc((size_t)bed->node_count, sizeof *last);
    CHECK_INT(rows->start[rows->colour_count], rows->count);
    for (int c = 0; c < rows->colour_count; ++c) {
        for (int k = rows->start[c] * rows->near; k < rows->start[c + 1] * rows->near; ++k) {
            if (rows->node[k] >= 0) {
                CHECK(last[rows->node[k]] != c + 1);
                last[rows->node[k]] = c + 1;
            }
        }
    }
    free(last);
}

TEST(rows_are_sums_over_particles_and_their_colours_are_apart) {
    for (int k = 0; k < 4; ++k) {
        TdlGrainsFill fill;
        TdlGrainsDef def = small_def(2 + k % 2, &fill);
        def.stress = k < 2 ? TDL_GRAINS_NODES : TDL_GRAINS_CELLS;
        Bed* bed = make_bed(&def);
        REQUIRE(bed != NULL);
        stir(bed, 5);
        CHECK(bed_predict(bed, 0.01, (TdlVec3){0}));
        CHECK(bed->row_count > 10);
        check_sums(bed);
        check_colours(bed);
        bed_destroy(bed);
    }
}

// A slab against the generator of nodal problems, which has the same vectors for another layout.
TEST(rows_are_those_of_the_generator_of_slopes) {
    for (int at_nodes = 0; at_nodes < 2; ++at_nodes) {
        GrainSlope slope = grain_slope(3, 6, 3, 20.0);
        slope.at_nodes = at_nodes == 1;
        NodalCase scratch = {0};
        GrainSums sums = grain_sums(&scratch, &slope);
        TdlGrainsDef def = tdl_grains_def_default();
        TdlGrainsFill fill = box_fill((TdlVec3){0}, (TdlVec3){0.06, 0.06, 0.03});
        def.spacing = slope.spacing;
        def.high = fill.high;
        def.fills = &fill;
        def.fill_count = 1;
        def.stress = at_nodes ? TDL_GRAINS_NODES : TDL_GRAINS_CELLS;
        Bed* bed = make_bed(&def);
        REQUIRE(bed != NULL);
        CHECK(bed_predict(bed, 0.01, (TdlVec3){0}));
        // a place that does not see the edges: there y is up, and z across
        int x = 2, y = 1, across = 3, near = bed->strain.rows.near;
        int place = x * bed->place_step[0] + across * bed->place_step[1] + y * bed->place_step[2];
        const double* g = bed->g + (ptrdiff_t)bed->row_of[place] * near * 3;
        const double* other = sums.g + (ptrdiff_t)(x + 6 * (across + 6 * y)) * GRAIN_NEAR;
        for (int k = 0; k < near; ++k) {
            int side = at_nodes ? 3 : 2, first = at_nodes ? 0 : 1;
            int i = k % side + first, j = k / side % side + first, l = k / side / side + first;
            const double* there = other + (ptrdiff_t)3 * (i + 3 * l + 9 * j);
            // of 2.5e-5, where places are known to 1e-15 of a cell
            CHECK_NEAR(g[3 * k], there[0], 1.0e-19);
            CHECK_NEAR(g[3 * k + 1], there[2], 1.0e-19);
            CHECK_NEAR(g[3 * k + 2], there[1], 1.0e-19);
        }
        free(sums.g);
        free(sums.mass);
        bed_destroy(bed);
    }
}

// chi of (F.61), written out.
static void chi(int dimension, const double* r, double s[3][3]) {
    memset(s, 0, 3 * sizeof *s);
    double mean = r[0] * sqrt(2.0 / dimension);
    if (dimension == 2) {
        s[0][0] = mean + r[1];
        s[1][1] = mean - r[1];
        s[0][1] = s[1][0] = r[2];
        return;
    }
    s[0][0] = mean + r[1] + r[2] / sqrt(3.0);
    s[1][1] = mean - r[1] + r[2] / sqrt(3.0);
    s[2][2] = mean - 2.0 * r[2] / sqrt(3.0);
    s[0][1] = s[1][0] = r[3];
    s[0][2] = s[2][0] = r[4];
    s[1][2] = s[2][1] = r[5];
}

// D of the grid's velocities at a point, by differences that are exact within a cell.
static void strain_at(const Bed* bed, const double* v, const double* x, double d[3][3]) {
    int axes = bed->grid.axes;
    double step = 1.0e-3 * bed->grid.spacing, slope[3];
    for (int b = 0; b < axes; ++b) {
        double side[2][3] = {{0}};
        for (int s = 0; s < 2; ++s) {
            double at[3] = {x[0], x[1], x[2]};
            at[b] += s == 0 ? -step : step;
            for (int i = 0; i < bed->grid.node_count; ++i) {
                double n = hat(bed, i, at, slope);
                for (int a = 0; a < axes; ++a) {
                    side[s][a] += n * v[3 * i + grid_slot(axes, a)];
                }
            }
        }
        for (int a = 0; a < axes; ++a) {
            d[a][b] = (side[1][a] - side[0][a]) / (2.0 * step);
        }
    }
}

// The power of random stresses at the places of stress in a random flow: r.u is the sum of
// lambda : D over the particles' volumes, and so is the work that the impulses do at the nodes.
static void check_power(Bed* bed, Rng* rng) {
    int d = bed->components, axes = bed->grid.axes;
    size_t n = 3 * (size_t)bed->grid.node_count;
    double *v = calloc(n, sizeof *v), *moved = calloc(n, sizeof *moved);
    double* r = calloc((size_t)(bed->row_count * d), sizeof *r);
    for (int i = 0; i < bed->node_count; ++i) {
        for (int a = 0; a < axes; ++a) {
            v[bed->coordinate[i] + grid_slot(axes, a)] = rng_range(rng, -1.0, 1.0);
        }
    }
    double rows = 0.0, particles = 0.0, nodes = 0.0, size = 0.0;
    for (int j = 0; j < bed->row_count; ++j) {
        double u[6];
        bed_row_rate(bed, j, v, u);
        for (int k = 0; k < d; ++k) {
            r[j * d + k] = rng_range(rng, -1.0, 1.0);
            rows += r[j * d + k] * u[k];
            size += fabs(r[j * d + k] * u[k]);
        }
        bed_row_push(bed, j, r + (ptrdiff_t)j * d, 1.0, moved);
    }
    for (int p = 0; p < bed->ledger.count; ++p) {
        double s[3][3], e[3][3] = {{0}}, lambda[6] = {0};
        const Particle* q = bed->particle + p;
        for (int j = 0; j < bed->row_count; ++j) {
            double weight = stress_hat(bed, bed->row_place[j], q->x);
            for (int k = 0; k < d; ++k) {
                lambda[k] += weight * r[j * d + k];
            }
        }
        chi(axes, lambda, s);
        strain_at(bed, v, q->x, e);
        for (int k = 0; k < 9; ++k) {
            particles += q->volume * s[k / 3][k % 3] * e[k / 3][k % 3];
        }
    }
    for (int i = 0; i < bed->node_count; ++i) {
        int k = bed->coordinate[i];
        nodes += bed->mass[i] * tdl_dot3(tdl_load3(v + k, 0), tdl_load3(moved + k, 0));
    }
    CHECK_NEAR(rows, particles, 1.0e-11 * size); // differences over 2e-4 m lose three digits
    CHECK_NEAR(rows, nodes, 1.0e-14 * size);
    free(v);
    free(moved);
    free(r);
}

// Particles far enough from the faces of cells for differences.
static void centre_particles(Bed* bed) {
    for (int p = 0; p < bed->made; ++p) {
        for (int a = 0; a < bed->grid.axes; ++a) {
            double at, *x = bed->particle[p].x;
            grid_cell_along(&bed->grid, x, a, &at);
            x[a] += bed->grid.spacing * (at < 0.01 ? 0.01 : at > 0.99 ? -0.01 : 0.0);
        }
    }
}

TEST(impulse_times_rate_is_stress_times_strain) {
    Rng rng = rng_seed(17);
    for (int k = 0; k < 4; ++k) {
        TdlGrainsFill fill;
        TdlGrainsDef def = small_def(2 + k % 2, &fill);
        def.stress = k < 2 ? TDL_GRAINS_NODES : TDL_GRAINS_CELLS;
        Bed* bed = make_bed(&def);
        REQUIRE(bed != NULL);
        stir(bed, 5);
        centre_particles(bed);
        CHECK(bed_predict(bed, 0.01, (TdlVec3){0}));
        check_power(bed, &rng);
        bed_destroy(bed);
    }
}

// (A.14) closes exactly what room there is: with velocities that compress evenly by the rate that
// packs a fill of 0.9 in one step, every u_N inside is zero.
TEST(bias_is_the_room_that_is_left) {
    for (int k = 0; k < 4; ++k) {
        TdlGrainsFill fill;
        TdlGrainsDef def = small_def(2 + k % 2, &fill);
        def.stress = k < 2 ? TDL_GRAINS_NODES : TDL_GRAINS_CELLS;
        def.jitter = 0.0;
        fill.fraction = 0.9 * def.packing;
        Bed* bed = make_bed(&def);
        REQUIRE(bed != NULL);
        double dt = 0.01, rate = -(1.0 / 0.9 - 1.0) / dt;
        CHECK(bed_predict(bed, dt, (TdlVec3){0}));
        for (int i = 0; i < bed->node_count; ++i) {
            for (int a = 0; a < bed->grid.axes; ++a) {
                double x = grid_component(&bed->grid, bed->place[i], a);
                bed->v_free[bed->coordinate[i] + grid_slot(bed->grid.axes, a)] =
                    rate * x / bed->grid.axes;
            }
        }
        int inside = 0;
        for (int j = 0; j < bed->row_count; ++j) {
            double u[6], size = bed->bias[j];
            bed_row_rate(bed, j, bed->v_free, u);
            double share =
                bed_volume_at(bed, bed->row_place[j]) / bed->place_room[bed->row_place[j]];
            if (share > 0.89) {
                ++inside;
                CHECK_NEAR(u[0] + bed->bias[j], 0.0, 1.0e-12 * size);
            } else {
                CHECK_BELOW(0.0, u[0] + bed->bias[j]);
            }
        }
        CHECK(inside > 5);
        bed_destroy(bed);
    }
}

// --- fills ---------------------------------------------------------------------------------------

static double filled_mass(const TdlGrainsDef* def) {
    Bed* bed = make_bed(def);
    double mass = bed == NULL ? NAN : def->density * bed_sum_alone(bed).volume;
    bed_destroy(bed);
    return mass;
}

// Boxes have their mass wherever their faces are; round shapes to what 4 samples a part allow.
TEST(fills_have_the_mass_of_their_shapes) {
    TdlGrainsDef def = tdl_grains_def_default();
    def.spacing = 0.05;
    def.high = (TdlVec3){1.0, 1.0, 1.0};
    TdlGrainsFill fill = box_fill((TdlVec3){0.123, 0.2, 0.0}, (TdlVec3){0.777, 0.51, 0.3456});
    def.fills = &fill;
    def.fill_count = 1;
    double box = 0.654 * 0.31 * 0.3456 * def.density;
    CHECK_NEAR(filled_mass(&def), box, 1.0e-13 * box);
    fill.fraction = 0.3;
    CHECK_NEAR(filled_mass(&def), 0.5 * box, 1.0e-13 * box);
    fill = (TdlGrainsFill){.shape = TDL_FILL_BALL, .centre = {0.5, 0.52, 0.47}, .radius = 0.3};
    double ball = 4.0 / 3.0 * PI * 0.027 * def.density;
    CHECK_NEAR(filled_mass(&def), ball, 1.0e-4 * ball);
    fill = (TdlGrainsFill){.shape = TDL_FILL_CYLINDER, .centre = {0.5, 0.5, 0.0}, .radius = 0.3};
    fill.high.z = 0.61;
    double cylinder = PI * 0.09 * 0.61 * def.density;
    CHECK_NEAR(filled_mass(&def), cylinder, 1.0e-2 * cylinder); // its top by samples too
    def.dimension = 2;
    def.depth = 0.1;
    fill = (TdlGrainsFill){.shape = TDL_FILL_BALL, .centre = {0.5, 7.0, 0.47}, .radius = 0.3};
    double disc = PI * 0.09 * 0.1 * def.density;
    CHECK_NEAR(filled_mass(&def), disc, 2.0e-3 * disc);
}

// Where fills overlap, the first has it.
TEST(the_first_of_two_fills_has_what_both_cover) {
    TdlGrainsDef def = tdl_grains_def_default();
    def.spacing = 0.1;
    def.high = (TdlVec3){1.0, 1.0, 1.0};
    TdlGrainsFill fill[2] = {box_fill((TdlVec3){0.0, 0.0, 0.0}, (TdlVec3){0.6, 1.0, 0.5}),
                             box_fill((TdlVec3){0.4, 0.0, 0.0}, (TdlVec3){1.0, 1.0, 0.5})};
    fill[1].velocity.x = 2.0;
    def.fills = fill;
    def.fill_count = 2;
    Bed* bed = make_bed(&def);
    REQUIRE(bed != NULL);
    double momentum = 0.0;
    for (int p = 0; p < bed->made; ++p) {
        momentum += bed->particle[p].volume * bed->particle[p].v[0];
    }
    CHECK_NEAR(bed_sum_alone(bed).volume, 0.5, 1.0e-13);
    CHECK_NEAR(momentum, 2.0 * 0.4 * 0.5, 1.0e-13);
    CHECK_INT(bed->made, 8 * 500);
    bed_destroy(bed);
}

// --- in a world ----------------------------------------------------------------------------------

static TdlWorld* make_world(const TdlHost* host, int threads) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    def.step = 0.01;
    def.thread_count = threads;
    CHECK(tdl_world_create(host, &def, &world) == TDL_STATUS_OK);
    return world;
}

// A ball that is thrown, spins and does not touch itself: loose, so that no row closes.
static TdlGrainsDef thrown_def(int dimension, TdlGrainsFill* fill) {
    TdlGrainsDef def = tdl_grains_def_default();
    *fill = (TdlGrainsFill){.shape = TDL_FILL_BALL, .centre = {0.3, 0.5, 0.5}, .radius = 0.17};
    fill->fraction = 0.3;
    fill->velocity = (TdlVec3){1.0, dimension == 3 ? 0.2 : 0.0, 2.0};
    def.dimension = dimension;
    def.spacing = 0.05;
    def.high = (TdlVec3){1.0, 1.0, 1.0};
    def.low.y = dimension == 2 ? 0.5 : 0.0;
    def.jitter = 1.0;
    def.fills = fill;
    def.fill_count = 1;
    return def;
}

// Sums over steps of the rule that the world steps by: x = x0 + t v0 + g dt^2 n (n + 1)/2.
TEST(what_is_thrown_flies_as_its_centre_does) {
    for (int dimension = 2; dimension <= 3; ++dimension) {
        TdlHost host = tdl_host_default();
        TdlWorld* world = make_world(&host, 1);
        TdlGrainsFill fill;
        TdlGrainsDef def = thrown_def(dimension, &fill);
        TdlBodyId id;
        REQUIRE(tdl_world_add_grains(world, &def, &id) == TDL_STATUS_OK);
        TdlVec3 start, centre;
        double mass, dt = 0.01, now;
        int steps = 20;
        CHECK(tdl_body_centre(world, id, &start, &mass) == TDL_STATUS_OK);
        for (int k = 0; k < steps; ++k) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        CHECK(tdl_body_centre(world, id, &centre, &now) == TDL_STATUS_OK);
        TdlVec3 wanted = tdl_axpy3(start, steps * dt, fill.velocity);
        wanted.z -= 9.81 * dt * dt * steps * (steps + 1) / 2;
        CHECK_NEAR3(centre, wanted, 1.0e-13);
        CHECK_NEAR(now, mass, 1.0e-14 * mass); // sums in another order
        TdlGrainsInfo info;
        CHECK(tdl_grains_info(world, id, &info) == TDL_STATUS_OK);
        CHECK_INT(info.lost, 0);
        CHECK_NEAR(info.mass, mass, 1.0e-13 * mass);
        CHECK(info.rows > 10 && info.active_nodes > info.rows);
        tdl_world_destroy(world);
    }
}

static uint64_t hash_after(TdlWorld* world, int steps) {
    for (int k = 0; k < steps; ++k) {
        CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    return tdl_world_state_hash(world);
}

// Saved, gone on, loaded and gone on again; copied and gone on; and with more threads.
TEST(a_state_leads_to_the_same_bits_again) {
    for (int dimension = 2; dimension <= 3; ++dimension) {
        TdlHost host = tdl_host_default();
        TdlGrainsFill fill;
        TdlGrainsDef def = thrown_def(dimension, &fill);
        def.mu_fast = 0.8;
        TdlWorld* world = make_world(&host, 1);
        TdlBodyId id;
        REQUIRE(tdl_world_add_grains(world, &def, &id) == TDL_STATUS_OK);
        hash_after(world, 3);
        size_t size = tdl_world_state_size(world);
        char* bytes = malloc(size);
        tdl_world_save_state(world, bytes);
        TdlWorld* other = NULL;
        REQUIRE(tdl_world_copy(world, &other) == TDL_STATUS_OK);
        uint64_t there = hash_after(world, 4);
        CHECK(hash_after(other, 4) == there);
        REQUIRE(tdl_world_load_state(world, bytes, size) == TDL_STATUS_OK);
        CHECK(hash_after(world, 4) == there);
        TdlWorld* many = make_world(&host, 3);
        REQUIRE(tdl_world_add_grains(many, &def, &id) == TDL_STATUS_OK);
        CHECK(hash_after(many, 7) == there);
        tdl_world_destroy(world);
        tdl_world_destroy(other);
        tdl_world_destroy(many);
        free(bytes);
    }
}

// Slabs, blocks of particles and colours shared out among threads: enough of each, and grains
// packed so densely that they are led apart.
static uint64_t hash_of_pool(int dimension, int threads) {
    TdlHost host = tdl_host_default();
    TdlGrainsFill fill = box_fill((TdlVec3){0.1, 0.1, 0.1}, (TdlVec3){0.9, 0.9, 0.9});
    TdlGrainsDef def = tdl_grains_def_default();
    def.dimension = dimension;
    def.spacing = dimension == 3 ? 0.05 : 0.01;
    def.high = (TdlVec3){1.0, 1.0, 1.0};
    def.jitter = 1.0;
    def.fills = &fill;
    def.fill_count = 1;
    Bed* bed = make_bed(&def);
    Pool* pool = NULL;
    CHECK(pool_create(&host, threads, &pool) == TDL_STATUS_OK);
    bed->pool = pool;
    stir(bed, 23);
    for (int k = 0; k < 3; ++k) {
        CHECK(bed_predict(bed, 1.0e-3, (TdlVec3){0.0, 0.0, -9.81}));
        bed_advance(bed, 1.0e-3, (TdlVec3){0.0, 0.0, -9.81});
        CHECK(bed->spreads);
    }
    uint64_t hash = bed_hash(bed, 0);
    bed_destroy(bed);
    pool_destroy(pool);
    return hash;
}

TEST(threads_leave_the_same_bits) {
    for (int dimension = 2; dimension <= 3; ++dimension) {
        uint64_t one = hash_of_pool(dimension, 1);
        CHECK(hash_of_pool(dimension, 2) == one);
        CHECK(hash_of_pool(dimension, 4) == one);
    }
}

// What leaves is counted, where it left, and its energy is told.
TEST(grains_that_leave_the_grid_are_told) {
    TdlHost host = tdl_host_default();
    TdlWorld* world = make_world(&host, 1);
    TdlGrainsFill fill;
    TdlGrainsDef def = thrown_def(3, &fill);
    fill.velocity = (TdlVec3){0.0, 0.0, 3.0};
    TdlBodyId id;
    REQUIRE(tdl_world_add_grains(world, &def, &id) == TDL_STATUS_OK);
    TdlGrainsInfo before, after;
    CHECK(tdl_grains_info(world, id, &before) == TDL_STATUS_OK);
    for (int k = 0; k < 30; ++k) {
        TdlStepInfo step;
        REQUIRE(tdl_world_step(world, &step) == TDL_STATUS_OK);
        CHECK_INT(step.substeps, 1);
    }
    CHECK(tdl_grains_info(world, id, &after) == TDL_STATUS_OK);
    CHECK(after.lost > 10 && after.particle_count > 10);
    CHECK_INT(after.lost + after.particle_count, before.particle_count);
    CHECK_NEAR(after.mass + after.lost_mass, before.mass, 1.0e-13 * before.mass);
    double above;
    // they count as lost a hundredth of a spacing outside
    TdlVec3 gate = {0, 0, 1.0005};
    CHECK(tdl_grains_mass_beyond(world, id, gate, (TdlVec3){0, 0, 1}, &above) == TDL_STATUS_OK);
    CHECK_NEAR(above, after.lost_mass, 1.0e-13 * before.mass);
    tdl_world_destroy(world);
}

TEST(no_allocation_that_fails_leaves_anything) {
    long calls = 0;
    for (long fail = 1; fail > 0 && calls < 1000; ++fail) {
        AllocCounter counter = {.fail_at = fail};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        TdlWorldDef world_def = tdl_world_def_default();
        world_def.thread_count = 1;
        TdlWorld* world = NULL;
        TdlGrainsFill fill;
        TdlGrainsDef def = thrown_def(2, &fill);
        def.mu_fast = 1.0;
        def.viscosity = 1.0;
        TdlBodyId id;
        TdlGrainsInfo info;
        TdlStatus status = tdl_world_create(&host, &world_def, &world);
        status = status == TDL_STATUS_OK ? tdl_world_add_grains(world, &def, &id) : status;
        bool added = status == TDL_STATUS_OK;
        status = added ? tdl_world_step(world, NULL) : status;
        status = status == TDL_STATUS_OK ? tdl_grains_info(world, id, &info) : status;
        bool failed = counter.calls >= fail;
        CHECK(failed || status == TDL_STATUS_OK);
        calls = counter.calls;
        if (world != NULL) {
            tdl_world_destroy(world);
        }
        CHECK_INT(counter.live, 0);
        fail = failed ? fail : -1;
    }
    CHECK(calls > 30); // each array of the bed
}

// --- what is refused -----------------------------------------------------------------------------

static void check_refused(const TdlGrainsDef* def, const char* word) {
    const char* fault = tdl_grains_def_fault(def);
    if (fault == NULL || strstr(fault, word) == NULL) {
        FAIL("'%s' does not tell of %s", fault == NULL ? "nothing" : fault, word);
    }
}

TEST(each_field_that_is_wrong_is_named) {
    TdlGrainsFill fill;
    TdlGrainsDef good = small_def(3, &fill), def;
    CHECK(tdl_grains_def_fault(&good) == NULL);
    const double bad[3] = {NAN, -1.0, INFINITY};
    for (int k = 0; k < 3; ++k) {
        const struct {
            double* field;
            const char* word;
        } number[] = {
            {&def.spacing, "spacing"}, {&def.density, "density"},     {&def.packing, "packing"},
            {&def.mu, "mu"},           {&def.mu_fast, "mu_fast"},     {&def.inertial, "inertial"},
            {&def.grain, "grain"},     {&def.viscosity, "viscosity"}, {&def.cohesion, "cohesion"},
            {&def.jitter, "jitter"},   {&def.low.x, "low"},           {&def.high.z, "high"}};
        for (size_t i = 0; i < sizeof number / sizeof *number; ++i) {
            def = good;
            *number[i].field = bad[k];
            if (number[i].field != &def.low.x || k != 1) { // a place may be negative
                check_refused(&def, number[i].word);
            }
        }
    }
    def = good;
    def.dimension = 1;
    check_refused(&def, "dimension");
    def = small_def(2, &fill);
    def.depth = 0.0;
    check_refused(&def, "depth");
    def = good;
    def.high.x += 0.03;
    check_refused(&def, "whole cells");
    def.high.x = 1.0e6;
    check_refused(&def, "nodes");
    def = good;
    def.per_cell = 9;
    check_refused(&def, "per_cell");
    def = good;
    def.fill_count = 0;
    check_refused(&def, "fill");
    def = good;
    def.material = -1;
    check_refused(&def, "material");
    fill.fraction = 0.7;
    check_refused(&good, "fraction");
    fill.fraction = 0.0;
    fill.velocity.x = NAN;
    check_refused(&good, "velocity");
    fill = box_fill((TdlVec3){5, 5, 5}, (TdlVec3){6, 6, 6});
    check_refused(&good, "nothing inside");
    fill.high.z = 4.0;
    check_refused(&good, "fill");
    fill.shape = TDL_FILL_BALL;
    check_refused(&good, "radius");
    fill = box_fill((TdlVec3){-1, -1, -1}, (TdlVec3){1, 1, 1});
    def = good;
    def.low = (TdlVec3){0};
    def.high = (TdlVec3){1, 1, 1};
    def.spacing = 0.005;
    def.per_cell = 8;
    check_refused(&def, "particles");
}

TEST(a_world_has_one_bed_and_other_ids_are_refused) {
    TdlHost host = tdl_host_default();
    TdlWorld* world = make_world(&host, 1);
    TdlGrainsFill fill;
    TdlGrainsDef def = small_def(2, &fill), out;
    TdlBodyId id, other;
    TdlGrainsParticles particles;
    REQUIRE(tdl_world_add_grains(world, &def, &id) == TDL_STATUS_OK);
    CHECK(tdl_world_add_grains(world, &def, &other) == TDL_STATUS_BAD_ARGUMENT);
    CHECK(tdl_grains_def(world, id, &out) == TDL_STATUS_OK);
    CHECK(out.fills != &fill && out.fill_count == 1 && out.spacing == def.spacing);
    CHECK(tdl_grains_particles(world, id, &particles) == TDL_STATUS_OK);
    CHECK(particles.count == 16 * 16 && particles.position[0].y == def.low.y);
    other = (TdlBodyId){7, 1};
    CHECK(tdl_grains_def(world, other, &out) == TDL_STATUS_BAD_ARGUMENT);
    CHECK(tdl_grains_particles(world, other, &particles) == TDL_STATUS_BAD_ARGUMENT);
    CHECK(tdl_world_remove(world, id) == TDL_STATUS_OK);
    CHECK(tdl_world_add_grains(world, &def, &id) == TDL_STATUS_OK);
    tdl_world_destroy(world);
}
