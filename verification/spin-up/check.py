"""Spin-up of a flexible beam: one FFRF body, several clamped together, ANCF elements, the linear theory by hand, and the exact beam."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from exact_beam import ExactBeam, ramp
from support import BLACK, BLUE, GREEN, ORANGE, PINK, RED, SKY, error_axes

TITLE = "Spin-up of a rotating flexible beam"

L, EA, EI, RHO_A, RHO_I = 10.0, 2.8e7, 1.4e4, 1.2, 6e-4

BODY = """
[bodies.beam{k}]
mesh = "{mesh}"
material = {{ E = 4.666666666666667e9, nu = 0, rho = 200 }}
position = [{x!r}, 0, 0]
[[bodies.beam{k}.spiders]]
name = "root"
set = "root"
[[bodies.beam{k}.spiders]]
name = "tip"
set = "tip"
[bodies.beam{k}.reduce]
interfaces = ["root", "tip"]
method = "fixed"
count = 2
residual_vectors = false
stress = false

[[joints]]
name = "{name}"
kind = "{kind}"
between = ["{first}", "beam{k}.root"]
axis = [0, 0, 1]
{motion}
"""


def pieces(problem, n):
    """The study of n bodies of equal length, clamped together."""
    motion = next(line for line in (problem.folder / "study.toml").read_text().splitlines() if line.startswith("motion"))
    text = f'title = "Spin-up: {n} bodies"\n'
    for k in range(1, n + 1):
        text += BODY.format(k=k, mesh=problem.folder / f"piece-{n}.geo", x=(k - 1) * L / n, name="hub" if k == 1 else f"clamp{k}",
                            kind="revolute" if k == 1 else "fixed", first="ground" if k == 1 else f"beam{k - 1}.tip",
                            motion=motion if k == 1 else "")
    text += f'\n[[sensors]]\nname = "tip"\nkind = "position"\nof = "beam{n}.tip"\n'
    text += "\n[simulate]\nend = 20\nstep = 0.005\nsample = 0.02\nrho_inf = 0.8\n"
    path = problem.out / f"pieces-{n}.toml"
    path.write_text(text)
    return path


def in_hub_frame(s, speed):
    psi = np.array([ramp(t, speed)[0] for t in s["t"]])
    return (s["tip.x"] * np.cos(psi) + s["tip.y"] * np.sin(psi) - L, s["tip.y"] * np.cos(psi) - s["tip.x"] * np.sin(psi))


def ritz(order=8):
    """K, M, load, softening with a frame that is clamped at the root and with the mean-axis frame, tip; u = sum a_i x^(i + 2)."""
    x, w = np.polynomial.legendre.leggauss(30)
    x, w = L * (1 + x) / 2, L * w / 2
    powers = np.arange(2, 2 + order)
    U = (x[:, None] / L)**powers
    U2 = powers * (powers - 1) * (x[:, None] / L)**(powers - 2) / L**2
    K = EI * U2.T @ (w[:, None] * U2)
    M = RHO_A * U.T @ (w[:, None] * U)
    # the mean axis is turned by phi = 12 / L^3 int (x - L/2) u against the clamped one
    phi = 12 / L**3 * ((x - L / 2) * w) @ U
    D = U - np.outer(x, phi)
    return K, M, RHO_A * (w * x) @ U, M, RHO_A * D.T @ (w[:, None] * D), np.ones(order)


def linear(t, speed, mean_axis):
    """Tip deflection of the linear theory: M a'' + (K - Omega^2 S) a = -Omega' load, in natural modes of the clamped beam."""
    K, M, load, clamped, mean, tip = ritz()
    squares, V = eigh(K, M)
    squares, V = squares[:4], V[:, :4]
    S, load, tip = V.T @ (mean if mean_axis else clamped) @ V, V.T @ load, V.T @ tip

    def rates(time, y):
        _, rate, acceleration = ramp(time, speed)
        return np.concatenate([y[4:], -squares * y[:4] + rate**2 * S @ y[:4] - acceleration * load])

    return tip @ solve_ivp(rates, (0, t[-1]), np.zeros(8), "Radau", t, rtol=1e-8, atol=1e-10).y[:4]


