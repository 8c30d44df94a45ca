"""A04: Bricard's mechanism against two angles and the relation between them, which is its loop closure."""

import numpy as np
from scipy.integrate import solve_ivp

from support import BLACK, BLUE, GREEN, ORANGE, SKY, Chain, error_axes

TITLE = "Bricard's mechanism, redundantly constrained (IFToMM A04)"

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]
# the loop is mapped onto itself by a third of a turn, so that P0, P2, P4 turn by p and P1, P3, P5 by r
SPREAD = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 0]], float)


def rod(a, b):
    along = np.abs(b - a)
    return 1.0, (a + b) / 2, np.diag(along * 0.01 / 6 + (1 - along) * 1.01 / 12)


CHAIN = Chain(zip(POINTS[:5], AXES[:5]), [rod(a, b) for a, b in zip(POINTS, POINTS[1:])], [0, -9.81, 0])


def rates(_, y):
    """The open chain of five rods under (1 + sin p)(1 + sin r) = 1."""
    q, v = y[:2], y[2:]
    M, c, _, _ = CHAIN.terms(SPREAD @ q, SPREAD @ v)
    (sp, sr), (cp, cr) = np.sin(q), np.cos(q)
    G = np.array([cp * (1 + sr), cr * (1 + sp)])
    gamma = -sp * (1 + sr) * v[0]**2 - sr * (1 + sp) * v[1]**2 + 2 * cp * cr * v[0] * v[1]
    K = np.zeros((3, 3))
    K[:2, :2], K[:2, 2], K[2, :2] = SPREAD.T @ M @ SPREAD, G, G
    return np.concatenate([v, np.linalg.solve(K, np.concatenate([-SPREAD.T @ c, [-gamma]]))[:2]])


def check(problem):
    runs = {name: problem.simulate(name) for name in (None, "half", "rk")}
    t = runs[None][0]["t"]
    y = solve_ivp(rates, (0, t[-1]), np.zeros(4), "DOP853", t, rtol=1e-11, atol=1e-12).y
    frames = [CHAIN.terms(SPREAD @ q, np.zeros(5))[2] for q in y[:2].T]
    P2 = np.array([f[1][0] @ POINTS[2] + f[1][1] for f in frames]).T
    P3 = np.array([f[2][0] @ POINTS[3] + f[2][1] for f in frames]).T
    closure = max(np.abs(np.concatenate([f[4][0] @ POINTS[5] + f[4][1] - POINTS[5], f[4][0] @ AXES[5] - AXES[5]])).max() for f in frames)

    def path(s, name):
        return np.stack([s[f"{name}.{k}"] for k in "xyz"])

    figure, (left, right) = problem.figure()
    for k, colour in ((0, BLUE), (1, ORANGE), (2, GREEN)):
        left.plot(t, P3[k], color=BLACK, lw=2.5, alpha=0.3)
        left.plot(t, path(runs[None][0], "P3")[k], color=colour, lw=1, label="xyz"[k])
    left.set_xlabel("t [s]"), left.set_ylabel("P3 [m]"), left.legend(fontsize=8)
    errors = {name: np.linalg.norm(path(s, "P3") - P3, axis=0) for name, (s, _) in runs.items()}
    for name, label, colour in ((None, "generalized-alpha, 1 ms", BLUE), ("half", "0.5 ms", SKY), ("rk", "runge-kutta", ORANGE)):
        error_axes(right, t, errors[name], label, color=colour)
    right.set_xlabel("t [s]"), right.set_ylabel("error of P3 [m]"), right.legend(fontsize=8)
    problem.save(figure)

    s, report = runs[None]
    source = "two angles and the loop's closure, 1e-11"
    problem.bound("reference: closure of the loop by its formula", closure, 2e-10, "geometry", "m")
    problem.row("degrees of freedom", 1, report["degrees_of_freedom"], 0, "Bricard 1897")
    problem.row("constraints left out as redundant", 1, len(report["redundant"]), 0, "Grübler counts 0")
    problem.row("P2 and P3 over 10 s, step 1 ms", np.stack([P2, P3]), np.stack([path(s, "P2"), path(s, "P3")]), 1.5e-5, source, "m")
    problem.row("order of the integrator", 2, np.log2(errors[None].max() / errors["half"].max()), 0.005, "theory")
    problem.row("P2 and P3 over 10 s, runge-kutta", np.stack([P2, P3]), np.stack([path(runs["rk"][0], n) for n in ("P2", "P3")]), 2e-9, source, "m")
    problem.bound("redundant constraint over 10 s, runge-kutta", runs["rk"][1]["constraint_drift"], 5e-11, "geometry", "m")
    problem.bound("change of the energy, over its largest", report["energy_drift"], 2e-6, "no losses")
