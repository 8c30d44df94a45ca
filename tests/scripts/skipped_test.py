"""The count of skipped tests at the end of `make test`, and the run of a test file that makes it possible."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from support import SOURCE, load

skipped = load("scripts/skipped-tests")
run = load("tests/run.py")

UNIT = """Note: Google Test filter = A.B
[ RUN      ] A.B
/src/a_test.cpp:859: Skipped
the meshes are not there:
../shared

[  SKIPPED ] A.B (0 ms)
"""
JUNIT = f"""<?xml version="1.0" encoding="UTF-8"?>
<testsuite tests="4">
  <testcase name="A.B" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>{UNIT}</system-out></testcase>
  <testcase name="A.C" status="run"><system-out>fine</system-out></testcase>
  <testcase name="A.D" status="disabled"><skipped message="Disabled"/></testcase>
  <testcase name="cli.x" status="run"><system-out>skipped: X.test_a: no Exudyn
skipped: X.test_b: no Exudyn
OK (skipped=2)</system-out></testcase>
</testsuite>
"""


class SkippedTest(unittest.TestCase):
    def test_reasons_are_counted_the_most_frequent_first(self):
        self.assertEqual(skipped.summary(skipped.skipped(JUNIT)),
                         ["4 tests were skipped:", "  2: no Exudyn (cli.x X.test_a, ...)", "  1: Disabled (A.D)",
                          "  1: the meshes are not there: ../shared (A.B)"])
        self.assertEqual(skipped.summary({}), ["no test was skipped"])

    def test_a_file_that_is_not_there_is_no_failure(self):
        done = subprocess.run([SOURCE / "scripts/skipped-tests", "no-such.xml"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("cannot be counted", done.stdout)

    def test_make_test_ends_with_them_and_with_the_exit_code_of_ctest(self):
        recipe = subprocess.run(["make", "-n", "test"], cwd=SOURCE, capture_output=True, text=True).stdout
        command = recipe[recipe.index("cd build && { ctest"):].split("\nscripts/fuzz-corpus")[0]
        for code in (0, 8):
            with tempfile.TemporaryDirectory() as folder:
                build = pathlib.Path(folder, "build")
                build.mkdir()
                pathlib.Path(folder, "scripts").symlink_to(SOURCE / "scripts")
                fake = pathlib.Path(folder, "ctest")
                fake.write_text(f"#!/bin/sh\ncat > tests.xml <<'END'\n{JUNIT}END\nexit {code}\n")
                fake.chmod(0o755)
                done = subprocess.run(["sh", "-e", "-c", command], cwd=folder, capture_output=True, text=True,
                                      env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("4 tests were skipped:", done.stdout)


class RunTest(unittest.TestCase):
    def run_file(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a_test.py")
            path.write_text(text)
            return subprocess.run([sys.executable, "-B", SOURCE / "tests/run.py", path], capture_output=True, text=True)

    def test_skips_are_told_with_their_reasons(self):
        done = self.run_file("import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.skipTest('no\\nluck')\n"
                             "    def test_b(self):\n        pass\nif __name__ == '__main__':\n    unittest.main()\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("skipped: A.test_a: no luck\n", done.stdout)
        self.assertNotIn("test_b", done.stdout)

    def test_a_failure_is_one(self):
        done = self.run_file("import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.fail('so')\nunittest.main()\n")
        self.assertEqual(done.returncode, 1)

    def test_a_package_that_is_missing_is_a_failure_that_says_what_installs_it(self):
        self.assertEqual(run.missing("scripts"), [])
        with mock.patch.object(run, "NEEDS", {"cli": (["no-such-program"], ["no_such_module"], ["/no/such/file"])}), \
                mock.patch.object(sys, "argv", ["run.py", str(SOURCE / "tests/cli/program_test.py")]):
            self.assertEqual(len(run.missing("cli")), 3)
            with self.assertRaisesRegex(SystemExit, "no-such-program.*no_such_module.*scripts/install-packages test"):
                run.main()

    def test_every_folder_of_tests_in_python_is_known(self):
        folders = {path.parent.name for path in (SOURCE / "tests").glob("*/*_test.py")}
        self.assertEqual(set(run.NEEDS), folders - {"scripts"})


if __name__ == "__main__":
    unittest.main()
