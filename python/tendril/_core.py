"""What all of the package stands on: the library, its errors and messages, structs filled from
Python values, and arrays of its memory."""

import ctypes
import difflib
import logging
import os
import pathlib
import signal
import threading
from ctypes import byref

import numpy as np

from . import _api

logger = logging.getLogger("tendril")


def _open():
    """The library: that of TENDRIL_LIBRARY, else the one that came with the package, else the one
    that is installed."""
    path = os.environ.get("TENDRIL_LIBRARY", "libtendril_io.so.0")
    beside = pathlib.Path(__file__).parent / "lib"
    try:
        if "TENDRIL_LIBRARY" not in os.environ and beside.is_dir():
            ctypes.CDLL(str(beside / "libtendril.so.0"))  # which the other then finds
            path = str(beside / "libtendril_io.so.0")
        library = ctypes.CDLL(path)
    except OSError as fault:
        raise ImportError(
            f"{path}: {fault}. Build the library ('make python'), or tell where it is by "
            "TENDRIL_LIBRARY") from None
    for name, (result, arguments) in _api.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _open()


# --- errors ---------------------------------------------------------------------------------------


class Error(Exception):
    """What the library refused or could not do, in its words; `status` is its Status."""

    status = _api.Status.OK


class BadArgument(Error, ValueError):
    """An argument is out of its documented range."""

    status = _api.Status.BAD_ARGUMENT


class BadInput(Error, ValueError):
    """A file's content is wrong; the message has file, line and column."""

    status = _api.Status.BAD_INPUT


class FileError(Error, OSError):
    """A file could not be opened, read or written."""

    status = _api.Status.IO


class NoMemory(Error, MemoryError):
    status = _api.Status.NO_MEMORY


class Diverged(Error, ArithmeticError):
    """The computation failed; the last good state was kept."""

    status = _api.Status.DIVERGED


class Stopped(Error):
    """A function of the caller asked to stop."""

    status = _api.Status.STOPPED


class UnsolvedWarning(UserWarning):
    """A step was kept that is not solved to its tolerance, or that could not stay."""


_BY_STATUS = {kind.status: kind for kind in
              (BadArgument, BadInput, FileError, NoMemory, Diverged, Stopped)}
_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


class Host:
    """Memory and an ear for one object of the library. Errors become exceptions; other messages go
    to the logger `tendril`."""

    def __init__(self):
        faults = self._faults = []

        def hear(_, level, message):
            text = message.decode("utf-8", "replace")
            if level == _api.LogLevel.ERROR:
                faults.append(text)
            else:
                logger.log(_LEVELS[level], text)

        self.struct = lib.tdl_host_default()
        self.struct.log = self._hear = _api.LogFn(hear)
        self.struct.log_level = _api.LogLevel.WARNING
        self.ref = byref(self.struct)

    def check(self, status, fallback=None):
        """Raises what a status other than OK means."""
        said, self._faults[:] = "\n".join(self._faults), []
        if status == 0:
            return
        if status == _api.Status.STOPPED and interrupt.is_here() and interrupt.take():
            raise KeyboardInterrupt
        text = said or fallback or lib.tdl_status_string(status).decode()
        raise _BY_STATUS.get(status, Error)(text)


# --- Ctrl-C ---------------------------------------------------------------------------------------


class _Interrupt:
    """While a call of the main thread is under way Ctrl-C sets a flag, for which the library asks
    in calls that take long; a handler that raises would do so inside the library's own callback,
    where Python drops it. Calls of other threads that are under way then end as well, by Stopped.
    Handlers of one's own stay."""

    def __init__(self):
        self.pressed, self._inside = False, False
        self._main = threading.main_thread().ident
        self.stop = _api.StopFn(lambda _: self.pressed)
        if self.is_here() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._press)

    def is_here(self):
        return threading.get_ident() == self._main

    def _press(self, number, frame):
        if not self._inside:
            signal.default_int_handler(number, frame)
        self.pressed = True

    def __enter__(self):
        if self.is_here():
            self._inside = True

    def __exit__(self, kind, *_):
        if self.is_here():
            self._inside = False
            if self.pressed and self.take() and kind is None:
                raise KeyboardInterrupt

    def take(self):
        pressed, self.pressed = self.pressed, False
        return pressed


interrupt = _Interrupt()


# --- structs from Python values -------------------------------------------------------------------

# Arrays whose length another field tells under a name of its own.
_COUNTS = {("ClothHold", "vertices"): "count", ("ClothSeam", "to"): "count"}
_SINGULAR = {"vertices": "vertex"}


