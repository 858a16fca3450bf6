"""Scene files, runs of them, and results."""

import collections.abc
import ctypes
import os
import pathlib
from ctypes import byref

import numpy as np

from . import _api
from ._core import (Error, Host, Stopped, from_poses, interrupt, lib, pointer, records)
from .world import World
import weakref


def _path(path):
    return os.fsencode(pathlib.Path(path))


class Scene:
    """A scene file, checked. Overrides are those of `--set`:

        scene = tendril.Scene("wisp.yaml", {"time.step": 1e-4, "rods.curl.radius": 1e-4})
    """

    def __init__(self, path, overrides=None):
        texts = [f"{key}={value}".encode() for key, value in (overrides or {}).items()]
        row = (ctypes.c_char_p * len(texts))(*texts)
        self._host, self._ptr = Host(), ctypes.c_void_p()
        self._host.check(lib.tdl_scene_load(self._host.ref, _path(path), row, len(texts),
                                            byref(self._ptr)))
        lib.tdl_scene_watch_stop(self._ptr, interrupt.stop, None)
        weakref.finalize(self, lib.tdl_scene_destroy, self._ptr)

    @property
    def info(self):
        """TdlSceneInfo."""
        return lib.tdl_scene_info(self._ptr)

    def number(self, path):
        """The number to which a key path leads, as `--set` writes it."""
        out = ctypes.c_double()
        self._host.check(lib.tdl_scene_number(self._ptr, path.encode(), byref(out)))
        return out.value

    def build(self, threads=1):
        """The world that it describes; its bodies have the names of the file."""
        made = ctypes.c_void_p()
        with interrupt:
            self._host.check(lib.tdl_scene_build(self._ptr, threads, byref(made)))
        world = World._of(self._host, made, [self])
        return world

    def observers(self, world):
        """What `observe` of the scene sees in a world that was built of it: a dict of vectors."""
        seen = {}
        for i in range(self.info.observer_count):
            name = lib.tdl_scene_observer(self._ptr, i).name.decode()
            value = lib.tdl_scene_observe(self._ptr, i, world._ptr)
            seen[name] = np.array((value.x, value.y, value.z))
        return seen

    def run(self, directory, threads=1, progress=None):
        """Carries it through its steps into a folder, as `tendril run` does, and returns its
        Result. `progress` is called after every step with StepInfo and the number of steps in all;
        what it returns, if it is False, ends the run, which `resume` goes on with."""
        info = _api.RunInfo()
        run = _run_def(directory, threads, progress)
        with interrupt:
            self._host.check(lib.tdl_run(self._host.ref, self._ptr, byref(run[0]), byref(info)),
                             info.failure.decode() or None)
        return Result(directory)

    def write(self, path):
        """The scene as one file, includes and overrides merged in."""
        self._host.check(lib.tdl_scene_write(self._ptr, _path(path)))


def _run_def(directory, threads, progress):
    def told(_, info, total):
        try:
            return progress is None or progress(ctypes.cast(
                info, ctypes.POINTER(_api.StepInfo)).contents, total) is not False
        except BaseException as fault:  # a callback of C cannot raise
            failed.append(fault)
            return False

    failed = []
    keep = _api.ProgressFn(told), _path(directory)
    definition = _api.RunDef(directory=keep[1], thread_count=threads, stop=interrupt.stop)
    if progress is not None:
        definition.progress = keep[0]
    return definition, keep, failed


def resume(directory, threads=1, progress=None):
    """Goes on with a run from its last checkpoint, with the same bits, and returns its Result."""
    host, info = Host(), _api.RunInfo()
    run = _run_def(directory, threads, progress)
    with interrupt:
        host.check(lib.tdl_run_resume(host.ref, byref(run[0]), byref(info)),
                   info.failure.decode() or None)
    return Result(directory)


