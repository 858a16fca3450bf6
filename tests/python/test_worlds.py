"""Worlds from Python: what they compute is what the command computes, bit for bit; arrays are what
they say; what is wrong is told as an exception."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import tendril

SOURCE = pathlib.Path(os.environ["TENDRIL_SOURCE"])
COMMAND = pathlib.Path(os.environ["TENDRIL_BUILD"]) / "bin" / "tendril"


def curl(world, **more):
    return world.add_rod("curl", length=0.2, elements=8, young=1e9, damping=0.05,
                         natural_curvature=(5, 100, 0), curvature=(5, 100, 0), **more)


class Worlds(unittest.TestCase):
    def test_a_scene_has_the_bits_of_the_command(self):
        path = SOURCE / "scenes" / "hanging-curl.yaml"
        overrides = {"time.end": 0.05, "output.frame": 0.01}
        with tempfile.TemporaryDirectory() as work:
            out = pathlib.Path(work) / "out"
            said = [a for k, v in overrides.items() for a in ("--set", f"{k}={v}")]
            subprocess.run([COMMAND, "run", path, "-o", out, *said], check=True,
                           capture_output=True)
            result = tendril.Result(out)
            scene = tendril.Scene(path, overrides)
            world = scene.build()
            samples = scene.info.samples
            for frame in result[1:]:
                while world.time < frame.time - 1e-9:
                    world.step()
                mine = np.concatenate([rod.points(samples) for rod in world.rods])
                # results keep single precision
                np.testing.assert_array_equal(mine.astype(np.float32), frame.points)
            again = tendril.Scene(path, overrides).run(pathlib.Path(work) / "again")
            np.testing.assert_array_equal(again[-1].points, result[-1].points)
            self.assertEqual(len(again), len(result))

    def test_a_ball_falls_and_rests(self):
        world = tendril.World(step=1e-3)
        world.add_collider("floor", shape="plane", normal=(0, 0, 1))
        ball = world.add_rigid("ball", shape="sphere", radius=0.01, pose=(0, 0, 0.06))
        world.step(50)
        # v(t) = -g t, and places half a step on: z0 - g t^2/2 to the order of the step
        self.assertAlmostEqual(ball.velocity[0][2], -9.81 * 0.05, delta=9.81 * 1e-3)
        self.assertAlmostEqual(ball.pose[0][2], 0.06 - 9.81 * 0.05**2 / 2, delta=1e-3 * 0.5)
        world.step(450)
        weight = 1000 * 4 / 3 * np.pi * 0.01**3 * 9.81
        self.assertAlmostEqual(ball.mass * 9.81 / weight, 1.0, delta=1e-12)
        (contact,) = world.contacts
        self.assertAlmostEqual(np.linalg.norm(contact["force"].tolist()) / weight, 1.0, delta=1e-6)
        self.assertAlmostEqual(world["floor"].contact_wrench[0][2] / weight, -1.0, delta=1e-6)
        self.assertEqual({tuple(b) for b in contact["body"].tolist()},
                         {ball.id, world["floor"].id})

    def test_tension_and_reactions_bear_the_weight(self):
        world = tendril.World(step=2e-3, forces=True)
        rod = world.add_rod("rope", length=0.5, radius=1e-3, elements=20, young=1e6, density=1200,
                            damping=0.1, mass_damping=20,
                            clamp=((0, 0, 0), [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]))
        world.step(500)
        weight = rod.mass * 9.81
        at = np.array([0.0, 0.125, 0.25, 0.5])
        tension = np.array([f["inner"].tolist()[0] for f in rod.forces(at)])
        np.testing.assert_allclose(tension, weight * (1 - at / 0.5), atol=1e-6 * weight)
        self.assertAlmostEqual(rod.reaction().force.z / weight, 1.0, delta=1e-6)

    def test_arrays_look_into_the_world(self):
        world = tendril.World()
        rod = curl(world)
        q, before = rod.q, rod.q.copy()
        world.step(20)
        self.assertFalse(np.array_equal(q, before))
        np.testing.assert_array_equal(q.reshape(-1, 3) / (0.2 / 8), rod.curvature)
        self.assertFalse(q.flags.writeable)
        with self.assertRaisesRegex(tendril.Error, "still in use"):
            world.remove(rod)
        alone = rod.q
        del q
        with self.assertRaises(tendril.Error):
            world.remove(rod)
        del alone
        world.remove(rod)
        with self.assertRaises(tendril.BadArgument):
            rod.points()

    def test_an_array_keeps_its_world(self):
        def made():
            return curl(tendril.World()).v
        v = made()
        np.testing.assert_array_equal(v, np.zeros(24))

    def test_frames_points_and_velocities_agree(self):
        world = tendril.World()
        rod = curl(world)
        world.step(100)
        at = np.linspace(0, 0.2, 9)
        places, frames = rod.frames(at)
        np.testing.assert_allclose(places, rod.points(1), atol=1e-15)
        np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1),
                                   np.broadcast_to(np.eye(3), (9, 3, 3)), atol=1e-13)
        h = 1e-6  # the first axis is the tangent, by central differences: order h^2, rounding 1e-10
        middle = at[:-1] + 0.0125  # of elements: at joints the curvature jumps
        ahead, behind = rod.frames(middle + h)[0], rod.frames(middle - h)[0]
        np.testing.assert_allclose((ahead - behind) / (2 * h), rod.frames(middle)[1][:, :, 0],
                                   atol=1e-8)
        self.assertEqual(rod.velocities(at).shape, (9, 3))

    def test_states_and_copies_go_on_with_the_same_bits(self):
        world = tendril.World()
        curl(world)
        world.step(10)
        state, other = world.state(), world.copy()
        world.step(10)
        there = world.hash
        other.step(10)
        self.assertEqual(other.hash, there)
        world.load_state(state)
        world.step(10)
        self.assertEqual(world.hash, there)
        with self.assertRaises(tendril.Error):
            world.load_state(state[:-1])

    def test_joints_and_loads(self):
        world = tendril.World(step=5e-4)
        bob = world.add_rigid(shape="sphere", radius=0.01, pose=(0, 0, -1))
        joint = world.join("ball", bob, point=(0, 0, 0))
        world.step(10)
        weight = bob.mass * 9.81
        self.assertAlmostEqual(abs(joint.state.force.z) / weight, 1.0, delta=1e-9)
        bob.pull({"force": (weight, 0, 0)})
        hover = world.add_rigid(shape="sphere", radius=0.01, pose=(1, 0, 0))
        hover.add_load(lambda t: (0, 0, hover.mass * 9.81))
        thrown = world.add_rigid(shape="sphere", radius=0.01, pose=(2, 0, 0))
        thrown.add_load(["0", "0", f"{2 * thrown.mass * 9.81}*step(t)"])
        world.step(100)
        np.testing.assert_allclose(hover.pose[0], (1, 0, 0), atol=1e-15)
        self.assertAlmostEqual(thrown.velocity[0][2], 9.81 * 0.05, delta=9.81 * 5e-4)
        self.assertGreater(bob.pose[0][0], 1e-3)
        with self.assertRaisesRegex(tendril.BadArgument, "only a hinge or a slider"):
            joint.set_motor("speed", 1.0)

    def test_a_load_that_fails_ends_the_step(self):
        world = tendril.World()
        ball = world.add_rigid()
        ball.add_load(lambda t: (0, 0, float("nan")))
        with self.assertRaisesRegex(tendril.BadInput, "rigid 0 is told a load that is not"):
            world.step()

    def test_cloth_and_grains(self):
        world = tendril.World(step=5e-3, contacts={"tolerance": 1e-6})
        sheet = world.add_cloth(mesh=tendril.rectangle(0.2, 0.2, 5, 5),
                                holds=[{"vertices": [0]}, {"vertices": [4]}])
        world.step(10)
        self.assertLess(sheet.positions[24, 2], -1e-4)
        np.testing.assert_array_equal(sheet.positions[0], (-0.1, -0.1, 0))
        self.assertLess(sheet.strain[0], 1e-3)
        bed = tendril.World(step=2e-3)
        bed.add_collider(shape="plane", normal=(0, 0, 1))
        sand = bed.add_grains(dimension=2, spacing=0.02, low=(0, 0, 0), high=(0.4, 0, 0.4),
                              fills=[{"low": (0.1, 0, 0), "high": (0.3, 0, 0.1)}])
        bed.step(5)
        particles = sand.particles()
        self.assertEqual(len(particles["number"]), sand.info.particle_count)
        self.assertAlmostEqual(sand.info.mass, 1500 * 0.2 * 0.1, delta=1e-9)
        self.assertAlmostEqual(sand.mass_beyond((0, 0, -1), (0, 0, 1)), sand.info.mass, delta=1e-9)
        self.assertEqual(particles["position"].shape, (len(particles["number"]), 3))

    def test_bodies_are_led(self):
        world = tendril.World()
        plate = world.add_collider("plate", shape="sphere", radius=0.1)
        plate.move_to((0.1, 0, 0))
        world.step()
        np.testing.assert_allclose(plate.pose[0], (0.1, 0, 0), atol=1e-16)
        plate.set_velocity((0, 0, 2.0))
        world.step(10)
        np.testing.assert_allclose(plate.pose[0], (0.1, 0, 0.02), atol=1e-12)


class Mistakes(unittest.TestCase):
    def test_what_is_wrong_is_told(self):
        world = tendril.World()
        with self.assertRaisesRegex(TypeError, "did you mean 'length'"):
            world.add_rod(lenght=1)
        with self.assertRaisesRegex(tendril.BadArgument, "length must be positive"):
            world.add_rod(length=-1)
        with self.assertRaisesRegex(ValueError, "none of clamped, pinned, free"):
            world.add_rod(start="loose")
        with self.assertRaisesRegex(ValueError, "RodDef.clamp|three numbers"):
            world.add_rod(clamp=(1, 2))
        with self.assertRaisesRegex(tendril.BadArgument, "3 curvatures, not 8"):
            world.add_rod(elements=8, natural_curvature_of=np.zeros((3, 3)))
        with self.assertRaises(KeyError):
            world["nobody"]
        with self.assertRaises(TypeError):
            world.add_rigid(pull=3)

    def test_a_scene_with_a_mistake_names_its_line(self):
        with tempfile.TemporaryDirectory() as work:
            path = pathlib.Path(work) / "bad.yaml"
            path.write_text("time: {step: 1e-3, end: 1}\nrods:\n  - {nmae: x}\n")
            with self.assertRaisesRegex(tendril.BadInput, r"bad\.yaml:3:6: "):
                tendril.Scene(path)
        with self.assertRaises(tendril.FileError):
            tendril.Scene("/nowhere.yaml")
        with self.assertRaises(OSError):  # as Python calls it
            tendril.Result("/nowhere")

    def test_an_unsolved_step_warns(self):
        # two balls squeezed between walls that close, and one sweep to solve it
        world = tendril.World(step=1e-3, contacts={"max_iterations": 1, "solver": "gauss-seidel",
                                                   "tolerance": 1e-14})
        world.add_collider(shape="plane", normal=(0, 0, 1))
        for i in range(4):
            world.add_rigid(shape="sphere", radius=0.01, pose=(1e-3 * i, 0, 0.01 + 0.02 * i))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            info = world.step(5)
        self.assertGreater(info.unsolved, 0)
        self.assertTrue(any(w.category is tendril.UnsolvedWarning for w in seen))


if __name__ == "__main__":
    unittest.main()
