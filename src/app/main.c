// The command `tendril`: its subcommands, and nothing else.
#include "app/command.h"

static int run_version(const Args* args) {
    if (args_has(args, "json")) {
        printf("{\"version\": \"%s\"}\n", tdl_version());
    } else {
        printf("tendril %s\n", tdl_version());
    }
    return EXIT_DONE;
}

static const Option NO_OPTIONS[] = {{0}};

static const Command VERSION_COMMAND = {
    .name = "version",
    .operands = "",
    .summary = "Print the version",
    .example = "tendril version --json",
    .options = NO_OPTIONS,
    .run = run_version,
};

extern const Command BENCH_CCD_COMMAND;
extern const Command BENCH_CLOTH_COMMAND;
extern const Command BENCH_DETECTION_COMMAND;
extern const Command BENCH_DISTANCE_COMMAND;
extern const Command BENCH_FRICTION_COMMAND;
extern const Command BENCH_GRANULAR_COMMAND;
extern const Command BENCH_INVERSE_COMMAND;
extern const Command BENCH_RODS_COMMAND;
extern const Command BENCH_COMBING_COMMAND;
extern const Command BENCH_SCENES_COMMAND;
extern const Command CCD_COMMAND;
extern const Command CHECK_COMMAND;
extern const Command DFCP_COMMAND;
extern const Command DISTANCE_COMMAND;
extern const Command EXPORT_COMMAND;
extern const Command EXPERIMENT_COMB_COMMAND;
extern const Command EXPERIMENT_THREE_POINT_COMMAND;
extern const Command FIT_COMMAND;
extern const Command INFO_COMMAND;
extern const Command INVERSE_COMMAND;
extern const Command INVERSE_HELIX_COMMAND;
extern const Command INVERSE_STIFFNESS_COMMAND;
extern const Command MANUAL_COMMAND;
extern const Command RENDER_COMMAND;
extern const Command RUN_COMMAND;
extern const Command SWEEP_COMMAND;
extern const Command VIEW_COMMAND;

// clang-format off
const Command* const COMMANDS[] = {
    &RUN_COMMAND,
    &CHECK_COMMAND,
    &INFO_COMMAND,
    &VIEW_COMMAND,
    &RENDER_COMMAND,
    &EXPORT_COMMAND,
    &SWEEP_COMMAND,
    &FIT_COMMAND,
    &INVERSE_COMMAND,
    &INVERSE_HELIX_COMMAND,
    &INVERSE_STIFFNESS_COMMAND,
    &DFCP_COMMAND,
    &DISTANCE_COMMAND,
    &CCD_COMMAND,
    &EXPERIMENT_COMB_COMMAND,
    &EXPERIMENT_THREE_POINT_COMMAND,
    &BENCH_CCD_COMMAND,
    &BENCH_CLOTH_COMMAND,
    &BENCH_DETECTION_COMMAND,
    &BENCH_DISTANCE_COMMAND,
    &BENCH_FRICTION_COMMAND,
    &BENCH_GRANULAR_COMMAND,
    &BENCH_INVERSE_COMMAND,
    &BENCH_RODS_COMMAND,
    &BENCH_COMBING_COMMAND,
    &BENCH_SCENES_COMMAND,
    &MANUAL_COMMAND,
    &VERSION_COMMAND,
    NULL,
};
// clang-format on

int main(int argc, char** argv) {
    return command_main(argc, argv);
}
