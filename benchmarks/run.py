#!/usr/bin/python3
"""Measures Lissom on this machine: `make bench`.

Prints a table and writes a list of entries {name, value, unit, goal, better}. Ratios are of times measured in this run,
on the same meshes: against CalculiX (ccx), against one bare CHOLMOD factorisation, against another size of the same part,
and against Exudyn (Craig-Bampton reduction, floating-frame simulation) if EXUDYN_PYTHON names a Python that has exudyn,
scipy and h5py.
With --readme the table in README.md is brought up to date.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench.json")
    parser.add_argument("--only", help="run only the benchmarks whose name contains this: part readers scaling million reduction exudyn simulation slap stress paraview ancf")
    parser.add_argument("--readme", action="store_true", help="bring the table of README.md up to date")
    arguments = parser.parse_args()
    for name, bench in {"part": bench_part, "readers": bench_readers, "scaling": bench_scaling, "million": bench_million,
                        "reduction": bench_reduction, "exudyn": bench_exudyn, "simulation": bench_simulation, "slap": bench_slap,
                        "stress": bench_stress, "paraview": bench_paraview, "ancf": bench_ancf}.items():
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
    if arguments.readme:
        readme = ROOT / "README.md"
        text = re.sub(r"<!-- bench -->.*<!-- /bench -->", lambda _: f"<!-- bench -->\n{table()}\n<!-- /bench -->",
                      readme.read_text(), flags=re.S)
        readme.write_text(text)


main()
