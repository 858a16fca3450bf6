// Points inside surfaces of triangles, by counting what a ray meets, and segments through them.
#include "detect/inside.h"

#include <float.h>

// Rays go nearly along the axes, so that the boxes about them are slim; they lean, since edges of
// meshes are often parallel to the axes, and a ray that meets one may count two triangles or none.
static const TdlVec3 RAYS[3] = {
    {1.0, 1.7320508e-3, -1.4142136e-3}, {1.1180340e-3, -1.0, 1.6583124e-3}, {-1.9e-3, 1.3e-3, 1.0}};

typedef struct Ray {
    const Surface* surface;
    TdlVec3 from, way;
    int count;    // triangles that it meets
    int outwards; // those that it leaves through, less those that it enters through
    double first; // share of the way to the first
    int triangle; // which that is; -1: none
} Ray;

// The share of the way at which it passes through the triangle. (Cramer's rule on
// from + t way = corner + u a + v b.)
static void meet_triangle(void* user, int f) {
    Ray* ray = user;
    const Surface* s = ray->surface;
    const int* corner = s->corner + 3 * (ptrdiff_t)f;
    TdlVec3 origin = s->vertex[corner[0]];
    TdlVec3 a = tdl_sub3(s->vertex[corner[1]], origin), b = tdl_sub3(s->vertex[corner[2]], origin);
    TdlVec3 n = tdl_cross3(a, b), from = tdl_sub3(ray->from, origin);
    double det = -tdl_dot3(ray->way, n);
    if (fabs(det) <= DBL_MIN) {
        return; // along its plane
    }
    TdlVec3 across = tdl_cross3(from, ray->way);
    double t = tdl_dot3(from, n) / det;
    double u = tdl_dot3(b, across) / det, v = -tdl_dot3(a, across) / det;
    if (t >= 0.0 && t <= 1.0 && u >= 0.0 && v >= 0.0 && u + v <= 1.0) {
        ++ray->count;
        ray->outwards += det < 0.0 ? 1 : -1;
        ray->triangle = t < ray->first ? f : ray->triangle;
        ray->first = fmin(ray->first, t);
    }
}

static Ray follow(const Surface* surface, TdlVec3 from, TdlVec3 to) {
    Ray ray = {surface, from, tdl_sub3(to, from), .first = INFINITY, .triangle = -1};
    SurfaceBox box = {{fmin(from.x, to.x), fmin(from.y, to.y), fmin(from.z, to.z)},
                      {fmax(from.x, to.x), fmax(from.y, to.y), fmax(from.z, to.z)}};
    surface_each_near(surface, box, meet_triangle, &ray);
    return ray;
}

bool surface_encloses(const Surface* surface, TdlVec3 point) {
    const SurfaceBox* box = &surface->node[0].box;
    if (!surface->closed || point.x < box->lo.x || point.y < box->lo.y || point.z < box->lo.z ||
        point.x > box->hi.x || point.y > box->hi.y || point.z > box->hi.z) {
        return false;
    }
    int within = 0;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 out = tdl_axpy3(point, 2.0 * surface->size, RAYS[k]);
        within += follow(surface, point, out).outwards > 0;
    }
    return within >= 2;
}

double surface_distance(const Surface* surface, TdlVec3 point) {
    double low = 0.0, high = surface->size;
    while (!surface_is_nearer(surface, point, high)) {
        low = high;
        high *= 2.0;
        if (!isfinite(high)) {
            return high;
        }
    }
    for (int i = 0; i < 60 && high - low > 1.0e-6 * high && high > DBL_MIN; ++i) {
        double middle = 0.5 * (low + high);
        *(surface_is_nearer(surface, point, middle) ? &high : &low) = middle;
    }
    return high;
}

int surface_pierced(const Surface* surface, TdlVec3 from, TdlVec3 to, TdlVec3* where) {
    Ray ray = follow(surface, from, to);
    if (ray.count > 0) {
        *where = tdl_axpy3(from, ray.first, ray.way);
    }
    return ray.triangle;
}
