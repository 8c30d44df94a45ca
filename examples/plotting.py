"""What the examples' figures share: tables that `lissom run` left, errors over modes, counts, costs, surfaces."""
import csv
import json

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import FuncFormatter
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.io import netcdf_file

# colours that colour-blind people can tell apart (Okabe and Ito)
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    "#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")

PAPER_COLOUR = "0.55"  # of what paper 001 printed


# ---- tables ----

def read_csv(path):
    """Columns of numbers by name; an empty field is NaN."""
    with open(path) as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key] or "nan") for row in rows]) for key in rows[0]}


def rows_where(table, key, value):
    keep = table[key] == value
    return {name: column[keep] for name, column in table.items()}


def plain(value, _=None):
    """0.1, 10, 1e-5: as short as it gets."""
    return f"{value:g}"


# ---- errors, mode by mode (paper 001, Figs. 3 and 13) ----

# column, label, how it is drawn
ESTIMATES = [("lower_estimate", "Eq. 45", dict(color=SKY, marker="v", ls=":")),
             ("paper_estimate", "Eqs. 42-43", dict(color=ORANGE, marker="^", ls="--")),
             ("zeta_2", "$\\zeta_2$", dict(color=GREEN, marker="s", ls="-")),
             ("bound", "enclosure (proven)", dict(color=BLUE, marker="_", ls="-", ms=8, mew=2)),
             ("exact", "exact", dict(color=BLACK, marker="x", ls="none", ms=5))]


def draw_errors(axes, table, title, tolerance):
    for key, label, style in ESTIMATES:
        values = 100 * table[key]
        if np.isnan(values).all():
            continue
        # what is zero to round-off has no place on a logarithmic axis
        values = np.where(values > 1e-9, values, np.nan)
        axes.semilogy(table["mode"], values, label=label, lw=1, **{"ms": 4, **style})
    axes.axhline(100 * tolerance, color=RED, lw=1, label=f"tolerance {plain(100 * tolerance)} %")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("flexible mode")
    axes.grid(axis="y", color="0.9", lw=0.6)
    axes.set_axisbelow(True)


def error_figure(panels, tolerance, path):
    """`panels`: (title, table) each, side by side, on one scale where they are of the same kind of basis."""
    figure, all_axes = plt.subplots(1, len(panels), figsize=(1 + 3.9 * len(panels), 4.3), squeeze=False)
    handles = {}
    for axes, (title, table) in zip(all_axes[0], panels):
        draw_errors(axes, table, title, tolerance)
        handles.update({label: handle for handle, label in zip(*axes.get_legend_handles_labels())})
    all_axes[0][0].set_ylabel("relative error of the eigenvalue, %")
    order = [label for _, label, _ in ESTIMATES if label in handles] + [key for key in handles if key.startswith("tol")]
    figure.legend([handles[key] for key in order], order, loc="lower center", ncol=len(order), fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    save(figure, path)


# ---- errors over the number of modes (Figs. 4 and 14) ----

def convergence_figure(sweep, modes, tolerance, marks, path, columns=3):
    """One panel a mode. `marks`: (number of coordinates, label, colour), drawn as vertical lines."""
    rows = -(-len(modes) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(3.9 * columns, 0.8 + 2.35 * rows), sharex=True, sharey=True, squeeze=False)
    counts = np.unique(sweep["modes"])
    shown = 100 * sweep["exact"][np.isin(sweep["mode"], modes)]
    floor, top = 10 ** np.floor(np.log10(shown.min())), min(200, 30 * shown.max())
    handles = {}
    for axes, mode in zip(panels.flat, modes):
        table = rows_where(sweep, "mode", mode)
        for key, label, style in ESTIMATES:
            style = {**style, "marker": None, "ls": "-" if style["ls"] == "none" else style["ls"]}
            width = 1.6 if key == "exact" else 1.1
            axes.loglog(table["modes"], np.clip(100 * table[key], floor / 10, None), label=label,
                        **{**style, "lw": width, "zorder": 3 if key == "exact" else 2})
        axes.axhline(100 * tolerance, color=RED, lw=0.9, label=f"tolerance {plain(100 * tolerance)} %")
        for count, label, colour in marks:
            axes.axvline(count, color=colour, lw=1.2, ls=(0, (5, 2)), label=label)
        axes.set_title(f"mode {mode}", fontsize=9, y=0.98)
        axes.set_xlim(counts[0], counts[-1]), axes.set_ylim(floor, top)
        axes.xaxis.set_major_formatter(FuncFormatter(plain))
        axes.grid(color="0.92", lw=0.5)
        handles.update({label: handle for handle, label in zip(*axes.get_legend_handles_labels())})
    for axes in panels[-1]:
        axes.set_xlabel("fixed-interface modes kept")
        axes.set_xticks([t for t in (5, 10, 20, 50, 100, 200, 500) if counts[0] <= t <= counts[-1]])
        axes.xaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    for row in panels:
        row[0].set_ylabel("error, %")
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=5, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.6 / figure.get_figheight(), 1, 1))
    save(figure, path)


