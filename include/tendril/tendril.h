// Tendril: slender things that touch. This header includes all the others.
#ifndef TENDRIL_TENDRIL_H
#define TENDRIL_TENDRIL_H

#include "tendril/base.h"
#include "tendril/ccd.h"
#include "tendril/collider.h"
#include "tendril/contact.h"
#include "tendril/curve.h"
#include "tendril/detect.h"
#include "tendril/friction.h"
#include "tendril/math.h"
#include "tendril/motion.h"
#include "tendril/result.h"
#include "tendril/rigid.h"
#include "tendril/rod.h"
#include "tendril/run.h"
#include "tendril/scene.h"
#include "tendril/trace.h"
#include "tendril/world.h"

#endif
