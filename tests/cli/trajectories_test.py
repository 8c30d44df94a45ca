"""lissom train on motions from files: the example with Exudyn's, the same data in every format, and data that are wrong."""

import contextlib
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import h5py
import numpy as np
import scipy.io

from support import SOURCE, CliTest

EXAMPLE = pathlib.Path(SOURCE) / "examples" / "four-bar-exudyn"
PAGE = pathlib.Path(SOURCE) / "docs" / "howto" / "bring-trajectories.md"
PYTHON = os.environ.get("EXUDYN_PYTHON")
BODIES = ("left", "coupler", "right")


class TrajectoriesBase(CliTest):
    def setUp(self):
        super().setUp()
        with np.load(EXAMPLE / "exudyn.npz") as file:
            self.data = dict(file)
        for mesh in ("bar.msh", "coupler.msh"):
            shutil.copy(EXAMPLE / mesh, self.folder)
        self.text = (EXAMPLE / "study.toml").read_text()

    def study(self, trajectories=None, **train):
        """study.toml of the example without its cases, with other keys of [train] and lines of its trajectories."""
        head = self.text[:self.text.index("[train]")]
        lines = [f"{key} = {json.dumps(value)}" for key, value in {"max_order": 12, "reconstruct": False, **train}.items()]
        lines += ["[[train.trajectories]]", "at_rest = true", trajectories or 'file = "run.npz"']
        self.write("study.toml", head + "[train]\n" + "\n".join(lines) + "\n")

    def save(self, **changes):
        """run.npz with some arrays changed; None takes one out."""
        arrays = {**self.data, **changes}
        np.savez(self.folder / "run.npz", **{name: value for name, value in arrays.items() if value is not None})

    def save_positions(self, change):
        self.save(**{name: change(self.data[name]) for name in BODIES})

    def train(self):
        return self.json_of("train", "study.toml", "--no-files")

    def warnings(self, result):
        return " ".join(warning["message"] for warning in result["warnings"])

    def assert_train_refused(self, *texts):
        return self.assert_refused(["train", "study.toml", "--out", "out"], *texts)


