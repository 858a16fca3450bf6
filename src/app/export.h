// Writers of other programs' formats. Each writes all chosen frames of a result to `path`, says on
// stderr what goes wrong, and returns an exit code.
#ifndef TDL_APP_EXPORT_H
#define TDL_APP_EXPORT_H

#include "app/frame_reader.h"

// A .pvd that lists, for every frame, NAME-0000.vtp with the rods, NAME-bodies-0000.vtp with the
// meshes, NAME-contacts-0000.vtp with the contacts and their forces and NAME-surfaces-0000.vtp with
// what moves by its vertices, NAME-grains-0000.vtp with grains, when there are any; raw appended
// data.
int export_vtp(FrameReader* reader, const char* path);

// Text USD: the rods as BasisCurves, each body and surface as a Mesh, contacts and grains as
// Points; time samples.
int export_usda(FrameReader* reader, const char* path);

// Wavefront polylines and meshes; NAME-0000.obj and so on for several frames.
int export_obj(FrameReader* reader, const char* path);

// A point cache of all frames, and NAME.obj with the rods of the first, to which it belongs; and
// NAME-bodies.pc2 with NAME-bodies.obj of everything else, when there is any, but for surfaces: of
// each NAME-surface-0.pc2 and so on, with its NAME-surface-0.obj; of cloths NAME-cloth-0.pc2.
int export_pc2(FrameReader* reader, const char* path);

// Cem Yuksel's hair files; NAME-0000.hair and so on for several frames.
int export_hair(FrameReader* reader, const char* path);

// A row for every point of every frame; NAME-cloths.csv with a row for every vertex of cloth and
// NAME-contacts.csv with a row for every contact, NAME-grains.csv with a row for every particle,
// when there are any.
int export_csv(FrameReader* reader, const char* path);

// Strands: the shapes of rods whose coordinates are curvatures, which become their natural shapes
// too; NAME-0000.h5 and so on for several frames.
int export_strands(FrameReader* reader, const char* path);

#endif
