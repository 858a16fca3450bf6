// tendril view as a user meets it: what it writes, what it refuses, and what it serves to whom.
// What a browser shows is tested in tests/page.
#include "command.h"
#include "run_folder.h"
#include "served.h"

// HDF5 loses some of its own memory on damaged files.
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

static Scratch scratch_with_run(void) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    int code = COMMAND(&scratch, "run", "scene.yaml", "-q", "-o", "run");
    if (code != 0) {
        FAIL("the run ended with %d", code);
    }
    return scratch;
}

static bool page_left_out(const Scratch* scratch) {
    if (COMMAND(scratch, "view", "run", "-o", "try.html") == 1 &&
        command_wrote(scratch, "stderr", "built without its page")) {
        CHECK(access(scratch_path(scratch, "try.html"), F_OK) != 0);
        return true;
    }
    unlink(scratch_path(scratch, "try.html"));
    return false;
}

static bool page_holds(const Scratch* scratch, const char* name, const char* text) {
    char* page = scratch_read(scratch_path(scratch, name), NULL);
    bool found = page != NULL && strstr(page, text) != NULL;
    free(page);
    return found;
}

// Puts a program named xdg-open first on the path: a script that ends so.
static void fake_opener(const Scratch* scratch, const char* body) {
    char text[1024], path[4096];
    int size = snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    mkdir(scratch_path(scratch, "bin"), 0755);
    scratch_write(scratch_path(scratch, "bin/xdg-open"), text, (size_t)size);
    chmod(scratch_path(scratch, "bin/xdg-open"), 0755);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", scratch_path(scratch, "bin"));
    setenv("PATH", path, 1);
}

TEST(opens_the_page) {
    Scratch scratch = scratch_with_run();
    if (page_left_out(&scratch)) {
        scratch_remove(&scratch);
        SKIP("the page is not in this build");
    }
    const char* before = getenv("PATH");
    char* path = strdup(before == NULL ? "" : before);
    fake_opener(&scratch, "echo \"$# $1\" >opened");
    CHECK_INT(COMMAND(&scratch, "view", "run", "-o", "a b.html", "--open"), 0);
    CHECK(command_wrote(&scratch, "opened", "1 a b.html"));
    fake_opener(&scratch, "exit 3");
    CHECK_INT(COMMAND(&scratch, "view", "run", "--open"), 1);
    CHECK(command_wrote(&scratch, "stderr", "run.html: could not be opened: xdg-open found no"));
    CHECK(page_holds(&scratch, "run.html", "</html>")); // it is there all the same
    setenv("PATH", scratch_path(&scratch, "run"), 1);
    CHECK_INT(COMMAND(&scratch, "view", "run", "--open"), 1);
    CHECK(command_wrote(&scratch, "stderr", "could not be opened: xdg-open: No such file"));
    setenv("PATH", path, 1);
    free(path);
    scratch_remove(&scratch);
}

TEST(a_build_without_its_page_says_so) {
    Scratch scratch = scratch_with_run();
    const char* without = getenv("TENDRIL_WITHOUT_PAGE");
    REQUIRE(without != NULL);
    char* with = strdup(getenv("TENDRIL_COMMAND"));
    setenv("TENDRIL_COMMAND", without, 1);
    CHECK(page_left_out(&scratch));
    CHECK_INT(COMMAND(&scratch, "view", "run", "--serve"), 1);
    CHECK(command_wrote(&scratch, "stderr", "built without its page, for want of node and npm"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "--live", "-o", "live"), 1);
    CHECK(command_wrote(&scratch, "stderr", "built without its page"));
    CHECK(access(scratch_path(&scratch, "live"), F_OK) != 0);
    // and does everything else
    CHECK_INT(COMMAND(&scratch, "render", "run", "-o", "a.svg", "-q"), 0);
    setenv("TENDRIL_COMMAND", with, 1);
    free(with);
    scratch_remove(&scratch);
}

TEST(writes_a_page_with_all_there_is) {
    Scratch scratch = scratch_with_run();
    if (page_left_out(&scratch)) {
        scratch_remove(&scratch);
        SKIP("the page is not in this build");
    }
    CHECK_INT(COMMAND(&scratch, "view", "run/", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "{\"page\": \"run.html\", \"bytes\": "));
    CHECK(command_wrote(&scratch, "stdout", "\"frames\": 21, \"rods\": 3, \"points\": 63}"));
    CHECK(page_holds(&scratch, "run.html", "\"title\":\"three rods and a ball\""));
    CHECK(page_holds(&scratch, "run.html", "\"point_start\":[0,25,42,63]"));
    CHECK(page_holds(&scratch, "run.html", "\"shape\":\"sphere\",\"size\":[0.05,0,0]"));
    CHECK(page_holds(&scratch, "run.html", "id=\"tendril-frame-20\""));
    CHECK(!page_holds(&scratch, "run.html", "id=\"tendril-frame-21\""));
    CHECK(page_holds(&scratch, "run.html", "</html>"));
    // fewer frames, from the file alone
    CHECK_INT(COMMAND(&scratch, "view", "run/result.h5", "-o", "few.html", "--frames", "5"), 0);
    CHECK(page_holds(&scratch, "few.html", "\"times\":[0,0.05,0.1,0.15,0.2]"));
    CHECK(access(scratch_path(&scratch, "few.html.part"), F_OK) != 0);
    scratch_remove(&scratch);
}

