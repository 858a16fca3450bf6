// How stiff a fibre is, from two shapes in which it rests.
//
//     cc stiffness-from-poses.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// A curl hangs from its clamp, which is then turned on its side. Only the two shapes, the
// directions of gravity and the weight go on; the natural shape and the stiffness are forgotten.
// The exit status is 1 if GJ and both EI do not come back within 1e-9.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

enum { ELEMENTS = 16, POSES = 2 };

int main(void) {
    TdlHost host = tdl_host_default();
    TdlVec3 gravity[POSES] = {{0.0, 0.0, -9.81}, {0.0, 9.81, 0.0}};
    TdlVec3 known = {5.0e-9, 6.0e-9, 9.0e-9}; // GJ, EI1, EI2 of a flat hair, N m^2
    TdlVec3 natural[ELEMENTS], shape[POSES][ELEMENTS];
    TdlStrand pose[POSES];
    for (int i = 0; i < ELEMENTS; ++i) {
        natural[i] = (TdlVec3){5.0, 20.0 + i, 8.0};
    }
    for (int a = 0; a < POSES; ++a) {
        pose[a] = (TdlStrand){.model = "super-helix",
                              .start = {{0}, {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}},
                              .length = 0.2,
                              .element_count = ELEMENTS,
                              .curvature = natural,
                              .stiffness = known,
                              .line_density = 1.0e-5};
        if (tdl_strand_settle(&host, &pose[a], gravity[a], natural, shape[a]) != TDL_STATUS_OK) {
            return 1;
        }
        pose[a].curvature = shape[a];
        pose[a].stiffness = (TdlVec3){1.0, 1.0, 1.0}; // forgotten
    }
    TdlPoseStiffness found;
    TdlStatus status = tdl_poses_stiffness(&host, pose, gravity, POSES, false, 0.0, &found);
    if (status != TDL_STATUS_OK || !found.known[0] || !found.known[1] || !found.known[2]) {
        return 1;
    }
    double off[3] = {found.stiffness.x / known.x - 1.0, found.stiffness.y / known.y - 1.0,
                     found.stiffness.z / known.z - 1.0};
    printf("GJ %.6g, EI1 %.6g, EI2 %.6g N m^2: off by %.1g, %.1g, %.1g\n", found.stiffness.x,
           found.stiffness.y, found.stiffness.z, off[0], off[1], off[2]);
    return fmax(fabs(off[0]), fmax(fabs(off[1]), fabs(off[2]))) < 1.0e-9 ? 0 : 1;
}
