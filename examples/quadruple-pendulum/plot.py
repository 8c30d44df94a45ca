#!/usr/bin/python3
"""Figures 5 to 7 of paper 001 and how long they mean something, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/quadruple-pendulum/plot.py RESULTS
        writes RESULTS/pendulum-{position,velocity,acceleration,chaos,motion}.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLACK, BLUE, GREEN, ORANGE, RED, plt

CASES = {"10 %": ("tol-10", ORANGE), "1 %": ("tol-1", GREEN), "0.1 %": ("tol-0.1", BLUE)}
FIGURES = [(5, "position", "A", "m"), (6, "velocity", "A velocity", "m/s"), (7, "acceleration", "A acceleration", "m/s$^2$")]
LIMIT = 1e-3  # [m] difference that counts as seen


def distance(a, b):
    """Of node A in two runs [m]."""
    return np.sqrt(sum((a[f"A.{k}"] - b[f"A.{k}"]) ** 2 for k in "xyz"))


def first_above(t, value, limit):
    return t[np.argmax(value > limit)] if (value > limit).any() else np.inf


def growth(t, value, low, high):
    """Least-squares slope of log(value) [1/s] and the line, from 0.3 s until `high` is first reached, where above `low`."""
    keep = (t > 0.3) & (t < first_above(t, value, high)) & (value > low)
    slope, offset = np.polyfit(t[keep], np.log(value[keep]), 1)
    return slope, t[keep][[0, -1]], np.exp(offset + slope * t[keep][[0, -1]])


def compared(folder, t, reference, cases, until, number, what, sensor, unit):
    figure, axes = plt.subplots(3, 2, figsize=(12, 8), sharex=True)
    for row, k in enumerate("xyz"):
        key = f"{sensor}.{k}"
        axes[row, 0].plot(t, reference[key], color=BLACK, lw=2.2, label="reference")
        for label, (_, colour) in CASES.items():
            axes[row, 0].plot(t, cases[label][key], color=colour, lw=1, label=label)
            axes[row, 1].semilogy(t[1:], np.abs(cases[label][key] - reference[key])[1:], color=colour, lw=1, label=label)
        axes[row, 0].set_ylabel(f"{k}, {unit}")
        axes[row, 1].set_ylabel(f"|difference of {k}|, {unit}")
        for axis in axes[row]:
            axis.axvspan(until, t[-1], color="0.92", zorder=0)
            axis.grid(color="0.88", lw=0.6)
            axis.set_xlim(0, t[-1])
    axes[0, 0].set_title(f"{what} of node A (paper 001, Fig. {number})", fontsize=10)
    axes[0, 1].set_title("absolute difference to the reference", fontsize=10)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    handles.append(plt.Rectangle((0, 0), 1, 1, color="0.92"))
    labels.append(f"integrator's own error above {1e3 * LIMIT:g} mm")
    figure.legend(handles, labels, loc="lower center", ncol=5, frameon=False)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    p.save(figure, folder / f"pendulum-{what}.png", dpi=90)


def chaos(folder, t, reference, half_step, cases):
    """Distances on a logarithmic scale: straight lines are exponential growth."""
    figure, axis = plt.subplots(figsize=(8.6, 4.8))
    own = distance(half_step, reference)
    axis.semilogy(t[1:], own[1:], color=BLACK, lw=1.8, label="half the step: the integrator")
    for label, (_, colour) in CASES.items():
        axis.semilogy(t[1:], distance(cases[label], reference)[1:], color=colour, label=f"reduced to {label}, same step")
    slope, ends, line = growth(t, distance(cases["0.1 %"], reference), 0, 1e-2)
    axis.semilogy(ends, line, color="0.45", ls=(0, (5, 3)), lw=1.4, label=f"growth by e in {1 / slope:.2f} s")
    axis.axhline(LIMIT, color=RED, lw=1, label=f"{1e3 * LIMIT:g} mm")
    axis.set_xlim(0, t[-1]), axis.set_ylim(1e-12, 3)
    axis.set_xlabel("time, s")
    axis.set_ylabel("distance of node A to the reference, m")
    axis.legend(fontsize=9, frameon=False, loc="upper left", ncol=2)
    axis.grid(color="0.9", lw=0.6)
    figure.tight_layout()
    p.save(figure, folder / "pendulum-chaos.png")
    print(f"growth of differences: {slope:.2f} 1/s, a factor of ten in {np.log(10) / slope:.2f} s")
    print(f"integrator's own error above {1e3 * LIMIT:g} mm after {first_above(t, own, LIMIT):.2f} s")
    for label in CASES:
        d = distance(cases[label], reference)
        print(f"reduced to {label}: {d[np.argmin(np.abs(t - 0.994))]:.1e} m after 1 s, above {1e3 * LIMIT:g} mm "
              f"after {first_above(t, d, LIMIT):.2f} s")


def rotation(e):
    """Of Euler parameters (e0, e1, e2, e3), samples by 4."""
    e0, e1, e2, e3 = e.T
    return np.moveaxis(np.array([[1 - 2 * (e2**2 + e3**2), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
                                 [2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1**2 + e3**2), 2 * (e2 * e3 - e0 * e1)],
                                 [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1**2 + e2**2)]]), 2, 0)


def motion(folder, t, reference, until):
    """Joints at several instants and the path of node A, from two sides."""
    with h5py.File(folder / "result.h5") as file:
        q = file["states/q"][:]
        first = dict(zip((name.decode() for name in file["bodies/names"]), file["bodies/first"]))
    joints = [np.zeros((len(t), 3))]
    for name in ("first", "second", "third"):  # centre of mass 0.2 m before the next joint
        i = first[name]
        joints.append(q[:, i:i + 3] + rotation(q[:, i + 3:i + 7])[:, :, 0] * 0.2)
    tip = np.array([reference[f"A.{k}"] for k in "xyz"]).T
    joints = np.array(joints + [tip])
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
    seen = t <= until
    for axis, (k, label) in zip(axes, ((0, "x"), (2, "z"))):
        axis.plot(tip[seen, k], tip[seen, 1], color="0.82", lw=0.9, zorder=0)
        for instant, shade in zip((0, 0.35, 0.5, 1.0, 1.75), (0.25, 0.4, 0.55, 0.75, 1)):
            sample = np.argmin(np.abs(t - instant))
            x = joints[:, sample]
            light = [1 - shade * (1 - np.array(plt.matplotlib.colors.to_rgb(colour))) for colour in (BLUE, RED)]
            axis.plot(x[:4, k], x[:4, 1], color=light[0], lw=2.2, marker="o", ms=4)
            axis.plot(x[3:, k], x[3:, 1], color=light[1], lw=2.8)
            axis.annotate(f"{t[sample]:.2f} s", x[4, [k, 1]], xytext=(6, 3), textcoords="offset points", fontsize=8)
        axis.set_aspect("equal")
        axis.set_xlim(-1.15, 1.1), axis.set_ylim(-1.48, 0.12)
        axis.set_xlabel(f"{label}, m")
        axis.grid(color="0.93", lw=0.6)
    axes[0].set_ylabel("y, m")
    figure.suptitle(f"three rigid cylinders (blue), the flexible one (red), and the path of node A until {until:.1f} s", fontsize=10)
    figure.tight_layout()
    p.save(figure, folder / "pendulum-motion.png", dpi=90)


def main():
    folder = Path(sys.argv[1])
    summary = json.loads((folder / "summary.json").read_text())
    reference, half_step = p.read_csv(folder / "sensors.csv"), p.read_csv(folder / "half-step" / "sensors.csv")
    cases = {label: p.read_csv(folder / name / "sensors.csv") for label, (name, _) in CASES.items()}
    t = reference["t"]
    for name, run in [("reference", summary), ("half the step", summary["cases"]["half-step"])]:
        s = run["simulation"]
        print(f"{name}: {s['coordinates']} coordinates, {s['constraints']} constraints, {s['steps']} steps, energy drift "
              f"{s['energy_drift']:.1e}, constraint drift {s['constraint_drift']:.0e} m, {s['seconds']:.1f} s")
    until = min(first_above(t, distance(half_step, reference), LIMIT), t[-1])
    for number, what, sensor, unit in FIGURES:
        compared(folder, t, reference, cases, until, number, what, sensor, unit)
    chaos(folder, t, reference, half_step, cases)
    motion(folder, t, reference, until)


main()
