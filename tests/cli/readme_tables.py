"""The numbers of the examples' READMEs, and of the table of README.md, against what a run has left and printed.

For each table that a README prints of a run, TABLES has a function that gives the cells of a row from the results; what is not checked stands
beside it with its reason. The rule for a number (same_number): as many digits as the page prints, of which the last may differ by one, or 1e-3 of
it, since iterations end a little differently with other compilers and BLAS. Counts are exact. What is made of round-off is within a factor of ten.
All of that with the gmsh of Debian 12, whose meshes these are.
"""

import csv
import json
import math
import pathlib
import re
import subprocess
from unittest import mock

from support import SOURCE, load_script

GMSH = "4.8.4"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")


class LeftOut(str):
    """Why a cell is not compared."""


TIME = LeftOut("a time of this machine")
PAPER = LeftOut("a number of the paper, or made by hand")
LABEL = LeftOut("what the row is about")


class RoundOff(float):
    """A number that round-off makes: its order of magnitude is compared."""


def numbers(text):
    """The texts of the numbers in a cell; digits of units and names (m2, B1) are none."""
    return [word.rstrip(",") for word in NUMBER.findall(text)]


def same_number(said, found):
    """Whether the page's number, a text, is the one found."""
    value = float(said.replace(",", ""))
    if isinstance(found, int):
        return value == found
    if isinstance(found, RoundOff):
        return value == found or value * found > 0 and 0.1 <= value / found <= 10
    mantissa, _, exponent = said.replace(",", "").lower().partition("e")
    last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(value - found) <= max(1.000001 * last, 1e-3 * abs(found))


def same_word(said, found):
    """Of a text as it is printed: words are equal, or are numbers that are the same in the same surroundings."""
    if said == found:
        return True
    if NUMBER.split(said) != NUMBER.split(found):
        return False
    pairs = list(zip(numbers(said), numbers(found)))
    return bool(pairs) and all(a == b if re.fullmatch(r"[\d,]+", a) and re.fullmatch(r"[\d,]+", b) else same_number(a, float(b.replace(",", "")))
                               for a, b in pairs)


def plain(cell):
    return re.sub(r"\s+", " ", cell.replace("*", "").replace("`", "")).strip()


