"""lissom run, and study files right and wrong."""

import json
import unittest

from support import MATERIAL, CliTest, brick, inp_deck, nodes_at

ROD = '[bodies.rod]\nmesh = "good.inp"\n'


class StudyTest(CliTest):
    def setUp(self):
        super().setUp()
        self.nodes, self.elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D8")
        self.write("good.inp", inp_deck(self.nodes, self.elements, sets={"LEFT": nodes_at(self.nodes, 0, 0.0)}))

    def refused(self, text, *messages, code=2):
        self.write("s.toml", text)
        return self.assert_refused(["run", "s.toml"], *messages, code=code)


class Carried(StudyTest):
    def test_a_study_gives_what_modes_gives(self):
        self.write("s.toml", 'title = "A rod"\n' + ROD + '[bodies.rod.modes]\ncount = 8\nfix = "LEFT"\nparaview = false\n')
        summary = self.json_of("run", "s.toml")
        alone = self.json_of("modes", "good.inp", "--count", 8, "--fix", "LEFT", "--no-files")
        rod = summary["bodies"]["rod"]
        self.assertEqual(rod["frequencies_hz"], alone["frequencies_hz"])
        self.assertEqual(summary["title"], "A rod")
        for key in ("nodes", "elements", "volume", "mass", "center", "inertia", "sets", "residuals", "seconds"):
            self.assertIn(key, rod)
        self.assertGreater(summary["peak_memory_bytes"], 0)
        self.assertEqual(set(self.files()), {"good.inp", "s.toml", "s.out/", "s.out/summary.json", "s.out/report.html", "s.out/rod.body.h5",
                                             "s.out/rod_modes.csv", "s.out/rod_modes.view.h5"})
        written = json.loads((self.folder / "s.out/summary.json").read_text())
        self.assertEqual(written["bodies"]["rod"]["frequencies_hz"], rod["frequencies_hz"])

    def test_units_and_materials_are_those_of_the_study(self):
        nodes, elements = brick((2, 1, 1), (2000.0, 1000.0, 1000.0), "C3D8")
        self.write("mm.inp", inp_deck(nodes, elements, None))
        self.write("s.toml", 'units = "mm-t-s"\n[bodies.rod]\nmesh = "mm.inp"\n'
                   'material = { E = 210e3, nu = 0.3, rho = 7.85e-9 }\n[bodies.rod.modes]\n')
        found = self.json_of("run", "s.toml")["bodies"]["rod"]["frequencies_hz"]
        expected = self.json_of("modes", "good.inp", "--material", MATERIAL, "--no-files")["frequencies_hz"]
        self.assert_close(found[6:], expected[6:], 1e-9)

    def test_files_are_looked_for_beside_the_study(self):
        self.write("deep/good.inp", (self.folder / "good.inp").read_text())
        self.write("deep/s.toml", ROD)
        self.assertEqual(self.json_of("inspect", "deep/s.toml")["bodies"]["rod"]["nodes"], 12)
        self.assertEqual(self.json_of("run", "deep/s.toml", "--out", "res")["bodies"]["rod"]["nodes"], 12)
        self.assertIn("res/summary.json", self.files())

    def test_a_spider_can_be_held(self):
        self.write("s.toml", ROD + '[[bodies.rod.spiders]]\nname = "hub"\nkind = "rigid"\nset = "LEFT"\n'
                   '[bodies.rod.modes]\nfix = "hub"\ncount = 6\nparaview = false\n')
        found = self.json_of("run", "s.toml")["bodies"]["rod"]
        expected = self.json_of("modes", "good.inp", "--fix", "LEFT", "--count", 6, "--no-files")
        self.assertEqual(found["spiders"], [{"kind": "rigid", "name": "hub", "nodes": 4}])
        # a rigid face whose reference is held is a held face
        self.assert_close(found["frequencies_hz"], expected["frequencies_hz"], 1e-9)

    def test_warnings_of_a_case_begin_with_its_name(self):
        # a second joint on the axis of the hinge says again what the hinge says
        hinge = '{ name = "hinge", kind = "revolute", between = ["ground", "arm.hub"], axis = [0, 1, 0] }'
        second = '{ name = "second", kind = "spherical", between = ["ground", "arm.side"] }'
        self.write("s.toml", '[bodies.arm]\nrigid = { mass = 2, center = [0.25, 0, 0], inertia = [1e-4, 0.05, 0.05] }\n'
                   'points = { hub = [0, 0, 0], side = [0, 0.1, 0] }\n[simulate]\nend = 0.01\nstep = 1e-3\n'
                   '[[cases]]\nname = "twice"\nset = { joints = [' + hinge + ", " + second + "] }\n")
        found = self.json_of("run", "s.toml")["warnings"]
        redundant = [w["message"] for w in found if "redundant" in w["message"]]
        self.assertTrue(redundant, found)
        for message in redundant:
            self.assertTrue(message.startswith("case 'twice': joint"), message)

    def test_names_beyond_ascii_are_good_names(self):
        self.write("s.toml", '[bodies."größe 2.1"]\nmesh = "good.inp"\n[bodies."größe 2.1".modes]\nparaview = false\n')
        self.json_of("run", "s.toml")
        self.assertIn("s.out/größe 2.1.body.h5", self.files())

    def test_sets_called_by_bytes_that_are_no_text(self):
        text = (self.folder / "good.inp").read_bytes()
        self.write("good.inp", text.replace(b"NSET=LEFT", b"NSET=gr\xfcn"))
        self.write("s.toml", ROD + "[bodies.rod.modes]\nparaview = false\n")
        self.json_of("run", "s.toml")
        self.assertIn("rod", json.loads((self.folder / "s.out/summary.json").read_text())["bodies"])


