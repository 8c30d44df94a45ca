"""Linear models on the command line, against two carts on springs whose answers are formulas, and against the full mechanism."""

import csv
import unittest

import h5py
import numpy as np
import scipy.linalg

from slap_bad_input_test import STUDY as ARM
from support import CliTest, brick, inp_deck

# the wall, a spring, a cart of 2 kg, a spring, a cart of 1 kg; forces on both, one of them an input
CARTS = """
title = "two carts"
[bodies.first]
formulation = "rigid"
rigid = { mass = 2.0, center = [0, 0, 0], inertia = [1, 1, 1] }
position = [1, 0, 0]
[bodies.first.points]
middle = [0, 0, 0]
[bodies.second]
formulation = "rigid"
rigid = { mass = 1.0, center = [0, 0, 0], inertia = [1, 1, 1] }
position = [2, 0, 0]
[bodies.second.points]
middle = [0, 0, 0]
[[joints]]
name = "rail 1"
kind = "prismatic"
between = ["ground", "first.middle"]
axis = [1, 0, 0]
[[joints]]
name = "rail 2"
kind = "prismatic"
between = ["ground", "second.middle"]
axis = [1, 0, 0]
[[loads]]
name = "wall"
kind = "spring"
between = ["ground", "first.middle"]
at = [0, 0, 0]
stiffness = 300
damping = 0.6
[[loads]]
name = "link"
kind = "spring"
between = ["first.middle", "second.middle"]
stiffness = 150
damping = 0.3
[[loads]]
name = "push"
kind = "force"
on = "second.middle"
force = [4, 0, 0]
factor = "ramp(t, 0, 0.1)"
[[loads]]
name = "motor"
kind = "force"
on = "first.middle"
force = [-3, 0, 0]
factor = { input = "command" }
[[sensors]]
name = "one"
kind = "displacement"
of = "first.middle"
[[sensors]]
name = "two"
kind = "displacement"
of = "second.middle"
[[sensors]]
name = "foot"
kind = "load"
of = "wall"
[simulate]
end = 2
step = 1e-3
sample = 1e-2
inputs = { command = "sin(5*t)" }
"""
NONE = '[train]\nmethod = "linear"\ntruncation = "none"\n'
BALANCED = '[train]\nmethod = "linear"\n'


def matrices():
    """A, B, C of the carts: x = (p1, p2, p1', p2'), u = (push, motor, command), y = (p1, p2)."""
    M, K = np.diag([2.0, 1.0]), np.array([[450.0, -150.0], [-150.0, 150.0]])
    damping = np.array([[0.9, -0.3], [-0.3, 0.3]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, damping)]])
    forces = np.array([[0.0, -1.0, -3.0], [1.0, 0.0, 0.0]])
    return A, np.vstack([np.zeros((2, 3)), np.linalg.solve(M, forces)]), np.eye(2, 4)


