"""What the tests of the Python module share: small meshes and studies, folders of their own, the program lissom.

The module is found through PYTHONPATH, the program and the sources through LISSOM and LISSOM_SOURCE (ctest sets all three).
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
LISSOM = os.path.abspath(os.environ.get("LISSOM", SOURCE / "build" / "lissom"))
if "PYTHONPATH" not in os.environ:
    sys.path.insert(0, str(SOURCE / "build" / "python"))
    os.environ["PYTHONPATH"] = str(SOURCE / "build" / "python")

import numpy as np  # noqa: E402

import lissom  # noqa: E402

STEEL = dict(E=210e9, nu=0.3, rho=7850.0)


class FolderTest(unittest.TestCase):
    """A test in a temporary folder of its own, which is also the current folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lissom-test-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.folder = pathlib.Path(folder.name)
        os.chdir(self.folder)

    def program(self, *arguments):
        return subprocess.run([LISSOM, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def beam_arrays(cells, size):
    """Points and hex20 elements of a box from the origin, cells and lengths along x, y, z."""
    counts = [2 * n + 1 for n in cells]
    index, points = {}, []
    for i in range(counts[0]):
        for j in range(counts[1]):
            for k in range(counts[2]):
                if i % 2 + j % 2 + k % 2 <= 1:
                    index[i, j, k] = len(points)
                    points.append([s * a / (c - 1) for s, a, c in zip(size, (i, j, k), counts)])
    corners = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
    local = corners + [tuple((a + b) // 2 for a, b in zip(corners[p], corners[q])) for p, q in edges]
    elements = [[index[2 * x + a, 2 * y + b, 2 * z + c] for a, b, c in local]
                for x in range(cells[0]) for y in range(cells[1]) for z in range(cells[2])]
    return np.array(points), np.array(elements)


def beam_mesh(cells=(10, 1, 1), size=(1.0, 0.02, 0.02)):
    """A box of hex20 elements with the node sets "left" and "right" at its ends."""
    points, elements = beam_arrays(cells, size)
    sets = {"left": np.flatnonzero(points[:, 0] == 0), "right": np.flatnonzero(points[:, 0] == size[0])}
    return lissom.Mesh(points, {"hex20": elements}, sets)


def beam(name="beam", **options):
    """The same as a body, with rigid spiders "a" and "b" at its ends."""
    spiders = [dict(name="a", kind="rigid", set="left"), dict(name="b", kind="rigid", set="right")]
    return lissom.Body(beam_mesh(**options), material=STEEL, spiders=spiders, name=name)


# a rigid pendulum of 1 m and 2 kg, let go when it is horizontal
PENDULUM = {
    "title": "pendulum",
    "gravity": [0, 0, -9.81],
    "bodies": {"arm": {"formulation": "rigid",
                       "rigid": {"mass": 2.0, "center": [0.5, 0, 0], "inertia": [0.01, 0.2, 0.2]},
                       "points": {"end": [1, 0, 0], "pivot": [0, 0, 0]}}},
    "joints": [{"name": "hinge", "kind": "revolute", "between": ["ground", "arm.pivot"], "axis": [0, 1, 0]}],
    "sensors": [{"name": "tip", "kind": "position", "of": "arm.end"}],
    "simulate": {"end": 0.2, "step": 1e-3, "sample": 1e-2},
}
