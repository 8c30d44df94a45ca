"""Stress of simulations: sensors, stress.h5, all formulations, reduced mechanisms, wrong input."""

import csv
import unittest

import h5py
import numpy as np

from support import CliTest, brick, inp_deck, nodes_at

SIZE = (0.4, 0.02, 0.02)
COMPONENTS = ["xx", "yy", "zz", "xy", "yz", "zx"]


def von_mises(s):
    xx, yy, zz, xy, yz, zx = np.moveaxis(s, -1, 0)
    return np.sqrt(((xx - yy)**2 + (yy - zz)**2 + (zz - xx)**2) / 2 + 3 * (xy**2 + yz**2 + zx**2))


class StressTest(CliTest):
    """A beam of bricks that swings about two nodes of its end."""

    def setUp(self):
        super().setUp()
        nodes, elements = brick((8, 2, 2), SIZE, "C3D8")
        sets = {"LEFT": nodes_at(nodes, 0, 0.0), "RIGHT": nodes_at(nodes, 0, SIZE[0]),
                "MIDDLE": [i for i in nodes_at(nodes, 0, 0.2) if nodes[i][1] in (0.0, SIZE[1]) and nodes[i][2] in (0.0, SIZE[2])]}
        used = {n for _, corners in elements["C3D8"] for n in corners}
        sets = {name: [i for i in members if i in used] for name, members in sets.items()}
        self.nodes, self.middle = nodes, sets["MIDDLE"]
        self.top = next(i for i in self.middle if nodes[i][1] == 0 and nodes[i][2] == SIZE[2])
        self.hinge = sorted(i for i in sets["LEFT"] if nodes[i][2] == 0)
        # with a third node, so that the interior is held
        self.interfaces = f'interfaces = ["node {self.hinge[0]}", "node {self.hinge[1]}", "node {sets["RIGHT"][0]}"]'
        self.write("beam.inp", inp_deck(nodes, {"C3D8I": elements["C3D8"]}, material=dict(E=1e9, nu=0.3, rho=1000.0), sets=sets))

    def study(self, sensors="", simulate="", more="", reduce="", formulation="gcms", joints=True, body=None):
        text = f"""
gravity = [0, 0, -9.81]
[bodies.beam]
{body or 'mesh = "beam.inp"'}
formulation = "{formulation}"
"""
        if not body:
            text += f"""mass = "lumped"
[bodies.beam.reduce]
{self.interfaces}
method = "fixed"
count = 4
residual_vectors = false
modes = 4
paraview = false
{reduce}
"""
        for k, node in enumerate(self.hinge if joints else []):
            text += f'[[joints]]\nname = "hinge {k}"\nkind = "spherical"\nbetween = ["ground", "beam.node {node}"]\n'
        return text + f"{sensors}\n[simulate]\nend = 0.1\nstep = 1e-3\nrho_inf = 1\nnewton_tolerance = 1e-13\n{simulate}\n{more}\n"

    def sensor(self, of, kind="stress", name="s", more=""):
        return f'[[sensors]]\nname = "{name}"\nkind = "{kind}"\nof = "{of}"\n{more}\n'

    def read(self, folder="out"):
        with open(self.folder / folder / "sensors.csv", newline="") as f:
            rows = list(csv.reader(f))
        return {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(rows[0])}

    def run_study(self, text, verb="simulate"):
        self.write("s.toml", text)
        return self.json_of(verb, "s.toml", "--out", "out")


