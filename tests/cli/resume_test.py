"""Runs that survive: killed, stopped, out of space, resumed; the same bits as a run that was left alone."""

import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

import h5py
import numpy as np

from rom_test import STUDY as ROM_STUDY, write_rom
from support import CliTest, LISSOM, brick, inp_deck, nodes_at

# what differs from run to run: how long it took, and what the file says of its own story
TIMINGS = {"run/seconds", "run/output_seconds", "run/checksums", "run/status"}

L = 0.5
RIGID = f"""
gravity = [0, 0, -9.81]
[bodies.arm]
rigid = {{ mass = 2, center = [{L / 2}, 0, 0], inertia = [1e-4, 0.05, 0.05] }}
points = {{ hub = [0, 0, 0], tip = [{L}, 0, 0] }}
"""
HINGE = """
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
"""
PUSH = """
[[loads]]
name = "push"
kind = "force"
on = "arm.tip"
force = [0, 0, 30]
factor = { table = [[0, 0], [0.01, 0], [0.0101, 1], [0.023, 1], [0.0231, 0]] }
"""
SENSORS = """
[[sensors]]
name = "tip"
kind = "position"
of = "arm.tip"
[[sensors]]
name = "turn"
kind = "rotation"
of = "arm.tip"
[[sensors]]
name = "E"
kind = "energy"
"""


def simulate(end, step, more=""):
    return f"[simulate]\nend = {end}\nstep = {step}\n{more}"


def all_datasets(path):
    """Every dataset of a result by its path; open for reading, whether the run has closed the file or not."""
    try:
        file = h5py.File(path, "r")
    except OSError:
        file = h5py.File(path, "r", libver="latest", swmr=True)
    found = {}
    with file:
        file.visititems(lambda name, item: found.__setitem__(name, item[()]) if hasattr(item, "shape") else None)
    return found


