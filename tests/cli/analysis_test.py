"""Analyses besides time integration: static equilibrium, assembly, kinematics and inverse dynamics, linearisation, frequency
response, sweeps; each against a closed form or a time simulation."""

import csv
import math
import unittest

from slap_bad_input_test import STUDY
from support import CliTest, STEEL, brick, inp_deck, nodes_at

G = 9.81
PENDULUM = f"""
gravity = [0, 0, -{G}]
[bodies.arm]
rigid = {{ mass = 2, center = [0.25, 0, 0], inertia = [1e-4, 0.05, 0.05] }}
points = {{ hub = [0, 0, 0], tip = [0.5, 0, 0] }}
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
[[loads]]
name = "push"
kind = "force"
on = "arm.tip"
force = [1, 0, 0]
factor = "FACTOR"
[[loads]]
name = "friction"
kind = "torsion-damper"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
damping = 0.2
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
"""
HANGING = PENDULUM.replace("[bodies.arm]", "[bodies.arm]\nrotation = { axis = [0, 1, 0], angle_deg = 90 }")
# about the hinge
INERTIA, MOMENT = 0.05 + 2 * 0.25**2, 2 * G * 0.25


class AnalysisTest(CliTest):
    def table(self, name):
        with open(self.folder / name, newline="") as f:
            rows = list(csv.reader(f))
        return {key: [row[i] for row in rows[1:]] for i, key in enumerate(rows[0])}

    def columns(self, name):
        return {key: [float(x) for x in values] for key, values in self.table(name).items()}


