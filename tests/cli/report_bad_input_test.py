"""lissom report of what is damaged, missing, strange or still being written: never a crash or a hang, and what is left out is named."""

import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from report_test import Page
from support import CliTest, LISSOM, brick, inp_deck, nodes_at

# a bar that swings, with a reduced body, views, a case and differences
STUDY = """
title = "A swing"
gravity = [0, 0, -9.81]
[bodies.arm]
mesh = "arm.inp"
formulation = "ffrf"
[bodies.arm.reduce]
interfaces = ["hub", "tip"]
method = "fixed"
count = 2
modes = 3
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
[[sensors]]
name = "tip"
kind = "position"
of = "arm.tip"
[simulate]
end = 0.02
step = 1e-3
[[cases]]
name = "coarse"
set = { "simulate.step" = 2e-3 }
"""
RIGID = """
title = "A swing"
gravity = [0, 0, -9.81]
[bodies.arm]
rigid = { mass = 2, center = [0.25, 0, 0], inertia = [1e-4, 0.05, 0.05] }
points = { hub = [0, 0, 0], tip = [0.5, 0, 0] }
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
[[sensors]]
name = "tip"
kind = "position"
of = "arm.tip"
[simulate]
end = END
step = 1e-3
"""
ROPE = """
[[joints]]
name = "rope"
kind = "distance"
between = ["ground", "arm.tip"]
at = [0, 0, 0.7]
motion = "sqrt(0.74) + t"
"""
SUSPECT = ("internal error", "terminate called", "std::", "basic_string", "exception", "Segmentation", "HDF5-DIAG", "Assertion")


def deck():
    nodes, elements = brick((4, 1, 1), (0.4, 0.04, 0.04), "C3D8")
    sets = {"hub": nodes_at(nodes, 0, 0.0), "tip": nodes_at(nodes, 0, 0.4)}
    return inp_deck(nodes, {"C3D8I": elements["C3D8"]}, sets=sets)


