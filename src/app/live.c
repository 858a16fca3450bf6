// Watching a run and taking a hand in it.
//
// The simulation's thread makes frames (only when somebody watches, at most thirty a second) and
// hands them to the server, which never makes it wait. What pages say is noted under a lock and
// acted on between two steps. viewer/src/live.js is the other side: a message is the state and a
// row of the log as doubles, then a frame (frame_block.h).
//
// A hand pulls by a spring towards where the pointer is, as if the mass of what it holds sat at
// that point: the force is mass / T^2 times the distance, less a damping. T is long against a step,
// so that the force, which stands still during a step, does not stir up even a light end.
#include "app/live.h"

#include "app/frame_block.h"
#include "app/page_log.h"
#include "app/server.h"
#include "app/view_page.h"
#include "app/wishes.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double FRAME_SECONDS = 1.0 / 30.0;
static const double WAIT_SECONDS = 0.005; // between two looks while nothing happens

// Of the spring, s; in steps at least.
static const double PULL_TIME = 0.03, PULL_STEPS = 20.0;
static const double PULL_DAMPING = 0.7;

// A held end nears the pointer by the factor e in this time, s, but no faster than a thrown ball.
static const double LEAD_TIME = 0.03, LEAD_SPEED = 30.0;

enum { STATE_NUMBERS = 7 };

// Of the row of the log, before what the scene observes.
static const char COLUMNS[][PAGE_LOG_NAME] = {"time",    "contacts",       "iterations",
                                              "error",   "kinetic",        "elastic",
                                              "gravity", "detect_seconds", "solve_seconds"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

// What the hand holds; the simulation's thread only.
typedef struct Hand {
    bool holds, leads, end;
    bool cloth; // a vertex of one
    int vertex;
    TdlBodyId body;
    double at;     // m, along a rod
    TdlVec3 place; // of a led end; where the pulled point was
} Hand;

struct Live {
    LiveDef def;
    Server* server;
    pthread_mutex_t lock;
    pthread_cond_t page_known; // that there is a page, or that there will be none
    Wishes wishes;             // what the pages want; guarded by the lock
    Hand hand;
    char* page; // once the world is known
    size_t page_size;
    int rod_count, surface_count, pose_count;
    int* point_start;             // [rod_count + surface_count + 1]
    double* points;               // of the rods, then of the surfaces
    double* strains;              // of the surfaces; 0 of those that are no cloths, which come last
    int cloth_count, cloth_first; // the first point of these among those of the surfaces
    int shell_count;              // of the cloths, patches, which no hand can hold
    TdlVec3* scratch;
    TdlResultContact* contacts; // of the last step
    int contact_count, contact_capacity;
    TdlPose* poses;
    bool shows_forces;         // the scene asks for those inside rods
    TdlVec3 *forces, *moments; // of the points of the rods
    TdlResultJointState* joints;
    int joint_count;
    bool has_grains;
    FrameGrains grains;
    TdlResultParticle* particles; // [particle_capacity]
    int particle_capacity;
    FrameCoder coder;
    unsigned char* message;
    size_t message_capacity;
    TdlVec3 gravity;
    double mu;
    char (*columns)[PAGE_LOG_NAME]; // [column_count]
    double* row;                    // the same
    int column_count, observer_count;
    double frame_at, clock_start, time_start; // wall s, wall s, simulated s
    bool ready, failed;
    bool no_page; // nor will there be one; guarded by the lock, as `ready`
};

static double wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1.0e-9 * (double)now.tv_nsec;
}

static void doze(void) {
    nanosleep(&(struct timespec){0, (long)(WAIT_SECONDS * 1.0e9)}, NULL);
}

// --- what pages say ------------------------------------------------------------------------------

// A point of a rod or of a cloth; these come after all other surfaces, shell patches last.
static bool may_be_held(const Live* live, int point) {
    int things = live->rod_count + live->surface_count;
    return point < live->point_start[live->rod_count] ||
           (point >= live->point_start[things - live->cloth_count] &&
            point < live->point_start[things - live->shell_count]);
}

static void hear(void* user, const char* words) {
    Live* live = user;
    pthread_mutex_lock(&live->lock);
    wishes_hear(&live->wishes, words);
    pthread_mutex_unlock(&live->lock);
}