class ResumeTest(CliTest):
    def start(self, *arguments):
        """A run in the background, killed at the end of the test."""
        process = subprocess.Popen([LISSOM, *map(str, arguments), "-q"], cwd=self.folder,
                                   env={**os.environ, "OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def kill_after(self, seconds, *arguments):
        """Starts a run, and kills it unless it ends before; True where it was killed."""
        process = self.start(*arguments)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
        self.assertEqual(process.returncode, 0, process.stderr.read())
        return False

    def kill_at(self, fraction, folder, whole, *arguments):
        """Kills a run once its file has that part of the samples."""
        process = self.start(*arguments)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            try:
                with h5py.File(self.folder / folder / "result.h5", "r", libver="latest", swmr=True) as file:
                    if len(file["time"]) >= fraction * whole:
                        break
            except OSError:
                pass
            time.sleep(0.005)
        process.kill()
        process.wait()
        return process.returncode == -signal.SIGKILL

    def expect_same(self, folder, reference):
        """Results of two folders are the same bit for bit."""
        a, b = all_datasets(self.folder / folder / "result.h5"), all_datasets(self.folder / reference / "result.h5")
        self.assertEqual(set(a), set(b))
        for name in sorted(set(b) - TIMINGS):
            self.assertEqual(a[name].shape, b[name].shape, name)
            self.assertEqual(a[name].tobytes(), b[name].tobytes(), f"{name} differs")
        self.assertEqual((self.folder / folder / "sensors.csv").read_bytes(),
                         (self.folder / reference / "sensors.csv").read_bytes())
        self.assertFalse((self.folder / folder / "checkpoint.lissom").exists())

    def expect_readable(self, folder, reference):
        """What a killed run has left is the beginning of the whole one, for lissom and for h5py."""
        path = self.folder / folder / "result.h5"
        told = self.json_of("inspect", f"{folder}/result.h5")
        found = all_datasets(path)
        k = told["samples"]
        self.assertGreaterEqual(len(found["time"]), k)
        for name in ("time", "states/q", "states/lambda", "sensors/values", "balance/energy_drift", "run/steps"):
            self.assertEqual(found[name][:k].tobytes(), reference[name][:k].tobytes(), name)
        if k > 0:
            self.assertEqual(told["until"], reference["time"][k - 1])
        return told


class FiftyKilledRuns(ResumeTest):
    def test_every_one_is_readable_and_resumed_to_the_same_bits(self):
        self.write("s.toml", RIGID + HINGE + SENSORS + simulate(0.6, 2e-5, "sample = 1e-4\n"))
        command = ("simulate", "s.toml", "--checkpoint", "0.01")
        self.json_of(*command, "--out", "whole")
        reference = all_datasets(self.folder / "whole" / "result.h5")
        whole = len(reference["time"])
        chance = random.Random(6)
        killed = killed_again = early = 0
        for run in range(50):
            out = ("--out", "killed")
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            # some before there is a file, which takes some hundredths of a second
            if run % 10 == 0 and self.kill_after(chance.uniform(0, 0.02), *command, *out):
                killed += 1
            elif self.kill_at(chance.uniform(0, 0.95), "killed", whole, *command, *out):
                killed += 1
            if not (self.folder / "killed" / "result.h5").exists():
                early += 1
            else:
                self.expect_readable("killed", reference)
            # some are killed again while they go on
            while chance.random() < 0.4 and self.kill_at(chance.uniform(0, 0.9), "killed", whole, *command, *out, "--resume"):
                killed_again += 1
                if (self.folder / "killed" / "result.h5").exists():
                    self.expect_readable("killed", reference)
            found = self.json_of(*command, *out, "--resume")
            self.assertEqual(found["samples"], len(reference["time"]))
            self.expect_same("killed", "whole")
            told = self.json_of("inspect", "killed/result.h5")
            self.assertEqual(told["status"], "complete")
        print(f"of 50 runs {killed} were killed ({early} before there was a file), "
              f"{killed_again} more while resumed")
        # the rest had ended before their file was looked at
        self.assertGreater(killed, 35)
        self.assertGreater(killed - early, 15)
        self.assertGreater(killed_again, 5)


class EveryIntegrator(ResumeTest):
    """Steps from 0 to 40 ms; the load has its corners at 10 and 23 ms."""

    def check(self, study, file="s.toml"):
        self.write("s.toml", study)
        command = ("simulate", file, "--checkpoint", "0")
        samples = self.json_of(*command, "--out", "whole")["samples"]
        # killed where the file has a part of it, and again; a run that is too fast for us gets another chance
        for _ in range(10):
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            command_here = (*command, "--out", "killed")
            if self.kill_at(0.4, "killed", samples, *command_here) and \
                    self.kill_at(0.7, "killed", samples, *command_here, "--resume"):
                break
        else:
            self.fail("the run ended ten times before it was killed")
        told = self.json_of("inspect", "killed/result.h5")
        self.assertEqual(told["status"], "running")
        found = self.json_of(*command, "--out", "killed", "--resume")
        self.assertGreater(found["resumed_at"], 0.3 * found["end"])
        self.expect_same("killed", "whole")

    def mechanism(self, more, step="step = 1e-4\n"):
        self.check(RIGID + HINGE + PUSH + SENSORS + f"[simulate]\nend = 0.04\n{step}{more}")

    def test_generalized_alpha(self):
        self.mechanism("")

    def test_generalized_alpha_without_damping(self):
        self.mechanism("rho_inf = 1\nsample = 7e-5\n")

    def test_generalized_alpha_with_controlled_steps(self):
        self.mechanism("adaptive = true\ntolerance = 1e-9\n")

    def test_hht(self):
        self.mechanism('integrator = "hht-i3"\nsample = 3e-5\n')

    def test_bdf(self):
        for index in (2, 3):
            with self.subTest(index=index):
                self.mechanism(f'integrator = "bdf"\nindex = {index}\ntolerance = 1e-9\nsample = 1e-4\nmax_step = 1e-4\n',
                               step="")

    def test_runge_kutta(self):
        self.mechanism('integrator = "runge-kutta"\ntolerance = 1e-12\nsample = 2e-4\nmax_step = 2e-4\n', step="")

    def test_cvode(self):
        self.mechanism('integrator = "cvode"\ntolerance = 1e-9\nsample = 2e-4\nmax_step = 2e-4\n', step="")

    def test_reduced_mechanisms(self):
        for integrator in ("generalized-alpha", "central-differences", "runge-kutta"):
            with self.subTest(integrator=integrator):
                study = ROM_STUDY.replace("rho_inf = 1\n", f'integrator = "{integrator}"\nmax_step = 1e-3\n')
                write_rom(self.folder / "cubes.rom.h5", study)
                self.check("", "cubes.rom.h5")


class Stopped(ResumeTest):
    STUDY = RIGID + HINGE + SENSORS + simulate(2, 2e-5, "sample = 1e-3\n")

    def test_ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on(self):
        self.write("s.toml", self.STUDY)
        self.json_of("simulate", "s.toml", "--out", "whole")
        process = self.start("simulate", "s.toml", "--out", "out")
        while not (self.folder / "out" / "checkpoint.lissom").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertIn("was stopped at t = ", err)
        self.assertIn("with --resume goes on from there", err)
        # closed in good order: opens like any other file
        with h5py.File(self.folder / "out" / "result.h5", "r") as file:
            self.assertGreater(len(file["time"]), 1)
        self.assertEqual(self.json_of("inspect", "out/result.h5")["status"], "stopped")
        self.json_of("simulate", "s.toml", "--out", "out", "--resume")
        self.expect_same("out", "whole")

    def test_one_folder_takes_one_run(self):
        self.write("s.toml", self.STUDY)
        process = self.start("simulate", "s.toml", "--out", "out")
        while not (self.folder / "out" / "checkpoint.lissom").exists():
            time.sleep(0.01)
        # it stands still meanwhile, so that it cannot end before the other has given up
        process.send_signal(signal.SIGSTOP)
        result = self.lissom("simulate", "s.toml", "--out", "out", "--resume")
        process.send_signal(signal.SIGCONT)
        self.assertEqual(result.code, 2, result.err)
        self.assertIn(f"out: process {process.pid} on ", result.err)
        self.assertIn(" is writing there", result.err)


class WhatIsThere(ResumeTest):
    STUDY = RIGID + HINGE + SENSORS + simulate(0.05, 1e-3)

    def stop(self, study=None):
        """A run that was killed after its first checkpoint."""
        self.write("s.toml", study or self.STUDY.replace("end = 0.05", "end = 20"))
        process = self.start("simulate", "s.toml", "--out", "out")
        while not (self.folder / "out" / "checkpoint.lissom").exists():
            time.sleep(0.01)
        process.kill()
        process.wait()

    def test_nothing_is_a_note_and_a_run_from_the_beginning(self):
        self.write("s.toml", self.STUDY)
        result = self.lissom("simulate", "s.toml", "--out", "out", "--resume")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("there is nothing to resume in out", result.err)

    def test_a_complete_run_is_read_and_not_made_again(self):
        self.write("s.toml", self.STUDY)
        first = self.json_of("simulate", "s.toml", "--out", "out")
        before = (self.folder / "out" / "result.h5").stat().st_mtime_ns
        again = self.json_of("simulate", "s.toml", "--out", "out", "--resume")
        self.assertTrue(again["was_complete"])
        self.assertEqual((self.folder / "out" / "result.h5").stat().st_mtime_ns, before)
        for key in ("steps", "seconds", "energy_drift", "samples", "energy", "sensors"):
            self.assertEqual(first[key], again[key])
        self.assertIn("the run was complete already", self.lissom("simulate", "s.toml", "--out", "out", "--resume").out)

    def test_a_changed_study_is_refused_with_what_changed(self):
        self.stop()
        text = (self.folder / "s.toml").read_text()
        self.write("s.toml", "# a comment changes nothing\n" + text.replace("step = 0.001", "step = 0.002\nrho_inf = 0.5")
                   .replace("gravity = [0, 0, -9.81]", "").replace('name = "hinge"', 'name = "pin"')
                   .replace('of = "hinge"', 'of = "pin"'))
        self.assert_refused(["simulate", "s.toml", "--out", "out", "--resume"], "what changed:",
                            "simulate.step: 0.002, was 0.001", "simulate.rho_inf: 0.5, is new",
                            "gravity: is gone, was [0, 0, -9.81]", 'joints.pin.name: "pin", is new')

    def test_other_bodies_are_refused(self):
        nodes, elements = brick((4, 1, 1), (L, 0.02, 0.02))
        sets = {"hub": nodes_at(nodes, 0, 0), "tip": nodes_at(nodes, 0, L)}
        self.write("arm.inp", inp_deck(nodes, elements, sets=sets))
        study = """
gravity = [0, 0, -9.81]
[bodies.arm]
mesh = "arm.inp"
formulation = "ffrf"
[bodies.arm.reduce]
interfaces = ["hub", "tip"]
modes = 4
""" + HINGE + SENSORS + simulate(20, 1e-3)
        self.stop(study)
        # half as stiff: at rest nothing shows
        self.write("arm.inp", inp_deck(nodes, elements, material=dict(E=105e9, nu=0.3, rho=7850.0), sets=sets))
        self.assert_refused(["simulate", "s.toml", "--out", "out", "--resume"], "the bodies are not what they were")

    def test_damaged_files_are_refused(self):
        self.stop()
        path = self.folder / "out" / "checkpoint.lissom"
        good = path.read_bytes()
        command = ["simulate", "s.toml", "--out", "out", "--resume"]
        for at in range(30, len(good), 97):
            path.write_bytes(good[:at] + bytes([good[at] ^ 16]) + good[at + 1:])
            result = self.lissom(*command)
            self.assertEqual(result.code, 2, f"byte {at}: {result.err}")
            self.assertIn("damaged", result.err)
        path.write_bytes(good[:len(good) // 2])
        self.assert_refused(command, "is damaged")
        path.write_bytes(b"something else")
        self.assert_refused(command, "is not a checkpoint")
        path.write_bytes(good[:18] + struct.pack("<I", 99) + good[22:])
        self.assert_refused(command, "is a checkpoint of version 99")
        path.write_bytes(good)
        (self.folder / "out" / "result.h5").unlink()
        self.assert_refused(command, "there is no result.h5 beside it")

    def test_whatever_becomes_of_sensors_csv_it_is_made_of_the_result_again(self):
        # units other than SI, and values that are no short decimals; stopped after about half
        self.write("s.toml", 'units = "mm-t-s"\n' + RIGID + HINGE + SENSORS + simulate(1.5, 1e-4, "sample = 1e-2\n"))
        samples = self.json_of("simulate", "s.toml", "--out", "complete")["samples"]
        whole = (self.folder / "complete" / "sensors.csv").read_bytes()
        command = ("simulate", "s.toml", "--checkpoint", "0")
        for _ in range(10):
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            if self.kill_at(0.4, "killed", samples, *command, "--out", "killed"):
                break
        else:
            self.fail("the run ended ten times before it was killed")
        for folder in ("killed", "complete"):
            before = (self.folder / folder / "sensors.csv").read_bytes()
            half = len(before) // 2
            damages = {
                "missing": None, "empty": b"", "cut": before[:half], "cut to the header": before[:before.index(b"\n") + 1],
                "a digit": before[:half] + bytes([before[half] ^ 1]) + before[half + 1:],
                "bytes": before[:half] + bytes(range(256)) + before[half + 256:],
                "another header": before.replace(b"tip.x", b"top.x"), "longer": before + b"1,2,3\n" * 5000,
                "a line less": b"\n".join(before.split(b"\n")[:3] + before.split(b"\n")[4:]), "other": b"\0" * len(before),
            }
            for name, content in damages.items():
                # what a run does that goes on it does with one that is complete too
                if folder == "complete" and name in ("cut to the header", "a line less", "other"):
                    continue
                with self.subTest(folder=folder, damage=name):
                    shutil.rmtree(self.folder / "out", ignore_errors=True)
                    shutil.copytree(self.folder / folder, self.folder / "out")
                    csv = self.folder / "out" / "sensors.csv"
                    csv.unlink()
                    if content is not None:
                        csv.write_bytes(content)
                    self.json_of("simulate", "s.toml", "--out", "out", "--resume")
                    self.assertEqual(csv.read_bytes(), whole)
                    self.expect_same("out", "complete")
        # one that is right is not touched
        csv = self.folder / "complete" / "sensors.csv"
        before = csv.stat().st_mtime_ns
        self.json_of("simulate", "s.toml", "--out", "complete", "--resume")
        self.assertEqual(csv.stat().st_mtime_ns, before)

    def test_a_newer_result_is_refused(self):
        self.write("s.toml", self.STUDY)
        self.json_of("simulate", "s.toml", "--out", "out")
        with h5py.File(self.folder / "out" / "result.h5", "r+") as file:
            file.attrs.modify("schema_version", np.int64(3))
        self.assert_refused(["simulate", "s.toml", "--out", "out", "--resume"], "schema version 3", "use a newer Lissom")
        self.assert_refused(["inspect", "out/result.h5"], "schema version 3", "use a newer Lissom")

    def test_folders_that_cannot_be_written_are_refused(self):
        self.write("s.toml", self.STUDY)
        self.write("file", "")
        self.assert_refused(["simulate", "s.toml", "--out", "file"], "results go to a folder, but this is a file")
        self.assert_refused(["simulate", "s.toml", "--out", "file/out", "--resume"], "is a file")
        result = self.lissom("simulate", "s.toml", "--out", "/proc/lissom")
        self.assertIn(result.code, (1, 2))
        self.assertIn("/proc/lissom", result.err)
        (self.folder / "out" / "result.h5").mkdir(parents=True)
        self.assert_refused(["simulate", "s.toml", "--out", "out", "--resume"], "result.h5: is a folder")


class FullDisk(ResumeTest):
    STUDY = RIGID + HINGE + SENSORS + simulate(2, 5e-5)

    def check(self, folder, run):
        """A run that meets the end of the space, and goes on when there is some."""
        self.write("s.toml", self.STUDY)
        self.json_of("simulate", "s.toml", "--out", "whole")
        reference = all_datasets(self.folder / "whole" / "result.h5")
        result = run()
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("cannot be written", result.stderr)
        self.assertIn("what was computed until t = ", result.stderr)
        self.assertIn("the same command with --resume goes on", result.stderr)
        self.assertNotIn("HDF5-DIAG", result.stderr)
        told = self.expect_readable(folder, reference)
        # all that the message promises
        until = float(result.stderr.split("until t = ")[1].split(" s")[0])
        self.assertGreater(told["samples"], 100)
        self.assertGreaterEqual(told["until"], until * (1 - 1e-5))

    def run_limited(self, folder, limit=None):
        def reduce_limit():
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return subprocess.run([LISSOM, "simulate", "s.toml", "--out", folder, "--checkpoint", "0.05", "-q"],
                              cwd=self.folder, preexec_fn=reduce_limit, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})

    def test_a_limit_of_the_size_of_files(self):
        for kilobytes in (3001, 7003):
            with self.subTest(kilobytes=kilobytes):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                self.check("out", lambda: self.run_limited("out", kilobytes * 1024))
                self.json_of("simulate", "s.toml", "--out", "out", "--resume")
                self.expect_same("out", "whole")

    def test_a_small_file_system(self):
        mount = self.folder / "disk"
        mount.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", mount],
                                               capture_output=True).returncode != 0:
            self.skipTest("a tmpfs cannot be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", mount], check=True))
        self.check("disk/out", lambda: self.run_limited("disk/out"))
        subprocess.run(["mount", "-o", "remount,size=64m", mount], check=True)
        self.json_of("simulate", "s.toml", "--out", "disk/out", "--resume")
        self.expect_same("disk/out", "whole")


