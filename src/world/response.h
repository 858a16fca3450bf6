// How contacts answer: a table that the world is defined with, so that another law can stand in its
// place. Bodies and detection do not know which one it is.
#ifndef TDL_WORLD_RESPONSE_H
#define TDL_WORLD_RESPONSE_H

#include "base/threads.h"
#include "world/contacts.h"

typedef struct Response {
    // `pool` is lent.
    TdlStatus (*create)(const TdlHost* host, const TdlWorldDef* def, Pool* pool, void** out);
    void (*destroy)(void* self);
    // See contacts_solve; also notes what the candidates carry. See contacts_push.
    TdlStatus (*solve)(void* self, TdlWorld* world, const BodyStep* step,
                       const ContactsRound* round, ContactsSolved* out);
    TdlStatus (*push)(void* self);

    // --- optional, all or none: a response that goes by the shape at the end of a step
    // Gap up to which contacts are felt, m.
    double (*reach)(const void* self, const Contacts* contacts);
    // Before the first attempt at a part of a step, in the shape that it begins with.
    void (*begin)(void* self, const TdlWorld* world);
    // Whether `solve` has to be asked even if no contact was known before the attempt.
    bool (*knows_more)(const void* self);
    // After each attempt; `solved` is what solve told, and is completed.
    TdlStatus (*check)(void* self, TdlWorld* world, const BodyStep* step,
                       const ContactsFound* found, ContactsSolved* solved, ContactsVerdict* out);
    // Before a step, of bodies that were placed, with the worst overlap or null: BAD_INPUT, by
    // name, where it cannot begin so. Nothing is parted then.
    TdlStatus (*look_at_start)(const void* self, const TdlWorld* world, const TdlOverlap* worst);
} Response;

extern const Response EXACT_RESPONSE;
extern const Response BARRIER_RESPONSE;

#endif
