"""Models as programs: C99 and FMUs of small models, compiled and run, against `lissom simulate`, against differences, and against the
rules of the FMI standard. FMPy, where it is installed, imports the FMUs; without it those tests say so."""

import csv
import ctypes
import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET
import zipfile

import numpy as np

from linear_test import BALANCED, CARTS, NONE, matrices
from slap_bad_input_test import STUDY as ARM
from support import CliTest, brick, inp_deck

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
FMPY = os.environ.get("LISSOM_FMPY_PYTHON", sys.executable)
# a name with what comments, texts and XML must not take for theirs, and two inputs
STUDY = CARTS.replace('title = "two carts"', 'title = "two */ \\"carts\\" <&> ??/"')


def has_fmpy():
    return subprocess.run([FMPY, "-c", "import fmpy"], capture_output=True, timeout=120).returncode == 0


class Exported(CliTest):
    def make(self, study=STUDY, train=NONE):
        self.write("study.toml", study + train)
        self.json_of("train", "study.toml", "--out", "out")
        return "out/model.rom.h5"

    def columns(self, file):
        with open(self.folder / file) as f:
            rows = list(csv.reader(f))
        return {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(rows[0])}

    def run_here(self, *command, code=0):
        done = subprocess.run([str(c) for c in command], cwd=self.folder, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def sources(self, model, *flags):
        told = self.json_of("export", model, "--c", "c", *flags)
        name = "lissom_" + told["name"]
        self.assertEqual(told["files"], [f"c/{name}.h", f"c/{name}.c", f"c/{name}_test.c"])
        return told, name


class CSources(Exported):
    def test_sources_compile_without_warnings_and_agree_with_the_library(self):
        _, name = self.sources(self.make())
        for compiler in ("gcc", "clang-14"):
            self.assertEqual(self.run_here(compiler, *STRICT, f"c/{name}.c", f"c/{name}_test.c", "-o", "check", "-lm"), "")
            self.assertIn("agrees with Lissom", self.run_here("./check"))
        self.run_here("gcc", "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"c/{name}.c",
                      f"c/{name}_test.c", "-o", "clean", "-lm")
        self.run_here("./clean")
        # nothing allocates, and nothing but libm is needed
        self.run_here("gcc", "-std=c99", "-O2", "-c", f"c/{name}.c", "-o", "model.o")
        needed = {line.split()[-1] for line in self.run_here("nm", "-u", "model.o").splitlines()}
        self.assertLessEqual(needed, {"memcpy", "memset", "exp", "sin", "cos", "pow", "sqrt", "fabs", "ceil", "floor", "ldexp",
                                      "nextafter", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"})
        # and nothing can be written to from outside of a run
        sections = self.run_here("nm", "model.o")
        self.assertNotRegex(sections, r"(?m) [bBdDC] ")

    def test_balanced_models_and_single_precision(self):
        _, name = self.sources(self.make(train=BALANCED), "--float")
        self.run_here("gcc", *STRICT, f"c/{name}.c", f"c/{name}_test.c", "-o", "check", "-lm")
        self.assertIn("agrees with Lissom", self.run_here("./check"))
        self.assertIn("typedef float", (self.folder / f"c/{name}.h").read_text())

    def test_derivatives_are_those_of_the_textbook(self):
        told, name = self.sources(self.make(), "--name", "carts")
        self.assertEqual((name, told["states"]), ("lissom_carts", 4))
        self.run_here("gcc", "-std=c99", "-O2", "-shared", "-fPIC", f"c/{name}.c", "-o", "carts.so", "-lm")
        library = ctypes.CDLL(str(self.folder / "carts.so"))
        A, B, _ = matrices()
        J, Bu = np.zeros((4, 4)), np.zeros((4, 3))
        at = lambda x: x.ctypes.data_as(ctypes.c_void_p)
        x = np.array([0.1, 0.2, 0.3, 0.4])
        self.assertEqual(library.lissom_carts_jacobian(None, ctypes.c_double(0.5), at(x), None, at(J)), 0)
        self.assertEqual(library.lissom_carts_input_matrix(None, ctypes.c_double(0.5), at(x), at(Bu)), 0)
        np.testing.assert_allclose(J, A, rtol=0, atol=1e-12 * abs(A).max())
        np.testing.assert_allclose(Bu, B, rtol=0, atol=1e-12 * abs(B).max())

    def test_a_state_that_is_no_number_and_a_wrong_step_are_told(self):
        _, name = self.sources(self.make(), "--name", "carts")
        self.write("wrong.c", f"""
#include "c/{name}.h"
#include <math.h>
#include <stdio.h>
int main(void) {{
  lissom_carts_run run, before;
  double x[4] = {{0, NAN, 0, 0}}, f[4];
  printf("%s\\n", lissom_carts_message(lissom_carts_rhs(0, 0, x, 0, f)));
  printf("%d\\n", lissom_carts_begin(&run, 0, 0, 0));
  before = run;
  printf("%s\\n", lissom_carts_message(lissom_carts_step(&run, -1, 0)));
  printf("%s\\n", lissom_carts_message(lissom_carts_step(&run, NAN, 0)));
  printf("%d\\n", run.t == before.t && run.x[1] == before.x[1]);
  return 0;
}}
""")
        self.run_here("gcc", "-std=c99", "wrong.c", f"c/{name}.c", "-o", "wrong", "-lm")
        lines = self.run_here("./wrong").splitlines()
        self.assertIn("not finite", lines[0])
        self.assertEqual((lines[1], lines[4]), ("0", "1"))
        self.assertIn("step", lines[2])
        self.assertIn("step", lines[3])

    def test_what_was_exported_is_replaced_and_nothing_else(self):
        model = self.make()
        _, name = self.sources(model)
        self.sources(model)
        (self.folder / f"c/{name}.c").write_text("int main(void) { return 0; }\n")
        self.assert_refused(["export", model, "--c", "c"], f"c/{name}.c", "Lissom did not write it")
        self.assertEqual((self.folder / f"c/{name}.c").read_text(), "int main(void) { return 0; }\n")

    def test_wrong_input(self):
        model = self.make()
        self.assert_refused(["export", model], "--c DIR", "--fmu FILE")
        self.assert_refused(["export", "study.toml", "--c", "c"], "study.toml", "is a study", "lissom train")
        self.assert_refused(["export", "nothing.rom.h5", "--c", "c"], "nothing.rom.h5", "no such file")
        self.assert_refused(["export", model, "--fmu", "m.fmu", "--fmi", "4"], "--fmi")
        self.assert_refused(["export", model, "--fmu", "m.fmu", "--float"], "--float")
        self.assert_refused(["export", model, "--fmu", "nowhere/m.fmu"], "nowhere", code=1)
        self.write("mine.fmu", "mine")
        self.assert_refused(["export", model, "--fmu", "mine.fmu"], "mine.fmu", "Lissom did not write it")

    def test_a_unit_without_a_compiler_has_sources_and_says_so(self):
        model = self.make()
        result = self.lissom("export", model, "--fmu", "m.fmu", "--json", PATH="/nowhere")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(result.json["platforms"], [])
        self.assertIn("no C compiler", result.err)
        names = zipfile.ZipFile(self.folder / "m.fmu").namelist()
        self.assertFalse([name for name in names if name.startswith("binaries")])
        self.assertIn("sources/fmi3.c", names)


# the arm that is pushed, with a spring and a damper, a torque that follows, an input, and sensors of all kinds that a place has
SPRUNG = ARM.replace("[simulate]", """[[loads]]
name = "rope"
kind = "spring"
between = ["arm.node 50", "ground"]
at = [0.05, 0.3, 0.2]
stiffness = 400
damping = 0.5
[[loads]]
name = "wind"
kind = "force"
on = "arm.node 50"
force = [0.5, 0, 1]
factor = { input = "gust" }
[[sensors]]
name = "speed"
kind = "velocity"
of = "arm.node 50"
[[sensors]]
name = "shift"
kind = "displacement"
of = "arm.node 50"
[[sensors]]
name = "rush"
kind = "acceleration"
of = "arm.node 50"
[[sensors]]
name = "pull"
kind = "load"
of = "rope"
[[sensors]]
name = "work"
kind = "energy"
[simulate]
inputs = { gust = "sin(40*t)" }""")


class Mechanisms(Exported):
    def arm(self, study=SPRUNG, kernel="polynomial"):
        self.write("arm.inp", inp_deck(*brick((2, 2, 5), (0.02, 0.02, 0.2), "C3D8")))
        self.write("study.toml", study.replace("[train]", f'[train]\nkernel = "{kernel}"'))
        self.json_of("train", "study.toml", "--out", "out")
        return "out/model.rom.h5"

    def test_a_small_mechanism_agrees_with_the_library_and_with_its_runs(self):
        model = self.arm()
        told, name = self.sources(model, "--name", "arm")
        self.assertEqual([one["name"] for one in told["parameters"]],
                         ["gravity.x", "gravity.y", "gravity.z", "push.factor", "wind.factor"])
        for compiler in ("gcc", "clang-14"):
            self.assertEqual(self.run_here(compiler, *STRICT, f"c/{name}.c", f"c/{name}_test.c", "-o", "check", "-lm"), "")
            self.assertIn("agrees with Lissom", self.run_here("./check"))
        self.run_here("gcc", "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"c/{name}.c",
                      f"c/{name}_test.c", "-o", "clean", "-lm")
        self.run_here("./clean")
        # every sensor at every sample of a run
        self.json_of("simulate", model, "--out", "run")
        run = self.columns("run/sensors.csv")
        names = [one["name"] for one in told["outputs"]]
        self.write("run.c", f"""
#include "c/{name}.h"
#include <stdio.h>
int main(void) {{
  lissom_arm_run run;
  double y[LISSOM_ARM_OUTPUTS];
  int i, k, status = lissom_arm_begin(&run, 0, 0, 0);
  for (k = 0; status == 0 && k <= {len(run["t"]) - 1}; k++) {{
    status = lissom_arm_advance(&run, k * 2e-3, 5e-4, 0);
    if (status == 0) status = lissom_arm_measure(&run, 0, y);
    for (i = 0; i < LISSOM_ARM_OUTPUTS; i++) printf("%.17g ", y[i]);
    printf("\\n");
  }}
  return status;
}}
""")
        self.run_here("gcc", "-std=c99", "-O2", "run.c", f"c/{name}.c", "-o", "runs", "-lm")
        found = np.array([[float(x) for x in line.split()] for line in self.run_here("./runs").splitlines()])
        for i, column in enumerate(names):
            # accelerations and energies of strain are differences of large numbers: round-off of 1e-16 of stiffness times size
            loose = column.startswith("rush") or column == "work.elastic"
            np.testing.assert_allclose(found[:, i], run[column], rtol=0, err_msg=column,
                                       atol=(1e-6 if loose else 1e-9) * max(abs(run[column]).max(), 1e-9))

    def test_a_step_too_large_is_told_and_leaves_the_run_as_it_was(self):
        _, name = self.sources(self.arm(), "--name", "arm")
        self.write("large.c", f"""
#include "c/{name}.h"
#include <stdio.h>
#include <string.h>
int main(void) {{
  static lissom_arm_run run, before;
  double u[1] = {{1e9}};
  int status = lissom_arm_begin(&run, 0, 0, 0);
  before = run;
  if (status == 0) status = lissom_arm_step(&run, 10.0, u);
  puts(lissom_arm_message(status));
  return status == 0 || memcmp(&run, &before, sizeof run) != 0;
}}
""")
        self.run_here("gcc", "-std=c99", "-O2", "large.c", f"c/{name}.c", "-o", "large", "-lm")
        self.assertRegex(self.run_here("./large"), "do not converge|not finite")

    def test_the_exact_kernel_is_refused(self):
        model = self.arm(kernel="exact")
        self.assert_refused(["export", model, "--c", "c"], "no polynomial form", 'kernel = "polynomial"', "[train]")

    def test_another_integrator_of_the_study_is_told(self):
        model = self.arm()
        result = self.lissom("export", model, "--c", "c", "--set", "simulate.integrator=bdf")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("bdf, and an exported model generalized-alpha", result.err)

    def test_single_precision_is_refused(self):
        model = self.arm()
        self.assert_refused(["export", model, "--c", "c", "--float"], "--float", "strains")

    def test_sensors_without_counterpart_are_named(self):
        model = self.arm(SPRUNG.replace("[train]", "[train]\nstress = true") + '''
[[sensors]]
name = "tension"
kind = "stress"
of = "arm.node 1"
''')
        result = self.lissom("export", model, "--c", "c", "--json")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("tension (stress)", result.err)
        self.assertNotIn("tension", " ".join(one["name"] for one in result.json["outputs"]))

    @unittest.skipUnless(has_fmpy(), "FMPy is not installed (pip install fmpy, and LISSOM_FMPY_PYTHON=its python)")
    def test_fmpy_simulates_a_mechanism(self):
        model = self.arm()
        self.json_of("simulate", model, "--out", "run")
        run = self.columns("run/sensors.csv")
        self.write("simulate.py", """
import json, sys, fmpy
from fmpy.validation import validate_fmu
result = fmpy.simulate_fmu(sys.argv[1], fmi_type="CoSimulation", output=["tip.x", "tip.y", "pull.value"], stop_time=0.1, output_interval=2e-3)
json.dump({"problems": validate_fmu(sys.argv[1]), **{name: list(result[name]) for name in result.dtype.names}}, open(sys.argv[2], "w"))
""")
        for version in (2, 3):
            self.json_of("export", model, "--fmu", "m.fmu", "--fmi", version)
            self.run_here(FMPY, "simulate.py", "m.fmu", "found.json")
            found = json.loads((self.folder / "found.json").read_text())
            self.assertEqual(found["problems"], [])
            for name in ("tip.x", "tip.y", "pull.value"):
                np.testing.assert_allclose(found[name], run[name], rtol=0, atol=1e-9 * abs(run[name]).max(), err_msg=f"{version} {name}")


class Units(Exported):
    def description(self, version):
        model = self.make()
        told = self.json_of("export", model, "--fmu", f"m{version}.fmu", "--fmi", version)
        archive = zipfile.ZipFile(self.folder / f"m{version}.fmu")
        self.assertIsNone(archive.testzip())
        return told, archive, ET.fromstring(archive.read("modelDescription.xml"))

    def test_fmi3_description_follows_the_rules(self):
        told, archive, xml = self.description(3)
        self.assertEqual(told["fmi"], 3)
        self.assertEqual((xml.tag, xml.get("fmiVersion")), ("fmiModelDescription", "3.0"))
        self.assertEqual([child.tag for child in xml], ["ModelExchange", "CoSimulation", "UnitDefinitions", "LogCategories",
                                                        "DefaultExperiment", "ModelVariables", "ModelStructure"])
        variables = list(xml.find("ModelVariables"))
        references = [int(one.get("valueReference")) for one in variables]
        names = [one.get("name") for one in variables]
        self.assertEqual(references, list(range(len(variables))))
        self.assertEqual(len(set(names)), len(names))
        self.assertEqual([one.get("name") for one in variables if one.get("causality") == "independent"], ["time"])
        self.assertEqual([one.get("name") for one in variables if one.get("causality") == "input"], ["push", "motor", "command"])
        self.assertEqual([one.get("name") for one in variables if one.get("causality") == "output"],
                         [f"{s}.{c}" for s in ("one", "two") for c in "xyz"] + ["foot.value"])
        by_reference = {one.get("valueReference"): one for one in variables}
        rates = [one for one in variables if one.get("derivative")]
        self.assertEqual(len(rates), 4)
        for one in rates:
            self.assertEqual(one.get("name"), f"der({by_reference[one.get('derivative')].get('name')})")
        for one in variables:
            # start values exactly where the standard asks for them
            wants = one.get("causality") in ("input", "parameter") or one.get("initial") == "exact"
            self.assertEqual(one.get("start") is not None, wants, one.attrib)
            unit = one.get("unit")
            if unit is not None:
                self.assertIsNotNone(xml.find(f"UnitDefinitions/Unit[@name='{unit}']"), unit)
        structure = xml.find("ModelStructure")
        self.assertEqual([child.tag for child in structure],
                         ["Output"] * 7 + ["ContinuousStateDerivative"] * 4 + ["InitialUnknown"] * 11)
        build = ET.fromstring(archive.read("sources/buildDescription.xml"))
        identifier = xml.find("CoSimulation").get("modelIdentifier")
        self.assertEqual(build.find("BuildConfiguration").get("modelIdentifier"), identifier)
        for source in build.iter("SourceFile"):
            self.assertIn("sources/" + source.get("name"), archive.namelist())
        self.assertIn(f"binaries/x86_64-linux/{identifier}.so", archive.namelist())
        self.assertIn("documentation/index.html", archive.namelist())
        self.assertEqual(float(xml.find("DefaultExperiment").get("stopTime")), 2)

    def test_fmi2_description_follows_the_rules(self):
        told, archive, xml = self.description(2)
        self.assertEqual(xml.get("fmiVersion"), "2.0")
        variables = list(xml.find("ModelVariables"))
        for rate in xml.findall("ModelVariables/ScalarVariable/Real[@derivative]"):
            self.assertTrue(variables[int(rate.get("derivative")) - 1].get("name").startswith("x["))
        indices = {kind: [int(u.get("index")) for u in xml.findall(f"ModelStructure/{kind}/Unknown")]
                   for kind in ("Outputs", "Derivatives", "InitialUnknowns")}
        self.assertEqual(indices["Outputs"], [i + 1 for i, v in enumerate(variables) if v.get("causality") == "output"])
        self.assertEqual(sorted(indices["Outputs"] + indices["Derivatives"]), sorted(indices["InitialUnknowns"]))
        for kind in ("ModelExchange", "CoSimulation"):
            for file in xml.findall(f"{kind}/SourceFiles/File"):
                self.assertIn("sources/" + file.get("name"), archive.namelist())
        identifier = xml.find("CoSimulation").get("modelIdentifier")
        self.assertIn(f"binaries/linux64/{identifier}.so", archive.namelist())
        self.assertIn("linux64", told["platforms"])

    def test_interfaces_compile_without_warnings_also_with_prefixes(self):
        for version in (2, 3):
            _, archive, _ = self.description(version)
            archive.extractall(self.folder / f"u{version}")
            for define in ([], [f"-DFMI{version}_FUNCTION_PREFIX=mine_"]):
                self.assertEqual(self.run_here("gcc", *STRICT, *define, "-fPIC", "-shared", f"u{version}/sources/fmi{version}.c",
                                               *(self.folder / f"u{version}/sources").glob("lissom_*.c"), "-o", "lib.so", "-lm"), "")
            self.assertIn(f"mine_fmi{version}DoStep", self.run_here("nm", "-D", "lib.so"))

    def test_the_same_model_makes_the_same_unit(self):
        model = self.make()
        contents = []
        for name in ("a.fmu", "b.fmu"):
            self.json_of("export", model, "--fmu", name)
            contents.append((self.folder / name).read_bytes())
        self.assertEqual(*contents)

    def test_a_unit_is_driven_through_its_own_functions(self):
        """Steps against `lissom simulate`, states kept and restored to the same bits, derivatives, errors with a message."""
        model = self.make()
        self.json_of("simulate", model, "--out", "run")
        self.json_of("export", model, "--fmu", "m.fmu", "--fmi", 2)
        archive = zipfile.ZipFile(self.folder / "m.fmu")
        archive.extractall(self.folder / "unit")
        xml = ET.fromstring(archive.read("modelDescription.xml"))
        identifier = xml.find("CoSimulation").get("modelIdentifier")
        library = ctypes.CDLL(str(self.folder / f"unit/binaries/linux64/{identifier}.so"))
        reference = {one.get("name"): int(one.get("valueReference")) for one in xml.iter("ScalarVariable")}
        messages = []
        LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)

        class Callbacks(ctypes.Structure):
            _fields_ = [("logger", LOGGER)] + [(name, ctypes.c_void_p) for name in ("allocate", "free", "finished", "environment")]

        callbacks = Callbacks(LOGGER(lambda env, name, status, category, form, text: messages.append(text.decode())))
        library.fmi2Instantiate.restype = ctypes.c_void_p
        token = xml.get("guid").encode()
        make = lambda: ctypes.c_void_p(library.fmi2Instantiate(b"one", 1, token, b"", ctypes.byref(callbacks), 0, 1))
        self.assertIsNone(library.fmi2Instantiate(b"one", 1, b"{other}", b"", ctypes.byref(callbacks), 0, 1))
        self.assertIn("tokens differ", messages.pop())
        one = make()

        def get(names):
            which, values = (ctypes.c_uint * len(names))(*[reference[n] for n in names]), (ctypes.c_double * len(names))()
            self.assertEqual(library.fmi2GetReal(one, which, ctypes.c_size_t(len(names)), values), 0)
            return list(values)

        def step(t, h):
            return library.fmi2DoStep(one, ctypes.c_double(t), ctypes.c_double(h), 1)

        self.assertEqual(library.fmi2SetupExperiment(one, 0, ctypes.c_double(0), ctypes.c_double(0), 1, ctypes.c_double(2)), 0)
        self.assertEqual(library.fmi2EnterInitializationMode(one) + library.fmi2ExitInitializationMode(one), 0)
        run = self.columns("run/sensors.csv")
        names = [n for n in run if n != "t"]
        kept, state = None, ctypes.c_void_p()
        for k, t in enumerate(run["t"]):
            for name, value in zip(names, get(names)):
                self.assertLessEqual(abs(value - run[name][k]), 1e-9 * max(abs(run[name]).max(), 1e-6), (name, t))
            if k == 100:
                self.assertEqual(library.fmi2GetFMUstate(one, ctypes.byref(state)), 0)
                size = ctypes.c_size_t()
                library.fmi2SerializedFMUstateSize(one, state, ctypes.byref(size))
                kept = (ctypes.c_char * size.value)()
                self.assertEqual(library.fmi2SerializeFMUstate(one, state, kept, size), 0)
            if k + 1 < len(run["t"]):
                self.assertEqual(step(t, run["t"][k + 1] - t), 0, messages)
        end = get([f"x[{i + 1}]" for i in range(4)])
        # in another instance, from bytes
        library.fmi2FreeFMUstate(one, ctypes.byref(state))
        library.fmi2FreeInstance(one)
        one = make()
        state = ctypes.c_void_p()
        self.assertEqual(library.fmi2DeSerializeFMUstate(one, kept, size, ctypes.byref(state)), 0)
        self.assertEqual(library.fmi2SetFMUstate(one, state), 0)
        for k in range(100, len(run["t"]) - 1):
            self.assertEqual(step(run["t"][k], run["t"][k + 1] - run["t"][k]), 0)
        self.assertEqual(get([f"x[{i + 1}]" for i in range(4)]), end)
        # derivatives of rates by an input and a state
        A, B, _ = matrices()
        seed, sensitivity = (ctypes.c_double * 2)(2.0, 3.0), (ctypes.c_double * 4)()
        unknowns = (ctypes.c_uint * 4)(*[reference[f"der(x[{i + 1}])"] for i in range(4)])
        knowns = (ctypes.c_uint * 2)(reference["push"], reference["x[2]"])
        self.assertEqual(library.fmi2GetDirectionalDerivative(one, unknowns, ctypes.c_size_t(4), knowns, ctypes.c_size_t(2), seed,
                                                              sensitivity), 0)
        np.testing.assert_allclose(list(sensitivity), 2 * B[:, 0] + 3 * A[:, 1], rtol=0, atol=1e-10)
        # a held input: exact for two seconds from rest is the static answer once it has decayed; here that it acts at all
        value = (ctypes.c_double * 1)(7.0)
        self.assertEqual(library.fmi2SetReal(one, (ctypes.c_uint * 1)(reference["push"]), ctypes.c_size_t(1), value), 0)
        self.assertEqual(get(["push"]), [7.0])
        # errors leave the state and tell why
        before = get(["x[1]"])
        self.assertEqual(step(run["t"][-1], -1.0), 3)
        self.assertIn("negative", messages.pop())
        self.assertEqual(step(0.0, 0.1), 3)
        self.assertIn("communication point", messages.pop())
        value[0] = float("nan")
        self.assertEqual(library.fmi2SetReal(one, (ctypes.c_uint * 1)(reference["x[1]"]), ctypes.c_size_t(1), value), 3)
        self.assertIn("not a finite number", messages.pop())
        self.assertEqual(get(["x[1]"]), before)
        library.fmi2FreeFMUstate(one, ctypes.byref(state))
        library.fmi2FreeInstance(one)

    @unittest.skipUnless(has_fmpy(), "FMPy is not installed (pip install fmpy, and LISSOM_FMPY_PYTHON=its python)")
    def test_fmpy_validates_and_simulates_units(self):
        model = self.make()
        self.json_of("simulate", model, "--out", "run")
        run = self.columns("run/sensors.csv")
        self.write("simulate.py", """
import json, sys, fmpy
from fmpy.validation import validate_fmu
found = {"problems": validate_fmu(sys.argv[1])}
for kind, how in (("CoSimulation", {}), ("ModelExchange", {"solver": "CVode", "relative_tolerance": 1e-10})):
    result = fmpy.simulate_fmu(sys.argv[1], fmi_type=kind, output=["one.x", "two.x", "foot.value"], stop_time=2, output_interval=0.01, **how)
    found[kind] = {name: list(result[name]) for name in result.dtype.names}
json.dump(found, open(sys.argv[2], "w"))
""")
        for version in (2, 3):
            self.json_of("export", model, "--fmu", "m.fmu", "--fmi", version)
            self.run_here(FMPY, "simulate.py", "m.fmu", "found.json")
            found = json.loads((self.folder / "found.json").read_text())
            self.assertEqual(found["problems"], [])
            # CVode at 1e-10 of each step; co-simulation takes the same steps as the library
            for kind, tolerance in (("CoSimulation", 1e-9), ("ModelExchange", 1e-6)):
                for name in ("one.x", "two.x", "foot.value"):
                    got = np.interp(run["t"], found[kind]["time"], found[kind][name])
                    np.testing.assert_allclose(got, run[name], rtol=0, atol=tolerance * abs(run[name]).max(), err_msg=f"{version} {kind} {name}")


if __name__ == "__main__":
    unittest.main()
