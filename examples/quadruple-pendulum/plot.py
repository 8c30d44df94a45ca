#!/usr/bin/python3
"""Figures 5 to 10 of paper 001, how long they mean something, and the largest stress, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/quadruple-pendulum/plot.py RESULTS
        writes RESULTS/pendulum-{position,velocity,acceleration,chaos,motion,stress,stress-contour,maximum}.png
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
NODE_B = 506  # of the stress sensors in the study
THIN = 7  # Figs. 5 to 7 show 500 samples, as the paper does
VIEW = (20, -78)


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


def compared(folder, reference, cases, until, number, what, sensor, unit):
    figure, axes = plt.subplots(3, 2, figsize=(12, 8), sharex=True)
    reference, cases = ({key: column[::THIN] for key, column in reference.items()},
                        {label: {key: column[::THIN] for key, column in case.items()} for label, case in cases.items()})
    t = reference["t"]
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
        print(f"reduced to {label}: {d[np.argmin(np.abs(t - 1))]:.1e} m after 1 s, above {1e3 * LIMIT:g} mm "
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


def beam_stress(folder, point):
    """Axial stress [Pa] at a point of the cylinder over time by beam theory: inertia and weight of the part beyond its section, which
    moves as a rigid body. With the frame's accelerations in the body's axes, a(x) = a_c + (x - centre) slope."""
    density, length, radius = 7850, 0.3, 0.015
    area, second_moment = np.pi * radius**2, np.pi * radius**4 / 4
    with h5py.File(folder / "result.h5") as file:
        first = dict(zip((name.decode() for name in file["bodies/names"]), file["bodies/first"]))["flexible"]
        q, v, a = (file[f"states/{key}"][:, first:first + 7] for key in "qva")
    turn = rotation(q[:, 3:])
    e0, e1, e2, e3 = q[:, 3:].T
    # angular velocity and acceleration of the frame, 2 G e' and 2 G e''
    G = np.moveaxis(np.array([[-e1, e0, -e3, e2], [-e2, e3, e0, -e1], [-e3, -e2, e1, e0]]), 2, 0)
    local = [np.einsum("tji,tj->ti", turn, x) for x in
             (a[:, :3] + [0, 9.806, 0], 2 * np.einsum("tij,tj->ti", G, v[:, 3:]), 2 * np.einsum("tij,tj->ti", G, a[:, 3:]))]
    centre, omega, alpha = local
    slope = np.cross(alpha, [1, 0, 0]) + np.cross(omega, np.cross(omega, [1, 0, 0]))
    x, y, z = point
    # integrals of a and of (xi - x) a over the free part, 0 to x
    force = density * area * (centre * x + slope * ((x - length / 2)**2 - (length / 2)**2) / 2)
    moment = density * area * (-centre * x**2 / 2 - slope * (x**3 / 6 - length / 2 * x**2 / 2))
    return force[:, 0] / area - (moment[:, 1] * y + moment[:, 2] * z) / second_moment


def stress(folder, t, reference, cases, until, point):
    """Node B over time."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 6.6), sharex=True)
    rows = [("B stress.von_mises", 1e-6, "von Mises stress", "MPa"), ("B strain.von_mises", 1e6, "von Mises strain", "µm/m")]
    for row, (key, scale, what, unit) in zip(axes, rows):
        p.compared_history(row, t, reference[key], [(label, cases[label][key], colour) for label, (_, colour) in CASES.items()], scale,
                           (f"{what}, {unit}", f"|difference|, {unit}"))
        row[1].set_ylim(bottom=1e-7 * scale * reference[key].max())
        for axis in row:
            axis.axvspan(until, t[-1], color="0.92", zorder=0)
        early = t <= until
        for label in CASES:
            difference = np.abs(cases[label][key] - reference[key])[early]
            print(f"{what} of B until {until:.2f} s, reduced to {label}: at most {scale * difference.max():.1e}, "
                  f"rms {scale * np.sqrt((difference**2).mean()):.1e} of {scale * reference[key][early].max():.3g} {unit}")
    estimate = beam_stress(folder, point)
    axes[0, 0].plot(t, 1e-6 * np.abs(estimate), color=RED, lw=0.8, ls=(0, (4, 3)), label="beam theory")
    print(f"axial stress of B: {(estimate @ reference['B stress.xx']) / (estimate @ estimate):.3f} of that of beam theory, "
          f"correlation {np.corrcoef(estimate, reference['B stress.xx'])[0, 1]:.4f}")
    axes[0, 0].set_title("node B (paper 001, Fig. 8)", fontsize=10)
    axes[0, 1].set_title("absolute difference to the reference", fontsize=10)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    handles.append(plt.Rectangle((0, 0), 1, 1, color="0.92"))
    labels.append(f"integrator's own error above {1e3 * LIMIT:g} mm")
    figure.legend(handles, labels, loc="lower center", ncol=6, frameon=False)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    figure.tight_layout(rect=(0, 0.045, 1, 1))
    p.save(figure, folder / "pendulum-stress.png", dpi=80)


