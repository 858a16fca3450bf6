// The mass-spring chain: derivatives, momenta.
#include "rod/mass_spring.h"

#include "ref/nodal_checks.h"
#include "tendril/world.h"

TEST(derivatives_are_exact) {
    check_derivatives("mass-spring");
    check_jacobian("mass-spring");
}

TEST(a_free_chain_keeps_its_momenta) {
    check_free_flights("mass-spring", NULL);
}

// A curl of many short edges bends by so little at a vertex that motion turns the bending over all
// the time; steps are whole all the same, and never gain energy. (M.5)
TEST(a_fine_curl_takes_whole_steps) {
    TdlHost host = tdl_host_default();
    static const int SIZES[2] = {200, 600};
    for (int k = 0; k < 2; ++k) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = "mass-spring";
        def.length = 0.3;
        def.element_count = SIZES[k];
        def.damping = 1.0e-3;
        def.natural_curvature = (TdlVec3){0.0, 20.0, 1.0};
        def.curvature = (TdlVec3){1.0, 18.0, 0.5};
        TdlWorldDef world_def = tdl_world_def_default();
        world_def.contacts.off = true;
        TdlWorld* world;
        TdlBodyId rod;
        REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        REQUIRE(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
        TdlEnergy e = tdl_world_energy(world);
        double energy = e.kinetic + e.elastic + e.gravity, scale = fabs(energy);
        int substeps = 0;
        for (int i = 0; i < 100; ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            double next = info.energy.kinetic + info.energy.elastic + info.energy.gravity;
            CHECK_BELOW(next, energy + 1.0e-12 * scale);
            energy = next;
            substeps = info.substeps > substeps ? info.substeps : substeps;
        }
        CHECK_INT(substeps, 1);
        tdl_world_destroy(world);
    }
}

// The energy of a lagging direction touches the real one where the direction was taken, and lies
// above it elsewhere. (M.5)
TEST(the_lagging_energy_lies_above) {
    Rng rng = rng_seed(150);
    for (int k = 0; k < 200; ++k) {
        TdlRodDef def = tdl_rod_def_default();
        TdlHost host = tdl_host_default();
        def.model = "mass-spring";
        def.element_count = 4;
        def.natural_curvature = (TdlVec3){0.0, rng_range(&rng, 1.0, 30.0), 0.0};
        def.curvature = (TdlVec3){0.0, rng_range(&rng, 0.0, 30.0), 0.0};
        Rod* rod;
        REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
        double lag[15], gap[2];
        NodalShape shape = nodal_shape(rod), above;
        nodal_kind(rod)->lag(&shape, lag);
        for (int far = 0; far < 2; ++far) {
            for (int i = 0; i < rod->dof_count && far == 1; ++i) {
                rod->q[i] += 0.2 * rng_normal(&rng);
            }
            shape = above = nodal_shape(rod);
            above.lag = lag;
            gap[far] = nodal_elastic_energy(&above) - nodal_elastic_energy(&shape);
        }
        double scale = rod->stiffness.y / rod->element_length;
        CHECK(gap[1] >= gap[0] - 1.0e-12 * scale); // up to a constant, they touch at the start
        rod_destroy(&host, rod);
    }
}