def tables(text):
    """(cells of the heading, rows of cells) of each table."""
    found = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [[plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in block.splitlines()]
        if len(rows) > 2 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
            found.append((rows[0], rows[2:]))
    return found


class Results:
    """What a run has left in its folder, and what its commands have printed."""

    def __init__(self, folder, printed):
        self.folder, self.printed = pathlib.Path(folder), printed
        self.summary = json.loads((self.folder / "summary.json").read_text())
        self.models = self.summary.get("models", {})

    def run(self, case=""):
        return self.summary["cases"][case]["simulation"] if case else self.summary["simulation"]

    def sensors(self, case=""):
        with open(self.folder / case / "sensors.csv") as file:
            rows = list(csv.DictReader(file))
        return {name: [float(row[name]) for row in rows] for name in rows[0]}

    def farthest(self, case, of):
        """Largest distance of a point between the run of a case and the reference, at the times that both have."""
        one, other = self.sensors(), self.sensors(case)
        at = {round(t, 9): k for k, t in enumerate(one["t"])}
        return max(math.dist([one[f"{of}.{k}"][at[round(t, 9)]] for k in "xyz"], [other[f"{of}.{k}"][j] for k in "xyz"])
                   for j, t in enumerate(other["t"]) if round(t, 9) in at)

    def find(self, pattern):
        """The groups of all lines printed that have this in them, numbers as such."""
        def value(text):
            try:
                return float(text)
            except ValueError:
                return text

        found = re.findall(pattern, self.printed)
        assert found, f"nothing printed has {pattern!r}:\n{self.printed}"
        return [[value(text) for text in (groups if isinstance(groups, tuple) else (groups,))] for groups in found]


# ---- reductions of bodies

METHODS = {
    "paper's rule, its estimate (Eqs. 42-43)": "paper's rule, its estimate", "paper's rule (001), its estimate": "paper's rule, its estimate",
    "modes ranked by contribution, exact error": "ranked modes, exact error", "modes and residual vectors, exact error": "modes and B, exact error",
}


def counts(body, most):
    def row(results, label, cells):
        if label.startswith("paper 001"):
            return [PAPER] * 4
        methods = results.summary["bodies"][body]["reduce"]["comparison"]["methods"]
        method = next(m for m in methods if m["name"] == METHODS.get(label, label))
        return [f"over {most}" if n is None else f"{n} c" if proven else f"{n}" for n, proven in zip(method["coordinates"], method["certified"])]
    return row


def mode_errors(body):
    def row(results, label, cells):
        mode = results.summary["bodies"][body]["reduce"]["errors"][int(label) - 1]
        return [[mode["frequency_hz"]], *([100 * mode[key]] for key in ("zeta_2", "bound", "exact"))]
    return row


def crankshaft_gcms(results, label, cells):
    gcms = results.summary["bodies"]["crankshaft"]["gcms"]
    scaled = next(step for step in gcms["algorithm_1"]["steps"] if step["step"] == "scaled")
    largest = gcms["algorithm_1"]["removed"][0]
    worst = max(gcms["algorithm_1"]["modes"], key=lambda mode: mode["eigenvalue_error"])
    removed, flexible = gcms["algorithm_1"]["removed_columns"], gcms["columns"] - 12
    here = {
        "columns (flexible)": [gcms["columns"], flexible],
        "cond(Phi_f) as it is": [gcms["as_they_are"]["flexible_condition"]],
        "cond(Phi) as it is": [gcms["as_they_are"]["condition"]],
        "cond(Phi), columns scaled": [scaled["condition"]],
        "largest cosine of different columns": [largest["value"], int(largest["column"].split()[1])],
        "columns removed by Algorithm 1": [removed, flexible],
        "largest eigenvalue error of Algorithm 1": [worst["eigenvalue_error"], worst["mode"]],
        "scalar basis: cond in the mass norm, columns, eigenvalue error":
            [gcms["scalar"]["steps"][-1]["mass_condition"], gcms["scalar"]["coordinates"], gcms["columns"], RoundOff(gcms["scalar"]["max_eigenvalue_error"])],
    }
    return [PAPER, here[label]]


def algorithm_1(results, label, cells):
    gcms = results.summary["bodies"][label]["gcms"]
    steps = {step["step"]: step for step in gcms["algorithm_1"]["steps"]}
    pairs = [[steps[name]["condition"], steps[name]["flexible_condition"]] for name in ("as they are", "scaled", "cosine")]
    rigid = 12
    return [*pairs, [gcms["algorithm_1"]["removed_columns"], gcms["columns"] - rigid], [gcms["algorithm_1"]["max_eigenvalue_error"]]]


def scalar_basis(results, label, cells):
    gcms = results.summary["bodies"][label]["gcms"]
    last = gcms["scalar"]["steps"][-1]
    return [[last["condition"]], [last["mass_condition"]], [gcms["scalar"]["coordinates"], gcms["columns"]], [gcms["scalar"]["max_eigenvalue_error"]]]


def beside_the_paper(results, label, cells):
    bodies = {name: body["gcms"] for name, body in results.summary["bodies"].items()}
    square, circle, steel = bodies["square"], bodies["circle"], bodies["steel"]
    removed = {name: gcms["algorithm_1"]["removed_columns"] for name, gcms in bodies.items()}
    at = {point["threshold"]: point["removed_columns"] for point in square["sweep"]}
    reduced = next(step for step in square["algorithm_1"]["steps"] if step["step"] == "cosine")
    sections = [name for name in bodies if name != "steel"]
    flexible = [bodies[name]["as_they_are"]["flexible_condition"] for name in bodies]
    error = {name: gcms["algorithm_1"]["max_eigenvalue_error"] for name, gcms in bodies.items()}
    # singular values by fields, three columns each
    values = circle["singular_values"]
    drop = max(range(1, len(values)), key=lambda k: values[k - 1] / values[k])
    similar = {(r["column"].split()[1], r["like"].split()[1]): r["value"] for r in square["algorithm_1"]["removed"]}
    here = {
        "square, cond(Phi_f) as it is": [square["as_they_are"]["flexible_condition"]],
        "square, cosine of T1 and B1": [similar["1", "7"]],
        "square, cosine of L2 and B1": LeftOut("in square.gcms.h5 only"),
        "square, columns removed": [at[0.993], 0.993, at[0.975], 0.975],
        "square, scaled and reduced: cond(Phi_f), cond(Phi)": [reduced["flexible_condition"], reduced["condition"]],
        "columns removed of 72, all sections": [min(removed[name] for name in sections) / 0.72, max(removed[name] for name in sections) / 0.72],
        "as they are, all sections: cond(Phi_f)": [min(flexible), max(flexible)],
        "circle, big drop of the singular values of Phi after number": [3 * drop],
        "steel, columns removed": [removed["steel"], steel["columns"] - 12],
        "steel, cond(Phi) as it is": [steel["as_they_are"]["condition"]],
        "eigenvalue error after removal: square, circle": [error["square"], error["circle"]],
    }
    return [PAPER, PAPER, here[label]]


def rod_modes(results, label, cells):
    return [[f for f in results.summary["bodies"][label]["frequencies_hz"] if f > 1][:4]]


# ---- mechanisms

def four_bar(results, label, cells):
    run = results.run({"FFRF": "", "FNCF": "fncf", "GCMS": "gcms"}[label])
    own = [run["own_constraints"]] if run["own_constraints"] else []
    return [[run["coordinates"]], [run["joint_constraints"], *own], [run["degrees_of_freedom"]], [run["energy_drift"]], [RoundOff(run["constraint_drift"])], TIME]


def four_bar_difference(results, label, cells):
    return [PAPER, results.find(rf"{label} to FFRF: largest difference of any node (\S+) of")[0]]


# models in the order of the table's rows
SLAP_ROWS = [["m2"], ["m3"], ["m4"], ["m6"], ["m10"], ["m20"], ["noise, data joints, m10"], ["noise, m10"], ["reversed, m6", "reversed, m10"],
             [f"reversed, trained on both, m{m}" for m in (6, 8, 10)], ["sudden, m6"], ["sudden, trained on the ramp, m6"]]


def four_bar_slap(results, label, cells, place):
    models = [results.models[name] for name in SLAP_ROWS[place]]
    largest = [models[0]["largest_error"]] if cells[4] else []
    if " at " in cells[4]:
        largest.append(models[0]["unknowns"])
    return [LABEL, [m["unknowns"] for m in models], [m["epsilon"] for m in models], largest, [m["trust"]["largest"] for m in models]]


def four_bar_slap_runs(results, label, cells, place):
    case = ["", "ffrf", "m6", "m6, 0.2 ms", "m6, central differences"][place]
    run = results.run(case)
    unknowns = [run["coordinates"], *([run["constraints"]] if run["constraints"] else [])]
    return [unknowns, [run["steps"]], TIME, [results.farthest(case, "top")] if case else []]


def exudyn(results, label, cells, place):
    if place == 0:
        run = results.run()
        return [[run["coordinates"], run["constraints"]], results.find(r"FFRF to Exudyn: epsilon (\S+) m2")[0]]
    epsilon = {order["m"]: order["epsilon"] for order in results.summary["training"]["orders"]}
    name = {3: "slap", 6: "six modes"}.get(int(cells[1]), "") if "alone" not in label else "data alone"
    return [[int(cells[1])], results.find(rf"^{name} to Exudyn: epsilon (\S+) m2".replace("^", r"(?m)^"))[0] if name else [epsilon[int(cells[1])]]]


def pendulum(results, label, cells):
    name, case = {"reference, 1e-6": ("", ""), "half the step": ("", "half-step")}.get(label, (None, None))
    if name is None:
        name = re.match(r"reduced to (\S+ %)", label)[1]
        case = {"10 %": "tol-10", "1 %": "tol-1", "0.1 %": "tol-0.1"}[name]
    run = results.run(case)
    distance = [[], []]
    if name:
        after, seen = results.find(rf"reduced to {name}: (\S+) m after 1 s, above 1 mm after (\S+) s")[0]
        distance = [[after], [seen]]
    elif case:
        at = results.sensors()["t"].index(1.0)
        one, other = results.sensors(), results.sensors(case)
        distance = [[math.dist([one[f"A.{k}"][at] for k in "xyz"], [other[f"A.{k}"][other["t"].index(1.0)] for k in "xyz"])],
                    results.find(r"own error above 1 mm after (\S+) s")[0]]
    return [[run["steps"]], [run["energy_drift"]], [RoundOff(run["constraint_drift"])], *distance]


def pendulum_stress(results, label, cells):
    cases = ["10 %", "1 %", "0.1 %"]
    stress = [results.find(rf"von Mises stress of B until \S+ s, reduced to {case}: at most (\S+), rms (\S+) of")[0] for case in cases]

    def half(key):
        """Largest difference of half the step and root mean square, until the motion is no longer certain; plot.py draws them only."""
        until = results.find(r"own error above 1 mm after (\S+) s")[0][0]
        one, other = results.sensors(), results.sensors("half-step")
        differences = [abs(a - b) for t, a, b in zip(one["t"], one[key], other[key]) if t <= until]
        return max(differences), math.sqrt(sum(d * d for d in differences) / len(differences))

    if label.startswith("von Mises stress"):
        return [*([1e3 * s[0]] for s in stress), [1e-3 * half("B stress.von_mises")[0]]]
    if label == "root mean square":
        return [*([1e3 * s[1]] for s in stress), [1e-3 * half("B stress.von_mises")[1]]]
    if label.startswith("von Mises strain"):
        return [*([results.find(rf"von Mises strain of B until \S+ s, reduced to {case}: at most (\S+),")[0][0]] for case in cases),
                [1e6 * half("B strain.von_mises")[0]]]
    # largest stress of all nodes, until the motion is no longer certain and until the end
    until = 3.6 if label == "largest stress of all nodes" else math.inf

    def largest(case):
        data = results.sensors(case)
        return [1e-6 * max(s for t, s in zip(data["t"], data["largest stress.von_mises"]) if t <= until)]

    return [largest(case) for case in ("tol-10", "tol-1", "tol-0.1", "half-step")]


def robot_arm(results, label, cells, place):
    printed = results.find(r"(?m)^(?:shoulder|elbow|sag|stress|first)[^\n]*?by hand +(\S+) (?:N m|mm|MPa|Hz) +lissom +(\S+)")
    ringing = results.find(r"ringing after the motion (\S+) Hz, damping (\S+) %; +linearised about its end (\S+) Hz, (\S+) %")
    if place < len(printed):
        return [[printed[place][0]], [printed[place][1]], LABEL]
    fit = ringing[place - len(printed)]
    return [fit[:2], fit[2:], LABEL]


def slider_crank(results, label, cells):
    case = {"10 %": "tol-10", "1 %": "tol-1", "0.1 %": "tol-0.1", "half the step": ""}[label]
    reduce = (results.summary["cases"][case] if case else results.summary)["bodies"]["rod"]["reduce"]
    counts_and_bound = [[reduce["interior_coordinates"]], [100 * reduce["largest"]["bound"]]]
    if not case:
        one, other = results.sensors(), results.sensors("half-step")
        at = {round(t, 9): k for k, t in enumerate(one["t"])}
        return counts_and_bound + [[1e-3 * max(abs(x - one[f"A.{k}"][at[round(t, 9)]]) for t, x in zip(other["t"], other[f"A.{k}"]) if round(t, 9) in at)]
                                   for k in "xy"]
    differences = [results.find(rf"a_{k}, reduced to {label}: at most (\S+) m/s2")[0] for k in "xy"]
    if "round-off" in cells[4]:
        differences[1] = [RoundOff(differences[1][0])]
    return counts_and_bound + differences


def slider_crank_stress(results, label, cells):
    pattern, scale = {"von Mises stress of B": (r"von Mises stress of B, reduced to {}: at most (\S+) of (\S+) kPa", 100),
                      "von Mises stress of all nodes, 0.4495 s (Fig. 17)": (r"stress at 0.4495 s, reduced to {}: at most (\S+) of (\S+) kPa", 1),
                      "von Mises strain of all nodes, 0.207 s (Fig. 18)": (r"strain at 0.207 s, reduced to {}: at most (\S+) of (\S+) ", 1)}[label]
    found = [results.find(pattern.format(case))[0] for case in ("10 %", "1 %", "0.1 %")]
    return [[found[0][1]], *([scale * value] for value, _ in found)]


def suspension(results, label, cells):
    name = label.partition(" ")[0]
    wheel, off, acceleration, of, epsilon, trust = results.find(
        rf"(?m)^{name} +wheel moves +(\S+) mm, off by +(\S+) um; acceleration off by (\S+) of (\S+) m/s2; epsilon (\S+) m2, trust (\S+),")[0]
    outside = results.models[f"{name} small"]["trust"]["outside_since"]
    return [[wheel], [off], [acceleration, of], [epsilon], [trust, *([1e3 * outside] if outside else [])]]


# ---- beams

def pendulum_errors(results, label, cells):
    tests = {(t["test"], t["combination"], t["order"]): t["errors"]["tip.y"] for t in results.summary["training"]["tests"]}
    order = int(cells[1])
    return [[order], *([tests[label.replace(" s", "").replace(" ", "-"), combination, order]] for combination in ("grassmann", "global", "nearest")), PAPER]


def linkage_errors(results, label, cells):
    tests = {(t["test"], t["combination"], t["order"]): t["errors"]["B.y"] for t in results.summary["training"]["tests"] if t["test"] == "load-0.935"}
    return [[tests["load-0.935", combination, int(label)]] for combination in ("grassmann", "global", "nearest")]


def linkage_forces(results, label, cells):
    kind = label.partition(",")[0]
    error = next(t["errors"]["B.y"] for t in results.summary["training"]["tests"] if t["test"] == "forces" and t["force"] == kind)
    why = results.run("reduced")["pod"]["force_why"].replace(",", "")
    ecsw, points, of = map(int, re.search(r"ecsw:? (\d+) (?:products per evaluation )?at (\d+) of (\d+) points", why).groups())
    products = {"ecsw": ecsw, "tensor": int(re.search(r"tensor:? (\d+)", why)[1]), "direct": int(re.search(r"all elements (\d+)", why)[1])}
    if kind == "ecsw":
        assert numbers(label) == [str(points), str(of)], (label, why)
    return [[error], [products[kind]]]


def rolled_up(results, label, cells):
    gaps, orders = {}, {}
    for coarse, a, fine, b, order in results.find(r"gap (\S+) m with (\d+), (\S+) m with (\d+) elements: order (\S+)"):
        gaps[int(a)], gaps[int(b)], orders[int(b)] = coarse, fine, order
    elements = int(label)
    return [[gaps[elements]], [gaps[elements] / 3], [orders[elements]] if elements in orders else []]


# What a table is of, by the beginning of its heading; rows by `label` (the first cell, of an empty one that above) or by their `place`.
TABLES = {
    "cylinder": [("tolerance", counts("cylinder", 500)), ("flexible mode", mode_errors("cylinder"))],
    "connecting-rod": [("flexible mode", mode_errors("rod")), ("tolerance", counts("rod", 400))],
    "crankshaft": [("flexible mode", mode_errors("crankshaft")), ("interior coordinates for", counts("crankshaft", 60)), ("|paper 002", crankshaft_gcms)],
    "gcms-beams": [("Algorithm 1", algorithm_1), ("scalar basis", scalar_basis), ("|paper", beside_the_paper)],
    "rod-modes": [("|first four elastic modes, Hz", rod_modes)],
    "four-bar": [("|coordinates", four_bar), ("largest difference of any node", four_bar_difference)],
    "four-bar-slap": [("load", four_bar_slap), ("ramped load", four_bar_slap_runs)],
    "four-bar-exudyn": [("against Exudyn's trajectory", exudyn)],
    "quadruple-pendulum": [("|steps", pendulum), ("until 3.6 s", pendulum_stress)],
    "robot-arm": [("|by hand", robot_arm)],
    "slider-crank": [("rod reduced to", slider_crank), ("largest difference", slider_crank_stress)],
    "suspension-slap": [("run", suspension)],
    "ancf-double-pendulum": [("|r|Grassmann", pendulum_errors)],
    "ancf-four-bar": [("r|Grassmann", linkage_errors), ("forces of the beams", linkage_forces)],
    "ancf-spatial": [("elements", rolled_up)],
}
# Tables that no run of the example makes, by the beginning of their heading.
OTHER_TABLES = {
    "ancf-double-pendulum": {"|upper": "what the study says"},
    "ancf-four-bar": {"|crank": "what the study says"},
    "four-bar-exudyn": {"|Exudyn 1e-4 s": "runs of Exudyn with other steps", "Newton's method": "runs of Exudyn with other tolerances"},
}


def problems(name, text, results):
    """What is wrong in the tables of a README, and how many numbers and words of it were compared."""
    wrong, compared = [], 0
    found = {"|".join(heading): (heading, rows) for heading, rows in tables(text)}
    for begin, row_of in TABLES[name]:
        key = next((key for key in found if key.startswith(begin)), None)
        if key is None:
            wrong.append(f"there is no table that begins with {begin}")
            continue
        heading, rows = found.pop(key)
        label = ""
        for place, cells in enumerate(rows):
            label = cells[0] or label
            by_place = "place" in row_of.__code__.co_varnames[:row_of.__code__.co_argcount]
            expected = row_of(results, label, cells, place) if by_place else row_of(results, label, cells)
            if len(expected) != len(cells) - 1:
                wrong.append(f"{heading[0] or key}, {label}: {len(cells) - 1} cells, expected {len(expected)}")
                continue
            for title, said, value in zip(heading[1:], cells[1:], expected):
                if isinstance(value, LeftOut):
                    continue
                compared += 1
                words = numbers(said)
                right = said == value if isinstance(value, str) else len(words) == len(value) and all(map(same_number, words, value))
                if not right:
                    wrong.append(f"{heading[0] or key}, {label}, {title}: the page says {said!r}, the run {value}")
    for key in found:
        if not any(key.startswith(begin) for begin in OTHER_TABLES.get(name, {})):
            wrong.append(f"nothing checks the table {key}")
    return wrong, compared


def problems_of_front_page(name, text, summary, readme_table):
    """What is wrong in the rows of README.md's table that are of an example; times are not compared."""
    wrong, compared = [], 0
    block = re.search(r"<!-- table -->\n(.*?)\n<!-- /table -->", text, re.DOTALL)[1].splitlines()
    for (example, row), line in zip(readme_table.ROWS, block[2:]):
        if example != name:
            continue
        for said, value in list(zip([cell.strip() for cell in line.strip("| ").split(" | ")], row(summary)))[:-1]:
            compared += 1
            pairs = list(zip(numbers(said), numbers(value)))
            if NUMBER.split(said) != NUMBER.split(value) or not all(same_number(a, float(b.replace(",", ""))) for a, b in pairs):
                wrong.append(f"README.md: {said!r}, the run {value!r}")
    return wrong, compared


def other_gmsh():
    """The version of gmsh where it is not the one whose meshes the pages describe, or an empty text."""
    done = subprocess.run(["gmsh", "--version"], capture_output=True, text=True)
    version = (done.stdout + done.stderr).strip()
    return "" if version.startswith(GMSH) else version


def follow(test, reader, pages, name):
    """Follows the README of an example, as `reader` of scripts/follow-page (the module `pages`), and compares the numbers of its blocks and
    tables with those of its run; what the commands printed, by command."""
    other = other_gmsh()
    try:
        with mock.patch.object(pages, "same_word", pages.same_word if other else same_word):
            printed = reader.follow((SOURCE / "examples" / name / "README.md").read_text())
    except pages.Mismatch as problem:
        test.fail(problem)
    if other:
        print(f"skipped: {name}: numbers of its README: they are those of meshes by gmsh {GMSH}, and here is {other}")
        return printed
    results = Results(reader.folder / "results", "".join(printed.values()))
    wrong, compared = problems(name, (SOURCE / "examples" / name / "README.md").read_text(), results)
    front, more = problems_of_front_page(name, (SOURCE / "README.md").read_text(), results.summary, load_script("readme-table"))
    test.assertEqual(wrong + front, [], f"examples/{name}/README.md")
    test.assertGreater(compared + more, 0)
    return printed