def contours(folder, reference, cases, triangles):
    """Over the whole cylinder: at the first instant of the study the motion is certain, the others are the paper's."""
    rows = []
    for instant, key, scale, unit, figure in ((0, "stress", 1e-3, "kPa", ""), (1, "stress", 1e-3, "kPa", " (Fig. 9)"),
                                              (0, "strain", 1e6, "µm/m", ""), (2, "strain", 1e6, "µm/m", " (Fig. 10)")):
        at = f"t = {reference['t'][instant]:g} s{figure}"
        rows.append((f"von Mises {key}, {at}", unit, scale * reference[key][instant],
                     [(label, scale * data[key][instant]) for label, data in cases.items()]))
        for label, data in cases.items():
            error = np.abs(data[key][instant] - reference[key][instant])
            print(f"{key} at {at}, reduced to {label}: at most {scale * error.max():.1e} "
                  f"of {scale * reference[key][instant].max():.4g} {unit}")
    p.contour_figure(rows, reference["points"], triangles, folder / "pendulum-stress-contour.png", VIEW, height=0.75, zoom=4)


def maximum(folder, t, reference, field, cases, triangles, until):
    """The largest stress of the cylinder over time, where it is, and at its largest node by node."""
    figure = plt.figure(figsize=(11, 6.6))
    upper, lower = figure.add_axes([0.07, 0.37, 0.9, 0.28]), figure.add_axes([0.07, 0.08, 0.9, 0.24])
    value = 1e-6 * reference["largest stress.von_mises"]
    upper.plot(t, value, color=BLACK, lw=0.9)
    upper.set_ylabel("largest von Mises\nstress, MPa")
    place = {node: x for node, x in zip(field["ids"], 1e3 * field["points"][:, 0])}
    lower.scatter(t, [place[int(node)] for node in reference["largest stress.node"]], s=2 + 12 * value / value.max(), color=BLUE, lw=0)
    lower.set_ylabel("where: x, mm\n(free end 0)"), lower.set_xlabel("time, s")
    lower.set_ylim(0, 310)
    for axis in (upper, lower):
        axis.axvspan(until, t[-1], color="0.92", zorder=0)
        axis.set_xlim(0, t[-1])
        axis.grid(color="0.88", lw=0.6)
    largest = field["largest"]
    text = (f"{1e-6 * largest['von_mises']:.2f} MPa at node {largest['node']}, x = {place[largest['node']]:.0f} mm, "
            f"t = {largest['time']:.3f} s")
    print(f"largest von Mises stress: {text}")
    for label, data in cases.items():
        other = data["largest"]
        print(f"  reduced to {label}: {1e-6 * other['von_mises']:.2f} MPa at node {other['node']}, t = {other['time']:.3f} s")
    early = t <= until
    print(f"  until {until:.2f} s: {value[early].max():.2f} MPa at {t[early][np.argmax(value[early])]:.3f} s")
    panel = figure.add_axes([0.15, 0.66, 0.6, 0.3], projection="3d")
    top = 1e-6 * field["maximum"].max()
    colours = plt.cm.viridis(1e-6 * field["maximum"][triangles].mean(axis=1) / top)
    p.draw_surface(panel, field["points"], triangles, colours, view=VIEW, zoom=2.6)
    figure.text(0.45, 0.95, f"maximum over time of every node; the largest: {text}", ha="center", fontsize=10)
    bar = figure.colorbar(plt.cm.ScalarMappable(plt.Normalize(0, top), "viridis"), cax=figure.add_axes([0.88, 0.71, 0.012, 0.2]))
    bar.ax.tick_params(labelsize=8)
    bar.ax.set_title("MPa", fontsize=8)
    p.save(figure, folder / "pendulum-maximum.png", dpi=80)


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
        compared(folder, reference, cases, until, number, what, sensor, unit)
    chaos(folder, t, reference, half_step, cases)
    motion(folder, t, reference, until)
    field = p.read_stress(folder, "flexible")
    fields = {label: p.read_stress(folder, "flexible", name) for label, (name, _) in CASES.items()}
    triangles = p.outer_triangles(p.read_elements(folder / "flexible_free_modes.exo"))
    stress(folder, t, reference, cases, until, field["points"][field["ids"] == NODE_B][0])
    contours(folder, field, fields, triangles)
    maximum(folder, t, reference, field, fields, triangles, until)


main()
