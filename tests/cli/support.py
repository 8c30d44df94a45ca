"""What the black-box tests of the program share: running it, making meshes, and asking gmsh and ccx.

Only the standard library, and numpy where a test asks for it. The program and the sources come in the
environment variables LISSOM and LISSOM_SOURCE (ctest sets them, see CMakeLists.txt here).
"""

import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import pwd
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
LISSOM = os.path.abspath(os.environ.get("LISSOM", SOURCE / "build" / "lissom"))

STEEL = dict(E=210e9, nu=0.3, rho=7850.0)
MATERIAL = "E=210e9,nu=0.3,rho=7850"

# in the order of lissom, Abaqus and CalculiX
CCX_TYPES = {"C3D4": "tet4", "C3D10": "tet10", "C3D8": "hex8", "C3D20": "hex20", "C3D6": "wedge6", "C3D15": "wedge15"}


def load_script(name):
    """A script of the folder scripts as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SOURCE / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def read_netcdf(path):
    """Variables of a classic NetCDF file with 64-bit offsets by name: texts of characters, else tuples of numbers; of those that
    change with time a list of one for each record. Written from the format's description."""
    data = pathlib.Path(path).read_bytes()
    assert data[:4] == b"CDF\x02", data[:4]
    at = 4

    def take(code, count=1):
        nonlocal at
        layout = ">" + code if code[0].isdigit() else f">{count}{code}"
        values = struct.unpack_from(layout, data, at)
        at += struct.calcsize(layout)
        at += -at % 4
        return values

    def name():
        return take(f"{take('i')[0]}s")[0].decode()

    def skip_attributes():
        for _ in range(take("i", 2)[1]):
            name()
            code, count = take("i", 2)
            take(codes[code], count)

    codes = {2: "c", 4: "i", 5: "f", 6: "d"}
    records = take("i")[0]
    dimensions = [(name(), take("i")[0]) for _ in range(take("i", 2)[1])]
    skip_attributes()
    variables = {}
    for _ in range(take("i", 2)[1]):
        key = name()
        axes = [dimensions[i][1] for i in take("i", take("i")[0])]
        skip_attributes()
        code, size = take("i", 2)
        variables[key] = (codes[code], axes, size & 0xffffffff, take("q")[0])
    record = sum(size for _, axes, size, _ in variables.values() if axes and axes[0] == 0)
    result = {}
    for key, (code, axes, size, begin) in variables.items():
        if axes and axes[0] == 0:
            count = math.prod(axes[1:])
            result[key] = [struct.unpack_from(f">{count}{code}", data, begin + k * record) for k in range(records)]
        elif code == "c":
            rows, width = axes[0], axes[-1]
            result[key] = [data[begin + r * width:begin + (r + 1) * width].split(b"\0")[0].decode() for r in range(rows)]
        else:
            result[key] = struct.unpack_from(f">{math.prod(axes)}{code}", data, begin)
    return result


class Result:
    """What a run of the program left: exit code, both streams, and the object that --json printed."""

    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    @property
    def json(self):
        return json.loads(self.out)


