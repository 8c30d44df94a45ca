#!/usr/bin/python3
"""Figures 15 to 18 of paper 001, the motion of the slider-crank and its largest stress, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/slider-crank/plot.py RESULTS
        writes RESULTS/slider-crank-{acceleration,motion,stress,stress-contour,maximum}.png
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
NODE_B = 535  # of the stress sensors in the study
VIEW = (38, -72)


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


def axial_force(data):
    """The force along the rod that compresses it, on the rod by the crank [N]."""
    axis_y = -CRANK * np.sin(data["crank.angle"]) / ROD
    return data["big end force.fx"] * np.sqrt(1 - axis_y**2) + data["big end force.fy"] * axis_y


def motion(folder, t, reference):
    rigid = rigid_slider(reference["crank.angle"])
    force = axial_force(reference)
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


def section(x):
    """Of the grooved shank, x from the big bore [mm2]."""
    height = 17 - 5 * x / ROD
    return 10 * height - 2 * 3 * (height - 6)


def axial_stress(data, points, tets, x):
    """Force through the section at x over its area [MPa]: the big end's, less what accelerates the rod from there to x as a rigid body."""
    corners = 1e3 * points[tets]
    edges = corners[:, 1:] - corners[:, :1]
    mass = 2.71e-9 * np.abs(np.linalg.det(edges)) / 6
    centre = corners[:, :, 0].mean(axis=1)
    before = centre < x
    m0, m1 = mass[before].sum(), (mass[before] * centre[before]).sum() / ROD
    angle, t = data["crank.angle"], data["t"]
    axis_y = -CRANK * np.sin(angle) / ROD
    axis = np.array([np.sqrt(1 - axis_y**2), axis_y])

    def along(place):  # acceleration along the rod [mm/s2]
        return (np.gradient(np.gradient(place, t, axis=1), t, axis=1) * axis).sum(axis=0)

    pin, slider = along(CRANK * np.array([np.cos(angle), np.sin(angle)])), along(np.array([data["slider.x"], 0 * t]))
    return (m0 * pin + m1 * (slider - pin) - axial_force(data)) / section(x)


def middle(t, data, field, tets, name, x=55):
    """The middle of the shank, where the mean of the nodes has no bending and no corner is near."""
    nodes = np.abs(1e3 * field["points"][:, 0] - x) < 8
    expected = axial_stress(data, field["points"], tets, x)
    ratios = [1e-6 * values[nodes].mean() / expected[np.argmin(np.abs(t - instant))] for values, instant in zip(field["axial"], field["t"])]
    print(f"axial stress in the middle of the shank over force / section, {name}: " + ", ".join(f"{ratio:.4f}" for ratio in ratios))


