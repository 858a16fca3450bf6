"""Two plates grasp a rope by friction, lift it and carry it; a trial in a copy of the world tells
whether the grip is good. The scene is that of examples/gripper.c."""

import os
import pathlib

import numpy as np

import tendril

SCENES = pathlib.Path(os.environ.get("TENDRIL_SOURCE", ".")) / "scenes"


def move(world, start, goal, time):
    """Plates from (x, z, apart) to another, from rest to rest."""
    steps = round(time / world.definition.step)
    for u in np.arange(1, steps + 1) / steps:
        x, z, apart = start + (goal - start) * u * u * (3 - 2 * u)
        world["left"].move_to((x, -apart, z))
        world["right"].move_to((x, apart, z))
        world.step()
    return goal


def slip(world, at):
    p = world["rope"].point(0.15)
    return np.hypot(p[0] - at[0], p[2] - at[1])


world = tendril.Scene(SCENES / "gripper.yaml").build()
at = move(world, np.array([0.15, 3e-3, 0.03]), np.array([0.15, 3e-3, 6e-3]), 0.3)
while True:
    trial = world.copy()
    slipped = slip(trial, move(trial, at, np.array([0.15, 0.2, at[2]]), 0.5))
    print(f"plates {2e3 * at[2]:.1f} mm apart: a trial slips by {1e3 * slipped:.2f} mm")
    if slipped < 2e-3:
        break
    at = move(world, at, at - (0, 0, 5e-4), 0.1)
at = move(world, at, np.array([0.15, 0.55, at[2]]), 1.0)
print(f"lifted by 0.55 m with a slip of {1e3 * slip(world, at):.2f} mm")
assert slip(world, at) < 2e-3
