// Nodes with mass, and the rows of strain of a step: which there are, by colour, their volumes'
// bias, and what they do. (A.8) to (A.16)
#include "granular/bed.h"

#include <string.h>

// A place with less than this share of its room taken has no row. To close it, a step would have to
// bring grains from a distance of nine times the place's size.
static const double FILL_LEAST = 0.1;

// --- nodes ---------------------------------------------------------------------------------------

static bool reserve_nodes(Bed* bed, int count) {
    if (count <= bed->node_capacity) {
        return true;
    }
    const TdlAllocator* mem = &bed->host.mem;
    int room[7];
    for (int k = 0; k < 7; ++k) {
        room[k] = bed->node_capacity;
    }
    bool done = tdl_reserve(mem, &bed->node, &room[0], count, sizeof *bed->node) &&
                tdl_reserve(mem, &bed->place, &room[1], count, sizeof *bed->place) &&
                tdl_reserve(mem, &bed->mass, &room[2], count, sizeof *bed->mass) &&
                tdl_reserve(mem, &bed->coordinate, &room[3], count, sizeof *bed->coordinate) &&
                tdl_reserve(mem, &bed->ease, &room[4], count, sizeof *bed->ease) &&
                tdl_reserve(mem, &bed->reacted, &room[5], count, 3 * sizeof *bed->reacted) &&
                tdl_reserve(mem, &bed->met, &room[6], count, sizeof *bed->met);
    bed->node_capacity = done ? room[0] : bed->node_capacity;
    return done;
}

bool bed_list_nodes(Bed* bed) {
    int count = 0;
    for (int i = 0; i < bed->grid.node_count; ++i) {
        bed->active_of[i] = bed->node_volume[i] > 0.0 && !bed_is_again(bed, i) ? count++ : -1;
    }
    if (!reserve_nodes(bed, count)) {
        return false;
    }
    for (int i = 0; i < bed->grid.node_count; ++i) {
        int k = bed->active_of[i];
        if (k >= 0) {
            bed->node[k] = i;
            bed->place[k] = grid_node_place(&bed->grid, i);
            bed->mass[k] = bed->def.density * bed->node_volume[i];
            bed->coordinate[k] = 3 * i;
            bed->met[k] = false;
            memcpy(bed->reacted + (ptrdiff_t)3 * k, bed->reaction + (ptrdiff_t)3 * i,
                   3 * sizeof *bed->reacted);
        }
    }
    bed_index_around(bed, bed->active_of);
    bed->node_count = count;
    return true;
}

// --- rows ----------------------------------------------------------------------------------------

static bool at_cells(const Bed* bed) {
    return bed->def.stress == TDL_GRAINS_CELLS;
}

double bed_volume_at(const Bed* bed, int place) {
    return at_cells(bed) ? bed->cell_volume[place] : bed->node_volume[place];
}

static bool has_row(const Bed* bed, int place) {
    return bed_volume_at(bed, place) > FILL_LEAST * bed->place_room[place];
}

static int count_rows(const Bed* bed) {
    int count = 0;
    for (int j = 0; j < bed->place_count; ++j) {
        count += has_row(bed, j);
    }
    return count;
}

static bool reserve_rows(Bed* bed, int count) {
    if (count <= bed->row_capacity) {
        return true;
    }
    const TdlAllocator* mem = &bed->host.mem;
    size_t near = (size_t)bed->strain.rows.near, d = (size_t)bed->components;
    size_t of_g = near * (size_t)bed->grid.axes;
    int room[9];
    for (int k = 0; k < 9; ++k) {
        room[k] = bed->row_capacity;
    }
    bool done = tdl_reserve(mem, &bed->row_place, &room[0], count, sizeof *bed->row_place) &&
                tdl_reserve(mem, &bed->row_node, &room[1], count, near * sizeof *bed->row_node) &&
                tdl_reserve(mem, &bed->g, &room[2], count, of_g * sizeof *bed->g) &&
                tdl_reserve(mem, &bed->mu, &room[3], count, sizeof *bed->mu) &&
                tdl_reserve(mem, &bed->bias, &room[4], count, sizeof *bed->bias) &&
                tdl_reserve(mem, &bed->guess, &room[5], count, d * sizeof *bed->guess) &&
                tdl_reserve(mem, &bed->aim, &room[7], count, sizeof *bed->aim) &&
                tdl_reserve(mem, &bed->push, &room[8], count, sizeof *bed->push) &&
                tdl_reserve(mem, &bed->shift, &room[6], count, sizeof *bed->shift);
    bed->row_capacity = done ? room[0] : bed->row_capacity;
    return done;
}

// Places of a colour are so far from each other, along each axis, that they share no node: (A.9)
static int colour_stride(const Bed* bed) {
    return at_cells(bed) ? 2 : 3;
}