def check(problem):
    t = np.linspace(0, 20, 1001)
    beam = ExactBeam(L, EA, EI, RHO_A, RHO_I, 4, 1)
    exact = {speed: beam.spin(t, speed) for speed in (0.6, 6.0)}
    slow = in_hub_frame(problem.simulate("slow")[0], 0.6)[1]
    found = {1: in_hub_frame(problem.simulate()[0], 6.0)}
    for n in (2, 4, 8):
        found[n] = in_hub_frame(problem.simulate(study=pieces(problem, n))[0], 6.0)
    beams = {n: in_hub_frame(problem.simulate(None if n == 8 else str(n), "beam.toml")[0], 6.0) for n in (2, 4, 8)}
    mean, clamped = linear(t, 6.0, True), linear(t, 6.0, False)

    figure, (left, right) = problem.figure()
    left.plot(t, exact[6.0][1], color=BLACK, lw=3, alpha=0.3, label="geometrically exact")
    for n, colour in ((1, RED), (2, ORANGE), (4, SKY), (8, BLUE)):
        left.plot(t, found[n][1], color=colour, lw=1, label=f"{n} FFRF bod{'y' if n == 1 else 'ies'}")
        error_axes(right, t, found[n][1] - exact[6.0][1], f"{n}", color=colour)
    left.plot(t, beams[8][1], color=PINK, lw=1, ls=(0, (4, 3)), label="8 ANCF elements")
    for n, style in ((4, ":"), (8, "-")):
        error_axes(right, t, beams[n][1] - exact[6.0][1], f"{n} ANCF", color=PINK, ls=style)
    left.plot(t, mean, color=RED, lw=1, ls=":", label="linear, mean axis")
    left.plot(t, np.where(np.abs(clamped) < 2, clamped, np.nan), color=GREEN, lw=1, ls="--", label="linear, clamped frame")
    left.set_ylim(-1.1, 0.3)
    left.set_xlabel("t [s]"), left.set_ylabel("tip deflection [m]"), left.legend(fontsize=7)
    right.set_xlabel("t [s]"), right.set_ylabel("error of the tip deflection [m]"), right.legend(fontsize=8)
    problem.save(figure)

    K, M, _, _, S, _ = ritz()
    bending = np.sqrt(eigh(K, M, eigvals_only=True)[0])
    critical = 1 / np.sqrt(eigh(S, K, eigvals_only=True)[-1])
    source = "geometrically exact beam"
    problem.row("first bending mode of the reference", 3.5160153 * np.sqrt(EI / RHO_A) / L**2, bending, 1e-6, "clamped beam", "rad/s")
    # of Omega^2 / omega_1^2 = 0.025 what the linear theory of the mean-axis frame misses: it softens where the beam stiffens
    problem.row("slow (0.6 rad/s), tip, 1 body", exact[0.6][1], slow, 8e-3, source, "m")
    problem.row("slow, tip, 1 body", linear(t, 0.6, True), slow, 5e-5, "linear, mean axis", "m")
    problem.row("tip, 1 body", mean, found[1][1], 1e-2, "linear, mean axis", "m")
    problem.beyond("tip, 1 body: wrong by at least", np.abs(found[1][1] - exact[6.0][1]).max(), 0.15, source, "m")
    for n, tolerance in ((2, 0.2), (4, 0.055), (8, 0.015)):
        problem.row(f"tip, {n} bodies", exact[6.0][1], found[n][1], tolerance, source, "m")
    errors = [np.abs(found[n][1] - exact[6.0][1]).max() for n in (4, 8)]
    problem.row("order in the length of the bodies", 2, np.log2(errors[0] / errors[1]), 0.1, "theory")
    problem.row("largest deflection, 8 bodies", exact[6.0][1].min(), found[8][1].min(), 6e-3, source, "m")
    problem.row("stretch at 6 rad/s, 8 bodies", 36 * RHO_A * L**3 / (3 * EA), found[8][0][t > 16].mean(), 1.5e-3, "closed form", "m")
    # the reference's own error is 5.5e-5 m (a fifth polynomial of bending); no rotary inertia: 1.2e-5 m
    for n, tolerance in ((2, 9e-2), (4, 4e-3), (8, 2e-4)):
        problem.row(f"tip, {n} ANCF elements", exact[6.0][1], beams[n][1], tolerance, source, "m")
    problem.row("largest deflection, 8 ANCF elements", exact[6.0][1].min(), beams[8][1].min(), 1e-4, source, "m")
    # it still swings by 3.6 mm after 16 s, which takes 3.5e-7 m off the mean
    problem.row("stretch at 6 rad/s, 8 ANCF elements", 36 * RHO_A * L**3 / (3 * EA), beams[8][0][t > 16].mean(), 1.5e-3, "closed form", "m")
    # one body goes on to its own critical speed and flies apart there
    below, end = in_hub_frame(problem.simulate("below")[0], 9.0)[1], problem.simulate("above", fails=True)[0]["t"][-1]
    problem.row("tip, 1 body, 9 rad/s", linear(t, 9.0, True), below, 3.5e-2, "linear, mean axis", "m")
    # the deflection is metres by then, and how it grows depends on what perturbs it: 9.96 and 10.09 in two versions of the program
    problem.row("1 body: flies apart at", critical, ramp(end, 12.0)[1], 4e-2, "linear, mean axis", "rad/s")