TEST(titles_cannot_break_out) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-q", "-o", "run", "--set", "time.end=0.01",
                      "--set", "title='</script><script>alert(1)</script>\"'"),
              0);
    if (page_left_out(&scratch)) {
        scratch_remove(&scratch);
        SKIP("the page is not in this build");
    }
    CHECK_INT(COMMAND(&scratch, "view", "run"), 0);
    CHECK(!page_holds(&scratch, "run.html", "alert(1)</script>"));
    CHECK(page_holds(&scratch, "run.html", "\\u003cscript>alert(1)"));
    scratch_remove(&scratch);
}

// --- what is refused -----------------------------------------------------------------------------

// Each is refused with 3 and one line that names the file; the page from before stays.
static void refuse(const Scratch* scratch, const char* path, const char* said) {
    const char* page = scratch_path(scratch, "old.html");
    scratch_write(page, "old", 3);
    CHECK_INT(COMMAND(scratch, "view", path, "-o", "old.html"), 3);
    CHECK(command_wrote(scratch, "stderr", said));
    char* heard = scratch_read(scratch_path(scratch, "stderr"), NULL);
    CHECK(strstr(heard, path) != NULL && strchr(heard, '\n') == strrchr(heard, '\n'));
    free(heard);
    char* kept = scratch_read(page, NULL);
    CHECK_TEXT(kept, "old");
    free(kept);
    CHECK(access(scratch_path(scratch, "old.html.part"), F_OK) != 0);
}

static void set_version(const char* path, int version) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
    CHECK(H5Awrite(attribute, H5T_NATIVE_INT, &version) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
}

TEST(refuses_what_is_cut_newer_or_not_ours) {
    Scratch scratch = scratch_with_run();
    size_t size;
    char* good = scratch_read(scratch_path(&scratch, "run/result.h5"), &size);
    const char* path = scratch_path(&scratch, "bad.h5");
    // cut at many places: refused, or, where only unused space is missing, shown whole
    int refused = 0;
    for (int part = 1; part < 16; ++part) {
        scratch_write(path, good, size * (size_t)part / 16);
        int code = COMMAND(&scratch, "view", "bad.h5", "-q", "-o", "cut.html");
        CHECK(code == 3 || code == 0 || code == 1);
        refused += code == 3;
    }
    CHECK(refused >= 12);
    scratch_write(path, good, size / 2);
    refuse(&scratch, "bad.h5", "not a result of Tendril, or damaged");
    // newer
    scratch_write(path, good, size);
    set_version(path, 1000);
    refuse(&scratch, "bad.h5", "has format version 1000; this Tendril");
    // others
    scratch_write(path, "not HDF5", 8);
    refuse(&scratch, "bad.h5", "not a result of Tendril");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    refuse(&scratch, "bad.h5", "an HDF5 file, but not a result of Tendril");
    refuse(&scratch, "nowhere", "could not be opened");
    free(good);
    CHECK_INT(COMMAND(&scratch, "view"), 2);
    CHECK_INT(COMMAND(&scratch, "view", "run", "--port", "80"), 2);
    CHECK_INT(COMMAND(&scratch, "view", "run", "--frames", "0"), 2);
    if (!page_left_out(&scratch)) {
        CHECK_INT(COMMAND(&scratch, "view", "run", "-o", "no/such/folder.html"), 1);
    }
    scratch_remove(&scratch);
}

// --- serving -------------------------------------------------------------------------------------

TEST(serves_only_who_knows_the_token_and_comes_from_here) {
    Scratch scratch = scratch_with_run();
    if (page_left_out(&scratch)) {
        scratch_remove(&scratch);
        SKIP("the page is not in this build");
    }
    pid_t child = COMMAND_START(&scratch, "view", "run", "--serve", "--json");
    int port = 0;
    char token[33] = "";
    REQUIRE(served_address(&scratch, child, "stdout", &port, token));
    char text[512];
#define ASK(path, host, more)                                                                      \
    (snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: " host "\r\n" more "\r\n", path, port), \
     served_ask(port, text))
    char right[64], wrong[64];
    snprintf(right, sizeof right, "/?token=%s", token);
    snprintf(wrong, sizeof wrong, "/?token=%.31s%c", token, token[31] == '0' ? '1' : '0');
    CHECK_INT(ASK(right, "127.0.0.1:%d", ""), 200);
    CHECK_INT(ASK(right, "localhost:%d", ""), 200);
    CHECK_INT(ASK(wrong, "127.0.0.1:%d", ""), 403);
    CHECK_INT(ASK("/", "127.0.0.1:%d", ""), 403);
    CHECK_INT(ASK("/etc/passwd", "127.0.0.1:%d", ""), 403);
    CHECK_INT(ASK(right, "evil.example:%d", ""), 403);
    CHECK_INT(ASK(right, "127.0.0.1:%d", "Origin: http://evil.example\r\n"), 403);
    CHECK_INT(ASK(right, "127.0.0.1:%d", "Origin: null\r\n"), 403);
    // of two, whichever is looked at
    CHECK_INT(ASK(right, "127.0.0.1:%d", "Host: evil.example\r\n"), 403);
    CHECK_INT(ASK(right, "127.0.0.1:%d", "hOST: 127.0.0.1\r\n"), 403);
    CHECK_INT(ASK(right, "evil.example\r\nHost: 127.0.0.1:%d", ""), 403);
    kill(child, SIGTERM);
    CHECK_INT(command_wait(child), 0);
    scratch_remove(&scratch);
}