class Statics(AnalysisTest):
    def test_a_pendulum_hangs_and_its_hinge_bears_its_weight(self):
        self.write("s.toml", PENDULUM.replace("FACTOR", "0") + "[simulate]\nend = 1\nstep = 0.1\n")
        found = self.json_of("static", "s.toml", "--out", "out")
        self.assertTrue(found["equilibrium"]["stable"])
        # Newton's method ends at round-off
        self.assert_close([found["sensor_values"][f"tip.{x}"] for x in "xyz"], [0, 0, -0.5], 1e-9)
        self.assert_close(found["reactions"]["hinge"]["force"], [0, 0, 2 * G], 1e-9)
        self.assert_close(found["bodies"][0]["rotation_vector"], [0, math.pi / 2, 0], 1e-9)
        self.assertEqual(self.columns("out/sensors.csv")["t"], [0])
        self.assertIn("static equilibrium at t = 0 s", self.lissom("static", "s.toml").out)

    def test_a_quasi_static_run_follows_the_load(self):
        self.write("s.toml", HANGING.replace("FACTOR", "t") + "[simulate]\nintegrator = \"static\"\nend = 10\nstep = 0.5\n")
        found = self.json_of("simulate", "s.toml", "--out", "out")
        self.assertIsNone(found["energy_drift"])
        run = self.columns("out/sensors.csv")
        # F L cos = m g c sin
        expected = [math.atan(t * 0.5 / MOMENT) for t in run["t"]]
        self.assertEqual(len(expected), 21)
        self.assert_close([-a for a in run["swing.angle"]], expected, 1e-9)
        at = self.json_of("static", "s.toml", "--at", 10)
        self.assert_close(-at["sensor_values"]["swing.angle"], expected[-1], 1e-9)

    def test_a_run_that_starts_in_equilibrium_stays_there(self):
        self.write("s.toml", PENDULUM.replace("FACTOR", "5") + "[simulate]\nstart = \"static\"\nend = 2\nstep = 0.01\n")
        found = self.json_of("simulate", "s.toml", "--out", "out")
        self.assertTrue(found["equilibrium"]["stable"])
        x = self.columns("out/sensors.csv")["tip.x"]
        # tan = F L / (m g c)
        self.assert_close(x[0], 0.5 * math.sin(math.atan(5 * 0.5 / MOMENT)), 1e-9)
        # the residual of the equilibrium, 1e-10 of the size, is all that moves it
        self.assertLess(max(abs(value - x[0]) for value in x), 1e-9)

    def test_a_cantilever_bends_as_beam_theory_says(self):
        length, width, force = 1.0, 0.05, 40.0
        nodes, elements = brick((20, 1, 1), (length, width, width))
        sets = {"ROOT": nodes_at(nodes, 0, 0), "TIP": nodes_at(nodes, 0, length)}
        # without lateral contraction a clamped beam is one of the theory
        self.write("beam.inp", inp_deck(nodes, elements, dict(STEEL, nu=0.0), sets=sets))
        text = f"""
[bodies.beam]
mesh = "beam.inp"
formulation = "FORM"
[[bodies.beam.spiders]]
name = "root"
set = "ROOT"
[[bodies.beam.spiders]]
name = "tip"
set = "TIP"
[bodies.beam.reduce]
interfaces = ["root", "tip"]
modes = 4
[[joints]]
name = "wall"
kind = "fixed"
between = ["ground", "beam.root"]
[[loads]]
name = "weight"
kind = "force"
on = "beam.tip"
force = [0, 0, -{force}]
[[sensors]]
name = "tip"
kind = "displacement"
of = "beam.tip"
"""
        inertia = width**4 / 12
        bending = force * length**3 / (3 * STEEL["E"] * inertia)
        shear = force * length / (5 / 6 * STEEL["E"] / 2 * width**2)
        for formulation in ("ffrf", "fncf", "gcms"):
            self.write("s.toml", text.replace("FORM", formulation))
            found = self.json_of("static", "s.toml")
            # Timoshenko; rigid ends keep the warping of the shear out, which is some tenths of the shear's own 0.25 percent
            self.assert_close(found["sensor_values"]["tip.z"], -(bending + shear), 1e-3, formulation)
            self.assert_close(found["reactions"]["wall"]["force"], [0, 0, force], 1e-6, formulation)
            self.assert_close(found["reactions"]["wall"]["torque"], [0, -force * length, 0], 1e-3, formulation)
            self.assertGreater(found["bodies"][0]["deformation"], 0)

    def test_without_equilibrium_the_force_is_named(self):
        falling = PENDULUM[:PENDULUM.index("[[joints]]")]
        self.write("s.toml", falling + "[simulate]\nend = 1\nstep = 0.1\n")
        self.assert_refused(["static", "s.toml"], "no static equilibrium", "body 'arm', position along z", "19.62 N", code=1)
        turning = PENDULUM.replace(f"gravity = [0, 0, -{G}]", "").replace("FACTOR", "0") + """
[[loads]]
name = "motor"
kind = "torque"
on = "arm.hub"
torque = [0, 1, 0]
"""
        self.write("s.toml", turning)
        self.assert_refused(["static", "s.toml"], "no static equilibrium", "'arm'", code=1)
        self.write("s.toml", PENDULUM.replace("FACTOR", "0"))
        self.assert_refused(["static", "s.toml", "--at", "-1"], "--at")
        self.assert_refused(["static", "no.toml"], "no.toml")
        self.assert_refused(["static", "s.toml", "--case", "x"], "--case")

    def test_an_upright_pendulum_is_said_to_be_unstable(self):
        self.write("s.toml", PENDULUM.replace("FACTOR", "0").replace(
            "[bodies.arm]", "[bodies.arm]\nrotation = { axis = [0, 1, 0], angle_deg = -90 }"))
        result = self.lissom("static", "s.toml")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("unstable", result.err)
        self.assertIn("unstable", result.out)

    def test_a_reduced_mechanism_rests_where_the_full_one_does(self):
        self.write("arm.inp", inp_deck(*brick((2, 2, 5), (0.02, 0.02, 0.2), "C3D8")))
        spring = """
[[loads]]
name = "spring"
kind = "spring"
between = ["ground", "arm.node 50"]
at = [0, -0.2, 0.2]
stiffness = 500
[[sensors]]
name = "moved"
kind = "displacement"
of = "arm.node 50"
[simulate]"""
        self.write("study.toml", STUDY.replace("[simulate]", spring))
        self.json_of("train", "study.toml", "--out", "out")
        full = self.json_of("static", "study.toml", "--at", 0.1)
        rom = self.json_of("static", "out/model.rom.h5", "--at", 0.1)
        values = [[found["sensor_values"][f"moved.{x}"] for x in "xyz"] for found in (full, rom)]
        self.assertGreater(values[0][1], 5e-3)
        # the modes of a motion about this position
        self.assert_close(values[1], values[0], 2e-3)
        self.assertTrue(full["equilibrium"]["stable"] and rom["equilibrium"]["stable"])
        self.assertLess(rom["equilibrium"]["residual"], 1e-6)


