"""Modes of a connecting rod: mesh, body and modes as arrays.

The rod is meshed and its free modes are computed as `lissom run` does; they are then checked with K and M as SciPy matrices. On a coarser mesh of
linear tets, which are stiffer, K and M go the other way: given as those of any other program they are a body, with the modes that SciPy
finds. At last the rod is held at its big end.

Prints:

    15654 nodes, 8273 tet10, 0.4504 kg
    free: 806, 841, 1256, 2462 Hz, after 6 rigid modes
    Rayleigh quotients by SciPy: the same to <1e-8
    linear tets: 921 Hz by scipy.sparse.linalg.eigsh, the same from K and M to <1e-8
    held: 227, 397, 760, 1884 Hz
    the tip's mean motion in the first mode is along z: 1.000
"""
import pathlib

import numpy as np
import scipy.sparse.linalg

import lissom

HERE = pathlib.Path(__file__).resolve().parent
aluminium = dict(E=70e3, nu=0.33, rho=2.71e-9)  # in the units of the mesh

mesh = lissom.read_mesh(HERE / "rod.geo", units="mm-t-s")
free = lissom.Body(mesh, material=aluminium, name="free")
K, M = free.K, free.M  # SciPy sparse, SI units whatever the mesh has

# x y z of node after node: ones along x weigh the rod
along_x = (free.dofs[:, 1] == 0).astype(float)
print(f"{len(mesh.points)} nodes, {len(mesh.elements['tet10'])} tet10, {along_x @ (M @ along_x):.4g} kg")

modes = free.modes(count=10)
print(f"free: {', '.join(f'{f:.0f}' for f in modes.frequencies[6:])} Hz, after {modes.rigid_count} rigid modes")
shapes = modes.shapes[:, 6:]  # a view; orthonormal in M
omega2 = (2 * np.pi * modes.frequencies[6:]) ** 2
print(f"Rayleigh quotients by SciPy: the same to {np.abs(np.diag(shapes.T @ (K @ shapes)) / omega2 - 1).max():.0e}")

# matrices of any program are a body, too
coarse = lissom.Body(lissom.read_mesh(HERE / "rod.geo", units="mm-t-s", order=1), material=aluminium)
values = scipy.sparse.linalg.eigsh(coarse.K, 8, coarse.M, sigma=-1e6, return_eigenvectors=False)
theirs = np.sqrt(np.sort(values)[6:]) / (2 * np.pi)
ours = lissom.Body(K=coarse.K, M=coarse.M, points=coarse.points, dofs=coarse.dofs).modes(count=8).frequencies[6:]
print(f"linear tets: {theirs[0]:.0f} Hz by scipy.sparse.linalg.eigsh, the same from K and M to {np.abs(ours / theirs - 1).max():.0e}")

held = lissom.Body(mesh, material=aluminium, name="held", spiders=[
    dict(name="crank pin", kind="rigid", set="big bore", reference=[0, 0, 15]),
    dict(name="piston pin", kind="averaging", cylinder=dict(point=[200, 0, 0], axis=[0, 0, 1], radius=14, tolerance=0.05), reference=[200, 0, 15]),
])
modes = held.modes(count=4, fix="crank pin")
print(f"held: {', '.join(f'{f:.0f}' for f in modes.frequencies)} Hz")
u = held.displacements(modes.shapes[:, 0])  # all nodes, those of spiders included
tip = u[mesh.node_sets["small bore"]].mean(axis=0)
print(f"the tip's mean motion in the first mode is along z: {abs(tip[2]) / np.linalg.norm(tip):.3f}")
