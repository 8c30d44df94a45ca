#!/usr/bin/python3
"""Figures of the robot arm from what `lissom run` left in a folder, and its numbers beside those of beam theory.

    /usr/bin/python3 examples/robot-arm/plot.py RESULTS     writes RESULTS/robot-arm-*.png: stress, torques, tip, modes,
                                                             response, payload
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np
from matplotlib.collections import PolyCollection
from scipy.io import netcdf_file
from scipy.optimize import curve_fit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import plotting as p
from plotting import BLUE, GREEN, ORANGE, RED, plt

G = 9.81
UPPER, FORE, MOTOR, PAYLOAD = (dict(length=0.8, radius=0.025), dict(length=0.6, radius=0.02), 2, 3)
SHOULDER_SERVO, ELBOW_SERVO = 3e4, 1e4  # N m/rad, as in the study


# ---- beam theory ----

def tube(link, wall=0.002, E=70e9, rho=2700):
    """Bending stiffness [N m2], second moment [m4] and mass [kg] of a link."""
    outer, inner = link["radius"], link["radius"] - wall
    I = np.pi / 4 * (outer**4 - inner**4)
    return E * I, I, rho * np.pi * (outer**2 - inner**2) * link["length"]


def beam_theory():
    """Two cantilevers in a row, stretched out along x: what the study should give, by hand."""
    (EI1, I1, m1), (EI2, _, m2) = tube(UPPER), tube(FORE)
    L1, L2 = UPPER["length"], FORE["length"]
    out = {"shoulder torque": G * (m1 * L1 / 2 + MOTOR * L1 + m2 * (L1 + L2 / 2) + PAYLOAD * (L1 + L2)),
           "elbow torque": G * (m2 * L2 / 2 + PAYLOAD * L2)}
    # forearm as a cantilever; upper arm with force F and moment M at its end; and the forearm turned by that end's slope
    q1, q2, P = m1 * G / L1, m2 * G / L2, PAYLOAD * G
    F, M = P + m2 * G + MOTOR * G, out["elbow torque"]
    fore = P * L2**3 / (3 * EI2) + q2 * L2**4 / (8 * EI2)
    upper = F * L1**3 / (3 * EI1) + M * L1**2 / (2 * EI1) + q1 * L1**4 / (8 * EI1)
    slope = F * L1**2 / (2 * EI1) + M * L1 / EI1 + q1 * L1**3 / (6 * EI1)
    out["sag, brakes"] = fore + upper + slope * L2
    out["sag, servos"] = out["sag, brakes"] + (L1 + L2) * out["shoulder torque"] / SHOULDER_SERVO + L2 * M / ELBOW_SERVO
    # bending stress of the upper arm at a quarter of its length
    x = L1 / 4
    moment = P * (L1 + L2 - x) + m2 * G * (L1 + L2 / 2 - x) + MOTOR * G * (L1 - x) + q1 * (L1 - x) ** 2 / 2
    out["stress at a quarter"] = moment * UPPER["radius"] / I1
    # Rayleigh's quotient: the shape is that of a force at the tip, links count as straight between their ends
    for name, turn in (("brakes", 0), ("servos", 1)):
        elbow = L1**3 / (3 * EI1) + L2 * L1**2 / (2 * EI1) + turn * L1 * (L1 + L2) / SHOULDER_SERVO
        tip = (L2**3 / (3 * EI2) + L1**3 / (3 * EI1) + L2 * L1**2 / EI1 + L2**2 * L1 / EI1
               + turn * ((L1 + L2) ** 2 / SHOULDER_SERVO + L2**2 / ELBOW_SERVO))
        r = elbow / tip
        mass = PAYLOAD + MOTOR * r**2 + m2 * (1 + r + r**2) / 3 + m1 * r**2 / 3
        out[f"first frequency, {name}"] = np.sqrt(1 / (tip * mass)) / (2 * np.pi)
        out[f"compliance, {name}"] = tip
    return out


# ---- results ----

def stress(run):
    """Von Mises stress of each body: at the instants (k, n), and its maximum over time (n) [MPa]."""
    with h5py.File(run / "stress.h5") as file:
        return {body.attrs["name"].decode() if isinstance(body.attrs["name"], bytes) else body.attrs["name"]:
                (1e-6 * body["at/von_mises"][:], 1e-6 * body["maximum/von_mises"][:]) for body in file["bodies"].values()}


def positions(run):
    """Times, and nodal positions of each body, (samples, nodes, 3) [m]."""
    with h5py.File(run / "result.h5") as file:
        return file["time"][:], {name: group["positions"][:] for name, group in file["nodes"].items()}


def compare(folder, summary, sensors):
    theory, static = beam_theory(), sensors["static"]
    along = positions(folder)[1]["upper"][0][:, 0]
    quarter = np.abs(along - UPPER["length"] / 4) < 1e-4
    found = {"shoulder torque": sensors["rigid"]["shoulder torque.value"][0], "elbow torque": sensors["rigid"]["elbow torque.value"][0],
             "sag, brakes": -static["tip.z"][0], "sag, servos": -sensors["servo"]["tip.z"][0],
             "stress at a quarter": 1e6 * stress(folder)["upper"][0][0][quarter].max(),
             "first frequency, brakes": summary["linearisation"]["modes"][0]["frequency_hz"],
             "first frequency, servos": summary["cases"]["servo"]["linearisation"]["modes"][0]["frequency_hz"]}
    units = {"torque": (1, "N m"), "sag": (1e3, "mm"), "stress": (1e-6, "MPa"), "frequency": (1, "Hz")}
    for name, value in found.items():
        scale, unit = next(u for key, u in units.items() if key in name)
        print(f"{name:24} by hand {scale * theory[name]:8.4g} {unit:3}  lissom {scale * value:8.4g} {unit:3}  {100 * (value / theory[name] - 1):+.1f} %")
    # how the flexible arm rings after its motion, beside the modes of the linearised one there that move the tip in the plane
    bent = summary["cases"]["bent"]["linearisation"]["modes"]
    for mode, fit in zip((bent[1], bent[2]), ringing(sensors["flexible"])):
        print(f"{'ringing after the motion':24} {fit[0]:.3f} Hz, damping {100 * fit[1]:.2f} %;  linearised about its end "
              f"{mode['frequency_hz']:.3f} Hz, {100 * mode['damping_ratio']:.2f} %")


def ringing(data):
    """Frequency [Hz] and damping ratio of the two decaying sines that fit the height of the tip after the motion best."""
    after = data["t"] > 0.95
    t, z = data["t"][after] - 0.95, 1e3 * data["tip.z"][after]

    def sines(t, mean, *rest):
        waves = np.reshape(rest, (2, 4))  # frequency, ratio, cosine, sine
        return mean + sum(np.exp(-2 * np.pi * f * d * t) * (a * np.cos(2 * np.pi * f * t) + b * np.sin(2 * np.pi * f * t)) for f, d, a, b in waves)

    start = [z.mean(), 8, 0.01, 0.5, 0.5, 20, 0.01, 0.1, 0.1]
    found, _ = curve_fit(sines, t, z, start, maxfev=20000)
    return np.reshape(found[1:], (2, 4))[:, :2]


# ---- figures ----

def side_view(axis, points, faces, values, norm):
    """The faces that look along y, coloured by the mean of their nodes."""
    x = 1e3 * points
    normal = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    seen = faces[normal[:, 1] < 0]
    colours = plt.cm.turbo(norm(values[seen].mean(axis=1)))
    axis.add_collection(PolyCollection(x[seen][:, :, [0, 2]], facecolor=colours, edgecolor=colours, lw=0.4))


def stress_figure(folder):
    bodies = ("upper", "fore")
    faces = {body: p.outer_quads(p.read_elements(folder / f"{body}_free_modes.exo")) for body in bodies}
    t, x = positions(folder)
    still, moved = stress(folder), stress(folder / "flexible")
    norm = plt.Normalize(0, max(moved[body][1].max() for body in bodies))
    figure, axis = plt.subplots(figsize=(10, 5.2), layout="constrained")
    end = np.abs(x["fore"][0][:, 0] - x["fore"][0][:, 0].max()) < 1e-3
    for k, time in enumerate((0, 0.5, 1.6)):
        sample = np.argmin(np.abs(t - time))
        for body in bodies:
            side_view(axis, x[body][sample], faces[body], still[body][0][k], norm)
        tip = 1e3 * x["fore"][sample][end].mean(axis=0)[[0, 2]]
        axis.plot(*tip, "o", ms=15, color="0.3", zorder=3)
        axis.annotate(f"at rest, {time:g} s", tip, xytext=(10, 8), textcoords="offset points", fontsize=9)
    axis.plot(0, 0, "s", ms=15, color="0.3", zorder=0)
    for body in bodies:
        side_view(axis, x[body][0] - [0, 0, 0.15], faces[body], moved[body][1], norm)
    axis.annotate("largest over\nthe motion", (1410, -156), va="center", fontsize=9)
    axis.set_aspect("equal")
    axis.set_xlim(-60, 1640), axis.set_ylim(-220, 780)
    axis.set_xlabel("x, mm"), axis.set_ylabel("z, mm")
    axis.grid(color="0.92", lw=0.6)
    axis.set_axisbelow(True)
    figure.colorbar(plt.cm.ScalarMappable(norm, "turbo"), ax=axis, label="von Mises stress, MPa", shrink=0.9)
    p.save(figure, folder / "robot-arm-stress.png")


def mode_figure(folder):
    """Modes of the whole arm where the motion ends: at rest in grey, and both extremes."""
    with netcdf_file(folder / "bent" / "system_modes.exo", mmap=False) as file:
        points = np.stack([file.variables[f"coord{k}"][:] for k in "xyz"], axis=1)
        quads = np.concatenate([p.outer_quads(file.variables[f"connect{b}"][:].astype(int) - 1) for b in (1, 2)])
        shapes = np.stack([file.variables[f"vals_nod_var{k}"][:4] for k in (1, 2, 3)], axis=2)
        frequencies, damping = file.variables["vals_glo_var"][:4, 0], file.variables["vals_glo_var"][:4, 1]
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    figure = plt.figure(figsize=(12, 2.9))
    for k, shape in enumerate(shapes):
        axes = figure.add_axes([0.25 * k - 0.02, -0.28, 0.29, 1.4], projection="3d")
        everything = np.concatenate([points, points + shape, points - shape])
        colours = np.repeat([plt.matplotlib.colors.to_rgba(c) for c in ("0.8", BLUE, ORANGE)], len(triangles), axis=0)
        p.draw_surface(axes, everything, np.concatenate([triangles + i * len(points) for i in range(3)]), colours, view=(22, -58), zoom=1.05)
        figure.text(0.25 * k + 0.13, 0.9, f"{frequencies[k]:.2f} Hz, {100 * damping[k]:.2f} %", fontsize=10, ha="center")
    p.save(figure, folder / "robot-arm-modes.png")


RUNS = (("static", "links at rest in every position", dict(color="0.6", ls="--")), ("rigid", "rigid links", dict(color=ORANGE, lw=2.2)),
        ("flexible", "flexible links", dict(color=BLUE, lw=1.3)))


def torque_figure(folder, sensors):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharex=True)
    for axis, joint in zip(axes, ("shoulder", "elbow")):
        for run, label, style in RUNS:
            axis.plot(sensors[run]["t"], sensors[run][f"{joint} torque.value"], label=label, **style)
        axis.set_title(f"{joint}: torque of the drive, N m", fontsize=10)
        axis.set_xlabel("time, s")
        axis.grid(color="0.92", lw=0.6)
    axes[0].legend(frameon=False)
    figure.tight_layout()
    p.save(figure, folder / "robot-arm-torques.png")


def tip_figure(folder, sensors):
    rigid = sensors["rigid"]
    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    axes[0].plot(1e3 * rigid["tip.x"], 1e3 * rigid["tip.z"], color=ORANGE, lw=2.2, label="rigid links")
    axes[0].plot(1e3 * sensors["flexible"]["tip.x"], 1e3 * sensors["flexible"]["tip.z"], color=BLUE, lw=1.3, label="flexible links")
    axes[0].set_xlabel("x, mm"), axes[0].set_title("path of the tip: z, mm", fontsize=10)
    for run, label, style in (RUNS[0], RUNS[2]):
        at = np.searchsorted(rigid["t"], sensors[run]["t"] - 1e-9)
        axes[1].plot(sensors[run]["t"], 1e3 * (sensors[run]["tip.z"] - rigid["tip.z"][at]), label=label, **style)
    axes[1].set_xlabel("time, s"), axes[1].set_title("height of the tip less that with rigid links, mm", fontsize=10)
    for axis in axes:
        axis.legend(frameon=False)
        axis.grid(color="0.92", lw=0.6)
    figure.tight_layout()
    p.save(figure, folder / "robot-arm-tip.png")


def response_figure(folder):
    theory = beam_theory()
    responses = {"brakes": p.read_csv(folder / "response.csv"), "servos": p.read_csv(folder / "servo" / "response.csv")}
    figure, axes = plt.subplots(2, 2, figsize=(11, 6), sharex=True, gridspec_kw={"height_ratios": [1.6, 1]})
    for column, (load, unit, runs) in enumerate((("push", "m/N", ("brakes", "servos")), ("torque", "m/(N m)", ("servos",)))):
        for run, colour in zip(("brakes", "servos"), (BLUE, RED)):
            if run not in runs:
                continue
            data = responses[run]
            axes[0, column].loglog(data["f"], data[f"tip.z by {load} magnitude"], color=colour, label=run)
            axes[1, column].semilogx(data["f"], np.degrees(np.unwrap(np.radians(data[f"tip.z by {load} phase"]))), color=colour)
            if load == "push":
                axes[0, column].axhline(theory[f"compliance, {run}"], color=colour, lw=0.8, ls=":", label=f"{run}: static, by hand")
        axes[0, column].set_title(f"{'vertical force at the tip' if load == 'push' else 'torque at the shoulder'} to height of the tip, {unit}", fontsize=10)
        axes[1, column].set_xlabel("frequency, Hz")
        axes[0, column].legend(frameon=False)
    axes[1, 0].set_ylabel("phase, degrees")
    for axis in axes.flat:
        axis.grid(color="0.92", lw=0.6)
    axes[0, 0].set_xlim(1, 100)
    axes[1, 0].xaxis.set_major_formatter(p.FuncFormatter(p.plain))
    figure.tight_layout()
    p.save(figure, folder / "robot-arm-response.png")


def payload_figure(folder):
    table = json.loads((folder / "summary.json").read_text())["sweep"]["points"]
    mass = [row["parameters"]["bodies.payload.rigid.mass"] for row in table]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    for mode, colour, label in ((1, BLUE, "first bending, twice"), (3, GREEN, "second bending, twice"), (5, ORANGE, "torsion")):
        for k in (mode, mode + 1) if mode < 5 else (mode,):
            left.semilogy(mass, [row["values"][f"frequency {k} [Hz]"] for row in table], "o-", ms=4, color=colour, label=label if k == mode else None)
    left.set_title("frequencies with brakes on, Hz", fontsize=10)
    left.yaxis.set_major_formatter(p.FuncFormatter(p.plain))
    right.plot(mass, [-1e3 * row["values"]["tip.z min"] for row in table], "o-", ms=4, color=BLUE, label="sag of the stretched arm, mm")
    right.plot(mass, [1e-6 * row["values"]["upper max von Mises [Pa]"] for row in table], "s-", ms=4, color=RED,
               label="largest stress of the upper arm at rest, MPa")
    right.set_ylim(bottom=0)
    right.legend(frameon=False)
    left.legend(frameon=False)
    for axis in (left, right):
        axis.set_xlabel("payload, kg")
        axis.grid(color="0.92", lw=0.6)
    figure.tight_layout()
    p.save(figure, folder / "robot-arm-payload.png")


def main():
    folder = Path(sys.argv[1])
    summary = json.loads((folder / "summary.json").read_text())
    sensors = {"static": p.read_csv(folder / "sensors.csv"), **{name: p.read_csv(folder / name / "sensors.csv") for name in ("rigid", "flexible", "servo")}}
    compare(folder, summary, sensors)
    stress_figure(folder)
    torque_figure(folder, sensors)
    tip_figure(folder, sensors)
    mode_figure(folder)
    response_figure(folder)
    payload_figure(folder)


main()
