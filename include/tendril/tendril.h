// Tendril: slender things that touch. This header includes all the others of
// libtendril; those of libtendril_io are in tendril/io.h.
#ifndef TENDRIL_TENDRIL_H
#define TENDRIL_TENDRIL_H

#include "tendril/base.h"
#include "tendril/body.h"
#include "tendril/ccd.h"
#include "tendril/cloth.h"
#include "tendril/collider.h"
#include "tendril/contact.h"
#include "tendril/control.h"
#include "tendril/curve.h"
#include "tendril/detect.h"
#include "tendril/friction.h"
#include "tendril/grains.h"
#include "tendril/inverse.h"
#include "tendril/load.h"
#include "tendril/math.h"
#include "tendril/motion.h"
#include "tendril/rigid.h"
#include "tendril/rod.h"
#include "tendril/rope.h"
#include "tendril/shell.h"
#include "tendril/strain.h"
#include "tendril/trace.h"
#include "tendril/world.h"

#endif
