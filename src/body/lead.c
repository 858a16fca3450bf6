// Where a program leads things. docs/theory/world.md, section 8
#include "body/lead.h"

#include "math/rotation.h"

#include <string.h>

// From a to b, by the share of the way.
static TdlPose between(TdlPose a, TdlPose b, double share) {
    TdlVec3 turn = tdl_rotation_log(tdl_mul33(b.rotation, tdl_transpose33(a.rotation)));
    TdlMat3 part = tdl_rotation_exp(tdl_scale3(share, turn));
    return (TdlPose){tdl_axpy3(a.position, share, tdl_sub3(b.position, a.position)),
                     tdl_rotation_nearest(tdl_mul33(part, a.rotation))};
}

TdlPose lead_pose(const Lead* lead, TdlPose now, double start, double end) {
    if (lead->mode == LEAD_TO) {
        return end >= lead->arrival
                   ? lead->target
                   : between(now, lead->target, (end - start) / (lead->arrival - start));
    }
    TdlVec3 turn = tdl_scale3(end - start, lead->rate.angular);
    TdlPose out = {tdl_axpy3(now.position, end - start, lead->rate.linear), now.rotation};
    if (tdl_dot3(turn, turn) > 0.0) {
        out.rotation = tdl_rotation_nearest(tdl_mul33(tdl_rotation_exp(turn), now.rotation));
    }
    return out;
}

Twist lead_twist(TdlPose from, TdlPose to, double dt) {
    Twist twist = twist_between(from, to, dt);
    if (memcmp(&from.rotation, &to.rotation, sizeof from.rotation) == 0) {
        twist.angular = (TdlVec3){0};
    }
    return twist;
}
