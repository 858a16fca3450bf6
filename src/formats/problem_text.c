// Siconos' text format of frictional contact problems.
//
// Tokens separated by white space: `d nc`, a matrix, q, mu for a local problem; `d nc M H q b mu`
// for a global one. A matrix is `type rows cols` and then dense, by blocks, or sparse with words
// between the numbers. Every count is compared with the characters left (a number takes at least
// two) before it is believed.
#include "base/log.h"
#include "base/memory.h"
#include "formats/problem_io.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMENSION = 1 << 30 };

typedef struct Scanner {
    const TdlHost* host;
    const char* name;
    const char *begin, *at, *end;
    bool failed;
} Scanner;

static int line_of(const Scanner* s, const char* place) {
    int line = 1;
    for (const char* p = s->begin; p < place; ++p) {
        line += *p == '\n';
    }
    return line;
}

static bool fail(Scanner* s, const char* format, ...) TDL_PRINTF(2, 3);
static bool fail(Scanner* s, const char* format, ...) {
    if (!s->failed) {
        char text[256];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        // what a binary file quotes must not reach a terminal
        for (char* c = text; *c != '\0'; ++c) {
            *c = *c < ' ' || *c > '~' ? '?' : *c;
        }
        tdl_log(s->host, TDL_LOG_ERROR, "%s:%d: %s", s->name, line_of(s, s->at), text);
    }
    s->failed = true;
    return false;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// the next word, without moving past it; its length may be 0 at the end
static size_t peek_word(Scanner* s) {
    while (s->at < s->end && is_space(*s->at)) {
        ++s->at;
    }
    size_t length = 0;
    while (s->at + length < s->end && !is_space(s->at[length])) {
        ++length;
    }
    return length;
}

static bool read_number(Scanner* s, const char* what, double* x) {
    size_t length = peek_word(s);
    *x = 0.0;
    if (s->failed) {
        return false;
    }
    if (length == 0) {
        return fail(s, "the file ends before %s", what);
    }
    // strtod stops at white space or at the zero byte behind the file
    char* stop;
    *x = strtod(s->at, &stop);
    if (stop != s->at + length) {
        return fail(s, "%s is not a number: '%.*s'", what, (int)(length < 40 ? length : 40), s->at);
    }
    if (!isfinite(*x)) {
        return fail(s, "%s is not finite", what);
    }
    s->at += length;
    return true;
}

static bool read_count(Scanner* s, const char* what, int least, int most, int* x) {
    double value;
    *x = 0;
    if (!read_number(s, what, &value)) {
        return false;
    }
    if (!(value >= least && value <= most) || value != floor(value)) {
        return fail(s, "%s is %g, not a whole number from %d to %d", what, value, least, most);
    }
    *x = (int)value;
    return true;
}

// false when `count` more numbers cannot be in the rest of the file
static bool expect(Scanner* s, const char* what, double count) {
    if (count > 0.5 * (double)(s->end - s->at) + 1.0) {
        return fail(s, "%s: %.0f numbers announced, but only %td characters are left", what, count,
                    s->end - s->at);
    }
    return true;
}

static bool read_vector(Scanner* s, const char* what, int count, double** out) {
    if (s->failed || !expect(s, what, count)) {
        return false;
    }
    *out = tdl_alloc_array(&s->host->mem, (size_t)count, sizeof(double));
    if (*out == NULL) {
        return fail(s, "out of memory");
    }
    for (int k = 0; k < count; ++k) {
        if (!read_number(s, what, *out + k)) {
            return false;
        }
    }
    return true;
}

static bool keep(Scanner* s, Triplets* t, int row, int col, double value) {
    if (value == 0.0) {
        return true;
    }
    return triplets_add(&s->host->mem, t, row, col, value) || fail(s, "out of memory");
}

static bool read_dense(Scanner* s, Triplets* t) {
    int rows, cols;
    if (!read_count(s, "row count", 0, MAX_DIMENSION, &rows) ||
        !read_count(s, "column count", 0, MAX_DIMENSION, &cols)) {
        return false;
    }
    if (rows != t->rows || cols != t->cols) {
        return fail(s, "dense matrix of %d x %d inside one of %d x %d", rows, cols, t->rows,
                    t->cols);
    }
    if (!expect(s, "dense matrix", (double)rows * cols)) {
        return false;
    }
    for (int j = 0; j < cols; ++j) {
        for (int i = 0; i < rows; ++i) {
            double x;
            if (!read_number(s, "matrix entry", &x) || !keep(s, t, i, j, x)) {
                return false;
            }
        }
    }
    return true;
}

// cumulative ends of block rows or columns, ascending up to `total`
static bool read_ends(Scanner* s, const char* what, int count, int total, int** out) {
    if (!expect(s, what, count)) {
        return false;
    }
    *out = tdl_alloc_array(&s->host->mem, (size_t)count + 1, sizeof(int));
    if (*out == NULL) {
        return fail(s, "out of memory");
    }
    for (int k = 0; k < count; ++k) {
        if (!read_count(s, what, (*out)[k], total, *out + k + 1)) {
            return false;
        }
    }
    if ((*out)[count] != total) {
        return fail(s, "%s end at %d, not at %d", what, (*out)[count], total);
    }
    return true;
}

static bool read_indices(Scanner* s, const char* what, int count, int most, int** out) {
    if (!expect(s, what, count)) {
        return false;
    }
    *out = tdl_alloc_array(&s->host->mem, (size_t)count, sizeof(int));
    if (*out == NULL) {
        return fail(s, "out of memory");
    }
    for (int k = 0; k < count; ++k) {
        if (!read_count(s, what, 0, most, *out + k)) {
            return false;
        }
    }
    return true;
}

typedef struct BlockTable {
    int block_count, block_rows, block_cols, pointer_count, index_count;
    int *row_end, *col_end; // [block_rows + 1], [block_cols + 1]
    int *pointer, *index;
} BlockTable;

static bool read_one_block(Scanner* s, Triplets* t, const BlockTable* b, int row, int e) {
    int number, col = b->index[e];
    if (!read_count(s, "block number", e, e, &number)) {
        return false;
    }
    int height = b->row_end[row + 1] - b->row_end[row];
    int width = b->col_end[col + 1] - b->col_end[col];
    if (!expect(s, "block", (double)height * width)) {
        return false;
    }
    for (int j = 0; j < width; ++j) {
        for (int i = 0; i < height; ++i) {
            double x;
            if (!read_number(s, "block entry", &x) ||
                !keep(s, t, b->row_end[row] + i, b->col_end[col] + j, x)) {
                return false;
            }
        }
    }
    return true;
}

static bool read_block_values(Scanner* s, Triplets* t, const BlockTable* b) {
    int row = 0;
    for (int e = 0; e < b->block_count; ++e) {
        while (row + 1 < b->pointer_count && b->pointer[row + 1] <= e) {
            ++row;
        }
        if (row >= b->block_rows || row >= b->pointer_count || b->pointer[row] > e) {
            return fail(s, "block %d belongs to no row", e);
        }
        if (!read_one_block(s, t, b, row, e)) {
            return false;
        }
    }
    return true;
}

static bool read_block_table(Scanner* s, const Triplets* t, BlockTable* b) {
    return read_count(s, "block count", 0, MAX_DIMENSION, &b->block_count) &&
           read_count(s, "block row count", 0, MAX_DIMENSION, &b->block_rows) &&
           read_count(s, "block column count", 0, MAX_DIMENSION, &b->block_cols) &&
           read_ends(s, "block row ends", b->block_rows, t->rows, &b->row_end) &&
           read_ends(s, "block column ends", b->block_cols, t->cols, &b->col_end) &&
           read_count(s, "row pointer count", 0, b->block_rows + 1, &b->pointer_count) &&
           read_count(s, "block index count", b->block_count, b->block_count, &b->index_count) &&
           read_indices(s, "row pointer", b->pointer_count, b->block_count, &b->pointer) &&
           read_indices(s, "block column", b->index_count, b->block_cols - 1, &b->index);
}

static bool read_blocks(Scanner* s, Triplets* t) {
    BlockTable b = {0};
    bool good = read_block_table(s, t, &b) && read_block_values(s, t, &b);
    tdl_free(&s->host->mem, b.row_end);
    tdl_free(&s->host->mem, b.col_end);
    tdl_free(&s->host->mem, b.pointer);
    tdl_free(&s->host->mem, b.index);
    return good;
}

// --- sparse, as printed for people ---------------------------------------------------------------

static void skip_line(Scanner* s) {
    while (s->at < s->end && *s->at != '\n') {
        ++s->at;
    }
}

static bool read_word(Scanner* s, const char* word) {
    size_t length = peek_word(s);
    if (length != strlen(word) || memcmp(s->at, word, length) != 0) {
        return fail(s, "expected '%s', not '%.*s'", word, (int)(length < 40 ? length : 40), s->at);
    }
    s->at += length;
    return true;
}

// skips words up to and with `word`, at most 64 of them
static bool skip_to(Scanner* s, const char* word) {
    for (int k = 0; k < 64; ++k) {
        size_t length = peek_word(s);
        if (length == 0) {
            break;
        }
        bool found = length == strlen(word) && memcmp(s->at, word, length) == 0;
        s->at += length;
        if (found) {
            return true;
        }
    }
    return fail(s, "no '%s' in the head of a sparse matrix", word);
}

// `nnz: N`, perhaps with a comma behind
static bool read_entry_count(Scanner* s, int* count) {
    if (!skip_to(s, "nnz:")) {
        return false;
    }
    peek_word(s);
    char* stop;
    double value = strtod(s->at, &stop);
    if (stop == s->at || !(value >= 0.0 && value <= MAX_DIMENSION) || value != floor(value)) {
        return fail(s, "the number of entries is not a whole number");
    }
    *count = (int)value;
    skip_line(s);
    return expect(s, "sparse matrix", 2.0 * value);
}

static bool read_listed(Scanner* s, Triplets* t, int count) {
    for (int e = 0; e < count; ++e) {
        int i, j;
        double x;
        if (!read_count(s, "row", 0, t->rows - 1, &i) ||
            !read_count(s, "column", 0, t->cols - 1, &j) || !read_word(s, ":") ||
            !read_number(s, "matrix entry", &x) || !keep(s, t, i, j, x)) {
            return false;
        }
    }
    return true;
}

static bool read_compressed(Scanner* s, Triplets* t, int count, bool by_row) {
    int lines = by_row ? t->rows : t->cols, across = by_row ? t->cols : t->rows;
    int read = 0;
    for (int k = 0; k < lines && read < count; ++k) {
        int j, first, last, i;
        double x;
        if (!read_word(s, "col") || !read_count(s, "column", 0, lines - 1, &j) ||
            !read_word(s, ":") || !read_word(s, "locations") ||
            !read_count(s, "first location", read, read, &first) || !read_word(s, "to") ||
            !read_count(s, "last location", first - 1, count - 1, &last)) {
            return false;
        }
        for (; read <= last; ++read) {
            if (!read_count(s, "row", 0, across - 1, &i) || !read_word(s, ":") ||
                !read_number(s, "matrix entry", &x) ||
                !keep(s, t, by_row ? j : i, by_row ? i : j, x)) {
                return false;
            }
        }
    }
    // empty columns may still be listed behind the last entry
    while (!s->failed && peek_word(s) == 3 && memcmp(s->at, "col", 3) == 0) {
        skip_line(s);
    }
    return read == count || fail(s, "%d entries announced, %d found", count, read);
}

static bool read_sparse(Scanner* s, Triplets* t) {
    int origin, count = 0;
    if (!read_count(s, "sparse origin", 1, 3, &origin) || !read_entry_count(s, &count)) {
        return false;
    }
    return origin == 1 ? read_listed(s, t, count) : read_compressed(s, t, count, origin == 3);
}

static bool read_matrix(Scanner* s, Triplets* t) {
    int type;
    if (!read_count(s, "matrix type", 0, 2, &type) ||
        !read_count(s, "matrix rows", 0, MAX_DIMENSION, &t->rows) ||
        !read_count(s, "matrix columns", 0, MAX_DIMENSION, &t->cols)) {
        return false;
    }
    switch (type) {
    case 0:
        return read_dense(s, t);
    case 1:
        return read_blocks(s, t);
    default:
        return read_sparse(s, t);
    }
}

// After M of d nc rows, is there a second matrix with as many rows? Three whole numbers in a row
// that fit are one; the q of a local problem does not look like that.
static bool second_matrix_follows(Scanner* s, const RawProblem* raw) {
    const char* back = s->at;
    double head[3];
    bool fits = true;
    for (int k = 0; k < 3 && fits; ++k) {
        size_t length = peek_word(s);
        char* stop = NULL;
        head[k] = length > 0 ? strtod(s->at, &stop) : -1.0;
        fits = length > 0 && stop == s->at + length;
        s->at += length;
    }
    s->at = back;
    return fits && (head[0] == 0.0 || head[0] == 1.0 || head[0] == 2.0) && head[1] == raw->w.rows &&
           head[2] == (double)raw->d * raw->n && head[2] > 0.0;
}

static bool read_problem(Scanner* s, RawProblem* raw) {
    if (!read_count(s, "dimension", 2, 6, &raw->d) ||
        !read_count(s, "contact count", 0, MAX_DIMENSION / 6, &raw->n)) {
        return false;
    }
    if (raw->d != 2 && raw->d != 3 && raw->d != 6) {
        return fail(s, "dimension is %d, not 2, 3 or 6", raw->d);
    }
    if (!expect(s, "contacts", (double)raw->n * (raw->d + 1)) || !read_matrix(s, &raw->w)) {
        return false;
    }
    if (raw->w.rows != raw->w.cols) {
        return fail(s, "the matrix is %d x %d, not square", raw->w.rows, raw->w.cols);
    }
    raw->global = raw->w.rows != raw->d * raw->n || second_matrix_follows(s, raw);
    if (raw->global) {
        if (!read_matrix(s, &raw->h)) {
            return false;
        }
        if (raw->h.rows != raw->w.rows || raw->h.cols != raw->d * raw->n) {
            return fail(s, "H is %d x %d, not %d x %d", raw->h.rows, raw->h.cols, raw->w.rows,
                        raw->d * raw->n);
        }
        if (!read_vector(s, "the right-hand side", raw->w.rows, &raw->f)) {
            return false;
        }
    }
    return read_vector(s, "q", raw->d * raw->n, &raw->q) && read_vector(s, "mu", raw->n, &raw->mu);
}

TdlStatus problem_parse_text(const TdlHost* host, const char* name, const char* text, size_t size,
                             RawProblem* raw) {
    Scanner s = {host, name, text, text, text + size, false};
    *raw = (RawProblem){0};
    if (!read_problem(&s, raw)) {
        raw_free(&host->mem, raw);
        return TDL_STATUS_BAD_INPUT;
    }
    return TDL_STATUS_OK;
}
