"""Every example as a Python script, examples/NAME/example.py: it runs, from anywhere, writes nothing, and prints what its docstring says.

The matching is that of the documentation's pages (scripts/follow-page): numbers within a tolerance, `...` for anything, `<1e-9` for less than that.
"""

import ast
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PYTHONPATH = os.environ.get("PYTHONPATH", str(SOURCE / "build" / "python"))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("follow_page", str(SOURCE / "scripts" / "follow-page"))
pages = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(pages)

# Relative tolerance of printed numbers. 5 %, that of the pages: other versions of gmsh mesh a little differently. Where no mesh is made (beams, those
# that are shipped), another compiler or BLAS changes errors of 1e-16 m2, or those of long motions, by some per cent as well.
TOLERANCE = 0.05
# except where that is known better: equilibria of beams are exact to Newton's tolerance, and a unit of the last of three digits is 1 % at most
TOLERANCES = {"ancf-spatial": 0.01}
# Seconds. The longest takes ten on a quiet machine; ctest on a busy one has many times as much.
LIMIT = 300


def examples():
    """Folders with a study."""
    return sorted(path.parent.name for path in (SOURCE / "examples").glob("*/study.toml"))


def expected_of(script):
    """The indented block that ends the docstring, after a line that begins with `Prints`."""
    text = ast.get_docstring(ast.parse(script.read_text())) or ""
    _, found, block = text.partition("\nPrints")
    return textwrap.dedent(block.partition("\n")[2]).strip("\n") if found else ""


class ExamplesTest(unittest.TestCase):
    def run_example(self, name):
        script = SOURCE / "examples" / name / "example.py"
        expected = expected_of(script)
        self.assertTrue(expected, f"{script} does not say what it prints")
        with tempfile.TemporaryDirectory(prefix="lissom-test-") as folder:
            # threads of NumPy's BLAS that wait for each other cost far more than they gain on matrices of this size
            environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "TMPDIR": folder}
            here = pathlib.Path(folder) / "here"
            here.mkdir()
            done = subprocess.run([sys.executable, str(script)], cwd=here, env=environment, capture_output=True, text=True, timeout=LIMIT,
                                  stdin=subprocess.DEVNULL)
            left = sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "", "warnings that the lesson does not speak of")
        self.assertEqual(left, ["here"], "left over in the current or in the temporary folder")
        with mock.patch.object(pages, "RELATIVE", TOLERANCES.get(name, TOLERANCE)):
            try:
                pages.check_printed(expected, done.stdout)
            except pages.Mismatch as problem:
                self.fail(problem)
        self.assertEqual(len(done.stdout.splitlines()), len(expected.splitlines()), done.stdout)

    def test_every_example_has_a_script_which_its_readme_and_the_list_name(self):
        self.assertGreaterEqual(len(examples()), 15)
        listed = (SOURCE / "docs" / "examples.md").read_text()
        for name in examples():
            with self.subTest(name):
                self.assertTrue((SOURCE / "examples" / name / "example.py").exists(), "it has no example.py")
                blocks = pages.blocks_of((SOURCE / "examples" / name / "README.md").read_text())
                commands = [pages.commands_of_block(body) for language, body, needs in blocks if language == "sh" and needs == "example"]
                self.assertEqual(commands, [[f"PYTHONPATH=build/python /usr/bin/python3 examples/{name}/example.py"]])
                self.assertIn(f"(../examples/{name}/example.py)", listed)

    def test_a_docstring_that_promises_other_numbers_is_noticed(self):
        pages.check_printed("off by <1e-9 m, 3.0 times", "off by 4e-10 m, 3.1 times")
        for wrong in ("off by <1e-10 m, 3.0 times", "off by <1e-9 m, 2.5 times", "off by <1e-9, 3.0 times"):
            with self.assertRaises(pages.Mismatch, msg=wrong):
                pages.check_printed(wrong, "off by 4e-10 m, 3.1 times")


def add_tests():
    for name in examples():
        def test(self, name=name):
            self.run_example(name)

        setattr(ExamplesTest, f"test_{name.replace('-', '_')}_prints_what_it_says", test)


add_tests()

if __name__ == "__main__":
    unittest.main()
