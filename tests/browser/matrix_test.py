"""Figures of a matrix in a browser: values under the pointer and by keys, files that are saved, dark and print, many cells, and
the similarity of component modes in the report of a GCMS basis."""

import csv
import io
import json
import math
import re
import struct
import subprocess
import unittest
import xml.etree.ElementTree as xml

from selenium.webdriver import ActionChains, Keys

from support import BrowserTest, LISSOM, Page, SOURCE

NAMES = [f"mode {k // 3 + 1} {'xyz'[k % 3]}" for k in range(12)]
# all digits are needed
VALUES = [[abs(math.cos(1.7 * r - 0.9 * c)) if r != c else 1.0 for c in range(12)] for r in range(12)]
VALUES[3][5] = math.nan


def report(values=None, rows=NAMES, columns=NAMES, **options):
    page = Page("A matrix")
    options = {"marked": (4, 7), "mark": "removed by Algorithm 1", **options}
    page.section("s", "S", Page.picture(page.matrix("m", rows, columns, values or VALUES, "Which fields are alike", "field",
                                                    "other field", "|cosine|", **options)))
    return page


class MatrixTest(BrowserTest):
    def svg(self):
        return self.find("#f-m svg.plot-svg")

    def hover(self, r, c):
        self.frames()
        x, y = self.js("const s = arguments[0], p = s.closest('figure').lissom.place(arguments[1], arguments[2]), "
                       "b = s.getBoundingClientRect(); return [p.x - b.width / 2, p.y - b.height / 2]", self.svg(), r, c)
        ActionChains(self.driver).move_to_element_with_offset(self.svg(), round(x), round(y)).perform()
        self.frames()

    def tip(self):
        return self.js("""
            const tip = document.querySelector("#f-m .plot-tip");
            if (tip.hidden) return null;
            return [...Array.from(tip.querySelectorAll(".tip-x"), (e) => e.textContent),
                    tip.querySelector(".tip-value").textContent]""")

    def colours(self):
        """Colours of the cells, from little to much."""
        return self.js("return Array.from(document.querySelectorAll('#f-m .plot-svg .cells path'), (p) => p.getAttribute('fill'))")

    def test_the_pointer_shows_row_column_and_all_digits(self):
        self.open(report())
        self.hover(2, 9)
        row, column, value = self.tip()
        self.assertEqual([row, column], ["other field: mode 1 z", "field: mode 4 x"])
        self.assertEqual(float(value), VALUES[2][9])
        self.screenshot("matrix")
        # what was removed says so
        self.hover(4, 0)
        self.assertEqual(self.tip()[0], "other field: mode 2 y (removed by Algorithm 1)")
        self.assertEqual(self.tip()[1], "field: mode 1 x")
        # no value
        self.hover(3, 5)
        self.assertEqual(self.tip()[2], "-")
        self.assertIn("1 cell has no colour", self.find("#f-m .plot-note").text)
        ActionChains(self.driver).move_to_element(self.find("h1")).perform()
        self.frames()
        self.assertIsNone(self.tip())

    def test_keys_read_the_cells(self):
        self.open(report())
        for _ in range(60):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            if self.js("return document.activeElement.matches('#f-m svg.plot-svg')"):
                break
        else:
            self.fail("the figure cannot be reached by keyboard")
        def value(*keys):
            ActionChains(self.driver).send_keys(*keys).perform()
            return float(self.tip()[2])
        self.assertEqual(value(Keys.ARROW_RIGHT), VALUES[0][0])
        self.assertEqual(value(Keys.ARROW_RIGHT), VALUES[0][1])
        self.assertEqual(value(Keys.ARROW_DOWN, Keys.ARROW_DOWN), VALUES[2][1])
        self.assertEqual(value(Keys.END), VALUES[2][11])
        self.assertEqual(value(Keys.PAGE_DOWN), VALUES[11][11])
        self.assertEqual(value(Keys.ARROW_DOWN), VALUES[11][11])
        self.assertEqual(value(Keys.HOME, Keys.PAGE_UP), VALUES[0][0])
        ActionChains(self.driver).send_keys(Keys.ESCAPE).perform()
        self.assertIsNone(self.tip())
        label = self.svg().get_attribute("aria-label")
        for text in ("Which fields are alike", "|cosine|", "12 rows", "to 1", "2 of them removed by Algorithm 1"):
            self.assertIn(text, label)

    def test_csv_svg_and_png_hold_the_numbers_and_stand_alone(self):
        self.open(report())
        self.button("#f-m", "CSV").click()
        rows = list(csv.reader(io.StringIO(self.download("m.csv").decode())))
        self.assertEqual(rows[0], ["other field / field", *NAMES])
        self.assertEqual([row[0] for row in rows[1:]], NAMES)
        for row, expected in zip(rows[1:], VALUES):
            self.assertEqual([float(v) if v else None for v in row[1:]], [None if math.isnan(v) else v for v in expected])
        self.js("lissom.theme('dark')")
        self.frames()
        self.button("#f-m", "SVG").click()
        text = self.download("m.svg").decode()
        root = xml.fromstring(text)
        words = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
        for word in ("Which fields are alike", "|cosine|", "mode 1 x", "field", "other field", "removed by Algorithm 1"):
            self.assertIn(word, words)
        self.assertNotRegex(text, r"var\(|class=")
        # light also from a dark page: what is 1 has the darkest colour
        self.assertIn('fill="rgb(255, 255, 255)"', text)
        self.assertIn('fill="rgb(8, 38, 77)"', text)
        self.button("#f-m", "PNG").click()
        picture = self.download("m.png")
        width, height = struct.unpack(">II", picture[16:24])
        self.assertEqual([width, height], [round(2 * float(root.get(k))) for k in ("width", "height")])

    def test_more_is_farther_from_the_paper_in_light_and_dark(self):
        def brightness():
            # rgb(238, 242, 247)
            found = [sum(map(int, re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour).groups())) for colour in self.colours()]
            return found, [a < b for a, b in zip(found, found[1:])]
        self.open(report())
        light, rising = brightness()
        self.assertGreater(len(light), 20)
        self.assertFalse(any(rising))
        self.js("lissom.theme('dark')")
        self.frames()
        dark, rising = brightness()
        self.assertTrue(all(rising))
        self.assertGreater(dark[-1], light[-1])
        self.screenshot("matrix-dark")
        # on paper light, also from a dark page
        self.js("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(brightness()[0], light)
        self.js("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(brightness()[0], dark)

    def test_a_phone_shows_all_cells(self):
        self.resize(360, 700)
        self.open(report())
        frame = self.js("const f = document.querySelector('#f-m .frame'); return [Number(f.getAttribute('width')), "
                        "Number(f.getAttribute('x')), document.querySelector('#f-m .plot-area').clientWidth]")
        self.assertGreater(frame[0], 120)
        self.assertLess(frame[0] + frame[1], frame[2])
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 360)
        self.hover(6, 6)
        self.assertEqual(float(self.tip()[2]), VALUES[6][6])
        self.screenshot("matrix-phone")

    def test_many_cells_are_a_picture_with_the_same_values(self):
        n = 150
        values = [[((r * 31 + c * 17) % 101) / 101 for c in range(n)] for r in range(n)]
        names = [f"f{k}" for k in range(n)]
        self.open(report(values, names, names, marked=(), mark=""))
        self.assertEqual(len(self.all("#f-m .cells image")), 1)
        self.hover(77, 130)
        self.assertEqual(float(self.tip()[2]), values[int(self.tip()[0].split("f")[-1])][int(self.tip()[1].split("f")[-1])])
        # a pixel of the picture is a cell
        pixel = self.driver.execute_async_script("""
            const done = arguments[0], image = new Image();
            image.src = document.querySelector("#f-m .cells image").href.baseVal;
            image.decode().then(() => {
              const canvas = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height});
              const context = canvas.getContext("2d");
              context.drawImage(image, 0, 0);
              done([image.width, image.height, ...context.getImageData(0, 0, 1, 1).data]);
            });""")
        # the first value is 0: the lightest colour, #eef2f7
        self.assertEqual(pixel, [n, n, 0xee, 0xf2, 0xf7, 255])
        self.button("#f-m", "SVG").click()
        self.assertIn("data:image/png", self.download("m.svg").decode())
        self.button("#f-m", "PNG").click()
        self.assertGreater(len(self.download("m.png")), 10000)

    def test_logarithms_long_rows_and_markup_in_names(self):
        hostile = "<img src=x onerror=alert(1)>" + 300 * "n"
        self.open(report([[1e-6, 1e-3, 0.0]], [hostile], ["a", "b", "c"], low=1e-6, high=1.0, log=True, marked=(0,), mark=hostile))
        self.assertEqual(self.all("img"), [])
        # zero has no logarithm
        self.assertIn("1 cell has no colour", self.find("#f-m .plot-note").text)
        self.hover(0, 1)
        self.assertEqual(self.tip()[2], "0.001")
        self.assertIn(hostile, self.tip()[0])

    def test_the_report_of_a_basis_shows_the_similarity_of_its_modes(self):
        source = SOURCE / "examples" / "gcms-beams"
        done = subprocess.run([LISSOM, "run", source / "study.toml", "--out", self.folder / "results", "--json"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads((self.folder / "results" / "summary.json").read_text())
        self.open(self.folder / "results" / "report.html")
        self.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.wait_for_promise("lissom.draw_all()")
        found = self.js("const m = document.querySelector('#f-arbitrary-cosines').lissom.matrix; return [m.rows, Array.from(m.values)]")
        names, values = found
        n = len(names)
        for entry in summary["bodies"]["arbitrary"]["gcms"]["algorithm_1"]["removed"]:
            if entry["why"] == "cosine":
                # the value that the stage removed it for, of the same pair
                self.assertAlmostEqual(values[names.index(entry["column"]) * n + names.index(entry["like"])], entry["value"], delta=1e-12)
        marked = self.js("return document.querySelectorAll('#f-arbitrary-cosines .marked path').length")
        # of rows, of columns, and the legend's
        self.assertEqual(marked, 2 * len(summary["bodies"]["arbitrary"]["gcms"]["algorithm_1"]["removed"]) + 1)
        self.js("document.querySelector('#f-arbitrary-cosines').scrollIntoView()")
        self.screenshot("matrix-gcms")


if __name__ == "__main__":
    unittest.main()
