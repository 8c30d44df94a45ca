"""Loads with inputs in studies: what they are is said in [simulate.inputs], and nothing is taken for zero in silence."""

import json
import math
import unittest

from support import CliTest

STUDY = """units = "mm-t-s"
[bodies.cart]
rigid = {{ mass = 2e-3, center = [0, 0, 0], inertia = [1, 1, 1] }}
points = {{ hub = [0, 0, 0], eye = [100, 0, 0] }}
[[joints]]
name = "rails"
kind = "prismatic"
between = ["ground", "cart.hub"]
axis = [1, 0, 0]
[[loads]]
name = "motor"
kind = "force"
on = "cart.hub"
force = [3, 0, 0]
factor = {factor}
[[loads]]
name = "cylinder"
kind = "line-force"
between = ["ground", "cart.eye"]
at = [-1000, 0, 0]
force = "1 + t"
factor = {line}
[[sensors]]
name = "hub"
kind = "position"
of = "cart.hub"
[[sensors]]
name = "motor_value"
kind = "load"
of = "motor"
[simulate]
end = 0.1
step = 1e-3
{more}
"""
INPUT = '{ input = "u" }'


def study(factor=INPUT, line=INPUT, more='[simulate.inputs]\nu = "sin(20*t)"\n'):
    return STUDY.format(factor=factor, line=line, more=more)


class Inputs(CliTest):
    def rows(self, name, text, *more):
        self.write(f"{name}.toml", text)
        done = self.lissom("simulate", f"{name}.toml", "--out", name, *more)
        self.assertEqual(done.code, 0, done.err)
        lines = (self.folder / name / "sensors.csv").read_text().splitlines()
        return [[float(x) for x in line.split(",")] for line in lines[1:]]

    def test_an_input_is_the_factor_that_it_is_given(self):
        plain = self.rows("plain", study('"sin(20*t)"', '"sin(20*t)"', ""))
        driven = self.rows("driven", study())
        self.assertEqual(len(plain), len(driven))
        for a, b in zip(plain, driven):
            # products in another order, in mm and N
            for x, y in zip(a, b):
                self.assertAlmostEqual(x, y, delta=1e-10 * max(1, abs(x)))
        self.assertGreater(abs(driven[-1][1]), 1)

    def test_a_case_and_a_flag_may_say_another_one(self):
        table = "{ table = [[0, 0], [0.05, 1], [0.1, 1]] }"
        self.assertEqual(self.rows("a", study(), "--set", f"simulate.inputs.u={table}"),
                         self.rows("b", study(more=f"[simulate.inputs]\nu = {table}\n")))

    def test_the_table_of_inputs_need_not_be_there_to_be_set(self):
        self.assertEqual(self.rows("a", study(more=""), "--set", "simulate.inputs.u=sin(20*t)"), self.rows("b", study()))

    def test_analyses_take_inputs_as_they_take_loads(self):
        self.write("s.toml", study())
        done = self.lissom("linearise", "s.toml", "--json")
        found = json.loads(done.out)
        self.assertEqual(found["inputs"], ["motor", "cylinder", "u"])
        self.assertEqual(found["input_units"], ["N", "N", "1"])
        # u = 1: 3 N of the motor, and 1 N of the cylinder, which pushes the cart away; 2 kg
        self.assertAlmostEqual(found["B"][1][2], 3 * found["B"][1][0] + found["B"][1][1], delta=1e-12)
        self.assertAlmostEqual(found["B"][1][0], 0.5, delta=1e-12)
        done = self.lissom("response", "s.toml", "--from", "1", "--to", "10", "--points", "3", "--input", "u", "--output", "hub.x", "--json")
        pair = json.loads(done.out)["pairs"][0]
        self.assertEqual((pair["input"], pair["unit"]), ("u", "m"))
        # a mass: -a / omega^2
        self.assertAlmostEqual(pair["magnitude"][0], abs(found["B"][1][2]) / (2 * math.pi) ** 2, delta=1e-9)
        self.assert_refused(["response", "s.toml", "--from", "1", "--to", "10", "--input", "w"], "response.inputs: there is no 'w'",
                            "there are: motor, cylinder, u")

    def test_energy_is_balanced(self):
        self.write("s.toml", study())
        done = self.lissom("simulate", "s.toml", "--out", "out", "--json")
        found = json.loads(done.out)
        # generalized-alpha with 300 steps a period: (omega h)^2 and the parabolas of the work
        self.assertLess(found["energy_drift"], 1e-4)
        self.assertGreater(found["energy"]["work_in"], 0)

    def refused(self, text, *messages):
        """By check and by run, with the same words."""
        self.write("s.toml", text)
        done = self.lissom("check", "s.toml", "--json")
        self.assertEqual(done.code, 2, done.out)
        problems = json.loads(done.out)["problems"]
        for message in messages:
            self.assertIn(message, f"{problems[0]['key']}: {problems[0]['message']}")
        self.assert_refused(["run", "s.toml", "--out", "out"], *messages)

    def test_what_cannot_be_is_refused_with_its_key(self):
        self.refused(study(more=""), "simulate.inputs: nobody says what the input 'u' is", "with a controller")
        self.refused(study(more="[simulate.inputs]\nu = 1\nv = 2\n"), "simulate.inputs.v: no load has such an input", "there are: u")
        self.refused(study('{ input = "motor" }', "1"), "the input 'motor' has the name of a load")
        self.refused(study('{ input = "u", table = [[0, 1], [1, 2]] }'), "factor: input: goes alone")
        self.refused(study("{ input = 3 }"), "factor: input: expected a name in quotes")
        self.refused(study(1, 1), "simulate.inputs.u: no load has such an input; one is made by factor")

    def test_simulate_refuses_an_input_that_nobody_says(self):
        self.write("s.toml", study(more=""))
        self.assert_refused(["simulate", "s.toml", "--out", "out"], "s.toml:", "nobody says what the input 'u' is")


if __name__ == "__main__":
    unittest.main()
