// A straight wire that is told to be a circle, and becomes one; then it goes through a file of
// strands into another world.
//
//     cc told-to-curl.c $(pkg-config --cflags --libs tendril_io tendril) -lm && ./a.out
//
// The moment it is told, its elastic energy is EI kappa^2 length / 2, and twice that where it is
// made twice as stiff; at rest its ends meet. The exit status is 1 if it is not so.
#define _XOPEN_SOURCE 700 // mkdtemp
#include <tendril/io.h>
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ELEMENTS = 12 };
static const double LENGTH = 0.3; // m

static TdlStatus make_wire(const TdlHost* host, TdlWorld** world, TdlBodyId* wire) {
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = (TdlVec3){0};
    def.contacts.off = true; // else its ends would meet at a diameter
    TdlStatus status = tdl_world_create(host, &def, world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlRodDef rod = tdl_rod_def_default();
    rod.length = LENGTH;
    rod.element_count = ELEMENTS;
    rod.radius[0] = rod.radius[1] = 5.0e-4;
    rod.young = 1.0e8;
    rod.damping = 0.05;
    rod.mass_damping = 5.0;
    return tdl_world_add_rod(*world, &rod, wire);
}

static TdlStatus tell(TdlWorld* world, TdlBodyId wire) {
    TdlVec3 natural[ELEMENTS];
    for (int i = 0; i < ELEMENTS; ++i) {
        natural[i] = (TdlVec3){0.0, 0.0, 2.0 * acos(-1.0) / LENGTH}; // a full turn
    }
    TdlStatus status = tdl_rod_set_natural_curvature(world, wire, natural);
    return status == TDL_STATUS_OK ? tdl_rod_set_stiffening(world, wire, 2.0) : status;
}

// How far its ends are apart after some seconds.
static double settle(TdlWorld* world, TdlBodyId wire, int steps) {
    TdlVec3 start = {0}, tip = {INFINITY, 0.0, 0.0};
    for (int i = 0; i < steps; ++i) {
        if (tdl_world_step(world, NULL) != TDL_STATUS_OK) {
            return INFINITY;
        }
    }
    tdl_rod_point(world, wire, 0.0, &start);
    tdl_rod_point(world, wire, LENGTH, &tip);
    return tdl_norm3(tdl_sub3(tip, start));
}

// The wire's natural curvature, out of the file that it was written to.
static TdlStatus pass_through(const TdlHost* host, const TdlWorld* world, TdlBodyId wire,
                              double* natural, double* stiffening) {
    char folder[] = "/tmp/told-to-curl-XXXXXX", path[sizeof folder + 16];
    if (mkdtemp(folder) == NULL) {
        return TDL_STATUS_IO;
    }
    snprintf(path, sizeof path, "%s/wire.h5", folder);
    TdlStrands out = {0}, in = {0};
    TdlStatus status = tdl_strands_from_world(host, world, &wire, 1, &out);
    if (status == TDL_STATUS_OK) {
        status = tdl_strands_write(host, path, &out);
    }
    if (status == TDL_STATUS_OK) {
        status = tdl_strands_read(host, path, &in);
    }
    if (status == TDL_STATUS_OK) {
        *natural = in.natural_curvature[ELEMENTS - 1].z;
        *stiffening = in.stiffening[0];
    }
    tdl_strands_free(host, &out);
    tdl_strands_free(host, &in);
    unlink(path);
    rmdir(folder);
    return status;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlWorld* world = NULL;
    TdlBodyId wire = {0};
    TdlRodInfo info = {0};
    double natural = 0.0, stiffening = 0.0, energy = 0.0, apart = INFINITY;
    TdlStatus status = make_wire(&host, &world, &wire);
    if (status == TDL_STATUS_OK) {
        status = tell(world, wire);
    }
    if (status == TDL_STATUS_OK) {
        tdl_rod_info(world, wire, &info);
        energy = tdl_world_energy(world).elastic;
        apart = settle(world, wire, 2000);
        status = pass_through(&host, world, wire, &natural, &stiffening);
    }
    tdl_world_destroy(world);
    double turn = 2.0 * acos(-1.0), bending = 2.0 * 1.0e8 * acos(-1.0) / 4.0 * pow(5.0e-4, 4);
    double known = 0.5 * bending * turn * turn / LENGTH;
    printf("told: %.6g J, on paper %.6g J; at rest its ends are %.2g m apart\n", energy, known,
           apart);
    bool good = status == TDL_STATUS_OK && fabs(energy - known) <= 1.0e-12 * known &&
                fabs(info.stiffness.z - bending) <= 1.0e-12 * bending &&
                apart < 1.0e-4 * LENGTH && // what is left of the motion after two seconds
                natural == turn / LENGTH && stiffening == 2.0;
    return good ? 0 : 1;
}
