// tendril info: what is in a result.
#include "app/command.h"
#include "app/json.h"
#include "app/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Facts {
    const char* path;
    TdlResultInfo result;
    TdlResultGrains grains; // and what is left of them, where it has some and a frame
    TdlResultGrainsState bed;
    int particle_count;
    bool has_run; // a folder with a checkpoint; the rest is then known
    TdlRunInfo run;
    TdlStepInfo last; // step 0: no row yet
    bool running;
    bool asked;    // to verify
    long verified; // frames
} Facts;

static bool is_run_folder(const char* path) {
    char checkpoint[4200];
    struct stat info;
    snprintf(checkpoint, sizeof checkpoint, "%.4096s/checkpoint", path);
    return stat(checkpoint, &info) == 0;
}

// In the last frame.
static TdlStatus gather_grains(TdlResult* result, Facts* facts) {
    const TdlResultParticle* particles;
    long last = facts->result.frame_count - 1;
    if (!facts->result.has_grains) {
        return TDL_STATUS_OK;
    }
    facts->grains = tdl_result_grains(result);
    TdlStatus status = TDL_STATUS_OK;
    if (last >= 0) {
        status = tdl_result_read_particles(result, last, &particles, &facts->particle_count);
    }
    return status == TDL_STATUS_OK && last >= 0
               ? tdl_result_read_grains_state(result, last, &facts->bed)
               : status;
}

static TdlStatus gather(const TdlHost* host, const char* path, Facts* facts) {
    *facts = (Facts){.path = path};
    TdlResult* result;
    TdlStatus status = tdl_result_open(host, path, &result);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    facts->result = tdl_result_info(result);
    status = gather_grains(result, facts);
    tdl_result_close(result);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    facts->has_run = is_run_folder(path);
    if (facts->has_run) {
        status = tdl_run_inspect(host, path, &facts->run, &facts->last, &facts->running);
    }
    return status;
}

// Every frame, and of a run its other files. What is wrong was said.
static TdlStatus verify(const TdlHost* host, Facts* facts) {
    TdlResult* result;
    TdlStatus status = tdl_result_open(host, facts->path, &result);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_verify(result, &facts->verified);
    tdl_result_close(result);
    if (status == TDL_STATUS_OK && facts->has_run && facts->verified < facts->run.frames) {
        fprintf(stderr, "%s/result.h5: has %ld of the %ld frames that the checkpoint counts\n",
                facts->path, facts->verified, facts->run.frames);
        status = TDL_STATUS_BAD_INPUT;
    }
    return status == TDL_STATUS_OK && facts->has_run ? tdl_run_verify(host, facts->path) : status;
}

static const char* state_of(const Facts* facts) {
    if (!facts->has_run) {
        return facts->result.finished ? "finished" : "incomplete";
    }
    if (facts->running || facts->run.finished) {
        return facts->run.finished ? "finished" : "running";
    }
    return facts->run.failed ? "failed" : "interrupted";
}

// The latest energies known: those of the log, or of the checkpoint before the first row.
static TdlEnergy energy_of(const Facts* facts) {
    return facts->last.step > 0 ? facts->last.energy : facts->run.energy;
}

static long step_of(const Facts* facts) {
    return facts->last.step > facts->run.steps ? facts->last.step : facts->run.steps;
}

static void print_plain(const Facts* facts) {
    const TdlResultInfo* r = &facts->result;
    terminal_print(stdout, r->title[0] == '\0' ? facts->path : r->title);
    printf("\n  written by  tendril ");
    terminal_print(stdout, r->version);
    printf("\n");
    printf("  rods        %d with %d points and %d coordinates\n", r->rod_count, r->point_count,
           r->dof_count);
    printf("  bodies      %d\n", r->body_count);
    printf("  colliders   %d\n", r->collider_count);
    if (r->joint_count > 0) {
        printf("  joints      %d\n", r->joint_count);
    }
    if (r->surface_count > 0) {
        printf("  surfaces    %d with %d vertices that move\n", r->surface_count,
               r->surface_point_count);
    }
    if (r->cloth_count > 0) {
        printf("  cloths      %d of these, with %d vertices\n", r->cloth_count,
               r->cloth_point_count);
    }
    if (r->has_grains) {
        printf("  grains      %d particles in %d dimensions, %.6g kg; %lld lost, %.3g kg; %.2f %% "
               "of the volume kept\n",
               facts->particle_count, facts->grains.dimension, facts->bed.mass, facts->bed.lost,
               facts->bed.lost_mass, 100.0 * facts->bed.volume_kept);
    }
    printf("  frames      %ld from %g s to %g s\n", r->frame_count, r->first_time, r->last_time);
    if (facts->asked) {
        printf("  verified    %ld frames%s\n", facts->verified,
               r->has_checksums ? " by their checksums"
                                : ": they can be read; this older file has no checksums");
    }
    printf("  state       %s", state_of(facts));
    if (!facts->has_run) {
        printf("\n");
        return;
    }
    printf(", step %ld of %ld\n", step_of(facts), facts->run.step_total);
    TdlEnergy energy = energy_of(facts);
    printf("  energy      kinetic %.6g J, elastic %.6g J, gravity %.6g J\n", energy.kinetic,
           energy.elastic, energy.gravity);
    if (facts->run.failed && !facts->running) {
        printf("  failure     %s\n", facts->run.failure);
    }
    if (facts->run.forced > 0 || facts->run.unsolved > 0) {
        printf("  doubts      %ld steps kept though they could not stay, %ld with contacts not "
               "solved, error %.2g\n",
               facts->run.forced, facts->run.unsolved, facts->run.error);
    }
    if (facts->run.finished) {
        printf("  state hash  %016" PRIx64 "\n", facts->run.state_hash);
    } else if (!facts->running) {
        printf("Continue from step %ld with: tendril run --resume %s\n", facts->run.steps,
               facts->path);
    }
}

