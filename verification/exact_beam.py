"""A geometrically exact planar beam as a spectral method, for references: no finite elements, no small angles.

The angle of the cross-section and the stretch are polynomials of s, theta = psi(t) + sum a_i p_i, e = sum b_i P_i (Legendre;
p_i = (1 + x) P_i of a clamped root, P_i of a pinned one), and the centre line is r(s) = r_0(t) + int (1 + e) (cos, sin)(theta) ds,
by Gauss points. Shear is left out: it is (h / L)^2 of the bending.
"""

import numpy as np
from numpy.polynomial import Legendre
from scipy.integrate import solve_ivp


def ramp(t, speed, T=15.0):
    """psi, psi', psi'' of the smooth ramp to `speed` within T."""
    if t < T:
        k = 2 * np.pi / T
        return (speed / T * (t**2 / 2 + (np.cos(k * t) - 1) / k**2), speed / T * (t - np.sin(k * t) / k),
                speed / T * (1 - np.cos(k * t)))
    return speed * (t - T / 2), speed, 0.0


class ExactBeam:
    def __init__(self, length, EA, EI, rho_A, rho_I, bending, stretch, clamped=True, points=16):
        self.length, self.rho_A, self.rho_I, self.n = length, rho_A, rho_I, bending
        x, w = np.polynomial.legendre.leggauss(points)
        self.w = length * w / 2
        basis = [Legendre.basis(k) for k in range(points)]
        shapes = [basis[i] * Legendre([1, 1]) if clamped else basis[i] for i in range(bending)]
        self.P = np.array([p(x) for p in shapes]).T
        curvature = np.array([p.deriv()(x) * 2 / length for p in shapes]).T
        self.Q = np.array([basis[i](x) for i in range(stretch)]).T.reshape(points, stretch)
        # integrals from 0 to x of polynomials through the Gauss points
        V = np.array([b(x) for b in basis]).T
        self.to = {at: self.integral(basis, V, y) for at, y in (("points", x), ("middle", [0.0]), ("tip", [1.0]))}
        self.K = np.zeros((bending + stretch,) * 2)
        self.K[:bending, :bending] = EI * curvature.T @ (self.w[:, None] * curvature)
        self.K[bending:, bending:] = EA * self.Q.T @ (self.w[:, None] * self.Q)

    def integral(self, basis, V, y):
        return np.array([b.integ(lbnd=-1)(np.array(y)) for b in basis]).T * self.length / 2 @ np.linalg.inv(V)

    def line(self, C, q, v, psi):
        """Jacobians (by q) and accelerations without q'' of r - r_0, at the ends of the integrals C."""
        n = self.n
        theta, g = psi[0] + self.P @ q[:n], 1 + self.Q @ q[n:]
        w, dg = psi[1] + self.P @ v[:n], self.Q @ v[n:]
        c, s = np.cos(theta), np.sin(theta)
        return (C @ np.hstack([-(g * s)[:, None] * self.P, c[:, None] * self.Q]),
                C @ np.hstack([(g * c)[:, None] * self.P, s[:, None] * self.Q]),
                C @ (-g * c * w**2 - 2 * s * w * dg - g * s * psi[2]), C @ (-g * s * w**2 + 2 * c * w * dg + g * c * psi[2]))

    def terms(self, q, v, psi, root):
        """M q'' = f; psi: the given part of the angle with its rates, root: acceleration of r_0."""
        Jx, Jy, bx, by = self.line(self.to["points"], q, v, psi)
        W = self.rho_A * self.w
        M = Jx.T @ (W[:, None] * Jx) + Jy.T @ (W[:, None] * Jy)
        M[:self.n, :self.n] += self.rho_I * self.P.T @ (self.w[:, None] * self.P)
        f = -Jx.T @ (W * (bx + root[0])) - Jy.T @ (W * (by + root[1])) - self.K @ q
        f[:self.n] -= self.rho_I * self.P.T @ self.w * psi[2]
        return M, f

    def place(self, at, q, psi=0.0):
        """r - r_0 at "middle" or "tip"."""
        theta, g = psi + self.P @ q[:self.n], 1 + self.Q @ q[self.n:]
        return self.to[at][0] @ (g * np.cos(theta)), self.to[at][0] @ (g * np.sin(theta))

    def spin(self, t, speed, rtol=1e-6):
        """Spin-up of the clamped beam: the tip in the frame of the hub less its place at rest, (axial, transverse)."""
        k = len(self.K)

        def rates(time, y):
            M, f = self.terms(y[:k], y[k:], ramp(time, speed), (0, 0))
            return np.concatenate([y[k:], np.linalg.solve(M, f)])

        q = solve_ivp(rates, (0, t[-1]), np.zeros(2 * k), "Radau", t, rtol=rtol, atol=rtol * 1e-2).y[:k]
        x, y = self.place("tip", q)
        return x - self.length, y
