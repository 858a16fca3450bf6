// tendril run --live without a browser: what strangers and wild words cannot do to it. Pages in a
// browser are tested in tests/page.
#include "served.h"
#include "test.h"

#include <stdint.h>
#include <time.h>

static const char SCENE[] =
    "time: {step: 1e-3, end: 1000}\n"
    "output: {frame: 10, samples: 4}\n"
    "materials: [{name: rubber, young: 1e7, density: 1000, damping: 0.02, mass_damping: 2}]\n"
    "rods: [{name: a, material: rubber, length: 0.2, radius: 1e-3, elements: 4}]\n";
enum { TIP = 16 };

typedef struct Live {
    Scratch scratch;
    pid_t child;
    int port;
    char token[33];
} Live;

// False when the command has no page.
static bool begin(Live* live) {
    *live = (Live){.scratch = scratch_make()};
    scratch_write(scratch_path(&live->scratch, "scene.yaml"), SCENE, sizeof SCENE - 1);
    live->child = COMMAND_START(&live->scratch, "run", "scene.yaml", "--live", "-o", "run");
    if (served_address(&live->scratch, live->child, "stderr", &live->port, live->token)) {
        return true;
    }
    CHECK_INT(command_wait(live->child), 1);
    CHECK(command_wrote(&live->scratch, "stderr", "built without its page"));
    scratch_remove(&live->scratch);
    return false;
}

// Stopped from outside it ends with 1, if nothing ended it before.
static void end(Live* live) {
    kill(live->child, SIGINT);
    CHECK_INT(command_wait(live->child), 1);
    CHECK(command_wrote(&live->scratch, "stderr", "stopped at step"));
    scratch_remove(&live->scratch);
}

static int ask_page(const Live* live) {
    char text[256];
    snprintf(text, sizeof text, "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
             live->token, live->port);
    return served_ask(live->port, text);
}

// --- a page by hand ------------------------------------------------------------------------------

static int watch(const Live* live) {
    char text[512], byte;
    int fd = served_connect(live->port);
    snprintf(text, sizeof text,
             "GET /live?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
             "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
             "Sec-WebSocket-Version: 13\r\n\r\n",
             live->token, live->port);
    send(fd, text, strlen(text), MSG_NOSIGNAL);
    // the answer, up to an empty line
    int line = 0;
    for (int lines = 0; lines < 64 && recv(fd, &byte, 1, 0) == 1;) {
        if (byte == '\n') {
            if (line == 0) {
                return fd;
            }
            line = 0;
            ++lines;
        } else {
            line += byte != '\r';
        }
    }
    close(fd);
    return -1;
}

// A frame of text, masked as the protocol wants it: here with zeros.
static void say(int fd, const char* words) {
    unsigned char frame[128] = {0x81, (unsigned char)(0x80 | strlen(words))};
    memcpy(frame + 6, words, strlen(words));
    send(fd, frame, 6 + strlen(words), MSG_NOSIGNAL);
}

static bool read_all(int fd, void* out, size_t size) {
    return recv(fd, out, size, MSG_WAITALL) == (ssize_t)size;
}

// What a message begins with (src/app/live.c).
typedef struct Shown {
    double paused, speed, gravity[3], mu, columns, time;
} Shown;

static bool next_message(int fd, Shown* shown) {
    unsigned char head[2], more[8];
    char rest[4096];
    if (!read_all(fd, head, 2) || (head[0] & 0xf) != 2) {
        return false;
    }
    size_t size = head[1] & 127, bytes = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (bytes > 0) {
        size = 0;
        if (!read_all(fd, more, bytes)) {
            return false;
        }
        for (size_t i = 0; i < bytes; ++i) {
            size = size << 8 | more[i];
        }
    }
    if (size < sizeof *shown || !read_all(fd, shown, sizeof *shown)) {
        return false;
    }
    for (size -= sizeof *shown; size > 0;) {
        size_t part = size < sizeof rest ? size : sizeof rest;
        if (!read_all(fd, rest, part)) {
            return false;
        }
        size -= part;
    }
    return true;
}

// Messages until one shows the run (not) paused; false when they end before.
static bool wait_paused(int fd, bool paused, Shown* shown) {
    while (next_message(fd, shown)) {
        if ((shown->paused != 0.0) == paused) {
            return true;
        }
    }
    return false;
}

static bool wait_time(int fd, double time) {
    Shown shown;
    while (next_message(fd, &shown)) {
        if (shown.time >= time) {
            return true;
        }
    }
    return false;
}

// --- tests ---------------------------------------------------------------------------------------

// A hundred connections that say nothing, or do not end their header; every thread of the server
// would wait ten seconds for each.
TEST(silent_connections_do_not_keep_the_page) {
    enum { COUNT = 100 };
    Live live;
    if (!begin(&live)) {
        SKIP("the page is not in this build");
    }
    int silent[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        silent[i] = served_connect(live.port);
        CHECK(silent[i] >= 0);
        if (i % 2 == 0) {
            send(silent[i], "GET / HTTP/1.1\r\nHost:", 21, MSG_NOSIGNAL);
        }
    }
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < 3; ++i) {
        CHECK_INT(ask_page(&live), 200);
    }
    int fd = watch(&live);
    Shown shown;
    CHECK(fd >= 0 && next_message(fd, &shown));
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK_BELOW((double)(after.tv_sec - before.tv_sec), 30.0); // 80 and more if it waited for them
    // who was let in is not cut off for them
    for (int i = 0; i < COUNT; ++i) {
        close(silent[i]);
        silent[i] = served_connect(live.port);
    }
    CHECK(next_message(fd, &shown) && wait_time(fd, shown.time + 0.05));
    for (int i = 0; i < COUNT; ++i) {
        close(silent[i]);
    }
    close(fd);
    end(&live);
}

TEST(wild_words_do_not_end_a_run) {
    Live live;
    if (!begin(&live)) {
        SKIP("the page is not in this build");
    }
    int fd = watch(&live);
    REQUIRE(fd >= 0);
    say(fd, "speed 100");
    say(fd, "gravity 0 0 1e308");
    say(fd, "friction 1e308");
    say(fd, "speed 1e308");
    say(fd, "grab 16 1e308 0 0");
    say(fd, "grab 2000000000 0 0 0");
    say(fd, "pause");
    Shown shown;
    REQUIRE(wait_paused(fd, true, &shown));
    CHECK_NEAR(shown.gravity[2], -9.81, 0.0);
    CHECK_NEAR(shown.speed, 100.0, 0.0);
    // the worst that is heard: the run goes on
    say(fd, "grab 16 1000 1000 1000");
    say(fd, "gravity 300 300 300");
    say(fd, "friction 10");
    say(fd, "play");
    REQUIRE(wait_paused(fd, false, &shown));
    CHECK(wait_time(fd, shown.time + 0.1));
    say(fd, "grab 0 -1000 1000 -1000"); // its held end
    CHECK(wait_time(fd, shown.time + 0.3));
    close(fd);
    end(&live);
}
