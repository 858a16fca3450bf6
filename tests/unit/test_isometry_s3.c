// S3's isometry: its averages against integrals made here, derivatives against differences, and
// what it does not fix.
#include "math/eigen.h"
#include "one_cloth.h"

enum { COLUMNS = 7, ROWS = 9, NODES = COLUMNS * ROWS, DOFS = 3 * NODES };

static TdlVec3 vertices[NODES], rest[NODES];
static int faces[4 * NODES];

static TdlClothDef make_def(int columns, int rows) {
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(0.42, 0.594, columns, rows, vertices, faces);
    def.isometry = TDL_ISOMETRY_S3;
    return def;
}

// Rows of different widths.
static void stretch_rows(int columns, int rows) {
    for (int i = 0; i < columns * rows; ++i) {
        vertices[i].x += 1.5 * vertices[i].x * vertices[i].x;
        vertices[i].y -= 0.8 * vertices[i].y * vertices[i].y;
    }
}

// E, F and G of node k as S3 writes them, quad by quad: products of the derivatives times the hat
// of k, which is polynomials of degree 3 in each direction, by three points of Gauss each way.
static void integrate(const Cloth* c, int k, double out[3]) {
    static const double at[3] = {-0.774596669241483377, 0.0, 0.774596669241483377};
    static const double weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
    double mass = 0.0;
    memset(out, 0, 3 * sizeof *out);
    for (int f = 0; f < c->def.mesh.face_count; ++f) {
        const int* v = c->def.mesh.faces + 4 * f;
        int own = -1;
        for (int m = 0; m < 4; ++m) {
            own = v[m] == k ? m : own;
        }
        for (int g = 0; g < 9 && own >= 0; ++g) {
            double s = 0.5 * (1.0 + at[g % 3]), t = 0.5 * (1.0 + at[g / 3]);
            double hat[4] = {(1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t};
            double by_s[4] = {-(1 - t), 1 - t, t, -t}, by_t[4] = {-(1 - s), -s, s, 1 - s};
            TdlVec3 u = {0}, w = {0};
            for (int m = 0; m < 4; ++m) {
                u = tdl_axpy3(u, by_s[m], tdl_load3(c->x, v[m]));
                w = tdl_axpy3(w, by_t[m], tdl_load3(c->x, v[m]));
            }
            const TdlVec3* at_rest = c->def.rest_corners + 4 * f;
            double a = tdl_norm3(tdl_sub3(at_rest[1], at_rest[0]));
            double b = tdl_norm3(tdl_sub3(at_rest[3], at_rest[0]));
            double part = weight[g % 3] * weight[g / 3] * a * b * hat[own];
            mass += part;
            out[0] += part * tdl_dot3(u, u) / (a * a);
            out[1] += part * tdl_dot3(u, w) / (a * b);
            out[2] += part * tdl_dot3(w, w) / (b * b);
        }
    }
    for (int m = 0; m < 3; ++m) {
        out[m] /= mass; // a quarter of the areas about the node
    }
}

TEST(averages_are_the_integrals_of_S3) {
    TdlClothDef def = make_def(5, 6);
    stretch_rows(5, 6);
    Cloth* c = make(&def);
    shake(c, 0.02, 3);
    int metrics = 0;
    for (int e = 0; e < c->element_count; ++e) {
        const ClothElement* el = &c->element[e];
        if (el->kind == CLOTH_EDGE) {
            continue;
        }
        double want[3];
        TdlVec3 slope[CLOTH_MOST];
        int which = metrics++ % 3;
        integrate(c, el->node[4], want);
        want[0] = 0.5 * (want[0] - 1.0);
        want[2] = 0.5 * (want[2] - 1.0);
        CHECK_NEAR(cloth_strain(el, c->x, slope), want[which], 1.0e-13); // sums of 81 terms near 10
    }
    CHECK_INT(metrics, 3 * 3 * 4);
    CHECK_INT(c->element_count - metrics, 2 * (4 + 5));
    drop(c);
}

// Differences of three sizes: quadratic forms have no error but rounding, edges that of squares.
TEST(gradients_are_those_of_differences) {
    TdlClothDef def = make_def(4, 5);
    stretch_rows(4, 5);
    Cloth* c = make(&def);
    shake(c, 0.02, 1);
    for (int e = 0; e < c->element_count; ++e) {
        const ClothElement* el = &c->element[e];
        TdlVec3 slope[CLOTH_MOST], other[CLOTH_MOST];
        cloth_strain(el, c->x, slope);
        for (int k = 0; k < 3 * el->count; ++k) {
            double error[3], *at = &c->x[3 * el->node[k / 3] + k % 3], kept = *at;
            for (int s = 0; s < 3; ++s) {
                double h = 1.0e-3 / (1 << s);
                *at = kept + h;
                double high = cloth_strain(el, c->x, other);
                *at = kept - h;
                double low = cloth_strain(el, c->x, other);
                *at = kept;
                error[s] = fabs((high - low) / (2.0 * h) - (&slope[k / 3].x)[k % 3]);
            }
            CHECK_BELOW(error[2], el->kind == CLOTH_EDGE ? 1.0e-2 : 1.0e-11);
            CHECK(error[2] < 0.3 * error[1] + 1.0e-11 && error[1] < 0.3 * error[0] + 1.0e-11);
        }
    }
    drop(c);
}

// The second derivative of one element as a matrix over its nodes, by what it adds to A.
static void second(const Cloth* c, const ClothElement* el, double stress, double share,
                   double out[9 * 9]) {
    memset(c->blocks, 0, 9 * (size_t)c->pattern.start[c->node_count] * sizeof *c->blocks);
    cloth_add_geometric(el, c->x, stress, 1.0, share, c->blocks);
    for (int p = 0; p < 81; ++p) {
        const double* block = c->blocks + 9 * el->place[p];
        out[p] = block[0];
        CHECK(block[4] == block[0] && block[8] == block[0] && block[1] == 0.0);
    }
}

TEST(second_derivatives_are_those_of_differences_and_can_be_made_definite) {
    TdlClothDef def = make_def(4, 5);
    stretch_rows(4, 5);
    Cloth* c = make(&def);
    shake(c, 0.02, 2);
    for (int e = 0; e < c->element_count; ++e) {
        const ClothElement* el = &c->element[e];
        if (el->kind == CLOTH_EDGE) {
            continue;
        }
        for (int sign = -1; sign <= 1; sign += 2) {
            double whole[81], none[81], scratch[27], size = 0.0;
            second(c, el, sign, 1.0, whole);
            second(c, el, sign, 0.0, none);
            for (int q = 0; q < 9; ++q) {
                TdlVec3 high[CLOTH_MOST], low[CLOTH_MOST];
                double *at = &c->x[3 * el->node[q]], kept = *at;
                *at = kept + 0.01;
                cloth_strain(el, c->x, high);
                *at = kept - 0.01;
                cloth_strain(el, c->x, low);
                *at = kept;
                for (int p = 0; p < 9; ++p) {
                    size = fmax(size, fabs(whole[9 * p + q]));
                    CHECK_NEAR(whole[9 * p + q], sign * (high[p].x - low[p].x) / 0.02, 1.0e-9);
                }
            }
            // without its negative part it has no negative eigenvalue, and is not less
            double more[81];
            for (int p = 0; p < 81; ++p) {
                more[p] = none[p] - whole[p];
            }
            CHECK(tdl_smallest_eigenvalue(9, none, 9, scratch) > -1.0e-12 * size);
            CHECK(tdl_smallest_eigenvalue(9, more, 9, scratch) > -1.0e-12 * size);
        }
    }
    drop(c);
}

// --- what it does not fix ------------------------------------------------------------------------

// The rank of the gradients of all strains, by elimination with the largest entry first. The pivots
// that are left out are roundings: the first of them is told.
static int rank_of(const Cloth* c, double* gap) {
    static double J[160][DOFS];
    int rank = 0, n = 3 * c->node_count;
    memset(J, 0, sizeof J);
    for (int e = 0; e < c->strain_count; ++e) {
        const ClothElement* el = &c->element[e];
        TdlVec3 slope[CLOTH_MOST];
        cloth_strain(el, c->x, slope);
        for (int k = 0; k < el->count; ++k) {
            tdl_store3(J[e], el->node[k], slope[k]);
        }
    }
    for (*gap = INFINITY; rank < c->strain_count; ++rank) {
        int row = rank, column = 0;
        for (int e = rank; e < c->strain_count; ++e) {
            for (int i = 0; i < n; ++i) {
                if (fabs(J[e][i]) > fabs(J[row][column])) {
                    row = e;
                    column = i;
                }
            }
        }
        if (fabs(J[row][column]) < 1.0e-9) {
            *gap = fabs(J[row][column]);
            break;
        }
        for (int i = 0; i < n; ++i) {
            double swap = J[rank][i];
            J[rank][i] = J[row][i];
            J[row][i] = swap;
        }
        for (int e = rank + 1; e < c->strain_count; ++e) {
            double by = J[e][column] / J[rank][column];
            for (int i = 0; i < n; ++i) {
                J[e][i] -= by * J[rank][i];
            }
        }
    }
    return rank;
}

TEST(a_flat_sheet_has_rows_that_depend_on_each_other) {
    TdlClothDef def = make_def(COLUMNS, ROWS);
    double gap;
    Cloth* c = make(&def);
    int flat = rank_of(c, &gap);
    printf("  %d rows for %d coordinates; flat of rank %d (what is left: %.1e)\n", c->strain_count,
           3 * c->node_count, flat, gap);
    CHECK_INT(c->strain_count, 3 * NODES - 4 * (COLUMNS + ROWS) + 8);
    CHECK_INT(c->strain_count, 133);
    CHECK_INT(flat, 118);
    shake(c, 0.01, 4);
    int bent = rank_of(c, &gap);
    printf("  shaken of rank %d\n", bent);
    CHECK_INT(bent, 133);
    drop(c);
    // edges and shears keep as much as there is of a metric: every edge, and one angle a quad
    def.isometry = TDL_ISOMETRY_EDGES;
    c = make(&def);
    CHECK_INT(c->strain_count,
              COLUMNS * (ROWS - 1) + ROWS * (COLUMNS - 1) + (COLUMNS - 1) * (ROWS - 1));
    drop(c);
}

// A chevron: columns sheared to and fro in the plane. All averages are as at rest, and so are the
// edges of the rim; the area is not.
TEST(averages_do_not_see_a_chevron) {
    TdlClothDef def = make_def(COLUMNS, ROWS);
    Cloth* c = make(&def);
    double width = 0.42 / (COLUMNS - 1), angle = 0.6, inner = 0.0, edges = 0.0;
    for (int i = 0; i < NODES; ++i) {
        c->x[3 * i] = width * cos(angle) * (i % COLUMNS);
        c->x[3 * i + 1] += i % COLUMNS % 2 == 0 ? 0.0 : width * sin(angle);
    }
    for (int e = 0; e < c->strain_count; ++e) {
        TdlVec3 slope[CLOTH_MOST];
        double own = fabs(cloth_strain(&c->element[e], c->x, slope));
        double* most = c->element[e].kind == CLOTH_EDGE ? &edges : &inner;
        *most = fmax(*most, own);
    }
    printf("  averages off by %.1e, rim by %.1e, the area by %.1f %%\n", inner, edges,
           100.0 * (cos(angle) - 1.0));
    CHECK_BELOW(inner, 1.0e-13);
    CHECK_BELOW(edges, 1.0e-13);
    drop(c);
}

// --- faults --------------------------------------------------------------------------------------

static bool refuses(const TdlClothDef* def) {
    const char* fault = tdl_cloth_def_fault(def);
    return fault != NULL && strstr(fault, "isometry") != NULL;
}

TEST(other_sheets_are_refused) {
    TdlClothDef def = make_def(4, 4);
    CHECK(tdl_cloth_def_fault(&def) == NULL);
    def.isometry = (TdlClothIsometry)2;
    CHECK(refuses(&def));
    def.isometry = (TdlClothIsometry)-1;
    CHECK(refuses(&def));
    def.isometry = TDL_ISOMETRY_S3;
    def.model = TDL_CLOTH_ELASTIC;
    CHECK(refuses(&def));
    def = make_def(4, 4);
    faces[4 * 4 + 3] = -1; // a triangle
    CHECK(refuses(&def));
    def = make_def(4, 4); // askew
    vertices[5].x += 0.01;
    CHECK(refuses(&def));
    def = make_def(4, 4); // bent at rest
    for (int i = 0; i < 16; ++i) {
        rest[i] = vertices[i];
        rest[i].z = i < 8 ? 0.0 : 0.01;
    }
    def.rest = rest;
    CHECK(refuses(&def));
    def.mesh = tdl_cloth_rectangle(0.4, 0.4, 4, 4, vertices, faces);
    for (int i = 0; i < 16; ++i) { // flat at rest, and nothing else counts
        rest[i] = vertices[i];
        vertices[i].z = 0.01 * i;
    }
    CHECK(tdl_cloth_def_fault(&def) == NULL);
    for (int i = 0; i < 16; ++i) { // in another plane, turned
        rest[i] = (TdlVec3){0.6 * rest[i].x, rest[i].y, 0.8 * rest[i].x};
    }
    CHECK(tdl_cloth_def_fault(&def) == NULL);
    static TdlVec3 corners[4 * NODES];
    def = make_def(4, 4); // by face and corner, as a world tells of it; and torn at one
    for (int k = 0; k < 4 * def.mesh.face_count; ++k) {
        corners[k] = vertices[faces[k]];
    }
    def.rest_corners = corners;
    CHECK(tdl_cloth_def_fault(&def) == NULL);
    for (int k = 0; k < 4; ++k) {
        corners[k].x += 0.01;
    }
    CHECK(refuses(&def));
    def = make_def(2, 2); // a rim only
    CHECK(tdl_cloth_def_fault(&def) == NULL);
    Cloth* c = make(&def);
    CHECK_INT(c->strain_count, 4);
    drop(c);
}
