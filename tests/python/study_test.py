"""Studies: the same results as the program's, bit by bit; dicts, settings, cases, analyses."""

import json
import os
import shutil
import unittest
import warnings

import h5py
import numpy as np

import lissom
from support import PENDULUM, SOURCE, FolderTest

# what a run takes and where it was, not what it computed
OF_THE_MOMENT = {"seconds", "output_seconds", "study", "out", "view", "files", "warnings", "peak_memory_bytes", "setup_seconds",
                 "cpu_seconds", "bytes"}


def without_moment(value):
    if isinstance(value, dict):
        return {k: without_moment(v) for k, v in value.items() if k not in OF_THE_MOMENT}
    if isinstance(value, list):
        return [without_moment(v) for v in value]
    return value


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


class SameAsTheProgram(FolderTest):
    def test_the_four_bar_is_the_same_bit_by_bit(self):
        study = SOURCE / "examples" / "four-bar" / "study.toml"
        program = self.program("simulate", study, "--out", "program", "--no-view", "--json", "--quiet")
        self.assertEqual(program.returncode, 0, program.stderr)
        run = lissom.Study(study).simulate(out="python")
        self.assertEqual((self.folder / "program" / "sensors.csv").read_bytes(),
                         (self.folder / "python" / "sensors.csv").read_bytes())
        ours, theirs = datasets("python/result.h5"), datasets("program/result.h5")
        self.assertEqual(ours.keys(), theirs.keys())
        compared = 0
        for name in ours:
            if name in ("run/checksums", "run/status") or "seconds" in name:  # how long it took is in them
                continue
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
            compared += 1
        self.assertGreater(compared, 10)
        self.assertEqual(without_moment(run.summary), without_moment(json.loads(program.stdout)))
        # in memory, from the file and without files: the same
        read = lissom.read_result("python")
        memory = lissom.Study(study).simulate()
        for other in (read, memory):
            for name in ("time", "q", "v", "a"):
                np.testing.assert_array_equal(getattr(other, name), getattr(run, name), err_msg=name)
            np.testing.assert_array_equal(other.sensors.array, run.sensors.array)
            for name, values in run.energy.items():
                np.testing.assert_array_equal(other.energy[name], values, err_msg=name)
        self.assertEqual(read.sensors.columns, run.sensors.columns)
        self.assertEqual(read.sensors.units, run.sensors.units)
        self.assertFalse(os.path.exists("study.out"))

    def test_a_whole_run_is_the_same(self):
        folder = self.folder / "four-bar"
        shutil.copytree(SOURCE / "examples" / "four-bar", folder)
        settings = {"simulate.end": 0.01}
        program = self.program("run", folder / "study.toml", "--out", "program", "--no-report", "--json", "--quiet",
                               "--set", "simulate.end=0.01")
        self.assertEqual(program.returncode, 0, program.stderr)
        result = lissom.run(folder / "study.toml", "python", set=settings, report=False)
        ours, theirs = without_moment(result.summary), without_moment(json.loads(program.stdout))
        self.assertEqual(ours.keys(), theirs.keys())
        for case in [""] + [one for one in os.listdir("program") if os.path.isdir(f"program/{one}")]:
            table = os.path.join(case, "sensors.csv")
            if os.path.exists(os.path.join("program", table)):
                self.assertEqual((self.folder / "python" / table).read_bytes(), (self.folder / "program" / table).read_bytes())
        self.assertEqual(result.read().time[-1], 0.01)


class Dicts(FolderTest):
    def test_a_dict_is_read_as_a_file_is(self):
        study = lissom.Study({**PENDULUM, "gravity": np.array([0, 0, -9.81])})
        self.assertEqual(study.title, "pendulum")
        self.assertEqual(study.bodies, ["arm"])
        (self.folder / "same.toml").write_text(study.text)
        np.testing.assert_array_equal(study.simulate().q, lissom.Study("same.toml").simulate().q)

    def test_settings_change_keys(self):
        study = lissom.Study(PENDULUM, set={"simulate.end": np.float64(0.1)})
        self.assertEqual(study.simulate().time[-1], 0.1)

    def test_the_pendulum_falls_as_it_must(self):
        run = lissom.Study(PENDULUM).simulate()
        energy = run.energy
        # from rest the kinetic energy is what gravity has given; the integrator's error is of order (step)^2
        np.testing.assert_allclose(energy["kinetic"], energy["gravity"][0] - energy["gravity"], atol=2e-5)
        z = run.sensors["tip.z"]
        self.assertLess(z[-1], -0.1)
        np.testing.assert_allclose(np.hypot(run.sensors["tip.x"], z), 1.0, rtol=1e-9)
        self.assertEqual(run.sensors["tip"].shape, (len(run.time), 3))
        self.assertEqual(run.sensors.units["tip.x"], "m")
        self.assertEqual(run.bodies["arm"]["formulation"], "rigid")

    def test_nothing_is_written_unless_asked(self):
        study = lissom.Study(PENDULUM)
        study.simulate()
        study.inspect()
        self.assertEqual(os.listdir("."), [])

    def test_a_run_resumes(self):
        study = lissom.Study(PENDULUM)
        whole = study.simulate()
        study.simulate(out="part")
        again = study.simulate(out="part", resume=True)
        self.assertTrue(again.summary["was_complete"])
        np.testing.assert_array_equal(again.q, whole.q)
        np.testing.assert_array_equal(again.energy["kinetic"], whole.energy["kinetic"])

    def test_cases_are_chosen_by_name(self):
        study = lissom.Study({**PENDULUM, "cases": [{"name": "short", "set": {"simulate.end": 0.05}}]})
        self.assertEqual(study.cases, ["short"])
        self.assertEqual(study.simulate("short").time[-1], 0.05)
        with self.assertRaisesRegex(lissom.InputError, "has no case 'shart'"):
            study.simulate("shart")

    def test_check_lists_every_problem(self):
        (self.folder / "good.toml").write_text(lissom.Study(PENDULUM).text)
        self.assertEqual(lissom.check("good.toml")["problems"], [])
        (self.folder / "bad.toml").write_text(lissom.Study(PENDULUM).text.replace("mass =", "mas =").replace("end =", "edn ="))
        found = lissom.check("bad.toml")
        self.assertGreaterEqual(len(found["problems"]), 2, found)
        self.assertTrue(all(one["line"] > 0 for one in found["problems"]), found)
        self.assertIsNone(found["study"])

    def test_warnings_are_told(self):
        doubled = {**PENDULUM, "joints": PENDULUM["joints"] + [{**PENDULUM["joints"][0], "name": "again"}]}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = lissom.Study(doubled).simulate()
        self.assertTrue(any("redundant" in text for text in run.warnings), run.warnings)
        self.assertTrue(any(issubclass(one.category, lissom.Warning) for one in caught))
        self.assertTrue(all(one.filename.endswith("study_test.py") for one in caught), [one.filename for one in caught])


