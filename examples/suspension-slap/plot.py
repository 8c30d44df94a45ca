#!/usr/bin/python3
"""The suspension's small model beside the full one, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/suspension-slap/plot.py RESULTS
        writes RESULTS/suspension-{mechanism,motion,orders,trust}.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLACK, BLUE, GREEN, ORANGE, PINK, RED, SKY, plt

BODIES = {"lower": BLUE, "upper": SKY, "upright": "0.6", "tie-rod": ORANGE, "push-rod": GREEN, "rocker": RED}
# full run, title, colour
RUNS = {"bump": ("", "bump and hole (training)", BLUE), "stop": ("stop", "the same, braking in a bend (training)", SKY),
        "kerb": ("kerb", "kerb (not in the training)", GREEN), "sweep": ("sweep", "sweep (not in the training)", ORANGE),
        "overload": ("overload", "overload (far outside)", RED)}
WARNING = 3  # distance from the training beyond which there is a warning


def surfaces(folder):
    """Outer triangles of every body; quadratic tets by their corners."""
    faces = {}
    for body in BODIES:
        faces[body] = p.outer_triangles(p.read_elements(folder / f"{body}_free_modes.exo")[:, :4])
    return faces


def coil(a, b, radius, turns=7):
    """A helix from a to b, with straight ends."""
    s = np.linspace(0, 1, 300)
    axis = (b - a) / np.linalg.norm(b - a)
    first = np.cross(axis, [1, 0, 0])
    second = np.cross(axis, first)
    r = radius * np.clip(np.minimum(s, 1 - s) * 12, 0, 1)
    angle = 2 * np.pi * turns * s
    return a + np.outer(s, b - a) + (r * np.cos(angle))[:, None] * first + (r * np.sin(angle))[:, None] * second


def mechanism(folder):
    """All bodies at three instants, recovered on the meshes from ten numbers."""
    faces = surfaces(folder)
    with h5py.File(folder / "bump small" / "result.h5") as file:
        t = file["time"][:]
        x = {body: file[f"nodes/{body}/positions"][:] for body in BODIES}
    z = x["upright"][:, :, 2].mean(axis=1)
    samples = [0, int(np.argmax(z)), int(np.argmin(z))]
    shift = np.cumsum([0] + [x[body].shape[1] for body in BODIES])
    triangles = np.concatenate([faces[body] + k for body, k in zip(BODIES, shift)])
    colours = np.concatenate([np.tile(plt.matplotlib.colors.to_rgba(c), (len(faces[body]), 1)) for body, c in BODIES.items()])
    figure = plt.figure(figsize=(13, 4.6))
    everything = np.concatenate([x[body][samples].reshape(-1, 3) for body in BODIES])
    for k, sample in enumerate(samples):
        axes = figure.add_axes([0.325 * k - 0.01, -0.02, 0.34, 1.05], projection="3d")
        points = np.concatenate([x[body][sample] for body in BODIES])
        p.draw_surface(axes, points, triangles, colours, view=(20, 24), zoom=1.15)
        # the strut, from the chassis to the rocker's upper bore, and the line of the road
        rocker = x["rocker"]
        bore = np.linalg.norm(rocker[0][:, 1:] - [0.23, 0.54], axis=1) < 0.0085
        spring = 1e3 * coil(np.array([0, -0.03, 0.56]), rocker[sample][bore].mean(axis=0), 0.022)
        axes.plot(*spring.T, color=PINK, lw=1.6, zorder=10)
        low, high = 1e3 * everything.min(axis=0), 1e3 * everything.max(axis=0)
        low[1] = -40
        axes.set_xlim(low[0], high[0]), axes.set_ylim(low[1], high[1]), axes.set_zlim(low[2], high[2])
        axes.set_box_aspect(high - low, zoom=1.22)
        travel = 1e3 * (z[sample] - z[0])
        axes.set_title(f"{1e3 * t[sample]:.0f} ms: wheel {travel:+.1f} mm", fontsize=11, y=0.95)
    handles = [plt.Rectangle((0, 0), 1, 1, color=c, label=body.replace("-", " ")) for body, c in BODIES.items()]
    handles.append(plt.Line2D([], [], color=PINK, label="spring and damper"))
    figure.legend(handles=handles, loc="lower center", ncol=7, frameon=False, fontsize=9)
    p.save(figure, folder / "suspension-mechanism.png")


def wheel_error(full, small):
    """Distance of the wheel's centres over time [m]."""
    return np.linalg.norm([small[f"wheel.{k}"] - full[f"wheel.{k}"] for k in "xyz"], axis=0)


def motion(folder, full, small, unknowns, order):
    """Wheel travel, toe and acceleration, and how far the small model is off."""
    panels = [("wheel travel, mm", "wheel.z", 1e3), ("toe, degrees", "turn.rz", 180 / np.pi),
              ("acceleration, m/s2", "acceleration.z", 1)]
    shown = ["bump", "stop", "kerb", "sweep", "overload"]
    figure, axes = plt.subplots(4, len(shown), figsize=(16, 9.6), sharex=True, sharey="row")
    for column, name in zip(axes.T, shown):
        a, b = full[name], small[name]
        for axis, (label, key, scale) in zip(column, panels):
            axis.plot(1e3 * a["t"], scale * a[key], color="0.75", lw=4.5, label=f"full: {unknowns} unknowns, DAE")
            axis.plot(1e3 * b["t"], scale * b[key], color=RUNS[name][2], lw=1.4, label=f"{order} unknowns, ODE")
        column[3].semilogy(1e3 * a["t"][1:], 1e6 * wheel_error(a, b)[1:], color=RUNS[name][2], lw=1.2)
        column[0].set_title(RUNS[name][1], fontsize=10)
        column[0].legend(frameon=False, fontsize=8, loc="upper right")
        column[3].set_xlabel("time, ms")
    for row, label in zip(axes, [label for label, _, _ in panels] + ["error of the wheel, µm"]):
        row[0].set_ylabel(label)
        for axis in row:
            axis.grid(color="0.92", lw=0.6)
    axes[0, 0].set_ylim(-22, 90)
    figure.tight_layout()
    p.save(figure, folder / "suspension-motion.png")


