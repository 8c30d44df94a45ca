"""A robot arm for control: equilibrium, linear models with names, responses, and a state feedback by SciPy.

The bodies are reduced once, and the study is then used with these files: the arm at rest, linearised with brakes on for three payloads, bent, and
with the servos of the case `servo`, whose linear model goes to scipy.signal (and with `to_control()` to python-control).

Prints:

    sag of the tip 6.46 mm, torques 63.63 and 18.80 N m
    brakes on: 148 states, 6.701 Hz (0.42 %), 6.701 Hz (0.42 %), 43.125 Hz (2.71 %)
    bent: 8.16 Hz, 8.86 Hz
    payload of 1 kg: 10.21 Hz, of 3 kg: 6.70 Hz, of 6 kg: 4.92 Hz
    tip.z by push at 1 Hz: 1.65e-04 m/N; C (s - A)^-1 B + D is the same to <1e-8
    servos: 5.25 Hz; a step of torque lifts the tip by 46.7 um/(N m), at first by 1.99 of it
    on an air table: linear model of 22 states, 0, 0, 0, 0, 6.70, 43.13 Hz, inputs shoulder and elbow
    PD control at 1 kHz, after 0.5 s: shoulder 3.230 deg, elbow -8.079 deg; full arm and linear model differ by less than 0.003 deg
"""
import pathlib
import tempfile
import tomllib

import numpy as np
import scipy.signal

import lissom

HERE = pathlib.Path(__file__).resolve().parent
content = tomllib.loads((HERE / "study.toml").read_text())
del content["sweep"], content["compare"], content["simulate"]["stress"]
content["cases"] = [case for case in content["cases"] if case["name"] in ("bent", "servo")]
del content["cases"][1]["set"]["simulate.stress.at"]

with tempfile.TemporaryDirectory() as folder:
    # links from meshes, once: every study below takes the files
    links = {name: content["bodies"][name] for name in ("upper", "fore")}
    lissom.Study({"bodies": links}, folder=HERE).reduce(folder)
    for name, link in links.items():
        content["bodies"][name] = {"reduced": f"{folder}/{name}.reduced.h5", "position": link.get("position")}

    study = lissom.Study(content)
    rest = study.static()
    tip, shoulder, elbow = (rest.sensors[name][0] for name in ("tip.z", "shoulder torque.value", "elbow torque.value"))
    print(f"sag of the tip {-1e3 * tip:.2f} mm, torques {shoulder:.2f} and {elbow:.2f} N m")

    arm = study.linearise(static=True)
    print(f"brakes on: {len(arm.states)} states, " + ", ".join(f"{f:.3f} Hz ({100 * d:.2f} %)" for f, d in zip(arm.frequencies[:3], arm.damping)))
    bent = study.linearise(case="bent")
    print(f"bent: {bent.frequencies[0]:.2f} Hz, {bent.frequencies[1]:.2f} Hz")
    first = {mass: lissom.Study(content, set={"bodies.payload.rigid.mass": mass}).linearise(static=True).frequencies[0] for mass in (1, 3, 6)}
    print("payload " + ", ".join(f"of {mass} kg: {f:.2f} Hz" for mass, f in first.items()))

    response = study.response(1, 100, 50, static=True)
    ours = response.pair("tip.z", "push")  # (frequencies,) complex
    i, o = arm.inputs.index("push"), arm.outputs.index("tip.z")
    s = 2j * np.pi * response.frequencies[0]
    theirs = arm.C[o] @ np.linalg.solve(s * np.eye(len(arm.A)) - arm.A, arm.B[:, i]) + arm.D[o, i]
    print(f"tip.z by push at 1 Hz: {abs(ours[0]):.2e} m/N; C (s - A)^-1 B + D is the same to {abs(theirs / ours[0] - 1):.0e}")

    # servos: a step of 1 N m at the shoulder, in time; arm.to_control() would take it to python-control
    servo = study.linearise(static=True, case="servo")
    plant = servo.to_scipy()
    i, o = servo.inputs.index("torque"), servo.outputs.index("tip.z")
    t = np.linspace(0, 3, 3001)
    u = np.zeros((len(t), len(servo.inputs)))
    u[:, i] = 1
    tip = scipy.signal.lsim(plant, u, t)[1][:, o]
    static = servo.D[o, i] - servo.C[o] @ np.linalg.solve(servo.A, servo.B[:, i])
    print(f"servos: {servo.frequencies[0]:.2f} Hz; a step of torque lifts the tip by {1e6 * static:.1f} um/(N m), "
          f"at first by {tip.max() / static:.2f} of it")

    # no motion is prescribed any more: torques of the motors are inputs, and a controller says what they are. On an air table, without gravity
    table = {"bodies": content["bodies"], "simulate": {"end": 0.5, "step": 1e-3}}
    table["joints"] = [{key: value for key, value in joint.items() if key != "motion"} for joint in content["joints"]]
    table["loads"] = [
        {"name": "shoulder motor", "kind": "torque", "on": "upper.shoulder", "torque": [0, -1, 0], "factor": {"input": "shoulder"}},
        {"name": "elbow motor", "kind": "torque", "on": "fore.elbow", "reaction": "upper.elbow", "torque": [0, -1, 0], "factor": {"input": "elbow"}}]
    table["sensors"] = [{"name": name, "kind": "joint-angle", "of": name} for name in ("shoulder", "elbow")] + [
        {"name": place, "kind": "angular-velocity", "of": place} for place in ("upper.shoulder", "upper.elbow", "fore.elbow")]
    full = lissom.Study(table)
    small = lissom.Study({**table, "train": {"method": "linear", "truncation": "frequency", "highest": 500}}).train().rom
    frequencies = np.sort(np.abs(np.linalg.eigvals(small.A))) / (2 * np.pi)
    found = ", ".join(f"{f:.2f}" if f > 0.1 else "0" for f in [*frequencies[:4], *frequencies[4:8:2]])
    print(f"on an air table: linear model of {small.order} states, {found} Hz, inputs {' and '.join(small.inputs[2:])}")

    def pd(t, y):
        angles, (root, end, fore) = y[:2], y[2:]
        rates = np.array([-root, end - fore])  # about -y, each joint against what carries it
        return [20, 5] * (np.array([0.05, -0.08]) - angles) - [1.5, 0.4] * rates

    outputs = ["shoulder", "elbow", "upper.shoulder.wy", "upper.elbow.wy", "fore.elbow.wy"]
    ends = []
    for model in (full, small):
        run = model.simulate(controller=pd, rate=1000, outputs=outputs)
        ends.append(np.degrees([run.sensors[f"{name}.angle"][-1] for name in ("shoulder", "elbow")]))
    apart = 1e-3 * np.ceil(1e3 * np.abs(ends[0] - ends[1]).max())
    print(f"PD control at 1 kHz, after 0.5 s: shoulder {ends[0][0]:.3f} deg, elbow {ends[0][1]:.3f} deg; full arm and linear model differ by less than {apart:.3f} deg")
