"""Killed at any moment: no process stays behind, no file, no lock, and the same command with --resume ends as if nothing
had happened."""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import h5py

from support import CliTest, LISSOM

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)

BEAMS = """title = "two beams"
gravity = [0, -9.81, 0]
[bodies.upper]
formulation = "ancf"
from = [0, 0]
to = [0.5, 0]
elements = 4
section = { rectangle = [0.03, 0.03] }
young = 80e6
mass = 0.304
[bodies.lower]
formulation = "ancf"
from = [0.5, 0]
to = [1, 0]
elements = 4
section = { rectangle = [0.03, 0.03] }
young = 1e6
mass = 0.2455
[[joints]]
name = "O"
kind = "revolute"
between = ["ground", "upper.start"]
[[joints]]
name = "A"
kind = "revolute"
between = ["upper.end", "lower.start"]
[[sensors]]
name = "tip"
kind = "position"
of = "lower.end"
[simulate]
integrator = "hht-i3"
alpha = -0.1
step = 1e-3
end = END
newton_tolerance = 1e-12
"""
TRAIN = """[train]
method = "pod"
order = 6
processes = 2
[train.parameters.mass1]
key = "bodies.upper.mass"
values = [0.2, 0.3, 0.4]
"""
SWEEP = """[[sweep.parameters]]
key = "bodies.upper.mass"
values = [0.2, 0.3, 0.4, 0.5]
"""
REDUCE = """
[bodies.rod]
mesh = "rod.inp"
[bodies.rod.reduce]
interfaces = ["left"]
modes = 2
"""


def machine_tag():
    """What stands for this machine in names of temporary files: FNV-1a of the boot and the space of process numbers."""
    text = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip() + " " + os.readlink("/proc/self/ns/pid")
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return f"{value:08x}"


