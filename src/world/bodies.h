// What a world is made of; for the files of this room.
#ifndef TDL_WORLD_BODIES_H
#define TDL_WORLD_BODIES_H

#include "base/threads.h"
#include "collider/motion.h"
#include "collider/surface.h"
#include "rigid/rigid.h"
#include "rod/rod.h"
#include "tendril/world.h"
#include "world/contacts.h"

typedef struct WorldRod {
    Rod* rod;
    Motion motion, end_motion;
    TdlPose placed, end_placed;
    int material;
    int root;           // the rod at the root of its tree
    bool led[2];        // a hand has moved the placed start, end
    bool pulled;        // the last of its loads is a hand's
    RodStep step;       // of the step under way
    TdlEnergy energy;   // in the present state
    RodLosses losses;   // of the last attempt, of a whole tree at its root; zero unless asked for
    double touch;       // J, in this attempt: what contacts do to its velocities
    double energy_rise; // J, in the last attempt, more than could be taken from the velocity
    double stability;   // at the last settling
    double push_work;   // J, in the last attempt
    double* push;       // [dof_count] displacement that takes overlaps away, where `pushed`
    bool touched;       // in this attempt: contacts act on it
    bool pushed;        // in this attempt
    bool failed;        // in the last attempt: A was singular or the state is not finite
} WorldRod;

typedef struct WorldRigid {
    Rigid* rigid;
    Surface* surface;            // of a box; null: none
    double free[6], push[6];     // velocity before contacts, and displacement, in this attempt
    double push_work, numerical; // J, in the last attempt
    bool pushed, failed;
} WorldRigid;

typedef struct WorldCollider {
    TdlColliderDef def; // its pieces and its mesh are the world's own; without its keys
    Motion motion;
    TdlCurve* curves; // [curve_count] in its own frame, of a collider made of curves
    int curve_count;
    Surface* surface;      // of a mesh; null: none
    VertexMotion vertices; // of a mesh; its vertices in `def` and `surface` are the present ones
    TdlPose pose;          // in the present state
    Twist rate;            // in the step under way, at its position
    TdlVec3* vertex_rate;  // [surface->vertex_count] in it, in its own frame; null: they stay
    double fastest;        // m/s, of these
} WorldCollider;

// A saved state of the bodies and contacts.
typedef struct SavedState {
    char* bytes;
    size_t size, capacity;
} SavedState;

struct TdlWorld {
    TdlHost host;
    TdlWorldDef def;
    Pool* pool;
    long step_count;
    int rod_count, rigid_count, collider_count;
    WorldRod* rods;
    WorldRigid* rigids;
    WorldCollider* colliders;
    TdlContactLaw* laws; // [TDL_MATERIAL_LIMIT^2]
    Contacts* contacts;  // null: nothing touches
    size_t bodies_size;  // bytes of the bodies' state
    SavedState step_start, attempt_start;
    TdlContactProblemFn problem_fn; // null: nobody looks
    void* problem_user;
    TdlDetectionFn detection_fn; // null: nobody looks
    void* detection_user;
    TdlCrossingFn crossing_fn; // null: nobody looks
    void* crossing_user;
    double predict_seconds, detect_seconds, build_seconds, solve_seconds, advance_seconds;
};

static inline TdlContactLaw contact_law(const TdlWorld* world, int a, int b) {
    return world->laws[a * TDL_MATERIAL_LIMIT + b];
}

// Puts a collider where it is at a time. Fails where its vertices leave a triangle without area.
TdlStatus collider_place(const TdlWorld* world, WorldCollider* wc, double time);

// Velocity in the step under way of what touches a collider at a place, at a triangle of its mesh
// where that has vertices that move.
TdlVec3 collider_velocity(const WorldCollider* wc, TdlVec3 at, int triangle);

// Saves bodies and contacts; false when there is no memory. Loads what was saved at `time`.
bool world_save_state(TdlWorld* world, SavedState* saved);
TdlStatus world_load_state(TdlWorld* world, const char* bytes, size_t size, double time);

#endif
