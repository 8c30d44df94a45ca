"""lissom compare: formulations, reductions and other programs' tables side by side, and what cannot be compared."""

import csv
import json
import math
import os
import shutil
import subprocess
import time
import unittest

import h5py

from support import LISSOM, SOURCE, CliTest, brick, inp_deck, nodes_at

SIZE = (0.4, 0.02, 0.02)
STUDY = """
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
name = "tip speed"
kind = "velocity"
of = "beam.B"
[[sensors]]
name = "hold"
kind = "reaction"
of = "hinge"
[simulate]
end = 0.05
step = 1e-4
sample = 1e-3
rho_inf = 1
nodes = true
"""


class BeamTest(CliTest):
    def setUp(self):
        super().setUp()
        self.mesh("beam.inp", 8)

    def mesh(self, name, cells):
        nodes, elements = brick((cells, 1, 1), SIZE, "C3D8")
        sets = {"LEFT": nodes_at(nodes, 0, 0.0), "RIGHT": nodes_at(nodes, 0, SIZE[0])}
        self.nodes = nodes
        self.write(name, inp_deck(nodes, elements, material=dict(E=1e9, nu=0.3, rho=1000.0), sets=sets))

    def simulate(self, out, *changes, verb="simulate", add=""):
        text = STUDY
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write(f"{out}.toml", text + add)
        return self.json_of(verb, f"{out}.toml", "--out", out)

    def rows(self, path):
        with open(self.folder / path, newline="") as file:
            return list(csv.DictReader(file))