class Assembly(AnalysisTest):
    FOUR_BAR = """
[bodies.crank]
rigid = {{ mass = 1, center = [0.5, 0, 0], inertia = [0.01, 0.1, 0.1] }}
points = {{ a = [0, 0, 0], b = [1, 0, 0] }}
position = {0}
rotation = {{ axis = [0, 0, 1], angle_deg = {1} }}
[bodies.coupler]
rigid = {{ mass = 1, center = [1.25, 0, 0], inertia = [0.01, 0.1, 0.1] }}
points = {{ a = [0, 0, 0], b = [2.5, 0, 0] }}
position = {2}
rotation = {{ axis = [0, 0, 1], angle_deg = {3} }}
[bodies.rocker]
rigid = {{ mass = 1, center = [1, 0, 0], inertia = [0.01, 0.1, 0.1] }}
points = {{ a = [0, 0, 0], b = [2, 0, 0] }}
position = {4}
rotation = {{ axis = [0, 0, 1], angle_deg = {5} }}
[[joints]]
name = "A"
kind = "revolute"
between = ["ground", "crank.a"]
at = [0, 0, 0]
axis = [0, 0, 1]
[[joints]]
name = "B"
kind = "spherical"
between = ["crank.b", "coupler.a"]
[[joints]]
name = "C"
kind = "cylindrical"
between = ["coupler.b", "rocker.b"]
axis = [0, 0, 1]
[[joints]]
name = "D"
kind = "revolute"
between = ["ground", "rocker.a"]
at = [{6}, 0, 0]
axis = [0, 0, 1]
"""

    def test_bodies_that_are_placed_wrong_are_put_together(self):
        # crank at 60 degrees; the others follow from the triangle, all given 20 to 30 degrees and 20 percent off
        self.write("s.toml", self.FOUR_BAR.format("[0.1, -0.1, 0]", 85, "[0.4, 1.1, 0]", 40, "[3.3, 0.2, 0]", 125, 3))
        found = self.json_of("assemble", "s.toml")
        self.assertLess(found["largest_gap"], 1e-9)
        self.assertGreater(found["moved"], 0.1)
        self.assertTrue(found["gaps_before"])
        bodies = {b["name"]: b for b in found["bodies"]}

        def end(name, x):
            r, p = bodies[name]["rotation_vector"], bodies[name]["position"]
            return [p[0] + x * math.cos(r[2]), p[1] + x * math.sin(r[2]), 0]

        self.assert_close(end("crank", 1), bodies["coupler"]["position"], 1e-7)
        self.assert_close(end("coupler", 2.5), end("rocker", 2), 1e-7)
        self.assert_close(bodies["rocker"]["position"], [3, 0, 0], 1e-7)
        # what it prints makes a study whose joints meet
        lines = found["toml"].split("[bodies.")
        placed = self.FOUR_BAR.format("[0, 0, 0]", 0, "[0, 0, 0]", 0, "[0, 0, 0]", 0, 3)
        for part in lines[1:]:
            name, rest = part.split("]\n", 1)
            head, tail = placed.split(f"[bodies.{name}]\n")
            block, others = (tail.split("\n[", 1) + [""])[:2]
            kept = [line for line in block.splitlines() if not line.startswith(("position", "rotation"))]
            placed = head + f"[bodies.{name}]\n" + "\n".join(kept) + "\n" + rest + "\n[" + others
        self.write("placed.toml", placed + "\n[simulate]\nend = 0.01\nstep = 1e-3\n")
        self.json_of("simulate", "placed.toml", "--out", "out")

    def test_bodies_that_do_not_reach_are_refused_with_the_joint(self):
        self.write("s.toml", self.FOUR_BAR.format("[0, 0, 0]", 60, "[0.5, 0.8, 0]", 20, "[9, 0, 0]", 100, 9))
        self.assert_refused(["assemble", "s.toml"], "cannot be assembled", "joint", code=1)


