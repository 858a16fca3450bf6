// Status codes, memory, messages and progress: what every other header of Tendril needs.
//
// Threads. The library keeps no state outside its objects, so two threads may use two worlds, two
// detectors or two solvers as they like. One object belongs to one thread at a time; a function
// that takes it as const only reads it, and any number of threads may read while none changes it.
// Calls that share work among threads return when all is done. The allocator, the log, functions
// that ask a call to stop and the functions of a curve kind of one's own are called from several
// threads at once; every other function that the caller hands over is called from the thread that
// made the call. Results and
// problems in HDF5 files ask for an HDF5 that was built for threads, as Debian's is, or for one
// thread at a time.
#ifndef TENDRIL_BASE_H
#define TENDRIL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define TDL_API __attribute__((visibility("default")))
#define TDL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TDL_API
#define TDL_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// What a call has to say about bad input, files and memory. Numerical outcomes (converged or
/// not) are told elsewhere, with their residuals.
typedef enum TdlStatus {
    TDL_STATUS_OK = 0,
    TDL_STATUS_NO_MEMORY,    // an allocation failed
    TDL_STATUS_BAD_ARGUMENT, // a caller's argument is out of its documented range
    TDL_STATUS_BAD_INPUT,    // a file's content is wrong; the log names file, line and column
    TDL_STATUS_IO,           // a file could not be opened, read or written
    TDL_STATUS_DIVERGED,     // the computation failed; the last good state was kept
    TDL_STATUS_STOPPED,      // the caller's progress function asked to stop
} TdlStatus;

/// Asked often by a call that may take long: true ends it as soon as it can.
typedef bool (*TdlStopFn)(void* user);

/// A short English phrase for a status; never null.
TDL_API const char* tdl_status_string(TdlStatus status);

/// The version of the library, such as "0.1.0".
TDL_API const char* tdl_version(void);

/// The number of letters to insert, delete, change or swap to turn the first `length` bytes of
/// `word` into `other`, for "did you mean". Words longer than 63 bytes are compared by their start.
TDL_API int tdl_word_distance(const char* word, size_t length, const char* other);

/// A range of coordinates.
typedef struct TdlSpan {
    int first, count;
} TdlSpan;

/// Energy of one body, or of many.
typedef struct TdlEnergy {
    double kinetic, elastic; // J
    double gravity;          // J: of weight and of point forces, zero at the origin
} TdlEnergy;

/// Bodies have a material from 0 to this limit less one.
enum { TDL_MATERIAL_LIMIT = 64 };

/// Where memory comes from. `resize(user, NULL, 0, n)` allocates, `resize(user, p, n, 0)` frees,
/// anything else grows or shrinks; it returns null when it cannot. Threads of the library may call
/// it at once.
typedef struct TdlAllocator {
    void* (*resize)(void* user, void* block, size_t old_size, size_t new_size);
    void* user;
} TdlAllocator;

typedef enum TdlLogLevel {
    TDL_LOG_ERROR = 0,
    TDL_LOG_WARNING,
    TDL_LOG_INFO,
    TDL_LOG_DEBUG,
} TdlLogLevel;

/// Receives one whole message, without a final newline. Threads of the library may call it at once.
typedef void (*TdlLogFn)(void* user, TdlLogLevel level, const char* message);

typedef enum TdlFileUse { TDL_FILE_READ, TDL_FILE_WRITTEN } TdlFileUse;

/// Told of each file that is about to be read, and asked before one is written: `false` refuses,
/// after saying why. Threads of the library may call it at once.
typedef bool (*TdlFileFn)(void* user, const char* path, TdlFileUse use);

/// What the caller lends the library: memory, an ear, and a say in files. Copied by every `create`.
typedef struct TdlHost {
    TdlAllocator mem;
    TdlLogFn log;          // null: silent (the default)
    void* log_user;        // handed to log
    TdlLogLevel log_level; // messages above this level are not formatted; default TDL_LOG_INFO
    TdlFileFn file;        // null: all may be written (the default)
    void* file_user;       // handed to file
} TdlHost;

/// The C library's heap, and silence.
TDL_API TdlHost tdl_host_default(void);

// --- files
// ----------------------------------------------------------------------------------------

enum { TDL_PATH_SIZE = 4096 };

/// A file that is written beside its place, to which it goes when it is whole.
typedef struct TdlOutput {
    char path[TDL_PATH_SIZE];   // its place, links followed
    char beside[TDL_PATH_SIZE]; // where to write; the same for what is no file, such as /dev/null
} TdlOutput;

/// Makes the empty file out->beside in the folder of `path`, with the same ending and the rights
/// of what is there.
TDL_API TdlStatus tdl_output_begin(const TdlHost* host, const char* path, TdlOutput* out);

/// Puts the file, which is closed, in its place; removes it where that cannot be, and where `good`
/// is false.
TDL_API TdlStatus tdl_output_end(const TdlHost* host, const TdlOutput* out, bool good);

/// Opens a file for reading: nothing but a regular file, so that no pipe keeps the caller waiting
/// and no device gives without end.
TDL_API TdlStatus tdl_input_open(const TdlHost* host, const char* path, FILE** out);

/// Like getline, but no further than the first zero byte, which no text has, nor than 64 MB: a file
/// of zeros is one line. `*line`, null at first, is freed with free. Returns its length; -1 at the
/// end of the file, and where it cannot be had: then feof(in) is false.
TDL_API long tdl_input_line(FILE* in, char** line, size_t* capacity);

#ifdef __cplusplus
}
#endif

#endif
