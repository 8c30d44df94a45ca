"""lissom check, lissom new and lissom schema."""

import json
import pathlib
import tomllib
import unittest

import jsonschema

from support import SOURCE, CliTest, brick, inp_deck, nodes_at

LINK = "[bodies.link]\nrigid = { mass = 1, inertia = [1, 1, 1] }\npoints = { hub = [0, 0, 0], tip = [1, 0, 0] }\n"
HINGE = '[[joints]]\nname = "hinge"\nkind = "revolute"\nbetween = ["ground", "link.hub"]\naxis = [0, 0, 1]\n'
RUN = "[simulate]\nend = 0.1\nstep = 1e-3\n"


class Check(CliTest):
    def problems(self, *arguments):
        done = self.lissom("check", *arguments, "--json")
        self.assertEqual(done.code, 2, done.out)
        return json.loads(done.out)["problems"]

    def test_every_problem_is_listed_at_once_with_its_line(self):
        self.write("s.toml", 'tittle = "a"\n' + LINK.replace("mass = 1", "mass = -1") + HINGE + RUN + '[[cases]]\nname = "c"\nset = { "simulate.stpe" = 1 }\n')
        found = [(p["line"], p["key"], p["suggestion"]) for p in self.problems("s.toml")]
        self.assertEqual(found, [(1, "tittle", "title"), (3, "bodies.link.rigid.mass", None), (15, "simulate.stpe", "step")])
        people = self.lissom("check", "s.toml")
        self.assertEqual(people.code, 2)
        self.assertIn("s.toml:1: tittle: unknown key; did you mean 'title'?\n", people.out)
        self.assertIn("3 problems\n", people.out)

    def test_a_study_without_problems_says_what_it_would_do_and_writes_nothing(self):
        self.write("s.toml", 'title = "A link"\n' + LINK + HINGE + RUN)
        before = self.files()
        done = self.lissom("check", "s.toml")
        self.assertEqual(done.code, 0, done.err)
        for text in ("no problems", "A link", "body link: rigid", "1 joint, 0 loads, 0 sensors", "to t = 0.1 in steps of 0.001 by generalized-alpha", "result.h5"):
            self.assertIn(text, done.out)
        self.assertEqual(self.files(), before)
        study = self.json_of("check", "s.toml")["study"]
        self.assertEqual(study["joints"], 1)
        self.assertIn("summary.json", study["files"])

    def test_keys_may_be_set_otherwise(self):
        self.write("s.toml", "[parameters]\nmass = 1\n" + LINK.replace("mass = 1", 'mass = "= mass"') + HINGE + RUN)
        self.assertEqual(self.lissom("check", "s.toml", "--set", "mass=3").code, 0)
        found = self.problems("s.toml", "--set", "mass=-3")
        self.assertEqual([p["key"] for p in found], ["bodies.link.rigid.mass"])
        self.assertIn("is -3", found[0]["message"])
        found = self.problems("s.toml", "--set", "simulate.end=soon")
        self.assertEqual((found[0]["file"], found[0]["key"]), ("--set", "simulate.end"))

    def test_meshes_and_places_are_looked_at_unless_it_is_to_be_quick(self):
        nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D8")
        self.write("good.inp", inp_deck(nodes, elements, sets={"LEFT": nodes_at(nodes, 0, 0.0)}))
        text = '[bodies.rod]\nmesh = "good.inp"\n[bodies.rod.reduce]\ninterfaces = ["LEFT"]\n[[joints]]\nname = "j"\nkind = "spherical"\nbetween = ["ground", "rod.%s"]\n' + RUN
        self.write("s.toml", text % "LEFT")
        self.assertEqual(self.lissom("check", "s.toml").code, 0)
        self.write("s.toml", text % "LFET")
        found = self.problems("s.toml")
        self.assertEqual([(p["line"], p["key"], p["suggestion"]) for p in found], [(8, "joints.j.between", "LEFT")])
        self.assertEqual(self.lissom("check", "s.toml", "--quick").code, 0)
        self.write("good.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=C3D8\nnonsense\n")
        self.write("s.toml", text % "LEFT")
        self.assertEqual([p["key"] for p in self.problems("s.toml")], ["bodies.rod"])

    def test_every_example_is_right(self):
        for study in sorted((SOURCE / "examples").glob("*/study.toml")):
            with self.subTest(study.parent.name):
                done = self.lissom("check", study, "--quick")
                # models that a training writes are not there yet
                if done.code != 0:
                    self.assertIn("rom", done.out)


