// Beds of grains between walls, step by step: what stands, what falls together and keeps its
// volume, cohesion, viscosity and friction that depends on the flow, against answers on paper.
#include "beds.h"

static const TdlVec3 GRAVITY = {0.0, 0.0, -9.81};
static const TdlVec3 NONE = {0.0, 0.0, 0.0};

static TdlGrainsFill box_fill(TdlVec3 low, TdlVec3 high) {
    return (TdlGrainsFill){.shape = TDL_FILL_BOX, .low = low, .high = high};
}

// A box of cells of 1 cm, filled up to a height and from the left to a width.
static TdlGrainsDef box_def(int dimension, int cells, double width, double height,
                            TdlGrainsFill* fill) {
    TdlGrainsDef def = tdl_grains_def_default();
    double size = 0.01 * cells;
    def.dimension = dimension;
    def.spacing = 0.01;
    def.high = (TdlVec3){size, size, size};
    *fill = box_fill(NONE, (TdlVec3){width, size, height});
    def.fills = fill;
    def.fill_count = 1;
    return def;
}

static bool make(WalledBed* w, const TdlGrainsDef* def, double floor, double mu) {
    double size = def->high.x;
    if (!walled_create(w, def)) {
        return false;
    }
    walled_add(w, (TdlVec3){0.0, 0.0, floor}, (TdlVec3){0.0, 0.0, 1.0}, mu);
    walled_add(w, NONE, (TdlVec3){1.0, 0.0, 0.0}, mu);
    walled_add(w, (TdlVec3){size, 0.0, 0.0}, (TdlVec3){-1.0, 0.0, 0.0}, mu);
    if (def->dimension == 3) {
        walled_add(w, NONE, (TdlVec3){0.0, 1.0, 0.0}, mu);
        walled_add(w, (TdlVec3){0.0, size, 0.0}, (TdlVec3){0.0, -1.0, 0.0}, mu);
    }
    return true;
}

static double weight(const WalledBed* w) {
    return 9.81 * w->bed->def.density * bed_sum_alone(w->bed).volume;
}

// Share of the volume that is not packed too densely.
static double kept(const WalledBed* w) {
    const Bed* bed = w->bed;
    double *volume = calloc((size_t)bed->place_count, sizeof *volume), sum = 0.0, all = 0.0;
    bed_volumes(bed, volume);
    for (int j = 0; j < bed->place_count; ++j) {
        sum += fmin(volume[j], bed->place_room[j]);
        all += volume[j];
    }
    free(volume);
    return sum / all;
}

static double fastest(const WalledBed* w) {
    double most = 0.0;
    for (int p = 0; p < w->bed->ledger.count; ++p) {
        most = fmax(most, tdl_norm3(grid_vector(&w->bed->grid, w->bed->particle[p].v)));
    }
    return most;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.gravity;
}

// --- at rest -------------------------------------------------------------------------------------

// Smooth walls carry nothing of the weight: the floor has all of it. What moves is what the solver
// leaves: 1e-10 of a step's fall, 0.1 m/s.
TEST(a_bed_at_rest_stays_and_its_weight_is_on_the_floor) {
    for (int k = 0; k < 4; ++k) {
        int dimension = 2 + k % 2;
        TdlGrainsFill fill;
        TdlGrainsDef def =
            box_def(dimension, dimension == 2 ? 10 : 6, 0.1, dimension == 2 ? 0.05 : 0.03, &fill);
        def.stress = k < 2 ? TDL_GRAINS_NODES : TDL_GRAINS_CELLS;
        fill.high.x = def.high.x;
        WalledBed w;
        REQUIRE(make(&w, &def, 0.0, 0.0));
        for (int n = 0; n < 40; ++n) {
            REQUIRE(walled_step(&w, 0.01, GRAVITY));
            CHECK(w.info.converged);
            CHECK_BELOW(fastest(&w), 1.0e-9);
            CHECK_NEAR(-w.wall[0].force.z, weight(&w), 1.0e-8 * weight(&w));
            CHECK(!w.bed->spreads);
        }
        walled_destroy(&w);
    }
}

