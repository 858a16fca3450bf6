"""Contact problems, distances, collisions and fits on arrays, against what NumPy computes."""

import pathlib
import tempfile
import unittest

import numpy as np

import tendril


def problem(seed, count):
    rng = np.random.default_rng(seed)
    h = rng.normal(size=(3 * count, 2 * count + 6))
    return h @ h.T, rng.normal(size=3 * count)


def law_error(W, b, mu, r):
    """|r - P_K(r - (u + mu |u_T| n))| / |b|, written out."""
    u = (W @ r.ravel() + b).reshape(-1, 3)
    u[:, 0] += mu * np.hypot(u[:, 1], u[:, 2])
    p = r - u
    n, t = p[:, 0], np.hypot(p[:, 1], p[:, 2])
    out = p.copy()
    slide = (t > mu * n) & (mu * t > -n)
    share = (n[slide] + mu * t[slide]) / (1 + mu * mu)
    out[slide, 0] = share
    out[slide, 1:] = p[slide, 1:] * (mu * share / t[slide])[:, None]
    out[mu * t <= -n] = 0.0
    return np.linalg.norm(r - out) / np.linalg.norm(b)


class Friction(unittest.TestCase):
    def test_solutions_obey_the_law(self):
        for seed in range(5):
            W, b = problem(seed, 12)
            made = tendril.Problem(W, b, 0.4)
            r, u, info = made.solve(tolerance=1e-11)
            self.assertEqual(info.outcome, tendril.api.FrictionOutcome.CONVERGED)
            np.testing.assert_allclose(W @ r.ravel() + b, u.ravel(), atol=1e-11)
            self.assertLess(law_error(W, b, 0.4, r), 2e-11)
            self.assertAlmostEqual(made.error(r), law_error(W, b, 0.4, r), delta=1e-13)

    def test_sparse_blocks_are_the_same_problem(self):
        W, b = problem(7, 4)
        W[:3, 6:9] = W[6:9, :3] = 0
        made = tendril.Problem(W, b, [0.1, 0.2, 0.3, 0.4])
        self.assertEqual(made.size.block_count, 14)
        r = np.arange(12.0).reshape(4, 3)
        np.testing.assert_allclose(made.velocity(r).ravel(), W @ r.ravel() + b, rtol=1e-14)
        with tempfile.TemporaryDirectory() as work:
            for name in ("p.dat", "p.hdf5"):
                path = pathlib.Path(work) / name
                made.write(path)
                np.testing.assert_allclose(tendril.Problem.read(path).velocity(r),
                                           made.velocity(r), rtol=1e-15)

    def test_a_solver_of_ones_own(self):
        W, b = problem(3, 10)
        made = tendril.Problem(W, b, 0.3)

        def gradient(island):
            dense = np.zeros((island.count * 3,) * 2)
            for i in range(island.count):
                for k in range(island.row_start[i], island.row_start[i + 1]):
                    j = island.column[k]
                    dense[3 * i:3 * i + 3, 3 * j:3 * j + 3] = island.blocks[k]
            step, mu = 1 / np.linalg.norm(dense, 2), island.mu
            r = island.start.copy()
            np.testing.assert_allclose(island.velocity(r).ravel(), dense @ r.ravel() +
                                       island.b.ravel(), atol=1e-12)
            while island.offer(r):
                p = r - step * island.velocity(r)
                p[:, 0] -= step * mu * np.linalg.norm(island.velocity(r)[:, 1:], axis=1)
                t = np.linalg.norm(p[:, 1:], axis=1)
                share = np.clip((p[:, 0] + mu * t) / (1 + mu * mu), 0, None)
                slide = t > mu * p[:, 0]
                p[slide, 0] = share[slide]
                p[slide, 1:] *= (mu * share / np.maximum(t, 1e-300))[slide, None]
                r = p

        seen = []
        r, _, info = made.solve(own=gradient, tolerance=1e-6, max_iterations=100000,
                                watch=lambda iterate: seen.append(iterate.error))
        self.assertEqual(info.outcome, tendril.api.FrictionOutcome.CONVERGED)
        self.assertLess(law_error(W, b, 0.3, r), 1.1e-6)
        self.assertGreaterEqual(len(seen), info.iterations)
        with self.assertRaises(ZeroDivisionError):
            made.solve(own=lambda island: 1 / 0)

    def test_what_does_not_fit_is_refused(self):
        W, b = problem(1, 3)
        with self.assertRaises(ValueError):
            tendril.Problem(W[:6], b, 0.1)
        with self.assertRaises(tendril.BadArgument):
            tendril.Problem(W, b * np.nan, 0.1)
        with self.assertRaises(ValueError):
            tendril.Problem(W, b, 0.1).velocity(np.zeros((2, 3)))