static int count_bodies(const TdlWorld* world, const char* kind) {
    return tdl_world_bodies(world, kind, 0, NULL);
}

// --- the hand ------------------------------------------------------------------------------------

static void pull(const Hand* hand, TdlWorld* world, TdlVec3 force) {
    TdlPull one = {.at = hand->at, .vertex = hand->vertex, .force = force};
    tdl_body_pull(world, hand->body, 1, &one);
}

static void let_go(Hand* hand, TdlWorld* world) {
    if (hand->holds && !hand->leads) {
        tdl_body_pull(world, hand->body, 0, NULL);
    }
    hand->holds = false;
}

// Where the hand's point is now.
static TdlVec3 held_place(const Live* live, const TdlWorld* world) {
    const Hand* hand = &live->hand;
    TdlVec3 place = hand->place;
    if (!hand->cloth) {
        tdl_rod_point(world, hand->body, hand->at, &place);
    } else if (tdl_cloth_state(world, hand->body, live->scratch, NULL) == TDL_STATUS_OK) {
        place = live->scratch[hand->vertex];
    }
    return place;
}

// Its end goes to a place, and does not turn.
static bool lead_end(const Hand* hand, TdlWorld* world) {
    int end = hand->end ? TDL_LED_END : TDL_LED_START;
    TdlPose pose;
    if (tdl_body_led_pose(world, hand->body, end, &pose) != TDL_STATUS_OK) {
        return false;
    }
    pose.position = hand->place;
    return tdl_body_move_to(world, hand->body, end, pose) == TDL_STATUS_OK;
}

static void take_rod(Hand* hand, TdlWorld* world, int rod, double share) {
    TdlRodInfo info = {0};
    hand->body = tdl_world_body(world, "rod", rod);
    tdl_rod_info(world, hand->body, &info);
    hand->at = fmin(info.length, info.length * share);
    hand->end = share >= 1.0;
    tdl_rod_point(world, hand->body, hand->at, &hand->place);
    bool at_end = share <= 0.0 || share >= 1.0;
    hand->leads = at_end && lead_end(hand, world);
}

static void take_hold(Live* live, TdlWorld* world, int point) {
    Hand* hand = &live->hand;
    int thing = 0;
    while (live->point_start[thing + 1] <= point) {
        ++thing;
    }
    int first = live->point_start[thing], last = live->point_start[thing + 1] - 1;
    *hand = (Hand){.holds = true, .cloth = thing >= live->rod_count, .vertex = point - first};
    if (hand->cloth) {
        int others = live->rod_count + live->surface_count - live->cloth_count;
        hand->body = tdl_world_body(world, "cloth", thing - others);
        hand->place = held_place(live, world);
    } else {
        take_rod(hand, world, thing, (double)(point - first) / (last > first ? last - first : 1));
    }
}

static void move_hand(Live* live, TdlWorld* world, TdlVec3 target, double dt) {
    Hand* hand = &live->hand;
    if (hand->leads) {
        TdlVec3 way = tdl_sub3(target, hand->place);
        double share = 1.0 - exp(-dt / LEAD_TIME), length = tdl_norm3(way);
        share = share * length > LEAD_SPEED * dt ? LEAD_SPEED * dt / length : share;
        hand->place = tdl_axpy3(hand->place, share, way);
        lead_end(hand, world);
        return;
    }
    TdlVec3 now = held_place(live, world), centre;
    double mass = 0.0, period = fmax(PULL_TIME, PULL_STEPS * dt);
    tdl_body_centre(world, hand->body, &centre, &mass);
    TdlVec3 velocity = tdl_scale3(1.0 / dt, tdl_sub3(now, hand->place));
    TdlVec3 force = tdl_scale3(mass / (period * period), tdl_sub3(target, now));
    force = tdl_axpy3(force, -PULL_DAMPING * mass / period, velocity);
    pull(hand, world, force);
    hand->place = now;
}

