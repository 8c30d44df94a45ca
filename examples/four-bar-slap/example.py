"""The four-bar as an ODE of six unknowns, integrated by SciPy.

The mechanism is simulated and reduced as a whole; the small model is a right-hand side with an exact Jacobian, which solve_ivp takes as it is. From
one kink of the load to the next the explicit method keeps its high order. The generalized-alpha method of Lissom is of second order: its error falls
to a quarter with half the step, and it needs a tenth of the steps, since the highest frequency, 31 kHz, does not bind it.

Prints:

    4401 nodal coordinates as 6 unknowns: epsilon 4.8e-16 m2, 4 would do
    jac against finite differences: <1e-8
    loaded node by SciPy: y = 0.072203 m after 28878 steps
    Lissom, 4000 steps: off by 1.7e-09 m
    Lissom, 2000 steps: off by 6.8e-09 m
    distance from the training: 1.0 under its own load, 376 under the reversed one; 3 is the limit
"""
import pathlib
import warnings

import numpy as np
from scipy.integrate import solve_ivp

import lissom

HERE = pathlib.Path(__file__).resolve().parent
END = 0.2
study = lissom.Study(HERE / "study.toml", set={"train.max_order": 8, "cases": []})  # 20 orders are looked at in the study
training = study.train(order=6)
epsilon = {one["m"]: one["epsilon"] for one in training.summary["orders"]}
rom = training.rom
size = sum(positions.size for positions in rom.nodes(rom.x0).values())
print(f"{size} nodal coordinates as {rom.order} unknowns: epsilon {epsilon[6]:.1e} m2, {training.summary['proposed']} would do")

# central differences of rhs at the start with some speed
x = rom.x0 + np.linspace(0, 1, 2 * rom.order) * 1e-3
steps = 1e-7 * np.eye(2 * rom.order)
differences = (rom.rhs(0.05, x[:, None] + steps) - rom.rhs(0.05, x[:, None] - steps)) / 2e-7  # many states at once
print(f"jac against finite differences: {np.abs(rom.jac(0.05, x) - differences).max() / np.abs(differences).max():.0e}")

# from one kink of the load to the next
t, x, steps = 0.0, rom.x0, 0
for end in [*(b for b in rom.break_times if 0 < b < END), END]:
    run = solve_ivp(rom.rhs, (t, end), x, method="DOP853", rtol=1e-8, atol=1e-10)
    t, x, steps = end, run.y[:, -1], steps + len(run.t) - 1
top = rom.sensors(t, x)["top.y"][0]
print(f"loaded node by SciPy: y = {top:.6f} m after {steps} steps")
for step in (5e-5, 1e-4):
    ours = rom.simulate(set={"simulate.step": step})
    print(f"Lissom, {ours.summary['steps']} steps: off by {abs(ours.sensors['top.y'][-1] - top):.1e} m")


def distance(run):
    return rom.distance_from_training(np.vstack([run.q.T, run.v.T])).max()  # of states (2 m, samples)


warnings.simplefilter("ignore", lissom.Warning)  # it would say the same
other = rom.with_study(lissom.Study(HERE / "study.toml", set={"loads.push.force": [0, -5, 0]}))
print(f"distance from the training: {distance(ours):.1f} under its own load, {distance(other.simulate()):.0f} under the reversed one; 3 is the limit")
