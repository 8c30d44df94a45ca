"""The flexible four-bar in three formulations: cases of a study, every node as an array.

Each case of the study is simulated, nothing is written, and the positions of all nodes at all samples are compared with those of the floating
frame. `lissom.compare` says the same of two folders.

Prints:

    cases: fncf, gcms
    FFRF:  51 coordinates, energy drift 3.6e-07
    FNCF:  66 coordinates, energy drift 4.0e-07, largest difference of any node 4.2e-09 of 135 mm
    GCMS: 306 coordinates, energy drift 4.4e-07, largest difference of any node 3.8e-08 of 135 mm
    top of the left bar moves 72.2 mm along y, 14 nm along x
    by folders: top.y of FNCF differs by 3.3e-10 m
"""
import pathlib
import tempfile

import numpy as np

import lissom

HERE = pathlib.Path(__file__).resolve().parent
study = lissom.Study(HERE / "study.toml")
print("cases:", ", ".join(study.cases))

with tempfile.TemporaryDirectory() as folder:
    reference = study.simulate(out=f"{folder}/ffrf")
    print(f"FFRF: {reference.q.shape[1]:3} coordinates, energy drift {reference.summary['energy_drift']:.1e}")
    for case in study.cases:
        run = study.simulate(case, out=f"{folder}/{case}")
        farthest = max(np.linalg.norm(run.nodes(body) - reference.nodes(body), axis=2).max() for body in reference.node_bodies)
        print(f"{case.upper()}: {run.q.shape[1]:3} coordinates, energy drift {run.summary['energy_drift']:.1e}, "
              f"largest difference of any node {farthest / 0.135:.1e} of 135 mm")
    top = np.ptp(reference.sensors["top"], axis=0)  # x y z of the hinge that is pushed
    print(f"top of the left bar moves {1e3 * top[1]:.1f} mm along y, {1e9 * top[0]:.0f} nm along x")
    compared = lissom.compare(f"{folder}/ffrf", f"{folder}/fncf")
    print(f"by folders: top.y of FNCF differs by {compared.largest['top.y']:.1e} m")
