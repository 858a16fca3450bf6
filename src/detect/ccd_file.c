// Reader and writer of the collision benchmark: eight rows a query, numerator and denominator of
// each coordinate and the truth, all decimal integers of any length. A quotient must be exactly a
// double, which GMP decides.
#include "detect/ccd_file.h"
#include "base/input.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Longest integer accepted: a double needs at most 1075 digits above or below the line.
#define DIGITS_MAX 1200
// Largest file accepted, 2 GB.
static const size_t SIZE_MAX_BYTES = 2147483647;

typedef struct Reader {
    const TdlHost* host;
    const char* name;
    const char *at, *end;
    int line;
    mpz_t numerator, denominator, back;
    char digits[DIGITS_MAX + 2];
    TdlCcdFile* out;
    int capacity;
} Reader;

static TdlStatus bad(const Reader* r, const char* what) {
    return tdl_fail(r->host, TDL_STATUS_BAD_INPUT, "%s:%d: %s", r->name, r->line, what);
}

// An optional sign and digits, up to a comma or the end of the line.
static TdlStatus read_integer(Reader* r, mpz_t out) {
    size_t length = 0;
    if (r->at < r->end && (*r->at == '-' || *r->at == '+')) {
        if (*r->at == '-') {
            r->digits[length++] = '-';
        }
        ++r->at;
    }
    size_t sign = length;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        if (length > DIGITS_MAX) {
            return bad(r, "an integer has too many digits");
        }
        r->digits[length++] = *r->at++;
    }
    if (length == sign) {
        return bad(r, "an integer is missing");
    }
    r->digits[length] = '\0';
    mpz_set_str(out, r->digits, 10);
    return TDL_STATUS_OK;
}

static TdlStatus read_comma(Reader* r) {
    if (r->at >= r->end || *r->at != ',') {
        return bad(r, "a row has seven integers separated by commas");
    }
    ++r->at;
    return TDL_STATUS_OK;
}

// numerator / denominator as a double, refused when it is not one exactly
static TdlStatus quotient(Reader* r, double* out) {
    if (mpz_sgn(r->denominator) == 0) {
        return bad(r, "a denominator is zero");
    }
    if (mpz_sgn(r->denominator) < 0) {
        mpz_neg(r->numerator, r->numerator);
        mpz_neg(r->denominator, r->denominator);
    }
    if (mpz_sgn(r->numerator) == 0) {
        *out = 0.0;
        return TDL_STATUS_OK;
    }
    // reduce; what remains below the line must be a power of two
    mpz_gcd(r->back, r->numerator, r->denominator);
    mpz_divexact(r->numerator, r->numerator, r->back);
    mpz_divexact(r->denominator, r->denominator, r->back);
    mp_bitcnt_t shift = mpz_scan1(r->denominator, 0);
    bool power = mpz_sizeinbase(r->denominator, 2) == (size_t)shift + 1;
    mp_bitcnt_t zeros = mpz_scan1(r->numerator, 0);
    size_t bits = mpz_sizeinbase(r->numerator, 2);
    if (!power || bits - (size_t)zeros > 53 || bits > 1024 || shift > 1074) {
        return bad(r, "a coordinate is not exactly a double");
    }
    // exact: at most 53 significant bits, and the result is at least the smallest subnormal
    mpz_tdiv_q_2exp(r->back, r->numerator, zeros);
    *out = ldexp(mpz_get_d(r->back), (int)zeros - (int)shift);
    return TDL_STATUS_OK;
}

// An integer and the comma after it.
static TdlStatus read_field(Reader* r, mpz_t out) {
    TdlStatus status = read_integer(r, out);
    return status != TDL_STATUS_OK ? status : read_comma(r);
}

static TdlStatus read_coordinate(Reader* r, double* out) {
    TdlStatus status = read_field(r, r->numerator);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_field(r, r->denominator);
    return status != TDL_STATUS_OK ? status : quotient(r, out);
}

