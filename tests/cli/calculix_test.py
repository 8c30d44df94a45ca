"""CalculiX as an independent witness, through the command line: the same deck given to both programs."""

import unittest

from support import (MATERIAL, CliTest, inp_deck, nodes_at, solids_of_inp)

BOX = """
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 0.3, 0.1, 0.05};
Mesh.CharacteristicLengthMax = 0.04;
"""
TUBE = """
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, 0, 0, 0, 0.2, 0.04};
Cylinder(2) = {0, 0, -1, 0, 0, 3, 0.02};
BooleanDifference(3) = {Volume{1}; Delete;}{Volume{2}; Delete;};
Mesh.CharacteristicLengthMax = 0.03;
"""
SWEPT_BOX = """
Point(1) = {0, 0, 0, 1}; Point(2) = {0.3, 0, 0, 1}; Line(1) = {1, 2};
s[] = Extrude{0, 0.1, 0}{Line{1}; Layers{3}; RECOMBINE};
v[] = Extrude{0, 0, 0.05}{Surface{s[1]}; Layers{2}; Recombine;};
Transfinite Line{1} = 9;
Mesh.SecondOrderIncomplete = 1;
"""
RING = """
Point(1) = {0.02, 0, 0, 1}; Point(2) = {0.05, 0, 0, 1}; Line(1) = {1, 2};
s[] = Extrude{{0, 0, 1}, {0, 0, 0}, Pi/2}{Line{1}; Layers{5}; RECOMBINE};
v[] = Extrude{0, 0, 0.15}{Surface{s[1]}; Layers{5}; Recombine;};
Transfinite Line{1} = 3;
Mesh.SecondOrderIncomplete = 1;
"""
HEX, WEDGE = "Recombine;", ""


class CalculixTest(CliTest):
    def mesh(self, geometry, order, kind):
        self.gmsh(geometry, "gmsh.inp", "-format", "inp", "-order", order)
        nodes, elements = solids_of_inp((self.folder / "gmsh.inp").read_text())
        self.assertEqual(list(elements), [kind])
        return nodes, elements


class TheSameMeshHasTheSameFrequencies(CalculixTest):
    # ccx prints seven digits of the eigenvalue, so 1e-5 of the frequency is far above what printing loses; what is
    # seen is 4e-7 and less
    AGREES = 1e-5

    def compare(self, geometry, order, kind, agreeing, apart=None):
        """The ten lowest elastic frequencies of the free body, `apart` being (mass, least, most difference)."""
        nodes, elements = self.mesh(geometry, order, kind)
        # of a free body ccx prints the six rigid modes as some 1e-3 Hz or less
        self.write("job.inp", inp_deck(nodes, elements, step="*FREQUENCY\n16"))
        self.ccx("job")
        expected = self.ccx_frequencies("job")
        self.assertEqual(len(expected), 16)
        self.assertLess(max(expected[:6]), 1e-5 * expected[6])
        for mass in agreeing:
            self.assertLess(self.difference(mass, expected), self.AGREES, mass)
        if apart:
            mass, least, most = apart
            found = self.difference(mass, expected)
            self.assertTrue(least < found < most, (mass, found))

    def difference(self, mass, expected):
        found = self.json_of("modes", "job.inp", "--no-files", "--count", 16, "--mass", mass)
        self.assertEqual(found["rigid_modes"], 6)
        worst = max(abs(a / b - 1) for a, b in zip(found["frequencies_hz"][6:], expected[6:]))
        print(f"{self.id().split('.')[-1]}: --mass {mass}: {worst:.2e}", flush=True)
        return worst

    # tet10 and wedge15: ccx integrates the mass with the 4 and 9 points of its stiffness, which are too few for the
    # square of a quadratic shape function; the exact mass differs by what the mesh's own error is like, 1e-3

    def test_tet10(self):
        self.compare(BOX, "2", "C3D10", ["calculix"], ("consistent", 1e-4, 1e-2))

    def test_tet10_with_curved_sides(self):
        self.compare(TUBE, "2", "C3D10", ["calculix"], ("consistent", 1e-4, 1e-2))

    def test_wedge15(self):
        self.compare(SWEPT_BOX.replace("RECOMBINE", WEDGE), "2", "C3D15", ["calculix"], ("consistent", 1e-4, 1e-2))

    def test_wedge15_with_curved_sides(self):
        self.compare(RING.replace("RECOMBINE", WEDGE), "2", "C3D15", ["calculix"], ("consistent", 1e-4, 1e-2))

    # hex20: 27 points in both programs

    def test_hex20(self):
        self.compare(SWEPT_BOX.replace("RECOMBINE", HEX), "2", "C3D20", ["consistent", "calculix"])

    def test_hex20_with_curved_sides(self):
        self.compare(RING.replace("RECOMBINE", HEX), "2", "C3D20", ["consistent", "calculix"])

    # tet4: ccx has one point, a mass of rank one an element

    def test_tet4(self):
        self.compare(BOX, "1", "C3D4", ["calculix"], ("consistent", 1e-3, 1e-1))

    def test_a_held_body(self):
        nodes, elements = self.mesh(BOX, "2", "C3D10")
        self.write("job.inp", inp_deck(nodes, elements, sets={"LEFT": nodes_at(nodes, 0, 0.0)},
                                       step="*BOUNDARY\nLEFT, 1, 3\n*FREQUENCY\n10"))
        self.ccx("job")
        found = self.json_of("modes", "job.inp", "--no-files", "--count", 10, "--fix", "LEFT", "--mass", "calculix")
        for a, b in zip(found["frequencies_hz"], self.ccx_frequencies("job")):
            self.assert_close(a, b, self.AGREES)


