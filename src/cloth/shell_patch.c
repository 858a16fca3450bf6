// The shell patch's shape, and its energies with first and second derivatives. Integrals over the
// rectangle by 12 x 12 Gauss points a panel; a panel turns by 3.5 rad at most, so that what is
// integrated, which oscillates twice as fast, is exact to rounding. Cost: quadratic in the turning.
#include "cloth/shell_patch.h"

#include "math/gauss.h"
#include "math/rotation.h"

#include <math.h>
#include <stddef.h>

// Panels of Gauss points turn by so much at most, rad.
static const double PANEL = 3.5;

// Turning from edge to edge beyond which the quadrature is not worth its time, rad: 8 windings.
static const double MOST_TURNING = 50.0;

// Bending over the diagonal, rad, about whose inertia the angle of a flat patch has: far below what
// is seen, and 1e-11 of the inertia at 1 rad. (S.14)
static const double FLAT = 1.0e-6;

// --- definitions -----------------------------------------------------------------------------

TdlShellPatchDef tdl_shell_patch_def_default(void) {
    return (TdlShellPatchDef){.pose.rotation = tdl_identity33(),
                              .size = {0.2, 0.1},
                              .thickness = 1.0e-3,
                              .density = 1000.0,
                              .young = 1.0e6,
                              .poisson = 0.3,
                              .curvature = NAN,
                              .nodes = {21, 11}};
}

static bool is_positive(double x) {
    return isfinite(x) && x > 0.0;
}

static bool is_pose(TdlPose pose) {
    TdlMat3 R = pose.rotation, square = tdl_tmul33(R, R);
    TdlMat3 off = tdl_sub33(square, tdl_identity33());
    double most = tdl_norm3(off.cx) + tdl_norm3(off.cy) + tdl_norm3(off.cz);
    return tdl_finite3(pose.position) && most < 1.0e-9 && tdl_det33(R) > 0.0; // digits of a file
}

// Largest curvature of the natural shape.
static double natural_bend(const double b[3]) {
    return fabs(0.5 * (b[0] + b[2])) + hypot(0.5 * (b[0] - b[2]), b[1]);
}

const char* tdl_shell_patch_def_fault(const TdlShellPatchDef* def) {
    double diagonal = hypot(def->size[0], def->size[1]);
    const double* b = def->natural;
    if (!is_pose(def->pose)) {
        return "the pose of its corner must be finite, with a rotation";
    }
    if (!is_positive(def->size[0]) || !is_positive(def->size[1]) || !is_positive(diagonal)) {
        return "its size must be positive";
    }
    if (!is_positive(def->thickness) || !is_positive(def->density) || !is_positive(def->young)) {
        return "its thickness, density and young must be positive";
    }
    if (!(def->poisson > -1.0 && def->poisson <= 0.5)) {
        return "its poisson must be above -1 and at most 0.5";
    }
    if (!(isfinite(def->damping) && def->damping >= 0.0 && isfinite(def->mass_damping) &&
          def->mass_damping >= 0.0)) {
        return "its damping and mass_damping must not be negative";
    }
    if (!(natural_bend(b) * diagonal <= MOST_TURNING)) {
        return "its natural curvature must be finite, and turn it by 50 rad at most";
    }
    if (!isnan(def->curvature) && !(fabs(def->curvature) * diagonal <= MOST_TURNING)) {
        return "its curvature must be finite, and turn it by 50 rad at most";
    }
    if (!isfinite(def->angle)) {
        return "its angle must be finite";
    }
    for (int k = 0; k < 2; ++k) {
        if (def->nodes[k] < 2 || def->nodes[k] > 1000) {
            return "its nodes must be 2 to 1000 along each side";
        }
    }
    return NULL;
}

