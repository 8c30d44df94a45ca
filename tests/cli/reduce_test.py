"""lissom reduce, and lissom run with reductions: what is asked for is delivered, what makes no sense is refused."""

import csv
import json
import math
import shutil
import unittest

import h5py
import numpy as np

from support import SOURCE, STEEL, CliTest, brick, inp_deck, nodes_at, read_netcdf

BODY = '[bodies.beam]\nmesh = "beam.inp"\n'
SPIDERS = ('[[bodies.beam.spiders]]\nname = "A"\nset = "LEFT"\nreference = [-0.02, 0.025, 0.015]\n'
           '[[bodies.beam.spiders]]\nname = "B"\nkind = "averaging"\nset = "RIGHT"\nreference = [0.42, 0.025, 0.015]\n')
REDUCE = '[bodies.beam.reduce]\ninterfaces = ["A", "B"]\nmodes = 6\n'


class ReduceTest(CliTest):
    size = (0.4, 0.05, 0.03)

    def setUp(self):
        super().setUp()
        self.nodes, self.elements = brick((6, 2, 2), self.size, "C3D8")
        sets = {"LEFT": nodes_at(self.nodes, 0, 0.0), "RIGHT": nodes_at(self.nodes, 0, self.size[0]),
                "TOP": nodes_at(self.nodes, 2, self.size[2]),
                "LINE": [n for n in nodes_at(self.nodes, 2, 0.0) if abs(self.nodes[n][1]) < 1e-9],
                "PAIR": nodes_at(self.nodes, 2, 0.0)[:2]}
        self.write("beam.inp", inp_deck(self.nodes, self.elements, sets=sets))

    def reduced(self, text, *arguments, verb="reduce"):
        self.write("s.toml", BODY + SPIDERS + text)
        return self.json_of(verb, "s.toml", *arguments)["bodies"]["beam"]

    def rows(self, name):
        with open(self.folder / "s.out" / name, newline="") as f:
            return list(csv.DictReader(f))


