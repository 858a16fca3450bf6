"""Functions on arrays: frictional contact problems, distances, collisions in time, shapes."""

import ctypes
from ctypes import byref
from typing import NamedTuple

import numpy as np

from . import _api
from ._core import (BadArgument, Host, c_array, doubles, enum_of, from_mat3, from_vec3, interrupt,
                    lib, make, pointer, pose, vec3)

# --- friction -------------------------------------------------------------------------------------


class Solution(NamedTuple):
    """Of a contact problem."""

    r: np.ndarray  # impulses, [contacts, 3]
    u: np.ndarray  # velocities, [contacts, 3]
    info: _api.FrictionInfo  # outcome, error, iterations

    @property
    def converged(self):
        return self.info.outcome == _api.FrictionOutcome.CONVERGED


class Problem:
    """u = W r + b with Signorini's and Coulomb's law at every contact, normal first:

        problem = tendril.Problem(W, b, mu)          # W [3 n, 3 n], dense or of SciPy
        problem = tendril.Problem.read("stack.dat")  # whatever `tendril dfcp` reads
        r, u, info = problem.solve(tolerance=1e-10)
    """

    def __init__(self, W, b, mu, block_size=3):
        b = doubles(np.ravel(b))
        count = len(b) // block_size
        start, column, blocks = _blocks(W, count, block_size)
        mu = doubles(np.broadcast_to(np.asarray(mu, dtype=float), count))
        self._keep = []
        laws = make(_api.FrictionLaws, {"block_size": block_size, "contact_count": count,
                                        "mu": mu}, self._keep)
        definition = make(_api.FrictionMatrixDef, {
            "laws": laws, "b": b, "row_start": start, "column": column, "blocks": blocks},
            self._keep)
        self._own()
        self._host.check(lib.tdl_friction_problem_create(self._host.ref, byref(definition),
                                                         byref(self._ptr)))

    def _own(self):
        self._host, self._ptr = Host(), ctypes.c_void_p()

    def __del__(self):
        lib.tdl_friction_problem_destroy(getattr(self, "_ptr", None))

    @classmethod
    def read(cls, path):
        problem = cls.__new__(cls)
        problem._own()
        problem._host.check(lib.tdl_friction_problem_read(problem._host.ref, str(path).encode(),
                                                          byref(problem._ptr)))
        return problem

    def write(self, path):
        self._host.check(lib.tdl_friction_problem_write(self._host.ref, str(path).encode(),
                                                        self._ptr, None))

    @property
    def size(self):
        """TdlFrictionSize."""
        return lib.tdl_friction_problem_size(self._ptr)

    def _vector(self, value=None):
        size = self.size
        shape = size.contact_count, size.block_size
        return np.zeros(shape) if value is None else doubles(value, shape).copy()

    def velocity(self, r):
        """W r + b."""
        out, r = self._vector(), self._vector(r)
        self._host.check(lib.tdl_friction_velocity(self._ptr, pointer(r), pointer(out)))
        return out

    def error(self, r, kind="natural", relative=True):
        """How far impulses are from the law, with velocities computed anew."""
        kind = enum_of(_api.FrictionError, kind)
        return lib.tdl_friction_error(self._ptr, kind, relative, pointer(self._vector(r)))

    def solve(self, guess=None, own=None, watch=None, **options):
        """Solves it; options are those of TdlFrictionOptions (solver="auto", tolerance=1e-8, ...).
        `own(island)` is a solver of one's own, called for each group of coupled contacts with an
        Island; `watch` is called with TdlFrictionIterate after every iteration."""
        keep, failed = [], []
        asked = make(_api.FrictionOptions, options, keep)
        asked.stop = interrupt.stop
        if own is not None:
            asked.solver = _api.FrictionSolverKind.OWN
            asked.own = _own_fn(own, failed, keep)
        if watch is not None:
            keep.append(_api.FrictionWatchFn(lambda _, it: watch(ctypes.cast(
                it, ctypes.POINTER(_api.FrictionIterate)).contents)))
            asked.watch = keep[-1]
        solver, r, u, info = ctypes.c_void_p(), self._vector(guess), self._vector(), \
            _api.FrictionInfo()
        self._host.check(lib.tdl_friction_solver_create(self._host.ref, byref(asked),
                                                        byref(solver)))
        try:
            with interrupt:
                status = lib.tdl_friction_solver_solve(solver, self._ptr, pointer(r), pointer(u),
                                                       byref(info))
        finally:
            lib.tdl_friction_solver_destroy(solver)
        if failed:
            raise failed[0]
        self._host.check(status)
        return Solution(r, u, info)


