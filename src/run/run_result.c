// What a run writes into result.h5: what is there, its frames, and the frames that a resume keeps.
#include "base/log.h"
#include "base/memory.h"
#include "run/run_parts.h"

#include <string.h>
#include <unistd.h>

// A frame keeps so many contacts at most; log.csv counts all.
enum { MAX_CONTACTS = 1000000 };

static int count_bodies(const TdlWorld* world, const char* kind) {
    return tdl_world_bodies(world, kind, 0, NULL);
}

static void describe_bodies(const Run* run, ResultRod* rods, ResultCollider* colliders,
                            ResultBody* bodies, int* points_most) {
    *points_most = 1;
    for (int i = 0; i < count_bodies(run->world, "rod"); ++i) {
        TdlRodInfo info = {0};
        tdl_rod_info(run->world, tdl_world_body(run->world, "rod", i), &info);
        rods[i] = (ResultRod){.model = info.model,
                              .element_count = info.element_count,
                              .point_count = info.element_count * run->plan.samples + 1,
                              .dof_count = info.dof_count,
                              .length = info.length,
                              .radius = {info.radius[0], info.radius[1]},
                              .mass = info.mass};
        *points_most = rods[i].point_count > *points_most ? rods[i].point_count : *points_most;
    }
    for (int i = 0; i < count_bodies(run->world, "collider"); ++i) {
        TdlColliderDef def = {0};
        tdl_collider_def(run->world, tdl_world_body(run->world, "collider", i), &def);
        bool plane = def.shape == TDL_SHAPE_PLANE;
        colliders[i] = (ResultCollider){def.shape, plane ? 0.0 : def.radius,
                                        def.shape == TDL_SHAPE_CAPSULE ? def.length : 0.0};
    }
    for (int i = 0; i < count_bodies(run->world, "rigid"); ++i) {
        TdlRigidDef def = {0};
        tdl_rigid_def(run->world, tdl_world_body(run->world, "rigid", i), &def);
        bodies[i] = (ResultBody){def.shape};
    }
}

static void describe_observers(const Run* run, TdlResultObserver* out) {
    for (int i = 0; i < run->plan.observer_count; ++i) {
        TdlSceneObserver observer = tdl_scene_observer(run->scene, i);
        snprintf(out[i].name, sizeof out[i].name, "%s", observer.name);
        snprintf(out[i].quantity, sizeof out[i].quantity, "%s", observer.quantity);
        snprintf(out[i].unit, sizeof out[i].unit, "%s", observer.unit);
    }
}

// What the cloths are like; which vertices are held is known to the scene. Shell patches follow.
static void describe_cloths(const Run* run, TdlResultCloth* out) {
    tdl_world_cloths(run->world, out);
    for (int i = 0; i < tdl_scene_info(run->scene).cloth_count; ++i) {
        out[i].holds = tdl_scene_cloth(run->scene, i).hold_of;
    }
}

