"""Curls that grow from a head that turns: roots ride on it exactly, and hair slides over it."""

import numpy as np

import tendril

world = tendril.World(step=2e-3, contacts={"law": {"mu": 0.3}, "tolerance": 1e-8})
spin = 3.0  # rad/s
head = world.add_collider("head", shape="sphere", radius=0.09,
                          motion=lambda t: [(0, 0, 0), (0, 0, spin * t)])
rng = np.random.default_rng(1)
curls, roots = [], []
for i in range(6):
    out = np.array([np.cos(i), np.sin(i), 1.5])
    out /= np.linalg.norm(out)
    side = np.cross(out, (0, 0, 1))
    side /= np.linalg.norm(side)
    frame = np.column_stack([out, side, np.cross(out, side)])
    roots.append(0.0901 * out)
    curls.append(world.add_rod(
        f"curl {i}", length=0.12, elements=8, radius=5e-5, young=4e9, density=1300, damping=0.01,
        mass_damping=2, natural_curvature=(10, rng.uniform(40, 90), 0), clamp=(roots[-1], frame)))
    curls[-1].attach(head)

world.step(300)
turned = spin * world.time
z = np.array([[np.cos(turned), -np.sin(turned), 0], [np.sin(turned), np.cos(turned), 0], [0, 0, 1]])
error = max(np.linalg.norm(curl.point(0) - z @ root) for curl, root in zip(curls, roots))
on_head = sum(int(head.id in map(tuple, pair)) for pair in world.contacts["body"].tolist())
print(f"{len(world.contacts)} contacts, {on_head} with the head; roots are off by {error:.1e} m")
assert error < 1e-12
least = min(np.linalg.norm(curl.points(8), axis=1).min() for curl in curls)
assert least > 0.0899, least  # nothing is inside
