// `tendril check` as a person or a script calls it: what it prints, and its exit codes.
#include "test.h"

#include <sys/wait.h>

static char said[16384]; // stdout and stderr of the last run

static int run(const char* arguments) {
    const char *command = getenv("TENDRIL_COMMAND"), *root = getenv("TENDRIL_SOURCE");
    char line[8192];
    snprintf(line, sizeof line, "cd '%s/scenes' && '%s' check %s 2>&1", root, command, arguments);
    FILE* pipe = popen(line, "r");
    size_t size = pipe == NULL ? 0 : fread(said, 1, sizeof said - 1, pipe);
    said[size] = '\0';
    int status = pipe == NULL ? -1 : pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool can_run(void) {
    return getenv("TENDRIL_COMMAND") != NULL && getenv("TENDRIL_SOURCE") != NULL;
}

TEST(good_scenes_are_described) {
    if (!can_run()) {
        SKIP("TENDRIL_COMMAND and TENDRIL_SOURCE are not set");
    }
    CHECK_INT(run("hanging-curl.yaml"), 0);
    CHECK(strstr(said, "A curl let go\n") == said);
    CHECK(strstr(said, "2 s in 2000 steps of 0.001 s") != NULL);
    CHECK(strstr(said, "1 with 12 elements, 36 degrees of freedom") != NULL);
    CHECK_INT(run("wisp.yaml --set rods.wisp.elements=4"), 0);
    CHECK(strstr(said, "2025 with 8100 elements, 24300 degrees of freedom") != NULL);
    CHECK_INT(run("whipped-cable.yaml"), 0);
    CHECK(strstr(said, "static equilibrium") != NULL);
}

TEST(bodies_colliders_and_contacts_are_described) {
    if (!can_run()) {
        SKIP("TENDRIL_COMMAND and TENDRIL_SOURCE are not set");
    }
    const char* sets = "hanging-curl.yaml --set 'bodies=[{name: ball, shape: sphere, radius: 1, "
                       "material: hair, repeat: {count: [2, 3, 1], spacing: [3, 3, 0]}}]' "
                       "--set 'colliders=[{name: comb, shape: comb, radius: 1e-3, length: 0.1, "
                       "teeth: 5, pitch: 0.01, velocity: [0, 0, -1]}]' "
                       "--set 'contacts={friction: 0.25, pairs: [{between: [hair, hair]}]}' "
                       "--set 'observe=[{force: comb}]'";
    char line[1024];
    CHECK_INT(run(sets), 0);
    CHECK(strstr(said, "  bodies     6\n    ball             6 x sphere, hair, 1000 kg/m^3\n"));
    CHECK(strstr(said, "    comb             comb, moving\n"));
    CHECK(strstr(said, "  contacts   curves, friction 0.25, restitution 0 but for 1 pairs of "
                       "materials\n"));
    CHECK(strstr(said, "  observed   in log.csv\n    force_comb       force, N\n"));
    snprintf(line, sizeof line, "%s --json", sets);
    CHECK_INT(run(line), 0);
    CHECK(strstr(said, "\"body_count\": 6"));
    CHECK(strstr(said, "\"bodies\": [{\"name\": \"ball\", \"shape\": \"sphere\", \"count\": 6, "
                       "\"density\": 1000, \"material\": \"hair\"}]"));
    CHECK(strstr(
        said,
        "\"contacts\": {\"detection\": \"curves\", \"response\": \"exact\", \"friction\": 0.25, "
        "\"restitution\": 0, \"pairs\": 1}"));
    CHECK(strstr(said, "\"moves\": true, \"material\": null}], \"observe\": [{\"name\": "
                       "\"force_comb\", \"quantity\": \"force\", \"unit\": \"N\"}]}"));
}

TEST(json_is_one_object) {
    if (!can_run()) {
        SKIP("TENDRIL_COMMAND and TENDRIL_SOURCE are not set");
    }
    CHECK_INT(run("wisp.yaml --json --set 'title=\"a \\\"b\\\" \\\\\"'"), 0);
    CHECK(strncmp(said, "{\"title\": \"a \\\"b\\\" \\\\\", \"step\": 0.001", 36) == 0);
    CHECK(strstr(said, "\"rod_count\": 2025, \"elements\": 16200, \"dofs\": 48600") != NULL);
    CHECK(strstr(said, "\"colliders\": [], \"observe\": []}\n") != NULL);
    int depth = 0, lines = 0;
    for (const char* c = said; *c != '\0'; ++c) {
        depth += (*c == '{') - (*c == '}');
        lines += *c == '\n';
    }
    CHECK(depth == 0 && lines == 1);
}

TEST(mistakes_end_with_their_exit_code) {
    if (!can_run()) {
        SKIP("TENDRIL_COMMAND and TENDRIL_SOURCE are not set");
    }
    CHECK_INT(run("none.yaml"), 3);
    CHECK_TEXT(said, "none.yaml: cannot be read: there is no such file\n");
    CHECK_INT(run("common/hair.yaml"), 3);
    CHECK(strstr(said, "common/hair.yaml:2:1: the scene needs the key 'time'") == said);
    CHECK_INT(run("wisp.yaml --set rods.wips.length=1"), 3);
    CHECK(strstr(said, "nothing in the list is named 'wips'; did you mean 'wisp'?") != NULL);
    CHECK_INT(run(""), 2);
    CHECK_INT(run("a.yaml b.yaml"), 2);
    CHECK_INT(run("wisp.yaml --st x=1"), 2);
}