def _blocks(W, count, size):
    """Sparse blocks by rows, each column by column."""
    if hasattr(W, "tobsr"):
        rows = W.tobsr((size, size))
        return (rows.indptr.astype(np.intc), rows.indices.astype(np.intc),
                doubles(rows.data.transpose(0, 2, 1).ravel()))
    W = doubles(W, (size * count, size * count))
    blocks = W.reshape(count, size, count, size).transpose(0, 2, 3, 1)  # [i, j, column, row]
    there = np.any(blocks, axis=(2, 3)) | np.eye(count, dtype=bool)
    start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.intc)
    return start, np.nonzero(there)[1].astype(np.intc), doubles(blocks[there].ravel())


class Island:
    """Coupled contacts, as a solver of one's own is given them, without units: W by blocks in
    `row_start`, `column` and `blocks` [n, 3, 3]; mu, b, start, target, max_iterations."""

    def __init__(self, address):
        self._ptr = address
        s = ctypes.cast(address, ctypes.POINTER(_api.FrictionIsland)).contents
        self.size, self.count = s.block_size, s.contact_count
        shape = self.count, self.size

        def array(pointer, n):
            return np.ctypeslib.as_array(pointer, (n,)).copy()

        self.mu = array(s.mu, self.count)
        self.bilateral = array(s.bilateral, self.count).astype(bool)
        self.b = array(s.b, self.count * self.size).reshape(shape)
        self.start = array(s.start, self.count * self.size).reshape(shape)
        self.row_start = array(s.row_start, self.count + 1)
        self.column = array(s.column, self.row_start[-1])
        self.blocks = array(s.blocks, self.row_start[-1] * self.size**2).reshape(
            -1, self.size, self.size).transpose(0, 2, 1)
        self.target, self.max_iterations = s.target, s.max_iterations

    def velocity(self, r):
        out, r = np.empty((self.count, self.size)), doubles(r)
        lib.tdl_friction_island_velocity(self._ptr, pointer(r), pointer(out))
        return out

    def offer(self, r):
        """Ends an iteration; False: it is time to return."""
        r = doubles(r, (self.count, self.size))
        return lib.tdl_friction_island_offer(self._ptr, pointer(r))

    @property
    def error(self):
        """Of the last iterate that was offered."""
        return ctypes.cast(self._ptr, ctypes.POINTER(_api.FrictionIsland)).contents.error


def _own_fn(own, failed, keep):
    def called(_, address):
        try:
            own(Island(address))
            return 0
        except BaseException as fault:  # a callback of C cannot raise
            failed.append(fault)
            return int(_api.Status.STOPPED)

    keep.append(_api.FrictionOwnFn(called))
    return keep[-1]


# --- curves and distances -------------------------------------------------------------------------


class Curve:
    """A curve with a radius; made by segment, helix, clothoid and bezier below."""

    def __init__(self, make_it, *arguments, radius=0.0):
        self._host, self.struct = Host(), _api.Curve()
        self._host.check(make_it(self._host.ref, *arguments, byref(self.struct)))
        ends = np.broadcast_to(np.asarray(radius, dtype=float), 2)
        self._host.check(lib.tdl_curve_set_radius(self._host.ref, *ends, byref(self.struct)))

    @property
    def end(self):
        """The parameter at its end: of all but Beziers its length, m."""
        return self.struct.end

    def point(self, s):
        return from_vec3(lib.tdl_curve_point(byref(self.struct), s))

    def derivative(self, s):
        return from_vec3(lib.tdl_curve_derivative(byref(self.struct), s))


def segment(start, end, radius=0.0):
    return Curve(lib.tdl_curve_segment, vec3(start), vec3(end), radius=radius)


def helix(start, curvature, length, radius=0.0):
    """From `start`, a position or (position, rotation), of constant curvature (twist, k1, k2)."""
    return Curve(lib.tdl_curve_helix, pose(start), vec3(curvature), length, radius=radius)


