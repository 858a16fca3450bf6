// Connections to a server that have not asked for anything: they hold its threads. A watch cuts
// them off after a while, and sooner where there are many.
#ifndef TDL_APP_SILENT_H
#define TDL_APP_SILENT_H

#include <pthread.h>
#include <stdbool.h>

enum { SILENT_DESCRIPTORS = 512 };

// A socket that was seen.
typedef struct SilentSocket {
    int port; // of the other side; 0: none
    bool asked;
    double since;
} SilentSocket;

typedef struct Silent {
    pthread_mutex_t lock;
    pthread_cond_t left;
    pthread_t watch;
    bool watches, leaving;
    int port; // of the server
    SilentSocket sockets[SILENT_DESCRIPTORS];
} Silent;

// Watches the connections to a port of this process; false when no thread could be made.
bool silent_watch(Silent* silent, int port);

// The connection from a port has asked; it is cut off no more.
void silent_asked(Silent* silent, int port);

// Ends the watch; accepts one that never began, all zero.
void silent_end(Silent* silent);

#endif
