#!/usr/bin/python3
"""Errors, counts and costs of the crankshaft's reduction, its modes and their stress, and Figs. 9 and 10 of paper 002,
from what `lissom run` left in a folder.

    /usr/bin/python3 examples/crankshaft/plot.py RESULTS     writes RESULTS/crankshaft-{errors,counts,cost,gcms,stress}.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import plt

NAME = "crankshaft"


def gcms(folder):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), constrained_layout=True)
    with h5py.File(folder / f"{NAME}.gcms.h5") as file:
        cosine = file["space/cosine"][:]
        sigma = file["space/singular_values"][:]
        scaled = file["algorithm_1/singular_values"][:]
    modes = [str(k + 1) for k in range(cosine.shape[0] // 3)]
    image = p.heat_map(left, cosine, modes, f"|cosine| of the {3 * cosine.shape[0]} flexible columns (paper 002, Fig. 9)")
    left.set_xlabel("flexible mode"), left.set_ylabel("flexible mode")
    figure.colorbar(image, ax=left, shrink=0.8)
    # each singular value of the fields is there three times in Phi
    for values, label, style in ((sigma, "as it is (Fig. 10)", dict(color=p.BLUE, marker="o")),
                                 (scaled, "scaled, after Algorithm 1", dict(color=p.ORANGE, marker="^"))):
        values = np.repeat(values, 3)
        right.semilogy(1 + np.arange(values.size), values, ls="none", ms=3.5, **style,
                       label=f"{label}: cond {values[0] / values[-1]:.0f}")
    right.set_title("singular values of $\\Phi$", fontsize=10)
    right.set_xlabel("number")
    right.grid(color="0.9", lw=0.6)
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncol=2, fontsize=9, frameon=False)
    p.save(figure, folder / f"{NAME}-gcms.png")


def von_mises(stress):
    xx, yy, zz, xy, yz, zx = stress.reshape(-1, 6).T
    return np.sqrt(((xx - yy)**2 + (yy - zz)**2 + (zz - xx)**2) / 2 + 3 * (xy**2 + yz**2 + zx**2))


def stress(folder, count=4, amplitude=1e-4):
    """The first natural modes, with the von Mises stress of a largest displacement of `amplitude` [m]."""
    # corners come first; the mesh has tets only
    tets = p.read_elements(folder / f"{NAME}_free_modes.exo")[:, :4]
    triangles = p.outer_triangles(tets)
    with h5py.File(folder / f"{NAME}.reduced.h5") as body:
        first = body["natural_modes"].attrs["rigid_count"]
        modes = body["natural_modes/eigenvectors"][:, first:first + count]
        hertz = np.sqrt(body["natural_modes/eigenvalues"][first:first + count]) / (2 * np.pi)
        points = body["nodes/points"][:]
        shapes = (body["nodes/modes"][:] @ modes).reshape(-1, 3, count)
        stresses = body["nodes/stress_modes"][:] @ modes
    size = np.linalg.norm(np.ptp(points, axis=0))
    figure = plt.figure(figsize=(12, 6.4))
    for k in range(count):
        largest = np.linalg.norm(shapes[:, :, k], axis=1).max()
        value = 1e-6 * amplitude / largest * von_mises(stresses[:, k])
        # the scale leaves out the worst of a hundred faces
        face = value[triangles].mean(axis=1)
        top = np.quantile(face, 0.99)
        row, column = divmod(k, 2)
        axes = figure.add_axes([-0.03 + 0.5 * column, 0.47 * (1 - row) - 0.09, 0.5, 0.62], projection="3d")
        p.draw_surface(axes, points + shapes[:, :, k] * (0.06 * size / largest), triangles,
                       plt.cm.viridis(np.minimum(1, face / top)), view=(22, -58), zoom=1.15,
                       title=f"flexible mode {k + 1}: {hertz[k]:.0f} Hz")
        bar = figure.add_axes([0.44 + 0.5 * column, 0.47 * (1 - row) + 0.07, 0.012, 0.3])
        plt.colorbar(plt.cm.ScalarMappable(plt.Normalize(0, top), "viridis"), cax=bar, extend="max")
        bar.tick_params(labelsize=8)
        bar.set_title("MPa", fontsize=8)
    figure.suptitle(f"von Mises stress at a largest displacement of {1e3 * amplitude:g} mm", y=0.985)
    p.save(figure, folder / f"{NAME}-stress.png")


def main():
    folder = Path(sys.argv[1])
    summary = json.loads((folder / "summary.json").read_text())
    reduce = summary["bodies"][NAME]["reduce"]
    sweep = p.read_csv(folder / f"{NAME}_sweep.csv")
    count = reduce["interior_coordinates"]
    p.error_figure([(f"{count} modes, no residual vectors", p.rows_where(sweep, "modes", count)),
                    (p.delivered_text(reduce), p.read_csv(folder / f"{NAME}_errors.csv"))],
                   reduce["tolerance"], folder / f"{NAME}-errors.png")
    p.counts_figure(reduce["comparison"], {}, folder / f"{NAME}-counts.png", most=60)
    p.cost_figure(summary, NAME, folder / f"{NAME}-cost.png", [folder / f"{NAME}.reduced.h5", folder / f"{NAME}.gcms.h5"])
    gcms(folder)
    stress(folder)


main()