// The developable shape of least elastic energy: along the stronger of the natural directions.
// shell.md (S.10)
static void take_natural(ShellPatch* patch) {
    const double* b = patch->def.natural;
    double x = 0.5 * (b[0] - b[2]), mean = 0.5 * (b[0] + b[2]);
    patch->now.z[1] = x == 0.0 && b[1] == 0.0 ? 0.0 : 0.5 * atan2(b[1], x);
    if (mean < 0.0) {
        patch->now.z[1] += 0.5 * acos(-1.0);
    }
    double nu = patch->def.poisson;
    patch->now.z[0] = (1.0 + nu) * mean + copysign((1.0 - nu) * hypot(x, b[1]), mean);
}

void shell_init(ShellPatch* patch, const TdlShellPatchDef* def) {
    double h = def->thickness, nu = def->poisson;
    double u = def->size[0], v = def->size[1], diagonal = hypot(u, v);
    *patch = (ShellPatch){.def = *def, .area_mass = def->density * h};
    patch->stiffness = def->young * h * h * h / (12.0 * (1.0 - nu * nu));
    double arm = u / diagonal * v * FLAT;
    patch->flat_inertia = patch->area_mass * u * v * arm * arm;
    if (isnan(def->curvature)) {
        take_natural(patch);
    } else {
        patch->now.z[0] = def->curvature;
        patch->now.z[1] = def->angle;
    }
    patch->now.before[0] = patch->now.z[0];
    patch->now.before[1] = patch->now.z[1];
}

double shell_turning(const ShellPatch* patch, const double z[2]) {
    const double* size = patch->def.size;
    return fabs(z[0]) * (fabs(size[0] * cos(z[1])) + fabs(size[1] * sin(z[1])));
}

bool shell_turns_too_far(const ShellPatch* patch, const double z[2]) {
    return !(shell_turning(patch, z) <= MOST_TURNING) || !isfinite(z[1]);
}

// --- the shape -------------------------------------------------------------------------------

// d along the bending, g along the straight lines, in the plane of the clamp.
typedef struct ShellAxes {
    TdlVec3 d, g;
} ShellAxes;

static ShellAxes axes_at(double angle) {
    double c = cos(angle), s = sin(angle);
    return (ShellAxes){{c, s, 0.0}, {-s, c, 0.0}};
}

// Along d and along the normal, what bending adds to a flat patch, with derivatives. shell.md
// (S.6), (S.8)
typedef struct ShellProfile {
    double a, b;               // m
    double a_k, b_k, a_x, b_x; // by k and by x
    double a_kk, b_kk, a_kx, b_kx, a_xx, b_xx;
} ShellProfile;

static ShellProfile profile_at(double k, double x) {
    double c[8], phi = k * x, y = phi * phi, x2 = x * x;
    tdl_c_series(y, c);
    double sine = phi * c[1], fall = -y * c[2]; // sin, cos - 1
    return (ShellProfile){
        .a = -x * y * c[3],
        .b = x * phi * c[2],
        .a_k = x2 * phi * (c[3] - c[2]),
        .b_k = x2 * (c[1] - c[2]),
        .a_x = fall,
        .b_x = sine,
        .a_kk = -x2 * x * (c[1] + 2.0 * (c[3] - c[2])),
        .b_kk = x2 * x * phi * (2.0 * c[3] - c[2] - 2.0 * c[4]),
        .a_kx = -x * sine,
        .b_kx = x * (1.0 + fall),
        .a_xx = -k * sine,
        .b_xx = k * (1.0 + fall),
    };
}

TdlVec3 shell_point(const double z[2], double u, double v, TdlVec3 rate[2]) {
    ShellAxes axes = axes_at(z[1]);
    TdlVec3 d = axes.d, g = axes.g;
    double x = u * d.x + v * d.y, e = u * g.x + v * g.y;
    ShellProfile p = profile_at(z[0], x);
    if (rate != NULL) {
        rate[0] = (TdlVec3){p.a_k * d.x, p.a_k * d.y, p.b_k};
        double along = p.a_x * e;
        rate[1] = (TdlVec3){along * d.x + p.a * g.x, along * d.y + p.a * g.y, p.b_x * e};
    }
    return (TdlVec3){u + p.a * d.x, v + p.a * d.y, p.b};
}

