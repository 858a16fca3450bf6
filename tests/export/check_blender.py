"""Run inside Blender: imports an OBJ, puts a point cache on it and looks at some frames.

Usage: blender -b --factory-startup --python-exit-code 1 --python check_blender.py --
       FILE.obj FILE.pc2 FILE.csv ALL.obj BODIES FILE-bodies.obj FILE-bodies.pc2
       [FILE-surface-0.obj FILE-surface-0.pc2]
"""
import csv
import struct
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


def play(thing, pc2):
    """Puts a cache on an object; a function that gives its vertices in a frame."""
    cache = thing.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = pc2
    cache.frame_start = 0

    def vertices(frame):
        bpy.context.scene.frame_set(frame)
        shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        return [v.co for v in shown.vertices]
    return vertices


def check_cached(name, obj, pc2):
    """A single object, moved by its own cache; returns how far."""
    things = load(obj)
    assert list(things) == [name], list(things)
    data = open(pc2, "rb").read()
    count, frames = struct.unpack_from("<I", data, 16)[0], struct.unpack_from("<I", data, 28)[0]
    assert len(things[name].data.vertices) == count
    assert len(things[name].data.polygons) > 0
    vertices = play(things[name], pc2)
    moved = 0.0
    for k in range(frames):
        for i, co in enumerate(vertices(k)):
            want = struct.unpack_from("<3f", data, 32 + 12 * (k * count + i))
            assert all(abs(co[c] - want[c]) < 1e-6 for c in range(3)), (k, i)
            first = struct.unpack_from("<3f", data, 32 + 12 * i)
            moved = max(moved, *(abs(co[c] - first[c]) for c in range(3)))
    return moved


def main(obj, pc2, table, everything, bodies, bodies_obj, bodies_pc2, *surface):
    frames = {}
    with open(table) as file:
        for row in csv.DictReader(file):
            frames.setdefault(int(row["frame"]), []).append(row)
    first = frames[min(frames)]
    rod_count = 1 + max(int(row["rod"]) for row in first)

    # the last frame with everything in it
    objects = load(everything)
    assert len(objects) == 1 + int(bodies) + (len(surface) > 0), list(objects)
    assert len(objects["rods"].data.vertices) == len(first)
    assert all(len(o.data.polygons) > 0 for name, o in objects.items() if name != "rods")

    # the rods alone, moved by the cache
    objects = load(obj)
    rods = objects["rods"]
    assert len(rods.data.vertices) == len(first)
    assert len(rods.data.edges) == len(first) - rod_count
    vertices = play(rods, pc2)
    for k, frame in enumerate(sorted(frames)):
        for i, (co, row) in enumerate(zip(vertices(k), frames[frame])):
            for c in range(3):
                assert abs(co[c] - float(row["xyz"[c]])) < 1e-6, (frame, i)
    moved = check_cached("bodies", bodies_obj, bodies_pc2)
    assert moved > 0.2 or surface, moved
    if surface:
        moved = check_cached("surface_0", *surface)
        print(f"Blender moved the surface by {moved:.4f} m")
    print(f"Blender {bpy.app.version_string}: {len(first)} points, {len(frames)} frames")


main(*sys.argv[sys.argv.index("--") + 1:])
