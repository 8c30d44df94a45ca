"""Files of strangers: nothing in them is run, nothing but they is read, and nobody waits for them."""

import os
import shutil
import subprocess
import unittest

import h5py
import numpy as np

from support import MATERIAL, CliTest

BOX = 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 2, 1, 3};\nMesh.CharacteristicLengthMax = 1;\n'


class Geometry(CliTest):
    def setUp(self):
        super().setUp()
        self.gone = self.folder / "gone"
        self.command = f'SystemCall "touch {self.gone}";\n'

    def test_no_verb_runs_what_a_geometry_names_unless_it_is_told_to(self):
        self.write("box.geo", BOX + self.command)
        self.write("s.toml", '[bodies.box]\nmesh = "box.geo"\nmaterial = { E = 210e9, nu = 0.3, rho = 7850 }\n'
                   "[bodies.box.modes]\ncount = 8\nparaview = false\n")
        for arguments in (["inspect", "box.geo"], ["modes", "box.geo", "--material", MATERIAL], ["inspect", "s.toml"],
                          ["run", "s.toml", "--out", "out"]):
            with self.subTest(arguments):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                result = self.lissom(*arguments)
                self.assertEqual(result.code, 2, result.out + result.err)
                self.assertIn("box.geo:4: 'SystemCall' can run programs or write files", result.err)
                self.assertIn("--trust-geometry", result.err)
                self.assertFalse(self.gone.exists())
                result = self.lissom(*arguments, "--trust-geometry")
                self.assertEqual(result.code, 0, result.err)
                self.assertTrue(self.gone.exists())
                self.gone.unlink()

    def test_a_study_cannot_trust_itself(self):
        self.write("box.geo", BOX + self.command)
        for key in ("trust_geometry = true\n", "trust = true\n"):
            self.write("s.toml", f'[bodies.box]\nmesh = "box.geo"\n{key}[bodies.box.modes]\ncount = 8\n')
            self.assertEqual(self.lissom("run", "s.toml", "--out", "out").code, 2)
            self.assertFalse(self.gone.exists())

    def test_options_beside_a_geometry_and_at_home_are_not_read(self):
        self.write("cad.geo", BOX)
        subprocess.run(["gmsh", "cad.geo", "-0", "-v", "0", "-o", "part.brep"], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        self.write("part.brep.opt", self.command)
        for name in (".gmshrc", ".gmsh-options"):
            self.write("home/" + name, self.command)
        result = self.lissom("inspect", "part.brep", HOME=str(self.folder / "home"))
        self.assertEqual(result.code, 0, result.err)
        self.assertFalse(self.gone.exists())
        self.assertEqual(self.lissom("inspect", "part.brep", "--trust-geometry").code, 0)
        self.assertTrue(self.gone.exists())

    def test_what_a_geometry_includes_is_found_and_looked_through(self):
        self.write("sub/size.geo", "w = 2;\n")
        self.write("box.geo", 'Include "sub/size.geo";\nSetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, w, 1, 3};\n')
        self.assertAlmostEqual(self.json_of("inspect", "box.geo", "--mesh-size", "1")["volume"], 6, places=9)
        self.write("sub/size.geo", "w = 2;\n" + self.command)
        self.assert_refused(["inspect", "box.geo"], "sub/size.geo:2: 'SystemCall' can run programs")

    def test_messages_name_the_users_file(self):
        self.write("sub/bad.geo", "Box(1) = {0, 0, 0;\n")
        result = self.assert_refused(["inspect", "sub/bad.geo"], "sub/bad.geo: gmsh could not mesh this geometry",
                                     "'sub/bad.geo', line 1")
        self.assertNotIn("/tmp", result.err)

    def test_a_full_folder_for_temporary_files_is_not_blamed_on_the_geometry(self):
        mount = self.folder / "tmp"
        mount.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", mount],
                                               capture_output=True).returncode != 0:
            self.skipTest("a tmpfs cannot be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", mount], check=True))
        self.write("box.geo", BOX)
        result = self.lissom("inspect", "box.geo", "--mesh-size", "0.2", TMPDIR=str(mount))
        self.assertEqual(result.code, 1, result.out + result.err)
        self.assertIn(f"{mount}: the folder for temporary files cannot be written: No space left on device", result.err)
        self.assertIn("TMPDIR", result.err)
        self.assertNotIn("box.geo", result.err)
        self.assertEqual(list(mount.iterdir()), [])


class Pipes(CliTest):
    def test_pipes_are_refused_by_name_and_not_waited_for(self):
        for name in ("a.inp", "a.bdf", "a.msh", "a.geo", "a.step", "a.mtx", "a.mat", "a.h5", "a.op4", "a", "a.toml",
                     "a.rom.h5"):
            with self.subTest(name):
                os.mkfifo(self.folder / name)
                result = self.lissom("inspect", name, timeout=20)
                self.assertEqual(result.code, 2, result.err)
                self.assertIn(f"{name}: is a pipe, a socket or a device, expected a file", result.err)
        self.assertIn("is a pipe", self.lissom("compare", "a.h5", "a.h5", timeout=20).err)


class Hdf5(CliTest):
    def setUp(self):
        super().setUp()
        self.K = 1e6 * np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]])
        with h5py.File(self.folder / "good.h5", "w") as f:
            f["K"], f["M"] = self.K, np.eye(3)

    def inspect(self):
        return self.lissom("inspect", "bad.h5")

    def test_numbers_of_other_files_are_refused(self):
        self.assertEqual(self.lissom("inspect", "good.h5").code, 0)
        (self.folder / "system").write_bytes(self.K.tobytes())

        def linked(f):
            f["K"] = h5py.ExternalLink("good.h5", "/K")

        def around(f):
            f["g"] = h5py.ExternalLink("good.h5", "/")
            f["K"] = h5py.SoftLink("/g/K")

        def raw(f):
            f.create_dataset("K", (3, 3), "f8", external=[(str(self.folder / "system"), 0, 72)])

        def layered(f):
            layout = h5py.VirtualLayout((3, 3), "f8")
            layout[...] = h5py.VirtualSource(str(self.folder / "good.h5"), "K", (3, 3))
            f.create_virtual_dataset("K", layout)

        for make, words in ((linked, "leads into another file ('good.h5')"), (around, "leads into another file"),
                            (raw, "is a dataset with external storage"), (layered, "is a virtual dataset")):
            with self.subTest(make.__name__):
                (self.folder / "bad.h5").unlink(missing_ok=True)
                with h5py.File(self.folder / "bad.h5", "w") as f:
                    make(f)
                    f["M"] = np.eye(3)
                result = self.inspect()
                self.assertEqual(result.code, 2, result.out + result.err)
                self.assertIn("bad.h5: '/", result.err)
                self.assertIn(words, result.err)
                # version 7.3 of MATLAB's files is the same
                shutil.copy(self.folder / "bad.h5", self.folder / "bad.mat")
                self.assertIn(words, self.lissom("inspect", "bad.mat").err)


if __name__ == "__main__":
    unittest.main()