class Formulations(StressTest):
    def test_a_sensor_is_what_the_file_has_and_the_maximum_is_over_all_samples(self):
        times = [round(1e-3 * k, 3) for k in range(101)]
        for formulation in ("ffrf", "fncf", "gcms"):
            found = self.run_study(self.study(
                self.sensor(f"beam.node {self.top}") + self.sensor(f"beam.node {self.top}", "strain", "e")
                + self.sensor("beam.MIDDLE", name="m", more='components = ["von_mises", "p1"]'),
                f"[simulate.stress]\nat = {times}\nstrain = true\nunaveraged = true\n", formulation=formulation))
            columns = self.read()
            self.assertEqual([c for c in columns if c.startswith("m.")], ["m.von_mises", "m.p1", "m.node"])
            with h5py.File(self.folder / "out" / "stress.h5") as file:
                self.assertEqual(file.attrs["format"], b"lissom-stress")
                body = file["bodies/0"]
                ids = body["node_ids"][:]
                stress, strain = body["at/stress"][:], body["at/strain"][:]
                peak, when = body["maximum/von_mises"][:], body["maximum/time"][:]
                element = body["at/element_stress"][:]
                element_nodes = body["at/element_nodes"][:]
                self.assertEqual(body["at/element_offsets"][-1], len(element_nodes))
                self.assertEqual(body.attrs["name"], b"beam")
            self.assertEqual(stress.shape, (101, len(ids), 6))
            at = list(ids).index(self.top)
            for c, name in enumerate(COMPONENTS):
                # sensors.csv has all digits; the sums are in another order
                self.assertLess(abs(columns["s." + name] - stress[:, at, c]).max(), 1e-12 * abs(stress).max())
                self.assertLess(abs(columns["e." + name] - strain[:, at, c]).max(), 1e-12 * abs(strain).max())
            vm = von_mises(stress)
            self.assertLess(abs(columns["s.von_mises"] - vm[:, at]).max(), 1e-12 * vm.max())
            principal = np.linalg.eigvalsh(stress[:, at][:, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(-1, 3, 3))
            for k in range(3):
                self.assertLess(abs(columns[f"s.p{k + 1}"] - principal[:, 2 - k]).max(), 1e-10 * vm.max())
            # of several nodes the worst
            among = [list(ids).index(i) for i in self.middle]
            self.assertLess(abs(columns["m.von_mises"] - vm[:, among].max(axis=1)).max(), 1e-12 * vm.max())
            self.assertTrue(set(columns["m.node"]) <= set(self.middle))
            # maximum over time by brute force
            self.assertLess(abs(peak - vm.max(axis=0)).max(), 1e-12 * vm.max())
            self.assertLess(abs(vm[np.rint(when / 1e-3).astype(int), range(len(ids))] - peak).max(), 1e-12 * vm.max())
            summary = found["stress"]["beam"]
            self.assertAlmostEqual(summary["max_von_mises"] / vm.max(), 1, 12)
            self.assertEqual(summary["node"], ids[peak.argmax()])
            self.assertEqual(summary["t"], when[peak.argmax()])
            self.assertEqual(len(summary["at"]), 101)
            self.assertIn("stress.h5", found["files"])
            # the mean of the elements around a node is its stress
            mean = element[:, element_nodes == self.top].mean(axis=1)
            self.assertLess(abs(mean - stress[:, at]).max(), 1e-11 * abs(stress).max(), formulation)

    def test_floating_frames_agree(self):
        stresses = {}
        for formulation in ("ffrf", "fncf"):
            self.run_study(self.study(self.sensor(f"beam.node {self.top}"), formulation=formulation))
            stresses[formulation] = self.read()["s.xx"]
        scale = abs(stresses["ffrf"]).max()
        self.assertGreater(scale, 1000)
        # they have the same motion, but for the integrator's error
        self.assertLess(abs(stresses["fncf"] - stresses["ffrf"]).max(), 0.02 * scale)

    def test_a_loaded_cantilever_has_the_stress_of_beam_theory(self):
        # clamped, damped, loaded slowly: at rest at the end
        text = self.study(self.sensor(f"beam.node {self.top}", more='components = ["xx"]')
                          + self.sensor(f"beam.node {self.top}", "strain", "e", 'components = ["xx"]'),
                          joints=False, formulation="ffrf").replace("gravity = [0, 0, -9.81]", 'units = "SI"')
        text = text.replace(self.interfaces,
                            'interfaces = ["A", "B"]\ndamping = { ratio = 0.7 }')
        text = text.replace("[bodies.beam.reduce]", '[[bodies.beam.spiders]]\nname = "A"\nset = "LEFT"\n'
                            '[[bodies.beam.spiders]]\nname = "B"\nset = "RIGHT"\n[bodies.beam.reduce]')
        text = text.replace("end = 0.1", "end = 0.5")
        text += '[[joints]]\nname = "clamp"\nkind = "fixed"\nbetween = ["ground", "beam.A"]\n'
        text += '[[loads]]\nname = "push"\nkind = "force"\non = "beam.B"\nforce = [0, 0, 1]\nfactor = "ramp(t, 0, 0.2)"\n'
        section = SIZE[1] * SIZE[2]**2 / 6
        expected = -1 * (SIZE[0] - 0.2) / section
        for formulation in ("ffrf", "fncf", "gcms"):
            self.run_study(text.replace('"ffrf"', f'"{formulation}"'))
            columns = self.read()
            # bending of bricks is exact but for the shear, which eight of them know to a percent
            self.assertAlmostEqual(columns["s.xx"][-1] / expected, 1, delta=0.01, msg=formulation)
            self.assertAlmostEqual(columns["e.xx"][-1] / (expected / 1e9), 1, delta=0.01, msg=formulation)


class ReducedMechanism(StressTest):
    def test_a_rom_has_the_stress_of_the_full_model_and_its_file_carries_it(self):
        times = [0.02, 0.05, 0.1]
        cases = '[train]\norder = 8\nreconstruct = false\n[[cases]]\nname = "slap"\nset = { "simulate.model" = "slap" }\n'
        found = self.run_study(self.study(self.sensor(f"beam.node {self.top}"),
                                          f"[simulate.stress]\nat = {times}\n", cases), "run")
        # values of elements are there where the meshes are
        self.write("u.toml", self.study(simulate="[simulate.stress]\nat = 0.1\nunaveraged = true\n", more=cases))
        elements = self.json_of("run", "u.toml", "--out", "unaveraged")["cases"]["slap"]["simulation"]["stress"]["beam"]
        self.assertGreater(elements["max_element_von_mises"], 0.9 * elements["at"][0]["max_von_mises"])
        full, rom = self.read("out"), self.read("out/slap")
        scale = abs(full["s.xx"]).max()
        self.assertLess(abs(full["s.xx"] - rom["s.xx"]).max(), 0.05 * scale)
        summary = found["cases"]["slap"]["simulation"]["stress"]["beam"]
        self.assertAlmostEqual(summary["max_von_mises"] / found["simulation"]["stress"]["beam"]["max_von_mises"], 1, delta=0.05)
        # from the file: the same model, the same numbers
        self.json_of("simulate", "out/model.rom.h5", "--case", "slap", "--out", "again")
        again = self.read("again")
        self.assertLess(abs(again["s.xx"] - rom["s.xx"]).max(), 1e-9 * scale)
        with h5py.File(self.folder / "again" / "stress.h5") as a, h5py.File(self.folder / "out" / "slap" / "stress.h5") as b:
            self.assertEqual(a["bodies/0"].attrs["formulation"], b"slap")
            self.assertLess(abs(a["bodies/0/at/stress"][:] - b["bodies/0/at/stress"][:]).max(), 1e-9 * scale)
        with h5py.File(self.folder / "out" / "model.rom.h5") as file:
            part = file["parts/0"]
            self.assertEqual(part["stress_modes"].shape, (6 * len(part["node_ids"]), 3 * part["fields"].shape[1]))
            self.assertNotIn("strain_modes", part)

    def test_a_rom_without_stress_modes_says_what_to_do(self):
        train = "[train]\norder = 8\nreconstruct = false\n"
        self.write("t.toml", self.study(more=train))
        self.json_of("train", "t.toml", "--out", "out")
        self.write("s.toml", self.study(self.sensor(f"beam.node {self.top}"), more=train))
        self.assert_refused(["simulate", "out/model.rom.h5", "--study", "s.toml", "--out", "o"],
                            "has no stress modes of 'beam'", "stress = true in [train]")
        self.write("s.toml", self.study(simulate="[simulate.stress]\n", more=train))
        self.assert_refused(["simulate", "out/model.rom.h5", "--study", "s.toml", "--out", "o"], "has no stress modes of 'beam'")
        self.write("s.toml", self.study(simulate='[simulate.stress]\nbodies = ["bean"]\n', more=train).replace("bodies.beam", "bodies.bean").replace('"beam.node', '"bean.node'))
        self.assert_refused(["simulate", "out/model.rom.h5", "--study", "s.toml", "--out", "o"], "there is no body 'bean' (did you mean 'beam'?)")
        # and with them, later studies may ask
        self.write("t.toml", self.study(more=train + "stress = true\n"))
        self.json_of("train", "t.toml", "--out", "out")
        self.write("s.toml", self.study(self.sensor(f"beam.nodes {self.top} {self.middle[0]}", "strain"), more=train))
        self.json_of("simulate", "out/model.rom.h5", "--study", "s.toml", "--out", "o")
        self.assertIn("s.node", self.read("o"))
        self.write("s.toml", self.study(self.sensor("beam.MIDDLE"), more=train))
        self.assert_refused(["simulate", "out/model.rom.h5", "--study", "s.toml", "--out", "o2"], "beam.node 17")
        self.write("s.toml", self.study(simulate="[simulate.stress]\nat = 0.05\nunaveraged = true\n", more=train))
        self.assert_refused(["simulate", "out/model.rom.h5", "--study", "s.toml", "--out", "o2"], "need the mesh of 'beam'")


class BadInput(StressTest):
    def refused(self, text, *messages):
        self.write("s.toml", text)
        self.assert_refused(["simulate", "s.toml", "--out", "out"], *messages)

    def test_bodies_without_stress(self):
        one = self.sensor(f"beam.node {self.top}")
        self.refused(self.study(one, reduce="stress = false", formulation="ffrf"), "s.toml:", "beam", "leave out stress = false")
        self.refused(self.study(simulate="[simulate.stress]", reduce="stress = false", formulation="ffrf"), "leave out stress = false")
        self.refused(self.study(one, formulation="rigid"), "is rigid, and a rigid body has no stress")
        self.refused(self.study(simulate='[simulate.stress]\nbodies = ["beam"]', formulation="rigid"), "is rigid")
        self.refused(self.study(simulate="[simulate.stress]", formulation="rigid"), "there is no flexible body")
        self.refused(self.study(simulate='[simulate.stress]\nbodies = ["bean"]'), "there is no body 'bean' (did you mean 'beam'?)")

    def test_reduced_body_files(self):
        self.write("r.toml", self.study(reduce="stress = false\ngcms = true", joints=False).split("[simulate]")[0])
        self.json_of("reduce", "r.toml", "--out", "plain")
        self.write("r.toml", self.study(reduce="gcms = true", joints=False).split("[simulate]")[0])
        self.json_of("reduce", "r.toml", "--out", "with")
        one = self.sensor(f"beam.node {self.top}")
        plain, kept = 'reduced = "plain/beam.reduced.h5"', 'reduced = "with/beam.reduced.h5"'
        self.refused(self.study(one, body=plain, formulation="ffrf"), "beam", "plain/beam.reduced.h5", "has no stress modes", "reduce the body again")
        self.refused(self.study(one, body=kept, formulation="gcms"), "with/beam.reduced.h5", "give the body its mesh")
        self.refused(self.study(simulate="[simulate.stress]\nat = 0.1\nunaveraged = true", body=kept, formulation="ffrf"),
                     "need the mesh of 'beam'")
        # with stress modes in the file it runs, as from the mesh
        self.run_study(self.study(one, body=kept, formulation="ffrf"))
        from_file = self.read()["s.xx"]
        self.run_study(self.study(one, formulation="ffrf"))
        self.assertLess(abs(from_file - self.read()["s.xx"]).max(), 1e-8 * abs(from_file).max())

    def test_nodes_and_keys(self):
        self.refused(self.study(self.sensor("beam.node 99999")), "99999", "none of them")
        self.refused(self.study(self.sensor("beam.MIDLE")), "(did you mean 'MIDDLE'?)")
        self.refused(self.study(self.sensor("beam.MIDDLE", more='components = ["von_mises", "xz"]')), "components", "'xz'", "zx")
        self.refused(self.study(self.sensor("beam.MIDDLE", more='components = ["xx", "xx"]')), "comes twice")
        self.refused(self.study(self.sensor("beam.MIDDLE", kind="position", more='components = ["xx"]')), "components")
        self.refused(self.study(self.sensor(f"beam.node {self.top}"), reduce=f'nodes = ["node {self.hinge[0]}"]', formulation="ffrf"),
                     f"{self.top} is none of them")
        self.refused(self.study(simulate="[simulate.stress]\nat = -1"), "simulate.stress.at")
        self.refused(self.study(simulate="[simulate.stress]\nunaveraged = true"), "add at = [t, ...]")
        self.refused(self.study(simulate="[simulate.stress]\nmaximum = false"), "nothing is asked for")
        self.refused(self.study(simulate="[simulate.stress]\nstep = 1"), "simulate.stress.step")
        kept = ", ".join(f'"node {i}"' for i in self.hinge)
        self.refused(self.study(simulate="[simulate.stress]\nat = 0.1\nunaveraged = true", reduce=f"nodes = [{kept}]", formulation="ffrf"),
                     "leave out 'nodes'")

    def test_a_node_without_element_has_no_stress(self):
        text = self.study(self.sensor("beam.A"), joints=False, formulation="ffrf")
        text = text.replace(self.interfaces, 'interfaces = ["A"]')
        text = text.replace("[bodies.beam.reduce]", '[[bodies.beam.spiders]]\nname = "A"\nset = "LEFT"\n[bodies.beam.reduce]')
        self.refused(text, "belongs to no element")

    def test_an_instant_between_samples_takes_the_nearest_with_a_warning(self):
        found = self.run_study(self.study(simulate="[simulate.stress]\nat = [0.0123, 0.05]\nmaximum = false"))
        self.assertTrue(any("0.0123" in w["message"] for w in found["warnings"]), found["warnings"])
        self.assertEqual(len(found["warnings"]), 1)
        self.assertAlmostEqual(found["stress"]["beam"]["at"][0]["t"], 0.012, 12)
        self.assertNotIn("max_von_mises", found["stress"]["beam"])


if __name__ == "__main__":
    unittest.main()