class WholeStudies(ResumeTest):
    CASES = RIGID + HINGE + PUSH + SENSORS + simulate(0.4, 2e-5, "sample = 1e-3\n") + """
[[cases]]
name = "fine"
set = { "simulate.step" = 1e-5 }
[[cases]]
name = "hht"
set = { "simulate.integrator" = "hht-i3" }
"""

    def test_cases_that_are_complete_are_kept_and_the_others_made(self):
        self.write("s.toml", self.CASES)
        whole = self.json_of("run", "s.toml", "--out", "whole")
        killed = 0
        # in the study itself and in each of its cases
        for folder, samples in (("out", "whole"), ("out/fine", "whole/fine"), ("out/hht", "whole/hht")):
            count = len(all_datasets(self.folder / samples / "result.h5")["time"])
            killed += self.kill_at(0.3, folder, count, "run", "s.toml", "--out", "out", "--resume", "--checkpoint", "0.02")
        self.assertGreater(killed, 0)
        found = self.json_of("run", "s.toml", "--out", "out", "--resume")
        for case in ("", "fine", "hht"):
            self.expect_same(f"out/{case}", f"whole/{case}")
        self.assertEqual(found["comparison"], whole["comparison"])
        # the study and its first case were there
        again = self.json_of("run", "s.toml", "--out", "out", "--resume")
        self.assertTrue(again["simulation"]["was_complete"])
        self.assertTrue(all(again["cases"][name]["simulation"]["was_complete"] for name in ("fine", "hht")))
        self.assertEqual(again["comparison"], whole["comparison"])
        # a change of one case is none of the others
        self.write("s.toml", self.CASES.replace("= 1e-5 }", "= 2e-5 }"))
        self.assertTrue(self.json_of("simulate", "s.toml", "--case", "hht", "--out", "out/hht", "--resume")["was_complete"])
        self.assert_refused(["simulate", "s.toml", "--case", "fine", "--out", "out/fine", "--resume"],
                            "cases.fine.set.simulate.step: 2e-05, was 1e-05")


if __name__ == "__main__":
    unittest.main()