class Analyses(FolderTest):
    # a mass of 2 kg on a spring along a rail, driven by a force
    OSCILLATOR = {
        "bodies": {"cart": {"formulation": "rigid", "rigid": {"mass": 2.0, "center": [0, 0, 0], "inertia": [1, 1, 1]},
                            "points": {"centre": [0, 0, 0]}}},
        "joints": [{"name": "rail", "kind": "prismatic", "between": ["ground", "cart.centre"], "axis": [1, 0, 0]}],
        "loads": [{"name": "spring", "kind": "bushing", "between": ["ground", "cart.centre"], "stiffness": [800, 0, 0],
                   "damping": [4, 0, 0]},
                  {"name": "push", "kind": "force", "on": "cart.centre", "force": [1, 0, 0]}],
        "sensors": [{"name": "x", "kind": "displacement", "of": "cart.centre"}],
        "simulate": {"end": 0.1, "step": 1e-3},
    }

    def test_an_oscillator_is_linearised(self):
        model = lissom.Study(self.OSCILLATOR).linearise(static=True)
        self.assertAlmostEqual(model.frequencies[0], 20 / (2 * np.pi), places=9)
        self.assertAlmostEqual(model.damping[0], 4 / (2 * 2 * 20), places=9)
        self.assertEqual(model.inputs, ["push"])
        self.assertEqual(model.A.shape, (2, 2))
        self.assertTrue(model.stable)
        system = model.to_scipy()
        gain = (system.D - system.C @ np.linalg.solve(system.A, system.B))[model.outputs.index("x.x"), 0]
        self.assertAlmostEqual(gain, 1 / 800, places=12)

    def test_python_control_takes_it_or_is_asked_for(self):
        model = lissom.Study(self.OSCILLATOR).linearise(static=True)
        try:
            import control  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "pip install control"):
                model.to_control()
        else:
            np.testing.assert_array_equal(model.to_control().A, model.A)

    def test_the_response_is_that_of_theory(self):
        response = lissom.Study(self.OSCILLATOR).response(1, 10, 50, static=True, outputs="x.x")
        omega = 2 * np.pi * response.frequencies
        expected = 1 / (800 - 2 * omega**2 + 4j * omega)
        np.testing.assert_allclose(response.pair("x.x", "push"), expected, rtol=1e-9)
        self.assertEqual(response.units["x.x", "push"], "m/N")

    def test_the_static_equilibrium(self):
        run = lissom.Study(self.OSCILLATOR).static()
        self.assertAlmostEqual(run.sensors["x.x"][0], 1 / 800, places=12)
        self.assertEqual(len(run.time), 1)

    def test_two_results_are_compared(self):
        study = lissom.Study(self.OSCILLATOR)
        study.simulate(out="a")
        lissom.Study(self.OSCILLATOR, set={"simulate.step": 5e-4}).simulate(out="b")
        comparison = lissom.compare("a", "b")
        self.assertIn("x.x", comparison.columns)
        self.assertLess(comparison.largest["x.x"], 1e-5)
        self.assertGreater(comparison.largest["x.x"], 0)
        page = lissom.report("a")
        self.assertTrue(os.path.getsize(page) > 1000)

    def test_a_sweep_leaves_a_table(self):
        swept = {**self.OSCILLATOR, "sweep": {"parameters": [{"key": "loads.push.force", "values": [[1, 0, 0], [2, 0, 0]]}]}}
        result = lissom.Study(swept).sweep("swept", jobs=2)
        lissom.Study(swept).sweep("here", processes=False)
        table = (self.folder / "swept" / "sweep.csv").read_text()
        self.assertEqual(len(table.splitlines()), 3)
        self.assertEqual(table, (self.folder / "here" / "sweep.csv").read_text())
        self.assertIsNone(result.report)
        with self.assertRaises(lissom.InputError):
            lissom.Study(swept).sweep("other", jobs=0)


if __name__ == "__main__":
    unittest.main()
