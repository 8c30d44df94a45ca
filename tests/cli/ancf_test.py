"""Beams in absolute nodal coordinates, from the study file to the results."""

import csv
import math
import unittest

import h5py

from support import CliTest, read_netcdf

PENDULUM = """gravity = [0, -9.81, 0]

[bodies.upper]
formulation = "ancf"
from = [0, 0]
to = [0.5, 0]
elements = 6
section = { rectangle = [0.03, 0.03] }
young = 80e6
mass = 0.304

[bodies.lower]
formulation = "ancf"
from = [0.5, 0]
to = [1, 0]
elements = 8
section = { rectangle = [0.03, 0.03] }
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

[[sensors]]
name = "energy"
kind = "energy"

[simulate]
integrator = "hht-i3"
step = 1e-3
end = 0.2
nodes = true
paraview = { every = 100 }
"""

CANTILEVER = """[bodies.rod]
formulation = "ancf"
from = [0, 0]
to = [1, 0]
elements = 10
section = { circle = 0.02 }
young = 70e9
density = 2700

[[joints]]
name = "wall"
kind = "fixed"
between = ["ground", "rod.start"]

[[loads]]
name = "push"
kind = "force"
on = "rod.end"
force = [0, 0, 0]

[linearise]
about = "start"
"""


class AncfTest(CliTest):
    def sensors(self, folder):
        with open(self.folder / folder / "sensors.csv") as file:
            return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]

    def refused(self, text, *parts):
        self.write("bad.toml", text)
        self.assert_refused(["simulate", "bad.toml", "--out", "bad"], *parts)

    def test_inspect_says_what_is_shared(self):
        self.write("s.toml", PENDULUM)
        result = self.lissom("inspect", "s.toml")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("beam in the plane, 6 elements, 0.5 m long, 0.304 kg", result.out)
        self.assertIn("Beams share coordinates in place of the joints 'O', 'A'.", result.out)
        found = self.json_of("inspect", "s.toml")
        # 7 and 9 nodes of 4 coordinates, less two pins
        self.assertEqual(found["coordinates"], 60)
        self.assertEqual(found["constraints"], 0)
        self.assertEqual(found["bodies"]["upper+lower"]["parts"], ["upper", "lower"])
        self.assertEqual(found["bodies"]["lower"]["elements"], 8)
        self.assertEqual(found["shared_joints"], ["O", "A"])
        self.assertEqual(found["warnings"], [])

    def test_both_forms_of_a_pendulum_move_alike_and_keep_their_energy(self):
        self.write("s.toml", PENDULUM + "newton_tolerance = 1e-13\n")
        self.write("apart.toml", PENDULUM + "newton_tolerance = 1e-13\nshare = false\n")
        shared = self.json_of("simulate", "s.toml", "--out", "shared")
        apart = self.json_of("simulate", "apart.toml", "--out", "apart")
        self.assertEqual((apart["coordinates"], apart["constraints"]), (64, 4))
        self.assertEqual(apart["warnings"], [])
        self.assertEqual(shared["warnings"], [])
        for one, other in zip(self.sensors("shared"), self.sensors("apart")):
            # what Newton's iterations leave, summed up over 200 steps
            self.assertAlmostEqual(one["tip.y"], other["tip.y"], delta=1e-9)
        self.assertLess(self.sensors("shared")[-1]["tip.y"], -0.1)
        # alpha = -0.1 takes out a little of the fast axial vibrations
        self.assertLess(shared["energy_drift"], 2e-3)

    def test_nodes_and_paraview_have_every_beam(self):
        self.write("s.toml", PENDULUM)
        summary = self.json_of("simulate", "s.toml", "--out", "out")
        self.assertIn("motion.exo", summary["files"])
        with h5py.File(self.folder / "out" / "result.h5") as file:
            found = []
            file.visit(found.append)
            nodes = [name for name in found if name.endswith("lower")]
            self.assertTrue(nodes, found)
        motion = read_netcdf(self.folder / "out" / "motion.exo")
        self.assertEqual(motion["eb_names"], ["upper", "lower"])
        self.assertEqual(motion["connect1"][:4], (1, 2, 2, 3))
        # the second beam's nodes follow the 7 of the first
        self.assertEqual(motion["connect2"][:2], (8, 9))
        self.assertEqual(len(motion["connect2"]), 16)
        self.assertEqual(len(motion["time_whole"]), 3)
        # the tip has fallen as its sensor says; float32
        self.assertAlmostEqual(motion["vals_nod_var2"][-1][-1], self.sensors("out")[-1]["tip.y"], delta=1e-6)

    def test_a_cantilever_vibrates_as_theory_says(self):
        self.write("s.toml", CANTILEVER)
        found = self.json_of("linearise", "s.toml")
        modes = found["modes"]
        area, inertia = math.pi * 0.02**2 / 4, math.pi * 0.02**4 / 64
        base = math.sqrt(70e9 * inertia / (2700 * area)) / (2 * math.pi)
        frequencies = sorted(mode["frequency_hz"] for mode in modes)
        # (beta l)^2 of a clamped and free beam; cubic elements of a tenth: the error is (beta h)^4 / 1440
        self.assertAlmostEqual(frequencies[0] / (1.8751040687**2 * base), 1, delta=1e-5)
        self.assertAlmostEqual(frequencies[1] / (4.6940911330**2 * base), 1, delta=1e-4)

    def test_what_needs_full_matrices_says_how_large_they_would_be(self):
        self.write("s.toml", PENDULUM.replace("elements = 8", "elements = 800"))
        for verb in ("linearise", "static"):
            # 807 + 1 nodes of 4 coordinates, less two pins
            self.assert_refused([verb, "s.toml"], "has 3228 coordinates", "expected 2000 at most")

    def test_bad_input_names_line_and_key(self):
        def changed(old, new):
            self.assertIn(old, PENDULUM)
            return PENDULUM.replace(old, new, 1)
        self.refused(changed("to = [0.5, 0]", "to = [0, 0]"), "bad.toml:6: bodies.upper.to: is where 'from' is")
        self.refused(changed("elements = 6", "elements = 0"), "bad.toml:7: bodies.upper.elements: is 0")
        self.refused(changed("rectangle = [0.03, 0.03]", "tube = 3"), "bad.toml:8: bodies.upper.section")
        self.refused(changed("young = 80e6\n", ""), "bodies.upper.young: is missing")
        self.refused(changed("mass = 0.304\n", ""), "bodies.upper.density: is missing")
        self.refused(changed("to = [0.5, 0]", "to = [0.5, 0, 1]"), "bad.toml:6: bodies.upper.to: has z = 1")
        self.refused(changed("upper.end", "upper.ent"), "the beam 'upper' has no place 'ent'", "did you mean 'end'")
        self.refused(changed("upper.end", "upper.node 8"), "\"upper.node 1\" to \"upper.node 7\"")
        self.refused(changed("from = [0.5, 0]", "from = [0.5, 0.01]"), "joint 'A'", "0.01 m apart")
        self.refused(changed("mass = 0.304\n", "mass = 0.304\ndimension = 3\n"),
                     "joint 'A': 'upper' is a beam in space and 'lower' one in the plane")

    def test_a_torque_along_a_cable_that_knows_no_twist_is_refused(self):
        text = CANTILEVER.replace("elements = 10", "elements = 10\ndimension = 3").replace('kind = "force"', 'kind = "torque"')
        text = text.split("[linearise]")[0] + '[simulate]\nstep = 0.01\nend = 0.02\n'
        along = text.replace("force = [0, 0, 0]", "torque = [1, 0, 0.1]\nfollowing = true")
        self.refused(along, "load 'push'", "follows a spatial beam and has a part along it")
        self.write("s.toml", along.replace("[1, 0, 0.1]", "[0, 1, 0.1]"))
        self.assertEqual(self.lissom("simulate", "s.toml", "--out", "across").code, 0)


if __name__ == "__main__":
    unittest.main()
