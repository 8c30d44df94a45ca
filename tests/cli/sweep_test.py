"""Sweeps: a process for each point, the manifest, resuming, several workers in one folder, mpirun and Slurm."""

import csv
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from support import LISSOM, CliTest

# a pendulum of 10 ms to compute; its period depends on the mass, since the inertia is about the centre of mass
STUDY = """
title = "A pendulum"
gravity = [0, 0, -9.81]
[bodies.arm]
rigid = { mass = 2, center = [0.25, 0, 0], inertia = [1e-4, 0.05, 0.05] }
points = { hub = [0, 0, 0], tip = [0.5, 0, 0] }
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
[[loads]]
name = "friction"
kind = "torsion-damper"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
damping = 0.2
[[sensors]]
name = "tip"
kind = "position"
of = "arm.tip"
[simulate]
end = 0.2
step = 0.01
[linearise]
about = "static"
[[sweep.parameters]]
key = "bodies.arm.rigid.mass"
values = [1, 2, 4]
[[sweep.parameters]]
key = "loads.friction.damping"
from = 0.1
to = 0.3
points = 2
"""
POINTS = 6
# of all that say which of several processes one is
LAUNCHED = ("OMPI_", "PMI", "SLURM_")
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith(LAUNCHED)} | {"OMP_NUM_THREADS": "1"}


class SweepTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("s.toml", STUDY)

    def script(self, name, text):
        """A command for --launcher; $K is the point's number."""
        path = self.folder / name
        path.write_text('#!/bin/sh\nK=$(echo "$*" | sed "s/.*--point \\([0-9]*\\).*/\\1/")\n' + text + "\n")
        path.chmod(0o755)
        return str(path)

    def start(self, *arguments, before=(), **environment):
        return subprocess.Popen([*before, LISSOM, "sweep", "s.toml", "--out", "out", *map(str, arguments)], cwd=self.folder,
                                env={**CLEAN, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL)

    def ended(self, process, code=0):
        out, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def sweep(self, *arguments, code=0):
        return self.ended(self.start(*arguments), code)

    def manifest(self, out="out"):
        return json.loads((self.folder / out / "sweep.json").read_text())

    def statuses(self):
        return [point["status"] for point in self.manifest()["points"]]

    def csv(self, out="out"):
        return (self.folder / out / "sweep.csv").read_bytes()

    def rows(self):
        with open(self.folder / "out" / "sweep.csv", newline="") as file:
            return list(csv.DictReader(file))

    def reference(self):
        """sweep.csv of all points one after the other in one process."""
        study = self.folder / "reference.toml"
        study.write_text(STUDY)
        found = self.lissom("sweep", "reference.toml", "--out", "reference", "--in-process")
        self.assertEqual(found.code, 0, found.err)
        return self.csv("reference")

    def wait_for(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "waited too long")
            time.sleep(0.02)

    def done_so_far(self):
        return len(list((self.folder / "out" / "sweep-work").glob("[0-9]*.json")))

    def assert_tidy(self):
        """What a complete sweep leaves, and nothing else."""
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()), ["summary.json", "sweep.csv", "sweep.json"])