static int colour_count(const Bed* bed) {
    int stride = colour_stride(bed);
    return bed->grid.axes == 3 ? stride * stride * stride : stride * stride;
}

// Rows of the places of a colour, from place `from` on along the axes up to `axis`.
static void list_colour(Bed* bed, int colour, int axis, int from) {
    int stride = colour_stride(bed), divisor = 1;
    for (int a = 0; a < axis; ++a) {
        divisor *= stride;
    }
    int end = bed->grid.around[axis] ? bed->grid.cells[axis] : bed->places[axis];
    for (int k = colour / divisor % stride; k < end; k += stride) {
        int place = from + k * bed->place_step[axis];
        if (axis > 0) {
            list_colour(bed, colour, axis - 1, place);
        } else if (has_row(bed, place)) {
            bed->row_of[place] = bed->row_count;
            bed->row_place[bed->row_count++] = place;
        }
    }
}

// Of a row at `place`: which nodes there are near it, by the axes from the last on.
static int* list_near(const Bed* bed, const int* at, int axis, int node, int* out) {
    int side = at_cells(bed) ? 2 : 3, first = at[axis] - (at_cells(bed) ? 0 : 1);
    for (int k = first; k < first + side; ++k) {
        int own = k < 0 && bed->grid.around[axis] ? k + bed->grid.cells[axis] : k;
        bool there = node >= 0 && own >= 0 && own < bed->grid.nodes[axis];
        int to = there ? node + own * bed->grid.node_step[axis] : -1;
        if (axis > 0) {
            out = list_near(bed, at, axis - 1, to, out);
        } else {
            *out++ = to < 0 ? -1 : bed->active_of[to];
        }
    }
    return out;
}

static void fill_row(void* user, int row, int worker) {
    (void)worker;
    Bed* bed = user;
    int place = bed->row_place[row], at[GRID_AXES];
    for (int a = 0; a < bed->grid.axes; ++a) {
        at[a] = grid_index(bed->place_step, bed->places, a, place);
    }
    int* out = bed->row_node + (ptrdiff_t)row * bed->strain.rows.near;
    list_near(bed, at, bed->grid.axes - 1, 0, out);
}

enum { ROWS_A_TASK = 256 };

bool bed_list_rows(Bed* bed) {
    if (!reserve_rows(bed, count_rows(bed))) {
        return false;
    }
    memset(bed->row_of, 0xff, (size_t)bed->place_count * sizeof *bed->row_of); // all -1
    bed->row_count = 0;
    int colours = colour_count(bed);
    for (int c = 0; c < colours; ++c) {
        bed->colour_start[c] = bed->row_count;
        list_colour(bed, c, bed->grid.axes - 1, 0);
    }
    bed->colour_start[colours] = bed->row_count;
    if (!at_cells(bed)) {
        bed_index_around(bed, bed->row_of);
    }
    pool_run(bed->pool, bed->row_count, ROWS_A_TASK, fill_row, bed);
    return true;
}

// (A.13), (A.14), the cone of (A.11), and the guess
void bed_renew_rows(Bed* bed, double dt) {
    double unit = sqrt(2.0 / bed->grid.axes);
    int d = bed->components;
    for (int j = 0; j < bed->row_count; ++j) {
        int place = bed->row_place[j];
        double room = bed->place_room[place] - bed_volume_at(bed, place);
        bed->bias[j] = bed->def.fixed || room < 0.0 ? 0.0 : unit * room / dt;
        bed->mu[j] = unit * bed_mu(bed, place);
        memcpy(bed->guess + (ptrdiff_t)j * d, bed->impulse + (ptrdiff_t)place * d,
               (size_t)d * sizeof *bed->guess);
    }
}

// --- what a row does -----------------------------------------------------------------------------

// sym sum_i v_i x g_ji, times two: the diagonal, then xy (xz in two dimensions), xz, yz
static void twice_strain(const Bed* bed, int row, const double* v, double e[BED_COMPONENTS]) {
    int near = bed->strain.rows.near, axes = bed->grid.axes;
    const int* node = bed->row_node + (ptrdiff_t)row * near;
    const double* g = bed->g + (ptrdiff_t)row * near * axes;
    memset(e, 0, BED_COMPONENTS * sizeof *e);
    for (int k = 0; k < near; ++k, g += axes) {
        if (node[k] < 0) {
            continue;
        }
        const double* at = v + 3 * (ptrdiff_t)bed->node[node[k]];
        double x = at[0], y = at[grid_slot(axes, 1)];
        e[0] += 2.0 * x * g[0];
        e[1] += 2.0 * y * g[1];
        e[3] += x * g[1] + y * g[0];
        if (axes == 3) {
            e[2] += 2.0 * at[2] * g[2];
            e[4] += x * g[2] + at[2] * g[0];
            e[5] += y * g[2] + at[2] * g[1];
        }
    }
}

