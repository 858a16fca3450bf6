// Grains as a continuum: sand, gravel, powders, by the law of Drucker and Prager, exactly. They are
// a body of a world (world.h): particles carry them, a grid moves them, and whatever is in the same
// world touches them at nodes of the grid. docs/theory/granular.md
#ifndef TENDRIL_GRAINS_H
#define TENDRIL_GRAINS_H

#include "tendril/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where stress and strain rate live.
typedef enum TdlGrainsStress {
    TDL_GRAINS_NODES = 0, // at nodes, linear between them along each axis
    TDL_GRAINS_CELLS,     // one for each cell
} TdlGrainsStress;

/// A shape that is filled with grains at the start.
typedef enum TdlFillShape {
    TDL_FILL_BOX = 0,  // from `low` to `high`
    TDL_FILL_CYLINDER, // upright, of `radius` about `centre`, from low.z to high.z
    TDL_FILL_BALL,     // of `radius` about `centre`
} TdlFillShape;

typedef struct TdlGrainsFill {
    TdlFillShape shape;
    TdlVec3 low, high; // m, of a box; of a cylinder their z alone
    TdlVec3 centre;    // m, of a cylinder (its z has no meaning) or a ball
    double radius;     // m, > 0, of these
    double fraction;   // (0, packing]: share of the volume that is grains; default 0: the packing
    TdlVec3 velocity;  // m/s; default 0
} TdlGrainsFill;

/// A bed of grains. In two dimensions it lies in the plane of x and z, `depth` thick along y, and
/// nothing of it moves or depends on y; forces are those of that thickness.
typedef struct TdlGrainsDef {
    int dimension;     // 2 or 3; default 3
    TdlVec3 low, high; // m, of the grid: a box of whole cells; grains that leave it are lost, and
                       // told. y is not heeded in two dimensions, where the middle is low.y
    bool periodic[2];  // along x, y: what leaves the grid there comes back on the other side, and
                       // there is a multiple of 12 cells; nothing beside a bed does so
    double spacing;    // m, > 0, of the grid's nodes
    double depth;      // m, > 0, in two dimensions; default 1
    int per_cell;      // particles of a full cell along each axis, 1 to 8; default 0: 2, and 4 in
                       // two dimensions. Volume is kept to their noise: 0.5 % with 16 a cell
    double density;    // kg/m^3, > 0, of the bulk where it is packed; default 1500
    double packing;    // (0, 1], volume fraction beyond which grains cannot be packed; default 0.6
    double mu;         // >= 0: shear stress is at most so much of the pressure; default 0.5
    double mu_fast;    // >= mu: the same in flow of infinite inertial number; default 0: mu, always
    double inertial;   // > 0, inertial number half way in between; default 0.3
    double grain;      // m, > 0, diameter of a grain, of which only the inertial number knows;
                       // default 1e-3
    double viscosity;  // Pa s, >= 0: a shear stress of so much times twice the rate of strain;
                       // default 0
    double cohesion;   // Pa, >= 0: pressure that a packed bed bears in tension; default 0
    TdlGrainsStress stress; // default nodes
    double jitter; // [0, 1]: along each axis particles are up to half of this part of their
                   // distance from their places; default 0
    uint64_t seed; // of the jitter
    bool fixed;    // it fills its shapes for ever: nothing moves, only velocities change, and
                   // it may open but not close anywhere (dense flow in a given domain)
    const TdlGrainsFill* fills; // [fill_count], copied; where several cover a place the first one
    int fill_count;             // has it
    int material;               // how it touches: of what it meets the friction of the pair
} TdlGrainsDef;

TDL_API TdlGrainsDef tdl_grains_def_default(void);

/// The first thing that is wrong with a definition; null: nothing.
TDL_API const char* tdl_grains_def_fault(const TdlGrainsDef* def);

/// Adds a bed; a world has one at most.
TDL_API TdlStatus tdl_world_add_grains(TdlWorld* world, const TdlGrainsDef* def, TdlBodyId* out);

// Those that follow refuse an id that is not a bed of grains of the world: TDL_STATUS_BAD_ARGUMENT.

/// As given; fills are in the world's own memory.
TDL_API TdlStatus tdl_grains_def(const TdlWorld* world, TdlBodyId grains, TdlGrainsDef* out);

/// What is to be told of a bed, now and in the last step.
typedef struct TdlGrainsInfo {
    int particle_count; // now
    int active_nodes;   // nodes with mass
    int rows;           // of strain, in the last step
    long long lost;     // particles that left the grid
    double mass;        // kg, now
    double lost_mass;   // kg
    double volume_kept; // sum of the particles' volumes where they are not packed beyond `packing`,
                        // over that of all
    double iterations;  // of the last solve
    double error;       // of it, relative
    double plastic;     // J, taken by the law of grains from the first step on
    double transfer;    // J, lost between particles and grid
    double seconds[4];  // wall time in the last step: sorting particles, taking them to the grid,
                        // rows of strain, velocities back
} TdlGrainsInfo;
TDL_API TdlStatus tdl_grains_info(const TdlWorld* world, TdlBodyId grains, TdlGrainsInfo* out);

/// Its particles, in the world's own memory until the next step. Their order changes; `number` is
/// theirs for good.
typedef struct TdlGrainsParticles {
    int count;
    const int* number;       // from 0
    const TdlVec3* position; // m
    const TdlVec3* velocity; // m/s
    const double* fraction;  // volume fraction of grains there
    const double* pressure;  // Pa, in the last step
    const double* shear;     // Pa, the size of the deviator: at most mu times the pressure
} TdlGrainsParticles;
TDL_API TdlStatus tdl_grains_particles(TdlWorld* world, TdlBodyId grains, TdlGrainsParticles* out);

/// The mass, kg, of what is beyond a plane, on the side of its normal: of a gate, or of a run-out.
/// What left the grid counts on the side where it left.
TDL_API TdlStatus tdl_grains_mass_beyond(const TdlWorld* world, TdlBodyId grains, TdlVec3 point,
                                         TdlVec3 normal, double* mass);

#ifdef __cplusplus
}
#endif

#endif
