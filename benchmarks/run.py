#!/usr/bin/python3
"""Measures Lissom on this machine: `make bench`.

Prints a table and writes a list of entries {name, value, unit, goal, better}. Ratios are of times measured in this run,
on the same meshes: against CalculiX (ccx), against one bare CHOLMOD factorisation, against another size of the same part,
and against Exudyn (Craig-Bampton reduction, floating-frame simulation) if EXUDYN_PYTHON names a Python that has exudyn,
scipy and h5py.
With --docs the table in docs/benchmarks.md is brought up to date.
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISSOM = ROOT / "build" / "lissom"
BARE = ROOT / "build" / "benchmarks" / "bare_cholmod"
GEOMETRY = ROOT / "examples" / "rod-modes" / "rod.geo"
UNITS, MATERIAL = "mm-t-s", "E=70e3,nu=0.33,rho=2.71e-9"

entries = []


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def record(name, value, unit, goal, better):
    entries.append({"name": name, "value": value, "unit": unit, "goal": goal, "better": better})
    say(f"{name}: {value:.4g} {unit}")


def run(command, timeout=None, **options):
    """Wall seconds, standard output and peak memory [bytes] of a command; its failure is ours."""
    start = time.monotonic()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    out, err = process.communicate(timeout=timeout)
    seconds = time.monotonic() - start
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with {process.returncode}:\n{out}\n{err}")
    return seconds, out


def make_mesh(folder, nodes):
    """The connecting rod in about so many tet10 nodes, as a .msh and a ccx-ready .inp; size found by two tries."""
    size = 3.25 * (44600 / nodes) ** (1 / 3)
    name = folder / f"rod_{nodes}"
    text = re.sub(r"Mesh.CharacteristicLengthMax = \S+;", f"Mesh.CharacteristicLengthMax = {size};", GEOMETRY.read_text())
    text = re.sub(r"Physical Surface[^;]*;", "", text)
    geo = name.with_suffix(".geo")
    geo.write_text(text)
    run(["gmsh", "-3", "-order", "2", "-v", "1", "-bin", "-format", "msh41", geo, "-o", name.with_suffix(".msh")])
    return name.with_suffix(".msh")


def modes(mesh, count, *flags, repeat=1):
    """The best of `repeat` runs of lissom modes: its JSON with the process' wall seconds added."""
    best = None
    for _ in range(repeat):
        out = tempfile.mkdtemp(dir=mesh.parent)
        seconds, text = run([LISSOM, "modes", mesh, "--units", UNITS, "--material", MATERIAL, "--count", count, "--json",
                             "--out", out, *flags])
        shutil.rmtree(out)
        result = json.loads(text)
        result["wall"] = seconds
        phases = result["seconds"]
        result["computing"] = sum(phases[p] for p in ("assembly", "shift", "factorisation", "eigenvalues"))
        if best is None or result["computing"] < best["computing"]:
            best = result
    return best


def ccx_modes(mesh, count):
    """Wall seconds of ccx on the same mesh, and its frequencies."""
    folder = mesh.parent / "ccx"
    folder.mkdir()
    run(["gmsh", "-v", "1", "-save", "-format", "inp", mesh, "-o", folder / "mesh.inp"])
    (folder / "job.inp").write_text("*INCLUDE,INPUT=mesh.inp\n*MATERIAL,NAME=AL\n*ELASTIC\n70e3,0.33\n*DENSITY\n2.71e-9\n"
                                    "*SOLID SECTION,ELSET=rod,MATERIAL=AL\n*STEP\n*FREQUENCY\n"
                                    f"{count}\n*NODE FILE\nU\n*END STEP\n")
    environment = dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count()))
    seconds, _ = run(["ccx", "job"], cwd=folder, env=environment)
    rows = [line.split() for line in (folder / "job.dat").read_text().splitlines()]
    return seconds, [float(row[3]) for row in rows if len(row) == 5 and row[0].isdigit()]


