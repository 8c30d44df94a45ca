"""Mechanisms that are built in code."""

import os
import unittest

import numpy as np
import scipy.sparse.linalg
from scipy.special import ellipk

import lissom
from support import STEEL, FolderTest, beam


class Systems(FolderTest):
    def pendulum(self):
        system = lissom.System(gravity=[0, 0, -9.81], title="pendulum")
        system.add_rigid_body("arm", 2.0, [0.01, 0.2, 0.2], center=[0.5, 0, 0], points={"pivot": [0, 0, 0], "end": [1, 0, 0]})
        system.add_joint("hinge", "revolute", ["ground", "arm.pivot"], axis=[0, 1, 0])
        system.add_sensor("tip", "position", "arm.end")
        return system

    def test_a_rigid_pendulum_has_its_period(self):
        # let go at the horizontal: a quarter of the period is K(sin^2 45 deg) / omega, omega^2 = m g s / J
        omega = np.sqrt(2 * 9.81 * 0.5 / (0.2 + 2 * 0.25))
        quarter = ellipk(0.5) / omega
        run = self.pendulum().simulate(end=2 * quarter, step=1e-3, sample=1e-3)
        x = run.sensors["tip.x"]
        down = run.time[np.argmin(np.abs(x))]
        self.assertLess(abs(down - quarter), 1e-3)  # one sample
        self.assertAlmostEqual(x[-1], -1.0, places=4)

    def test_a_flexible_body_of_memory_moves(self):
        reduced = beam("rod").reduce(interfaces=["a", "b"], method="fixed", count=2)
        system = lissom.System()
        system.add_body("rod", reduced, "ffrf", position=[0, 0, 1])
        system.add_joint("clamp", "fixed", ["ground", "rod.a"])
        system.add_load("push", "force", on="rod.b", force=[0, 0, 10])
        system.add_sensor("tip", "displacement", "rod.b")
        # constraint modes are exact in statics: the same as K u = f of the whole body, solved by SciPy; the 1.2 mm of 1 m are
        # geometrically linear to (w/L)^2
        body = beam("rod")
        ends = [body.dofs[:, 0] == body.node_sets[name][0] for name in ("a", "b")]
        free, loaded = np.flatnonzero(~ends[0]), np.flatnonzero(ends[1] & (body.dofs[:, 1] == 2))
        f = np.zeros(len(body.dofs))
        f[loaded] = 10
        u = scipy.sparse.linalg.spsolve(body.K[free][:, free].tocsc(), f[free])
        static = system.static()
        self.assertLess(abs(static.sensors["tip.z"][0] / u[np.searchsorted(free, loaded[0])] - 1), 1e-5)
        EI = STEEL["E"] * 0.02**4 / 12
        model = system.linearise(static=True)
        first = 1.8751040687**2 / (2 * np.pi) * np.sqrt(EI / (STEEL["rho"] * 0.02**2))
        self.assertLess(abs(model.frequencies[0] / first - 1), 2e-2)  # two modes
        self.assertEqual(os.listdir("."), [])

    def test_a_body_is_reduced_with_the_keys_given(self):
        system = lissom.System()
        system.add_body("rod", beam("rod"), "ffrf", reduce=dict(interfaces=["a", "b"], method="fixed", count=2))
        system.add_joint("clamp", "fixed", ["ground", "rod.a"])
        system.add_sensor("tip", "displacement", "rod.b")
        run = system.simulate(end=1e-3, step=1e-4)
        self.assertEqual(run.nodes("rod").shape[0], len(run.time))
        self.assertIn("rod", system.text)

    def test_the_study_outlives_the_system(self):
        reduced = beam("rod").reduce(interfaces=["a", "b"], method="fixed", count=2)
        system = lissom.System()
        system.add_body("rod", reduced, "ffrf").add_joint("clamp", "fixed", ["ground", "rod.a"])
        study = system.study(simulate={"end": 1e-4, "step": 1e-4})
        del system, reduced
        study.simulate()

    def test_a_beam_is_a_body(self):
        system = lissom.System(gravity=[0, -9.81, 0])
        system.add_beam("beam", [0, 0], [1, 0], 4, section={"rectangle": [0.01, 0.01]}, young=2e9, density=1000)
        system.add_joint("clamp", "fixed", ["ground", "beam.start"])
        system.add_sensor("tip", "position", "beam.end")
        run = system.simulate(end=0.02, step=1e-3)
        # free fall at first: g t^2 / 2
        self.assertLess(run.sensors["tip.y"][-1], -1e-3)

    def test_a_python_function_as_a_load_is_refused_with_a_way_out(self):
        with self.assertRaisesRegex(lissom.InputError, "expression of t"):
            lissom.System().add_load("push", "force", on="rod.b", force=[0, 0, 1], factor=lambda t: t)


if __name__ == "__main__":
    unittest.main()
