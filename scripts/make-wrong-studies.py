#!/usr/bin/env python3
"""Writes tests/data/wrong-studies/generated: study files with one thing wrong each, made of the JSON Schema.

    scripts/make-wrong-studies.py            # from docs/reference/study.schema.json

Every file has in its first line what the message must contain: `# expect: TEXT`, several separated by ` | `. What is right
about them is in BASES below; what is wrong follows from the schema: a key misspelt, of another kind, out of bounds, with a
word that is none, with a unit of something else, or missing. The wrong files written by hand are in by-hand, beside.
"""

import copy
import json
import pathlib
import shutil

SOURCE = pathlib.Path(__file__).resolve().parents[1]
OUT = SOURCE / "tests" / "data" / "wrong-studies" / "generated"
SCHEMA = json.loads((SOURCE / "docs" / "reference" / "study.schema.json").read_text())

RIGID = {"mass": 1.5, "center": [0.1, 0, 0], "inertia": [0.1, 0.2, 0.3]}
LINK = {"rigid": RIGID, "points": {"hub": [0, 0, 0], "tip": [1, 0, 0]}}
HINGE = {"name": "hinge", "kind": "revolute", "between": ["ground", "link.hub"], "axis": [0, 0, 1]}
RUN = {"end": 0.1, "step": 1e-3}
BEAM = {"formulation": "ancf", "from": [0, 0], "to": [1, 0], "elements": 4, "section": {"circle": 0.01}, "young": 2e9, "density": 1000}
MESHED = {"mesh": "../brick.inp", "material": {"E": 2.1e11, "nu": 0.3, "rho": 7850}}
SPIDER = {"name": "left", "kind": "rigid", "box": {"min": [-0.1, -1, -1], "max": [0.1, 2, 2]}}

