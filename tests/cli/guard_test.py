"""Nothing is lost: outputs replace no input of the run and no file that Lissom did not write, whatever the verb, and cases
do not get in the way of Lissom's own files."""

import json
import os
import unittest

import h5py

from simulate_test import HINGE, RIGID, SENSORS, simulate
from support import CliTest, brick, inp_deck, nodes_at

PUSH = '[[loads]]\nname = "push"\nkind = "force"\non = "arm.tip"\nforce = [0, 0, 1]\n'
STUDY = RIGID + HINGE + SENSORS + PUSH + simulate(0.01)
SWEEP = '[sweep]\n[[sweep.parameters]]\nkey = "bodies.arm.rigid.mass"\nvalues = [1, 2]\n'
NOT_OURS = "is there already, and Lissom did not write it"
READ = "is read by this run, and would be replaced"


class Guard(CliTest):
    def setUp(self):
        super().setUp()
        self.write("s.toml", STUDY)

    def ok(self, *arguments):
        done = self.lissom(*arguments)
        self.assertEqual(done.code, 0, done.err)
        return done

    def text(self, name):
        return (self.folder / name).read_bytes()

    def refused(self, arguments, *messages):
        """As assert_refused, and every file has the content that it had."""
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        self.assert_refused(arguments, *messages)
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content, path)


class SingleFiles(Guard):
    def test_the_study_is_not_replaced(self):
        self.refused(["linearise", "s.toml", "--out", "s.toml"], "s.toml: " + NOT_OURS)
        self.refused(["response", "s.toml", "--from", 1, "--to", 2, "--out", "s.toml"], "s.toml: " + NOT_OURS)
        self.ok("run", "s.toml", "--out", "r")
        self.refused(["report", "r", "--out", "s.toml"], "s.toml: " + NOT_OURS)
        self.refused(["report", "r", "--out", "r/result.h5"], "r/result.h5: is a result or model (HDF5) that Lissom wrote",
                     "would be replaced by a report")

    def test_links_lead_to_the_same_file(self):
        os.symlink("s.toml", self.folder / "soft.mat")
        os.link(self.folder / "s.toml", self.folder / "hard.mat")
        for name in ("soft.mat", "hard.mat", "./s.toml"):
            self.refused(["linearise", "s.toml", "--out", name], NOT_OURS)

    def test_what_lissom_wrote_is_replaced(self):
        for _ in range(2):
            self.ok("linearise", "s.toml", "--out", "m.mat")
            self.ok("response", "s.toml", "--from", 1, "--to", 2, "--out", "r.csv")
            self.ok("run", "s.toml", "--out", "out")
            self.ok("report", "out", "--out", "page.html")
            self.ok("compare", "out", "out", "--out", "difference")
        # an empty file has nothing to lose
        self.write("empty.mat", "")
        self.ok("linearise", "s.toml", "--out", "empty.mat")
        # linearisations of earlier versions say who wrote them by their variables only
        content = bytearray(self.text("m.mat"))
        content[:116] = b"MATLAB 5.0 MAT-file, Platform: linux, Created By: libmatio v1.5.23".ljust(116)
        self.write("m.mat", bytes(content))
        self.ok("linearise", "s.toml", "--out", "m.mat")
        # but each only by its own kind
        self.refused(["linearise", "s.toml", "--out", "r.csv"], "r.csv: is a frequency response (CSV) that Lissom wrote")

    def test_files_of_others_are_not_replaced(self):
        for name, content in {"notes.mat": "my notes", "x.csv": "f,a\n1,2\n", "page.html": "<!DOCTYPE html>\n<html></html>\n",
                              "k.mat": b"MATLAB 5.0 MAT-file, Platform: PCWIN".ljust(128) + b"\0" * 64}.items():
            self.write(name, content)
        self.refused(["linearise", "s.toml", "--out", "notes.mat"], "notes.mat: " + NOT_OURS, "move it away")
        self.refused(["linearise", "s.toml", "--out", "k.mat"], "k.mat: " + NOT_OURS)
        self.refused(["response", "s.toml", "--from", 1, "--to", 2, "--out", "x.csv"], "x.csv: " + NOT_OURS)
        self.ok("run", "s.toml", "--out", "r")
        self.refused(["report", "r", "--out", "page.html"], "page.html: " + NOT_OURS)


