"""What a small model carries is what the full one does; what it cannot carry is refused or named, before anything is written."""

import math
import unittest

import h5py
import numpy as np

from support import STEEL, CliTest, brick, inp_deck, nodes_at

SIZE = (0.02, 0.02, 0.2)
NODES, ELEMENTS = brick((2, 2, 5), SIZE, "C3D8")
ROOT, TIP = nodes_at(NODES, 2, 0), nodes_at(NODES, 2, SIZE[2])

RUN = """
[simulate]
end = 0.1
step = 5e-4
sample = 2e-3
"""
SMALL = """
[[cases]]
name = "small"
set = { "simulate.model" = "slap" }
"""


def rod(name, more=""):
    """A steel rod of 20 cm along z, with a spider on each end."""
    return f"""
[bodies.{name}]
mesh = "rod.inp"
mass = "lumped"
formulation = "gcms"
{more}
[[bodies.{name}.spiders]]
name = "root"
kind = "averaging"
nodes = {ROOT}
[[bodies.{name}.spiders]]
name = "tip"
kind = "averaging"
nodes = {TIP}
[bodies.{name}.reduce]
interfaces = ["root", "tip"]
method = "fixed"
count = 2
residual_vectors = false
modes = 2
"""


def joint(name, kind, first, second, more=""):
    return f'[[joints]]\nname = "{name}"\nkind = "{kind}"\nbetween = ["{first}", "{second}"]\n{more}'


def load(name, kind, more):
    return f'[[loads]]\nname = "{name}"\nkind = "{kind}"\n{more}'


def sensor(name, kind, of):
    return f'[[sensors]]\nname = "{name}"\nkind = "{kind}"\nof = "{of}"\n'


PIN = joint("pin", "revolute", "ground", "rod.root", "axis = [1, 0, 0]\n")
PUSH = load("push", "force", 'on = "rod.tip"\nforce = [0, 2, 0]\nfactor = "ramp(t, 0, 0.05)"\n')
PENDULUM = rod("rod") + PIN + PUSH + sensor("tip", "position", "rod.tip")


