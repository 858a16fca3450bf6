// A bed of grains: particles that carry it, the grid that moves them, and the rows of strain that a
// step is about. docs/theory/granular.md
#ifndef TDL_GRANULAR_BED_H
#define TDL_GRANULAR_BED_H

#include "base/memory.h"
#include "base/threads.h"
#include "body/strain.h"
#include "granular/grid.h"

enum { BED_COMPONENTS = 6 }; // of a row in three dimensions; 3 in two

// A particle, by the axes of the grid; two cache lines.
typedef struct Particle {
    double x[GRID_AXES], v[GRID_AXES]; // m, m/s
    double c[GRID_AXES][GRID_AXES];    // 1/s: c[a][b] = d v_a / d x_b
    double volume;                     // m^3, that its grains take where they are packed
} Particle;

// Numbers of the state; all of eight bytes, as they are hashed.
typedef struct BedLedger {
    long long count; // particles in the grid
    double last;     // s, the last step; 0: there was none
    double plastic;  // J, see TdlGrainsInfo
    double transfer;
} BedLedger;

// What a step does, with energy in J.
typedef struct BedStep {
    double dt;         // s
    double fall;       // m/s that gravity gives in it
    double particles;  // kinetic, before it
    double grid;       // the same, of the grid
    double viscous;    // taken by viscosity
    double dissipated; // by friction between grains
    double pushed;     // put in by keeping the volume
    double gone;       // with particles that left
    double weight;     // done by gravity on a fixed bed
} BedStep;

// Over particles: of their volumes, these times places, and twice the kinetic energy over density.
typedef struct BedSums {
    double volume, moment[GRID_AXES], square;
} BedSums;

enum { BED_BLOCK = 4096 }; // particles that are a task

typedef struct Bed {
    TdlHost host;
    Pool* pool; // of the world; null: one thread
    TdlGrainsDef def;
    TdlGrainsFill* fills; // [def.fill_count]
    GrainGrid grid;
    int components;        // of a row
    int place_count;       // places of stress: nodes or cells
    const int* place_step; // of places along each axis, and how many there are
    const int* places;

    // the state
    BedLedger ledger;
    int made;           // particles: those that left follow those that did not
    Particle* particle; // [made]
    int* number;        // [made]
    double* impulse;    // [place_count * components] Pa s, of the last step: dt times stress
    double* reaction;   // [3 node_count] N s, on nodes in the last step
    double* rate;       // [place_count] 1/s, rate of shear in it; null where mu is a constant
    double* flow;       // [3 node_count] m/s, of a fixed bed; else null

    // the step under way, dense over the grid
    Particle* other;     // [made] what is sorted goes from one to the other
    int* other_number;   // [made]
    int* cell_of;        // [made]
    int* order;          // [made]
    int* cell_start;     // [cell_count + 1]
    double* node_volume; // [node_count] m^3 of packed grains
    double* cell_volume; // [cell_count] the same, where stress is in cells
    double* open;        // [place_count] share of each that is in the grid and not in other bodies
    double* place_room;  // [place_count] m^3, that grains may have there
    double* v_free;      // [3 node_count]
    double* before;      // [3 node_count] m/s, v_free as predicted
    double* way;         // [3 node_count] m, that a step moves particles beyond what v does
    int* active_of;      // [node_count] among the active; -1: without mass
    int* row_of;         // [place_count]; -1: without a row
    BedSums* blocks;     // one for each block of particles

    // nodes with mass
    int node_count, node_capacity;
    int* node;
    TdlVec3* place;
    double* mass;
    int* coordinate;
    bool* met;       // it is at a body, see strain.h
    double* reacted; // [3 node_count] of these, reaction as it is handed over
    double* ease;    // 1/kg, of those that keeping the volume may move; else 0

    // rows; `row_place` is where each of them is
    int row_count, row_capacity;
    int *row_place, *row_node, *colour_start;
    double *g, *mu, *bias, *guess;
    double *aim, *push; // m^3 that a row is to open by, and what does it, kg/m: keep.c
    double* shift; // Pa s: the guess and what is found have so much more than the stress (A.22)
    bool listed;   // rows and nodes of a fixed bed are as they were
    bool answered; // rows were handed out to be solved in this step
    bool spreads;  // `way` is not zero
    BodyStrain strain;
    BedStep step;
    double seconds[4];               // see TdlGrainsInfo
    const struct SlopeTable* slopes; // while rows are assembled
} Bed;

