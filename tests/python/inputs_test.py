"""Inputs and controllers: feedback that is sampled and held, and the derivatives of reduced mechanisms."""

import unittest

import numpy as np

import lissom
from support import STEEL, FolderTest, beam_arrays

CART = {
    "bodies": {"cart": {"rigid": {"mass": 2.0, "center": [0, 0, 0], "inertia": [1, 1, 1]}, "points": {"hub": [0, 0, 0]}}},
    "joints": [{"name": "rails", "kind": "prismatic", "between": ["ground", "cart.hub"], "axis": [1, 0, 0]}],
    "loads": [{"name": "motor", "kind": "force", "on": "cart.hub", "force": [1, 0, 0], "factor": {"input": "push"}}],
    "sensors": [{"name": "hub", "kind": "position", "of": "cart.hub"}, {"name": "speed", "kind": "velocity", "of": "cart.hub"},
                {"name": "jolt", "kind": "acceleration", "of": "cart.hub"}],
    "simulate": {"end": 0.5, "step": 1e-3, "sample": 5e-3},
}
T, KP, KD, GOAL = 5e-3, 80.0, 20.0, 0.3


def recursion(count):
    """A mass of 2 kg under a force that is held for T: exact."""
    x, v, out = 0.0, 0.0, []
    for _ in range(count):
        out.append(x)
        u = KP * (GOAL - x) - KD * v
        x, v = x + T * v + T * T * u / 4, v + T * u / 2
    return np.array(out)


class Controllers(FolderTest):
    def run_with(self, **more):
        return lissom.Study(CART).simulate(rate=1 / T, **more)

    def test_a_controller_moves_a_mass_as_the_exact_recursion_does(self):
        told = []

        def pd(t, y):
            told.append(t)
            return KP * (GOAL - y[0]) - KD * y[1]

        run = self.run_with(controller=pd, outputs=["hub.x", "speed.x"])
        np.testing.assert_allclose(told, T * np.arange(100), atol=1e-12)
        # constant acceleration between two instants: nothing but round-off
        np.testing.assert_allclose(run.sensors["hub.x"][:100], recursion(100), atol=1e-10)
        self.assertLess(run.summary["energy_drift"], 1e-6)

    def test_dicts_arrays_functions_and_objects_say_the_same(self):
        def pd(t, y):
            return KP * (GOAL - y[0]) - KD * y[3]

        class Controller:
            def begin(self, outputs, inputs):
                self.names = outputs, inputs

            def __call__(self, t, y):
                return {"push": pd(t, y)}

        first = self.run_with(controller=pd).sensors.array
        thing = Controller()
        np.testing.assert_array_equal(self.run_with(controller=thing).sensors.array, first)
        self.assertEqual(thing.names[1], ["push"])
        self.assertEqual(thing.names[0][:2], ["hub.x", "hub.y"])
        function = self.run_with(inputs={"push": pd}, outputs=["hub", "speed"])
        np.testing.assert_array_equal(function.sensors.array, first)

        forces = []
        self.run_with(controller=lambda t, y: forces.append(pd(t, y)) or forces[-1])
        np.testing.assert_array_equal(self.run_with(inputs={"push": np.array(forces)}).sensors.array, first)

    def test_inputs_may_be_numbers_expressions_and_tables(self):
        runs = [lissom.Study(CART).simulate(inputs={"push": given}) for given in
                (4, "4", {"table": [[0, 4], [1, 4]]})]
        for run in runs:
            # x = F t^2 / (2 m) = t^2
            np.testing.assert_allclose(run.sensors["hub.x"], run.time**2, atol=1e-10)

    def test_a_controller_sees_accelerations_of_just_before(self):
        seen = []
        self.run_with(controller=lambda t, y: seen.append(y[6]) or 2.0 * len(seen))
        np.testing.assert_allclose(seen[:4], [0, 1, 2, 3], atol=1e-9)

    def test_what_is_wrong_is_told_by_name(self):
        for more, words in [
            (dict(), "nobody says what the input 'push' is"),
            (dict(controller=lambda t, y: float("nan")), "the controller gave nan for the input 'push' at t = 0 s"),
            (dict(controller=lambda t, y: [1, 2]), "gave 2 numbers at t = 0 s, expected 1: push"),
            (dict(controller=lambda t, y: {"pull": 1}), "'pull' at t = 0 s, which is no input; there are: push"),
            (dict(controller=lambda t, y: "much"), "gave str at t = 0 s"),
            (dict(controller=lambda t, y: 0, outputs=["hup"]), "outputs: there is no 'hup'"),
            (dict(controller=3), "controller: expected a function"),
            (dict(inputs={"pull": lambda t, y: 1}), "there is no input 'pull'"),
            (dict(inputs={"push": lambda t, y: 1}), "depends on what the input does at the same time"),
            (dict(inputs={"push": [1.0, float("inf")]}), "inputs.push: has a number that is not finite"),
        ]:
            given = {} if not more else {"rate": 200, **more}
            with self.assertRaises(lissom.Error, msg=words) as caught:
                lissom.Study(CART).simulate(**given)
            self.assertIn(words, str(caught.exception))
        with self.assertRaisesRegex(lissom.InputError, "rate: is missing"):
            lissom.Study(CART).simulate(controller=lambda t, y: 0)
        with self.assertRaisesRegex(lissom.InputError, "called every 0.0005 s, and the step is longer"):
            lissom.Study(CART).simulate(controller=lambda t, y: 0, rate=2000)
        with self.assertRaisesRegex(lissom.InputError, "cannot be resumed"):
            self.run_with(controller=lambda t, y: 0, out="out", resume=True)

    def test_what_a_controller_raises_comes_through_and_what_was_computed_is_kept(self):
        def fails(t, y):
            if t > 0.1:
                raise KeyError("sensor lost")
            return 1.0

        with self.assertRaisesRegex(KeyError, "sensor lost"):
            self.run_with(controller=fails, out="out")
        kept = lissom.read_result("out")
        self.assertGreater(len(kept.time), 15)
        self.assertLess(kept.time[-1], 0.11)