// For frames, once the writer has counted what they hold; of one made before, anew.
static TdlStatus reserve_scratch(Run* run, int points_most) {
    ResultCounts counts = result_writer_counts(run->writer);
    const TdlAllocator* mem = &run->host.mem;
    size_t points =
        (size_t)(counts.surface_points > points_most ? counts.surface_points : points_most);
    tdl_free(mem, run->points);
    tdl_free(mem, run->forces);
    tdl_free(mem, run->joints);
    run->points = tdl_alloc_array(mem, points, sizeof *run->points);
    run->forces = tdl_alloc_array(mem, 2 * (size_t)counts.forces, sizeof *run->forces);
    run->joints = tdl_alloc_array(mem, (size_t)counts.joints, sizeof *run->joints);
    if (run->points == NULL || run->forces == NULL || run->joints == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    return result_frame_create(&run->host, counts, &run->frame);
}

// Creates the result file under the given name, without frames, and the scratch for frames.
TdlStatus run_create_result(Run* run, const char* name) {
    size_t rod_count = (size_t)count_bodies(run->world, "rod");
    size_t collider_count = (size_t)count_bodies(run->world, "collider");
    ResultRod* rods = tdl_alloc_array(&run->host.mem, rod_count, sizeof *rods);
    ResultCollider* colliders = tdl_alloc_array(&run->host.mem, collider_count, sizeof *colliders);
    size_t body_count = (size_t)count_bodies(run->world, "rigid");
    ResultBody* bodies = tdl_alloc_array(&run->host.mem, body_count, sizeof *bodies);
    int shape_count = tdl_world_shapes(run->world, NULL);
    TdlResultShape* shapes = tdl_alloc_array(&run->host.mem, (size_t)shape_count, sizeof *shapes);
    int observer_count = run->plan.observer_count;
    TdlResultObserver* observers =
        tdl_alloc_array(&run->host.mem, (size_t)observer_count, sizeof *observers);
    int surface_count = tdl_world_surfaces(run->world, NULL);
    TdlResultSurface* surfaces =
        tdl_alloc_array(&run->host.mem, (size_t)surface_count, sizeof *surfaces);
    int cloth_count = tdl_world_cloths(run->world, NULL);
    TdlResultCloth* cloths = tdl_alloc_array(&run->host.mem, (size_t)cloth_count, sizeof *cloths);
    int joint_count = tdl_world_result_joints(run->world, NULL);
    TdlResultJoint* joints = tdl_alloc_array(&run->host.mem, (size_t)joint_count, sizeof *joints);
    TdlResultGrains grains;
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    int points_most = 0;
    if (joints != NULL && cloths != NULL && rods != NULL && colliders != NULL && bodies != NULL &&
        shapes != NULL && observers != NULL && surfaces != NULL) {
        describe_observers(run, observers);
        describe_bodies(run, rods, colliders, bodies, &points_most);
        tdl_world_shapes(run->world, shapes);
        tdl_world_surfaces(run->world, surfaces);
        describe_cloths(run, cloths);
        tdl_world_result_joints(run->world, joints);
        ResultDef def = {.title = run->plan.title,
                         .step = run->plan.step,
                         .step_total = run->at.step_total,
                         .samples = run->plan.samples,
                         .rod_count = (int)rod_count,
                         .collider_count = (int)collider_count,
                         .body_count = (int)body_count,
                         .shape_count = shape_count,
                         .rods = rods,
                         .colliders = colliders,
                         .bodies = bodies,
                         .shapes = shapes,
                         .observer_count = observer_count,
                         .observers = observers,
                         .joint_count = joint_count,
                         .joints = joints,
                         .surface_count = surface_count,
                         .surfaces = surfaces,
                         .cloth_count = cloth_count,
                         .cloths = cloths,
                         .forces = run->plan.forces,
                         .grains = tdl_world_result_grains(run->world, &grains) ? &grains : NULL};
        char path[PATH_SIZE];
        status = result_writer_create(&run->host, run_path(run, name, path), &def, &run->writer);
    }
    if (status == TDL_STATUS_OK) {
        status = reserve_scratch(run, points_most);
    }
    tdl_free(&run->host.mem, joints);
    tdl_free(&run->host.mem, cloths);
    tdl_free(&run->host.mem, surfaces);
    tdl_free(&run->host.mem, observers);
    tdl_free(&run->host.mem, shapes);
    tdl_free(&run->host.mem, bodies);
    tdl_free(&run->host.mem, rods);
    tdl_free(&run->host.mem, colliders);
    return status;
}

static void observe_rods(Run* run) {
    float* p = run->frame.points;
    double *q = run->frame.q, *v = run->frame.v;
    for (int i = 0; i < count_bodies(run->world, "rod"); ++i) {
        TdlBodyId rod = tdl_world_body(run->world, "rod", i);
        TdlRodInfo info = {0};
        const double *own_q, *own_v;
        tdl_rod_info(run->world, rod, &info);
        tdl_rod_coordinates(run->world, rod, &own_q);
        tdl_rod_velocities(run->world, rod, &own_v);
        int count = info.element_count * run->plan.samples + 1;
        tdl_rod_points(run->world, rod, run->plan.samples, run->points);
        for (int k = 0; k < count; ++k) {
            *p++ = (float)run->points[k].x;
            *p++ = (float)run->points[k].y;
            *p++ = (float)run->points[k].z;
        }
        size_t size = (size_t)info.dof_count * sizeof(double);
        TdlPose start = {0};
        tdl_rod_start(run->world, rod, &start);
        result_pack_pose(start, run->frame.starts + 12 * (ptrdiff_t)i);
        memcpy(q, own_q, size);
        memcpy(v, own_v, size);
        q += info.dof_count;
        v += info.dof_count;
    }
}

static void observe_surfaces(Run* run) {
    float* p = run->frame.surface_points;
    int count = result_writer_counts(run->writer).surface_points;
    tdl_world_surface_points(run->world, run->points);
    for (int k = 0; k < count; ++k) {
        *p++ = (float)run->points[k].x;
        *p++ = (float)run->points[k].y;
        *p++ = (float)run->points[k].z;
    }
}

static void observe_strains(Run* run) {
    // the scratch holds three doubles a vertex
    double* strains = (double*)(void*)run->points;
    tdl_world_strains(run->world, strains);
    for (int k = 0; k < result_writer_counts(run->writer).cloth_points; ++k) {
        run->frame.strains[k] = (float)strains[k];
    }
}

static TdlStatus observe_forces(Run* run) {
    int count = result_writer_counts(run->writer).forces;
    TdlVec3 *forces = run->forces, *moments = run->forces + count;
    TdlStatus status = TDL_STATUS_OK;
    if (count > 0) {
        status = tdl_world_rod_forces(run->world, run->plan.samples, forces, moments);
    }
    for (int i = 0; i < count && status == TDL_STATUS_OK; ++i) {
        for (int k = 0; k < 3; ++k) {
            run->frame.forces[3 * (ptrdiff_t)i + k] = (float)(&forces[i].x)[k];
            run->frame.moments[3 * (ptrdiff_t)i + k] = (float)(&moments[i].x)[k];
        }
    }
    return status;
}

static TdlStatus observe_joints(Run* run) {
    int count = result_writer_counts(run->writer).joints;
    if (tdl_world_joint_states(run->world, NULL) != count) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_ARGUMENT,
                        "joints came or went while their run was under way");
    }
    tdl_world_joint_states(run->world, run->joints);
    for (int i = 0; i < count; ++i) {
        const TdlResultJointState* joint = &run->joints[i];
        tdl_store3(run->frame.joint_points, i, joint->point);
        tdl_store3(run->frame.joint_forces, i, joint->force);
        tdl_store3(run->frame.joint_torques, i, joint->torque);
        run->frame.joint_coordinates[i] = joint->coordinate;
        run->frame.joint_broken[i] = joint->broken ? 1 : joint->idle ? 2 : 0;
    }
    return TDL_STATUS_OK;
}

