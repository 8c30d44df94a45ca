"""Pages of the documentation as a reader would follow them (scripts/follow-page): their files, their commands, and what they say
is printed. A class with a `page` for each page with commands; what is not followed stands in ELSEWHERE with the reason.
"""

import csv
import json
import math
import re
import subprocess
import unittest

import readme_tables
from support import LISSOM, SOURCE, CliTest, load_script

pages = load_script("follow-page")

# Pages with commands that are not followed here, and where these are run.
ELSEWHERE = {
    # a minute, beside the others
    "examples/quadruple-pendulum/README.md": "readme_tables_test.py: run_example(\"quadruple-pendulum\"",
    **{f"examples/{name}/README.md": f"examples_test.py: run_example(\"{name}\""
       for name in ("ancf-double-pendulum", "ancf-four-bar", "ancf-spatial", "connecting-rod", "crankshaft", "cylinder", "four-bar",
                    "four-bar-slap", "gcms-beams", "robot-arm", "slider-crank", "suspension-slap")},
}

# Pages whose commands install things, build from the sources, or change a shell's start: tests/install does the same in folders of its own.
INSTALLATION = ("README.md", "docs/contributing.md", "docs/howto/install.md", "examples/cpp-client/README.md")


class HowtoBase(CliTest):
    page = None

    def text(self):
        return (SOURCE / self.page).read_text()

    def blocks(self):
        """(language, text) of the fenced blocks, in their order."""
        return [(language, body) for language, body, _ in pages.blocks_of(self.text())]

    def follow(self):
        """Does everything that the page says; what the commands printed, by command."""
        try:
            return pages.Reader(self.folder, LISSOM).follow(self.text())
        except pages.Mismatch as problem:
            self.fail(f"{self.page}: {problem}")