class Processes(SweepTest):
    def test_processes_give_what_one_process_gives_bit_for_bit(self):
        out, _ = self.sweep("--jobs", 2)
        self.assertIn("sweep of 6 points, 0 failed", out)
        self.assertEqual(self.csv(), self.reference())
        manifest = self.manifest()
        self.assertEqual((manifest["format"], manifest["version"]), ("lissom sweep", 1))
        self.assertEqual(self.statuses(), ["done"] * POINTS)
        self.assertEqual(len({point["pid"] for point in manifest["points"]}), POINTS)
        self.assertEqual({point["attempts"] for point in manifest["points"]}, {1})
        self.assertEqual(manifest["counts"], {"pending": 0, "running": 0, "done": POINTS, "failed": 0})
        self.assertEqual(manifest["points"][1]["parameters"], ["1", "0.3"])
        self.assert_tidy()

    def test_a_point_that_crashes_is_noted_and_tried_again_when_asked(self):
        crash = self.script("crash", '[ "$K" = 3 ] && kill -9 $$\n[ "$K" = 5 ] && exit 7\nexec "$@"')
        _, err = self.sweep("--launcher", crash)
        self.assertIn("2 of 6 points of the sweep failed", err)
        self.assertEqual(self.statuses(), ["done", "done", "failed", "done", "failed", "done"])
        self.assertIn("signal 9 (Killed)", self.rows()[2]["problem"])
        self.assertIn("exit code 7", self.rows()[4]["problem"])
        first = self.manifest()["points"]
        # without --retry-failed nothing is left to do
        self.sweep("--resume")
        self.assertEqual(self.manifest()["points"], first)
        self.sweep("--retry-failed")
        self.assertEqual([point["attempts"] for point in self.manifest()["points"]], [1, 1, 2, 1, 2, 1])
        self.assertEqual(self.csv(), self.reference())

    def test_a_point_whose_process_has_too_little_memory_fails_alone(self):
        # 20 MB of addresses: not even its libraries have room
        little = self.script("little", '[ "$K" = 2 ] && ulimit -v 20000\nexec "$@"')
        self.sweep("--launcher", little)
        self.assertEqual(self.statuses(), ["done", "failed", "done", "done", "done", "done"])
        self.assertTrue(self.rows()[1]["problem"])

    def test_a_point_that_hangs_is_ended_after_the_timeout(self):
        hang = self.script("hang", '[ "$K" = 2 ] && sleep 600\nexec "$@"')
        # the point would take ten minutes: self.sweep waits for four at most
        self.sweep("--launcher", hang, "--timeout", 5, "--jobs", 2)
        self.assertEqual([row["problem"] for row in self.rows()],
                         ["", "took longer than the 5 s of --timeout and was ended", "", "", "", ""])

    def test_points_that_make_no_sense_need_no_process(self):
        self.write("s.toml", STUDY.replace("values = [1, 2, 4]", "values = [1, -2]"))
        self.sweep()
        self.assertEqual(self.statuses(), ["done", "done", "failed", "failed"])
        self.assertEqual([point["attempts"] for point in self.manifest()["points"]], [1, 1, 0, 0])
        self.assertIn("mass", self.rows()[2]["problem"])

    def test_where_all_fail_so_does_the_sweep(self):
        _, err = self.sweep("--launcher", self.script("none", "exit 3"), code=1)
        self.assertIn("every point of the sweep failed, the first one with: its process ended with exit code 3", err)

    def test_results_are_kept_when_asked_for_and_settings_count(self):
        self.sweep("--keep-results", "--set", "simulate.end=0.1")
        for k, row in enumerate(self.rows(), 1):
            with open(self.folder / "out" / "points" / f"{k:06}" / "sensors.csv") as file:
                last = list(csv.DictReader(file))[-1]
            self.assertEqual(float(last["t"]), 0.1)
            self.assertEqual(last["tip.x"], row["tip.x last"])
            self.assertTrue((self.folder / "out" / "points" / f"{k:06}" / "linearisation.json").exists())
        self.assertEqual(self.manifest()["settings"], [{"key": "simulate.end", "value": "0.1"}])

    def test_a_study_that_is_edited_meanwhile_does_not_matter(self):
        expected = self.reference()
        process = self.start("--launcher", self.script("slow", 'sleep 0.3\nexec "$@"'), "--jobs", 1)
        self.wait_for(lambda: self.done_so_far() > 0)
        self.write("s.toml", "nonsense")
        self.ended(process)
        self.assertEqual(self.csv(), expected)

    def test_run_sweeps_in_the_same_way_and_reports_show_it(self):
        found = self.json_of("run", "s.toml", "--out", "out")
        self.assertEqual(found["sweep"]["failed"], 0)
        self.assertEqual(self.statuses(), ["done"] * POINTS)
        self.assertEqual(self.csv(), self.reference())
        shutil.rmtree(self.folder / "out")
        self.sweep()
        self.assertIn("sweep", self.json_of("report", "out")["sections"])

    def test_wrong_flags_are_refused(self):
        self.assert_refused(["sweep", "s.toml", "--jobs", "0"], "--jobs")
        self.assert_refused(["sweep", "s.toml", "--timeout", "-1"], "--timeout")
        self.assert_refused(["sweep", "s.toml", "--set", "simulate.end"], "--set")
        self.assert_refused(["sweep", "s.toml", "--launcher", "srun", "--in-process"], "--launcher")
        self.write("n.toml", STUDY.split("[simulate]")[0] + "[[sweep" + STUDY.split("[[sweep", 1)[1])
        self.assert_refused(["sweep", "n.toml"], "nothing to be swept")

    def test_a_launcher_that_there_is_not_ends_the_sweep(self):
        _, err = self.sweep("--launcher", "no-such-launcher -n1", code=1)
        self.assertIn("'no-such-launcher' cannot be started", err)


