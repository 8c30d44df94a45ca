#!/usr/bin/python3
"""Mode shapes of the connecting rod, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/rod-modes/plot.py RESULTS        writes RESULTS/rod-modes.png
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plotting import draw_surface, outer_triangles, plt


def surface(body):
    """Corner triangles on the outside of the mesh."""
    offsets = body["mesh/offsets"][:-1]
    connectivity = body["mesh/connectivity"][:]
    return outer_triangles(connectivity[offsets[:, None] + np.arange(4)])


def displacements(body, mode):
    """Nodes by 3: the mode's shape at the nodes (spiders' ties are in the matrix `recovery`)."""
    q = body["modes/shapes"][:, mode]
    recovery = body["model/recovery"]
    if recovery["data"].shape[0] == 0:
        return q.reshape(-1, 3)
    from scipy.sparse import csc_matrix
    shape = (3 * body["mesh/points"].shape[0], q.size)
    return (csc_matrix((recovery["data"][:], recovery["indices"][:], recovery["indptr"][:]), shape) @ q).reshape(-1, 3)


def draw(axes, body, mode, title):
    points = body["mesh/points"][:]
    u = displacements(body, mode)
    size = np.linalg.norm(np.ptp(points, axis=0))
    length = np.linalg.norm(u, axis=1)
    triangles = surface(body)
    colours = plt.cm.viridis(length[triangles].mean(axis=1) / length.max())
    draw_surface(axes, points + u * (0.08 * size / length.max()), triangles, colours, title=title)


def main():
    folder = Path(sys.argv[1])
    summary = json.loads((folder / "summary.json").read_text())
    figure = plt.figure(figsize=(12, 5.6))
    for row, (name, result) in enumerate(sorted(summary["bodies"].items())):
        with h5py.File(folder / f"{name}.body.h5") as body:
            first = result["rigid_modes"]
            for k in range(4):
                axes = figure.add_axes([0.25 * k, 0.46 * (1 - row) - 0.04, 0.25, 0.52], projection="3d")
                draw(axes, body, first + k, f"{name}, mode {first + k + 1}: {result['frequencies_hz'][first + k]:.0f} Hz")
    figure.suptitle(summary["title"] + ", colour: displacement")

    figure.savefig(folder / "rod-modes.png", dpi=130)
    print(f"wrote {folder / 'rod-modes.png'}")


main()
