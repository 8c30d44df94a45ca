"""lissom simulate, and lissom run and inspect with a simulation: rigid and flexible pendulums, cases, units, wrong input."""

import csv
import json
import math
import os
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np

from support import CliTest, LISSOM, brick, inp_deck, nodes_at


L, G = 0.5, 9.81
RIGID = f"""
gravity = [0, 0, -{G}]
[bodies.arm]
rigid = {{ mass = 2, center = [{L / 2}, 0, 0], inertia = [1e-4, 0.05, 0.05] }}
points = {{ hub = [0, 0, 0], tip = [{L}, 0, 0] }}
"""
HINGE = """
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
"""
SENSORS = """
[[sensors]]
name = "tip"
kind = "position"
of = "arm.tip"
[[sensors]]
name = "swing"
kind = "joint-angle"
of = "hinge"
[[sensors]]
name = "hold"
kind = "reaction"
of = "hinge"
[[sensors]]
name = "E"
kind = "energy"
"""


def simulate(end=0.1, step=1e-3, more="rho_inf = 1\n"):
    return f"[simulate]\nend = {end}\nstep = {step}\n{more}"


def status_of(file):
    """The last word of a result on how its run went."""
    return json.loads(file["run/status"][:].tobytes().splitlines()[-1][9:])


def elliptic_period(theta, omega):
    """Of a pendulum with this amplitude and this small-angle frequency [rad/s]: 4 K(sin(theta/2)) / omega."""
    a, g = 1.0, math.cos(theta / 2)
    for _ in range(40):
        a, g = (a + g) / 2, math.sqrt(a * g)
    return 2 * math.pi / (a * omega)


class SimulateTest(CliTest):
    def run_study(self, text, *arguments, verb="simulate"):
        self.write("s.toml", text)
        return self.json_of(verb, "s.toml", "--out", "out", *arguments)

    def sensors(self, folder="out"):
        with open(self.folder / folder / "sensors.csv", newline="") as f:
            rows = list(csv.reader(f))
        return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