def clothoid(start, curvature, curvature_end, length, radius=0.0):
    return Curve(lib.tdl_curve_clothoid, pose(start), vec3(curvature), vec3(curvature_end), length,
                 radius=radius)


def bezier(control, radius=0.0):
    """Of three control points or four."""
    control = doubles(control, (None, 3))
    made = {3: lib.tdl_curve_quadratic, 4: lib.tdl_curve_cubic}.get(len(control))
    if made is None:
        raise BadArgument(f"a Bezier curve has 3 or 4 control points, not {len(control)}")
    return Curve(made, pointer(control), radius=radius)


def distance(a, b, **options):
    """The least gap between two curves, proved; options are those of TdlDistanceDef. Returns
    TdlDistance."""
    definition, out = make(_api.DistanceDef, options, []), _api.Distance()
    host = Host()
    host.check(lib.tdl_curve_distance(host.ref, byref(a.struct), None, byref(b.struct), None,
                                      byref(definition), byref(out)))
    return out


# --- collisions in time ---------------------------------------------------------------------------

_QUERY = np.dtype([("kind", np.intc), ("start", float, (4, 3)), ("end", float, (4, 3))], align=True)


def collide(kind, start, end, threads=1, **options):
    """Conservative answers to whether moving vertices and triangles ("vertex-face": v, f0, f1, f2)
    or edges ("edge-edge": a0, a1, b0, b1) meet: start and end [n, 4, 3]. Options are those of
    TdlCcdOptions. A structured array with the fields of TdlCcdResult."""
    start, end = doubles(start, (None, 4, 3)), doubles(end, (None, 4, 3))
    if start.shape != end.shape:
        raise BadArgument(f"{len(start)} starts and {len(end)} ends")
    queries = np.empty(len(start), dtype=_QUERY)
    queries["kind"], queries["start"], queries["end"] = enum_of(_api.CcdKind, kind), start, end
    results = np.zeros(len(start), dtype=np.dtype(_api.CcdResult))
    asked, host = make(_api.CcdOptions, options, []), Host()
    host.check(lib.tdl_ccd_batch(host.ref, pointer(queries), len(queries), byref(asked), threads,
                                 pointer(results), None))
    return results


# --- rods from shapes -----------------------------------------------------------------------------


class Fit(NamedTuple):
    """A rod whose centreline follows points: what add_rod takes."""

    curvature: np.ndarray  # [elements, 3], 1/m
    position: np.ndarray  # of its start
    rotation: np.ndarray
    length: float  # m
    error: float  # m


def fit_helices(points, elements, **options):
    """The super-helix along points; options are those of TdlFitOptions."""
    return _fit(lib.tdl_helix_fit, points, elements, 0, options)


def fit_clothoids(points, elements, **options):
    """The super-clothoid along points."""
    return _fit(lib.tdl_clothoid_fit, points, elements, 1, options)


def _fit(fit, points, elements, more, options):
    points = doubles(points, (None, 3))
    asked = make(_api.FitOptions, {"element_count": elements, **options}, [])
    curvature, out, host = np.empty((elements + more, 3)), _api.HelixFit(), Host()
    host.check(fit(host.ref, pointer(points), len(points), byref(asked), pointer(curvature),
                   byref(out)))
    return Fit(curvature[:out.element_count + more], from_vec3(out.start.position),
               from_mat3(out.start.rotation), out.length, out.error)


def rest_curvature(curvature, length, stiffness, line_density, start=(0, 0, 0),
                   gravity=(0, 0, -9.81), model="super-helix"):
    """The natural curvature with which a strand, clamped at its start, rests in a shape; stiffness
    is (GJ, EI1, EI2)."""
    curvature, keep = doubles(curvature, (None, 3)), []
    natural, host = np.empty_like(curvature), Host()
    strand = make(_api.Strand, {
        "model": model, "start": start, "length": length, "curvature": curvature,
        "element_count": len(curvature) - (model == "super-clothoid"),
        "stiffness": np.broadcast_to(stiffness, 3), "line_density": line_density}, keep)
    host.check(lib.tdl_strand_rest(host.ref, byref(strand), vec3(gravity), pointer(natural)))
    return natural
