"""No wrong answer without a word: springs and sensors over many turns against theory, and what a run says where its steps or its
bodies cannot be trusted."""

import csv
import math
import os
import resource
import shutil

from support import CliTest, LISSOM, brick, inp_deck, nodes_at
from resume_test import ResumeTest, simulate

WHEEL = """
[bodies.wheel]
rigid = {{ mass = 2, center = [0, 0, 0], inertia = [1, 1, 1] }}
points = {{ hub = [0, 0, 0] }}
angular_velocity = [0, 0, {speed}]
"""
HINGE = """
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "wheel.hub"]
axis = [0, 0, 1]
"""
SPRING = """
[[loads]]
name = "clutch"
kind = "torsion-spring"
between = ["ground", "wheel.hub"]
axis = [0, 0, 1]
stiffness = 10
[[sensors]]
name = "torque"
kind = "load"
of = "clutch"
"""
ANGLE = """
[[sensors]]
name = "turn"
kind = "joint-angle"
of = "hinge"
"""
DRIVE = """
[[joints]]
name = "drive"
kind = "angle"
between = ["ground", "wheel.hub"]
axis = [0, 0, 1]
motion = "2 * pi * t"
"""


class SilenceTest(CliTest):
    def run_study(self, text, *flags):
        self.write("s.toml", text)
        return self.json_of("simulate", "s.toml", "--out", "out", "--no-view", *flags)

    def sensors(self, folder="out"):
        with open(self.folder / folder / "sensors.csv", newline="") as file:
            rows = list(csv.reader(file))
        names = [name.split(" ")[0] for name in rows[0]]
        return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(names)}

    def warning(self, summary, key):
        found = [one["message"] for one in summary["warnings"] if one["key"] == key]
        self.assertLessEqual(len(found), 1)
        return found[0] if found else None


class Turns(SilenceTest):
    def test_a_spring_driven_over_three_turns_takes_more_and_more_torque(self):
        summary = self.run_study(WHEEL.format(speed=0) + HINGE + DRIVE + SPRING + ANGLE +
                                 simulate(3, 0.01, 'integrator = "kinematics"\n'))
        found = self.sensors()
        for t, torque, angle in zip(found["t"], found["torque.value"], found["turn.angle"]):
            self.assertAlmostEqual(angle, 2 * math.pi * t, places=9)
            self.assertAlmostEqual(torque, 10 * 2 * math.pi * t, places=7)
        self.assertIsNone(self.warning(summary, "simulate.turns"))

    def test_a_free_spring_swings_with_the_amplitude_and_period_of_theory(self):
        speed, omega = 17.9, math.sqrt(10)
        self.run_study(WHEEL.format(speed=speed) + HINGE + SPRING + ANGLE +
                       simulate(4, 0, 'integrator = "runge-kutta"\ntolerance = 1e-9\nsample = 0.01\n'))
        found = self.sensors()
        # of 5.66 rad
        for t, torque, angle in zip(found["t"], found["torque.value"], found["turn.angle"]):
            exact = speed / omega * math.sin(omega * t)
            self.assertAlmostEqual(angle, exact, delta=1e-5)
            self.assertAlmostEqual(torque, 10 * exact, delta=1e-4)

    def test_a_joint_angle_counts_turns_between_samples(self):
        # 40 rad/s, samples 4 rad apart, to 400 rad
        self.run_study(WHEEL.format(speed=40) + HINGE + ANGLE +
                       simulate(10, 0, 'integrator = "runge-kutta"\ntolerance = 1e-9\nsample = 0.1\n'))
        found = self.sensors()
        for t, angle in zip(found["t"], found["turn.angle"]):
            self.assertAlmostEqual(angle, 40 * t, delta=1e-4)

    def test_a_bearing_of_a_bushing_turns_on(self):
        # no joint: the bushing holds all but the rotation about z, which its damper brakes: w = 10 exp(-t/2)
        bearing = """
[[loads]]
name = "bearing"
kind = "bushing"
between = ["ground", "wheel.hub"]
stiffness = 1e4
damping = 10
rotational_stiffness = [1e3, 1e3, 0]
rotational_damping = [1, 1, 0.5]
[[sensors]]
name = "spin"
kind = "rotation"
of = "wheel.hub"
"""
        summary = self.run_study(WHEEL.format(speed=10) + bearing +
                                 simulate(3, 0, 'integrator = "runge-kutta"\ntolerance = 1e-8\nsample = 0.05\n'))
        found = self.sensors()
        for t, angle in zip(found["t"], found["spin.rz"]):
            self.assertAlmostEqual(angle, 20 * (1 - math.exp(-t / 2)), delta=1e-4)
        self.assertGreater(found["spin.rz"][-1], 5 * math.pi / 2)
        self.assertIsNone(self.warning(summary, "simulate.energy-drift"))

    def test_an_equilibrium_that_jumps_too_far_says_that_turns_may_be_miscounted(self):
        motor = """
[[loads]]
name = "motor"
kind = "torque"
on = "wheel.hub"
torque = [0, 0, "120 * t"]
"""
        study = WHEEL.format(speed=0) + HINGE + SPRING + motor + ANGLE
        fine = self.run_study(study + simulate(1, 0.1, 'integrator = "static"\n'))
        self.assertIsNone(self.warning(fine, "simulate.turns"))
        self.assertAlmostEqual(self.sensors()["turn.angle"][-1], 12, places=6)
        coarse = self.run_study(study + simulate(1, 0.2, 'integrator = "static"\n'))
        self.assertIn("turns of torsion-spring 'clutch' may be miscounted from t = 0.2 s on",
                      self.warning(coarse, "simulate.turns"))