// Of a definition without fault.
TdlStatus bed_create(const TdlHost* host, const TdlGrainsDef* def, Bed** out);
void bed_destroy(Bed* bed);

size_t bed_state_size(const Bed* bed);
void bed_save(const Bed* bed, void* bytes);
void bed_load(Bed* bed, const void* bytes);
uint64_t bed_hash(const Bed* bed, uint64_t hash);

// Particles of the fills, and their volumes. Null particles: counts. fill.c
int bed_fill(const TdlGrainsDef* def, const GrainGrid* grid, Particle* out);
int bed_per_cell(const TdlGrainsDef* def); // as given, or where that is 0 by the dimension
double bed_fill_most(const TdlGrainsDef* def, const GrainGrid* grid); // there are not more
bool bed_fill_any(const TdlGrainsDef* def, const GrainGrid* grid);

// --- a step. step.c

// Sorts particles, takes them to the grid, and lists nodes and rows. False: there is no memory.
bool bed_predict(Bed* bed, double dt, TdlVec3 gravity);
// The same, from what is known of bodies beside the nodes.
// With v_free and the rows' impulses: moves particles. Returns the energy then.
TdlEnergy bed_advance(Bed* bed, double dt, TdlVec3 gravity);

// --- between particles and grid. transfer.c

void bed_sort(Bed* bed);                       // particles by cell
void bed_gather(Bed* bed);                     // node_volume, cell_volume; velocities in v_free
void bed_assemble(Bed* bed);                   // g of all rows
void bed_scatter(Bed* bed, double dt);         // velocities to particles, which move
void bed_volumes(const Bed* bed, double* out); // [place_count] of particles in any order

// --- where it goes on as it began. around.c

void bed_fold(Bed* bed);                        // sums at nodes that are one
void bed_copy_around(Bed* bed, double* v);      // vectors of nodes
void bed_index_around(Bed* bed, int* of_nodes); // and indices
bool bed_is_again(const Bed* bed, int node);    // it is another one again
bool bed_wrap_particles(Bed* bed);              // true: some came back

// --- rows. rows.c

bool bed_list_nodes(Bed* bed); // false: there is no memory
bool bed_list_rows(Bed* bed);
void bed_renew_rows(Bed* bed, double dt); // what may change of rows where particles do not

// The room of grains at places of stress. room.c
BodyLattice bed_lattice(const Bed* bed);
void bed_empty_rooms(Bed* bed); // without other bodies
void bed_find_rooms(Bed* bed);  // of what is open

double bed_volume_at(const Bed* bed, int place); // m^3 of packed grains, of the step under way
// (H v)_k of a row: u without its bias. strain.h
void bed_row_rate(const Bed* bed, int row, const double* v, double* u);
// v += scale M^-1 H' r of a row
void bed_row_push(const Bed* bed, int row, const double* r, double scale, double* v);
void bed_keep_impulses(Bed* bed); // and what they took

// --- beyond friction. law.c

double bed_mu(const Bed* bed, int place);    // (A.24)
void bed_hold_together(Bed* bed, double dt); // cohesion, (A.22)
bool bed_slow(Bed* bed, double dt);          // viscosity, (A.26); false: there is no memory

// --- keep.c

void bed_find_way(Bed* bed); // how particles move beside their velocities. (A.30)

// --- energy.c

BedSums bed_sum(Bed* bed);             // by the world's threads
BedSums bed_sum_alone(const Bed* bed); // the same bits
double bed_grid_kinetic(const Bed* bed, const double* v);
TdlEnergy bed_energy(const Bed* bed, const BedSums* sums, TdlVec3 gravity);

#endif
