// A ball rolls from side to side in a trough, a surface given by a formula; and again, where the
// formula is a function of one's own with its derivatives and their bounds. Both must roll alike.
//
//     cc own-surface.c $(pkg-config --cflags --libs tendril_io tendril) -lm && ./a.out
//
// The trough is z = x^2, and the ball starts beside the middle. Without friction it slides: after
// the time pi/sqrt(2 g) it is as far on the other side, for small ways. The exit status is 1 if it
// is not, or if the two differ.
#include <tendril/formats.h>
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double RADIUS = 0.01, START = 0.02, STEP = 5.0e-4; // m, m, s

// h = z - x^2: its derivatives are -2 x, 0 and 1, the second one is -2.
static void trough_at(const void* data, TdlVec3 p, TdlImplicitPoint* out) {
    (void)data;
    *out = (TdlImplicitPoint){p.z - p.x * p.x, {-2.0 * p.x, 0.0, 1.0}, {-2.0}};
}

// Bounds may be wide, but must hold.
static void trough_over(const void* data, TdlVec3 low, TdlVec3 high, TdlImplicitBounds* out) {
    (void)data;
    double far = fmax(fabs(low.x), fabs(high.x)), most = far * far * (1.0 + 1.0e-15);
    *out = (TdlImplicitBounds){.low = low.z - most,
                               .high = high.z,
                               .gradient_low = {-2.0 * high.x, 0.0, 1.0},
                               .gradient_high = {-2.0 * low.x, 0.0, 1.0},
                               .second_low = {-2.0},
                               .second_high = {-2.0}};
}

// Where the ball is after half a swing; NAN when something fails.
static double roll(const TdlHost* host, const TdlImplicit* trough, double time) {
    TdlWorldDef def = tdl_world_def_default();
    TdlColliderDef collider = tdl_collider_def_default();
    TdlRigidDef ball = tdl_rigid_def_default();
    TdlWorld* world;
    TdlBodyId id;
    def.step = STEP;
    def.contacts.law.mu = 0.0;
    if (tdl_world_create(host, &def, &world) != TDL_STATUS_OK) {
        return NAN;
    }
    collider.shape = TDL_SHAPE_IMPLICIT;
    collider.implicit = *trough;
    ball.shape = TDL_RIGID_SPHERE;
    ball.radius = RADIUS;
    // on the surface: its centre is a radius off it along the normal
    double steep = hypot(1.0, 2.0 * START);
    ball.pose.position =
        (TdlVec3){START - RADIUS * 2.0 * START / steep, 0.0, START * START + RADIUS / steep};
    TdlStatus status = tdl_world_add_collider(world, &collider, &id);
    status = status == TDL_STATUS_OK ? tdl_world_add_rigid(world, &ball, &id) : status;
    TdlStepInfo info;
    while (status == TDL_STATUS_OK && tdl_world_time(world) < time - 0.5 * STEP) {
        status = tdl_world_step(world, &info);
    }
    TdlVec3 centre = {NAN, NAN, NAN};
    double mass;
    if (status == TDL_STATUS_OK) {
        tdl_body_centre(world, id, &centre, &mass);
    }
    tdl_world_destroy(world);
    return centre.x;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlVec3 low = {-0.1, -0.05, -0.01}, high = {0.1, 0.05, 0.05};
    TdlImplicit own = {.at = trough_at, .over = trough_over, .low = low, .high = high};
    TdlImplicit text = {.low = low, .high = high};
    if (tdl_implicit_parse(&host, "z - x^2", &text) != TDL_STATUS_OK) {
        return 1;
    }
    double from = START - RADIUS * 2.0 * START / hypot(1.0, 2.0 * START);
    // the centre goes on a curve a radius above, bent by 2/(1 - 2 RADIUS) at the bottom
    double swing = 3.14159265358979 / sqrt(9.81 * 2.0 / (1.0 - 2.0 * RADIUS));
    double a = roll(&host, &own, swing), b = roll(&host, &text, swing);
    printf("from %.6f m to %.6f m, and to %.6f m\n", from, a, b);
    tdl_implicit_free(&host, &text);
    return fabs(a - b) < 1.0e-9 && fabs(a + from) < 0.02 * from ? 0 : 1;
}
