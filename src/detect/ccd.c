// The one call for all methods of continuous collision detection, and its batch.
#include "detect/ccd.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

static const char* const METHOD_NAMES[TDL_CCD_METHOD_COUNT] = {
    "contract", "bisect", "interval", "univariate", "cubic", "parity", "sextic", "exact",
};

TdlCcdOptions tdl_ccd_options_default(void) {
    return (TdlCcdOptions){
        .method = TDL_CCD_CONTRACT, .tolerance = 1.0e-6, .max_time = 1.0, .refine_checks = 64};
}

const char* tdl_ccd_method_name(TdlCcdMethod method) {
    return (int)method >= 0 && method < TDL_CCD_METHOD_COUNT ? METHOD_NAMES[method] : NULL;
}

bool tdl_ccd_method_from_name(const char* name, TdlCcdMethod* out) {
    for (int i = 0; i < TDL_CCD_METHOD_COUNT; ++i) {
        if (strcmp(name, METHOD_NAMES[i]) == 0) {
            *out = (TdlCcdMethod)i;
            return true;
        }
    }
    return false;
}

static bool options_valid(const TdlCcdOptions* o) {
    return o->min_separation >= 0.0 && o->min_separation <= 1.7e308 && o->tolerance >= 0.0 &&
           o->tolerance <= 1.7e308 && o->max_time >= 0.0 && o->max_time <= 1.0 &&
           o->max_checks >= 0 && o->refine_checks >= 0 && (int)o->method >= 0 &&
           o->method < TDL_CCD_METHOD_COUNT &&
           (o->norm == TDL_CCD_NORM_MAX || o->norm == TDL_CCD_NORM_EUCLID) &&
           (o->method != TDL_CCD_EXACT || (o->min_separation == 0.0 && o->max_time == 1.0));
}

static CcdContractFn contract_version(bool scalar) {
#if defined(__x86_64__)
    if (!scalar && __builtin_cpu_supports("avx2")) {
        return ccd_contract_avx2;
    }
#endif
    (void)scalar;
    return ccd_contract_scalar;
}

static TdlStatus run_method(const TdlCcdQuery* query, const TdlCcdOptions* options,
                            TdlCcdResult* result) {
    if (options->method == TDL_CCD_CONTRACT) {
        bool ok = contract_version(options->scalar)(query, options, result);
        return ok ? TDL_STATUS_OK : TDL_STATUS_BAD_ARGUMENT;
    }
    if (!ccd_query_finite(query)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    switch (options->method) {
    case TDL_CCD_BISECT:
        return ccd_bisect(query, options, result);
    case TDL_CCD_INTERVAL:
        return ccd_interval(query, options, result);
    case TDL_CCD_UNIVARIATE:
        return ccd_univariate(query, options, result);
    case TDL_CCD_CUBIC:
        return ccd_cubic(query, options, result);
    case TDL_CCD_PARITY:
        return ccd_parity(query, options, result);
    case TDL_CCD_SEXTIC:
        return ccd_sextic(query, options, result);
    default:
        return ccd_exact(query, options, result);
    }
}

TdlStatus tdl_ccd_query(const TdlCcdQuery* query, const TdlCcdOptions* options,
                        TdlCcdResult* result) {
    *result = (TdlCcdResult){.time = INFINITY};
    if (!options_valid(options) ||
        (query->kind != TDL_CCD_VERTEX_FACE && query->kind != TDL_CCD_EDGE_EDGE)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    return run_method(query, options, result);
}

// --- batch
// ------------------------------------------------------------------------------------------

typedef struct Batch {
    const TdlCcdQuery* queries;
    const TdlCcdOptions* options;
    TdlCcdResult* results;
    double* seconds;
    TdlStatus* worker_status; // [thread_count]
} Batch;

static void run_item(void* user, int index, int worker) {
    Batch* batch = user;
    double start = batch->seconds != NULL ? clock_now() : 0.0;
    TdlStatus status =
        tdl_ccd_query(&batch->queries[index], batch->options, &batch->results[index]);
    if (batch->seconds != NULL) {
        batch->seconds[index] = clock_now() - start;
    }
    if (status != TDL_STATUS_OK) {
        batch->worker_status[worker] = status;
    }
}

// Queries a worker takes at a time.
#define BATCH_GRAIN 64

TdlStatus tdl_ccd_batch(const TdlHost* host, const TdlCcdQuery* queries, int count,
                        const TdlCcdOptions* options, int thread_count, TdlCcdResult* results,
                        double* seconds) {
    if (count < 0 || thread_count < 0 || thread_count > 1024 || !options_valid(options)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "collision batch: option out of range");
    }
    TdlStatus worker_status[1025] = {TDL_STATUS_OK};
    Batch batch = {queries, options, results, seconds, worker_status};
    if (thread_count == 1) {
        for (int i = 0; i < count; ++i) {
            run_item(&batch, i, 0);
        }
    } else {
        Pool* pool;
        TdlStatus status = pool_create(host, thread_count, &pool);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        pool_run(pool, count, BATCH_GRAIN, run_item, &batch);
        pool_destroy(pool);
    }
    for (int i = 0; i < 1025; ++i) {
        if (worker_status[i] != TDL_STATUS_OK) {
            return tdl_fail(host, worker_status[i], "collision batch: a coordinate is not finite");
        }
    }
    return TDL_STATUS_OK;
}
