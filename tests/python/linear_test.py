"""Linear models and A, B, C, D of any model from Python."""

import time
import unittest

import numpy as np
import scipy.linalg
import scipy.signal
from scipy.integrate import solve_ivp

import lissom
from support import SOURCE, FolderTest


def carts(said=True, **train):
    """Wall, spring, a cart of 2 kg, spring, a cart of 1 kg; a force on the second, an input on the first."""
    system = lissom.System(title="carts")
    for name, mass, x in (("first", 2.0, 1.0), ("second", 1.0, 2.0)):
        system.add_rigid_body(name, mass, [1, 1, 1], points={"middle": [0, 0, 0]}, position=[x, 0, 0])
        system.add_joint(f"rail {name}", "prismatic", ["ground", f"{name}.middle"], axis=[1, 0, 0])
        system.add_sensor(name, "displacement", f"{name}.middle")
    system.add_load("wall", "spring", between=["ground", "first.middle"], at=[0, 0, 0], stiffness=300, damping=0.6)
    system.add_load("link", "spring", between=["first.middle", "second.middle"], stiffness=150, damping=0.3)
    system.add_load("push", "force", on="second.middle", force=[4, 0, 0], factor="ramp(t, 0, 0.1)")
    system.add_load("motor", "force", on="first.middle", force=[-3, 0, 0], factor={"input": "command"})
    simulate = {"end": 1.0, "step": 1e-3, "inputs": {"command": "sin(5*t)"} if said else None}
    return system.study(simulate=simulate, train={"method": "linear", **train})


M, K = np.diag([2.0, 1.0]), np.array([[450.0, -150.0], [-150.0, 150.0]])
DAMPING = np.array([[0.9, -0.3], [-0.3, 0.3]])
A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, DAMPING)]])
B = np.vstack([np.zeros((2, 3)), np.linalg.solve(M, [[0.0, -1.0, -3.0], [1.0, 0.0, 0.0]])])


