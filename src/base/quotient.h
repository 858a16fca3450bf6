// Quotients that give their product back.
#ifndef TDL_BASE_QUOTIENT_H
#define TDL_BASE_QUOTIENT_H

#include <math.h>

// A number whose product with the factor is `product` to the last bit, where there is one next to
// the rounded quotient; else that.
static inline double quotient_of(double product, double factor) {
    double x = product / factor, up = nextafter(x, INFINITY), down = nextafter(x, -INFINITY);
    if (x * factor == product || (up * factor != product && down * factor != product)) {
        return x;
    }
    return up * factor == product ? up : down;
}

#endif
