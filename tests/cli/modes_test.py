"""lissom modes: the contract of its JSON, its flags and files, and frequencies known in closed form."""

import math
import unittest

import h5py

from support import MATERIAL, STEEL, CliTest, brick, inp_deck, nodes_at, read_netcdf


def lower_triangle(group):
    """(row, column, value) of a symmetric matrix that is stored by columns."""
    starts, rows, values = (group[name][:].tolist() for name in ("indptr", "indices", "data"))
    return [(rows[k], c, values[k]) for c in range(len(starts) - 1) for k in range(starts[c], starts[c + 1])]


def quadratic_form(lower, x):
    return sum((1 if r == c else 2) * v * x[r] * x[c] for r, c, v in lower)


class ModesTest(CliTest):
    def box(self, cells=(4, 2, 2), size=(0.4, 0.1, 0.06), kind="C3D20", **rest):
        nodes, elements = brick(cells, size, kind)
        sets = {"LEFT": nodes_at(nodes, 0, 0.0), "RIGHT": nodes_at(nodes, 0, size[0])}
        self.nodes = nodes
        return self.write("box.inp", inp_deck(nodes, elements, sets=sets, **rest))


class Contract(ModesTest):
    def test_a_free_body_has_six_rigid_modes_and_ascending_frequencies(self):
        self.box()
        found = self.json_of("modes", "box.inp", "--no-files")
        frequencies = found["frequencies_hz"]
        self.assertEqual(len(frequencies), 12)
        self.assertEqual(len(found["residuals"]), 12)
        self.assertEqual(frequencies, sorted(frequencies))
        self.assertEqual(found["rigid_modes"], 6)
        # a rigid mode's eigenvalue is round-off of those that K and M can have: far below the first elastic one
        self.assertLess(max(map(abs, frequencies[:6])), 1e-3 * frequencies[6])
        self.assertGreater(frequencies[6], 1000)
        # the default tolerance is 1e-9
        self.assertLess(max(found["residuals"]), 1e-8)
        self.assertTrue(all(r >= 0 for r in found["residuals"]))

    def test_time_and_memory_are_told(self):
        self.box()
        found = self.json_of("modes", "box.inp", "--no-files")
        self.assertGreater(found["peak_memory_bytes"], 1e6)
        self.assertLess(found["peak_memory_bytes"], 1e9)
        for phase in ("reading", "assembly", "factorisation", "total"):
            self.assertIn(phase, found["seconds"])
        self.assertTrue(all(s >= 0 for s in found["seconds"].values()))
        parts = sum(s for phase, s in found["seconds"].items() if phase != "total")
        self.assert_close(found["seconds"]["total"], parts, 1e-9)

    def test_count_is_obeyed_and_more_modes_do_not_change_the_first(self):
        self.box()
        few = self.json_of("modes", "box.inp", "--no-files", "--count", 8)["frequencies_hz"]
        many = self.json_of("modes", "box.inp", "--no-files", "--count", 30)["frequencies_hz"]
        one = self.json_of("modes", "box.inp", "--no-files", "--count", 1)["frequencies_hz"]
        self.assertEqual((len(one), len(few), len(many)), (1, 8, 30))
        # converged to residuals of 1e-9, of which eigenvalues feel the square
        self.assert_close(few[6:], many[6:8], 1e-8)

    def test_every_mode_can_be_asked_for(self):
        nodes, elements = brick((1, 1, 1), (1.0, 1.0, 1.0), "C3D8")
        self.write("cube.inp", inp_deck(nodes, elements))
        frequencies = self.json_of("modes", "cube.inp", "--no-files", "--count", 24)["frequencies_hz"]
        self.assertEqual(len(frequencies), 24)
        self.assertEqual(frequencies, sorted(frequencies))

    def test_mass_kinds_are_different_and_named(self):
        self.box(kind="C3D4")
        found = {mass: self.json_of("modes", "box.inp", "--no-files", "--mass", mass)
                 for mass in ("consistent", "lumped", "calculix")}
        for mass, run in found.items():
            self.assertEqual(run["mass_kind"], mass)
            self.assertEqual(run["rigid_modes"], 6)
        default = self.json_of("modes", "box.inp", "--no-files")
        self.assertEqual(default["mass_kind"], "consistent")
        # lumped mass takes frequencies down, consistent mass does not
        self.assertLess(found["lumped"]["frequencies_hz"][6], 0.999 * found["consistent"]["frequencies_hz"][6])

    def test_effective_masses_of_a_free_body_are_its_mass_and_inertia(self):
        self.box()
        mass = self.json_of("inspect", "box.inp")["mass"]
        effective = self.json_of("modes", "box.inp", "--no-files")["effective_mass"]
        # all of the mass moves in the six rigid modes and none in elastic ones
        for axis in range(3):
            self.assert_close(sum(row[axis] for row in effective[:6]), mass, 1e-8)
            self.assertLess(sum(row[axis] for row in effective[6:]), 1e-8 * mass)

    def test_text_has_a_line_for_each_mode(self):
        self.box()
        text = self.lissom("modes", "box.inp", "--no-files").out
        frequencies = self.json_of("modes", "box.inp", "--no-files")["frequencies_hz"]
        self.assertIn("%.6g" % frequencies[6], text)
        self.assertIn("degrees of freedom", text)

    def test_streams_are_not_mixed(self):
        self.box()
        result = self.lissom("modes", "box.inp", "--no-files", "--json", "--quiet")
        self.assertEqual(result.err, "")
        self.assertIn("frequencies_hz", result.json)

    def test_units_do_not_change_the_frequencies(self):
        self.box()
        expected = self.json_of("modes", "box.inp", "--no-files")["frequencies_hz"]
        nodes, elements = brick((4, 2, 2), (400, 100, 60))
        for units, steel in (("mm-t-s", dict(E=210e3, nu=0.3, rho=7.85e-9)), ("mm-kg-ms", dict(E=210.0, nu=0.3, rho=7.85e-6))):
            self.write("mm.inp", inp_deck(nodes, elements, steel))
            found = self.json_of("modes", "mm.inp", "--units", units, "--no-files")["frequencies_hz"]
            # the decks have 13 digits; the eigen-solver's own tolerance rules
            self.assert_close(found[6:], expected[6:], 1e-8)

    def test_neither_another_run_nor_the_number_of_threads_changes_the_numbers(self):
        self.box()
        first, second = (self.json_of("modes", "box.inp", "--no-files") for _ in range(2))
        self.assertEqual(second["frequencies_hz"], first["frequencies_hz"])
        parallel = self.lissom("modes", "box.inp", "--no-files", "--json", OMP_NUM_THREADS="2").json
        # sums in another order inside of the BLAS
        self.assert_close(parallel["frequencies_hz"][6:], first["frequencies_hz"][6:], 1e-9)