class Kinematics(AnalysisTest):
    def test_inverse_dynamics_of_a_two_link_arm_is_its_closed_form(self):
        l1, c1, m1, i1 = 0.4, 0.18, 3.0, 0.05
        c2, m2, i2 = 0.15, 2.0, 0.03
        self.write("s.toml", f"""
gravity = [0, -{G}, 0]
[bodies.upper]
rigid = {{ mass = {m1}, center = [{c1}, 0, 0], inertia = [0.04, 0.05, {i1}] }}
points = {{ a = [0, 0, 0], b = [{l1}, 0, 0] }}
[bodies.lower]
rigid = {{ mass = {m2}, center = [{c2}, 0, 0], inertia = [0.02, 0.025, {i2}] }}
points = {{ a = [0, 0, 0], b = [0.3, 0, 0] }}
position = [{l1}, 0, 0]
[[joints]]
name = "shoulder"
kind = "revolute"
between = ["ground", "upper.a"]
axis = [0, 0, 1]
motion = "0.8*sin(3*t)"
[[joints]]
name = "elbow"
kind = "revolute"
between = ["upper.b", "lower.a"]
axis = [0, 0, 1]
motion = "0.5*t^2 - 0.6*t"
[[sensors]]
name = "first"
kind = "drive"
of = "shoulder"
[[sensors]]
name = "second"
kind = "drive"
of = "elbow"
[[sensors]]
name = "tip"
kind = "position"
of = "lower.b"
[simulate]
integrator = "kinematics"
end = 1
step = 0.01
""")
        found = self.json_of("simulate", "s.toml", "--out", "out")
        # the work of the drives is the change of energy, by parabolas through the steps
        self.assertLess(found["energy_drift"], 1e-5)
        run = self.columns("out/sensors.csv")
        self.assertEqual(len(run["t"]), 101)
        first, second, x = [], [], []
        for t in run["t"]:
            a, a1, a2 = 0.8 * math.sin(3 * t), 2.4 * math.cos(3 * t), -7.2 * math.sin(3 * t)
            b, b1, b2 = 0.5 * t**2 - 0.6 * t, t - 0.6, 1.0
            # the usual matrices of the two-link arm
            m22 = i2 + m2 * c2**2
            m12 = m22 + m2 * l1 * c2 * math.cos(b)
            m11 = i1 + m1 * c1**2 + i2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * math.cos(b))
            h = m2 * l1 * c2 * math.sin(b)
            g2 = m2 * G * c2 * math.cos(a + b)
            g1 = (m1 * c1 + m2 * l1) * G * math.cos(a) + g2
            first.append(m11 * a2 + m12 * b2 - h * (2 * a1 * b1 + b1**2) + g1)
            second.append(m12 * a2 + m22 * b2 + h * a1**2 + g2)
            x.append(l1 * math.cos(a) + 0.3 * math.cos(a + b))
        # everything is solved for: round-off
        self.assert_close(run["first.value"], first, 1e-9)
        self.assert_close(run["second.value"], second, 1e-9)
        self.assert_close(run["tip.x"], x, 1e-9)

    def test_a_drive_that_starts_from_rest_has_its_torque_from_the_first_step_on(self):
        # 1 - cos cancels near t = 0, its derivatives must not
        self.write("s.toml", """
[bodies.rotor]
rigid = { mass = 1, center = [0, 0, 0], inertia = [1, 1, 1] }
points = { hub = [0, 0, 0] }
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "rotor.hub"]
axis = [0, 0, 1]
motion = "1 - cos(3*t)"
[[sensors]]
name = "drive"
kind = "drive"
of = "hinge"
[simulate]
integrator = "kinematics"
end = 0.5
step = 0.001
""")
        self.json_of("simulate", "s.toml", "--out", "out")
        run = self.columns("out/sensors.csv")
        # everything is solved for: round-off
        self.assert_close(run["drive.value"], [9 * math.cos(3 * t) for t in run["t"]], 1e-12)

    SLIDER = """
[bodies.crank]
rigid = { mass = 1, center = [0.1, 0, 0], inertia = [0.001, 0.01, 0.01] }
points = { a = [0, 0, 0], b = [0.2, 0, 0] }
[bodies.rod]
rigid = { mass = 1, center = [0.25, 0, 0], inertia = [0.001, 0.01, 0.01] }
points = { a = [0, 0, 0], b = [0.5, 0, 0] }
position = [0.2, 0, 0]
[bodies.piston]
rigid = { mass = 1, center = [0, 0, 0], inertia = [0.001, 0.01, 0.01] }
points = { pin = [0, 0, 0] }
position = [0.7, 0, 0]
[[joints]]
name = "main"
kind = "revolute"
between = ["ground", "crank.a"]
axis = [0, 0, 1]
MOTION
[[joints]]
name = "big end"
kind = "spherical"
between = ["crank.b", "rod.a"]
[[joints]]
name = "small end"
kind = "revolute"
between = ["rod.b", "piston.pin"]
axis = [0, 0, 1]
[[joints]]
name = "bore"
kind = "prismatic"
between = ["ground", "piston.pin"]
at = [0.7, 0, 0]
axis = [1, 0, 0]
[[sensors]]
name = "piston"
kind = "position"
of = "piston.pin"
[[sensors]]
name = "speed"
kind = "velocity"
of = "piston.pin"
[simulate]
integrator = "kinematics"
end = 1
step = 0.01
"""

    def test_a_slider_crank_goes_through_its_whole_turn(self):
        self.write("s.toml", self.SLIDER.replace("MOTION", 'motion = "2*pi*t"'))
        self.json_of("simulate", "s.toml", "--out", "out")
        run = self.columns("out/sensors.csv")
        r, l, w = 0.2, 0.5, 2 * math.pi
        x, v = [], []
        for t in run["t"]:
            a = w * t
            root = math.sqrt(l**2 - (r * math.sin(a))**2)
            x.append(r * math.cos(a) + root)
            v.append(-r * w * math.sin(a) - r**2 * w * math.sin(a) * math.cos(a) / root)
        self.assert_close(run["piston.x"], x, 1e-9)
        self.assert_close(run["speed.x"], v, 1e-8)

    def test_what_is_free_is_counted(self):
        self.write("s.toml", self.SLIDER.replace("MOTION", ""))
        self.assert_refused(["simulate", "s.toml"], "kinematics", "1 degree of freedom is left", "motion")
        self.write("s.toml", self.SLIDER.replace("MOTION", 'motion = "2*pi*t"').replace("[simulate]", """[[sensors]]
name = "bad"
kind = "drive"
of = "bore"
[simulate]"""))
        self.assert_refused(["simulate", "s.toml"], "'bore'", "drive")


