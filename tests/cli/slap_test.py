"""Training and running of SLAP models: the four-bar mechanism of paper 000 on its authors' meshes."""

import unittest

import numpy as np

from support import CliTest, SOURCE

MESHES = SOURCE.parent / "shared" / "data" / "slap-four-bar"
BODIES = {"left": ("Bar1_noRBE.bdf", (214, 279, 58, 178)),
          "coupler": ("UpperBar_noRBE.bdf", (386, 580, 387, 581)),
          "right": ("Bar2_noRBE.bdf", (957, 1022, 800, 920))}
JOINTS = [("ground", "left.node 214"), ("ground", "left.node 279"), ("ground", "right.node 957"),
          ("ground", "right.node 1022"), ("left.node 58", "coupler.node 386"), ("left.node 178", "coupler.node 580"),
          ("right.node 800", "coupler.node 387"), ("right.node 920", "coupler.node 581")]


def four_bar(train, cases=""):
    """Ramped load of 5 N for 0.2 s, samples every millisecond."""
    text = 'title = "four-bar"\n'
    for name, (mesh, nodes) in BODIES.items():
        text += f"""
[bodies.{name}]
mesh = "{MESHES / mesh}"
material = {{ name = "steel", E = 210e9, nu = 0.288, rho = 7829 }}
mass = "lumped"
formulation = "gcms"
[bodies.{name}.reduce]
interfaces = [{", ".join(f'"node {i}"' for i in nodes)}]
method = "fixed"
count = 4
residual_vectors = false
modes = 4
"""
    for i, (first, second) in enumerate(JOINTS):
        text += f'[[joints]]\nname = "joint {i + 1}"\nkind = "spherical"\nbetween = ["{first}", "{second}"]\n'
    return text + f"""
[[loads]]
name = "push"
kind = "force"
on = "left.node 178"
force = [0, 5, 0]
factor = "ramp(t, 0, 0.01)"
[[sensors]]
name = "load"
kind = "position"
of = "left.node 178"
[simulate]
end = 0.2
step = 1e-4
sample = 1e-3
newton_tolerance = 1e-14
newton_reuse = 0
nodes = true
[train]
{train}
{cases}
"""


CASES = """
[[cases]]
name = "reversed"
set = { "loads.push.force" = [0, -5, 0] }
[[cases]]
name = "slap"
set = { "simulate.model" = "slap", "train.order" = 6 }
[[cases]]
name = "both-ways"
reference = "reversed"
set = { "simulate.model" = "slap", "loads.push.force" = [0, -5, 0], "train.runs" = ["study", "reversed"], "train.order" = 10, "train.reconstruct" = false }
[[cases]]
name = "one-way"
reference = "reversed"
set = { "simulate.model" = "slap", "loads.push.force" = [0, -5, 0], "train.order" = 10 }
"""