static void print_json_real(const char* name, double value) {
    printf(", \"%s\": ", name);
    json_real(value);
}

static void print_json(const Facts* facts) {
    const TdlResultInfo* r = &facts->result;
    printf("{\"title\": ");
    json_text(r->title);
    printf(", \"version\": ");
    json_text(r->version);
    printf(", \"state\": \"%s\", \"rods\": %d, \"bodies\": %d, \"colliders\": %d, "
           "\"surfaces\": %d, \"cloths\": %d, \"joints\": %d, \"points\": %d, \"dofs\": %d, "
           "\"frames\": %ld",
           state_of(facts), r->rod_count, r->body_count, r->collider_count, r->surface_count,
           r->cloth_count, r->joint_count, r->point_count, r->dof_count, r->frame_count);
    if (r->has_grains) {
        printf(", \"particles\": %d, \"dimension\": %d, \"lost\": %lld", facts->particle_count,
               facts->grains.dimension, facts->bed.lost);
        print_json_real("mass", facts->bed.mass);
        print_json_real("lost_mass", facts->bed.lost_mass);
        print_json_real("volume_kept", facts->bed.volume_kept);
    }
    if (facts->asked) {
        printf(", \"verified\": %s, \"verified_frames\": %ld", r->has_checksums ? "true" : "false",
               facts->verified);
    }
    print_json_real("first_time", r->first_time);
    print_json_real("last_time", r->last_time);
    if (facts->has_run) {
        TdlEnergy energy = energy_of(facts);
        printf(", \"step\": %ld, \"step_total\": %ld, \"checkpoint_step\": %ld", step_of(facts),
               facts->run.step_total, facts->run.steps);
        print_json_real("kinetic_energy", energy.kinetic);
        print_json_real("elastic_energy", energy.elastic);
        print_json_real("gravity_energy", energy.gravity);
        if (facts->run.failed) {
            printf(", \"failure\": ");
            json_text(facts->run.failure);
        }
        printf(", \"sound\": %s, \"unsolved_steps\": %ld, \"forced_steps\": %ld",
               tdl_run_is_sound(&facts->run) ? "true" : "false", facts->run.unsolved,
               facts->run.forced);
        print_json_real("solver_error", facts->run.error);
        print_json_real("nowhere", facts->run.nowhere);
        printf(", \"checkpoint_hash\": \"%016" PRIx64 "\"", facts->run.state_hash);
    }
    printf("}\n");
}

static int run_info(const Args* args) {
    static Facts facts;
    TdlStatus status = gather(args_host(args), args_operand(args, 0), &facts);
    facts.asked = args_has(args, "verify");
    if (status == TDL_STATUS_OK && facts.asked) {
        status = verify(args_host(args), &facts);
    }
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    if (args_has(args, "json")) {
        print_json(&facts);
    } else {
        print_plain(&facts);
    }
    return EXIT_DONE;
}

static const Option INFO_OPTIONS[] = {
    {"verify", 0, OPTION_SWITCH, NULL, 0, 0,
     "read all of it and compare it with its checksums: frames, tables, log, scene, checkpoint",
     false},
    {0},
};

const Command INFO_COMMAND = {
    .name = "info",
    .operands = "DIR",
    .summary = "Tell what is in a result",
    .text = "Works while the run goes on and after it was killed. DIR may also be a result.h5 on "
            "its own.\nWith --verify the exit status is 3, and a message tells the first frame or "
            "file that is not as it was written. A result of a Tendril that wrote no checksums "
            "is only read.",
    .example = "tendril info out/hanging-curl\ntendril info out/hanging-curl --json\n"
               "tendril info out/hanging-curl --verify",
    .options = INFO_OPTIONS,
    .run = run_info,
};