class Schema(CliTest):
    def setUp(self):
        super().setUp()
        done = self.lissom("schema")
        self.assertEqual(done.code, 0)
        self.schema = json.loads(done.out)
        self.validator = jsonschema.Draft7Validator(self.schema)

    def test_it_is_a_schema_and_the_committed_one(self):
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.assertEqual(self.schema, json.loads((SOURCE / "docs/reference/study.schema.json").read_text()))

    def test_examples_and_verification_studies_are_valid(self):
        studies = sorted((SOURCE / "examples").glob("*/study.toml")) + sorted((SOURCE / "verification").glob("*/*.toml"))
        self.assertGreater(len(studies), 20)
        for study in studies:
            with self.subTest(study):
                self.assertEqual([e.message for e in self.validator.iter_errors(tomllib.loads(study.read_text()))], [])

    def test_unknown_keys_wrong_kinds_and_words_are_not(self):
        def valid(text):
            return self.validator.is_valid(tomllib.loads(text))

        self.assertTrue(valid(LINK + HINGE + RUN))
        self.assertTrue(valid(LINK.replace("mass = 1", 'mass = "1 kg"') + HINGE + RUN))
        self.assertTrue(valid(LINK.replace("mass = 1", 'mass = "= m"') + HINGE + RUN))
        self.assertFalse(valid(LINK + HINGE + RUN + "stpe = 1\n"))
        self.assertFalse(valid(LINK.replace("mass = 1", 'mass = "heavy"') + HINGE + RUN))
        self.assertFalse(valid(LINK.replace("mass = 1", "mass = 0") + HINGE + RUN))
        self.assertFalse(valid(LINK + HINGE.replace("revolute", "hinge") + RUN))
        self.assertFalse(valid(LINK + HINGE.replace('kind = "revolute"\n', "") + RUN))
        self.assertFalse(valid("title = 3\n" + LINK))
        self.assertFalse(valid('title = "nothing"\n'))

    def test_the_page_is_the_committed_one(self):
        page = self.lissom("schema", "--markdown")
        self.assertEqual(page.code, 0)
        self.assertEqual(page.out, (SOURCE / "docs/reference/study-file.md").read_text(), "run: lissom schema --markdown > docs/reference/study-file.md")


class New(CliTest):
    KINDS = ("mechanism", "modes", "reduce", "slap", "pod", "rigid", "matrices")

    def test_the_kinds_are_listed(self):
        self.assertEqual([kind["name"] for kind in self.json_of("new", "--list")["kinds"]], list(self.KINDS))

    def test_every_kind_is_right_as_written_and_runs(self):
        validator = jsonschema.Draft7Validator(json.loads((SOURCE / "docs/reference/study.schema.json").read_text()))
        for kind in self.KINDS:
            with self.subTest(kind):
                made = self.json_of("new", kind, "--kind", kind)
                study = pathlib.Path(made["study"])
                text = (self.folder / study).read_text()
                self.assertTrue(text.startswith("#:schema study.schema.json\n"))
                self.assertNotIn("#:", text.split("\n", 1)[1])
                self.assertEqual(list(validator.iter_errors(tomllib.loads(text))), [])
                done = self.lissom("check", study)
                self.assertEqual((done.code, done.err), (0, ""), done.out)
                done = self.lissom("run", study, "--out", kind + "/results", timeout=300)
                self.assertEqual(done.code, 0, done.err)
                # what it leaves is what the check said
                said = set(self.json_of("check", study, "--quick")["study"]["files"])
                found = {path.name for path in (self.folder / kind / "results").iterdir() if path.is_file()}
                self.assertEqual(found, said)

    def test_nothing_is_overwritten(self):
        self.write("a/b.txt", "x")
        self.assert_refused(["new", "a"], "'a' is there already")
        self.assertEqual(sorted(self.files()), ["a/", "a/b.txt"])

    def test_wrong_names_and_kinds_are_refused(self):
        self.assert_refused(["new", "a", "--kind", "mechanics"], "'mechanics' is no kind of study", "did you mean 'mechanism'?")
        self.assert_refused(["new"], "a name is expected")
        self.assert_refused(["new", ".."], "'..'")
        self.assertEqual(self.files(), {})


if __name__ == "__main__":
    unittest.main()
