// --own FILE of the commands that solve contact problems: a solver from a shared object.
#include "app/own_solver.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

int own_solver_option(const Args* args, TdlFrictionOwnFn* out) {
    const char* name = args_text(args, "own", NULL);
    char path[4096];
    *out = NULL;
    if (name == NULL) {
        return EXIT_DONE;
    }
    // a name without a folder is a file here, not one among the system's libraries
    int length = snprintf(path, sizeof path, "%s%s", strchr(name, '/') == NULL ? "./" : "", name);
    if (length < 0 || (size_t)length >= sizeof path) {
        return usage_error(args, "--own: the name is too long");
    }
    struct stat info; // a pipe would keep dlopen waiting
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        fprintf(stderr, "tendril: %s: cannot be taken for a solver: it is not a file\n", name);
        return EXIT_INPUT;
    }
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == NULL ? NULL : dlsym(library, "tdl_friction_own");
    if (symbol == NULL) {
        fprintf(stderr, "tendril: %s: cannot be taken for a solver: %s\n", name, dlerror());
        return EXIT_INPUT;
    }
    memcpy(out, &symbol, sizeof symbol); // ISO C has no cast from one to the other
    return EXIT_DONE;
}
