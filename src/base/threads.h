// Threads: one pool, one way to use it. Results must not depend on which worker runs an item, so
// the bits are the same for any number of threads.
#ifndef TDL_BASE_THREADS_H
#define TDL_BASE_THREADS_H

#include "tendril/base.h"

typedef struct Pool Pool;

// Work on item `index`; `worker` in [0, thread_count) selects private scratch.
typedef void (*PoolFn)(void* user, int index, int worker);

// thread_count counts the caller; 0 means one per processor the process may use.
TdlStatus pool_create(const TdlHost* host, int thread_count, Pool** out);
void pool_destroy(Pool* pool);
int pool_thread_count(const Pool* pool);

// Calls fn for every index in [0, count), in blocks of `grain`, and returns when all are done.
// Without a pool this thread does it all. So does a worker that calls it from inside fn with the
// pool it works for, under its own number. Otherwise one thread at a time may use a pool.
void pool_run(Pool* pool, int count, int grain, PoolFn fn, void* user);

#endif
