// The files of a scene: includes, and how they merge into one tree.
//
// A file starts from the files it includes, in order, and has the last word: maps merge key by
// key, lists of groups grow at their end, anything else is replaced. Depth and number of files
// are bounded, and a file may not include itself by any detour.
#include "scene/scene.h"

#include "base/log.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { INCLUDE_DEPTH_MAX = 16, INCLUDE_FILES_MAX = 256, REASON_SIZE = 128 };

typedef struct FileStack {
    dev_t device[INCLUDE_DEPTH_MAX + 1]; // [depth] the files being read
    ino_t inode[INCLUDE_DEPTH_MAX + 1];
    int depth;
    int files; // read so far
} FileStack;

// --- merging
// --------------------------------------------------------------------------------------

static bool is_group_list(const Node* node) {
    return node->kind == NODE_LIST && node->first != NULL && node->first->kind == NODE_MAP;
}

// Merges the children of `over` into `base`, which has the lower rank; `over` is used up.
static void merge_map(Node* base, Node* over) {
    for (Node *child = over->first, *next; child != NULL; child = next) {
        next = child->next;
        Node* old = node_find(base, child->key);
        if (old == NULL) {
            node_append(base, child);
        } else if (old->kind == NODE_MAP && child->kind == NODE_MAP) {
            merge_map(old, child);
            old->mark = child->mark;
            old->key_mark = child->key_mark;
        } else if (is_group_list(old) && is_group_list(child)) {
            for (Node *item = child->first, *after; item != NULL; item = after) {
                after = item->next;
                node_append(old, item);
            }
        } else {
            node_replace(base, old, child);
        }
    }
    base->mark = over->mark;
}

// --- reading
// --------------------------------------------------------------------------------------

static TdlStatus read_file(TdlScene* scene, FileStack* stack, const char* path, const Node* from,
                           Node** out);

// The path of an included file: as written when absolute, else beside the including file.
static char* join_path(Arena* arena, const char* including, const char* path) {
    const char* slash = strrchr(including, '/');
    size_t folder = path[0] == '/' || slash == NULL ? 0 : (size_t)(slash - including) + 1;
    size_t length = strlen(path);
    char* joined = ARENA_NEW(arena, char, folder + length + 1);
    if (joined != NULL) {
        memcpy(joined, including, folder);
        memcpy(joined + folder, path, length + 1);
    }
    return joined;
}

static TdlStatus include_one(TdlScene* scene, FileStack* stack, const char* path,
                             const Node* include, Node* base) {
    if (include->kind != NODE_TEXT || include->text[0] == '\0') {
        return fail_at(&scene->host, include->mark, "include must be a path or a list of paths");
    }
    if (path == NULL) {
        return fail_at(&scene->host, include->mark, "only a file can include another");
    }
    char* joined = join_path(&scene->arena, path, include->text);
    if (joined == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Node* tree = NULL;
    TdlStatus status = read_file(scene, stack, joined, include, &tree);
    if (status == TDL_STATUS_OK) {
        merge_map(base, tree);
    }
    return status;
}

// Replaces `*root` by what it includes, with its own keys on top.
static TdlStatus resolve_includes(TdlScene* scene, FileStack* stack, const char* path,
                                  Node** root) {
    Node* include = node_find(*root, "include");
    if (include == NULL) {
        return TDL_STATUS_OK;
    }
    Node* base = node_new(&scene->pool, NODE_MAP, (*root)->mark);
    if (base == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    bool many = include->kind == NODE_LIST;
    TdlStatus status = TDL_STATUS_OK;
    for (const Node* one = many ? include->first : include; status == TDL_STATUS_OK && one != NULL;
         one = many ? one->next : NULL) {
        status = include_one(scene, stack, path, one, base);
    }
    if (status == TDL_STATUS_OK) {
        node_remove(*root, include);
        merge_map(base, *root);
        *root = base;
    }
    return status;
}

static TdlStatus parse_source(TdlScene* scene, FileStack* stack, const char* path,
                              const Source* source, Node** out) {
    TdlStatus status = yaml_parse(&scene->host, &scene->pool, source, 0, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if ((*out)->kind != NODE_MAP) {
        return fail_at(&scene->host, (*out)->mark,
                       "a scene is a group of keys, such as 'title: ...' and 'rods: ...'");
    }
    return resolve_includes(scene, stack, path, out);
}

// A file that cannot be read is told at the include that asks for it, or by its name alone.
static TdlStatus unreadable(const TdlScene* scene, const char* path, const Node* from,
                            const char* reason) {
    if (from == NULL) {
        return tdl_fail(&scene->host, TDL_STATUS_IO, "%s: cannot be read: %s", path, reason);
    }
    Quote q = quote(path);
    return fail_at(&scene->host, from->mark, "%s cannot be read: %s", q.text, reason);
}

// Pushes the file on the stack after all checks that need no reading.
static TdlStatus enter_file(TdlScene* scene, FileStack* stack, const char* path, const Node* from) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return unreadable(scene, path, from, "there is no such file");
    }
    if (S_ISDIR(info.st_mode)) {
        return unreadable(scene, path, from, "it is a folder");
    }
    if (from != NULL && !S_ISREG(info.st_mode)) {
        return unreadable(scene, path, from, "it is not a file");
    }
    for (int i = 0; i < stack->depth; ++i) {
        if (stack->device[i] == info.st_dev && stack->inode[i] == info.st_ino) {
            return fail_at(&scene->host, from->mark, "this file is already being included");
        }
    }
    if (stack->depth > INCLUDE_DEPTH_MAX || stack->files == INCLUDE_FILES_MAX) {
        return fail_at(&scene->host, from->mark,
                       "more than %d files include each other, or %d "
                       "are included in all",
                       INCLUDE_DEPTH_MAX, INCLUDE_FILES_MAX);
    }
    stack->device[stack->depth] = info.st_dev;
    stack->inode[stack->depth++] = info.st_ino;
    ++stack->files;
    return TDL_STATUS_OK;
}

static TdlStatus read_file(TdlScene* scene, FileStack* stack, const char* path, const Node* from,
                           Node** out) {
    TdlStatus status = enter_file(scene, stack, path, from);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const Source* source = NULL;
    char reason[REASON_SIZE] = "";
    status = source_from_file(&scene->host, &scene->arena, path, &source, reason);
    if (status == TDL_STATUS_IO) {
        return unreadable(scene, path, from, reason);
    }
    if (status == TDL_STATUS_OK) {
        status = parse_source(scene, stack, path, source, out);
    }
    --stack->depth;
    return status;
}

TdlStatus scene_read_tree(TdlScene* scene, const char* path, const char* name, const char* text,
                          size_t size) {
    FileStack stack = {.depth = 0};
    scene->from_file = path != NULL;
    if (path != NULL) {
        return read_file(scene, &stack, path, NULL, &scene->root);
    }
    const Source* source = source_from_text(&scene->arena, name, text, size);
    if (source == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    return parse_source(scene, &stack, NULL, source, &scene->root);
}
