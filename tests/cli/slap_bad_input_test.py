"""Trainings that cannot be: a message that says what to do, exit code 2, and nothing left behind."""

import os
import unittest

import h5py
import numpy as np

from support import CliTest, brick, inp_deck

# a bar of 20 cm that hangs on two nodes of its lower end, pushed at the upper one
STUDY = """
title = "arm"
[bodies.arm]
mesh = "arm.inp"
mass = "lumped"
formulation = "gcms"
[bodies.arm.reduce]
interfaces = ["node 1", "node 9", "node 50"]
method = "fixed"
count = 3
residual_vectors = false
modes = 3
[[joints]]
name = "left pin"
kind = "spherical"
between = ["ground", "arm.node 1"]
[[joints]]
name = "right pin"
kind = "spherical"
between = ["ground", "arm.node 9"]
[[loads]]
name = "push"
kind = "force"
on = "arm.node 50"
force = [0, 5, 0]
factor = "ramp(t, 0, 0.01)"
[[sensors]]
name = "tip"
kind = "position"
of = "arm.node 50"
[simulate]
end = 0.1
step = 5e-4
sample = 2e-3
[train]
max_order = 8
"""
SPIDER = """
[[bodies.arm.spiders]]
name = "hub"
kind = "averaging"
nodes = [1, 9, 17, 14]
reference = [0.01, 0.01, -0.02]
"""


