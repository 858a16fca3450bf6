// What the world asks of a detector beside the public calls.
#ifndef TDL_DETECT_DETECTOR_H
#define TDL_DETECT_DETECTOR_H

#include "detect/contact.h"

// The gap up to which contacts are wanted from now on, and the one up to which the pairs of the
// broad phase are (at least the first), m, >= 0.
void detector_set_margin(TdlDetector* detector, double margin, double reach);

// Pairs of the broad phase in the last update; see tdl_detector_pair.
long detector_pair_count(const TdlDetector* detector);

// The sites of the last update, in the order of tdl_detector_contacts.
const ContactSite* detector_sites(const TdlDetector* detector, int* count);

// Puts sites in the place of those of the last update: the next one matches against them.
TdlStatus detector_set_last(TdlDetector* detector, const ContactSite* sites, int count);

#endif
