"""A01: the pendulum against Jacobi's elliptic functions."""

import numpy as np
from scipy.special import ellipj, ellipk

from support import BLACK, BLUE, ORANGE, SKY, error_axes

TITLE = "Simple pendulum (IFToMM A01)"
G, M, L, J = 9.81, 1.0, 1.0, 1e-9


def exact(t):
    """Position and pivot force: sin(theta/2) = k sn(K - w t), theta from the vertical, -90 degrees at the start."""
    w, k = np.sqrt(M * G * L / (M * L**2 + J)), np.sin(np.pi / 4)
    sn, cn, dn, _ = ellipj(ellipk(k**2) - w * t, k**2)
    theta = -2 * np.arcsin(k * sn)
    rate = 2 * k * w * cn
    acceleration = -w**2 * np.sin(theta)
    x, y = L * np.sin(theta), -L * np.cos(theta)
    ax = L * (acceleration * np.cos(theta) - rate**2 * np.sin(theta))
    ay = L * (acceleration * np.sin(theta) + rate**2 * np.cos(theta))
    return x, y, M * ax, M * (ay + G)


def check(problem):
    runs = {name: problem.simulate(name) for name in (None, "half", "rk")}
    t = runs[None][0]["t"]
    x, y, fx, fy = exact(t)
    figure, (left, right) = problem.figure()
    left.plot(t, x, color=BLACK, lw=2.5, alpha=0.3, label="exact")
    left.plot(t, runs[None][0]["P1.x"], color=BLUE, lw=1, label="x")
    left.plot(t, runs[None][0]["P1.y"], color=ORANGE, lw=1, label="y")
    left.set_xlabel("t [s]"), left.set_ylabel("P1 [m]"), left.legend(fontsize=8)
    errors = {}
    for name, label, colour in ((None, "generalized-alpha, 1 ms", BLUE), ("half", "0.5 ms", SKY), ("rk", "runge-kutta", ORANGE)):
        s = runs[name][0]
        errors[name] = np.hypot(s["P1.x"] - x, s["P1.y"] - y)
        error_axes(right, t, errors[name], label, color=colour)
    right.set_xlabel("t [s]"), right.set_ylabel("error of P1 [m]"), right.legend(fontsize=8)
    problem.save(figure)

    source = "elliptic functions"
    s, report = runs[None]
    # an error of the step, as the order shows: the clock is slow by 2.8e-6 with 1 ms, which explains all but 3 % of it
    problem.row("P1 over 10 s, step 1 ms", np.stack([x, y]), np.stack([s["P1.x"], s["P1.y"]]), PATH, source, "m")
    problem.row("order of the integrator", 2, np.log2(errors[None].max() / errors["half"].max()), 0.005, "theory")
    problem.row("pivot force, step 1 ms", np.stack([fx, fy]), np.stack([s["pivot.fx"], s["pivot.fy"]]), FORCE, source, "N")
    problem.bound("change of the energy, over 9.81 J", report["energy_drift"], ENERGY, "no losses")
    r = runs["rk"][0]
    problem.row("P1 over 10 s, runge-kutta", np.stack([x, y]), np.stack([r["P1.x"], r["P1.y"]]), 2e-9, source, "m")


# twice what is measured
PATH, FORCE, ENERGY = 2.5e-4, 2.5e-4, 1e-5