class Results(BeamTest):
    def test_formulations_are_compared_in_sensors_energies_and_nodes(self):
        self.simulate("ffrf")
        self.simulate("fncf", ('"ffrf"', '"fncf"'))
        self.simulate("rigid", ('"ffrf"', '"rigid"'))
        same = self.json_of("compare", "ffrf", "fncf/result.h5", "--out", "d/e")
        self.assertEqual(same["times"]["count"], 51)
        self.assertFalse(same["times"]["interpolated"])
        # the same equations in other coordinates
        for name in ("tip.x", "tip.z"):
            self.assertLess(same["sensors"][name]["largest"], 1e-7 * SIZE[0])
            self.assertEqual(same["sensors"][name]["unit"], "m")
        self.assertLess(same["nodes"]["beam"]["largest"], 1e-7 * SIZE[0])
        self.assertLess(same["energies"]["energy total"]["relative"], 1e-5)
        # the table again, from the CSV files
        rigid = self.json_of("compare", "ffrf", "rigid", "--out", "r")
        ours, theirs = self.rows("ffrf/sensors.csv"), self.rows("rigid/sensors.csv")
        differences = [float(b["tip.z"]) - float(a["tip.z"]) for a, b in zip(ours, theirs)]
        largest = max(map(abs, differences))
        # printed with all digits
        self.assert_close([rigid["sensors"]["tip.z"]["largest"]], [largest], 1e-12)
        rms = math.sqrt(sum(d * d for d in differences) / len(differences))
        self.assert_close([rigid["sensors"]["tip.z"]["rms"]], [rms], 1e-12)
        written = self.rows("r/differences.csv")
        self.assert_close([float(row["tip.z"]) for row in written][1:], differences[1:], 1e-9)
        self.assertEqual(json.loads((self.folder / "r/comparison.json").read_text())["sensors"], rigid["sensors"])
        # the largest over time is that of the table, and epsilon the sum of the squares
        self.assert_close([max(float(row["beam max"]) for row in written)], [rigid["nodes"]["beam"]["largest"]], 1e-12)
        epsilon = sum(float(row["beam rms"])**2 for row in written) * rigid["nodes"]["beam"]["nodes"]
        self.assert_close([epsilon], [rigid["nodes"]["beam"]["epsilon"]], 1e-9)
        text = self.lissom("compare", "ffrf", "rigid").out
        self.assertIn("51 times that both have", text)

    def test_stress_is_compared_at_instants_and_at_its_largest(self):
        stress = "[simulate.stress]\nat = [0.02, 0.04]\n"
        self.simulate("ffrf", ("stress = false\n", ""), add=stress)
        self.simulate("fncf", ("stress = false\n", ""), ('"ffrf"', '"fncf"'), add=stress)
        self.simulate("soft", ("stress = false\n", ""), ("-9.81", "-4.905"), add=stress)
        same = self.json_of("compare", "ffrf", "fncf")["stress"]
        self.assertEqual([entry["t"] for entry in same], [None, 0.02, 0.04])
        for entry in same:
            self.assertGreater(entry["of_a"], 1e3)
            # the same equations in other coordinates
            self.assertLess(entry["relative"], 1e-4)
        # half the weight: about half the stress, at every node and at the largest
        half = self.json_of("compare", "ffrf", "soft")["stress"]
        self.assert_close([half[0]["of_b"] / half[0]["of_a"]], [0.5], 0.05)
        self.assertGreater(half[0]["largest"], 0.4 * half[0]["of_a"])
        self.assertIn("largest over time", self.lissom("compare", "ffrf", "soft").out)
        self.assertEqual(self.json_of("compare", "ffrf", "soft", "--no-nodes")["stress"], [])

    def test_a_reduction_with_other_sample_times_is_interpolated(self):
        self.simulate("a")
        self.simulate("b", ("sample = 1e-3", "sample = 7e-4"))
        found = self.json_of("compare", "a", "b")
        self.assertTrue(found["times"]["interpolated"])
        # a velocity sensor measures the rate of the position
        self.assertEqual(found["sensors"]["tip.z"]["interpolation"], "hermite")
        self.assertEqual(found["sensors"]["tip speed.z"]["interpolation"], "spline")
        # the same motion, whose fastest part in range is below 1500 rad/s and 1e-4 m: (omega h)^4 / 384
        self.assertLess(found["sensors"]["tip.z"]["largest"], 1e-6 * SIZE[0])
        self.assertLess(found["nodes"]["beam"]["largest"], 1e-5 * SIZE[0])
        # fewer modes
        self.simulate("c", ("modes = 4", "modes = 1"))
        fewer = self.json_of("compare", "a", "c")
        self.assertGreater(fewer["sensors"]["tip.z"]["largest"], 0)

    def test_a_slap_model_is_compared_with_what_it_was_trained_on(self):
        add = '[train]\nmax_order = 6\n[[cases]]\nname = "slap"\nset = { "simulate.model" = "slap" }\n'
        self.simulate("out", ('"ffrf"', '"gcms"'), ('name = "hold"\nkind = "reaction"\nof = "hinge"', 'name = "w"\nkind = "energy"'),
                      verb="run", add=add)
        found = self.json_of("compare", "out", "out/slap")
        summary = json.loads((self.folder / "out/summary.json").read_text())
        expected = summary["comparison"]["cases"]["slap"]["sensors"]["tip.z"]
        self.assert_close([found["sensors"]["tip.z"]["largest"]], [expected["largest"]], 1e-6)
        self.assertIn("beam", found["nodes"])

    def test_figures_are_drawn(self):
        self.simulate("a")
        self.simulate("b", ('"ffrf"', '"rigid"'))
        self.json_of("compare", "a", "b", "--out", "d")
        run = subprocess.run([SOURCE / "scripts/plot-comparison", "d"], cwd=self.folder, capture_output=True, text=True,
                             env={**os.environ, "MPLCONFIGDIR": str(self.folder)})
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("sensors.png", "energies.png", "nodes.png"):
            self.assertEqual((self.folder / "d" / name).read_bytes()[:4], b"\x89PNG")