# ---- interior coordinates over the tolerance ----

METHOD_STYLES = [dict(color=ORANGE, marker="^", ls="--"), dict(color="0.25", marker="o", ls=":", mfc="none"),
                 dict(color=PINK, marker="D", ls=":", mfc="none"), dict(color=BLACK, marker="x", ls=":"),
                 dict(color=SKY, marker="v", ls="-"), dict(color=GREEN, marker="s", ls="-"),
                 dict(color=BLUE, marker="o", ls="-", lw=2.4)]


def counts_figure(comparison, printed, path, most=None):
    """`printed`: tolerance to the paper's own count, may be empty; `most`: modes beyond which nothing was looked for."""
    figure, axes = plt.subplots(figsize=(8.6, 4.4))
    tolerances = 100 * np.array(comparison["tolerances"])
    for method, style in zip(comparison["methods"], METHOD_STYLES):
        counts = np.array([np.nan if c is None else c for c in method["coordinates"]], float)
        axes.loglog(tolerances, counts, label=method["name"], **{"lw": 1.3, "ms": 6, **style})
    if printed:
        axes.plot(100 * np.array(list(printed)), list(printed.values()), "*", ms=13, color=PAPER_COLOUR, mec="k", mew=0.6,
                  label="printed in paper 001", zorder=4)
    if most:
        axes.set_ylim(top=1.25 * most)
        axes.axhline(most, color="0.6", lw=0.8, ls=(0, (1, 2)), label=f"looked for up to {most} modes")
    axes.invert_xaxis()
    axes.set_xlabel("tolerance of the eigenvalues in range, %")
    axes.set_ylabel("interior coordinates")
    axes.set_xticks(tolerances)
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    ticks = [t for t in (5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500) if axes.get_ylim()[0] <= t <= axes.get_ylim()[1]]
    axes.set_yticks(ticks)
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    axes.grid(color="0.9", lw=0.6)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9, frameon=False)
    figure.tight_layout()
    save(figure, path)


# ---- time and memory ----

VERIFICATION = {"exact eigenvalues", "comparison"}