// A floor that is not at nodes: what is behind it is no room, so that the bed above it is packed
// from the first step on.
TEST(a_bed_stands_on_a_floor_between_nodes) {
    for (int k = 0; k < 2; ++k) {
        TdlGrainsFill fill;
        TdlGrainsDef def = box_def(2, 10, 0.1, 0.064, &fill);
        def.stress = k == 0 ? TDL_GRAINS_NODES : TDL_GRAINS_CELLS;
        fill.low.z = 0.024;
        WalledBed w;
        REQUIRE(make(&w, &def, 0.024, 0.0));
        TdlVec3 start = {0}, end = {0};
        for (int n = 0; n < 100; ++n) {
            BedSums sums = bed_sum_alone(w.bed);
            start.z = n == 0 ? sums.moment[1] / sums.volume : start.z;
            end.z = sums.moment[1] / sums.volume;
            REQUIRE(walled_step(&w, 0.01, GRAVITY));
        }
        // It settles until its lowest places are full, by what is left of these above the floor;
        // without knowing of that it would go down by half a cell and more.
        CHECK_NEAR(end.z, start.z, 0.2 * def.spacing);
        // in cells particles enter and leave a place that is cut one by one: what the floor bears
        // goes up and down with that
        CHECK_BELOW(k == 0 ? 0.97 : 0.85, kept(&w));
        CHECK_NEAR(-w.wall[0].force.z, weight(&w), (k == 0 ? 0.01 : 0.5) * weight(&w));
        walled_destroy(&w);
    }
}

// --- falling -------------------------------------------------------------------------------------

// A column of three times its width falls and comes to rest. Energy is never gained: what is not
// lost to walls, friction between grains or in transfers is what moving apart put in.
TEST(a_column_that_falls_keeps_its_volume_and_gains_no_energy) {
    TdlGrainsFill fill;
    TdlGrainsDef def = box_def(2, 24, 0.06, 0.18, &fill);
    WalledBed w;
    REQUIRE(make(&w, &def, 0.0, 0.5));
    w.tolerance = 1.0e-6;
    double pushed = 0.0, first = 0.0;
    for (int n = 0; n < 200; ++n) {
        REQUIRE(walled_step(&w, 0.005, GRAVITY));
        first = n == 0 ? total(w.before) : first;
        const BedStep* step = &w.bed->step;
        double change = total(w.energy) - total(w.before);
        double gained = change + w.walls_took + step->gone - step->pushed;
        // what particles' own gradients gain on their way: (A.19)
        CHECK_BELOW(gained, 1.0e-3 * w.before.kinetic + 1.0e-6);
        CHECK_BELOW(-1.0e-6, step->dissipated);
        pushed += step->pushed;
    }
    // what leading grains apart lifts: 5 % of what the fall gave
    CHECK_BELOW(pushed, 0.1 * (first - total(w.energy)));
    CHECK_BELOW(0.99, kept(&w));
    CHECK_BELOW(w.energy.kinetic, 1.0e-4 * first);
    CHECK_INT(w.bed->made - w.bed->ledger.count, 0);
    walled_destroy(&w);
}

// Loose grains fall together and are packed then.
TEST(a_loose_bed_settles_until_it_is_packed) {
    TdlGrainsFill fill;
    TdlGrainsDef def = box_def(2, 10, 0.1, 0.08, &fill);
    fill.fraction = 0.75 * def.packing;
    WalledBed w;
    REQUIRE(make(&w, &def, 0.0, 0.0));
    w.tolerance = 1.0e-6;
    for (int n = 0; n < 100; ++n) {
        REQUIRE(walled_step(&w, 0.01, GRAVITY));
    }
    BedSums sums = bed_sum_alone(w.bed);
    // packed it is 6 cells high; the highest nodes bear nothing until they are full
    CHECK_NEAR(sums.moment[1] / sums.volume, 0.03, 0.0015);
    CHECK_BELOW(0.99, kept(&w));
    walled_destroy(&w);
}

// --- laws ----------------------------------------------------------------------------------------

// (A.22): a block that stands free on the floor, 6 cells high. By its weight alone it needs a
// cohesion of the order of rho g h/2 (1 - sin phi)/cos phi; with ten times that it stands, and
// without it does not.
TEST(cohesion_holds_a_block_that_falls_without_it) {
    double moved[2];
    for (int k = 0; k < 2; ++k) {
        TdlGrainsFill fill;
        TdlGrainsDef def = box_def(2, 12, 0.06, 0.06, &fill);
        def.cohesion = k == 0 ? 0.0 : 3.0e3;
        fill.low.x = 0.03;
        fill.high.x = 0.09;
        WalledBed w;
        REQUIRE(make(&w, &def, 0.0, 0.5));
        w.tolerance = 1.0e-8;
        BedSums before = bed_sum_alone(w.bed);
        for (int n = 0; n < 40; ++n) {
            REQUIRE(walled_step(&w, 0.005, GRAVITY));
        }
        BedSums after = bed_sum_alone(w.bed);
        moved[k] = (before.moment[1] - after.moment[1]) / after.volume;
        walled_destroy(&w);
    }
    CHECK_BELOW(5.0e-3, moved[0]);
    CHECK_BELOW(fabs(moved[1]), 3.0e-4); // 1.4e-4, by which noise of its packing evens out
}

