"""Exudyn as an independent witness: the same reduced body as a pendulum in both programs.

The body is a plastic beam of 1 m with nine nodes on its end, reduced to free natural modes. The mean of these nodes is held
in space, the beam is let go from the horizontal, and swings for a second. Exudyn makes its own equations of our K, M and
mode shapes (benchmarks/exudyn_pendulum.py says what it takes and computes).
"""

import csv
import json
import os
import pathlib
import subprocess
import unittest

from support import SOURCE, CliTest, brick, inp_deck, nodes_at

PYTHON = os.environ.get("EXUDYN_PYTHON")
LENGTH, END, SAMPLE = 1.0, 1.0, 0.02
PLASTIC = dict(E=3e9, nu=0.3, rho=1200.0)

STUDY = """
gravity = [0, 0, -9.81]
[bodies.beam]
mesh = "beam.inp"
formulation = "ffrf"
[bodies.beam.reduce]
interfaces = ["left"]
basis = "free-modes"
modes = {modes}
method = "estimate"
stress = false
paraview = false
[[joints]]
name = "pivot"
kind = "spherical"
between = ["ground", "beam.left"]
[[sensors]]
name = "tip"
kind = "position"
of = "beam.node {tip}"
[simulate]
end = {end}
step = {step}
sample = {sample}
rho_inf = 0.8
[[cases]]
name = "fncf"
set = {{ "bodies.beam.formulation" = "fncf" }}
[[cases]]
name = "gcms"
set = {{ "bodies.beam.formulation" = "gcms" }}
[[cases]]
name = "rigid"
set = {{ "bodies.beam.formulation" = "rigid" }}
"""


def distance(a, b):
    return max(sum((p - q)**2 for p, q in zip(x, y, strict=True))**0.5 for x, y in zip(a, b, strict=True))


@unittest.skipUnless(PYTHON, "EXUDYN_PYTHON does not name a Python that has exudyn")
class ExudynPendulum(CliTest):
    def setUp(self):
        super().setUp()
        nodes, elements = brick((40, 2, 2), (LENGTH, 0.02, 0.03), "C3D8")
        left = nodes_at(nodes, 0, 0.0)
        self.assertEqual(len(left), 9)
        self.tip = nodes_at(nodes, 0, LENGTH)[-1]
        self.write("beam.inp", inp_deck(nodes, elements, PLASTIC, {"left": left}))

    def study(self, modes, step):
        self.modes, self.step = modes, step
        self.write("study.toml", STUDY.format(modes=modes, tip=self.tip, end=END, step=step, sample=SAMPLE))

    def ours(self, *arguments):
        """Times and tip positions of a run."""
        self.json_of("simulate", "study.toml", "--out", "out", *arguments)
        files = list((self.folder / "out").rglob("sensors.csv"))
        self.assertEqual(len(files), 1)
        with open(files[0], newline="") as f:
            rows = list(csv.DictReader(f))
        files[0].unlink()
        return [float(row["t"]) for row in rows], [[float(row[f"tip.{c}"]) for c in "xyz"] for row in rows]

    def theirs(self):
        self.json_of("modes", "beam.inp", "--count", 1, "--no-paraview", "--out", "body")
        self.json_of("reduce", "study.toml", "--out", "reduced")
        # 1e-10 of the residual: at its default of 1e-8 the tip leaves its plane by 1e-8 m
        done = subprocess.run([PYTHON, "-B", str(pathlib.Path(SOURCE) / "benchmarks" / "exudyn_pendulum.py"), "body/beam.body.h5",
                               "reduced/beam.reduced.h5", "--interface", "left", "--tip", str(self.tip), "--modes", str(self.modes),
                               "--step", str(self.step), "--end", str(END), "--sample", str(SAMPLE), "--rho", "0.8",
                               "--tolerance", "1e-10", "--absolute-tolerance", "1e-10"],
                              cwd=self.folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_tip_swings_as_in_exudyn_whatever_the_formulation(self):
        self.study(modes=40, step=5e-4)
        theirs = self.theirs()
        self.assertEqual((theirs["modes"], theirs["interface_nodes"]), (40, 9))
        for case, tolerance in {
                # the same equations in other coordinates, to which the same method is applied: what is left is of second
                # order in the step (see below), 2e-6 here
                None: 5e-6, "fncf": 5e-6,
                # more coordinates: what forty modes leave out, 3e-6 here (and 1.5e-5 with eight)
                "gcms": 1e-5}.items():
            t, tip = self.ours(*(["--case", case] if case else []))
            self.assertEqual(len(t), len(theirs["t"]))
            self.assertLess(max(abs(a - b) for a, b in zip(t, theirs["t"])), 1e-12)
            self.assertLess(distance(tip, theirs["tip"]), tolerance * LENGTH, case or "ffrf")
        # bending is no small part of the motion: a rigid beam is far off
        _, rigid = self.ours("--case", "rigid")
        self.assertGreater(distance(rigid, theirs["tip"]), 1e-4 * LENGTH)
        # and it has swung through to the other side
        self.assertLess(min(x for x, _, _ in theirs["tip"]), -0.9 * LENGTH)

    def test_the_difference_to_exudyn_is_of_second_order_in_the_step(self):
        differences = []
        for step in (1e-3, 5e-4):
            self.study(modes=8, step=step)
            differences.append(distance(self.ours()[1], self.theirs()["tip"]))
        # nothing but the step is between both programs: a quarter at half the step
        self.assertGreater(differences[0] / differences[1], 3.5)
        self.assertLess(differences[0] / differences[1], 4.5)


@unittest.skipUnless(PYTHON, "EXUDYN_PYTHON does not name a Python that has exudyn")
class ExudynBeams(CliTest):
    """The double pendulum of paper 004 with Exudyn's ANCFCable2D (benchmarks/exudyn_ancf_pendulum.py)."""

    def test_the_tip_falls_as_in_exudyn_with_its_strains_and_not_with_others(self):
        out = self.folder / "exudyn.csv"
        subprocess.run([PYTHON, "-W", "ignore", pathlib.Path(SOURCE) / "benchmarks" / "exudyn_ancf_pendulum.py", out, "--step", "2.5e-4"],
                       check=True, capture_output=True, timeout=300)
        with open(out) as file:
            theirs = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]

        def tips(name, axial, bending):
            settings = {"simulate.step": 2.5e-4, "simulate.sample": 0.01}
            for beam in ("upper", "lower"):
                settings |= {f"bodies.{beam}.axial": axial, f"bodies.{beam}.bending": bending}
            flags = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            study = pathlib.Path(SOURCE) / "examples" / "ancf-double-pendulum" / "study.toml"
            self.assertEqual(self.lissom("simulate", study, *flags, "--out", name).code, 0)
            with open(self.folder / name / "sensors.csv") as file:
                return [(float(row["tip.x"]), float(row["tip.y"])) for row in csv.DictReader(file)]

        # the tolerance of the issue; some 3e-6 m seen, from the two integrators
        self.assertLess(distance(tips("same", "engineering", "material-curvature"), theirs), 5e-5)
        # Green's strain is another model
        green = distance(tips("green", "green", "second-derivative"), theirs)
        self.assertGreater(green, 1e-4)
        self.assertLess(green, 1e-3)


if __name__ == "__main__":
    unittest.main()
