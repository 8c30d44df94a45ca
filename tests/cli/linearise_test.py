"""A trained mechanism handed over: linearised for control, checked against the full model, shown on its mesh."""

import unittest

import numpy as np
import scipy.io

from slap_bad_input_test import STUDY
from support import CliTest, brick, inp_deck, read_netcdf

MORE = """
[[sensors]]
name = "tip acceleration"
kind = "acceleration"
of = "arm.node 50"
[[sensors]]
name = "tip velocity"
kind = "velocity"
of = "arm.node 50"
"""


class HandedOver(CliTest):
    def setUp(self):
        super().setUp()
        self.write("arm.inp", inp_deck(*brick((2, 2, 5), (0.02, 0.02, 0.2), "C3D8")))
        text = STUDY.replace("[simulate]", MORE + "[simulate]")
        self.study = text.replace("max_order = 8", "max_order = 6\norder = 5\nreconstruct = false")
        self.write("study.toml", self.study)

    def test_a_model_is_linearised_about_any_state_of_its_run(self):
        self.json_of("train", "study.toml", "--out", "out")
        frequencies = self.json_of("inspect", "out/model.rom.h5")["frequencies_hz"]
        for at in (0, 0.05):
            model = self.json_of("linearise", "out/model.rom.h5", "--at", at, "--out", "model.mat")
            A, B, C, D = (np.array(model[name], float) for name in "ABCD")
            self.assertEqual((A.shape, B.shape), ((10, 10), (10, 1)))
            self.assertEqual(model["inputs"], ["push"])
            rows = {name: i for i, name in enumerate(model["outputs"])}
            position = C[[rows[f"tip.{x}"] for x in "xyz"]]
            velocity = C[[rows[f"tip velocity.{x}"] for x in "xyz"]]
            acceleration = [rows[f"tip acceleration.{x}"] for x in "xyz"]
            # y' of the positions are the velocities, y'' the accelerations: C A and C A A, with the input C A B. Sensors are
            # differentiated numerically, to some 1e-8 of the largest entry
            for found, expected in ((velocity, position @ A), (C[acceleration], position @ A @ A), (D[acceleration], position @ A @ B)):
                self.assertLess(np.abs(found - expected).max(), 1e-6 * np.abs(expected).max(), at)
            self.assertEqual(np.abs(position @ B).max(), 0)
            # a force does what it does to a mass: never backwards
            self.assertGreater(D[acceleration[1], 0], 0)
            if at == 0:
                found = np.sort([abs(complex(*e)) / (2 * np.pi) for e in model["eigenvalues"]])[::2]
                self.assert_close(found[1:], frequencies[1:], 1e-8)
            saved = scipy.io.loadmat(self.folder / "model.mat", simplify_cells=True)
            for name, matrix in zip("ABCD", (A, B, C, D)):
                np.testing.assert_array_equal(np.reshape(saved[name], matrix.shape), matrix)

    def test_what_cannot_be_linearised_is_said(self):
        self.assert_refused(["linearise", "arm.inp"], "is no study and no reduced mechanism")
        self.json_of("train", "study.toml", "--out", "out")
        self.assert_refused(["linearise", "out/model.rom.h5", "--at", -1], "--at: is -1, expected a number that is not negative")

    def test_states_are_checked_against_the_full_model_and_shown_on_the_mesh(self):
        self.write("study.toml", self.study + """
[[cases]]
name = "few"
set = { "simulate.model" = "slap", "train.order" = 2, "simulate.check_at" = [0.02, 0.1] }
[[cases]]
name = "many"
set = { "simulate.model" = "slap", "simulate.check_at" = [0.02, 0.1], "simulate.paraview" = true }
""")
        summary = self.json_of("run", "study.toml", "--out", "out")
        few, many = (summary["cases"][name]["simulation"]["checks"] for name in ("few", "many"))
        self.assertEqual([check["t"] for check in many], [0.02, 0.1])
        for a, b in zip(few, many):
            # three more modes take most of what is missing away
            self.assertLess(b["missing"], 0.1 * a["missing"])
            self.assertLess(b["residual"], a["residual"])
        times = read_netcdf(self.folder / "out/many/motion.exo")["time_whole"]
        self.assertEqual(len(times), 51)


if __name__ == "__main__":
    unittest.main()