// Layers that slide over each other between plates at rest, v_x = sin(pi z/h): slowed by
// exp(-eta k^2 t/rho), and what is lost of kinetic energy is what viscosity took. Rows of a smooth
// bed do not act, since nothing presses.
TEST(viscosity_slows_layers_as_it_should) {
    TdlGrainsFill fill;
    TdlGrainsDef def = box_def(2, 20, 0.2, 0.2, &fill);
    def.mu = 0.0;
    def.viscosity = 5.0;
    Bed* bed = NULL;
    TdlHost host = tdl_host_default();
    REQUIRE(bed_create(&host, &def, &bed) == TDL_STATUS_OK);
    double k = 3.14159265358979323846 / 0.2, dt = 0.02;
    CHECK(bed_predict(bed, dt, NONE));
    for (int i = 0; i < bed->node_count; ++i) {
        bed->v_free[bed->coordinate[i]] = sin(k * bed->place[i].z);
    }
    double before = bed_grid_kinetic(bed, bed->v_free), edge = 0.0;
    CHECK(bed_slow(bed, dt));
    double after = bed_grid_kinetic(bed, bed->v_free);
    CHECK_NEAR(bed->step.viscous, before - after, 1.0e-12 * before);
    double slower = 1.0 / (1.0 + dt * def.viscosity * k * k / def.density);
    for (int i = 0; i < bed->node_count; ++i) {
        // away from plates, which are free here; strain at nodes sees sin(kh)/kh of k, twice, and
        // the free sides are a ninth of the width away
        bool inside = fabs(bed->place[i].z - 0.1) < 0.05 && fabs(bed->place[i].x - 0.1) < 0.05;
        double v = bed->v_free[bed->coordinate[i]];
        edge = inside ? fmax(edge, fabs(v - slower * sin(k * bed->place[i].z))) : edge;
    }
    CHECK_BELOW(edge, 0.04 * (1.0 - slower));
    bed_destroy(bed);
}

// (A.24) at three places of the curve.
TEST(friction_rises_with_the_inertial_number) {
    TdlGrainsFill fill;
    TdlGrainsDef def = box_def(3, 4, 0.04, 0.04, &fill);
    def.mu = 0.4;
    def.mu_fast = 0.7;
    def.inertial = 0.25;
    Bed* bed = NULL;
    TdlHost host = tdl_host_default();
    REQUIRE(bed_create(&host, &def, &bed) == TDL_STATUS_OK);
    bed->ledger.last = 0.01;
    double pressure = 800.0, grains = def.density / def.packing;
    bed->impulse[0] = bed->ledger.last * pressure / sqrt(2.0 / 3.0);
    CHECK_NEAR(bed_mu(bed, 0), 0.4, 1.0e-15);
    for (int k = -3; k <= 3; ++k) {
        double inertial = 0.25 * pow(10.0, k);
        bed->rate[0] = inertial * sqrt(pressure / grains) / def.grain;
        CHECK_NEAR(bed_mu(bed, 0), 0.4 + 0.3 / (1.0 + 0.25 / inertial), 1.0e-14);
    }
    bed->impulse[0] = 0.0;
    CHECK_NEAR(bed_mu(bed, 0), 0.7, 1.0e-15);
    bed_destroy(bed);
}

// --- a fixed bed ---------------------------------------------------------------------------------

// A slab that fills its domain, on a rough floor between smooth walls: it stands where it leans by
// less than its friction, and gravity's work on it is told; particles never move.
TEST(a_fixed_bed_keeps_its_places_and_its_flow) {
    TdlGrainsFill fill;
    TdlGrainsDef def = box_def(2, 8, 0.08, 0.08, &fill);
    def.fixed = true;
    fill.velocity = (TdlVec3){0.0, 0.0, 0.5};
    WalledBed w;
    REQUIRE(make(&w, &def, 0.0, 0.3));
    Particle first = w.bed->particle[5];
    double speed = 0.5;
    for (int n = 0; n < 10; ++n) {
        REQUIRE(walled_step(&w, 0.002, GRAVITY));
        CHECK(memcmp(first.x, w.bed->particle[5].x, sizeof first.x) == 0);
        double gained = total(w.energy) - total(w.before) + w.walls_took - w.bed->step.weight;
        CHECK_BELOW(gained, 1.0e-9);
        CHECK(fastest(&w) < speed);
    }
    for (int n = 0; n < 60; ++n) {
        REQUIRE(walled_step(&w, 0.01, GRAVITY));
    }
    CHECK_BELOW(fastest(&w), 1.0e-8);
    // it may open, but not close
    for (int j = 0; j < w.bed->row_count; ++j) {
        double u[BED_COMPONENTS];
        bed_row_rate(w.bed, j, w.bed->v_free, u);
        CHECK_BELOW(-1.0e-12, u[0]);
    }
    walled_destroy(&w);
}
