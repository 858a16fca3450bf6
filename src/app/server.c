// Serving over civetweb.
//
// A page in a browser may send requests to any address, this machine's included. Three checks keep
// others out: the token, which only the user was told; the Host header, which a name that was made
// to point here does not match; and the Origin header, which a browser sets to the page that asks.
//
// Whoever connects and does not ask holds a thread, but not for long (silent.h), so that the page
// reaches its owner however many others wait.
#include "app/server.h"

#include "app/silent.h"

#include <civetweb.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { TOKEN_SIZE = 33, HOST_SIZE = 64, MOST_WATCHERS = 6, WORDS_SIZE = 256 };

// Published bytes; the last who holds them frees them.
typedef struct Message {
    int holders;
    size_t size;
    unsigned char bytes[];
} Message;

// A page that watches, with a thread that sends.
typedef struct Watcher {
    Server* server;
    struct mg_connection* connection; // null: the place is free
    pthread_t sender;
    bool leaving;
} Watcher;

struct Server {
    ServerDef def;
    struct mg_context* context;
    pthread_mutex_t writing;
    pthread_mutex_t watching; // guards what follows
    pthread_cond_t news;
    Watcher watchers[MOST_WATCHERS];
    int watcher_count;
    Silent silent; // has a lock of its own
    Message* latest;
    long number; // of messages published
    int port;
    char token[TOKEN_SIZE];
    char url[SERVER_URL_SIZE];
};

static bool make_token(char out[TOKEN_SIZE]) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        return false;
    }
    for (int i = 0; i < 16; ++i) {
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

// --- who may ask ---------------------------------------------------------------------------------

static bool is_our_host(const Server* server, const char* host) {
    char own[HOST_SIZE], name[HOST_SIZE];
    snprintf(own, sizeof own, "127.0.0.1:%d", server->port);
    snprintf(name, sizeof name, "localhost:%d", server->port);
    return host != NULL && (strcmp(host, own) == 0 || strcmp(host, name) == 0);
}

static bool has_token(const Server* server, const struct mg_request_info* request) {
    char given[TOKEN_SIZE + 1] = {0};
    const char* query = request->query_string == NULL ? "" : request->query_string;
    if (mg_get_var(query, strlen(query), "token", given, sizeof given) != TOKEN_SIZE - 1) {
        return false;
    }
    unsigned char difference = 0; // the same time for any wrong token
    for (int i = 0; i < TOKEN_SIZE - 1; ++i) {
        difference = (unsigned char)(difference | (given[i] ^ server->token[i]));
    }
    return difference == 0;
}

static int count_headers(const struct mg_request_info* request, const char* name) {
    int count = 0;
    for (int i = 0; i < request->num_headers; ++i) {
        count += strcasecmp(request->http_headers[i].name, name) == 0;
    }
    return count;
}

// Of two Hosts or Origins one could be looked at and the other meant.
static bool may_ask(const Server* server, const struct mg_connection* connection) {
    const struct mg_request_info* request = mg_get_request_info(connection);
    const char* origin = mg_get_header(connection, "Origin");
    bool from_us =
        origin == NULL || (strncmp(origin, "http://", 7) == 0 && is_our_host(server, origin + 7));
    return from_us && count_headers(request, "Host") == 1 &&
           count_headers(request, "Origin") <= 1 &&
           is_our_host(server, mg_get_header(connection, "Host")) && has_token(server, request);
}

// --- answers -------------------------------------------------------------------------------------

static int refuse(struct mg_connection* connection, int code, const char* why) {
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
              "Connection: close\r\n\r\n%s\n",
              code,
              code == 403   ? "Forbidden"
              : code == 404 ? "Not Found"
                            : "Error",
              strlen(why) + 1, why);
    return code;
}