class Fixing(ModesTest):
    def test_a_held_face_leaves_no_rigid_mode(self):
        self.box()
        found = self.json_of("modes", "box.inp", "--no-files", "--fix", "LEFT")
        self.assertEqual(found["rigid_modes"], 0)
        self.assertEqual(found["fixed"], ["LEFT"])
        self.assertGreater(found["frequencies_hz"][0], 10)

    def test_the_file_may_stand_behind_the_set(self):
        self.box()
        behind = self.json_of("modes", "--no-files", "--fix", "LEFT", "box.inp")
        before = self.json_of("modes", "box.inp", "--no-files", "--fix", "LEFT")
        self.assertEqual(behind["frequencies_hz"], before["frequencies_hz"])

    def test_a_held_node_leaves_three_rotations(self):
        self.box()
        found = self.json_of("modes", "box.inp", "--no-files", "--fix", "node 17")
        frequencies = found["frequencies_hz"]
        self.assertLess(max(map(abs, frequencies[:3])), 1e-3 * frequencies[3])
        self.assertGreater(frequencies[3], 10)

    def test_nodes_and_sets_can_be_held_together(self):
        self.box()
        both = self.json_of("modes", "box.inp", "--no-files", "--fix", "LEFT", "--fix", "RIGHT")
        left = self.json_of("modes", "box.inp", "--no-files", "--fix", "LEFT")
        nodes = [word for n in nodes_at(self.nodes, 0, 0.0) for word in ("--fix", f"node {n}")]
        one_by_one = self.json_of("modes", "box.inp", "--no-files", *nodes)
        self.assertGreater(both["frequencies_hz"][0], 3 * left["frequencies_hz"][0])
        self.assert_close(one_by_one["frequencies_hz"], left["frequencies_hz"], 1e-9)