// Does what the pages want, between two steps.
static void act(Live* live, TdlWorld* world, double dt) {
    pthread_mutex_lock(&live->lock);
    Wishes wishes = live->wishes;
    live->wishes.new_gravity = live->wishes.new_mu = live->wishes.new_grab = false;
    pthread_mutex_unlock(&live->lock);
    if (wishes.new_gravity && tdl_world_set_gravity(world, wishes.gravity) == TDL_STATUS_OK) {
        live->gravity = wishes.gravity;
    }
    if (wishes.new_mu && tdl_world_set_friction(world, wishes.mu) == TDL_STATUS_OK) {
        live->mu = wishes.mu;
    }
    if (live->hand.holds && (wishes.new_grab || !wishes.grabbed)) {
        let_go(&live->hand, world);
    }
    if (wishes.new_grab && may_be_held(live, wishes.point)) {
        take_hold(live, world, wishes.point);
    }
    if (live->hand.holds && dt > 0.0) {
        move_hand(live, world, wishes.target, dt);
    }
}

// --- frames --------------------------------------------------------------------------------------

// Without memory for them none are shown.
static void observe_contacts(Live* live, const TdlWorld* world) {
    int count = tdl_world_result_contacts(world, 0, NULL);
    if (count > live->contact_capacity) {
        size_t room = (size_t)count + (size_t)count / 2;
        TdlResultContact* grown = realloc(live->contacts, room * sizeof *grown);
        live->contacts = grown == NULL ? live->contacts : grown;
        live->contact_capacity = grown == NULL ? live->contact_capacity : (int)room;
    }
    live->contact_count = count <= live->contact_capacity ? count : 0;
    tdl_world_result_contacts(world, live->contact_count, live->contacts);
}

// Those that are shown. Without memory for them none are.
static int observe_particles(Live* live, const TdlWorld* world) {
    int count = tdl_world_particles(world, 0, NULL);
    if (count > live->particle_capacity) {
        TdlResultParticle* grown = realloc(live->particles, (size_t)count * sizeof *grown);
        live->particles = grown == NULL ? live->particles : grown;
        live->particle_capacity = grown == NULL ? live->particle_capacity : count;
    }
    count = count <= live->particle_capacity ? count : 0;
    tdl_world_particles(world, count, live->particles);
    return frame_grains_pick(live->particles, count, live->grains.every);
}

static FrameView observe(Live* live, const TdlWorld* world) {
    double* out = live->points;
    for (int r = 0; r < live->rod_count; ++r) {
        int count = live->point_start[r + 1] - live->point_start[r];
        tdl_rod_points(world, tdl_world_body(world, "rod", r), live->def.samples, live->scratch);
        for (int i = 0; i < count; ++i) {
            *out++ = live->scratch[i].x;
            *out++ = live->scratch[i].y;
            *out++ = live->scratch[i].z;
        }
    }
    tdl_world_surface_points(world, (TdlVec3*)(void*)out); // three doubles in a row are a TdlVec3
    tdl_world_strains(world, live->strains + live->cloth_first);
    int colliders = count_bodies(world, "collider");
    for (int i = 0; i < live->pose_count; ++i) {
        if (i < colliders) {
            tdl_collider_pose(world, tdl_world_body(world, "collider", i), &live->poses[i]);
        } else {
            tdl_rigid_pose(world, tdl_world_body(world, "rigid", i - colliders), &live->poses[i]);
        }
    }
    FrameView view = {.time = tdl_world_time(world),
                      .points = live->points,
                      .strains = live->strains,
                      .forces = live->forces,
                      .moments = live->moments,
                      .poses = live->poses,
                      .joints = live->joints,
                      .joint_count = live->joint_count};
    if (live->shows_forces) { // else they are as they were
        tdl_world_rod_forces(world, live->def.samples, live->forces, live->moments);
    }
    tdl_world_joint_states(world, live->joints);
    observe_contacts(live, world);
    view.contacts = live->contacts;
    view.contact_count = live->contact_count;
    view.particle_count = observe_particles(live, world);
    view.particles = live->particles;
    return view;
}