class WoundAndResumed(ResumeTest):
    def test_a_run_that_is_killed_with_its_spring_wound_goes_on_to_the_same_bits(self):
        self.write("s.toml", WHEEL.format(speed=17.9) + HINGE + SPRING + ANGLE + simulate(1.2, 1e-3))
        command = ("simulate", "s.toml", "--checkpoint", "0", "--no-view")
        samples = self.json_of(*command, "--out", "whole")["samples"]
        # between 0.36 s (4.8 rad) and the end; a run that is too fast for us gets another chance
        for _ in range(10):
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            if self.kill_at(0.3, "killed", samples, *command, "--out", "killed"):
                break
        else:
            self.fail("the run ended ten times before it was killed")
        found = self.json_of(*command, "--out", "killed", "--resume")
        self.assertGreater(found["resumed_at"], 0.2)
        self.expect_same("killed", "whole")


class EnergyDrift(SilenceTest):
    def drift(self, summary, above):
        message = self.warning(summary, "simulate.energy-drift")
        if not above:
            self.assertLess(summary["energy_drift"], 1e-3)
            self.assertIsNone(message)
        else:
            self.assertGreater(summary["energy_drift"], 1e-3)
            self.assertIsNotNone(message)
        return message

    def test_a_wheel_at_0_4_rad_a_step_says_that_it_loses_its_energy(self):
        study = WHEEL.format(speed=40) + HINGE + ANGLE
        message = self.drift(self.run_study(study + simulate(10, 0.01)), True)
        # 40 % of what it had; 800 J would have to stay
        self.assertIn("energy drifts: 0.4 of the largest energy", message)
        self.assertIn("is lost at t = ", message)
        self.assertIn("a smaller step (now 0.01 s) or adaptive = true, or rho_inf nearer to 1 (now 0.8)", message)
        # a wheel that turns uniformly, where the steps resolve it
        summary = self.run_study(study + simulate(1, 0, 'integrator = "runge-kutta"\ntolerance = 1e-8\n'))
        self.drift(summary, False)
        self.assertAlmostEqual(self.sensors()["turn.angle"][-1], 40, delta=1e-4)

    def test_twenty_steps_a_turn_without_numerical_damping_say_so_too(self):
        message = self.drift(self.run_study(WHEEL.format(speed=40) + HINGE + ANGLE +
                                            simulate(10, 2 * math.pi / 40 / 20, "rho_inf = 1\n")), True)
        self.assertIn("rho_inf = 0.8 (now 1)", message)

    def test_an_overdamped_body_says_when_its_stop_is_not_resolved(self):
        # 100 m/s, stopped by 1000 N s/m within 1 ms: it comes 0.1 m far
        study = """
[bodies.ball]
rigid = { mass = 1, center = [0, 0, 0], inertia = [1, 1, 1] }
points = { c = [0, 0, 0] }
velocity = [100, 0, 0]
[[loads]]
name = "oil"
kind = "bushing"
between = ["ground", "ball.c"]
damping = 1000
[[sensors]]
name = "ball"
kind = "position"
of = "ball.c"
"""
        message = self.drift(self.run_study(study + simulate(1, 0.05)), True)
        # 0.98 m
        self.assertGreater(abs(self.sensors()["ball.x"][-1] - 0.1), 0.5)
        self.assertIn("dampers changes much within a step", message)
        self.drift(self.run_study(study + simulate(0.02, 1e-5)), False)
        self.assertAlmostEqual(self.sensors()["ball.x"][-1], 0.1, delta=1e-5)

    def test_much_work_that_goes_through_a_damper_is_no_drift(self):
        # a motor against a brake: 0.5 J stored, 1000 J through it, all of it accounted for
        study = WHEEL.format(speed=1) + HINGE + """
[[loads]]
name = "motor"
kind = "torque"
on = "wheel.hub"
torque = [0, 0, 100]
[[loads]]
name = "brake"
kind = "torsion-damper"
between = ["ground", "wheel.hub"]
axis = [0, 0, 1]
damping = 100
"""
        summary = self.run_study(study + simulate(10, 0.01))
        self.assertGreater(summary["energy"]["dissipated"], 990)
        self.assertIsNone(self.warning(summary, "simulate.energy-drift"))

    def test_nothing_that_moves_is_no_drift(self):
        summary = self.run_study("gravity = [0, -9.81, 0]\n" + WHEEL.format(speed=0) + HINGE + ANGLE + simulate(1, 0.01))
        self.assertIsNone(self.warning(summary, "simulate.energy-drift"))