class RigidPendulum(SimulateTest):
    def test_the_period_is_that_of_the_elliptic_integral(self):
        found = self.run_study(RIGID + HINGE + SENSORS + simulate(3.2, 2e-4, "rho_inf = 1\nsample = 2e-3\n"))
        # about the hinge; released at rest from 90 degrees
        omega = math.sqrt(2 * G * L / 2 / (0.05 + 2 * (L / 2)**2))
        period = elliptic_period(math.pi / 2, omega)
        s = self.sensors()
        self.assertEqual(list(s)[:5], ["t", "tip.x", "tip.y", "tip.z", "swing.angle"])
        # x = 0 on the way down and up: the quarters of the first two periods
        zeros = [s["t"][i - 1] + (s["t"][i] - s["t"][i - 1]) * s["tip.x"][i - 1] / (s["tip.x"][i - 1] - s["tip.x"][i])
                 for i in range(1, len(s["t"])) if s["tip.x"][i - 1] * s["tip.x"][i] < 0]
        self.assertGreaterEqual(len(zeros), 3)
        # second order: (omega h)^2 / 12 is 1e-7, and the line between samples 1e-5 of a sample
        self.assertAlmostEqual(zeros[2] - zeros[0], period, delta=1e-5 * period)
        self.assertLess(found["energy_drift"], 1e-6)
        self.assertLess(found["constraint_drift"], 1e-10)
        self.assertEqual(found["steps"], 16000)
        self.assertEqual((found["coordinates"], found["constraints"], found["degrees_of_freedom"]), (7, 6, 1))
        self.assertEqual(found["redundant"], [])
        self.assertEqual(found["files"], ["sensors.csv", "result.h5", "motion.view.h5"])
        self.assertIsNone(found["momentum_drift"])
        self.assertEqual(len(s["t"]), 1601)
        self.assertEqual(s["t"][-1], 3.2)
        # the angle goes down through 90 degrees about y, which is positive
        self.assertAlmostEqual(max(s["swing.angle"]), math.pi, delta=1e-4)
        for x, z in zip(s["tip.x"], s["tip.z"]):
            self.assertAlmostEqual(math.hypot(x, z), L, delta=1e-10)

    def test_the_result_file_has_the_same_and_more(self):
        self.run_study(RIGID + HINGE + SENSORS + simulate())
        s = self.sensors()
        with h5py.File(self.folder / "out/result.h5") as f:
            np.testing.assert_array_equal(f["time"][:], s["t"])
            names = [name.decode() for name in f["sensors/names"]]
            self.assertEqual(names, list(s)[1:])
            for i, name in enumerate(names):
                np.testing.assert_array_equal(f["sensors/values"][:, i], s[name])
            self.assertEqual(f["states/q"].shape, (101, 7))
            self.assertEqual(f["states/lambda"].shape, (101, 6))
            status = status_of(f)
            self.assertEqual(status["status"], "complete")
            self.assertEqual(status["integration"]["steps"], 100)
            self.assertEqual(f["run/steps"][-1], 100)
            self.assertIn(b"[simulate]", f["study"][0])
            total = sum(f["balance"][name][:] for name in ("kinetic", "elastic", "gravity", "springs"))
            np.testing.assert_allclose(total, s["E.total"], rtol=1e-14, atol=1e-14)

    def test_other_units_are_the_same_physics(self):
        self.run_study(RIGID + HINGE + SENSORS + simulate())
        si = self.sensors()
        # N, N mm, mJ
        factor = {"x": 1e3, "y": 1e3, "z": 1e3, "angle": 1, "fx": 1, "fy": 1, "fz": 1, "tx": 1e3, "ty": 1e3, "tz": 1e3,
                  "kinetic": 1e3, "elastic": 1e3, "gravity": 1e3, "springs": 1e3, "total": 1e3}
        text = f"""
units = "mm-t-s"
gravity = [0, 0, -{1000 * G}]
[bodies.arm]
rigid = {{ mass = 2e-3, center = [{500 * L}, 0, 0], inertia = [0.1, 50, 50] }}
points = {{ hub = [0, 0, 0], tip = [{1000 * L}, 0, 0] }}
""" + HINGE + SENSORS + simulate()
        self.run_study(text)
        mm = self.sensors()
        self.assertEqual(list(mm), list(si))
        self.assertEqual(mm["t"], si["t"])
        for name in list(si)[1:]:
            scale = max(map(abs, si[name])) or 1
            # round-off of the conversion, through a hundred steps
            self.assert_close(mm[name], [x * factor[name.split(".")[1]] for x in si[name]], 1e-9, name) \
                if scale > 1e-9 else self.assertLess(max(map(abs, mm[name])), 1e-6)

    def test_milliseconds_are_units_of_time_too(self):
        drive = HINGE + 'motion = "3*t + 2*t^2"\n'
        self.run_study(RIGID + drive + SENSORS + simulate())
        si = self.sensors()
        text = f"""
units = "mm-kg-ms"
gravity = [0, 0, -{G / 1000}]
[bodies.arm]
rigid = {{ mass = 2, center = [{500 * L}, 0, 0], inertia = [100, 5e4, 5e4] }}
points = {{ hub = [0, 0, 0], tip = [{1000 * L}, 0, 0] }}
""" + HINGE + 'motion = "3*(t/1000) + 2*(t/1000)^2"\n' + SENSORS + simulate(100, 1)
        self.run_study(text)
        ms = self.sensors()
        self.assert_close(ms["t"], [1000 * t for t in si["t"]], 1e-12)
        self.assert_close(ms["swing.angle"], si["swing.angle"], 1e-9)
        self.assert_close(ms["hold.fz"], [f / 1000 for f in si["hold.fz"]], 1e-9)

    def test_a_driven_hinge_follows_its_motion(self):
        found = self.run_study(RIGID + HINGE + 'motion = "0.3 + 4*t"\n' + SENSORS
                               + '[[sensors]]\nname = "drive"\nkind = "reaction"\nof = "hinge.motion"\n' + simulate())
        s = self.sensors()
        for t, angle in zip(s["t"], s["swing.angle"]):
            self.assertAlmostEqual(angle, 0.3 + 4 * t, delta=1e-10)
        # it begins where it is put: the angle counts from what the motion says at the start
        self.assertAlmostEqual(s["tip.x"][0], L, delta=1e-12)
        self.assertEqual(found["degrees_of_freedom"], 0)
        # the drive holds against gravity; reactions are of second order, (4 h)^2 of 5 N m
        for t, torque in zip(s["t"], s["drive.ty"]):
            self.assertAlmostEqual(abs(torque), 2 * G * L / 2 * math.cos(4 * t), delta=1e-5)
        self.assertLess(found["energy_drift"], 1e-5)

    def test_a_free_body_keeps_its_momentum_and_is_named(self):
        self.write("s.toml", RIGID.replace("gravity", "#") + "velocity = [1, 0, 0]\nangular_velocity = [0.1, 3, 0.2]\n"
                   + simulate(1.0, 1e-3))
        result = self.lissom("simulate", "s.toml", "--out", "out", "--json")
        self.assertEqual(result.code, 0, result.err)
        found = result.json
        self.assertIn("nothing holds the body 'arm'", result.err)
        self.assertEqual(found["free_bodies"], ["arm"])
        self.assertEqual(found["degrees_of_freedom"], 6)
        self.assertLess(found["momentum_drift"], 1e-10)
        # second order
        self.assertLess(found["angular_momentum_drift"], 1e-5)
        self.assertEqual((self.folder / "out/sensors.csv").read_text().splitlines()[0], "t")

    def test_every_integrator_gives_the_same_motion(self):
        reference = None
        for integrator, more in (("generalized-alpha", "step = 1e-4\nrho_inf = 1\n"), ("hht-i3", "step = 1e-4\nalpha = 0\n"),
                                 ("bdf", "step = 1e-4\ntolerance = 1e-8\n"), ("runge-kutta", "tolerance = 1e-9\n"),
                                 ("cvode", "tolerance = 1e-9\n")):
            found = self.run_study(RIGID + HINGE + SENSORS
                                   + f'[simulate]\nend = 0.3\nsample = 0.01\nintegrator = "{integrator}"\n{more}')
            self.assertEqual(found["integrator"], integrator)
            s = self.sensors()
            reference = reference or s
            self.assert_close(s["t"], reference["t"], 1e-14, integrator)
            self.assert_close(s["tip.x"], reference["tip.x"], 1e-5, integrator)
        self.write("s.toml", RIGID + HINGE + '[simulate]\nend = 1\nstep = 0.1\nintegrator = "central-differences"\n')
        self.assert_refused(["simulate", "s.toml"], "s.toml:")

    def test_inspect_says_what_will_be_solved(self):
        self.write("s.toml", RIGID + HINGE + HINGE.replace("hinge", "again") + simulate())
        result = self.lissom("inspect", "s.toml", "--json")
        self.assertEqual(result.code, 0, result.err)
        system = result.json
        self.assertEqual((system["coordinates"], system["constraints"], system["degrees_of_freedom"]), (7, 6, 1))
        self.assertEqual(system["joint_constraints"], 10)
        self.assertEqual(len(system["redundant"]), 5)
        self.assertEqual(system["bodies"], {"arm": {"name": "arm", "formulation": "rigid", "coordinates": 7, "modes": 0,
                                                    "own_constraints": 1, "mass": 2.0}})
        self.assertEqual([j["kind"] for j in system["joints"]], ["revolute", "revolute"])
        text = self.lissom("inspect", "s.toml").out
        for word in ("arm", "rigid", "hinge", "1 degree of freedom", "redundant"):
            self.assertIn(word, text)
        self.assertEqual(set(self.files()), {"s.toml"})

    def test_redundant_joints_are_named_and_do_not_matter(self):
        found = self.run_study(RIGID + HINGE + SENSORS + simulate())
        one = self.sensors()
        self.assertEqual(found["redundant"], [])
        self.write("s.toml", RIGID + HINGE + HINGE.replace("hinge", "again") + SENSORS + simulate())
        result = self.lissom("simulate", "s.toml", "--out", "out")
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.err, "joint '(hinge|again)' has a redundant constraint")
        two = self.sensors()
        self.assert_close(two["tip.z"], one["tip.z"], 1e-9)
        # the two share the force: minimum norm
        self.assert_close(two["hold.fz"], [f / 2 for f in one["hold.fz"]], 1e-6)

    def test_a_revolute_axis_of_two_spherical_joints(self):
        body = RIGID.replace("hub = [0, 0, 0]", "hub = [0, 0, 0], left = [0, 0.1, 0], right = [0, -0.1, 0]")
        sensors = SENSORS[:SENSORS.index("[[sensors]]", 5)]
        self.run_study(body + HINGE + sensors + simulate())
        one = self.sensors()
        pair = ('[[joints]]\nname = "hinge"\nkind = "revolute"\nbetween = ["ground", "arm.left"]\n'
                'and_between = ["ground", "arm.right"]\n')
        found = self.run_study(body + pair + sensors + simulate())
        self.assertEqual([j["name"] for j in found["joints"]], ["hinge.1", "hinge.2"])
        self.assertEqual(found["degrees_of_freedom"], 1)
        self.assertEqual(len(found["redundant"]), 1)
        self.assert_close(self.sensors()["tip.z"], one["tip.z"], 1e-9)

    def test_cases_are_carried_out_and_compared(self):
        text = RIGID + HINGE + SENSORS + simulate(0.2, 1e-3, "rho_inf = 1\nsample = 0.01\n") + """
[[cases]]
name = "fine"
set = { "simulate.step" = 1e-4 }
[[cases]]
name = "turned"
set = { "bodies.arm.rotation" = { axis = [0, 1, 0], angle_deg = 90 } }
[compare]
reference = "fine"
"""
        self.write("s.toml", text)
        result = self.lissom("run", "s.toml", "--out", "out", "--details")
        self.assertEqual(result.code, 0, result.err)
        for word in ("case fine: simulate.step = ", "compared with fine", "the study itself", "tip.x"):
            self.assertIn(word, result.out)
        summary = json.loads((self.folder / "out/summary.json").read_text())
        self.assertEqual(summary["cases"]["fine"]["simulation"]["steps"], 2000)
        self.assertEqual(summary["simulation"]["steps"], 200)
        comparison = summary["comparison"]
        self.assertEqual(comparison["reference"], "fine")
        self.assertEqual(set(comparison["cases"]), {"study", "turned"})
        own, fine = self.sensors("out"), self.sensors("out/fine")
        difference = [a - b for a, b in zip(own["tip.z"], fine["tip.z"])]
        entry = comparison["cases"]["study"]["sensors"]["tip.z"]
        self.assertAlmostEqual(entry["largest"], max(map(abs, difference)), delta=1e-15)
        self.assertAlmostEqual(entry["rms"], math.sqrt(sum(d * d for d in difference) / len(difference)), delta=1e-15)
        self.assertGreater(entry["largest"], 0)
        # second order: a phase of (omega h)^2 / 12 = 2e-6 of half a metre
        self.assertLess(entry["largest"], 5e-6)
        # it hangs: nothing moves
        self.assertLess(max(map(abs, self.sensors("out/turned")["tip.x"])), 1e-9)
        with open(self.folder / "out/differences.csv", newline="") as f:
            rows = list(csv.reader(f))
        self.assertEqual(rows[0], list(own))
        self.assert_close([float(row[rows[0].index("tip.z")]) for row in rows[1:]], difference, 1e-12)
        found = self.json_of("simulate", "s.toml", "--case", "fine", "--out", "alone")
        self.assertEqual((found["steps"], found["case"]), (2000, "fine"))
        self.assertEqual(self.sensors("alone"), fine)
        self.assert_refused(["simulate", "s.toml", "--case", "fin"], "has no case 'fin' (did you mean 'fine'?)")


