#!/usr/bin/python3
"""The rolled-up cantilever beside the closed form, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/ancf-spatial/plot.py RESULTS     writes RESULTS/ancf-spatial-{shapes,convergence}.png
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLACK, BLUE, GREEN, ORANGE, RED, plt

LENGTH = 3.0  # [m]
AXES = np.array([[2, 1, 2], [-2, 2, 1], [-1, -2, 2]]) / 3  # along the beam at the start, where it bends to, of the moment
CASES = {8: "8 elements", 16: "", 32: "32 elements", 64: "64 elements"}
COLOURS = {8: RED, 16: ORANGE, 32: GREEN, 64: BLUE}


def circle(part, s):
    """Places [m] at s along the beam under a part of the moment of a full turn."""
    k = 2 * np.pi * part / LENGTH
    along, across = (s, 0 * s) if k == 0 else (np.sin(k * s) / k, (1 - np.cos(k * s)) / k)
    return np.outer(along, AXES[0]) + np.outer(across, AXES[1])


def nodes(folder, case):
    t, bodies = p.read_nodes(folder / case, ["beam"])
    return t, bodies["beam"]


def shapes(folder):
    t, x = nodes(folder, "")
    figure = plt.figure(figsize=(10.4, 4.4))
    space, plane = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
    chosen = range(0, len(t), 3)
    for k, colour in zip(chosen, plt.get_cmap("viridis")(np.linspace(0, 0.9, len(chosen)))):
        space.plot(*x[k].T, color=colour, lw=2)
        exact = circle(t[k], np.linspace(0, LENGTH, 200)) @ AXES.T
        found = x[k] @ AXES.T
        plane.plot(exact[:, 0], exact[:, 1], color="0.75", lw=3, label="closed form" if k == 0 else None)
        plane.plot(found[:, 0], found[:, 1], ".", color=colour, ms=6, label=f"t = {t[k]:.2f}")
    low, high = x.reshape(-1, 3).min(axis=0), x.reshape(-1, 3).max(axis=0)
    space.set_xlim(low[0], high[0]), space.set_ylim(low[1], high[1]), space.set_zlim(low[2], high[2])
    space.set_box_aspect(high - low), space.view_init(24, -50)
    space.set_xticks([-1, 0, 1, 2]), space.set_yticks([0, 1, 2]), space.set_zticks([0, 1, 2])
    space.set_xlabel("x, m"), space.set_ylabel("y, m"), space.set_zlabel("z, m")
    space.set_title("in space", fontsize=10)
    plane.set_aspect("equal")
    plane.set_xlabel("along the beam at the start, m"), plane.set_ylabel("across, m")
    plane.set_title("in its plane: 16 elements (dots), circles (lines)", fontsize=10)
    plane.legend(frameon=False, fontsize=8, loc="upper right")
    plane.set_xlim(-0.9, 4.3)
    plane.grid(color="0.92", lw=0.6), plane.set_axisbelow(True)
    figure.suptitle("a cantilever under the part t of the moment $2\\pi EI/L$", fontsize=10)
    figure.subplots_adjust(left=0, right=0.98, bottom=0.1, top=0.9, wspace=0.12)
    p.save(figure, folder / "ancf-spatial-shapes.png", dpi=100)


def convergence(folder):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.2))
    gaps = {}
    for count, case in CASES.items():
        t, x = nodes(folder, case)
        error = [np.linalg.norm(x[k, -1] - circle(t[k], np.array([LENGTH]))[0]) for k in range(1, len(t))]
        left.semilogy(t[1:], error, ".-", color=COLOURS[count], lw=1.1, label=f"{count} elements")
        gaps[count] = error[-1]
    left.set_xlabel("part t of the moment of a full turn"), left.set_ylabel("distance of the tip from the closed form, m")
    left.legend(frameon=False, fontsize=9)
    counts = np.array(list(gaps))
    right.loglog(counts, list(gaps.values()), "o-", color=BLUE, label="gap of the full circle")
    right.loglog(counts, gaps[64] * (64 / counts)**4, color=BLACK, lw=1, ls=":", label="fourth order")
    right.set_xticks(counts, [str(n) for n in counts]), right.minorticks_off()
    right.set_xlabel("elements"), right.set_ylabel("gap, m")
    right.legend(frameon=False, fontsize=9)
    p.finish_grid(figure, folder / "ancf-spatial-convergence.png")
    for coarse, fine in zip(counts, counts[1:]):
        print(f"gap {gaps[coarse]:.2e} m with {coarse}, {gaps[fine]:.2e} m with {fine} elements: order {np.log2(gaps[coarse] / gaps[fine]):.2f}")
    _, x = nodes(folder, "")
    print(f"out of its plane by {np.abs(x @ AXES[2]).max():.1e} m")


def second_derivative(folder):
    """k (1 - 2 a k^2) = M / EI with a = EI / EA, by Newton; the beam's length is scaled by sqrt(1 - 2 a k^2)."""
    a, k0 = 0.04**2 / 16, 2 * np.pi / LENGTH
    k = k0
    for _ in range(20):
        k -= (k * (1 - 2 * a * k**2) - k0) / (1 - 6 * a * k**2)
    stretch = np.sqrt(1 - 2 * a * k**2)
    expected = stretch / k * np.array([np.sin(k * LENGTH), 1 - np.cos(k * LENGTH), 0])
    _, x = nodes(folder, "second derivative")
    print(f"strains of the paper: tip at {1e3 * (AXES @ x[-1, -1])[0]:.5f} mm along, by hand {1e3 * expected[0]:.5f} mm")


folder = Path(sys.argv[1])
shapes(folder)
convergence(folder)
second_derivative(folder)