static void publish(Live* live, const TdlWorld* world, bool paused, double speed) {
    FrameView view = observe(live, world);
    FrameBounds bounds = frame_bounds_empty();
    frame_bounds_grow(&live->coder, &view, &bounds);
    FrameBox box = frame_box(&bounds);
    if (!frame_encode(&live->coder, &view, &box, false, true)) {
        live->failed = true;
        return;
    }
    const double state[STATE_NUMBERS] = {
        paused,          speed,    live->gravity.x,   live->gravity.y,
        live->gravity.z, live->mu, live->column_count};
    size_t row_size = (size_t)live->column_count * sizeof *live->row;
    size_t size = sizeof state + row_size + live->coder.size;
    if (size > live->message_capacity) {
        unsigned char* grown = realloc(live->message, 2 * size);
        if (grown == NULL) {
            live->failed = true;
            return;
        }
        live->message = grown;
        live->message_capacity = 2 * size;
    }
    memcpy(live->message, state, sizeof state);
    memcpy(live->message + sizeof state, live->row, row_size);
    memcpy(live->message + sizeof state + row_size, live->coder.block, live->coder.size);
    live->failed = !server_publish(live->server, live->message, size);
    live->frame_at = wall_clock();
}

// --- the page ------------------------------------------------------------------------------------

// A browser that is told the address at once asks before the world is made: its request waits.
static bool write_page(void* user, FILE* out) {
    Live* live = user;
    pthread_mutex_lock(&live->lock);
    while (!live->ready && !live->no_page) {
        pthread_cond_wait(&live->page_known, &live->lock);
    }
    bool ready = live->ready;
    pthread_mutex_unlock(&live->lock);
    return ready && fwrite(live->page, 1, live->page_size, out) == live->page_size;
}

// The columns of the row, with those of the observers.
static bool name_columns(Live* live) {
    static const char AXES[] = "xyz";
    const TdlScene* scene = live->def.scene;
    live->observer_count = scene == NULL ? 0 : tdl_scene_info(scene).observer_count;
    live->column_count = COLUMN_COUNT + 3 * live->observer_count;
    live->columns = calloc((size_t)live->column_count, sizeof *live->columns);
    live->row = calloc((size_t)live->column_count, sizeof *live->row);
    if (live->columns == NULL || live->row == NULL) {
        return false;
    }
    memcpy(live->columns, COLUMNS, sizeof COLUMNS);
    for (int i = 0; i < 3 * live->observer_count; ++i) {
        snprintf(live->columns[COLUMN_COUNT + i], PAGE_LOG_NAME, "%s_%c",
                 tdl_scene_observer(scene, i / 3).name, AXES[i % 3]);
    }
    return true;
}

static bool allocate(Live* live, const TdlWorld* world) {
    int rods = live->rod_count, lines = rods + live->surface_count, most = 1;
    TdlResultSurface* surfaces = malloc(((size_t)live->surface_count + 1) * sizeof *surfaces);
    live->point_start =
        surfaces == NULL ? NULL : calloc((size_t)lines + 1, sizeof *live->point_start);
    for (int r = 0; live->point_start != NULL && r < rods; ++r) {
        TdlRodInfo info = {0};
        tdl_rod_info(world, tdl_world_body(world, "rod", r), &info);
        int count = info.element_count * live->def.samples + 1;
        live->point_start[r + 1] = live->point_start[r] + count;
        most = count > most ? count : most;
    }
    if (live->point_start != NULL) {
        tdl_world_surfaces(world, surfaces);
    }
    for (int i = rods; live->point_start != NULL && i < lines; ++i) {
        int count = surfaces[i - rods].point_count;
        live->point_start[i + 1] = live->point_start[i] + count;
        most = count > most ? count : most;
    }
    if (live->point_start != NULL && live->cloth_count > 0) {
        live->cloth_first = surfaces[live->surface_count - live->cloth_count].first_point;
    }
    free(surfaces);
    size_t points = live->point_start == NULL ? 0 : (size_t)live->point_start[lines];
    live->points = malloc((3 * points + 1) * sizeof *live->points);
    live->strains = calloc(points + 1, sizeof *live->strains);
    live->scratch = malloc((size_t)most * sizeof *live->scratch);
    live->poses = malloc(((size_t)live->pose_count + 1) * sizeof *live->poses);
    size_t inner = live->shows_forces ? points : 0;
    live->forces = calloc(inner + 1, sizeof *live->forces);
    live->moments = calloc(inner + 1, sizeof *live->moments);
    live->joints = calloc((size_t)live->joint_count + 1, sizeof *live->joints);
    FrameLayout layout = {.rod_count = rods,
                          .line_count = lines,
                          .point_start = live->point_start,
                          .pose_count = live->pose_count,
                          .forces = live->shows_forces};
    return name_columns(live) && live->point_start != NULL && live->points != NULL &&
           live->strains != NULL && live->scratch != NULL && live->poses != NULL &&
           live->forces != NULL && live->moments != NULL && live->joints != NULL &&
           frame_coder_create(&layout, &live->coder);
}