class BadTraining(CliTest):
    def setUp(self):
        super().setUp()
        self.write("arm.inp", inp_deck(*brick((2, 2, 5), (0.02, 0.02, 0.2), "C3D8")))

    def study(self, *changes, add=""):
        text = STUDY
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.write("s.toml", text + add)

    def assert_training_refused(self, *texts, code=2, command="train"):
        self.assert_refused([command, "s.toml", "--out", "out"], *texts, code=code)

    def test_motions_that_do_not_train(self):
        self.study(("force = [0, 5, 0]", "force = [0, 0, 0]"))
        self.assert_training_refused("s.toml:", "train: the training data do not move: all 51 samples are the same")
        self.study(("[train]", '[train]\nruns = ["nix"]'))
        self.assert_training_refused("train.runs: there is no case 'nix'")
        self.study(("max_order = 8", "max_order = 60\norder = 55"))
        self.assert_training_refused("train.order: is 55, but the training data have", "modes above round-off")
        self.study(('on = "arm.node 50"', 'on = "arm.node 999"'))
        self.assert_training_refused("has no node 999", "54")
        self.study(("[train]", '[train]\nplaces = ["arm.node 999"]'))
        self.assert_training_refused("'arm.node 999'", "no node 999")

    def test_two_samples_are_no_motion(self):
        self.study(("sample = 2e-3", "sample = 0.1"))
        found = self.json_of("train", "s.toml")
        self.assertEqual(found["rank"], 1)
        self.assertIn("train.poor", [w["key"] for w in found["warnings"]])
        self.assertNotIn("train.poor", [w["key"] for w in self.json_of("train", self.study())["warnings"]])

    def test_bodies_that_cannot_be_reduced_as_a_whole(self):
        self.study(('formulation = "gcms"', 'formulation = "rigid"'))
        self.assert_training_refused("bodies.arm", "this one is rigid", "give it a mesh or matrices")
        before, after = STUDY.index("[bodies.arm.reduce]"), STUDY.index("[[joints]]")
        self.study((STUDY[before:after], ""), ('formulation = "gcms"\n', ""))
        self.assert_training_refused("bodies.arm", "add [bodies.arm.reduce]")

    def test_slap_needs_a_training_or_a_file(self):
        self.study(("[train]\nmax_order = 8\n", ""), ("end = 0.1", 'end = 0.1\nmodel = "slap"'))
        for command in ("simulate", "run", "train"):
            self.assert_training_refused("simulate.model", "add [train]", 'rom = "FILE"', command=command)

    def test_the_limit_of_stability_is_named(self):
        self.study(add='[[cases]]\nname = "explicit"\nset = { "simulate.model" = "slap", '
                       '"simulate.integrator" = "central-differences" }\n')
        self.assert_refused(["simulate", "s.toml", "--case", "explicit", "--out", "out"], "step is 0.0005 s",
                            "above the limit of stability", "highest frequency", "take", "generalized-alpha")

    def test_joints_that_their_nodes_do_not_reach_are_held_by_the_data(self):
        # the pin lies 2 cm below the plane of the nodes that carry it
        first, last = STUDY.index("[[joints]]"), STUDY.index("[[loads]]")
        joint = '[[joints]]\nname = "pin"\nkind = "{}"\n{}between = ["ground", "arm.hub"]\n'
        for kind, axis in (("spherical", ""), ("revolute", "axis = [1, 0, 0]\n")):
            with self.subTest(kind):
                self.study(("[bodies.arm.reduce]", SPIDER + "[bodies.arm.reduce]"),
                           ('["node 1", "node 9", "node 50"]', '["hub", "node 50"]'),
                           (STUDY[first:last], joint.format(kind, axis)))
                found = self.json_of("train", "s.toml")
                warning = [w["message"] for w in found["warnings"] if w["key"] == "train.joints"]
                self.assertEqual(len(warning), 1)
                self.assertIn("'pin' (its point is outside of the plane or line of its nodes)", warning[0])
                self.assertEqual(found["space"]["kernel"], found["space"]["dimension"])

    def test_a_mechanism_that_starts_with_velocity(self):
        # turning about the pins; nothing pushes
        self.study(("force = [0, 5, 0]", "force = [0, 0, 0]"), ('mesh = "arm.inp"', 'mesh = "arm.inp"\nangular_velocity = [3, 0, 0]'),
                   ("step = 5e-4", "step = 5e-4\nnewton_tolerance = 1e-14"))
        found = self.json_of("train", "s.toml")
        order = found["orders"][found["order"] - 1]
        # 0.3 rad of 0.2 m are 6 cm; vibrations of the start, 1e-7 m, are what differs
        self.assertGreater(found["training"][0]["motion"], 0.05)
        self.assertLess(order["largest_error"], 1e-7)

    def test_trajectories_that_do_not_fit(self):
        self.study(("sample = 2e-3", "sample = 2e-3\nnodes = true"))
        self.json_of("simulate", "s.toml", "--out", "full")
        with h5py.File(self.folder / "full" / "result.h5") as f:
            x, ids, t = f["nodes/arm/positions"][()], f["nodes/arm/ids"][()], f["time"][()]
        (self.folder / "s.toml").unlink()

        def data(x, **more):
            np.savez(self.folder / "d.npz", arm=x, time=more.pop("time", t), **more)

        def training(add=""):
            self.study(add='[[train.trajectories]]\nfile = "d.npz"\n' + add)

        training()
        broken = x.copy()
        broken[7, 11, 1] = np.nan
        for wrong, time, texts in (
                (broken, t, ["sample 8", "node"]),
                (x[:1], t[:1], ["sample"]),
                (x[:, :50], t, ["50", "54"]),
                (x[:, ::-1], t, ["order"]),
                (x + [0, 0.01, 0], t, ["the reference (sample 1 of d.npz) violates the joint", "by 0.01 m"]),
                (x[[3] * 51], t, ["do not move"]),
                (x, t[::-1], ["time"])):
            with self.subTest(texts[0]):
                data(wrong, time=time)
                self.assert_training_refused("s.toml:", *texts)
        # the data as they are train; and so do displacements by node number in another order
        data(x)
        good = self.json_of("train", "s.toml", "--out", "out")
        order = np.array(sorted(range(len(ids)), key=lambda k: (7 * k) % len(ids)))
        data((x - x[0])[:, order], numbers=ids[order])
        training('displacements = true\nnodes = { arm = "numbers" }\n')
        again = self.json_of("train", "s.toml", "--out", "out")
        # subtracting and adding the start costs a digit of 1e-16 m times 51 x 162 numbers
        self.assert_close(again["singular_values"][:8], good["singular_values"][:8], 1e-14)

    def test_files_of_models(self):
        self.study()
        self.json_of("train", "s.toml", "--out", "out")
        rom = self.folder / "out" / "model.rom.h5"
        data = rom.read_bytes()
        self.write("cut.rom.h5", data[:-1000])
        self.assert_refused(["simulate", "cut.rom.h5"], "cut.rom.h5")
        self.write("damaged.rom.h5", data[:2000] + bytes(200) + data[2200:])
        self.assert_refused(["simulate", "damaged.rom.h5"], "damaged.rom.h5")
        self.write("newer.rom.h5", data)
        with h5py.File(self.folder / "newer.rom.h5", "a") as f:
            f.attrs["schema_version"] = 99
        self.assert_refused(["simulate", "newer.rom.h5"], "newer.rom.h5", "99")
        self.assert_refused(["run", "out/model.rom.h5"], "out/model.rom.h5")
        self.assert_refused(["train", "out/model.rom.h5"], "out/model.rom.h5", "is no study")

    def test_a_folder_that_cannot_be_written(self):
        self.study()
        self.give_up_root()
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        self.assert_refused(["train", "s.toml", "--out", "out"], "out: results cannot be written", "--out")


if __name__ == "__main__":
    unittest.main()