class Resuming(SweepTest):
    def slow(self):
        return self.script("slow", 'sleep 0.4\nexec "$@"')

    def interrupted(self, how, code):
        process = self.start("--launcher", self.slow(), "--jobs", 2)
        self.wait_for(lambda: self.done_so_far() >= 2)
        process.send_signal(how)
        return self.ended(process, code)

    def test_a_killed_coordinator_is_resumed_without_a_difference(self):
        self.interrupted(signal.SIGKILL, -signal.SIGKILL)
        self.assertFalse((self.folder / "out" / "sweep.csv").exists())
        before = {path.name: json.loads(path.read_text()) for path in (self.folder / "out" / "sweep-work").glob("[0-9]*.json")}
        self.sweep("--resume")
        self.assertEqual(self.csv(), self.reference())
        self.assert_tidy()
        for name, point in before.items():
            after = self.manifest()["points"][int(name[:6]) - 1]
            self.assertEqual((after["pid"], after["seconds"]), (point["pid"], point["seconds"]), "was computed again")

    def test_points_without_a_launcher_end_with_their_coordinator(self):
        # a point of minutes: a hundred thousand steps a second at most
        self.write("s.toml", STUDY.replace("end = 0.2", "end = 20000").replace("step = 0.01", "step = 1e-3"))
        process = self.start("--jobs", 2)
        self.wait_for(lambda: len(list((self.folder / "out" / "sweep-work").glob("*.claim"))) == 2)
        time.sleep(0.5)
        children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        self.assertEqual(len(children), 2)
        process.kill()
        process.communicate(timeout=60)
        self.wait_for(lambda: not any(os.path.exists(f"/proc/{child}") for child in children), 20)

    def test_interrupt_ends_the_points_and_keeps_what_is_done(self):
        _, err = self.interrupted(signal.SIGINT, 1)
        self.assertIn("the sweep was stopped after", err)
        self.assertIn("--resume", err)
        manifest = self.manifest()
        self.assertGreaterEqual(manifest["counts"]["done"], 2)
        self.assertEqual(manifest["counts"]["running"], 0)
        self.assertFalse(list((self.folder / "out" / "sweep-work").glob("*.claim")))
        self.sweep("--resume")
        self.assertEqual(self.csv(), self.reference())

    def test_without_resume_a_sweep_begins_anew(self):
        self.interrupted(signal.SIGINT, 1)
        first = self.manifest()["id"]
        self.sweep()
        self.assertNotEqual(self.manifest()["id"], first)
        self.assertEqual({point["attempts"] for point in self.manifest()["points"]}, {1})
        self.assertEqual(self.csv(), self.reference())

    def test_a_changed_study_is_refused_with_what_changed(self):
        self.interrupted(signal.SIGINT, 1)
        self.write("s.toml", STUDY.replace("end = 0.2", "end = 0.3"))
        self.assert_refused(["sweep", "s.toml", "--out", "out", "--resume"], "simulate.end: 0.3, was 0.2", "--out")
        self.write("s.toml", STUDY.replace("values = [1, 2, 4]", "values = [1, 2]"))
        self.assert_refused(["sweep", "s.toml", "--out", "out", "--resume"], "[1, 2], was [1, 2, 4]")
        self.write("s.toml", STUDY)
        self.assert_refused(["sweep", "s.toml", "--out", "out", "--join", "--set", "simulate.step=0.02"], "simulate.step: 0.02, was 0.01")
        # comments do not matter
        self.write("s.toml", "# again\n" + STUDY)
        self.sweep("--resume")
        self.assertEqual(self.statuses(), ["done"] * POINTS)

    def test_nothing_to_resume_is_a_warning(self):
        _, err = self.sweep("--resume")
        self.assertIn("there is nothing to resume", err)
        self.assertEqual(self.statuses(), ["done"] * POINTS)

    def test_a_damaged_manifest_is_refused_and_can_be_replaced(self):
        self.sweep()
        path = self.folder / "out" / "sweep.json"
        path.write_bytes(path.read_bytes()[:500])
        self.assert_refused(["sweep", "s.toml", "--out", "out", "--resume"], "sweep.json", "no complete JSON", "without --resume")
        self.sweep()
        self.assertEqual(self.csv(), self.reference())

    def test_a_damaged_result_of_a_point_is_computed_again(self):
        self.interrupted(signal.SIGKILL, -signal.SIGKILL)
        victim = sorted((self.folder / "out" / "sweep-work").glob("[0-9]*.json"))[0]
        victim.write_bytes(victim.read_bytes()[:-20])
        _, err = self.sweep("--resume")
        self.assertIn("the point is computed again", err)
        self.assertIn(victim.name, err)
        self.assertEqual(self.csv(), self.reference())


