"""lissom inspect: one body told in every mesh format and unit must come out as one and the same body."""

import math
import subprocess
import unittest

from support import (MATERIAL, STEEL, CliTest, brick, inp_deck, nodes_at)

# a plate with a bore, curved elements, groups of volume, surface and (hex) more than one element type
PLATE = """
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 0.12, 0.08, 0.02};
Cylinder(2) = {0.05, 0.04, -1, 0, 0, 2, 0.015};
BooleanDifference(3) = {Volume{1}; Delete;}{Volume{2}; Delete;};
left[] = Surface In BoundingBox{-1e-3, -1, -1, 1e-3, 1, 1};
Physical Volume("plate") = {3};
Physical Surface("left") = {left[]};
Mesh.CharacteristicLengthMax = 0.015;
"""

# a quarter ring of hexahedra standing on one of wedges: swept, so that both fit at the joint
SWEPT = """
Point(1) = {0.02, 0, 0, 1}; Point(2) = {0.05, 0, 0, 1}; Line(1) = {1, 2};
s[] = Extrude{{0, 0, 1}, {0, 0, 0}, Pi/2}{Line{1}; Layers{5}; RECOMBINE};
v[] = Extrude{0, 0, 0.1}{Surface{s[1]}; Layers{4}; Recombine;};
Transfinite Line{1} = 3;
Physical Volume("ring") = {v[1]};
Physical Surface("foot") = {s[1]};
Mesh.SecondOrderIncomplete = 1;
"""


