"""A model for all masses: nine falls of a double pendulum of rubber train eleven unknowns, which then fall at other masses.

The study's own file with its tests and cases left out, as a dict. A parametric model is opened at any masses with `set`; it is compared with the
full one there, and outside of its training it says so.

Prints:

    trained on 9 runs: 648 nodal coordinates as 11 unknowns
    masses 0.2642, 0.15 kg: relative error of the tip's y 1.2e-03
    masses 0.2, 0.18 kg: relative error of the tip's y 8.5e-04
    by solve_ivp: the tip ends at y = -0.6372 m, by HHT with 1 ms at y = -0.6372 m
    outside: the parameter mass1 = 0.6 is above its training range, 0.152 to 0.456, ...
"""
import pathlib
import tomllib

import numpy as np
from scipy.integrate import solve_ivp

import lissom

HERE = pathlib.Path(__file__).resolve().parent
content = tomllib.loads((HERE / "study.toml").read_text())
del content["cases"], content["train"]["test"]

training = lissom.Study(content).train()
print(f"trained on {len(training.summary['samples'])} runs: {training.summary['nodal_coordinates']} nodal coordinates as {training.order} unknowns")

for mass1, mass2 in ((0.2642, 0.15), (0.2, 0.18)):
    rom = lissom.Rom(training.file, set={"mass1": mass1, "mass2": mass2})
    small = rom.simulate().sensors["tip.y"]
    full = lissom.simulate(content, set={"bodies.upper.mass": mass1, "bodies.lower.mass": mass2}).sensors["tip.y"]
    print(f"masses {mass1}, {mass2} kg: relative error of the tip's y {np.linalg.norm(small - full) / np.linalg.norm(full):.1e}")

fall = solve_ivp(rom.rhs, (0, 1.3), rom.x0, jac=rom.jac, method="BDF", rtol=1e-6, atol=1e-9)
print(f"by solve_ivp: the tip ends at y = {rom.sensors(1.3, fall.y[:, -1])['tip.y'][0]:.4f} m, by HHT with 1 ms at y = {small[-1]:.4f} m")
try:
    lissom.Rom(training.file, set={"mass1": 0.6}, strict=True)
except lissom.InputError as problem:
    print(f"outside: {problem}")