class CliTest(unittest.TestCase):
    """A test in a temporary folder of its own, which is also the current folder of all programs it runs."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="lissom-cli-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.user, self.program = None, LISSOM

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def files(self):
        """Every file and folder here, with the size of files; not the lock that a killed run leaves and the next one takes."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            if path.name == ".lissom.lock":
                continue
            name = str(path.relative_to(self.folder))
            found[name + "/" if path.is_dir() else name] = 0 if path.is_dir() else path.stat().st_size
        return found

    def give_up_root(self):
        """From now on the program runs without root's right to read and write everything."""
        if os.geteuid() != 0:
            return
        nobody = pwd.getpwnam("nobody").pw_uid
        self.folder.chmod(0o777)
        # a copy that everybody may run: the build may lie in root's own folder
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.program = shutil.copy(LISSOM, folder.name)
        self.user = nobody

    def lissom(self, *arguments, timeout=120, **environment):
        # one thread: the bodies are tiny, and threads that wait actively for each other lose much on a busy machine
        environment = {"OMP_NUM_THREADS": "1", **environment}
        process = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, timeout=timeout,
                                 env={**os.environ, **environment}, capture_output=True, text=True,
                                 errors="replace", stdin=subprocess.DEVNULL, user=self.user)
        return Result(process)

    def json_of(self, *arguments):
        """The JSON of a run that must succeed."""
        result = self.lissom(*arguments, "--json")
        self.assertEqual(result.code, 0, result.err)
        return result.json

    def assert_refused(self, arguments, *texts, code=2):
        """The run fails with this exit code and a message with these texts, and no file is left behind.

        Run a second time with --json, it prints an object with the same message and code.
        """
        before = self.files()
        result = self.lissom(*arguments)
        self.assertEqual(result.code, code, f"{arguments}: {result.err}")
        # on a busy machine what takes two seconds has told so before
        message = re.sub(r"\A(?:(?!lissom: )[^\n]* so far[^\n]*\n)+", "", result.err)
        self.assertTrue(message.startswith("lissom: error: "), result.err)
        self.assertEqual(result.out, "", arguments)
        for text in texts:
            self.assertIn(text, result.err)
        for suspect in ("internal error", "terminate called", "std::", "basic_string::", "exception"):
            self.assertNotIn(suspect, result.err)
        again = self.lissom(*arguments, "--json")
        self.assertEqual(again.code, code)
        self.assertEqual(again.json["exit_code"], code)
        self.assertIn(again.json["error"], result.err)
        self.assertEqual(self.files(), before, "something was left behind")
        return result

    def assert_close(self, found, expected, relative, note=""):
        """Two numbers, or two nested lists of them; the tolerance is relative to the largest one expected."""
        a, b = flatten(found), flatten(expected)
        self.assertEqual(len(a), len(b), note)
        scale = max((abs(x) for x in b), default=0)
        worst = max((abs(x - y) for x, y in zip(a, b)), default=0)
        self.assertLessEqual(worst, relative * scale, f"{note}: {found} against {expected}")

    def gmsh(self, geometry, output, *flags):
        """Meshes a .geo text; the format follows the name of the output unless flags say otherwise."""
        self.write("gmsh.geo", geometry)
        done = subprocess.run(["gmsh", "-3", "gmsh.geo", "-v", "2", "-nt", "1", *flags, "-o", output], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (self.folder / "gmsh.geo").unlink()
        return output

    def ccx(self, job):
        """Runs ccx on JOB.inp."""
        # one thread: the box is shared and the jobs are tiny
        done = subprocess.run(["ccx", job], cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        return done.stdout

    def ccx_frequencies(self, job):
        """The frequencies [Hz] in JOB.dat, from the eigenvalues: their seven digits make eight of the root."""
        frequencies = []
        for line in (self.folder / f"{job}.dat").read_text().splitlines():
            words = line.split()
            # "mode  eigenvalue  rad/s  cycles/s  imaginary"
            if len(words) == 5 and words[0] == str(len(frequencies) + 1):
                frequencies.append(math.sqrt(max(0.0, float(words[1]))) / (2 * math.pi))
            elif frequencies and not words:
                break
        return frequencies


def flatten(value):
    if isinstance(value, (int, float)):
        return [value]
    return [x for part in value for x in flatten(part)]


def solids_of_inp(text):
    """Nodes and solid elements of an .inp text as gmsh writes it: ({id: xyz}, {type: [(id, nodes)]}).

    Elements of lines and faces, which gmsh writes too and ccx would take for beams and shells, are left out.
    """
    nodes, elements, kind, pending = {}, {}, None, []
    for line in text.splitlines():
        if line.startswith("*"):
            words = [w.strip() for w in line.upper().split(",")]
            types = [w.split("=")[1].strip() for w in words if w.replace(" ", "").startswith("TYPE=")]
            kind = "node" if words[0] == "*NODE" else types[0] if words[0] == "*ELEMENT" else None
        elif kind == "node":
            words = line.split(",")
            nodes[int(words[0])] = tuple(float(w) for w in words[1:4])
        elif kind in CCX_TYPES:
            pending += [int(w) for w in line.split(",") if w.strip()]
            if not line.rstrip().endswith(","):
                elements.setdefault(kind, []).append((pending[0], pending[1:]))
                pending = []
    return nodes, elements


def inp_deck(nodes, elements, material=STEEL, sets=None, step=""):
    """An .inp text that both lissom and ccx read; only nodes of elements are written."""
    used = {n for block in elements.values() for _, corners in block for n in corners}
    lines = ["*NODE, NSET=NALL"]
    # ccx reads no more than 20 characters a number
    lines += ["%d, %.13g, %.13g, %.13g" % (i, *x) for i, x in nodes.items() if i in used]
    for kind, block in elements.items():
        lines.append(f"*ELEMENT, TYPE={kind}, ELSET=EALL")
        for element, corners in block:
            numbers = [element, *corners]
            # a line holds 16 numbers at most
            lines += [", ".join(map(str, numbers[k:k + 15])) + ("," if k + 15 < len(numbers) else "")
                      for k in range(0, len(numbers), 15)]
    for name, members in (sets or {}).items():
        lines.append(f"*NSET, NSET={name}")
        lines += [f"{n}," for n in members]
    if material:
        lines += ["*MATERIAL, NAME=M", "*ELASTIC", "%.17g, %.17g" % (material["E"], material["nu"]), "*DENSITY",
                  "%.17g" % material["rho"], "*SOLID SECTION, ELSET=EALL, MATERIAL=M"]
    if step:
        lines += ["*STEP", *step.strip().splitlines(), "*END STEP"]
    return "\n".join(lines) + "\n"


def brick(cells, size, kind="C3D20"):
    """A structured mesh of the box [0, size]: ({id: xyz}, {kind: [(id, nodes)]}), kind C3D8, C3D20 or C3D4."""
    steps = [2 * c for c in cells]
    ids, nodes = {}, {}

    def node(i, j, k):
        if (i, j, k) not in ids:
            ids[i, j, k] = len(ids) + 1
            nodes[ids[i, j, k]] = tuple(s * p / n for s, p, n in zip(size, (i, j, k), steps))
        return ids[i, j, k]

    corners = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
    middles = [tuple((a + b) // 2 for a, b in zip(corners[p], corners[q])) for p, q in edges]
    # six tetrahedra around the diagonal 0-6, which fit together from cell to cell
    tets = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
    block = []
    for z in range(0, steps[2], 2):
        for y in range(0, steps[1], 2):
            for x in range(0, steps[0], 2):
                places = corners + (middles if kind == "C3D20" else [])
                cell = [node(x + a, y + b, z + c) for a, b, c in places]
                for part in [[cell[v] for v in tet] for tet in tets] if kind == "C3D4" else [cell]:
                    block.append((len(block) + 1, part))
    return nodes, {kind: block}


def nodes_at(nodes, axis, value, tolerance=1e-9):
    return [i for i, x in nodes.items() if abs(x[axis] - value) <= tolerance]
