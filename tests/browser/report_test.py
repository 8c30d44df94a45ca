"""Reports of real runs, opened and used as a reader does it, and held against the files that the runs left."""

import csv
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

import h5py
import matplotlib.image
import numpy as np
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import Select

import support
import view_support

EXAMPLES = support.SOURCE / "examples"


def run(study, out):
    """Runs a study; the report lies in the folder then."""
    done = subprocess.run([support.LISSOM, "run", study, "--out", out], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise AssertionError(f"lissom run {study}: {done.stderr}")


def columns(path, skip=()):
    """The columns of a CSV file, by name, without those that are no numbers."""
    with open(path) as file:
        rows = list(csv.reader(file))
    return {name: np.array([float(row[k]) for row in rows[1:]]) for k, name in enumerate(rows[0]) if name not in skip}


class ReportTest(view_support.ViewTools):
    """One run for all tests of a class."""

    @classmethod
    def make_study(cls, folder):
        """Returns the path of a study; may write into the folder."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        holder = tempfile.TemporaryDirectory(prefix="lissom-report-")
        cls.addClassCleanup(holder.cleanup)
        folder = pathlib.Path(holder.name)
        cls.out = folder / "out"
        run(cls.make_study(folder), cls.out)
        cls.summary = json.loads((cls.out / "summary.json").read_text())

    def show(self):
        self.open(self.out / "report.html")
        self.js("const view = document.querySelector(arguments[0]);"
                "for (let e = view; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;"
                "view.scrollIntoView()", self.VIEW)
        self.wait_for_promise(f"(async () => {{ while (!document.querySelector('{self.VIEW}').lissom)"
                              " await new Promise((next) => setTimeout(next, 20));"
                              f" await {self.handle}.ready; }})()")
        self.js(f"document.querySelector('{self.VIEW}').scrollIntoView()")
        self.settle()

    def table(self, name):
        """Rows of a table: {column: number, or text where there is none}, whether it is folded or not."""
        rows = self.js("""
            const table = document.getElementById(arguments[0]);
            const head = Array.from(table.querySelectorAll("thead th"), (th) => th.firstChild.textContent.trim());
            return Array.from(table.querySelectorAll("tbody tr"), (tr) => Array.from(tr.children, (td, k) =>
                [head[k], td.dataset.value === undefined ? td.textContent.trim() : Number(td.dataset.value)]))""", "t-" + name)
        self.assertTrue(rows, name)
        return [dict(row) for row in rows]

    def series(self, figure):
        """Curves of a figure, by name: times and values with all digits."""
        found = self.js("""return document.getElementById(arguments[0]).lissom.series.map((s) =>
            [s.name, Array.from(s.x), Array.from(s.y)])""", "f-" + figure)
        return {name: (np.array(x), np.array(y, float)) for name, x, y in found}

    def nothing_failed(self):
        self.assertEqual([e.text for e in self.all(".script-error, .lv-missing")], [])
        # a page from disk has no other resources
        self.assertEqual(self.js("return performance.getEntriesByType('resource').map((entry) => entry.name)"), [])
        self.assertEqual(self.js("return document.querySelectorAll('script[src], link[href], iframe, img[src^=http]').length"), 0)


def same(found, expected, relative=1e-12):
    """Numbers of a file: twelve digits or more of the largest one."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=relative * max(1e-300, np.abs(expected).max()))


class FourBar(ReportTest):
    """The four-bar in three formulations."""
    VIEW = "#v-motion"
    LABELS = {"": "the study itself", "fncf": "fncf", "gcms": "gcms"}

    @classmethod
    def make_study(cls, folder):
        return EXAMPLES / "four-bar" / "study.toml"

    def stored(self, case=""):
        """The motion as the run left it: name, points, places and fields of the parts."""
        with h5py.File(self.out / case / "motion.view.h5") as file:
            parts = []
            for k in range(len(file["parts"])):
                motion = file[f"motion/{k}"]
                part = dict(name=file[f"parts/{k}"].attrs["name"].decode(), points=file[f"parts/{k}/points"][:])
                for field in ("displacement", "stress"):
                    part[field] = dict(basis=motion[field]["basis"][:].astype(float),
                                       amplitudes=motion[field]["amplitudes"][:].astype(float), **motion[field].attrs)
                parts.append(part)
            sensors = [(name.decode(), int(part), int(point)) for name, part, point in
                       zip(file["sensors/name"], file["sensors/part"], file["sensors/point"])]
            return file["motion/time"][:], parts, sensors

    def rounding(self, series):
        """What 16-bit numbers make of a series at most: half a unit of each column times its amplitude, three components."""
        steps = np.abs(series["basis"]).max(axis=(1, 2)) / 32767 / 2
        return np.sqrt(3) * (np.abs(series["amplitudes"]).max(axis=0) * steps).sum()

    # ---- as a person

    def test_the_page_opens_without_errors_and_without_a_network(self):
        self.open(self.out / "report.html")
        self.wait_for_promise("lissom.draw_all()")
        self.nothing_failed()
        self.assertEqual(self.find("h1").text, "Flexible four-bar mechanism: FFRF, FNCF and GCMS")
        self.assertGreater(len(self.find("#summary .summary").text), 80)
        # every entry of the contents leads somewhere
        for link in self.all("nav a"):
            self.assertTrue(self.all(link.get_attribute("href").split("report.html")[1]), link.text)
        # no figure or view is empty
        empty = self.js("""return Array.from(document.querySelectorAll("figure.plot, figure.view")).filter((f) =>
            f.matches(".plot") ? !f.querySelector(".plot-svg .curve") : !f.querySelector(".lv-stage canvas")).map((f) => f.id)""")
        self.assertEqual(empty, [])

    def test_the_mechanism_plays_pauses_and_is_scrubbed(self):
        self.show()
        before = self.picture()
        self.control("Play").click()
        self.wait(lambda: self.js(f"return {self.handle}.time") > 0.02, "time to go on")
        self.control("Pause").click()
        self.settle()
        stopped = self.js(f"return {self.handle}.time")
        self.assertGreater((before != self.picture()).any(axis=2).sum(), 1000)
        scrub = self.control("Time")
        scrub.send_keys(Keys.END)
        self.assertAlmostEqual(self.js(f"return {self.handle}.time"), 0.2, places=12)
        scrub.send_keys(Keys.HOME)
        self.assertEqual(self.js(f"return {self.handle}.time"), 0)
        self.assertLess(0, stopped)
        self.js("arguments[0].value = 500; arguments[0].dispatchEvent(new Event('input'))", scrub)
        self.assertAlmostEqual(self.js(f"return {self.handle}.time"), 0.1, places=12)
        self.assertIn("0.1000 s", self.find(f"{self.VIEW} .lv-time").text)

    def test_it_is_turned_and_brought_near(self):
        self.show()
        first = self.picture()
        size = self.find(f"{self.VIEW} .lv-stage canvas").size
        middle = size["width"] / 2, size["height"] / 2
        self.canvas_action(*middle).click_and_hold().move_by_offset(150, 30).release().perform()
        self.settle()
        turned = self.picture()
        self.assertGreater((first != turned).any(axis=2).sum(), 5000)
        covered = lambda picture: (np.abs(picture - picture[2, 2]).sum(axis=2) > 12).sum()
        # the wheel scrolls the page before a click, and zooms after it
        canvas = self.find(f"{self.VIEW} .lv-stage canvas")
        wheel = "return arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -300, bubbles: true, cancelable: true," \
            " clientX: 700, clientY: 300}))"
        self.js("document.activeElement.blur()")
        self.js(wheel, canvas)
        self.settle()
        np.testing.assert_array_equal(self.picture(), turned)
        self.canvas_action(5, 5).click().perform()
        for _ in range(3):
            self.js(wheel, canvas)
        self.settle()
        self.assertGreater(covered(self.picture()), 1.1 * covered(turned))

    def test_colours_and_legends_are_those_of_the_run(self):
        self.show()
        _, parts, _ = self.stored()
        self.js(f"{self.handle}.seek(0.15)")
        pictures = []
        for colour, field in (("body", None), ("deformation", "displacement"), ("von Mises stress", "stress")):
            self.choose("By", colour)
            pictures.append(self.picture())
            if not field:
                self.assertFalse(self.find(f"{self.VIEW} .lv-legend").is_displayed())
                continue
            top = float(self.find(f"{self.VIEW} .lv-ticks").text.split()[-1])
            # three digits are shown
            np.testing.assert_allclose(top, max(part[field]["largest"] for part in parts), rtol=6e-3)
            # and the largest is what the fields have, as far as they are known: f32 amplitudes, 16-bit shapes
            values = []
            for part in parts:
                v = np.tensordot(part[field]["amplitudes"], part[field]["basis"], axes=(1, 0))
                if field == "displacement":
                    values.append(np.linalg.norm(v, axis=2).max())
                else:
                    xx, yy, zz, xy, yz, zx = np.moveaxis(v, 2, 0)
                    values.append(np.sqrt(0.5 * ((xx - yy)**2 + (yy - zz)**2 + (zz - xx)**2) + 3 * (xy**2 + yz**2 + zx**2)).max())
            np.testing.assert_allclose(top, max(values), rtol=1e-2)
        for a, b in ((0, 1), (1, 2), (0, 2)):
            self.assertGreater((pictures[a] != pictures[b]).any(axis=2).sum(), 2000, (a, b))
        self.screenshot("report-stress")

    def test_deformation_edges_and_bodies_change_the_picture(self):
        self.show()
        self.js(f"{self.handle}.seek(0.15)")
        self.settle()
        before = self.picture()
        # 3e-8 m is not to be seen; the automatic scale shows it
        self.button(self.VIEW, "Auto").click()
        self.settle()
        self.assertEqual(self.js(f"return {self.handle}.scale"), 10000)
        enlarged = self.picture()
        self.assertGreater((before != enlarged).any(axis=2).sum(), 100)
        self.control("Mesh edges").click()
        self.settle()
        bare = self.picture()
        self.assertGreater((bare != enlarged).any(axis=2).sum(), 2000)
        covered = lambda picture: (np.abs(picture - picture[2, 2]).sum(axis=2) > 12).sum()
        self.control("coupler").click()
        self.settle()
        self.assertLess(covered(self.picture()), 0.9 * covered(bare))

    def test_two_runs_stand_side_by_side_and_over_each_other(self):
        self.show()
        self.js(f"{self.handle}.seek(0.15)")
        self.choose("By", "body")
        self.choose("Together with", "gcms")
        self.wait(lambda: "gcms" in self.find(f"{self.VIEW} .lv-stage").text, "the second run")
        self.settle()
        both = self.picture()
        half = both.shape[1] // 2
        drawn = lambda picture: (np.abs(picture - picture[2, 2]).sum(axis=2) > 12)
        left, right = drawn(both[:, :half - 2]), drawn(both[:, half + 2:])
        self.assertGreater(left.sum(), 3000)
        # the two agree to 5e-9 m: the same picture twice, but for the rounding of half a pixel
        self.assertLess(abs(int(left.sum()) - int(right.sum())), 0.05 * left.sum())
        self.screenshot("report-beside")
        for arrangement in ("overlaid, translucent", "overlaid, wire frame"):
            self.choose("Arranged", arrangement)
            self.assertGreater((self.picture() != both).any(axis=2).sum(), 3000, arrangement)
        runs = [option.text for option in Select(self.control("Show")).options]
        places = [self.js(f"return {self.handle}.pointPosition({r}, 1, 7)") for r in (0, runs.index("gcms"))]
        # 5e-9 m, and single precision
        self.assertLess(np.linalg.norm(np.subtract(*places)), 5e-8)

    def test_sensors_are_picked_from_the_list_and_with_the_mouse(self):
        self.show()
        self.choose("Curve of", "coupler end")
        self.wait(lambda: self.all(f"{self.VIEW} .lv-plot svg .curve"), "the curve")
        self.assertIn("coupler end.y, gcms", self.find(f"{self.VIEW} .lv-side").text)
        self.choose("Curve of", "none")
        self.assertFalse(self.all(f"{self.VIEW} .lv-plot"))
        self.js(f"{self.handle}.seek(0.1)")
        self.settle()
        name, part, point = next(s for s in self.stored()[2] if s[0] == "top")
        at = self.at(self.js(f"return {self.handle}.pointPosition(0, {part}, {point})"))
        self.canvas_action(*at).click().perform()
        self.wait(lambda: self.all(f"{self.VIEW} .lv-plot svg .curve"), "the curve")
        self.assertEqual(self.control("Curve of").get_attribute("value"), name)
        self.assertIn("sensor top", self.find(f"{self.VIEW} .lv-tip").text)
        self.screenshot("report-sensor")
        # and the curve is that of the result
        self.js(f"document.querySelector('{self.VIEW} .lv-plot').scrollIntoView()")
        self.button(f"{self.VIEW} .lv-plot", "CSV").click()
        self.wait(lambda: list(self.downloads.glob("*.csv")), "the curve's file")
        rows = list(csv.reader(io.StringIO(self.download(list(self.downloads.glob("*.csv"))[0].name).decode())))
        expected = columns(self.out / "gcms" / "sensors.csv")
        k = rows[0].index("top.y, gcms")
        same([float(row[k]) for row in rows[1:]], expected["top.y"])

    def test_pictures_figures_and_tables_are_saved(self):
        self.show()
        self.button(self.VIEW, "Save PNG").click()
        still = matplotlib.image.imread(io.BytesIO(self.download("motion.png")), format="png")
        self.assertGreater((still[:, :, :3] < 0.8).any(axis=2).sum(), 5000)
        figure = "#f-sensor-top-m"
        self.js("document.querySelector(arguments[0]).scrollIntoView()", figure)
        self.wait(lambda: self.all(f"{figure} .plot-svg .curve"), "the figure")
        self.button(figure, "PNG").click()
        self.assertGreater(struct.unpack(">II", self.download("sensor-top-m.png")[16:24])[0], 600)
        self.button(figure, "SVG").click()
        root = xml.fromstring(self.download("sensor-top-m.svg").decode())
        texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"top [m]", "time [s]", "top.x, gcms"}, texts)
        self.button(figure, "CSV").click()
        rows = list(csv.reader(io.StringIO(self.download("sensor-top-m.csv").decode())))
        for case, label in self.LABELS.items():
            expected = columns(self.out / case / "sensors.csv")
            for column in ("top.x", "top.y", "top.z"):
                k = rows[0].index(f"{column}, {label}")
                same([float(row[k]) for row in rows[1:]], expected[column])
        same([float(row[0]) for row in rows[1:]], expected["t"])
        self.button("#t-models", "CSV").click()
        rows = list(csv.DictReader(io.StringIO(self.download("models.csv").decode())))
        self.assertEqual({row["model"]: float(row["unknowns"]) for row in rows}, {"the study itself": 78, "fncf": 108, "gcms": 330})

    # ---- numbers

    def test_every_curve_of_a_sensor_is_the_result(self):
        self.open(self.out / "report.html")
        self.wait_for_promise("lissom.draw_all()")
        expected = {label: columns(self.out / case / "sensors.csv") for case, label in self.LABELS.items()}
        count = 0
        for figure in [f.get_attribute("id")[2:] for f in self.all("#simulation figure[id^=f-sensor]")]:
            for name, (t, y) in self.series(figure).items():
                column, label = name.rsplit(", ", 1)
                same(t, expected[label]["t"])
                same(y, expected[label][column])
                count += 1
        # top, coupler end, its velocity, the foot's force: three components, three runs
        self.assertEqual(count, 36)

    def test_the_tables_have_the_numbers_of_the_summary(self):
        self.open(self.out / "report.html")
        bodies = self.summary["bodies"]
        for row in self.table("bodies"):
            body = bodies[row["body"]]
            self.assertEqual(row["mass [kg]"], body["mass"])
            self.assertEqual(row["volume [m3]"], body["volume"])
            self.assertEqual(row["nodes"], body["nodes"])
        for row in self.table("reductions"):
            reduce = bodies[row["body"]]["reduce"]
            self.assertEqual(row["degrees of freedom"], reduce["degrees_of_freedom"])
            self.assertEqual(row["coordinates"], reduce["coordinates"])
            self.assertEqual(row["estimated error"], max(e["zeta_2"] for e in reduce["errors"] if e["zeta_2"] is not None))
        for name in bodies:
            rows = self.table(f"{name}-error-table")
            for row, error in zip(rows, bodies[name]["reduce"]["errors"], strict=True):
                self.assertEqual(row["frequency [Hz]"], error["frequency_hz"])
                if error["zeta_2"] is not None:
                    self.assertEqual(row["estimate (zeta_2)"], error["zeta_2"])
                if error["bound"] is not None:
                    self.assertEqual(row["proven bound"], error["bound"])
        models = {"the study itself": self.summary["models"]["study"], **self.summary["models"]}
        for row in self.table("models"):
            model = models[row["model"]]
            self.assertEqual(row["unknowns"], model["unknowns"])
            self.assertEqual(row["time [s]"], model["seconds"])
            self.assertEqual(row["times real time"], model["real_time_factor"])
        cases = {"the study itself": self.summary["simulation"], **{k: v["simulation"] for k, v in self.summary["cases"].items()}}
        for row in self.table("timing"):
            simulation = cases[row["run"]]
            self.assertEqual(row["steps"], simulation["steps"])
            self.assertEqual(row["energy drift, relative"], simulation["energy_drift"])
            self.assertEqual(row["constraint drift [m]"], simulation["constraint_drift"])
        for row in self.table("differences"):
            expected = self.summary["comparison"]["cases"][row["run"]]["sensors"][row["sensor"]]
            self.assertEqual(row["largest difference"], expected["largest"])
            self.assertEqual(row["rms"], expected["rms"])
        cards = {card.find_element("css selector", ".label").text: float(card.find_element("css selector", ".value").get_attribute("data-value"))
                 for card in self.all(".card")}
        self.assertEqual(cards["Energy drift"], max(s["energy_drift"] for s in cases.values()))
        self.assertEqual(cards["Gaps of joints"], max(s["constraint_drift"] for s in cases.values()))
        self.assertEqual(cards["Unknowns"], 78)

    def test_points_of_sensors_are_where_the_sensors_measured(self):
        self.show()
        for index, case in enumerate(self.LABELS):
            self.js("window.chosen = false;"
                    f"{self.handle}.setRun({index}, -1).then(() => {{ window.chosen = true; }})")
            self.wait(lambda: self.js("return window.chosen"), "the run")
            self.js(f"{self.handle}.setScale(1)")
            time, parts, sensors = self.stored(case)
            measured = columns(self.out / case / "sensors.csv")
            for frame in (0, 37, 120, 200):
                self.js(f"{self.handle}.seek({float(time[frame])!r})")
                for name, part, point in sensors:
                    if name not in ("top", "coupler end"):
                        continue
                    found = self.js(f"return {self.handle}.pointPosition({index}, {part}, {point})")
                    expected = [measured[f"{name}.{axis}"][frame] for axis in "xyz"]
                    u = parts[part]["displacement"]
                    # coordinates below 0.25 m in single precision are rounded by 8e-9 m; places and points are
                    tolerance = u["error"] + self.rounding(u) + 4 * 8e-9
                    self.assertLess(np.linalg.norm(np.subtract(found, expected)), tolerance, (case, name, frame))

    def test_the_deformation_is_that_of_the_run(self):
        self.show()
        time, parts, _ = self.stored()
        for frame in (20, 150):
            self.js(f"{self.handle}.seek({float(time[frame])!r})")
            for k, part in enumerate(parts):
                u = part["displacement"]
                exact = np.tensordot(u["amplitudes"][frame], u["basis"], axes=(0, 0))
                for point in (3, 100, 300):
                    place = [np.array(self.js(f"{self.handle}.setScale({s}); return {self.handle}.pointPosition(0, {k}, {point})"))
                             for s in (0, 10000)]
                    found = np.linalg.norm(place[1] - place[0]) / 10000
                    # 3e-8 m times 10000 in coordinates that are rounded by 8e-9 m
                    self.assertLess(abs(found - np.linalg.norm(exact[point])), self.rounding(u) + 4e-12, (k, point, frame))

    def test_stress_under_a_point_is_that_of_the_run(self):
        self.show()
        time, parts, _ = self.stored()
        self.js(f"{self.handle}.seek({float(time[150])!r})")
        for k, part in enumerate(parts):
            s = part["stress"]
            exact = np.tensordot(s["amplitudes"][150], s["basis"], axes=(0, 0))
            for point in (3, 100, 300):
                xx, yy, zz, xy, yz, zx = exact[point]
                mises = np.sqrt(0.5 * ((xx - yy)**2 + (yy - zz)**2 + (zz - xx)**2) + 3 * (xy**2 + yz**2 + zx**2))
                found = self.js(f"return {self.handle}.stressAt(0, {k}, {point})")
                # von Mises changes by at most three times the largest change of a component
                self.assertLess(abs(found - mises), 3 * self.rounding(s) + 1e-5 * mises, (k, point))

    # ---- other readers

    def test_keys_alone_play_the_mechanism(self):
        self.open(self.out / "report.html")
        for _ in range(80):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            if self.js(f"return document.activeElement.matches('{self.VIEW} .lv-stage canvas')"):
                break
        else:
            self.fail("the view cannot be reached by keyboard")
        ActionChains(self.driver).send_keys(" ").perform()
        self.wait(lambda: self.js(f"return {self.handle}.time") > 0.01, "time to go on")
        ActionChains(self.driver).send_keys(" ", ".", Keys.ARROW_LEFT, Keys.ARROW_UP, "+").perform()
        self.assertFalse(self.js(f"return {self.handle}.playing"))

    def test_a_phone_shows_it_without_scrolling_sideways(self):
        self.resize(390, 844)
        self.show()
        self.wait_for_promise("lissom.draw_all()")
        self.js("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
        self.frames(3)
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 390)
        self.screenshot("report-phone")
        self.nothing_failed()

    def test_paper_and_dark_pages_have_it_all(self):
        self.media("dark")
        self.show()
        self.assertLess(self.picture()[3, 3].max(), 60)
        self.screenshot("report-dark")
        self.wait_for_promise("lissom.draw_all()")
        paper = self.pdf()
        self.assertEqual(paper[:5], b"%PDF-")
        # figures, views and tables take pages
        self.assertGreater(paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page "), 5)
        self.nothing_failed()


class Vibrations(ReportTest):
    """The robot arm without its cases and its sweep: modes of a mechanism."""
    VIEW = "#v-system-modes"

    @classmethod
    def make_study(cls, folder):
        shutil.copytree(EXAMPLES / "robot-arm", folder / "arm")
        path = folder / "arm" / "study.toml"
        path.write_text(path.read_text().split("[[sweep.parameters]]")[0])
        return path

    def test_modes_of_the_mechanism_are_shown_one_by_one(self):
        self.show()
        expected = json.loads((self.out / "linearisation.json").read_text())["modes"]
        with h5py.File(self.out / "system_modes.view.h5") as file:
            count = len(file["shapes/frequency_hz"])
        options = [option.text for option in Select(self.control("Show")).options]
        self.assertEqual(len(options), count)
        for k, text in enumerate(options):
            self.assertTrue(text.startswith(f"mode {k + 1}: "), text)
            # four digits of the frequency, two of the damping
            np.testing.assert_allclose(float(text.split(": ")[1].split(" Hz")[0]), expected[k]["frequency_hz"], rtol=6e-4)
            np.testing.assert_allclose(float(text.split("damping ")[1].split(" %")[0]), 100 * expected[k]["damping_ratio"], rtol=6e-2)
        pictures = []
        for k in range(3):
            if k:
                self.button(self.VIEW, "Next").click()
            self.settle()
            self.assertEqual(Select(self.control("Show")).first_selected_option.text, options[k])
            self.assertIn(options[k], self.find(f"{self.VIEW} .lv-stage").text)
            pictures.append(self.picture())
        self.assertGreater((pictures[0] != pictures[2]).any(axis=2).sum(), 1000)
        self.control("Play").click()
        self.wait(lambda: self.js(f"return {self.handle}.time") > 0.1, "the mode to swing")
        self.control("Pause").click()
        self.nothing_failed()

    def test_its_tables_and_figures_have_the_numbers_of_the_files(self):
        self.open(self.out / "report.html")
        self.wait_for_promise("lissom.draw_all()")
        expected = json.loads((self.out / "linearisation.json").read_text())["modes"]
        for row, mode in zip(self.table("system-modes"), expected):
            self.assertEqual(row["frequency [Hz]"], mode["frequency_hz"])
            self.assertEqual(row["damping ratio"], mode["damping_ratio"])
        response = columns(self.out / "response.csv")
        (x, y), = self.series("response-tip-z-by-push").values()
        np.testing.assert_allclose(x, response["f"], rtol=1e-12)
        np.testing.assert_allclose(y, response["tip.z by push magnitude"], rtol=1e-12)


class SmallModel(ReportTest):
    """A mechanism and its small model, trained on a motion that Exudyn computed."""
    VIEW = "#v-motion"

    @classmethod
    def make_study(cls, folder):
        return EXAMPLES / "four-bar-exudyn" / "study.toml"

    def test_reference_and_small_model_move_side_by_side(self):
        self.show()
        self.js(f"{self.handle}.seek(0.2)")
        self.choose("Together with", "slap")
        self.wait(lambda: "slap" in self.find(f"{self.VIEW} .lv-stage").text, "the small model")
        self.settle()
        picture = self.picture()
        half = picture.shape[1] // 2
        for side in (picture[:, :half - 2], picture[:, half + 2:]):
            self.assertGreater((np.abs(side - side[2, 2]).sum(axis=2) > 12).sum(), 3000)
        runs = [option.text for option in Select(self.control("Show")).options]
        at = lambda run, point: np.array(self.js(f"return {self.handle}.pointPosition({runs.index(run)}, 1, {point})"))
        # no node is further away than the summary says; both are drawn with coordinates that are rounded by 8e-9 m
        error = self.summary["models"]["slap"]["largest_error"]
        for point in (0, 50, 100):
            self.assertLess(np.linalg.norm(at("the study itself", point) - at("slap", point)), error + 4e-8)
        self.nothing_failed()

    def test_the_training_is_told_with_the_numbers_of_its_files(self):
        self.open(self.out / "report.html")
        self.wait_for_promise("lissom.draw_all()")
        orders = columns(self.out / "orders.csv", skip=["frequencies_hz"])
        curves = self.series("training-error")
        found = [float(v) for v in curves["rms of all nodal coordinates"][1]]
        self.assertEqual(len(found), 12)
        rows = self.table("training-orders")
        self.assertEqual([row["m"] for row in rows], list(range(1, 13)))
        for shown, column in (("epsilon [m2]", "epsilon"), ("rms error [m]", "rms_error"), ("largest error [m]", "largest_error")):
            np.testing.assert_allclose([row[shown] for row in rows], orders[column], rtol=1e-12)
        np.testing.assert_allclose(found, orders["rms_error"], rtol=1e-12)
        np.testing.assert_allclose(self.series("training-singular-values")["in the space of component modes"][1],
                                   columns(self.out / "modes.csv", skip=["singular_value_of_nodes", "joint_violation"])["singular_value"][:100],
                                   rtol=1e-12)
        cards = {card.find_element("css selector", ".label").text: float(card.find_element("css selector", ".value").get_attribute("data-value"))
                 for card in self.all(".card")}
        model = self.summary["models"]["slap"]
        self.assertEqual(cards["Error of the reduced model"], model["largest_error"])
        self.assertEqual(cards["Faster by"], model["times_faster"])
        self.assertEqual(cards["Distance from the training"], model["trust"]["largest"])
        text = self.find("#summary .summary").text
        self.assertIn("reduced to 3 unknowns", text)
        for row in self.table("models"):
            expected = self.summary["models"]["study" if row["model"] == "the study itself" else row["model"]]
            self.assertEqual(row["unknowns"], expected["unknowns"])
            if "epsilon" in expected:
                self.assertEqual(row["epsilon [m2]"], expected["epsilon"])
                self.assertEqual(row["times faster"], expected["times_faster"])


del ReportTest  # only its classes are tests


if __name__ == "__main__":
    unittest.main()
