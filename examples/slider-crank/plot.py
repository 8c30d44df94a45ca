#!/usr/bin/python3
"""Figure 15 of paper 001 and the motion of the slider-crank, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/slider-crank/plot.py RESULTS     writes RESULTS/slider-crank-{acceleration,motion}.png
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plotting import BLACK, BLUE, GREEN, ORANGE, plt, read_csv

folder = Path(sys.argv[1])
CASES = {"10 %": ("tol-10", ORANGE), "1 %": ("tol-1", GREEN), "0.1 %": ("tol-0.1", BLUE)}
reference = read_csv(folder / "sensors.csv")
cases = {label: read_csv(folder / name / "sensors.csv") for label, (name, _) in CASES.items()}
t = reference["t"]

figure, axes = plt.subplots(2, 2, figsize=(11, 6.5), sharex=True)
for row, k in enumerate("xy"):
    key = f"A.{k}"
    axes[row, 0].plot(t, 1e-3 * reference[key], color=BLACK, lw=2, label="reference")
    for label, (_, colour) in CASES.items():
        axes[row, 0].plot(t, 1e-3 * cases[label][key], color=colour, lw=1, ls="--", label=label)
        axes[row, 1].semilogy(t, np.maximum(1e-3 * np.abs(cases[label][key] - reference[key]), 1e-12), color=colour, lw=1,
                              label=label)
    axes[row, 0].set_ylabel(f"$a_{k}$ [m/s$^2$]")
    for axis in axes[row]:
        axis.grid(alpha=0.3)
axes[0, 0].set_title("acceleration of node A (paper 001, Fig. 15)", fontsize=10)
axes[0, 1].set_title("absolute difference to the reference", fontsize=10)
axes[0, 0].legend(fontsize=8)
for axis in axes[-1]:
    axis.set_xlabel("time [s]")
figure.tight_layout()
figure.savefig(folder / "slider-crank-acceleration.png", dpi=110)

figure, axes = plt.subplots(3, 1, figsize=(8, 7), sharex=True)
axes[0].plot(t, reference["crank.angle"] / (2 * np.pi), color=BLACK)
axes[0].set_ylabel("crank [turns]")
axes[1].plot(t, reference["slider.x"], color=BLACK)
axes[1].set_ylabel("slider x [mm]")
axes[2].plot(t, np.hypot(reference["big end force.fx"], reference["big end force.fy"]), color=BLACK)
axes[2].set_ylabel("force in the big end [N]")
axes[2].set_xlabel("time [s]")
for axis in axes:
    axis.grid(alpha=0.3)
figure.tight_layout()
figure.savefig(folder / "slider-crank-motion.png", dpi=110)
print(f"drawn in {folder}: slider-crank-acceleration.png slider-crank-motion.png")
