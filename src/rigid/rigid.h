// Rigid bodies: mass, motion between contacts, and what detection sees of them.
// docs/theory/rigid.md
//
// Velocities live half a step before poses. `predict` finds the velocity that the body would have
// if nothing touched it, the world adds what contacts do, `advance` moves the body with the sum.
#ifndef TDL_RIGID_RIGID_H
#define TDL_RIGID_RIGID_H

#include "base/memory.h"
#include "body/cylinder.h"
#include "body/solid.h"
#include "tendril/rigid.h"

enum { RIGID_DOFS = 6 };

typedef struct Rigid {
    TdlRigidDef def; // as given; what it points to is a copy
    double mass;     // kg
    TdlMat3 inertia; // kg m^2, about the centre of mass, axes of the body
    double inertia_factor[9];
    TdlVec3 centre;   // of mass, as seen from the placed pose
    TdlCurve* curves; // [curve_count] as seen from the centre of mass, axes of the body
    int curve_count;
    struct Surface* surface; // as the curves; of a box, a mesh or a cylinder, null: none
    Cylinder cylinder;       // where it is one, with `ends`; else 0
    struct Surface* ends;    // null: none
    Solid solid;             // as points see it; it is one where `has_solid`
    bool has_solid;
    double size; // m, half its thickness

    // The state. v: velocity of the centre of mass, then angular velocity, world axes.
    TdlPose pose; // centre of mass and axes
    double v[RIGID_DOFS];
    double dt_before; // s, the step that led here; 0 at the start

    double v_free[RIGID_DOFS]; // found by predict
    TdlVec3 straight, turning; // the velocity, and the angular momentum as its axes see it now,
                               // without impulses
    double again[3];           // what `rigid_turn_off` found
} Rigid;

// Checks a definition; on failure the log says which field is wrong.
TdlStatus rigid_create(const TdlHost* host, const TdlRigidDef* def, Rigid** out);
void rigid_destroy(const TdlHost* host, Rigid* rigid);

// The pose that the definition speaks of: of the centre of mass, or of a chain's start.
TdlPose rigid_pose(const Rigid* rigid);

// Finds v_free. False when it is not finite.
bool rigid_predict(Rigid* rigid, double dt, TdlVec3 gravity);

// After predict: impulses that act beside contacts and joints.
void rigid_drive(Rigid* rigid, const double impulse[RIGID_DOFS]);

// The turning that impulses on v lead to is not quite v_free + A^-1 times them: how far v is from
// it, which is kept in `again`, world axes, relative to the rate, or to what impulses change it by
// that have a moment `pressed` in all and may cancel; and v_free with which it would be. (B.12)
double rigid_turn_off(Rigid* rigid, double dt, const double v[RIGID_DOFS],
                      const double impulse[RIGID_DOFS], double pressed);
void rigid_turn_again(Rigid* rigid, double dt, const double impulse[RIGID_DOFS]);

// Turns v_free to where these impulses lead, so that what rounds left is no angular momentum.
void rigid_turn_end(Rigid* rigid, double dt, const double impulse[RIGID_DOFS]);

// What the turning of a step takes, J, where impulses turned it so. (B.13)
double rigid_turn_loss(const Rigid* rigid);

// rows[k * 6 + j]: how fast the body's material point at `point` goes along basis axis k for a unit
// of v_j.
void rigid_jacobian(const Rigid* rigid, TdlVec3 point, TdlMat3 basis, double rows[18]);

// x := A^-1 x with A = diag(mass, inertia in world axes): what an impulse does to v.
void rigid_solve(const Rigid* rigid, double x[RIGID_DOFS]);

// The same in halves, A = L L': x := L^-1 x, and x := L'^-1 x.
void rigid_whiten(const Rigid* rigid, double x[RIGID_DOFS]);
void rigid_unwhiten(const Rigid* rigid, double x[RIGID_DOFS]);

// Where the body is after dt with the velocity v; and moves it there, and keeps v.
TdlPose rigid_pose_after(const Rigid* rigid, double dt, const double v[RIGID_DOFS]);
void rigid_advance(Rigid* rigid, double dt, const double v[RIGID_DOFS]);

// Kinetic energy and that of weight, both where the velocity lives: half a step before the pose.
// Then a flight under gravity keeps its energy, and a body at rest has none of motion. (B.9)
TdlEnergy rigid_energy(const Rigid* rigid, TdlVec3 gravity);

// J that the step from v to v_free takes, beside what contacts do to v_free; `free` is what v_free
// was before them. (B.10)
double rigid_step_loss(const Rigid* rigid, TdlVec3 gravity, const double free[RIGID_DOFS]);
double rigid_way_loss(const Rigid* rigid, TdlVec3 gravity); // that of the way alone

// Half the change of the angular velocity from v to v_free, 1/s: its path is of second order.
double rigid_step_error(const Rigid* rigid);

// The curves in the present pose: out[curve_count].
void rigid_curves(const Rigid* rigid, TdlCurve* out);

// What a step may change, as bytes.
size_t rigid_state_size(const Rigid* rigid);
void rigid_save_state(const Rigid* rigid, void* bytes);
void rigid_load_state(Rigid* rigid, const void* bytes);
bool rigid_state_finite(const Rigid* rigid);
uint64_t rigid_state_hash(const Rigid* rigid, uint64_t hash);

#endif