class ExportedMatricesHaveTheirProgramsFrequencies(CalculixTest):
    # the eigenvalue's seven digits are worth 3e-7 of the frequency at worst, and the matrices are written with as
    # many digits as doubles have
    AGREES = 1e-6

    def matrices(self, geometry, order, kind, conditions=""):
        nodes, elements = self.mesh(geometry, order, kind)
        sets = {"LEFT": nodes_at(nodes, 0, 0.0)}
        self.write("own.inp", inp_deck(nodes, elements, sets=sets, step=conditions + "*FREQUENCY\n16"))
        self.write("job.inp", inp_deck(nodes, elements, sets=sets,
                                       step=conditions + "*FREQUENCY, SOLVER=MATRIXSTORAGE\n16"))
        self.ccx("own")
        self.ccx("job")
        return self.ccx_frequencies("own")

    def check(self, rigid, expected, *flags):
        found = self.json_of("modes", "job.sti", *flags, "--no-files", "--count", 16)
        self.assertEqual(len(expected), 16)
        worst = max(abs(a / b - 1) for a, b in zip(found["frequencies_hz"][rigid:], expected[rigid:]))
        print(f"{self.id().split('.')[-1]}: matrices: {worst:.2e}", flush=True)
        self.assertLess(worst, self.AGREES)
        return found

    def test_tet10_free(self):
        expected = self.matrices(TUBE, "2", "C3D10")
        found = self.check(6, expected, "--mesh", "job.inp")
        self.assertEqual(found["rigid_modes"], 6)
        # rigid-body residuals and masses of the matrices are those of the mesh
        inspected = self.json_of("inspect", "job.sti", "--mesh", "job.inp")
        self.assertLess(max(inspected["matrices"]["rigid_body_residuals"]), 1e-9)
        mass = self.json_of("inspect", "job.inp", "--material", MATERIAL)["mass"]
        self.assert_close(inspected["matrices"]["mass"], [mass] * 3, 1e-9)

    def test_hex20_free_without_a_mesh(self):
        expected = self.matrices(SWEPT_BOX.replace("RECOMBINE", HEX), "2", "C3D20")
        self.check(6, expected)

    def test_tet4_free(self):
        self.check(6, self.matrices(BOX, "1", "C3D4"), "--mesh", "job.inp")

    def test_wedge15_held(self):
        expected = self.matrices(SWEPT_BOX.replace("RECOMBINE", WEDGE), "2", "C3D15", "*BOUNDARY\nLEFT, 1, 3\n")
        found = self.check(0, expected, "--mesh", "job.inp")
        self.assertEqual(found["rigid_modes"], 0)
        self.assertGreater(found["frequencies_hz"][0], 10)

    def test_results_are_written_as_for_a_mesh(self):
        self.matrices(BOX, "2", "C3D10")
        before = set(self.files())
        found = self.json_of("modes", "job.sti", "--mesh", "job.inp", "--out", "results")
        new = set(self.files()) - before
        self.assertTrue(all(name.startswith("results/") for name in new))
        self.assertIn("results/job_modes.exo", new)
        self.assertIn("job.body.h5", found["files"])


if __name__ == "__main__":
    unittest.main()
