// Lines of a small scene.
#ifndef TDL_TEST_SCENE_TEXT_H
#define TDL_TEST_SCENE_TEXT_H

// A good scene, line by line; a mistake replaces some lines.
#define TIME "time: {end: 1}\n"
#define HAIR "materials: [{name: hair, young: 1e9}]\n"
#define ROD "rods:\n  - {name: a, material: hair, length: 1, radius: 0.1}\n"
#define LONG_ROD "rods:\n  - name: a\n    material: hair\n    length: 1\n    radius: 0.1\n"

#endif
