// What the world asks of a detector beside the public calls.
#ifndef TDL_DETECT_DETECTOR_H
#define TDL_DETECT_DETECTOR_H

#include "detect/contact.h"

// The gap up to which contacts are wanted from now on, m, >= 0.
void detector_set_margin(TdlDetector* detector, double margin);

// The sites of the last update, in the order of tdl_detector_contacts.
const ContactSite* detector_sites(const TdlDetector* detector, int* count);

// Puts sites in the place of those of the last update: the next one matches against them.
TdlStatus detector_set_last(TdlDetector* detector, const ContactSite* sites, int count);

#endif
