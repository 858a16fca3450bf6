"""The loop of a learner: an environment in thirty lines, reset by its saved state."""

import numpy as np

import tendril


class Swing:
    """A rope hangs from a hand that moves along x; the reward is how high its tip swings."""

    def __init__(self, steps=400):
        self.world = tendril.World(step=5e-3)
        down = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        self.rope = self.world.add_rod(length=0.5, elements=6, radius=2e-3, young=1e6, start="pinned",
                                       mass_damping=0.2, clamp=((0, 0, 0), down))
        self.start, self.steps = self.world.state(), steps

    def reset(self, seed=None):
        self.world.load_state(self.start)
        self.left = self.steps
        return self.observe()

    def observe(self):
        return np.concatenate([self.rope.q, self.rope.v, self.rope.point(0)])

    def step(self, action):
        self.rope.set_velocity((0.2 * np.clip(action, -1, 1), 0, 0))
        self.world.step()
        self.left -= 1
        return self.observe(), self.rope.point(0.5)[2] + 0.5, self.left == 0, {}


env, total = Swing(), []
for period in (0.5, 1.0, 1.4, 2.0):
    env.reset()
    done, best, t = False, 0.0, 0.0
    while not done:
        _, height, done, _ = env.step(np.sign(np.sin(2 * np.pi * t / period)))
        best, t = max(best, height), t + 5e-3
    total.append(best)
    print(f"a hand of period {period} s lifts the tip by {best:.3f} m")
first = env.reset().copy()
env.step(1.0)
assert np.array_equal(env.reset(), first) and 0.08 < max(total) < 0.5
