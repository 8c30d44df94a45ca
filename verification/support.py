"""What the known answers share: running the program, rows of the table, figures, and references.

A folder NAME here has study.toml and check.py with `TITLE` and `check(problem)`, which runs the study through
`problem.simulate`, computes the answer by other means, and hands every comparison to `problem.row`.
"""

import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import time

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = pathlib.Path(__file__).resolve().parent

# what the tests of the command line have for meshes and CalculiX
spec = importlib.util.spec_from_file_location("cli_support", FOLDER.parent / "tests" / "cli" / "support.py")
cli = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cli)

# colours that colour-blind people can tell apart (Okabe and Ito)
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK = "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7"


class Failure(Exception):
    """The program, or another one, did not do what was asked."""


class Problem:
    def __init__(self, name, lissom, out):
        self.name, self.lissom, self.out = name, str(lissom), pathlib.Path(out)
        self.folder, self.rows = FOLDER / name, []
        self.out.mkdir(parents=True, exist_ok=True)

    # ---- running ----

    def run(self, *arguments):
        """The JSON of a run of the program that must succeed."""
        # one thread: the bodies are small, and the machine may be busy
        done = subprocess.run([self.lissom, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=600,
                              env={"OMP_NUM_THREADS": "1", **os.environ}, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Failure(f"lissom {' '.join(map(str, arguments))}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def simulate(self, case=None, study="study.toml", verb="simulate", fails=False):
        """(columns of sensors.csv by name, the JSON) of the study or of a case of it; of a run that must fail (`fails`) what it
        left and the message."""
        path = pathlib.Path(study)
        path = path if path.is_absolute() else self.folder / path
        out = self.out / (path.stem + ("" if case is None else "-" + case))
        if fails:
            try:
                self.run(verb, path, "--out", out, *([] if case is None else ["--case", case]))
            except Failure as failure:
                return read_csv(out / "sensors.csv"), str(failure)
            raise Failure(f"{path}, case {case}: runs to its end and must not")
        report = self.run(verb, path, "--out", out, *([] if case is None else ["--case", case]))
        return read_csv(pathlib.Path(report["out"]) / "sensors.csv"), report

    def ccx(self, job, deck):
        """Writes and runs a CalculiX deck; the text of its .dat file."""
        (self.out / f"{job}.inp").write_text(deck)
        done = subprocess.run(["ccx", job], cwd=self.out, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL)
        if done.returncode != 0 or "*ERROR" in done.stdout:
            raise Failure(f"ccx {job}: {done.stdout[-2000:]}")
        return (self.out / f"{job}.dat").read_text()

    # ---- the table ----

    def row(self, quantity, reference, measured, tolerance, source, unit="", scale=None):
        """One comparison. The error is |measured - reference| / scale; scale is |reference| unless given, and 1 makes it
        absolute. `reference` and `measured` may be arrays over the same samples: the largest error counts, and the largest
        reference is the scale and what is shown."""
        a, b = np.asarray(measured, float), np.asarray(reference, float)
        if a.shape != b.shape:
            raise Failure(f"{self.name}, {quantity}: {a.shape} values and {b.shape} in the reference")
        a, b = a.ravel(), b.ravel()
        size = float(np.abs(b).max()) if scale is None else float(scale)
        error = float(np.abs(a - b).max()) / size
        # of a curve the largest value is shown
        at = int(np.abs(b).argmax())
        self.rows.append(dict(problem=self.name, quantity=quantity, reference=float(b[at]), measured=float(a[at]), unit=unit,
                              error=error, relative=scale != 1, tolerance=tolerance, source=source,
                              ok=bool(np.isfinite(error) and error <= tolerance)))

    def bound(self, quantity, measured, tolerance, source, unit=""):
        """Something whose reference is zero."""
        self.row(quantity, 0.0, measured, tolerance, source, unit, scale=1)

    def beyond(self, quantity, measured, least, source, unit=""):
        """Something that must be large: a limit of the method which is documented, and would be wrong if it were gone."""
        measured = float(measured)
        self.rows.append(dict(problem=self.name, quantity=quantity, reference=float(least), measured=measured, unit=unit,
                              error=max(0.0, least - measured), relative=False, tolerance=0.0, source=source,
                              ok=bool(measured >= least)))

    # ---- figures ----

    def figure(self, columns=2, height=3.2):
        figure, axes = plt.subplots(1, columns, figsize=(4.6 * columns, height), squeeze=False)
        for a in axes[0]:
            a.grid(color="0.92", lw=0.6)
            a.set_axisbelow(True)
        return figure, list(axes[0])

    def save(self, figure):
        figure.tight_layout()
        path = self.out.parent / f"verify-{self.name}.png"
        figure.savefig(path, dpi=80)
        plt.close(figure)


def check(name, module, lissom, out):
    """The rows of one problem; a failure of a program is a row as well."""
    problem, begin = Problem(name, lissom, out), time.monotonic()
    try:
        module.check(problem)
    except (Failure, subprocess.TimeoutExpired, OSError) as failure:
        problem.rows.append(dict(problem=name, quantity="runs to its end", reference=None, measured=None, unit="", error=None,
                                 relative=False, tolerance=0.0, source="", ok=False, message=str(failure)))
    return problem.rows, time.monotonic() - begin


def read_csv(path):
    """Columns of numbers by name."""
    with open(path) as file:
        rows = list(csv.reader(file))
    values = np.array(rows[1:], float)
    return {name: values[:, k] for k, name in enumerate(rows[0])}


def error_axes(axes, t, error, label=None, **style):
    """|error| over time on a logarithmic axis, on which zero has no place."""
    axes.semilogy(t, np.where(np.abs(error) > 1e-15, np.abs(error), np.nan), label=label, **{"lw": 1, **style})


# ---- rigid bodies, for references ----

def turn(axis, angle):
    """Rotation matrix about a unit vector."""
    x, y, z = axis
    S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * S + (1 - np.cos(angle)) * (S @ S)


class Chain:
    """An open chain of rigid bodies with revolute joints, by its joint angles: M(phi) phi'' + c(phi, phi') = 0.

    `joints`: (point, axis) of each at phi = 0, global; `bodies`: (mass, centre, 3 x 3 inertia about it) at phi = 0."""

    def __init__(self, joints, bodies, gravity):
        self.joints = [(np.array(p, float), np.array(a, float) / np.linalg.norm(a)) for p, a in joints]
        self.bodies = [(m, np.array(c, float), np.array(I, float)) for m, c, I in bodies]
        self.gravity = np.array(gravity, float)

    def terms(self, phi, rate):
        """M, c, the frames (R, x: a point X of the rest is at R X + x) and the energy."""
        n = len(phi)
        R, x = np.eye(3), np.zeros(3)
        w, alpha = np.zeros(3), np.zeros(3)         # angular velocity; acceleration for phi'' = 0
        p, v, a = np.zeros(3), np.zeros(3), np.zeros(3)  # of the last joint's point
        axes, points, frames = [], [], []
        M, c, energy = np.zeros((n, n)), np.zeros(n), 0.0
        for i in range(n):
            point, axis = self.joints[i]
            q = R @ point + x
            # the joint's point moves with the body before
            a = a + np.cross(alpha, q - p) + np.cross(w, np.cross(w, q - p))
            v = v + np.cross(w, q - p)
            p, z = q, R @ axis
            alpha = alpha + np.cross(w, z) * rate[i]
            w = w + z * rate[i]
            R = turn(z, phi[i]) @ R
            x = p - R @ point
            axes.append(z), points.append(p), frames.append((R, x))
            m, centre, inertia = self.bodies[i]
            r, I = R @ centre + x, R @ inertia @ R.T
            Jw = np.array(axes).T
            Jv = np.array([np.cross(k, r - o) for k, o in zip(axes, points)]).T
            ac = a + np.cross(alpha, r - p) + np.cross(w, np.cross(w, r - p))
            vc = v + np.cross(w, r - p)
            k = i + 1
            M[:k, :k] += m * Jv.T @ Jv + Jw.T @ I @ Jw
            c[:k] += m * Jv.T @ (ac - self.gravity) + Jw.T @ (I @ alpha + np.cross(w, I @ w))
            energy += 0.5 * m * vc @ vc + 0.5 * w @ I @ w - m * self.gravity @ r
        return M, c, frames, energy


# ---- meshes that CalculiX reads, too ----

def solid_mesh(problem, geometry, faces):
    """Meshes a .geo file with gmsh, second order: nodes {id: xyz}, elements {CalculiX type: [(id, nodes)]}, and sets: the nodes
    for which `faces`[name](x, y, z) is true."""
    path = problem.out / (pathlib.Path(geometry).stem + "-gmsh.inp")
    done = subprocess.run(["gmsh", "-3", "-order", "2", problem.folder / geometry, "-v", "2", "-nt", "1", "-o", path],
                          capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Failure(f"gmsh {geometry}: {done.stdout}{done.stderr}")
    nodes, elements = cli.solids_of_inp(path.read_text())
    used = {n for block in elements.values() for _, corners in block for n in corners}
    nodes = {i: x for i, x in nodes.items() if i in used}
    return nodes, elements, {name: [i for i, x in nodes.items() if inside(*x)] for name, inside in faces.items()}


def static_with_ccx(problem, job, mesh, material, fixed, pulled, reference, force):
    """Displacement of the reference point [m], and nodal stress {id: (xx, yy, zz, xy, yz, zx)}, with the set `fixed` held and
    the rigid set `pulled` loaded by a force at the point `reference`."""
    nodes, elements, sets = mesh
    last = max(nodes)
    extra = "*NODE\n" + "".join("%d, %.13g, %.13g, %.13g\n" % (last + k, *reference) for k in (1, 2))
    extra += f"*NSET, NSET=REF\n{last + 1},\n*RIGID BODY, NSET={pulled.upper()}, REF NODE={last + 1}, ROT NODE={last + 2}\n"
    step = f"*STATIC\n*BOUNDARY\n{fixed.upper()}, 1, 3\n*CLOAD\n"
    step += "".join(f"{last + 1}, {k + 1}, {f!r}\n" for k, f in enumerate(force) if f)
    step += "*NODE PRINT, NSET=REF\nU\n*EL FILE\nS\n"
    deck = cli.inp_deck(nodes, elements, material, {k.upper(): v for k, v in sets.items()}, step)
    deck = deck.replace("*MATERIAL", extra + "*MATERIAL", 1)
    words = next(line.split() for line in problem.ccx(job, deck).splitlines() if line.split()[:1] == [str(last + 1)])
    stress, reading = {}, False
    for line in (problem.out / f"{job}.frd").read_text().splitlines():
        if line.startswith(" -4"):
            reading = "STRESS" in line
        elif reading and line.startswith(" -1"):
            stress[int(line[3:13])] = tuple(float(line[13 + 12 * k:25 + 12 * k]) for k in range(6))
        elif line.startswith(" -3"):
            reading = False
    return np.array([float(w) for w in words[1:4]]), stress
