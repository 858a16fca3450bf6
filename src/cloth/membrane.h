// Elastic faces: the strains of a membrane of two threads. docs/theory/cloth.md, section 5
#ifndef TDL_CLOTH_MEMBRANE_H
#define TDL_CLOTH_MEMBRANE_H

#include "cloth/cloth.h"

// Of a face at rest, by corner: x_u = sum a x along the warp, x_v = sum b x along the weft, and
// g = sum twist x, which is 0 of what is mapped uniformly. (N.53), (N.56)
typedef struct ClothPanel {
    double a[4], b[4], twist[4];
    double slope[2]; // 1/m: how g changes along the warp and the weft
} ClothPanel;

// The law as a sum of squares: first (e_1 + coupled e_2)^2 + weft e_2^2 + shear e_12^2. (N.54)
typedef struct ElasticLaw {
    double first, coupled, warp, weft, shear; // N/m but for `coupled`
} ElasticLaw;
ElasticLaw elastic_law(const TdlClothDef* def);

// Fills it from the corners of a face at rest; returns its area along its plane.
double cloth_panel_make(const TdlVec3* at, int corners, TdlVec3 warp, ClothPanel* out);

// Whether threads of the direction `warp` can lie in a face: they are not across it.
bool cloth_panel_fits(const TdlVec3* at, int corners, TdlVec3 warp);

double panel_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]);
double twist_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]);
double panel_stretched(const ClothElement* el, const double* x);

// blocks += size times the second derivative of the strain, with a share of its negative part.
void panel_add_second(const ClothElement* el, const double* x, double size, double share,
                      double* blocks);
void twist_add_second(const ClothElement* el, const double* x, double size, double share,
                      double* blocks);

#endif
