// Beds: bodies that fill space. They are touched at their nodes, by everything in the world that
// has a shape; and inside they obey the law of contacts by rows of strain (body/strain.h), in the
// same problem. docs/theory/granular.md, section 5
#ifndef TDL_WORLD_BED_H
#define TDL_WORLD_BED_H

#include "body/strain.h"
#include "world/world.h"

// A node of a bed that meets a body: its first side is the node.
typedef struct BedContact {
    int node;        // of the rows' nodes
    Body* other;     // the second side
    BodyPlace place; // on it
    double gap;      // m
    TdlMat3 basis;   // columns: normal from the node to the body, two tangents
    TdlVec3 guess;   // N s, on the body
} BedContact;

typedef struct Bed {
    Body* body; // null: the world has none
    BodyStrain* strain;
    BedContact* at; // [count]
    int count;
} Bed;

// The bed of a world; null: none.
Body* bed_body(const TdlWorld* world);

// After bodies were predicted: its rows, and the contacts of its nodes in a step of dt. Memory is
// of the arena.
TdlStatus bed_find(TdlWorld* world, double dt, Arena* arena, Bed* out);

// Before bodies are predicted: tells the bed how much room they leave it.
TdlStatus bed_confine(TdlWorld* world);

// After they were moved: what a bed carries is put out of the bodies that it got into.
TdlStatus bed_part(TdlWorld* world, const BodyStep* step);

#endif
