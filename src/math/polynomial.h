// Real roots of polynomials up to degree four.
#ifndef TDL_MATH_POLYNOMIAL_H
#define TDL_MATH_POLYNOMIAL_H

#include "tendril/base.h"

// Every number is a root of the zero polynomial.
enum { TDL_ROOTS_ALL = -1 };

// The distinct real roots of a[0] + a[1] x + ... in increasing order; returns their number.
//
// Leading coefficients may vanish or be tiny, and scales may be anything. Each root returned is
// exact for coefficients changed by a few roundings, and a crossing is never lost. Roots that so
// small a change can make equal (m roots within about eps^(1/m) of each other) may be returned as
// one; a double root that so small a change can make complex is returned. Coefficients that are not
// finite give no roots.
int tdl_roots_quadratic(const double a[3], double roots[2]);
int tdl_roots_cubic(const double a[4], double roots[3]);
int tdl_roots_quartic(const double a[5], double roots[4]);

#endif
