// What the world asks of a detector beside the public calls.
#ifndef TDL_DETECT_DETECTOR_H
#define TDL_DETECT_DETECTOR_H

#include "base/stop.h"
#include "detect/broad.h"
#include "detect/contact.h"
#include "detect/on_surface.h"

// A detector that works with a pool of its owner's, which must outlive it, instead of
// def->thread_count threads of its own; null: with these.
TdlStatus detector_create_lent(const TdlHost* host, const TdlDetectorDef* def, Pool* pool,
                               TdlDetector** out);

// The gap up to which contacts are wanted from now on, m, >= 0. With `travel` (by element, in the
// order of the fibres; null: none), which must stay until the next update is over, the pairs of the
// broad phase are also those that may have met on the way.
void detector_set_margin(TdlDetector* detector, double margin, const Travel* travel);

// Who is asked within the next updates, by this thread: true ends them with TDL_STATUS_STOPPED.
void detector_set_stop(TdlDetector* detector, Stop stop);

// Whether every local minimum of a pair is a contact from now on, or only the least.
void detector_set_minima(TdlDetector* detector, bool all);

// The surfaces that the next updates see, which must stay until they are over. Other things meet
// the surface of a fibre in the place of its elements, which meet what has no surface.
void detector_set_surfaces(TdlDetector* detector, const SurfaceBody* surfaces, int count);

// Pairs of the broad phase in the last update; see tdl_detector_pair.
long detector_pair_count(const TdlDetector* detector);

int detector_element_count(const TdlDetector* detector);
double detector_margin(const TdlDetector* detector);

typedef struct DetectorPair {
    int element[2]; // among all of the detector
    const TdlCurve *a, *b;
} DetectorPair;

DetectorPair detector_get_pair(const TdlDetector* detector, long index);
const TdlCurve* detector_curve(const TdlDetector* detector, int element);

// The colliders that the last update was given, and whether its narrow phase looked at an element
// and one of them.
const TdlColliderDef* detector_colliders(const TdlDetector* detector, int* count);
bool detector_meets(const TdlDetector* detector, int element, int collider);

// False: such a pair is proved not to have met on its way, of which the last update was told.
bool detector_pair_may_have_met(const TdlDetector* detector, long index);

// The sites of the last update, in the order of tdl_detector_contacts.
const ContactSite* detector_sites(const TdlDetector* detector, int* count);

// Puts sites in the place of those of the last update: the next one matches against them.
TdlStatus detector_set_last(TdlDetector* detector, const ContactSite* sites, int count);

#endif