def orders(folder, training):
    """Singular values, error and frequencies over the order m."""
    modes = p.read_csv(folder / "modes.csv")
    table = training["orders"]
    m = [o["m"] for o in table]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.4))
    left.semilogy(modes["mode"], modes["singular_value_of_nodes"], "o", color="0.75", ms=8, label="of all 25,968 nodal coordinates")
    left.semilogy(modes["mode"], modes["singular_value"], ".", color=BLUE, label="of component modes that the joints allow")
    left.set_xlim(0, 60), left.set_ylim(1e-10, 100)
    left.set_ylabel("singular value, m")
    left.set_xlabel("mode")
    middle.semilogy(m, [o["epsilon"] for o in table], "o-", color=BLUE, label="$\\epsilon$, m$^2$: sum over nodes and samples")
    middle.semilogy(m, [o["largest_error"] for o in table], "s--", color=ORANGE, mfc="none", label="largest error of a node, m")
    middle.axvline(training["order"], color="0.7", lw=6, zorder=0, label=f"proposed: m = {training['proposed']}")
    middle.set_xlabel("order m")
    own = [f for f in training["system_frequencies_hz"] if f > 0]
    for o in table:
        right.semilogy([o["m"]] * len(o["frequencies_hz"]), o["frequencies_hz"], "_", color=BLUE, ms=10, mew=1.6)
    right.axhline(own[0], color=RED, lw=1.2, label=f"first vibration of the mechanism itself, {own[0]:.0f} Hz")
    right.plot([], [], "_", color=BLUE, ms=10, mew=1.6, label="small model")
    right.set_ylabel("frequency at the start, Hz")
    right.set_xlabel("order m")
    for axis in (left, middle, right):
        axis.grid(color="0.92", lw=0.6)
        axis.legend(frameon=False, fontsize=9)
    right.legend(frameon=False, fontsize=9, loc="center right")
    figure.tight_layout()
    p.save(figure, folder / "suspension-orders.png")


def trust(folder, trusts):
    """Distance from the training, over time."""
    figure, axis = plt.subplots(figsize=(8.4, 4.4))
    for name, (t, distance) in trusts.items():
        axis.semilogy(1e3 * t, np.maximum(distance, 1e-2), color=RUNS[name][2], lw=1.5, label=RUNS[name][1])
        left = np.flatnonzero(distance > WARNING)
        if len(left):
            axis.plot(1e3 * t[left[0]], distance[left[0]], "v", color=BLACK, ms=9)
            axis.annotate(f"warning at {1e3 * t[left[0]]:.0f} ms", (1e3 * t[left[0]], distance[left[0]]), xytext=(-12, 8),
                          textcoords="offset points", ha="right", fontsize=9)
    axis.axhline(WARNING, color=BLACK, lw=1, ls="--", label=f"threshold: {WARNING}")
    axis.axhline(1, color="0.6", lw=1, ls=":", label="1: as far as training states are apart")
    axis.set_xlabel("time, ms")
    axis.set_ylabel("distance from the training")
    axis.grid(color="0.92", lw=0.6)
    axis.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.tight_layout()
    p.save(figure, folder / "suspension-trust.png")


def main():
    folder = Path(sys.argv[1])
    summary = json.loads((folder / "summary.json").read_text())
    models, training = summary["models"], summary["training"]
    full = {name: p.read_csv(folder / run / "sensors.csv") for name, (run, _, _) in RUNS.items()}
    small = {name: p.read_csv(folder / f"{name} small" / "sensors.csv") for name in RUNS}
    trusts = {}
    print(f"order {training['order']}: {training['why']}")
    for name in RUNS:
        model = models[f"{name} small"]
        with h5py.File(folder / f"{name} small" / "result.h5") as file:
            trusts[name] = file["time"][:], file["trust"][:]
        wheel = wheel_error(full[name], small[name]).max()
        print(f"{name:9} wheel moves {1e3 * abs(full[name]['wheel.z']).max():5.1f} mm, off by {1e6 * wheel:7.3f} um; "
              f"acceleration off by {abs(small[name]['acceleration.z'] - full[name]['acceleration.z'])[25:].max():.3f} of "
              f"{abs(full[name]['acceleration.z']).max():.0f} m/s2; epsilon {model['epsilon']:.1e} m2, trust {trusts[name][1].max():.2f}, "
              f"{model['times_faster']:.1f} times faster, {model['real_time_factor']:.2f} times real time")
    mechanism(folder)
    motion(folder, full, small, models["study"]["unknowns"], training["order"])
    orders(folder, training)
    trust(folder, trusts)


main()
