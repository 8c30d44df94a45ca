"""Types and words of the interface: stubs, docstrings, a strictly typed script."""

import ast
import inspect
import pathlib
import shutil
import subprocess
import unittest

import lissom
import lissom._core
from support import FolderTest

PACKAGE = pathlib.Path(lissom.__file__).parent

SCRIPT = '''
import numpy as np
import lissom

mesh = lissom.Mesh(np.zeros((4, 3)), {"tet4": np.array([[0, 1, 2, 3]])})
body = lissom.Body(mesh, material={"E": 1e9, "nu": 0.3, "rho": 1e3})
modes = body.modes(4, fix=["left"])
first: float = float(modes.frequencies[0])
study = lissom.Study("study.toml", set={"simulate.end": 0.1})
run = study.simulate(progress=lambda phase, fraction: None)
tip = run.sensors["tip.x"] + run.q[:, 0]
rom = study.train(order=6).rom
f = rom.rhs(0.0, rom.x0)
A = rom.linearise().A
system = lissom.System(gravity=[0, 0, -9.81]).add_rigid_body("arm", 1.0, [1, 1, 1])
try:
    system.simulate(end=1.0, step=1e-3)
except lissom.InputError as problem:
    print(problem)
'''


class Stubs(FolderTest):
    def test_the_stub_has_what_the_module_has(self):
        stub = ast.parse((PACKAGE / "_core.pyi").read_text())
        real = {name for name in dir(lissom._core) if not name.startswith("_")}
        classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
        functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(set(classes) | set(functions), real)
        for name, node in classes.items():
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)} - {"__init__"}
            self.assertEqual(methods, {m for m in vars(getattr(lissom._core, name)) if not m.startswith("_")}, name)
        for name, node in functions.items():
            # pybind11 writes "f(arg0: ..., arg1: ...) -> ..."; the first line has as many colons at depth zero as arguments
            line = getattr(lissom._core, name).__doc__.splitlines()[0]
            self.assertEqual(line.count("arg"), len(node.args.args), line)

    def test_everything_public_has_words(self):
        for name in lissom.__all__:
            item = getattr(lissom, name)
            self.assertTrue((item.__doc__ or "").strip(), name)
            if not inspect.isclass(item) or issubclass(item, BaseException):
                continue
            for member, value in vars(item).items():
                if member.startswith("_") or not (callable(value) or isinstance(value, (property, classmethod))):
                    continue
                self.assertTrue((inspect.getdoc(getattr(item, member)) or "").strip(), f"{name}.{member}")

    def test_the_package_is_typed(self):
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_a_script_is_strictly_typed(self):
        (self.folder / "script.py").write_text(SCRIPT)
        process = subprocess.run(
            [shutil.which("mypy"), "--strict", "--python-executable", "/usr/bin/python3", "--ignore-missing-imports",
             "--cache-dir", str(self.folder / "cache"), "script.py", str(PACKAGE)],
            capture_output=True, text=True, timeout=600, cwd=self.folder)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)


if __name__ == "__main__":
    unittest.main()