static bool make_page(Live* live, TdlWorld* world) {
    int shape_count = tdl_world_shapes(world, NULL);
    TdlResultShape* shapes = malloc(((size_t)shape_count + 1) * sizeof *shapes);
    double* radius = malloc(((size_t)live->rod_count + 1) * sizeof *radius);
    TdlResultSurface* surfaces = malloc(((size_t)live->surface_count + 1) * sizeof *surfaces);
    TdlResultCloth* cloths = malloc(((size_t)live->cloth_count + 1) * sizeof *cloths);
    TdlResultJoint* joints = malloc(((size_t)live->joint_count + 1) * sizeof *joints);
    bool room =
        shapes != NULL && radius != NULL && surfaces != NULL && cloths != NULL && joints != NULL;
    FILE* out = room ? open_memstream(&live->page, &live->page_size) : NULL;
    if (out != NULL) {
        tdl_world_shapes(world, shapes);
        tdl_world_surfaces(world, surfaces);
        tdl_world_cloths(world, cloths);
        tdl_world_result_joints(world, joints);
        for (int r = 0; r < live->rod_count; ++r) {
            TdlRodInfo info = {0};
            tdl_rod_info(world, tdl_world_body(world, "rod", r), &info);
            radius[r] = sqrt(info.radius[0] * info.radius[1]);
        }
        FrameBounds bounds = frame_bounds_empty();
        FrameView view = observe(live, world);
        frame_bounds_grow(&live->coder, &view, &bounds);
        int colliders = count_bodies(world, "collider");
        PageHead head = {.title = live->def.title,
                         .version = tdl_version(),
                         .live = true,
                         .rod_count = live->rod_count,
                         .collider_count = colliders,
                         .body_count = live->pose_count - colliders,
                         .shape_count = shape_count,
                         .point_start = live->point_start,
                         .radius = radius,
                         .shapes = shapes,
                         .surface_count = live->surface_count,
                         .surfaces = surfaces,
                         .cloth_count = live->cloth_count,
                         .cloths = cloths,
                         .forces = live->shows_forces,
                         .joint_count = live->joint_count,
                         .joints = joints,
                         .grains = live->has_grains ? &live->grains : NULL,
                         .box = frame_box(&bounds),
                         .contacts = live->mu >= 0.0,
                         .column_count = live->column_count,
                         .columns = (const char(*)[PAGE_LOG_NAME])live->columns,
                         .gravity = live->gravity,
                         .mu = live->mu};
        page_put_start(out, &head);
        page_put_script(out);
        page_put_end(out);
    }
    free(shapes);
    free(radius);
    free(surfaces);
    free(cloths);
    free(joints);
    return out != NULL && fclose(out) == 0;
}

static void prepare(Live* live, TdlWorld* world) {
    TdlWorldDef def = tdl_world_def(world);
    live->gravity = def.gravity;
    live->mu = def.contacts.off ? -1.0 : def.contacts.law.mu;
    live->rod_count = count_bodies(world, "rod");
    live->surface_count = tdl_world_surfaces(world, NULL);
    live->cloth_count = tdl_world_cloths(world, NULL);
    live->shell_count = count_bodies(world, "shell");
    live->pose_count = count_bodies(world, "collider") + count_bodies(world, "rigid");
    live->joint_count = tdl_world_joints(world, 0, NULL);
    live->shows_forces = live->def.scene != NULL && tdl_scene_info(live->def.scene).forces;
    TdlResultGrains bed = {0};
    live->has_grains = tdl_world_result_grains(world, &bed);
    live->grains = frame_grains_begin(&bed);
    live->grains.every = frame_grains_every(tdl_world_particles(world, 0, NULL));
    live->failed = !allocate(live, world) || !make_page(live, world);
    if (!live->failed) {
        live->row[0] = tdl_world_time(world);
    } else {
        fprintf(stderr, "there is not enough memory to show the run; it goes on unseen\n");
    }
    pthread_mutex_lock(&live->lock);
    live->ready = !live->failed;
    live->no_page = live->failed;
    pthread_cond_broadcast(&live->page_known);
    pthread_mutex_unlock(&live->lock);
}

