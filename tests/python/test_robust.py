"""Threads, memory, Ctrl-C, and the wheel."""

import gc
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import tendril

SOURCE = pathlib.Path(os.environ["TENDRIL_SOURCE"])
LONG = "TENDRIL_LONG" in os.environ


def heap(seed):
    world = tendril.World(step=1e-3)
    world.add_collider(shape="plane", normal=(0, 0, 1))
    for i in range(12):
        world.add_rigid(shape="sphere", radius=0.01,
                        pose=(1e-3 * ((7 * i + seed) % 5), 1e-3 * (3 * i % 4), 0.02 * i + 0.01))
    return world


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Robust(unittest.TestCase):
    def test_worlds_in_threads(self):
        alone = []
        for seed in range(4):
            world = heap(seed)
            world.step(200)
            alone.append(world.hash)
        found = [None] * 4

        def work(seed):
            world = heap(seed)
            for _ in range(200):
                world.step()
            found[seed] = world.hash

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, alone)

    def test_long_calls_let_others_run(self):
        world, ticks, done = heap(1), 0, threading.Event()
        thread = threading.Thread(target=lambda: (world.step(400), done.set()))
        thread.start()
        while not done.is_set():
            ticks += 1
            time.sleep(1e-3)
        thread.join()
        self.assertGreater(ticks, 5)

    def test_steps_do_not_grow(self):
        world = tendril.World(step=1e-3)
        world.add_collider(shape="plane", normal=(0, 0, 1))
        ball = world.add_rigid(shape="sphere", radius=0.01, pose=(0, 0, 0.01))
        rod = world.add_rod(length=0.1, elements=4, clamp=(0, 0, 0.5))

        def steps(count):
            for _ in range(count):
                world.step()
                ball.pull({"force": (1e-3, 0, 0)})
                rod.q, world.contacts, ball.pose, rod.points(), ball.contact_wrench

        steps(3000)
        gc.collect()
        before = resident()
        steps(1_000_000 if LONG else 6000)
        self.assertLess(resident() - before, 512 * 1024)  # what a step kept would be 64 bytes

    def test_worlds_come_and_go(self):
        def one():
            world = heap(0)
            world.step(2)
            return world.copy().state()

        for _ in range(30):
            one()
        gc.collect()
        before = resident()
        for _ in range(150):
            one()
        gc.collect()
        self.assertLess(resident() - before, 1024 * 1024)  # a world is 400 kB

    def test_ctrl_c_ends_a_long_call(self):
        program = (
            "import tendril\n"
            "world = tendril.World(step=1e-3)\n"
            "print('ready', flush=True)\n"
            "try:\n    world.step(10**9)\n"
            "except KeyboardInterrupt:\n    print('heeded', world.steps > 0)\n")
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=20)[0], "heeded True\n")

    def test_ctrl_c_ends_a_long_step(self):
        # twelve spheres and a problem that is asked for more digits than there are
        program = (
            "import tendril, sys\n"
            f"scene = tendril.Scene('{SOURCE}/scenes/spaghetti.yaml', "
            "{'contacts.tolerance': 1e-15, 'contacts.max_iterations': 1000000})\n"
            "world = scene.build()\n"
            "print('ready', flush=True)\n"
            "try:\n    world.step(10**6)\n"
            "except KeyboardInterrupt:\n    print('heeded')\n")
        child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", program],
                                 stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=60)[0], "heeded\n")

    def test_the_wheel_installs_without_a_network(self):
        with tempfile.TemporaryDirectory() as work:
            pip = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True)
            if pip.returncode != 0:
                self.skipTest("there is no pip")
            said = subprocess.run(
                [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet",
                 "--target", f"{work}/site", SOURCE / "python"], capture_output=True, text=True)
            self.assertEqual(said.returncode, 0, said.stderr)
            where = subprocess.run(
                [sys.executable, "-c", "import tendril; tendril.World().step(); "
                 "print(tendril.__file__)"], env={"PYTHONPATH": f"{work}/site"},
                capture_output=True, text=True)
            self.assertIn(f"{work}/site/tendril", where.stdout, where.stderr)


if __name__ == "__main__":
    unittest.main()
