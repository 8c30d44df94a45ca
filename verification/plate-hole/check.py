"""A plate with a hole under tension against Kirsch and Howland, and against CalculiX on the same mesh."""

import numpy as np

from support import BLACK, BLUE, ORANGE, cli, solid_mesh, static_with_ccx

TITLE = "Plate with a hole"
L, W, R, T, S = 0.6, 0.2, 0.02, 0.01, 1e6
MATERIAL = dict(E=210e9, nu=0.0, rho=7850.0)
FACES = {"left": lambda x, y, z: x < -L / 2 + 1e-9, "right": lambda x, y, z: x > L / 2 - 1e-9,
         "edge": lambda x, y, z: abs(x) + abs(y - R) + abs(z) < 1e-6, "side": lambda x, y, z: abs(x - R) + abs(y) + abs(z) < 1e-6}
HOWLAND = 3.14  # Howland 1930, Table: stress at the edge of the hole over that far away, 2 R / W = 0.2


def check(problem):
    mesh = solid_mesh(problem, "plate.geo", FACES)
    nodes, elements, sets = mesh
    (edge,), (side,) = sets["edge"], sets["side"]
    (problem.out / "plate.inp").write_text(cli.inp_deck(nodes, elements, None, sets))
    path = problem.out / "study-plate.toml"
    path.write_text((problem.folder / "study.toml").read_text().replace("plate.geo", "plate.inp"))
    s, _ = problem.simulate(study=path)
    u, stress = static_with_ccx(problem, "ccx-plate", mesh, MATERIAL, "left", "right", (L / 2, 0, T / 2), (S * W * T, 0, 0))

    # along the hole, on the face z = 0: the stress along its edge over the angle from the pull
    ring = [i for i, (x, y, z) in nodes.items() if abs(np.hypot(x, y) - R) < 1e-6 and abs(z) < 1e-9 and y >= -1e-9]
    angle = np.array([np.arctan2(nodes[i][1], nodes[i][0]) for i in ring])
    c, d = np.cos(angle), np.sin(angle)
    sx, sy, sxy = np.array([[stress[i][k] for i in ring] for k in (0, 1, 3)])
    hoop = sx * d**2 + sy * c**2 - 2 * sxy * c * d
    fine = np.linspace(0, np.pi, 181)
    figure, (left, right) = problem.figure()
    left.plot(np.degrees(fine), 1 - 2 * np.cos(2 * fine), color=BLACK, lw=2.5, alpha=0.3, label="Kirsch, infinite plate")
    left.plot(np.degrees(angle), hoop / S, ".", ms=4, color=BLUE, label="CalculiX, same mesh")
    left.plot([0, 90], [s["side.yy"][-1] / S, s["edge.xx"][-1] / S], "o", mfc="none", ms=9, color=ORANGE, label="lissom")
    left.set_xlabel("angle from the pull [degrees]"), left.set_ylabel("stress along the hole / far away"), left.legend(fontsize=7)
    names = ["Kirsch", "Howland", "CalculiX", "lissom"]
    right.bar(names, [3, HOWLAND, stress[edge][0] / S, s["edge.xx"][-1] / S], color=["0.8", "0.6", BLUE, ORANGE])
    right.set_ylim(2.9, 3.25), right.set_ylabel("stress at the hole / far away")
    problem.save(figure)

    same = "CalculiX, same mesh"
    # averaged over the elements of a node, with 2 mm of them around a hole of 20 mm
    problem.row("stress concentration at the hole", HOWLAND, s["edge.xx"][-1] / S, 2e-3, "Howland 1930")
    problem.row("stress at the top of the hole", stress[edge][0], s["edge.xx"][-1], 2e-5, same, "Pa")
    problem.row("stress at the side of the hole", stress[side][1], s["side.yy"][-1], 2e-5, same, "Pa")
    problem.row("displacement of the pulled end", u[0], s["pulled.x"][-1], 2e-6, same, "m")
