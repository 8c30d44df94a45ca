"""[simulate] paraview: the motion on the meshes as one Exodus file, of bodies of every formulation and of a SLAP model."""

import csv
import math
import pathlib
import shutil
import subprocess
import unittest

from compare_test import SIZE, STUDY, BeamTest
from support import read_netcdf

PLAIN = STUDY.replace("nodes = true", "nodes = false\nparaview = true")
RIGID = """
[bodies.block]
mesh = "beam.inp"
formulation = "rigid"
position = [0, 1, 0]
[[joints]]
name = "guide"
kind = "prismatic"
between = ["ground", "block.LEFT"]
axis = [0, 0, 1]
"""


class MotionTest(BeamTest):
    def motion(self, out):
        return read_netcdf(self.folder / out / "motion.exo")

    def check_node(self, file, number, sensor, rows, every=1):
        """Points plus displacement are where the sensor is; the velocity is the sensor's, too."""
        i = file["node_num_map"].index(number)
        for frame, row in enumerate(rows[::every]):
            self.assertEqual(file["time_whole"][frame][0], float(row["t"]))
            for k, axis in enumerate("xyz"):
                position = file["coord" + axis][i] + file[f"vals_nod_var{k + 1}"][frame][i]
                # float32 of a displacement of a few mm
                self.assertAlmostEqual(position, float(row[f"{sensor}.{axis}"]), delta=1e-8)
                velocity = file[f"vals_nod_var{k + 4}"][frame][i]
                self.assertAlmostEqual(velocity, float(row[f"{sensor} speed.{axis}"]), delta=1e-6)

    def test_frames_are_where_the_sensors_are_in_every_formulation(self):
        for formulation in ("ffrf", "fncf", "gcms", "rigid"):
            with self.subTest(formulation):
                number = next(n for n, x in self.nodes.items() if x[0] == SIZE[0])
                text = PLAIN.replace('"ffrf"', f'"{formulation}"')
                text = text.replace('of = "beam.B"', f'of = "beam.node {number}"')
                self.write("s.toml", text)
                found = self.json_of("simulate", "s.toml", "--out", formulation)
                self.assertEqual(found["files"], ["sensors.csv", "result.h5", "motion.exo", "motion.view.h5"])
                self.assertEqual(found["paraview"]["frames"], 51)
                file = self.motion(formulation)
                self.assertEqual(file["name_nod_var"], [f"{f}_{a}" for f in ("displacement", "velocity") for a in "xyz"])
                self.assertEqual(file["eb_names"], ["beam"])
                self.check_node(file, number, "tip", self.rows(f"{formulation}/sensors.csv"))

    def test_a_table_chooses_bodies_fields_and_samples(self):
        more = PLAIN + RIGID
        self.write("both.toml", more)
        self.json_of("run", "both.toml", "--out", "both")
        both = self.motion("both")
        self.assertEqual(both["eb_names"], ["beam", "block"])
        # a body that falls from rest
        fallen = [both["vals_nod_var3"][-1][-1], both["vals_nod_var6"][-1][-1]]
        self.assert_close(fallen, [-9.81 * 0.05**2 / 2, -9.81 * 0.05], 1e-5)
        self.assertEqual(len(set(both["node_num_map"])), len(both["node_num_map"]))

        self.write("s.toml", more.replace("paraview = true", 'paraview = { every = 10, velocity = false, bodies = ["block"] }'))
        self.json_of("run", "s.toml", "--out", "one")
        one = self.motion("one")
        self.assertEqual(one["eb_names"], ["block"])
        self.assertEqual(one["name_nod_var"], ["displacement_x", "displacement_y", "displacement_z"])
        self.assert_close([t for t, in one["time_whole"]][1:], [0.01, 0.02, 0.03, 0.04, 0.05], 1e-12)
        self.assertEqual(one["vals_nod_var3"][-1], both["vals_nod_var3"][-1][-len(one["node_num_map"]):])

    def test_a_slap_model_is_shown_and_runs_without_its_meshes(self):
        add = '[train]\nmax_order = 6\n[[cases]]\nname = "slap"\nset = { "simulate.model" = "slap", "simulate.paraview" = true }\n'
        text = PLAIN.replace('"ffrf"', '"gcms"').replace('name = "hold"\nkind = "reaction"\nof = "hinge"', 'name = "w"\nkind = "energy"')
        self.write("s.toml", text.replace("paraview = true", "paraview = false") + add)
        self.json_of("run", "s.toml", "--out", "out")
        self.assertFalse((self.folder / "out/motion.exo").exists())
        file = self.motion("out/slap")
        self.assertEqual(len(file["time_whole"]), 51)
        self.json_of("simulate", "out/model.rom.h5", "--case", "slap", "--out", "again")
        again = self.motion("again")
        self.assertEqual(again["eb_names"], ["beam"])
        self.assert_close(again["vals_nod_var3"][-1], file["vals_nod_var3"][-1], 1e-4)
        (self.folder / "beam.inp").unlink()
        bare = self.json_of("simulate", "out/model.rom.h5", "--case", "slap", "--out", "bare")
        self.assertNotIn("paraview", bare)
        self.assertIn("nothing is written for ParaView", bare["warnings"][0]["message"])

    def test_stress_is_that_of_a_sensor(self):
        number = next(n for n, x in self.nodes.items() if x == (SIZE[0] / 2, 0, 0))
        sensor = f'[[sensors]]\nname = "middle"\nkind = "stress"\nof = "beam.node {number}"\n'
        for formulation in ("ffrf", "gcms"):
            text = (PLAIN + RIGID).replace('"ffrf"', f'"{formulation}"').replace("stress = false\n", "stress = true\n")
            self.write("s.toml", text.replace("paraview = true", "paraview = { stress = true, every = 2 }") + sensor)
            self.json_of("simulate", "s.toml", "--out", formulation)
            file, rows = self.motion(formulation), self.rows(f"{formulation}/sensors.csv")[::2]
            names = {name: f"vals_nod_var{k + 1}" for k, name in enumerate(file["name_nod_var"])}
            i = file["node_num_map"].index(number)
            largest = max(float(row["middle.von_mises"]) for row in rows)
            self.assertGreater(largest, 1e3)
            for frame, row in enumerate(rows):
                self.assertAlmostEqual(file[names["von_mises"]][frame][i], float(row["middle.von_mises"]), delta=1e-6 * largest)
                for component in ("xx", "yy", "zz", "xy", "yz", "zx"):
                    self.assertAlmostEqual(file[names["stress_" + component]][frame][i], float(row["middle." + component]),
                                           delta=1e-6 * largest)
            # the rigid one has none
            self.assertEqual(file[names["von_mises"]][-1][-1], 0)

    def test_wrong_keys_are_named(self):
        for old, new, *texts in (("paraview = true", "vtu = true", "simulate.vtu", "did you mean 'paraview'?"),
                                 ("paraview = true", "paraview = 3", "simulate.paraview"),
                                 ("paraview = true", "paraview = { every = 0 }", "simulate.paraview.every", "is 0"),
                                 ("paraview = true", "paraview = { evry = 2 }", "did you mean 'every'?"),
                                 ("paraview = true", 'paraview = { bodies = ["beem"] }', "no body 'beem' (did you mean 'beam'?)"),
                                 ("stress = false\n", "stress = false\nvtu = false\n", "reduce.vtu", "did you mean 'paraview'?")):
            self.write("s.toml", PLAIN.replace(old, new))
            self.assert_refused(["simulate", "s.toml", "--out", "out"], *texts)

    def test_a_mechanism_without_meshes_is_refused_before_it_runs(self):
        self.write("s.toml", PLAIN)
        self.json_of("reduce", "s.toml", "--out", "reduced")
        start, end = PLAIN.index("mesh = "), PLAIN.index("[[joints]]")
        self.write("t.toml", PLAIN[:start] + 'reduced = "reduced/beam.reduced.h5"\n' + PLAIN[end:])
        self.assert_refused(["simulate", "t.toml", "--out", "out"], "no body has a mesh to be shown")

    @unittest.skipUnless(shutil.which("pvpython"), "there is no pvpython: Debian's python3-paraview "
                         "conflicts with python3-vtk9, by which the other tests read the same files")
    def test_paraview_opens_the_motion(self):
        self.write("s.toml", PLAIN + RIGID)
        self.json_of("simulate", "s.toml", "--out", "out")
        script = self.write("look.py", """
from paraview.simple import OpenDataFile
reader = OpenDataFile("out/motion.exo")
reader.UpdatePipelineInformation()
times = list(reader.TimestepValues)
reader.UpdatePipeline(times[-1])
low = reader.GetDataInformation().GetBounds()[4]
print("found", len(times), times[-1], round(low, 6), sorted(reader.ElementBlocks.Available))
""")
        run = subprocess.run(["pvpython", script], cwd=self.folder, capture_output=True, text=True, timeout=120)
        # displacements are applied
        file = self.motion("out")
        shown = {i - 1 for name in ("connect1", "connect2") for i in file[name]}
        low = min(file["coordz"][i] + file["vals_nod_var3"][-1][i] for i in shown)
        self.assertLess(low, -0.01)
        self.assertIn(f"found 51 0.05 {round(low, 6)} ['beam', 'block']", run.stdout, run.stderr)


if __name__ == "__main__":
    unittest.main()