class EveryPageTest(unittest.TestCase):
    def every_page(self):
        found = [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md"), *(SOURCE / "examples").glob("*/README.md")]
        return {str(path.relative_to(SOURCE)): path.read_text() for path in found}

    def followed(self):
        classes, found = [HowtoBase], set()
        while classes:
            one = classes.pop()
            classes += one.__subclasses__()
            found |= {one.page} - {None}
        return found

    def test_every_page_with_commands_is_followed_or_said_to_be_run_elsewhere(self):
        with_commands = {page for page, text in self.every_page().items() if pages.commands_of(text)}
        followed = self.followed()
        self.assertEqual(with_commands - followed - set(ELSEWHERE), set(), "pages whose commands no test runs")
        self.assertEqual((followed | set(ELSEWHERE)) - with_commands, set(), "pages without commands")
        for page, where in ELSEWHERE.items():
            name, _, text = where.partition(": ")
            self.assertIn(text, (SOURCE / "tests" / "cli" / name).read_text(), page)

    def test_no_command_hides_outside_of_sh_blocks(self):
        for page, text in self.every_page().items():
            if page in INSTALLATION:
                continue
            for line in re.sub(r"^```sh\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
                # the first line of the reference is its syntax
                if re.match(r"( {4}|\$ )(lissom|/usr/bin/python3|gmsh|ccx|make|cmake) ", line) and "VERB" not in line:
                    self.fail(f"{page}: {line.strip()}: put it into a ```sh block")

    def test_a_page_that_promises_other_numbers_is_noticed(self):
        pages.check_printed("mass 0.157 kg\n...\nrun complete", "x\nmass 0.1571 kg\ny 3\nrun  complete\n")
        for wrong in ("mass 0.2 kg", "run complete\nmass 0.157 kg", "mass 0.157 t", "mass 0.157", "... 4"):
            with self.assertRaises(pages.Mismatch, msg=wrong):
                pages.check_printed(wrong, "x\nmass 0.1571 kg\ny 3\nrun  complete\n")


class TutorialTest(HowtoBase):
    page = "docs/tutorial.md"

    def test_everything_works_and_prints_what_it_says(self):
        printed = self.follow()
        compared = printed["lissom compare results rom"]
        # 0.2 micrometres, says the page; the model is trained on what gmsh's mesh makes of it
        for column in ("pin C.x", "pin C.y", "pin C.z"):
            self.assertLess(float(re.search(re.escape(column) + r"\s+m\s+(\S+)", compared)[1]), 5e-7)
        # the other load is far from the training, as the page says: 3 is the limit
        other = printed['lissom simulate results/model.rom.h5 --set "loads.push.force=[-40, 0, 0]" --out other']
        self.assertGreater(float(re.search(r"trust +at most (\S+)", other)[1]), 30)


class ReadmeTest(HowtoBase):
    page = "README.md"

    def test_its_example_in_python_works(self):
        reader = pages.Reader(self.folder, LISSOM)
        printed = reader.follow(self.text())
        if "python" in reader.skipped:
            self.skipTest("the Python module is not built")
        said = printed["PYTHONPATH=build/python /usr/bin/python3 four_bar.py"]
        self.assertIn("6 unknowns", said)
        # as the example's README has it: the hinge has gone 72 mm along y
        self.assertAlmostEqual(float(said.split("=")[1]), 0.0722, delta=1e-4)


class FeaturesTest(HowtoBase):
    page = "docs/features.md"

    def test_every_verb_works_as_shown(self):
        self.follow()


class ReduceBodyTest(HowtoBase):
    page = "docs/howto/reduce-a-body.md"

    def test_every_command_works_and_the_tolerance_is_proven(self):
        printed = self.follow()["lissom reduce rod.toml --out results"]
        self.assertLess(float(re.search(r"certified: proven below (\S+) %", printed)[1]), 0.1)


class ExportTest(HowtoBase):
    page = "docs/howto/export-matrices.md"

    def test_calculix_matrices_are_those_of_the_same_mesh(self):
        printed = self.follow()["lissom modes job.sti --mesh mesh.inp --count 10 --no-files"]
        ours = self.json_of("modes", "mesh.inp", "--material", "E=210e9,nu=0.3,rho=7850", "--mass", "calculix", "--count", 10, "--no-files")
        for number in (7, 10):
            theirs = float(re.search(rf"^ *{number} +(\S+)", printed, re.MULTILINE)[1])
            # six digits are printed
            self.assertAlmostEqual(theirs / ours["frequencies_hz"][number - 1], 1, delta=1e-5)

        # the mapping of Ansys as its manual describes it becomes the labels that CalculiX writes itself
        labels = (self.folder / "job.dof").read_text().split()
        names = ["UX", "UY", "UZ"]
        lines = [f"{k + 1:10d} {node:>10} {names[int(direction) - 1]:>6}" for k, (node, direction) in enumerate(label.split(".") for label in labels)]
        self.write("file.mapping", "    Matrix Eqn     Node   DOF\n" + "\n".join(lines) + "\n")
        made = subprocess.run(["/usr/bin/python3", "ansys_labels.py", "file.mapping"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(made.stdout.split(), labels, made.stderr)


class TrajectoriesTest(HowtoBase):
    page = "docs/howto/bring-trajectories.md"

    def test_every_command_works(self):
        self.follow()


class FormulationTest(HowtoBase):
    page = "docs/howto/pick-a-formulation.md"

    def test_every_command_works_and_the_formulations_agree(self):
        printed = self.follow()["lissom compare results results/gcms"]
        for column in ("tip.x", "tip.y"):
            # a micrometre of a motion of 240 mm; the bodies differ in their spiders' faces
            self.assertLess(float(re.search(re.escape(column) + r"\s+m\s+(\S+)", printed)[1]), 1e-6)


class PythonTest(HowtoBase):
    page = "docs/howto/use-from-python.md"

    def test_every_script_works(self):
        reader = pages.Reader(self.folder, LISSOM)
        printed = reader.follow(self.text())
        if "python" in reader.skipped:
            self.skipTest("the Python module is not built")
        self.assertIn("True", printed["/usr/bin/python3 integrate.py"])
        eighth, ours = re.findall(r"(\d+) Hz", printed["/usr/bin/python3 matrices.py"])
        # both are rounded to a hertz
        self.assertAlmostEqual(int(eighth), int(ours), delta=1)


class ControlTest(HowtoBase):
    page = "docs/howto/control-a-mechanism.md"

    def test_the_loop_is_closed(self):
        reader = pages.Reader(self.folder, LISSOM)
        printed = reader.follow(self.text())
        if "python" in reader.skipped:
            self.skipTest("the Python module is not built")
        said = next(text for command, text in printed.items() if "closed_loop.py" in command)
        # no gravity: the arm stands where the controller wants it
        self.assertAlmostEqual(float(re.search(r"stands at (\S+) rad", said).group(1)), 0.8, delta=2e-3)


class ResumeTest(HowtoBase):
    page = "docs/howto/resume-a-run.md"

    def test_a_killed_run_goes_on_to_the_same_bits(self):
        self.follow()


class RodModesTest(HowtoBase):
    page = "examples/rod-modes/README.md"

    def test_every_command_works_and_the_frequencies_are_those_of_the_page(self):
        readme_tables.follow(self, pages.Reader(self.folder, LISSOM), pages, "rod-modes")
        bodies = json.loads((self.folder / "results" / "summary.json").read_text())["bodies"]
        for name, first in (("free", 806), ("held", 227)):
            elastic = next(f for f in bodies[name]["frequencies_hz"] if f > 1)
            self.assertAlmostEqual(elastic / first, 1, delta=0.01)


class ExudynExampleTest(HowtoBase):
    page = "examples/four-bar-exudyn/README.md"

    def test_every_command_works_but_those_that_need_exudyn_and_the_numbers_are_those_of_the_page(self):
        readme_tables.follow(self, pages.Reader(self.folder, LISSOM), pages, "four-bar-exudyn")
        self.assertGreater((self.folder / "results" / "exudyn-error.png").stat().st_size, 5000)


class AnalyseTest(HowtoBase):
    page = "docs/howto/analyse-a-mechanism.md"

    def test_every_command_works_and_the_lever_vibrates_as_it_should(self):
        printed = self.follow()
        self.assertIn("stable", printed["lissom static lever.toml"])
        self.assertIn("[bodies.lever]", printed["lissom assemble lever.toml"])
        with open(self.folder / "results" / "sweep.csv") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            # the spring at the tip against the inertia about the hinge; it and the weight turn a little, below a percent
            stiffness = float(row["loads.spring.stiffness"])
            expected = math.sqrt(stiffness * 0.5**2 / (0.05 + 2 * 0.25**2)) / (2 * math.pi)
            self.assertAlmostEqual(float(row["frequency 1 [Hz]"]) / expected, 1, delta=0.01)
        with open(self.folder / "driven" / "sensors.csv") as file:
            last = list(csv.DictReader(file))[-1]
        # J a'' = T + m g c cos a, a about y turns the lever down
        t = float(last["t"])
        angle, acceleration = 0.5 * math.sin(4 * t), -8 * math.sin(4 * t)
        torque = (0.05 + 2 * 0.25**2) * acceleration - 2 * 9.81 * 0.25 * math.cos(angle)
        self.assertAlmostEqual(float(last["motor.value"]), torque, delta=1e-9)


class WriteStudyTest(HowtoBase):
    page = "docs/howto/write-a-study.md"

    def test_every_command_works(self):
        self.follow()
        # a longer link falls further in the same time, seen from where it hangs
        lowest = [min(float(row["tip.y"]) for row in csv.DictReader((self.folder / name / "sensors.csv").read_text().splitlines())) for name in ("short", "long")]
        self.assertLess(lowest[1], lowest[0])
        self.assertTrue((self.folder / "heavy" / "long" / "sensors.csv").exists())


class SweepTest(HowtoBase):
    page = "docs/howto/sweep-parameters.md"

    def test_every_command_works_and_processes_give_what_one_process_gives(self):
        printed = self.follow()
        self.assertIn("sweep of 9 points, 0 failed", printed["lissom sweep lever.toml --out results --jobs 2"])
        first, together = [(self.folder / name / "sweep.csv").read_text() for name in ("results", "together")]
        self.assertEqual(first, together)
        rows = list(csv.DictReader(first.splitlines()))
        self.assertEqual([row["bodies.lever.rigid.mass"] for row in rows], ["1"] * 3 + ["2"] * 3 + ["4"] * 3)
        # a heavier lever falls further, a stiffer spring holds it higher
        lowest = [float(row["tip.z min"]) for row in rows]
        self.assertTrue(lowest[6] < lowest[3] < lowest[0] < 0)
        self.assertTrue(lowest[0] < lowest[1] < lowest[2])
        self.assertNotEqual((self.folder / "stiff" / "sweep.csv").read_text(), first)


class CompareTest(HowtoBase):
    page = "docs/howto/compare-results.md"

    def test_every_command_works_and_the_tables_say_what_is_true(self):
        printed = self.follow()
        first, second = [text for command, text in printed.items() if "compare" in command]
        self.assertIn("times that both have", first)
        with open(self.folder / "difference" / "differences.csv") as file:
            differences = [abs(float(row["tip.z"])) for row in csv.DictReader(file)]
        # second order in steps of 10 ms: the phase of a swing of 0.5 m falls back by (omega h)^2 / 12 omega t, 6e-4 m, and more
        # with numerical damping
        self.assertLess(max(differences), 5e-3)
        self.assertGreater(max(differences), 1e-6)
        self.assertIn("3 times that both have", second)


class ReportTest(HowtoBase):
    page = "docs/howto/read-the-report.md"

    def test_every_command_works_and_leaves_its_page(self):
        printed = self.follow()
        self.assertIn("wrote swing.html", printed["lissom report results --out swing.html"])
        page = (self.folder / "swing.html").read_text()
        self.assertIn("A pendulum with two steps", page)
        for part in ("motion", "mechanism", "simulation", "models", "comparison", "reproduction"):
            self.assertIn(f'<section id="{part}"', page)
        self.assertIn('<section id="simulation"', (self.folder / "coarse.html").read_text())


class SimulateTest(HowtoBase):
    page = "docs/howto/simulate-a-mechanism.md"

    def test_every_command_works_and_the_arm_is_where_it_should_be(self):
        printed = self.follow()
        self.assertIn("24 degrees of freedom", printed["lissom inspect arm.toml"])
        self.assertIn("With every body rigid: 0 degrees of freedom", printed["lissom inspect arm.toml"])
        self.assertIn("at the end: tip -1.4", printed["/usr/bin/python3 look.py"])

        with open(self.folder / "results" / "sensors.csv") as file:
            last = list(csv.DictReader(file))[-1]
        # statics by hand; what is left of the vibration after 0.9 s at 8.8 % damping is about a thousandth
        mass, length, stiffness = 0.628, 0.5, 210e9 * 0.02 * 0.008**3 / 12
        torque = 9.81 * (mass / 2 + 0.4) * length
        droop = 9.81 * (0.4 * length**3 / 3 + mass * length**3 / 8) / stiffness
        self.assertLess(abs(float(last["torque.ty"]) / -torque - 1), 3e-3)
        # beam theory knows neither shear nor the stiffness across a held end: about 1 %
        self.assertLess(abs(float(last["tip.z"]) / -droop - 1), 0.015)

        self.assertIn("Beams share coordinates in place of the joint 'hook'.", printed["lissom inspect rope.toml"])
        with open(self.folder / "rope" / "sensors.csv") as file:
            last = list(csv.DictReader(file))[-1]
        # the weight stays on the rope, which hardly stretches, and has swung through below the hook
        self.assertLess(math.hypot(float(last["weight.x"]), float(last["weight.y"])), 0.63)
        self.assertLess(float(last["weight.y"]), -0.2)

        comparison = json.loads((self.folder / "results" / "summary.json").read_text())["comparison"]
        # the page says 12 and 1.6 micrometres; meshes of other gmsh versions differ a little
        self.assertLess(self.largest(comparison, "gcms", "tip.z"), 2e-5)
        self.assertLess(self.largest(comparison, "half-step", "tip.z"), 3e-6)

    def largest(self, comparison, case, column):
        return comparison["cases"][case]["sensors"][column]["largest"]

    def test_the_kinds_of_joints_loads_and_sensors_are_understood(self):
        files = {re.fullmatch(r"(?:#|//) (\S+)", text.splitlines()[0])[1]: text
                 for language, text in self.blocks() if language in ("c", "toml") and "add to" not in text.splitlines()[0]}
        self.write("arm.geo", files["arm.geo"])
        # in the place of the motor and the grip, before [simulate]
        study, rest = files["arm.toml"].split("[[joints]]", 1)
        self.write("all.toml", study + files["more.toml"] + "\n[simulate]" + rest.split("[simulate]", 1)[1])
        said = self.json_of("inspect", "all.toml")
        self.assertIn("guide", json.dumps(said))


class LargeDeformationTest(HowtoBase):
    page = "docs/howto/reduce-large-deformation.md"

    def test_every_command_works_and_the_model_is_as_good_as_its_test_says(self):
        printed = self.follow()
        self.assertIn("6 full simulations", printed["lissom train pendulum.toml --out results"])
        self.assertIn("bodies.upper.mass", printed["lissom inspect results/model.rom.h5"])
        with open(self.folder / "results" / "pod_test.csv") as file:
            rows = {(row["combination"], row["order"]): float(row["error tip.y"]) for row in csv.DictReader(file)}
        self.assertEqual(len(rows), 6)
        for combination in ("grassmann", "global", "nearest"):
            self.assertLess(rows[combination, "12"], rows[combination, "8"])
        values = {}
        for name in ("full", "reduced"):
            with open(self.folder / name / "sensors.csv") as file:
                values[name] = [float(row["tip.y"]) for row in csv.DictReader(file)]
        norm = math.sqrt(sum(y * y for y in values["full"]))
        error = math.sqrt(sum((y - z) ** 2 for y, z in zip(values["full"], values["reduced"]))) / norm
        self.assertAlmostEqual(error, rows["grassmann", "12"], delta=1e-9)


class ExportModelTest(HowtoBase):
    page = "docs/howto/export-a-model.md"

    def test_every_command_works_and_the_program_agrees(self):
        printed = self.follow()
        self.assertIn("linear, 4 states, 2 inputs, 3 outputs", printed["lissom export results/model.rom.h5 --c model"])
        self.assertIn("FMI 3.0, model exchange and co-simulation, binaries: ", printed["lissom export results/model.rom.h5 --fmu carts.fmu"])


class ReduceMechanismTest(HowtoBase):
    page = "docs/howto/reduce-a-mechanism.md"

    def test_every_command_works_and_a_load_that_is_new_is_noticed(self):
        printed = self.follow()
        trained = printed["lissom train examples/four-bar-slap/study.toml --out results"]
        self.assertIn("3 bodies, 4401 coordinates of nodes, 306 of component modes, 282 that the joints allow", trained)
        self.assertRegex(trained, r"order +6: asked for; proposed: \d+, smallest order at which the training motion is reconstructed")
        self.assertIn("order             6, an ordinary differential equation", printed["lissom inspect results/model.rom.h5"])
        # under its own load it stays in the training, under another one it does not
        again, other = printed["lissom simulate results/model.rom.h5 --out again"], printed["lissom simulate other.toml --out other"]
        self.assertIn("3 and more would have left it", again)
        self.assertIn("it is left at t =", other)
        with open(self.folder / "other" / "sensors.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 301)
        # the pull of 2 N moves it back from y = 0.135 m
        self.assertLess(float(rows[-1]["coupler end.y"]), 0.134)


if __name__ == "__main__":
    unittest.main()