class WrongInput(SimulateTest):
    def refused(self, text, *messages, code=2):
        self.write("s.toml", text)
        return self.assert_refused(["simulate", "s.toml", "--out", "out"], *messages, code=code)

    def test_unknown_names_have_a_suggestion(self):
        self.refused(RIGID + HINGE.replace("arm.hub", "amr.hub") + simulate(), "s.toml:", "there is no body 'amr'",
                     "did you mean 'arm'?")
        self.refused(RIGID + HINGE.replace("arm.hub", "arm.hubb") + simulate(), "body 'arm' has no point 'hubb'",
                     "did you mean 'hub'?")
        self.refused(RIGID + HINGE + SENSORS.replace('of = "hinge"', 'of = "hing"', 1) + simulate(),
                     "there is no joint 'hing'", "did you mean 'hinge'?")
        self.refused(RIGID + HINGE + simulate(more="setp = 3\n"), "simulate.setp: unknown key")
        self.refused(RIGID + HINGE.replace("revolute", "revolut") + simulate(), "did you mean 'revolute'?")
        self.refused(RIGID + HINGE, "there is no table [simulate]")

    def test_an_expression_that_does_not_parse_has_a_caret(self):
        self.refused(RIGID + HINGE + 'motion = "2*pi*tt"\n' + simulate(), "s.toml:", "joints[1].motion", "2*pi*tt\n",
                     "\n       ^")

    def test_frames_that_do_not_meet(self):
        moved = RIGID + "position = [0.01, 0, 0]\n" + HINGE + "at = [0, 0, 0]\n"
        self.refused(moved + simulate(), "s.toml:", "joint 'hinge'", "do not meet at the start", "0.01 m",
                     "'ground' is at (0, 0, 0) m", "'arm.hub' at (0.01, 0, 0) m", "assemble = true")
        self.write("s.toml", moved + simulate(more="assemble = true\n"))
        result = self.lissom("simulate", "s.toml", "--out", "out")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("the bodies were moved by up to", result.err)

    def test_a_mechanism_that_cannot_move(self):
        self.refused(RIGID + HINGE.replace("revolute", "fixed") + simulate(), "the mechanism cannot move",
                     "7 coordinates have 7 independent constraints")

    def test_a_mechanism_that_cannot_be_assembled(self):
        # the arm is half a metre long, and its ends shall be a metre apart
        text = RIGID + HINGE.replace("revolute", "spherical") + """
[[joints]]
name = "far"
kind = "spherical"
between = ["ground", "arm.tip"]
at = [1, 0, 0]
"""
        self.refused(text + simulate(more="assemble = true\n"), "'far'", code=1)

    def test_motions_that_contradict_each_other_end_the_run_and_keep_its_files(self):
        # the same angle twice at the start, so that one of them looks redundant
        text = RIGID + HINGE.replace("axis", 'motion = "t"\naxis')
        text += HINGE.replace("hinge", "again").replace("axis", 'motion = "2*t"\naxis') + SENSORS
        self.write("s.toml", text + simulate())
        result = self.lissom("simulate", "s.toml", "--out", "out")
        self.assertEqual(result.code, 1)
        self.assertRegex(result.err, "joint '(hinge|again).motion'")
        self.assertGreater(len(self.sensors()["t"]), 0)

    def test_an_end_before_the_start_is_refused_before_files_are_written(self):
        self.run_study(RIGID + HINGE + SENSORS + simulate())
        before = (self.folder / "out" / "sensors.csv").read_bytes()
        self.write("s.toml", RIGID + HINGE + SENSORS + simulate(end=-1))
        result = self.lissom("simulate", "s.toml", "--out", "out")
        self.assertEqual(result.code, 2)
        self.assertRegex(result.err, r"s\.toml:\d+: .*end")
        self.assertEqual((self.folder / "out" / "sensors.csv").read_bytes(), before)

    def test_a_run_that_fails_keeps_its_files_and_says_so(self):
        # a distance that the arm can follow for a while only
        text = RIGID + HINGE + SENSORS + """
[[joints]]
name = "rope"
kind = "distance"
between = ["ground", "arm.tip"]
at = [0, 0, 0.7]
motion = "sqrt(0.74) + t"
""" + simulate(1.0, 1e-3, "sample = 1e-2\n")
        self.write("s.toml", text)
        result = self.lissom("simulate", "s.toml", "--out", "out", "--json")
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("what was computed until t = 0.", result.err)
        self.assertIn("out/sensors.csv and out/result.h5", result.err)
        self.assertIn("body 'arm'", result.err)
        self.assertRegex(result.err, "joint '(rope|hinge)'")
        s = self.sensors()
        # the distance reaches 1.2 m, the most there is, at t = 0.34 s
        self.assertGreater(len(s["t"]), 25)
        self.assertLess(s["t"][-1], 0.35)
        if h5py:
            with h5py.File(self.folder / "out/result.h5") as f:
                self.assertEqual(len(f["time"]), len(s["t"]))
                self.assertEqual(status_of(f)["status"], "failed")
                self.assertNotEqual(status_of(f)["failure"], "")

    def test_ctrl_c_keeps_what_was_computed(self):
        self.write("s.toml", RIGID + HINGE + SENSORS + simulate(1e5, 1e-3))
        process = subprocess.Popen([LISSOM, "simulate", "s.toml", "--out", "out"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "OMP_NUM_THREADS": "1"})
        try:
            for _ in range(600):
                time.sleep(0.1)
                if (self.folder / "out/result.h5").exists():
                    break
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("the simulation was stopped at t = ", err)
        self.assertGreater(len(self.sensors()["t"]), 10)

    def test_results_that_cannot_be_written(self):
        self.write("s.toml", RIGID + HINGE + simulate())
        self.write("out", "a file")
        self.assert_refused(["simulate", "s.toml", "--out", "out"], "results go to a folder")


