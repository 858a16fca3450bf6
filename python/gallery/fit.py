"""The damping of a hair from a recording of its tip with noise, by golden sections."""

import numpy as np

import tendril

TIMES = np.arange(1, 61) * 5e-3


def tip(damping):
    """Its path, of a hair that is let go level."""
    world = tendril.World(step=2.5e-3)
    hair = world.add_rod(length=0.1, elements=6, radius=1e-4, young=1e8, density=1300,
                         mass_damping=damping)
    path = []
    for _ in TIMES:
        world.step(2)
        path.append(hair.point(0.1))
    return np.array(path)


def golden(f, low, high, times=18):
    share = (np.sqrt(5) - 1) / 2
    a, b = high - share * (high - low), low + share * (high - low)
    fa, fb = f(a), f(b)
    for _ in range(times):
        if fa < fb:
            high, b, fb = b, a, fa
            a = high - share * (high - low)
            fa = f(a)
        else:
            low, a, fa = a, b, fb
            b = low + share * (high - low)
            fb = f(b)
    return (low + high) / 2


truth = 4.0
noise = np.random.default_rng(3).normal(scale=2e-4, size=(len(TIMES), 3))
recording = tip(truth) + noise
found = golden(lambda d: np.sum((tip(d) - recording) ** 2), 0.0, 20.0)
print(f"damping {found:.3f} 1/s, made with {truth} and noise of 0.2 mm")
assert abs(found / truth - 1) < 0.02