class Shapes(unittest.TestCase):
    def test_distance_is_the_least_over_samples(self):
        rng = np.random.default_rng(4)
        for _ in range(5):
            a = tendril.helix(rng.normal(size=3), rng.normal(size=3), 2.0, radius=0.01)
            b = tendril.bezier(rng.normal(size=(4, 3)), radius=(0.01, 0.02))
            gap = tendril.distance(a, b)
            self.assertTrue(gap.certified)
            pa = np.array([a.point(s) for s in np.linspace(0, a.end, 400)])
            pb = np.array([b.point(s) for s in np.linspace(0, b.end, 400)])
            apart = np.linalg.norm(pa[:, None] - pb[None], axis=2) - 0.01 - np.linspace(
                0.01, 0.02, 400)[None]
            self.assertLessEqual(gap.gap, apart.min() + 1e-12)
            self.assertAlmostEqual(gap.gap, apart.min(), delta=2e-2)  # between samples

    def test_collisions_are_those_of_the_formula(self):
        # a vertex above a triangle falls through it, past it, or stays above
        face = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        start = [[(0.2, 0.3, 1), *face], [(0.8, 0.9, 1), *face], [(0.2, 0.3, 1), *face]]
        end = [[(0.2, 0.3, -3), *face], [(0.8, 0.9, -1), *face], [(0.2, 0.3, 0.1), *face]]
        told = tendril.collide("vertex-face", start, end)
        self.assertEqual(told["collision"].tolist(), [True, False, False])
        self.assertAlmostEqual(told["time"][0], 0.25, delta=1e-6)
        self.assertLessEqual(told["time"][0], 0.25)
        with self.assertRaises(tendril.BadArgument):
            tendril.collide("edge-edge", np.full((1, 4, 3), np.nan), np.zeros((1, 4, 3)))

    def test_fits_follow_a_helix(self):
        s = np.linspace(0, 6, 400)
        points = np.column_stack([np.cos(s), np.sin(s), 0.3 * s])
        fit = tendril.fit_helices(points, 12)
        bend = 1 / (1 + 0.3**2)
        np.testing.assert_allclose(np.linalg.norm(fit.curvature[:, 1:], axis=1)[2:-2], bend,
                                   rtol=2e-3)
        self.assertLess(fit.error, 1e-3)
        self.assertEqual(tendril.fit_clothoids(points, 6).curvature.shape, (7, 3))

    def test_a_shape_rests_with_its_natural_curvature(self):
        kappa = np.tile((3.0, 20.0, 5.0), (10, 1))
        young, radius, density = 1e9, 1e-4, 1300.0
        inertia = np.pi * radius**4 / 4
        stiffness = (young / (1 + 0.48) * inertia, young * inertia, young * inertia)
        natural = tendril.rest_curvature(kappa, 0.2, stiffness, density * np.pi * radius**2)
        world = tendril.World(step=1e-3)
        rod = world.add_rod(length=0.2, elements=10, radius=radius, young=young, poisson=0.48,
                            density=density, natural_curvature=natural, curvature=kappa)
        np.testing.assert_array_equal(rod.natural_curvature, natural)
        before = rod.points()
        world.step(50)
        # it starts at rest and stays there: what moves it is rounding
        self.assertLess(np.abs(rod.points() - before).max(), 1e-9)

    def test_names_are_checked(self):
        for call in (lambda: tendril.collide("face-face", np.zeros((1, 4, 3)), np.zeros((1, 4, 3))),
                     lambda: tendril.bezier(np.zeros((5, 3))),
                     lambda: tendril.helix((0, 0, 0), (0, 0, 0), -1.0)):
            self.assertRaises(ValueError, call)


if __name__ == "__main__":
    unittest.main()
