#!/usr/bin/python3
"""Figures 8 to 11 of paper 004, the truncation rules and the combinations of bases, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/ancf-double-pendulum/plot.py RESULTS
        writes RESULTS/ancf-double-pendulum-{training,postures,tip,tip-3s,values,combinations}.png
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLACK, BLUE, GREEN, ORANGE, RED, plt

BARS = {"upper": "0.45", "lower": RED}  # the paper's grey and red
ORDERS = ((11, BLUE), (15, ORANGE), (20, GREEN))
GOALS = {11: 5e-3, 15: 6e-4, 20: 7e-5}


def path(folder, name):
    return folder / f"ancf-double-pendulum-{name}.png"


def training(folder):
    samples = p.read_csv(folder / "samples.csv")
    figure, axes = plt.subplots(figsize=(8, 4.4))
    colours = dict(zip(np.unique(samples["mass1"]), (BLUE, GREEN, RED)))
    styles = dict(zip(np.unique(samples["mass2"]), (":", "--", "-")))
    for number, mass1, mass2 in zip(samples["sample"], samples["mass1"], samples["mass2"]):
        tip = p.read_csv(folder / "training" / f"{int(number):03d}" / "sensors.csv")
        axes.plot(tip["t"], tip["tip.y"], color=colours[mass1], ls=styles[mass2], lw=1.3, label=f"{mass1:g} and {mass2:g} kg")
    axes.set_xlabel("time, s"), axes.set_ylabel("y of the tip, m"), axes.set_xlim(0, 1.3)
    axes.set_title("the nine training motions (paper 004, Fig. 8)", fontsize=10)
    figure.legend(*axes.get_legend_handles_labels(), loc="center right", fontsize=9, frameon=False, title="upper and lower mass", title_fontsize=9)
    p.finish_grid(figure, path(folder, "training"), rect=(0, 0, 0.78, 1))


def postures(folder):
    t, full = p.read_nodes(folder / "full", BARS)
    _, reduced = p.read_nodes(folder / "reduced", BARS)
    figure, panels = plt.subplots(1, 3, figsize=(11, 4.3), sharey=True)
    for axes, (first, last, left) in zip(panels, ((0, 0.4, -0.06), (0.45, 0.85, -1.06), (0.9, 1.3, -1.06))):
        instants = [k for k in range(len(t)) if first - 1e-9 < t[k] < last + 1e-9]
        for k in instants:
            strength = min(1, 0.3 + 0.7 * (t[k] - first) / (last - first))
            for name, colour in BARS.items():
                x = full[name][k]
                axes.plot(x[:, 0], x[:, 1], color=colour, lw=2.6, alpha=strength, solid_capstyle="round")
                x = reduced[name][k, ::16]
                axes.plot(x[:, 0], x[:, 1], ".", color=BLACK, ms=3.6)
        axes.plot(0, 0, "o", color=BLACK, ms=6)
        axes.set_aspect("equal"), axes.set_xlabel("x, m")
        axes.set_xlim(left, left + 1.14), axes.set_ylim(-1.06, 0.08)
        axes.set_title(f"{first:g} to {last:g} s, the darkest is the last", fontsize=10)
    panels[0].set_ylabel("y, m")
    figure.suptitle("postures every 0.05 s at masses of no sample: full model (lines), r = 11 (dots) (paper 004, Fig. 9)", fontsize=10)
    p.finish_grid(figure, path(folder, "postures"))


def tip(folder, test, name, title):
    where = folder / "tests" / test
    reduced = [(f"r = {r}", p.read_csv(where / f"grassmann-{r}-automatic" / "sensors.csv"), colour) for r, colour in ORDERS]
    figure, axes = plt.subplots(2, 1, figsize=(8, 5.6), sharex=True, gridspec_kw={"height_ratios": [1.3, 1]})
    full = p.read_csv(where / "full" / "sensors.csv")
    p.pod_history(axes, full, reduced, "tip.y", "y of the tip, m", "r = 11")
    for axis in axes:
        axis.set_xlim(0, full["t"][-1])
        if full["t"][-1] > 1.31:
            axis.axvspan(0, 1.3, color="0.95", lw=0, zorder=0)
            axis.text(0.01, 1.02, "grey: as long as the training", fontsize=8, color="0.4", transform=axis.transAxes) if axis is axes[0] else None
    axes[0].set_title(title, fontsize=10)
    p.finish_grid(figure, path(folder, name))


def table(folder):
    summary = json.loads((folder / "summary.json").read_text())
    for test, factor in (("to-1.3", 1), ("to-3", 2)):
        for r, goal in GOALS.items():
            errors = [p.tests_where(summary, test=test, order=r, combination=key)[0]["errors"]["tip.y"] for key, _, _ in p.COMBINATIONS]
            print(f"{test:7} r = {r}: tip y, Grassmann / one basis / nearest", " / ".join(f"{e:.1e}" for e in errors), f"(goal {factor * goal:g})")


def main(folder):
    training(folder)
    postures(folder)
    tip(folder, "to-1.3", "tip", "tip at masses of no sample, 0.2642 and 0.1500 kg (paper 004, Fig. 10)")
    tip(folder, "to-3", "tip-3s", "the same to 3 s (paper 004, Fig. 11)")
    p.pod_values_figure(folder, path(folder, "values"), 30)
    tests = [("to-1.3", "0.2642 and 0.15 kg (the paper's)"), ("light", "0.2 and 0.18 kg"), ("upper heavy", "0.4 and 0.17 kg"), ("both heavy", "0.37 and 0.31 kg")]
    p.pod_combinations_figure(folder, path(folder, "combinations"), "tip.y", tests, GOALS)
    table(folder)


main(Path(sys.argv[1]))
