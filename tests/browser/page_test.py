"""The page of a report and its figures in a browser, used as a person does: pointer, keys, buttons, printer, phone."""

import csv
import io
import json
import math
import os
import re
import struct
import subprocess
import unittest
import xml.etree.ElementTree as xml

from selenium.webdriver import ActionChains, Keys

from support import BrowserTest, LISSOM, Page

TIME = [0.001 * k for k in range(501)]
FAST = [0.3 * math.cos(40 * t) for t in TIME]
# a gap in the middle
SLOW = [math.nan if 0.2 < t < 0.22 else 0.2 * math.sin(12 * t) + 0.05 for t in TIME]
ORDERS = list(range(1, 13))
ERRORS = [10.0 ** (-k) for k in ORDERS]
# two of them have no logarithm
ESTIMATES = [0.0, -1e-3] + [3 * e for e in ERRORS[2:]]
HOSTILE = "<img src=x onerror=alert(1)> & \"<b>bold</b>\" </script>"


def report():
    page = Page("Four-bar linkage", "run four-bar", "The mechanism was simulated for 0.5 s.", ["The mesh of the crank is coarse."])
    page.card("Speed-up", "14 ×", "2.3 s against 0.16 s", "good", 14.25)
    page.card("Error", "1.2e-05 m", "", "bad", 1.2e-5)
    motion = page.figure("motion", [("fast", TIME, FAST), ("slow", TIME, SLOW, "dashed")], "Motion of the tip", "time [s]",
                         "position [m]", marks=[{"axis": "x", "at": 0.1, "label": "load on"}], caption="What the tip does.")
    orders = page.figure("orders", [("exact", ORDERS, ERRORS, "linepoints"), ("estimate", ORDERS, ESTIMATES, "points")],
                         "Error against order", "order m", "error [m]", log_y=True)
    page.section("results", "Results", Page.picture(motion), Page.picture(orders), lead="What came out.")
    # 1/3 needs all digits; the names sort otherwise than the numbers
    table = Page.table("bodies", ["body", "mass [kg]", "long column of words that needs room", "another one", "and one more", "file"],
                       [["rocker", ("0.333", 1 / 3), "Craig-Bampton", 10.0, 1e-4, "rocker.inp"],
                        ["coupler, \"long\"", ("12.5", 12.5), "GCMS", 9.0, 2e-4, "coupler.inp"],
                        ["crank", ("2", 2.0), "Craig-Bampton", 100.0, 3e-4, "crank.inp"]], "Bodies")
    far = page.figure("far", [("curve", ORDERS, ORDERS)], "Far below")
    page.section("bodies", "Bodies", table,
                 "<details><summary>More</summary>" + Page.picture(page.figure("hidden", [("a", ORDERS, ERRORS)], "Folded")) + "</details>")
    page.section("long", "Long", *["<p>A paragraph that takes room.</p>" for _ in range(60)], Page.picture(far))
    page.section("repeat", "How to repeat it", '<pre class="code"><code>lissom run study.toml\nlissom report results</code></pre>')
    return page