class Tables(BeamTest):
    def setUp(self):
        super().setUp()
        self.simulate("a")
        self.own = self.rows("a/sensors.csv")

    def other(self, name, separator=",", factor=1.0, times=1.0, rows=None, column="disp_z"):
        lines = [separator.join(["Time", column])]
        for row in rows or self.own:
            lines.append(separator.join(repr(x) for x in (times * float(row["t"]), factor * float(row["tip.z"]))))
        self.write(name, "\n".join(lines) + "\n")

    def test_another_programs_table_in_other_units_is_mapped_by_name(self):
        # mm and ms
        self.other("other.csv", ";", 1e3, 1e3)
        found = self.json_of("compare", "a", "other.csv", "--units-b", "mm-kg-ms", "--map", "tip.z=disp_z")
        # printed with all digits
        self.assertLess(found["sensors"]["tip.z"]["largest"], 1e-15)
        self.assertEqual(found["times"]["count"], 51)
        self.assertEqual(found["only_b"], [])
        # the other way round
        back = self.json_of("compare", "other.csv", "a", "--units-a", "mm-kg-ms", "--map", "disp_z = tip.z")
        self.assertLess(back["sensors"]["disp_z"]["largest"], 1e-15)
        self.assertEqual(back["sensors"]["disp_z"]["unit"], "m")
        # without units: those of the study, so that the two do not overlap as they should
        wrong = self.json_of("compare", "a", "other.csv", "--map", "tip.z=disp_z")
        self.assertGreater(wrong["sensors"]["tip.z"]["largest"], 1e-3)

    def test_own_tables_are_read_as_the_result(self):
        found = self.json_of("compare", "a/result.h5", "a/sensors.csv")
        self.assertEqual(len(found["sensors"]), 12)
        for name, sensor in found["sensors"].items():
            self.assertLessEqual(sensor["largest"], 1e-12 * max(1, sensor["scale"]), name)
        self.assertEqual(self.json_of("compare", "a/sensors.csv", "a/sensors.csv")["times"]["count"], 51)

    def test_tables_that_make_no_sense_are_refused(self):
        self.other("o.csv")
        self.assert_refused(["compare", "a", "o.csv"], "no sensor that both have", "tip.x, tip.y", "disp_z", "--map")
        self.assert_refused(["compare", "a", "o.csv", "--map", "tip.z=disp_q"], "has no column 'disp_q' (did you mean 'disp_z'?)")
        self.assert_refused(["compare", "a", "o.csv", "--map", "tip.z"], "is no pair of names")
        self.assert_refused(["compare", "a", "o.csv", "--units-b", "mm-t-z"], "--units-b", "mm-t-s")
        self.assert_refused(["compare", "a", "a", "--units-b", "mm-t-s"], "is in SI units")
        self.assert_refused(["compare", "o.csv", "a/sensors.csv", "--units-a", "mm-t-s"], "both tables")
        self.write("late.csv", "t,tip.z\n1,0\n2,0\n")
        self.assert_refused(["compare", "a", "late.csv"], "no time that both have", "from 0 to 0.05 s")
        self.write("back.csv", "t,tip.z\n1,0\n0.5,0\n")
        self.assert_refused(["compare", "a", "back.csv"], "sample 2 is at t = 0.5", "ascend")
        self.write("twice.csv", "t,x,x\n1,0,0\n")
        self.assert_refused(["compare", "a", "twice.csv"], "two columns named 'x'")


class WrongInput(BeamTest):
    def test_meshes_that_differ_are_named(self):
        self.simulate("a")
        self.mesh("finer.inp", 12)
        self.simulate("b", ("beam.inp", "finer.inp"))
        self.assert_refused(["compare", "a", "b"], "the meshes differ: body 'beam' has", "--no-nodes")
        self.assertEqual(self.json_of("compare", "a", "b", "--no-nodes")["nodes"], {})

    def test_files_that_are_no_results_are_refused(self):
        self.simulate("a")
        self.assert_refused(["compare", "a", "nowhere"], "nowhere: no such file or folder")
        self.write("empty/x", "")
        self.assert_refused(["compare", "a", "empty"], "neither result.h5 nor sensors.csv")
        self.assert_refused(["compare", "a", "beam.inp"], "beam.inp: is no result")
        self.write("text.h5", "this is no HDF5 file")
        self.assert_refused(["compare", "a", "text.h5"], "text.h5")

    def test_a_killed_run_is_compared_as_far_as_it_went(self):
        self.simulate("a", ("end = 0.05", "end = 2"))
        self.write("b.toml", STUDY.replace("end = 0.05", "end = 2"))
        process = subprocess.Popen([LISSOM, "simulate", "b.toml", "--out", "b", "-q", "--checkpoint", "0.05"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while not (self.folder / "b/checkpoint.lissom").exists() and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
        process.wait()
        result = self.lissom("compare", "a", "b", "--json")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue((self.folder / "b/checkpoint.lissom").exists(), "the run was complete before it was killed")
        self.assertIn("did not come to its end", result.err)
        self.assertLess(result.json["times"]["last"], 2)
        # the same program, the same numbers
        self.assertEqual(result.json["sensors"]["tip.x"]["largest"], 0)

    def test_newer_files_are_refused(self):
        self.simulate("a")
        shutil.copytree(self.folder / "a", self.folder / "newer")
        with h5py.File(self.folder / "newer/result.h5", "r+") as file:
            version = [key for key in file.attrs if "version" in key and key != "lissom_version"][0]
            file.attrs[version] = 99
        self.assert_refused(["compare", "a", "newer"], "newer")


if __name__ == "__main__":
    unittest.main()
