// Contacts: their basis, the merging of duplicates, and the matching with the last step.
#ifndef TDL_DETECT_CONTACT_H
#define TDL_DETECT_CONTACT_H

#include "base/memory.h"
#include "tendril/detect.h"

// The basis at a contact (S0 section 5): columns n from a to b, t1 and t2. `g` leads from the
// point of a to that of b; `ends` tells how many of the two points are ends. distance.md (X.20)
TdlMat3 contact_basis(TdlVec3 tangent_a, TdlVec3 tangent_b, TdlVec3 g, int ends);

// A contact with what merging and matching need.
typedef struct ContactSite {
    TdlContact contact;
    double arc[2]; // arc length (or the sum of parameters) along each body
    double width;  // m, of the wider of the two
    double merge;  // m, nearer than this to another one it is the same contact
    bool bends;    // both are fibres that bend, or one is and the other a collider
    bool seat;     // where an element holds itself, beside other sites. (X.36)
    bool wall;     // of a bore, from inside
    bool faced;    // with a surface: the same contact as another one only when its normal agrees
    bool feature;  // of a sheet: `arc` has the numbers of two features, which meet once. (X.39)
    float along;   // or nearer than this along both bodies, as `arc` counts; 0: not so
} ContactSite;

// What merging asks of every site.
typedef struct ContactBrief {
    double gap, x, arc; // x: of the first point
    int site;
    bool seat;
} ContactBrief;

// Of contacts of the same two bodies both of whose points are nearer than `merge` (or, when it is
// negative, what the sites say; of those that bend -merge times their `merge`) the deepest stays;
// of those equally deep a seat, then the first. A seat is no other's duplicate. The sites must be
// sorted by bodies; the order of those that stay is kept. Returns their number. `open` and `mark`
// have room for `count`.
int contact_merge(ContactSite* sites, int count, double merge, ContactBrief* open,
                  unsigned char* mark);

// Sets `previous` of each contact to the nearest of the last step's along both bodies, each used
// once, when it is not further than `reach` widths; of features to the one of the same two, else
// to the nearest in space. Both lists sorted as contact_compare has it.
void contact_match(ContactSite* sites, int count, const ContactSite* last, int last_count,
                   double reach, unsigned char* mark);

// Whether two sites of sheets, of the same bodies, are about the same two features.
bool contact_same_features(const ContactSite* a, const ContactSite* b);

// The other body first.
void contact_turn(ContactSite* site);

int contact_compare(const void* a, const void* b); // by bodies, elements, parameters; for qsort

#endif