class Plot(BrowserTest):
    """One figure after the other, by hand."""

    def svg(self, name="motion"):
        return self.find(f"#f-{name} svg.plot-svg")

    def domain(self, name="motion"):
        self.frames()
        return self.js(f"return document.querySelector('#f-{name}').lissom.domain()")

    def place(self, x, y, name="motion"):
        """Where a point is on the figure, from its centre on [px]: read from the ticks, which the figure draws by itself."""
        self.frames()
        found = self.js("""
            const svg = arguments[0], frame = svg.querySelector(".frame");
            const d = svg.closest("figure").lissom.domain();
            const n = (a) => Number(frame.getAttribute(a)), box = svg.getBoundingClientRect();
            const part = (v, [a, b], log) => log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a);
            return [n("x") + n("width") * part(arguments[1], d.x, d.log_x) - box.width / 2,
                    n("y") + n("height") * (1 - part(arguments[2], d.y, d.log_y)) - box.height / 2]""", self.svg(name), x, y)
        return [round(p) for p in found]

    def hover(self, x, y, name="motion"):
        ActionChains(self.driver).move_to_element_with_offset(self.svg(name), *self.place(x, y, name)).perform()
        self.frames()

    def tip(self, name="motion"):
        """What the tooltip says: the text of x and {series: value}."""
        return self.js(f"""
            const tip = document.querySelector("#f-{name} .plot-tip");
            if (tip.hidden) return null;
            const rows = Array.from(tip.querySelectorAll(".tip-row"));
            return [tip.querySelector(".tip-x").textContent, Object.fromEntries(rows.map((r) => [
                r.querySelector(".tip-name").textContent, Number(r.querySelector(".tip-value").dataset.value)]))]""")

    def curves(self, name="motion"):
        return len(self.all(f"#f-{name} svg.plot-svg .curve"))

    def test_hovering_shows_all_values_of_the_data_at_the_nearest_point(self):
        self.open(report())
        self.hover(TIME[137], FAST[137])
        x, values = self.tip()
        k = round(float(x.split(":")[1]) / 0.001)
        # a pixel is about two points wide
        self.assertLessEqual(abs(k - 137), 2)
        self.assertEqual(values, {"fast": FAST[k], "slow": SLOW[k]})
        self.assertTrue(x.startswith("time [s]: "))
        self.screenshot("hover")
        # within the gap only the other series has a value
        self.hover(TIME[210], FAST[210])
        self.assertEqual(list(self.tip()[1]), ["fast"])
        # away from the figure it goes
        ActionChains(self.driver).move_to_element(self.find("h1")).perform()
        self.frames()
        self.assertIsNone(self.tip())

    def test_a_gap_is_not_bridged(self):
        self.open(report())
        starts = self.js("return Array.from(document.querySelectorAll('#f-motion .plot-svg .trace'), (p) => "
                         "p.getAttribute('d').split('M').length - 1)")
        self.assertEqual(starts, [1, 2])

    def test_a_point_between_gaps_is_seen(self):
        page = Page()
        nan = math.nan
        page.section("s", "S", Page.picture(page.figure("alone", [("a", range(7), [1, 2, nan, 3, nan, nan, 4], "dashed")])))
        self.open(page)
        self.assertEqual(self.find("#f-alone .plot-svg .trace").get_attribute("d").count("M"), 1)
        self.assertEqual(self.find("#f-alone .plot-svg .sign").get_attribute("d").count("M"), 2)

    def test_fingers_read_values_and_pinch(self):
        self.resize(360, 740)
        self.open(report())
        self.js("arguments[0].scrollIntoView()", self.svg())
        touch = lambda kind, *points: self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", dict(
            type=kind, touchPoints=[dict(x=x, y=y, id=k) for k, (x, y) in enumerate(points)]))
        self.frames()
        box = self.js("const b = arguments[0].getBoundingClientRect(); return [b.x, b.y, b.width, b.height]", self.svg())
        x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
        touch("touchStart", (x, y))
        touch("touchEnd")
        self.frames()
        self.assertEqual(list(self.tip()[1]), ["fast", "slow"])
        before = self.domain()["x"]
        touch("touchStart", (x - 30, y), (x + 30, y))
        for k in range(1, 7):
            touch("touchMove", (x - 30 - 10 * k, y), (x + 30 + 10 * k, y))
        touch("touchEnd")
        after = self.domain()["x"]
        # fingers three times as far apart show a third
        self.assertAlmostEqual((after[1] - after[0]) / (before[1] - before[0]), 1 / 3, delta=0.05)

    def test_a_box_zooms_and_a_double_click_shows_everything_again(self):
        self.open(report())
        before = self.domain()
        a, b = self.place(0.1, -0.2), self.place(0.3, 0.2)
        actions = ActionChains(self.driver)
        actions.move_to_element_with_offset(self.svg(), *a).click_and_hold().move_by_offset(10, -10)
        actions.move_to_element_with_offset(self.svg(), *b).release().perform()
        zoomed = self.domain()
        # a pixel is 0.0013 s and 0.004 m here
        for found, expected, pixel in zip(zoomed["x"] + zoomed["y"], [0.1, 0.3, -0.2, 0.2], [0.0013] * 2 + [0.004] * 2):
            self.assertAlmostEqual(found, expected, delta=2 * pixel)
        ActionChains(self.driver).move_to_element_with_offset(self.svg(), *self.place(0.2, 0)).double_click().perform()
        self.assertEqual(self.domain(), before)
        # a flat box leaves y
        actions = ActionChains(self.driver)
        actions.move_to_element_with_offset(self.svg(), *self.place(0.1, 0)).click_and_hold()
        actions.move_to_element_with_offset(self.svg(), *self.place(0.3, 0)).release().perform()
        self.assertEqual(self.domain()["y"], before["y"])
        self.assertLess(self.domain()["x"][1], 0.31)
        # shift and drag moves what is seen
        width = self.domain()["x"][1] - self.domain()["x"][0]
        actions = ActionChains(self.driver).key_down(Keys.SHIFT)
        actions.move_to_element_with_offset(self.svg(), *self.place(0.2, 0)).click_and_hold()
        actions.move_to_element_with_offset(self.svg(), *self.place(0.25, 0)).release().key_up(Keys.SHIFT).perform()
        moved = self.domain()["x"]
        self.assertAlmostEqual(moved[1] - moved[0], width, delta=1e-9)
        self.assertAlmostEqual(moved[0], 0.05, delta=0.006)
        self.button("#f-motion", "reset").click()
        self.assertEqual(self.domain(), before)

    def test_the_wheel_scrolls_the_page_and_zooms_with_control_or_after_a_click(self):
        self.open(report())
        before = self.domain()
        wheel = "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -200, ctrlKey: arguments[1], bubbles: true, " \
            "cancelable: true, clientX: arguments[2], clientY: arguments[3]}))"
        box = self.svg().rect
        middle = [self.js("return arguments[0].getBoundingClientRect().x", self.svg()) + box["width"] / 2,
                  self.js("return arguments[0].getBoundingClientRect().y", self.svg()) + box["height"] / 2]
        # the event goes on to the page unless it was taken
        self.assertTrue(self.js("return " + wheel, self.svg(), False, *middle))
        self.assertEqual(self.domain(), before)
        self.assertFalse(self.js("return " + wheel, self.svg(), True, *middle))
        near = self.domain()
        self.assertLess(near["x"][1] - near["x"][0], 0.9 * (before["x"][1] - before["x"][0]))
        self.svg().click()
        self.assertFalse(self.js("return " + wheel, self.svg(), False, *middle))
        self.assertLess(self.domain()["x"][1] - self.domain()["x"][0], 0.9 * (near["x"][1] - near["x"][0]))

    def test_an_axis_of_logarithms_says_what_it_cannot_show(self):
        self.open(report())
        note = self.find("#f-orders .plot-note")
        self.assertTrue(note.is_displayed())
        self.assertIn("2 points are not shown", note.text)
        self.assertTrue(self.domain("orders")["log_y"])
        self.assertGreater(self.domain("orders")["y"][0], 0)
        self.hover(5, 1e-5, "orders")
        self.assertEqual(self.tip("orders")[1], {"exact": ERRORS[4], "estimate": ESTIMATES[4]})
        self.button("#f-orders", "log y").click()
        found = self.domain("orders")
        self.assertFalse(found["log_y"])
        self.assertLess(found["y"][0], 0)
        self.assertFalse(note.is_displayed())
        self.button("#f-orders", "log x").click()
        self.assertTrue(self.domain("orders")["log_x"])
        self.assertEqual(self.button("#f-orders", "log x").get_attribute("aria-pressed"), "true")

    def test_the_legend_hides_and_shows_series(self):
        self.open(report())
        self.assertEqual(self.curves(), 2)
        low = self.domain()["y"][0]
        button = self.button("#f-motion", "fast")
        button.click()
        self.frames()
        self.assertEqual(self.curves(), 1)
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        # what is left fills the figure: from -0.15 on
        self.assertGreater(self.domain()["y"][0], -0.2)
        self.assertLess(low, -0.3)
        self.hover(TIME[400], SLOW[400])
        self.assertEqual(list(self.tip()[1]), ["slow"])
        button.click()
        self.frames()
        self.assertEqual(self.curves(), 2)

    def test_csv_svg_and_png_hold_what_is_drawn(self):
        self.open(report())
        self.button("#f-motion", "CSV").click()
        rows = list(csv.reader(io.StringIO(self.download("motion.csv").decode())))
        self.assertEqual(rows[0], ["time [s]", "fast", "slow"])
        self.assertEqual(len(rows), 1 + len(TIME))
        for row, t, a, b in zip(rows[1:], TIME, FAST, SLOW):
            # every digit
            self.assertEqual([float(row[0]), float(row[1])], [t, a])
            self.assertEqual(row[2], "" if math.isnan(b) else row[2])
            if not math.isnan(b):
                self.assertEqual(float(row[2]), b)

        self.button("#f-motion", "SVG").click()
        text = self.download("motion.svg").decode()
        root = xml.fromstring(text)
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        words = {t.text for t in root.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"Motion of the tip", "time [s]", "position [m]", "fast", "slow", "load on"}, words)
        # it stands alone: no classes, no variables, white behind
        self.assertNotRegex(text, r"var\(|class=")
        self.assertIn('fill="rgb(255, 255, 255)"', text)
        size = [float(root.get("width")), float(root.get("height"))]

        self.button("#f-motion", "PNG").click()
        picture = self.download("motion.png")
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", picture[16:24])
        self.assertEqual([width, height], [round(2 * s) for s in size])
        # a curve and texts make more than an empty sheet
        self.assertGreater(len(picture), 15000)

    def test_series_with_their_own_x_get_their_own_columns(self):
        page = Page()
        page.section("s", "S", Page.picture(page.figure("two", [
            ("a", [0, 1, 2], [5, 6, 7]), ("b", [0, 0.5, 1, 1.5], [1, 2, 3, 4]), ("c", [0, 1, 2], [8, 9, math.nan])])))
        self.open(page)
        self.button("#f-two", "CSV").click()
        rows = list(csv.reader(io.StringIO(self.download("two.csv").decode())))
        self.assertEqual(rows, [["x", "a", "c", "x", "b"], ["0", "5", "8", "0", "1"], ["1", "6", "9", "0.5", "2"],
                                ["2", "7", "", "1", "3"], ["", "", "", "1.5", "4"]])
        # between the points of another series its value is interpolated, and says so
        self.hover(0.5, 2, "two")
        self.assertEqual(self.tip("two")[1], {"a": 5.5, "b": 2, "c": 8.5})
        self.assertIn("≈ 5.5", self.find("#f-two .plot-tip").text)

    def test_keys_alone_read_values_zoom_and_save(self):
        self.open(report())
        body = self.find("body")
        # tab from the beginning of the page to the first figure
        for _ in range(60):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            if self.js("return document.activeElement.matches('#f-motion svg.plot-svg')"):
                break
        else:
            self.fail("the figure cannot be reached by keyboard")
        self.assertTrue(body)
        keys = lambda *k: (ActionChains(self.driver).send_keys(*k).perform(), self.frames())
        keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.tip()[1], {"fast": FAST[0], "slow": SLOW[0]})
        keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.assertEqual(self.tip()[1], {"fast": FAST[2], "slow": SLOW[2]})
        keys(Keys.END)
        self.assertEqual(self.tip()[1], {"fast": FAST[500], "slow": SLOW[500]})
        # the other series; from its point before the gap to the one after it
        keys(Keys.HOME, Keys.ARROW_DOWN)
        for _ in range(201):
            ActionChains(self.driver).send_keys(Keys.ARROW_RIGHT).perform()
        after = next(k for k in range(201, 501) if not math.isnan(SLOW[k]))
        before = max(k for k in range(after) if not math.isnan(SLOW[k]))
        self.assertEqual(self.tip()[1]["slow"], SLOW[after + 201 - before - 1])
        whole = self.domain()
        keys("+")
        self.assertAlmostEqual(self.domain()["y"][1] - self.domain()["y"][0], 0.7 * (whole["y"][1] - whole["y"][0]), delta=1e-9)
        keys("0")
        self.assertEqual(self.domain(), whole)
        keys("l")
        self.assertTrue(self.domain()["log_y"])
        keys("l", Keys.ESCAPE)
        self.assertIsNone(self.tip())
        # the buttons come before the figure
        for _ in range(10):
            ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
            if self.js("return document.activeElement.textContent") == "CSV":
                break
        ActionChains(self.driver).send_keys(Keys.ENTER).perform()
        self.assertIn(b"time [s]", self.download("motion.csv"))
        # a screen reader hears what is drawn
        self.assertIn("Motion of the tip", self.svg().get_attribute("aria-label"))
        self.assertIn("slow", self.svg().get_attribute("aria-label"))

    def test_a_click_seeks_and_the_cursor_follows(self):
        self.open(report())
        self.js("const h = document.querySelector('#f-motion').lissom; h.onseek = (x) => { window.sought = x; h.cursor(x); }")
        ActionChains(self.driver).move_to_element_with_offset(self.svg(), *self.place(0.25, 0.1)).click().perform()
        self.frames()
        # a pixel is 0.0013 s
        self.assertAlmostEqual(self.js("return window.sought"), 0.25, delta=0.0015)
        line = self.find("#f-motion .seek")
        # a line without width is never displayed in the opinion of the driver
        self.assertNotEqual(line.value_of_css_property("display"), "none")
        self.assertAlmostEqual(float(line.get_attribute("x1")) - self.svg().rect["width"] / 2, self.place(0.25, 0)[0], delta=1.5)
        self.js("document.querySelector('#f-motion').lissom.cursor(null)")
        self.assertEqual(line.value_of_css_property("display"), "none")

    def test_constant_empty_and_extreme_values_are_drawn(self):
        page = Page()
        pictures = [page.figure("constant", [("a", [0, 1, 2], [3, 3, 3])]),
                    page.figure("noise", [("a", [0, 1, 2], [1, 1 + 2e-16, 1])]),
                    page.figure("empty", [("a", [], [])]), page.figure("none", []),
                    page.figure("one", [("a", [1], [1e-12])], log_y=True),
                    page.figure("nan", [("a", [0, 1], [math.nan, math.nan])]),
                    page.figure("negative", [("a", [0, 1], [-1, -2])], log_y=True),
                    page.figure("huge", [("a", [0, 1, 2], [-1e308, 1e308, math.inf])]),
                    page.figure("tiny", [("a", [0, 1], [1e-320, 1e-310])], log_y=True),
                    page.figure("backwards", [("a", [2, 1, 0, 1.5], [1, 2, 3, 4])])]
        page.section("s", "S", *map(Page.picture, pictures))
        self.open(page)
        self.wait_for_promise("lissom.draw_all()")
        self.frames(4)
        self.assertEqual(self.all(".script-error"), [])
        for figure in pictures:
            low, high = self.domain(figure["id"])["y"]
            self.assertLess(low, high, figure["id"])
        paths = self.js("return Array.from(document.querySelectorAll('.plot-svg *'), (e) => Array.from(e.attributes, (a) => "
                        "a.value).join(' ')).join('\\n')")
        self.assertNotRegex(paths, r"NaN|Infinity")
        # rounding of a constant is no result
        low, high = self.domain("noise")["y"]
        self.assertGreater(high - low, 1e-3)
        self.assertIn("nothing to draw", self.find("#f-empty .plot-note").text)
        self.assertIn("2 points are not shown", self.find("#f-negative .plot-note").text)
        self.screenshot("extreme", whole=True)

    def test_ticks_are_round_and_no_more_than_there_is_room_for(self):
        self.open(report())
        # span over count is 2.86 to 3.16 in the second: 0.02 would give eleven ticks where seven were asked for
        for lo, hi, count, step in ((-0.02, 1.02, 8, 0.1), (-0.004, 0.204, 7, 0.05), (0, 1, 5, 0.2), (-3, 11, 10, 2), (0.1, 7, 2, 5),
                                    (-7e-9, 61e-9, 10, 1e-8), (0, 69, 10, 10), (1e6, 1e6 + 0.03, 6, 0.005)):
            ticks = self.js("return lissom.plot_tools.linear_ticks([arguments[0], arguments[1]], arguments[2])", lo, hi, count)
            expected = [k * step for k in range(math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9) + 1)]
            self.assertEqual(len(ticks), len(expected), f"{lo} to {hi}: {ticks}")
            for a, b in zip(ticks, expected):
                self.assertAlmostEqual(a, b, delta=1e-6 * step)

    def test_ten_curves_of_a_hundred_thousand_points_cost_no_more_than_is_seen(self):
        """In reads of the data, not in seconds, which are those of the machine."""
        count, all_values = 100000, 10 * 2 * 100000
        x = [1e-5 * k for k in range(count)]
        page = Page()
        page.section("s", "S", Page.picture(page.figure("many", [
            (f"series {s}", x, [math.sin((s + 1) * 3 * t) + 0.1 * math.sin(4000 * t + s) for t in x]) for s in range(10)])))
        self.open(page)
        self.js("""
            const h = document.querySelector("#f-many").lissom;
            window.reads = 0;
            const counting = (array) => new Proxy(array, {get: (a, key) => { ++window.reads; return a[key]; }});
            const x = counting(h.series[0].x);  // common to all, and stays so
            for (const s of h.series) { s.x = x; s.y = counting(s.y); }""")
        whole = self.js("window.reads = 0; document.querySelector('#f-many').lissom.print(false); return window.reads")
        # once each for the curve, and again now and then for the signs on it
        self.assertGreaterEqual(whole, all_values)
        self.assertLess(whole, 1.1 * all_values)
        # four points a pixel at most, of a thousand pixels
        self.assertLess(self.js("return document.querySelector('#f-many .trace').getAttribute('d').length"), 60000)
        hover = self.js("""
            const svg = document.querySelector("#f-many svg.plot-svg"), box = svg.getBoundingClientRect();
            const redrawn = new MutationObserver(() => {});
            redrawn.observe(document.querySelector("#f-many .trace").parentNode.parentNode, {childList: true, subtree: true, attributes: true});
            window.reads = 0;
            for (let k = 0; k < 20; ++k)
              svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.x + 200 + 10 * k, clientY: box.y + 150}));
            return {reads: window.reads / 20, redrawn: redrawn.takeRecords().length, told: document.querySelectorAll("#f-many .tip-row").length}""")
        # the points near the pointer, 24 pixels of some hundreds, four reads each
        self.assertLess(hover["reads"], 0.15 * all_values)
        self.assertEqual((hover["redrawn"], hover["told"]), (0, 10))
        # what is outside of the picture is not read: a hundredth is shown
        self.js("window.reads = 0; document.querySelector('#f-many').lissom.zoom(0.5, 0.51, -1, 1)")
        self.frames()
        self.assertIn(self.js("return window.reads > 0"), [True])
        self.assertLess(self.js("return window.reads"), 0.02 * all_values)

    def test_thinning_keeps_a_spike(self):
        count = 50000
        y = [0.0] * count
        y[12345] = 7.0
        y[12346] = -3.0
        page = Page()
        page.section("s", "S", Page.picture(page.figure("spike", [("a", range(count), y)])))
        self.open(page)
        numbers = re.findall(r",(-?[\d.]+)", self.find("#f-spike .trace").get_attribute("d"))
        pixels = [float(n) for n in numbers]
        frame = self.find("#f-spike .frame")
        top, height = float(frame.get_attribute("y")), float(frame.get_attribute("height"))
        low, high = self.domain("spike")["y"]
        for value, found in ((7.0, min(pixels)), (-3.0, max(pixels))):
            # paths are written with a tenth of a pixel
            self.assertAlmostEqual(found, top + height * (high - value) / (high - low), delta=0.06)
        self.hover(12345, 7.0, "spike")
        self.assertEqual(self.tip("spike")[1], {"a": 7.0})