class SmallModel(FolderTest):
    """A flexible bar on a hinge, trained under one push, with a force and a torque as inputs."""

    @classmethod
    def setUpClass(cls):
        points, elements = beam_arrays((10, 1, 1), (1.0, 0.02, 0.02))
        body = lissom.Body(lissom.Mesh(points, {"hex20": elements}), material=STEEL)
        bar = lissom.System(gravity=[0, 0, -9.81])
        # two corners on the axis of the hinge, and one at the tip
        nodes = [f"node {np.flatnonzero((points == corner).all(axis=1))[0] + 1}" for corner in ([0, 0, 0], [0, 0.02, 0], [1, 0, 0])]
        bar.add_body("bar", body, "gcms", reduce=dict(interfaces=nodes, method="fixed", count=2))
        bar.add_joint("hinge", "revolute", between=["ground", f"bar.{nodes[0]}"], and_between=["ground", f"bar.{nodes[1]}"])
        bar.add_load("motor", "force", on=f"bar.{nodes[2]}", force=[0, 0, 3.0], factor={"input": "push"})
        bar.add_load("other", "force", on=f"bar.{nodes[2]}", force=[1.0, 0, 0], following=False, factor={"input": "pull"})
        bar.add_sensor("tip", "position", f"bar.{nodes[2]}")
        bar.add_sensor("jolt", "acceleration", f"bar.{nodes[2]}")
        simulate = {"end": 0.1, "step": 1e-3, "inputs": {"push": "ramp(t, 0, 0.01)", "pull": 0}}
        cls.rom = bar.train(simulate, order=4).rom
        run = cls.rom.simulate()
        cls.x = np.concatenate([run.q[-1], run.v[-1]])

    def test_derivatives_for_inputs_are_exact(self):
        rom, x = self.rom, self.x
        self.assertEqual(rom.inputs, ["push", "pull"])
        u = np.array([0.7, -2.0])
        B = rom.input_matrix(0.0, x)
        self.assertEqual(B.shape, (8, 2))
        f = rom.rhs(0.0, x, u)
        for k in range(2):
            more = u.copy()
            more[k] += 3
            # linear: any difference is the derivative but for round-off
            np.testing.assert_allclose((rom.rhs(0.0, x, more) - f) / 3, B[:, k], rtol=1e-8, atol=1e-9 * np.abs(f).max())
        self.assertGreater(np.abs(B).max(), 0.1)

    def test_the_jacobian_is_that_under_the_inputs(self):
        rom, x, u = self.rom, self.x, np.array([50.0, -20.0])
        J, numeric = rom.jac(0.0, x, u), np.empty((8, 8))
        for i in range(8):
            h = 1e-6 * max(abs(x[i]), 1e-3)
            ahead, behind = x.copy(), x.copy()
            ahead[i] += h
            behind[i] -= h
            numeric[:, i] = (rom.rhs(0.0, ahead, u) - rom.rhs(0.0, behind, u)) / (2 * h)
        scale = np.abs(J).max(axis=1, keepdims=True)
        np.testing.assert_allclose(numeric / scale, J / scale, atol=1e-5)

    def test_without_u_inputs_are_as_the_study_says(self):
        rom, x = self.rom, self.x
        np.testing.assert_array_equal(rom.rhs(0.05, x), rom.rhs(0.05, x, [1.0, 0.0]))
        np.testing.assert_array_equal(rom.rhs(0.05, x), rom.rhs(0.05, x))
        self.assertGreater(np.abs(rom.rhs(0.05, x) - rom.rhs(0.05, x, [0.0, 0.0])).max(), 1e-3)

    def test_outputs_depend_on_inputs_where_accelerations_do(self):
        rom, x = self.rom, self.x
        with_force, without = rom.outputs(0.0, x, [1.0, 0.0]), rom.outputs(0.0, x, [0.0, 0.0])
        self.assertEqual(with_force.shape, (6,))
        np.testing.assert_array_equal(with_force[:3], without[:3])
        self.assertGreater(np.abs(with_force[3:] - without[3:]).max(), 1e-2)

    def test_wrong_inputs_are_refused(self):
        for u, words in [([1.0], "u: has 1 numbers, and there are 2 inputs: push, pull"), ([1.0, np.nan], "not finite")]:
            with self.assertRaisesRegex(lissom.InputError, words):
                self.rom.rhs(0.0, self.x, u)

    def test_a_controller_drives_a_small_model(self):
        # held at rest against gravity: the angle stays small where without control it would fall by 0.05 m
        def hold(t, y):
            return {"push": (5.0 - 2000.0 * (y[2] - z0)) / 3.0, "pull": 0.0}

        z0 = self.rom.outputs(0.0, self.rom.x0, [0.0, 0.0])[2]
        run = self.rom.simulate(controller=hold, rate=1000)
        self.assertLess(np.abs(run.sensors["tip.z"] - z0).max(), 0.02)


if __name__ == "__main__":
    unittest.main()
