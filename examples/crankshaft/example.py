"""A crankshaft: a mode matrix that is never copied, and stress from it.

The mesh is coarser than the study's (elements of 6 mm, 19285 nodes in place of 50031), so that this takes seconds: frequencies are 1 % above those
of the README.

Prints:

    19285 nodes, 43 coordinates, proven below 0.096 %
    flexible modes 1, 5, 10: 1960, 4410, 9620 Hz
    modes 57861 x 43, 20 MB; own memory: False, writeable: False
    first mode with 0.1 mm: von Mises 178 MPa at x = 100 mm
    stress of rigid motions, of the first mode's: <1e-10
    without the body: the same array True
"""
import pathlib
import warnings

import numpy as np

import lissom

HERE = pathlib.Path(__file__).resolve().parent

with warnings.catch_warnings():
    warnings.simplefilter("ignore", lissom.Warning)  # with elements of this size a few at the fillets are inside out until gmsh optimises them
    mesh = lissom.read_mesh(HERE / "crankshaft.geo", units="mm-t-s", size=6)
body = lissom.Body(mesh, material=dict(E=210e3, nu=0.3, rho=7.85e-9), name="crankshaft", spiders=[
    dict(name="front bearing", kind="rigid", set="front journal"),
    dict(name="rear bearing", kind="rigid", set="rear journal"),
])
shaft = body.reduce(["front bearing", "rear bearing"], modes=10, tolerance=1e-3)
bound = shaft.errors["bound"]
print(f"{len(mesh.points)} nodes, {len(shaft.K)} coordinates, proven below {100 * bound.max():.2g} %")
print("flexible modes 1, 5, 10:", ", ".join(f"{shaft.frequencies[k - 1]:.0f}" for k in (1, 5, 10)), "Hz")

# the modes of all nodes: a view of what C++ holds, which lives on without the body
modes, stress = shaft.modes, shaft.stress_modes
rows, columns = modes.shape
print(f"modes {rows} x {columns}, {modes.nbytes / 1e6:.0f} MB; own memory: {modes.flags.owndata}, writeable: {modes.flags.writeable}")

# the first flexible mode, scaled to a largest displacement of 0.1 mm, and its von Mises stress: six rows a node
q = shaft.eigenvectors[:, 6]
u = (modes @ q).reshape(-1, 3)
scale = 1e-4 / np.linalg.norm(u, axis=1).max()
xx, yy, zz, xy, yz, zx = (stress @ q).reshape(-1, 6).T * scale
mises = np.sqrt(((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) / 2 + 3 * (xy**2 + yz**2 + zx**2))
top = np.argmax(mises)
print(f"first mode with 0.1 mm: von Mises {mises[top] / 1e6:.0f} MPa at x = {1000 * shaft.points[top][0]:.0f} mm")

# rigid motions have none
rigid = shaft.eigenvectors[:, :6]
print(f"stress of rigid motions, of the first mode's: {np.abs(stress @ rigid).max() / np.abs(stress @ q).max():.0e}")
u = modes @ q
del body, shaft
print("without the body: the same array", np.array_equal(u, modes @ q))
