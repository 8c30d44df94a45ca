"""lissom simulate, inspect and run with a ROM file, which is written here from its reference page alone."""

import csv
import math
import unittest

import h5py
import numpy as np

from support import CliTest, brick, inp_deck


MASS, STIFFNESS = 3.0, 48.0  # of the block, and of its stretch along y
OMEGA = math.sqrt(STIFFNESS / (MASS / 4))

STUDY = """
title = "Cubes"
[bodies.block]
mesh = "gone.msh"
[bodies.slider]
mesh = "gone.msh"
[[joints]]
name = "weld"
kind = "fixed"
between = ["block.face", "slider.face"]
[[loads]]
name = "push"
kind = "force"
on = "slider.face"
force = [9, 0, 0]
[[loads]]
name = "pull"
kind = "force"
on = "block.node 8"
force = [0, 6, 0]
[[sensors]]
name = "corner"
kind = "position"
of = "block.node 8"
[train]
order = 2
[simulate]
end = 0.5
step = 1e-3
rho_inf = 1
nodes = true
[[cases]]
name = "back"
set = { "loads.push.force" = [-9, 0, 0] }
[[cases]]
name = "long"
set = { "simulate.end" = 2, "train.order" = 1 }
"""


def write_rom(path, study=STUDY, case="", nodes=True):
    """Two cubes of eight nodes that move together along x (eta_1); the lower one stretches along y (eta_2)."""
    m = 2
    corners = np.array([[(i & 1) - 0.5, (i >> 1 & 1) - 0.5, (i >> 2 & 1) - 0.5] for i in range(8)])
    M, centre, angular = np.zeros((m, m)), np.zeros((3, m + 1)), np.zeros((3, (m + 1)**2))
    with h5py.File(path, "w") as f:
        for name, value in {"format": "lissom-rom", "lissom_version": "0", "units": "SI", "title": "Cubes",
                            "case": case, "study_path": "/far/away/cubes.toml"}.items():
            f.attrs[name] = np.bytes_(value or "\0")
        f.attrs["schema_version"], f.attrs["order"], f.attrs["parts"] = 1, m, 2
        f.attrs["mass_damping"], f.attrs["radius"] = 0.0, 2.0
        f["study"] = np.array([study.encode() or b"\0"])
        frames = []
        for p, name in enumerate(["block", "slider"]):
            phi = np.zeros((8, 3, m + 1))
            phi[:, :, 0] = corners + [0, 0, p]
            phi[:, 0, 1] = 1
            if p == 0:
                phi[:, 1, 2] = corners[:, 1]
            mass = MASS * (1 + p)
            M += mass / 8 * np.einsum("idq,idp->qp", phi[:, :, 1:], phi[:, :, 1:])
            centre += mass / 8 * phi.sum(axis=0)
            for q in range(m + 1):
                for r in range(m + 1):
                    angular[:, q * (m + 1) + r] += mass / 8 * np.cross(phi[:, :, q], phi[:, :, r]).sum(axis=0)
            part = f.create_group(f"parts/{p}")
            part.attrs["name"], part.attrs["mass"] = np.bytes_(name), mass
            S0 = corners.T @ corners
            part["S0"] = S0
            # vec is column by column
            part["A"] = np.stack([(phi[:, :, q].T @ corners @ np.linalg.inv(S0)).T.ravel() for q in range(m + 1)],
                                 axis=1)
            C = np.zeros((1 - p, 9 * (m + 2)))
            if p == 0:
                C[0, 4] = math.sqrt(STIFFNESS)
            part["C"] = C
            if nodes:
                part["node_ids"] = np.arange(1, 9)
                part["points"] = corners
                part["fields"] = np.eye(8)
                part["coefficients"] = phi.reshape(24, m + 1)
            top = corners[4:]
            moment = np.einsum("idq,ik->kdq", phi[4:], top - top.mean(axis=0)) / 4
            frames.append(("face", p, 1, phi[4:].mean(axis=0), moment.reshape(9, m + 1)))
            frames.append(("node 8", p, 0, phi[7], np.zeros((9, m + 1))))
        f["model/M"], f["model/centre"], f["model/angular"] = M, centre, angular
        f["model/start"] = f["model/start_rate"] = np.zeros(m)
        f["model/scale"] = np.ones(m)
        f["frames/names"] = np.array([frame[0].encode() for frame in frames])
        f["frames/parts"] = np.array([frame[1] for frame in frames], dtype="i4")
        f["frames/rotates"] = np.array([frame[2] for frame in frames], dtype="i4")
        f["frames/position"] = np.stack([frame[3] for frame in frames])
        f["frames/moment"] = np.stack([frame[4] for frame in frames])
        f["frames/arms"] = np.zeros((4, 3))
        f["frames/axes"] = np.tile(np.eye(3), (4, 1, 1))
        training = f.create_group("training")
        training.attrs["reach"] = 0.1
        samples = np.zeros((m, 11))
        samples[0] = np.linspace(0, 1, 11)
        training["samples"], training["spread"] = samples, np.ones(m)
        training["why"] = np.array([b"two modes are all there is"])
        training["singular_values"] = np.array([1.0, 0.1, 1e-9])
        training["joint_violation"] = np.zeros(3)
        training["frequencies"] = np.array([0, OMEGA / (2 * math.pi)])


