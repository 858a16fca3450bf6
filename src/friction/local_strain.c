// A row of strain in space prepared for the one-block solver, from its matrix G alone.
//
// In the axes in which G = sum_i g_i g_i'/m_i is diagonal, W r = 2 chi^-1(sym chi(r) G) leaves each
// shear alone, with the eigenvalue gamma_a + gamma_b, and couples the pressure with the two
// deviators on the diagonal. So the eigenvectors of S are those of a matrix of 3 and of one of 2,
// where a block that nothing is known of takes one of 5. granular-solver.md (A.46)
#include "friction/local.h"

#include <float.h>

// 3^(1/2)/3, and (2/3)^(1/2)
static const double ROOT13 = 0.57735026918962576, ROOT23 = 0.81649658092772603;

// What is left of the eigenvector `row` in tangential coordinates: those of the matrix
// sum_ab m_ab rho_a rho_b', m symmetric and without trace. (F.61)
static void turn_row(const double* rho, const double m[3][3], double* row) {
    double t[3][3] = {{0}};
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            for (int k = 0; k < 9; ++k) {
                t[k / 3][k % 3] += m[a][b] * rho[3 * a + k / 3] * rho[3 * b + k % 3];
            }
        }
    }
    row[0] = 0.5 * (t[0][0] - t[1][1]);
    row[1] = 0.5 * ROOT13 * (t[0][0] + t[1][1] - 2.0 * t[2][2]);
    row[2] = t[0][1];
    row[3] = t[0][2];
    row[4] = t[1][2];
}

// The two deviators on the diagonal, (1, -1, 0) and (1, 1, -2)/3^(1/2), turned so that S is
// diagonal among them.
static void prepare_diagonal(const double* gamma, const double* rho, double wnn, double* prep) {
    double one = ROOT23 * (gamma[0] - gamma[1]);
    double two = ROOT23 * ROOT13 * (gamma[0] + gamma[1] - 2.0 * gamma[2]);
    double part = wnn > 0.0 ? 1.0 / wnn : 0.0, q[4];
    double s[4] = {gamma[0] + gamma[1] - part * one * one,
                   ROOT13 * (gamma[0] - gamma[1]) - part * one * two, 0.0,
                   (gamma[0] + gamma[1] + 4.0 * gamma[2]) / 3.0 - part * two * two};
    s[2] = s[1];
    local_eigen2(s, q);
    for (int k = 0; k < 2; ++k) {
        double a = q[2 * k], b = ROOT13 * q[2 * k + 1];
        const double m[3][3] = {{a + b, 0.0, 0.0}, {0.0, b - a, 0.0}, {0.0, 0.0, -2.0 * b}};
        prep[PREP_S + k] = s[3 * k];
        prep[PREP_S + 5 + k] = wnn > 0.0 ? q[2 * k] * one + q[2 * k + 1] * two : 0.0;
        turn_row(rho, m, prep + PREP_S + 10 + (ptrdiff_t)5 * k);
    }
}

void local_prepare_strain(const double* g, double* prep) {
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    double a[9] = {g[0], g[1], g[2], g[1], g[3], g[4], g[2], g[4], g[5]}, rho[9];
    local_eigen(3, a, rho);
    double gamma[3] = {a[0], a[4], a[8]}, trace = gamma[0] + gamma[1] + gamma[2];
    double floor = LOCAL_SINGULAR * 4.0 * trace, wnn = 2.0 / 3.0 * trace;
    prepare_diagonal(gamma, rho, wnn, prep);
    for (int k = 0; k < 3; ++k) {
        const double xy = k == 0, xz = k == 1, yz = k == 2;
        const double m[3][3] = {{0.0, xy, xz}, {xy, 0.0, yz}, {xz, yz, 0.0}};
        prep[PREP_S + 2 + k] = gamma[first[k]] + gamma[second[k]];
        prep[PREP_S + 7 + k] = 0.0;
        turn_row(rho, m, prep + PREP_S + 10 + (ptrdiff_t)5 * (2 + k));
    }
    for (int k = 0; k < 5; ++k) {
        prep[PREP_S + k] = prep[PREP_S + k] > floor ? prep[PREP_S + k] : 0.0;
    }
    prep[PREP_WNN] = wnn;
    prep[PREP_FLOOR] = floor > 0.0 ? floor : DBL_MIN;
    prep[PREP_ALPHA] = 0.0;
}