class Carts(CliTest):
    def columns(self, file):
        with open(self.folder / file) as f:
            rows = list(csv.reader(f))
        return {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(rows[0])}

    def train(self, train=NONE, out="out", study=CARTS):
        self.write("study.toml", study + train)
        return self.json_of("train", "study.toml", "--out", out)

    def model(self, file="out/model.rom.h5"):
        with h5py.File(self.folder / file) as f:
            return tuple(f["model"][name][:] for name in "ABCD")

    def test_the_model_is_that_of_the_textbook(self):
        told = self.train()
        self.assertEqual((told["order"], told["method"], told["truncation"]), (4, "linear", "none"))
        self.assertEqual([one["name"] for one in told["inputs"]], ["push", "motor", "command"])
        A, B, C, _ = self.model()
        # C are central differences
        for found, expected, tolerance in ((A, matrices()[0], 1e-13), (B, matrices()[1], 1e-13), (C[[0, 3]], matrices()[2], 1e-9)):
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * abs(expected).max())
        # statics: push stretches both springs, the motor one
        gains = np.array(told["static_gains"])
        np.testing.assert_allclose(gains[[0, 3]], [[1 / 300, -1 / 300, -1 / 100], [1 / 300 + 1 / 150, -1 / 300, -1 / 100]], rtol=1e-8)

    def test_a_run_is_that_of_the_full_mechanism(self):
        self.train()
        told = self.json_of("simulate", "out/model.rom.h5", "--out", "linear")
        self.assertEqual((told["model"], told["steps"], told["samples"]), ("linear", 2000, 201))
        self.json_of("simulate", "study.toml", "--set", "simulate.integrator=runge-kutta", "--set", "simulate.tolerance=1e-10", "--out", "full")
        linear, full = self.columns("linear/sensors.csv"), self.columns("full/sensors.csv")
        self.assertEqual(list(linear), list(full))
        # the carts are linear: parabolas for a sine at steps of 1e-3 s, and the tolerance of Runge-Kutta
        for name in ("one.x", "two.x", "foot.value"):
            np.testing.assert_allclose(linear[name], full[name], rtol=0, atol=1e-8 * abs(full[name]).max())
        # a model in the study's place, and the same in one go
        self.json_of("simulate", "study.toml", "--set", "simulate.model=linear", "--out", "again")
        np.testing.assert_array_equal(self.columns("again/sensors.csv")["two.x"], linear["two.x"])
        # the largest displacement, of the second cart, over the size (2 m from the ground)
        largest = told["largest_displacement"]
        self.assertAlmostEqual(largest["over_size"], abs(linear["two.x"]).max() / 2, 6)
        self.assertIn("second", largest["coordinate"])
        # results may be replaced, and are results
        self.json_of("simulate", "out/model.rom.h5", "--out", "linear")
        self.assertEqual(self.json_of("inspect", "linear/result.h5")["status"], "complete")

    def test_frequency_responses_are_those_of_the_mechanism_and_of_the_matrices(self):
        self.train()
        range_ = ["--from", 0.1, "--to", 50, "--points", 50]
        full = self.json_of("response", "study.toml", *range_)
        linear = self.json_of("response", "out/model.rom.h5", *range_)
        A, B, C = matrices()
        self.assertEqual(len(linear["pairs"]), 3 * 7)
        at = 2j * np.pi * np.array(linear["frequencies_hz"])
        expected = np.array([C @ np.linalg.solve(s * np.eye(4) - A, B) for s in at])
        for a, b in zip(full["pairs"], linear["pairs"]):
            self.assertEqual((a["input"], a["output"], a["unit"]), (b["input"], b["output"], b["unit"]))
            size = max(a["magnitude"])
            np.testing.assert_allclose(b["magnitude"], a["magnitude"], rtol=0, atol=1e-9 * size)
            if b["output"] in ("one.x", "two.x"):
                H = expected[:, ["one.x", "two.x"].index(b["output"]), ["push", "motor", "command"].index(b["input"])]
                # C of the program are differences of nine digits
                np.testing.assert_allclose(b["magnitude"], abs(H), rtol=0, atol=1e-8 * abs(H).max())
        # its own matrices, about no other state
        self.assertEqual(self.json_of("linearise", "out/model.rom.h5")["A"], self.model()[0].tolist())
        self.assert_refused(["linearise", "out/model.rom.h5", "--static"], "is linear, and the same at all states")

    def test_hankel_values_are_those_of_scipy_and_the_bound_holds(self):
        told = self.train(BALANCED + "order = 2\n")
        self.assertEqual((told["order"], told["kept_exactly"]), (2, 0))
        with h5py.File(self.folder / "out/model.rom.h5") as f:
            inputs, outputs = f["inputs/scale"][:], f["outputs/scale"][:]
        self.train(NONE, "whole")
        A, B, C, D = self.model("whole/model.rom.h5")
        scaled = outputs[:, None] * C, B * inputs, outputs[:, None] * D * inputs
        P = scipy.linalg.solve_continuous_lyapunov(A, -scaled[1] @ scaled[1].T)
        Q = scipy.linalg.solve_continuous_lyapunov(A.T, -scaled[0].T @ scaled[0])
        hankel = np.sqrt(np.sort(np.linalg.eigvals(P @ Q).real)[::-1].clip(0))
        s = 2j * np.pi * np.geomspace(0.01, 300, 20000)

        def response(A, B, C, D):
            return np.array([C @ np.linalg.solve(one * np.eye(len(A)) - A, B) + D for one in s])

        whole = response(A, scaled[1], scaled[0], scaled[2])
        gain = np.linalg.norm(whole, 2, axis=(1, 2)).max()
        # 20000 points miss the top of a resonance by less than 1e-5
        np.testing.assert_allclose(told["hankel_values"], hankel / gain, rtol=0, atol=1e-5)
        a, b, c, d = self.model()
        small = response(a, b * inputs, outputs[:, None] * c, outputs[:, None] * d * inputs)
        error = np.linalg.norm(whole - small, 2, axis=(1, 2)).max() / gain
        self.assertLessEqual(error, told["bound"] * (1 + 1e-9))
        self.assertAlmostEqual(told["bound"], 2 * hankel[2:].sum() / gain, 4)
        # what is told was found on a coarser grid
        self.assertLess(abs(told["largest_error"] - error), 0.02 * error)

    def test_loads_of_another_study_drive_it(self):
        self.train()
        other = CARTS.replace('factor = "ramp(t, 0, 0.1)"', 'factor = "sin(3*t)"').replace('command = "sin(5*t)"', 'command = 0.5')
        self.write("other.toml", other)
        self.json_of("simulate", "out/model.rom.h5", "--study", "other.toml", "--out", "linear")
        self.json_of("simulate", "other.toml", "--set", "simulate.integrator=runge-kutta", "--set", "simulate.tolerance=1e-10", "--out", "full")
        a, b = self.columns("linear/sensors.csv")["two.x"], self.columns("full/sensors.csv")["two.x"]
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8 * abs(b).max())

    def test_a_study_may_name_the_model(self):
        self.train()
        loads = CARTS[CARTS.index("[[loads]]"):]
        self.write("named.toml", 'rom = "out/model.rom.h5"\n' + loads)
        self.assertEqual(self.lissom("check", "named.toml").code, 0)
        self.json_of("simulate", "named.toml", "--out", "named")
        self.json_of("simulate", "out/model.rom.h5", "--out", "linear")
        np.testing.assert_array_equal(self.columns("named/sensors.csv")["two.x"], self.columns("linear/sensors.csv")["two.x"])
        told = self.json_of("run", "named.toml", "--out", "run")
        self.assertEqual(told["simulation"]["model"], "linear")
        # keys of the study that are not part of the model may be set, others not
        self.json_of("simulate", "out/model.rom.h5", "--set", "loads.push.force=[8, 0, 0]", "--set", "simulate.inputs.command=0", "--out", "set")
        # twice the force beside a still motor: linear
        self.json_of("simulate", "out/model.rom.h5", "--set", "simulate.inputs.command=0", "--out", "once")
        np.testing.assert_allclose(self.columns("set/sensors.csv")["two.x"], 2 * self.columns("once/sensors.csv")["two.x"], rtol=1e-12, atol=1e-16)
        self.assert_refused(["simulate", "out/model.rom.h5", "--set", "loads.wall.stiffness=5"], "load 'wall': has another stiffness")
        self.assert_refused(["static", "out/model.rom.h5"], "a linear model has no bodies any more")

    def test_what_the_model_does_not_have_is_refused_by_name(self):
        self.train()

        def refused(study, *messages):
            self.write("other.toml", study)
            self.assert_refused(["simulate", "out/model.rom.h5", "--study", "other.toml", "--out", "no"], *messages)

        refused(CARTS.replace("force = [4, 0, 0]\nfactor = \"ramp(t, 0, 0.1)\"", 'force = ["4*t", 1, 0]'), "load 'push': at t = 0 s", "along (1, 0, 0) only")
        refused(CARTS.replace('name = "push"', 'name = "pull"'), "load 'pull': the linear model has no such input", "push, motor")
        refused(CARTS.replace('on = "second.middle"', 'on = "first.middle"'), "load 'push': acts at another place")
        refused(CARTS.replace("stiffness = 300", "stiffness = 301"), "load 'wall': has another stiffness")
        refused(CARTS.replace("title", "gravity = [0, 0, -9.81]\ntitle"), "gravity is (0, 0, 0) m/s2 in the linear model")
        refused(CARTS.replace('name = "two"', 'name = "three"'), "sensor 'three': the linear model has no such sensor")
        refused(CARTS.replace("of = \"second.middle\"\n[[sensors]]", "of = \"first.middle\"\n[[sensors]]"), "sensor 'two': measures something else")
        refused(CARTS.replace('inputs = { command = "sin(5*t)" }', ""), "nobody says what the input 'command' is")
        refused(CARTS.replace("force = [-3, 0, 0]", 'force = ["-3*t", 0, 0]'), "load 'motor': changes over time besides its input 'command'")
        refused(CARTS.replace("end = 2", 'end = 2\nstart = "static"'), 'was made without start = "static"')
        refused(CARTS.replace("end = 2", 'end = 2\nintegrator = "static"'), "a linear model is solved over time")
        self.assert_refused(["simulate", "out/model.rom.h5", "--resume", "--out", "no"], "nothing to be resumed")

    def test_trainings_that_make_no_sense_are_refused(self):
        def refused(train, *messages, study=CARTS):
            self.write("study.toml", study + '[train]\nmethod = "linear"\n' + train)
            self.assert_refused(["train", "study.toml", "--out", "no"], *messages)

        refused("order = 5\n", "order is 5, and the linearised mechanism has 4 states")
        refused("order = 0\n", "is 0, expected 1 to 4000")
        refused("order = 2\ntolerance = 0.1\n", "does not go with order")
        refused("highest = 10\n", 'highest goes with truncation = "frequency"')
        refused('truncation = "frequency"\n', "needs highest")
        refused('truncation = "frequency"\nhighest = 1e-6\n', "the lowest frequency of the mechanism is 1.378")
        refused('truncation = "modes"\n', "'modes' is none of balanced, frequency, none")
        refused("runs = [\"study\"]\n", "runs")
        refused("about = -1\n", "expected a time from 0 on")
        refused("about = 1\n", "moves or is not in equilibrium")
        undamped = CARTS.replace("damping = 0.6", "").replace("damping = 0.3", "")
        refused("", "no motion of the mechanism decays", study=undamped)
        without = CARTS.replace("ramp(t, 0, 0.1)", "0*t").replace("[4, 0, 0]", "[0, 0, 0]")
        refused("order = 9\n", "order is 9", study=without)
        driven = CARTS.replace('between = ["ground", "second.middle"]\naxis', 'between = ["ground", "second.middle"]\nmotion = "0.1*t"\naxis')
        refused("", "joint 'rail 2': its motion is prescribed over time", study=driven)
        blind = CARTS[:CARTS.index("[[sensors]]")] + CARTS[CARTS.index("[simulate]"):]
        refused("", "the mechanism has no output", study=blind)

    def test_a_start_away_from_the_equilibrium_is_a_deviation(self):
        # both carts hang down their rails under gravity along x, and start where the springs are not stretched
        study = CARTS.replace("title", "gravity = [9.81, 0, 0]\ntitle").replace('command = "sin(5*t)"', "command = 0")
        study = study.replace("ramp(t, 0, 0.1)", "0*t").replace("[4, 0, 0]", "[1, 0, 0]")
        self.train(NONE + 'about = "static"\n', study=study)
        with h5py.File(self.folder / "out/model.rom.h5") as f:
            x0 = f["model/x0"][:]
        # 3 kg on the first spring, 1 kg on the second
        first = 3 * 9.81 / 300
        np.testing.assert_allclose(x0[:2], [-first, -first - 9.81 / 150], rtol=1e-9)
        self.json_of("simulate", "out/model.rom.h5", "--out", "linear")
        self.json_of("simulate", "study.toml", "--set", "simulate.integrator=runge-kutta", "--set", "simulate.tolerance=1e-10", "--out", "full")
        linear, full = self.columns("linear/sensors.csv"), self.columns("full/sensors.csv")
        for name in ("one.x", "two.x", "foot.value"):
            np.testing.assert_allclose(linear[name], full[name], rtol=0, atol=1e-8 * abs(full[name]).max())
        # about the start, which is no equilibrium then
        self.write("study.toml", study + BALANCED)
        self.assert_refused(["train", "study.toml"], 'take about = "static"')

    def test_a_study_with_a_linear_case_is_run_and_compared(self):
        self.write("study.toml", CARTS + BALANCED + 'order = 2\n[[cases]]\nname = "small"\nset = { "simulate.model" = "linear" }\n')
        told = self.json_of("run", "study.toml", "--out", "results")
        self.assertEqual(told["training"]["order"], 2)
        self.assertEqual(told["training"]["files"], ["model.rom.h5", "hankel.csv"])
        self.assertEqual(told["cases"]["small"]["simulation"]["order"], 2)
        for file in ("model.rom.h5", "hankel.csv", "small/sensors.csv", "small/result.h5", "report.html"):
            self.assertTrue((self.folder / "results" / file).exists(), file)
        # and once more over what is there
        self.json_of("run", "study.toml", "--out", "results")
        self.assertIn("linear", self.lissom("inspect", "results/model.rom.h5").out)
        self.assertEqual(self.lissom("report", "results/model.rom.h5", "--out", "model.html").code, 0)
        self.write("wrong.toml", CARTS.replace("[simulate]", '[simulate]\nmodel = "slap"') + BALANCED)
        self.assert_refused(["simulate", "wrong.toml"], 'is "slap", but [train] has method = "linear"')