class RomTest(CliTest):
    def setUp(self):
        super().setUp()
        write_rom(self.folder / "cubes.rom.h5")

    def sensors(self, folder):
        with open(self.folder / folder / "sensors.csv", newline="") as f:
            rows = list(csv.reader(f))
        return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}

    def assert_moved(self, folder, sign=1):
        found = self.sensors(folder)
        for t, x, y in zip(found["t"], found["corner.x"], found["corner.y"]):
            self.assertAlmostEqual(x, 0.5 + sign * t * t / 2, delta=1e-9)
            # phase error of the method: (omega h)^2 / 12 of omega t = 4, times 1/32 m
            self.assertAlmostEqual(y, 0.5 + 1 / 32 * (1 - math.cos(OMEGA * t)), delta=1e-6)

    def test_a_model_runs_under_the_study_in_it_whose_meshes_are_gone(self):
        found = self.json_of("simulate", "cubes.rom.h5")
        self.assertEqual(found["out"], "cubes.out")
        self.assertEqual(found["study"], "/far/away/cubes.toml")
        self.assertEqual((found["coordinates"], found["constraints"]), (2, 0))
        self.assertEqual(found["warnings"], [])
        # at 0.5 s it is at 1/8 m, a quarter of the way to the next state: y may be 1/16 / 0.1 away
        self.assertLess(found["trust"]["largest"], 2)
        self.assertIsNone(found["trust"]["outside_since"])
        self.assert_moved("cubes.out")
        with h5py.File(self.folder / "cubes.out" / "result.h5") as f:
            self.assertEqual(sorted(f["nodes"]), ["block", "slider"])
            self.assertEqual(f["nodes/slider/positions"].shape, (501, 8, 3))
            self.assertEqual(f["trust"].shape, (501,))
            self.assertAlmostEqual(f["nodes/block/positions"][-1, 7, 0], 0.5 + 1 / 8, delta=1e-9)

    def test_cases_of_the_study_in_it(self):
        found = self.json_of("simulate", "cubes.rom.h5", "--case", "back")
        self.assertEqual(found["case"], "back")
        self.assertEqual(found["out"], "cubes.out/back")
        self.assert_moved("cubes.out/back", -1)
        # what was trained stays, and the training is left
        found = self.json_of("simulate", "cubes.rom.h5", "--case", "long")
        self.assertEqual([w["key"] for w in found["warnings"]], ["simulate.trained", "simulate.trust"])
        self.assertIn("train.order = 1", found["warnings"][0]["message"])
        self.assertGreater(found["trust"]["largest"], 9)
        self.assertAlmostEqual(found["trust"]["outside_since"], math.sqrt(2.6), delta=0.2)
        # a model of a case runs that case
        write_rom(self.folder / "back.rom.h5", case="back")
        self.assertEqual(self.json_of("simulate", "back.rom.h5")["case"], "back")
        self.assert_moved("back.out", -1)
        self.assertEqual(self.json_of("simulate", "back.rom.h5", "--case", "study")["case"], "")
        self.assert_moved("back.out/study")

    def test_another_study_on_the_same_model(self):
        self.write("other.toml", """
[[loads]]
name = "push"
kind = "force"
on = "block.nodes 1 2 3"
force = [-9, 0, 0]
[[sensors]]
name = "corner"
kind = "position"
of = "slider.face"
[simulate]
end = 0.1
step = 1e-3
rho_inf = 1
""")
        found = self.json_of("simulate", "cubes.rom.h5", "--study", "other.toml", "--out", "o")
        self.assertEqual((found["study"], found["rom"]), ("other.toml", "cubes.rom.h5"))
        self.assertAlmostEqual(self.sensors("o")["corner.x"][-1], -0.005, delta=1e-12)

    def test_a_study_with_rom_runs_with_its_cases(self):
        self.write("s.toml", """
rom = "cubes.rom.h5"
[[loads]]
name = "push"
kind = "force"
on = "slider.face"
force = [9, 0, 0]
[[sensors]]
name = "corner"
kind = "position"
of = "block.node 8"
[simulate]
end = 0.5
step = 1e-3
[[cases]]
name = "fine"
set = { "simulate.step" = 1e-4, "simulate.sample" = 1e-3 }
""")
        found = self.json_of("run", "s.toml", "--out", "out")
        self.assertEqual(found["simulation"]["bodies"][0]["formulation"], "slap")
        self.assertLess(found["comparison"]["cases"]["fine"]["sensors"]["corner.x"]["largest"], 1e-12)
        self.assertEqual(found["bodies"], {})
        self.assertTrue((self.folder / "out" / "fine" / "result.h5").exists())
        self.assertEqual(self.json_of("simulate", "s.toml")["steps"], 500)
        inspected = self.json_of("inspect", "s.toml")
        self.assertEqual(inspected["degrees_of_freedom"], 2)

    def test_inspect_shows_what_is_in_it(self):
        found = self.json_of("inspect", "cubes.rom.h5")
        self.assertEqual((found["order"], found["title"]), (2, "Cubes"))
        self.assertEqual(found["parts"]["slider"]["places"], ["face", "node 8"])
        self.assertEqual(found["training"]["upper"], [1, 0])
        text = self.lissom("inspect", "cubes.rom.h5").out
        for expected in ("two modes are all there is", "block", "face, node 8", "11 states kept"):
            self.assertIn(expected, text)
        self.assert_refused(["inspect", "cubes.rom.h5", "--units", "mm-t-s"], "--units goes with a mesh",
                            "is a reduced mechanism")
        self.assert_refused(["modes", "cubes.rom.h5"], "is a reduced mechanism")

    def test_wrong_input_leaves_nothing_behind(self):
        bad = {"no such node": (STUDY.replace("block.node 8", "block.node 99"), ["has no node 99", "1 to 8"]),
               "no such place": (STUDY.replace("slider.face", "slider.side"), ["the model has no such place",
                                                                               "places of 'slider' in the model: face"]),
               "no such body": (STUDY.replace("slider.face", "slidr.face"), ["has no body 'slidr'", "'slider'"]),
               "step": (STUDY.replace("step = 1e-3", 'step = 0.3\nintegrator = "central-differences"'),
                        ["above the limit of stability", "0.25 s", "8 rad/s"]),
               "no end": (STUDY.replace("end = 0.5", ""), ["cannot be used", "--study", "simulate.end: is missing"]),
               "no study": ("", ["has no study in it", "--study"])}
        for name, (study, texts) in bad.items():
            with self.subTest(name):
                write_rom(self.folder / "bad.rom.h5", study=study)
                self.assert_refused(["simulate", "bad.rom.h5", "--out", "out"], *texts)
        (self.folder / "bad.rom.h5").unlink()
        self.assert_refused(["simulate", "none.rom.h5"], "none.rom.h5: no such file")
        self.write("text.rom.h5", "x")
        self.assert_refused(["simulate", "text.rom.h5"], "is no study and no reduced mechanism")
        self.assert_refused(["simulate", "cubes.rom.h5", "--case", "bck"], "no case 'bck'", "did you mean 'back'")
        self.write("s.toml", "rom = \"text.rom.h5\"\n[simulate]\nend = 1\nstep = 1e-3\n")
        self.assert_refused(["simulate", "s.toml"], "text.rom.h5")
        self.assert_refused(["run", "s.toml", "--out", "out"], "text.rom.h5")
        self.assert_refused(["simulate", "s.toml", "--study", "s.toml"], "--study goes with a ROM file")
        data = (self.folder / "cubes.rom.h5").read_bytes()
        self.write("cut.rom.h5", data[:len(data) // 2])
        self.assert_refused(["simulate", "cut.rom.h5"], "cut.rom.h5")
        self.assert_refused(["inspect", "cut.rom.h5"], "cut.rom.h5")

    def test_training_needs_its_table_and_an_order_in_range(self):
        self.write("arm.inp", inp_deck(*brick((1, 1, 2), (0.02, 0.02, 0.1), "C3D8")))
        self.write("s.toml", """
[bodies.arm]
mesh = "arm.inp"
reduce = { interfaces = ["node 1"] }
[[joints]]
name = "hinge"
kind = "spherical"
between = ["ground", "arm.node 1"]
[simulate]
end = 1
step = 1e-3
""")
        self.assert_refused(["train", "s.toml"], "there is no table [train]")
        self.assert_refused(["train", "cubes.rom.h5"], "is no study")
        with open(self.folder / "s.toml", "a") as f:
            f.write("[train]\nmax_order = 6\n")
        self.assert_refused(["train", "s.toml", "--order", "7"], "--order: is 7, expected 1 to 6")
        self.assert_refused(["train", "s.toml", "--order", "0"], "--order: is 0, expected a whole number from 1 on")
        with open(self.folder / "s.toml", "a") as f:
            f.write("order = 9\n")
        self.assert_refused(["train", "s.toml"], "s.toml:14: train.order: is 9, expected 1 to 6")


if __name__ == "__main__":
    unittest.main()