# small studies that are right, each for some of the keys
BASES = {
    "modes": {"title": "Modes", "units": "SI", "bodies": {"rod": {**MESHED, "mass": "lumped", "skip_elements": False, "modes": {"count": 6, "tolerance": 1e-9, "allow_parts": False, "paraview": False}}}},
    "reduce": {
        "bodies": {
            "rod": {
                **MESHED,
                "spiders": [SPIDER],
                "reduce": {
                    "interfaces": ["left"], "basis": "craig-bampton", "method": "certified", "modes": 3, "tolerance": 0.01, "initial": 2, "max_modes": 50,
                    "residual_vectors": True, "ranking": "frequency", "damping": {"ratio": 0.01}, "stress": True, "gcms": False, "paraview": False,
                    "exact": False, "compare": [0.1, 0.01], "compare_max_modes": 20, "sweep": [1, 5], "allow_parts": False,
                },
            }
        }
    },
    "gcms": {"bodies": {"rod": {**MESHED, "gcms": {"modes": 3, "method": "scalar", "truncation": 1e-4, "threshold": 0.99, "condition": 50.0, "thresholds": [0.9], "pair_angle": 10.0}}}},
    "orthotropic": {
        "bodies": {
            "rod": {
                "mesh": "../brick.inp",
                "material": {"E1": 1e11, "E2": 1e10, "E3": 1e10, "nu12": 0.3, "nu13": 0.3, "nu23": 0.3, "G12": 5e9, "G13": 5e9, "G23": 4e9, "rho": 1600, "axis1": [1, 0, 0], "axis2": [0, 1, 0]},
                "modes": {"count": 7},
            }
        }
    },
    "spider": {
        "bodies": {
            "rod": {
                **MESHED,
                "spiders": [{"name": "bore", "kind": "averaging", "cylinder": {"point": [0, 0, 0], "axis": [0, 0, 1], "radius": 1.0, "tolerance": 0.5, "from": -1, "to": 2, "inside": True}}],
                "modes": {"count": 7},
            }
        }
    },
    "motion": {
        "gravity": [0, -9.81, 0],
        "bodies": {"link": {**LINK, "position": [0, 0, 0], "rotation": {"axis": [0, 0, 1], "angle_deg": 30}, "velocity": [0, 0, 0], "angular_velocity": [0, 0, 0]}},
        "joints": [{**HINGE, "reference": [1, 0, 0], "at": [0, 0, 0], "motion": "2*t"}],
        "sensors": [{"name": "tip", "kind": "position", "of": "link.tip"}],
        "simulate": {
            **RUN, "model": "full", "sample": 0.01, "integrator": "generalized-alpha", "rho_inf": 0.8, "alpha": -0.1, "index": 3, "max_order": 5, "adaptive": False,
            "tolerance": 1e-6, "elastic_tolerance": 0.03, "newton_tolerance": 1e-10, "newton_iterations": 10, "newton_reuse": 0.3, "share": True, "assemble": False, "start": "placed",
        },
    },
    "springs": {
        "bodies": {"link": LINK},
        "joints": [HINGE],
        "loads": [
            {"name": "spring", "kind": "spring", "between": ["ground", "link.tip"], "at": [0, 1, 0], "stiffness": 100, "damping": 1, "length": 0.5, "preload": 2},
            {"name": "torsion", "kind": "torsion-spring", "between": ["ground", "link.tip"], "axis": [0, 0, 1], "stiffness": 10, "damping": 0.1, "angle_deg": 10},
            {"name": "bushing", "kind": "bushing", "between": ["ground", "link.tip"], "stiffness": [1, 2, 3], "damping": 1, "rotational_stiffness": 4, "rotational_damping": 1},
        ],
        "simulate": RUN,
    },
    "forces": {
        "bodies": {"link": LINK},
        "joints": [HINGE],
        "loads": [
            {"name": "push", "kind": "force", "on": "link.tip", "force": [0, "sin(t)", 0], "factor": "ramp(t, 0, 1)", "following": False},
            {"name": "twist", "kind": "torque", "on": "link.tip", "torque": [0, 0, 1]},
            {"name": "line", "kind": "line-force", "between": ["ground", "link.tip"], "at": [0, 1, 0], "force": 3},
        ],
        "simulate": RUN,
    },
    "beam": {"bodies": {"cable": {**BEAM, "dimension": 2, "axial": "green", "bending": "second-derivative", "damping": {"beta": 0.001}}},
             "joints": [{"name": "pin", "kind": "revolute", "between": ["ground", "cable.start"]}], "simulate": RUN},
    "train": {
        "bodies": {"link": LINK},
        "joints": [HINGE],
        "simulate": RUN,
        "train": {"order": 3, "max_order": 10, "reference": 1, "tolerance": 1e-6, "joints": "project", "modes": "component", "reconstruct": True, "recovery": True, "mass_damping": 0.0, "noise": 0.0},
    },
    "pod": {
        "bodies": {"cable": BEAM},
        "joints": [{"name": "pin", "kind": "revolute", "between": ["ground", "cable.start"]}],
        "simulate": RUN,
        "train": {
            "method": "pod", "plan": "factorial", "seed": 1, "offset": "initial", "weight": "none", "order": 4, "max_order": 20, "keep": 30, "combination": "global",
            "force": "tensor", "ecsw_tolerance": 1e-4, "processes": 1,
            "parameters": {"stiffness": {"key": "bodies.cable.young", "scale": 1e9, "values": [1, 2]}},
            "test": [{"name": "t", "stiffness": 1.5, "end": 0.05, "orders": [4], "combinations": ["global"], "forces": ["tensor"]}],
        },
    },
    "analysis": {
        "bodies": {"link": LINK},
        "joints": [HINGE],
        "loads": [{"name": "push", "kind": "force", "on": "link.tip", "force": [0, 1, 0]}],
        "sensors": [{"name": "tip", "kind": "position", "of": "link.tip"}],
        "linearise": {"about": "start", "modes": 5, "paraview": False},
        "response": {"from": 1, "to": 100, "points": 50, "scale": "log", "inputs": ["push"], "outputs": ["tip"]},
        "sweep": {"parameters": [{"key": "bodies.link.rigid.mass", "from": 1, "to": 2, "points": 3, "scale": "linear"}]},
        "cases": [{"name": "heavy", "set": {"bodies.link.rigid.mass": 3}}],
    },
    "linear": {
        "bodies": {"link": LINK},
        "joints": [HINGE],
        "loads": [{"name": "push", "kind": "force", "on": "link.tip", "force": [0, 1, 0]}],
        "sensors": [{"name": "tip", "kind": "position", "of": "link.tip"}],
        "train": {"method": "linear", "about": "static", "truncation": "frequency", "highest": 100, "statics": True},
    },
}


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    return "{ " + ", ".join(f"{key_text(key)} = {toml(one)}" for key, one in value.items()) + " }"


def key_text(key):
    return key if key and all(c.isalnum() or c in "_-" for c in key) else json.dumps(key)


def is_tables(value):
    return isinstance(value, list) and value and all(isinstance(one, dict) for one in value)


# tables that are written in one line
INLINE = ("rigid", "points", "set", "material", "section", "rotation", "damping", "box", "cylinder")


def write(table, path=()):
    """A table as lines: plain keys first, then the tables in it; those of the third level on are inline."""
    lines, later = [], []
    for key, value in table.items():
        name = ".".join(path + (key_text(key),))
        if isinstance(value, dict) and (len(path) < 2 or path[0] == "train" or key in ("modes", "reduce", "gcms")) and key not in INLINE:
            only_tables = value and all(isinstance(one, dict) for one in value.values())
            later += ([] if only_tables else ["", f"[{name}]"]) + write(value, path + (key_text(key),))
        elif is_tables(value) and len(path) < 3:
            for one in value:
                later += ["", f"[[{name}]]"] + write(one, path + (key_text(key),))
        else:
            lines.append(f"{key_text(key)} = {toml(value)}")
    return lines + later


# ---------------------------------------------------------------------------------------------- the schema


def alternatives(schema):
    """The plain alternatives of what a value may be."""
    if "$ref" in schema:
        return alternatives(SCHEMA["definitions"][schema["$ref"].split("/")[-1]])
    if "anyOf" in schema and "properties" not in schema:
        return [one for each in schema["anyOf"] for one in alternatives(each)]
    return [schema]