def bare_cholmod(mesh, shift, material=MATERIAL):
    """Seconds of one bare factorisation with the thread count that suits it best: (analysis + numeric, numeric)."""
    best = None
    for threads in (1, os.cpu_count()):
        _, text = run([BARE, mesh, UNITS, material, shift], env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
        result = json.loads(text)
        total = result["analysis_seconds"] + result["numeric_seconds"]
        say(f"bare CHOLMOD, {threads} threads: analysis {result['analysis_seconds']:.2f} s, numeric {result['numeric_seconds']:.2f} s")
        if best is None or total < best[0]:
            best = (total, result["numeric_seconds"])
    return best


def bench_part(folder):
    """Assembly and thirty free-free modes of a 150,000-degree-of-freedom part, against ccx and bare CHOLMOD."""
    mesh = make_mesh(folder, 50000)
    ours = modes(mesh, 30, repeat=3)
    n = ours["degrees_of_freedom"]
    say(f"{n} degrees of freedom: {ours['seconds']}")
    bare, numeric = bare_cholmod(mesh, ours["solver"]["shift"])
    record("modes-150k/bare-cholmod", ours["computing"] / bare, "assembly + 30 modes / one bare factorisation", 4, "lower")
    record("modes-150k/bare-cholmod-numeric", ours["computing"] / numeric, "the same / its numerical part alone", 4, "lower")
    # the part of these modes that says that none is missing
    record("modes-150k/count", ours["seconds"]["count"] / bare, "inertia count / one bare factorisation", 1, "lower")
    record("modes-150k/seconds", ours["computing"], "s", 10, "lower")
    record("modes-150k/peak-memory", ours["peak_memory_bytes"] / 1e9, "GB", 2, "lower")
    record("assembly-150k/bare-cholmod", ours["seconds"]["assembly"] / bare, "assembly / one bare factorisation", 0.2, "lower")
    record("writing-150k/computing", ours["seconds"]["writing"] / ours["computing"], "body file and ParaView file / computing", 0.5, "lower")
    if shutil.which("ccx"):
        seconds, theirs = ccx_modes(mesh, 30)
        record("modes-150k/ccx", seconds / ours["wall"], "wall time of ccx / ours, files written", 5, "higher")
        worst = max(abs(a / b - 1) for a, b in zip(ours["frequencies_hz"][6:16], theirs[6:16]))
        record("modes-150k/ccx-difference", worst, "largest relative difference of ten elastic frequencies", 1e-5, "lower")
    else:
        say("ccx is not installed: left out")


def bench_readers(folder):
    """Seconds per million nodes and elements of the same mesh in every format, against copying the file."""
    mesh = make_mesh(folder, 100000)
    for name, flags in {"msh41-binary": [".msh", "msh41", "-bin"], "msh22-text": [".22.msh", "msh22"], "nastran": [".bdf", "bdf"],
                        "inp": [".inp", "inp"]}.items():
        path = mesh.with_suffix(flags[0])
        if not path.exists():
            run(["gmsh", "-v", "1", "-save", "-format", flags[1], *flags[2:], mesh, "-o", path])
        times = []
        for _ in range(3):
            start = time.monotonic()
            run([LISSOM, "inspect", path, "--quiet", "--json"])
            times.append(time.monotonic() - start)
        record(f"inspect-100k-nodes/{name}", path.stat().st_size / min(times) / 1e6, "MB of file per second", 20, "higher")


def bench_scaling(folder):
    """Time against size: no worse than n^1.5 between 50,000 and 500,000 degrees of freedom."""
    rows = []
    for nodes in (13000, 50000, 100000, 205000):
        mesh = make_mesh(folder, nodes)
        result = modes(mesh, 20, "--no-files", repeat=2)
        rows.append((result["degrees_of_freedom"], result["computing"], result["peak_memory_bytes"]))
        say(f"{rows[-1][0]} degrees of freedom: {rows[-1][1]:.2f} s, {rows[-1][2] / 1e9:.2f} GB")
    print("\n  degrees of freedom   seconds (20 modes)   peak memory   exponent")
    for i, (n, seconds, memory) in enumerate(rows):
        local = "" if i == 0 else f"{math.log(seconds / rows[i - 1][1]) / math.log(n / rows[i - 1][0]):8.2f}"
        print(f"{n:20d} {seconds:20.2f} {memory / 1e9:10.2f} GB {local:>10}")
    print()
    exponent = math.log(rows[-1][1] / rows[0][1]) / math.log(rows[-1][0] / rows[0][0])
    record("modes/scaling-exponent", exponent, "of time against size, 50,000 to 500,000 degrees of freedom", 1.5, "lower")


def bench_million(folder):
    """Ten modes of a part with a million degrees of freedom."""
    mesh = make_mesh(folder, 425000)
    result = modes(mesh, 10, "--no-files")
    n = result["degrees_of_freedom"]
    say(f"{n} degrees of freedom: {result['seconds']}")
    record("modes-1m/degrees-of-freedom", n, "completed with ten modes", 1000000, "higher")
    record("modes-1m/seconds", result["computing"], "s", 180, "lower")
    record("modes-1m/peak-memory", result["peak_memory_bytes"] / 2**30, "GiB", 24, "lower")


BEAM = """SetFactory("OpenCASCADE");
Box(1) = {{0, 0, 0, 1, 0.1, 0.1}};
e = 1e-4;
Physical Volume("beam") = {{1}};
Physical Surface("left") = Surface In BoundingBox{{-e, -e, -e, e, 0.1 + e, 0.1 + e}};
Physical Surface("right") = Surface In BoundingBox{{1 - e, -e, -e, 1 + e, 0.1 + e, 0.1 + e}};
Mesh.CharacteristicLengthMin = {size};
Mesh.CharacteristicLengthMax = {size};
"""

BEAM_STUDY = """[bodies.beam]
mesh = "{mesh}"
material = {{E = 210e9, nu = 0.3, rho = 7850}}
[[bodies.beam.spiders]]
name = "left"
kind = "rigid"
set = "left"
[[bodies.beam.spiders]]
name = "right"
kind = "rigid"
set = "right"
[bodies.beam.reduce]
interfaces = ["left", "right"]
modes = 8
method = "fixed"
count = 8
residual_vectors = false
stress = false
paraview = false
"""


def exudyn_python():
    """The Python that has exudyn, or None."""
    python = os.environ.get("EXUDYN_PYTHON")
    if not python:
        say("EXUDYN_PYTHON is not set: Exudyn left out")
        return None
    found = subprocess.run([python, "-c", "import exudyn, h5py, scipy"], capture_output=True, text=True)
    if found.returncode != 0:
        say(f"{python} cannot import exudyn, h5py and scipy: Exudyn left out\n{found.stderr.strip()}")
        return None
    return python


def lissom_reduce(study, body, repeat=3, flags=("--no-files",)):
    """lissom reduce, the best of `repeat` runs: its JSON of the body's reduction, with the wall seconds of reducing and its
    peak memory (reading, assembly and writing are left out of wall and CPU seconds, as they are not part of the peer's call)."""
    best = None
    for _ in range(repeat):
        _, text = run([LISSOM, "reduce", study, "--json", "--quiet", *flags], cwd=study.parent)
        summary = json.loads(text)
        result = summary["bodies"][body]["reduce"]
        result["assembly"] = summary["bodies"][body]["seconds"]["assembly"]
        result["wall"] = result["seconds"]["total"]
        result["peak_memory_bytes"] = summary["peak_memory_bytes"]
        if best is None or result["wall"] < best["wall"]:
            best = result
    return best


def make_beam(folder, name, size):
    """A linear-tet beam and its study, for Exudyn and for the memory at 100,000 nodes."""
    mesh = folder / f"beam_{name}.msh"
    mesh.with_suffix(".geo").write_text(BEAM.format(size=size))
    run(["gmsh", "-3", "-v", "1", "-bin", "-format", "msh41", mesh.with_suffix(".geo"), "-o", mesh])
    mesh.with_suffix(".toml").write_text(BEAM_STUDY.format(mesh=mesh.name))
    return mesh


def bench_reduction(folder):
    """The crankshaft, 0.1 % on ten modes, certified, against one bare factorisation; memory at 100,000 nodes."""
    example = ROOT / "examples" / "crankshaft"
    mesh = folder / "crankshaft.msh"
    run(["gmsh", "-3", "-order", "2", "-v", "1", "-bin", "-format", "msh41", example / "crankshaft.geo", "-o", mesh])
    # the example's study without its verification and GCMS
    text = (example / "study.toml").read_text().split("# twelve modes")[0].replace("crankshaft.geo", str(mesh))
    text = re.sub(r"^(exact|compare\w*) =.*\n", "", text, flags=re.M)
    study = folder / "crankshaft.toml"
    study.write_text(text)
    ours = lissom_reduce(study, "crankshaft")
    say(f"{ours['degrees_of_freedom']} degrees of freedom to {ours['coordinates']}: {ours['seconds']}")
    bare, numeric = bare_cholmod(mesh, -1e6, "E=210e3,nu=0.3,rho=7.85e-9")
    record("reduce-crankshaft/bare-cholmod", (ours["wall"] + ours["assembly"]) / bare,
           "assembly + certified reduction, stress modes / one bare factorisation", 4, "lower")
    record("reduce-crankshaft/bare-cholmod-numeric", (ours["wall"] + ours["assembly"]) / numeric,
           "the same / its numerical part alone", 4, "lower")
    record("reduce-crankshaft/seconds", ours["wall"], "s", 20, "lower")
    record("reduce-crankshaft/estimator", ours["estimator_seconds"] / ours["wall"], "estimates and bounds / reduction", 0.1, "lower")
    record("reduce-crankshaft/bound", ours["largest"]["bound"], "proven relative error of ten eigenvalues", 1e-3, "lower")
    record("reduce-crankshaft/interior-coordinates", ours["interior_coordinates"], f"of {ours['interior']}", 60, "lower")
    record("reduce-crankshaft/peak-memory", ours["peak_memory_bytes"] / 1e9, "GB", 2, "lower")

    beam = make_beam(folder, "100k", 0.0044)
    ours = lissom_reduce(beam.with_suffix(".toml"), "beam", repeat=1)
    record("reduce-100k-nodes/peak-memory", ours["peak_memory_bytes"] / 1e9, f"GB at {ours['degrees_of_freedom']} degrees of freedom", 3,
           "lower")
    record("reduce-100k-nodes/seconds", ours["wall"], "s", 30, "lower")


def bench_exudyn(folder):
    """Craig-Bampton of linear-tet beams with two rigid interfaces and eight modes against Exudyn, on the same matrices."""
    python = exudyn_python()
    if not python:
        return
    for name, size, goal in (("31k", 0.0067, 15), ("100k", 0.0044, 40)):
        mesh = make_beam(folder, name, size)
        # the body file, from which Exudyn takes K and M; the fewest modes that lissom modes computes
        out = folder / f"beam_{name}"
        run([LISSOM, "modes", mesh, "--material", "E=210e9,nu=0.3,rho=7850", "--count", 1, "--no-paraview", "--quiet", "--out", out])
        ours = lissom_reduce(mesh.with_suffix(".toml"), "beam")
        _, text = run([python, ROOT / "benchmarks" / "exudyn_craig_bampton.py", out / f"beam_{name}.body.h5",
                       "--interfaces", "left", "right", "--modes", 8])
        theirs = json.loads(text)
        say(f"{theirs['nodes']} nodes: Exudyn {theirs['wall_seconds']:.2f} s (CPU {theirs['cpu_seconds']:.2f} s), "
            f"{theirs['peak_memory_bytes'] / 1e9:.2f} GB; ours {ours['wall']:.2f} s (CPU {ours['cpu_seconds']:.2f} s)")
        record(f"reduce-{name}/exudyn", theirs["wall_seconds"] / ours["wall"], "wall time of Exudyn's reduction / ours", goal,
               "higher")
        record(f"reduce-{name}/exudyn-cpu", theirs["cpu_seconds"] / ours["cpu_seconds"],
               "CPU time of Exudyn's reduction / ours", goal, "higher")
        # the same columns span both bases: only the tolerances of the eigen-solvers are between them
        worst = max(abs(a / b - 1) for a, b in zip(ours["frequencies_hz"][6:14], theirs["frequencies_hz"][6:14], strict=True))
        record(f"reduce-{name}/exudyn-difference", worst, "largest relative difference of eight elastic frequencies", 1e-6, "lower")
        mesh.unlink()
        shutil.rmtree(out)


PENDULUM = """gravity = [0, 0, -9.81]
[bodies.beam]
{body}
[[joints]]
name = "pivot"
kind = "spherical"
between = ["ground", "beam.{held}"]
[[sensors]]
name = "tip"
kind = "position"
of = "beam.node {tip}"
[simulate]
end = {end}
step = {step}
sample = 0.1
rho_inf = 0.8
"""

# a plastic beam of 1 m that bends by about a millimetre while it swings
PENDULUM_BODY = """mesh = "{mesh}"
material = {{E = 3e9, nu = 0.3, rho = 1200}}
[bodies.beam.reduce]
interfaces = ["pin"]
basis = "free-modes"
modes = {modes}
method = "estimate"
stress = false
paraview = false
"""


def box_mesh(path, cells, size=(1, 0.02, 0.03)):
    """A structured hex8 mesh as .inp, with the node sets `left` (all nodes at x = 0) and `pin` (nine of them); the numbers of
    the nodes at x = 0 and of the last node."""
    import numpy as np

    counts = [c + 1 for c in cells]
    ids = np.arange(1, math.prod(counts) + 1).reshape(counts)
    points = np.stack(np.meshgrid(*[np.linspace(0, s, n) for s, n in zip(size, counts)], indexing="ij"), -1).reshape(-1, 3)
    low, high = slice(None, -1), slice(1, None)
    corners = [ids[i, j, k] for k in (low, high) for i, j in ((low, low), (high, low), (high, high), (low, high))]
    elements = np.stack(corners, -1).reshape(-1, 8)
    middle = [sorted({0, c // 2, c}) for c in cells[1:]]
    with open(path, "w") as file:
        file.write("*NODE\n")
        file.writelines("%d,%.13g,%.13g,%.13g\n" % (i + 1, *x) for i, x in enumerate(points))
        file.write("*ELEMENT,TYPE=C3D8,ELSET=EALL\n")
        file.writelines(",".join(map(str, [i + 1, *element])) + "\n" for i, element in enumerate(elements))
        for name, nodes in {"left": ids[0].ravel(), "pin": ids[0][np.ix_(*middle)].ravel()}.items():
            file.write(f"*NSET,NSET={name}\n" + "".join(f"{node}\n" for node in nodes))
    return ids[0].ravel(), int(ids[-1, -1, -1])


def lissom_simulate(study, repeat=3):
    """lissom simulate, the fastest of `repeat` runs: its JSON, with the rows of sensors.csv. `seconds` are those of the steps,
    their energy balance and the output included, without reading, reduction and initial conditions."""
    best = None
    for _ in range(repeat):
        out = study.with_suffix(".out")
        _, text = run([LISSOM, "simulate", study, "--out", out, "--json", "--quiet", "--no-view"], cwd=study.parent)
        result = json.loads(text)
        lines = (out / "sensors.csv").read_text().splitlines()
        result["columns"] = lines[0].split(",")
        result["rows"] = [[float(x) for x in line.split(",")] for line in lines[1:]]
        shutil.rmtree(out)
        if best is None or result["seconds"] < best["seconds"]:
            best = result
    return best


def cost_ratio(first, second, rounds=7):
    """Time per step of the second study over that of the first, the fastest of some runs each, taken in turn so that both see the
    same machine; and both times [us]."""
    per_step = []
    for study in (first, second) * rounds:
        result = lissom_simulate(study, repeat=1)
        per_step.append(1e6 * result["seconds"] / result["steps"])
    a, b = min(per_step[::2]), min(per_step[1::2])
    return b / a, a, b


def largest_difference(ours, theirs, sensor):
    """Largest distance [m] between the positions of a sensor in both programs, over the samples."""
    first = ours["columns"].index(f"{sensor}.x")
    for row, t in zip(ours["rows"], theirs["t"], strict=True):
        if abs(row[0] - t) > 1e-9:
            sys.exit(f"the samples of both programs differ: {row[0]} and {t} s")
    return max(math.dist(row[first:first + 3], x) for row, x in zip(ours["rows"], theirs[sensor], strict=True))


def make_pendulum(folder, name, cells, interface, modes, end):
    """A reduced beam and the study of its pendulum, held at the mean of a node set: mesh, study, reduced-body file, tip node.
    The free modes are those of a reduction with nine nodes as interface, whichever set is held."""
    mesh, study = folder / f"{name}.inp", folder / f"{name}_{modes}.toml"
    left, tip = box_mesh(mesh, cells)
    out = folder / f"{name}_{modes}"
    study.write_text("[bodies.beam]\n" + PENDULUM_BODY.format(mesh=mesh.name, modes=modes))
    run([LISSOM, "reduce", study, "--out", out, "--quiet"], cwd=folder)
    held = "pin" if interface == "pin" else "nodes " + " ".join(map(str, left))
    study.write_text(PENDULUM.format(body=f'reduced = "{out.name}/beam.reduced.h5"', held=held, tip=tip, end=end, step=1e-3))
    return mesh, study, out / "beam.reduced.h5", tip


def bench_simulation(folder):
    """Pendulum and four-bar: seconds per simulated second and per step, against Exudyn's reduced-order floating frame with the
    same modes, step and method; against the number of interface nodes and of nodes."""
    python = exudyn_python()
    if not python:
        say("simulation without Exudyn")
    scripts = ROOT / "benchmarks"
    # Exudyn: its default relative tolerance; ours is the default too, which is the stricter one
    end, tolerance = 1, 1e-8
    for modes, goal_seconds in ((8, 0.05), (40, 0.5)):
        studies = {}
        for nodes, cells in ((9, (40, 2, 2)), (286, (40, 12, 21))):
            name = f"simulate-pendulum-{modes}-modes-{nodes}-interface-nodes"
            mesh, study, reduced, tip = make_pendulum(folder, f"beam_{nodes}", cells, "left", modes, end)
            ours = lissom_simulate(study, repeat=5)
            studies[nodes] = study
            say(f"{name}: {ours['steps']} steps, {ours['newton_iterations']} iterations, {ours['factorisations']} factorisations in "
                f"{ours['seconds']:.4f} s, {ours['output_seconds']:.4f} s of it output and balance")
            record(f"{name}/seconds-per-second", ours["seconds"] / ours["end"], "s per simulated second", goal_seconds, "lower")
            record(f"{name}/step", 1e6 * ours["seconds"] / ours["steps"], "us per step", 1e3 * goal_seconds, "lower")
            if not python:
                continue
            bodies = folder / f"modes_{nodes}"
            run([LISSOM, "modes", mesh, "--material", "E=3e9,nu=0.3,rho=1200", "--count", 1, "--no-paraview", "--quiet", "--out", bodies])
            _, text = run([python, scripts / "exudyn_pendulum.py", bodies / f"{mesh.stem}.body.h5", reduced, "--interface", "left",
                           "--tip", tip, "--modes", modes, "--step", 1e-3, "--end", end, "--sample", 0.1, "--rho", 0.8,
                           "--tolerance", tolerance, "--repeat", 5 if modes == 8 else 2])
            theirs = json.loads(text)
            say(f"Exudyn: {theirs['newton_iterations']} iterations, {theirs['jacobians']} Jacobians in {theirs['wall_seconds']:.4f} s "
                f"(CPU {theirs['cpu_seconds']:.4f} s)")
            record(f"{name}/exudyn", theirs["wall_seconds"] / ours["seconds"], "wall time of Exudyn's steps / ours", 5, "higher")
            record(f"{name}/exudyn-difference", largest_difference(ours, theirs, "tip"), "largest difference of the tip / length",
                   1e-5, "lower")
        record(f"simulate-pendulum-{modes}-modes/interface-nodes", cost_ratio(studies[9], studies[286])[0],
               "time with 286 interface nodes / with 9", 1.1, "lower")

    # 1,100 to 103,424 nodes, the same nine of them held
    small, large = (make_pendulum(folder, f"beam_{nodes}", cells, "pin", 8, 10)[1]
                    for nodes, cells in (("1k", (10, 9, 9)), ("100k", (100, 31, 31))))
    ratio, a, b = cost_ratio(small, large)
    say(f"1k nodes: {a:.2f} us per step, 100k nodes: {b:.2f}")
    record("simulate-pendulum/nodes", ratio, "time per step with 103,424 nodes / with 1,100", 1.1, "lower")

    bench_four_bar(folder, python, tolerance)


def chain_study(path, links, hinges, closed, end):
    """A zigzag of rigid bars, each joined to the next one by so many revolute joints side by side, hung up at one end or both, with
    the reaction at a hinge. Closed it has three redundant constraints, and five for every hinge beyond the first."""
    text = ["gravity = [0, -9.81, 0]"]
    step = math.cos(math.radians(30))
    for k in range(links):
        text.append(f"[bodies.b{k}]\nrigid = {{ mass = 1, center = [0.5, 0, 0], inertia = [1e-3, 0.0833, 0.0833] }}\n"
                    f"points = {{ a0 = [0, 0, 0], b0 = [1, 0, 0], a1 = [0, 0, 0.2], b1 = [1, 0, 0.2] }}\n"
                    f"position = [{k * step:.15g}, {-0.5 * (k % 2):.15g}, 0]\n"
                    f"rotation = {{ axis = [0, 0, 1], angle_deg = {30 if k % 2 else -30} }}\n")
    for k in range(links + (1 if closed else 0)):
        for hinge in range(hinges):
            first = "ground" if k in (0, links) else f"b{k - 1}.b{hinge}"
            second = f"b{k}.a{hinge}" if k < links else f"b{k - 1}.b{hinge}"
            text.append(f'[[joints]]\nname = "h{k} {hinge}"\nkind = "revolute"\nbetween = ["{first}", "{second}"]\naxis = [0, 0, 1]\n')
    text.append('[[sensors]]\nname = "hinge"\nkind = "reaction"\nof = "h1 0"\n')
    text.append(f"[simulate]\nend = {end}\nstep = 1e-3\nsample = 1e-3\n")
    path.write_text("\n".join(text))


def bench_chain(folder):
    """Chains of rigid links: time per step and of the set-up against their number, with reactions and redundant constraints too."""
    for name, hinges, closed in (("open", 1, False), ("closed", 1, True), ("twice", 2, False)):
        steps, setups = [], []
        sizes = (25, 50, 100, 200, 400, 800) if name == "open" else (50, 100, 200, 400)
        for links in sizes:
            study = folder / f"chain_{name}_{links}.toml"
            chain_study(study, links, hinges, closed, 0.02)
            out = study.with_suffix(".out")
            results = []
            for _ in range(2 if links < 400 else 1):
                wall, text = run([LISSOM, "simulate", study, "--out", out, "--json", "--quiet", "--no-view"], cwd=folder)
                result = json.loads(text)
                results.append((result["seconds"] / result["steps"], wall - result["seconds"]))
                shutil.rmtree(out)
            steps.append(min(step for step, _ in results))
            setups.append(min(setup for _, setup in results))
            say(f"{name} chain of {links}: {1e6 * steps[-1]:.1f} us per step, reactions included, set up in {setups[-1]:.3f} s")
        # 1: linear
        exponent = math.log(steps[-1] / steps[1]) / math.log(sizes[-1] / sizes[1])
        record(f"chain-{name}/step-exponent", exponent, f"of the time per step, {sizes[1]} to {sizes[-1]} links", 1.15, "lower")
        exponent = math.log(setups[-1] / setups[1]) / math.log(sizes[-1] / sizes[1])
        record(f"chain-{name}/setup-exponent", exponent, f"of the set-up, {sizes[1]} to {sizes[-1]} links", 1.3, "lower")


def bench_four_bar(folder, python, tolerance):
    """The example, with its force from the start on (a ramp would be a Python function in Exudyn)."""
    example = ROOT / "examples" / "four-bar"
    study = folder / "four_bar.toml"
    text = (example / "study.toml").read_text().split("[[cases]]")[0]
    text = re.sub(r"^(factor|nodes) =.*\n", "", text, flags=re.M)
    text = re.sub(r"^sample =.*", "sample = 0.01", text, flags=re.M)
    # positions only, as in Exudyn
    text = re.sub(r'\[\[sensors\]\]\nname = .*\nkind = "(?!position")[^[]*', "", text)
    text = re.sub(r'"(\w+\.geo)"', lambda m: f'"{example / m[1]}"', text)
    study.write_text(text)
    ours = lissom_simulate(study, repeat=5)
    say(f"four-bar: {ours['steps']} steps, {ours['newton_iterations']} iterations, {ours['factorisations']} factorisations in "
        f"{ours['seconds']:.4f} s, {ours['output_seconds']:.4f} s of it output and balance")
    record("simulate-four-bar/seconds-per-second", ours["seconds"] / ours["end"], "s per simulated second", 1.5, "lower")
    record("simulate-four-bar/step", 1e6 * ours["seconds"] / ours["steps"], "us per step", 150, "lower")
    if not python:
        return
    out = folder / "four_bar"
    run([LISSOM, "reduce", study, "--out", out, "--quiet"], cwd=folder)
    for name in ("bar", "coupler"):
        run([LISSOM, "modes", example / f"{name}.geo", "--mesh-order", 1, "--mass", "lumped", "--material", "E=210e9,nu=0.288,rho=7829",
             "--count", 1, "--no-paraview", "--quiet", "--out", out])
    _, text = run([python, ROOT / "benchmarks" / "exudyn_four_bar.py", out / "bar.body.h5", out / "left.reduced.h5",
                   out / "coupler.body.h5", out / "coupler.reduced.h5", "--step", 1e-4, "--end", 0.2, "--sample", 0.01, "--rho", 0.8,
                   "--tolerance", tolerance, "--repeat", 5])
    theirs = json.loads(text)
    say(f"Exudyn: {theirs['newton_iterations']} iterations, {theirs['jacobians']} Jacobians in {theirs['wall_seconds']:.4f} s "
        f"(CPU {theirs['cpu_seconds']:.4f} s)")
    record("simulate-four-bar/exudyn", theirs["wall_seconds"] / ours["seconds"], "wall time of Exudyn's steps / ours", 5, "higher")
    # of the bars' length between the hinges
    record("simulate-four-bar/exudyn-difference", largest_difference(ours, theirs, "coupler end") / 0.0925,
           "largest difference of the coupler's end / bar length", 1e-5, "lower")


def slap_study(folder, name, formulation, step, extra="", newton=""):
    """The four-bar of the example, load ramped, as a study of one run."""
    example = ROOT / "examples" / "four-bar"
    text = (example / "study.toml").read_text().split("[[cases]]")[0]
    text = re.sub(r'"(\w+\.geo)"', lambda m: f'"{example / m[1]}"', text)
    text = text.replace('formulation = "ffrf"', f'formulation = "{formulation}"')
    text = re.sub(r"^step =.*", f"step = {step}\n{newton}", text, flags=re.M)
    text = re.sub(r'\[\[sensors\]\]\nname = .*\nkind = "(?!position")[^[]*', "", text)
    study = folder / f"{name}.toml"
    study.write_text(text + extra)
    return study


def rows_of(out):
    lines = (out / "sensors.csv").read_text().splitlines()
    return [[float(x) for x in line.split(",")] for line in lines[1:]]


def load_node_error(rows, reference):
    return max(math.dist(a[1:4], b[1:4]) for a, b in zip(rows, reference, strict=True))


def rom_steps(model, *flags):
    _, text = run([ROOT / "build" / "benchmarks" / "rom_steps", model, *map(str, flags)])
    return json.loads(text)


def bench_slap(folder):
    """A whole mechanism as an ODE: speed at equal accuracy against the reference model and real time, cost over the size of the
    meshes, training on much data."""
    import numpy as np

    exact = "newton_tolerance = 1e-14\nnewton_reuse = 0"
    fine = slap_study(folder, "slap_fine", "gcms", 2e-5, newton=exact)
    run([LISSOM, "simulate", fine, "--out", folder / "fine", "--quiet"], cwd=folder)
    reference = rows_of(folder / "fine")
    train = slap_study(folder, "slap_train", "gcms", 1e-4, "[train]\norder = 6\nmax_order = 6\n", exact)
    run([LISSOM, "train", train, "--out", folder / "slap", "--quiet"], cwd=folder)
    model = folder / "slap" / "model.rom.h5"

    # the largest step of each with the load node within 1e-7 m of a fine run of the full model
    def largest_step(simulate):
        for step in (1e-3, 8e-4, 5e-4, 4e-4, 2.5e-4, 2e-4, 1e-4, 5e-5):
            error = load_node_error(simulate(step), reference)
            if error < 1e-7:
                return step, error
        sys.exit("no step reaches 1e-7 m")

    def full(step):
        study = slap_study(folder, "slap_ffrf", "ffrf", step)
        run([LISSOM, "simulate", study, "--out", folder / "ffrf", "--quiet"], cwd=folder)
        return rows_of(folder / "ffrf")

    def reduced(step):
        study = slap_study(folder, "slap_rom", "gcms", step)
        run([LISSOM, "simulate", model, "--study", study, "--out", folder / "rom", "--quiet"], cwd=folder)
        return rows_of(folder / "rom")

    ffrf_step, ffrf_error = largest_step(full)
    rom_step, rom_error = largest_step(reduced)
    study = slap_study(folder, "slap_ffrf", "ffrf", ffrf_step)
    ffrf_seconds = min((r["seconds"] - r["output_seconds"]) for r in (lissom_simulate(study, 1) for _ in range(7)))
    rom = rom_steps(model, rom_step, 0.2, 20)
    say(f"four-bar within 1e-7 m: FFRF step {ffrf_step} s, error {ffrf_error:.1e} m, {1e3 * ffrf_seconds:.2f} ms; SLAP, 6 unknowns, step "
        f"{rom_step} s, error {rom_error:.1e} m, {1e3 * rom['seconds']:.2f} ms; residual {rom['residual_microseconds']:.2f} us")
    record("slap-four-bar/ffrf", ffrf_seconds / rom["seconds"], "wall time of the FFRF run of the same accuracy / of SLAP, m = 6", 50, "higher")
    say(f"a step, m = 6: {rom['microseconds_per_step']:.2f} us; with balance and outputs of a run {rom['run_microseconds_per_step']:.2f} us")
    record("slap-four-bar/step", rom["microseconds_per_step"], "microseconds of a step of generalized-alpha, m = 6", 0.7, "lower")
    record("slap-four-bar/run-step", rom["run_microseconds_per_step"] / rom["microseconds_per_step"],
           "time of a step with balance and outputs / without", 1.5, "lower")
    record("slap-four-bar/real-time", 0.2 / rom["seconds"], "simulated time / wall time, m = 6", 30, "higher")

    # the online cost knows nothing of the mesh: pendulums of 1,100 and 103,424 nodes, reduced as a whole
    times = {}
    for nodes, cells in (("1k", (10, 9, 9)), ("100k", (100, 31, 31))):
        mesh = folder / f"slap_{nodes}.inp"
        left, tip = box_mesh(mesh, cells)
        study = folder / f"slap_{nodes}.toml"
        body = PENDULUM_BODY.format(mesh=mesh.name, modes=8)
        text = PENDULUM.format(body=body, held=f"node {left[0]}", tip=tip, end=0.2, step=1e-3)
        study.write_text(re.sub(r"^sample =.*", "sample = 2e-3", text, flags=re.M)
                         + "\n[train]\norder = 6\nmax_order = 6\nreconstruct = false\nrecovery = false\n")
        run([LISSOM, "train", study, "--out", folder / f"slap_{nodes}", "--quiet"], cwd=folder)
        times[nodes] = folder / f"slap_{nodes}" / "model.rom.h5"
    costs = [rom_steps(times[n], 1e-3, 0.2, 20)["residual_microseconds"] for n in ("1k", "100k") * 5]
    a, b = min(costs[::2]), min(costs[1::2])
    say(f"residual: {a:.3f} us with 1,100 nodes, {b:.3f} us with 103,424")
    record("slap-nodes/residual", b / a, "time of an evaluation with 103,424 nodes / with 1,100", 1.1, "lower")

    # two bodies of 10,000 nodes, 1,000 snapshots of turning and bending bodies: the paper's 30 GB
    rng, count, bodies = np.random.default_rng(1), 1000, {}
    mesh = folder / "slap_10k.inp"
    box_mesh(mesh, (99, 9, 9))
    x = np.array([line.split(",")[1:] for line in mesh.read_text().split("*ELEMENT")[0].splitlines()[1:]], float)
    t = np.linspace(0, 1, count)
    for body, turn in (("first", 1.0), ("second", -0.7)):
        angle = turn * t
        shapes = [np.stack([0 * x[:, 0], np.sin((k + 1) * np.pi * x[:, 0]), np.cos((k + 1) * np.pi * x[:, 0])], 1) for k in range(6)]
        amplitudes = 1e-5 * rng.standard_normal((6, 6)) @ np.array([np.sin((3 * k + 1) * t) for k in range(6)])
        local = x[None] + sum(a[:, None, None] * s[None] for a, s in zip(amplitudes, shapes))
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        bodies[body] = np.stack([c * local[..., 0] - s * local[..., 1], s * local[..., 0] + c * local[..., 1], local[..., 2]], -1)
        np.save(folder / f"{body}.npy", bodies[body])
    np.save(folder / "t.npy", t)
    del bodies
    study = folder / "slap_data.toml"
    text = "".join(f'[bodies.{b}]\nmesh = "{mesh.name}"\nmaterial = {{ name = "steel", E = 210e9, nu = 0.3, rho = 7850 }}\n' for b in ("first", "second"))
    study.write_text(text + '[train]\norder = 8\nmax_order = 8\nmodes = "data"\njoints = "data"\nreconstruct = false\nrecovery = false\n'
                     '[[train.trajectories]]\nbodies = { first = "first.npy", second = "second.npy" }\ntime = "t.npy"\n')
    _, text = run([LISSOM, "train", study, "--out", folder / "slap_data", "--json", "--quiet"], cwd=folder)
    training = json.loads(text)

    def read_once():
        start = time.perf_counter()
        for body in ("first", "second"):
            float(np.load(folder / f"{body}.npy").sum())
        return time.perf_counter() - start

    reading = min(read_once() for _ in range(3))
    spent = sum(training["phases"][p] for p in ("reading", "fields", "singular values", "comparison", "frequencies", "model"))
    say(f"training on 60,000 x 1,000: {spent:.2f} s without the bodies' matrices ({training['phases']}), reading once {reading:.2f} s, "
        f"memory {training['peak_memory_bytes'] / 1e9:.2f} GB")
    record("slap-training/reading", spent / reading, "training on 60,000 coordinates x 1,000 snapshots, modes from the data / reading them once", 10, "lower")
    compressed = training["phases"]["reading"] + training["phases"]["singular values"]
    record("slap-training/compressed", compressed / reading, "checks, compression and singular values, fields known / reading the data once", 10, "lower")
    record("slap-training/memory", training["peak_memory_bytes"] / 1e9, "GB of memory at most", 1, "lower")


OPEN_MOTION = """
import sys, time
from paraview.simple import OpenDataFile
start = time.time()
reader = OpenDataFile(sys.argv[1])
reader.UpdatePipelineInformation()
times = list(reader.TimestepValues)
reader.UpdatePipeline(times[0])
opened = time.time() - start
chosen = times[:: max(1, len(times) // 100)]
start = time.time()
for t in chosen:
    reader.UpdatePipeline(t)
print("opened", len(times), opened, (time.time() - start) / len(chosen))
"""


def file_per_step(folder, points, elements, frames):
    """Seconds and bytes of a frame written the usual way, as a VTU file with the mesh in it, raw and without compression."""
    import numpy as np

    arrays = [("Points", 3, points.astype("f4")), ("connectivity", 1, elements.astype("i4")),
              ("offsets", 1, np.arange(8, elements.size + 8, 8, dtype="i4")), ("types", 1, np.full(len(elements), 12, "u1")),
              ("displacement", 3, points.astype("f4")), ("velocity", 3, points.astype("f4"))]
    names = {"f4": "Float32", "i4": "Int32", "u1": "UInt8"}
    tags, offset = {}, 0
    for name, width, values in arrays:
        kind = names[values.dtype.str[1:]]
        tags[name] = f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{width}" format="appended" offset="{offset}"/>'
        offset += 8 + values.nbytes
    head = (f'<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64"><UnstructuredGrid>'
            f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(elements)}"><Points>{tags["Points"]}</Points><Cells>'
            f'{tags["connectivity"]}{tags["offsets"]}{tags["types"]}</Cells><PointData>{tags["displacement"]}{tags["velocity"]}'
            f'</PointData></Piece></UnstructuredGrid><AppendedData encoding="raw">_').encode()
    start = time.monotonic()
    for frame in range(frames):
        with open(folder / f"frame_{frame:05}.vtu", "wb") as file:
            file.write(head)
            for _, _, values in arrays:
                file.write(np.uint64(values.nbytes).tobytes())
                values.tofile(file)
            file.write(b"</AppendedData></VTKFile>")
    seconds = (time.monotonic() - start) / frames
    size = (folder / "frame_00000.vtu").stat().st_size
    for frame in range(frames):
        (folder / f"frame_{frame:05}.vtu").unlink()
    return seconds, size


def bench_paraview(folder):
    """2,000 frames of a mechanism of 50,000 nodes, displacement and velocity: writing and opening."""
    import numpy as np

    mesh = folder / "beam.inp"
    cells = (124, 19, 19)
    _, tip = box_mesh(mesh, cells)
    counts = [c + 1 for c in cells]
    ids = np.arange(math.prod(counts)).reshape(counts)
    study = folder / "study.toml"
    body = PENDULUM_BODY.format(mesh=mesh.name, modes=8)
    text = PENDULUM.format(body=body, held="pin", tip=tip, end=2, step=1e-3)
    study.write_text(re.sub(r"(?m)^sample = .*$", "sample = 1e-3", text).replace("[simulate]", "[simulate]\nparaview = true"))
    out = folder / "out"
    _, printed = run([LISSOM, "simulate", study, "--out", out, "--json", "--quiet"], cwd=folder)
    found = json.loads(printed)["paraview"]
    file = out / found["file"]
    size = file.stat().st_size
    frames, nodes = found["frames"], found["nodes"]
    say(f"{frames} frames of {nodes} nodes: {found['seconds']:.2f} s, {size / 1e9:.3f} GB")
    record("paraview-2000-frames-50k-nodes/seconds", found["seconds"], "s to write", 30, "lower")
    record("paraview-2000-frames-50k-nodes/size", size / 1e9, "GB", 2.5, "lower")

    # the same bytes from one buffer, frame by frame, on the same disk
    buffer = np.random.default_rng(1).bytes(found["frame_bytes"])
    start = time.monotonic()
    with open(folder / "bare", "wb", buffering=0) as bare:
        for _ in range(frames):
            bare.write(buffer)
        os.fsync(bare.fileno())
    plain = time.monotonic() - start
    (folder / "bare").unlink()
    record("paraview-2000-frames-50k-nodes/bare", found["seconds"] / plain, "writing / writing the same bytes and nothing else", 2, "lower")

    points = np.random.default_rng(2).random((nodes, 3))
    low, high = slice(None, -1), slice(1, None)
    elements = np.stack([ids[i, j, k] for k in (low, high) for i, j in ((low, low), (high, low), (high, high), (low, high))], -1)
    seconds, bytes_each = file_per_step(folder, points, elements.reshape(-1, 8), 100)
    say(f"a file for each frame: {1e3 * seconds:.2f} ms and {bytes_each / 1e6:.2f} MB each")
    record("paraview-2000-frames-50k-nodes/file-per-step-size", frames * bytes_each / size, "bytes of a VTU file for each frame / ours", 2, "higher")
    record("paraview-2000-frames-50k-nodes/file-per-step-time", frames * seconds / found["seconds"],
           "time of bare VTU files, nothing computed, from 100 frames in the cache / ours", 0.2, "higher")

    if not shutil.which("pvpython"):
        say("ParaView is not installed: opening is not measured")
        return
    script = folder / "open.py"
    script.write_text(OPEN_MOTION)
    _, printed = run(["pvpython", script, file])
    words = printed.split("opened")[-1].split()
    if int(words[0]) != frames:
        sys.exit(f"ParaView sees {words[0]} frames of {frames}")
    record("paraview-2000-frames-50k-nodes/open", float(words[1]), "s to open in ParaView, first frame included", 2, "lower")
    record("paraview-2000-frames-50k-nodes/step", 1e3 * float(words[2]), "ms from frame to frame in ParaView", 50, "lower")


def bench_stress(folder):
    """Von Mises' maximum of 50,000 nodes over 1,000 instants from 40 stress modes, against writing and reading once the
    numbers that the stress would have."""
    _, text = run([ROOT / "build" / "benchmarks" / "stress_peaks", 50000, 40, 1000, 5])
    found = json.loads(text)
    say(f"{found['seconds']:.3f} s, {found['gigaflops']:.0f} Gflop/s on {found['threads']} threads; a pass through memory "
        f"takes {found['memory_seconds']:.3f} s, {found['gigabytes_per_second']:.1f} GB/s")
    record("stress-50k/memory-pass", found["seconds"] / found["memory_seconds"],
           "maximum of von Mises over 1,000 instants / writing and reading that stress once", 2, "lower")
    record("stress-50k/seconds", found["seconds"], "s for 1,000 instants", 2, "lower")


def bench_ancf(folder):
    """Beams with large deformation against Exudyn's ANCFCable2D; their reduced models against the full one."""
    import csv

    def ancf_rom(*arguments):
        _, text = run([ROOT / "build" / "benchmarks" / "ancf_rom", *arguments], env={**os.environ, "OMP_NUM_THREADS": "1"})
        return json.loads(text)

    def ours(name, step, axial, bending):
        study = ROOT / "examples" / "ancf-double-pendulum" / "study.toml"
        settings = {"simulate.step": step, "simulate.sample": 0.01, "simulate.newton_tolerance": 1e-11}
        for beam in ("upper", "lower"):
            settings |= {f"bodies.{beam}.axial": axial, f"bodies.{beam}.bending": bending}
        flags = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        best = None
        for _ in range(3):
            _, text = run([LISSOM, "simulate", study, *flags, "--out", folder / name, "--json"])
            seconds = json.loads(text)["seconds"]
            best = seconds if best is None else min(best, seconds)
        with open(folder / name / "sensors.csv") as file:
            return best, list(csv.DictReader(file))

    def distance(a, b):
        return max(math.hypot(float(x["tip.x"]) - float(y["x"]), float(x["tip.y"]) - float(y["y"])) for x, y in zip(a, b))

    python = exudyn_python()
    if python:
        def theirs(step):
            out = folder / "exudyn.csv"
            best = None
            for _ in range(3):
                _, text = run([python, "-W", "ignore", ROOT / "benchmarks" / "exudyn_ancf_pendulum.py", out, "--step", step],
                              timeout=300)
                seconds = json.loads(text.splitlines()[-1])["seconds"]
                best = seconds if best is None else min(best, seconds)
            with open(out) as file:
                return best, list(csv.DictReader(file))

        # same elements, law, step and output; Newton to about the same end, 1e-11 m and 1e-6 of the first residual
        seconds, mine = ours("engineering", 1e-3, "engineering", "material-curvature")
        peer, other = theirs(1e-3)
        say(f"1,300 steps: {seconds:.4f} s, Exudyn {peer:.3f} s; tips at most {distance(mine, other):.1e} m apart")
        record("ancf-pendulum/exudyn", peer / seconds, "Exudyn's ANCFCable2D / ours, same law, 1,300 steps", 5, "higher")
        seconds, green = ours("green", 1e-3, "green", "second-derivative")
        record("ancf-pendulum-green/exudyn", peer / seconds, "Exudyn's ANCFCable2D / ours with Green's strain", 5, "higher")
        _, other = theirs(2.5e-4)
        record("ancf-pendulum/tip-difference", distance(ours("fine", 2.5e-4, "engineering", "material-curvature")[1], other),
               "m between tips of both programs to 1.3 s, steps of 2.5e-4 s", 5e-5, "lower")
        say(f"with Green's strain the tips are {distance(ours('fine', 2.5e-4, 'green', 'second-derivative')[1], other):.1e} m apart")
    else:
        say("EXUDYN_PYTHON is not set: no comparison with Exudyn")

    def report(found):
        each = found["seconds"] / found["steps"]
        say(f"full: {found['coordinates']} coordinates, {1e6 * each:.1f} microseconds a step, "
            f"{found['newton_iterations'] / found['steps']:.2f} iterations, {found['factorisations']} factorisations")
        for model in found["models"]:
            say(f"r = {model['r']}: {1e6 * model['seconds'] / model['steps']:.2f} microseconds a step, "
                f"{model['newton_iterations'] / model['steps']:.2f} iterations, {model['factorisations']} factorisations; {model['why']}")

    found = ancf_rom("pendulum", 80, 11, 15, 20)
    report(found)
    for model, goal in zip(found["models"], (40, 15, 8)):
        record(f"ancf-pendulum-rom-{model['r']}/full", found["seconds"] / model["seconds"],
               f"full model over 3 s / reduced one, r = {model['r']}", goal, "higher")
    bar = ancf_rom("four-bar", 33)
    report(bar)
    record("ancf-four-bar-rom-33/full", bar["seconds"] / bar["models"][0]["seconds"], "full model over 1 s / reduced one, r = 33",
           3, "higher")
    small, large = ancf_rom("pendulum", 40, 15), ancf_rom("pendulum", 4000, 15)
    report(small)
    report(large)
    step = [m["models"][0]["seconds"] / m["models"][0]["steps"] for m in (small, large)]
    record("ancf-rom-8000-elements/80-elements", step[1] / step[0], "step of the reduced model, 8,000 elements / 80", 1.3, "lower")


def table():
    lines = ["| benchmark | value | goal | what |", "|---|---|---|---|"]
    for e in entries:
        goal = f"{'>=' if e['better'] == 'higher' else '<='} {e['goal']:g}"
        lines.append(f"| {e['name']} | {e['value']:.3g} | {goal} | {e['unit']} |")
    return "\n".join(lines)


def bench_report(folder):
    """Reports of a plate that swings, 1,000 frames with its stress: size, time to write, to open and to show a frame in a browser
    without a graphics card."""
    try:
        from report_browser import measure
    except ImportError as error:
        say(f"the browser is not measured: {error}; Debian's packages chromium, chromium-driver, python3-selenium")
        measure = None
    for name, cells in {"1k": (24, 19, 1), "10k": (99, 49, 1), "50k": (249, 99, 1)}.items():
        mesh = folder / f"{name}.inp"
        _, tip = box_mesh(mesh, cells, size=(1, 0.5, 0.02))
        body = PENDULUM_BODY.format(mesh=mesh.name, modes=10).replace("stress = false", "stress = true")
        text = PENDULUM.format(body=body, held="pin", tip=tip, end=1, step=1e-3)
        study = folder / f"{name}.toml"
        study.write_text(re.sub(r"(?m)^sample = .*$", "sample = 1e-3", text))
        out = folder / name
        run([LISSOM, "run", study, "--out", out, "--json", "--quiet"], cwd=folder)
        seconds, printed = run([LISSOM, "report", out, "--json", "--quiet"], cwd=folder)
        size = (out / "report.html").stat().st_size
        say(f"{name} surface nodes, 1,001 samples: {size / 1e6:.2f} MB, written in {seconds:.2f} s")
        prefix = f"report-{name}-nodes-1000-frames"
        record(f"{prefix}/size", size / 1e6, "MB, libraries and stress included", 20, "lower")
        record(f"{prefix}/write", seconds, "s to write it, from the files of the run", 10, "lower")
        if not measure:
            continue
        found = measure(out / "report.html")
        say(f"{found['points']} points, {found['triangles']} triangles: {found}")
        record(f"{prefix}/open", found["load_seconds"], "s until the mechanism is to be seen in chromium, software rendering", 5, "lower")
        goal = 30 if name != "50k" else 10
        record(f"{prefix}/body-fps", found["fps"]["body"], "frames a second, 800 x 500, software rendering", goal, "higher")
        record(f"{prefix}/stress-fps", found["fps"]["stress"], "the same, coloured by von Mises stress", goal, "higher")


SWEEP = """
[[sweep.parameters]]
key = "simulate.step"
values = [{}]
"""


def bench_sweep(folder):
    """A sweep of eight flexible pendulums: processes beside all points in one process, and two at a time beside one."""
    _, tip = box_mesh(folder / "swept.inp", (50, 2, 2))
    text = PENDULUM.format(body=PENDULUM_BODY.format(mesh="swept.inp", modes=10), held="pin", tip=tip, end=4, step=1e-4)

    def sweep(name, count, step, *flags):
        swept = folder / f"{name}.toml"
        swept.write_text(text + SWEEP.format(", ".join(f"{step * (1 + k / 1000):.6g}" for k in range(count))))
        out = folder / name
        seconds, _ = run([LISSOM, "sweep", swept, "--out", out, "--json", "--quiet", *flags], cwd=folder,
                         env={**os.environ, "OMP_NUM_THREADS": "1"})
        return seconds, (out / "sweep.csv").read_bytes()

    one, first = sweep("one", 8, 1e-4, "--jobs", "1")
    two, second = sweep("two", 8, 1e-4, "--jobs", "2")
    here, third = sweep("here", 8, 1e-4, "--in-process")
    if not first == second == third:
        raise SystemExit("sweep: the results differ")
    say(f"8 points: {one:.2f} s one at a time, {two:.2f} s two at a time, {here:.2f} s in one process")
    record("sweep/two-at-a-time", one / two, "times faster than one at a time, 8 points", 1.6, "higher")
    record("sweep/overhead", (one - here) / 8, "s a point for its process, with the reduction of a body of 1,377 DoF", 0.5, "lower")


def bench_python(folder):
    """What Python adds: a call of rom.rhs beside the evaluation in C++, a simulation beside that of the program."""
    study = slap_study(folder, "python_train", "gcms", 1e-4, "[train]\norder = 6\nmax_order = 6\n")
    run([LISSOM, "train", study, "--out", folder / "python", "--quiet"], cwd=folder)
    model = folder / "python" / "model.rom.h5"
    script = f"""
import json, time
import lissom
rom = lissom.Rom({str(model)!r})
x, best, calls = rom.x0, 1e300, 20000
for _ in range(5):
    begin = time.perf_counter()
    for i in range(calls):
        rom.rhs(0.01, x)
    best = min(best, (time.perf_counter() - begin) / calls)
whole = 1e300
for _ in range(3):
    begin = time.perf_counter()
    lissom.Study({str(study)!r}).simulate(out="from_python")
    whole = min(whole, time.perf_counter() - begin)
print(json.dumps(dict(rhs=1e6 * best, simulate=whole)))
"""
    _, text = run(["/usr/bin/python3", "-B", "-W", "ignore", "-c", script], cwd=folder,
                  env={**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")})
    python, bare = json.loads(text), rom_steps(model)
    program = min(run([LISSOM, "simulate", study, "--out", folder / "from_program", "--no-view", "--quiet"], cwd=folder)[0] for _ in range(3))
    say(f"rom.rhs {python['rhs']:.2f} us, in C++ {bare['rhs_microseconds']:.2f} us; simulation {python['simulate']:.2f} s, program {program:.2f} s")
    record("python-rhs/c++", python["rhs"] / bare["rhs_microseconds"], "time of rom.rhs in Python / in C++, m = 6", 5, "lower")
    record("python-simulate/program", python["simulate"] / program, "wall time of Study.simulate / of lissom simulate", 1.2, "lower")


def bench_control(folder):
    """A flexible robot arm under a controller in Python at 1 kHz, 0.5 s: the full mechanism, and its linear model."""
    script = f"""
import json, pathlib, time, tomllib
import numpy as np
import lissom
here = pathlib.Path({str(ROOT / "examples" / "robot-arm")!r})
content = tomllib.loads((here / "study.toml").read_text())
for key in ("sweep", "compare", "cases", "linearise", "response"):
    del content[key]
content["gravity"] = [0, 0, 0]
for joint in content["joints"]:
    joint.pop("motion", None)
content["loads"] = [
    dict(name="shoulder motor", kind="torque", on="upper.shoulder", torque=[0, -1, 0], factor=dict(input="shoulder")),
    dict(name="elbow motor", kind="torque", on="fore.elbow", reaction="upper.elbow", torque=[0, -1, 0], factor=dict(input="elbow"))]
content["sensors"] = [dict(name=name, kind="joint-angle", of=name) for name in ("shoulder", "elbow")] + [
    dict(name=place, kind="angular-velocity", of=place) for place in ("upper.shoulder", "fore.elbow", "upper.elbow")]
content["simulate"] = dict(end=0.5, step=1e-3)
links = {{name: content["bodies"][name] for name in ("upper", "fore")}}
lissom.Study(dict(bodies=links), folder=here).reduce(".")
for name, link in links.items():
    content["bodies"][name] = dict(reduced=str(pathlib.Path(name + ".reduced.h5").resolve()), position=link.get("position"))
rom = lissom.Study(dict(content, train=dict(method="linear", truncation="frequency", highest=500))).train().rom
outputs, goal = ["shoulder", "elbow", "upper.shoulder.wy", "fore.elbow.wy", "upper.elbow.wy"], np.array([0.05, -0.08])
def pd(t, y):
    return [20, 5] * (goal - y[:2]) - [1.5, 0.4] * np.array([-y[2], y[4] - y[3]])
out = dict(states=rom.order)
for name, model in dict(full=lissom.Study(content), linear=rom).items():
    best = 1e300
    for _ in range(3):
        begin = time.process_time()
        run = model.simulate(controller=pd, rate=1000, outputs=outputs)
        best = min(best, time.process_time() - begin)
    out[name], out[name + "_end"] = best, [run.sensors[one + ".angle"][-1] for one in ("shoulder", "elbow")]
print(json.dumps(out))
"""
    _, text = run(["/usr/bin/python3", "-B", "-W", "ignore", "-c", script], cwd=folder,
                  env={**os.environ, "PYTHONPATH": str(ROOT / "build" / "python"), "OMP_NUM_THREADS": "1"})
    found = json.loads(text)
    apart = max(abs(a - b) for a, b in zip(found["full_end"], found["linear_end"]))
    say(f"arm under PD at 1 kHz, 0.5 s: full {found['full']:.3f} s, linear model of {found['states']} states {found['linear']:.4f} s, angles {apart:.1e} rad apart")
    record("control/linear", found["linear"], "processor seconds for 0.5 s, linear model, controller in Python at 1 kHz", 0.1, "lower")
    record("control/full-over-linear", found["full"] / found["linear"], "times faster than the full arm under the same controller", 10, "higher")


def bench_control_of_models(folder):
    """The two flexible links of the arm as linear model and as SLAP model, each under a PD controller and an LQR in Python at 1 kHz, 0.5 s.
    The LQR knows the linear model of rigid motions, and sees angles and rates."""
    script = f"""
import json, pathlib, time, tomllib
import numpy as np, scipy.linalg
import lissom
here = pathlib.Path({str(ROOT / "examples" / "robot-arm")!r})
content = tomllib.loads((here / "study.toml").read_text())
for key in ("sweep", "compare", "cases", "linearise", "response"):
    del content[key]
# SLAP reduces finite elements: motor and payload, rigid ones of numbers, stay away
for name in ("motor", "payload"):
    del content["bodies"][name]
content["gravity"] = [0, 0, 0]
content["joints"] = [dict((k, v) for k, v in joint.items() if k != "motion") for joint in content["joints"] if joint["name"] in ("shoulder", "elbow")]
content["loads"] = [
    dict(name="shoulder motor", kind="torque", on="upper.shoulder", torque=[0, -1, 0], factor=dict(input="shoulder")),
    dict(name="elbow motor", kind="torque", on="fore.elbow", reaction="upper.elbow", torque=[0, -1, 0], factor=dict(input="elbow"))]
places = ("upper.shoulder", "upper.elbow", "fore.elbow")
content["sensors"] = [dict(name=place, kind="rotation", of=place) for place in places] + [
    dict(name=place + " rate", kind="angular-velocity", of=place) for place in places]
content["simulate"] = dict(end=0.5, step=1e-3, rho_inf=0.8, inputs=dict(
    shoulder="0.4*sin(2*pi*t/0.5)+0.1*sin(60*t)", elbow="-0.15*sin(2*pi*t/0.5)+0.05*sin(90*t)"))
for body in content["bodies"].values():
    body["formulation"] = "gcms"
def trained(**train):
    return lissom.Study(dict(content, train=train), folder=here).train().rom
models = dict(linear=trained(method="linear", truncation="frequency", highest=500), slap=trained(order=10, max_order=10, reconstruct=False))
rigid = trained(method="linear", truncation="frequency", highest=1)
outputs, goal = [f"{{place}}.ry" for place in places] + [f"{{place}} rate.wy" for place in places], np.array([0.05, -0.08])
angles = np.kron(np.eye(2), [[-1, 0, 0], [0, 1, -1]])  # and their rates, of shoulder and elbow about -y
def pd(t, y):
    z = angles @ y
    return [20, 5] * (goal - z[:2]) - [1.5, 0.4] * z[2:]
T = angles @ rigid.C[[rigid.columns.index(one) for one in outputs]]
A, B = T @ rigid.A @ np.linalg.inv(T), T @ rigid.B[:, [rigid.inputs.index(one) for one in ("shoulder", "elbow")]]
held = scipy.linalg.expm(1e-3 * np.block([[A, B], [np.zeros((2, 6))]]))
F, H, Q, R = held[:4, :4], held[:4, 4:], np.diag([100, 25, 0.5, 0.1]), np.eye(2)
P = scipy.linalg.solve_discrete_are(F, H, Q, R)
K = np.linalg.solve(R + H.T @ P @ H, H.T @ P @ F)
def lqr(t, y):
    return -K @ (angles @ y - [*goal, 0, 0])
out = dict(states=dict((name, model.order) for name, model in models.items()), seconds=dict(), ends=dict())
for name, model in models.items():
    for law in (pd, lqr):
        best = 1e300
        for _ in range(5):
            begin = time.process_time()
            run = model.simulate(controller=law, rate=1000, outputs=outputs)
            best = min(best, time.process_time() - begin)
        out["seconds"][name + "-" + law.__name__] = best
        out["ends"][name + "-" + law.__name__] = list(angles[:2, :3] @ [run.sensors[f"{{place}}.ry"][-1] for place in places])
print(json.dumps(out))
"""
    _, text = run(["/usr/bin/python3", "-B", "-W", "ignore", "-c", script], cwd=folder,
                  env={**os.environ, "PYTHONPATH": str(ROOT / "build" / "python"), "OMP_NUM_THREADS": "1"})
    found = json.loads(text)
    for law in ("pd", "lqr"):
        apart = max(abs(a - b) for a, b in zip(found["ends"][f"slap-{law}"], found["ends"][f"linear-{law}"]))
        say(f"{law}: linear model of {found['states']['linear']} states and SLAP model of order {found['states']['slap']}, angles {apart:.1e} rad apart after 0.5 s")
    for name, seconds in found["seconds"].items():
        record(f"control/{name}", seconds, "processor seconds for 0.5 s of two flexible links, controller in Python at 1 kHz", 0.1, "lower")


def bench_startup(folder):
    """How long the program and the Python module take to be there, both best of twenty, each a process of its own; the module's own
    share is without the interpreter's start."""
    bare, python, help_page, numpy = [], [], [], []
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")}
    for _ in range(20):
        help_page.append(run([LISSOM, "--help"])[0])
        bare.append(run(["/usr/bin/python3", "-c", "pass"])[0])
        python.append(run(["/usr/bin/python3", "-c", "import lissom"], env=environment)[0])
        numpy.append(run(["/usr/bin/python3", "-c", "import numpy"])[0])
    record("startup/help", 1e3 * min(help_page), "ms of lissom --help", 10, "lower")
    record("startup/import", 1e3 * (min(python) - min(bare)),
           f"ms of import lissom (import numpy: {1e3 * (min(numpy) - min(bare)):.0f}, which comes with the first array)", 120, "lower")


BENCHMARKS = {"part": bench_part, "readers": bench_readers, "scaling": bench_scaling, "million": bench_million,
              "reduction": bench_reduction, "exudyn": bench_exudyn, "simulation": bench_simulation, "chain": bench_chain, "slap": bench_slap,
              "stress": bench_stress, "paraview": bench_paraview, "ancf": bench_ancf,
              "report": bench_report, "sweep": bench_sweep, "python": bench_python, "control": bench_control, "control_of_models": bench_control_of_models, "startup": bench_startup}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench.json")
    parser.add_argument("--only", help="run only the benchmarks whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the names of the benchmarks")
    parser.add_argument("--docs", action="store_true", help="bring the table of docs/benchmarks.md up to date")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(BENCHMARKS))
        return
    for name, bench in BENCHMARKS.items():
        if arguments.only and arguments.only not in name:
            continue
        say(f"--- {name}")
        with tempfile.TemporaryDirectory() as folder:
            bench(Path(folder))
    print(table())
    missed = [e["name"] for e in entries if (e["value"] > e["goal"] if e["better"] == "lower" else e["value"] < e["goal"])]
    print("\nall goals met" if not missed else f"\ngoals missed: {', '.join(missed)}")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(entries, indent=2) + "\n")
    if arguments.docs:
        page = ROOT / "docs" / "benchmarks.md"
        text = re.sub(r"<!-- bench -->.*<!-- /bench -->", lambda _: f"<!-- bench -->\n{table()}\n<!-- /bench -->",
                      page.read_text(), flags=re.S)
        page.write_text(text)


main()
