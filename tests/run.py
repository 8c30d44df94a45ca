"""Runs a test file in Python as ctest does: /usr/bin/python3 -B tests/run.py tests/FOLDER/NAME_test.py [ARGUMENTS OF unittest]

Two things more than the file does alone. What tests of the folder need of Debian's packages is looked for first, and what is missing is a
failure: `make test` installs it. And every test that is skipped all the same prints a line `skipped: NAME: REASON`, which
scripts/skipped-tests counts at the end of `make test`.
"""
import importlib.util
import pathlib
import runpy
import shutil
import sys
import unittest

# of each folder: programs, modules and files; the packages stand in scripts/install-packages
NEEDS = {
    "cli": (["gmsh", "ccx", "mpirun"], ["numpy", "scipy", "h5py", "matplotlib", "jsonschema"], []),
    "browser": (["gmsh", "chromium", "chromedriver"], ["numpy", "h5py", "selenium"],
                ["/usr/share/nodejs/d3/dist/d3.min.js", "/usr/share/javascript/three/three.min.js"]),
    "python": (["gmsh", "mypy"], ["numpy", "scipy", "h5py"], []),
    "install": (["zsh", "mandoc", "man", "dpkg-shlibdeps", "fakeroot", "lintian"], [], []),
    "docs": ([], ["sphinx", "myst_parser", "furo"], ["/usr/share/javascript/mathjax/MathJax.js"]),
}


def missing(folder):
    """What is not installed of what the tests of a folder need."""
    programs, modules, files = NEEDS.get(folder, ([], [], []))
    return ([f"the program {name}" for name in programs if not shutil.which(name)]
            + [f"the Python module {name}" for name in modules if not importlib.util.find_spec(name)]
            + [f"the file {name}" for name in files if not pathlib.Path(name).exists()])


class Result(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skipped: {test.id().removeprefix('__main__.')}: {' '.join(str(reason).split())}", flush=True)


def main():
    file = pathlib.Path(sys.argv[1]).resolve()
    if lacking := missing(file.parent.name):
        sys.exit(f"{file.name}: {', '.join(lacking)}: missing. scripts/install-packages test installs what the tests need")
    unittest.TextTestRunner.resultclass = Result
    sys.path[0] = str(file.parent)
    sys.argv = [str(file), *sys.argv[2:]]
    runpy.run_path(str(file), run_name="__main__")


if __name__ == "__main__":
    main()
