// For tests that talk to a server of the command: `tendril view --serve`, `tendril run --live`.
#ifndef TDL_TEST_SERVED_H
#define TDL_TEST_SERVED_H

#include "command.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>

// A minute is long on any machine; what is waited for comes in a fraction of a second.
enum { SERVED_PATIENCE = 60 };

// Waits for the address that a running command prints to one of its streams; false when it ends
// without.
static inline bool served_address(const Scratch* scratch, pid_t child, const char* stream,
                                  int* port, char token[33]) {
    for (;;) {
        bool ended = command_ended(child);
        char* text = scratch_read(scratch_path(scratch, stream), NULL);
        const char* at = text == NULL ? NULL : strstr(text, "http://127.0.0.1:");
        bool found = at != NULL &&
                     sscanf(at, "http://127.0.0.1:%d/?token=%32[0-9a-f]", port, token) == 2 &&
                     strlen(token) == 32;
        free(text);
        if (found || ended) {
            return found;
        }
        poll(NULL, 0, 5);
    }
}

// A connection, whose reads end after the patience of a test.
static inline int served_connect(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = SERVED_PATIENCE};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr*)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

// Sends a request and returns the status of the answer; -1 when there is none.
static inline int served_ask(int port, const char* request) {
    int fd = served_connect(port);
    char answer[64] = {0};
    int status = -1;
    if (fd >= 0 && send(fd, request, strlen(request), MSG_NOSIGNAL) > 0 &&
        recv(fd, answer, sizeof answer - 1, MSG_WAITALL) > 0) {
        sscanf(answer, "HTTP/1.1 %d", &status);
    }
    close(fd);
    return status;
}

#endif
