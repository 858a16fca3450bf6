"""A contact solver of one's own: accelerated projected gradient, in Python, beside the library's."""

import numpy as np

import tendril


def project(p, mu):
    """Onto the cones |t| <= mu n."""
    n, t = p[:, 0], np.linalg.norm(p[:, 1:], axis=1)
    share = (n + mu * t) / (1 + mu * mu)
    slide, open_ = t > mu * n, mu * t <= -n
    out = p.copy()
    out[slide, 0] = share[slide]
    out[slide, 1:] *= (mu * share / np.maximum(t, 1e-300))[slide, None]
    out[open_] = 0
    return out


def nesterov(island):
    """u = W r + b with the friction's shift of the last iterate in its gradient."""
    rows = np.zeros((3 * island.count, 3 * island.count))
    for i in range(island.count):
        for k in range(island.row_start[i], island.row_start[i + 1]):
            j = island.column[k]
            rows[3 * i:3 * i + 3, 3 * j:3 * j + 3] = island.blocks[k]
    step = 1 / np.linalg.norm(rows, 2)
    r, y, k = island.start.copy(), island.start.copy(), 0
    while island.offer(r):
        u = island.velocity(y)
        u[:, 0] += island.mu * np.linalg.norm(u[:, 1:], axis=1)
        before, r = r, project(y - step * u, island.mu)
        k = 0 if np.vdot(y - r, r - before) > 0 else k + 1  # restart where it would overshoot
        y = r + k / (k + 3) * (r - before)


rng = np.random.default_rng(0)
H = rng.normal(size=(60, 50))  # 20 contacts, more rows than coordinates
problem = tendril.Problem(H @ H.T, rng.normal(size=60), mu=0.5)
mine, theirs = problem.solve(own=nesterov, tolerance=1e-8), problem.solve(tolerance=1e-8)
for name, solved in (("nesterov", mine), ("auto", theirs)):
    print(f"{name:9} {solved.info.iterations:5} iterations, error {problem.error(solved.r):.1e}")
assert mine.converged and theirs.converged
assert np.allclose(mine.u, theirs.u, atol=1e-6)  # velocities are unique, impulses need not be