@unittest.skipUnless(MESHES.is_dir(), "the authors' meshes are not there: ../shared/data/slap-four-bar")
class FourBar(CliTest):
    """One long test: the full runs, which cost most, serve all of it."""

    def orders(self, training):
        return {order["m"]: order for order in training["orders"]}

    def test_the_paper_and_what_it_could_not_do(self):
        self.write("s.toml", four_bar("max_order = 20\norder = 6\nrecovery = false", CASES))
        result = self.lissom("run", "s.toml", "--out", "out", "--json", timeout=600)
        self.assertEqual(result.code, 0, result.err)
        summary = result.json
        training = summary["training"]

        with self.subTest("error against the order"):
            # paper 000, Fig. 4: the goals of the project are 1e-15 m2 at six modes and no rise above 1e-14
            orders = self.orders(training)
            self.assertEqual(list(orders), list(range(1, 21)))
            self.assertLess(orders[6]["epsilon"], 1e-15)
            for m in range(6, 21):
                self.assertLess(orders[m]["epsilon"], 1e-14, m)
            self.assertEqual((training["order"], training["spurious"], training["first_spurious"]), (6, [], None))
            self.assertEqual(training["rigid_motions"], 1)
            # Fig. 8: joints hold to round-off in every mode
            self.assertLess(max(training["joint_violation"]), 1e-29)
            # Fig. 9: Ritz values
            system = training["system_frequencies_hz"]
            for order in orders.values():
                for k, f in enumerate(order["frequencies_hz"][1:], 1):
                    self.assertGreater(f, (1 - 1e-6) * system[k], (order["m"], k))
            # eight spherical joints take 24 of the coordinates (errata: 282 remain)
            self.assertEqual(training["space"], {"dimension": 306, "kernel": 282})

        with self.subTest("singular values with and without compression"):
            # Fig. 3
            compressed, full = training["singular_values"], training["singular_values_full"]
            for a, b in zip(compressed[:40], full[:40]):
                self.assertLess(abs(a - b), 1e-13 * full[0])

        with self.subTest("cases"):
            models = summary["models"]
            # the reconstruction again, as a case: nodes of the whole mesh against the full run. Sums of
            # 3165 coordinates and 201 samples; both ways of summing are alike to round-off of positions
            self.assertAlmostEqual(models["slap"]["epsilon"], orders[6]["epsilon"], delta=1e-20 + 1e-2 * orders[6]["epsilon"])
            self.assertEqual((models["slap"]["unknowns"], models["both-ways"]["unknowns"]), (6, 10))
            # goal: 1e-14 m2 at ten modes
            self.assertLess(models["both-ways"]["epsilon"], 1e-14)
            # trained one way: the right motion, but not that
            self.assertGreater(models["one-way"]["epsilon"], 1e-12)
            self.assertLess(models["one-way"]["epsilon"], 1e-5)
            # and the model says so
            self.assertLess(models["slap"]["trust"]["largest"], 1)
            self.assertLess(models["both-ways"]["trust"]["largest"], 1)
            self.assertGreater(models["one-way"]["trust"]["largest"], 3)
            self.assertIn("simulate.trust", [w["key"].split(":")[0] for w in summary["warnings"]])

        with self.subTest("the file"):
            # a few hundred kilobytes without the mesh
            self.assertLess((self.folder / "out" / "model.rom.h5").stat().st_size, 400e3)
            alone = self.json_of("simulate", "out/model.rom.h5", "--out", "alone")
            self.assertEqual((alone["coordinates"], alone["constraints"]), (6, 0))
            # the same model in the same program: number for number
            self.assertEqual((self.folder / "alone" / "sensors.csv").read_text(),
                             (self.folder / "out" / "slap" / "sensors.csv").read_text())

        with self.subTest("noisy joints"):
            # from the positions that the run left: rigid noise of 1e-11 m, body by body
            noisy = 'max_order = 12\nnoise = 1e-11\njoints = "{}"\n[[train.trajectories]]\nfile = "out/result.h5"'
            self.write("data.toml", four_bar(noisy.format("data")))
            found = self.json_of("train", "data.toml")
            for key in ("order", "singular_values", "joint_violation", "frequencies_hz", "spurious", "seconds"):
                self.assertIn(key, found)
            self.assertEqual(len(found["frequencies_hz"]), found["order"])
            # the paper has its first one at the seventh mode
            first = found["first_spurious"]
            self.assertIn(first, (7, 8, 9))
            self.assertEqual(found["spurious"][0], first)
            orders = self.orders(found)
            self.assertGreater(found["joint_violation"][first - 1], 1e-3)
            self.assertLess(max(found["joint_violation"][:2]), 1e-18)
            self.assertGreater(orders[first]["epsilon"] or np.inf, 1e3 * orders[first - 1]["epsilon"])
            self.assertLess(found["order"], first)
            # the second frequency drops towards zero (Fig. 9)
            self.assertLess(orders[first]["frequencies_hz"][1], 0.5 * found["system_frequencies_hz"][1])

            self.write("project.toml", four_bar(noisy.format("project")))
            found = self.json_of("train", "project.toml")
            self.assertEqual((found["spurious"], found["first_spurious"]), ([], None))
            self.assertLess(max(found["joint_violation"]), 1e-29)
            # the noise that is left lies within the joints; modes take it for motion, but none that is soft
            for m in range(6, 13):
                self.assertLess(self.orders(found)[m]["epsilon"], 1e-14, m)


if __name__ == "__main__":
    unittest.main()