def cost_figure(summary, name, path, files=()):
    body = summary["bodies"][name]
    phases = {key: value for key, value in body["seconds"].items() if key != "total" and value > 0}
    # longest last, so that it is drawn on top
    names = sorted(phases, key=phases.get)
    groups = {"body": (BLUE, "reduced body"), "gcms": (ORANGE, "GCMS basis"), "check": (SKY, "verification")}
    group = {key: "check" if key in VERIFICATION else "gcms" if key.startswith("gcms") else "body" for key in names}
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 0.3 * len(names) + 1.6), gridspec_kw={"width_ratios": [1.7, 1]})
    bars = left.barh(names, [phases[key] for key in names], color=[groups[group[key]][0] for key in names])
    left.set_xscale("log")
    left.set_xlim(right=8 * max(phases.values()))
    label_bars(left, bars, [seconds_text(phases[key]) for key in names])
    left.set_xlabel("seconds (logarithmic)")
    left.set_title("time", fontsize=10)
    legend = []
    for key, (colour, label) in groups.items():
        seconds = sum(phases[phase] for phase in names if group[phase] == key)
        if seconds > 0:
            legend.append(plt.Rectangle((0, 0), 1, 1, color=colour, label=f"{label}: {seconds_text(seconds)}"))
    right.legend(handles=legend, loc="lower right", fontsize=9, frameon=False, title="time in all", title_fontsize=9)

    sizes = {"peak of the process": summary["peak_memory_bytes"], "factor of K_s": body["reduce"]["solver"]["factor_bytes"]}
    sizes.update({file.name: file.stat().st_size for file in files})
    keys = list(sizes)[::-1]
    bars = right.barh(keys, [sizes[key] / 1e6 for key in keys], color=GREEN, height=0.6)
    right.set_xscale("log")
    right.set_xlim(right=8 * max(sizes.values()) / 1e6)
    label_bars(right, bars, [f"{sizes[key] / 1e6:.{0 if sizes[key] > 1e8 else 1}f} MB" for key in keys])
    right.set_xlabel("MB (logarithmic)")
    right.set_ylim(-3.2, len(keys) - 0.2)
    right.set_title("memory and files", fontsize=10)
    for axes in (left, right):
        axes.tick_params(axis="y", labelsize=9)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.tight_layout()
    save(figure, path)


def label_bars(axes, bars, texts):
    for bar, text in zip(bars, texts):
        axes.annotate(text, (bar.get_width(), bar.get_y() + bar.get_height() / 2), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=8)


def seconds_text(value):
    if value >= 1:
        return f"{value:.3g} s"
    return f"{1e3 * value:.0f} ms" if value >= 0.01 else f"{1e3 * value:.1f} ms"


# ---- all of them, for a body of paper 001 ----

def paper_001_figures(folder, name, printed, plain_counts, figure_number, modes, most):
    """`printed`: tolerance to the paper's count; `plain_counts`: of its first figure, Fig. `figure_number`; `modes`: of the
    figure after it; `most`: compare_max_modes of the study. Writes NAME-errors, -convergence, -counts and -cost.png."""
    summary = json.loads((folder / "summary.json").read_text())
    reduce = summary["bodies"][name]["reduce"]
    sweep = read_csv(folder / f"{name}_sweep.csv")
    tolerance = reduce["tolerance"]

    panels = [(f"{count} modes (Fig. {figure_number}{letter})", rows_where(sweep, "modes", count))
              for count, letter in zip(plain_counts, "ab")]
    panels.append((delivered_text(reduce), read_csv(folder / f"{name}_errors.csv")))
    error_figure(panels, tolerance, folder / f"{name}-errors.png")

    column = reduce["comparison"]["tolerances"].index(tolerance)
    rule = reduce["comparison"]["methods"][0]["coordinates"][column]
    ours = reduce["interior_coordinates"]
    convergence_figure(sweep, modes, tolerance,
                       [(printed[tolerance], f"paper, printed: {printed[tolerance]}", PAPER_COLOUR),
                        (rule, f"paper's rule here: {rule}", ORANGE),
                        (ours, f"default, with residual vectors: {ours}", BLUE)],
                       folder / f"{name}-convergence.png")
    counts_figure(reduce["comparison"], printed, folder / f"{name}-counts.png", most)
    cost_figure(summary, name, folder / f"{name}-cost.png", [folder / f"{name}.reduced.h5"])


def delivered_text(reduce):
    kinds = reduce["kinds"]
    return f"delivered: {kinds['fixed-interface']} modes and {kinds.get('residual', 0)} residual vectors"


# ---- GCMS (paper 002) ----

def heat_map(axes, cosine, names, title):
    """Lower triangle of |cosine| of Phi_f, which is that of the scalar fields times I_3 (Figs. 2, 4 and 9)."""
    full = np.kron(cosine, np.eye(3))
    image = axes.imshow(np.ma.masked_where(np.triu(np.ones_like(full), 1) > 0, full), cmap="viridis", vmin=0, vmax=1)
    ticks = 9 * np.arange(len(names)) + 4
    axes.set_xticks(ticks, names, fontsize=7), axes.set_yticks(ticks, names, fontsize=7)
    axes.set_title(title, fontsize=10)
    return image


