"""A trefoil knot in a rod tightens as its end is pulled; it never passes through itself."""

import os
import pathlib

import numpy as np

import tendril

SCENES = pathlib.Path(os.environ.get("TENDRIL_SOURCE", ".")) / "scenes"

scene = tendril.Scene(SCENES / "knot.yaml")
world = scene.build()
(rod,) = world.rods
bends, deepest = [], 0.0
while world.time < scene.info.end - 1e-9:
    deepest = min(deepest, world.step().deepest)
    bends.append(np.linalg.norm(rod.curvature[:, 1:], axis=1).max())
touching = np.count_nonzero(world.contacts["gap"] < 1e-6)
print(f"{touching} places touch; sharpest bend {bends[0]:.0f} -> {bends[-1]:.0f} 1/m; "
      f"least gap {1e3 * deepest:.4f} mm of a radius of {1e3 * rod.info.radius[0]:.1f}")
assert touching >= 3 and bends[-1] > bends[0]  # as a trefoil must, and tighter
assert deepest > -0.1 * rod.info.radius[0]  # at that a step is made again in parts
