"""Parametric models of beams: training in processes, the model file, --set, tests at other parameters."""

import json
import os
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np

from support import CliTest, LISSOM

PENDULUM = """title = "two beams"
gravity = [0, -9.81, 0]
[bodies.upper]
formulation = "ancf"
from = [0, 0]
to = [0.5, 0]
elements = {elements}
section = {{ rectangle = [0.03, 0.03] }}
young = 80e6
mass = 0.304
[bodies.lower]
formulation = "ancf"
from = [0.5, 0]
to = [1, 0]
elements = 8
section = {{ rectangle = [0.03, 0.03] }}
young = 1e6
mass = 0.2455
[[joints]]
name = "O"
kind = "revolute"
between = ["ground", "upper.start"]
[[joints]]
name = "A"
kind = "revolute"
between = ["upper.end", "lower.start"]
[[sensors]]
name = "tip"
kind = "position"
of = "lower.end"
[simulate]
integrator = "hht-i3"
alpha = -0.1
step = 1e-3
end = {end}
newton_tolerance = 1e-12
{simulate}
"""

TRAIN = """[train]
method = "pod"
order = 12
processes = 2
[train.parameters.mass1]
key = "bodies.upper.mass"
values = [0.2, 0.3, 0.4]
[train.parameters.stiff]
keys = ["bodies.lower.young"]
scale = 1e6
values = [0.8, 1.2]
"""

TEST = """[[train.test]]
name = "between"
mass1 = 0.2642
stiff = 0.95
orders = [8, 12]
combinations = ["grassmann", "global"]
"""