# ---- bodies ----

TET_FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]


def outer_triangles(tets):
    """Corner triangles on the outside of a tetrahedral mesh: those that belong to one element only."""
    faces = np.concatenate([tets[:, f] for f in TET_FACES])
    _, index, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[index[count == 1]]


HEX_FACES = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]


def outer_quads(hexes):
    """Corner quadrilaterals on the outside of a mesh of hexahedra, normals outwards."""
    faces = np.concatenate([hexes[:, f] for f in HEX_FACES])
    _, index, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[index[count == 1]]


def read_elements(path):
    """Nodes (from 0) of the elements of the first block of an Exodus file, one row each."""
    with netcdf_file(path, mmap=False) as file:
        return file.variables["connect1"][:].astype(int) - 1


def draw_surface(axes, points, triangles, colours, view=(28, -62), title="", zoom=1.08):
    """Points in m; one RGBA colour a triangle, darkened a little by the direction of the face."""
    x = 1e3 * points
    normal = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    normal /= np.linalg.norm(normal, axis=1)[:, None] + 1e-300
    # faces that look away are hidden by others; without them matplotlib's sorting errs less
    elevation, azimuth = np.radians(view)
    towards = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    seen = normal @ towards > -0.2
    normal, triangles, colours = normal[seen], triangles[seen], colours[seen].copy()
    colours[:, :3] *= (0.6 + 0.4 * np.abs(normal @ np.array([0.3, -0.5, 0.81])))[:, None]
    # smoothed edges would let the background through
    faces = Poly3DCollection(x[triangles], facecolors=colours, linewidths=0, antialiased=False)
    faces.set_clip_on(False)
    axes.add_collection3d(faces)
    low, high = x.min(axis=0), x.max(axis=0)
    axes.set_xlim(low[0], high[0]), axes.set_ylim(low[1], high[1]), axes.set_zlim(low[2], high[2])
    axes.set_box_aspect(high - low, zoom=zoom)
    axes.view_init(*view)
    axes.set_axis_off()
    axes.patch.set_visible(False)
    axes.set_title(title, fontsize=10, y=0.84)


# ---- stress of a simulation (paper 001, Figs. 8 to 10 and 16 to 18) ----

def read_stress(folder, body, case=""):
    """Of the only body in stress.h5: von Mises stress [Pa] and strain and the stress along x, instants by nodes, and
    the maximum over time."""
    with h5py.File(folder / case / "stress.h5") as file, h5py.File(folder / case / f"{body}.reduced.h5") as reduced:
        group = file["bodies/0"]
        assert group.attrs["name"] in (body, body.encode()) and (group["node_ids"][:] == reduced["nodes/node_ids"][:]).all()
        xx, yy, zz, xy, yz, zx = np.moveaxis(group["at/strain"][:], 2, 0)
        # sqrt(2/3 e : e) of the deviator; shear strains are engineering ones
        strain = 2 / 3 * np.sqrt(((xx - yy)**2 + (yy - zz)**2 + (zz - xx)**2) / 2 + 3 / 4 * (xy**2 + yz**2 + zx**2))
        return {"t": file["time"][:], "points": reduced["nodes/points"][:], "ids": group["node_ids"][:],
                "stress": group["at/von_mises"][:], "axial": group["at/stress"][:, :, 0], "strain": strain,
                "maximum": group["maximum/von_mises"][:], "largest": dict(group["maximum"].attrs)}


def compared_history(axes, t, reference, cases, scale, labels):
    """Left the quantity, right its absolute difference to the reference. `cases`: label, values, colour of each."""
    left, right = axes
    left.plot(t, scale * reference, color=BLACK, lw=2.2, label="reference")
    for label, values, colour in cases:
        left.plot(t, scale * values, color=colour, lw=1, label=label)
        right.semilogy(t[1:], scale * np.abs(values - reference)[1:], color=colour, lw=0.8, label=label)
    left.set_ylabel(labels[0]), right.set_ylabel(labels[1])
    for axis in axes:
        axis.grid(color="0.9", lw=0.6)
        axis.set_xlim(0, t[-1])


