// Files and folders: replaced atomically, made durable.
#ifndef TDL_FORMATS_FILE_H
#define TDL_FORMATS_FILE_H

#include "base/input.h"

enum { PATH_SIZE = 4096, NAME_ROOM = 64 };

// A path with room left for "/", one of our own names and ".tmp".
TdlStatus path_check(const TdlHost* host, const char* path);

// out = dir/name, for a dir that passed path_check.
void path_join(char out[PATH_SIZE], const char* dir, const char* name);

// The folder a path lies in: "." when it has no slash.
void path_parent(char out[PATH_SIZE], const char* path);

bool path_exists(const char* path);

// Creates the folders above `path` that are missing.
TdlStatus path_make_parents(const TdlHost* host, const char* path);

// Writes `size` bytes to `path` so that at any moment, even after a crash, it holds either the old
// content or the new: a temporary beside it, fsync, rename, fsync of the folder.
TdlStatus file_replace(const TdlHost* host, const char* path, const void* data, size_t size);

// Renames `from` to `to` in the same folder, durably; `from` is synced first.
TdlStatus file_rename(const TdlHost* host, const char* from, const char* to);

// Waits until what was written to a file or folder has reached the disk.
TdlStatus file_sync(const TdlHost* host, const char* path);

#endif