class EveryMeshFormatTellsTheSameBody(CliTest):
    def convert(self, source, target, *flags):
        done = subprocess.run(["gmsh", source, "-save", "-v", "2", *flags, "-o", target], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return target

    def check(self, geometry, order, kind):
        self.gmsh(geometry, "m.msh", "-format", "msh41", "-order", order)
        expected = self.json_of("inspect", "m.msh", "--material", MATERIAL)
        self.assertEqual(list(expected["elements"]), [kind])
        files = [self.convert("m.msh", "v4b.msh", "-format", "msh41", "-bin"),
                 self.convert("m.msh", "v2.msh", "-format", "msh22"),
                 self.convert("m.msh", "v2b.msh", "-format", "msh22", "-bin"),
                 self.convert("m.msh", "large.bdf", "-format", "bdf", "-setnumber", "Mesh.BdfFieldFormat", "2"),
                 self.convert("m.msh", "free.bdf", "-format", "bdf", "-setnumber", "Mesh.BdfFieldFormat", "0"),
                 self.convert("m.msh", "n.inp", "-format", "inp", "-setnumber", "Mesh.SaveGroupsOfNodes", "1")]
        for file in files:
            with self.subTest(file=file):
                found = self.json_of("inspect", file, "--material", MATERIAL)
                # most formats carry 16 digits, Nastran's fields of 16 columns ten or more, those of 8 columns three
                tolerance = {"large.bdf": 1e-8, "free.bdf": 1e-4}.get(file, 1e-13)
                self.assertEqual(found["nodes"], expected["nodes"])
                self.assertEqual(found["elements"], expected["elements"])
                for key in ("volume", "mass", "center", "inertia", "bounding_box"):
                    self.assert_close(found[key], expected[key], tolerance, key)
                for key in ("components", "orphan_nodes", "duplicate_nodes"):
                    self.assertEqual(found[key], expected[key], key)
                self.assert_close(found["quality"]["smallest_jacobian_ratio"],
                                  expected["quality"]["smallest_jacobian_ratio"], 100 * tolerance)
                self.assertEqual(found["quality"]["negative_elements"], 0)
                if file.endswith(".msh"):
                    self.assertEqual(found["sets"], expected["sets"])
        # gmsh writes groups to .inp as sets in capitals or as they are; nodes and elements must agree
        sets = {name.lower(): size for name, size in self.json_of("inspect", "n.inp")["sets"].items()}
        for name, size in expected["sets"].items():
            for what in set(size) & set(sets.get(name.lower(), {})):
                self.assertEqual(sets[name.lower()][what], size[what], (name, what))
            self.assertIn(name.lower(), sets)
        return expected

    def test_a_plate_of_tet10(self):
        found = self.check(PLATE, "2", "tet10")
        # quadratic sides approximate the bore's circle: the error of the area is some 1e-5 at this size
        volume = 0.02 * (0.12 * 0.08 - math.pi * 0.015**2)
        self.assert_close(found["volume"], volume, 1e-4)
        self.assert_close(found["mass"], volume * STEEL["rho"], 1e-4)
        self.assertEqual(set(found["sets"]), {"plate", "left"})
        self.assertEqual(found["sets"]["plate"]["elements"], found["elements"]["tet10"])

    def test_a_plate_of_tet4(self):
        self.check(PLATE, "1", "tet4")

    def test_a_quarter_ring_of_hex20(self):
        found = self.check(SWEPT.replace("RECOMBINE", "Recombine;"), "2", "hex20")
        # a parabola over an arc of 18 degrees misses about angle^4 / 480 = 2e-5 of the area
        self.assert_close(found["volume"], math.pi / 4 * (0.05**2 - 0.02**2) * 0.1, 3e-5)

    def test_a_quarter_ring_of_wedge15(self):
        self.check(SWEPT.replace("RECOMBINE", ""), "2", "wedge15")

    def test_a_quarter_ring_of_hex8_and_of_wedge6(self):
        self.check(SWEPT.replace("RECOMBINE", "Recombine;"), "1", "hex8")
        self.check(SWEPT.replace("RECOMBINE", ""), "1", "wedge6")

    def test_a_geometry_is_meshed_as_asked_for(self):
        self.write("plate.geo", PLATE)
        linear = self.json_of("inspect", "plate.geo", "--mesh-order", 1)
        quadratic = self.json_of("inspect", "plate.geo")
        coarse = self.json_of("inspect", "plate.geo", "--mesh-size", 0.03)
        self.assertEqual(list(linear["elements"]), ["tet4"])
        self.assertEqual(list(quadratic["elements"]), ["tet10"])
        self.assertEqual(linear["elements"]["tet4"], quadratic["elements"]["tet10"])
        self.assertLess(coarse["nodes"], quadratic["nodes"])


class Contract(CliTest):
    """The keys that scripts rely on, against numbers known in closed form."""

    SIZE = (0.3, 0.2, 0.1)

    def deck(self, material=STEEL, scale=1.0):
        nodes, elements = brick((3, 2, 1), [scale * s for s in self.SIZE])
        sets = {"LEFT": nodes_at(nodes, 0, 0.0)}
        return inp_deck(nodes, elements, material, sets)

    def expected_inertia(self):
        a, b, c = self.SIZE
        m = a * b * c * STEEL["rho"]
        return [[m / 12 * (b * b + c * c), 0, 0], [0, m / 12 * (a * a + c * c), 0], [0, 0, m / 12 * (a * a + b * b)]]

    def test_without_a_material_there_is_no_mass(self):
        self.write("box.inp", self.deck(material=None))
        found = self.json_of("inspect", "box.inp")
        self.assertEqual(found["elements"], {"hex20": 6})
        self.assertEqual(found["nodes"], 4 * 3 * 2 + 3 * 3 * 2 + 4 * 2 * 2 + 4 * 3 * 1)
        self.assertEqual(found["sets"]["LEFT"], {"nodes": 3 * 2 + 2 * 2 + 3})
        # polynomials of a box are integrated to round-off
        self.assert_close(found["volume"], 0.006, 1e-14)
        for key in ("mass", "center", "inertia"):
            self.assertNotIn(key, found)
        self.assertRegex(self.lissom("inspect", "box.inp").out, r"mass +unknown: 6 elements have no density")

    def test_with_a_material_there_are_mass_center_and_inertia(self):
        self.write("box.inp", self.deck(material=None))
        found = self.json_of("inspect", "box.inp", "--material", MATERIAL)
        self.assert_close(found["mass"], 0.006 * STEEL["rho"], 1e-14)
        self.assert_close(found["center"], [0.15, 0.1, 0.05], 1e-14)
        self.assert_close(found["inertia"], self.expected_inertia(), 1e-13)

    def test_the_material_on_the_command_line_replaces_the_one_of_the_file(self):
        self.write("box.inp", self.deck())
        of_file = self.json_of("inspect", "box.inp")
        given = self.json_of("inspect", "box.inp", "--material", "E=70e9,nu=0.33,rho=2710")
        self.assert_close(of_file["mass"], 0.006 * STEEL["rho"], 1e-14)
        self.assert_close(given["mass"], 0.006 * 2710, 1e-14)

    def test_all_units_give_the_same_numbers_in_si(self):
        self.write("m.inp", self.deck())
        expected = self.json_of("inspect", "m.inp")
        systems = {"mm-t-s": dict(E=210e3, nu=0.3, rho=7.85e-9), "mm-kg-ms": dict(E=210.0, nu=0.3, rho=7.85e-6)}
        for units, steel in systems.items():
            text = ",".join(f"{key}={value}" for key, value in steel.items())
            self.write("mm.inp", self.deck(steel, scale=1000))
            self.write("bare.inp", self.deck(None, scale=1000))
            for arguments in (["mm.inp"], ["bare.inp", "--material", text]):
                with self.subTest(units=units, arguments=arguments):
                    found = self.json_of("inspect", *arguments, "--units", units)
                    # the decks have 13 digits
                    for key in ("volume", "mass", "center", "inertia", "bounding_box"):
                        self.assert_close(found[key], expected[key], 1e-12, key)
                    self.assert_close(found["materials"][0]["E"], STEEL["E"], 1e-14)
                    self.assert_close(found["materials"][0]["rho"], STEEL["rho"], 1e-14)
                    self.assertEqual(found["nodes"], expected["nodes"])

    def test_the_text_says_what_the_json_says(self):
        self.write("box.inp", self.deck())
        text = self.lissom("inspect", "box.inp").out
        for words in ("6 hex20", "0.006 m3", "47.1 kg", "LEFT: 13 nodes", "1 (connected)"):
            self.assertIn(words, text)

    def test_inspecting_writes_nothing(self):
        self.write("box.inp", self.deck())
        before = self.files()
        self.assertEqual(self.lissom("inspect", "box.inp").code, 0)
        self.assertEqual(self.files(), before)

    def test_unknown_elements_are_a_single_warning_with_their_count(self):
        self.write("box.inp", self.deck() + "*ELEMENT, TYPE=S4, ELSET=SKIN\n" +
                   "".join(f"{100 + i}, 1, 2, 3, 4\n" for i in range(3)))
        result = self.lissom("inspect", "box.inp", "--json", "--skip-elements")
        self.assertEqual(result.code, 0, result.err)
        warnings = [w for w in result.json["warnings"] if "S4" in w["message"]]
        self.assertEqual(len(warnings), 1, result.json["warnings"])
        self.assertIn("box.inp:", warnings[0]["message"])
        self.assertIn("3 elements of type S4 are skipped", warnings[0]["message"])
        self.assertEqual(result.err.count("S4"), 1, result.err)
        self.assertEqual(result.json["elements"], {"hex20": 6})

    def test_unknown_cards_are_a_single_warning_with_their_count(self):
        self.write("tet.bdf", "BEGIN BULK\n" + "".join(
            f"GRID,{i},,{x}.,{y}.,{z}.\n" for i, (x, y, z) in enumerate([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], 1)) +
                   "CTETRA,1,1,1,2,3,4\nCQUX4,5,1\nCQUX4,6,1\nENDDATA\n")
        result = self.lissom("inspect", "tet.bdf", "--json")
        self.assertEqual(result.code, 0, result.err)
        warnings = [w for w in result.json["warnings"] if "CQUX4" in w["message"]]
        self.assertEqual([w["count"] for w in warnings], [2])
        self.assertIn("tet.bdf:7: ", warnings[0]["message"])
        self.assertIn("(2 times)", result.err)

    def test_a_mesh_that_cannot_be_computed_is_described_all_the_same(self):
        # inspect is there to find out what is wrong
        nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D8")
        number, corners = elements["C3D8"][0]
        elements["C3D8"][0] = (number, corners[4:] + corners[:4])
        self.write("box.inp", inp_deck(nodes, elements))
        result = self.lissom("inspect", "box.inp", "--json")
        self.assertEqual(result.code, 2)
        self.assertEqual(result.json["quality"]["negative_elements"], 1)
        self.assertEqual(result.json["quality"]["worst_element"], 1)
        self.assertIn("turned inside out: 1", self.lissom("inspect", "box.inp").out)


if __name__ == "__main__":
    unittest.main()
