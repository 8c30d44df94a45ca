#!/usr/bin/python3
"""Figures 4 to 6 of paper 004, the truncation rules and the combinations of bases, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/ancf-four-bar/plot.py RESULTS
        writes RESULTS/ancf-four-bar-{training,response,configurations,values,combinations}.png
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLACK, BLUE, GREEN, ORANGE, RED, plt

LINKS = {"crank": BLUE, "coupler": RED, "follower": GREEN}
ORDERS = ((20, RED), (26, ORANGE), (33, BLUE), (40, GREEN))
INSTANTS = (0.25, 0.5, 0.75, 1)  # [s]
GOALS = {33: 3e-3}


def path(folder, name):
    return folder / f"ancf-four-bar-{name}.png"


def training(folder):
    samples = p.read_csv(folder / "samples.csv")
    figure, axes = plt.subplots(figsize=(8, 4.2))
    for number, load, colour in zip(samples["sample"], samples["load"], (BLUE, GREEN, ORANGE, RED)):
        sensors = p.read_csv(folder / "training" / f"{int(number):03d}" / "sensors.csv")
        axes.plot(sensors["t"], sensors["B.y"], color=colour, lw=1.3, label=f"$\\lambda$ = {load:g}")
    axes.set_xlabel("time, s"), axes.set_ylabel("y of B, m"), axes.set_xlim(0, 1.3)
    axes.set_title("the four training motions (paper 004, Fig. 4)", fontsize=10)
    axes.legend(frameon=False, fontsize=9)
    p.finish_grid(figure, path(folder, "training"))


def response(folder):
    where = folder / "tests" / "load-0.935"
    reduced = [(f"r = {r}", p.read_csv(where / f"grassmann-{r}-automatic" / "sensors.csv"), colour) for r, colour in ORDERS]
    figure, axes = plt.subplots(2, 1, figsize=(8, 5.6), sharex=True, gridspec_kw={"height_ratios": [1.3, 1]})
    p.pod_history(axes, p.read_csv(where / "full" / "sensors.csv"), reduced, "B.y", "y of B, m", "r = 33")
    axes[0].set_xlim(0, 1)
    axes[0].set_title("B under a moment of no sample, $\\lambda$ = 0.935 (paper 004, Fig. 5)", fontsize=10)
    p.finish_grid(figure, path(folder, "response"))


def configurations(folder):
    t, full = p.read_nodes(folder / "full", LINKS)
    _, reduced = p.read_nodes(folder / "reduced", LINKS)
    figure, panels = plt.subplots(2, 2, figsize=(9, 6.6), sharex=True, sharey=True)
    for axes, instant in zip(panels.flat, INSTANTS):
        k = int(np.argmin(np.abs(t - instant)))
        for name, colour in LINKS.items():
            start, x, y = full[name][0], full[name][k], reduced[name][k, ::5]
            axes.plot(start[:, 0], start[:, 1], color="0.85", lw=1.5)
            axes.plot(x[:, 0], x[:, 1], color=colour, lw=2.6, alpha=0.75, label=name, solid_capstyle="round")
            axes.plot(y[:, 0], y[:, 1], ".", color=BLACK, ms=4, label="r = 33" if name == "follower" else None)
        for foot in (full["crank"][0, 0], full["follower"][0, -1]):
            axes.plot(*foot[:2], "o", color=BLACK, ms=6)
        axes.set_title(f"{t[k]:g} s", fontsize=10), axes.set_aspect("equal")
    for axes in panels[-1]:
        axes.set_xlabel("x, m")
    for row in panels:
        row[0].set_ylabel("y, m")
    figure.suptitle("configurations at $\\lambda$ = 0.935: full model (lines), r = 33 (dots), the start in grey (paper 004, Fig. 6)", fontsize=10)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False, fontsize=9)
    p.finish_grid(figure, path(folder, "configurations"), rect=(0, 0.04, 1, 1))


def table(folder):
    summary = json.loads((folder / "summary.json").read_text())
    for key, label, _ in p.COMBINATIONS:
        found = p.tests_where(summary, test="load-0.935", combination=key)
        print(f"{label:28} y of B:", ", ".join(f"{test['errors']['B.y']:.1e} (r = {test['order']})" for test in found))
    for test in p.tests_where(summary, test="forces"):
        print(f"forces {test['force']:7} y of B {test['errors']['B.y']:.3e}, {1e3 * test['seconds']:.0f} ms")


def main(folder):
    training(folder)
    response(folder)
    configurations(folder)
    p.pod_values_figure(folder, path(folder, "values"), 60)
    p.pod_combinations_figure(folder, path(folder, "combinations"), "B.y", [("load-0.935", "$\\lambda$ = 0.935, to 1.0 s")], GOALS)
    table(folder)


main(Path(sys.argv[1]))