class Structures(CliTest):
    def test_reactions_of_what_cannot_move_are_those_of_statics(self):
        # a three-hinged arch of two bars at right angles: half of it each, H = V from the moments about the crown
        self.write("arch.toml", """
gravity = [0, -10, 0]
[bodies.a]
rigid = { mass = 2, center = [0.5, 0.5, 0], inertia = [0.1, 0.1, 0.1] }
points = { foot = [0, 0, 0], top = [1, 1, 0] }
[bodies.b]
rigid = { mass = 2, center = [0.5, -0.5, 0], inertia = [0.1, 0.1, 0.1] }
points = { top = [0, 0, 0], foot = [1, -1, 0] }
position = [1, 1, 0]
[[joints]]
name = "left"
kind = "revolute"
between = ["ground", "a.foot"]
axis = [0, 0, 1]
[[joints]]
name = "crown"
kind = "revolute"
between = ["a.top", "b.top"]
axis = [0, 0, 1]
[[joints]]
name = "right"
kind = "revolute"
between = ["ground", "b.foot"]
axis = [0, 0, 1]
[[sensors]]
name = "left"
kind = "reaction"
of = "left"
[simulate]
end = 1
step = 1
integrator = "static"
""")
        self.json_of("simulate", "arch.toml", "--out", "out")
        with open(self.folder / "out" / "sensors.csv") as file:
            last = list(csv.DictReader(file))[-1]
        # V = 20 N carries one bar; H * 1 m = V * 1 m - 20 N * 0.5 m
        self.assert_close(float(last["left.fy"]), 20, 1e-12)
        self.assert_close(float(last["left.fx"]), 10, 1e-12)
        self.write("run.toml", (self.folder / "arch.toml").read_text().replace('integrator = "static"', ""))
        self.assert_refused(["simulate", "run.toml"], "the mechanism cannot move")

    def test_a_singular_load_case_is_told(self):
        # two bars in a line between two hinges: any weight would need an infinite force
        self.write("line.toml", """
gravity = [0, -10, 0]
[bodies.a]
rigid = { mass = 1, center = [0.5, 0, 0], inertia = [0.01, 0.1, 0.1] }
points = { s = [0, 0, 0], e = [1, 0, 0] }
[bodies.b]
rigid = { mass = 1, center = [0.5, 0, 0], inertia = [0.01, 0.1, 0.1] }
points = { s = [0, 0, 0], e = [1, 0, 0] }
position = [1, 0, 0]
[[joints]]
name = "l"
kind = "revolute"
between = ["ground", "a.s"]
axis = [0, 0, 1]
[[joints]]
name = "m"
kind = "revolute"
between = ["a.e", "b.s"]
axis = [0, 0, 1]
[[joints]]
name = "r"
kind = "cylindrical"
between = ["ground", "b.e"]
axis = [0, 0, 1]
""")
        self.assert_refused(["static", "line.toml"], "joint 'm'", "singular position", code=1)


