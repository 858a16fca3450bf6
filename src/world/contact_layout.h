// What detection sees of the bodies of a world.
#ifndef TDL_WORLD_CONTACT_LAYOUT_H
#define TDL_WORLD_CONTACT_LAYOUT_H

#include "world/contact_data.h"

// Room for it; made anew when bodies were added.
TdlStatus contacts_lay_out(const TdlWorld* world, Contacts* contacts);
void contacts_free_layout(Contacts* contacts);

// Sees the bodies as they are now.
void contacts_take_shape(TdlWorld* world);

// What was seen so far becomes the shape before the step; and its nodes those of the last time.
void contacts_keep_curves(Contacts* contacts);
void contacts_keep_nodes(Contacts* contacts);

// Whether a rod is short and thick enough to wind about others.
bool rod_winds(const Rod* rod);

#endif
