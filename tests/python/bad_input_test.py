"""Wrong input raises an exception with words that help; nothing aborts. Every case runs in one process, which must reach its end."""

import subprocess
import sys
import textwrap
import unittest

import lissom  # noqa: F401  (fails here, not in the subprocess, where it is missing)
from support import FolderTest

PREPARE = textwrap.dedent("""
    import gc, os, sys
    sys.path.insert(0, TESTS)
    import numpy as np, scipy.sparse as sp
    import lissom
    from support import STEEL, PENDULUM, beam, beam_arrays, beam_mesh

    passed = 0
    def expect(kind, action, *words):
        global passed
        try:
            result = action()
        except kind as e:
            text = str(e)
            for word in words:
                assert word in text, f"{word!r} is not in {text!r}"
            passed += 1
        except BaseException as e:
            raise AssertionError(f"expected {kind.__name__}, found {type(e).__name__}: {e}")
        else:
            raise AssertionError(f"nothing was raised, the result is {result!r}")
    InputError, Error = lissom.InputError, lissom.Error
""")

CASES = {
    "meshes": """
        points, hexes = beam_arrays((1, 1, 1), (1.0, 1.0, 1.0))
        Mesh = lissom.Mesh
        expect(InputError, lambda: Mesh(points[:, :2], {"hex20": hexes}), "points", "(n, 3)")
        expect(InputError, lambda: Mesh(points.ravel(), {"hex20": hexes}), "points")
        expect(InputError, lambda: Mesh("points", {"hex20": hexes}), "points", "numbers")
        expect(InputError, lambda: Mesh(None, {"hex20": hexes}), "points")
        expect(InputError, lambda: Mesh([[1, 2, 3], [4, 5]], {}), "points")
        expect(InputError, lambda: Mesh(points * 1j, {"hex20": hexes}), "points")
        bad = points.copy(); bad[2, 1] = np.nan
        expect(InputError, lambda: Mesh(bad, {"hex20": hexes}), "finite")
        bad[2, 1] = np.inf
        expect(InputError, lambda: Mesh(bad, {"hex20": hexes}), "finite")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes[:, :8]}), "hex20", "20")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes + 1}), "index from 0 to 19")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes - 1}), "-1")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes.astype(float)}), "integers")
        expect(InputError, lambda: Mesh(points, {"hex20": np.full_like(hexes, 3)}), "twice")
        expect(InputError, lambda: Mesh(points, {"hex27": hexes}), "hex27", "tet4")
        expect(InputError, lambda: Mesh(points, {5: hexes}), "elements")
        expect(InputError, lambda: Mesh(points, [hexes]), "dict")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, {"a": [20]}), "node_sets['a']")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, {"a": [-1]}), "node_sets['a']")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, {"a": [[1]]}), "node_sets['a']")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, {"a": ["x"]}), "node_sets['a']")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, [1, 2]), "node_sets")
        expect(InputError, lambda: lissom.Body(Mesh(points, {"hex20": hexes}), spiders=5), "spiders")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, node_ids=[1, 2]), "node_ids")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, node_ids=np.ones(20, int)), "twice")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, node_ids=np.arange(20)), "node_ids")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, node_ids=np.full(20, 2**64 - 1, np.uint64)), "too large")
        expect(InputError, lambda: Mesh(points, {"hex20": hexes}, units="parsec"), "parsec")
        expect(InputError, lambda: Mesh(np.zeros((0, 3)), {}))
        expect(InputError, lambda: lissom.read_mesh("nothing.msh"), "nothing.msh")
        expect(InputError, lambda: lissom.read_mesh(""), "empty")
        expect(InputError, lambda: lissom.read_mesh(None), "path")
        expect(InputError, lambda: lissom.read_mesh(7), "path")
        expect(InputError, lambda: lissom.read_mesh("a\\0b.msh"), "null")
        expect(InputError, lambda: lissom.read_mesh("."))
        expect(InputError, lambda: lissom.read_mesh("x.geo", order=3), "order")
        expect(InputError, lambda: lissom.read_mesh("x.geo", size=-1), "size")
        expect(InputError, lambda: lissom.read_mesh("x.geo", size=np.nan), "size")
        open("bad.msh", "wb").write(b"$MeshFormat\\n4.1 0 8\\n\\xff\\xfe")
        expect(InputError, lambda: lissom.read_mesh("bad.msh"), "bad.msh")
    """,
    "bodies": """
        mesh = beam_mesh((1, 1, 1))
        Body = lissom.Body
        expect(InputError, lambda: Body(), "mesh")
        expect(InputError, lambda: Body(mesh, material=dict(E=1e9)).K, "nu", "is missing")
        expect(InputError, lambda: Body(mesh, material=dict(E=-1, nu=0.3, rho=1)), "positive")
        expect(InputError, lambda: Body(mesh, material=dict(E=np.nan, nu=0.3, rho=1)), "finite")
        expect(InputError, lambda: Body(mesh, material=dict(E="steel", nu=0.3, rho=1)), "material.E")
        expect(InputError, lambda: Body(mesh, material="steel"), "material")
        expect(InputError, lambda: Body(mesh, material=dict(E=1e9, nu=0.3, rho=1, Q=2)), "Q")
        expect(InputError, lambda: Body(mesh, material=STEEL, mass="heavy"), "mass")
        expect(InputError, lambda: Body(mesh, material=STEEL, spiders=[dict(name="s", set="nowhere")]), "nowhere")
        expect(InputError, lambda: Body(mesh, material=STEEL, spiders=[dict(set="left")]), "name")
        expect(InputError, lambda: Body(mesh, material=STEEL, units="mm-t-s"), "units")
        expect(InputError, lambda: Body(mesh, material=STEEL, name="a/b"), "name")
        expect(InputError, lambda: Body(mesh, material=STEEL, name=3), "name")
        expect(InputError, lambda: Body("nothing.body.h5"), "nothing.body.h5")
        expect(InputError, lambda: Body(mesh, K=np.eye(3), M=np.eye(3)))
        body = Body(mesh, material=STEEL)
        expect(InputError, lambda: body.modes(0), "count")
        expect(InputError, lambda: body.modes(10**6), "count")
        expect(InputError, lambda: body.modes(2**40), "too large")
        expect(InputError, lambda: body.modes("many"), "integer")
        expect(InputError, lambda: body.modes(2.5), "integer")
        expect(InputError, lambda: body.modes(4, fix="nowhere"), "nowhere")
        expect(InputError, lambda: body.modes(4, fix=[3]), "fix")
        expect(InputError, lambda: body.modes(4, tolerance=2), "tolerance")
        expect(InputError, lambda: body.displacements(np.zeros(3)), "q")
        expect(InputError, lambda: body.displacements("q"), "q")
        expect(InputError, lambda: body.reduce(interfaces="left"), "interfaces")
        expect(InputError, lambda: body.reduce(interfaces=["nowhere"]), "nowhere")
        expect(InputError, lambda: body.reduce(interfaces=["left"], tolerance=-1), "tolerance")
        expect(InputError, lambda: body.reduce(interfaces=["left"], tolerance=np.nan), "finite")
        expect(InputError, lambda: body.reduce(interfaces=["left"], method="magic"), "magic")
        expect(InputError, lambda: body.reduce(interfaces=["left"], modes=object()), "modes")
        expect(Error, lambda: body.save("no/such/folder/x.body.h5"))
        expect(InputError, lambda: lissom.ReducedBody("nothing.reduced.h5"), "nothing")
        open("text.body.h5", "w").write("no HDF5")
        expect(InputError, lambda: Body("text.body.h5"), "text.body.h5")
        body.save("whole.body.h5")
        data = open("whole.body.h5", "rb").read()
        open("half.body.h5", "wb").write(data[:len(data) // 2])
        expect(InputError, lambda: Body("half.body.h5"), "half.body.h5")
        expect(InputError, lambda: lissom.ReducedBody("whole.body.h5"), "whole.body.h5")
        lonely = lissom.Mesh(np.eye(3), {})
        expect(Error, lambda: Body(lonely, material=STEEL).modes(1))
    """,
    "matrices": """
        Body = lissom.Body
        K = np.diag([2.0, 2.0, 2.0]); M = np.eye(3)
        expect(InputError, lambda: Body(K=K), "together")
        expect(InputError, lambda: Body(M=M), "together")
        expect(InputError, lambda: Body(K=K, M=np.eye(6)), "rows")
        expect(InputError, lambda: Body(K=K[:2], M=M), "square")
        expect(InputError, lambda: Body(K="K", M=M), "K")
        expect(InputError, lambda: Body(K=K * 1j, M=M), "numbers")
        expect(InputError, lambda: Body(K=np.zeros((0, 0)), M=np.zeros((0, 0))), "K")
        expect(InputError, lambda: Body(K=np.full((3, 3), np.nan), M=M), "finite")
        expect(InputError, lambda: Body(K=sp.csc_matrix(np.array([[np.inf, 0, 0], [0, 1, 0], [0, 0, 1]])), M=M), "finite")
        skew = K.copy(); skew[0, 1] = 1
        expect(InputError, lambda: Body(K=skew, M=M), "symmetric")
        expect(InputError, lambda: Body(K=-K, M=M), "K")
        expect(InputError, lambda: Body(K=K, M=np.zeros((3, 3))), "M")
        expect(InputError, lambda: Body(K=K, M=np.diag([1.0, 1.0, 0.0])), "M")
        expect(InputError, lambda: Body(K=np.eye(4), M=np.eye(4)), "dofs")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((2, 3))), "points")
        expect(InputError, lambda: Body(K=K, M=M, points=[[0, 0, np.nan]]), "finite")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((1, 2))), "points")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((1, 3)), dofs=[[0, 0], [0, 1]]), "dofs")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((1, 3)), dofs=[[0, 0], [0, 1], [0, 6]]), "direction")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((1, 3)), dofs=[[0, 0], [0, 1], [1, 0]]), "point")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((1, 3)), dofs=[[0, 0], [0, 1], [0, 1]]), "same")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((1, 3)), dofs=[[0, 0], [0, 1], [-1, 2]]), "point")
        expect(InputError, lambda: Body(K=K, M=M, points=np.zeros((1, 3)), dofs=[[0.5, 0], [0, 1], [0, 2]]), "integers")
        expect(InputError, lambda: Body(K=K, M=M, units="parsec"), "parsec")
        # an indefinite K is found when it is factorised
        indefinite = Body(K=np.array([[1.0, 5, 0], [5, 1, 0], [0, 0, 1]]), M=M)
        expect(Error, lambda: indefinite.modes(2))
        expect(InputError, lambda: Body(K=K, M=M).modes(4), "4")
    """,
    "studies": """
        Study = lissom.Study
        expect(InputError, lambda: Study("nothing.toml"), "nothing.toml")
        expect(InputError, lambda: Study(7), "path")
        expect(InputError, lambda: Study({}), "bodies")
        expect(InputError, lambda: Study({1: 2}), "key")
        deep = {}
        deep["a"] = deep
        expect(InputError, lambda: Study(deep), "nested too deeply")
        open("deep.toml", "w").write("a = " + "{a=" * 20000 + "1" + "}" * 20000)
        expect(InputError, lambda: Study("deep.toml"), "nested too deeply")
        assert "nested too deeply" in lissom.check("deep.toml")["text"]
        open("latin.toml", "wb").write(b'x="caf\\xe9')
        assert lissom.check("latin.toml")["problems"]
        expect(InputError, lambda: Study({"bodies": {"a": object()}}), "bodies.a")
        expect(InputError, lambda: Study({"bodies": {"a": {"mesh": "no.msh"}}}), "no.msh")
        expect(InputError, lambda: Study({**PENDULUM, "simulat": {}}), "simulat")
        expect(InputError, lambda: Study({**PENDULUM, "gravity": [0, 0, np.nan]}), "gravity", "finite")
        expect(InputError, lambda: Study({**PENDULUM, "gravity": 2**70}), "too large")
        expect(InputError, lambda: Study({**PENDULUM, "gravity": [1, 2]}), "gravity")
        expect(InputError, lambda: Study(PENDULUM, set={"simulate.nd": 3}), "nd")
        expect(InputError, lambda: Study(PENDULUM, set={"": 3}), "set")
        expect(InputError, lambda: Study(PENDULUM, set={"simulate.end": "soon"}), "end")
        expect(InputError, lambda: Study(PENDULUM, set=["simulate.end"]), "set")
        expect(InputError, lambda: Study(PENDULUM, set={"simulate.end": print}), "set")
        expect(InputError, lambda: Study(PENDULUM, folder=3), "folder")
        study = Study(PENDULUM)
        expect(InputError, lambda: study.simulate("nobody"), "nobody")
        expect(InputError, lambda: study.simulate(3), "case")
        expect(InputError, lambda: study.simulate(out=""), "out")
        expect(InputError, lambda: study.simulate(out=3), "out")
        open("file", "w").write("x")
        expect(InputError, lambda: study.simulate(out="file"), "file")
        expect(InputError, lambda: study.simulate(out="file/deeper"), "file")
        expect(InputError, lambda: study.simulate(checkpoint="often"), "checkpoint")
        expect(TypeError, lambda: study.simulate(progress=3), "progress")
        expect(InputError, lambda: study.train(), "[train]")
        expect(InputError, lambda: study.train(order="big"), "order")
        expect(InputError, lambda: study.linearise(at=-1), "--at")
        expect(InputError, lambda: study.linearise(at=1, static=True), "--static")
        expect(InputError, lambda: study.linearise(at=np.nan), "at")
        expect(InputError, lambda: study.response(), "--from")
        expect(InputError, lambda: study.response(1, 10, inputs=[3]), "inputs")
        expect(InputError, lambda: study.response("low", 10), "lowest")
        expect(InputError, lambda: study.static(-1), "--at")
        expect(InputError, lambda: study.reduce(), "reduce")
        expect(InputError, lambda: study.sweep("swept"), "sweep")
        expect(InputError, lambda: lissom.simulate("nothing.rom.h5"), "nothing.rom.h5")
        expect(InputError, lambda: lissom.simulate("file"), "file")
        expect(InputError, lambda: lissom.simulate(study, set={"a": 1}), "set")
        expect(InputError, lambda: lissom.read_result("nothing"), "nothing")
        expect(InputError, lambda: lissom.read_result("file"), "file")
        os.mkdir("empty")
        expect(InputError, lambda: lissom.read_result("empty"), "result.h5")
        expect(InputError, lambda: lissom.compare("empty", "file"))
        expect(InputError, lambda: lissom.compare("empty", 3), "b")
        expect(InputError, lambda: lissom.report("empty"))
        expect(InputError, lambda: lissom.report("empty", max_size=0), "max_size")
        expect(InputError, lambda: lissom.inspect("nothing"), "nothing")
        expect(InputError, lambda: lissom.Rom("nothing.rom.h5"), "nothing.rom.h5")
        expect(InputError, lambda: lissom.Rom("study.toml"), "is a study")
        expect(InputError, lambda: lissom.Rom("file"), "file")
        run = study.simulate()
        expect(InputError, lambda: run.nodes("nobody"), "nobody")
        expect(InputError, lambda: run.nodes(3), "body")
        expect(KeyError, lambda: run.sensors["top"], "tip.x")
        expect(ValueError, lambda: run.q.__setitem__((0, 0), 1.0))
        # the words of the program
        import subprocess
        open("wrong.toml", "w").write('title = 3\\n[bodies.a]\\nmash = "x"\\n')
        told = subprocess.run([PROGRAM, "simulate", "wrong.toml"], capture_output=True, text=True).stderr
        try:
            Study("wrong.toml")
        except InputError as e:
            assert told.strip() == f"lissom: error: {e}".strip(), (told, str(e))
        # a file that goes while it is used
        open("gone.toml", "w").write(study.text)
        gone = Study("gone.toml"); os.remove("gone.toml")
        expect(InputError, lambda: gone.simulate(), "gone.toml")
        # a file whose bytes are no UTF-8
        open("latin.toml", "wb").write(b'title = "\\xe9\\xff"\\nzz = 1\\n')
        expect(InputError, lambda: Study("latin.toml"), "latin.toml")
    """,
    "systems": """
        System = lissom.System
        expect(InputError, lambda: System(units=3), "units")
        expect(InputError, lambda: System(units="parsec").add_rigid_body("a", 1, [1, 1, 1]).text, "parsec")
        expect(InputError, lambda: System().simulate(end=1, step=0.1))
        system = System()
        system.add_rigid_body("a", 1, [1, 1, 1])
        expect(InputError, lambda: system.add_rigid_body("a", 1, [1, 1, 1]), "already")
        expect(InputError, lambda: system.add_body("b", None), "path")
        expect(InputError, lambda: system.add_body(3, "x"), "name")
        expect(InputError, lambda: System().add_body("b", "nothing.body.h5").text, "nothing.body.h5")
        expect(InputError, lambda: System().add_rigid_body("a", -1, [1, 1, 1]).text, "mass")
        expect(InputError, lambda: System().add_rigid_body("a", 1, [1, 1, np.nan]).text, "finite")
        expect(InputError, lambda: System().add_rigid_body("a", 1, "round").text, "inertia")
        expect(InputError, lambda: System().add_rigid_body("a", 1, [1, 1, 1]).add_joint("j", "glue", ["ground", "a"]).text, "glue")
        expect(InputError, lambda: System().add_rigid_body("a", 1, [1, 1, 1]).add_sensor("s", "smell", "a").text, "smell")
        expect(InputError, lambda: system.simulate(end=-1, step=1e-3), "end")
        expect(InputError, lambda: system.simulate(end=1, stp=1e-3), "stp")
        expect(InputError, lambda: system.train({"end": 1, "step": 0.1}))
    """,
    "lifetimes": """
        # objects whose parents are gone, and half-made ones
        def views():
            body = beam()
            reduced = body.reduce(interfaces=["a", "b"], method="fixed", count=2)
            run = lissom.Study(PENDULUM).simulate()
            return [body.K_lower.data, body.points, reduced.modes, reduced.K, run.q, run.time, run.sensors["tip.x"], run.sensors.array]
        kept = views()
        sums = [float(np.sum(one)) for one in kept]
        gc.collect()
        junk = [np.ones(100000) for _ in range(50)]
        assert sums == [float(np.sum(one)) for one in kept]
        passed += 1
        import lissom._core as core
        expect(TypeError, lambda: core.Mesh())
        expect(TypeError, lambda: core.Ode())
        expect(TypeError, lambda: core.simulate(None, None, None, False, False, 5.0))
        expect(TypeError, lambda: core.mesh_from_file(core.Session(None), 3, "SI", 0.0, 2, False, False))
        expect(AttributeError, lambda: lissom.Rom.__new__(lissom.Rom).order)
        expect(AttributeError, lambda: lissom.Mesh.__new__(lissom.Mesh).points)
        import pickle
        expect(TypeError, lambda: pickle.dumps(lissom.Study(PENDULUM).simulate()))
    """,
}


class BadInput(FolderTest):
    def run_cases(self, name):
        code = (f"TESTS = {str(__import__('pathlib').Path(__file__).parent)!r}\n"
                f"PROGRAM = {__import__('support').LISSOM!r}\n" + PREPARE + textwrap.dedent(CASES[name]) + "\nprint('passed', passed)\n")
        process = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=600)
        self.assertEqual(process.returncode, 0, process.stdout[-2000:] + process.stderr[-3000:])
        count = int(process.stdout.split()[-1])
        self.assertGreaterEqual(count, CASES[name].count("expect("))


for case in CASES:
    setattr(BadInput, f"test_{case}", lambda self, case=case: self.run_cases(case))


if __name__ == "__main__":
    unittest.main()
