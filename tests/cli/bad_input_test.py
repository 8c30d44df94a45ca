"""Bad input: exit code 2, a message that names file and line or key, and nothing left on the disk.

assert_refused() also checks that --json prints the same message as an object.
"""

import struct
import subprocess
import unittest

import h5py

from support import LISSOM, MATERIAL, CliTest, brick, inp_deck, nodes_at

TET_BDF = """BEGIN BULK
GRID,1,,0.,0.,0.
GRID,2,,1.,0.,0.
GRID,3,,0.,1.,0.
GRID,4,,0.,0.,1.
MAT1,1,2.1+11,,.3,7850.
PSOLID,1,1
CTETRA,7,1,1,2,3,4
ENDDATA
"""


class BadInputTest(CliTest):
    def setUp(self):
        super().setUp()
        self.nodes, self.elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D8")
        self.good = inp_deck(self.nodes, self.elements, sets={"LEFT": nodes_at(self.nodes, 0, 0.0)})
        self.write("good.inp", self.good)

    def line_of(self, text, needle):
        return text[:text.index(needle)].count("\n") + 1


class WrongFiles(BadInputTest):
    def test_a_message_does_not_end_at_a_nul_of_the_file(self):
        self.write("nul.inp", self.good.replace("\n1, 0, 0, 0\n", "\n1, 0, a\0b, 0\n", 1))
        self.assert_refused(["inspect", "nul.inp"], "nul.inp:2: ", "a\\0b'")

    def test_missing_files(self):
        for verb in ("inspect", "modes"):
            for name in ("none.inp", "no/such.msh", "none.bdf", "none.step", "none.mtx", "none.h5", "none"):
                with self.subTest(verb=verb, name=name):
                    self.assert_refused([verb, name], f"{name}: no such file")
        self.assert_refused(["run", "none.toml"], "none.toml: no such file")
        self.assert_refused(["inspect", "none.toml"], "none.toml: no such file")

    def test_empty_files_of_every_format(self):
        messages = {"inp": "defines no node", "bdf": "defines no node", "nas": "defines no node",
                    "dat": "neither the extension nor the content", "xyz": "neither the extension nor the content",
                    "msh": "$MeshFormat", "mtx": "no matrix entry", "sti": "empty.dof", "pch": "no DMIG card",
                    "op4": "no OUTPUT4 matrix", "mat": "is empty", "h5": "is not an HDF5 file",
                    "toml": "bodies: is missing"}
        for extension, message in messages.items():
            with self.subTest(extension=extension):
                name = self.write(f"empty.{extension}", "")
                self.assert_refused(["inspect", name], name, message)

    def test_folders_in_place_of_files(self):
        for name in ("a.inp", "a.msh", "a.bdf", "a.mtx", "a.h5", "a.toml"):
            with self.subTest(name=name):
                (self.folder / name).mkdir()
                self.assert_refused(["inspect", name], f"{name}: is a folder, expected a file")

    def test_a_file_that_may_not_be_read(self):
        self.give_up_root()
        (self.folder / "good.inp").chmod(0)
        self.assert_refused(["inspect", "good.inp"], "good.inp", "Permission denied")

    def test_noise_of_every_format(self):
        noise = bytes(range(255, 0, -1)) * 3 + b"\0\x1b[31m"
        for extension in ("inp", "msh", "bdf", "mtx", "op4", "pch", "mat", "h5", "toml", "dat", "dmig"):
            with self.subTest(extension=extension):
                name = self.write(f"noise.{extension}", noise)
                result = self.assert_refused(["inspect", name], name)
                # what the file contains does not reach the terminal as it is
                self.assertNotIn("\x1b", result.err)
                self.assertNotIn("\0", result.err)
        self.write("noise.sti", noise)
        self.write("noise.dof", "1.1\n")
        self.assert_refused(["inspect", "noise.sti"], "noise.sti:1: ")

    def test_cut_and_damaged_meshes(self):
        geometry = 'SetFactory("OpenCASCADE"); Box(1) = {0, 0, 0, 1, 1, 1}; Physical Volume("v") = {1};'
        self.gmsh(geometry, "a41.msh", "-format", "msh41", "-clmax", "1")
        for name, flags in {"b41.msh": ["msh41", "-bin"], "a22.msh": ["msh22"], "b22.msh": ["msh22", "-bin"],
                            "g.bdf": ["bdf"], "g.inp": ["inp"]}.items():
            subprocess.run(["gmsh", "a41.msh", "-save", "-v", "2", "-format", *flags, "-o", name], cwd=self.folder,
                           check=True, capture_output=True, stdin=subprocess.DEVNULL)
        for name in ("a41.msh", "b41.msh", "a22.msh", "b22.msh", "g.bdf", "g.inp"):
            data = (self.folder / name).read_bytes()
            place = name + (": at byte " if name.startswith("b") else ":")
            for share in (0.3, 0.6, 0.97):
                with self.subTest(name=name, share=share):
                    at = int(share * len(data))
                    # in the middle of a number of text, so that the line is too short or the node another one
                    self.write("cut_" + name, data[:at])
                    if name != "g.bdf":  # see below
                        self.assert_refused(["modes", "cut_" + name, "--material", MATERIAL], "cut_" + name)
                    self.write("bad_" + name, data[:at] + b"\xff\xfe?x\0q" + data[at + 6:])
                    if share == 0.6:  # among the elements
                        self.assert_refused(["modes", "bad_" + name, "--material", MATERIAL], "bad_" + place)
                    else:
                        result = self.lissom("modes", "bad_" + name, "--material", MATERIAL, "--no-files", "--json")
                        self.assertIn(result.code, (0, 2))
        # bulk data have no counts: what is noticed is a card that is cut, or a node that never came
        data = (self.folder / "g.bdf").read_bytes()
        last = data.rindex(b"CTETRA")
        self.write("cut.bdf", data[:data.index(b",", last + 12)] if b"," in data[last:] else data[:last + 20])
        self.assert_refused(["modes", "cut.bdf", "--material", MATERIAL], "cut.bdf:")

    def test_a_deck_cut_within_an_element(self):
        at = self.good.index("*NSET, NSET=LEFT")
        cut = self.good[:self.good.rindex(",", 0, at)]
        self.write("cut.inp", cut)
        self.assert_refused(["modes", "cut.inp", "--material", MATERIAL], f"cut.inp:{cut.count(chr(10)) + 1}: element 2",
                            "has 7 nodes, expected 8")

    def test_a_cut_hdf5_file(self):
        with h5py.File(self.folder / "m.h5", "w") as file:
            file["K"] = [[2.0, -1.0], [-1.0, 2.0]]
            file["M"] = [[1.0, 0.0], [0.0, 1.0]]
        data = (self.folder / "m.h5").read_bytes()
        self.write("cut.h5", data[:len(data) // 2])
        self.assert_refused(["modes", "cut.h5"], "cut.h5", "truncated")

    def test_a_cut_mat_file(self):
        # the header of a MATLAB 5 file and an element that announces more than there is
        header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
        self.write("cut.mat", header + struct.pack("<II", 15, 1000) + b"x" * 20)
        self.assert_refused(["modes", "cut.mat"], "cut.mat")

    def test_a_geometry_with_an_error(self):
        self.write("bad.geo", "Point(1) = {0, 0, 0};\nLine(1) = {1, 2;\n")
        self.assert_refused(["inspect", "bad.geo"], "bad.geo: gmsh could not mesh this geometry", "line 2")
        self.write("flat.geo", "SetFactory(\"OpenCASCADE\"); Rectangle(1) = {0, 0, 0, 1, 1};\n")
        self.assert_refused(["inspect", "flat.geo"], "flat.geo", "no volume elements")


class WrongMeshes(BadInputTest):
    def test_an_element_turned_inside_out(self):
        number, corners = self.elements["C3D8"][0]
        self.elements["C3D8"][0] = (number, corners[4:] + corners[:4])
        self.write("bad.inp", inp_deck(self.nodes, self.elements))
        self.assert_refused(["modes", "bad.inp"], "bad.inp: 1 of 2 elements have a zero or negative Jacobian", "element 1 (hex8)")

    def test_a_node_that_is_not_defined(self):
        number, corners = self.elements["C3D8"][1]
        self.elements["C3D8"][1] = (number, corners[:-1] + [999])
        text = inp_deck(self.nodes, self.elements)
        self.write("bad.inp", text)
        self.assert_refused(["modes", "bad.inp"], f"bad.inp:{self.line_of(text, ', 999')}: element 2 refers to node 999")
        self.write("bad.bdf", TET_BDF.replace("2,3,4\n", "2,3,44\n"))
        self.assert_refused(["modes", "bad.bdf"], "bad.bdf:8: element 7 refers to node 44, which is not defined")
        self.write("bad.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
                   "$Elements\n1\n1 4 2 1 1 1 2 3 5\n$EndElements\n")
        self.assert_refused(["modes", "bad.msh"], "bad.msh:12: ", "node 5")

    def test_two_parts_that_nothing_connects(self):
        nodes = {**self.nodes, **{100 + i: (x + 10, y, z) for i, (x, y, z) in self.nodes.items()}}
        block = self.elements["C3D8"]
        elements = {"C3D8": block + [(100 + i, [100 + c for c in corners]) for i, corners in block]}
        self.write("two.inp", inp_deck(nodes, elements))
        self.assert_refused(["modes", "two.inp"], "two.inp: the body falls apart into 2 parts", "node 101", "--allow-parts")
        allowed = self.json_of("modes", "two.inp", "--allow-parts", "--count", 14, "--no-files")
        self.assertEqual(allowed["parts"], 2)
        self.assertEqual([w["key"] for w in allowed["warnings"]], ["inp.element.C3D8", "modes.parts"])
        # six rigid motions each
        self.assertLess(allowed["frequencies_hz"][11], 1e-3 * allowed["frequencies_hz"][12])
        self.assertEqual(self.json_of("inspect", "two.inp")["components"], [12, 12])

    def test_two_parts_are_refused_by_reduce_and_run_too(self):
        nodes = {**self.nodes, **{100 + i: (x + 10, y, z) for i, (x, y, z) in self.nodes.items()}}
        block = self.elements["C3D8"]
        elements = {"C3D8": block + [(100 + i, [100 + c for c in corners]) for i, corners in block]}
        face = nodes_at(self.nodes, 0, 0.0)
        self.write("two.inp", inp_deck(nodes, elements, sets={"A": face, "B": [100 + n for n in face]}))
        text = '[bodies.two]\nmesh = "two.inp"\n[bodies.two.reduce]\ninterfaces = ["A", "B"]\nmodes = 2\ntolerance = 0.1\n'
        self.write("two.toml", text)
        for verb in ("reduce", "run"):
            self.assert_refused([verb, "two.toml", "--out", "o"], "the body falls apart into 2 parts", "node 101",
                                "allow_parts = true")
        self.write("two.toml", text + "allow_parts = true\n")
        found = self.json_of("reduce", "two.toml", "--no-files")
        self.assertEqual(found["bodies"]["two"]["reduce"]["rigid_modes"], 12)
        self.assertIn("reduce.parts", [w["key"] for w in found["warnings"]])
        # the thirteenth motion of the interfaces has energy: nothing hangs loose
        self.assertNotIn("reduce.mechanism", [w["key"] for w in found["warnings"]])

    def test_no_material_no_density_no_elasticity(self):
        self.write("none.inp", inp_deck(self.nodes, self.elements, None))
        self.assert_refused(["modes", "none.inp"], "none.inp: 2 of 2 elements have no material", "--material")
        self.assert_refused(["modes", "none.inp", "--material", "E=210e9,nu=0.3"], "has no density")
        line = self.line_of(self.good, "*MATERIAL")
        self.write("light.inp", self.good.replace("*DENSITY\n7850\n", ""))
        self.assert_refused(["modes", "light.inp"], f"light.inp:{line}: material 'M' has no density")
        head, rest = self.good.split("*ELASTIC\n")
        self.write("soft.inp", head + rest.split("\n", 1)[1])
        self.assert_refused(["modes", "soft.inp"], f"soft.inp:{line}: material 'M' has no elastic constants")

    def test_an_unknown_set_or_node_to_fix(self):
        self.assert_refused(["modes", "good.inp", "--fix", "LEFTT"], "'LEFTT'", "did you mean 'LEFT'?", "LEFT, NALL")
        self.assert_refused(["modes", "good.inp", "--fix", "elsewhere"], "there is no node set 'elsewhere' to fix")
        self.assert_refused(["modes", "good.inp", "--fix", "node 999"], "there is no node 999 to fix")
        self.assert_refused(["modes", "good.inp", "--fix", "node -1"], "there is no node -1 to fix")
        self.assert_refused(["modes", "good.inp", "--fix", ""], "''")
        self.write("bare.inp", inp_deck(self.nodes, self.elements).replace("*NODE, NSET=NALL", "*NODE"))
        self.assert_refused(["modes", "bare.inp", "--fix", "LEFT"], "the sets are: none")

    def test_every_node_held(self):
        self.assert_refused(["modes", "good.inp", "--fix", "NALL"], "good.inp", "0 free degrees of freedom")

    def test_a_node_without_element_cannot_be_held(self):
        self.write("orphan.inp", self.good.replace("*ELEMENT", "999, 5, 5, 5\n*ELEMENT", 1))
        self.assert_refused(["modes", "orphan.inp", "--fix", "node 999"], "node 999 to fix has no degrees of freedom")

    def test_sets_called_by_bytes_that_are_no_text(self):
        self.write("latin.inp", self.good.encode().replace(b"NSET=LEFT", b"NSET=gr\xfcn"))
        self.assert_refused(["modes", "latin.inp", "--fix", "grn"], "gr\\xfcn")
        self.assertEqual(self.json_of("modes", "latin.inp", "--out", "results")["out"], "results")
        self.assertEqual(self.lissom("inspect", "latin.inp").code, 0)


class WrongMatrices(BadInputTest):
    K = [[2, -1, 0], [-1, 2, -1], [0, -1, 2]]
    M = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

    @staticmethod
    def matrix_market(rows):
        entries = [(i + 1, j + 1, v) for i, row in enumerate(rows) for j, v in enumerate(row) if v]
        return (f"%%MatrixMarket matrix coordinate real general\n{len(rows)} {len(rows)} {len(entries)}\n" +
                "".join("%d %d %.17g\n" % entry for entry in entries))

    def setUp(self):
        super().setUp()
        self.write("K.mtx", self.matrix_market(self.K))
        self.write("M.mtx", self.matrix_market(self.M))

    def refused(self, text, *messages, flags=()):
        self.write("bad.mtx", text)
        self.assert_refused(["modes", "bad.mtx", "--mass-matrix", "M.mtx", "--count", "2", *flags], *messages)

    def test_good_ones_are_accepted(self):
        found = self.json_of("modes", "K.mtx", "--mass-matrix", "M.mtx", "--count", 3, "--no-files")
        # the chain of three masses: lambda = 2 - sqrt 2, 2, 2 + sqrt 2
        expected = [(2 + s * 2**0.5)**0.5 / (2 * 3.141592653589793) for s in (-1, 0, 1)]
        self.assert_close(found["frequencies_hz"], expected, 1e-12)

    def test_a_stiffness_that_is_not_symmetric(self):
        self.refused(self.matrix_market([[2, -1, 0], [-1.5, 2, -1], [0, -1, 2]]), "bad.mtx: not symmetric", "row 2 and row 1",
                     "-1.5 and -1")

    def test_one_triangle_declared_general(self):
        self.refused(self.matrix_market([[2, -1, 0], [0, 2, -1], [0, 0, 2]]), "bad.mtx: not symmetric")

    def test_a_mass_with_zero_rows(self):
        self.write("M0.mtx", self.matrix_market([[1, 0, 0], [0, 0, 0], [0, 0, 1]]))
        for verb in ("modes", "inspect"):
            self.assert_refused([verb, "K.mtx", "--mass-matrix", "M0.mtx"], "1 rows of M are zero", "row 2")
        self.assertEqual(self.lissom("inspect", "K.mtx", "--mass-matrix", "M0.mtx", "--permit-massless").code, 0)

    def test_cut_damaged_and_lying_files(self):
        good = self.matrix_market(self.K)
        self.refused("\n".join(good.splitlines()[:-2]) + "\n", "bad.mtx:7: the file ends after 5 of 7 entries")
        self.refused(good.replace(" -1\n", " x1\n", 1), "bad.mtx:4: expected a matrix entry, found 'x1'")
        self.refused(good.replace("\n3 3 ", "\n300000000 300000000 ", 1), "bad.mtx", "300000000 rows, but 7 entries only")
        self.refused(good.replace("\n3 2 ", "\n3 4 "), "bad.mtx:8: column 4 is outside the matrix")
        self.refused(good.replace("\n3 3 7", "\n3 4 7"), "bad.mtx", "square")

    def test_a_stiffness_of_no_stable_body(self):
        self.refused(self.matrix_market([[-2, 1, 0], [1, 2, -1], [0, -1, 2]]), "bad.mtx: K is not that of a stable body", "row 1")

    def test_an_indefinite_stiffness_is_a_failed_computation_or_a_refusal(self):
        # positive on the diagonal, eigenvalue -1 beneath it: only the factorisation can tell
        self.write("bad.mtx", self.matrix_market([[1, -2, 0.5], [-2, 1, 0.5], [0.5, 0.5, 2]]))
        self.assert_refused(["modes", "bad.mtx", "--mass-matrix", "M.mtx", "--count", "1"], "positive definite", code=1)

    def test_files_that_do_not_fit_together(self):
        self.write("M2.mtx", self.matrix_market([[1, 0], [0, 1]]))
        self.assert_refused(["modes", "K.mtx", "--mass-matrix", "M2.mtx"], "K.mtx", "3 rows", "M2.mtx", "has 2")
        self.assert_refused(["modes", "K.mtx"], "K.mtx: the file has one matrix only; give the file of the mass matrix")
        self.assert_refused(["modes", "K.mtx", "--mass-matrix", "none.mtx"], "none.mtx: no such file")
        self.assert_refused(["modes", "K.mtx", "--mass-matrix", "M.mtx", "--dofs", "none.dof"], "none.dof: no such file")
        self.assert_refused(["modes", "K.mtx", "--mass-matrix", "M.mtx", "--mesh", "none.inp"], "none.inp: no such file")
        self.write("r.dof", "1.1\n1.2\n")
        self.assert_refused(["modes", "K.mtx", "--mass-matrix", "M.mtx", "--dofs", "r.dof"], "r.dof: 2 lines", "3 rows")
        self.write("r.dof", "1.1\n1.2\n1.9\n")
        self.assert_refused(["modes", "K.mtx", "--mass-matrix", "M.mtx", "--dofs", "r.dof"], "r.dof:3: ", "expected 1 to 6")

    def test_calculix_files_that_are_missing_or_cut(self):
        self.write("job.sti", "1 1 2.0\n1 2 -1.0\n2 2 2.0\n")
        self.assert_refused(["modes", "job.sti"], "job.sti", "job.dof")
        self.write("job.dof", "1.1\n1.2\n")
        self.assert_refused(["modes", "job.sti"], "job.mas: no such file")
        self.write("job.mas", "1 1 1.0\n2 2\n")
        self.assert_refused(["modes", "job.sti"], "job.mas:2: expected")

    def test_flags_of_meshes_do_not_go_with_matrices(self):
        pair = ["modes", "K.mtx", "--mass-matrix", "M.mtx"]
        self.assert_refused([*pair, "--material", MATERIAL], "--material: K.mtx holds matrices")
        self.assert_refused([*pair, "--mass", "lumped"], "--mass: K.mtx holds matrices")
        self.assert_refused([*pair, "--fix", "node 1"], "there is no node 1 to fix")
        self.assert_refused([*pair, "--stiffness-name", "foo"], "no matrix 'foo'")


class WrongFlags(BadInputTest):
    def test_counts(self):
        for count in ("0", "-3"):
            self.assert_refused(["modes", "good.inp", "--count", count], f"--count: is {count}, expected a whole number from 1 on")
        for count in ("37", "1000"):
            self.assert_refused(["modes", "good.inp", "--count", count], f"{count} modes were asked for", "only 36 free")
        for count in ("x", "2.5", "1e3", "99999999999"):
            self.assert_refused(["modes", "good.inp", "--count", count], "--count", count)

    def test_materials(self):
        for text, message in {"": "--material", "steel": "'steel' is not key=value", "E=": "is not a number",
                              "E=210e9": "lacks nu", "E=210e9,nu=0.5,rho=1": "between -1 and 0.5",
                              "E=-1,nu=.3,rho=1": "positive Young's modulus", "E=2,nu=x,rho=1": "nu = 'x' is not a number",
                              "E=2,nu=.3,roh=1": "did you mean 'rho'?", "E=2,nu=.3,rho=0": "positive density",
                              "E=2,E=3,nu=.3": "'E' is given twice", "E=nan,nu=.3,rho=1": "is not a number",
                              "E=inf,nu=.3,rho=1": "is not a number", "E=1e400,nu=.3,rho=1": "is not a number",
                              "E1=1,nu=.2": "mixes", "E=2 nu=.3 rho=3": "is not a number"}.items():
            for verb in ("inspect", "modes"):
                with self.subTest(verb=verb, text=text):
                    self.assert_refused([verb, "good.inp", "--material", text], message, "aterial")

    def test_units(self):
        for units in ("furlong", "mm", "mm-t-h", ""):
            self.assert_refused(["inspect", "good.inp", "--units", units], f"unknown unit system '{units}'", "mm-t-s")
        self.assert_refused(["modes", "good.inp", "--units", "mm-t"], "did you mean 'mm-t-s'?")

    def test_other_values(self):
        self.assert_refused(["modes", "good.inp", "--mass", "lumpd"], "--mass: 'lumpd'", "consistent, lumped")
        self.assert_refused(["modes", "good.inp", "--tolerance", "5"], "--tolerance")
        self.assert_refused(["inspect", "good.inp", "--mesh-order", "3"], "--mesh-order")


    def test_numbers_of_flags_are_finite_decimal_and_in_range(self):
        """CLI11 alone takes nan, inf, 1e-320 and 0x10 for numbers, and 010 for eight."""
        real = {"modes": ["--tolerance", "--mesh-size"], "reduce": ["--tolerance"], "simulate": ["--checkpoint"],
                "static": ["--at"], "linearise": ["--at"], "response": ["--from", "--to"], "sweep": ["--patience"],
                "report": ["--max-size"]}
        whole = {"modes": ["--count", "--mesh-order"], "response": ["--points"], "train": ["--order"], "sweep": ["--jobs"]}
        for verb, flags in real.items():
            for flag in flags:
                for text in ["nan", "1e-320", "0x10", "-1"]:
                    self.assert_refused([verb, "no-file", f"{flag}={text}"], flag)
        for verb, flags in whole.items():
            for flag in flags:
                for text in ["1.5", "0x10", "-1"]:
                    self.assert_refused([verb, "no-file", f"{flag}={text}"], flag)
        self.assert_refused(["reduce", "no-file", "--tolerance=nan"],
                            "--tolerance: 'nan' is no number that can be taken, expected a number above 0 and up to 1")
        self.assert_refused(["modes", "no-file", "--mesh-size=1e-320"], "--mesh-size: 1e-320 is too small")
        self.assert_refused(["response", "no-file", "--points=1"], "--points: is 1, expected a whole number from 2 to 10000000")
        # ten, not eight: as many modes as the body has degrees of freedom to give
        self.assertEqual(len(self.json_of("modes", "good.inp", "--count=010", "--no-files")["frequencies_hz"]), 10)

    def test_flags_that_would_be_ignored(self):
        for flag in ("--stiffness-name", "--mass-name", "--dofs", "--mesh", "--mass-matrix"):
            self.assert_refused(["modes", "good.inp", flag, "good.inp"], f"{flag} goes with a matrix file")
        for flag in ("--permit-massless", "--drop-empty-rows"):
            self.assert_refused(["modes", "good.inp", flag], f"{flag} goes with a matrix file")
        self.assert_refused(["inspect", "good.inp", "--mesh-size", "0.1"], "good.inp: is a mesh already")
        self.assert_refused(["inspect", "good.inp", "--mesh-order", "1"], "good.inp: is a mesh already")
        self.write("s.toml", '[bodies.rod]\nmesh = "good.inp"\n')
        self.assert_refused(["inspect", "s.toml", "--material", MATERIAL], "--material goes with a mesh", "s.toml is a study")

    def test_unknown_flags_and_too_many_arguments(self):
        self.assert_refused(["modes", "good.inp", "--cuont", "3"], "'--cuont' is no flag of 'lissom modes'", "did you mean '--count'?")
        self.assert_refused(["modes", "good.inp", "--frobnicate=3"], "'--frobnicate=3' is no flag of 'lissom modes'")
        self.assert_refused(["inspect", "good.inp", "other.inp"], "other.inp")
        self.assert_refused(["inspect"], "FILE is required")
        self.assertIn("--count: 1 required INT missing", self.lissom("modes", "good.inp", "--count").err)

    def test_unknown_verbs(self):
        self.assert_refused(["inspcet", "good.inp"], "'inspcet' is no verb", "did you mean 'inspect'?")
        self.assert_refused(["frobnicate"], "'frobnicate' is no verb", "inspect, modes, reduce, simulate, train, assemble, static, linearise, response, export, sweep, compare, report, run")
        self.assert_refused([], "subcommand is required")

    def test_a_study_is_not_for_modes(self):
        self.write("s.toml", '[bodies.rod]\nmesh = "good.inp"\n')
        self.assert_refused(["modes", "s.toml"], "'lissom run s.toml'")


class WrongOutput(BadInputTest):
    def test_a_file_in_place_of_the_folder(self):
        self.write("taken", "x")
        self.assert_refused(["modes", "good.inp", "--out", "taken"], "taken: results go to a folder, but this is a file")
        self.assert_refused(["modes", "good.inp", "--out", "taken/below"], "taken/below: results go to a folder", "taken is a file")
        self.assertEqual((self.folder / "taken").read_text(), "x")

    def test_an_empty_name(self):
        self.assert_refused(["modes", "good.inp", "--out", ""], "--out")

    def test_a_folder_that_cannot_be_made(self):
        # not even root can make a folder there
        self.assert_refused(["modes", "good.inp", "--out", "/proc/nothing"], "/proc/nothing: the folder cannot be made", code=1)

    def test_a_folder_that_may_not_be_written(self):
        self.give_up_root()
        (self.folder / "locked").mkdir(mode=0o500)
        self.assert_refused(["modes", "good.inp", "--out", "locked"], "locked", "Permission denied")
        self.assert_refused(["modes", "good.inp", "--out", "locked/below"], "locked", "Permission denied")

    def test_a_folder_in_place_of_the_body_file(self):
        (self.folder / "out/good.body.h5").mkdir(parents=True)
        self.assert_refused(["modes", "good.inp", "--out", "out"], "good.body.h5: is a folder", code=1)

    def test_the_computation_is_not_begun_for_a_wrong_folder(self):
        # a negative Jacobian would be told if the folder were asked for later
        number, corners = self.elements["C3D8"][0]
        self.elements["C3D8"][0] = (number, corners[4:] + corners[:4])
        self.write("bad.inp", inp_deck(self.nodes, self.elements))
        self.assert_refused(["modes", "bad.inp", "--out", "good.inp"], "good.inp: results go to a folder")

    def test_a_full_standard_output_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([LISSOM, "inspect", "good.inp", "--json"], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
