"""Reads a .pvd and its .vtp files with VTK and compares them with the CSV of the same frames, and the
surface whose vertices move with its point cache.

Usage: check_vtp.py FILE.pvd FILE.csv [FILE-surface-0.pc2]
"""
import csv
import os
import struct
import sys
import xml.etree.ElementTree as xml

from vtkmodules.vtkIOXML import vtkXMLPolyDataReader


def single(x):
    """x as a float of four bytes."""
    return struct.unpack("f", struct.pack("f", x))[0]


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    assert reader.GetErrorCode() == 0, path
    return reader.GetOutput()


def check_rods(data, rows):
    assert data.GetNumberOfPoints() == len(rows), "points"
    arrays = {name: data.GetPointData().GetArray(name) for name in ("radius", "curvature", "rod")}
    for i, row in enumerate(rows):
        x = data.GetPoint(i)
        assert all(x[c] == single(float(row["xyz"[c]])) for c in range(3)), f"point {i}"
        assert int(arrays["rod"].GetTuple1(i)) == int(row["rod"])
        for name in ("radius", "curvature"):
            value = float(row[name])
            assert abs(arrays[name].GetTuple1(i) - value) <= 1e-5 * abs(value), f"{name} {i}"
    # each line is one rod, from its first point to its last
    rods = [int(row["rod"]) for row in rows]
    assert data.GetNumberOfLines() == data.GetNumberOfCells() == max(rods) + 1
    cell_rod = data.GetCellData().GetArray("rod")
    for k in range(data.GetNumberOfCells()):
        ids = data.GetCell(k).GetPointIds()
        got = [ids.GetId(i) for i in range(ids.GetNumberOfIds())]
        assert got == [i for i, rod in enumerate(rods) if rod == k]
        assert int(cell_rod.GetTuple1(k)) == k


def check_bodies(data):
    body = data.GetCellData().GetArray("body")
    assert data.GetNumberOfPolys() == data.GetNumberOfCells() == body.GetNumberOfTuples() > 0
    assert data.GetPointData().GetArray("Normals").GetNumberOfComponents() == 3
    return int(body.GetRange()[1]) + 1


def check_contacts(data):
    count = data.GetNumberOfPoints()
    assert data.GetNumberOfVerts() == data.GetNumberOfCells() == count > 0
    arrays = {name: data.GetPointData().GetArray(name)
              for name in ("force", "normal", "gap", "mu", "kind", "body", "sliding")}
    for i in range(count):
        normal, force = arrays["normal"].GetTuple3(i), arrays["force"].GetTuple3(i)
        assert abs(sum(c * c for c in normal) - 1) < 1e-5
        # a force lies in its cone: it pushes the second body away, along the normal
        push = sum(a * b for a, b in zip(normal, force))
        slip = [f - push * n for f, n in zip(force, normal)]
        size = sum(c * c for c in slip) ** 0.5
        assert push >= -1e-6 and size <= arrays["mu"].GetTuple1(i) * push * 1.001 + 1e-9, (push, size)
        assert arrays["kind"].GetTuple2(i)[0] in (0, 1) and arrays["sliding"].GetTuple1(i) in (0, 1)
    return count


def check_surface(data, cache, frame):
    """The vertices of one frame, bit by bit; returns how many triangles they have."""
    count = struct.unpack_from("<I", cache, 16)[0]
    assert data.GetNumberOfPoints() == count, "vertices"
    normals = data.GetPointData().GetArray("Normals")
    for i in range(count):
        want = struct.unpack_from("<3f", cache, 32 + 12 * (count * frame + i))
        assert data.GetPoint(i) == want, f"vertex {i} of frame {frame}"
        assert abs(sum(c * c for c in normals.GetTuple3(i)) - 1) < 1e-5
    surface = data.GetCellData().GetArray("surface")
    assert data.GetNumberOfPolys() == data.GetNumberOfCells() == surface.GetNumberOfTuples()
    assert surface.GetRange() == (0, 0)
    for k in range(data.GetNumberOfCells()):
        assert data.GetCell(k).GetNumberOfPoints() == 3
    return data.GetNumberOfPolys()


def check_strains(data, rows):
    """Those of the table of cloths; the surface is a cloth."""
    strain = data.GetPointData().GetArray("strain")
    assert strain.GetNumberOfTuples() == len(rows), "strains"
    for i, row in enumerate(rows):
        want = float(row["strain"])
        assert abs(strain.GetTuple1(i) - want) <= 1e-5 * abs(want), f"strain of vertex {i}"


def read_table(path):
    frames = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            frames.setdefault(float(row["time"]), []).append(row)
    return frames


def main(pvd, table, pc2=None, cloths=None):
    strains = read_table(cloths) if cloths else None
    cache, surfaces, triangles = open(pc2, "rb").read() if pc2 else None, 0, 0
    frames = read_table(table)
    seen, bodies, contacts = 0, 0, 0
    for entry in xml.parse(pvd).getroot().iter("DataSet"):
        data = read(os.path.join(os.path.dirname(pvd), entry.get("file")))
        time = float(entry.get("timestep"))
        assert data.GetFieldData().GetArray("TimeValue").GetTuple1(0) == time
        if entry.get("part") == "0":
            key = min(frames, key=lambda t: abs(t - time))
            assert abs(key - time) <= 1e-8 * max(1.0, time)
            check_rods(data, frames[key])
            seen += 1
        elif entry.get("part") == "1":
            bodies = check_bodies(data)
        elif entry.get("part") == "2":
            contacts += check_contacts(data)
        else:
            triangles = check_surface(data, cache, surfaces)
            if strains:
                check_strains(data, strains[min(strains, key=lambda t: abs(t - time))])
            surfaces += 1
    assert seen == len(frames), "frames"
    assert surfaces == (seen if pc2 else 0), "frames of surfaces"
    if pc2:
        print(f"VTK read a surface of {triangles} triangles")
    print(f"VTK read {seen} frames, {bodies} bodies and {contacts} contacts")


main(*sys.argv[1:])