class ClosedForms(ModesTest):
    def test_a_cantilever_bends_as_euler_and_bernoulli_say(self):
        length, b, h = 1.0, 0.03, 0.02
        self.box(cells=(25, 1, 1), size=(length, b, h))
        found = self.json_of("modes", "box.inp", "--no-files", "--fix", "LEFT", "--count", 4)["frequencies_hz"]
        expected = []
        for thickness in (b, h):
            for root in (1.8751040687, 4.6940911330):
                bending = STEEL["E"] * thickness**2 / 12 / STEEL["rho"]  # EI / rho A
                expected.append(root**2 / (2 * math.pi) * math.sqrt(bending) / length**2)
        # what beam theory leaves out: shear and rotary inertia take (r/L)^2 (1 + E/kG) root^2 / 2 or so, at most
        # 0.4 % for the second mode of the thicker direction (r/L = 0.0087), and the clamped face's held contraction
        # adds less than h/L x 0.1 = 0.3 %
        for frequency, theory in zip(found, sorted(expected)):
            self.assert_close(frequency, theory, 7e-3)

    def test_a_rod_stretches_at_multiples_of_its_wave_time(self):
        # nu = 0: waves along the rod are those of a string, f = n c / 2L, and nothing else is symmetric
        nodes, elements = brick((20, 1, 1), (1.0, 0.1, 0.1))
        self.write("rod.inp", inp_deck(nodes, elements, dict(E=200e9, nu=0.0, rho=8000.0)))
        found = self.json_of("modes", "rod.inp", "--no-files", "--count", 30)
        wave = math.sqrt(200e9 / 8000.0) / 2
        # quadratic elements, 40 nodes a wave: the error is (pi/40)^4/720 x some, far below 1e-6
        self.assertLess(min(abs(f / wave - 1) for f in found["frequencies_hz"][6:]), 1e-6)

    def test_a_free_cube_has_its_multiple_frequencies(self):
        self.box(cells=(4, 4, 4), size=(0.1, 0.1, 0.1))
        frequencies = self.json_of("modes", "box.inp", "--no-files", "--count", 30)["frequencies_hz"]
        groups = [[frequencies[6]]]
        for frequency in frequencies[7:]:
            if frequency / groups[-1][0] - 1 < 1e-4:
                groups[-1].append(frequency)
            else:
                groups.append([frequency])
        # the cube's symmetry group has representations of dimension 1, 2 and 3; the last group may be cut off
        self.assertTrue(all(len(group) <= 3 for group in groups), groups)
        self.assertIn(2, [len(group) for group in groups[:-1]])
        self.assertIn(3, [len(group) for group in groups[:-1]])
        # the mesh has that symmetry too, so that copies agree as far as the solver goes
        for group in groups:
            self.assert_close(group[0], group[-1], 1e-8)
        # Lame's modes are pure shear, f = c_s / (sqrt 2 a); 4 quadratic elements see half a wave to 6e-4, 3 to 2e-3
        shear = math.sqrt(STEEL["E"] / (2 * (1 + STEEL["nu"])) / STEEL["rho"])
        lame = shear / (math.sqrt(2) * 0.1)
        self.assertLess(min(abs(f / lame - 1) for f in frequencies[6:]), 1e-3)


