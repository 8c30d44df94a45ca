"""The program itself: help, versions, exit codes, streams."""

import os
import re
import subprocess
import unittest

from support import SOURCE, CliTest, brick, inp_deck

VERBS = ("inspect", "modes", "report", "run")


class Program(CliTest):
    def test_help_names_every_verb_and_the_exit_codes(self):
        result = self.lissom("--help")
        self.assertEqual((result.code, result.err), (0, ""))
        for verb in VERBS:
            self.assertRegex(result.out, rf"(?m)^\s+{verb}\s+\S")
        self.assertIn("Exit codes: 0 done, 1 the computation failed, 2 wrong input", result.out)

    def test_help_of_every_verb_shows_an_example(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                result = self.lissom(verb, "--help")
                self.assertEqual((result.code, result.err), (0, ""))
                self.assertRegex(result.out, rf"Examples?:\n\s+lissom {verb} \S")
                for flag in ("--json", "--quiet", "--help"):
                    self.assertIn(flag, result.out)

    def test_examples_of_the_help_use_flags_that_exist(self):
        for verb in VERBS:
            text = self.lissom(verb, "--help").out
            flags, examples = text.split("Example", 1)
            for flag in re.findall(r"--[a-z-]+", examples):
                self.assertIn(flag, flags, verb)

    def test_version_names_the_blas_file_and_the_libraries(self):
        result = self.lissom("--version")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertRegex(result.out, r"^lissom \d+\.\d+\.\d+\n")
        blas = re.search(r"BLAS\s+(\S+)", result.out)[1]
        self.assertTrue(os.path.isfile(blas), blas)
        self.assertIn("blas", os.path.basename(blas).lower())
        for library in ("METIS", "Eigen", "HDF5", "matio", "zlib"):
            self.assertRegex(result.out, rf"{library}\s+\d+\.\d+")
        self.assertRegex(result.out, r"threads\s+1 ")
        self.assertRegex(self.lissom("--version", OMP_NUM_THREADS="2").out, r"threads\s+2 ")

    def test_idle_threads_sleep_unless_told_otherwise(self):
        self.assertIn("waiting passive", self.lissom("--version").out)
        self.assertIn("waiting active", self.lissom("--version", OMP_WAIT_POLICY="active").out)

    def test_exit_codes(self):
        self.write("box.inp", inp_deck(*brick((1, 1, 1), (1.0, 1.0, 1.0), "C3D8")))
        self.assertEqual(self.lissom("inspect", "box.inp").code, 0)
        self.assertEqual(self.lissom("modes", "box.inp", "--out", "/proc/nothing").code, 1)
        self.assertEqual(self.lissom("inspect", "none.inp").code, 2)

    def test_a_program_without_arguments_says_what_to_do(self):
        result = self.lissom()
        self.assertEqual(result.code, 2)
        self.assertIn("--help", result.err)

    def test_errors_with_json_are_json(self):
        for arguments in (["inspect", "none.inp"], ["modes", "none.inp"], ["run", "none.toml"], ["frobnicate"], [],
                          ["modes", "--frobnicate"]):
            with self.subTest(arguments=arguments):
                result = self.lissom(*arguments, "--json")
                self.assertEqual(result.code, 2)
                self.assertEqual(result.json["exit_code"], 2)
                self.assertIn(result.json["error"], result.err)

    def test_a_missing_gmsh_is_said_to_be_missing(self):
        self.write("box.geo", 'SetFactory("OpenCASCADE"); Box(1) = {0, 0, 0, 1, 1, 1};')
        result = self.lissom("inspect", "box.geo", PATH="/nowhere")
        self.assertEqual(result.code, 1)
        self.assertIn("apt install gmsh", result.err)

    def test_every_benchmark_that_is_listed_is_there(self):
        script = SOURCE / "benchmarks" / "run.py"
        listed = subprocess.run(["/usr/bin/python3", "-B", script, "--list"], capture_output=True, text=True, timeout=60)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        # and every function of a benchmark is listed
        found = re.findall(r"^def bench_(\w+)\(folder\)", script.read_text(), flags=re.M)
        self.assertEqual(sorted(listed.stdout.split()), sorted(found))


if __name__ == "__main__":
    unittest.main()
