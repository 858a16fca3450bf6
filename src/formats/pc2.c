// Point caches. A file is a head of 32 bytes ("POINTCACHE2" and its zero, version, points, first
// frame, frames a sample, samples) and three floats a point, sample after sample: little-endian.
#include "formats/pc2.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { HEAD_BYTES = 32, POINT_BYTES = 12, VERSION = 1 };

static uint32_t get_u32(const char* at) {
    const unsigned char* b = (const unsigned char*)at;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double get_f32(const char* at) {
    uint32_t bits = get_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

const char* pc2_open(const char* data, size_t size, Pc2* out) {
    if (size < HEAD_BYTES || memcmp(data, "POINTCACHE2", 12) != 0) {
        return "is not a .pc2 file: it does not start with POINTCACHE2";
    }
    uint32_t version = get_u32(data + 12), points = get_u32(data + 16),
             samples = get_u32(data + 28);
    *out = (Pc2){
        .start = get_f32(data + 20), .period = get_f32(data + 24), .points = data + HEAD_BYTES};
    if (version != VERSION) {
        return "has a version other than 1";
    }
    if (!isfinite(out->start) || !isfinite(out->period) || !(out->period > 0.0)) {
        return "does not tell how many frames lie between its samples";
    }
    if (points < 1 || points > INT_MAX || samples > INT_MAX) {
        return "has a number of points or samples that cannot be";
    }
    if (samples < 2) {
        return "has fewer than two samples";
    }
    uint64_t room = (size - HEAD_BYTES) / POINT_BYTES;
    if (room / points < samples) {
        return "is cut: it has fewer samples than its head tells";
    }
    out->point_count = (int)points;
    out->sample_count = (int)samples;
    return NULL;
}

TdlVec3 pc2_point(const Pc2* cache, int sample, int point) {
    size_t index = (size_t)sample * (size_t)cache->point_count + (size_t)point;
    const char* at = cache->points + POINT_BYTES * index;
    return (TdlVec3){get_f32(at), get_f32(at + 4), get_f32(at + 8)};
}
