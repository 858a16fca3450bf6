// The command bench inverse as a user meets it. Times are not judged here.
#include "command.h"
#include "test.h"

TEST(every_row_is_told_and_bad_calls_are_refused) {
    static const char* const NAMES[] = {
        "between_1.2",         "fit",         "fit_least_squares", "fit_cross_validation",
        "rest_super-clothoid", "factors_der", "strands_factors"};
    Scratch scratch = scratch_make();
    CHECK_INT(COMMAND(&scratch, "bench", "inverse", "-n", "3", "-s", "0.001", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "{\"strands\": 3, \"points\": 100, "));
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; ++i) {
        char text[64];
        snprintf(text, sizeof text, "{\"name\": \"%s\", ", NAMES[i]);
        CHECK(command_wrote(&scratch, "stdout", text));
    }
    CHECK_INT(COMMAND(&scratch, "bench", "inverse", "-n", "1", "-s", "0.001"), 0);
    CHECK(command_wrote(&scratch, "stdout", "1 strands of 100 points and 99 elements"));
    CHECK_INT(COMMAND(&scratch, "bench", "inverse", "-n", "0"), 2);
    scratch_remove(&scratch);
}
