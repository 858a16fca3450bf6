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
    TdlStatus (*solve)(void* self, TdlWorld* world, const BodyStep* step, bool same,
                       ContactsSolved* out);
    TdlStatus (*push)(void* self);
} Response;

extern const Response EXACT_RESPONSE;

#endif
