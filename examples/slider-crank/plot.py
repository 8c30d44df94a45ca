#!/usr/bin/python3
"""Figure 15 of paper 001 and the motion of the slider-crank, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/slider-crank/plot.py RESULTS
        writes RESULTS/slider-crank-{acceleration,motion}.png
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLACK, BLUE, GREEN, ORANGE, RED, plt

CASES = {"10 %": ("tol-10", ORANGE), "1 %": ("tol-1", GREEN), "0.1 %": ("tol-0.1", BLUE)}
CRANK, ROD = 30, 105  # lengths [mm]


def rigid_slider(angle):
    """Where the slider of rigid bodies is [mm]: the closed form."""
    return CRANK * np.cos(angle) + np.sqrt(ROD**2 - CRANK**2 * np.sin(angle) ** 2)


def acceleration(folder, t, reference, half_step, cases):
    figure, axes = plt.subplots(2, 2, figsize=(12, 6.6), sharex=True)
    for row, k in enumerate("xy"):
        key = f"A.{k}"  # in mm/s2
        axes[row, 0].plot(t, 1e-3 * reference[key], color=BLACK, lw=3, label="reference")
        axes[row, 1].semilogy(t[1:], 1e-3 * np.abs(half_step[key] - reference[key])[1:], color="0.6", lw=1, label="half the step: the integrator")
        for label, (_, colour) in CASES.items():
            difference = 1e-3 * np.abs(cases[label][key] - reference[key])
            axes[row, 0].plot(t, 1e-3 * cases[label][key], color=colour, lw=1, ls=(0, (5, 3)), label=label)
            axes[row, 1].semilogy(t[1:], difference[1:], color=colour, lw=1)
            print(f"a_{k}, reduced to {label}: at most {difference.max():.1e} m/s2, rms {np.sqrt((difference**2).mean()):.1e}")
        axes[row, 0].set_ylabel(f"$a_{k}$, m/s$^2$")
        axes[row, 1].set_ylabel(f"|difference of $a_{k}$|, m/s$^2$")
        axes[row, 1].set_ylim(bottom=1e-9)
        for axis in axes[row]:
            axis.grid(color="0.92", lw=0.6)
            axis.set_xlim(0, t[-1])
    axes[0, 0].set_title("acceleration of node A (paper 001, Fig. 15)", fontsize=10)
    axes[0, 1].set_title("absolute difference to the reference", fontsize=10)
    handles = dict(zip(*axes[0, 0].get_legend_handles_labels()[::-1]))
    handles.update(zip(*axes[0, 1].get_legend_handles_labels()[::-1]))
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=5, frameon=False)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    figure.tight_layout(rect=(0, 0.045, 1, 1))
    p.save(figure, folder / "slider-crank-acceleration.png", dpi=90)


def motion(folder, t, reference):
    rigid = rigid_slider(reference["crank.angle"])
    # the force along the rod that compresses it, on the rod by the crank
    axis_y = -CRANK * np.sin(reference["crank.angle"]) / ROD
    force = reference["big end force.fx"] * np.sqrt(1 - axis_y**2) + reference["big end force.fy"] * axis_y
    figure, axes = plt.subplots(2, 2, figsize=(11, 6), sharex=True)
    panels = [("crank, turns", [(reference["crank.angle"] / (2 * np.pi), BLACK, 1.8, None)]),
              ("slider, mm", [(rigid, ORANGE, 5, "rigid, closed form"), (reference["slider.x"], BLACK, 1.5, "simulated")]),
              ("force along the rod in the big end, N", [(force, BLACK, 1.8, None)]),
              ("slider less the closed form, micrometres", [(1e3 * (reference["slider.x"] - rigid), BLUE, 1.8, None)])]
    for axis, (title, lines) in zip(axes.flat, panels):
        for value, colour, width, label in lines:
            axis.plot(t, value, color=colour, lw=width, label=label)
            if label:
                axis.legend(frameon=False, fontsize=9)
        axis.set_title(title, fontsize=10)
        axis.grid(color="0.92", lw=0.6)
        axis.set_xlim(0, t[-1])
    # what the shortening per force says: the rod's stiffness
    stiffness = -(force @ force) / (force @ (reference["slider.x"] - rigid))
    axes[1, 1].plot(t, -1e3 * force / stiffness, color=RED, lw=1, ls=(0, (4, 3)), label=f"- force / ({1e-3 * stiffness:.0f} N/micrometre)")
    axes[1, 1].legend(frameon=False, fontsize=9)
    for axis in axes[1]:
        axis.set_xlabel("time, s")
    figure.tight_layout()
    p.save(figure, folder / "slider-crank-motion.png", dpi=90)
    print(f"slider less the closed form of rigid bodies: at most {1e3 * np.abs(reference['slider.x'] - rigid).max():.2f} micrometres, "
          f"as a rod of {1e-3 * stiffness:.1f} N/micrometre")


def main():
    folder = Path(sys.argv[1])
    summary = json.loads((folder / "summary.json").read_text())
    reference, half_step = p.read_csv(folder / "sensors.csv"), p.read_csv(folder / "half-step" / "sensors.csv")
    cases = {label: p.read_csv(folder / name / "sensors.csv") for label, (name, _) in CASES.items()}
    s = summary["simulation"]
    print(f"{s['coordinates']} coordinates, {s['constraints']} constraints, {s['steps']} steps, energy drift {s['energy_drift']:.1e}, "
          f"constraint drift {s['constraint_drift']:.0e} m, {s['seconds']:.2f} s")
    acceleration(folder, reference["t"], reference, half_step, cases)
    motion(folder, reference["t"], reference)


main()