class Files(ModesTest):
    def test_a_body_file_a_table_a_view_and_a_file_for_paraview_are_written_and_nothing_else(self):
        self.box()
        found = self.json_of("modes", "box.inp", "--count", 8)
        files = self.files()
        self.assertEqual(found["out"], "box.modes")
        for file in found["files"]:
            self.assertGreater(files["box.modes/" + file], 0)
        expected = {"box.inp", "box.modes/", "box.modes/box.body.h5", "box.modes/box_modes.csv",
                    "box.modes/box_modes.exo", "box.modes/box_modes.view.h5"}
        self.assertEqual(set(files), expected)

    def test_out_names_the_folder(self):
        self.box()
        self.json_of("modes", "box.inp", "--out", "a/b")
        self.assertIn("a/b/box.body.h5", self.files())
        self.assertNotIn("box.modes/", self.files())

    def test_a_second_run_replaces_the_first(self):
        self.box()
        self.json_of("modes", "box.inp", "--count", 8)
        names = set(self.files())
        self.json_of("modes", "box.inp", "--count", 8)
        self.assertEqual(set(self.files()), names)

    def test_fewer_modes_leave_no_older_shapes(self):
        self.box()
        self.json_of("modes", "box.inp", "--count", 9)
        self.json_of("modes", "box.inp", "--count", 7)
        times = read_netcdf(self.folder / "box.modes/box_modes.exo")["time_whole"]
        self.assertEqual(times, [(k,) for k in range(1, 8)])

    def test_no_paraview_and_no_files_are_obeyed(self):
        self.box()
        self.json_of("modes", "box.inp", "--no-files")
        self.assertEqual(list(self.files()), ["box.inp"])
        self.json_of("modes", "box.inp", "--no-paraview")
        self.assertEqual(set(self.files()), {"box.inp", "box.modes/", "box.modes/box.body.h5", "box.modes/box_modes.csv",
                                             "box.modes/box_modes.view.h5"})

    def test_a_body_file_is_as_good_as_its_mesh(self):
        self.box()
        expected = self.json_of("modes", "box.inp", "--no-paraview", "--mass", "lumped", "--out", "first")
        found = self.json_of("modes", "first/box.body.h5", "--no-files")
        self.assert_close(found["frequencies_hz"][6:], expected["frequencies_hz"][6:], 1e-9)
        for flags in (["--mass", "consistent"], ["--material", MATERIAL]):
            self.assert_refused(["modes", "first/box.body.h5", *flags], f"{flags[0]}: first/box.body.h5 is a body file")

    def test_the_table_has_what_the_json_has(self):
        self.box()
        found = self.json_of("modes", "box.inp", "--no-paraview")
        lines = (self.folder / "box.modes/box_modes.csv").read_text().splitlines()
        self.assertEqual(len(lines), 13)
        self.assertEqual(lines[0].split(",")[:3], ["mode", "frequency_hz", "residual"])
        column = [float(line.split(",")[1]) for line in lines[1:]]
        self.assert_close(column, found["frequencies_hz"], 1e-11)

    def test_the_body_file_opens_in_python_and_has_the_frequencies(self):
        self.box()
        found = self.json_of("modes", "box.inp", "--no-paraview")
        with h5py.File(self.folder / "box.modes/box.body.h5") as file:
            self.assert_close(file["modes/frequencies"][:].tolist(), found["frequencies_hz"], 1e-15)
            self.assertEqual(file["modes/shapes"].shape, (3 * found["nodes"], 12))
            # the file's own K, M and shapes belong together: phi' M phi = 1 for the first elastic mode
            K, M = (lower_triangle(file["model"][name]) for name in "KM")
            shape = file["modes/shapes"][:, 6].tolist()
        self.assert_close(quadratic_form(M, shape), 1.0, 1e-9)
        self.assert_close(quadratic_form(K, shape), (2 * math.pi * found["frequencies_hz"][6])**2, 1e-8)


class Materials(ModesTest):
    def test_the_material_on_the_command_line_counts(self):
        nodes, elements = brick((4, 2, 2), (0.4, 0.1, 0.06))
        self.write("box.inp", inp_deck(nodes, elements, None))
        steel = self.json_of("modes", "box.inp", "--no-files", "--material", MATERIAL)["frequencies_hz"]
        # frequencies go with the root of E / rho
        quadruple = self.json_of("modes", "box.inp", "--no-files", "--material", "E=840e9,nu=0.3,rho=7850")["frequencies_hz"]
        self.assert_close(quadruple[6:], [2 * f for f in steel[6:]], 1e-8)

    def test_an_orthotropic_material_with_isotropic_constants_is_isotropic(self):
        self.box()
        G = 210e9 / 2.6
        expected = self.json_of("modes", "box.inp", "--no-files")["frequencies_hz"]
        found = self.json_of("modes", "box.inp", "--no-files", "--material",
                             f"E1=210e9,E2=210e9,E3=210e9,nu12=.3,nu13=.3,nu23=.3,G12={G},G13={G},G23={G},rho=7850")
        self.assert_close(found["frequencies_hz"][6:], expected[6:], 1e-8)


if __name__ == "__main__":
    unittest.main()