class LinearModels(FolderTest):
    def test_the_matrices_are_those_of_the_carts(self):
        rom = carts(truncation="none").train().rom
        self.assertEqual((rom.method, rom.order, rom.inputs), ("linear", 4, ["push", "motor", "command"]))
        np.testing.assert_allclose(rom.A, A, atol=1e-11)
        np.testing.assert_allclose(rom.B, B, atol=1e-13)
        rows = [rom.columns.index("first.x"), rom.columns.index("second.x")]
        np.testing.assert_allclose(rom.C[rows], np.eye(2, 4), atol=1e-9)  # differences of nine digits
        np.testing.assert_array_equal(rom.D[rows], np.zeros((2, 3)))
        x, u = np.array([0.01, -0.02, 0.3, 0.1]), np.array([1.0, 2.0, -0.5])
        np.testing.assert_allclose(rom.rhs(0.0, x, u), A @ x + B @ u, rtol=1e-12)
        np.testing.assert_array_equal(rom.jac(0.3, x, u), rom.A)
        np.testing.assert_array_equal(rom.input_matrix(0.3, x), rom.B)
        for found, expected in zip(rom.linearise_at(x, u), (rom.A, rom.B, rom.C, rom.D)):
            np.testing.assert_array_equal(found, expected)
        # without numbers the study drives it
        np.testing.assert_allclose(rom.inputs_at(0.05), [2.0, 0.0, np.sin(0.25)], rtol=1e-12)
        np.testing.assert_allclose(rom.rhs(0.05, x), A @ x + B @ rom.inputs_at(0.05), rtol=1e-12)
        self.assertIn(0.1, [round(t, 12) for t in rom.break_times])
        self.assertEqual(rom.nodes(x), {})

    def test_frequency_responses_are_those_of_linearise_and_of_scipy(self):
        study = carts(truncation="none")
        rom, found = study.train().rom, study.linearise(static=True)
        self.assertEqual(list(found.inputs), list(rom.inputs))
        w = 2 * np.pi * np.geomspace(0.1, 50, 40)
        plant = found.to_scipy()
        for o, output in enumerate(rom.columns):
            k = list(found.outputs).index(output)
            for i in range(len(rom.inputs)):
                h = np.array([rom.C[o] @ np.linalg.solve(1j * one * np.eye(4) - rom.A, rom.B[:, i]) + rom.D[o, i] for one in w])
                if not h.any():
                    continue
                _, theirs = scipy.signal.StateSpace(plant.A, plant.B[:, [i]], plant.C[[k]], plant.D[k:k + 1, i:i + 1]).freqresp(w)
                np.testing.assert_allclose(h, theirs, rtol=0, atol=1e-9 * abs(h).max(), err_msg=f"{output} by {rom.inputs[i]}")
                # without taking it apart into zeros and poles
                same = np.array([found.C[k] @ np.linalg.solve(1j * one * np.eye(4) - found.A, found.B[:, i]) + found.D[k, i] for one in w])
                np.testing.assert_allclose(h, same, rtol=0, atol=1e-9 * abs(h).max())

    def test_steps_are_exact(self):
        rom = carts(truncation="none").train().rom
        h, x, u = 0.07, np.array([0.01, -0.02, 0.3, 0.1]), np.array([1.0, 2.0, -0.5])
        # zero-order hold by the exponential of the whole
        both = scipy.linalg.expm(h * np.block([[A, B], [np.zeros((3, 7))]]))
        np.testing.assert_allclose(rom.step(x, u, h), both[:4, :4] @ x + both[:4, 4:] @ u, atol=1e-14)
        solution = solve_ivp(lambda t, x: rom.rhs(t, x, u), (0, h), x, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(rom.step(x, u, h), solution.y[:, -1], atol=1e-10)

    def test_the_simulation_is_that_of_scipy(self):
        rom = carts(truncation="none").train().rom
        run = rom.simulate()
        # piece by piece: the ramp ends at 0.1 s
        first = solve_ivp(rom.rhs, (0, 0.1), rom.x0, rtol=1e-11, atol=1e-13)
        second = solve_ivp(rom.rhs, (0.1, 1.0), first.y[:, -1], rtol=1e-11, atol=1e-13)
        y = rom.outputs(1.0, second.y[:, -1])
        self.assertAlmostEqual(run.sensors["second.x"][-1], y[rom.columns.index("second.x")], 9)

    def test_truncated_models_stay_below_their_bound(self):
        training = carts(order=2).train()
        rom, told = training.rom, training.summary
        self.assertEqual(rom.order, 2)
        np.testing.assert_array_equal(training.singular_values, told["hankel_values"])
        w = 2 * np.pi * np.geomspace(0.05, 50, 4000)

        def response(a, b, c, d):
            return np.array([c @ np.linalg.solve(1j * one * np.eye(len(a)) - a, b) + d for one in w])

        rows = [rom.columns.index("first.x"), rom.columns.index("second.x")]
        whole = response(A, B, np.eye(2, 4), np.zeros((2, 3)))
        small = response(rom.A, rom.B, rom.C[rows], rom.D[rows])
        # every gain is below one in the units of the bound, so that every entry of the error is below it
        largest = np.abs(whole).max(axis=0)
        ratio = (np.abs(whole - small).max(axis=0) / largest).max()
        gain = np.linalg.norm(whole / largest, 2, axis=(1, 2)).max()
        self.assertLessEqual(ratio, told["bound"] * gain * 1.01)
        self.assertGreater(ratio, 0)

    def test_a_controller_drives_its_simulation_as_the_exact_recursion_does(self):
        rom, T = carts(truncation="none").train().rom, 0.02
        run = rom.simulate(set={"loads.push.force": [0.0, 0.0, 0.0], "simulate.step": 0.007, "simulate.sample": T},
                           controller=lambda t, y: 5 * y[1] - 2.0, rate=1 / T, outputs=["first.x", "second.x"])
        both = scipy.linalg.expm(T * np.block([[A, B[:, 2:]], [np.zeros((1, 5))]]))
        x, expected = np.zeros(4), []
        for _ in range(50):
            expected.append(x[:2])
            x = both[:4, :4] @ x + both[:4, 4] * (5 * x[1] - 2.0)
        found = np.column_stack([run.sensors[name][:50] for name in ("first.x", "second.x")])
        # C is a central difference of nine digits
        np.testing.assert_allclose(found, expected, atol=1e-8)
        self.assertGreater(np.abs(expected).max(), 0.01)
        # what nobody says is refused, unless a controller says it
        with self.assertRaisesRegex(lissom.InputError, "nobody says what the input 'command' is"):
            carts(said=False).train().rom.simulate()
        quiet = carts(said=False).train().rom.simulate(controller=lambda t, y: 0.0, rate=50)
        self.assertEqual(quiet.summary["samples"], 1001)

    def test_a_controller_runs_at_its_rate_in_no_time(self):
        # LQR of a small model at 1 kHz on the model itself: poles of A - B K
        rom = carts(truncation="none").train().rom
        b = rom.B[:, 1:2]
        P = scipy.linalg.solve_continuous_are(rom.A, b, 1e4 * np.eye(4), np.eye(1))
        gain = b.T @ P
        x, begun = np.array([0.05, 0.1, 0.0, 0.0]), time.process_time()
        for _ in range(500):
            x = rom.step(x, [0.0, -(gain @ x)[0], 0.0], 1e-3)
        spent = time.process_time() - begun
        expected = scipy.linalg.expm(0.5 * (rom.A - b @ gain)) @ [0.05, 0.1, 0.0, 0.0]
        # sampled at a thousandth of a second against continuous: of first order in the step times the fastest pole
        self.assertLess(np.abs(x - expected).max(), 2e-2)
        print(f"0.5 s at 1 kHz in {spent:.4f} s")

    def test_what_makes_no_sense_is_refused(self):
        rom = carts(truncation="none").train().rom
        with self.assertRaisesRegex(lissom.InputError, "u: has 2 numbers, and there are 3 inputs: push, motor, command"):
            rom.rhs(0.0, rom.x0, [1.0, 2.0])
        with self.assertRaisesRegex(lissom.InputError, "x: expected a state of 4 numbers, or columns"):
            rom.rhs(0.0, np.zeros(6))
        with self.assertRaisesRegex(lissom.InputError, "h: is 0.0, expected|h: is 0, expected"):
            rom.step(rom.x0, [0, 0, 0], 0.0)
        with self.assertRaisesRegex(lissom.InputError, "has no mass matrix"):
            rom.mass_matrix
        with self.assertRaisesRegex(lissom.InputError, "which is no input; there are: command"):
            rom.simulate(controller=lambda t, y: {"push": 0.0}, rate=1000)
        with self.assertRaisesRegex(lissom.Error, "the controller gave nan for the input 'command' at t = 0 s"):
            rom.simulate(controller=lambda t, y: np.nan, rate=1000)


class OtherModels(FolderTest):
    def test_any_model_is_linearised_at_any_state(self):
        study = lissom.Study(SOURCE / "examples" / "four-bar-slap" / "study.toml", set={"simulate.end": 0.02})
        rom = study.train().rom
        self.assertEqual(rom.method, "slap")
        run = rom.simulate()
        x = np.concatenate([run.q[-1], run.v[-1]])
        a, b, c, d = rom.linearise_at(x, t=0.02)
        np.testing.assert_array_equal(a, rom.jac(0.02, x))
        self.assertEqual((b.shape, d.shape), ((12, 0), (len(rom.columns), 0)))
        # outputs by differences of their own
        for i in (0, 3, 7):
            h = 1e-6 * max(abs(x[i]), 1e-2)
            ahead, behind = x.copy(), x.copy()
            ahead[i] += h
            behind[i] -= h
            slope = (rom.outputs(0.02, ahead) - rom.outputs(0.02, behind)) / (2 * h)
            size = np.abs(c).max(axis=1)
            np.testing.assert_allclose(c[:, i] / size, slope / size, atol=1e-6)
        with self.assertRaisesRegex(lissom.InputError, "is a slap model, whose matrices depend on the state"):
            rom.A
        with self.assertRaisesRegex(lissom.InputError, "only linear models are solved exactly"):
            rom.step(x, np.zeros(0), 1e-3)


if __name__ == "__main__":
    unittest.main()
