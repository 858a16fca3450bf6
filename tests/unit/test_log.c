#include "base/log.h"
#include "test.h"

static void keep(void* user, TdlLogLevel level, const char* message) {
    snprintf(user, 64, "%d %s", (int)level, message);
}

TEST(the_library_is_silent_unless_asked) {
    TdlHost host = tdl_host_default();
    tdl_log(&host, TDL_LOG_ERROR, "nobody hears %d", 1);
    char heard[64] = "";
    host.log = keep;
    host.log_user = heard;
    tdl_log(&host, TDL_LOG_DEBUG, "too fine");
    CHECK_TEXT(heard, "");
    CHECK_INT(tdl_fail(&host, TDL_STATUS_IO, "no %s", "disk"), TDL_STATUS_IO);
    CHECK_TEXT(heard, "0 no disk");
}

TEST(every_status_has_words) {
    for (int s = TDL_STATUS_OK; s <= TDL_STATUS_STOPPED; ++s) {
        CHECK(strcmp(tdl_status_string((TdlStatus)s), "unknown status") != 0);
    }
    CHECK(strchr(tdl_version(), '.') != NULL);
}