class Paper(BrowserTest):
    """The page around the figures."""

    def test_contents_follow_the_reader(self):
        self.open(report())
        current = lambda: self.js("return document.querySelector('nav a[aria-current]').textContent")
        self.assertEqual(current(), "Warnings")
        self.js("document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('#long').scrollIntoView()")
        self.wait(lambda: current() == "Long", "the section to be marked")
        # figures are drawn when they come near, or when nothing else happens
        self.js("document.querySelector('#f-far').scrollIntoView()")
        self.wait(lambda: self.all("#f-far .curve"), "a figure that comes near")

    def test_a_header_sorts_by_number_up_down_and_back(self):
        self.open(report())
        column = lambda k: self.js("return Array.from(document.querySelectorAll('#t-bodies tbody tr'), (r) => r.cells[arguments[0]]"
                                   ".textContent)", k)
        given = column(0)
        header = self.button("#t-bodies", "another one")
        header.click()
        self.assertEqual(column(3), ["9", "10", "100"])
        self.assertEqual(self.js("return document.querySelectorAll('#t-bodies th')[3].getAttribute('aria-sort')"), "ascending")
        header.click()
        self.assertEqual(column(3), ["100", "10", "9"])
        header.click()
        self.assertEqual(column(0), given)
        self.button("#t-bodies", "body").click()
        self.assertEqual([name[:3] for name in column(0)], ["cou", "cra", "roc"])

    def test_a_table_is_saved_with_all_digits(self):
        self.open(report())
        self.button("#t-bodies", "CSV").click()
        rows = list(csv.reader(io.StringIO(self.download("bodies.csv").decode())))
        self.assertEqual(rows[0][:2], ["body", "mass [kg]"])
        self.assertEqual(float(rows[1][1]), 1 / 3)
        self.assertEqual(rows[2][0], 'coupler, "long"')
        self.assertEqual(rows[3][5], "crank.inp")

    def test_dark_and_light_follow_the_system_and_the_button(self):
        page = report()
        self.open(page)
        colour = lambda: self.js("return getComputedStyle(document.body).backgroundColor")
        bright = lambda: sum(map(int, re.findall(r"\d+", colour())[:3])) > 380
        self.assertTrue(bright())
        self.media("dark")
        self.frames()
        self.assertFalse(bright())
        self.screenshot("dark")
        # system, light, dark
        ActionChains(self.driver).send_keys("t").perform()
        self.assertTrue(bright())
        self.media("light")
        self.button("header", "Theme: light").click()
        self.assertFalse(bright())
        # exported figures are for white paper
        svg = self.js("return document.querySelector('#f-motion').lissom.svg()")
        self.assertIn('fill="rgb(255, 255, 255)"', svg)
        # the choice lasts where the browser lets it
        self.open(self.folder / "page.html")
        self.assertFalse(bright())
        self.button("header", "Theme: dark").click()
        self.assertTrue(bright())

    def test_every_colour_of_texts_and_curves_is_legible(self):
        self.open(report())
        for theme in ("light", "dark"):
            self.js("lissom.theme(arguments[0])", theme)
            found = self.js("""
                const style = getComputedStyle(document.documentElement);
                const names = ["--paper", "--ink", "--muted", "--accent", "--good", "--bad", "--warn", ...Array.from({length: 8}, (_, k) => "--c" + k)];
                return Object.fromEntries(names.map((n) => [n, style.getPropertyValue(n).trim()]))""")
            luminance = {}
            for name, text in found.items():
                parts = [int(text[k:k + 2], 16) / 255 for k in (1, 3, 5)]
                linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
                luminance[name] = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
            for name, value in luminance.items():
                if name == "--paper":
                    continue
                high, low = sorted([value, luminance["--paper"]], reverse=True)
                # WCAG 2.1: 4.5 for texts, 3 for parts of graphics
                self.assertGreaterEqual((high + 0.05) / (low + 0.05), 3 if name.startswith("--c") else 4.5, f"{name} in {theme}")
        self.js("lissom.theme('system')")

    def test_a_phone_never_scrolls_sideways(self):
        for width in (360, 800):
            self.resize(width, 740)
            self.open(report())
            self.wait_for_promise("lissom.draw_all()")
            self.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            self.frames(4)
            self.assertEqual(self.js("return document.documentElement.scrollWidth"), width)
            self.screenshot(f"width{width}", whole=True)
        self.resize(360, 740)
        self.frames(4)
        # the table does, and says so
        self.assertTrue(self.find("#t-bodies .hint").is_displayed())
        self.assertEqual(self.find("#t-bodies .table-scroll").get_attribute("tabindex"), "0")
        # contents are folded and unfold
        self.assertFalse(self.find("nav ul").is_displayed())
        self.find("nav button").click()
        self.assertTrue(self.find("nav ul").is_displayed())
        # figures are as wide as the screen lets them
        self.assertGreater(self.find("#f-motion svg.plot-svg").rect["width"], 300)

    def test_paper_has_all_figures_and_opened_details(self):
        page = report()
        page.section("wide", "Wide", Page.table("wide", [f"the column {k}" for k in range(16)], [
            ["Craig-Bampton" if k % 2 else 1.2345e-5 for k in range(16)] for _ in range(2)]))
        self.open(page)
        self.wait_for_promise("lissom.draw_all()")
        data = self.pdf()
        self.assertEqual(data[:5], b"%PDF-")
        self.assertGreater(len(re.findall(rb"/Type\s*/Page\b", data)), 1)
        # what the printer sees: asked while the page is told that it is being printed
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dict(media="print"))
        self.js("window.dispatchEvent(new Event('beforeprint'))")
        try:
            for name in ("motion", "orders", "hidden", "far"):
                box = self.find(f"#f-{name} svg.plot-svg").rect
                self.assertGreater(box["width"], 300, name)
                self.assertTrue(self.all(f"#f-{name} .curve"), name)
            # what is wider than the paper would make the browser shrink every page; A4 has 680 px between the margins
            self.resize(680, 900)
            self.frames(3)
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 680)
            self.assertFalse(self.find("nav").is_displayed())
            self.assertFalse(self.find("#f-motion .plot-tools").is_displayed())
        finally:
            self.js("window.dispatchEvent(new Event('afterprint'))")
            self.media()
        self.assertFalse(self.js("return document.querySelector('details').open"))

    def test_markup_in_names_stays_text(self):
        page = Page(HOSTILE, HOSTILE, HOSTILE, [HOSTILE])
        page.card(HOSTILE, HOSTILE, HOSTILE)
        figure = page.figure("h", [(HOSTILE, [0, 1], [0, 1]), (HOSTILE, [0, 1], [1, 0])], HOSTILE, HOSTILE, HOSTILE,
                             marks=[{"axis": "x", "at": 0.5, "label": HOSTILE}], caption=HOSTILE)
        page.section("s", HOSTILE, Page.picture(figure), Page.table("h", [HOSTILE, "b"], [[HOSTILE, 1.0], [HOSTILE, 2.0]], HOSTILE))
        self.open(page)
        svg = self.find("#f-h svg.plot-svg")
        ActionChains(self.driver).move_to_element(svg).perform()
        self.frames()
        self.find("nav button")
        self.assertEqual(self.all("main img, nav img, main b"), [])
        self.assertEqual(self.find("#f-h .plot-title").text, HOSTILE)
        self.assertEqual(self.find("#f-h .tip-name").text, HOSTILE)
        self.assertEqual(self.find("#f-h .plot-legend button").text, HOSTILE)
        self.button("#f-h", "SVG").click()
        words = [t.text for t in xml.fromstring(self.download("h.svg").decode()).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn(HOSTILE, words)
        self.button("#f-h", "CSV").click()
        self.assertEqual(next(csv.reader(io.StringIO(self.download("h.csv").decode()))), [HOSTILE] * 3)

    def test_keys_are_listed_and_code_is_copied(self):
        self.open(report())
        ActionChains(self.driver).send_keys("?").perform()
        dialog = self.find("dialog.help")
        self.assertTrue(dialog.is_displayed())
        self.assertIn("logarithmic y", dialog.text)
        ActionChains(self.driver).send_keys(Keys.ESCAPE).perform()
        self.assertFalse(dialog.is_displayed())
        self.driver.execute_cdp_cmd("Browser.grantPermissions", dict(permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]))
        button = self.find(".code-box button")
        button.click()
        self.wait(lambda: button.text == "Copied", "the copy")
        self.assertEqual(self.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"),
                         "lissom run study.toml\nlissom report results")

    def test_trouble_is_told_on_the_page(self):
        page = report()
        text = page.html()
        # a blob that is cut off, and one that is missing
        data = json.loads(re.search(r'id="f-motion"><script type="application/json">(.*?)</script>', text).group(1))
        blob = data["series"][0]["y"]["blob"]
        cut = re.sub(rf'(id="{blob}">[^<]{{40}})[^<]*', r"\1", text)
        (self.folder / "cut.html").write_text(cut)
        self.open(self.folder / "cut.html")
        message = self.wait(lambda: self.all("#f-motion .script-error"), "the message")[0]
        self.assertIn("may be damaged", message.text)
        # the others are drawn
        self.assertTrue(self.all("#f-orders .curve"))
        # an old browser
        old = text.replace("<script>", "<script>delete window.DecompressionStream;</script><script>", 1)
        (self.folder / "old.html").write_text(old)
        self.open(self.folder / "old.html")
        self.assertIn("too old", self.find("#f-motion .script-error").text)
        # an error of our own
        (self.folder / "broken.html").write_text(text.replace("</body>", "<script>throw new Error('broken');</script></body>"))
        self.open(self.folder / "broken.html")
        self.wait(lambda: self.all("main > .script-error"), "the message")
        self.assertIn("broken", self.find("main > .script-error").text)
        # these errors were meant
        self.console()


