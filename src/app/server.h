// A small HTTP server for one page, on this machine only unless asked otherwise. Whoever wants
// something must know the token, name this server as the host, and come from no other page.
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
    void* user;
} ServerDef;

// Starts serving; says on stderr why it could not, and returns null.
Server* server_start(const ServerDef* def);

// Where the page is, token and all.
const char* server_url(const Server* server);

// Ends all connections and waits for them; accepts null.
void server_stop(Server* server);

#endif