// --- integrals over the rectangle ------------------------------------------------------------

// Gauss points in panels along both sides.
typedef struct ShellGrid {
    double size[2];
    int panels[2];
} ShellGrid;

static int panels_of(double k, double along) {
    return 1 + (int)(fabs(k * along) / PANEL);
}

static ShellGrid grid_of(const ShellPatch* patch, const double z[2]) {
    const double* size = patch->def.size;
    return (ShellGrid){
        {size[0], size[1]},
        {panels_of(z[0], size[0] * cos(z[1])), panels_of(z[0], size[1] * sin(z[1]))}};
}

static int grid_count(const ShellGrid* grid, int side) {
    return grid->panels[side] * GAUSS12_COUNT;
}

// Place and weight, m, of a point along a side.
static double grid_at(const ShellGrid* grid, int side, int index, double* weight) {
    double length = grid->size[side] / grid->panels[side];
    *weight = length * GAUSS12_WEIGHT[index % GAUSS12_COUNT];
    return length * (index / GAUSS12_COUNT + GAUSS12_POINT[index % GAUSS12_COUNT]);
}

void shell_mass(const ShellPatch* patch, const double z[2], const double y[2], double out[4]) {
    ShellGrid grid = grid_of(patch, z), other = grid_of(patch, y);
    for (int k = 0; k < 2; ++k) {
        out[k] = out[2 + k] = 0.0;
        grid.panels[k] = other.panels[k] > grid.panels[k] ? other.panels[k] : grid.panels[k];
    }
    for (int j = 0; j < grid_count(&grid, 1); ++j) {
        double wv, wu, v = grid_at(&grid, 1, j, &wv);
        for (int i = 0; i < grid_count(&grid, 0); ++i) {
            double u = grid_at(&grid, 0, i, &wu), share = patch->area_mass * wu * wv;
            TdlVec3 left[2], right[2];
            shell_point(z, u, v, left);
            shell_point(y, u, v, right);
            for (int k = 0; k < 4; ++k) {
                out[k] += share * tdl_dot3(left[k / 2], right[k % 2]);
            }
        }
    }
}

// --- energies --------------------------------------------------------------------------------

ShellPotential shell_elastic(const ShellPatch* patch, const double z[2]) {
    const double* b = patch->def.natural;
    double nu = patch->def.poisson, area = patch->def.size[0] * patch->def.size[1];
    ShellAxes axes = axes_at(z[1]);
    TdlVec3 d = axes.d, g = axes.g;
    double dd = b[0] * d.x * d.x + 2.0 * b[1] * d.x * d.y + b[2] * d.y * d.y;
    double dg = b[0] * d.x * g.x + b[1] * (d.x * g.y + d.y * g.x) + b[2] * d.y * g.y;
    double gg = b[0] * g.x * g.x + 2.0 * b[1] * g.x * g.y + b[2] * g.y * g.y;
    // k d d' - b in the axes d and g
    double off = z[0] - dd, trace = off - gg, scale = patch->stiffness * area;
    double wish = dd + nu * gg, turn = 2.0 * (1.0 - nu) * dg, bend = 2.0 * (1.0 - nu) * (gg - dd);
    double square = off * off + 2.0 * dg * dg + gg * gg;
    return (ShellPotential){
        .value = 0.5 * scale * ((1.0 - nu) * square + nu * trace * trace),
        .slope = {scale * (z[0] - wish), -scale * z[0] * turn},
        .curve = {scale, -scale * turn, -scale * z[0] * bend},
    };
}

// Integrals of a profile over the rectangle, along d and along the normal, with derivatives.
typedef struct ShellSums {
    double value[2], k[2], t[2], kk[2], kt[2], tt[2];
} ShellSums;

