// The server's library has one time for all that a connection may wait for, and tells nothing of
// those that have not asked yet. So the watch looks for them among the descriptors of the process,
// ten times a second.
#include "app/silent.h"

#include <arpa/inet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

static const double LOOK_SECONDS = 0.1;

// The header of a page that is really there comes in a millisecond, on a busy machine in a tenth of
// a second; a browser may also connect early and ask later, and connects again when cut off.
static const double MOST_SECONDS = 3.0, CROWDED_SECONDS = 1.0;
enum { CROWD = 8 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1.0e-9 * (double)time.tv_nsec;
}

static int port_of(int (*name)(int, struct sockaddr*, socklen_t*), int fd) {
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    bool found = name(fd, (struct sockaddr*)&address, &size) == 0 && address.sin_family == AF_INET;
    return found ? ntohs(address.sin_port) : 0;
}

// Whether something was said that nobody has read: it waits for a thread, not a thread for it.
static bool waits_in_line(int fd) {
    int unread = 0;
    return ioctl(fd, FIONREAD, &unread) == 0 && unread > 0;
}

// Notes which connections there are; returns how many have not asked.
static int look(Silent* silent, double time) {
    int count = 0;
    for (int fd = 3; fd < SILENT_DESCRIPTORS; ++fd) {
        SilentSocket* seen = &silent->sockets[fd];
        int port = port_of(getsockname, fd) == silent->port ? port_of(getpeername, fd) : 0;
        if (port != seen->port || (port != 0 && !seen->asked && waits_in_line(fd))) {
            *seen = (SilentSocket){.port = port, .since = time};
        }
        count += port != 0 && !seen->asked;
    }
    return count;
}

// Whoever reads from those cut off finds their end, and closes them.
static void cut_off(const Silent* silent, double before) {
    for (int fd = 3; fd < SILENT_DESCRIPTORS; ++fd) {
        const SilentSocket* seen = &silent->sockets[fd];
        if (seen->port != 0 && !seen->asked && seen->since <= before) {
            shutdown(fd, SHUT_RDWR);
        }
    }
}

static void* watch(void* user) {
    Silent* silent = user;
    pthread_mutex_lock(&silent->lock);
    while (!silent->leaving) {
        double time = now();
        int count = look(silent, time);
        cut_off(silent, time - (count > CROWD ? CROWDED_SECONDS : MOST_SECONDS));
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        long nanoseconds = until.tv_nsec + (long)(LOOK_SECONDS * 1.0e9);
        until.tv_sec += nanoseconds / 1000000000;
        until.tv_nsec = nanoseconds % 1000000000;
        pthread_cond_timedwait(&silent->left, &silent->lock, &until);
    }
    pthread_mutex_unlock(&silent->lock);
    return NULL;
}

bool silent_watch(Silent* silent, int port) {
    silent->port = port;
    pthread_mutex_init(&silent->lock, NULL);
    pthread_cond_init(&silent->left, NULL);
    silent->watches = pthread_create(&silent->watch, NULL, watch, silent) == 0;
    return silent->watches;
}

void silent_asked(Silent* silent, int port) {
    pthread_mutex_lock(&silent->lock);
    look(silent, now());
    for (int fd = 3; fd < SILENT_DESCRIPTORS; ++fd) {
        if (silent->sockets[fd].port == port) {
            silent->sockets[fd].asked = true;
        }
    }
    pthread_mutex_unlock(&silent->lock);
}

void silent_end(Silent* silent) {
    if (!silent->watches) {
        return;
    }
    pthread_mutex_lock(&silent->lock);
    silent->leaving = true;
    pthread_cond_signal(&silent->left);
    pthread_mutex_unlock(&silent->lock);
    pthread_join(silent->watch, NULL);
    pthread_cond_destroy(&silent->left);
    pthread_mutex_destroy(&silent->lock);
    silent->watches = false;
}