class Result(collections.abc.Sequence):
    """The folder that a run leaves, or its result.h5. A sequence of frames, read when asked for;
    a run may still be writing it (`refresh`)."""

    def __init__(self, path):
        self._host, self._ptr = Host(), ctypes.c_void_p()
        self._host.check(lib.tdl_result_open(self._host.ref, _path(path), byref(self._ptr)))
        weakref.finalize(self, lib.tdl_result_close, self._ptr)
        self._look()

    def _look(self):
        self.info = lib.tdl_result_info(self._ptr)
        rods = self.info.rod_count + 1
        start = lib.tdl_result_point_start(self._ptr)
        self.point_start = np.array((ctypes.c_int * rods).from_address(
            ctypes.cast(start, ctypes.c_void_p).value)) if rods > 1 else np.zeros(1, dtype=int)

    def refresh(self):
        """Looks for frames that were written since."""
        self._host.check(lib.tdl_result_refresh(self._ptr))
        self._look()

    def __len__(self):
        return self.info.frame_count

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        index = index + len(self) if index < 0 else index
        if not 0 <= index < len(self):
            raise IndexError(f"frame {index} of {len(self)}")
        return Frame(self, index)

    @property
    def times(self):
        return np.array([frame.time for frame in self])

    @property
    def observer_names(self):
        return [lib.tdl_result_observer(self._ptr, i).name.decode()
                for i in range(self.info.observer_count)]

    def observed(self, name):
        """What an observer saw, frame by frame: [frames, 3]."""
        column = self.observer_names.index(name)
        return np.array([frame._observed()[column] for frame in self])


class Frame:
    """One moment of a result. What is asked for is read then."""

    def __init__(self, result, index):
        self.result, self.index = result, index

    def _read(self, function, *arguments):
        self.result._host.check(function(self.result._ptr, self.index, *arguments))

    @property
    def time(self):
        out = ctypes.c_double()
        self._read(lib.tdl_result_read_frame, byref(out), None)
        return out.value

    @property
    def points(self):
        """Of all rods: [points, 3]; result.point_start tells where each begins."""
        out = np.empty((self.result.info.point_count, 3))
        self._read(lib.tdl_result_read_frame, None, pointer(out))
        return out

    @property
    def rods(self):
        """The points of each rod."""
        return np.split(self.points, self.result.point_start[1:-1])

    @property
    def poses(self):
        """Positions and rotations of all colliders, then of all rigid bodies."""
        info = self.result.info
        out = (_api.Pose * (info.collider_count + info.body_count))()
        self._read(lib.tdl_result_read_poses, out)
        return from_poses(out)

    @property
    def surfaces(self):
        """Vertices of all surfaces that move, cloths among them: [points, 3]."""
        out = np.empty((self.result.info.surface_point_count, 3))
        self._read(lib.tdl_result_read_surfaces, pointer(out))
        return out

    @property
    def contacts(self):
        """A structured array with the fields of TdlResultContact."""
        address, count = ctypes.c_void_p(), ctypes.c_int()
        self._read(lib.tdl_result_read_contacts, byref(address), byref(count))
        return _copied(_api.ResultContact, address, count)

    @property
    def particles(self):
        """Of grains: a structured array with the fields of TdlResultParticle."""
        address, count = ctypes.c_void_p(), ctypes.c_int()
        self._read(lib.tdl_result_read_particles, byref(address), byref(count))
        return _copied(_api.ResultParticle, address, count)

    @property
    def forces(self):
        """Inner forces and moments at the points of all rods, in runs that keep them."""
        pair = np.empty((2, self.result.info.point_count, 3))
        self._read(lib.tdl_result_read_forces, pointer(pair[0]), pointer(pair[1]))
        return pair[0], pair[1]

    def _observed(self):
        out = np.empty((self.result.info.observer_count, 3))
        self._read(lib.tdl_result_read_observed, pointer(out))
        return out

    @property
    def observed(self):
        """A dict of what observers saw in the step before."""
        return dict(zip(self.result.observer_names, self._observed()))


def _copied(kind, address, count):
    if count.value == 0:
        return np.empty(0, dtype=np.dtype(kind))
    return records(kind, (kind * count.value).from_address(address.value))
