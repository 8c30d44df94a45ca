"""Flexible slider-crank: the deflection in the middle of the rod against sine modes, and against a geometrically exact rod."""

import numpy as np
from scipy.integrate import solve_ivp

from exact_beam import ExactBeam
from support import BLACK, BLUE, ORANGE, RED, error_axes

TITLE = "Slider-crank with an elastic rod (Jonker)"
R, L, W, D, E, RHO = 0.15, 0.3, 150.0, 0.006, 2e11, 7870.0
RHO_A, EI = RHO * np.pi * D**2 / 4, E * np.pi * D**4 / 64
SLIDER = RHO_A * L / 2
# rotary inertia and shear (k = 5/6, nu = 0) of a mode with wave number k: both slow it down
H2 = D**2 / 16


def rigid(t):
    """Rates of the rod's angle, and the acceleration of the crank pin across the rod."""
    s, c = np.sin(W * t), np.cos(W * t)
    sine = -R * s / L
    cosine = np.sqrt(1 - sine**2)
    rate = -R * W * c / (L * cosine)
    second = (R * W**2 * s / L + rate**2 * sine) / cosine
    ax, ay = -R * W**2 * c, -R * W**2 * s
    return rate, second, -ax * sine + ay * cosine


def linear(t, modes=5):
    """w(L/2): rho A (w'' - phi'^2 w + x phi'' + a) + E I w'''' = 0 in sines, pinned at both ends of the chord. The axial force
    has no part in it, nor has the slider."""
    k = np.arange(1, modes + 1) * np.pi / L
    squares = EI * k**4 / RHO_A / (1 + H2 * k**2 * (1 + 2 * 6 / 5))
    # int x sin, int sin
    first, zeroth = -L * np.cos(k * L) / k, (1 - np.cos(k * L)) / k

    def rates(time, y):
        rate, second, across = rigid(time)
        f = (rate**2 - squares) * y[:modes] - 2 / L * (second * first + across * zeroth)
        return np.concatenate([y[modes:], f])

    y = solve_ivp(rates, (0, t[-1]), np.zeros(2 * modes), "DOP853", t, rtol=1e-9, atol=1e-12).y
    return np.sin(k * L / 2) @ y[:modes]


def exact(t):
    """w(L/2) of the geometrically exact rod, pinned at the crank, with the slider's mass at its tip, which keeps y = 0."""
    beam = ExactBeam(L, E * np.pi * D**2 / 4, EI, RHO_A, RHO_A * H2, 6, 1, clamped=False)
    k = len(beam.K)

    def rates(time, y):
        q, v = y[:k], y[k:]
        root = -R * W**2 * np.array([np.cos(W * time), np.sin(W * time)])
        M, f = beam.terms(q, v, (0, 0, 0), root)
        Jx, Jy, bx, by = beam.line(beam.to["tip"], q, v, (0, 0, 0))
        f -= SLIDER * Jx[0] * (bx[0] + root[0])
        A = np.zeros((k + 1, k + 1))
        A[:k, :k], A[:k, k], A[k, :k] = M + SLIDER * np.outer(Jx, Jx), Jy, Jy
        # y of the tip would creep away by the errors of the solver: drawn back in 1 ms
        gap = R * np.sin(W * time) + beam.place("tip", q)[1]
        speed = R * W * np.cos(W * time) + Jy[0] @ v
        right = -by[0] - root[1] - 2e3 * speed - 1e6 * gap
        return np.concatenate([v, np.linalg.solve(A, np.append(f, right))[:k]])

    start = np.zeros(2 * k)
    start[k] = -R * W / L
    q = solve_ivp(rates, (0, t[-1]), start, "DOP853", t, rtol=1e-6, atol=1e-9).y[:k]
    (x, y), (X, Y) = beam.place("middle", q), beam.place("tip", q)
    return (X * y - Y * x) / np.hypot(X, Y)


def middle(s):
    """Distance of the middle from the line between crank pin and slider, positive to the left of it."""
    ax, ay = R * np.cos(W * s["t"]), R * np.sin(W * s["t"])
    dx, dy = s["slider.x"] - ax, -ay
    return (dx * (s["middle.y"] - ay) - dy * (s["middle.x"] - ax)) / np.hypot(dx, dy)


def pieces(problem, n):
    """The study with the rod made of n bodies."""
    text = (problem.folder / "study.toml").read_text()
    begin, end = text.index("[bodies.rod1]"), text.index("[bodies.slider]")
    body = text[begin:end].replace("count = 8", "count = 4")
    bodies, joints = "", ""
    for k in range(1, n + 1):
        x = (k - 1) * L / n
        bodies += (body.replace("rod1", f"rod{k}").replace("piece-1.geo", str(problem.folder / f"piece-{n}.geo"))
                   .replace("[0.15, 0, 0]", f"[{0.15 + x!r}, 0, 0]").replace("[0, 22.5, 0]", f"[0, {22.5 - 75 * x!r}, 0]"))
        if k > 1:
            joints += f'[[joints]]\nname = "clamp{k}"\nkind = "fixed"\nbetween = ["rod{k - 1}.tip", "rod{k}.root"]\n\n'
    rest = text[end:].replace("rod1.tip", f"rod{n}.tip").replace("rod1.middle", f"rod{n // 2}.tip")
    path = problem.out / f"pieces-{n}.toml"
    path.write_text(text[:begin] + bodies + rest.replace("[[sensors]]", joints + "[[sensors]]", 1))
    return path


def check(problem):
    found = {1: problem.simulate()[0]}
    t = found[1]["t"]
    for n in (2, 4):
        found[n] = problem.simulate(study=pieces(problem, n))[0]
    w = {n: middle(s) for n, s in found.items()}
    flat, true = linear(t), exact(t)

    figure, (left, right) = problem.figure()
    turn = W * t / (2 * np.pi)
    left.plot(turn, flat / L, color=BLACK, lw=3, alpha=0.2, label="sines, no axial force")
    left.plot(turn, true / L, color=BLACK, lw=1.5, ls="--", label="geometrically exact")
    for n, colour in ((1, RED), (2, ORANGE), (4, BLUE)):
        left.plot(turn, w[n] / L, color=colour, lw=1, label=f"{n} FFRF bod{'y' if n == 1 else 'ies'}")
        error_axes(right, turn, (w[n] - (flat if n == 1 else true)) / L,
                   f"{n}, to {'sines' if n == 1 else 'exact'}", color=colour)
    left.set_xlabel("turns of the crank"), left.set_ylabel("w / L in the middle"), left.legend(fontsize=7)
    right.set_xlabel("turns of the crank"), right.set_ylabel("difference / L"), right.legend(fontsize=7)
    problem.save(figure)

    problem.row("deflection, 1 body", flat, w[1], 5e-3, "sine modes, no axial force", "m")
    for n, tolerance in ((2, 0.09), (4, 0.025)):
        problem.row(f"deflection, {n} bodies", true, w[n], tolerance, "geometrically exact rod", "m")
    problem.beyond("deflection, 1 body: wrong by at least", np.abs(w[1] - true).max() / np.abs(true).max(), 0.2, "geometrically exact rod")