class Carried(ReduceTest):
    def test_the_tolerance_is_met_for_every_mode(self):
        before = 0
        for tolerance in (0.1, 0.01, 0.001, 0.0001):
            found = self.reduced(REDUCE + f"tolerance = {tolerance}\nexact = true\n", "--no-files")["reduce"]
            self.assertTrue(found["certified"] and found["reached"])
            self.assertEqual(found["method"], "certified")
            self.assertEqual(found["tolerance"], tolerance)
            self.assertEqual(found["rigid_modes"], 6)
            self.assertEqual(len(found["errors"]), 6)
            for mode in found["errors"]:
                self.assertLessEqual(mode["exact"], tolerance)
                self.assertGreater(mode["exact"], -1e-8)  # the eigen-solvers' round-off
                self.assertLessEqual(mode["exact"], mode["bound"] + 1e-8)
                self.assertLessEqual(mode["bound"], tolerance)
            self.assertEqual(found["largest"]["bound"], max(mode["bound"] for mode in found["errors"]))
            self.assertGreaterEqual(found["interior_coordinates"], before)
            before = found["interior_coordinates"]
        self.assertNotIn("s.out/", self.files())

    def test_frequencies_are_those_of_the_whole_body(self):
        found = self.reduced(REDUCE + "tolerance = 1e-5\n[bodies.beam.modes]\ncount = 12\nparaview = false\n", verb="run")
        whole = found["frequencies_hz"]
        self.assert_close(found["reduce"]["frequencies_hz"][6:], whole[6:], 1e-5)
        self.assertLess(max(found["reduce"]["frequencies_hz"][:6]), 1e-3 * whole[6])

    def test_files_and_their_content(self):
        found = self.reduced(REDUCE + "exact = true\nsweep = [8, 12]\n")
        beam = found["reduce"]
        files = {"beam.reduced.h5", "beam_coordinates.csv", "beam_errors.csv", "beam_sweep.csv", "summary.json",
                 "beam_free_modes.exo"}
        self.assertLessEqual({"s.out/" + f for f in files}, set(self.files()))
        times = read_netcdf(self.folder / "s.out/beam_free_modes.exo")["time_whole"]
        self.assertEqual(len(times), 6)
        summary = json.loads((self.folder / "s.out/summary.json").read_text())
        written = summary["bodies"]["beam"]["reduce"]
        for key in beam:
            if "seconds" not in key:
                self.assertEqual(written[key], beam[key], key)
        self.assertEqual(beam["degrees_of_freedom"], beam["interior"] + beam["interface"])
        self.assertEqual(beam["interface"], 12)
        self.assertEqual(beam["coordinates"], beam["interior_coordinates"] + 12)
        self.assertEqual(sum(beam["kinds"].values()), beam["coordinates"])
        self.assertEqual([i["name"] for i in beam["interfaces"]], ["A", "B"])
        self.assert_close(beam["interfaces"][0]["origin"], [-0.02, 0.025, 0.015], 1e-12)
        # the tables say the same
        coordinates = self.rows("beam_coordinates.csv")
        self.assertEqual(len(coordinates), beam["coordinates"])
        constraint = [(r["interface"], r["direction"]) for r in coordinates if r["kind"] == "constraint"]
        self.assertEqual(constraint, [(i, d) for i in "AB" for d in ("x", "y", "z", "rx", "ry", "rz")])
        for row, mode in zip(self.rows("beam_errors.csv"), beam["errors"]):
            self.assert_close(float(row["bound"]), mode["bound"], 1e-8)
            self.assert_close(float(row["exact"]), mode["exact"], 1e-8)
        sweep = self.rows("beam_sweep.csv")
        self.assertEqual(sorted({int(r["modes"]) for r in sweep}), [8, 9, 10, 11, 12])
        self.assertEqual(len(sweep), 5 * 6)

    def test_the_reduced_body_file_moves_and_weighs_like_the_body(self):
        found = self.reduced(REDUCE + "damping = { ratio = 0.02 }\n")
        with h5py.File(self.folder / "s.out/beam.reduced.h5") as f:
            self.assertEqual(f.attrs["format"], b"lissom-reduced-body")
            page = (SOURCE / "docs/reference/reduced-body-file.md").read_text()
            names = []
            f.visit(names.append)
            for name in names:
                if not name.split("/")[-1].isdigit():
                    self.assertIn(name.split("/")[-1], page, name)
            M, K, D = (f["matrices"][name][:] for name in "MKD")
        # the mass of a rod, moved along z as a whole: the interfaces follow, the interior does nothing
        n = len(M)
        p = np.zeros(n)
        p[n - 12 + 2] = p[n - 6 + 2] = 1
        mass = math.prod(self.size) * STEEL["rho"]
        self.assert_close(float(p @ M @ p), mass, 1e-8)
        self.assertLess(abs(p @ K @ p), 1e-9 * K[n - 10, n - 10])  # round-off of one of its entries
        # frequencies by another program's eigen-solver
        L = np.linalg.cholesky(M)
        values = np.linalg.eigvalsh(np.linalg.solve(L, np.linalg.solve(L, K).T))
        self.assert_close((np.sqrt(values[6:12]) / (2 * math.pi)).tolist(), found["reduce"]["frequencies_hz"][6:], 1e-8)
        self.assertLess(np.abs(D - D.T).max(), 1e-9 * np.abs(D).max())
        self.assertGreater(np.linalg.eigvalsh(D).min(), -1e-9 * np.abs(D).max())

    def test_other_methods_bases_and_options(self):
        default = self.reduced(REDUCE, "--no-files")["reduce"]
        paper = self.reduced(REDUCE + 'method = "paper"\n', "--no-files")["reduce"]
        self.assertEqual(paper["method"], "paper")
        self.assertLessEqual(paper["largest"]["paper_estimate"], 0.001)
        self.assertGreaterEqual(paper["interior_coordinates"], default["interior_coordinates"])
        estimate = self.reduced(REDUCE + 'method = "estimate"\n', "--no-files")["reduce"]
        self.assertLessEqual(2 * estimate["largest"]["zeta_2"], 0.001)
        fixed = self.reduced(REDUCE + 'method = "fixed"\ncount = 9\nresidual_vectors = false\n', "--no-files")["reduce"]
        self.assertEqual(fixed["kinds"], {"fixed-interface": 9, "constraint": 12})
        ranked = self.reduced(REDUCE + 'ranking = "contribution"\n', "--no-files")["reduce"]
        self.assertTrue(ranked["certified"])
        self.assertLessEqual(ranked["interior_coordinates"], default["interior_coordinates"])
        free = self.reduced(REDUCE + 'basis = "free-modes"\n', "--no-files")["reduce"]
        self.assertEqual(free["kinds"], {"free-interface": 6})
        self.assert_close(free["frequencies_hz"], default["frequencies_hz"][6:], 1e-9)
        rubin = self.reduced(REDUCE + 'basis = "free-interface"\n', "--no-files")["reduce"]
        self.assertEqual(rubin["kinds"], {"free-interface": 12, "residual": 12})
        # exact modes: below those of the default, but for its error
        for a, b in zip(rubin["frequencies_hz"][6:], default["frequencies_hz"][6:]):
            self.assertTrue(b / 1.0006 < a <= b * (1 + 1e-8))
        middle = nodes_at(self.nodes, 0, 0.2)[0]
        loaded = self.reduced(REDUCE + f'[[bodies.beam.reduce.load]]\nat = "node {middle}"\ndirections = "yz"\n',
                              "--no-files")["reduce"]
        self.assertEqual(loaded["kinds"]["attachment"], 2)

    def test_the_side_by_side_table(self):
        found = self.reduced(REDUCE + "compare = [0.1, 0.001]\n", "--no-files")["reduce"]
        compared = found["comparison"]
        self.assertEqual(compared["tolerances"], [0.1, 0.001])
        self.assertGreaterEqual(len(compared["methods"]), 6)
        for method in compared["methods"]:
            for k, tolerance in enumerate(compared["tolerances"]):
                self.assertLessEqual(method["exact"][k], tolerance, method["name"])
        # the search itself does not compute all the modes that the table has at hand, and may miss a smaller plain basis
        self.assertLessEqual(compared["methods"][-1]["coordinates"][1], found["interior_coordinates"])
        self.assertTrue(compared["methods"][-1]["certified"][1])

    def test_body_and_tolerance_flags(self):
        other = (BODY + REDUCE).replace("bodies.beam", "bodies.other").replace('["A", "B"]', '["TOP"]')
        self.write("s.toml", BODY + SPIDERS + REDUCE + "[bodies.beam.modes]\nparaview = false\n" + other)
        both = self.json_of("reduce", "s.toml", "--no-files")["bodies"]
        self.assertEqual(set(both), {"beam", "other"})
        self.assertNotIn("frequencies_hz", both["beam"])  # modes are for 'run'
        one = self.json_of("reduce", "s.toml", "--body", "beam", "--tolerance", 0.05, "--out", "res")["bodies"]
        self.assertEqual(set(one), {"beam"})
        self.assertEqual(one["beam"]["reduce"]["tolerance"], 0.05)
        self.assertLess(one["beam"]["reduce"]["interior_coordinates"], both["beam"]["reduce"]["interior_coordinates"])
        self.assertIn("res/beam.reduced.h5", self.files())

    def test_people_read_tables(self):
        self.write("s.toml", BODY + SPIDERS + REDUCE + "exact = true\ncompare = [0.01]\n")
        result = self.lissom("reduce", "s.toml", "--no-files")
        self.assertEqual(result.code, 0, result.err)
        for text in ("reduced from ", "certified", "fixed-interface", "constraint", "mass x kg", "flexible mode", "proven %",
                     "exact %", "paper's rule, its estimate", "default"):
            self.assertIn(text, result.out)

    def test_a_tolerance_out_of_reach_is_a_warning(self):
        self.write("s.toml", BODY + SPIDERS + REDUCE + "tolerance = 1e-9\nmax_modes = 10\n")
        result = self.lissom("reduce", "s.toml", "--no-files")
        self.assertEqual(result.code, 0)
        self.assertIn("the tolerance of 1e-09 was not reached with 10 modes", result.err + result.out)
        self.assertIn("NOT reached", result.out)
        found = self.json_of("reduce", "s.toml", "--no-files")["bodies"]["beam"]["reduce"]
        self.assertFalse(found["reached"] or found["certified"])

    def test_matrices_alone_can_be_reduced(self):
        # a chain of five masses and four springs, joined at both ends; eigenvalues 2 - 2 cos(k pi / 5)
        header = "%%MatrixMarket matrix coordinate real symmetric\n"
        springs = "".join(f"{i} {i} {1 if i in (1, 5) else 2}\n" for i in range(1, 6))
        springs += "".join(f"{i + 1} {i} -1\n" for i in range(1, 5))
        self.write("K.mtx", header + "5 5 9\n" + springs)
        self.write("M.mtx", header + "5 5 5\n" + "".join(f"{i} {i} 1\n" for i in range(1, 6)))
        self.write("dofs.txt", "".join(f"{n}.1\n" for n in range(1, 6)))
        self.write("s.toml", '[bodies.chain]\nstiffness = "K.mtx"\nmass_matrix = "M.mtx"\ndofs = "dofs.txt"\n'
                   '[bodies.chain.reduce]\ninterfaces = ["node 1", "node 5"]\nmodes = 4\n')
        found = self.json_of("reduce", "s.toml")["bodies"]["chain"]["reduce"]
        self.assertEqual(found["rigid_modes"], 1)
        exact = [math.sqrt(2 - 2 * math.cos(k * math.pi / 5)) / (2 * math.pi) for k in range(5)]
        self.assert_close(found["frequencies_hz"][1:], exact[1:], 1e-9)
        self.assertIn("s.out/chain.reduced.h5", self.files())


