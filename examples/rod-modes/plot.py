#!/usr/bin/python3
"""Mode shapes of the connecting rod, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/rod-modes/plot.py RESULTS        writes RESULTS/rod-modes.png
"""
import json
import sys
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

TET_FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]


def surface(body):
    """Corner triangles on the outside of a tetrahedral mesh: those that belong to one element only."""
    offsets = body["mesh/offsets"][:-1]
    connectivity = body["mesh/connectivity"][:]
    tets = connectivity[offsets[:, None] + np.arange(4)]
    faces = np.concatenate([tets[:, f] for f in TET_FACES])
    _, index, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[index[count == 1]]


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
    x = 1e3 * (points + u * (0.08 * size / length.max()))
    triangles = surface(body)
    colours = plt.cm.viridis(length[triangles].mean(axis=1) / length.max())
    # a little shading by the direction of the face
    normal = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    normal /= np.linalg.norm(normal, axis=1)[:, None] + 1e-300
    colours[:, :3] *= (0.6 + 0.4 * np.abs(normal @ np.array([0.3, -0.5, 0.81])))[:, None]
    axes.add_collection3d(Poly3DCollection(x[triangles], facecolors=colours, linewidths=0))
    low, high = x.min(axis=0), x.max(axis=0)
    axes.set_xlim(low[0], high[0]), axes.set_ylim(low[1], high[1]), axes.set_zlim(low[2], high[2])
    axes.set_box_aspect(high - low, zoom=1.08)
    axes.view_init(28, -62)
    axes.set_axis_off()
    axes.set_title(title, fontsize=10, y=0.84)


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
