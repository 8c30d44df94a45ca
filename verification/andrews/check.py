"""A03: Andrews' squeezing mechanism against its own seven-angle equations, and against the printed answer at 0.03 s."""

import numpy as np
from scipy.integrate import solve_ivp

from support import BLACK, BLUE, ORANGE, SKY, error_axes

TITLE = "Andrews' squeezing mechanism (IFToMM A03)"

NAMES = ["beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"]
START = np.array([-0.0617138900142764496358948458001, 0, 0.455279819163070380255912382449, 0.222668390165885884674473185609,
                  0.487364979543842550225598953530, -0.222668390165885884674473185609, 1.23054744454982119249735015568])
# of the test set for IVP solvers, computed there with PSIDE at 1e-14: angles and their rates at t = 0.03 s
PRINTED = np.array([15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
                    0.5347301163226948, 1.048080741042263])
PRINTED_RATE = 1139.920302151208

B, C = np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
# mass and moment about the centre
BODIES = [(0.04325, 2.194e-6), (0.00365, 4.410e-7), (0.02373, 5.255e-6), (0.00706, 5.667e-7), (0.07050, 1.169e-5),
          (0.00706, 5.667e-7), (0.05498, 1.912e-5)]


# turned vectors: the angles that add up to the vector's turn, and the vector at turn zero
b, bt, g, pd, d, oe, e = [0], [0, 1], [2], [3, 4], [4], [5, 6], [6]
VECTORS = dict(OF=(b, (0.007, 0)), FE=(bt, (-0.028, 0)), BE=(g, (0, -0.035)), AG=(d, (0.04, 0)), GE=(pd, (0, -0.02)), AH=(e, (0, -0.04)),
               HE=(oe, (0.02, 0)), BD=(g, (0.02, -0.018)), c1=(b, (0.00092, 0)), c2=(bt, (-0.0115, 0)), c3=(g, (0.01043, -0.01874)),
               c4=(pd, (0, -0.00579)), c5=(d, (0.02308, 0.00916)), c6=(oe, (0.00579, 0)), c7=(e, (0.00449, -0.01228)))
# places as sums of vectors: seven centres of mass; E by four ways; D
PLACES = [["c1"], ["OF", "c2"], ["c3"], ["AG", "c4"], ["c5"], ["AH", "c6"], ["c7"],
          ["OF", "FE"], ["BE"], ["AG", "GE"], ["AH", "HE"], ["BD"]]
TURN = np.array([[k in angles for k in range(7)] for angles, _ in VECTORS.values()], float)
VECTOR = np.array([vector for _, vector in VECTORS.values()])
SUM = np.array([[name in place for name in VECTORS] for place in PLACES], float)
SPIN = TURN[[list(VECTORS).index(f"c{k}") for k in range(1, 8)]]
MASS, INERTIA = np.array(BODIES).T


def rates(_, y):
    """Accelerations from M q'' + G' lambda = f, G q'' = -gamma: index 1, no coordinate is special."""
    q, v = y[:7], y[7:]
    sine, cosine, w = np.sin(TURN @ q), np.cos(TURN @ q), TURN @ v
    along = np.stack([cosine * VECTOR[:, 0] - sine * VECTOR[:, 1], sine * VECTOR[:, 0] + cosine * VECTOR[:, 1]], 1)
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    # per place: Jacobian (2 x 7) and acceleration for q'' = 0
    J = np.stack([SUM @ (across[:, k, None] * TURN) for k in (0, 1)], 1)
    a = -SUM @ (w[:, None]**2 * along)
    Jc = J[:7].reshape(14, 7)
    M = Jc.T @ (np.repeat(MASS, 2)[:, None] * Jc) + SPIN.T @ (INERTIA[:, None] * SPIN)
    f = -Jc.T @ (np.repeat(MASS, 2) * a[:7].reshape(14))
    f[0] += 0.033
    arm = B + along[list(VECTORS).index("BD")] - C
    length = np.linalg.norm(arm)
    f -= J[11].T @ arm * 4530 * (length - 0.07785) / length
    G = np.concatenate([J[7] - J[k] for k in (8, 9, 10)])
    gamma = np.concatenate([a[7] - a[k] for k in (8, 9, 10)])
    K = np.zeros((13, 13))
    K[:7, :7], K[:7, 7:], K[7:, :7] = M, G.T, G
    return np.concatenate([v, np.linalg.solve(K, np.concatenate([f, -gamma]))[:7]])


def check(problem):
    runs = {name: problem.simulate(name) for name in (None, "half", "rk")}
    t = runs[None][0]["t"]
    reference = solve_ivp(rates, (0, t[-1]), np.concatenate([START, np.zeros(7)]), "DOP853", t, rtol=1e-11, atol=1e-12).y
    angles = reference[:7]
    found = {name: np.stack([s[f"{n}.angle"] for n in NAMES]) + START[:, None] for name, (s, _) in runs.items()}

    figure, (left, right) = problem.figure()
    for k, colour in ((0, BLUE), (1, ORANGE)):
        left.plot(1e3 * t, angles[k], color=BLACK, lw=2.5, alpha=0.3)
        left.plot(1e3 * t, found[None][k], color=colour, lw=1, label=NAMES[k])
    left.plot([30, 30], PRINTED[:2], "x", color=BLACK, label="printed, 0.03 s")
    left.set_xlabel("t [ms]"), left.set_ylabel("[rad]"), left.legend(fontsize=8)
    for name, label, colour in ((None, "generalized-alpha, 4 us", BLUE), ("half", "2 us", SKY), ("rk", "runge-kutta", ORANGE)):
        error_axes(right, 1e3 * t, np.abs(found[name] - angles).max(axis=0), label, color=colour)
    right.set_xlabel("t [ms]"), right.set_ylabel("largest error of an angle [rad]"), right.legend(fontsize=8)
    problem.save(figure)

    at = int(np.argmin(np.abs(t - 0.03)))
    s, report = runs["rk"]
    source = "seven angles, index 1, 1e-11"
    problem.row("reference against the printed angles at 0.03 s", PRINTED, angles[:, at], 3e-8, "IVP test set", "rad", scale=1)
    problem.row("angles at 0.03 s, runge-kutta", PRINTED, found["rk"][:, at], 3e-8, "IVP test set", "rad", scale=1)
    problem.row("beta' at 0.03 s, runge-kutta", PRINTED_RATE, s["rate.wz"][at], 1e-9, "IVP test set", "rad/s")
    problem.row("angles over 0.05 s, runge-kutta", angles, found["rk"], 5e-8, source, "rad", scale=1)
    problem.row("angles over 0.05 s, step 4 us", angles, found[None], 2e-4, source, "rad", scale=1)
    error = [np.abs(found[name] - angles).max() for name in (None, "half")]
    problem.row("order of the integrator", 2, np.log2(error[0] / error[1]), 0.005, "theory")
    problem.bound("energy less work of the drive, over its largest", report["energy_drift"], 2e-7, "no losses")