class Flexible(CliTest):
    """An arm of steel that hangs on two pins: it turns about them freely and bends."""

    def setUp(self):
        super().setUp()
        self.write("arm.inp", inp_deck(*brick((2, 2, 5), (0.02, 0.02, 0.2), "C3D8")))
        study = ARM[:ARM.index("[train]")].replace("[simulate]", '[simulate]\nstart = "static"')
        self.study = study.replace('title = "arm"', 'title = "arm"\ngravity = [0, 0, 9.81]').replace("force = [0, 5, 0]", "force = [0, 0.001, 0]")
        self.study = self.study.replace("[bodies.arm.reduce]", "[bodies.arm.reduce]\ndamping = { alpha = 0, beta = 1e-6 }", 1)

    def test_small_motions_are_those_of_the_full_mechanism_and_larger_ones_are_not(self):
        self.write("study.toml", self.study + '[train]\nmethod = "linear"\nabout = "static"\ntruncation = "frequency"\nhighest = 3000\n')
        told = self.json_of("train", "study.toml", "--out", "out")
        # pendulum of a bar: mass m, l = 0.2 m and 0.02 m thick, pinned at its edge; bending shortens no digit of it
        frequencies = told["frequencies_hz"]
        length, width = 0.2, 0.02
        inertia = (length ** 2 + width ** 2) / 12 + (length / 2) ** 2 + (width / 2) ** 2
        arm = np.hypot(length / 2, width / 2)
        self.assertLess(abs(frequencies[0] / (np.sqrt(9.81 * arm / inertia) / (2 * np.pi)) - 1), 0.02)
        self.json_of("simulate", "out/model.rom.h5", "--out", "linear")
        self.json_of("simulate", "study.toml", "--out", "full")
        linear, full = (np.genfromtxt(self.folder / f / "sensors.csv", delimiter=",", names=True) for f in ("linear", "full"))
        moved = np.ptp(full["tipy"])
        self.assertGreater(moved, 0)
        # of second order: the angle squared, and generalized-alpha at steps of 5e-4 s
        self.assertLess(abs(linear["tipy"] - full["tipy"]).max(), 2e-3 * moved)

    def test_a_large_motion_is_a_warning(self):
        study = self.study.replace("force = [0, 0.001, 0]", "force = [0, 50, 0]")
        self.write("study.toml", study + '[train]\nmethod = "linear"\nabout = "static"\ntruncation = "frequency"\nhighest = 3000\n')
        self.json_of("train", "study.toml", "--out", "out")
        run = self.lissom("simulate", "out/model.rom.h5", "--out", "linear")
        self.assertIn("errors of a linear model grow with the square", run.err)


if __name__ == "__main__":
    unittest.main()
