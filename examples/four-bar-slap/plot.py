#!/usr/bin/python3
"""The figures of paper 000, Sec. 6, and what the paper could not do, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/four-bar-slap/plot.py RESULTS
        writes RESULTS/four-bar-slap-{values,error,response,configurations,joints,frequencies,reversed,trust}.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np
from matplotlib.collections import PolyCollection

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLACK, BLUE, GREEN, ORANGE, PINK, RED, SKY, plt

BODIES = ("coupler", "left", "right")  # in the order in which they are drawn
NOISY, CURED, BOTH, SUDDEN = "noise, data joints, m10", "noise, m10", "reversed, trained on both, m10", "sudden, m6"
REVERSED_BOTH = "reversed, trained on both, m6"
LIMIT = 3  # of the trust indicator
INSTANTS = (0, 0.13, 0.2)  # [s] of the configurations


class Results:
    """What is in the folder; cases by name, the study itself is "study"."""

    def __init__(self, folder):
        self.folder = folder
        self.summary = json.loads((folder / "summary.json").read_text())

    def path(self, case):
        return self.folder if case == "study" else self.folder / case

    def training(self, case="study"):
        """What the training of a case found, or nothing where the summary does not have it."""
        return (self.summary if case == "study" else self.summary["cases"][case]).get("training")

    def sensors(self, case):
        return p.read_csv(self.path(case) / "sensors.csv")

    def nodes(self, case):
        """Times [s] and positions of the nodes of each body, (samples, nodes, 3) [m]."""
        with h5py.File(self.path(case) / "result.h5") as file:
            return file["time"][:], {name: file[f"nodes/{name}/positions"][:] for name in BODIES}

    def trust(self, case):
        with h5py.File(self.path(case) / "result.h5") as file:
            return file["time"][:], file["trust"][:]

    def faces(self):
        """Triangles of the outer surface of each body."""
        return {name: p.outer_triangles(p.read_elements(self.folder / f"{name}_free_modes.exo")) for name in BODIES}

    def trainings(self, *chosen):
        """(training, style) of those that are there."""
        return [(self.training(case), style) for case, style in chosen if self.training(case)]


def finish(figure, results, name, dpi=100):
    for axis in figure.axes:
        axis.grid(color="0.92", lw=0.6)
        axis.set_axisbelow(True)
    p.save(figure, results.folder / f"four-bar-slap-{name}.png", dpi=dpi)


def orders(training, key):
    """Orders, and a value of each that was reached."""
    values = [(order["m"], order[key]) for order in training["orders"] if order[key] is not None]
    return np.array(values).T


# ---- training: Figs. 3, 4, 8 and 9

def singular_values(results):
    figure, axis = plt.subplots(figsize=(7.6, 4.4))
    training = results.training()
    full, compressed = (np.array(training[key], float) for key in ("singular_values_full", "singular_values"))
    count = 40
    axis.semilogy(range(1, count + 1), full[:count], "o", mfc="none", color=BLUE, ms=8, label="of all 4401 nodal coordinates")
    axis.semilogy(range(1, count + 1), compressed[:count], "x", color=BLACK, ms=5,
                  label=f"compressed to the {training['space']['kernel']} that bodies and joints allow")
    for noisy, style in results.trainings((NOISY, dict(color=RED, lw=1.2, label="with rigid noise of 1e-11 m"))):
        axis.semilogy(range(1, count + 1), noisy["singular_values"][:count], **style)
    for m, text in ((2, "2: the rigid motion"), (results.training()["order"], "6: the model")):
        axis.annotate(text, (m, compressed[m - 1]), xytext=(m + 2.5, 6 * compressed[m - 1]), fontsize=9,
                      arrowprops=dict(arrowstyle="-", color="0.5", lw=0.8))
    axis.set_xlabel("mode"), axis.set_ylabel("singular value, m")
    axis.set_title("singular values of the training motion (paper 000, Fig. 3)", fontsize=10)
    axis.legend(frameon=False, fontsize=9)
    figure.tight_layout()
    finish(figure, results, "values")
    difference = np.abs(full[:count] - compressed[:count]).max() / full[0]
    print(f"singular values, full and compressed: largest difference {difference:.1e} of the largest one")


def errors(results):
    figure, axis = plt.subplots(figsize=(7.6, 5.4))
    shown = results.trainings(
        ("study", dict(color=BLUE, marker="o", label="ramped load")),
        (BOTH, dict(color=GREEN, marker="s", ms=4, label="both directions")),
        (CURED, dict(color=SKY, marker="v", label="noise of 1e-11 m, projected on the joints")),
        (SUDDEN, dict(color=ORANGE, marker="^", label="sudden load")),
        (NOISY, dict(color=RED, marker="x", label="noise of 1e-11 m, joints from the data (as in the paper)")))
    for training, style in shown:
        m, epsilon = orders(training, "epsilon")
        axis.semilogy(m, epsilon, lw=1.3, **{"ms": 5, **style})
        if training["first_spurious"]:
            axis.axvline(training["first_spurious"] - 0.5, color=style["color"], lw=1, ls=":")
            axis.text(training["first_spurious"] - 0.3, 10, f"spurious from mode {training['first_spurious']} on", color=style["color"],
                      fontsize=9)
    axis.axhline(1e-14, color="0.5", lw=1, ls=(0, (5, 3)))
    axis.text(20.3, 1.3e-14, "goal", color="0.4", fontsize=9, ha="right", va="bottom")
    axis.set_xticks(range(0, 21, 2)), axis.set_xlim(0.5, 20.5), axis.set_ylim(1e-20, 1e4)
    axis.set_xlabel("order m"), axis.set_ylabel("$\\epsilon$ (Eq. 70), m$^2$")
    axis.set_title("error of all nodes, 201 samples, reconstructing the training (paper 000, Fig. 4)", fontsize=10)
    figure.legend(frameon=False, fontsize=9, loc="lower center", ncol=2)
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    finish(figure, results, "error")


def joint_violation(results):
    figure, axis = plt.subplots(figsize=(7.6, 4.2))
    shown = results.trainings((NOISY, dict(color=RED, marker="x", label="noise of 1e-11 m, joints from the data (as in the paper)")),
                              ("study", dict(color=BLUE, marker="o", label="projected on the joints")),
                              (CURED, dict(color=SKY, marker="v", label="the same with noise")))
    for training, style in shown:
        values = np.array(training["joint_violation"][:20], float)
        axis.semilogy(range(1, len(values) + 1), values, ms=5, lw=1.2, **style)
    axis.set_xticks(range(0, 21, 2)), axis.set_ylim(1e-34, 10)
    axis.set_xlabel("mode"), axis.set_ylabel("$e^{joint} = |C\\,\\phi|^2$")
    axis.set_title("how far each mode opens the joints (paper 000, Fig. 8)", fontsize=10)
    axis.legend(frameon=False, fontsize=9, loc="center right", bbox_to_anchor=(1, 0.45))
    figure.tight_layout()
    finish(figure, results, "joints")


def frequencies(results):
    shown = results.trainings(("study", "projected on the joints: converging from above"),
                              (NOISY, "noise of 1e-11 m, joints from the data (as in the paper)"))
    figure, axes = plt.subplots(1, len(shown), figsize=(1.6 + 4.9 * len(shown), 4.4), sharey=True, squeeze=False)
    for axis, (training, title) in zip(axes[0], shown):
        own = [f for f in training["system_frequencies_hz"] if f > 0]
        for f in own[:4]:
            axis.axhline(f, color="0.6", lw=0.8)
        for order in training["orders"]:
            f = np.array(order["frequencies_hz"], float)
            # a mechanism's free motion has frequency zero but for round-off
            spurious = np.arange(len(f)) - 1
            spurious = (spurious >= 0) & (spurious < order["spurious"])
            x = np.full(len(f), order["m"])
            axis.semilogy(x[~spurious], np.maximum(f, 1)[~spurious], "o", ms=3.2, color=BLUE)
            axis.semilogy(x[spurious], f[spurious], "x", ms=5, color=RED)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("order m"), axis.set_xticks(range(0, 21, 2))
    axes[0, 0].set_ylabel("frequency at the reference, Hz")
    axes[0, 0].set_ylim(0.7, 3e5)
    axes[0, 0].text(20.4, 1.25, "free motion: 1 Hz stands for zero", fontsize=8, color="0.35", ha="right")
    axes[0, 0].text(0.8, 1150, "lines: the mechanism's own", fontsize=8, color="0.35", va="top")
    if len(shown) > 1:
        axes[0, 1].plot([], [], "x", color=RED, label="spurious: below what the mechanism has")
        axes[0, 1].legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 0.08))
    figure.suptitle("frequencies of the linearised model (paper 000, Fig. 9)", fontsize=10)
    figure.tight_layout()
    finish(figure, results, "frequencies")


# ---- motion: Figs. 5 to 7

def draw_response(axes, curves, reference):
    """Three columns x, y, z: the position, and below it the distance from the reference."""
    t = 1e3 * reference["t"]
    for column, k in enumerate("xyz"):
        key = f"top.{k}"
        # x: what rigid bodies do not do
        scale, start, label = (1e9, reference[key][0], "x less 45 mm, nm: elastic only") if k == "x" else (1e3, 0, f"{k}, mm")
        axes[0, column].plot(t, scale * (reference[key] - start), color="0.75", lw=5, label="full model")
        for name, (data, style) in curves.items():
            axes[0, column].plot(t, scale * (data[key] - start), label=name, **style)
            difference = np.abs(data[key] - reference[key])
            axes[1, column].semilogy(t, np.maximum(difference, 1e-14), label=name, **{**style, "lw": 1.1, "ls": ":" if name == "rigid" else "-"})
        axes[0, column].set_title(label, fontsize=10)
        axes[1, column].set_title(f"|difference of {k}|, m", fontsize=10)
        axes[1, column].set_ylim(1e-13, 1e-6)
        axes[1, column].set_xlabel("time, ms")


def response(results):
    curves = {"rigid": (results.sensors("rigid"), dict(color=BLACK, ls=":", lw=1.4))}
    for m, colour in ((2, PINK), (3, ORANGE), (4, GREEN), (6, BLUE), (20, RED)):
        curves[f"m = {m}"] = (results.sensors(f"m{m}"), dict(color=colour, lw=1.3, ls="-" if m < 6 else (0, (4, 2))))
    figure, axes = plt.subplots(2, 3, figsize=(12, 6.4), sharex=True)
    draw_response(axes, curves, results.sensors("study"))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=len(labels), frameon=False)
    figure.suptitle("the loaded node, rigid, full and reduced (paper 000, Fig. 5)", fontsize=10)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    finish(figure, results, "response")


def draw_configurations(axis, faces, times, full, reduced, instants, magnify=1):
    """The full model filled, the reduced one as nodes, seen along x; its distance from the full one magnified."""
    light = plt.matplotlib.colors.to_rgb(BLUE)
    for instant, shade in zip(instants, np.linspace(0.2, 0.45, len(instants))):
        sample = np.argmin(np.abs(times - instant))
        for body in BODIES:
            outline = 1e3 * full[body][sample][:, 1:]
            colour = 1 - shade * (1 - np.array(light))
            axis.add_collection(PolyCollection(outline[faces[body]], facecolor=colour, edgecolor=colour, lw=0.3))
            nodes = outline + magnify * (1e3 * reduced[body][sample][:, 1:] - outline)
            axis.plot(*nodes.T, ".", color=RED, ms=2.2, mew=0, zorder=3)
        # beside the end that leads
        forward = full["left"][-1][:, 1].mean() > full["left"][0][:, 1].mean()
        end = 1e3 * full["right" if forward else "left"][sample][:, 1:]
        axis.annotate(f"{1e3 * instant:.0f} ms", (end[:, 0].max() if forward else end[:, 0].min(), end[:, 1].max()), fontsize=9,
                      xytext=(5 if forward else -5, -1), textcoords="offset points", ha="left" if forward else "right")
    axis.set_aspect("equal")
    axis.autoscale_view()
    axis.margins(0.1)
    axis.set_xlabel("y, mm"), axis.set_ylabel("z, mm")


def apart(full, reduced):
    """Largest distance of any node [m]."""
    return max(np.linalg.norm(full[body] - reduced[body], axis=2).max() for body in BODIES)


def configurations(results, faces):
    times, full = results.nodes("study")
    figure, axes = plt.subplots(1, 2, figsize=(13, 4.2))
    for axis, case, magnify, title in ((axes[0], "m6", 1, "m = 6 (paper 000, Fig. 6)"),
                                       (axes[1], NOISY, 10000, "m = 10, noise of 1e-11 m, joints from the data (Fig. 7)")):
        reduced = results.nodes(case)[1]
        draw_configurations(axis, faces, times, full, reduced, INSTANTS, magnify)
        scale = f", drawn {magnify} times as large" if magnify > 1 else ""
        axis.set_title(f"{title}\nnodes at most {apart(full, reduced):.1e} m apart{scale}", fontsize=10)
        axis.set_xlim(-20, 260), axis.set_ylim(-15, 115)
    axes[0].plot([], [], "s", color=SKY, label="full model")
    axes[0].plot([], [], ".", color=RED, label="nodes of the reduced model")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncol=2, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    finish(figure, results, "configurations")


# ---- another load: Figs. 10 and 11, and what the paper could not do

def reversed_load(results, faces):
    figure = plt.figure(figsize=(12, 9.6))
    rows = figure.subfigures(2, 1, height_ratios=(1, 1.65))
    axis = rows[0].subplots()
    times, full = results.nodes("reversed")
    reduced = results.nodes("reversed, m6")[1]
    draw_configurations(axis, faces, times, full, reduced, INSTANTS)
    axis.set_xlim(-125, 160), axis.set_ylim(-15, 115)
    axis.set_title(f"load reversed, m = 6 trained on the other direction: nodes at most {apart(full, reduced):.1e} m apart "
                   "(paper 000, Fig. 10)", fontsize=10)
    axis.plot([], [], "s", color=SKY, label="full model")
    axis.plot([], [], ".", color=RED, label="reduced model")
    axis.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.02, 0.5))
    axes = rows[1].subplots(2, 3, sharex=True)
    curves = {"m = 6, trained on one direction": (results.sensors("reversed, m6"), dict(color=RED, lw=1.2)),
              "m = 10, trained on one direction": (results.sensors("reversed, m10"), dict(color=ORANGE, lw=1.2)),
              "m = 6, trained on both": (results.sensors(REVERSED_BOTH), dict(color=BLUE, lw=1.5, ls=(0, (4, 2)))),
              "m = 10, trained on both": (results.sensors(BOTH), dict(color=GREEN, lw=1.5, ls=(0, (2, 2))))}
    draw_response(axes, curves, results.sensors("reversed"))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    rows[1].legend(handles, labels, loc="lower center", ncol=len(labels), frameon=False)
    rows[1].suptitle("the loaded node (paper 000, Fig. 11), and after training on both directions", fontsize=10)
    rows[0].subplots_adjust(left=0.07, right=0.86, bottom=0.16, top=0.9)
    rows[1].subplots_adjust(left=0.07, right=0.98, bottom=0.15, top=0.88, wspace=0.22, hspace=0.25)
    finish(figure, results, "reversed")


def trust(results):
    """The indicator beside the error that it cannot know."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.4), sharex=True)
    shown = [("m6", "study", "the load of the training", BLUE),
             ("sudden, trained on the ramp, m6", "sudden", "sudden load", ORANGE),
             ("reversed, m6", "reversed", "reversed load", RED),
             (REVERSED_BOTH, "reversed", "reversed load, trained on both", GREEN)]
    for case, reference, label, colour in shown:
        t, value = results.trust(case)
        axes[0].semilogy(1e3 * t, np.maximum(value, 1e-3), color=colour, lw=1.4, label=label)
        outside = value > LIMIT
        if outside.any():
            axes[0].plot(1e3 * t[outside][0], value[outside][0], "o", color=colour, ms=7)
        a, b = results.sensors(case), results.sensors(reference)
        error = np.sqrt(sum((a[f"top.{k}"] - b[f"top.{k}"]) ** 2 for k in "xyz"))
        axes[1].semilogy(1e3 * t, np.maximum(error, 1e-13), color=colour, lw=1.4, label=label)
    axes[0].axhline(LIMIT, color="0.4", lw=1, ls=(0, (5, 3)), label="3 and more: a warning, its instant marked")
    axes[0].set_ylim(1e-2, 1e3)
    axes[0].set_title("trust indicator: distance from the training states (m = 6)", fontsize=10)
    axes[1].set_ylim(1e-12, 1e-6)
    axes[1].set_title("what it cannot know: distance of the loaded node from the full model, m", fontsize=10)
    for axis in axes:
        axis.set_xlabel("time, ms")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncol=5, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    finish(figure, results, "trust")


def main():
    results = Results(Path(sys.argv[1]))
    full, ffrf = results.nodes("study")[1], results.nodes("ffrf")[1]
    difference = sum(((full[body] - ffrf[body]) ** 2).sum() for body in BODIES)
    print(f"reference and floating frame: epsilon {difference:.1e} m2, nodes at most {apart(full, ffrf):.1e} m apart")
    training, models = results.training(), results.summary["models"]
    print(f"order {training['order']}, {training['why']}")
    for name, model in models.items():
        if "epsilon" in model:
            print(f"{name + ':':<34}{model['unknowns']:>3} unknowns, epsilon {model['epsilon']:.1e} m2, at most "
                  f"{model['trust']['largest']:.2g} from the training, {1e3 * model['seconds']:.0f} ms")
    print(f"full model in a floating frame: {models['ffrf']['unknowns']} unknowns, {1e3 * models['ffrf']['seconds']:.0f} ms")
    faces = results.faces()
    singular_values(results)
    errors(results)
    response(results)
    configurations(results, faces)
    joint_violation(results)
    frequencies(results)
    reversed_load(results, faces)
    trust(results)


main()