class PodTest(CliTest):
    def study(self, train=TRAIN, elements=8, end=0.3, simulate="", cases=""):
        path = self.folder / "study.toml"
        path.write_text(PENDULUM.format(elements=elements, end=end, simulate=simulate) + train + cases)
        return path

    def ok(self, *arguments):
        result = self.lissom(*arguments)
        self.assertEqual(result.code, 0, result.err)
        return result

    def error_of_tip(self, one, other):
        a, b = (np.genfromtxt(self.folder / name / "sensors.csv", delimiter=",", names=True) for name in (one, other))
        return np.linalg.norm(a["tipy"] - b["tipy"]) / np.linalg.norm(b["tipy"])

    def full(self, out, *settings):
        self.ok("simulate", self.study(), "--out", self.folder / out,
                *[word for s in settings for word in ("--set", s)])

    def test_train_inspect_and_simulate_at_other_parameters(self):
        out = self.folder / "out"
        trained = self.ok("train", self.study(TRAIN + TEST), "--out", out, "--json").json
        self.assertEqual(len(trained["samples"]), 6)
        self.assertEqual(trained["order"], 12)
        for name in ("model.rom.h5", "samples.csv", "singular_values.csv", "principal_angles.csv", "pod_test.csv"):
            self.assertTrue((out / name).exists(), name)
        for k in range(1, 7):
            self.assertTrue((out / "training" / f"{k:03}" / "result.h5").exists())
        angles = np.array(trained["principal_angles_deg"])
        self.assertEqual(angles.shape, (6, 6))
        self.assertTrue(np.allclose(angles, angles.T) and np.all(np.diag(angles) == 0))
        # two orders of two combinations; more modes are better, and the tests say what a run of one's own says
        rows = {(row["combination"], row["order"]): row["errors"]["tip.y"] for row in trained["tests"]}
        self.assertEqual(len(rows), 4)
        for combination in ("grassmann", "global"):
            self.assertLess(rows[combination, 12], rows[combination, 8])
            self.assertLess(rows[combination, 12], 1e-2)

        shown = self.ok("inspect", out / "model.rom.h5", "--json").json
        self.assertEqual(shown["kind"], "pod")
        self.assertEqual(shown["parameters"]["mass1"], {"keys": ["bodies.upper.mass"], "scale": 1, "from": 0.2, "to": 0.4})
        self.assertEqual(shown["parameters"]["stiff"]["scale"], 1e6)
        self.assertIn("bodies.lower.young", self.ok("inspect", out / "model.rom.h5").out)

        run = self.ok("simulate", out / "model.rom.h5", "--set", "mass1=0.2642", "--set", "stiff=0.95", "--strict",
                          "--out", self.folder / "rom", "--json").json
        self.assertEqual(run["pod"]["parameters"], {"mass1": 0.2642, "stiff": 0.95})
        self.assertEqual(run["pod"]["combination"], "grassmann")
        self.assertEqual(run["pod"]["constraints_kept"], 0)
        self.assertEqual(run["pod"]["constraints_satisfied"], 4)
        self.assertEqual(run["coordinates"], 12)
        self.assertLess(run["trust"]["largest"], 3)
        self.assertEqual(run["warnings"], [])
        with h5py.File(self.folder / "rom" / "result.h5") as file:
            self.assertEqual(file["trust"].shape, (301,))
        self.full("full", "bodies.upper.mass=0.2642", "stiff=0.95")
        self.assertAlmostEqual(self.error_of_tip("rom", "full"), rows["grassmann", 12], delta=1e-9)

        # a parameter by its key, and what is no parameter
        again = self.ok("simulate", out / "model.rom.h5", "--set", "bodies.upper.mass=0.2642", "--set", "stiff=0.95",
                            "--set", "simulate.end=0.1", "--out", self.folder / "short", "--json").json
        self.assertEqual(again["end"], 0.1)
        self.assertEqual(again["pod"]["parameters"]["mass1"], 0.2642)

        # outside of the range: told by how much, or refused
        beyond = self.ok("simulate", out / "model.rom.h5", "--set", "mass1=0.5", "--out", self.folder / "b", "--json")
        self.assertIn("mass1 = 0.5 is above its training range, 0.2 to 0.4, by 50 % of its width", beyond.err)
        self.assertAlmostEqual(beyond.json["pod"]["outside_range"], 0.5)
        self.assert_refused(["simulate", out / "model.rom.h5", "--set", "mass1=0.5", "--strict", "--out", self.folder / "b"], 
            "mass1 = 0.5 is above its training range, 0.2 to 0.4, by 50 % of its width", "--strict")
        self.assert_refused(["simulate", out / "model.rom.h5", "--set", "mass3=0.5"], 
            "there is no parameter and no key 'mass3'", "mass1", "stiff")

        for verb in ("static", "linearise"):
            self.ok(verb, out / "model.rom.h5", "--set", "mass1=0.25", "--json")

    def test_resume_reads_what_is_complete(self):
        out = self.folder / "out"
        study = self.study()
        self.ok("train", study, "--out", out)
        # both: a table without its result could be anybody's, and would not be replaced
        for name in ("result.h5", "sensors.csv"):
            (out / "training" / "002" / name).unlink()
        # what is trained on the runs does not matter for them
        self.study(TRAIN.replace("order = 12", "order = 10") + TEST)
        again = self.ok("train", study, "--out", out, "--resume", "--json").json
        self.assertEqual([s["reused"] for s in again["samples"]], [True, False, True, True, True, True])
        self.assertEqual(again["order"], 10)
        # another mechanism is another matter
        self.study(TRAIN, end=0.2)
        other = self.ok("train", study, "--out", out, "--resume", "--json")
        self.assertEqual([s["reused"] for s in other.json["samples"]], [False] * 6)
        self.assertIn("starts from the beginning", other.err)

    def test_run_with_cases(self):
        cases = TEST + """
[[cases]]
name = "reduced"
set = { "simulate.model" = "pod", "bodies.upper.mass" = 0.2642 }
reference = "full"
[[cases]]
name = "full"
set = { "bodies.upper.mass" = 0.2642 }
[[cases]]
name = "nearest"
set = { "simulate.model" = "pod", "bodies.upper.mass" = 0.2642, "train.combination" = "nearest", "train.order" = 8 }
reference = "full"
"""
        out = self.folder / "out"
        summary = self.ok("run", self.study(cases=cases), "--out", out, "--json").json
        self.assertEqual(len(summary["training"]["tests"]), 4)
        reduced, nearest = (summary["cases"][name]["simulation"] for name in ("reduced", "nearest"))
        self.assertEqual(reduced["pod"]["parameters"]["mass1"], 0.2642)
        self.assertEqual((reduced["pod"]["order"], nearest["pod"]["order"]), (12, 8))
        self.assertEqual(nearest["pod"]["combination"], "nearest")
        differences = summary["comparison"]["cases"]
        self.assertLess(differences["reduced"]["sensors"]["tip.y"]["rms"], 5e-3)
        self.assertEqual(summary["models"]["reduced"]["unknowns"], 12)
        self.assertTrue((out / "model.rom.h5").exists())
        # one training for all
        self.assertFalse((out / "training-2").exists())

    def test_greedy_and_latin_hypercube(self):
        train = """[train]
method = "pod"
order = 10
plan = "{plan}"
samples = {samples}
{more}
[train.parameters.mass1]
key = "bodies.upper.mass"
range = [0.2, 0.4]
"""
        out = self.folder / "out"
        self.study(train.format(plan="latin-hypercube", samples=4, more="seed = 7"))
        trained = self.ok("train", self.folder / "study.toml", "--out", out, "--json").json
        masses = sorted(s["parameters"]["mass1"] for s in trained["samples"])
        # one in each quarter
        for k, mass in enumerate(masses):
            self.assertTrue(0.2 + 0.05 * k <= mass <= 0.25 + 0.05 * k, masses)
        self.study(train.format(plan="greedy", samples=5, more="candidates = 6\ntolerance = 1e-9"))
        trained = self.ok("train", self.folder / "study.toml", "--out", out, "--json")
        masses = [s["parameters"]["mass1"] for s in trained.json["samples"]]
        self.assertEqual(len(masses), 5)
        # the middle is a mean of two numbers
        self.assert_close(masses[:3], [0.2, 0.4, 0.3], 1e-15)
        steps = trained.json["greedy"]
        self.assertEqual([step["samples"] for step in steps], [3, 4, 5])
        # the worst candidate becomes the next sample
        self.assertEqual(masses[3:], [step["parameters"]["mass1"] for step in steps[:2]])
        self.assertIn("above the tolerance", trained.err)

    def test_failing_runs_are_named_and_the_others_kept(self):
        # a tolerance that no step above the least one reaches
        train = """[train]
method = "pod"
order = 8
[train.parameters.tolerance]
key = "simulate.tolerance"
values = [0.1, 1e-14]
"""
        out = self.folder / "out"
        study = self.study(train, simulate="adaptive = true\ntolerance = 0.1\nelastic_tolerance = 1\nmin_step = 2e-4\nsample = 1e-2")
        result = self.lissom("train", study, "--out", out)
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("1 of 2 full simulations of the training failed", result.err)
        self.assertIn("sample 2: tolerance = 1e-14:", result.err)
        self.assertIn("--resume", result.err)
        self.assertEqual(self.ok("inspect", out / "training" / "001" / "result.h5", "--json").json["status"], "complete")

    def test_interrupt_ends_the_processes_and_keeps_the_runs(self):
        study = self.study(TRAIN, end=60)
        process = subprocess.Popen([LISSOM, "train", str(study), "--out", str(self.folder / "out")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        begun = self.folder / "out" / "training" / "002" / "result.h5"
        for _ in range(600):
            if begun.exists():
                break
            time.sleep(0.05)
        self.assertTrue(begun.exists())
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("the training was stopped", err)
        self.assertTrue((self.folder / "out" / "training" / "001" / "checkpoint.lissom").exists())
        running = subprocess.run(["pgrep", "-f", str(self.folder / "out")], capture_output=True, text=True).stdout
        self.assertEqual(running.strip(), "")

    def test_bad_input(self):
        def refused(train, *messages):
            self.assert_refused(["train", self.study(train), "--out", self.folder / "out"], *messages)

        refused(TRAIN.replace("bodies.upper.mass", "bodies.uper.mass"), "train.parameters.mass1.key", "there is no 'uper'",
                "did you mean 'upper'")
        refused(TRAIN.replace("bodies.upper.mass", "bodies.upper.from"), "expected a single number")
        refused(TRAIN.replace("[0.2, 0.3, 0.4]", "[0.2]"), "has one value only")
        refused(TRAIN.replace("order = 12", "order = 12\nplan = \"greedy\"\nsamples = 4")
                .replace("values = [0.2, 0.3, 0.4]", "range = [0.4, 0.2]").replace("values = [0.8, 1.2]", "range = [0.8, 1.2]"),
                "is from 0.4 to 0.2, expected the smaller number first")
        refused(TRAIN.replace("values = [0.2, 0.3, 0.4]", "range = [0.2, 0.4]"), "this one needs values")
        refused(TRAIN + "[[train.test]]\nmass1 = 0.25\nstiff = 1\nmass2 = 3\n", "there is no such parameter", "mass1")
        refused(TRAIN + "[[train.test]]\nmass1 = 0.25\n", "train.test[1].stiff: is missing")
        # known only once the runs are made, which stay
        beyond = self.lissom("train", self.study(TRAIN.replace("order = 12", "order = 55"), end=0.03), "--out", self.folder / "o")
        self.assertEqual(beyond.code, 2)
        self.assertIn("train.order: is 55, but the samples have", beyond.err)
        refused(TRAIN.replace('method = "pod"', 'method = "pot"'), "train.method", "pod")
        refused(TRAIN.replace("order = 12", "ordre = 12"), "ordre", "order")
        refused(TRAIN.replace("bodies.upper.mass", "bodies.upper.elements").replace("[0.2, 0.3, 0.4]", "[6, 8]"),
                "samples of a training have the same beams", "sample 3: mass1 = 8")
        # the model without a training, and beams that are none
        self.assert_refused(["simulate", self.study("", simulate='model = "pod"')], "\"pod\" needs a model", "[train]")
        text = self.study().read_text().replace("[[joints]]", "[bodies.box]\nrigid = { mass = 1, inertia = [1, 1, 1] }\n[[joints]]", 1)
        (self.folder / "study.toml").write_text(text)
        self.assert_refused(["train", self.folder / "study.toml"], "'box' (rigid) is none", 'formulation = "ancf"')
        self.assert_refused(["simulate", self.study(), "--set", "mass1"], "--set: 'mass1': expected KEY=VALUE")
        self.assert_refused(["simulate", self.study(), "--set", "bodies.upper.mas=1"], "mas", "mass")
        self.assert_refused(["simulate", self.study(), "--set", "mass1=heavy"], "expected a number")


if __name__ == "__main__":
    unittest.main()