static void send_page(struct mg_connection* connection, const char* page, size_t size) {
    mg_printf(connection,
              "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
              "Content-Length: %zu\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
              "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
              size);
    enum { PIECE = 1 << 20 };
    for (size_t sent = 0; sent < size; sent += PIECE) {
        size_t left = size - sent;
        if (mg_write(connection, page + sent, left < PIECE ? left : PIECE) <= 0) {
            return; // whoever asked has gone
        }
    }
}

static int answer(struct mg_connection* connection, void* user) {
    Server* server = user;
    const struct mg_request_info* request = mg_get_request_info(connection);
    if (!may_ask(server, connection)) {
        return refuse(connection, 403, "This page needs the whole address that tendril printed.");
    }
    if (strcmp(request->request_method, "GET") != 0 || strcmp(request->local_uri, "/") != 0) {
        return refuse(connection, 404, "There is nothing here.");
    }
    char* page = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&page, &size);
    bool good = memory != NULL;
    pthread_mutex_lock(&server->writing);
    good = good && server->def.write_page(server->def.user, memory);
    pthread_mutex_unlock(&server->writing);
    good = (memory == NULL || fclose(memory) == 0) && good;
    if (good) {
        send_page(connection, page, size);
    }
    free(page);
    return good ? 200 : refuse(connection, 500, "The page could not be made; see the terminal.");
}

// --- pages that watch ----------------------------------------------------------------------------

static void release(Message* message) {
    if (message != NULL && --message->holders == 0) {
        free(message);
    }
}

// Waits for news and sends them; the simulation never waits for this.
static void* send_news(void* user) {
    Watcher* watcher = user;
    Server* server = watcher->server;
    long sent = 0;
    pthread_mutex_lock(&server->watching);
    while (!watcher->leaving) {
        if (server->number == sent || server->latest == NULL) {
            pthread_cond_wait(&server->news, &server->watching);
            continue;
        }
        sent = server->number;
        Message* message = server->latest;
        ++message->holders;
        pthread_mutex_unlock(&server->watching);
        int written = mg_websocket_write(watcher->connection, MG_WEBSOCKET_OPCODE_BINARY,
                                         (const char*)message->bytes, message->size);
        pthread_mutex_lock(&server->watching);
        release(message);
        watcher->leaving = watcher->leaving || written <= 0;
    }
    pthread_mutex_unlock(&server->watching);
    return NULL;
}

// Before the handshake: 0 lets the page in.
static int admit(const struct mg_connection* connection, void* user) {
    Server* server = user;
    struct mg_connection* answering = (struct mg_connection*)(uintptr_t)connection;
    if (!may_ask(server, connection)) {
        refuse(answering, 403, "This page needs the whole address that tendril printed.");
        return 1;
    }
    if (server_watcher_count(server) >= MOST_WATCHERS) {
        refuse(answering, 503, "Too many pages watch already.");
        return 1;
    }
    return 0;
}

static void begin_watching(struct mg_connection* connection, void* user) {
    Server* server = user;
    pthread_mutex_lock(&server->watching);
    for (int i = 0; i < MOST_WATCHERS; ++i) {
        Watcher* watcher = &server->watchers[i];
        if (watcher->connection == NULL) {
            *watcher = (Watcher){.server = server, .connection = connection};
            if (pthread_create(&watcher->sender, NULL, send_news, watcher) == 0) {
                mg_set_user_connection_data(connection, watcher);
                ++server->watcher_count;
            } else {
                watcher->connection = NULL;
            }
            break;
        }
    }
    pthread_mutex_unlock(&server->watching);
}

static int hear(struct mg_connection* connection, int bits, char* data, size_t size, void* user) {
    Server* server = user;
    (void)connection;
    char words[WORDS_SIZE];
    int kind = bits & 0xf;
    if (kind == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) {
        return 0;
    }
    if (kind == MG_WEBSOCKET_OPCODE_TEXT) {
        if (size >= sizeof words) {
            return 0; // not one of our pages
        }
        memcpy(words, data, size);
        words[size] = '\0';
        server->def.hear(server->def.user, words);
    }
    return 1;
}