static void observe_poses(Run* run) {
    TdlPose pose = {0};
    for (int i = 0; i < count_bodies(run->world, "collider"); ++i) {
        tdl_collider_pose(run->world, tdl_world_body(run->world, "collider", i), &pose);
        result_pack_pose(pose, run->frame.poses + 12 * i);
    }
    for (int i = 0; i < count_bodies(run->world, "rigid"); ++i) {
        tdl_rigid_pose(run->world, tdl_world_body(run->world, "rigid", i), &pose);
        result_pack_pose(pose, run->frame.body_poses + 12 * i);
    }
}

static TdlStatus observe_contacts(Run* run) {
    int count = tdl_world_result_contacts(run->world, 0, NULL);
    count = !run->plan.contacts ? 0 : count > MAX_CONTACTS ? MAX_CONTACTS : count;
    TdlStatus status = result_frame_reserve(&run->host, &run->frame, count);
    if (status == TDL_STATUS_OK) {
        tdl_world_result_contacts(run->world, count, run->frame.contacts);
        run->frame.contact_count = count;
    }
    return status;
}

static TdlStatus observe_grains(Run* run) {
    result_pack_bed(result_bed_state(run->world), run->frame.bed);
    int count = tdl_world_particles(run->world, 0, NULL);
    TdlStatus status = result_frame_reserve_particles(&run->host, &run->frame, count);
    if (status == TDL_STATUS_OK) {
        run->frame.particle_count = tdl_world_particles(run->world, count, run->frame.particles);
    }
    return status;
}

TdlStatus run_write_frame(Run* run) {
    TdlEnergy energy = tdl_world_energy(run->world);
    run->frame.time = tdl_world_time(run->world);
    run->frame.step = tdl_world_step_count(run->world);
    run->frame.energy[0] = energy.kinetic;
    run->frame.energy[1] = energy.elastic;
    run->frame.energy[2] = energy.gravity;
    observe_rods(run);
    observe_surfaces(run);
    observe_strains(run);
    observe_poses(run);
    for (int i = 0; i < run->plan.observer_count; ++i) {
        tdl_store3(run->frame.observed, i, tdl_scene_observe(run->scene, i, run->world));
    }
    TdlStatus status = observe_forces(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = observe_joints(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = observe_contacts(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = observe_grains(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = result_writer_append(run->writer, &run->frame);
    run->at.frame_count = result_writer_frame_count(run->writer);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    // rows reach the log at least as often as frames reach the result
    return step_log_flush(&run->log);
}

// --- after a resume ------------------------------------------------------------------------------

// Copies the frames the checkpoint counts into a new file and puts it in the old one's place. A
// file left by a kill is never written again.
static TdlStatus copy_frames(Run* run, TdlResult* old) {
    ResultCounts a = result_counts(old), b = result_writer_counts(run->writer);
    if (a.rods != b.rods || a.colliders != b.colliders || a.bodies != b.bodies ||
        a.points != b.points || a.dofs != b.dofs || a.observers != b.observers ||
        a.surface_points != b.surface_points || a.cloth_points != b.cloth_points ||
        a.forces != b.forces || a.joints != b.joints || a.beds != b.beds ||
        tdl_result_info(old).frame_count < run->at.frame_count) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                        "%s/result.h5: not the result that the checkpoint belongs to",
                        run->folder.path);
    }
    for (long i = 0; i < run->at.frame_count; ++i) {
        TdlStatus status = result_read(old, i, &run->frame);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        status = result_writer_append(run->writer, &run->frame);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// The same as result.h5.tmp, whole.
static TdlStatus copy_result(Run* run, const char* path) {
    TdlResult* old;
    TdlStatus status = tdl_result_open(&run->host, path, &old);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = run_create_result(run, "result.h5.tmp");
    if (status == TDL_STATUS_OK) {
        status = copy_frames(run, old);
    }
    tdl_result_close(old);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return result_writer_go_live(run->writer);
}

TdlStatus run_reopen_result(Run* run) {
    char path[PATH_SIZE], temporary[PATH_SIZE];
    run_path(run, "result.h5", path);
    run_path(run, "result.h5.tmp", temporary);
    TdlStatus status = copy_result(run, path);
    if (status == TDL_STATUS_OK) {
        status = file_rename(&run->host, temporary, path);
    }
    if (status != TDL_STATUS_OK) {
        unlink(temporary);
        return status;
    }
    result_writer_moved(run->writer, path);
    return TDL_STATUS_OK;
}
