"""Component modes of a square beam: the GCMS basis in three lines of NumPy, its condition, and what Lissom makes of it.

Every component of every mode in every direction: nine columns a mode. The eight modes of the example become 72 columns that are nearly
dependent (paper 002). A study of this one beam, made from the example's own file, has both cures.

Prints:

    72 columns, condition 1.9e+06 by NumPy, 1.9e+06 by Lissom
    Algorithm 1: 24 of 72 columns removed, condition 38, largest eigenvalue error 0.70
    scalar basis: 78 of 84 columns, condition in the mass norm 1.000, largest eigenvalue error <1e-5
"""
import pathlib
import tempfile
import tomllib

import numpy as np

import lissom

HERE = pathlib.Path(__file__).resolve().parent
content = tomllib.loads((HERE / "study.toml").read_text())
square = content["bodies"]["square"]
numbers = square["gcms"]["modes"]  # of the flexible modes

mesh = lissom.read_mesh(HERE / square["mesh"])
body = lissom.Body(mesh, material=square["material"], name="square")
modes = body.modes(count=6 + max(numbers))
columns = []
for number in numbers:
    fields = modes.shapes[:, 5 + number].reshape(-1, 3)  # (nodes, components)
    for field in fields.T:
        for direction in np.eye(3):
            columns.append(np.outer(field, direction).ravel())
values = np.linalg.svd(np.array(columns).T, compute_uv=False)
by_numpy = values[0] / values[-1]

content["bodies"] = {"square": {**square, "gcms": {**square["gcms"], "thresholds": None}}}
with tempfile.TemporaryDirectory() as folder:
    summary = lissom.Study(content, folder=HERE).run(folder, report=False).summary
found = summary["bodies"]["square"]["gcms"]
paper, scalar = found["algorithm_1"], found["scalar"]
print(f"{len(columns)} columns, condition {by_numpy:.2g} by NumPy, {paper['steps'][0]['flexible_condition']:.2g} by Lissom")
last = paper["steps"][-1]
print(f"Algorithm 1: {paper['removed_columns']} of {len(columns)} columns removed, condition {last['flexible_condition']:.0f}, "
      f"largest eigenvalue error {paper['max_eigenvalue_error']:.2f}")
last = scalar["steps"][-1]
print(f"scalar basis: {last['columns']} of {scalar['steps'][0]['columns']} columns, condition in the mass norm {last['mass_condition']:.3f}, "
      f"largest eigenvalue error {scalar['max_eigenvalue_error']:.0e}")