class Workers(SweepTest):
    def slow(self):
        return self.script("slow", 'echo $PPID > worker-$K\nsleep 0.4\nexec "$@"')

    def workers(self):
        """Those that have computed points."""
        return {path.read_text() for path in self.folder.glob("worker-*")}

    def test_a_second_sweep_in_a_folder_is_refused_and_may_join(self):
        first = self.start("--launcher", self.slow(), "--jobs", 1)
        self.wait_for(lambda: self.done_so_far() > 0)
        _, err = self.sweep("--resume", code=2)
        self.assertIn(f"a sweep is being computed there by process {first.pid}", err)
        self.assertIn("--join", err)
        out, _ = self.sweep("--join", "--jobs", 1)
        self.ended(first)
        self.assertRegex(out, r"[1-5] of 6 points were computed here")
        self.assertEqual(self.csv(), self.reference())
        self.assertEqual({point["attempts"] for point in self.manifest()["points"]}, {1})
        self.assert_tidy()

    def test_workers_that_all_join_need_no_coordinator(self):
        workers = [self.start("--join", "--launcher", self.slow(), "--jobs", 1) for _ in range(3)]
        printed = [self.ended(worker)[0] for worker in workers]
        self.assertEqual(sum("sweep of 6 points, 0 failed" in text for text in printed), 1)
        self.assertGreater(len(self.workers()), 1)
        self.assertEqual(self.csv(), self.reference())
        self.assert_tidy()
        # one who comes late has nothing to do
        out, _ = self.sweep("--join")
        self.assertIn("0 of 6 points were computed here, and all are done", out)

    def claim_elsewhere(self, point):
        self.write(f"out/sweep-work/{point:06}.claim", json.dumps({"host": "far", "machine": "other boot", "pid": 1, "born": 1, "attempt": 1}))

    def test_the_point_of_a_dead_worker_elsewhere_is_taken_over(self):
        process = self.start("--launcher", self.slow(), "--jobs", 1, "--patience", 2)
        self.wait_for(lambda: self.done_so_far() > 0)
        self.claim_elsewhere(POINTS)
        # that it waits for --patience before, the next test shows
        self.ended(process)
        self.assertEqual(self.manifest()["points"][-1]["attempts"], 2)
        self.assertEqual(self.csv(), self.reference())

    def test_the_point_of_a_living_worker_elsewhere_is_waited_for(self):
        process = self.start("--launcher", self.slow(), "--jobs", 1, "--patience", 2)
        self.wait_for(lambda: self.done_so_far() > 0)
        self.claim_elsewhere(POINTS)
        claim = self.folder / "out" / "sweep-work" / f"{POINTS:06}.claim"
        for _ in range(20):
            time.sleep(0.3)
            os.utime(claim)
        self.assertIsNone(process.poll())
        claim.unlink()
        self.ended(process)
        self.assertEqual(self.csv(), self.reference())

    def ranks(self, count, job, *arguments):
        return [self.start(*arguments, SLURM_PROCID=str(rank), SLURM_NTASKS=str(count), SLURM_JOB_ID=job, SLURM_STEP_ID="0")
                for rank in range(count)]

    def test_tasks_of_slurm_share_the_points(self):
        processes = self.ranks(3, "17", "--launcher", self.slow(), "--jobs", 1)
        printed = [self.ended(process) for process in processes]
        self.assertIn("sweep of 6 points, 0 failed", printed[0][0])
        self.assertEqual(printed[1:], [("", "")] * 2)
        self.assertGreater(len(self.workers()), 1)
        self.assertEqual(self.csv(), self.reference())
        self.assert_tidy()
        # once more into the same folder: what was there is replaced, and nobody mistakes the old manifest for the new one
        first = self.manifest()["id"]
        printed = [self.ended(process)[0] for process in self.ranks(3, "18", "--json")]
        self.assertEqual(json.loads(printed[0])["sweep"]["failed"], 0)
        self.assertEqual(printed[1:], [""] * 2)
        self.assertNotEqual(self.manifest()["id"], first)

    def test_a_rank_that_makes_no_sense_is_refused(self):
        process = self.start(SLURM_PROCID="two")
        _, err = self.ended(process, 2)
        self.assertIn("SLURM_PROCID", err)

    def test_processes_of_mpirun_share_the_points(self):
        before = ["mpirun", "-n", "3", "--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
        process = self.start("--launcher", self.slow(), "--jobs", 1, before=before)
        out, err = self.ended(process)
        self.assertEqual(out.count("sweep of 6 points, 0 failed"), 1)
        self.assertGreater(len(self.workers()), 1)
        self.assertEqual(self.csv(), self.reference())
        self.assert_tidy()


if __name__ == "__main__":
    unittest.main()