def stress(folder, t, reference, half_step, cases, point, points, tets):
    """Node B over time. In the units of the study, MPa."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 6.6), sharex=True)
    rows = [("B stress.von_mises", 1e3, "von Mises stress", "kPa"), ("B strain.von_mises", 1e6, "von Mises strain", "µm/m")]
    for row, (key, scale, what, unit) in zip(axes, rows):
        own = scale * np.abs(half_step[key] - reference[key])
        row[1].semilogy(t[1:], own[1:], color="0.6", lw=1, label="half the step: the integrator")
        p.compared_history(row, t, reference[key], [(label, cases[label][key], colour) for label, (_, colour) in CASES.items()], scale,
                           (f"{what}, {unit}", f"|difference|, {unit}"))
        row[1].set_ylim(bottom=1e-7 * scale * reference[key].max())
        for label in CASES:
            difference = np.abs(cases[label][key] - reference[key])
            most = reference[key].max()
            print(f"{what} of B, reduced to {label}: at most {difference.max() / most:.1e} of {scale * most:.4g} {unit}, "
                  f"rms {np.sqrt((difference**2).mean()) / most:.1e}")
    x = 1e3 * point[0]
    estimate = axial_stress(reference, points, tets, x)[2:-2]  # differences of the ends are one-sided
    axes[0, 0].plot(t[2:-2], 1e3 * np.abs(estimate), color=RED, lw=1, ls=(0, (4, 3)), label="|force| / section")
    axial = reference["B stress.xx"][2:-2]
    ratio = (estimate @ axial) / (estimate @ estimate)
    print(f"B at x = {x:.1f} mm: section {section(x):.1f} mm2, axial stress {ratio:.3f} of force / section")
    axes[0, 0].set_title("node B (paper 001, Fig. 16)", fontsize=10)
    axes[0, 1].set_title("absolute difference to the reference", fontsize=10)
    handles = dict(zip(*axes[0, 0].get_legend_handles_labels()[::-1]))
    handles.update(zip(*axes[0, 1].get_legend_handles_labels()[::-1]))
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=6, frameon=False)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    figure.tight_layout(rect=(0, 0.045, 1, 1))
    p.save(figure, folder / "slider-crank-stress.png", dpi=80)


def contours(folder, reference, cases, triangles):
    """Over the whole rod at the two instants of the study."""
    rows = []
    for instant, key, scale, unit, number in ((1, "stress", 1e-3, "kPa", 17), (0, "strain", 1e6, "µm/m", 18)):
        rows.append((f"von Mises {key}, t = {reference['t'][instant]:g} s (Fig. {number})", unit, scale * reference[key][instant],
                     [(label, scale * data[key][instant]) for label, data in cases.items()]))
        for label, data in cases.items():
            error = np.abs(data[key][instant] - reference[key][instant])
            print(f"{key} at {reference['t'][instant]:g} s, reduced to {label}: at most {scale * error.max():.1e} "
                  f"of {scale * reference[key][instant].max():.4g} {unit}")
    p.contour_figure(rows, reference["points"], triangles, folder / "slider-crank-stress-contour.png", VIEW)


def maximum(folder, t, data, static_data, reference, static_shapes, triangles):
    """The largest stress of the rod over time and, node by node, at its largest; with natural modes and with all static shapes."""
    figure = plt.figure(figsize=(11, 6))
    axis = figure.add_axes([0.07, 0.09, 0.9, 0.4])
    axis.plot(t, 1e3 * static_data["largest stress.von_mises"], color=ORANGE, lw=2.4, label="with static shapes")
    axis.plot(t, 1e3 * data["largest stress.von_mises"], color=BLACK, lw=1, label="ten natural modes")
    axis.set_xlim(0, t[-1]), axis.set_ylim(bottom=0)
    axis.set_xlabel("time, s")
    axis.set_ylabel("largest von Mises stress of the rod, kPa")
    axis.grid(color="0.92", lw=0.6)
    axis.legend(frameon=False, fontsize=9, loc="upper left")
    top = 1e-3 * max(reference["maximum"].max(), static_shapes["maximum"].max())
    for column, (name, run) in enumerate((("ten natural modes", reference), ("with static shapes", static_shapes))):
        value, largest = 1e-3 * run["maximum"], run["largest"]
        panel = figure.add_axes([0.02 + 0.45 * column, 0.5, 0.42, 0.44], projection="3d")
        p.draw_surface(panel, run["points"], triangles, plt.cm.viridis(value[triangles].mean(axis=1) / top), view=VIEW, zoom=1.7)
        where = 1e3 * run["points"][run["ids"] == largest["node"]][0]
        text = f"{1e-3 * largest['von_mises']:.0f} kPa at node {largest['node']}, x = {where[0]:.0f} mm, t = {largest['time']:.4f} s"
        figure.text(0.23 + 0.45 * column, 0.95, f"{name}: {text}", ha="center", fontsize=9)
        print(f"largest von Mises stress, {name}: {text}")
    bar = figure.colorbar(plt.cm.ScalarMappable(plt.Normalize(0, top), "viridis"), cax=figure.add_axes([0.93, 0.58, 0.012, 0.3]))
    bar.ax.tick_params(labelsize=8)
    bar.ax.set_title("kPa", fontsize=8)
    p.save(figure, folder / "slider-crank-maximum.png", dpi=90)
    off = reference["stress"][1] - static_shapes["stress"][1]
    print(f"ten natural modes are off by up to {1e-3 * np.abs(off).max():.0f} kPa of {1e-3 * static_shapes['stress'][1].max():.0f} kPa "
          f"at {reference['t'][1]:g} s")


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
    field = p.read_stress(folder, "rod")
    node = int(reference["largest stress.node"][np.argmax(reference["largest stress.von_mises"])])
    share = reference["B stress.von_mises"].max() / reference["largest stress.von_mises"].max()
    print(f"node B: {share:.3f} of the largest stress, which is at node {node}")
    tets = p.read_elements(folder / "rod_free_modes.exo")
    triangles = p.outer_triangles(tets)
    stress(folder, reference["t"], reference, half_step, cases, field["points"][field["ids"] == NODE_B][0], field["points"], tets)
    contours(folder, field, {label: p.read_stress(folder, "rod", name) for label, (name, _) in CASES.items()}, triangles)
    static_data, static_field = p.read_csv(folder / "static-shapes" / "sensors.csv"), p.read_stress(folder, "rod", "static-shapes")
    maximum(folder, reference["t"], reference, static_data, field, static_field, triangles)
    middle(reference["t"], reference, field, tets, "ten natural modes")
    middle(reference["t"], static_data, static_field, tets, "with static shapes")


main()