def walk(value, schema, path):
    """(path, schema of the key, value) of every key in a study."""
    tables = [one for one in alternatives(schema) if one.get("type") == "object"]
    if isinstance(value, dict) and tables:
        table = tables[0]
        for key, one in value.items():
            known = table.get("properties", {}).get(key)
            below = known if known is not None else table.get("additionalProperties")
            if not isinstance(below, dict):
                raise SystemExit(f"{path}: the schema has no '{key}'")
            yield path + (key,), below, one, known is not None, key in table.get("required", [])
            yield from walk(one, below, path + (key,))
    if isinstance(value, list):
        lists = [one for one in alternatives(schema) if one.get("type") == "array"]
        for number, one in enumerate(value):
            if lists and isinstance(one, dict):
                yield from walk(one, lists[0]["items"], path + (number,))


def changed(study, path, value=None, name=None, remove=False):
    study = copy.deepcopy(study)
    at = study
    for step in path[:-1]:
        at = at[step]
    if remove:
        del at[path[-1]]
    elif name:
        keep = list(at.items())
        at.clear()
        for key, one in keep:
            at[name if key == path[-1] else key] = one
    else:
        at[path[-1]] = value
    return study


def misspelt(word):
    """Two letters in the middle swapped, or one doubled."""
    for at in range(len(word) - 2, 0, -1):
        if word[at] != word[at - 1] and word[at].isalpha() and word[at - 1].isalpha():
            return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
    return word + word[-1]


def accepts(schema, value):
    return (schema.get("minimum", value) <= value <= schema.get("maximum", value)
            and not value <= schema.get("exclusiveMinimum", value - 1)
            and not value >= schema.get("exclusiveMaximum", value + 1))


def wrong_values(schema):
    """(what is wrong, value, further words that the message has)"""
    every = alternatives(schema)
    types = {one.get("type") for one in every}
    numeric = [one for one in every if one.get("type") in ("number", "integer")]
    words = [one for one in every if "enum" in one]
    if not types - {None} or None in types:
        return
    if "object" in types:
        if "number" in types or "string" in types:
            yield "kind", True, "expected"
        elif "array" not in types and "boolean" not in types:
            yield "kind", 7, "expected"
        return
    if words and types == {"string"}:
        yield "word", misspelt(words[0]["enum"][0]), "did you mean"
        yield "kind", 3, "expected"
    elif numeric:
        if "boolean" not in types:
            yield "kind", True, "expected"
        for one in numeric:
            for bound, sign in (("minimum", -1), ("exclusiveMinimum", -0.5), ("maximum", 1), ("exclusiveMaximum", 0.5)):
                if bound in one:
                    value = one[bound] + sign * (1 if bound.endswith("imum") else 0)
                    # which may be right where the key has another meaning
                    if any(accepts(other, value) for other in numeric if other is not one):
                        continue
                    yield bound, (int(value) if one["type"] == "integer" else float(value)), "expected"
        if any(one.get("type") == "number" for one in numeric):
            yield "unit", "5 mol", "unit"
    elif types == {"string", "array"} or types == {"string"}:
        yield "kind", 3, "expected"
    elif types == {"boolean"}:
        yield "kind", "yes", "expected true or false"
    elif types == {"array"}:
        yield "kind", "x", "expected"


def main():
    if OUT.exists():
        shutil.rmtree(OUT)
    OUT.mkdir(parents=True)
    seen = set()
    count = turn = 0
    for base, study in BASES.items():
        number = 0
        for path, schema, value, known, required in list(walk(study, SCHEMA, ())):
            # what one base has shown need not be shown again
            mark = tuple(step for step in path if not isinstance(step, int))
            mark = ("bodies", "NAME") + mark[2:] if mark[0] == "bodies" and len(mark) > 1 else mark
            if (mark, str(value)[:3] if mark[-1] in ("stiffness", "damping", "force") else "") in seen:
                continue
            seen.add((mark, str(value)[:3] if mark[-1] in ("stiffness", "damping", "force") else ""))
            key = str(path[-1])

            def save(what, wrong, *expected):
                nonlocal number, count
                number += 1
                count += 1
                text = "\n".join(["# expect: " + " | ".join(expected)] + write(wrong)) + "\n"
                (OUT / f"{base}-{number:02d}-{key.replace('.', '_').replace(' ', '_')}-{what}.toml").write_text(text)

            turn += 1
            if known and mark != ("bodies",) and len(key) > 3 and turn % 3 == 0:
                wrong = misspelt(key)
                save("misspelt", changed(study, path, name=wrong), wrong)
            if known and required:
                save("missing", changed(study, path, remove=True), f"{key}: is missing")
            # mistakes of one key take turns with those of the next, for a corpus that is tested in a minute
            for place, (what, value, words) in enumerate(wrong_values(schema)):
                if (place + turn) % 2 == 1 and what != "word":
                    continue
                save(what, changed(study, path, value=value), key, words)
    print(f"{count} files in {OUT.relative_to(SOURCE)}")


if __name__ == "__main__":
    main()