class AgainstCalculix(ReduceTest):
    def test_ccx_has_the_same_frequencies_of_the_beam_held_at_its_interface(self):
        # quadratic bricks, which both programs integrate alike; the left end rigid and held is a clamped end
        nodes, elements = brick((6, 1, 1), self.size, "C3D20")
        sets = {"LEFT": nodes_at(nodes, 0, 0.0)}
        self.write("beam.inp", inp_deck(nodes, elements, sets=sets))
        self.write("held.inp", inp_deck(nodes, elements, sets=sets, step="*FREQUENCY\n6\n*BOUNDARY\nLEFT, 1, 3"))
        self.ccx("held")
        expected = self.ccx_frequencies("held")[:6]
        self.write("s.toml", BODY + SPIDERS[:SPIDERS.index("[[", 2)] + '[bodies.beam.reduce]\ninterfaces = ["A"]\n'
                   'method = "fixed"\ncount = 6\nmodes = 6\n')
        self.json_of("reduce", "s.toml")
        found = [float(r["frequency_hz"]) for r in self.rows("beam_coordinates.csv") if r["kind"] == "fixed-interface"]
        # seven digits of ccx's eigenvalues; its elements agree with ours to 3e-7
        self.assert_close(found, expected, 1e-6)


class Refused(ReduceTest):
    def refused(self, text, *messages, arguments=(), spiders=SPIDERS):
        self.write("s.toml", BODY + spiders + "[bodies.beam.reduce]\n" + text)
        return self.assert_refused(["reduce", "s.toml", *arguments], *messages)

    def test_interfaces_that_leave_the_interior_singular(self):
        middle = sorted(n for n in self.nodes if abs(self.nodes[n][0] - 0.2) < 1e-9 and abs(self.nodes[n][2]) < 1e-9)
        one, two = f"node {middle[0]}", f"node {middle[1]}"
        self.refused(f'interfaces = ["{one}"]\n', "s.toml:12: bodies.beam.reduce: beam.inp: the interfaces (3 degrees of freedom) "
                     "leave the interior singular: with them held, 3 rigid motions of the body (it can turn)",
                     "take a spider (six degrees of freedom), at least three nodes that are not on a line")
        self.refused(f'interfaces = ["{one}", "{two}"]\n', "1 rigid motion of the body (it can turn)")
        self.refused('[[bodies.beam.reduce.interface]]\nat = "A"\ndirections = "rx ry rz"\n',
                     "3 rigid motions of the body (it can slide)")
        self.refused("interfaces = []\n", "the body has no interface")

    def test_a_part_that_no_interface_holds(self):
        nodes, elements = brick((2, 1, 1), (0.1, 0.05, 0.03), "C3D8")
        count = max(self.nodes)
        all_nodes = {**self.nodes, **{n + count: (x, y + 1, z) for n, (x, y, z) in nodes.items()}}
        all_elements = self.elements["C3D8"] + [(e + 1000, [n + count for n in c]) for e, c in elements["C3D8"]]
        sets = {"LEFT": nodes_at(self.nodes, 0, 0.0), "RIGHT": nodes_at(self.nodes, 0, self.size[0])}
        self.write("beam.inp", inp_deck(all_nodes, {"C3D8": all_elements}, sets=sets))
        self.refused('interfaces = ["A"]\n', "the body falls apart into 2 parts", "allow_parts = true")
        self.refused('interfaces = ["A"]\nallow_parts = true\n', "leave the interior singular")

    def test_nodes_that_are_not_there(self):
        self.refused('interfaces = ["node 999"]\n', "s.toml:13: ", "there is no node 999 for interface 'node 999'")
        self.refused('interfaces = ["TOPP"]\n', "there is no node set 'TOPP'", "did you mean 'TOP'?")
        self.refused('interfaces = ["A"]\nnodes = ["nowhere"]\n', "there is no node set 'nowhere' to keep modes at")
        self.refused('interfaces = ["LEFT"]\n', "for interface 'LEFT' has no degrees of freedom of its own: a spider ties it")
        self.refused('interfaces = ["A", "A"]\n', "two interfaces are called 'A'")

    def test_tolerances_that_are_none(self):
        for tolerance in ("0", "0.0", "1", "1.5", "-1", "inf"):
            with self.subTest(tolerance=tolerance):
                self.refused(f'interfaces = ["A"]\ntolerance = {tolerance}\n', "s.toml:14: bodies.beam.reduce.tolerance: ",
                             "expected a ")
        self.refused('interfaces = ["A"]\ntolerance = nan\n', "bodies.beam.reduce.tolerance: expected a number, found nan")
        self.refused('interfaces = ["A"]\ntolerance = "small"\n', "s.toml:14: bodies.beam.reduce.tolerance: expected a number")
        self.refused('interfaces = ["A"]\ncompare = [0.1, 2]\n', "compare: 2 is no tolerance")
        for tolerance in (0, 1, -1, 2, "nan"):
            with self.subTest(flag=tolerance):
                self.refused('interfaces = ["A"]\n', "--tolerance", arguments=[f"--tolerance={tolerance}"])

    def test_ranges_larger_than_the_model(self):
        for basis in ("craig-bampton", "free-modes", "free-interface"):
            self.refused(f'interfaces = ["A"]\nmodes = 1000\nbasis = "{basis}"\n',
                         "1000 flexible modes are asked for, but the body has only ")
        self.refused('interfaces = ["A"]\nmodes = 0\n', "s.toml:14: bodies.beam.reduce.modes: is 0, expected 1 or more")

    def test_spiders_with_too_few_or_collinear_nodes(self):
        for kind in ("rigid", "averaging"):
            spider = f'[[bodies.beam.spiders]]\nname = "A"\nkind = "{kind}"\n'
            self.refused('interfaces = ["A"]\n', "spider", "'A'", "three", spiders=spider + 'set = "PAIR"\n')
            self.refused('interfaces = ["A"]\n', "spider", "'A'", "line", spiders=spider + 'set = "LINE"\n')

    def test_wishes_that_contradict_each_other(self):
        for text, message in (('method = "fixed"\n', "count: is missing"), ("count = 3\n", "count: goes with method"),
                              ('method = "best"\n', "'best' is none of"), ("tolerence = 0.1\n", "did you mean 'tolerance'?"),
                              ('method = "paper"\nranking = "contribution"\n', "ranking: goes with"),
                              ("sweep = [9, 3]\n", "sweep: expected [first, last]"),
                              ("damping = { ratio = -1 }\n", "damping"), ("damping = { table = \"none.csv\" }\n", "none.csv"),
                              ('load = [{ name = "push", at = "A" }]\n', "the load 'push' acts on an interface")):
            with self.subTest(text=text):
                self.refused('interfaces = ["A"]\n' + text, message)
        self.refused("modes = 3\n", "bodies.beam.reduce.interfaces: is missing")

    def test_studies_without_reductions(self):
        self.write("s.toml", BODY)
        self.assert_refused(["reduce", "s.toml"], "s.toml: no body has a table [bodies.NAME.reduce]")
        self.assert_refused(["reduce", "beam.inp"], "beam.inp: is no study")
        self.assert_refused(["reduce", "none.toml"], "none.toml: no such file")
        self.refused('interfaces = ["A"]\n', "--body: 'rod' is no body with a reduction", "beam", arguments=["--body", "rod"])

    def test_body_files_that_are_damaged_or_newer(self):
        self.write("s.toml", BODY + "[bodies.beam.modes]\ncount = 7\nparaview = false\n")
        self.json_of("run", "s.toml")
        shutil.move(self.folder / "s.out/beam.body.h5", self.folder / "beam.body.h5")
        shutil.rmtree(self.folder / "s.out")
        study = '[bodies.beam]\nbody = "beam.body.h5"\n[bodies.beam.reduce]\ninterfaces = ["LEFT"]\nmodes = 5\n'
        self.write("s.toml", study)
        good = self.json_of("reduce", "s.toml", "--no-files")["bodies"]["beam"]["reduce"]
        self.assertTrue(good["certified"])
        whole = (self.folder / "beam.body.h5").read_bytes()
        self.write("beam.body.h5", whole[:len(whole) // 2])
        self.assert_refused(["reduce", "s.toml"], "beam.body.h5")
        self.write("beam.body.h5", b"no HDF5 at all")
        self.assert_refused(["reduce", "s.toml"], "beam.body.h5: is not an HDF5 file")
        if h5py:
            self.write("beam.body.h5", whole)
            with h5py.File(self.folder / "beam.body.h5", "r+") as f:
                f.attrs["schema_version"] = np.int64(99)
            self.assert_refused(["reduce", "s.toml"], "beam.body.h5", "99")

    def test_a_reduced_body_is_no_body(self):
        self.reduced(REDUCE)
        for verb in ("inspect", "modes"):
            self.assert_refused([verb, "s.out/beam.reduced.h5"], "s.out/beam.reduced.h5: is a reduced body")
        self.write("again.toml", '[bodies.beam]\nbody = "s.out/beam.reduced.h5"\n')
        self.assert_refused(["run", "again.toml"], "not a Lissom body file", "it is a reduced body")


if __name__ == "__main__":
    unittest.main()
