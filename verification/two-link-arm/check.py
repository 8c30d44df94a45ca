"""Inverse dynamics of a two-link arm against the closed form of every textbook."""

import numpy as np

from support import BLACK, BLUE, ORANGE, error_axes

TITLE = "Inverse dynamics of a two-link arm"
G, L1, L2 = 9.81, 1.0, 0.8
M1, C1, I1 = 4.0, 0.45 + 0.02j, 0.36
M2, C2, I2 = 5.0, 0.5 - 0.03j, 0.32


def closed_form(t):
    """Torques, hand (position, velocity, acceleration) and force of the shoulder on the arm, with complex numbers as vectors."""
    q1, q2 = 0.8 * np.sin(2 * t) + 0.3 * t**2, 1.2 * (1 - np.cos(3 * t))
    w1, w2 = 1.6 * np.cos(2 * t) + 0.6 * t, 3.6 * np.sin(3 * t)
    a1, a2 = -3.2 * np.sin(2 * t) + 0.6, 10.8 * np.cos(3 * t)
    # absolute angles of the fore link
    q, w, a = q1 + q2, w1 + w2, a1 + a2
    u, v = np.exp(1j * q1), np.exp(1j * q)

    def point(on_upper, on_fore):
        return (on_upper * u + on_fore * v, 1j * (w1 * on_upper * u + w * on_fore * v),
                (1j * a1 - w1**2) * on_upper * u + (1j * a - w**2) * on_fore * v)

    r1, _, b1 = point(C1, 0)
    r2, _, b2 = point(L1, C2)
    f1, f2 = M1 * (b1 + 1j * G), M2 * (b2 + 1j * G)

    def moment(arm, force):
        return (np.conj(arm) * force).imag

    # Newton and Euler of the fore link about the elbow, and of both about the shoulder
    elbow = I2 * a + moment(C2 * v, f2)
    shoulder = I1 * a1 + I2 * a + moment(r1, f1) + moment(r2, f2)
    return shoulder, elbow, point(L1, L2), f1 + f2


def check(problem):
    s, report = problem.simulate()
    t = s["t"]
    shoulder, elbow, hand, force = closed_form(t)
    found = {"shoulder": s["shoulder drive.tz"], "elbow": s["elbow drive.tz"]}

    figure, (left, right) = problem.figure()
    for name, exact, colour in (("shoulder", shoulder, BLUE), ("elbow", elbow, ORANGE)):
        left.plot(t, exact, color=BLACK, lw=2.5, alpha=0.3)
        left.plot(t, found[name], color=colour, lw=1, label=name)
        error_axes(right, t, found[name] - exact, name, color=colour)
    left.set_xlabel("t [s]"), left.set_ylabel("torque [N m]"), left.legend(fontsize=8)
    right.set_xlabel("t [s]"), right.set_ylabel("error [N m]"), right.legend(fontsize=8)
    problem.save(figure)

    # positions, velocities and accelerations are solved for one after the other at every sample: nothing is integrated, and
    # only rounding and Newton's tolerance are left
    problem.row("torque of the shoulder", shoulder, found["shoulder"], 2e-12, "closed form", "N m")
    problem.row("torque of the elbow", elbow, found["elbow"], 2e-12, "closed form", "N m")
    for name, exact, unit in zip(("hand", "hand velocity", "hand acceleration"), hand, ("m", "m/s", "m/s2")):
        problem.row(name, np.stack([exact.real, exact.imag]), np.stack([s[f"{name}.x"], s[f"{name}.y"]]), 2e-12, "closed form", unit)
    problem.row("force of the shoulder", np.stack([force.real, force.imag]), np.stack([s["shoulder force.fx"], s["shoulder force.fy"]]),
                2e-12, "closed form", "N")
