"""Run inside Blender: imports an OBJ, puts a point cache on it and looks at some frames.

Usage: blender -b --factory-startup --python-exit-code 1 --python check_blender.py --
       FILE.obj FILE.pc2 FILE.csv ALL.obj BODIES
"""
import csv
import sys

import bpy


def clear():
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()


def load(path):
    """Imports a file with z up and returns what it held."""
    clear()
    bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")
    return {o.name: o for o in bpy.context.scene.objects}


def main(obj, pc2, table, everything, bodies):
    frames = {}
    with open(table) as file:
        for row in csv.DictReader(file):
            frames.setdefault(int(row["frame"]), []).append(row)
    first = frames[min(frames)]
    rod_count = 1 + max(int(row["rod"]) for row in first)

    # the last frame with everything in it
    objects = load(everything)
    assert len(objects) == 1 + int(bodies), list(objects)
    assert len(objects["rods"].data.vertices) == len(first)
    assert all(len(o.data.polygons) > 0 for name, o in objects.items() if name != "rods")

    # the rods alone, moved by the cache
    objects = load(obj)
    rods = objects["rods"]
    assert len(rods.data.vertices) == len(first)
    assert len(rods.data.edges) == len(first) - rod_count
    cache = rods.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = pc2
    cache.frame_start = 0
    for k, frame in enumerate(sorted(frames)):
        bpy.context.scene.frame_set(k)
        shown = rods.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        for vertex, row in zip(shown.vertices, frames[frame]):
            for c in range(3):
                assert abs(vertex.co[c] - float(row["xyz"[c]])) < 1e-6, (frame, vertex.index)
    print(f"Blender {bpy.app.version_string}: {len(first)} points, {len(frames)} frames")


main(*sys.argv[sys.argv.index("--") + 1:])
