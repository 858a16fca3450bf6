"""Bending moments of a cantilever, three rod models beside the formula; a picture where matplotlib
is there."""

import sys

import numpy as np

import tendril

LENGTH, RADIUS, YOUNG, DENSITY = 0.1, 5e-4, 5e9, 1300
weight = DENSITY * np.pi * RADIUS**2 * 9.81  # N/m
at = np.linspace(0, LENGTH, 41)
law = weight * (LENGTH - at) ** 2 / 2
curves = {}
for model in ("super-helix", "super-clothoid", "der"):
    world = tendril.World(step=5e-3, forces=True)
    rod = world.add_rod(model=model, length=LENGTH, elements=20, radius=RADIUS, young=YOUNG,
                        density=DENSITY, mass_damping=20, damping=0.01)
    world.settle()
    world.step(40)
    moments = np.array([f["bending"].tolist() for f in rod.forces(at)])
    curves[model] = np.linalg.norm(moments[:, 1:], axis=1)
    print(f"{model:15} off by {np.abs(curves[model] - law).max() / law[0]:.1e} of the largest")
    assert np.abs(curves[model] - law).max() < 2e-3 * law[0]  # the tip sags by 1.6 % of the length

try:
    import matplotlib
except ImportError:
    print("matplotlib is not there: no picture")
    sys.exit()
matplotlib.use("Agg")
import matplotlib.pyplot as plt

for model, moment in curves.items():
    plt.plot(1e3 * at, 1e6 * moment, label=model)
plt.plot(1e3 * at, 1e6 * law, "k:", label="w (L - s)$^2$ / 2")
plt.xlabel("arc length (mm)")
plt.ylabel("bending moment (uN m)")
plt.legend()
if len(sys.argv) > 1:
    plt.savefig(sys.argv[1])