class SmallModel(CliTest):
    def setUp(self):
        super().setUp()
        self.write("rod.inp", inp_deck(NODES, ELEMENTS, sets={"middle": nodes_at(NODES, 2, 0.08)}))

    def study(self, text, train="max_order = 6\n", cases=SMALL):
        return self.write("s.toml", 'title = "rod"\n' + text + "[train]\n" + train + cases)

    def line_of(self, text, after=""):
        """Of the last table in front of a text."""
        lines = (self.folder / "s.toml").read_text()
        at = lines.index(text, lines.index(after))
        return lines[:lines.rindex("\n[", 0, at) + 2].count("\n") + 1

    def assert_never(self, *texts, commands=(["check"], ["run", "--out", "out"], ["train", "--out", "out"])):
        """No verb takes the study, and none leaves anything behind."""
        for verb, *more in commands:
            if verb != "check":
                self.assert_refused([verb, "s.toml", *more], *texts)
                continue
            result = self.lissom("check", "s.toml")
            self.assertEqual(result.code, 2, result.out)
            for text in texts:
                self.assertIn(text, result.out)

    def both(self, *arguments):
        """The study and its case 'small': the summary."""
        return self.json_of("run", "s.toml", "--out", "out", *arguments)

    def assert_agree(self, summary, part, case="small"):
        model = summary["models"][case]
        self.assertLess(model["largest_error"], part * model["motion"], model)

    def keys(self, summary):
        return [w["key"].split(":")[-1].split(" ")[-1] for w in summary["warnings"]]

    # ---- what it cannot carry

    def test_drives_are_refused_by_check_and_run(self):
        driven = joint("pin", "revolute", "ground", "rod.root", 'axis = [1, 0, 0]\nmotion = "0.3*sin(20*t)"\n')
        self.study(rod("rod") + driven + sensor("tip", "position", "rod.tip") + RUN)
        self.assert_never(f"s.toml:{self.line_of('motion =')}: joints.pin.motion", "0.3*sin(20*t)", "has no drives",
                          "drive by a load")
        # other kinds, and a drive that a case adds
        lift = joint("lift", "displacement", "ground", "rod.root", 'axis = [0, 0, 1]\nmotion = "0.01*t"\n')
        self.study(rod("rod") + lift + PUSH + RUN)
        self.assert_never("joints.lift.motion")
        added = '\n[[cases]]\nname = "driven"\nset = { "joints.pin.motion" = "t^2", "simulate.model" = "%s" }\n'
        self.study(PENDULUM + RUN, cases=added % "slap")
        self.assert_never("joints.pin.motion", "(case 'driven')")
        # the full model may be driven all the same
        self.study(PENDULUM + RUN, cases=added % "full")
        self.assertEqual(self.lissom("check", "s.toml").code, 0)
        self.study(PENDULUM + RUN, cases=added % "full", train='runs = ["study", "driven"]\n')
        self.assert_never("joints.pin.motion", "(case 'driven')")

    def test_bodies_without_elements_are_refused_by_check_and_run(self):
        self.study(PENDULUM.replace('formulation = "gcms"', 'formulation = "rigid"') + RUN)
        self.assert_never(f"s.toml:{self.line_of('mesh =')}: bodies.rod", "is rigid", "give it a mesh or matrices")
        block = '\n[bodies.block]\nrigid = { mass = 1, inertia = [1e-3, 1e-3, 1e-3] }\npoints = { c = [0, 0, 0] }\nposition = [0.01, 0.01, 0.2]\n'
        self.study(PENDULUM + block + joint("weld", "fixed", "rod.tip", "block.c") + RUN)
        self.assert_never(f"s.toml:{self.line_of('rigid =')}: bodies.block", "is rigid")
        beam = """
[bodies.beam]
formulation = "ancf"
from = [0.01, 0.01, 0.2]
to = [0.01, 0.01, 0.4]
elements = 2
dimension = 3
section = { rectangle = [0.01, 0.01] }
young = 210e9
density = 7850
"""
        self.study(PENDULUM + beam + joint("weld", "spherical", "rod.tip", "beam.start") + RUN)
        self.assert_never(f"s.toml:{self.line_of('section =')}: bodies.beam", "is a beam", 'method = "pod"')

    def test_models_have_the_bodies_joints_and_start_of_their_training(self):
        def case(key, value):
            return f'\n[[cases]]\nname = "other"\nset = {{ "simulate.model" = "slap", "{key}" = {value} }}\n'
        for key, value, texts in (
                ("bodies.rod.mass", '"consistent"', ["bodies.rod", "this one differs"]),
                ("joints.pin.axis", "[0, 1, 0]", ["joints.pin", "this one differs"]),
                ("bodies.rod.angular_velocity", "[1, 0, 0]", ["bodies.rod.angular_velocity", "starts where"])):
            with self.subTest(key):
                self.study(PENDULUM + RUN, cases=case(key, value))
                self.assert_never(*texts, "(case 'other')")
        # a start that does train
        self.study(PENDULUM + RUN, train='runs = ["fast"]\nmax_order = 4\n', cases="""
[[cases]]
name = "fast"
set = { "bodies.rod.angular_velocity" = [1, 0, 0] }
[[cases]]
name = "small"
reference = "fast"
set = { "bodies.rod.angular_velocity" = [1, 0, 0], "simulate.model" = "slap" }
""")
        self.assert_agree(self.both(), 1e-4)
        # of a file
        for setting in ("bodies.rod.mass=consistent", "joints.pin.axis=[0,1,0]", "train.order=2"):
            self.assert_refused(["simulate", "out/model.rom.h5", "--set", setting, "--out", "again"], "--set", "built in")
        self.study(PENDULUM + RUN, cases='\n[[cases]]\nname = "fast"\nset = { "bodies.rod.angular_velocity" = [1, 0, 0] }\n')
        self.json_of("train", "s.toml", "--out", "own")
        for command in (["simulate", "own/model.rom.h5", "--out", "again"], ["linearise", "own/model.rom.h5"]):
            said = self.json_of(*command, "--case", "fast")["warnings"]
            self.assertIn("the case 'fast' sets bodies.rod.angular_velocity = [1, 0, 0], which is part of the model",
                          "".join(w["message"] for w in said))

    def test_stress_that_the_model_is_not_to_have(self):
        text = PENDULUM + sensor("stress", "stress", "rod.middle") + RUN
        self.study(text, train="recovery = false\n")
        self.assert_never(f"s.toml:{self.line_of('recovery')}: train.recovery", "'stress'")
        self.study(text, train="stress = false\n")
        self.assert_never("train.stress", "'stress'")

    # ---- what it carries

    def test_stress_on_a_node_set(self):
        self.study(PENDULUM + sensor("stress", "stress", "rod.middle") + RUN)
        full = self.both()
        self.json_of("simulate", "out/model.rom.h5", "--out", "alone")
        self.assertEqual((self.folder / "alone" / "sensors.csv").read_text(),
                         (self.folder / "out" / "small" / "sensors.csv").read_text())
        of = full["comparison"]["cases"]["small"]["sensors"]["stress.von_mises"]
        # what six modes leave out of the deformation
        self.assertGreater(of["scale"], 1e4)
        self.assertLess(of["largest"], 1e-2 * of["scale"])

    def test_every_kind_of_load(self):
        # all at once, on a rod that is placed askew and hangs at rest: free lengths, angles and points of the ground are
        # those of the placement, from which it has swung by the time it starts
        a = 0.4
        placed = f"position = [0, 0, 0]\nrotation = {{ axis = [1, 0, 0], angle = {a} }}\n"
        text = "gravity = [0, -9.81, 0]\n" + rod("rod", placed) + PIN
        for name, kind, more in (
                ("pull", "force", 'on = "rod.tip"\nforce = [0, 1, 0.5]\n'),
                ("thrust", "force", 'on = "rod.tip"\nforce = [0, 1, 0]\nfollowing = true\n'),
                ("turn", "torque", 'on = "rod.tip"\ntorque = [0.1, 0, 0]\n'),
                ("own turn", "torque", 'on = "rod.tip"\ntorque = [0.05, 0.01, 0]\nfollowing = true\n'),
                ("line", "line-force", 'between = ["ground", "rod.tip"]\nat = [0.01, 0.3, 0.1]\nforce = 1\n')):
            factor = "" if kind == "line-force" else 'factor = "ramp(t, 0.01, 0.05)"\n'
            text += load(name, kind, more + factor)
        text += load("spring", "spring", 'between = ["ground", "rod.tip"]\nat = [0.01, 0.1, 0.3]\nstiffness = 200\ndamping = 2\n')
        text += load("twist", "torsion-spring", 'between = ["ground", "rod.root"]\naxis = [1, 0, 0]\nstiffness = 1\ndamping = 0.01\n')
        text += load("rubber", "bushing", 'between = ["ground", "rod.tip"]\nstiffness = [100, 150, 50]\nrotational_stiffness = [1, 1, 1]\n')
        for kind in ("displacement", "rotation", "velocity", "angular-velocity", "acceleration", "angular-acceleration"):
            text += sensor(kind, kind, "rod.tip")
        for name in ("spring", "twist", "rubber", "line"):
            text += sensor("of " + name, "load", name)
        self.study(text + RUN + 'start = "static"\n')
        found = self.both()
        # six modes leave out 2e-7 of the motion
        self.assert_agree(found, 1e-5)
        for name in ("spring", "twist", "rubber", "line"):
            of = found["comparison"]["cases"]["small"]["sensors"][f"of {name}.value"]
            self.assertLess(of["largest"], 1e-3 * of["scale"], name)
        # the file knows as much
        self.json_of("simulate", "out/model.rom.h5", "--out", "alone")
        self.assertEqual((self.folder / "alone" / "sensors.csv").read_text(),
                         (self.folder / "out" / "small" / "sensors.csv").read_text())

    def test_free_lengths_are_those_of_the_placement(self):
        # the equilibrium is where gravity (1/2 m g l of the moment) and a spring that is relaxed as placed balance
        text = "gravity = [0, -9.81, 0]\n" + PENDULUM
        text += load("spring", "spring", 'between = ["ground", "rod.tip"]\nat = [0.01, 0.11, 0.2]\nstiffness = 100\ndamping = 1\n')
        self.study(text + RUN + 'start = "static"\n')
        found = self.both()
        # six modes leave out 5e-8 of the motion
        self.assert_agree(found, 1e-6)
        self.assertNotIn("train.poor", self.keys(found))

    def test_old_files_are_read(self):
        self.study(PENDULUM + RUN)
        self.both()
        new = self.json_of("simulate", "out/model.rom.h5", "--out", "new")
        with h5py.File(self.folder / "out" / "model.rom.h5", "r+") as f:
            self.assertEqual(f.attrs["schema_version"], 3)
            self.assertLess(f["training"].attrs["largest_error"], 1e-4 * f["training"].attrs["motion"])
            # as version 1 had it
            f.attrs["schema_version"] = 1
            for name in ("motion", "largest_error", "rms_error", "failed"):
                del f["training"].attrs[name]
            for name in ("rest", "node_counts", "node_ids"):
                del f["frames"][name]
            for name in ("position", "rotation"):
                del f["parts/0"][name]
        old = self.json_of("simulate", "out/model.rom.h5", "--out", "old")
        self.assertEqual((new["warnings"], old["warnings"]), ([], []))
        # the rod starts as it is placed, so that nothing differs but round-off
        a, b = (np.loadtxt(self.folder / of / "sensors.csv", delimiter=",", skiprows=1) for of in ("new", "old"))
        self.assertLess(np.abs(a - b).max(), 1e-10)
        self.assertIn("reconstruction    not known", self.lissom("inspect", "out/model.rom.h5").out)

    # ---- its polynomial and the exact kernel

    def test_a_polynomial_runs_in_place_of_the_exact_kernel_and_is_compared_with_it(self):
        exact = '\n[[cases]]\nname = "exact"\nset = { "simulate.model" = "slap", "simulate.kernel" = "exact" }\n'
        self.study(PENDULUM + sensor("stress", "stress", "rod.middle") + RUN, cases=SMALL + exact)
        found = self.both()
        forces = self.json_of("inspect", "out/model.rom.h5")["forces"]
        self.assertEqual(forces["kernel"], "polynomial")
        self.assertIn("a polynomial of", forces["why"])
        # six unknowns have 28 monomials
        self.assertLessEqual(forces["rows"], 28)
        self.assertIn("forces            a polynomial of", self.lissom("inspect", "out/model.rom.h5").out)
        small = self.json_of("simulate", "out/model.rom.h5", "--out", "alone")
        self.assertEqual(small["kernel"], "polynomial")
        self.assertLess(small["polynomial"]["largest"], small["polynomial"]["limit"])
        self.assertIsNone(small["polynomial"]["outside_since"])
        other = self.json_of("simulate", "out/model.rom.h5", "--set", "simulate.kernel=exact", "--out", "other")
        self.assertEqual(other["kernel"], "exact")
        self.assertNotIn("polynomial", other)
        a, b = (np.loadtxt(self.folder / of / "sensors.csv", delimiter=",", skiprows=1) for of in ("alone", "other"))
        # the case is the same run
        np.testing.assert_array_equal(b, np.loadtxt(self.folder / "out" / "exact" / "sensors.csv", delimiter=",", skiprows=1))
        # not the same, and within what was measured beforehand; the stress is of strains of a millionth
        self.assertGreater(np.abs(a - b).max(), 0)
        self.assertLess(np.abs(a - b)[:, 1:4].max(), 100 * forces["displacement"] + 1e-14)
        self.assertLess((np.abs(a - b)[:, 4:]).max(), 1e-4 * np.abs(b[:, 4:]).max())
        self.assertNotIn("simulate.polynomial", self.keys(found))
        # a file of before has no such group, and runs on the exact kernel
        with h5py.File(self.folder / "out" / "model.rom.h5", "r+") as f:
            del f["polynomial"], f["training/form"]
        old = self.json_of("simulate", "out/model.rom.h5", "--out", "old")
        self.assertEqual((old["kernel"], old["warnings"]), ("exact", []))
        np.testing.assert_array_equal(b, np.loadtxt(self.folder / "old" / "sensors.csv", delimiter=",", skiprows=1))
        self.assertIn("forces            the exact kernel", self.lissom("inspect", "out/model.rom.h5").out)

    def test_training_takes_the_kernel_that_it_is_asked_for(self):
        self.study(PENDULUM + RUN, train='max_order = 4\nkernel = "exact"\n')
        self.both()
        forces = self.json_of("inspect", "out/model.rom.h5")["forces"]
        self.assertEqual((forces["kernel"], forces["why"]), ("exact", "the exact kernel, as asked for"))
        # a kernel is of SLAP
        self.study(PENDULUM + RUN + 'kernel = "exact"\n')
        self.assert_never("simulate.kernel", "reduced by SLAP", commands=(["check"],))

    def test_a_rod_that_bends_too_far_for_the_polynomial(self):
        # rubber: strains of per cents, of which no frame fits all but a thousandth
        self.write("rod.inp", inp_deck(NODES, ELEMENTS, {**STEEL, "E": 2e6}, {"middle": nodes_at(NODES, 2, 0.08)}))
        strong = PENDULUM.replace("force = [0, 2, 0]", "force = [0, 1, 0]")
        self.study(strong + RUN, train="max_order = 6\norder = 6\n")
        self.both()
        forces = self.json_of("inspect", "out/model.rom.h5")["forces"]
        self.assertEqual(forces["kernel"], "exact")
        self.assertIn("a polynomial is not near enough to it", forces["why"])
        small = self.json_of("simulate", "out/model.rom.h5", "--out", "alone")
        self.assertEqual(small["kernel"], "exact")

    # ---- joints

    def hooke(self, train):
        """Two shafts at an angle of a, with a cross between: rotations of A and B go with tan B = tan A cos a or its inverse."""
        a = 0.5
        axis = f"[0, {-math.sin(a)}, {math.cos(a)}]"
        text = rod("A") + rod("B", f"position = [0, {0.01 - 0.01 * math.cos(a)}, {0.2 - 0.01 * math.sin(a)}]\n"
                                   f"rotation = {{ axis = [1, 0, 0], angle = {a} }}")
        text += joint("bearing A", "revolute", "ground", "A.root", "axis = [0, 0, 1]\n")
        text += joint("cross", "universal", "A.tip", "B.root", "axis = [0, 0, 1]\nreference = [1, 0, 0]\n")
        text += joint("bearing B", "cylindrical", "ground", "B.tip", f"axis = {axis}\n")
        text += load("turn", "torque", 'on = "A.root"\ntorque = [0, 0, 0.02]\nfactor = "ramp(t, 0, 0.02)"\n')
        text += sensor("A", "rotation", "A.root") + sensor("B", "rotation", "B.tip")
        self.study(text + RUN, train=train)

    def test_a_cross_is_named_and_a_poor_model_is_called_poor(self):
        self.hooke("max_order = 6\norder = 6\n")
        found = self.both()
        said = {w["key"].split(":")[0]: w["message"] for w in found["warnings"]}
        # the right angle of the cross is lost: six modes turn the shafts against each other
        model = found["models"]["small"]
        self.assertGreater(model["largest_error"], 0.5 * model["motion"])
        self.assertIn("'cross' (its right angle)", said["train.lost-joints"])
        # bearings of the ground are linear: the data hold them
        self.assertNotIn("bearing", said["train.lost-joints"])
        self.assertIn("the model of order 6 does not follow the training motion", said["train.poor"])
        self.assertIn("take order = 3", said["train.poor"])
        self.assertIn("rom.poor", said)
        # and every later run of the file
        alone = self.json_of("simulate", "out/model.rom.h5", "--out", "alone")
        self.assertIn("rom.poor", self.keys(alone))
        self.assertIn("reconstruction    POOR", self.lissom("inspect", "out/model.rom.h5").out)
        self.assertTrue(self.json_of("inspect", "out/model.rom.h5")["reconstruction"]["poor"])
        # the order that the program proposes follows the motion
        self.hooke("max_order = 6\n")
        found = self.both()
        self.assert_agree(found, 1e-3)
        self.assertNotIn("train.poor", self.keys(found))
        self.assertNotIn("rom.poor", self.keys(self.json_of("simulate", "out/model.rom.h5", "--out", "alone")))

    # ---- models of beams

    def beam(self, text, train, run=""):
        self.write("s.toml", """
title = "beam"
gravity = [0, -9.81, 0]
[bodies.beam]
formulation = "ancf"
from = [0, 0]
to = [0.5, 0]
elements = 6
section = { rectangle = [0.03, 0.01] }
young = 80e6
density = 1000
""" + text + """
[[sensors]]
name = "tip"
kind = "displacement"
of = "beam.end"
[simulate]
end = 0.2
step = 1e-3
sample = 4e-3
newton_tolerance = 1e-12
""" + run + '[train]\nmethod = "pod"\n' + train + SMALL.replace("slap", "pod"))

    def test_beams_that_start_at_rest_and_springs_without_length(self):
        spring = load("spring", "spring", 'between = ["ground", "beam.end"]\nat = [0.4, 0.3, 0]\nstiffness = 20\n')
        pull = load("pull", "force", 'on = "beam.end"\nforce = [0, -0.3, 0]\nfactor = "ramp(t, 0, 0.1)"\n')
        for offset in ("initial", "mean", "none"):
            with self.subTest(offset):
                self.beam(joint("clamp", "fixed", "ground", "beam.start") + spring + pull + sensor("of spring", "load", "spring"),
                          f'order = 8\noffset = "{offset}"\n', 'start = "static"\n')
                found = self.both()
                self.assert_agree(found, 1e-3)
                of = found["comparison"]["cases"]["small"]["sensors"]["of spring.value"]
                self.assertLess(of["largest"], 1e-3 * of["scale"])
                self.assertNotIn("rom.poor", self.keys(found))

    def test_beams_carry_drives(self):
        crank = joint("crank", "revolute", "ground", "beam.start", 'motion = "0.5*sin(10*t)^2"\n')
        # 8 modes: 3 % off, 12: 6e-4, 16: 2e-4 of the motion
        self.beam(crank, "order = 16\n")
        self.assert_agree(self.both(), 1e-3)

    def test_too_few_modes_of_beams_are_called_poor(self):
        self.beam(joint("pin", "revolute", "ground", "beam.start"), "order = 2\n")
        found = self.both()
        model = found["models"]["small"]
        self.assertGreater(model["largest_error"], 0.01 * model["motion"])
        said = self.keys(found)
        self.assertIn("train.poor", said)
        alone = self.json_of("simulate", "out/model.rom.h5", "--out", "alone")
        self.assertIn("rom.poor", self.keys(alone))
        self.assertIn("reconstruction    POOR", self.lissom("inspect", "out/model.rom.h5").out)


if __name__ == "__main__":
    unittest.main()
