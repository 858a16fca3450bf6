"""Worlds and what lives in them."""

import ctypes
import warnings
import weakref
from ctypes import byref

import numpy as np

from . import _api
from ._core import (BadArgument, Diverged, Error, Host, UnsolvedWarning, doubles, enum_of, fill,
                    from_mat3, from_poses, from_vec3, interrupt, lasting, lib, make, mat3, pointer, pose,
                    records, vec3)

_step = lib.tdl_world_step
_StepInfo = _api.StepInfo


class World:
    """A world and its clock. Keywords are the fields of TdlWorldDef (`help(tendril.api.WorldDef)`),
    those of `contacts` as a dict:

        world = tendril.World(step=1e-3, contacts={"law": {"mu": 0.4}})

    One world belongs to one thread at a time; several worlds may be used by several threads, since
    long calls let others run."""

    def __init__(self, **fields):
        keep = []
        definition = make(_api.WorldDef, fields, keep)
        host, made = Host(), ctypes.c_void_p()
        host.check(lib.tdl_world_create(host.ref, byref(definition), byref(made)))
        self._own(host, made, lasting(keep))

    def _own(self, host, pointer, keep):
        self._host, self._ptr, self._keep = host, pointer, keep
        self._views = weakref.WeakValueDictionary()  # (body, which) -> memory that is looked into
        lib.tdl_world_watch_stop(pointer, interrupt.stop, None)
        weakref.finalize(self, lib.tdl_world_destroy, pointer)

    @classmethod
    def _of(cls, host, pointer, keep):
        world = cls.__new__(cls)
        world._own(host, pointer, keep)
        return world

    def _check(self, status):
        if status:
            self._host.check(status)

    # --- time

    def step(self, count=1):
        """Makes steps and returns what the last one did (StepInfo). Diverged tells why one failed;
        the world is then as before it. Ctrl-C ends a step that takes long, and leaves the world as
        before it, too."""
        with interrupt:
            for _ in range(count):
                info = _StepInfo()
                status = _step(self._ptr, byref(info))
                if status:
                    self._fail(status, info)
                if info.unsolved or info.forced:
                    self._doubt(info)
                if interrupt.pressed:
                    break
        return info

    def _fail(self, status, info):
        if status == _api.Status.DIVERGED:
            text = ctypes.create_string_buffer(1024)
            lib.tdl_world_tell_fault(self._ptr, byref(info), len(text), text)
            self._host._faults[:] = []
            raise Diverged(text.value.decode())
        self._host.check(status)

    @staticmethod
    def _doubt(info):
        if info.forced:
            text = "was kept though it could not stay"
        else:
            text = f"has contacts that are solved to {info.error:.1e} only"
        warnings.warn(f"step {info.step} {text}", UnsolvedWarning, stacklevel=3)

    def settle(self):
        """Brings every rod to a static equilibrium; returns the largest force that is left,
        relative to weight times length."""
        left = ctypes.c_double()
        with interrupt:
            self._check(lib.tdl_world_settle(self._ptr, byref(left)))
        return left.value

    @property
    def time(self):
        return lib.tdl_world_time(self._ptr)

    @property
    def steps(self):
        return lib.tdl_world_step_count(self._ptr)

    @property
    def definition(self):
        """TdlWorldDef, as it is now."""
        return lib.tdl_world_def(self._ptr)

    @property
    def energy(self):
        """(kinetic, elastic, gravity), J."""
        e = lib.tdl_world_energy(self._ptr)
        return e.kinetic, e.elastic, e.gravity

    # --- state

    def state(self):
        """All that changes from step to step, as bytes."""
        bytes_ = ctypes.create_string_buffer(lib.tdl_world_state_size(self._ptr))
        lib.tdl_world_save_state(self._ptr, bytes_)
        return bytes_.raw

    def load_state(self, state):
        """Goes on from the state of a world that was built in the same way, with the same bits."""
        self._check(lib.tdl_world_load_state(self._ptr, bytes(state), len(state)))

    @property
    def hash(self):
        """Of the state; equal where all bits are."""
        return lib.tdl_world_state_hash(self._ptr)

    def copy(self):
        """The world once more, for trial steps; bodies have the same ids."""
        made = ctypes.c_void_p()
        self._check(lib.tdl_world_copy(self._ptr, byref(made)))
        return World._of(self._host, made, list(self._keep))

    # --- bodies

    def _add(self, add, kind, definition, keep, name):
        made = _api.BodyId()
        self._check(add(self._ptr, byref(definition), byref(made)))
        self._keep += lasting(keep)
        body = kind(self, made)
        if name is not None:
            body.name = name
        return body

    def add_rod(self, name=None, **fields):
        """A rod; keywords are the fields of TdlRodDef. A natural curvature or a first one may be
        three numbers for the whole rod, or an array of them for its elements or its joints; other
        names for young words: `elements` for element_count."""
        if "elements" in fields:
            fields["element_count"] = fields.pop("elements")
        keep = []
        count = fields.get("element_count", lib.tdl_rod_def_default().element_count)
        for key in ("natural_curvature", "curvature"):
            if np.ndim(fields.get(key, ())) == 2:
                value = fields.pop(key)
                fields[key + ("_at" if len(value) == count + 1 else "_of")] = value
        for key, wanted in (("natural_curvature_of", count), ("curvature_of", count),
                            ("natural_curvature_at", count + 1), ("curvature_at", count + 1)):
            if fields.get(key) is not None and len(fields[key]) != wanted:
                raise BadArgument(f"{key} has {len(fields[key])} curvatures, not {wanted}")
        definition = make(_api.RodDef, fields, keep)
        return self._add(lib.tdl_world_add_rod, Rod, definition, keep, name)

    def add_rigid(self, name=None, **fields):
        """A rigid body; keywords are the fields of TdlRigidDef."""
        keep = []
        definition = make(_api.RigidDef, fields, keep)
        return self._add(lib.tdl_world_add_rigid, Rigid, definition, keep, name)

    def add_collider(self, name=None, **fields):
        """A kinematic obstacle; keywords are the fields of TdlColliderDef. `normal` in the place of
        a pose's rotation turns its third axis there."""
        normal = fields.pop("normal", None)
        keep = []
        definition = make(_api.ColliderDef, fields, keep)
        if normal is not None:
            definition.pose.rotation = mat3(frame_of(normal))
        return self._add(lib.tdl_world_add_collider, Collider, definition, keep, name)

    def add_cloth(self, name=None, **fields):
        """A sheet; keywords are the fields of TdlClothDef, its mesh as `mesh={"vertices": [n, 3],
        "faces": [m, 4]}` or as tendril.rectangle() makes it."""
        keep = []
        definition = make(_api.ClothDef, fields, keep)
        return self._add(lib.tdl_world_add_cloth, Cloth, definition, keep, name)

    def add_grains(self, name=None, **fields):
        """A bed of grains; keywords are the fields of TdlGrainsDef."""
        keep = []
        definition = make(_api.GrainsDef, fields, keep)
        return self._add(lib.tdl_world_add_grains, Grains, definition, keep, name)

    def remove(self, body):
        """Takes a body out. Refused while arrays that look into its memory are in use."""
        if any(key == body._key for key, _ in self._views.keys()):
            raise Error("arrays that look into this body are still in use: copy them first")
        self._check(lib.tdl_world_remove(self._ptr, body._id))

    def __getitem__(self, name):
        """The first body of that name."""
        found = lib.tdl_world_find(self._ptr, name.encode())
        if found.index == 0:
            raise KeyError(name)
        return self._body(found)

    def _body(self, body):
        kind = lib.tdl_body_kind(self._ptr, body)
        return _KINDS.get(kind.decode(), Body)(self, body)

    def bodies(self, kind=None):
        """Those of a kind ("rod", "rigid", "collider", ...), or all, in their order."""
        text = None if kind is None else kind.encode()
        count = lib.tdl_world_bodies(self._ptr, text, 0, None)
        row = (_api.BodyId * count)()
        lib.tdl_world_bodies(self._ptr, text, count, row)
        return [self._body(_api.BodyId(b.index, b.generation)) for b in row]

    @property
    def rods(self):
        return self.bodies("rod")

    # --- joints and laws

    def join(self, kind, first, second=None, name=None, **fields):
        """A joint between two places, each a body, a pair (body, arc length or vertex), or None for
        the world. Other keywords are the fields of TdlJointDef; `point` is one place for both
        sides, or two."""
        keep = []
        point = fields.pop("point", None)
        definition = make(_api.JointDef, fields, keep)
        definition.kind = enum_of(_api.JointKind, kind) if isinstance(kind, str) else kind
        for side, end in enumerate((first, second)):
            body, at = end if isinstance(end, tuple) else (end, 0.0)
            if body is not None:
                definition.end[side] = _api.JointEnd(body._id, at)
        if point is not None:
            pair = point if np.ndim(point) == 2 else (point, point)
            definition.point[0], definition.point[1] = vec3(pair[0]), vec3(pair[1])
        made = _api.JointId()
        fault = lib.tdl_world_joint_fault(self._ptr, byref(definition))
        if fault:
            raise BadArgument(fault.decode())
        self._check(lib.tdl_world_add_joint(self._ptr, byref(definition), byref(made)))
        self._keep += lasting(keep)
        joint = Joint(self, made)
        if name is not None:
            self._check(lib.tdl_joint_set_name(self._ptr, made, name.encode()))
        return joint

    def set_law(self, first, second, mu, restitution=0.0):
        """How bodies of two materials (numbers) touch."""
        law = _api.ContactLaw(mu, restitution)
        self._check(lib.tdl_world_set_contact_law(self._ptr, first, second, law))

    def set_gravity(self, gravity):
        self._check(lib.tdl_world_set_gravity(self._ptr, vec3(gravity)))

    def set_friction(self, mu):
        """One friction coefficient for all pairs of materials."""
        self._check(lib.tdl_world_set_friction(self._ptr, mu))

    # --- contacts

    @property
    def contacts(self):
        """The contacts of the last step, a structured array with the fields of TdlContactForce:
        `body`, `element`, `u`, `v`, `point`, `normal`, `force`, `lasts`, `gap`, `mu`, `sliding`."""
        count = ctypes.c_int()
        address = lib.tdl_world_contact_forces(self._ptr, byref(count))
        if count.value == 0:
            return np.empty(0, dtype=np.dtype(_api.ContactForce))
        return records(_api.ContactForce, (_api.ContactForce * count.value).from_address(
            ctypes.cast(address, ctypes.c_void_p).value))

    def overlaps(self):
        """Pairs of bodies that overlap now, the deepest first, in words."""
        count = ctypes.c_int()
        self._check(lib.tdl_world_overlaps(self._ptr, 0, None, byref(count)))
        row = (_api.Overlap * count.value)()
        self._check(lib.tdl_world_overlaps(self._ptr, count.value, row, byref(count)))
        texts = []
        for overlap in row:
            text = ctypes.create_string_buffer(_api.OVERLAP_TEXT_SIZE)
            lib.tdl_overlap_text(self._ptr, byref(overlap), text)
            texts.append(text.value.decode())
        return texts

    # --- inverse design

    def rest(self, rods=None, **options):
        """Gives rods the natural curvature with which the present shape is at rest; options are
        those of TdlInverseOptions. Returns a dict of its report, with an array `strands`."""
        keep = []
        asked = make(_api.InverseOptions, options, keep)
        if rods is not None:
            fill(asked, {"rods": [rod._id for rod in rods]}, keep)
        report = _api.InverseReport()
        with interrupt:
            self._check(lib.tdl_world_inverse(self._ptr, byref(asked), byref(report)))
        told = {name: getattr(report, name) for name, *_ in _api.InverseReport._fields_}
        row = (_api.InverseStrand * report.strand_count).from_address(
            ctypes.addressof(report.strands.contents)) if report.strand_count else None
        told["strands"] = None if row is None else records(_api.InverseStrand, row)
        lib.tdl_inverse_report_free(self._ptr, byref(report))
        return told


