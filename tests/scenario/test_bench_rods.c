// The command bench rods as a user meets it. Times are not judged here.
#include "command.h"
#include "test.h"

TEST(a_bench_prints_every_size_and_bad_calls_are_refused) {
    Scratch scratch = scratch_make();
    CHECK_INT(COMMAND(&scratch, "bench", "rods", "-s", "0.001", "-m", "super-helix", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "{\"elements\": 1000, \"seconds\": "));
    CHECK(command_wrote(&scratch, "stdout", "\"one_of_64\": "));
    CHECK(command_wrote(&scratch, "stdout", "\"hairs_2025_seconds\": "));
    CHECK_INT(COMMAND(&scratch, "bench", "rods", "-s", "0.001", "-e", "12", "--markdown"), 0);
    CHECK(command_wrote(&scratch, "stdout", "| super-helix, one of 64 | - | "));
    CHECK(command_wrote(&scratch, "stdout", "2025 hairs of 12 elements take "));
    CHECK_INT(COMMAND(&scratch, "bench", "rods", "-s", "0.001", "-e", "5", "-n", "6"), 0);
    CHECK(command_wrote(&scratch, "stdout", "dense / linear"));
    CHECK_INT(COMMAND(&scratch, "bench", "rods", "-m", "super"), 2);
    CHECK(command_wrote(&scratch, "stderr", "super-helix"));
    CHECK_INT(COMMAND(&scratch, "bench", "rods", "-e", "7"), 2);
    CHECK_INT(COMMAND(&scratch, "bench", "rods", "-n", "0"), 2);
    scratch_remove(&scratch);
}

TEST(accuracy_is_written_for_every_size) {
    Scratch scratch = scratch_make();
    CHECK_INT(COMMAND(&scratch, "bench", "rods", "-m", "super-helix", "-a", "a.csv"), 0);
    char* text = scratch_read(scratch_path(&scratch, "a.csv"), NULL);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "model,elements,relative_error,seconds") == text);
    CHECK(strstr(text, "super-helix,48,3.") != NULL); // 3.2e-4
    free(text);
    text = scratch_read(scratch_path(&scratch, "a.svg"), NULL);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "<title>super-helix</title>") != NULL);
    free(text);
    scratch_remove(&scratch);
}
