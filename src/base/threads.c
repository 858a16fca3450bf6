// A fixed pool of POSIX threads that share a counter of blocks.
//
// The caller works too. A run costs one lock and a broadcast, about a few microseconds: cut work
// accordingly. Who waits looks on for some tens of microseconds before it sleeps, since runs often
// follow each other at once and to be woken takes as long. POSIX threads rather than OpenMP keep
// the thread sanitizer's verdict exact (it knows nothing of libgomp's barriers) and users of the
// library free of a compiler flag.
#include "base/threads.h"

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 1024 };

// Looks at what is waited for before going to sleep: some 30 microseconds.
enum { LOOKS = 600 };

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

typedef struct Worker {
    Pool* pool;
    pthread_t thread;
    int index;
} Worker;

struct Pool {
    TdlAllocator mem;
    int thread_count;
    int started; // workers whose thread runs
    Worker* workers;

    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    atomic_ullong generation; // counts runs, and the end of the pool; changed under the lock
    atomic_int busy;          // workers still inside the current run
    bool quit;                // guarded by lock

    // the current run
    PoolFn fn;
    void* user;
    int count, grain;
    atomic_int next;
};

// The pools for which this thread is at work, from the innermost run outwards.
typedef struct Duty {
    const Pool* pool;
    int worker;
    const struct Duty* outer;
} Duty;

static _Thread_local const Duty* duty;

// As which worker this thread is inside a run of the pool; -1: it is not.
static int worker_inside(const Pool* pool) {
    for (const Duty* d = duty; d != NULL; d = d->outer) {
        if (d->pool == pool) {
            return d->worker;
        }
    }
    return -1;
}

static void take_blocks(Pool* pool, int worker) {
    for (;;) {
        int begin = atomic_fetch_add_explicit(&pool->next, pool->grain, memory_order_relaxed);
        if (begin >= pool->count) {
            return;
        }
        int end = begin < pool->count - pool->grain ? begin + pool->grain : pool->count;
        for (int i = begin; i < end; ++i) {
            pool->fn(pool->user, i, worker);
        }
    }
}

static void work(Pool* pool, int worker) {
    Duty own = {pool, worker, duty};
    duty = &own;
    take_blocks(pool, worker);
    duty = own.outer;
}

static void* worker_main(void* arg) {
    Worker* self = arg;
    Pool* pool = self->pool;
    unsigned long long seen = 0;
    for (;;) {
        for (int k = 0; k < LOOKS && atomic_load(&pool->generation) == seen; ++k) {
            pause_briefly();
        }
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&pool->generation) == seen) {
            pthread_cond_wait(&pool->wake, &pool->lock);
        }
        seen = atomic_load(&pool->generation);
        bool quit = pool->quit;
        pthread_mutex_unlock(&pool->lock);
        if (quit) {
            return NULL;
        }
        work(pool, self->index);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) {
            pthread_mutex_lock(&pool->lock); // who is about to wait has looked, or will be told
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

static int available_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
    return 1;
}

TdlStatus pool_create(const TdlHost* host, int thread_count, Pool** out) {
    if (thread_count < 0 || thread_count > MAX_THREADS) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "threads must be from 0 to %d, not %d",
                        MAX_THREADS, thread_count);
    }
    Pool* pool = tdl_alloc_zero(&host->mem, sizeof *pool);
    if (pool == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    pool->mem = host->mem;
    pool->thread_count = thread_count == 0 ? available_processors() : thread_count;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->workers = tdl_alloc_array(&host->mem, (size_t)pool->thread_count, sizeof(Worker));
    if (pool->workers == NULL) {
        pool_destroy(pool);
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 1; i < pool->thread_count; ++i) {
        pool->workers[i] = (Worker){.pool = pool, .index = i};
        if (pthread_create(&pool->workers[i].thread, NULL, worker_main, &pool->workers[i]) != 0) {
            pool_destroy(pool);
            return tdl_fail(host, TDL_STATUS_NO_MEMORY, "could not start thread %d", i);
        }
        ++pool->started;
    }
    *out = pool;
    return TDL_STATUS_OK;
}

void pool_destroy(Pool* pool) {
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i <= pool->started; ++i) {
        pthread_join(pool->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    TdlAllocator mem = pool->mem;
    tdl_free(&mem, pool->workers);
    tdl_free(&mem, pool);
}

int pool_thread_count(const Pool* pool) {
    return pool->thread_count;
}

void pool_run(Pool* pool, int count, int grain, PoolFn fn, void* user) {
    TDL_ASSERT(grain > 0);
    // The counter overshoots by one block per thread: keep that below INT_MAX.
    TDL_ASSERT(count <= INT32_MAX - grain * (MAX_THREADS + 1));
    int inside = pool == NULL ? 0 : worker_inside(pool);
    if (inside >= 0) {
        for (int i = 0; i < count; ++i) {
            fn(user, i, inside);
        }
        return;
    }
    pool->fn = fn;
    pool->user = user;
    pool->count = count;
    pool->grain = grain;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    bool alone = pool->started == 0 || count <= grain;
    if (!alone) {
        pthread_mutex_lock(&pool->lock);
        atomic_store(&pool->busy, pool->started);
        atomic_fetch_add(&pool->generation, 1);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
    }
    work(pool, 0);
    for (int k = 0; !alone && k < LOOKS && atomic_load(&pool->busy) > 0; ++k) {
        pause_briefly();
    }
    if (!alone && atomic_load(&pool->busy) > 0) {
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&pool->busy) > 0) {
            pthread_cond_wait(&pool->done, &pool->lock);
        }
        pthread_mutex_unlock(&pool->lock);
    }
}
