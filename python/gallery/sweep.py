"""A sweep on threads: a block on an incline of 20 degrees for many friction coefficients."""

import concurrent.futures

import numpy as np

import tendril

ANGLE, TIME = np.radians(20), 0.2


def speed(mu):
    """m/s after a time, of a block that starts at rest."""
    gravity = 9.81 * np.array([np.sin(ANGLE), 0, -np.cos(ANGLE)])
    world = tendril.World(step=1e-3, gravity=gravity, contacts={"law": {"mu": mu}})
    world.add_collider(shape="plane", normal=(0, 0, 1))
    block = world.add_rigid(shape="box", half=(0.05, 0.03, 0.01), radius=1e-3, pose=(0, 0, 0.01))
    world.step(round(TIME / 1e-3))
    return block.velocity[0][0]


values = np.linspace(0, 0.5, 11)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    found = np.array(list(pool.map(speed, values)))
# velocities of rigid bodies live half a step before places
law = 9.81 * (TIME - 0.5e-3) * np.maximum(0, np.sin(ANGLE) - values * np.cos(ANGLE))
for mu, v, w in zip(values, found, law):
    print(f"mu = {mu:.2f}: {v:.6f} m/s, on paper {w:.6f}")
assert np.abs(found - law).max() < 1e-6
