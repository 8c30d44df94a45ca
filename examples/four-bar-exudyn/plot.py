#!/usr/bin/python3
"""Exudyn's motion of the four-bar against ours and against the small models trained on it, from what `lissom run` left.

    /usr/bin/python3 examples/four-bar-exudyn/plot.py RESULTS     writes RESULTS/exudyn-{motion,error,joints}.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import plotting as p
from plotting import BLUE, GREEN, ORANGE, RED, plt

BODIES = ("left", "coupler", "right")
# our node sets, by the numbers of the mesh files: two to each hinge
BAR = {"foot left": 1, "foot right": 2, "top left": 3, "top right": 4}
COUPLER = {"left 1": 1, "left 2": 2, "right 1": 3, "right 2": 4}
TOP, STYLES = ("left", BAR["top right"]), {"Exudyn": dict(color="0.75", lw=5), "Lissom, FFRF": dict(color=ORANGE, lw=2.2),
                                          "SLAP": dict(color=BLUE, ls=(0, (4, 3)), lw=1.6)}


def exudyn_run():
    """Times, and positions (samples, nodes, 3) and ids of the nodes of every body [m]."""
    data = np.load(HERE / "exudyn.npz")
    return data["time"], {name: data[name] for name in BODIES}, {name: data[f"{name}/node_ids"] for name in BODIES}


def our_run(folder, ids):
    """Positions in the order of the given ids."""
    with h5py.File(folder / "result.h5") as file:
        result = {}
        for name in BODIES:
            row = {int(node): i for i, node in enumerate(file[f"nodes/{name}/ids"][:])}
            result[name] = file[f"nodes/{name}/positions"][:][:, [row[int(node)] for node in ids[name]]]
        return result


def epsilon(a, b):
    """Eq. 70 of paper 000: sum of squares over all nodes and samples [m2]."""
    return sum(((a[name] - b[name]) ** 2).sum() for name in BODIES)


def node(positions, ids, where):
    body, number = where
    return positions[body][:, int(np.flatnonzero(ids[body] == number)[0])]


def motion(folder, t, runs, ids, order):
    """The loaded node; across the plane it moves by elasticity alone."""
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.6))
    reference = node(runs["Exudyn"], ids, TOP)
    for axis, (title, scale, component) in zip(axes, (("y, mm", 1e3, 1), ("z, mm", 1e3, 2), ("x less 45 mm, nm: elastic only", 1e9, 0))):
        for name, positions in runs.items():
            x = node(positions, ids, TOP)[:, component]
            axis.plot(1e3 * t, scale * (x - (reference[0, 0] if component == 0 else 0)), label=f"{name}, m = {order}" if name == "SLAP" else name,
                      **STYLES[name])
        axis.set_title(f"loaded node: {title}", fontsize=10)
    for name, positions in runs.items():
        if name != "Exudyn":
            distance = np.linalg.norm(node(positions, ids, TOP) - reference, axis=1)
            axes[3].semilogy(1e3 * t[1:], distance[1:], color=STYLES[name]["color"], label=f"{name}: at most {distance.max():.1e} m")
    axes[3].set_title("its distance to Exudyn's, m", fontsize=10)
    for axis in axes:
        axis.set_xlabel("time, ms")
        axis.grid(color="0.92", lw=0.6)
    axes[0].legend(frameon=False, fontsize=9), axes[3].legend(frameon=False, fontsize=9, loc="lower right")
    figure.tight_layout()
    p.save(figure, folder / "exudyn-motion.png")


def error(folder, training, full):
    """Eq. 70 against the number of modes, and the singular values."""
    orders = training["orders"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    m = [order["m"] for order in orders]
    left.semilogy(m, [order["epsilon"] or np.nan for order in orders], "o-", color=BLUE, ms=5, label="SLAP to Exudyn")
    left.axhline(full, color=ORANGE, lw=1.6, label=f"Lissom's FFRF, same step, to Exudyn: {full:.1e}")
    left.set_ylabel("epsilon (Eq. 70), m$^2$")
    full_values, values = training["singular_values_full"], training["singular_values"]
    right.semilogy(range(1, len(full_values) + 1), full_values, "o", color="0.7", ms=8, label="of the nodes")
    right.semilogy(range(1, len(values) + 1), values, ".", color=BLUE, label="compressed by component modes and joints")
    right.set_ylabel("singular value, m")
    for axis in (left, right):
        axis.set_xlabel("mode")
        axis.grid(color="0.92", lw=0.6)
        axis.legend(frameon=False, fontsize=9)
    figure.tight_layout()
    p.save(figure, folder / "exudyn-error.png")


def joints(folder, t, positions, ids):
    """How far the nodes of the joints are apart in Exudyn's data: the worst of each kind."""
    figure, axis = plt.subplots(figsize=(7.6, 3.6))
    feet, tops = [], []
    for side in ("left", "right"):
        for k, which in ((1, "left"), (2, "right")):
            foot = node(positions, ids, (side, BAR[f"foot {which}"]))
            feet.append(np.linalg.norm(foot - foot[0], axis=1))
            top, end = node(positions, ids, (side, BAR[f"top {which}"])), node(positions, ids, ("coupler", COUPLER[f"{side} {k}"]))
            tops.append(np.linalg.norm(top - end, axis=1))
    for gaps, colour, name in ((feet, GREEN, "ground and bars"), (tops, BLUE, "bars and coupler")):
        axis.semilogy(1e3 * t, np.maximum(np.max(gaps, axis=0), 1e-18), ".-", color=colour, lw=1, label=f"{name}: at most {np.max(gaps):.1e} m")
    axis.axhline(1e-12, color=RED, lw=1, label="the last of twelve decimals")
    axis.set_ylim(1e-18, 1e-11)
    axis.set_xlabel("time, ms")
    axis.set_ylabel("largest gap of a joint, m")
    axis.grid(color="0.92", lw=0.6)
    axis.legend(frameon=False, fontsize=9, loc="center right", bbox_to_anchor=(1, 0.62))
    figure.tight_layout()
    p.save(figure, folder / "exudyn-joints.png")


def main():
    folder = Path(sys.argv[1])
    summary = json.loads((folder / "summary.json").read_text())
    t, exudyn, ids = exudyn_run()
    ours = {name: our_run(folder / case, ids) for name, case in (("Lissom, FFRF", "."), ("slap", "slap"), ("six modes", "six modes"),
                                                                 ("data alone", "data alone"))}
    for name, positions in ours.items():
        print(f"{name} to Exudyn: epsilon {epsilon(positions, exudyn):.2e} m2")
    motion(folder, t, {"Exudyn": exudyn, "Lissom, FFRF": ours["Lissom, FFRF"], "SLAP": ours["slap"]}, ids, summary["training"]["order"])
    error(folder, summary["training"], epsilon(ours["Lissom, FFRF"], exudyn))
    joints(folder, t, exudyn, ids)


main()
