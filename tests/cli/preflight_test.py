"""What 'lissom check' lets pass, 'lissom run' carries out: what can be known of a study beforehand is found by both, with
key and line, before anything is computed or written."""

import json
import unittest

from pod_test import PENDULUM, TRAIN
from support import CliTest, brick, inp_deck, nodes_at

ROD = """[bodies.{name}]
mesh = "rod.inp"
{more}
[bodies.{name}.reduce]
interfaces = {interfaces}
modes = 3
paraview = false
"""
JOINTS = """[[joints]]
name = "hinge"
kind = "spherical"
between = ["ground", "a.LEFT"]
[[joints]]
name = "knee"
kind = "spherical"
between = ["a.RIGHT", "b.LEFT"]
"""
RUN = "[simulate]\nend = 1e-4\nstep = 1e-4\n"
PUSH = '[[loads]]\nname = "push"\nkind = "force"\non = "b.RIGHT"\nforce = [0, 0, 1]\n'
TIP = '[[sensors]]\nname = "tip"\nkind = "position"\nof = "b.RIGHT"\n'


def rod(name, interfaces='["LEFT", "RIGHT"]', more=""):
    return ROD.format(name=name, interfaces=interfaces, more=more)


BODIES = rod("a") + rod("b", more="position = [2, 0, 0]")


