"""The examples as shipped: they run, keep what their READMEs and the issues promise, and their figures are drawn."""

import csv
import json
import math
import re
import subprocess
import unittest

import h5py
import numpy as np

import readme_tables
from support import LISSOM, SOURCE, CliTest, load_script


pages = load_script("follow-page")
TOLERANCES = [0.1, 0.01, 0.001, 0.0001]


class ExamplesBase(CliTest):
    TIMEOUT = 600  # of a command [s]

    def run_example(self, name, figures):
        """The summary of the example, whose README was followed; what it printed last is in `printed`."""
        printed = readme_tables.follow(self, pages.Reader(self.folder, LISSOM, timeout=self.TIMEOUT), pages, name)
        self.printed = next(text for command, text in printed.items() if "plot.py" in command)
        # beside other examples, should a test run several
        (self.folder / "results").rename(self.folder / name)
        return self.summary_of(name, figures)

    def run_study(self, name, study, figures):
        run = self.lissom("run", str(study), "--out", name, "--json", timeout=400)  # half a minute at most on a quiet machine
        self.assertEqual(run.code, 0, run.err)
        drawn = subprocess.run(["/usr/bin/python3", "-B", str(SOURCE / "examples" / name / "plot.py"), name], cwd=self.folder,
                               capture_output=True, text=True)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.printed = drawn.stdout
        return self.summary_of(name, figures)

    def summary_of(self, name, figures):
        for figure in figures:
            self.assertGreater((self.folder / name / figure).stat().st_size, 5000, figure)
        return json.loads((self.folder / name / "summary.json").read_text())


class ReductionsTest(ExamplesBase):
    def assert_tolerances_are_met(self, reduce):
        """The default proves every tolerance, and the exact error of every mode in range is below it."""
        self.assertTrue(reduce["certified"])
        for mode in reduce["errors"]:
            self.assertLessEqual(mode["exact"], reduce["tolerance"])
            # the enclosure holds; 1e-9 is the eigen-solver's share in the exact error
            self.assertLessEqual(mode["exact"], mode["bound"] + 1e-9)
        self.assertEqual(reduce["comparison"]["tolerances"], TOLERANCES)
        default = self.method(reduce, "default: certified")
        for tolerance, exact, certified in zip(TOLERANCES, default["exact"], default["certified"]):
            self.assertTrue(certified)
            self.assertLessEqual(exact, tolerance)

    def method(self, reduce, name):
        return next(m for m in reduce["comparison"]["methods"] if m["name"] == name)

    def test_the_cylinder_needs_few_coordinates_and_the_papers_rule_the_papers_number(self):
        summary = self.run_example("cylinder", [f"cylinder-{f}.png" for f in ("errors", "convergence", "counts", "cost")])
        reduce = summary["bodies"]["cylinder"]["reduce"]
        self.assert_tolerances_are_met(reduce)
        self.assertLessEqual(self.method(reduce, "default: certified")["coordinates"][2], 60)
        # 446 in the paper: within 5 % at 0.1 %
        count = self.method(reduce, "paper's rule, its estimate")["coordinates"][2]
        self.assertLess(abs(count / 446 - 1), 0.05)

    def test_the_connecting_rod_needs_few_coordinates_and_the_papers_rule_the_papers_number(self):
        summary = self.run_example("connecting-rod", [f"rod-{f}.png" for f in ("errors", "convergence", "counts", "cost")])
        reduce = summary["bodies"]["rod"]["reduce"]
        self.assert_tolerances_are_met(reduce)
        self.assertLessEqual(self.method(reduce, "default: certified")["coordinates"][2], 30)
        # 105 in the paper, of another rod
        count = self.method(reduce, "paper's rule, its estimate")["coordinates"][2]
        self.assertLess(abs(count / 105 - 1), 0.05)

    def test_the_crankshaft_meets_every_tolerance_and_keeps_twelve_modes_in_its_gcms_basis(self):
        figures = [f"crankshaft-{f}.png" for f in ("errors", "counts", "cost", "gcms", "stress")]
        body = self.run_example("crankshaft", figures)["bodies"]["crankshaft"]
        self.assertGreater(body["nodes"], 49000)
        self.assert_tolerances_are_met(body["reduce"])
        scalar = body["gcms"]["scalar"]
        self.assertLess(abs(scalar["steps"][-1]["mass_condition"] - 1), 1e-10)
        self.assertLess(scalar["max_eigenvalue_error"], 1e-3)

    def test_the_beams_have_gcms_bases_of_condition_one(self):
        bodies = self.run_example("gcms-beams", ["gcms-cosine.png", "gcms-conditions.png"])["bodies"]
        self.assertEqual(set(bodies), {"square", "rectangle", "circle", "triangle", "arbitrary", "steel"})
        for name, body in bodies.items():
            scalar, paper = body["gcms"]["scalar"], body["gcms"]["algorithm_1"]
            with self.subTest(name):
                self.assertLess(abs(scalar["steps"][-1]["mass_condition"] - 1), 1e-10)
                self.assertLess(scalar["max_eigenvalue_error"], 1e-3)
                self.assertLess(paper["steps"][-1]["condition"], 1e3)
                # Algorithm 1 has its price on every beam
                self.assertGreater(paper["max_eigenvalue_error"], 0.1)


