"""A suspension corner as ten unknowns, driven over roads that it was not trained on, by Lissom and by SciPy.

Trained on a bump and on a stop in a bend, the model gets the loads of other cases of the study: `with_study` takes them, and the wheel is compared
with that of the full mechanism. How far it is from its training the model knows itself. Dampers make it stiff: SciPy's Radau uses the exact
Jacobian.

Prints:

    6 bodies, 25968 nodal coordinates: 10 unknowns, first vibration 119.5 Hz
    kerb: wheel moves 25.2 mm, off by 1.0 um at most; distance from the training 2.3
    overload: wheel moves 69.8 mm, off by 47.1 um at most; distance from the training 77
    warned: the motion leaves what the model was trained on at t = 0.144 s ...
    kerb by solve_ivp: 1312 steps, at the end the wheel is <1e-7 m from Lissom's
"""
import pathlib
import warnings

import numpy as np
from scipy.integrate import solve_ivp

import lissom

HERE = pathlib.Path(__file__).resolve().parent
warnings.simplefilter("ignore", lissom.Warning)  # printed below
study = lissom.Study(HERE / "study.toml", set={"train.reconstruct": False})  # the study looks at the error of 14 orders
training = study.train(order=10)
rom = training.rom
size = sum(positions.size for positions in rom.nodes(rom.x0).values())
vibration = next(f for f in training.summary["system_frequencies_hz"] if f > 1)
print(f"{len(study.bodies)} bodies, {size} nodal coordinates: {rom.order} unknowns, first vibration {vibration:.1f} Hz")

roads = {}
for case in ("kerb", "overload"):
    wheel = study.simulate(case).sensors["wheel"]  # (samples, 3), of the full mechanism
    roads[case] = rom.with_study(study, case=case)
    small = roads[case].simulate()
    off = np.linalg.norm(small.sensors["wheel"] - wheel, axis=1).max()
    distance = rom.distance_from_training(np.vstack([small.q.T, small.v.T])).max()
    moved = np.linalg.norm(wheel, axis=1).max()
    print(f"{case}: wheel moves {1e3 * moved:.1f} mm, off by {1e6 * off:.1f} um at most; distance from the training {distance:.2g}")
print("warned:", small.warnings[0])

kerb = roads["kerb"]
t, x, steps = 0.0, kerb.x0, 0
for end in [*(b for b in kerb.break_times if 0 < b < 0.4), 0.4]:
    run = solve_ivp(kerb.rhs, (t, end), x, jac=kerb.jac, method="Radau", rtol=1e-5, atol=1e-8)
    t, x, steps = end, run.y[:, -1], steps + len(run.t) - 1
off = np.linalg.norm(kerb.sensors(t, x)["wheel"][0] - kerb.simulate().sensors["wheel"][-1])
print(f"kerb by solve_ivp: {steps} steps, at the end the wheel is {off:.0e} m from Lissom's")