// x turns into e and e into -x as the angle grows.
static void add_profile(ShellSums* s, const ShellProfile* p, double x, double e, double w) {
    const double f[2] = {p->a, p->b}, fk[2] = {p->a_k, p->b_k}, fx[2] = {p->a_x, p->b_x};
    const double fkk[2] = {p->a_kk, p->b_kk}, fkx[2] = {p->a_kx, p->b_kx};
    const double fxx[2] = {p->a_xx, p->b_xx};
    for (int i = 0; i < 2; ++i) {
        s->value[i] += w * f[i];
        s->k[i] += w * fk[i];
        s->t[i] += w * fx[i] * e;
        s->kk[i] += w * fkk[i];
        s->kt[i] += w * fkx[i] * e;
        s->tt[i] += w * (fxx[i] * e * e - fx[i] * x);
    }
}

static ShellSums sum_profiles(const ShellPatch* patch, const double z[2]) {
    ShellGrid grid = grid_of(patch, z);
    ShellAxes axes = axes_at(z[1]);
    ShellSums sums = {0};
    for (int j = 0; j < grid_count(&grid, 1); ++j) {
        double wv, wu, v = grid_at(&grid, 1, j, &wv);
        for (int i = 0; i < grid_count(&grid, 0); ++i) {
            double u = grid_at(&grid, 0, i, &wu);
            double x = u * axes.d.x + v * axes.d.y, e = u * axes.g.x + v * axes.g.y;
            ShellProfile p = profile_at(z[0], x);
            add_profile(&sums, &p, x, e, wu * wv);
        }
    }
    return sums;
}

ShellPotential shell_weight(const ShellPatch* patch, TdlVec3 gravity, const double z[2]) {
    TdlVec3 own = tdl_tmul33_3(patch->def.pose.rotation, gravity);
    ShellAxes axes = axes_at(z[1]);
    double d = tdl_dot3(own, axes.d), g = tdl_dot3(own, axes.g), n = own.z;
    ShellSums s = sum_profiles(patch, z);
    double rho = -patch->area_mass;
    return (ShellPotential){
        .value = rho * (d * s.value[0] + n * s.value[1]),
        .slope = {rho * (d * s.k[0] + n * s.k[1]),
                  rho * (d * s.t[0] + g * s.value[0] + n * s.t[1])},
        .curve = {rho * (d * s.kk[0] + n * s.kk[1]), rho * (d * s.kt[0] + g * s.k[0] + n * s.kt[1]),
                  rho * (d * (s.tt[0] - s.value[0]) + 2.0 * g * s.t[0] + n * s.tt[1])},
    };
}

TdlVec3 shell_centre(const ShellPatch* patch) {
    double u = patch->def.size[0], v = patch->def.size[1];
    ShellSums s = sum_profiles(patch, patch->now.z);
    TdlVec3 d = axes_at(patch->now.z[1]).d;
    TdlVec3 own = {0.5 * u + s.value[0] * d.x / (u * v), 0.5 * v + s.value[0] * d.y / (u * v),
                   s.value[1] / (u * v)};
    TdlPose pose = patch->def.pose;
    return tdl_add3(pose.position, tdl_mul33_3(pose.rotation, own));
}

TdlEnergy shell_energy(const ShellPatch* patch, TdlVec3 gravity) {
    double M[4];
    const double* v = patch->now.v;
    shell_mass(patch, patch->now.before, patch->now.before, M);
    double twice =
        M[0] * v[0] * v[0] + 2.0 * M[1] * v[0] * v[1] + (M[3] + patch->flat_inertia) * v[1] * v[1];
    double mass = patch->area_mass * patch->def.size[0] * patch->def.size[1];
    return (TdlEnergy){.kinetic = 0.5 * twice,
                       .elastic = shell_elastic(patch, patch->now.z).value,
                       .gravity = -mass * tdl_dot3(gravity, shell_centre(patch))};
}
