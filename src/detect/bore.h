// What lies in the bore of a tube. docs/theory/distance.md, section 12
#ifndef TDL_DETECT_BORE_H
#define TDL_DETECT_BORE_H

#include "detect/narrow.h"

// One curve of a tube, between the planes that part it from those beside it.
typedef struct TubePiece {
    const TdlCurve* curve;
    const double* bore; // [2] m, its radius at both ends
    bool mouth[2];      // the tube ends there
    TdlVec3 end[2];     // ends of the centreline
    TdlVec3 plane[2];   // unit, along the tube, across the planes there
} TubePiece;

// `curve` is number `place` of the `count` curves of its fibre, which lie one after the other.
TubePiece tube_piece(const TdlCurve* curve, const double* bore, int place, int count);

// Where a point is as to a piece.
typedef struct BorePlace {
    double t;        // nearest on its centreline
    TdlVec3 axis;    // there
    double distance; // m, from it
    int beyond;      // -1, 1: abreast of what comes before or after the piece; 0: of itself
    bool inside;     // nearer to the axis than the middle of the wall
} BorePlace;

BorePlace bore_place(const TubePiece* tube, TdlVec3 point);

// Whether one curve fits into the bore of another.
bool bore_takes(const double* bore, const TdlCurve* other);

// Whether what was found outside of a tube is there: not a place in its bore nor one before its
// mouth. `side` is the tube's.
bool bore_leaves(const TubePiece* tube, const TdlDistance* found, int side);

// Adds the sites at which `inner` touches the wall of the bore from within, and the mouths.
void narrow_bore(const TdlHost* host, const TdlDetectorDef* def, const Element* inner,
                 const Element* tube, const TubePiece* piece, SiteList* out);

#endif