// (A.10): 2 chi^-1
void bed_row_rate(const Bed* bed, int row, const double* v, double* u) {
    double e[BED_COMPONENTS];
    twice_strain(bed, row, v, e);
    if (bed->grid.axes == 2) {
        u[0] = 0.5 * (e[0] + e[1]);
        u[1] = 0.5 * (e[0] - e[1]);
        u[2] = e[3];
        return;
    }
    u[0] = (e[0] + e[1] + e[2]) / sqrt(6.0);
    u[1] = 0.5 * (e[0] - e[1]);
    u[2] = (e[0] + e[1] - 2.0 * e[2]) / sqrt(12.0);
    u[3] = e[3];
    u[4] = e[4];
    u[5] = e[5];
}

// chi(r) of (F.61)
static void matrix_of(int axes, const double* r, double s[GRID_AXES][GRID_AXES]) {
    memset(s, 0, GRID_AXES * sizeof *s);
    if (axes == 2) {
        s[0][0] = r[0] + r[1];
        s[1][1] = r[0] - r[1];
        s[0][1] = s[1][0] = r[2];
        return;
    }
    double mean = r[0] * sqrt(2.0 / 3.0), third = r[2] / sqrt(3.0);
    s[0][0] = mean + r[1] + third;
    s[1][1] = mean - r[1] + third;
    s[2][2] = mean - 2.0 * third;
    s[0][1] = s[1][0] = r[3];
    s[0][2] = s[2][0] = r[4];
    s[1][2] = s[2][1] = r[5];
}

// (A.12)
void bed_row_push(const Bed* bed, int row, const double* r, double scale, double* v) {
    int near = bed->strain.rows.near, axes = bed->grid.axes;
    const int* node = bed->row_node + (ptrdiff_t)row * near;
    const double* g = bed->g + (ptrdiff_t)row * near * axes;
    double s[GRID_AXES][GRID_AXES];
    matrix_of(axes, r, s);
    for (int k = 0; k < near; ++k, g += axes) {
        if (node[k] < 0) {
            continue;
        }
        double* at = v + 3 * (ptrdiff_t)bed->node[node[k]];
        double by = scale / bed->mass[node[k]];
        for (int a = 0; a < axes; ++a) {
            double sum = 0.0;
            for (int b = 0; b < axes; ++b) {
                sum += s[a][b] * g[b];
            }
            at[grid_slot(axes, a)] += by * sum;
        }
    }
}

// --- after the solve -----------------------------------------------------------------------------

// Work that a row's stress takes (A.16), and its rate of shear (A.25).
static double take_row(Bed* bed, int j, const double* r) {
    double u[BED_COMPONENTS], sum = 0.0, shear = 0.0;
    bed_row_rate(bed, j, bed->v_free, u);
    for (int k = 0; k < bed->components; ++k) {
        sum += r[k] * u[k];
        shear += k > 0 ? u[k] * u[k] : 0.0;
    }
    if (bed->rate != NULL) {
        int place = bed->row_place[j];
        bed->rate[place] = sqrt(shear) / bed_volume_at(bed, place);
    }
    return -sum;
}

// For the next step to begin with.
static void keep_reactions(Bed* bed) {
    memset(bed->reaction, 0, 3 * (size_t)bed->grid.node_count * sizeof *bed->reaction);
    for (int k = 0; k < bed->node_count; ++k) {
        memcpy(bed->reaction + bed->coordinate[k], bed->reacted + (ptrdiff_t)3 * k,
               3 * sizeof *bed->reacted);
    }
}

static void keep_row(void* user, int j, int worker) {
    (void)worker;
    Bed* bed = user;
    int d = bed->components;
    double* r = bed->impulse + (ptrdiff_t)bed->row_place[j] * d;
    memcpy(r, bed->guess + (ptrdiff_t)j * d, (size_t)d * sizeof *r);
    r[0] -= bed->shift[j];
    bed->aim[j] = take_row(bed, j, r);
}

void bed_keep_impulses(Bed* bed) {
    keep_reactions(bed);
    size_t count = (size_t)bed->place_count;
    memset(bed->impulse, 0, count * (size_t)bed->components * sizeof *bed->impulse);
    if (bed->rate != NULL) {
        memset(bed->rate, 0, count * sizeof *bed->rate);
    }
    pool_run(bed->pool, bed->row_count, ROWS_A_TASK, keep_row, bed);
    bed->step.dissipated = 0.0;
    for (int j = 0; j < bed->row_count; ++j) {
        bed->step.dissipated += bed->aim[j]; // what each took, for the moment
    }
}