class Preflight(CliTest):
    def setUp(self):
        super().setUp()
        nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D8")
        self.nodes = nodes
        self.write("rod.inp", inp_deck(nodes, elements, sets={"LEFT": nodes_at(nodes, 0, 0.0), "RIGHT": nodes_at(nodes, 0, 2.0)}))

    def both(self, text, begins, *messages, count=1):
        """Check lists the problem where the line begins, and run refuses with the same line, leaving nothing behind."""
        self.write("s.toml", text)
        done = self.lissom("check", "s.toml", "--json")
        self.assertEqual(done.code, 2, done.out)
        problems = json.loads(done.out)["problems"]
        self.assertEqual(len(problems), count, problems)
        where = f"{problems[0]['file']}:{problems[0]['line']}: {problems[0]['key']}: "
        line = text[:text.index(begins)].count("\n") + 1 if begins else None
        if begins:
            self.assertEqual(problems[0]["line"], line, problems)
        for message in messages:
            self.assertIn(message, where + problems[0]["message"])
        refused = self.assert_refused(["run", "s.toml", "--out", "out"], *messages, where)
        self.assertIn(problems[0]["message"], refused.err)

    def test_what_is_right_is_carried_out(self):
        self.write("s.toml", BODIES + JOINTS + PUSH + TIP + RUN + "[response]\nfrom = 1\nto = 10\npoints = 3\n")
        done = self.lissom("check", "s.toml")
        self.assertEqual(done.code, 0, done.out)
        done = self.lissom("run", "s.toml", "--out", "out")
        self.assertEqual(done.code, 0, done.err)

    def test_interfaces_that_are_not_there(self):
        # the first body is fine, and used to be reduced and written before the second one was looked at
        self.both(rod("a") + rod("b", '["LEFT", "RIHGT"]'), 'interfaces = ["LEFT", "RIHGT"]', "bodies.b.reduce.interfaces: ",
                  "there is no node set 'RIHGT' for interface 'RIHGT'", "did you mean 'RIGHT'?")
        self.both(rod("a") + rod("b", '["LEFT", "node 99"]'), 'interfaces = ["LEFT", "node', "there is no node 99")

    def test_interfaces_that_share_a_node_and_nodes_that_a_spider_ties(self):
        corner = nodes_at(self.nodes, 0, 0.0)[0]
        self.both(rod("a") + rod("b", f'["LEFT", "node {corner}"]'), f'interfaces = ["LEFT", "node {corner}"]', "is in the interfaces 'LEFT' and",
                  "it can belong to one only")
        spider = '[[bodies.b.spiders]]\nname = "hub"\nkind = "rigid"\nset = "LEFT"\n'
        self.both(rod("a") + rod("b", f'["hub", "node {corner}"]') + spider, f'interfaces = ["hub", "node {corner}"]',
                  "a spider ties it; use the spider's reference instead ('hub'")

    def test_directions_that_a_node_lacks(self):
        turned = rod("b", "[]") + '[[bodies.b.reduce.interface]]\nname = "L"\nat = "LEFT"\ndirections = "x rz"\n'
        self.both(rod("a") + turned, "[[bodies.b.reduce.interface]]", "has no rotation rz; its directions are x y z")

    def test_more_modes_than_a_body_has(self):
        self.both(rod("a") + rod("b").replace("modes = 3", "modes = 31"), "[bodies.b.reduce]", "bodies.b.reduce.modes: ",
                  "31 flexible modes are asked for, but the body has only 30 (36 degrees of freedom)")
        self.both(rod("a") + "[bodies.a.modes]\ncount = 37\n", "[bodies.a]", "bodies.a.modes.count: is 37",
                  "only 36 free degrees of freedom")
        self.both(rod("a") + '[bodies.a.modes]\ncount = 25\nfix = ["LEFT"]\n', "[bodies.a]", "only 24 free degrees of freedom")
        # as many as there are
        self.write("s.toml", '[bodies.a]\nmesh = "rod.inp"\n[bodies.a.modes]\ncount = 24\nfix = ["LEFT"]\nparaview = false\n')
        self.assertEqual(self.lissom("run", "s.toml", "--out", "out").code, 0)

    def test_more_component_modes_than_nodes(self):
        self.both(rod("a") + "[bodies.a.gcms]\nmodes = 3\n", "[bodies.a.gcms]", "bodies.a.gcms.modes: ",
                  "GCMS of 3 modes has 13 fields, but the body has 12 nodes only")

    def test_bodies_that_lack_a_material(self):
        nodes, elements = brick((2, 1, 1), (2.0, 1.0, 1.0), "C3D8")
        self.write("bare.inp", inp_deck(nodes, elements, None, sets={"LEFT": nodes_at(nodes, 0, 0.0)}))
        bare = rod("b", '["LEFT"]').replace("rod.inp", "bare.inp")
        self.both(rod("a") + bare, "[bodies.b]", "elements have no material")

    def test_joints_that_do_not_meet(self):
        apart = rod("a") + rod("b", more="position = [2.001, 0, 0]")
        self.both(apart + JOINTS + RUN, '[[joints]]\nname = "knee"', "joints.knee: ", "its frames do not meet at the start",
                  "they are 0.001 m apart", "'a.RIGHT' is at (2, 0.5, 0.5) m", count=2)
        # which the bodies may be moved for
        self.write("s.toml", apart + JOINTS + RUN + "assemble = true\n")
        self.assertEqual(self.lissom("check", "s.toml").code, 0)
        # in a case only
        case = '[[cases]]\nname = "apart"\nset = { "bodies.b.position" = [2.5, 0, 0] }\n'
        self.both(BODIES + JOINTS + RUN + case, '[[joints]]\nname = "knee"', "joints.knee: ", "(case 'apart')", count=2)

    def test_joints_of_interfaces_with_axes_of_their_own_are_where_they_are(self):
        # a slider along the interface's own axis, pushed out by 0.5 m at the start
        turned = rod("a", '["LEFT"]') + '[[bodies.a.reduce.interface]]\nname = "R"\nat = "RIGHT"\nx_axis = [0, 0, 1]\nz_axis = [1, 0, 0]\n'
        slider = '[[joints]]\nname = "hold"\nkind = "fixed"\nbetween = ["ground", "a.LEFT"]\n' \
                 '[[joints]]\nname = "slide"\nkind = "prismatic"\nmotion = "0.5"\nbetween = ["a.R", "b.LEFT"]\n'
        text = turned + rod("b", more="position = [2.5, 0, 0]") + slider + RUN
        self.write("s.toml", text)
        done = self.lissom("check", "s.toml")
        self.assertEqual(done.code, 0, done.out)
        done = self.lissom("run", "s.toml", "--out", "out")
        self.assertEqual(done.code, 0, done.err)
        self.both(text.replace("2.5, 0, 0", "2, 0, 0.5"), '[[joints]]\nname = "slide"', "do not meet", count=3)

    def test_a_single_node_has_no_axes(self):
        corner = nodes_at(self.nodes, 0, 2.0)[0]
        hinge = f'[[joints]]\nname = "h"\nkind = "revolute"\nbetween = ["ground", "a.node {corner}"]\naxis = [0, 1, 0]\n'
        self.both(rod("a") + hinge + RUN, "[[joints]]", "joints.h: is revolute and needs axes at its second marker",
                  "a single node")

    def test_stress_of_rigid_bodies(self):
        corner = nodes_at(self.nodes, 0, 2.0)[0]
        sensor = f'[[sensors]]\nname = "s"\nkind = "stress"\nof = "b.node {corner}"\n'
        case = '[[cases]]\nname = "stiff"\nset = { "bodies.b.formulation" = "rigid" }\n'
        self.both(BODIES + JOINTS + sensor + RUN + case, "[[sensors]]", "sensors.s.of: ", "body 'b' is rigid",
                  "a rigid body has no stress", "(case 'stiff')")
        self.both(rod("a") + rod("b", more='position = [2, 0, 0]\nformulation = "rigid"') + JOINTS + RUN
                  + '[simulate.stress]\nbodies = ["b"]\n', "[simulate.stress]", "simulate.stress: body 'b' is rigid")

    def test_stress_that_a_reduction_does_not_have(self):
        corner = nodes_at(self.nodes, 0, 2.0)[0]
        sensor = f'[[sensors]]\nname = "s"\nkind = "stress"\nof = "b.node {corner}"\n'
        without = BODIES.replace("modes = 3\n", "modes = 3\nstress = false\n")
        self.both(without + JOINTS + sensor + RUN, "[[sensors]]", "sensors.s.of: ", "leave out stress = false in [bodies.b.reduce]")

    def test_a_response_without_input_or_output(self):
        response = "[response]\nfrom = 1\nto = 10\npoints = 3\n"
        self.both(BODIES + JOINTS + TIP + RUN + response, "[response]", "response: the mechanism has no input",
                  "add a force, torque or line force")
        self.both(BODIES + JOINTS + PUSH + RUN + response, "[response]", "response: the mechanism has no output")
        self.both(BODIES + JOINTS + PUSH + TIP + RUN + response + 'outputs = ["tpi"]\n', "[response]", "response.outputs: ",
                  "there is no 'tpi'")
        # the same of rigid bodies
        link = "[bodies.l]\nrigid = { mass = 1, inertia = [1, 1, 1] }\npoints = { hub = [0, 0, 0], tip = [1, 0, 0] }\n" \
               '[[joints]]\nname = "h"\nkind = "revolute"\nbetween = ["ground", "l.hub"]\naxis = [0, 0, 1]\n'
        self.both(link + TIP.replace("b.RIGHT", "l.tip") + RUN + response, "[response]", "response: the mechanism has no input")

    def test_analyses_of_nothing(self):
        self.both(BODIES + JOINTS + PUSH + TIP + "[linearise]\nabout = 0.1\n", "[linearise]", "linearise.about: ", "no [simulate] that leads to")
        self.both(BODIES + JOINTS + '[sweep]\n[[sweep.parameters]]\nkey = "bodies.b.reduce.modes"\nvalues = [2, 3]\n', "[sweep]",
                  "sweep: there is nothing to be swept: add [simulate], [linearise] or [response]")

    def test_names_in_the_simulation(self):
        self.both(BODIES + JOINTS + RUN + 'nodes = ["c"]\n', "nodes =", "simulate.nodes: there is no body 'c'", "there are: a, b")

    def test_parameters_that_no_body_takes(self):
        text = PENDULUM.format(elements=4, end=0.01, simulate="") + TRAIN
        self.both(text.replace("[0.2, 0.3, 0.4]", "[0.2, -0.3, 0.4]"), "[train.parameters.mass1]", "train.parameters.mass1: ",
                  "with the value -0.3 the study cannot be run", "bodies.upper.mass")
        # of a test, which used to be found after the training
        test = "[[train.test]]\nmass1 = -0.1\nstiff = 1\n"
        self.both(text + test, "[[train.test]]", "train.test: 'test-1': with mass1 = -0.1, stiff = 1 the study cannot be run")
        self.assert_refused(["train", "s.toml", "--out", "out"], "with mass1 = -0.1, stiff = 1 the study cannot be run")
        # candidates of a greedy plan, whose corners are fine
        greedy = text.replace("order = 12", 'order = 4\nplan = "greedy"\nsamples = 5').replace("values = [0.8, 1.2]", "range = [0.8, 1.2]")
        greedy = greedy.replace("bodies.upper.mass", "bodies.upper.elements").replace("values = [0.2, 0.3, 0.4]", "range = [4, 8]")
        self.both(greedy, "[train.parameters.mass1]", "train.parameters.mass1: ", "bodies.upper.elements")
        self.both(text.replace("bodies.upper.mass", "bodies.upper.elements").replace("[0.2, 0.3, 0.4]", "[6, 8]"), "[train]",
                  "samples of a training have the same beams", "sample 3: mass1 = 8")

    def test_numbers_that_are_too_large_are_told_so(self):
        self.both(rod("a").replace("modes = 3", "modes = 1000000000"), "modes = 1", "bodies.a.reduce.modes: is 1000000000, expected 1 to 100000000")


class Flags(CliTest):
    def test_numbers_that_are_none(self):
        self.write("s.toml", "")
        for value in ("nan", "inf", "soon"):
            self.assert_refused(["sweep", "s.toml", "--timeout", value],
                                f"--timeout: '{value}' is no number that can be taken, expected a positive number")
        for value in ("-1", "0"):
            self.assert_refused(["sweep", "s.toml", f"--timeout={value}"], f"--timeout: is {value}, expected a positive number")


if __name__ == "__main__":
    unittest.main()
