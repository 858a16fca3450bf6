// A result with everything in it, and whether a file holds its frames.
#ifndef TDL_TEST_RESULT_SAMPLE_H
#define TDL_TEST_RESULT_SAMPLE_H

#include "result/result.h"

#include "base/rng.h"
#include "math/rotation.h"
#include "scratch.h"

// HDF5 loses some of its own memory on damaged files, where it keeps no handle to it. Handles of
// ours are counted instead (no_handles_left).
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

static inline bool no_handles_left(void) {
    return H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
}

static const ResultRod RODS[2] = {
    {"super-helix", 3, 13, 9, 0.3, {5.0e-5, 4.0e-5}, 1.0e-5},
    {"super-helix", 2, 9, 6, 0.2, {1.0e-4, 1.0e-4}, 2.0e-5},
};
static const ResultCollider COLLIDERS[1] = {{TDL_SHAPE_SPHERE, 0.1, 0.0}};
static const ResultBody BODIES[2] = {{TDL_RIGID_BOX}, {TDL_RIGID_CURVES}};
#define SELF                                                                                       \
    {                                                                                              \
        {0.0, 0.0, 0.0}, {                                                                         \
            {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {                                                    \
                0.0, 0.0, 1.0                                                                      \
            }                                                                                      \
        }                                                                                          \
    }
static const TdlVec3 CORNERS[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.1, 0.2, 0.3}};
static const int TRIANGLES[6] = {0, 1, 2, 2, 1, 3};
static const TdlResultShape SHAPES[5] = {
    {"sphere", 0, {0.1, 0.0, 0.0}, SELF, {0}},
    {"box", 1, {0.1, 0.2, 0.3}, SELF, {0}},
    {"capsule", 2, {0.01, 0.5, 0.0}, SELF, {0}},
    {"capsule",
     2,
     {0.01, 0.25, 0.0},
     {{1.0, 2.0, 3.0}, {{0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}},
     {0}},
    {"mesh", 1, {0.001, 0.0, 0.0}, SELF, {CORNERS, 4, TRIANGLES, 2}},
};
static const TdlResultObserver OBSERVERS[2] = {{"force_ball", "force", "N"},
                                               {"point_of_a_long_name", "point", "m"}};

static const TdlResultSurface SURFACES[2] = {{0, 0.002, 0, 4, TRIANGLES, 2},
                                             {-1, 0.0, 4, 3, TRIANGLES, 1}};

static const int FACES[8] = {0, 1, 3, 2, 0, 2, 1, -1};
static const int HOLDS[7] = {-1, 0, 0, -1, 1, -1, 0};
static const TdlResultCloth CLOTHS[2] = {{0, 0, 4, 0.25, FACES, 1, HOLDS},
                                         {1, 4, 3, 0.5, FACES + 4, 1, HOLDS + 4}};

static const TdlResultJoint JOINTS[2] = {{"pin", "hinge"}, {"a longer name 1", "distance"}};

static const TdlResultGrains GRAINS = {"sand", 2, 0.01, 0.0025, 0.5, 0.6};

static inline ResultDef sample_def(void) {
    return (ResultDef){.title = "two rods \xc3\xa0 la \"carte\"",
                       .step = 1.0e-3,
                       .step_total = 990,
                       .samples = 4,
                       .rod_count = 2,
                       .collider_count = 1,
                       .body_count = 2,
                       .shape_count = 5,
                       .rods = RODS,
                       .colliders = COLLIDERS,
                       .bodies = BODIES,
                       .shapes = SHAPES,
                       .observer_count = 2,
                       .observers = OBSERVERS,
                       .surface_count = 2,
                       .surfaces = SURFACES,
                       .cloth_count = 2,
                       .cloths = CLOTHS,
                       .joint_count = 2,
                       .joints = JOINTS,
                       .grains = &GRAINS};
}

// A number that single precision holds. Volatile: gcc 12 drops a rounding to it and back where it
// vectorises for AVX-512.
static inline double random_single(Rng* rng) {
    volatile float x = (float)rng_normal(rng);
    return x;
}

static inline TdlVec3 random_vector(Rng* rng) {
    return (TdlVec3){random_single(rng), random_single(rng), random_single(rng)};
}

// Contacts of a frame: sometimes none, sometimes more than a chunk of rows.
static inline void fill_contacts(ResultFrame* frame, Rng* rng, long index) {
    TdlHost host = tdl_host_default();
    int count = index % 3 == 0 ? 0 : index % 200 == 40 ? 3000 : (int)(index % 7);
    if (result_frame_reserve(&host, frame, count) != TDL_STATUS_OK) {
        abort();
    }
    if (count > 0) {
        memset(frame->contacts, 0, (size_t)count * sizeof *frame->contacts); // padding too
    }
    for (int i = 0; i < count; ++i) {
        TdlResultContact* c = &frame->contacts[i];
        for (int k = 0; k < 2; ++k) {
            c->kind[k] = (TdlResultKind)rng_below(rng, 5);
            c->index[k] = (int)rng_below(rng, 1000);
            c->element[k] = (int)rng_below(rng, 100);
            c->u[k] = random_single(rng);
            c->v[k] = random_single(rng);
        }
        c->point = random_vector(rng);
        c->normal = random_vector(rng);
        c->force = (TdlVec3){rng_normal(rng), rng_normal(rng), rng_normal(rng)};
        c->gap = rng_normal(rng);
        c->mu = 0.25;
        c->sliding = rng_below(rng, 2) == 1;
    }
    frame->contact_count = count;
}

// Particles of a frame: they come and go, and are sometimes more than a chunk of rows.
static inline void fill_particles(ResultFrame* frame, Rng* rng, long index) {
    TdlHost host = tdl_host_default();
    int count = index % 5 == 1 ? 0 : index % 400 == 150 ? 9000 : (int)(20 - index % 9);
    for (int i = 0; i < RESULT_BED_NUMBERS; ++i) {
        frame->bed[i] = rng_normal(rng);
    }
    if (result_frame_reserve_particles(&host, frame, count) != TDL_STATUS_OK) {
        abort();
    }
    for (int i = 0; i < count; ++i) {
        frame->particles[i] = (TdlResultParticle){.number = (int)rng_below(rng, 100000),
                                                  .position = random_vector(rng),
                                                  .velocity = random_vector(rng),
                                                  .fraction = random_single(rng),
                                                  .pressure = random_single(rng),
                                                  .shear = random_single(rng)};
    }
    frame->particle_count = count;
}

// Frame `index`, different in every number.
static inline void fill_frame(ResultFrame* frame, ResultCounts counts, long index) {
    Rng rng = rng_seed((uint64_t)index);
    frame->time = 0.01 * (double)index;
    frame->step = 10 * index;
    for (int i = 0; i < 3; ++i) {
        frame->energy[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 3 * counts.points; ++i) {
        frame->points[i] = (float)rng_normal(&rng);
    }
    for (int i = 0; i < counts.dofs; ++i) {
        frame->q[i] = rng_normal(&rng);
        frame->v[i] = rng_normal(&rng);
    }
    for (int i = 0; i < counts.rods; ++i) {
        TdlMat3 turned = tdl_rotation_exp(random_vector(&rng));
        result_pack_pose((TdlPose){random_vector(&rng), turned}, frame->starts + 12 * i);
    }
    for (int i = 0; i < 12 * counts.colliders; ++i) {
        frame->poses[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 12 * counts.bodies; ++i) {
        frame->body_poses[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 3 * counts.observers; ++i) {
        frame->observed[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 3 * counts.surface_points; ++i) {
        frame->surface_points[i] = (float)rng_normal(&rng);
    }
    for (int i = 0; i < counts.cloth_points; ++i) {
        frame->strains[i] = (float)rng_normal(&rng);
    }
    for (int i = 0; i < counts.joints; ++i) {
        tdl_store3(frame->joint_points, i, random_vector(&rng));
        tdl_store3(frame->joint_forces, i, random_vector(&rng));
        tdl_store3(frame->joint_torques, i, random_vector(&rng));
        frame->joint_coordinates[i] = rng_normal(&rng);
        frame->joint_broken[i] = (int32_t)rng_below(&rng, 3);
    }
    fill_contacts(frame, &rng, index);
    if (counts.beds > 0) {
        fill_particles(frame, &rng, index);
    }
}

// The reader sets every field, so no padding is compared.
static inline bool same_contacts(const ResultFrame* a, const ResultFrame* b) {
    bool same = a->contact_count == b->contact_count;
    for (int i = 0; same && i < a->contact_count; ++i) {
        const TdlResultContact *x = &a->contacts[i], *y = &b->contacts[i];
        same = memcmp(x->kind, y->kind, sizeof x->kind) == 0 &&
               memcmp(x->index, y->index, sizeof x->index) == 0 &&
               memcmp(x->element, y->element, sizeof x->element) == 0 &&
               memcmp(x->u, y->u, sizeof x->u) == 0 && memcmp(x->v, y->v, sizeof x->v) == 0 &&
               memcmp(&x->point, &y->point, sizeof x->point) == 0 &&
               memcmp(&x->normal, &y->normal, sizeof x->normal) == 0 &&
               memcmp(&x->force, &y->force, sizeof x->force) == 0 && x->gap == y->gap &&
               x->mu == y->mu && x->sliding == y->sliding;
    }
    return same;
}

static inline bool same_vector(TdlVec3 a, TdlVec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static inline bool same_particles(const ResultFrame* a, const ResultFrame* b) {
    bool same =
        a->particle_count == b->particle_count && memcmp(a->bed, b->bed, sizeof a->bed) == 0;
    for (int i = 0; same && i < a->particle_count; ++i) {
        const TdlResultParticle *x = &a->particles[i], *y = &b->particles[i];
        same = x->number == y->number && same_vector(x->position, y->position) &&
               same_vector(x->velocity, y->velocity) && x->fraction == y->fraction &&
               x->pressure == y->pressure && x->shear == y->shear;
    }
    return same;
}

static inline bool same_joints(const ResultFrame* a, const ResultFrame* b, int count) {
    size_t axes = 3 * (size_t)count * sizeof(double);
    return memcmp(a->joint_points, b->joint_points, axes) == 0 &&
           memcmp(a->joint_forces, b->joint_forces, axes) == 0 &&
           memcmp(a->joint_torques, b->joint_torques, axes) == 0 &&
           memcmp(a->joint_coordinates, b->joint_coordinates, axes / 3) == 0 &&
           memcmp(a->joint_broken, b->joint_broken, (size_t)count * sizeof(int32_t)) == 0;
}

static inline bool same_frame(const ResultFrame* a, const ResultFrame* b, ResultCounts counts) {
    return a->time == b->time && a->step == b->step &&
           memcmp(a->energy, b->energy, sizeof a->energy) == 0 &&
           memcmp(a->points, b->points, 3 * (size_t)counts.points * sizeof(float)) == 0 &&
           memcmp(a->q, b->q, (size_t)counts.dofs * sizeof(double)) == 0 &&
           memcmp(a->v, b->v, (size_t)counts.dofs * sizeof(double)) == 0 &&
           memcmp(a->starts, b->starts, 12 * (size_t)counts.rods * sizeof(double)) == 0 &&
           memcmp(a->poses, b->poses, 12 * (size_t)counts.colliders * sizeof(double)) == 0 &&
           memcmp(a->body_poses, b->body_poses, 12 * (size_t)counts.bodies * sizeof(double)) == 0 &&
           memcmp(a->observed, b->observed, 3 * (size_t)counts.observers * sizeof(double)) == 0 &&
           memcmp(a->strains, b->strains, (size_t)counts.cloth_points * sizeof(float)) == 0 &&
           memcmp(a->surface_points, b->surface_points,
                  3 * (size_t)counts.surface_points * sizeof(float)) == 0 &&
           same_joints(a, b, counts.joints) && same_contacts(a, b) &&
           (counts.beds == 0 || same_particles(a, b));
}

// Writes frames [0, count); live from frame `live_from` on. Leaves the writer open when asked.
static inline bool write_sample(const TdlHost* host, const char* path, const ResultDef* def,
                                long count, long live_from, ResultWriter** keep) {
    ResultWriter* writer;
    if (result_writer_create(host, path, def, &writer) != TDL_STATUS_OK) {
        return false;
    }
    ResultCounts counts = result_writer_counts(writer);
    ResultFrame frame;
    bool good = result_frame_create(host, counts, &frame) == TDL_STATUS_OK;
    for (long i = 0; good && i < count; ++i) {
        good = i != live_from || result_writer_go_live(writer) == TDL_STATUS_OK;
        fill_frame(&frame, counts, i);
        good = good && result_writer_append(writer, &frame) == TDL_STATUS_OK;
    }
    result_frame_destroy(host, &frame);
    if (keep != NULL) {
        *keep = writer;
        return good;
    }
    return result_writer_close(writer) == TDL_STATUS_OK && good;
}

// The number of frames in the file if all of them are the sample's as far as that version of the
// format has it, or -1.
static inline long count_frames_of(const TdlHost* host, const char* path, int version) {
    TdlResult* result;
    if (tdl_result_open(host, path, &result) != TDL_STATUS_OK) {
        return -1;
    }
    ResultCounts counts = result_counts(result);
    ResultFrame frame, expected;
    bool good = result_frame_create(host, counts, &frame) == TDL_STATUS_OK &&
                result_frame_create(host, counts, &expected) == TDL_STATUS_OK;
    long count = tdl_result_info(result).frame_count;
    for (long i = 0; good && i < count; ++i) {
        fill_frame(&expected, counts, i);
        for (int k = 0; version < 5 && k < expected.contact_count; ++k) {
            expected.contacts[k].v[0] = expected.contacts[k].v[1] = 0.0;
        }
        for (int k = 0; version < 7 && k < 12 * counts.rods; ++k) {
            expected.starts[k] = 0.0;
        }
        good = result_read(result, i, &frame) == TDL_STATUS_OK &&
               same_frame(&frame, &expected, counts);
    }
    result_frame_destroy(host, &frame);
    result_frame_destroy(host, &expected);
    tdl_result_close(result);
    return good ? count : -1;
}

static inline long count_good_frames(const TdlHost* host, const char* path) {
    return count_frames_of(host, path, RESULT_VERSION);
}

#endif
