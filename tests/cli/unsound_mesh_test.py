"""No verb computes with elements that are turned inside out, nor with a body that lacks parts of its mesh file."""

import unittest

from support import CliTest, brick, inp_deck, nodes_at

SPIDER = '[[bodies.bar.spiders]]\nname = "A"\nset = "LEFT"\n'
REDUCE = '[bodies.bar.reduce]\ninterfaces = ["A"]\ncount = 4\nmethod = "fixed"\n'
GCMS = '[bodies.bar.gcms]\nmodes = 4\n'
MECHANISM = """
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "bar.A"]
axis = [0, 1, 0]
[[loads]]
name = "push"
kind = "torque"
on = "bar.A"
torque = [0, 1, 0]
[[sensors]]
name = "tip"
kind = "position"
of = "bar.A"
[simulate]
end = 1e-3
step = 1e-4
"""
TRAIN = '[train]\nmethod = "slap"\ntolerance = 1e-3\n'


class UnsoundMeshTest(CliTest):
    def setUp(self):
        super().setUp()
        self.nodes, self.elements = brick((3, 1, 1), (0.3, 0.1, 0.1), "C3D20")
        self.sets = {"LEFT": nodes_at(self.nodes, 0, 0.0)}

    def study(self, *parts, body=""):
        self.write("s.toml", '[bodies.bar]\nmesh = "bar.inp"\n' + body + "".join(parts))

    def every_verb(self):
        """Each verb that reads a mesh, with the study that it needs written."""
        yield "modes", ("modes", "bar.inp", "--out", "out")
        self.study(SPIDER, REDUCE)
        yield "reduce", ("reduce", "s.toml", "--out", "out")
        yield "run with a reduction", ("run", "s.toml", "--out", "out")
        self.study(GCMS)
        yield "gcms", ("run", "s.toml", "--out", "out")
        self.study(SPIDER, "[bodies.bar.modes]\ncount = 4\n")
        yield "run with modes", ("run", "s.toml", "--out", "out")
        self.study(SPIDER, REDUCE, MECHANISM)
        for verb in ("run", "simulate", "static", "assemble", "linearise"):
            yield verb, (verb, "s.toml") + (("--out", "out") if verb in ("run", "simulate") else ())
        self.study(SPIDER, REDUCE, MECHANISM, TRAIN)
        yield "train", ("train", "s.toml", "--out", "model.rom.h5")
        self.study(SPIDER, MECHANISM, body='formulation = "rigid"\n')
        yield "a rigid body", ("simulate", "s.toml", "--out", "out")


