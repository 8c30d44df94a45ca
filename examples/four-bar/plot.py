#!/usr/bin/python3
"""Motion of the four-bar in three formulations, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/four-bar/plot.py RESULTS     writes RESULTS/four-bar-{motion,difference,mechanism}.png
"""
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plotting import BLACK, BLUE, GREEN, ORANGE, RED, plt, read_csv

folder = Path(sys.argv[1])
LENGTH = 0.135  # between the hinges of the coupler [m]
RUNS = {"FFRF": folder, "FNCF": folder / "fncf", "GCMS": folder / "gcms"}
STYLES = {"FFRF": dict(color=BLACK, lw=2.5), "FNCF": dict(color=ORANGE, ls="--"), "GCMS": dict(color=BLUE, ls=":")}
sensors = {name: read_csv(run / "sensors.csv") for name, run in RUNS.items()}


def nodes(run):
    """Nodal positions of all bodies, (samples, nodes, 3) each."""
    with h5py.File(run / "result.h5") as file:
        return {name: group["positions"][:] for name, group in file["nodes"].items()}


# ---- the motion ----
figure, axes = plt.subplots(2, 2, figsize=(10, 6), sharex=True)
for name, data in sensors.items():
    t = 1e3 * data["t"]
    axes[0, 0].plot(t, 1e3 * data["coupler end.y"], label=name, **STYLES[name])
    axes[0, 1].plot(t, 1e3 * data["coupler end.z"], label=name, **STYLES[name])
    axes[1, 0].plot(t, data["foot force.fy"], label=name, **STYLES[name])
    axes[1, 1].plot(t, 1e3 * data["energy.kinetic"], label=name, **STYLES[name])
for axis, title in zip(axes.flat, ["coupler end y [mm]", "coupler end z [mm]", "force on the left foot, y [N]",
                                   "kinetic energy [mJ]"]):
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.3)
for axis in axes[1]:
    axis.set_xlabel("time [ms]")
axes[0, 0].legend()
figure.tight_layout()
figure.savefig(folder / "four-bar-motion.png", dpi=110)

# ---- how far the formulations differ, over all nodes ----
positions = {name: nodes(run) for name, run in RUNS.items()}
figure, axis = plt.subplots(figsize=(7, 4))
t = 1e3 * sensors["FFRF"]["t"]
for name, colour in (("FNCF", ORANGE), ("GCMS", BLUE)):
    worst = np.max([np.abs(positions[name][body] - positions["FFRF"][body]).max(axis=(1, 2))
                    for body in positions["FFRF"]], axis=0)
    axis.semilogy(t, np.maximum(worst / LENGTH, 1e-17), color=colour, label=f"{name} against FFRF")
axis.axhline(1e-6, color=RED, lw=1, label="1e-6")
axis.set_xlabel("time [ms]")
axis.set_ylabel("largest difference of a node / bar length")
axis.legend()
axis.grid(alpha=0.3)
figure.tight_layout()
figure.savefig(folder / "four-bar-difference.png", dpi=110)

# ---- the mechanism ----
figure, axis = plt.subplots(figsize=(8, 4.5))
count = len(t)
for sample, shade in zip(np.linspace(0, count - 1, 5).astype(int), np.linspace(0.25, 1, 5)):
    for body, colour in (("left", BLUE), ("coupler", GREEN), ("right", RED)):
        x = 1e3 * positions["FFRF"][body][sample]
        axis.plot(x[:, 1], x[:, 2], ".", ms=2, color=colour, alpha=shade, mew=0)
axis.set_aspect("equal")
axis.set_xlabel("y [mm]")
axis.set_ylabel("z [mm]")
axis.set_title(f"nodes at five instants up to {t[-1]:.0f} ms", fontsize=10)
figure.tight_layout()
figure.savefig(folder / "four-bar-mechanism.png", dpi=110)
print(f"drawn in {folder}: four-bar-motion.png four-bar-difference.png four-bar-mechanism.png")
