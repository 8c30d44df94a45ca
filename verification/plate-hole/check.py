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

    # above the hole, on the face z = 0
    line = sorted((nodes[i][1], stress[i][0]) for i in nodes if abs(nodes[i][0]) < 1e-6 and abs(nodes[i][2]) < 1e-9 and nodes[i][1] > 0)
    y = np.linspace(R, W / 2, 100)
    figure, (left, right) = problem.figure()
    left.plot(y, 1 + (R / y)**2 / 2 + 3 * (R / y)**4 / 2, color=BLACK, lw=2.5, alpha=0.3, label="Kirsch, infinite plate")
    left.plot(*np.array([(p, q / S) for p, q in line]).T, ".", color=BLUE, label="CalculiX, same mesh")
    left.plot(R, s["edge.xx"][-1] / S, "o", mfc="none", ms=9, color=ORANGE, label="lissom")
    left.set_xlabel("y above the hole [m]"), left.set_ylabel("stress xx / far away"), left.legend(fontsize=8)
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
