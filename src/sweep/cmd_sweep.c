// tendril sweep: a scene run with every combination of some values.
#include "app/json.h"
#include "app/terminal.h"
#include "sweep/sweep.h"

#include <stdlib.h>
#include <unistd.h>

static int count_state(const SweepPlan* plan, const SweepRun* runs, SweepState state) {
    int count = 0;
    for (int run = 0; run < plan->run_count; ++run) {
        count += runs[run].state == state;
    }
    return count;
}

static int tell_end(const SweepPlan* plan, const SweepRun* runs, bool all) {
    int done = count_state(plan, runs, SWEEP_DONE), failed = count_state(plan, runs, SWEEP_FAILED);
    int doubtful = count_state(plan, runs, SWEEP_DOUBTFUL);
    if (args_has(plan->args, "json")) {
        printf("{\"folder\": ");
        json_text(plan->folder);
        printf(", \"runs\": %d, \"done\": %d, \"doubtful\": %d, \"failed\": %d}\n", plan->run_count,
               done, doubtful, failed);
    }
    if (!all) {
        fprintf(stderr, "stopped with %d of %d runs done; the same command goes on with them\n",
                done + doubtful, plan->run_count);
    } else if (!args_has(plan->args, "quiet")) {
        fprintf(stderr, "%s/table.csv: %d runs, %d done, %d doubtful, %d failed\n", plan->folder,
                plan->run_count, done, doubtful, failed);
    }
    return all && done == plan->run_count ? EXIT_DONE : EXIT_FAILED;
}

static int make_runs(const SweepPlan* plan) {
    SweepRun* runs = calloc((size_t)plan->run_count, sizeof *runs);
    if (runs == NULL) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    int jobs = args_int(plan->args, "threads", 0);
    jobs = jobs > 0 ? jobs : (int)sysconf(_SC_NPROCESSORS_ONLN);
    terminal_catch_stop();
    bool all = sweep_make(plan, jobs, args_int(plan->args, "retries", 1),
                          args_has(plan->args, "quiet"), runs);
    terminal_end_progress();
    bool told = !all || sweep_write_tables(plan, runs);
    int code = tell_end(plan, runs, all);
    free(runs);
    return told ? code : EXIT_FAILED;
}

static int run_sweep(const Args* args) {
    if (args_operand_count(args) != 1) {
        return usage_error(args, "one SCENE is needed");
    }
    if (!args_has(args, "output")) {
        return usage_error(args, "--output DIR is needed");
    }
    bool slurm = args_has(args, "slurm"), parallel = args_has(args, "parallel");
    SweepPlan plan;
    int code = sweep_plan_read(args, &plan);
    code = code == EXIT_DONE ? sweep_begin(&plan) : code;
    if (code == EXIT_DONE) {
        code = slurm || parallel ? sweep_write_commands(&plan, slurm) : make_runs(&plan);
    }
    sweep_plan_free(&plan);
    return code;
}

static const Option SWEEP_OPTIONS[] = {
    {"vary", 'v', OPTION_TEXT, "PATH=VALUES", 0, 0,
     "a value of the scene, as --set names it, and what it takes: LOW:HIGH:COUNT, evenly, with "
     ":log evenly by ratio, or words with commas between them",
     true},
    {"seeds", 0, OPTION_INT, "N", 1, 100000,
     "each combination with the seeds 1 to N of all that is random in the scene", false},
    {"set", 's', OPTION_TEXT, "PATH=VALUE", 0, 0, "override a value in all runs", true},
    {"output", 'o', OPTION_FILE, "DIR", 0, 0,
     "folder of the sweep; one of the same sweep is gone on with", false},
    {"retries", 0, OPTION_INT, "N", 0, 100,
     "how often a run that failed is tried again, from its last checkpoint; default 1", false},
    {"parallel", 0, OPTION_SWITCH, NULL, 0, 0,
     "only write the commands, and print the line for GNU parallel", false},
    {"slurm", 0, OPTION_SWITCH, NULL, 0, 0,
     "only write the commands and an array job, and print the line that submits it", false},
    {0},
};

const Command SWEEP_COMMAND = {
    .name = "sweep",
    .operands = "SCENE",
    .summary = "Run a scene with every combination of some values",
    .text =
        "Each run has a folder DIR/run-NNNNN as `tendril run` makes it, and runs on one thread; "
        "--threads says how many at once, by default one per processor. Every combination is "
        "checked before the first run. A sweep that was interrupted or killed is gone on with "
        "by the same command, and its table is that of an unbroken one. A run that fails is "
        "tried again and told; the exit status is 1 unless all are done.\nDIR/table.csv has a "
        "row a run: its values, how it ended, its energies at the end, and of each number that "
        "the scene observes the last, the mean over steps and the largest size. With seeds "
        "DIR/means.csv has their mean and standard deviation. Runs made elsewhere (--slurm, "
        "--parallel) are taken into the table by the same command without these.",
    .example =
        "tendril sweep scenes/pulleys.yaml --vary contacts.friction=0.1,0.2,0.4 -o out/pulleys\n"
        "tendril sweep scenes/spaghetti.yaml --vary rods.spaghetti.young=1e6:1e8:5:log --seeds "
        "3 -o out/stiffness --slurm",
    .options = SWEEP_OPTIONS,
    .run = run_sweep,
};
