// A small HTTP server for one page, on this machine only. Whoever wants something must know the
// token, name this server as the host, and come from no other page. Pages may watch: they are sent
// what is published, each as fast as it takes it, and may say something.
#ifndef TDL_APP_SERVER_H
#define TDL_APP_SERVER_H

#include <stdbool.h>
#include <stdio.h>

// Enough for an address of any size.
enum { SERVER_URL_SIZE = 256 };

typedef struct Server Server;

typedef struct ServerDef {
    int port; // 0: any that is free
    // Writes the page; called by one thread at a time. False: the server answers 500.
    bool (*write_page)(void* user, FILE* out);
    // Words from a page that watches; called by threads of the server. Null: none may watch.
    void (*hear)(void* user, const char* words);
    void* user;
} ServerDef;

// Starts serving; says on stderr why it could not, and returns null.
Server* server_start(const ServerDef* def);

// Where the page is, token and all.
const char* server_url(const Server* server);

// How many pages watch.
int server_watcher_count(Server* server);

// Sends bytes to all that watch, without waiting for any: who is slow gets the latest, and misses
// those between. False when memory is short.
bool server_publish(Server* server, const void* bytes, size_t size);

// Ends all connections and waits for them; accepts null.
void server_stop(Server* server);

#endif
