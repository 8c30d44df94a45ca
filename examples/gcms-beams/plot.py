#!/usr/bin/python3
"""Figures of paper 002 from what `lissom run` left in a folder.

    /usr/bin/python3 examples/gcms-beams/plot.py RESULTS     writes RESULTS/gcms-cosine.png and gcms-conditions.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plotting import heat_map, plt

EIGHT = ["L2", "L1", "T2", "T1", "B2", "B2*", "B1", "B1*"]


def cosines(folder, beams):
    figure, panels = plt.subplots(2, 3, figsize=(13, 8.2), constrained_layout=True)
    for axes, name in zip(panels.flat, beams):
        with h5py.File(folder / f"{name}.gcms.h5") as file:
            cosine = file["space/cosine"][:]
        names = EIGHT if cosine.shape[0] == 24 else ["B1", "B1*"]
        image = heat_map(axes, cosine, names, f"{name}, {3 * cosine.shape[0]} columns")
    figure.colorbar(image, ax=panels, label="|cosine similarity|", shrink=0.6)
    figure.suptitle("Cosine similarity of the flexible GCMS columns (paper 002, Figs. 2 and 4)")
    figure.savefig(folder / "gcms-cosine.png", dpi=110)


def conditions(folder, beams):
    figure, panels = plt.subplots(2, 3, figsize=(13, 7.6), constrained_layout=True)
    (condition, removed, error), (plain, energy, table) = panels
    for name in beams:
        with h5py.File(folder / f"{name}.gcms.h5") as file:
            if "sweep" in file:
                sweep = {key: file["sweep"][key][:] for key in file["sweep"]}
                line, = condition.semilogy(sweep["thresholds"], sweep["flexible_condition"], ".-", label=name)
                condition.semilogy(sweep["thresholds"], sweep["scaled_condition"], ":", color=line.get_color())
                removed.step(sweep["thresholds"], sweep["removed"], where="post", color=line.get_color(), label=name)
                error.semilogy(sweep["thresholds"], np.maximum(sweep["max_error"], 1e-12), ".-", color=line.get_color())
            # each singular value of the fields is there three times in Phi
            sigma = np.repeat(file["space/singular_values"][:], 3)
            plain.semilogy(1 + np.arange(sigma.size), sigma, ".", ms=3, label=name)
            sigma = file["scalar/singular_values"][:]
            kept = file["scalar"].attrs["kept"]
            line, = energy.semilogy(1 + np.arange(kept), sigma[:kept], "o-", ms=3, label=name)
            energy.semilogy(1 + np.arange(kept, sigma.size), np.maximum(sigma[kept:], 1e-12), "x", ms=4, color=line.get_color())
    condition.set_title("cond($\\Phi_f$), dotted: cond($\\Phi$) scaled (Fig. 5a)", fontsize=10)
    removed.set_title("columns removed of 72 (Fig. 5b)", fontsize=10)
    error.set_title("what it costs: largest eigenvalue error", fontsize=10)
    for axes in (condition, removed, error):
        axes.set_xlabel("threshold of the cosine")
        axes.axvline(0.993, color="0.7", lw=0.8)
        axes.invert_xaxis()
    plain.set_title("singular values of $\\Phi$ as it is (Fig. 7)", fontsize=10)
    energy.set_title("fields in the energy norm; x: left out", fontsize=10)
    energy.axhline(1e-4, color="0.7", lw=0.8)
    condition.legend(fontsize=7), energy.legend(fontsize=7)

    # the largest eigenvalue error of both methods side by side
    summary = json.loads((folder / "summary.json").read_text())["bodies"]
    place = np.arange(len(beams))
    for shift, method in ((-0.2, "scalar"), (0.2, "algorithm_1")):
        values = [summary[name]["gcms"][method]["max_eigenvalue_error"] for name in beams]
        table.bar(place + shift, values, 0.4, label=method.replace("_", "-"))
    table.set_yscale("log"), table.set_xticks(place, beams, fontsize=8, rotation=20), table.legend(fontsize=8, loc="upper left")
    table.set_ylim(top=300)
    table.axhline(1e-3, color="0.7", lw=0.8)
    table.set_title("largest eigenvalue error at the defaults", fontsize=10)
    figure.savefig(folder / "gcms-conditions.png", dpi=110)


def main():
    folder = Path(sys.argv[1])
    beams = list(json.loads((folder / "summary.json").read_text())["bodies"])
    order = ["square", "rectangle", "circle", "triangle", "arbitrary", "steel"]
    beams.sort(key=lambda name: order.index(name) if name in order else len(order))
    cosines(folder, beams)
    conditions(folder, beams)
    print(f"wrote {folder / 'gcms-cosine.png'} and gcms-conditions.png")


main()