def frame_of(normal):
    """A rotation whose third axis is a normal."""
    z = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    x = np.cross(np.eye(3)[1 - int(abs(z[1]) > 0.9)], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


class Body:
    """A body of a world. It is known by its id; what is asked of one that was removed raises
    BadArgument."""

    def __init__(self, world, id):
        self.world, self._id = world, id

    @property
    def _key(self):
        return self._id.index, self._id.generation

    def __eq__(self, other):
        return isinstance(other, Body) and other.world is self.world and other._key == self._key

    def __hash__(self):
        return hash((id(self.world), self._key))

    def __repr__(self):
        return f"<{self.description}>"

    def _ask(self, function, *arguments):
        self.world._check(function(self.world._ptr, self._id, *arguments))

    def _vec3(self, function):
        out = _api.Vec3()
        self._ask(function, byref(out))
        return from_vec3(out)

    @property
    def id(self):
        """(index, generation), as `contacts` have it."""
        return self._key

    @property
    def kind(self):
        kind = lib.tdl_body_kind(self.world._ptr, self._id)
        return None if kind is None else kind.decode()

    @property
    def description(self):
        """What messages call it."""
        text = ctypes.create_string_buffer(_api.BODY_NAME_SIZE)
        lib.tdl_body_name(self.world._ptr, self._id, text)
        return text.value.decode()

    def _set_name(self, name):
        self._ask(lib.tdl_body_set_name, None if name is None else name.encode())

    name = property(None, _set_name, doc="For messages, and world[name].")

    def _mass(self):
        centre, mass = _api.Vec3(), ctypes.c_double()
        self._ask(lib.tdl_body_centre, byref(centre), byref(mass))
        return from_vec3(centre), mass.value

    @property
    def mass(self):
        return self._mass()[1]

    @property
    def centre(self):
        """Of mass, m."""
        return self._mass()[0]

    @property
    def energy(self):
        """(kinetic, elastic, gravity), J."""
        e = _api.Energy()
        self._ask(lib.tdl_body_energy, byref(e))
        return e.kinetic, e.elastic, e.gravity

    @property
    def contact_wrench(self):
        """Force and torque of all contacts on it."""
        wrench = _api.Wrench()
        self._ask(lib.tdl_body_contact_wrench, byref(wrench))
        return from_vec3(wrench.force), from_vec3(wrench.torque)

    @property
    def contacts(self):
        """Those of `world.contacts` that it takes part in."""
        count = ctypes.c_int()
        self._ask(lib.tdl_body_contacts, 0, None, byref(count))
        row = (_api.ContactForce * count.value)()
        self._ask(lib.tdl_body_contacts, count.value, row, byref(count))
        return records(_api.ContactForce, row) if count.value else np.empty(
            0, dtype=np.dtype(_api.ContactForce))

    # --- control

    def move_to(self, position, rotation=None, part=0):
        """Leads it there by the end of the next step; `part` 1 is the end of a rod, or a hold of a
        cloth. Without a rotation it keeps the one it has."""
        target = self.led_pose(part) if rotation is None else None
        turned = target[1] if rotation is None else rotation
        self._ask(lib.tdl_body_move_to, part, _api.Pose(vec3(position), mat3(turned)))

    def led_pose(self, part=0):
        """Position and rotation of what is led."""
        out = _api.Pose()
        self._ask(lib.tdl_body_led_pose, part, byref(out))
        return from_vec3(out.position), from_mat3(out.rotation)

    def set_velocity(self, linear=(0, 0, 0), angular=(0, 0, 0), part=0):
        """Leads it with a velocity from now on."""
        self._ask(lib.tdl_body_set_velocity, part, vec3(linear), vec3(angular))

    def let_go(self, part=0):
        self._ask(lib.tdl_body_let_go, part)

    def pull(self, *pulls):
        """Pulls at it from now on, as told by dicts with the fields of TdlPull, and no longer as
        said before; without any, not at all."""
        row = (_api.Pull * len(pulls))(*[fill(_api.Pull(), p, []) for p in pulls])
        self._ask(lib.tdl_body_pull, len(pulls), row)

    def add_load(self, value, **fields):
        """A force and a torque that vary in time: a function of the time, or expressions of t.
        Other keywords are the fields of TdlLoadDef."""
        keep = []
        definition = make(_api.LoadDef, {"value": value, **fields}, keep)
        self._ask(lib.tdl_world_add_load, byref(definition))
        self.world._keep += lasting(keep)


class Rod(Body):
    @property
    def info(self):
        """TdlRodInfo."""
        out = _api.RodInfo()
        self._ask(lib.tdl_rod_info, byref(out))
        return out

    def _look(self, function):
        """Into the library's own memory, without a copy."""
        memory = self.world._views.get((self._key, function.__name__))
        if memory is None:
            address = ctypes.c_void_p()
            self._ask(function, byref(address))
            memory = (ctypes.c_double * self.info.dof_count).from_address(address.value)
            memory.world = self.world  # which lives as long as the array
            self.world._views[self._key, function.__name__] = memory
        view = np.frombuffer(memory, dtype=float)
        view.flags.writeable = False
        return view

    @property
    def q(self):
        """Its coordinates: no copy, it shows what they are at any time."""
        return self._look(lib.tdl_rod_coordinates)

    @property
    def v(self):
        """Their velocities, in the same way."""
        return self._look(lib.tdl_rod_velocities)

    def points(self, samples=1):
        """Of its centreline, `samples` to an element: [elements * samples + 1, 3]."""
        out = np.empty((self.info.element_count * samples + 1, 3))
        self._ask(lib.tdl_rod_points, samples, pointer(out))
        return out

    def point(self, s):
        out = _api.Vec3()
        self._ask(lib.tdl_rod_point, s, byref(out))
        return from_vec3(out)

    def frames(self, at=None, count=None):
        """Positions [n, 3] and material frames [n, 3, 3] (tangent, second and third axis in
        columns) at arc lengths, or at `count` even ones."""
        where, count = self._places(at, count)
        out = (_api.Pose * count)()
        self._ask(lib.tdl_rod_frames, count, where, out)
        return from_poses(out)

    def _places(self, at, count):
        if at is None:
            return None, self.info.element_count + 1 if count is None else count
        self._at = doubles(at, (None,))
        return pointer(self._at), len(self._at)

    def velocities(self, at):
        """Of its centreline at arc lengths, m/s."""
        where, count = self._places(at, None)
        out = np.empty((count, 3))
        self._ask(lib.tdl_rod_point_velocities, count, where, pointer(out))
        return out

    def _curvatures(self, function):
        out = np.empty((self.info.curvature_count, 3))
        self._ask(function, pointer(out))
        return out

    @property
    def curvature(self):
        """(twist, k1, k2) of its elements, of a super-clothoid at its joints, 1/m."""
        return self._curvatures(lib.tdl_rod_curvature)

    @property
    def natural_curvature(self):
        return self._curvatures(lib.tdl_rod_natural_curvature)

    @natural_curvature.setter
    def natural_curvature(self, value):
        wanted = self.info.curvature_count
        value = np.broadcast_to(np.asarray(value, dtype=float), (wanted, 3))
        self._ask(lib.tdl_rod_set_natural_curvature, pointer(doubles(value)))

    def forces(self, at=None):
        """What sections bear, a structured array with the fields of TdlRodForce: `inner` is
        tension and two shears, `bending` the moments. The world is to be made with forces=True."""
        where, count = self._places(at, 2 * self.info.element_count + 1)
        out = (_api.RodForce * count)()
        self._ask(lib.tdl_rod_forces, count, where, out)
        return records(_api.RodForce, out)

    def reaction(self, end=False):
        """What holds its start, or its end: TdlRodReaction."""
        out = _api.RodReaction()
        self._ask(lib.tdl_rod_reaction, end, byref(out))
        return out

    def hold_force(self, end=False):
        """The force of what holds its start, or its end, N. The world is to be made with holds=True."""
        out = _api.Vec3()
        self._ask(lib.tdl_rod_hold_force, end, byref(out))
        return from_vec3(out)

    def attach(self, to, clear=None):
        """Has its start ride on a collider; `to` None: no longer."""
        if to is None:
            self._ask(lib.tdl_rod_attach, None)
            return
        definition = lib.tdl_rod_attach_default()
        definition.to = to._id
        if clear is not None:
            definition.clear = clear
        self._ask(lib.tdl_rod_attach, byref(definition))

    def set_tension(self, tendon, tension):
        self._ask(lib.tdl_rod_set_tension, tendon, tension)


class Rigid(Body):
    @property
    def pose(self):
        """Position and rotation."""
        out = _api.Pose()
        self._ask(lib.tdl_rigid_pose, byref(out))
        return from_vec3(out.position), from_mat3(out.rotation)

    @property
    def velocity(self):
        """Of its centre of mass, and angular."""
        linear, angular = _api.Vec3(), _api.Vec3()
        self._ask(lib.tdl_rigid_velocity, byref(linear), byref(angular))
        return from_vec3(linear), from_vec3(angular)


class Collider(Body):
    @property
    def pose(self):
        out = _api.Pose()
        self._ask(lib.tdl_collider_pose, byref(out))
        return from_vec3(out.position), from_mat3(out.rotation)


class Cloth(Body):
    def _definition(self):
        out = _api.ClothDef()
        self._ask(lib.tdl_cloth_def, byref(out))
        return out

    def _state(self, velocities):
        out = np.empty((self._definition().mesh.vertex_count, 3))
        pair = (None, pointer(out)) if velocities else (pointer(out), None)
        self._ask(lib.tdl_cloth_state, *pair)
        return out

    @property
    def positions(self):
        """Of its vertices, m."""
        return self._state(False)

    @property
    def velocities(self):
        return self._state(True)

    @property
    def triangles(self):
        address, count = ctypes.c_void_p(), ctypes.c_int()
        self._ask(lib.tdl_cloth_triangles, byref(address), byref(count))
        row = (ctypes.c_int * (3 * count.value)).from_address(address.value)
        return np.frombuffer(row, dtype=np.intc).reshape(-1, 3).copy()

    @property
    def strain(self):
        """(largest, of the area)."""
        out = _api.ClothStrain()
        self._ask(lib.tdl_cloth_strain, byref(out))
        return out.largest, out.area

    @property
    def vertex_strains(self):
        out = np.empty(self._definition().mesh.vertex_count)
        self._ask(lib.tdl_cloth_vertex_strains, pointer(out))
        return out


class Grains(Body):
    @property
    def info(self):
        """TdlGrainsInfo."""
        out = _api.GrainsInfo()
        self._ask(lib.tdl_grains_info, byref(out))
        return out

    def particles(self):
        """A dict of arrays: number, position, velocity, fraction, pressure, shear."""
        out = _api.GrainsParticles()
        self._ask(lib.tdl_grains_particles, byref(out))

        def copied(field, item, number, columns):
            address = ctypes.cast(getattr(out, field), ctypes.c_void_p).value
            size = out.count * columns
            flat = np.frombuffer((item * size).from_address(address), dtype=number).copy() \
                if size else np.empty(0, dtype=number)
            return flat.reshape(-1, columns) if columns > 1 else flat

        told = {"number": copied("number", ctypes.c_int, np.intc, 1)}
        for field, columns in (("position", 3), ("velocity", 3), ("fraction", 1),
                               ("pressure", 1), ("shear", 1)):
            told[field] = copied(field, ctypes.c_double, float, columns)
        return told

    def mass_beyond(self, point, normal):
        """kg on the side of a plane to which its normal points."""
        mass = ctypes.c_double()
        self._ask(lib.tdl_grains_mass_beyond, vec3(point), vec3(normal), byref(mass))
        return mass.value


class Joint:
    def __init__(self, world, id):
        self.world, self._id = world, id

    @property
    def state(self):
        """TdlJointState: its forces, where it is, whether it broke."""
        out = _api.JointState()
        self.world._check(lib.tdl_joint_state(self.world._ptr, self._id, byref(out)))
        return out

    def set_motor(self, mode, target=0.0, most=float("inf")):
        """Drives its free coordinate: "off", "speed" or "place"."""
        mode = enum_of(_api.MotorMode, mode) if isinstance(mode, str) else mode
        motor = _api.Motor(mode, target, most)
        self.world._check(lib.tdl_joint_set_motor(self.world._ptr, self._id, motor))

    def remove(self):
        self.world._check(lib.tdl_world_remove_joint(self.world._ptr, self._id))


_KINDS = {"rod": Rod, "rigid": Rigid, "collider": Collider, "cloth": Cloth, "grains": Grains}



def rectangle(width, height, columns, rows):
    """The mesh of a rectangular sheet, its middle at the origin."""
    vertices = np.empty((columns * rows, 3))
    faces = np.empty(((columns - 1) * (rows - 1), 4), dtype=np.intc)
    lib.tdl_cloth_rectangle(width, height, columns, rows, pointer(vertices), pointer(faces))
    return {"vertices": vertices, "faces": faces}


def tube(radius, length, around, along):
    """The mesh of a tube about the third axis."""
    vertices = np.empty((around * along, 3))
    faces = np.empty((around * (along - 1), 4), dtype=np.intc)
    lib.tdl_cloth_tube(radius, length, around, along, pointer(vertices), pointer(faces))
    return {"vertices": vertices, "faces": faces}