class ExampleTest(TrajectoriesBase):
    def test_the_example_trains_on_exudyns_motion_and_repeats_it(self):
        summary = self.json_of("run", str(EXAMPLE / "study.toml"), "--out", "out")
        training = summary["training"]
        # the bodies are reduced alike: Exudyn's motion is in our space, and its joints are closed, to round-off of 0.2 m
        self.assertLess(training["outside_space"], 2e-15)
        self.assertLess(training["outside_joints"], 2e-15)
        self.assertLess(training["training"][0]["largest_gap"], 1e-15)
        self.assertEqual(training["training"][0]["decimals"], 17)
        self.assertEqual((training["spurious"], training["rigid_motions"]), ([], 1))
        self.assertEqual(summary["warnings"], [])
        # Eq. 70 against Exudyn: 7.5e-16 at m = 3, 2.4e-16 at 6; twice that is left to other machines
        epsilon = {order["m"]: order["epsilon"] for order in training["orders"]}
        self.assertLess(epsilon[3], 1.5e-15)
        for m in range(6, 13):
            self.assertLess(epsilon[m], 6e-16, m)

        # and once more, from the files, without the program's own arithmetic
        for case, limit in {".": 2e-16, "slap": 1.5e-15, "six modes": 6e-16, "data alone": 6e-16}.items():
            with h5py.File(self.folder / "out" / case / "result.h5") as file:
                self.assertLess(np.abs(file["time"][:] - self.data["time"]).max(), 1e-12)
                error = 0
                for name in BODIES:
                    row = {int(node): i for i, node in enumerate(file[f"nodes/{name}/ids"][:])}
                    order = [row[int(node)] for node in self.data[f"{name}/node_ids"]]
                    error += ((file[f"nodes/{name}/positions"][:][:, order] - self.data[name]) ** 2).sum()
            self.assertLess(error, limit, case)
            if case == "slap":
                self.assertAlmostEqual(error / epsilon[training["order"]], 1, delta=0.01)
        # and it really moved
        self.assertGreater(np.abs(self.data["coupler"][-1] - self.data["coupler"][0]).max(), 0.05)

        drawn = subprocess.run(["/usr/bin/python3", "-B", str(EXAMPLE / "plot.py"), "out"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        for figure in ("motion", "error", "joints"):
            self.assertGreater((self.folder / "out" / f"exudyn-{figure}.png").stat().st_size, 5000)

        # the model alone, without meshes and data
        again = self.json_of("simulate", "out/model.rom.h5", "--out", "rom")
        self.assertEqual(again["coordinates"], training["order"])
        with open(self.folder / "rom" / "sensors.csv") as f, open(self.folder / "out" / "slap" / "sensors.csv") as g:
            ours, theirs = list(csv.DictReader(f))[-1], list(csv.DictReader(g))[-1]
        for axis in "xyz":
            self.assertAlmostEqual(float(ours[f"top.{axis}"]), float(theirs[f"top.{axis}"]), delta=1e-12)

    def test_speeds_of_the_size_of_the_integrators_error_are_taken_for_rest(self):
        self.save()
        self.study(reconstruct=True, max_order=6)
        said = self.train()["orders"][5]["epsilon"]
        text = (self.folder / "study.toml").read_text()
        self.write("study.toml", text.replace("at_rest = true", "at_rest = false"))
        found = self.train()["orders"][5]["epsilon"]
        # five samples, 2 ms apart, see a velocity of some 1e-8 m/s that the integrator's error looks like; started with
        # it, the model would be off by 2.6e-13
        self.assertLess(found, 1.01 * said)

    @unittest.skipUnless(PYTHON, "EXUDYN_PYTHON does not name a Python that has exudyn")
    def test_exudyn_computes_the_shipped_files(self):
        for mesh in ("bar", "coupler"):
            self.json_of("modes", f"{mesh}.msh", "--material", "E=210e9,nu=0.288,rho=7829", "--mass", "lumped", "--count", 1, "--no-paraview",
                         "--out", "matrices")
        # a step of 1e-4 s takes 5 s, that of the shipped file 25 s
        for step, limit in ((1e-4, 1e-8), (2.5e-5, 1e-11)):
            done = subprocess.run([PYTHON, "-B", str(EXAMPLE / "exudyn_run.py"), "matrices", "--out", "run.npz", "--step", str(step)],
                                  cwd=self.folder, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(json.loads(done.stdout)["largest_joint_gap"], 1e-14)
            with np.load(self.folder / "run.npz") as file:
                self.assertEqual(sorted(file), sorted(self.data))
                for name, expected in self.data.items():
                    # the integrator's error is 7e-9 m at 1e-4 s; the same step leaves Newton's tolerance
                    self.assertLess(np.abs(file[name] - expected).max(), limit, (step, name))


class FormatsTest(TrajectoriesBase):
    def setUp(self):
        super().setUp()
        self.save()
        self.study()
        self.expected = self.train()["singular_values"]
        (self.folder / "run.npz").unlink()

    def assert_the_same(self, trajectories, relative=1e-15, count=None):
        self.study(trajectories)
        # of the largest, 6.5 m: the same numbers in another order of sums
        self.assert_close(self.train()["singular_values"][:count], self.expected[:count], relative, trajectories)

    def test_npy_files_one_a_body(self):
        for name in BODIES:
            np.save(self.folder / f"{name}.npy", self.data[name])
            np.save(self.folder / f"{name}_ids.npy", self.data[f"{name}/node_ids"])
        np.save(self.folder / "time.npy", self.data["time"])
        files = ", ".join(f'{name} = "{name}.npy"' for name in BODIES)
        ids = ", ".join(f'{name} = "{name}_ids.npy"' for name in BODIES)
        self.assert_the_same(f'bodies = {{ {files} }}\ntime = "time.npy"\nnodes = {{ {ids} }}')

    def test_mat_files_old_and_new(self):
        flat = {name: self.data[name].reshape(len(self.data["time"]), -1) for name in BODIES}
        scipy.io.savemat(self.folder / "run.mat", {**flat, "time": self.data["time"]})
        self.assert_the_same('file = "run.mat"')
        # 7.3 is HDF5 with the order of MATLAB's memory
        with h5py.File(self.folder / "new.mat", "w", userblock_size=512) as f:
            for name, value in {**{name: self.data[name] for name in BODIES}, "time": self.data["time"][:, None]}.items():
                f[name] = np.ascontiguousarray(value.T)
                f[name].attrs["MATLAB_class"] = np.bytes_("double")
        with open(self.folder / "new.mat", "r+b") as f:
            f.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
        self.assert_the_same('file = "new.mat"')

    def test_hdf5(self):
        with h5py.File(self.folder / "run.h5", "w") as f:
            for name in BODIES:
                f[f"{name}/positions"] = self.data[name]
                f[f"{name}/node_ids"] = self.data[f"{name}/node_ids"]
            f["time"] = self.data["time"]
        self.assert_the_same('file = "run.h5"')

    def test_csv_with_headings_in_any_order_of_nodes(self):
        for k, name in enumerate(BODIES):
            order = np.random.default_rng(k).permutation(self.data[name].shape[1])
            heading = ["t", *(f"{self.data[f'{name}/node_ids'][i]}.{c}" for i in order for c in "xyz")]
            rows = np.column_stack([self.data["time"], self.data[name][:, order].reshape(len(self.data["time"]), -1)])
            np.savetxt(self.folder / f"{name}.csv", rows, "%.17g", ",", header=",".join(heading), comments="")
        self.assert_the_same("bodies = { " + ", ".join(f'{name} = "{name}.csv"' for name in BODIES) + " }")

    def test_the_generic_code_of_the_page(self):
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        page = {}
        exec(next(text for language, text in blocks if language == "python" and text.startswith("# generic.py")), page)
        studies = [text.replace("[[train.trajectories]]\n", "") for language, text in blocks if language == "toml" and "bodies = {" in text]
        self.assertEqual(len(studies), 2)
        time = self.data["time"]
        for name in BODIES:
            # a frame that turns about x and travels, and modes that show all that is left
            angle, r = 0.7 * time, np.outer(time, [0.1, 0.2, 0.3])
            A = np.zeros((len(time), 3, 3))
            A[:, 0, 0] = 1
            A[:, 1, 1] = A[:, 2, 2] = np.cos(angle)
            A[:, 2, 1], A[:, 1, 2] = np.sin(angle), -np.sin(angle)
            X = self.data[name][0]
            left = np.einsum("sba,sib->sia", A, self.data[name] - r[:, None]) - X
            q, values, shapes = np.linalg.svd(left.reshape(len(time), -1), full_matrices=False)
            Phi = shapes.T.reshape(len(X), 3, -1)
            x = page["positions"](r, A, q * values, X, Phi)
            self.assertLess(np.abs(x - self.data[name]).max(), 1e-14)
            # into the current folder, as a reader would
            with contextlib.chdir(self.folder):
                page["write_csv"](f"{name}.csv", time, x, self.data[f"{name}/node_ids"])
                page["write_npy"](name, time, x, self.data[f"{name}/node_ids"])
        for lines in studies:
            self.assert_the_same(lines, 1e-14)

    def test_nodes_in_another_order_with_ids(self):
        order = np.random.default_rng(1).permutation(123)
        self.save(**{"left": self.data["left"][:, order], "left/node_ids": self.data["left/node_ids"][order]})
        self.assert_the_same('file = "run.npz"')

    def test_displacements_and_other_units(self):
        order = np.random.default_rng(1).permutation(123)
        # of nodes in another order too: each is added to its own node
        moved = {name: self.data[name] - self.data[name][0] for name in BODIES}
        self.save(**{**moved, "left": moved["left"][:, order], "left/node_ids": self.data["left/node_ids"][order]})
        # a coordinate of the mesh and a displacement add up with round-off of the larger, 3e-17 m
        self.assert_the_same('file = "run.npz"\ndisplacements = true')
        self.save_positions(lambda x: 1e3 * x)
        self.assert_the_same('file = "run.npz"\nunits = "mm-t-s"')


class WrongDataTest(TrajectoriesBase):
    def setUp(self):
        super().setUp()
        self.study()

    def test_nodes_that_are_not_the_meshs(self):
        order = np.random.default_rng(1).permutation(123)
        self.save(**{"left": self.data["left"][:, order], "left/node_ids": None})
        self.assert_train_refused("study.toml", "body 'left'", "are the nodes in another order? give node ids")
        self.save(**{"left": self.data["left"][:, :-1], "left/node_ids": None})
        self.assert_train_refused("run.npz: 'left'", "(101, 122, 3)", "(101, 123, 3)", "123 nodes in the mesh")
        self.save(**{"left": self.data["left"][:, :-1], "left/node_ids": self.data["left/node_ids"][:-1]})
        self.assert_train_refused("1 of 123 nodes of the mesh are missing from the data: 123")
        twice = self.data["left/node_ids"].copy()
        twice[twice == 7] = 8
        self.save(**{"left/node_ids": twice})
        self.assert_train_refused("nodes are given twice: 8", "missing from the data: 7")
        self.save(right=None)
        self.assert_train_refused("there is no array 'right'", "'coupler', 'coupler/node_ids', 'left'")

    def test_numbers_that_cannot_be(self):
        spoilt = self.data["left"].copy()
        spoilt[5, 7, 1] = np.nan
        self.save(left=spoilt)
        self.assert_train_refused("body 'left': node 8 in sample 6 (at 0.01 s)", "not finite")
        self.save(**{name: self.data[name][:1] for name in (*BODIES, "time")})
        self.assert_train_refused("there is one sample in the data, expected two samples or more")
        times = self.data["time"].copy()
        times[10] = times[9]
        self.save(time=times)
        self.assert_train_refused("the times do not rise: sample 10", "take repeated samples out")

    def test_other_units_displacements_and_places(self):
        self.save_positions(lambda x: 1e3 * x)
        self.assert_train_refused("body 'coupler'", "about 1000 times those of the mesh", "other units?")
        self.save_positions(lambda x: x - x[0])
        self.assert_train_refused("are the data displacements?")
        self.save(left=self.data["right"], right=self.data["left"])
        # two joints are off by the same but for round-off: either may be named
        self.assert_train_refused("violates the joint '", "by 0.135 m")
        # a mesh of 0.1 m that stands 0.1 mm beside its joint
        self.save(left=self.data["left"] + np.array([0, 1e-4, 0]))
        self.assert_train_refused("violates the joint 'left", "by 0.0001 m")

    def test_a_file_or_key_that_is_not_there(self):
        self.study('file = "none.npz"')
        self.assert_train_refused("train.trajectories[1].file: there is no file", "none.npz")
        self.save()
        self.study('file = "run.npz"\nbodies = { lft = "left" }')
        self.assert_train_refused("there is no body 'lft'", "did you mean 'left'?")
        self.study('file = "run.npz"\nbodies = { left = "lft" }')
        self.assert_train_refused("there is no array 'lft'", "'left'")
        self.write("cut.npz", (self.folder / "run.npz").read_bytes()[:100000])
        self.study('file = "cut.npz"')
        self.assert_train_refused("cut.npz")

    def test_rounding_is_told_and_seen(self):
        self.save()
        self.study(reconstruct=True)
        exact = self.train()
        self.save_positions(lambda x: x.round(9))
        rounded = self.train()
        self.assertIn("rounded to 9 decimals", self.warnings(rounded))
        self.assertIn("violate the joints", self.warnings(rounded))
        self.assertEqual(rounded["training"][0]["decimals"], 9)
        fine, coarse = (run["orders"][5]["epsilon"] for run in (exact, rounded))
        self.assertLess(fine, 6e-16)
        # rounding alone is 1e-9 m / sqrt(12) in each of 141,000 numbers: 1.2e-14 m2
        count = sum(self.data[name].size for name in BODIES)
        self.assertGreater(coarse, 0.8 * count * 1e-18 / 12)
        self.assertLess(coarse, 100 * count * 1e-18 / 12)
        # the singular values end in a floor of rounding
        self.assertLess(exact["singular_values"][19], 1e-10)
        self.assertGreater(rounded["singular_values"][11], 1e-9)
        # twelve decimals cost nothing
        self.save_positions(lambda x: x.round(12))
        twelve = self.train()
        self.assertNotIn("rounded", self.warnings(twelve))
        self.assertLess(twelve["orders"][5]["epsilon"], 2 * fine)

    def test_single_precision_gaps_and_stillness_are_warnings(self):
        self.save_positions(lambda x: x.astype("f4"))
        warnings = self.warnings(self.train())
        self.assertIn("single precision", warnings)
        self.assertIn("opens by", warnings)
        times = self.data["time"].copy()
        times[50:] += 0.1
        self.save(time=times)
        self.assertIn("no samples between 0.098 s and 0.2 s", self.warnings(self.train()))
        self.save(left=np.repeat(self.data["left"][:1], len(times), axis=0))
        warnings = self.warnings(self.train())
        self.assertIn("body 'left' never moves", warnings)
        self.assertIn("joint 'left top' opens by 0.0799 m", warnings)
        self.assertNotIn("decimals", warnings)

    def test_joints_that_gape_make_spurious_modes_and_the_projection_none(self):
        # rigid shifts of the bodies by some 1e-10 m, as a solver with a loose tolerance leaves them
        noise = np.random.default_rng(1)
        self.save_positions(lambda x: x + 1e-10 * noise.standard_normal((len(x), 1, 3)))
        self.study(joints="data", reconstruct=True)
        data = self.train()
        self.assertTrue(data["spurious"])
        self.study(joints="project", reconstruct=True)
        projected = self.train()
        self.assertEqual(projected["spurious"], [])
        self.assertLess(max(projected["joint_violation"][:12]), 1e-28)
        self.assertGreater(max(data["joint_violation"][:12]), 1e-3)
        worst = max(order["epsilon"] for order in data["orders"][5:] if order["epsilon"] is not None)
        self.assertGreater(worst, 10 * max(order["epsilon"] for order in projected["orders"][5:]))


if __name__ == "__main__":
    unittest.main()
