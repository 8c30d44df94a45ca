"""A cantilever at rest against beam theory with shear, and against CalculiX on the same mesh, in hex20 and tet10."""

import numpy as np

from support import BLACK, BLUE, ORANGE, cli, solid_mesh, static_with_ccx

TITLE = "Static cantilever"
L, H, F, E = 1.0, 0.1, 100.0, 210e9
I, A = H**4 / 12, H**2
MATERIAL = dict(E=E, nu=0.0, rho=7850.0)
FACES = {"root": lambda x, y, z: x < 1e-9, "tip": lambda x, y, z: x > L - 1e-9,
         "top": lambda x, y, z: abs(x - L / 2) + abs(y - H / 2) + abs(z - H / 2) < 1e-6}


def run(problem, name, geometry):
    """Deflection, stress at the top and the reaction of Lissom; deflection and stress of CalculiX; the line of stress along the top."""
    mesh = solid_mesh(problem, geometry, FACES)
    nodes, elements, sets = mesh
    top, = sets["top"]
    (problem.out / f"{name}.inp").write_text(cli.inp_deck(nodes, elements, None, sets))
    text = (problem.folder / "study.toml").read_text().split("[[cases]]")[0]
    text = text.replace("beam.geo", f"{name}.inp")
    path = problem.out / f"study-{name}.toml"
    path.write_text(text)
    s, _ = problem.simulate(study=path)
    u, stress = static_with_ccx(problem, f"ccx-{name}", mesh, MATERIAL, "root", "tip", (L, 0, 0), (0, 0, -F))
    line = sorted((nodes[i][0], stress[i][0]) for i in nodes if abs(nodes[i][2] - H / 2) < 1e-9 and abs(nodes[i][1] - H / 2) < 1e-9)
    return s, top, u, stress[top], np.array(line).T


def check(problem):
    # nu = 0: G = E / 2; k = 5/6 of the rectangle
    deflection = -F * L**3 / (3 * E * I) - F * L / (5 / 6 * E / 2 * A)
    bending = F * L / 2 * H / 2 / I
    figure, (left, right) = problem.figure()
    x = np.linspace(0, L, 50)
    left.plot(x, F * (L - x) * H / 2 / I / 1e6, color=BLACK, lw=2.5, alpha=0.3, label="beam theory")
    labels, values = ["beam theory"], [-deflection]
    for name, geometry, colour in (("hex20", "beam.geo", BLUE), ("tet10", "beam-tet.geo", ORANGE)):
        s, top, u, stress, line = run(problem, name, geometry)
        left.plot(line[0], line[1] / 1e6, ".", color=colour, label=f"CalculiX, {name}")
        left.plot(L / 2, s["top.xx"][-1] / 1e6, "o", mfc="none", ms=9, color=colour, label=f"lissom, {name}")
        labels += [f"{name}\nCalculiX", f"{name}\nlissom"]
        values += [-u[2], -s["end.z"][-1]]
        theory, same = "beam theory with shear", "CalculiX, same mesh"
        # end and clamp are rigid faces, which keep the sections from warping under shear
        problem.row(f"deflection of the end to theory, {name}", deflection, s["end.z"][-1], 3e-4, theory, "m")
        problem.row(f"deflection of the end to CalculiX, {name}", u[2], s["end.z"][-1], 3e-6, same, "m")
        problem.row(f"bending stress at half length to theory, {name}", bending, s["top.xx"][-1], 1e-5 if name == "hex20" else 6e-4, theory, "Pa")
        # CalculiX extrapolates C3D20 from 27 points, we from the eight that are best; and knows its coefficients to six digits
        problem.row(f"bending stress at half length to CalculiX, {name}", stress[0], s["top.xx"][-1], 4e-5 if name == "hex20" else 2e-5, same, "Pa")
        problem.row(f"moment at the wall, {name}", F * L, abs(s["wall.ty"][-1]), 1e-6, "balance", "N m")
    left.set_xlabel("x [m]"), left.set_ylabel("stress on top [MPa]"), left.legend(fontsize=7)
    right.bar(range(len(values)), 1e6 * np.array(values), color=["0.6", BLUE, BLUE, ORANGE, ORANGE])
    right.set_xticks(range(len(values)), labels, fontsize=7), right.set_ylabel("deflection [um]")
    right.set_ylim(1e6 * 0.995 * min(values), 1e6 * 1.005 * max(values))
    problem.save(figure)