class ReportBadInputTest(CliTest):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="lissom-report-")
        cls.addClassCleanup(holder.cleanup)
        cls.origin = pathlib.Path(holder.name)
        (cls.origin / "arm.inp").write_text(deck())
        (cls.origin / "swing.toml").write_text(STUDY)
        done = subprocess.run([LISSOM, "run", "swing.toml", "--out", "results"], cwd=cls.origin, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        for name in ("result.h5", "motion.view.h5", "arm.reduced.h5", "summary.json", "coarse/differences.csv", "report.html"):
            assert (cls.origin / "results" / name).exists(), name

    def results(self, name="results"):
        """A fresh copy of the run."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.origin / "results", folder)
        (folder / "report.html").unlink()
        return folder

    def report(self, run="results", *flags, timeout=60):
        """A report that must be made: its JSON and its page."""
        result = self.lissom("report", run, "--out", "page.html", "--json", *flags, timeout=timeout)
        self.assertEqual(result.code, 0, f"{run}: {result.err}{result.out}")
        for text in SUSPECT:
            self.assertNotIn(text, result.err + " ".join(result.json["page_warnings"]))
        page = Page((self.folder / "page.html").read_bytes().decode())  # which must be UTF-8
        self.assertEqual([w.strip() for w in page.warnings] != [], bool(result.json["page_warnings"]))
        return result.json, page

    def warned(self, found, *texts):
        self.assertTrue(any(all(t in w for t in texts) for w in found["page_warnings"]), f"{texts}: {found['page_warnings']}")

    def change_summary(self, change, name="results"):
        path = self.folder / name / "summary.json"
        summary = json.loads(path.read_text())
        path.write_text(json.dumps(change(summary) or summary))

    # ---- damaged files

    def test_a_damaged_file_costs_what_it_holds_and_is_named(self):
        self.results()
        self.assertEqual(self.report()[0]["page_warnings"], [])
        for name in ("result.h5", "motion.view.h5", "arm_free_modes.view.h5", "arm_coordinates.csv", "coarse/differences.csv", "coarse/result.h5"):
            for damage in ("cut", "empty", "text"):
                with self.subTest(file=name, damage=damage):
                    path = self.results() / name
                    self.assertTrue(path.exists(), f"the run leaves no {name}")
                    whole = path.read_bytes()
                    path.write_bytes({"cut": whole[:len(whole) // 2], "empty": b"", "text": b"no such file\xff\0,1e999\n1,nan\n"}[damage])
                    found, page = self.report()
                    self.warned(found, pathlib.Path(name).name)
                    self.assertEqual(page.sections[0], "warnings")
                    # the rest is there
                    self.assertIn("bodies", found["sections"])
                    self.assertIn("simulation", found["sections"])

    def test_a_damaged_file_by_itself_is_refused(self):
        folder = self.results()
        for name in ("result.h5", "motion.view.h5", "arm.reduced.h5"):
            whole = (folder / name).read_bytes()
            for damage in (whole[:len(whole) // 2], whole[:100]):
                (folder / name).write_bytes(damage)
                self.assert_refused(["report", f"results/{name}"], name)
            (folder / name).write_bytes(b"")
            self.assert_refused(["report", f"results/{name}"], name)
        self.write("odd.rom.h5", b"\x89HDF\r\n\x1a\n" + bytes(200))
        self.assert_refused(["report", "odd.rom.h5"], "odd.rom.h5")

    def test_what_is_missing_is_named(self):
        folder = self.results()
        (folder / "coarse" / "result.h5").unlink()
        (folder / "motion.view.h5").unlink()
        found, _ = self.report()
        self.warned(found, "coarse/result.h5 is not there")
        for path in folder.rglob("*.view.h5"):
            path.unlink()
        found, page = self.report()
        self.assertEqual(found["views"], [])
        self.assertIn("simulation", found["sections"])
        self.assertIn("view", page.text)  # says that there is no picture

    def test_files_of_a_training_cost_what_they_hold(self):
        self.write("t/modes.csv", "mode,singular_value,singular_value_of_nodes,joint_violation\n1,6.5,6.5,1e-32\n2,0.5,0.5,1e-30\n")
        self.write("t/orders.csv", "m,epsilon,rms_error,largest_error,left_out,spurious,seconds,frequencies_hz\n"
                                   "1,43,0.01,0.08,0.001,0,0.03,5071\n2,4,0.001,0.008,0.0001,0,0.03,12 5071\n")
        self.write("p/samples.csv", "sample,load,snapshots,seconds,rank,r_singular_values,r_energy\n1,0.25,1301,0.03,60,19,7\n2,0.5,1301,0.03,60,19,7\n")
        self.write("p/singular_values.csv", "mode,sample_1,sample_2\n1,241,279\n2,24,27\n")
        self.write("p/principal_angles.csv", "sample,1,2\n1,0,62\n2,62,0\n")
        self.write("p/pod_test.csv", "test,load,combination,order,force,error B.x\nload-0.9,0.9,grassmann,13,tensor,0.07\n")
        for folder, names in (("t", ("modes", "orders")), ("p", ("samples", "singular_values", "principal_angles", "pod_test"))):
            self.assertEqual(self.report(folder)[0]["page_warnings"], [])
            for name in names:
                path = self.folder / folder / f"{name}.csv"
                whole = path.read_bytes()
                # a row that ends in its middle, nothing, and no table
                for damage in (whole[:whole.rindex(b",")], whole[:-2], b"", b"\xff\xfe\0\0"):
                    with self.subTest(file=name, damage=damage[-20:]):
                        path.write_bytes(damage)
                        found, _ = self.report(folder)
                        self.warned(found, f"{name}.csv", "left out")
                path.write_bytes(whole)

    def test_angles_that_are_not_of_all_pairs_are_left_out(self):
        self.write("p/samples.csv", "sample,load,snapshots,seconds,rank,r_singular_values,r_energy\n1,0.25,1301,0.03,60,19,7\n2,0.5,1301,0.03,60,19,7\n")
        self.write("p/principal_angles.csv", "sample,1,2,3\n1,0,62,1\n2,62,0,1\n")
        self.warned(self.report("p")[0], "angles between the bases", "left out")

    # ---- summaries

    def test_a_summary_that_is_no_summary_is_refused_in_a_sentence(self):
        folder = self.results()
        whole = (folder / "summary.json").read_text()
        for text, words in ((whole[:len(whole) // 2], "damaged or cut off at byte"), ("", "is empty"), ("  \n", "is empty"),
                            ("[1, 2]", "no object at its top"), ("null", "no object at its top"), ("\0\0\0", "damaged or cut off"),
                            ('{"title": 1e999}', "a number beyond what this program can hold")):
            (folder / "summary.json").write_text(text)
            self.assert_refused(["report", "results"], "summary.json", words)
        (folder / "summary.json").write_bytes(b'{"title": "\xff\xfe"}')
        self.assert_refused(["report", "results"], "summary.json: is damaged")

    def test_a_newer_summary_is_shown_with_a_warning(self):
        self.results()
        for version in ("99.0.0", "0.1.0.1", "123456789012345678901234567890.1"):
            self.change_summary(lambda s: s.update(lissom_version=version))
            self.warned(self.report()[0], f"summary.json is of lissom {version}, newer than this program")
        self.change_summary(lambda s: s.update(lissom_version=[1]))
        self.warned(self.report()[0], "does not say which lissom has written it")

    def test_entries_of_another_type_are_left_out_and_named(self):
        for value in (None, 7, 1e308, "x", [1, "a", None, {}], {"a": None}, True):
            for key in json.loads((self.origin / "results" / "summary.json").read_text()):
                with self.subTest(key=key, value=value):
                    self.results()
                    self.change_summary(lambda s: s.update({key: value}))
                    found, _ = self.report()
                    expected = {"title": str, "study": str, "bodies": dict, "cases": dict, "simulation": dict, "models": dict,
                                "comparison": dict, "warnings": list, "case_order": list}.get(key)
                    if expected and not isinstance(value, expected):
                        self.warned(found, f"summary.json: '{key}' is of type")

    def test_any_value_may_be_anything(self):
        def everything(value, node):
            if isinstance(node, dict):
                return {k: everything(value, v) for k, v in node.items()}
            return [everything(value, v) for v in node] if isinstance(node, list) else value
        for value in (None, 1e308, -1e308, 5e-324, 10 ** 30, -1, "", "</script><script>alert(1)</script>", [], {}, [[1]], True):
            with self.subTest(value=value):
                self.results()
                self.change_summary(lambda s: {**everything(value, s), "lissom_version": s["lissom_version"]})
                _, page = self.report()
                self.assertNotIn("<script>alert", (self.folder / "page.html").read_text())
                self.assertIn("summary", page.sections)
        self.results()
        (self.folder / "results" / "summary.json").write_text('{"lissom_version": "0.1.0", "x": ' + "[" * 50000 + "]" * 50000 + "}")
        self.report()

    def test_names_of_cases_are_names_not_ways_out(self):
        def rename(new):
            def change(s):
                for group in (s["cases"], s["models"], s["comparison"]["cases"]):
                    if "coarse" in group:
                        group[new] = group.pop("coarse")
                s["case_order"] = [new]
            return change
        for name in ("../results/coarse", "/etc", "..", "a/../../b"):
            self.results()
            self.change_summary(rename(name))
            self.warned(self.report()[0], f"the case '{name}' would lie outside")
        for name in ("x" * 300, "a/b", "<b>&\"'\\", "line\nbreak\ttab", "\x1b[31mred", "nul\0", "\u202eright to left", "é 你好"):
            with self.subTest(name=name):
                self.results()
                self.change_summary(rename(name))
                found, page = self.report()
                self.warned(found, "result.h5 is not there", name[:10])
                self.assertIn("simulation", found["sections"])
                self.assertNotIn("b", page.tags)

    # ---- names in a study

    def test_names_of_all_kinds_come_through_a_run_as_text(self):
        for name in ('x <b>&\\"\'', "a" * 300, "tab\\tbreak\\n", "bell\\u0007 esc\\u001b[31m", "é 你好 \\u202e"):
            with self.subTest(name=name):
                text = RIGID.replace("END", "0.01").replace('"A swing"', f'"{name}"').replace('"tip"\nkind', f'"{name}"\nkind')
                self.write("names.toml", text)
                result = self.lissom("run", "names.toml", "--out", "named")
                # names that cannot be are refused in a sentence; others are shown
                self.assertIn(result.code, (0, 2), result.err)
                for suspect in SUSPECT:
                    self.assertNotIn(suspect, result.err)
                self.assertNotIn("\x1b[31m", result.out + result.err)
                if result.code == 0:
                    _, page = self.report("named")
                    self.assertNotIn("b", page.tags)
                shutil.rmtree(self.folder / "named", ignore_errors=True)
        # bytes that are no text, in a comment, which the page shows with the study
        self.write("bytes.toml", RIGID.replace("END", "0.01").encode() + b"# \xff\xfe \xc3\x28\n")
        result = self.lissom("run", "bytes.toml", "--out", "named")
        self.assertIn(result.code, (0, 2), result.err)
        if result.code == 0:
            self.report("named")

    # ---- what is no file

    def test_folders_that_hold_nothing_or_cannot_be_read(self):
        (self.folder / "empty").mkdir()
        self.assert_refused(["report", "empty"], "there are no results here")
        os.symlink("loop", self.folder / "loop")
        self.assertIn("symbolic links", self.assert_refused_here("report", "loop").err)
        (self.folder / "inside").mkdir()
        os.symlink("..", self.folder / "inside" / "up")
        os.symlink("result.h5", self.folder / "inside" / "result.h5")
        self.assertIn("no results", self.assert_refused_here("report", "inside").err)
        (self.folder / "loop").unlink()
        shutil.rmtree(self.folder / "inside")
        self.assert_refused(["report", "x" * 300], "File name too long")

    def test_without_permission(self):
        folder = self.results()
        self.give_up_root()
        folder.chmod(0o000)
        self.addCleanup(folder.chmod, 0o755)
        result = self.assert_refused_here("report", "results", "--out", "page.html")
        self.assertIn("ermission denied", result.err)
        folder.chmod(0o755)
        (folder / "result.h5").chmod(0o000)
        found, _ = self.report()
        self.warned(found, "result.h5", "its curves are left out")
        (folder / "result.h5").chmod(0o644)
        # the page cannot be written where the results are
        folder.chmod(0o555)
        result = self.lissom("report", "results")
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("cannot be written in folder", result.err)

    def assert_refused_here(self, *arguments):
        result = self.lissom(*arguments)
        self.assertEqual(result.code, 2, result.err)
        self.assertTrue(result.err.startswith("lissom: error: "), result.err)
        return result

    def test_pipes_sockets_and_devices_are_not_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        self.assert_refused(["report", "pipe"], "pipe: is a pipe, a socket or a device")
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(os.path.relpath(self.folder / "socket"))
            self.assert_refused(["report", "socket"], "is a pipe, a socket or a device")
        self.assert_refused(["report", "/dev/zero"], "is a pipe, a socket or a device")
        for name in ("summary.json", "comparison.json", "result.h5", "arm.reduced.h5", "model.rom.h5", "response.json"):
            (self.folder / "odd").mkdir()
            os.mkfifo(self.folder / "odd" / name)
            self.assert_refused(["report", "odd"], name, "is a pipe, a socket or a device")
            shutil.rmtree(self.folder / "odd")
        for name in ("result.h5", "motion.view.h5", "arm_coordinates.csv", "coarse/differences.csv"):
            path = self.results() / name
            path.unlink()
            os.mkfifo(path)
            self.warned(self.report()[0], name, "is a pipe, a socket or a device")
        path = self.results() / "summary.json"
        path.unlink()
        path.symlink_to("/dev/zero")
        self.assert_refused(["report", "results"], "summary.json: is a pipe, a socket or a device")

    # ---- the page

    def test_a_page_is_not_written_over_a_pipe_or_a_folder(self):
        # never with a device of the system: a program that fails this test would replace it
        self.results()
        os.mkfifo(self.folder / "pipe.html")
        self.assert_refused(["report", "results", "--out", "pipe.html"], "is a pipe, a socket or a device", code=1)
        self.assertTrue((self.folder / "pipe.html").is_fifo())
        self.assert_refused(["report", "results", "--out", "results"], "is a folder", code=1)
        self.assert_refused(["report", "results", "--out", "no/page.html"], "does not exist", code=1)
        self.assert_refused(["report", "results", "--out", "x" * 300], "File name too long", code=1)

    def test_a_full_disk_is_an_error_and_keeps_the_older_page(self):
        self.results()
        older = '<!DOCTYPE html>\n<html><head><meta name="generator" content="lissom 0.1.0">\nthe older one'
        self.write("page.html", older)

        def little_room():
            # files of more than 100 kB cannot be written, as on a disk that is full
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        done = subprocess.run([LISSOM, "report", "results", "--out", "page.html"], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, preexec_fn=little_room)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("page.html: cannot be written: File too large", done.stderr)
        self.assertEqual((self.folder / "page.html").read_text(), older)
        self.assertEqual(list(self.folder.glob(".*.tmp")), [])

    def test_a_run_ends_well_where_its_report_cannot_be_written(self):
        self.write("rigid.toml", RIGID.replace("END", "0.01"))
        (self.folder / "out" / "report.html").mkdir(parents=True)
        result = self.lissom("run", "rigid.toml", "--out", "out")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("there is no report", result.err)
        self.assertTrue((self.folder / "out" / "summary.json").exists())

    def test_a_size_below_that_of_the_libraries_is_told(self):
        self.results()
        found, _ = self.report("results", "--max-size", "1")
        if found["bytes"] > 1e6:
            self.assertTrue(any("more than the 1.0 MB asked for" in w["message"] for w in found["warnings"]), found["warnings"])
        self.assert_refused(["report", "results", "--max-size", "0.1"], "--max-size")

    # ---- versions of files

    def test_a_newer_view_or_result_is_named(self):
        import h5py
        for name in ("motion.view.h5", "result.h5"):
            path = self.results() / name
            with h5py.File(path, "r+") as file:
                key = next(k for k in file.attrs if "version" in k and k != "lissom_version")
                file.attrs.modify(key, 999)
            self.warned(self.report()[0], name, "999")
            self.assert_refused(["report", f"results/{name}"], name, "999")

    # ---- runs that have not ended

    def start_long_run(self):
        self.write("long.toml", RIGID.replace("END", "10000"))
        process = subprocess.Popen([LISSOM, "run", "long.toml", "--out", "long"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        end = time.monotonic() + 30
        while not (self.folder / "long" / "result.h5").exists() or (self.folder / "long" / "result.h5").stat().st_size < 200_000:
            self.assertLess(time.monotonic(), end, "the run does not write")
            self.assertIsNone(process.poll(), "the run has ended")
            time.sleep(0.05)
        return process

    def test_a_run_that_goes_on_and_one_that_was_killed_are_shown_as_far_as_they_are(self):
        process = self.start_long_run()
        for _ in range(5):
            found, page = self.report("long")
            self.assertIn("is not complete: it still runs, or was killed", found["page_warnings"][0])
            self.assertEqual(page.sections[0], "warnings")
            self.assertIn("simulation", found["sections"])
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        found, page = self.report("long")
        self.assertIn("is not complete: it still runs, or was killed", found["page_warnings"][0])
        self.assertIn("samples until t = ", found["page_warnings"][0])
        self.assertIn("simulation", found["sections"])

    def test_a_run_that_was_stopped_says_so_first(self):
        process = self.start_long_run()
        process.send_signal(signal.SIGINT)
        process.wait(20)
        self.assertIn(process.returncode, (1, 2, 130), process.returncode)
        found, page = self.report("long")
        self.assertIn("was stopped before its end", found["page_warnings"][0])
        self.assertEqual(page.sections[0], "warnings")
        self.assertIn("simulation", found["sections"])

    def test_a_run_that_failed_says_so_first(self):
        # the rope, 0.7 m above, is pulled until the arm cannot follow: it reaches 1.2 m at t = 0.34 s
        self.write("fails.toml", RIGID.replace("END", "1").replace("[[sensors]]", ROPE + "[[sensors]]", 1))
        result = self.lissom("run", "fails.toml", "--out", "failed")
        self.assertEqual(result.code, 1, result.err)
        self.assertTrue((self.folder / "failed" / "result.h5").exists())
        found, page = self.report("failed")
        self.assertIn("failed: ", found["page_warnings"][0])
        self.assertIn("samples until t = 0.3", found["page_warnings"][0])
        self.assertEqual(page.sections[0], "warnings")
        self.assertIn("simulation", found["sections"])


if __name__ == "__main__":
    unittest.main()
