"""Tendril: slender things that touch, with exact contact and exact Coulomb friction.

    import tendril

    world = tendril.World(step=1e-3)
    curl = world.add_rod(length=0.3, radius=50e-6, elements=12, young=1e9, damping=0.05,
                         natural_curvature=(5, 100, 0))
    world.step(2000)
    print(curl.points(samples=4))

SI units everywhere. `tendril.api` has the library's structs and enumerations as C sees them, with
what its headers say of each field in `_docs_`, which `tendril.describe(name)` prints.
"""

from . import _api as api
from ._core import (BadArgument, BadInput, Diverged, Error, FileError, NoMemory, Stopped,
                    UnsolvedWarning, lib)
from .problems import (Curve, Fit, Island, Problem, Solution, bezier, clothoid, collide, distance,
                       fit_clothoids, fit_helices, helix, rest_curvature, segment)
from .scene import Frame, Result, Scene, resume
from .world import (Body, Cloth, Collider, Grains, Joint, Rigid, Rod, World, rectangle, tube)

__version__ = lib.tdl_version().decode()


def describe(name):
    """Prints the fields of a struct of the library, such as "RodDef", and what they mean."""
    kind = getattr(api, name.removeprefix("Tdl"))
    if issubclass(kind, api.IntEnum):
        print(", ".join(m.lower().replace("_", "-") for m in kind.__members__))
        return
    for field, *_ in kind._fields_:
        print(f"{field}: {kind._docs_[field]}")
