// The folder of a run: built under another name, published at once, locked while written.
#ifndef TDL_RUN_FOLDER_H
#define TDL_RUN_FOLDER_H

#include "formats/file.h"

// While it is held, no other process writes the folder; the kernel releases it on any end.
typedef struct Folder {
    TdlHost host;
    int fd;                     // of the locked folder, or -1
    char path[PATH_SIZE];       // where it is now
    char final_path[PATH_SIZE]; // where it will be
} Folder;

// Starts a new folder beside its final path, which must not exist. Remains of a run that was
// killed while starting are removed.
TdlStatus folder_begin(const TdlHost* host, const char* path, Folder* out);

// Gives the folder its final name.
TdlStatus folder_publish(Folder* folder);

// Locks the existing folder of a run.
TdlStatus folder_lock(const TdlHost* host, const char* path, Folder* out);

// Whether another process holds the lock.
bool folder_is_busy(const char* path);

// Releases the lock. A folder that was not published is removed.
void folder_close(Folder* folder);

#endif