class Refused(StudyTest):
    def test_syntax_errors_have_their_line(self):
        self.refused('title = "x"\n[bodies.rod\nmesh = "good.inp"\n', "s.toml:2: is no valid TOML")
        self.refused("a = 1\na = 2\n", "s.toml:2: is no valid TOML", "cannot redefine")
        self.refused('title = "open\n' + ROD, "s.toml:1: is no valid TOML")
        self.write("s.toml", b'title = "\xff"\n')
        self.assert_refused(["run", "s.toml"], "s.toml:1: is no valid TOML")
        self.assert_refused(["run", "good.inp"], "good.inp:1: is no valid TOML")

    def test_unknown_keys_get_a_suggestion(self):
        self.refused(ROD + "mehs_size = 3\n", "s.toml:3: bodies.rod.mehs_size: unknown key; did you mean 'mesh_size'?")
        self.refused('titel = "x"\n' + ROD, "s.toml:1: titel: unknown key; did you mean 'title'?")
        self.refused(ROD + "[bodies.rod.modes]\nzzzzzzzzz = 1\n", "s.toml:4: bodies.rod.modes.zzzzzzzzz: unknown key; known here: ", "count")

    def test_values_of_the_wrong_kind(self):
        self.refused("title = 3\n" + ROD, "s.toml:1: title: expected a text in quotes, found 3")
        self.refused(ROD + '[bodies.rod.modes]\ncount = "ten"\n', 's.toml:4: bodies.rod.modes.count: expected a whole number, found "ten"')
        self.refused(ROD + "[bodies.rod.modes]\ncount = 2.5\n", "s.toml:4: bodies.rod.modes.count: expected a whole number, found 2.5")
        self.refused(ROD + "modes = 3\n", "s.toml:3: bodies.rod.modes: expected a table")
        self.refused("bodies = 3\n", "s.toml:1: bodies: expected tables")
        self.refused("[bodies]\nrod = 3\n", "s.toml:2: bodies.rod: expected a table")

    def test_all_problems_are_listed_at_once(self):
        result = self.refused(
            'titel = "x"\nunits = "furlong"\n[bodies.a]\nmesh = 3\nmass = "lumpd"\n[bodies.b]\n[bodies.b.modes]\ncount = 0\n'
            'fix = [1, 2]\n[bodies.c]\nmesh = "nope.inp"\n[bodies.c.material]\nE = -1\nnu = 0.7\nrho = "x"\n',
            "s.toml:1: titel: unknown key", "s.toml:2: units: unknown unit system 'furlong'", "s.toml:4: bodies.a.mesh: ",
            "s.toml:5: bodies.a.mass: 'lumpd'", "did you mean 'lumped'?", "s.toml:6: bodies.b.mesh: is missing",
            "s.toml:8: bodies.b.modes.count: is 0", "s.toml:9: bodies.b.modes.fix: ",
            "s.toml:11: bodies.c.mesh: there is no file 'nope.inp'", "s.toml:13: bodies.c.material.E: is -1",
            "s.toml:14: bodies.c.material.nu: is 0.7", "s.toml:15: bodies.c.material.rho: expected a number")
        self.assertEqual(result.err.count("s.toml:"), 11)

    def test_files_that_are_missing(self):
        self.refused('[bodies.rod]\nmesh = "nope.inp"\n', "s.toml:2: bodies.rod.mesh: there is no file 'nope.inp'")
        self.refused('[bodies.rod]\nstiffness = "nope.mtx"\n', "s.toml:2: bodies.rod.stiffness: there is no file 'nope.mtx'")

    def test_no_bodies(self):
        self.refused('title = "x"\n', "s.toml:1: bodies: is missing")

    def test_modes_that_cannot_be_had(self):
        for count in (-1, 99999999999):
            self.refused(ROD + f"[bodies.rod.modes]\ncount = {count}\n", f"s.toml:4: bodies.rod.modes.count: is {count}")
        self.refused(ROD + "[bodies.rod.modes]\ncount = 100\n", "bodies.rod.modes.count: is 100, but the body has only 36 free degrees of freedom")
        self.refused(ROD + '[bodies.rod.modes]\nfix = "LEFTT"\n', "'LEFTT'", "did you mean 'LEFT'?")

    def test_a_spider_on_a_set_that_is_not_there(self):
        self.refused(ROD + '[[bodies.rod.spiders]]\nname = "hub"\nset = "LEFTT"\n', "s.toml:3: bodies.rod: spider 'hub'", "did you mean 'LEFT'?")

    def test_a_mesh_with_an_error_is_named(self):
        self.write("bad.inp", "*NODE\n1, 0, 0, x\n")
        self.refused('[bodies.rod]\nmesh = "bad.inp"\n', "bad.inp:2: ")

    def test_bodies_whose_names_would_lead_out_of_the_folder(self):
        before = set(self.folder.parent.iterdir())
        for name in ("../x", "..", ".", "", "/tmp/lissom-cli-evil", "a/b", "a\\\\b", "line\\nfeed", "nul\\u0000", "-x", " ", "x" * 300):
            with self.subTest(name=name):
                self.refused(f'[bodies."{name}"]\nmesh = "good.inp"\n[bodies."{name}".modes]\ncount = 7\n',
                             "s.toml:1: bodies.", ": the name ")
        escaped = {path.name for path in set(self.folder.parent.iterdir()) - before}
        self.assertFalse({name for name in escaped if "evil" in name or name.startswith("x")}, escaped)

    def test_a_file_in_place_of_the_folder(self):
        self.write("s.toml", ROD)
        self.assert_refused(["run", "s.toml", "--out", "good.inp"], "good.inp: results go to a folder")


if __name__ == "__main__":
    unittest.main()