class Linearised(AnalysisTest):
    def test_a_pendulum_swings_and_is_damped_as_its_closed_form(self):
        self.write("s.toml", PENDULUM.replace("FACTOR", "0"))
        found = self.json_of("linearise", "s.toml", "--static")
        self.assertEqual(found["states"], ["joint 'hinge', angle", "rate of joint 'hinge', angle"])
        mode = found["modes"][0]
        omega = math.sqrt(MOMENT / INERTIA)
        # exact derivatives: round-off
        self.assert_close(mode["frequency_hz"], omega / (2 * math.pi), 1e-9)
        self.assert_close(mode["damping_ratio"], 0.2 / (2 * INERTIA * omega), 1e-9)
        self.assert_close(found["A"], [[0, 1], [-MOMENT / INERTIA, -0.2 / INERTIA]], 1e-9)
        self.assertTrue(found["stable"])
        self.assert_close(mode["bodies"]["arm"], 1, 1e-12)

    def test_upright_it_is_unstable(self):
        self.write("s.toml", PENDULUM.replace("FACTOR", "0").replace(
            "[bodies.arm]", "[bodies.arm]\nrotation = { axis = [0, 1, 0], angle_deg = -90 }"))
        found = self.json_of("linearise", "s.toml")
        self.assertFalse(found["stable"])
        damping = 0.2 / (2 * INERTIA)
        self.assert_close(found["growth"], math.sqrt(damping**2 + MOMENT / INERTIA) - damping, 1e-8)
        self.assertIn("unstable", self.lissom("linearise", "s.toml").out)

    def test_the_response_is_what_a_simulation_settles_to(self):
        # a push of one newton at 1.3 Hz: amplitude and phase of the last periods, small enough to be linear
        self.write("s.toml", HANGING.replace("FACTOR", "1e-3*cos(2*pi*1.3*t)") + """
[simulate]
end = 40
step = 2e-3
rho_inf = 1
[response]
from = 0.1
to = 10
points = 500
outputs = ["swing", "hold.fx"]
[linearise]
about = "static"
modes = 3
""")
        found = self.json_of("run", "s.toml", "--out", "out")
        self.assertEqual(len(found["linearisation"]["modes"]), 1)
        for name in ("linearisation.json", "linearisation.mat", "response.csv", "response.json"):
            self.assertTrue((self.folder / "out" / name).exists(), name)
        response = self.columns("out/response.csv")
        # and nine about the resonance
        self.assertEqual(len(response["f"]), 509)
        self.assertEqual(response["f"], sorted(set(response["f"])))
        peak = found["response"]["pairs"][0]["peaks"][0]["frequency_hz"]
        # the top of a response damped by 8 % is 0.6 % lower, and the nearest frequency within half a width of it
        self.assert_close(peak, math.sqrt(MOMENT / INERTIA) / (2 * math.pi), 0.02)
        at = self.json_of("response", "s.toml", "--from", 1.3, "--to", 1.4, "--points", 2, "--linear")
        run = self.columns("out/sensors.csv")
        for pair in at["pairs"]:
            column = run[pair["output"]]
            real = imaginary = mean = 0.0
            # thirteen periods at the end; friction takes exp(-0.57 t) of what it began with, 1e-8 by then
            last = [(t, y) for t, y in zip(run["t"], column) if t > 30 + 1e-9]
            self.assertEqual(len(last), 5000)
            mean = sum(y for _, y in last) / len(last)
            for t, y in last:
                real += 2 * (y - mean) * math.cos(2 * math.pi * 1.3 * t) / len(last)
                imaginary -= 2 * (y - mean) * math.sin(2 * math.pi * 1.3 * t) / len(last)
            magnitude, phase = math.hypot(real, imaginary) / 1e-3, math.degrees(math.atan2(imaginary, real))
            # of the integrator: (omega h)^2 / 12 = 2e-5 of the frequency, some more near resonance
            self.assert_close(magnitude, pair["magnitude"][0], 1e-3, pair["output"])
            self.assertLess(abs((phase - pair["phase_deg"][0] + 180) % 360 - 180), 0.1, pair["output"])

    def test_what_cannot_be_linearised_is_refused(self):
        self.write("s.toml", PENDULUM.replace("FACTOR", "0"))
        self.assert_refused(["linearise", "s.toml", "--at", 1], "--at", "[simulate]")
        self.assert_refused(["linearise", "s.toml", "--at", 1, "--static"], "--static")
        self.assert_refused(["response", "s.toml", "--from", 1, "--to", 2], "no input")
        self.write("s.toml", PENDULUM.replace("FACTOR", "t"))
        self.assert_refused(["response", "s.toml"], "--from")
        self.assert_refused(["response", "s.toml", "--from", 2, "--to", 1], "to is 1")
        self.assert_refused(["response", "s.toml", "--from", 1, "--to", 2, "--output", "tap"], "tap", "tip")
        self.write("t.toml", PENDULUM.replace("FACTOR", "0") + "[linearise]\nabout = \"sttaic\"\n")
        self.assert_refused(["linearise", "t.toml"], "sttaic", "static")


