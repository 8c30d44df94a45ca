"""A05: the stiff flyball governor against three coordinates: turn of the shaft, angle of the rods, height of the slider."""

import numpy as np
from scipy.integrate import solve_ivp

from support import BLACK, BLUE, ORANGE, SKY, error_axes

TITLE = "Stiff flyball governor (IFToMM A05)"
G, K, C, L0 = 9.81, 8e5, 4e4, 0.5
ROD, BALL, SLIDER, R0 = 0.3, 5.0, 3.0, 0.05
ALONG, ACROSS = 5e-6, 0.3 * (1 + 1e-4) / 12


def spin_inertia(a):
    """J(alpha) about the shaft, and its derivative; alpha below the horizontal."""
    c, s = np.cos(a), np.sin(a)
    J = 5e-6 + 5e-3 + 2 * (ROD * (R0 + 0.5 * c)**2 + BALL * (R0 + c)**2 + ALONG * s**2 + ACROSS * c**2)
    D = 2 * (-ROD * s * (R0 + 0.5 * c) - 2 * BALL * s * (R0 + c) + 2 * (ALONG - ACROSS) * s * c)
    return J, D


MOMENTUM = spin_inertia(np.radians(30))[0] * 2 * np.pi


def spring(y):
    """Push along a spring, and the derivatives of its length by alpha and s."""
    a, s, da, ds = y[:4]
    X, Z = 0.5 * np.cos(a), 1 - 0.5 * np.sin(a) - s
    d = np.hypot(X, Z)
    by_a, by_s = (-0.5 * X * np.sin(a) - 0.5 * Z * np.cos(a)) / d, -Z / d
    return K * (d - L0) + C * (by_a * da + by_s * ds), by_a, by_s


def rates(_, y):
    """Lagrange's equations of alpha and s; the momentum of the shaft is constant, J psi' = H."""
    a, s, da, ds = y[:4]
    J, D = spin_inertia(a)
    pull, by_a, by_s = spring(y)
    inertia = 2 * (ROD / 4 + ACROSS + BALL)
    force = 0.5 * D * (MOMENTUM / J)**2 + 2 * (ROD / 2 + BALL) * G * np.cos(a) - 2 * pull * by_a
    return [da, ds, force / inertia, -G - 2 * pull * by_s / SLIDER]


def check(problem):
    runs = {name: problem.simulate(name) for name in (None, "half", "bdf")}
    t = runs[None][0]["t"]
    y = solve_ivp(rates, (0, t[-1]), [np.radians(30), 0.5, 0, 0], "Radau", t, rtol=1e-11, atol=1e-13).y
    a, s = y[:2]
    spin = MOMENTUM / spin_inertia(a)[0]
    pull = spring(y)[0]

    figure, (left, right) = problem.figure()
    left.plot(t, s, color=BLACK, lw=2.5, alpha=0.3, label="three coordinates")
    left.plot(t, runs[None][0]["slider.z"], color=BLUE, lw=1, label="lissom")
    left.set_xlabel("t [s]"), left.set_ylabel("slider [m]"), left.legend(fontsize=8)
    errors = {name: np.abs(r["slider.z"] - s) for name, (r, _) in runs.items()}
    for name, label, colour in ((None, "generalized-alpha, 1 ms", BLUE), ("half", "0.5 ms", SKY), ("bdf", "bdf", ORANGE)):
        error_axes(right, t, errors[name], label, color=colour)
    right.set_xlabel("t [s]"), right.set_ylabel("error of s [m]"), right.legend(fontsize=8)
    problem.save(figure)

    source = "three coordinates, 1e-11"
    r, report = runs[None]
    problem.row("slider over 10 s, step 1 ms", s, r["slider.z"], 1e-4, source, "m")
    problem.row("speed of the shaft, step 1 ms", spin, r["shaft.wz"], 6e-5, source, "rad/s")
    # the springs are free at the start and take up their forces within 0.12 ms, an eighth of a step: what the integrator makes
    # of that dies out within 20 ms (0.3 % of the force at 10 ms, 1e-5 at 20 ms; with half the step 2e-7 at 10 ms)
    late = t > 0.025
    problem.row("force of a spring after 0.03 s, step 1 ms", pull[late], r["spring.value"][late], 1e-4, source, "N")
    problem.row("order of the integrator", 2, np.log2(errors[None].max() / errors["half"].max()), 0.005, "theory")
    problem.row("slider over 10 s, bdf", s, runs["bdf"][0]["slider.z"], 3e-5, source, "m")
    problem.bound("energy less what the dampers took, over its largest", report["energy_drift"], 1e-5, "balance")