def _count_field(struct, name):
    known = _COUNTS.get((type(struct).__name__, name))
    if known:
        return known
    stem, _, last = name.rpartition("_")
    one = _SINGULAR.get(last, last[:-1] if last.endswith("s") else last)
    field = f"{stem}_{one}_count" if stem else f"{one}_count"
    return field if field in types_of(struct) else None


_types = {}


def types_of(struct):
    """The fields of a struct and their types."""
    kind = struct if isinstance(struct, type) else type(struct)
    if kind not in _types:
        _types[kind] = {n: t for n, t, *_ in kind._fields_}
    return _types[kind]


def fill(struct, values, keep):
    """Sets fields from a mapping; what it points to is added to the list `keep`."""
    for name, value in values.items():
        if name not in types_of(struct):
            near = difflib.get_close_matches(name, types_of(struct), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{type(struct).__name__} has no field {name!r}{hint}")
        set_field(struct, name, value, keep)
    return struct


def set_field(struct, name, value, keep):
    kind = types_of(struct)[name]
    try:
        if hasattr(kind, "contents"):
            _point_at(struct, name, kind, value, keep)
        elif value is not None or kind is ctypes.c_char_p:
            setattr(struct, name, _value(struct, name, kind, value, keep))
    except (TypeError, ValueError) as fault:
        raise type(fault)(f"{type(struct).__name__}.{name}: {fault}") from None


def _value(struct, name, kind, value, keep):
    enum = getattr(struct, "_enums_", {}).get(name)
    if enum is not None and isinstance(value, str):
        return enum_of(enum, value)
    if kind is ctypes.c_char_p:
        value = value.encode() if isinstance(value, str) else value
        keep.append(value)
        return value
    if isinstance(kind, type) and issubclass(kind, ctypes.Structure):
        if isinstance(value, dict):  # on top of what its owner has as defaults
            return fill(getattr(struct, name), value, keep)
        return _struct(kind, value, keep)
    if isinstance(kind, type) and issubclass(kind, ctypes.Array):
        return _row(kind, value, keep)
    if hasattr(kind, "_flags_") and callable(value):  # a function
        value = value if isinstance(value, kind) else kind(value)
        keep.append(value)
    return value


def _row(kind, value, keep):
    if np.ndim(value) == 0 and not isinstance(value, ctypes.Structure):
        value = [value] * kind._length_
    if len(value) != kind._length_:
        raise ValueError(f"{kind._length_} values are needed, not {len(value)}")
    if issubclass(kind._type_, ctypes.Structure):
        return kind(*[_struct(kind._type_, v, keep) for v in value])
    return kind(*value)


def enum_of(enum, text):
    """The member of an enumeration with that name, in the library's spelling or a scene's."""
    name = text.upper().replace("-", "_").replace(" ", "_")
    if name not in enum.__members__:
        names = ", ".join(m.lower().replace("_", "-") for m in enum.__members__)
        raise ValueError(f"{text!r} is none of {names}")
    return enum[name]


def vec3(value):
    value = np.asarray(value, dtype=float)
    if value.shape != (3,):
        raise ValueError(f"three numbers are needed, not an array of {value.shape}")
    return _api.Vec3(*value.tolist())


def mat3(value):
    """A matrix; its columns are the library's."""
    value = np.asarray(value, dtype=float)
    if value.shape != (3, 3):
        raise ValueError(f"a matrix of 3 x 3 is needed, not an array of {value.shape}")
    return _api.Mat3(*[_api.Vec3(*column) for column in value.T.tolist()])


def pose(value):
    """From (position, rotation), or a position alone."""
    if isinstance(value, _api.Pose):
        return value
    if len(value) == 2 and np.shape(value[1]) == (3, 3):
        return _api.Pose(vec3(value[0]), mat3(value[1]))
    return _api.Pose(vec3(value), mat3(np.eye(3)))


def time_fn(value, keep):
    """From a function of the time that returns two vectors (or one), or from up to six
    expressions of t."""
    if isinstance(value, _api.TimeFn):
        return value
    if callable(value):
        def at(_, time, out):
            pair = np.ctypeslib.as_array(ctypes.cast(out, ctypes.POINTER(ctypes.c_double)), (6,))
            pair[:] = np.nan  # what fails is told by the step
            said = np.ravel(value(time))
            pair[:] = 0.0
            pair[:len(said)] = said
        return _fn_of(_api.TimeFn._fields_[0][1](at), keep)
    return _parsed_fn([value] if isinstance(value, str) else list(value), keep)


def _fn_of(at, keep):
    keep.append(at)
    return _api.TimeFn(at=at)


class _ParsedFn:
    def __init__(self, host, struct):
        self.host, self.struct = host, struct

    def __del__(self):
        lib.tdl_time_fn_free(self.host.ref, byref(self.struct))


def _parsed_fn(texts, keep):
    host, struct = Host(), _api.TimeFn()
    row = (ctypes.c_char_p * 6)(*[None if t is None else str(t).encode() for t in texts])
    host.check(lib.tdl_time_fn_parse(host.ref, row, byref(struct)))
    keep.append(_ParsedFn(host, struct))
    return struct


def _struct(kind, value, keep):
    if isinstance(value, kind):
        return value
    if kind is _api.Vec3:
        return vec3(value)
    if kind is _api.Mat3:
        return mat3(value)
    if kind is _api.Pose and not isinstance(value, dict):
        return pose(value)
    if kind is _api.TimeFn:
        return time_fn(value, keep)
    if kind is _api.MotionDef and not isinstance(value, dict):
        value = {"fn": value}
    if isinstance(value, Wrapped):
        return value.struct
    return fill(_default(kind), value, keep)


class Wrapped:
    """A value of Python that stands for a struct of the library, in `struct`."""


_DEFAULTS = {}


def _default(kind):
    if not _DEFAULTS:
        for name, (result, arguments) in _api.FUNCTIONS.items():
            if name.endswith("_default") and not arguments:
                _DEFAULTS[result] = getattr(lib, name)
    return _DEFAULTS[kind]() if kind in _DEFAULTS else kind()


def make(kind, values, keep):
    """A definition: the library's defaults, and what is told."""
    return fill(_default(kind), values, keep)


def _point_at(struct, name, kind, value, keep):
    item = kind._type_
    if value is None:
        setattr(struct, name, None)
        return
    array = c_array(item, value, keep)
    keep.append(array)
    setattr(struct, name, ctypes.cast(array, kind))
    count = _count_field(struct, name)
    if count is not None:
        setattr(struct, count, len(value))


def c_array(item, value, keep):
    """What C sees as an array of items: of numbers and vectors it shares their memory where it
    can."""
    if item in (_api.Vec3, ctypes.c_double, ctypes.c_int, ctypes.c_ubyte):
        number = {ctypes.c_int: np.intc, ctypes.c_ubyte: np.ubyte}.get(item, np.float64)
        numbers = np.ascontiguousarray(value, dtype=number)
        if item is _api.Vec3 and (numbers.ndim != 2 or numbers.shape[1] != 3):
            raise ValueError(f"an array of n x 3 is needed, not {numbers.shape}")
        keep.append(numbers)
        size = numbers.size // (3 if item is _api.Vec3 else 1)
        if size == 0 or not numbers.flags.writeable:
            return (item * size).from_buffer_copy(numbers)
        return (item * size).from_buffer(numbers)
    return (item * len(value))(*[_struct(item, v, keep) for v in value])


def lasting(keep):
    """Of what a definition points to, the functions; the library copied the rest."""
    return [k for k in keep if isinstance(k, _ParsedFn) or hasattr(type(k), "_flags_")]


# --- arrays of the library's memory ---------------------------------------------------------------


def from_vec3(v):
    return np.array((v.x, v.y, v.z))


def from_mat3(m):
    return np.array([[c.x, c.y, c.z] for c in (m.cx, m.cy, m.cz)]).T


def from_poses(poses):
    """Positions [n, 3] and rotations [n, 3, 3] of a ctypes array of poses."""
    numbers = np.frombuffer(poses, dtype=float).reshape(-1, 4, 3)
    return numbers[:, 0].copy(), numbers[:, 1:].transpose(0, 2, 1).copy()


def records(kind, array):
    """A structured array of a ctypes array of structs, as a copy."""
    return np.frombuffer(array, dtype=np.dtype(kind)).copy()


def doubles(value, shape=None):
    """An array of doubles as C has it."""
    value = np.ascontiguousarray(value, dtype=np.float64)
    if shape is not None and any(s is not None and s != n for s, n in zip(shape, value.shape)) or (
            shape is not None and len(shape) != value.ndim):
        wanted = " x ".join("n" if s is None else str(s) for s in shape)
        raise ValueError(f"an array of {wanted} is needed, not {value.shape}")
    return value


def pointer(array):
    return array.ctypes.data