class KillTest(CliTest):
    def start(self, *arguments, **environment):
        process = subprocess.Popen([LISSOM, *map(str, arguments), "-q"], cwd=self.folder,
                                   env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, process=None, seconds=60):
        """True once the condition holds, False where the process has ended before."""
        deadline = time.monotonic() + seconds
        while not condition():
            if process and process.poll() is not None:
                return False
            self.assertLess(time.monotonic(), deadline, "waited too long")
            time.sleep(0.005)
        return True

    def processes(self, process_of):
        """Command lines of all processes, but for the tests' own, that name something in the folder."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
                line = (entry / "cmdline").read_bytes().split(b"\0")
                if os.readlink(entry / "cwd") == str(self.folder) and line[0] == LISSOM.encode():
                    found.append(line)
            except (OSError, IndexError):
                continue
        return [line for line in found if process_of(line)]

    def killed(self, how, moment, *arguments):
        """Starts lissom and ends it at that moment; whether it came to that."""
        process = self.start(*arguments)
        if not self.wait_for(moment, process):
            return False
        process.send_signal(how)
        process.wait(30)
        return process.returncode == -how

    def expect_tidy(self, out):
        """Nothing that is for the time of a run only."""
        left = [str(path) for path in (self.folder / out).rglob("*")
                if ".lissom" in path.name or path.name.endswith((".tmp", ".lock", ".claim")) or
                (path.parent.name == "training" and path.suffix == ".json")]
        self.assertEqual(left, [])

    def expect_same_files(self, out, whole, names):
        for name in names:
            self.assertEqual((self.folder / out / name).read_bytes(), (self.folder / whole / name).read_bytes(), name)

    def expect_same_model(self, out, whole):
        def numbers(folder):
            found = {}
            with h5py.File(self.folder / folder / "model.rom.h5", "r") as file:
                file.visititems(lambda name, item: found.__setitem__(name, item[()].tobytes())
                                if hasattr(item, "shape") and item.dtype.kind == "f" else None)
            return found
        self.assertTrue(numbers(whole))
        self.assertEqual(numbers(out), numbers(whole))


class Training(KillTest):
    CSV = [f"training/{number:03}/sensors.csv" for number in (1, 2, 3)]

    def test_no_process_stays_behind_and_resume_goes_on_at_once(self):
        self.write("s.toml", BEAMS.replace("END", "4") + TRAIN)
        command = ("train", "s.toml", "--checkpoint", "0.05")
        self.json_of(*command, "--out", "whole")
        out = self.folder / "out"
        moments = {"early": lambda: (out / "training" / "002").exists(),
                   "halfway": lambda: (out / "training" / "002" / "checkpoint.lissom").exists(),
                   "late": lambda: (out / "training" / "003" / "checkpoint.lissom").exists()}
        killed = 0
        for how in SIGNALS:
            for name, moment in moments.items():
                with self.subTest(signal=how.name, moment=name):
                    shutil.rmtree(out, ignore_errors=True)
                    killed += self.killed(how, moment, *command, "--out", "out")
                    # at once: those that are dying still have their locks
                    result = self.lissom(*command, "--out", "out", "--resume")
                    self.assertEqual(result.code, 0, result.err)
                    self.assertEqual(self.processes(lambda line: True), [])
                    self.expect_same_model("out", "whole")
                    self.expect_same_files("out", "whole", self.CSV)
                    self.expect_tidy("out")
        self.assertGreaterEqual(killed, 7, "the runs ended before they were killed")

    def test_processes_end_with_the_training(self):
        self.write("s.toml", BEAMS.replace("END", "4000") + TRAIN)
        for how in SIGNALS:
            with self.subTest(signal=how.name):
                out = f"out-{how.name}"
                process = self.start("train", "s.toml", "--out", out)
                self.wait_for(lambda: (self.folder / out / "training" / "002" / "checkpoint.lissom").exists(), process)
                self.assertEqual(len(self.processes(lambda line: b"simulate" in line)), 2)
                process.send_signal(how)
                process.wait(30)
                self.wait_for(lambda: not self.processes(lambda line: True), seconds=10)


class Runs(KillTest):
    def test_a_study_with_a_training_is_resumed_to_the_same(self):
        self.write("s.toml", BEAMS.replace("END", "2") + TRAIN +
                   '[[cases]]\nname = "small"\nset = { "simulate.model" = "pod" }\n')
        command = ("run", "s.toml", "--checkpoint", "0.05", "--no-report")
        self.json_of(*command, "--out", "whole")
        out = self.folder / "out"
        moments = [(signal.SIGTERM, lambda: (out / "checkpoint.lissom").exists()),
                   (signal.SIGKILL, lambda: (out / "training" / "001" / "checkpoint.lissom").exists()),
                   (signal.SIGHUP, lambda: (out / "training" / "003" / "checkpoint.lissom").exists()),
                   (signal.SIGKILL, lambda: (out / "small" / "result.h5").exists())]
        killed = 0
        for how, moment in moments:
            shutil.rmtree(out, ignore_errors=True)
            killed += self.killed(how, moment, *command, "--out", "out")
            result = self.lissom(*command, "--out", "out", "--resume")
            self.assertEqual(result.code, 0, result.err)
            self.expect_same_model("out", "whole")
            self.expect_same_files("out", "whole", [*Training.CSV, "sensors.csv", "small/sensors.csv"])
            self.expect_tidy("out")
        self.assertGreaterEqual(killed, 2)


class Sweeps(KillTest):
    def test_points_end_with_their_sweep_and_resume_ends_it(self):
        self.write("s.toml", BEAMS.replace("END", "2") + SWEEP)
        command = ("sweep", "s.toml", "--jobs", "2", "--keep-results")
        self.json_of(*command, "--out", "whole")
        out = self.folder / "out"
        killed = 0
        for how in SIGNALS:
            shutil.rmtree(out, ignore_errors=True)
            killed += self.killed(how, lambda: (out / "points" / "000002" / "result.h5").exists(), *command, "--out", "out")
            result = self.lissom(*command, "--out", "out", "--resume")
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(self.processes(lambda line: True), [])
            self.expect_same_files("out", "whole", [f"points/{number:06}/sensors.csv" for number in (1, 2, 3, 4)])
            self.expect_tidy("out")
        self.assertGreaterEqual(killed, 2)


class Locks(KillTest):
    VERBS = (("run", "s.toml"), ("train", "s.toml"), ("sweep", "s.toml"), ("simulate", "s.toml"), ("reduce", "r.toml"),
             ("modes", "rod.inp", "--material", "E=2e11,nu=0.3,rho=7800"))

    def test_one_folder_takes_one_of_them_at_a_time(self):
        self.write("s.toml", BEAMS.replace("END", "0.01") + TRAIN + SWEEP)
        self.write_rod()
        (self.folder / "out").mkdir()
        # as another process holds it; what the file says is told
        with open(self.folder / "out" / ".lissom.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write("process 4711 on elsewhere\n")
            lock.flush()
            before = sorted(os.listdir(self.folder / "out"))
            running = [self.start(*verb, "--out", "out") for verb in self.VERBS]
            for verb, process in zip(self.VERBS, running):
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 2, f"{verb}: {err}")
                self.assertIn("out: process 4711 on elsewhere is writing there; wait for its end, or give another folder "
                              "with --out", err)
            self.assertEqual(sorted(os.listdir(self.folder / "out")), before)
        # the file alone means nothing
        for verb in self.VERBS:
            result = self.lissom(*verb, "--out", "out")
            self.assertEqual(result.code, 0, f"{verb}: {result.err}")
            self.expect_tidy("out")

    def test_the_holder_is_named(self):
        self.write("s.toml", BEAMS.replace("END", "4000") + TRAIN)
        self.write_rod()
        process = self.start("train", "s.toml", "--out", "out")
        self.wait_for(lambda: (self.folder / "out" / "training" / "001" / "checkpoint.lissom").exists(), process)
        result = self.lissom("reduce", "r.toml", "--out", "out")
        self.assertEqual(result.code, 2, result.err)
        self.assertIn(f"out: process {process.pid} on {os.uname().nodename} is writing there", result.err)
        # another folder is free
        self.assertEqual(self.lissom("reduce", "r.toml", "--out", "other").code, 0)

    def test_wrong_input_leaves_no_folder(self):
        self.write("r.toml", REDUCE)
        self.assert_refused(["reduce", "r.toml", "--out", "made/for/nothing"], "rod.inp")
        self.assertFalse((self.folder / "made").exists())

    def write_rod(self):
        from support import brick, inp_deck, nodes_at
        nodes, elements = brick((3, 1, 1), (0.3, 0.1, 0.1))
        self.write("rod.inp", inp_deck(nodes, elements, sets={"left": nodes_at(nodes, 0, 0)}))
        self.write("r.toml", REDUCE)


class LeftBehind(KillTest):
    def test_temporary_files_of_killed_runs_go_with_the_next(self):
        self.write("s.toml", BEAMS.replace("END", "0.01"))
        out = self.folder / "out"
        out.mkdir()
        ended = subprocess.Popen(["true"])
        ended.wait()
        gone, here = f"lissom-{machine_tag()}-{ended.pid}-5-0.tmp", os.getpid()
        born = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
        living = f".result.h5.lissom-{machine_tag()}-{here}-{born}-0.tmp"
        users = [".notes.tmp", "result.h5.tmp", f"{gone}", ".sweepings.tmp"]
        for name in (f".result.h5.{gone}", f".model.rom.h5.{gone}", living, *users):
            (out / name).write_text("x")
        self.json_of("simulate", "s.toml", "--out", "out")
        left = {path.name for path in out.iterdir()}
        self.assertFalse({f".result.h5.{gone}", f".model.rom.h5.{gone}"} & left, left)
        self.assertLessEqual({living, *users}, left)

    def test_a_mesher_ends_with_its_caller_and_its_folder_goes_with_the_next(self):
        self.write("part.geo", 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 1, 1};\n')
        (self.folder / "tmp").mkdir()
        (self.folder / "bin").mkdir()
        gmsh = self.folder / "bin" / "gmsh"
        # trusted, or it could neither write here nor start another program
        gmsh.write_text("#!/bin/sh\necho $$ > started\nexec sleep 1000\n")
        gmsh.chmod(0o755)
        environment = {"TMPDIR": str(self.folder / "tmp"), "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        process = self.start("inspect", "part.geo", "--trust-geometry", **environment)
        started = self.folder / "started"
        self.wait_for(lambda: started.exists() and started.read_text().strip(), process)
        mesher = pathlib.Path("/proc") / started.read_text().strip()
        self.assertEqual(len(list((self.folder / "tmp").iterdir())), 1)
        process.kill()
        process.wait(30)
        self.wait_for(lambda: not mesher.exists() or ") Z" in (mesher / "stat").read_text(), seconds=10)
        gmsh.write_text("#!/bin/sh\necho 'Error   : no'\nexit 1\n")
        self.start("inspect", "part.geo", "--trust-geometry", **environment).wait(60)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