class MechanismsTest(ExamplesBase):
    def sensors(self, folder, file="sensors.csv"):
        with open(self.folder / folder / file) as file:
            rows = list(csv.DictReader(file))
        return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}

    def nodes(self, folder):
        with h5py.File(self.folder / folder / "result.h5") as file:
            return {name: group["positions"][:] for name, group in file["nodes"].items()}

    def runs(self, summary):
        return [summary["simulation"], *(case["simulation"] for case in summary["cases"].values())]

    def largest(self, summary, case, column, what="largest"):
        return summary["comparison"]["cases"][case]["sensors"][column][what]

    def test_the_four_bar_moves_the_same_in_three_formulations(self):
        figures = [f"four-bar-{f}.png" for f in ("motion", "difference", "mechanism")]
        summary = self.run_example("four-bar", figures)
        for run in self.runs(summary):
            self.assertLess(run["constraint_drift"], 1e-10)
            # 4e-7 to 5e-7: the numerical damping of rho_inf = 0.8
            self.assertLess(run["energy_drift"], 1e-6)
            self.assertEqual(run["rigid_degrees_of_freedom"], 1)
        counts = [(run["coordinates"], run["constraints"]) for run in self.runs(summary)[:2]]
        self.assertEqual(counts, [(51, 27), (66, 42)])
        reference = self.nodes("four-bar")
        self.assertEqual({name: len(x) for name, x in reference.items()}, {"left": 201, "coupler": 201, "right": 201})
        # it really moved
        self.assertGreater(np.abs(reference["coupler"][-1] - reference["coupler"][0]).max(), 0.05)
        # the promise for every node; FNCF is the same model and agrees better (4e-9)
        for case, limit in (("fncf", 1e-8), ("gcms", 1e-6)):
            positions = self.nodes(f"four-bar/{case}")
            for body, x in reference.items():
                self.assertLess(np.linalg.norm(positions[body] - x, axis=2).max(), limit * 0.135, (case, body))
        # the elastic motion too, 14 nm across the plane: GCMS is softer by 1e-3
        x, gcms = (self.sensors(f)["top.x"] for f in ("four-bar", "four-bar/gcms"))
        self.assertGreater(np.ptp(x), 1e-8)
        self.assertLess(np.abs(gcms - x).max(), 0.02 * np.ptp(x))

    def test_the_four_bar_is_an_ode_of_six_unknowns(self):
        figures = [f"four-bar-slap-{f}.png" for f in ("values", "error", "response", "configurations", "joints", "frequencies",
                                                      "reversed", "trust")]
        summary = self.run_example("four-bar-slap", figures)
        training, models, cases = summary["training"], summary["models"], summary["cases"]
        # the promises for the main training; 5e-16 at m = 6, and falling to 1e-19
        epsilon = {order["m"]: order["epsilon"] for order in training["orders"]}
        self.assertEqual(sorted(epsilon), list(range(1, 21)))
        self.assertLess(epsilon[6], 1e-15)
        # three modes have 1.07e-14: two for the rigid motion, one for the deformation
        self.assertLess(epsilon[3], 1e-13)
        for m in range(4, 21):
            self.assertLess(epsilon[m], 1e-14, m)
        self.assertEqual(training["spurious"], [])
        self.assertGreater(training["proposed"], 2)
        self.assertLess(max(training["joint_violation"][:20]), 1e-28)
        # compression keeps the singular values
        full, compressed = (np.array(training[key][:20]) for key in ("singular_values_full", "singular_values"))
        self.assertLess(np.abs(full - compressed).max(), 1e-13 * full[0])
        # the model is an ODE, and the run of its own is that of the training
        run = cases["m6"]["simulation"]
        self.assertEqual((run["coordinates"], run["constraints"]), (6, 0))
        self.assertLess(models["m6"]["epsilon"], 1e-15)
        self.assertLess(models["m6"]["trust"]["largest"], 3)
        # independently of the program's own epsilon: nodes as written
        reference, reduced = self.nodes("four-bar-slap"), self.nodes("four-bar-slap/m6")
        self.assertGreater(np.abs(reference["coupler"][-1] - reference["coupler"][0]).max(), 0.05)
        self.assertLess(sum(((reduced[body] - x) ** 2).sum() for body, x in reference.items()), 1e-15)

        # the reversed load: noticed where it was not trained, exact where it was
        self.assertGreater(models["reversed, m6"]["epsilon"], 1e-12)
        self.assertIsNotNone(models["reversed, m6"]["trust"]["outside_since"])
        for m in (6, 8, 10):
            model = models[f"reversed, trained on both, m{m}"]
            self.assertLess(model["epsilon"], 1e-14)
            self.assertIsNone(model["trust"]["outside_since"])

        # noise of 1e-11 m: joints from the data have spurious modes from 8 on (another mesh: about there), the kernel has none
        noisy, cured = (cases[name]["training"] for name in ("noise, data joints, m10", "noise, m10"))
        self.assertIn(noisy["first_spurious"], range(6, 11))
        self.assertEqual(noisy["spurious"][0], noisy["first_spurious"])
        self.assertGreater(models["noise, data joints, m10"]["epsilon"], 1e-10)
        self.assertEqual(cured["spurious"], [])
        for order in cured["orders"][3:12]:
            self.assertLess(order["epsilon"], 1e-14, order["m"])
        self.assertTrue(any("spurious" in json.dumps(warning) for warning in summary["warnings"]))

        # another integrator, the same motion: 1.1e-8 m are generalized-alpha's own error at 0.1 ms
        for case in ("m6, central differences", "m6, 0.2 ms"):
            for column in ("top.x", "top.y", "top.z"):
                self.assertLess(self.largest(summary, case, column), 1e-7)

    def test_the_pendulums_differences_fall_with_the_tolerance(self):
        # the first second of seven; readme_tables_test.py runs all of it
        text = (SOURCE / "examples" / "quadruple-pendulum" / "study.toml").read_text()
        geometry = SOURCE / "examples" / "cylinder" / "cylinder.geo"
        for old, new in (("\nend = 7\n", "\nend = 1\n"), ("\nat = [3, 6.04, 6.8]\n", "\nat = [0.5, 0.75, 1]\n"),
                         ("../cylinder/cylinder.geo", str(geometry))):
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("short.toml", text)
        figures = [f"pendulum-{f}.png" for f in ("position", "velocity", "acceleration", "chaos", "motion", "stress",
                                                 "stress-contour", "maximum")]
        summary = self.run_study("quadruple-pendulum", self.folder / "short.toml", figures)
        for run in self.runs(summary):
            self.assertEqual((run["coordinates"], run["constraints"]), (58, 16))
            self.assertLess(run["constraint_drift"], 1e-10)
            # second order: steps of 0.1 ms leave 1.6e-5 in 7 s
            self.assertLess(run["energy_drift"], 2e-5)
        reference = self.sensors("quadruple-pendulum")

        def distance(case, until):
            """Largest one of node A to the reference [m]."""
            data, early = self.sensors(f"quadruple-pendulum/{case}"), reference["t"] <= until
            return math.sqrt(max(sum((data[f"A.{k}"] - reference[f"A.{k}"])[early] ** 2 for k in "xyz")))

        ten, one, tenth = (distance(case, 1) for case in ("tol-10", "tol-1", "tol-0.1"))
        # a factor of about ten each; a third of that allows for meshes of other gmsh versions
        self.assertLess(one, ten / 3)
        self.assertLess(tenth, one / 3)
        self.assertLess(tenth, 1e-8)
        # until 0.2 s the chain falls freely, slow enough for the integrator to be exact to 1e-6 m
        self.assertLess(distance("half-step", 0.2), 1e-6)
        # and the chain has fallen: node A from y = 0 to below -1 m
        self.assertLess(reference["A.y"].min(), -1)
        # stress: factors of 5.8 and 2.9 in the mean square at node B, 4.9 and 4.0 of the largest of all nodes
        for column in ("B stress.von_mises", "B strain.von_mises", "largest stress.von_mises"):
            ten, one, tenth = (self.largest(summary, case, column, "rms") for case in ("tol-10", "tol-1", "tol-0.1"))
            with self.subTest(column):
                self.assertLess(one, ten / 2)
                self.assertLess(tenth, one / 1.5)
        # 0.974 here; linear tets of half a radius and averages at their nodes see a little less at the surface
        found = re.search(r"axial stress of B: ([\d.]+) of that of beam theory, correlation ([\d.]+)", self.printed)
        self.assertLess(abs(float(found[1]) - 1), 0.1, found[0])
        self.assertGreater(float(found[2]), 0.99, found[0])
        self.assert_maximum_is_the_sensors("quadruple-pendulum", reference, 1)

    def test_the_slider_crank_moves_like_rigid_bodies_but_for_its_elongation(self):
        figures = [f"slider-crank-{f}.png" for f in ("acceleration", "motion", "stress", "stress-contour", "maximum")]
        summary = self.run_example("slider-crank", figures)
        for run in self.runs(summary):
            self.assertLess(run["constraint_drift"], 1e-10)
            self.assertLess(run["energy_drift"], 2e-6)
        # 28 and 4 for x. Across the rod the differences at 1 and 0.1 %, 2e-6 of 13 m/s2, are round-off of positions over the
        # square of the step, so that only their mean squares tell them apart: 32 and 1.8
        for column, what, factor in (("A.x", "largest", 3), ("A.y", "rms", 1.4)):
            ten, one, tenth = (self.largest(summary, case, column, what) for case in ("tol-10", "tol-1", "tol-0.1"))
            with self.subTest(column):
                self.assertLess(one, ten / 10)
                self.assertLess(tenth, one / factor)
        data = self.sensors("slider-crank")
        angle = data["crank.angle"]
        closed = 30 * np.cos(angle) + np.sqrt(105**2 - 900 * np.sin(angle) ** 2)
        elongation = data["slider.x"] - closed
        # 37 N on a rod of 95 N per micrometre: 0.4 micrometres, in phase with the force
        self.assertLess(np.abs(elongation).max(), 1e-3)
        self.assertLess(np.corrcoef(elongation, data["big end force.fx"])[0, 1], -0.99)
        # torque, inertia and the rod's mass: the rigid mechanism's own equation, integrated here. The rest, 2.4e-5 rad, is
        # the integrator's and the elongation's.
        rigid = self.rigid_angle(data["t"], summary["bodies"]["rod"])
        self.assertGreater(rigid[-1], 10)
        self.assertLess(np.abs(angle - rigid).max(), 1e-4)
        self.check_rod_stress(summary)

    def check_rod_stress(self, summary):
        for column in ("B stress.von_mises", "B strain.von_mises"):
            ten, one, tenth = (self.largest(summary, case, column) for case in ("tol-10", "tol-1", "tol-0.1"))
            # 18 here; 1 and 0.1 % are the same at this node (1.8e-3 and 1.6e-3 of the largest), but not over the rod
            self.assertLess(one, ten / 5)
            self.assertLess(tenth, 1.5 * one)
        reference = self.stress("slider-crank")
        # 36, 2.0 and 0.76 kPa of 321 kPa
        ten, one, tenth = (np.abs(self.stress(f"slider-crank/{case}")["von_mises"] - reference["von_mises"])[1].max()
                           for case in ("tol-10", "tol-1", "tol-0.1"))
        self.assertLess(one, ten / 5)
        self.assertLess(tenth, one / 1.5)
        self.assert_maximum_is_the_sensors("slider-crank", self.sensors("slider-crank"), 1e6)

        # in the middle of the shank the stress is the force through it over its section: 1.0000 and 0.9998 with all static shapes.
        # The ten natural modes have 1.069, whatever the tolerance.
        ratios = {name: [float(r) for r in found.split(",")] for name, found in
                  re.findall(r"middle of the shank over force / section, ([^:]+): (.*)", self.printed)}
        self.assertEqual([len(r) for r in ratios.values()], [2, 2])
        for exact, natural in zip(ratios["with static shapes"], ratios["ten natural modes"]):
            self.assertLess(abs(exact - 1), 0.01)
            self.assertGreater(abs(natural - 1), 0.03)

    def stress(self, folder):
        with h5py.File(self.folder / folder / "stress.h5") as file:
            group = file["bodies/0"]
            return {"von_mises": group["at/von_mises"][:], "maximum": dict(group["maximum"].attrs)}

    def assert_maximum_is_the_sensors(self, folder, data, pascal):
        """The maximum over time in stress.h5 is that of the sensor of all nodes, in units of `pascal` Pa: the same sums in another order."""
        largest = self.stress(folder)["maximum"]
        sample = np.argmax(data["largest stress.von_mises"])
        self.assertLess(abs(pascal * data["largest stress.von_mises"][sample] / largest["von_mises"] - 1), 1e-9)
        self.assertEqual((data["largest stress.node"][sample], data["t"][sample]), (largest["node"], largest["time"]))

    def test_the_suspension_runs_as_a_small_ode_and_knows_what_it_was_trained_on(self):
        figures = [f"suspension-{f}.png" for f in ("mechanism", "motion", "orders", "trust")]
        summary = self.run_example("suspension-slap", figures)
        training, models = summary["training"], summary["models"]
        self.assertEqual(len(training["parts"]), 6)
        # wheel travel, and the two rods about their own axes
        self.assertEqual(training["rigid_motions"], 3)
        self.assertEqual(training["spurious"], [])
        # every joint is linear: modes keep them to round-off, and the data to the full model's Newton iteration (1e-12)
        self.assertLess(max(training["joint_violation"]), 1e-28)
        self.assertLess(training["outside_joints"], 1e-10)
        full, compressed = training["singular_values_full"], training["singular_values"]
        self.assertGreater(len(full), 20)
        self.assertLess(max(abs(a - b) for a, b in zip(full, compressed)), 1e-13 * full[0])
        # 10 here; other meshes may need one or two more or fewer
        order = training["order"]
        self.assertEqual(order, training["proposed"])
        self.assertTrue(8 <= order <= 14, order)
        errors = {o["m"]: o["epsilon"] for o in training["orders"]}
        # 1.6e-3 to 1.8e-7 m2
        self.assertLess(errors[order], 1e-3 * errors[5])

        at_rest = 25  # samples; until 50 ms the car settles, and gravity that begins at once makes bodies ring
        for name, wheel, acceleration, epsilon, trust in (
                # 0.9 micrometres in the first 10 ms; 0.004 m/s2; 1e-7 m2; 0.54
                ("bump", 3e-6, 0.02, 1e-6, (0.1, 1)), ("stop", 3e-6, 0.02, 1e-6, (0.1, 1)),
                # not in the training: 1.0 micrometres of 25 mm, 0.010 of 86 m/s2, 1.4e-6 m2, 2.3; the sweep like the bump, 1.1
                ("kerb", 4e-6, 0.05, 1e-5, (1, 3)), ("sweep", 3e-6, 0.02, 1e-6, (0.3, 3)),
                # far outside: 47 micrometres of 69 mm, 0.31 of 93 m/s2, 1.3e-4 m2, 77
                ("overload", 2e-4, 1.5, 1e-3, (10, 1e4))):
            with self.subTest(name):
                model = models[f"{name} small"]
                self.assertEqual(model["unknowns"], order)
                reference = self.sensors("suspension-slap" if name == "bump" else f"suspension-slap/{name}")
                small = self.sensors(f"suspension-slap/{name} small")
                miss = np.linalg.norm([small[f"wheel.{k}"] - reference[f"wheel.{k}"] for k in "xyz"], axis=0)
                self.assertLess(miss.max(), wheel)
                self.assertLess(np.abs(small["acceleration.z"] - reference["acceleration.z"])[at_rest:].max(), acceleration)
                self.assertLess(model["epsilon"], epsilon)
                self.assertTrue(trust[0] < model["trust"]["largest"] < trust[1], model["trust"])
                # spring, damper and tyre are loads of either model: forces of kilonewtons agree to 1e-4 where it is trained
                for force in ("strut.value", "tyre.value"):
                    limit = 1e-4 if name != "overload" else 1e-2
                    self.assertLess(np.abs(small[force] - reference[force])[at_rest:].max(), limit * np.abs(reference[force]).max())
        # the wheel follows the road, and the tyre never pulls
        bump = self.sensors("suspension-slap")
        self.assertGreater(bump["wheel.z"].max(), 0.04)
        self.assertLess(bump["tyre.value"][at_rest:].max(), 0)
        # the overload, and nothing else, is warned of
        left = [w for w in summary["warnings"] if "leaves what the model was trained on" in json.dumps(w)]
        self.assertEqual(len(left), 1, left)
        for run in self.runs(summary):
            # 9e-5 of 217 J to 4e-4 of the sweep's 5 J: the numerical damping of rho_inf = 0.8
            self.assertLess(run["energy_drift"], 1e-3)
            self.assertLess(run["constraint_drift"], 1e-10)

    def test_the_robot_arm_sags_moves_and_rings_as_beams_and_its_own_modes_say(self):
        figures = [f"robot-arm-{f}.png" for f in ("stress", "torques", "tip", "modes", "response", "payload")]
        summary = self.run_example("robot-arm", figures)
        cases = summary["cases"]
        rigid, flexible = self.sensors("robot-arm/rigid"), self.sensors("robot-arm/flexible")
        # inverse dynamics: the closed form with masses and inertias of the meshes; 1.4e-11 N m here
        shoulder, elbow = self.arm_torques(rigid["t"], summary["bodies"])
        self.assertLess(np.abs(rigid["shoulder torque.value"] - shoulder).max(), 1e-9 * shoulder.max())
        self.assertLess(np.abs(rigid["elbow torque.value"] - elbow).max(), 1e-9 * shoulder.max())
        # cantilevers by hand: 6.484 mm, 14.92 MPa M R / I at a quarter; at the rigid face 18.28 MPa, and a little more
        sag = -self.sensors("robot-arm")["tip.z"][0]
        self.assertLess(abs(sag / 6.484e-3 - 1), 0.01)
        stress = {case: run["stress"]["upper"] for case, run in (("static", summary["simulation"]), ("flexible", cases["flexible"]["simulation"]))}
        self.assertTrue(18.28e6 < stress["static"]["at"][0]["max_von_mises"] < 1.1 * 18.28e6, stress["static"])
        self.assertGreater(stress["flexible"]["max_von_mises"], 1.5 * stress["static"]["max_von_mises"])
        # servos add torque / stiffness; 0.02 %: large rotations
        servo = 1.4 * 63.63 / 3e4 + 0.6 * 18.80 / 1e4
        self.assertLess(abs(-self.sensors("robot-arm/servo")["tip.z"][0] - sag - servo), 1e-3 * servo)
        # it starts at rest in the equilibrium, and ends ringing about the one there
        still = flexible["t"] < 0.1
        self.assertLess(np.ptp(flexible["tip.z"][still]), 1e-9)
        self.assertGreater(np.ptp(flexible["tip.z"][flexible["t"] > 0.95]), 5e-4)
        # Rayleigh's quotients, good to 1 %
        first = {"brakes": summary["linearisation"], "servo": cases["servo"]["linearisation"]}
        for name, expected in (("brakes", 6.688), ("servo", 5.246)):
            self.assertLess(abs(first[name]["modes"][0]["frequency_hz"] / expected - 1), 0.01)
        # the compliance by hand, enlarged by the resonance, at 1 Hz: 0.3 %
        response = self.sensors("robot-arm", "response.csv")
        expected = 1.6216e-4 / (1 - (response["f"][0] / 6.701) ** 2)
        self.assertLess(abs(response["tip.z by push magnitude"][0] / expected - 1), 0.01)
        # frequencies fall with the payload, as 1 / sqrt(payload + 0.48 kg) of the rest where the payload rules: 1.8 %
        points = summary["sweep"]["points"]
        self.assertEqual(summary["sweep"]["failed"], 0)
        mass = np.array([point["parameters"]["bodies.payload.rigid.mass"] for point in points])
        frequency = np.array([point["values"]["frequency 1 [Hz]"] for point in points])
        scaled = (frequency * np.sqrt(mass + 0.48))[mass >= 0.5]
        self.assertEqual(len(scaled), 7)
        self.assertLess(np.ptp(scaled) / scaled.mean(), 0.03)
        for run in (cases["rigid"], cases["flexible"]):
            self.assertLess(run["simulation"]["energy_drift"], 1e-5)
            self.assertLess(run["simulation"]["constraint_drift"], 1e-10)

    def arm_torques(self, t, bodies):
        """Torques [N m] of shoulder and elbow of the arm with rigid links, by Lagrange's equations."""
        s = np.clip((t - 0.1) / 0.8, 0, 1)
        p, v, a = 10 * s**3 - 15 * s**4 + 6 * s**5, (30 * s**2 - 60 * s**3 + 30 * s**4) / 0.8, (60 * s - 180 * s**2 + 120 * s**3) / 0.64
        shoulder, elbow = math.pi / 3, -math.pi / 2
        # links, motor and payload, each with mass, distance along its link, and inertia across the plane
        L, g = 0.8, 9.81
        upper = [(bodies["upper"]["mass"], bodies["upper"]["center"][0], bodies["upper"]["inertia"][1][1]), (2, L, 2e-3)]
        fore = [(bodies["fore"]["mass"], bodies["fore"]["center"][0], bodies["fore"]["inertia"][1][1]), (3, 0.6, 4e-3)]
        I1, S1 = sum(m * c**2 + J for m, c, J in upper), sum(m * c for m, c, _ in upper)
        I2, S2, m2 = sum(m * c**2 + J for m, c, J in fore), sum(m * c for m, c, _ in fore), sum(m for m, _, _ in fore)
        q1, q2, v1, v2, a1, a2 = shoulder * p, elbow * p, shoulder * v, elbow * v, shoulder * a, elbow * a
        c, h = L * S2 * np.cos(q2), L * S2 * np.sin(q2)
        second = (I2 + c) * a1 + I2 * a2 + h * v1**2 + g * S2 * np.cos(q1 + q2)
        first = ((I1 + I2 + m2 * L**2 + 2 * c) * a1 + (I2 + c) * a2 - h * (2 * v1 * v2 + v2**2)
                 + g * ((S1 + m2 * L) * np.cos(q1) + S2 * np.cos(q1 + q2)))
        return first, second

    def rigid_angle(self, times, rod):
        """Crank angle [rad] of the rigid slider-crank at equally spaced times: I(phi) phi'' + I'(phi) phi'^2 / 2 = T(t), SI."""
        crank, length, disc, slider = 0.03, 0.105, 8.54e-3, 0.6
        mass, centre, inertia = rod["mass"], rod["center"][0], rod["inertia"][2][2]

        def effective(phi):
            s, c = math.sin(phi), math.cos(phi)
            sine = crank * s / length
            cosine = math.sqrt(1 - sine**2)
            turn = crank * c / (length * cosine)  # of the rod, d beta / d phi
            x, y = -crank * s - centre * sine * turn, crank * c - centre * cosine * turn
            return disc + mass * (x * x + y * y) + inertia * turn**2 + slider * (crank * s + length * sine * turn) ** 2

        def rate(t, phi, omega):
            slope = (effective(phi + 1e-5) - effective(phi - 1e-5)) / 2e-5
            return omega, (min(t / 0.1, 1) - slope * omega**2 / 2) / effective(phi)

        h, phi, omega, angles = times[1] - times[0], 0.0, 0.0, [0.0]
        for t in times[:-1]:  # Runge-Kutta of order 4
            a = rate(t, phi, omega)
            b = rate(t + h / 2, phi + h / 2 * a[0], omega + h / 2 * a[1])
            c = rate(t + h / 2, phi + h / 2 * b[0], omega + h / 2 * b[1])
            d = rate(t + h, phi + h * c[0], omega + h * c[1])
            phi += h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
            omega += h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
            angles.append(phi)
        return np.array(angles)


