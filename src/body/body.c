// What bodies do whose kind does not say otherwise.
#include "body/body.h"

#include "base/hash.h"

#include <string.h>

void body_destroy(const TdlHost* host, Body* body) {
    if (body->kind->destroy != NULL) {
        body->kind->destroy(host, body);
    } else {
        tdl_free(&host->mem, body);
    }
}

size_t body_state_size(const Body* body) {
    return body->kind->save != NULL ? body->kind->state_size(body)
                                    : (size_t)body->state_count * sizeof *body->state;
}

void body_save(const Body* body, void* bytes) {
    if (body->kind->save != NULL) {
        body->kind->save(body, bytes);
    } else if (body->state_count > 0) {
        memcpy(bytes, body->state, body_state_size(body));
    }
}

void body_load(Body* body, const void* bytes) {
    if (body->kind->save != NULL) {
        body->kind->load(body, bytes);
    } else if (body->state_count > 0) {
        memcpy(body->state, bytes, body_state_size(body));
    }
}

uint64_t body_hash(const Body* body, uint64_t hash) {
    return body->kind->save != NULL ? body->kind->hash(body, hash)
                                    : hash_bytes(hash, body->state, body_state_size(body));
}

TdlPose body_pose(const Body* body) {
    return body->kind->pose != NULL ? body->kind->pose(body)
                                    : (TdlPose){{0.0, 0.0, 0.0}, tdl_identity33()};
}