class ElasticRange(SilenceTest):
    """A beam of 0.4 m: clamped, its first frequency is 3.516 sqrt(E I / (rho A l^4)) = 127 rad/s."""
    size = (0.4, 0.02, 0.02)
    EI, line_mass = 1e9 * 0.02**4 / 12, 1000 * 0.02**2

    def beam(self, formulation, joint, more):
        nodes, elements = brick((8, 1, 1), self.size, "C3D8")
        sets = {"LEFT": nodes_at(nodes, 0, 0.0), "RIGHT": nodes_at(nodes, 0, self.size[0])}
        self.left = sets["LEFT"]
        self.write("beam.inp", inp_deck(nodes, elements, material=dict(E=1e9, nu=0.0, rho=1000.0), sets=sets))
        return f"""
[bodies.beam]
mesh = "beam.inp"
mass = "lumped"
formulation = "{formulation}"
spiders = [ {{ name = "A", set = "LEFT" }}, {{ name = "B", set = "RIGHT" }} ]
{more}
[bodies.beam.reduce]
interfaces = ["A", "B"]
modes = 4
tolerance = 0.01
stress = false
paraview = false
[[joints]]
name = "hinge"
kind = "{joint}"
between = ["ground", "beam.A"]
axis = [0, 1, 0]
[[sensors]]
name = "tip"
kind = "position"
of = "beam.B"
"""

    def test_a_beam_that_spins_faster_than_a_third_of_its_first_frequency_says_so(self):
        first = 3.516 * math.sqrt(self.EI / self.line_mass) / self.size[0]**2
        for formulation in ("ffrf", "gcms"):
            for speed, warns in ((0.25 * first, False), (0.4 * first, True)):
                summary = self.run_study(self.beam(formulation, "revolute", f"angular_velocity = [0, {speed}, 0]") +
                                         simulate(2e-3, 1e-4))
                message = self.warning(summary, "simulate.elastic-range.beam")
                self.assertEqual(message is not None, warns, message)
                if not warns:
                    self.assertNotIn("elastic_range", summary)
                    continue
                self.assertIn(f"the body 'beam' ({formulation}) leaves the range of linear elasticity: from t = 0 s on",
                              message)
                found = summary["elastic_range"][0]["spin"]
                self.assertEqual(found["since"], 0)
                self.assert_close(found["largest"], speed, 0.02)
                # eight elements, and a shear that theory leaves out
                self.assert_close(found["first_frequency"], first, 0.03)

    def test_a_beam_that_bends_too_far_says_when_and_where(self):
        # the line through its masses is turned by 0.35 F l^2 / (E I) against its clamped end, where nodes turn most
        force = 50
        largest = 0.35 * force * self.size[0]**2 / self.EI * 180 / math.pi
        push = f"""
[[loads]]
name = "push"
kind = "force"
on = "beam.B"
force = [0, 0, "{force} * t"]
"""
        for formulation in ("ffrf", "gcms"):
            summary = self.run_study(self.beam(formulation, "fixed", "") + push +
                                     simulate(1, 0.05, 'integrator = "static"\n'))
            message = self.warning(summary, "simulate.elastic-range.beam")
            self.assertIn("a node is turned by more than 10 degrees within it", message)
            found = summary["elastic_range"][0]["rotation"]
            self.assertIn(found["node"], self.left)
            self.assertEqual(found["at"], 1)
            # 12.0 degrees, less what the rotation itself takes away from the force's lever: 0.21 rad squared
            self.assert_close(found["largest_degrees"], largest, 0.08)
            self.assertAlmostEqual(found["since"], 10 / largest, delta=0.1)


class Memory(SilenceTest):
    def test_samples_are_in_the_files_and_not_in_memory(self):
        study = WHEEL.format(speed=1) + HINGE + ANGLE
        peak = []
        for end in (0.1, 40):
            self.write("s.toml", study + simulate(end, 1e-3, 'integrator = "kinematics"\n') + DRIVE)
            found = self.json_of("simulate", "s.toml", "--out", "out")
            self.assertEqual(found["samples"], round(end / 1e-3) + 1)
            # the view has its frames from the file
            self.assertEqual(found["view"]["frames"], 101 if end < 1 else 1001)
            peak.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        # 40,000 samples were 34 MB; the address sanitizer keeps what was freed for a while, 100 MB of it
        if "ASAN_OPTIONS" not in os.environ:
            self.assertLess(peak[1] - peak[0], 10e3)


if __name__ == "__main__":
    import unittest
    unittest.main()
