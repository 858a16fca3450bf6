"""A wire is drawn over half a cylinder against a weight: the pull is exp(mu pi) of it."""

import numpy as np

import tendril

RADIUS, WIRE, LOAD, SPEED = 0.05, 1e-4, 0.01, 0.01  # m, m, N, m/s


def pull(mu, arc=40, straight=4):
    """N, at the end that is drawn; the wire goes up, over the top and down again."""
    around = RADIUS + WIRE
    piece = np.pi * around / arc
    bent = np.zeros((arc + 2 * straight, 3))
    bent[straight:-straight, 2] = 1 / around
    world = tendril.World(step=1e-3, gravity=(0, 0, 0), holds=True, contacts={"law": {"mu": mu}})
    world.add_collider(shape="cylinder", radius=RADIUS - 1e-9,
                       pose=((0, 0, 0), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    wire = world.add_rod(
        length=len(bent) * piece, elements=len(bent), radius=WIRE, young=1e9, damping=1e-3,
        mass_damping=50, curvature=bent, start="pinned",
        clamp=((-around, 0, -straight * piece), [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        motion=lambda t: (0, 0, -SPEED * t),
        loads=[{"at": len(bent) * piece, "force": (0, 0, -LOAD)}])
    world.step(30)
    return -wire.hold_force()[2]


for mu in (0.1, 0.3, 0.5):
    found, law = pull(mu) / LOAD, np.exp(mu * np.pi)
    print(f"mu = {mu}: pull over load {found:.4f}, exp(mu pi) = {law:.4f}")
    assert abs(found / law - 1) < 0.01  # its stiffness is 0.3 % of the load times the radius
