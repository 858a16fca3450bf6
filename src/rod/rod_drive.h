// What drives a rod from inside: a natural shape that changes in time, and tendons. actuation.md
#ifndef TDL_ROD_ROD_DRIVE_H
#define TDL_ROD_ROD_DRIVE_H

#include "rod/rod_body.h"

typedef struct RodDrive RodDrive;

// Null in `out` where a definition has neither. The tendons' loads are in the rod already.
TdlStatus rod_drive_create(const TdlHost* host, const TdlRodDef* def, const Rod* rod,
                           RodDrive** out);
void rod_drive_destroy(const TdlHost* host, RodDrive* drive);

const char* rod_drive_fault(const TdlRodDef* def);

// Loads that a rod needs room for.
int rod_drive_load_count(const TdlRodDef* def);

// Before a step: the natural shape goes to where it is at the end of it, and the tendons' forces
// are found in the present shape.
void rod_drive_prepare(RodBody* rb, const BodyStep* t);

// The natural shape of a time. `BodyKind.place`
TdlStatus rod_drive_place(const TdlHost* host, Body* body, double time);

// Whether it does something in the step under way; and what its natural shape did, J.
bool rod_drive_acts(const RodBody* rb);
double rod_drive_supplied(const RodBody* rb);

#endif