PENDULUM = """
gravity = [0, 0, -9.81]
[bodies.arm]
rigid = { mass = 2, center = [0.25, 0, 0], inertia = [1e-4, 0.05, 0.05] }
points = { hub = [0, 0, 0], tip = [0.5, 0, 0] }
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "arm.hub"]
axis = [0, 1, 0]
[[sensors]]
name = "tip <b>"
kind = "position"
of = "arm.tip"
[simulate]
end = 0.2
step = 1e-3
"""


class Report(BrowserTest):
    """A report as the program writes it."""

    def test_curves_on_the_page_are_those_of_the_result(self):
        (self.folder / "study.toml").write_text(PENDULUM)
        for arguments in (["run", "study.toml", "--out", "out"], ["report", "out"]):
            done = subprocess.run([LISSOM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.open(self.folder / "out" / "report.html")
        self.wait_for_promise("lissom.draw_all()")
        self.assertEqual(self.all(".script-error"), [])
        self.assertEqual(self.all("main b"), [])
        rows = list(csv.reader(io.StringIO((self.folder / "out" / "sensors.csv").read_text())))
        columns = {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}
        # of every figure, the series that have the name of a column
        found = self.js("""
            const curves = {};
            for (const figure of document.querySelectorAll("figure.plot"))
              for (const s of figure.lissom.series) curves[s.name] = [Array.from(s.x), Array.from(s.y)];
            return curves""")
        # the pendulum swings in the plane of x and z; y stays zero and need not be drawn
        for name in ("tip <b>.x", "tip <b>.z"):
            self.assertIn(name, list(found))
            # every digit that sensors.csv has: twelve or more
            for mine, theirs in ((found[name][0], columns["t"]), (found[name][1], columns[name])):
                self.assertEqual(len(mine), len(theirs))
                scale = max(map(abs, theirs))
                self.assertLessEqual(max(abs(a - b) for a, b in zip(mine, theirs)), 1e-11 * scale, name)
        # nothing is fetched: a page from disk has no other resources
        self.assertEqual(self.js("return performance.getEntriesByType('resource').length"), 0)


if __name__ == "__main__":
    unittest.main()
