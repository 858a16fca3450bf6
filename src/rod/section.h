// Sections of a rod: how thick, how stiff and how heavy it is, along its length. sections.md
#ifndef TDL_ROD_SECTION_H
#define TDL_ROD_SECTION_H

#include "rod/rod.h"

// Fills a rod's means and its shares; stiffening is the definition's.
void section_set(Rod* rod, const TdlRodDef* def);

// The factor on all stiffness of a rod that is not stretched: stiffness, stretching and shearing
// `at_rest`. (U.3)
void section_stiffen(Rod* rod, double factor);

#endif