def contour_figure(rows, points, triangles, path, view, height=1.0, zoom=2.7, decades=4):
    """`rows`: title, unit, reference, and (label, values) of those that are compared with it, each in units to be shown. A row
    has the reference, then the absolute differences on one logarithmic scale, with the largest value written. `height` of the
    body in a row [inch]."""
    columns, above, below = 1 + len(rows[0][3]), 0.46, 0.44
    high = len(rows) * (height + above + below)
    width = 3.4
    figure = plt.figure(figsize=(width * columns, high))

    def box(left, bottom, wide, tall):  # from inches
        return [left / (width * columns), bottom / high, wide / (width * columns), tall / high]

    for row, (title, unit, reference, cases) in enumerate(rows):
        errors = [(label, np.abs(values - reference)) for label, values in cases]
        top = max(e.max() for _, e in errors)
        log = LogNorm(top / 10**decades, top)
        panels = [(title, reference, Normalize(0, reference.max()), "viridis")]
        panels += [(f"difference at {label}", error, log, "magma") for label, error in errors]
        bottom = high - (row + 1) * (height + above + below)
        for column, (text, value, norm, colours) in enumerate(panels):
            axes = figure.add_axes(box(column * width + 0.1, bottom + below, width - 0.2, height), projection="3d")
            face = np.maximum(value[triangles].mean(axis=1), norm.vmin)
            draw_surface(axes, points, triangles, plt.get_cmap(colours)(norm(face)), view=view, zoom=zoom)
            largest = f"{value.max():.0f}" if value.max() >= 100 else f"{value.max():.2g}"
            figure.text((column + 0.5) / columns, (bottom + below + height + 0.06) / high, f"{text}\nat most {largest} {unit}",
                        ha="center", fontsize=9)
        # one scale for the reference, one for all differences
        for norm, colours, left, wide in ((panels[0][2], "viridis", 0.5, width - 1),
                                          (log, "magma", width + 0.5, (columns - 1) * width - 1)):
            bar = figure.colorbar(plt.cm.ScalarMappable(norm, colours), cax=figure.add_axes(box(left, bottom + below - 0.08, wide, 0.07)),
                                  orientation="horizontal")
            bar.ax.tick_params(labelsize=7, pad=1)
            bar.ax.text(1.01, 0.5, unit, transform=bar.ax.transAxes, fontsize=7, va="center")
    save(figure, path, dpi=95)


# ---- models for many parameters (paper 004) ----

COMBINATIONS = [("grassmann", "Grassmann interpolation", dict(color=BLUE, marker="o")),
                ("global", "one basis from all samples", dict(color=ORANGE, marker="s")),
                ("nearest", "basis of the nearest sample", dict(color=GREEN, marker="^"))]


def tests_where(summary, **wanted):
    """Tests of a training whose entries are as wanted, those that failed left out."""
    return [test for test in summary["training"]["tests"]
            if not test.get("problem") and all(test[key] == value for key, value in wanted.items())]