// --- the loop's side -----------------------------------------------------------------------------

static Wishes wishes_now(Live* live) {
    pthread_mutex_lock(&live->lock);
    Wishes wishes = live->wishes;
    live->wishes.changed = false;
    if (wishes.single_steps > 0) {
        --live->wishes.single_steps;
    }
    pthread_mutex_unlock(&live->lock);
    return wishes;
}

static void restart_clock(Live* live, const TdlWorld* world) {
    live->clock_start = wall_clock();
    live->time_start = tdl_world_time(world);
}

// Whether the next step is not due yet.
static bool is_ahead(const Live* live, const TdlWorld* world, double speed) {
    return (tdl_world_time(world) - live->time_start) / speed > wall_clock() - live->clock_start;
}

static void note_row(Live* live, const TdlWorld* world, const TdlStepInfo* info) {
    const double row[COLUMN_COUNT] = {
        info->time,           info->contact_count,  info->iterations,
        info->error,          info->energy.kinetic, info->energy.elastic,
        info->energy.gravity, info->detect_seconds, info->solve_seconds};
    memcpy(live->row, row, sizeof row);
    for (int i = 0; i < live->observer_count; ++i) {
        tdl_store3(live->row + COLUMN_COUNT, i, tdl_scene_observe(live->def.scene, i, world));
    }
}

void live_watch(void* user, TdlWorld* world, const TdlStepInfo* info) {
    Live* live = user;
    if (info == NULL) {
        prepare(live, world);
        restart_clock(live, world);
    } else if (live->ready) {
        note_row(live, world, info);
    }
    bool waits_for_page = info == NULL;
    pthread_mutex_lock(&live->lock);
    double speed = live->wishes.speed;
    pthread_mutex_unlock(&live->lock);
    while (!live->failed && !live->def.asked_to_stop()) {
        int watchers = server_watcher_count(live->server);
        Wishes wishes = wishes_now(live);
        if (wishes.speed != speed) {
            speed = wishes.speed;
            restart_clock(live, world);
        }
        bool due = wall_clock() - live->frame_at >= FRAME_SECONDS;
        if (watchers > 0 && (wishes.changed || due) && (wishes.changed || !wishes.paused)) {
            publish(live, world, wishes.paused, speed);
        }
        waits_for_page = waits_for_page && watchers == 0;
        bool stands = (wishes.paused && wishes.single_steps == 0) || waits_for_page;
        if (stands) {
            act(live, world, 0.0);
            restart_clock(live, world);
        } else if (!is_ahead(live, world, speed)) {
            break;
        }
        doze();
    }
    // a machine too slow for the speed asked for does not have to catch up
    if (wall_clock() - live->clock_start >
        0.1 + (tdl_world_time(world) - live->time_start) / speed) {
        restart_clock(live, world);
    }
    act(live, world, tdl_world_def(world).step);
    if (live->failed && live->ready) {
        let_go(&live->hand, world);
    }
}

Live* live_start(const LiveDef* def) {
    Live* live = calloc(1, sizeof *live);
    if (live == NULL) {
        fprintf(stderr, "out of memory\n");
        return NULL;
    }
    live->def = *def;
    live->wishes.speed = def->speed;
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->page_known, NULL);
    ServerDef server = {.port = def->port, .write_page = write_page, .hear = hear, .user = live};
    live->server = server_start(&server);
    if (live->server == NULL) {
        live_stop(live);
        return NULL;
    }
    return live;
}

const char* live_url(const Live* live) {
    return server_url(live->server);
}

void live_stop(Live* live) {
    if (live == NULL) {
        return;
    }
    pthread_mutex_lock(&live->lock);
    live->no_page = true;
    pthread_cond_broadcast(&live->page_known);
    pthread_mutex_unlock(&live->lock);
    server_stop(live->server);
    pthread_cond_destroy(&live->page_known);
    pthread_mutex_destroy(&live->lock);
    frame_coder_destroy(&live->coder);
    free(live->page);
    free(live->columns);
    free(live->row);
    free(live->point_start);
    free(live->points);
    free(live->strains);
    free(live->scratch);
    free(live->contacts);
    free(live->poses);
    free(live->forces);
    free(live->moments);
    free(live->joints);
    free(live->particles);
    free(live->message);
    free(live);
}