class BeamsTest(ExamplesBase):
    def assert_model_of_the_paper(self, training, order, values, energy):
        """The singular values' sum of centred snapshots proposes the paper's order, and no test keeps a constraint or fails."""
        self.assertEqual(training["order"], order)
        proposed = training["proposed"]
        self.assertEqual(proposed["singular-values_centred"], order)
        self.assertEqual((proposed["singular-values"], proposed["energy"], proposed["energy_centred"]), (values, *energy))
        for test in training["tests"]:
            self.assertEqual(test["constraints_kept"], 0)
            self.assertFalse(test.get("problem"), test)

    def errors(self, training, sensor, test, combination):
        """Relative L2 errors by order."""
        return {t["order"]: t["errors"][sensor] for t in training["tests"] if t["test"] == test and t["combination"] == combination}

    def test_the_double_pendulum_of_eleven_unknowns_falls_as_the_full_one_at_other_masses(self):
        figures = [f"ancf-double-pendulum-{f}.png" for f in ("training", "postures", "tip", "tip-3s", "values", "combinations")]
        summary = self.run_example("ancf-double-pendulum", figures)
        training = summary["training"]
        self.assert_model_of_the_paper(training, 11, 10, (4, 5))
        self.assertEqual(len(training["samples"]), 9)
        self.assertEqual(training["nodal_coordinates"], 648)
        self.assertEqual(summary["simulation"]["coordinates"], 644)
        # goals of issue 7, to 3 s twice those; 60 % of them here at worst
        goals = {11: 5e-3, 15: 6e-4, 20: 7e-5}
        for combination in ("grassmann", "global", "nearest"):
            for test, factor in (("to-1.3", 1), ("to-3", 2)):
                errors = self.errors(training, "tip.y", test, combination)
                for r, goal in goals.items():
                    with self.subTest(test=test, combination=combination, r=r):
                        self.assertLess(errors[r], factor * goal)
        # at the other masses not all of them are met by the nearest sample; Grassmann does: 2.3e-3, 3.4e-4, 6.0e-5 at worst
        for test in ("light", "upper heavy", "both heavy"):
            errors = self.errors(training, "tip.y", test, "grassmann")
            for r, goal in goals.items():
                with self.subTest(test=test, r=r):
                    self.assertLess(errors[r], goal)
            # the order of the energy rule is useless
            self.assertGreater(errors[5], 0.05)
        # the case is the model of the test; of 648 coordinates at 27 instants: 2.9e-4 m2, the tip off by 2 mm
        reduced = summary["cases"]["reduced"]["simulation"]
        self.assertEqual(reduced["coordinates"], 11)
        # some models of five and eight unknowns leave their training, and some of five vibrate faster than the steps
        # resolve and lose energy; they say so, and those of the goals do not
        keys = [w["key"] for w in summary["warnings"]]
        self.assertEqual({key.split(".")[1] for key in keys}, {"trust", "energy-drift"})
        self.assertTrue(all("-5-" in key for key in keys if "energy-drift" in key), keys)
        self.assertLess(max(t["order"] for t in training["tests"] if t["trust"] > 3), 11)

    def test_the_four_bar_of_33_unknowns_and_no_constraint_follows_a_moment_it_has_not_seen(self):
        figures = [f"ancf-four-bar-{f}.png" for f in ("training", "response", "configurations", "values", "combinations")]
        summary = self.run_example("ancf-four-bar", figures)
        training = summary["training"]
        self.assert_model_of_the_paper(training, 33, 32, (11, 13))
        self.assertEqual(training["nodal_coordinates"], 452)
        # goal of issue 7; 6.9e-4, 7.5e-4 and 1.2e-3 here
        for combination in ("grassmann", "global", "nearest"):
            self.assertLess(self.errors(training, "B.y", "load-0.935", combination)[33], 3e-3)
        # the polynomial is exact: what differs from all elements is round-off times 1000 steps; sampling is within a fifth of it
        forces = {t["force"]: t["errors"]["B.y"] for t in training["tests"] if t["test"] == "forces"}
        # the same forces; Newton's iterations end differently, by 1e-12 of the size in every step
        self.assertLess(abs(forces["tensor"] / forces["direct"] - 1), 1e-4)  # 2.8e-6
        self.assertLess(abs(forces["ecsw"] / forces["direct"] - 1), 0.2)
        # HHT with steps of 1 ms, as in the paper, damps what the coupler vibrates with; every run of it says so. The training goes
        # on to 1.3 s, where the motion is sensitive to everything: the model does not repeat it to 1 %, and is called poor
        self.assertEqual({w["key"].split(".")[1] for w in summary["warnings"]}, {"energy-drift", "poor"})

    def test_a_cantilever_in_space_is_rolled_up_to_a_circle_with_fourth_order(self):
        summary = self.run_example("ancf-spatial", [f"ancf-spatial-{f}.png" for f in ("shapes", "convergence")])
        axes = np.array([[2, 1, 2], [-2, 2, 1], [-1, -2, 2]]) / 3

        def nodes(case):
            with h5py.File(self.folder / "ancf-spatial" / case / "result.h5") as file:
                return file["time"][:], file["nodes/beam/positions"][:] @ axes.T

        gaps = []
        for case in ("8 elements", "", "32 elements", "64 elements"):
            t, x = nodes(case)
            k = 2 * np.pi * t[1:] / 3
            exact = np.array([np.sin(3 * k) / k, (1 - np.cos(3 * k)) / k, 0 * k]).T
            gaps.append(np.linalg.norm(x[-1, -1]))
            # the full turn is the farthest from the closed form
            self.assertLessEqual(np.linalg.norm(x[1:, -1] - exact, axis=1).max(), 1.0001 * gaps[-1])
            # round-off: nothing pushes it out of its plane
            self.assertLess(np.abs(x[:, :, 2]).max(), 1e-12)
        self.assertLess(gaps[1], 3.5e-4)  # a ten thousandth of 3 m
        # 4.30 where eight elements turn by 45 degrees each, 4.02 and 4.00
        orders = np.log2(np.array(gaps[:-1]) / gaps[1:])
        self.assertTrue((np.abs(orders[1:] - 4) < 0.05).all() and abs(orders[0] - 4) < 0.4, orders)
        # strains of the paper, by hand: k (1 - 2 a k^2) = 2 pi / L with a = EI / EA; the elements' share is the gap above
        a, k = 1e-4, np.roots([-2 * 1e-4, 0, 1, -2 * np.pi / 3])
        k = k[np.argmin(np.abs(k - 2 * np.pi / 3))].real
        expected = np.sqrt(1 - 2 * a * k**2) / k * np.array([np.sin(3 * k), 1 - np.cos(3 * k), 0])
        self.assertLess(np.linalg.norm(nodes("second derivative")[1][-1, -1] - expected), 1.1 * gaps[3])
        self.assertEqual(summary["simulation"]["coordinates"], 97)
        self.assertEqual(summary["warnings"], [])


if __name__ == "__main__":
    unittest.main()
