#!/usr/bin/python3
"""Motion of the four-bar in three formulations, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/four-bar/plot.py RESULTS     writes RESULTS/four-bar-{motion,difference,mechanism}.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np
from matplotlib.collections import PolyCollection

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLUE, GREEN, ORANGE, RED, plt

LENGTH = 0.135  # between the hinges of the coupler [m]
STYLES = {"FFRF": dict(color="0.75", lw=5), "FNCF": dict(color=ORANGE, lw=2.2), "GCMS": dict(color=BLUE, ls=(0, (4, 3)), lw=1.6)}
COLOURS = {"left": BLUE, "coupler": GREEN, "right": RED}


def nodes(run):
    """Nodal positions of all bodies, (samples, nodes, 3) each [m]."""
    with h5py.File(run / "result.h5") as file:
        return {name: group["positions"][:] for name, group in file["nodes"].items()}


def motion(folder, sensors):
    """The node where the force acts, one reaction, and the energy."""
    panels = [("y of the loaded node, mm", lambda s: 1e3 * s["top.y"]), ("z of the loaded node, mm", lambda s: 1e3 * s["top.z"]),
              ("x of the loaded node less 45 mm, nm: elastic only", lambda s: 1e9 * (s["top.x"] - s["top.x"][0])),
              ("force on the left foot's right node, y, N", lambda s: s["foot force.fy"]),
              ("kinetic energy, mJ", lambda s: 1e3 * s["energy.kinetic"]),
              ("elastic energy, nJ", lambda s: 1e9 * s["energy.elastic"])]
    figure, axes = plt.subplots(2, 3, figsize=(12, 6), sharex=True)
    for axis, (title, value) in zip(axes.flat, panels):
        for name, data in sensors.items():
            axis.plot(1e3 * data["t"], value(data), label=name, **STYLES[name])
        axis.set_title(title, fontsize=10)
        axis.grid(color="0.92", lw=0.6)
    for axis in axes[1]:
        axis.set_xlabel("time, ms")
    axes[0, 0].legend(frameon=False)
    figure.tight_layout()
    p.save(figure, folder / "four-bar-motion.png")


def difference(folder, t, positions):
    """How far the formulations differ: the worst of all nodes."""
    figure, axis = plt.subplots(figsize=(7.6, 4.2))
    for name, colour in (("FNCF", ORANGE), ("GCMS", BLUE)):
        worst = np.max([np.linalg.norm(positions[name][body] - x, axis=2).max(axis=1) for body, x in positions["FFRF"].items()], axis=0)
        axis.semilogy(1e3 * t, np.maximum(worst / LENGTH, 1e-17), color=colour, label=f"{name} to FFRF: at most {(worst / LENGTH).max():.1e}")
        print(f"{name} to FFRF: largest difference of any node {(worst / LENGTH).max():.2e} of {1e3 * LENGTH:g} mm")
    axis.axhline(1e-6, color=RED, lw=1.2, label="goal: 1e-6")
    axis.set_ylim(1e-16, 1e-5)
    axis.set_xlabel("time, ms")
    axis.set_ylabel("largest difference of any node / 135 mm")
    axis.legend(frameon=False, loc="lower right")
    axis.grid(color="0.92", lw=0.6)
    figure.tight_layout()
    p.save(figure, folder / "four-bar-difference.png")


def mechanism(folder, t, positions):
    """The three bodies, first from an angle, then from the side at several instants."""
    faces = {}
    for body in COLOURS:
        faces[body] = p.outer_triangles(p.read_elements(folder / f"{body}_free_modes.exo"))
    x = positions["FFRF"]
    figure = plt.figure(figsize=(12, 4.6))

    axes = figure.add_axes([-0.04, -0.12, 0.46, 1.2], projection="3d")
    shift = np.cumsum([0] + [len(x[body][0]) for body in COLOURS])
    points = np.concatenate([x[body][0] for body in COLOURS])
    triangles = np.concatenate([faces[body] + k for body, k in zip(COLOURS, shift)])
    colours = np.concatenate([np.tile(plt.matplotlib.colors.to_rgba(c), (len(faces[body]), 1)) for body, c in COLOURS.items()])
    p.draw_surface(axes, points, triangles, colours, view=(24, -38), zoom=0.82)
    push = 1e3 * np.array([0.045, 0, 0.0925])
    axes.quiver(*(push + [14, -48, 0]), 0, 45, 0, color="k", lw=2, arrow_length_ratio=0.25, zorder=10)
    axes.text(*(push + [14, -70, 4]), "5 N", fontsize=10, zorder=10)

    axis = figure.add_axes([0.43, 0.12, 0.55, 0.78])
    samples = np.searchsorted(t, np.array([0, 0.1, 0.15, 0.2]) - 1e-9)
    for sample, shade in zip(samples, np.linspace(0.25, 1, len(samples))):
        for body in ("coupler", "left", "right"):
            outline = 1e3 * x[body][sample][:, 1:]
            light = 1 - shade * (1 - np.array(plt.matplotlib.colors.to_rgb(COLOURS[body])))
            axis.add_collection(PolyCollection(outline[faces[body]], facecolor=light, edgecolor=light * 0.9, lw=0.3))
        top = 1e3 * x["right"][sample][:, 1:].max(axis=0)
        axis.annotate(f"{1e3 * t[sample]:.0f} ms", top, xytext=(6, 2), textcoords="offset points", fontsize=9)
    axis.set_aspect("equal")
    axis.set_xlim(-14, 246), axis.set_ylim(-12, 112)
    axis.set_xlabel("y, mm")
    axis.set_ylabel("z, mm")
    axis.grid(color="0.92", lw=0.6)
    axis.set_axisbelow(True)
    p.save(figure, folder / "four-bar-mechanism.png")


def main():
    folder = Path(sys.argv[1])
    runs = {"FFRF": folder, "FNCF": folder / "fncf", "GCMS": folder / "gcms"}
    summary = json.loads((folder / "summary.json").read_text())
    sensors = {name: p.read_csv(run / "sensors.csv") for name, run in runs.items()}
    positions = {name: nodes(run) for name, run in runs.items()}
    for name, run in (("FFRF", summary), ("FNCF", summary["cases"]["fncf"]), ("GCMS", summary["cases"]["gcms"])):
        s = run["simulation"]
        print(f"{name}: {s['coordinates']} coordinates, {s['constraints']} constraints, energy drift {s['energy_drift']:.1e}, "
              f"constraint drift {s['constraint_drift']:.0e} m, {s['seconds']:.2f} s")
    motion(folder, sensors)
    difference(folder, sensors["FFRF"]["t"], positions)
    mechanism(folder, sensors["FFRF"]["t"], positions)


main()
