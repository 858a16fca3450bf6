// The narrow phase: pairs of elements, or element and obstacle, to contact sites.
#ifndef TDL_DETECT_NARROW_H
#define TDL_DETECT_NARROW_H

#include "detect/contact.h"

typedef struct Element {
    const TdlCurve* curve;
    int fibre, place;
    double arc;   // arc length (or sum of parameters) where it starts on the fibre
    double apart; // arc length that two points of its fibre must be apart to touch. (X.19)
    double seat;  // where it is in the middle of what has one curvature; negative: nowhere. (X.36)
    bool stiff;   // of a rigid or fixed fibre
    bool fixed;
    bool faced;         // of a fibre with a surface, which others meet in the place of its elements
    const double* bore; // [2] m, of a tube, next to those of its fibre's other elements; else null
    int count;          // elements of its fibre
} Element;

// A growing list of sites, and what happened on the way to them.
typedef struct SiteList {
    ContactSite* site;
    int count, capacity;
    bool failed;      // no memory
    TdlStatus status; // of a refused pair
    long pairs, accepted;
    bool certified;
} SiteList;

void site_list_clear(SiteList* list);
void site_list_free(const TdlAllocator* mem, SiteList* list);
bool site_list_reserve(const TdlAllocator* mem, SiteList* list, int capacity);
void site_list_add(const TdlAllocator* mem, SiteList* list, const ContactSite* site);

void narrow_pair(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                 const TdlCurveCapsules* ca, const Element* b, const TdlCurveCapsules* cb,
                 SiteList* out);

// Whether an element that is not fixed reaches narrow_obstacle's search: is not far from it.
bool narrow_meets(const TdlDetectorDef* def, const Element* a, const TdlColliderDef* obstacle);

void narrow_obstacle(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                     const TdlCurveCapsules* ca, const TdlColliderDef* obstacle, int index,
                     SiteList* out);

#endif