class InsideOut(UnsoundMeshTest):
    def folded(self):
        # the mid-side node of an edge beyond its quarter point: inside out at the corner, sound at all
        # integration points
        number, nodes = self.elements["C3D20"][1]
        a, b, middle = nodes[0], nodes[1], nodes[8]
        self.nodes[middle] = tuple(0.8 * x + 0.2 * y for x, y in zip(self.nodes[a], self.nodes[b]))
        self.write("bar.inp", inp_deck(self.nodes, self.elements, sets=self.sets))

    def test_every_verb_refuses_elements_that_are_folded_at_a_corner(self):
        self.folded()
        for name, arguments in self.every_verb():
            with self.subTest(name):
                result = self.lissom(*arguments)
                self.assertEqual(result.code, 2, f"{name}: {result.out}{result.err}")
                self.assertIn("1 of 3 elements have a zero or negative Jacobian: 2; the worst is element 2 (hex20)",
                              result.err)
                self.assertIn("bar.inp", result.err)
                self.assertFalse((self.folder / "out/summary.json").exists())
                self.assertFalse((self.folder / "model.rom.h5").exists())
        # check lists it as a problem of the study
        result = self.lissom("check", "s.toml")
        self.assertEqual(result.code, 2, result.out + result.err)
        self.assertIn("negative Jacobian: 2", result.out + result.err)

    def test_inspect_describes_the_mesh_and_fails(self):
        self.folded()
        self.study(SPIDER)
        for file in ("bar.inp", "s.toml"):
            with self.subTest(file):
                result = self.lissom("inspect", file)
                self.assertEqual(result.code, 2, result.err)
                self.assertIn("3 hex20", result.out)
                self.assertIn("1 elements are turned inside out: 2", result.out)
                self.assertIn("lissom: error: ", result.err)
                self.assertIn("1 of 3 elements have a zero or negative Jacobian: 2", result.err)
        found = self.lissom("inspect", "bar.inp", "--json")
        self.assertEqual((found.code, found.json["exit_code"]), (2, 2))
        self.assertEqual(found.json["quality"]["negative_elements"], 1)
        self.assertIn("negative Jacobian: 2", found.json["error"])

    def test_a_body_file_with_such_elements_is_refused_too(self):
        self.write("bar.inp", inp_deck(self.nodes, self.elements, sets=self.sets))
        self.json_of("modes", "bar.inp", "--out", "good", "--count", "8")
        import h5py
        path = self.folder / "good/bar.body.h5"
        with h5py.File(path, "r+") as f:
            points = [d for d in (f["mesh"][k] for k in f["mesh"]) if getattr(d, "ndim", 0) == 2 and 3 in d.shape][0]
            points[...] = -points[...]
        result = self.lissom("inspect", "good/bar.body.h5")
        self.assertEqual(result.code, 2, result.out + result.err)
        self.assertIn("3 of 3 elements have a zero or negative Jacobian", result.err)
        self.assertEqual(self.lissom("modes", "good/bar.body.h5").code, 2)


class LeftOut(UnsoundMeshTest):
    def with_shells(self):
        self.write("bar.inp", inp_deck(self.nodes, self.elements, sets=self.sets) +
                   "*ELEMENT, TYPE=S4, ELSET=SKIN\n101, 1, 2, 3, 4\n102, 1, 2, 3, 4\n*TIE, NAME=T\nA, B\n")

    def test_every_verb_refuses_a_body_that_lacks_parts_of_its_file(self):
        self.with_shells()
        for name, arguments in self.every_verb():
            with self.subTest(name):
                result = self.lissom(*arguments)
                self.assertEqual(result.code, 2, f"{name}: {result.out}{result.err}")
                self.assertIn("parts of the body are not read: ", result.err)
                self.assertIn("2 elements of type S4 (first at line ", result.err)
                self.assertIn("1 *TIE (first at line ", result.err)
                self.assertIn("--skip-elements", result.err)
                self.assertIn("skip_elements = true", result.err)
        self.assert_refused(["inspect", "bar.inp"], "2 elements of type S4")

    def test_told_to_skip_them_it_warns(self):
        self.with_shells()
        result = self.lissom("inspect", "bar.inp", "--skip-elements", "--json")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(result.json["elements"], {"hex20": 3})
        self.assertIn("2 elements of type S4 are skipped", result.err)
        self.assertIn("*TIE is not applied", result.err)
        self.assertEqual(self.lissom("modes", "bar.inp", "--skip-elements", "--count", "8").code, 0)
        self.study(SPIDER, REDUCE, body="skip_elements = true\n")
        result = self.lissom("run", "s.toml", "--out", "out")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("2 elements of type S4 are skipped", result.err)

    def test_nastran(self):
        bulk = ("BEGIN BULK\n" + "".join(f"GRID,{i},,{x}.,{y}.,{z}.\n" for i, (x, y, z) in enumerate(
            [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], 1)) +
                "CTETRA,1,1,1,2,3,4\nCONM2,5,1,,2.\nCBAR,6,9,1,2\nCBAR,7,9,1,3\nPBAR,9,1,.1\nENDDATA\n")
        self.write("tet.bdf", bulk)
        self.assert_refused(["inspect", "tet.bdf"],
                            "tet.bdf: parts of the body are not read: 1 CONM2 (first at line 7), 2 CBAR (first at line 8)")
        self.assertEqual(self.lissom("inspect", "tet.bdf", "--skip-elements").code, 0)


if __name__ == "__main__":
    unittest.main()
