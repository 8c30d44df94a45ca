"""Reduced mechanisms under SciPy's integrators."""

import unittest

import numpy as np
from scipy.integrate import solve_ivp

import lissom
from support import SOURCE, FolderTest


class FourBar(FolderTest):
    """examples/four-bar-slap: six coordinates of a mechanism of three flexible bodies."""

    @classmethod
    def setUpClass(cls):
        cls.study = lissom.Study(SOURCE / "examples" / "four-bar-slap" / "study.toml", set={"simulate.end": 0.05})
        cls.training = cls.study.train()
        cls.rom = cls.training.rom

    def test_the_model_has_what_it_was_trained_for(self):
        self.assertEqual(self.training.order, 6)
        self.assertEqual(self.rom.order, 6)
        self.assertEqual(self.rom.x0.shape, (12,))
        self.assertEqual(self.rom.mass_matrix.shape, (6, 6))
        np.testing.assert_allclose(self.rom.mass_matrix, self.rom.mass_matrix.T, atol=1e-12)
        self.assertGreater(np.linalg.eigvalsh(self.rom.mass_matrix).min(), 0)
        self.assertIn(0.01, [round(t, 12) for t in self.rom.break_times])  # the end of the ramp

    def test_the_jacobian_is_that_of_differences(self):
        rom = self.rom
        run = rom.simulate()
        x = np.concatenate([run.q[-1], run.v[-1]])
        J = rom.jac(0.05, x)
        numeric = np.empty_like(J)
        for i in range(12):
            h = 1e-6 * max(abs(x[i]), 1e-3)
            ahead, behind = x.copy(), x.copy()
            ahead[i] += h
            behind[i] -= h
            numeric[:, i] = (rom.rhs(0.05, ahead) - rom.rhs(0.05, behind)) / (2 * h)
        # of a row: differences lose about a millionth of its largest entry
        scale = np.abs(J).max(axis=1, keepdims=True)
        np.testing.assert_allclose(numeric / scale, J / scale, atol=1e-5)

    def test_a_study_that_has_nothing_to_run_is_refused(self):
        with self.assertRaisesRegex(lissom.InputError, "has no joints, loads, sensors or .simulate."):
            self.rom.with_study({"rom": self.rom.file})

    def test_states_may_come_in_columns(self):
        rom = self.rom
        x = rom.x0[:, None] + 1e-6 * np.arange(3)
        f = rom.rhs(0.0, x)
        self.assertEqual(f.shape, (12, 3))
        for k in range(3):
            np.testing.assert_array_equal(f[:, k], rom.rhs(0.0, x[:, k]))
            np.testing.assert_array_equal(f[:, k], rom.rhs(0.0, np.asfortranarray(x)[:, k]))
        np.testing.assert_array_equal(rom.rhs(0.0, list(rom.x0)), rom.rhs(0.0, rom.x0))

    def test_solve_ivp_agrees_with_our_integrators(self):
        """SciPy's Radau comes as near to a fine run of generalized-alpha as its tolerance says, down to the error of that run."""
        rom = self.rom
        coarse, fine = (rom.simulate(set={"simulate.step": step}) for step in (2e-5, 1e-5))
        reference = fine.sensors["top"]
        floor = np.abs(reference - coarse.sensors["top"]).max()  # 3e-10 m: ringing of modes of nanometres
        motion = np.abs(reference - reference[0]).max()
        size = np.abs(np.concatenate([fine.q, fine.v], axis=1)).max(axis=0)
        size = np.r_[np.full(6, size[:6].max()), np.full(6, size[6:].max())]
        ends = [0.0] + [t for t in rom.break_times if 0 < t < 0.05] + [0.05]  # from one kink of the load to the next
        errors = []
        for rtol in (1e-3, 1e-5, 1e-7):
            x, parts = rom.x0, []
            for begin, end in zip(ends, ends[1:]):
                times = fine.time[(fine.time >= begin - 1e-12) & (fine.time <= end + 1e-12)].clip(begin, end)
                solution = solve_ivp(rom.rhs, (begin, end), x, jac=rom.jac, method="Radau", rtol=rtol, atol=rtol * size,
                                     t_eval=times)
                self.assertTrue(solution.success, solution.message)
                x = solution.y[:, -1]
                parts.append(rom.sensors(solution.t, solution.y)["top"][0 if begin == 0 else 1:])
            errors.append(np.abs(np.concatenate(parts) - reference).max())
            # the tolerance is that of a step; a few steps of each oscillation add up
            self.assertLess(errors[-1], 10 * rtol * motion + 2 * floor)
        self.assertLess(errors[1], errors[0] / 10)
        self.assertLess(errors[2], errors[1] / 10)
        print(f"errors of solve_ivp [m]: {errors}, ours {floor:.1e}, motion {motion:.2e}")

    def test_sensors_and_nodes_are_those_of_a_run(self):
        rom = self.rom
        run = rom.simulate()
        x = np.concatenate([run.q, run.v], axis=1).T
        sensors = rom.sensors(run.time, x)
        np.testing.assert_allclose(sensors["top"], run.sensors["top"], rtol=1e-14, atol=1e-15)
        for part, positions in rom.nodes(x[:, -1]).items():
            np.testing.assert_array_equal(positions, run.nodes(part)[-1])
        self.assertEqual(set(rom.nodes(rom.x0)), {"left", "coupler", "right"})
        self.assertEqual(rom.sensors(0.0, rom.x0)["top"].shape, (1, 3))

    def test_the_distance_from_the_training_grows_outside(self):
        rom = self.rom
        self.assertLess(rom.distance_from_training(rom.x0), 1)
        far = rom.x0 + np.r_[np.ones(6), np.zeros(6)]
        self.assertGreater(rom.distance_from_training(far), 3)
        self.assertEqual(rom.distance_from_training(np.stack([rom.x0, far], axis=1)).shape, (2,))

    def test_the_linearisation_is_the_jacobian(self):
        rom = self.rom
        model = rom.linearise(at=0.0)
        np.testing.assert_allclose(model.A, rom.jac(0.0, rom.x0), rtol=1e-9, atol=1e-6 * np.abs(model.A).max())

    def test_another_study_changes_the_load(self):
        rom = self.rom
        text = self.study.text.replace("force = [0, 5, 0]", "force = [0, 2.5, 0]")
        self.assertNotEqual(text, self.study.text)
        (self.folder / "other.toml").write_text(text)
        half = rom.with_study("other.toml")
        t = 0.02
        free = rom.rhs(0.0, rom.x0)  # the ramp begins at zero
        np.testing.assert_allclose(half.rhs(t, rom.x0) - free, (rom.rhs(t, rom.x0) - free) / 2, rtol=1e-6, atol=1e-8)

    def test_the_program_runs_the_model_that_python_trained(self):
        self.training.save("model.rom.h5")
        program = self.program("simulate", "model.rom.h5", "--out", "program", "--quiet", "--no-view")
        self.assertEqual(program.returncode, 0, program.stderr)
        np.testing.assert_array_equal(lissom.read_result("program").q, self.rom.simulate().q)
        self.assertEqual(lissom.simulate("model.rom.h5").q.shape[1], 6)