class Folders(Guard):
    def test_a_table_that_the_study_reads(self):
        table = STUDY.replace("force = [0, 0, 1]", 'force = [0, 0, { file = "sensors.csv" }]')
        self.write("s.toml", table)
        self.write("sensors.csv", "t,f\n0,0\n1,1\n")
        self.refused(["run", "s.toml", "--out", "."], "sensors.csv: " + READ)
        self.refused(["simulate", "s.toml", "--out", "."], "sensors.csv: " + READ)
        self.refused(["static", "s.toml", "--out", "."], "sensors.csv: " + READ)
        # also where the table is a result of Lissom's own, by another name
        self.write("first.toml", RIGID + HINGE + '[[sensors]]\nname = "swing"\nkind = "joint-angle"\nof = "hinge"\n' + simulate(0.01))
        (self.folder / "sensors.csv").unlink()
        self.ok("simulate", "first.toml", "--out", "one")
        os.symlink("one/sensors.csv", self.folder / "link.csv")
        self.write("s.toml", table.replace("sensors.csv", "link.csv"))
        self.refused(["simulate", "s.toml", "--out", "one"], "one/sensors.csv: " + READ)
        self.ok("simulate", "s.toml", "--out", "two")
        self.ok("simulate", "first.toml", "--out", "one")

    def test_a_model_that_is_run_is_not_replaced(self):
        nodes, elements = brick((4, 1, 1), (4.0, 1.0, 1.0), "C3D8")
        self.write("rod.inp", inp_deck(nodes, elements, sets={"LEFT": nodes_at(nodes, 0, 0.0), "RIGHT": nodes_at(nodes, 0, 4.0)}))
        self.write("rod.toml", '[bodies.rod]\nmesh = "rod.inp"\n[bodies.rod.reduce]\ninterfaces = ["LEFT", "RIGHT"]\nmodes = 3\n')
        self.ok("reduce", "rod.toml", "--out", ".")
        self.ok("reduce", "rod.toml", "--out", ".")
        self.write("use.toml", '[bodies.rod]\nbody = "rod.body.h5"\n[bodies.rod.modes]\ncount = 8\n')
        self.write("modes.toml", '[bodies.rod]\nmesh = "rod.inp"\n[bodies.rod.modes]\ncount = 8\n')
        self.ok("run", "modes.toml", "--out", ".")
        self.refused(["run", "use.toml", "--out", "."], "rod.body.h5: " + READ)

    def test_files_of_others_in_the_folder_are_all_named_before_anything_is_written(self):
        self.write("mine/summary.json", '{"mine": [1, 2]}')
        self.write("mine/sensors.csv", "t,force\n0,1\n")
        with h5py.File(self.folder / "mine/result.h5", "w") as file:
            file["x"] = [1.0]
            file.attrs["format"] = "other"
        self.refused(["run", "s.toml", "--out", "mine"], *(f"mine/{name}: {NOT_OURS}" for name in ("summary.json", "sensors.csv", "result.h5")))
        (self.folder / "mine/summary.json").unlink()
        self.refused(["simulate", "s.toml", "--out", "mine"], "mine/sensors.csv: " + NOT_OURS)
        (self.folder / "mine/sensors.csv").unlink()
        (self.folder / "mine/result.h5").unlink()
        self.write("mine/report.html", "<html>mine</html>")
        self.refused(["run", "s.toml", "--out", "mine"], "mine/report.html: " + NOT_OURS)
        # which is in the way of no other verb
        self.ok("simulate", "s.toml", "--out", "mine")
        self.assertEqual(self.text("mine/report.html"), b"<html>mine</html>")

    def test_the_folder_of_a_case(self):
        self.write("s.toml", STUDY + '[[cases]]\nname = "slow"\nset = { "simulate.step" = 2e-3 }\n')
        self.write("out/slow/sensors.csv", "t,force\n0,1\n")
        self.refused(["run", "s.toml", "--out", "out"], "out/slow/sensors.csv: " + NOT_OURS)
        os.unlink(self.folder / "out/slow/sensors.csv")
        self.ok("run", "s.toml", "--out", "out")
        self.ok("run", "s.toml", "--out", "out")

    def test_damaged_results_of_lissom_are_replaced(self):
        self.ok("run", "s.toml", "--out", "out")
        result = self.text("out/result.h5")
        self.write("out/result.h5", result[:len(result) // 2])
        self.write("out/sensors.csv", self.text("out/sensors.csv")[:-7])
        self.ok("run", "s.toml", "--out", "out")

    def test_what_a_user_puts_there_later_stays(self):
        self.ok("run", "s.toml", "--out", "out")
        self.write("out/sensors.csv", "time;mine\n0;1\n")
        self.refused(["run", "s.toml", "--out", "out"], "out/sensors.csv: " + NOT_OURS)


class Names(Guard):
    def test_cases_cannot_be_called_as_files_and_folders_of_ours(self):
        for name in ("sweep-work", "summary.json", "result.h5", "Summary.JSON", "points", "training", "training-2", "tests", "sweep.lock",
                     "arm.reduced.h5", "checkpoint.lissom", "report.html"):
            text = STUDY + f'[[cases]]\nname = "{name}"\nset = {{ "simulate.step" = 2e-3 }}\n'
            self.write("s.toml", text)
            line = text.index("name = \"" + name)
            where = f"s.toml:{text[:line].count(chr(10)) + 1}: cases[1].name: '{name}' is what Lissom calls a file or folder of its own"
            done = self.lissom("check", "s.toml")
            self.assertEqual(done.code, 2, done.out)
            self.assertIn(where, done.out)
            self.refused(["run", "s.toml"], where)
        for name in ("training-x", "sweep", "result", "arm"):
            self.write("s.toml", STUDY + f'[[cases]]\nname = "{name}"\nset = {{ "simulate.step" = 2e-3 }}\n')
            self.assertEqual(self.lissom("check", "s.toml").code, 0, name)

    def test_every_file_that_a_run_leaves_is_reserved(self):
        self.write("s.toml", STUDY + "[linearise]\n[response]\nfrom = 1\nto = 2\npoints = 3\n" + SWEEP)
        self.ok("run", "s.toml", "--out", "out")
        left = [path.name for path in (self.folder / "out").iterdir()]
        self.assertGreater(len(left), 9)
        for name in left:
            self.write("c.toml", STUDY + f'[[cases]]\nname = "{name}"\nset = {{ "simulate.step" = 2e-3 }}\n')
            self.assertEqual(self.lissom("check", "c.toml").code, 2, name)

    def test_bodies_whose_files_would_be_called_the_same(self):
        nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D8")
        self.write("rod.inp", inp_deck(nodes, elements, sets={"LEFT": nodes_at(nodes, 0, 0.0)}))
        body = '[bodies.{0}]\nmesh = "rod.inp"\n[bodies.{0}.modes]\n'
        self.write("s.toml", body.format("system"))
        for verb in ("check", "run"):
            done = self.lissom(verb, "s.toml")
            self.assertEqual(done.code, 2)
            self.assertIn("s.toml:1: bodies.system: its results would be called 'system_modes.exo', as those of the mechanism", done.out + done.err)
        self.write("s.toml", body.format("a_free") + '[bodies.a]\nmesh = "rod.inp"\n[bodies.a.reduce]\ninterfaces = ["LEFT"]\n')
        self.refused(["run", "s.toml"], "its results would be called 'a_free_modes.exo', as those of body 'a")

    def test_a_folder_of_the_user_is_not_removed(self):
        self.write("s.toml", STUDY + SWEEP)
        self.write("out/sweep-work/thesis.tex", "years of work")
        message = "out/sweep-work: has 'thesis.tex' in it, which is not Lissom's"
        self.refused(["sweep", "s.toml", "--out", "out"], message)
        self.refused(["run", "s.toml", "--out", "out"], message)
        self.assertEqual(self.text("out/sweep-work/thesis.tex"), b"years of work")
        os.unlink(self.folder / "out/sweep-work/thesis.tex")
        self.ok("sweep", "s.toml", "--out", "out")
        self.ok("sweep", "s.toml", "--out", "out")
        self.assertFalse((self.folder / "out/sweep-work").exists())
        self.assertEqual(len(json.loads(self.text("out/sweep.json"))["points"]), 2)


if __name__ == "__main__":
    unittest.main()
