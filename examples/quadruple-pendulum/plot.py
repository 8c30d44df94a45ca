#!/usr/bin/python3
"""Figures 5 to 7 of paper 001 and how long they mean something, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/quadruple-pendulum/plot.py RESULTS
        writes RESULTS/pendulum-{position,velocity,acceleration,chaos}.png
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plotting import BLACK, BLUE, GREEN, ORANGE, RED, plt, read_csv

folder = Path(sys.argv[1])
CASES = {"10 %": ("tol-10", ORANGE), "1 %": ("tol-1", GREEN), "0.1 %": ("tol-0.1", BLUE)}
reference = read_csv(folder / "sensors.csv")
half_step = read_csv(folder / "half-step" / "sensors.csv")
cases = {label: read_csv(folder / name / "sensors.csv") for label, (name, _) in CASES.items()}
t = reference["t"]


def distance(data):
    """|difference of node A's position to the reference| [m]."""
    return np.sqrt(sum((data[f"A.{k}"] - reference[f"A.{k}"]) ** 2 for k in "xyz"))


# the comparison means something while the integrator's own error is below a millimetre
own = distance(half_step)
until = t[np.argmax(own > 1e-3)] if (own > 1e-3).any() else t[-1]

for number, (what, sensor, unit) in enumerate([("position", "A", "m"), ("velocity", "A velocity", "m/s"),
                                               ("acceleration", "A acceleration", "m/s$^2$")], start=5):
    figure, axes = plt.subplots(3, 2, figsize=(11, 8), sharex=True)
    for row, k in enumerate("xyz"):
        key = f"{sensor}.{k}"
        axes[row, 0].plot(t, reference[key], color=BLACK, lw=2, label="reference")
        for label, (_, colour) in CASES.items():
            axes[row, 0].plot(t, cases[label][key], color=colour, lw=1, ls="--", label=label)
            axes[row, 1].semilogy(t, np.maximum(np.abs(cases[label][key] - reference[key]), 1e-16), color=colour, lw=1, label=label)
        axes[row, 0].set_ylabel(f"{k} [{unit}]")
        for axis in axes[row]:
            axis.axvspan(until, t[-1], color="0.9")
            axis.grid(alpha=0.3)
    axes[0, 0].set_title(f"{what} of node A (paper 001, Fig. {number})", fontsize=10)
    axes[0, 1].set_title("absolute difference to the reference; grey: chaos has won", fontsize=10)
    axes[0, 0].legend(fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    figure.tight_layout()
    figure.savefig(folder / f"pendulum-{what}.png", dpi=110)

figure, axis = plt.subplots(figsize=(8, 4.5))
axis.semilogy(t, np.maximum(own, 1e-16), color=BLACK, label="reference with half the step (integrator)")
for label, (_, colour) in CASES.items():
    axis.semilogy(t, np.maximum(distance(cases[label]), 1e-16), color=colour, label=f"tolerance {label} (reduction)")
axis.axhline(1e-3, color=RED, lw=1)
axis.axvline(until, color=RED, lw=1, label=f"integrator's error above 1 mm: {until:.2f} s")
axis.set_xlabel("time [s]")
axis.set_ylabel("distance of node A to the reference [m]")
axis.legend(fontsize=8)
axis.grid(alpha=0.3)
figure.tight_layout()
figure.savefig(folder / "pendulum-chaos.png", dpi=110)
print(f"the comparison means something until {until:.2f} s; drawn in {folder}: "
      "pendulum-position.png pendulum-velocity.png pendulum-acceleration.png pendulum-chaos.png")
