// tendril view: a result as one page that opens in any browser.
#include "app/browser.h"
#include "app/command.h"
#include "app/json.h"
#include "app/output.h"
#include "app/server.h"
#include "app/view_page.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200 };

// Pages above this size are slow to open; the message then names the way to a smaller one.
static const long long LARGE_PAGE = 300000000;

// DIR.html; result.h5 becomes result.html.
static void default_output(const char* path, char out[PATH_BYTES]) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        --length;
    }
    if (length > 3 && strncmp(path + length - 3, ".h5", 3) == 0) {
        length -= 3;
    }
    snprintf(out, PATH_BYTES, "%.*s.html", (int)(length < 4096 ? length : 4096), path);
}

// The log that lies in the folder, or beside the file.
static void find_log(const char* path, char out[PATH_BYTES]) {
    struct stat info;
    const char* slash = strrchr(path, '/');
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        snprintf(out, PATH_BYTES, "%.4096s/log.csv", path);
    } else if (slash != NULL) {
        snprintf(out, PATH_BYTES, "%.*s/log.csv", (int)(slash - path < 4096 ? slash - path : 4096),
                 path);
    } else {
        snprintf(out, PATH_BYTES, "log.csv");
    }
}

static void tell(const Args* args, const char* path, const ViewPage* page, long long bytes) {
    TdlResultInfo info = tdl_result_info(page->result);
    if (args_has(args, "json")) {
        printf("{\"page\": ");
        json_text(path);
        printf(", \"bytes\": %lld, \"frames\": %ld, \"rods\": %d, \"points\": %d}\n", bytes,
               page->frame_count, info.rod_count, info.point_count);
    } else if (!args_has(args, "quiet")) {
        fprintf(stderr, "%s: %ld frames of %d rods in %.3g MB; open it in a browser\n", path,
                page->frame_count, info.rod_count, 1.0e-6 * (double)bytes);
        if (bytes > LARGE_PAGE) {
            fprintf(stderr, "that is large for a browser; --frames N keeps fewer frames\n");
        }
    }
}

static int write_page(const Args* args, ViewPage* page, const char* path) {
    FILE* out = output_open(path);
    if (out == NULL) {
        return output_failure();
    }
    TdlStatus status = view_page_write(page, out);
    long long bytes = ftell(out);
    if (!output_close(out, status == TDL_STATUS_OK)) {
        return status == TDL_STATUS_OK ? output_failure() : exit_code(status);
    }
    tell(args, path, page, bytes);
    return !args_has(args, "open") || browser_open(path) ? EXIT_DONE : EXIT_FAILED;
}

// --- serving -------------------------------------------------------------------------------------

typedef struct Serving {
    ViewPage page;
    sigset_t signals;
} Serving;

// Makes the page anew, so that a reload shows what a run has added since.
static bool write_served(void* user, FILE* out) {
    Serving* serving = user;
    return tdl_result_refresh(serving->page.result) == TDL_STATUS_OK &&
           view_page_write(&serving->page, out) == TDL_STATUS_OK;
}

// Serves until Ctrl-C or SIGTERM.
static int serve_page(const Args* args, const ViewPage* page) {
    Serving serving = {.page = *page};
    sigemptyset(&serving.signals);
    sigaddset(&serving.signals, SIGINT);
    sigaddset(&serving.signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &serving.signals, NULL); // the server's threads keep them blocked
    ServerDef def = {
        .port = args_int(args, "port", 0), .write_page = write_served, .user = &serving};
    Server* server = server_start(&def);
    if (server == NULL) {
        return EXIT_FAILED;
    }
    if (args_has(args, "json")) {
        printf("{\"url\": ");
        json_text(server_url(server));
        printf("}\n");
        fflush(stdout);
    } else {
        fprintf(stderr, "%s\nCtrl-C ends it\n", server_url(server));
    }
    if (args_has(args, "open")) {
        browser_open(server_url(server)); // if not, the address is still there
    }
    int signal_number;
    sigwait(&serving.signals, &signal_number);
    server_stop(server);
    return EXIT_DONE;
}

static int run_view(const Args* args) {
    const char* source = args_operand(args, 0);
    if (args_has(args, "serve") ? args_has(args, "output") : args_has(args, "port")) {
        return usage_error(args, "--port belongs to --serve, which writes no file");
    }
    TdlResult* result;
    TdlStatus status = tdl_result_open(args_host(args), source, &result);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    char output[PATH_BYTES], log_path[PATH_BYTES];
    default_output(source, output);
    find_log(source, log_path);
    ViewPage page = {
        .result = result, .log_path = log_path, .most_frames = args_int(args, "frames", 0)};
    int code = EXIT_FAILED;
    if (tdl_result_info(result).frame_count == 0) {
        fprintf(stderr, "%s: there is no frame to show yet\n", source);
        code = EXIT_INPUT;
    } else if (view_page_available() && args_has(args, "serve")) {
        code = serve_page(args, &page);
    } else if (view_page_available()) {
        code = write_page(args, &page, args_text(args, "output", output));
    }
    tdl_result_close(result);
    return code;
}

static const Option VIEW_OPTIONS[] = {
    {"output", 'o', OPTION_OUTPUT, "FILE", 0, 0, "the page; default DIR.html", false},
    {"frames", 'n', OPTION_INT, "N", 1, 1000000,
     "at most so many frames, evenly spread; default all", false},
    {"serve", 0, OPTION_SWITCH, NULL, 0, 0,
     "serve the page on this machine only, made anew on every reload, instead of writing it",
     false},
    {"port", 'p', OPTION_INT, "N", 1, 65535, "of --serve; default any that is free", false},
    {"open", 0, OPTION_SWITCH, NULL, 0, 0, "open it in the browser, by xdg-open", false},
    {0},
};

const Command VIEW_COMMAND = {
    .name = "view",
    .operands = "DIR",
    .summary = "Make a page that shows a result in a browser",
    .text = "The page is one file that needs no network: fibres, colliders and contacts in space, "
            "a time line, and a plot of every column of log.csv. Click a fibre to see its "
            "curvature; press ? for the keys.\nWorks while the run goes on. Coordinates are kept "
            "to 1/65535 of the scene's size. Of more than 30,000 grains one particle in so many is "
            "shown, larger, and told. DIR may also be a result.h5 on its own.",
    .example = "tendril view out/hanging-curl\ntendril view out/wisp -o wisp.html --frames 50\n"
               "tendril view out/wisp --serve --port 8080\ntendril view out/wisp --open",
    .options = VIEW_OPTIONS,
    .run = run_view,
};