class Sweeps(AnalysisTest):
    STUDY = PENDULUM.replace("FACTOR", "0") + """
[linearise]
about = "static"
[[sweep.parameters]]
key = "bodies.arm.rigid.mass"
values = [1, 2, 4]
[[sweep.parameters]]
key = "loads.friction.damping"
from = 0.1
to = 0.3
points = 2
"""

    def test_all_combinations_are_in_one_table(self):
        self.write("s.toml", self.STUDY)
        found = self.json_of("sweep", "s.toml", "--out", "out")
        table = self.columns_of_sweep("out/sweep.csv")
        self.assertEqual(table["bodies.arm.rigid.mass"], [1, 1, 2, 2, 4, 4])
        self.assertEqual(table["loads.friction.damping"], [0.1, 0.3] * 3)
        for mass, f in zip(table["bodies.arm.rigid.mass"], table["frequency 1 [Hz]"]):
            inertia = 0.05 + mass * 0.25**2
            self.assert_close(f, math.sqrt(mass * G * 0.25 / inertia) / (2 * math.pi), 1e-9)
        self.assertEqual(found["sweep"]["failed"], 0)
        self.assertEqual(len(found["sweep"]["points"]), 6)

    def columns_of_sweep(self, name):
        table = self.table(name)
        table.pop("problem")
        return {key: [float(x) for x in values] for key, values in table.items()}

    def test_points_that_fail_are_noted_and_the_others_go_on(self):
        self.write("s.toml", self.STUDY.replace("values = [1, 2, 4]", "values = [1, -2]") + "[simulate]\nend = 0.1\nstep = 0.01\n")
        found = self.json_of("run", "s.toml", "--out", "out")
        self.assertEqual(found["sweep"]["failed"], 2)
        problems = self.table("out/sweep.csv")["problem"]
        self.assertEqual([bool(p) for p in problems], [False, False, True, True])
        self.assertIn("mass", problems[2])
        self.assertIn("tip.x last", found["sweep"]["columns"])
        self.assertTrue(any("2 of 4 points" in w["message"] for w in found["warnings"]))

    def test_a_key_that_there_is_not_is_refused(self):
        self.write("s.toml", self.STUDY.replace("loads.friction.damping", "loads.fraction.damping"))
        self.assert_refused(["sweep", "s.toml"], "fraction", "friction")
        self.write("s.toml", self.STUDY.replace("loads.friction.damping", "loads.friction.damp"))
        self.assert_refused(["sweep", "s.toml"], "damp")
        self.write("s.toml", PENDULUM.replace("FACTOR", "0"))
        self.assert_refused(["sweep", "s.toml"], "[sweep]")
        self.write("s.toml", self.STUDY.replace("values = [1, 2, 4]", ""))
        self.assert_refused(["sweep", "s.toml"], "values")


if __name__ == "__main__":
    unittest.main()