def pod_values_figure(folder, path, shown):
    """Singular values of every sample, and what the two truncation rules make of them; the first `shown` modes."""
    training = json.loads((folder / "summary.json").read_text())["training"]
    table = read_csv(folder / "singular_values.csv")
    values = np.array([column for name, column in table.items() if name.startswith("sample")])
    values[np.isnan(values)] = 0
    modes = np.arange(1, shown + 1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4))
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(values)))
    for k, (sigma, colour) in enumerate(zip(values, colours), 1):
        left.semilogy(modes, sigma[:shown] / sigma[0], color=colour, lw=1.1, label=f"sample {k}")
    left.set_xlabel("mode"), left.set_ylabel("singular value / the largest")
    left.set_title("of the nodal coordinates less those of the start", fontsize=10)
    left.legend(frameon=False, fontsize=8, ncol=2 if len(values) > 5 else 1)
    rest = 1 - training["fraction"]
    for power, rule, colour in ((1, "singular-values", BLUE), (2, "energy", RED)):
        sums = np.cumsum(values**power, axis=1)
        missing = 1 - (sums / sums[:, -1:])[:, :shown]
        right.fill_between(modes, missing.min(axis=0), missing.max(axis=0), color=colour, alpha=0.25, lw=0)
        proposed = training["proposed"]
        text = "sum of the singular values" if power == 1 else "sum of their squares (variance)"
        right.semilogy(modes, missing.max(axis=0), color=colour, lw=1.3,
                       label=f"{text}: {proposed[rule]} modes, mean-centred {proposed[rule + '_centred']}")
        right.plot(proposed[rule], missing.max(axis=0)[proposed[rule] - 1], "o", color=colour, ms=6)
    right.axhline(rest, color="0.5", lw=1, ls=(0, (5, 3)))
    right.text(shown, 1.15 * rest, f"{100 * training['fraction']:g} % are there", color="0.4", fontsize=9, ha="right")
    right.set_ylim(1e-8, 30)
    right.set_xlabel("modes"), right.set_ylabel("what is missing, of all modes")
    right.set_title("the two rules: band over the samples, line the worst", fontsize=10)
    right.legend(frameon=False, fontsize=9, loc="upper right")
    finish_grid(figure, path)


def pod_combinations_figure(folder, path, sensor, tests, goals):
    """Error of a sensor over the order, a panel for each test: (name, title). `goals`: order to error, of all of them."""
    summary = json.loads((folder / "summary.json").read_text())
    alone = len(tests) == 1
    figure, panels = plt.subplots(1, len(tests), figsize=(7.2 if alone else 1.2 + 3.3 * len(tests), 4.2), sharey=True, squeeze=False)
    for axes, (name, title) in zip(panels[0], tests):
        for combination, label, style in COMBINATIONS:
            found = tests_where(summary, test=name, combination=combination)
            axes.semilogy([test["order"] for test in found], [test["errors"][sensor] for test in found], lw=1.2, ms=5, label=label, **style)
        axes.plot(list(goals), list(goals.values()), "_", color=BLACK, ms=16, mew=1.6, label="goal")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("order r"), axes.set_xticks([test["order"] for test in tests_where(summary, test=name, combination="grassmann")])
    panels[0][0].set_ylabel(f"relative L2 error of {sensor}")
    handles, labels = panels[0][0].get_legend_handles_labels()
    if alone:
        panels[0][0].legend(handles, labels, loc="lower left", frameon=False, fontsize=9)
    else:
        figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=9)
    finish_grid(figure, path, rect=(0, 0 if alone else 0.08, 1, 1))


def pod_history(axes, full, reduced, column, ylabel, chosen):
    """Above the full model and the chosen reduced one, below the differences. `reduced`: (label, sensors, colour) each."""
    top, bottom = axes
    top.plot(full["t"], full[column], color="0.72", lw=5, label="full model")
    for label, sensors, colour in reduced:
        if label == chosen:
            top.plot(sensors["t"], sensors[column], color=colour, lw=1.3, ls=(0, (4, 2)), label=label)
        bottom.semilogy(full["t"], np.maximum(np.abs(sensors[column] - full[column]), 1e-12), color=colour, lw=0.9, label=label)
    top.set_ylabel(ylabel), bottom.set_ylabel("|difference|, m"), bottom.set_xlabel("time, s")
    bottom.set_ylim(1e-8, None)
    top.legend(frameon=False, fontsize=9), bottom.legend(frameon=False, fontsize=9, ncol=len(reduced), loc="lower right")


def read_nodes(folder, bodies):
    """Times [s] and nodal positions of each body, (samples, nodes, 3) [m]."""
    with h5py.File(folder / "result.h5") as file:
        return file["time"][:], {name: file[f"nodes/{name}/positions"][:] for name in bodies}


def finish_grid(figure, path, rect=(0, 0, 1, 1), dpi=100):
    for axes in figure.axes:
        axes.grid(color="0.92", lw=0.6)
        axes.set_axisbelow(True)
    figure.tight_layout(rect=rect)
    save(figure, path, dpi=dpi)


def save(figure, path, dpi=110):
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
    print(f"wrote {path}")