class Parametric(FolderTest):
    """A parametric (POD) model: an ODE for every value of its parameters."""

    BEAM = {
        "gravity": [0, -9.81, 0],
        "bodies": {"beam": {"formulation": "ancf", "from": [0, 0], "to": [1, 0], "elements": 4,
                            "section": {"rectangle": [0.01, 0.01]}, "young": 2e9, "density": 1000}},
        "joints": [{"name": "clamp", "kind": "fixed", "between": ["ground", "beam.start"]}],
        "sensors": [{"name": "tip", "kind": "position", "of": "beam.end"}],
        "simulate": {"end": 0.1, "step": 1e-3},
        "train": {"method": "pod", "order": 4, "parameters": {"E": {"key": "bodies.beam.young", "values": [1e9, 3e9]}}},
    }

    def test_parameters_are_set_by_name(self):
        training = lissom.Study(self.BEAM).train()
        training.save("model.rom.h5")
        soft, stiff = (lissom.Rom("model.rom.h5", set={"E": E}) for E in (1e9, 3e9))
        tips = [rom.simulate().sensors["tip.y"][-1] for rom in (soft, stiff)]
        self.assertNotEqual(*tips)
        solution = solve_ivp(soft.rhs, (0, 0.1), soft.x0, jac=soft.jac, method="Radau", rtol=1e-8, atol=1e-10)
        tip = soft.sensors(solution.t[-1], solution.y[:, -1])["tip.y"][0]
        # our run with a step of 1 ms is the less accurate one
        self.assertLess(abs(tip - tips[0]), 2e-3 * abs(tips[0]))


if __name__ == "__main__":
    unittest.main()
