"""A02: two four-bar windows against the motion of one parallelogram, one coordinate."""

import numpy as np
from scipy.integrate import solve_ivp

from support import BLACK, BLUE, ORANGE, error_axes

TITLE = "Two four-bar windows through singular positions (IFToMM A02)"
G = 9.81


def exact(t):
    """theta from the upright: T = (3/3 + 2) theta'^2 / 2, V = (3/2 + 2) g cos theta."""
    solution = solve_ivp(lambda _, y: [y[1], 3.5 * G * np.sin(y[0]) / 3], (0, t[-1]), [0.0, 1.0], "DOP853", t, rtol=1e-12, atol=1e-13)
    return np.sin(solution.y[0]), np.cos(solution.y[0]), solution.y[1]


def check(problem):
    s, report = problem.simulate()
    h, _ = problem.simulate("half")
    t = s["t"]
    x, y, rate = exact(t)
    figure, (left, right) = problem.figure()
    left.plot(t, x, color=BLACK, lw=2.5, alpha=0.3, label="one coordinate")
    left.plot(t, s["B0.x"], color=BLUE, lw=1, label="x")
    left.plot(t, s["B0.y"], color=ORANGE, lw=1, label="y")
    left.set_xlabel("t [s]"), left.set_ylabel("B0 [m]"), left.legend(fontsize=8)
    errors = [np.hypot(r["B0.x"] - x, r["B0.y"] - y) for r in (s, h)]
    error_axes(right, t, errors[0], "step 1 ms", color=BLUE)
    error_axes(right, t, errors[1], "step 0.5 ms", color=ORANGE)
    for k in np.flatnonzero(y[1:] * y[:-1] < 0):
        right.axvline(t[k], color="0.8", lw=0.8, zorder=0)
    right.set_xlabel("t [s]; grey: singular positions"), right.set_ylabel("error of B0 [m]"), right.legend(fontsize=8)
    problem.save(figure)

    problem.row("singular positions passed", int(np.sum(y[1:] * y[:-1] < 0)),
                int(np.sum(s["B0.y"][1:] * s["B0.y"][:-1] < 0)), 0, "one coordinate")
    # as with the pendulum: an error of the step, twice what is measured
    problem.row("B0 over 10 s", np.stack([x, y]), np.stack([s["B0.x"], s["B0.y"]]), 4e-4, "one coordinate, 1e-12", "m")
    problem.row("order of the integrator", 2, np.log2(errors[0].max() / errors[1].max()), 0.005, "theory")
    problem.bound("windows stay parallelograms: |B2 - B0 - 2 m|", np.hypot(s["B2.x"] - s["B0.x"] - 2, s["B2.y"] - s["B0.y"]).max(),
                  1e-12, "geometry", "m")
    problem.bound("change of the energy, over its largest", report["energy_drift"], 2e-5, "no losses")
    problem.row("constraints left out as redundant", 6, len(report["redundant"]), 0, "3 of every closed planar loop")