static TdlStatus read_row(Reader* r, TdlVec3* point, bool* truth) {
    double x[3];
    for (int axis = 0; axis < 3; ++axis) {
        TdlStatus status = read_coordinate(r, &x[axis]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    TdlStatus status = read_integer(r, r->numerator);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (mpz_cmp_ui(r->numerator, 1) > 0 || mpz_sgn(r->numerator) < 0) {
        return bad(r, "the truth must be 0 or 1");
    }
    if (r->at < r->end && *r->at == '\r') {
        ++r->at;
    }
    if (r->at < r->end && *r->at != '\n') {
        return bad(r, "text after the seventh integer");
    }
    *point = (TdlVec3){x[0], x[1], x[2]};
    *truth = mpz_sgn(r->numerator) > 0;
    return TDL_STATUS_OK;
}

static void next_line(Reader* r) {
    if (r->at < r->end) {
        ++r->at;
        ++r->line;
    }
}

static TdlStatus read_query(Reader* r, TdlCcdKind kind) {
    TdlCcdFile* out = r->out;
    if (out->count == r->capacity) {
        int capacity = r->capacity > 0 ? 2 * r->capacity : 64;
        TdlCcdQuery* queries =
            tdl_grow_array(&out->mem, out->queries, (size_t)capacity, sizeof *queries);
        out->queries = queries != NULL ? queries : out->queries;
        bool* truth = tdl_grow_array(&out->mem, out->truth, (size_t)capacity, sizeof *truth);
        out->truth = truth != NULL ? truth : out->truth;
        if (queries == NULL || truth == NULL) {
            return tdl_fail(r->host, TDL_STATUS_NO_MEMORY, "%s: out of memory", r->name);
        }
        r->capacity = capacity;
    }
    TdlCcdQuery* query = &out->queries[out->count];
    query->kind = kind;
    bool* truth = &out->truth[out->count];
    for (int row = 0; row < 8; ++row) {
        if (r->at >= r->end) {
            return bad(r, "the file ends inside a query of eight rows");
        }
        bool row_truth = false;
        TdlVec3* point = row < 4 ? &query->start[row] : &query->end[row - 4];
        TdlStatus status = read_row(r, point, &row_truth);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (row > 0 && row_truth != *truth) {
            return bad(r, "the rows of a query disagree about the truth");
        }
        *truth = row_truth;
        next_line(r);
    }
    ++out->count;
    return TDL_STATUS_OK;
}

TdlStatus ccd_file_parse(const TdlHost* host, const char* name, const char* text, size_t size,
                         TdlCcdKind kind, TdlCcdFile* out) {
    Reader r = {.host = host, .name = name, .at = text, .end = text + size, .line = 1, .out = out};
    *out = (TdlCcdFile){.mem = host->mem};
    mpz_inits(r.numerator, r.denominator, r.back, NULL);
    TdlStatus status = TDL_STATUS_OK;
    while (r.at < r.end && status == TDL_STATUS_OK) {
        // blank lines between queries are harmless
        if (*r.at == '\n' || (*r.at == '\r' && r.at + 1 < r.end && r.at[1] == '\n')) {
            r.at += *r.at == '\r';
            next_line(&r);
            continue;
        }
        status = read_query(&r, kind);
    }
    mpz_clears(r.numerator, r.denominator, r.back, NULL);
    if (status != TDL_STATUS_OK) {
        tdl_ccd_file_free(out);
    }
    return status;
}

TdlStatus tdl_ccd_file_read(const TdlHost* host, const char* path, TdlCcdKind kind,
                            TdlCcdFile* out) {
    *out = (TdlCcdFile){.mem = host->mem};
    char* text;
    size_t size;
    TdlStatus status = file_read(host, path, SIZE_MAX_BYTES, input_judge_text, &text, &size);
    if (status == TDL_STATUS_OK) {
        status = ccd_file_parse(host, path, text, size, kind, out);
        tdl_free(&host->mem, text);
    }
    return status;
}

void tdl_ccd_file_free(TdlCcdFile* file) {
    if (file->mem.resize != NULL) {
        tdl_free(&file->mem, file->queries);
        tdl_free(&file->mem, file->truth);
    }
    *file = (TdlCcdFile){0};
}

bool tdl_ccd_query_write(FILE* file, const TdlCcdQuery* query, bool truth) {
    mpq_t quotient;
    mpq_init(quotient);
    bool good = true;
    for (int k = 0; k < 8 && good; ++k) {
        TdlVec3 p = k < 4 ? query->start[k] : query->end[k - 4];
        double x[3] = {p.x, p.y, p.z};
        for (int axis = 0; axis < 3 && good; ++axis) {
            good = isfinite(x[axis]);
            mpq_set_d(quotient, good ? x[axis] : 0.0);
            good = good &&
                   gmp_fprintf(file, "%Zd,%Zd,", mpq_numref(quotient), mpq_denref(quotient)) > 0;
        }
        good = good && fprintf(file, "%d\n", truth) > 0;
    }
    mpq_clear(quotient);
    return good;
}