static void end_watching(const struct mg_connection* connection, void* user) {
    Server* server = user;
    Watcher* watcher = mg_get_user_connection_data(connection);
    if (watcher == NULL) {
        return;
    }
    pthread_mutex_lock(&server->watching);
    watcher->leaving = true;
    pthread_cond_broadcast(&server->news);
    pthread_mutex_unlock(&server->watching);
    pthread_join(watcher->sender, NULL);
    pthread_mutex_lock(&server->watching);
    watcher->connection = NULL;
    --server->watcher_count;
    pthread_mutex_unlock(&server->watching);
}

int server_watcher_count(Server* server) {
    pthread_mutex_lock(&server->watching);
    int count = server->watcher_count;
    pthread_mutex_unlock(&server->watching);
    return count;
}

bool server_publish(Server* server, const void* bytes, size_t size) {
    Message* message = malloc(sizeof *message + size);
    if (message == NULL) {
        return false;
    }
    message->holders = 1;
    message->size = size;
    memcpy(message->bytes, bytes, size);
    pthread_mutex_lock(&server->watching);
    release(server->latest);
    server->latest = message;
    ++server->number;
    pthread_cond_broadcast(&server->news);
    pthread_mutex_unlock(&server->watching);
    return true;
}

// --- life ----------------------------------------------------------------------------------------

static int be_quiet(const struct mg_connection* connection, const char* message) {
    (void)connection;
    (void)message;
    return 1;
}

static int begin_request(struct mg_connection* connection) {
    Server* server = mg_get_user_data(mg_get_context(connection));
    silent_asked(&server->silent, mg_get_request_info(connection)->remote_port);
    return 0;
}

static bool listen_on(Server* server) {
    char ports[32];
    snprintf(ports, sizeof ports, "127.0.0.1:%d", server->def.port);
    const char* options[] = {
        "listening_ports",          ports, "num_threads", "32", "request_timeout_ms", "10000",
        "enable_directory_listing", "no",  NULL};
    struct mg_callbacks callbacks = {.log_message = be_quiet, .begin_request = begin_request};
    struct mg_server_port port;
    mg_init_library(MG_FEATURES_DEFAULT);
    server->context = mg_start(&callbacks, server, options);
    if (server->context == NULL || mg_get_server_ports(server->context, 1, &port) != 1) {
        return false;
    }
    server->port = port.port;
    if (!silent_watch(&server->silent, server->port)) {
        return false;
    }
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d/?token=%s", server->port,
             server->token);
    mg_set_request_handler(server->context, "/", answer, server);
    if (server->def.hear != NULL) {
        mg_set_websocket_handler(server->context, "/live", admit, begin_watching, hear,
                                 end_watching, server);
    }
    return true;
}

Server* server_start(const ServerDef* def) {
    Server* server = calloc(1, sizeof *server);
    if (server == NULL) {
        fprintf(stderr, "out of memory\n");
        return NULL;
    }
    server->def = *def;
    pthread_mutex_init(&server->writing, NULL);
    pthread_mutex_init(&server->watching, NULL);
    pthread_cond_init(&server->news, NULL);
    if (!make_token(server->token) || !listen_on(server)) {
        fprintf(stderr, "could not listen on port %d of this machine; is it taken?\n", def->port);
        server_stop(server);
        return NULL;
    }
    return server;
}

const char* server_url(const Server* server) {
    return server->url;
}

void server_stop(Server* server) {
    if (server == NULL) {
        return;
    }
    if (server->context != NULL) {
        mg_stop(server->context);
    }
    silent_end(&server->silent);
    mg_exit_library();
    release(server->latest);
    pthread_cond_destroy(&server->news);
    pthread_mutex_destroy(&server->watching);
    pthread_mutex_destroy(&server->writing);
    free(server);
}