class Flexible(SimulateTest):
    """A beam of bricks on a hinge, from mesh to motion."""
    size = (0.4, 0.02, 0.02)

    def setUp(self):
        super().setUp()
        nodes, elements = brick((8, 1, 1), self.size, "C3D8")
        sets = {"LEFT": nodes_at(nodes, 0, 0.0), "RIGHT": nodes_at(nodes, 0, self.size[0])}
        self.corner = sets["RIGHT"][0]
        self.write("beam.inp", inp_deck(nodes, elements, material=dict(E=1e9, nu=0.3, rho=1000.0), sets=sets))
        self.text = f"""
gravity = [0, 0, -9.81]
[bodies.beam]
mesh = "beam.inp"
mass = "lumped"
formulation = "ffrf"
[[bodies.beam.spiders]]
name = "A"
set = "LEFT"
[[bodies.beam.spiders]]
name = "B"
set = "RIGHT"
[bodies.beam.reduce]
interfaces = ["A", "B"]
modes = 4
tolerance = 0.01
stress = false
paraview = false
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "beam.A"]
axis = [0, 1, 0]
[[sensors]]
name = "tip"
kind = "position"
of = "beam.B"
[[sensors]]
name = "corner"
kind = "position"
of = "beam.node {self.corner}"
[simulate]
end = 0.05
step = 1e-4
sample = 1e-3
rho_inf = 1
nodes = true
"""

    def test_the_formulations_agree(self):
        text = self.text + """
[[cases]]
name = "fncf"
set = { "bodies.*.formulation" = "fncf" }
[[cases]]
name = "gcms"
set = { "bodies.beam.formulation" = "gcms" }
[[cases]]
name = "rigid"
set = { "bodies.beam.formulation" = "rigid" }
"""
        self.write("s.toml", text)
        summary = self.json_of("run", "s.toml", "--out", "out")
        self.assertEqual(summary["bodies"]["beam"]["reduce"]["range"], 4)
        for name in ("fncf", "gcms", "rigid"):
            # one reduction for all
            self.assertEqual(summary["cases"][name]["bodies"], {})
            self.assertEqual(summary["cases"][name]["simulation"]["bodies"][0]["formulation"], name)
        compared = summary["comparison"]["cases"]
        for column in ("tip.x", "tip.z", "corner.x", "corner.z"):
            # FFRF and FNCF are the same equations in other coordinates
            self.assertLess(compared["fncf"]["sensors"][column]["largest"], 1e-7 * self.size[0], column)
            # GCMS keeps more modes' combinations; deflections are 1e-3 of the length
            self.assertLess(compared["gcms"]["sensors"][column]["largest"], 1e-4 * self.size[0], column)
        # the rigid one does not bend
        self.assertGreater(compared["rigid"]["sensors"]["tip.z"]["largest"], 1e-6 * self.size[0])
        self.assertLess(summary["simulation"]["energy_drift"], 1e-6)
        if h5py:
            with h5py.File(self.folder / "out/result.h5") as f, h5py.File(self.folder / "out/beam.reduced.h5") as b:
                self.assertEqual(f["nodes/beam/positions"].shape, (51, len(b["nodes/node_ids"]), 3))
                i = list(f["nodes/beam/ids"][:]).index(self.corner)
                np.testing.assert_allclose(f["nodes/beam/positions"][:, i, 0], self.sensors()["corner.x"], rtol=0,
                                           atol=1e-14)
                self.assertIn("gcms", b)

    def test_a_reduced_body_file_does_as_well_as_the_mesh(self):
        self.run_study(self.text.replace("paraview = false", "paraview = false\ngcms = true"), verb="run")
        before = self.sensors()
        start, end = self.text.index('mesh = '), self.text.index("[[joints]]")
        for formulation in ("ffrf", "gcms"):
            text = (self.text[:start] + f'reduced = "out/beam.reduced.h5"\nformulation = "{formulation}"\n'
                    + self.text[end:])
            self.write("t.toml", text)
            self.json_of("run", "t.toml", "--out", "again")
            after = self.sensors("again")
            # the same numbers went in; of GCMS within its own modes
            self.assert_close(after["tip.z"], before["tip.z"], 1e-12 if formulation == "ffrf" else 1e-2)

    def test_a_reduced_body_without_component_modes(self):
        self.run_study(self.text, verb="run")
        start, end = self.text.index('mesh = '), self.text.index("[[joints]]")
        self.write("t.toml", self.text[:start] + 'reduced = "out/beam.reduced.h5"\nformulation = "gcms"\n' + self.text[end:])
        self.assert_refused(["simulate", "t.toml", "--out", "again"], "bodies.beam", "has no component modes", "gcms = true")

    def test_a_rigid_mesh_needs_no_reduction(self):
        start, end = self.text.index("[bodies.beam.reduce]"), self.text.index("[[joints]]")
        text = (self.text[:start] + self.text[end:]).replace('"ffrf"', '"rigid"')
        found = self.run_study(text)
        self.assertEqual(found["bodies"][0]["formulation"], "rigid")
        self.assertAlmostEqual(found["bodies"][0]["mass"], 1000 * 0.4 * 0.02 * 0.02, delta=1e-12)
        self.assertAlmostEqual(self.sensors()["tip.x"][0], 0.4, delta=1e-12)

    def test_unknown_nodes_and_interfaces_are_all_listed(self):
        text = self.text.replace(f"beam.node {self.corner}", "beam.node 9999")
        self.write("s.toml", text)
        self.assert_refused(["simulate", "s.toml", "--out", "out"], "s.toml:", "9999")
        self.write("s.toml", self.text.replace("beam.B", "beam.C"))
        self.assert_refused(["simulate", "s.toml", "--out", "out"], "body 'beam' has no interface or node set 'C'",
                            "there are: A, B, LEFT")


if __name__ == "__main__":
    unittest.main()
