"""The 3D view of a report, used as a reader uses it: in a browser, with mouse and keyboard, on made-up mechanisms whose every
point and stress is known."""

import io
import time
import unittest

import matplotlib.image
import numpy as np
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import Select

import support
import synthetic
import view_support

BODIES = ["crank", "rod <i>x</i>", "rocker"]


class ViewTest(view_support.ViewTools):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        page = synthetic.ViewPage(title="Views")
        # the second one has other frames: the two meet in time, not in frames
        cls.full = synthetic.Run(page, "full", BODIES, modes=4, notes=["Only the surface is shown."])
        cls.reduced = synthetic.Run(page, "reduced", BODIES, modes=4, frames=51, deviation=0.05)
        view = synthetic.view("motion", "Motion of a chain", [cls.full, cls.reduced], [cls.full.sensor_curve(page, "tip", [cls.reduced])])
        page.section("view", "Motion", page.picture(view, "view"))
        cls.page = page

    def show(self, page=None):
        self.open(page or self.page, views=True)
        self.js("document.querySelector('.lv').scrollIntoView()")
        self.settle()

    # ---- numbers

    def test_points_are_where_the_basis_and_amplitudes_put_them(self):
        self.show()
        for t, scale in ((0.0, 1), (0.7, 1), (1.98, 40), (2.0, 0)):
            self.js(f"{self.handle}.setScale({scale}); {self.handle}.seek({t})")
            for part in range(3):
                expected = self.full.positions(part, t, scale)
                for point in (0, 17, len(expected) - 1):
                    found = self.js(f"return {self.handle}.pointPosition(0, {part}, {point})")
                    # coordinates of about 3 m in single precision, a few operations
                    np.testing.assert_allclose(found, expected[point], atol=3e-6)

    def test_between_frames_amplitudes_are_mixed_and_rotations_turned(self):
        self.show()
        run, t, part = self.full, 0.5 * (0.70 + 0.72), 2
        self.js(f"{self.handle}.setScale(10); {self.handle}.seek({t})")
        kept = run.parts[part]
        f = int(np.argmin(abs(run.time - 0.70)))
        mean = lambda values: 0.5 * (values[f].astype(float) + values[f + 1])
        u = (kept["basis"] @ mean(kept["amplitudes"].T)).reshape(-1, 3)
        q = mean(kept["rotation"])  # in the middle, the arc's point is the chord's, normalised
        R = synthetic.quaternion_matrix(q / np.linalg.norm(q))
        for point in (3, 40):
            found = self.js(f"return {self.handle}.pointPosition(0, {part}, {point})")
            expected = mean(kept["position"]) + R @ (kept["points"][point] + 10 * u[point])
            np.testing.assert_allclose(found, expected, atol=3e-6)

    def test_stress_is_von_mises_of_its_own_series(self):
        self.show()
        self.js(f"{self.handle}.setScale(1000); {self.handle}.seek(0.7)")  # the scale does not touch the stress
        expected = self.full.stresses(2, 0.7)
        for point in (0, 17, 100):
            found = self.js(f"return {self.handle}.stressAt(0, 2, {point})")
            # single precision amplitudes, sums over five columns
            self.assertAlmostEqual(found / expected[point], 1, delta=1e-5)
        self.assertIsNone(self.js(f"return {self.handle}.stressAt(0, 1, 0)"))

    def bare_page(self, rank=5, cells=(20, 4, 4)):
        """One body without sensors."""
        page = synthetic.ViewPage(title="One bar")
        run = synthetic.Run(page, "full", ["bar"], cells, rank)
        run.json["sensors"] = []
        page.section("view", "Motion", page.picture(synthetic.view("bar", "A bar", [run]), "view"))
        return page, run

    def test_the_graphics_card_draws_the_silhouette_of_the_expanded_points(self):
        # 21 columns do not fill their block, and the texture has many rows
        page, run = self.bare_page(rank=21, cells=(30, 6, 6))
        self.show(page)
        self.choose("By", "body")
        self.control("Mesh edges").click()
        for t, scale in ((0.3, 1), (1.1, 25), (1.7, 0)):
            self.js(f"{self.handle}.setScale({scale}); {self.handle}.seek({t})")
            self.settle()
            drawn = np.abs(self.picture(samples=1) - 255).sum(axis=2) > 12
            x = run.positions(0, t, scale)
            places = np.array(self.js(f"return arguments[0].map((p) => {self.handle}.project(p))", x.tolist()))
            expected = rasterise(places[run.parts[0]["triangles"]], drawn.shape)
            self.assertGreater(expected.sum(), 3000)
            # a pixel on the border may fall to either side
            self.assertFalse((drawn & ~grown(expected)).any(), (t, scale))
            self.assertFalse((~drawn & ~grown(~expected)).any(), (t, scale))

    def test_the_graphics_card_colours_by_the_same_stress_and_deformation(self):
        page, run = self.bare_page(rank=9)
        self.show(page)
        self.control("Mesh edges").click()
        self.js(f"{self.handle}.setScale(0); {self.handle}.seek(0)")
        self.button(".lv", "z").click()
        ramp = np.array(self.js("return lissom.view_gpu.ramp"))
        kept = run.parts[0]
        top = np.flatnonzero((kept["points"][:, 2] > 0.039) & (abs(kept["points"][:, 1]) < 0.05) & (kept["points"][:, 0] % 0.9 > 0.01))
        u = (kept["basis"] @ kept["amplitudes"][:, 0].astype(float)).reshape(-1, 3)
        for colour, values in (("von Mises stress", run.stresses(0, 0)), ("deformation", np.linalg.norm(u, axis=1))):
            self.choose("By", colour)
            motion = run.json["motion"]["parts"][0]
            largest = motion["stress" if "stress" in colour or "Mises" in colour else "displacement"]["largest"]
            picture = self.picture(samples=1)
            x = run.positions(0, 0, 0)
            shades = []
            for point in top:
                column, row = self.at(x[point])
                share = min(1, values[point] / largest)
                # a face that looks at the eye gets nearly all light; within a pixel the value changes little
                found, expected = picture[int(row), int(column)], ramp[round(255 * share)] * (0.56 + 0.44 * 0.93)
                self.assertLess(np.abs(found - expected).max(), 14, (colour, point, share))
                shades.append(share)
            self.assertGreater(np.ptp(shades), 0.2, "the points do not differ in colour")

    # ---- time

    def test_play_pause_scrub_and_step(self):
        self.show()
        self.assertFalse(self.view("playing"))
        before = self.picture()
        play = self.control("Play")
        play.click()
        self.wait(lambda: self.js(f"return {self.handle}.time") > 0.2, "time to go on")
        self.control("Pause").click()
        self.settle()
        stopped = self.js(f"return [{self.handle}.time, {self.handle}.stats().frames_rendered]")
        time.sleep(0.6)
        self.assertEqual(self.js(f"return [{self.handle}.time, {self.handle}.stats().frames_rendered]"), stopped, "it went on after pause")
        self.assertGreater((before != self.picture()).sum(), 1000)
        # scrub: the far end, then an arrow key on the slider
        scrub = self.control("Time")
        scrub.send_keys(Keys.END)
        self.assertAlmostEqual(self.js(f"return {self.handle}.time"), 2.0)
        scrub.send_keys(Keys.HOME)
        self.assertEqual(self.js(f"return {self.handle}.time"), 0)
        self.assertEqual(self.find(".lv-time").text, "0.000 s")
        # also while it plays, which ends that
        self.js(f"{self.handle}.play()")
        scrub.send_keys(Keys.END)
        self.assertEqual(self.js(f"return [{self.handle}.time, {self.handle}.playing]"), [2.0, False])
        scrub.send_keys(Keys.HOME)
        canvas = self.find(".lv-stage canvas")
        canvas.send_keys(".", ".", ".", ",")
        self.assertAlmostEqual(self.js(f"return {self.handle}.time"), self.full.time[2], places=12)
        self.assertEqual(self.find(".lv-time").text, "0.040 s")
        canvas.send_keys(" ")
        self.assertTrue(self.js(f"return {self.handle}.playing"))
        canvas.send_keys(" ")
        self.assertFalse(self.js(f"return {self.handle}.playing"))

    def test_speed_and_loop(self):
        self.show()
        self.choose("Speed", "5 ×")
        self.js(f"{self.handle}.seek(1.9)")
        self.control("Loop").click()
        self.control("Play").click()
        self.wait(lambda: not self.js(f"return {self.handle}.playing"), "the end")
        self.assertEqual(self.js(f"return {self.handle}.time"), 2.0)
        self.control("Loop").click()
        self.js(f"{self.handle}.seek(1.9); {self.handle}.play()")
        self.wait(lambda: self.js(f"return {self.handle}.time") < 1.5, "the loop")
        self.assertTrue(self.js(f"return {self.handle}.playing"))
        self.js(f"{self.handle}.pause()")

    # ---- camera

    def test_dragging_orbits_and_keys_do_too(self):
        self.show()
        first = self.picture()
        size = self.find(".lv-stage canvas").size
        self.canvas_action(size["width"] / 2, size["height"] / 2).click_and_hold().move_by_offset(120, 40).release().perform()
        self.settle()
        dragged = self.picture()
        self.assertGreater((first != dragged).any(axis=2).sum(), 2000)
        canvas = self.find(".lv-stage canvas")
        canvas.send_keys(Keys.HOME)
        self.settle()
        np.testing.assert_array_equal(self.picture(), first)
        for keys in ((Keys.ARROW_LEFT,), (Keys.ARROW_UP,), ("+",), ("-",), (Keys.SHIFT, Keys.ARROW_LEFT)):
            ActionChains(self.driver).move_to_element(canvas).perform()
            chain = ActionChains(self.driver)
            if keys[0] == Keys.SHIFT:
                chain.key_down(Keys.SHIFT).send_keys(keys[1]).key_up(Keys.SHIFT)
            else:
                chain.send_keys(*keys)
            chain.perform()
            self.settle()
            self.assertGreater((first != self.picture()).any(axis=2).sum(), 500, keys)
            canvas.send_keys(Keys.HOME)
        self.assertEqual(self.js(f"return {self.handle}.time"), 0)

    def test_standard_views_look_along_the_axes(self):
        self.show()
        # two points on a line along the axis meet, up to perspective; those across it do not
        for axis, name in enumerate("xyz"):
            self.button(".lv", name).click()
            self.settle()
            centre = np.array(self.js(f"return {self.handle}.pointPosition(0, 1, 0)"))
            step = 0.01 * np.eye(3)
            apart = [np.hypot(*np.subtract(self.at(centre + step[k]), self.at(centre))) for k in range(3)]
            self.assertLess(apart[axis], 0.35 * min(apart[k] for k in range(3) if k != axis), name)

    def test_all_is_in_the_picture_at_all_times_and_on_a_phone(self):
        for width, height in ((1400, 900), (390, 844)):
            self.resize(width, height)
            self.show()
            canvas = self.js("const c = document.querySelector('.lv-stage canvas'); return [c.width, c.height]")
            for t in (0.0, 0.5, 1.3, 2.0):
                self.js(f"{self.handle}.seek({t})")
                self.settle()
                for part in range(3):
                    for x in self.full.positions(part, t, 1)[::25]:
                        column, row = self.at(x)
                        self.assertTrue(0 <= column <= canvas[0] and 0 <= row <= canvas[1], (width, t, part))
            wide = self.js("return document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width, "the page is wider than the screen")
            self.screenshot(f"view-{width}")

    # ---- what is shown

    def test_colours_change_the_picture_and_the_legend(self):
        self.show()
        legend = self.find(".lv-legend")
        pictures = {}
        for colour, unit in (("von Mises stress", "[Pa]"), ("deformation", "[m]"), ("body", None)):
            self.choose("By", colour)
            pictures[colour] = self.picture()
            self.assertEqual(legend.is_displayed(), unit is not None)
            if unit:
                self.assertIn(colour, legend.text)
                self.assertIn(unit, legend.text)
        self.assertGreater((pictures["body"] != pictures["deformation"]).any(axis=2).sum(), 1000)
        self.assertGreater((pictures["deformation"] != pictures["von Mises stress"]).any(axis=2).sum(), 1000)

    def test_the_legend_has_the_largest_value_of_all_frames_or_of_this_one(self):
        self.show()
        self.js(f"{self.handle}.seek(0.7)")
        self.choose("By", "von Mises stress")
        ends = lambda: [float(v) for v in self.find(".lv-ticks").text.split()]
        largest = max(part["stress"]["largest"] for part in self.full.json["motion"]["parts"] if part["stress"])
        # three digits are shown
        np.testing.assert_allclose(ends()[2], largest, rtol=6e-3)
        self.assertEqual(ends()[0], 0)
        self.choose("Range of", "this frame")
        values = np.concatenate([self.full.stresses(part, 0.7) for part in (0, 2)])
        np.testing.assert_allclose([ends()[0], ends()[2]], [values.min(), values.max()], rtol=6e-3)

    def test_deformation_is_scaled_by_number_slider_and_by_itself(self):
        self.show()
        self.js(f"{self.handle}.seek(0.7)")
        self.settle()
        before = self.picture()
        field = self.control("Scale of deformation, number")
        field.clear()
        field.send_keys("100", Keys.TAB)
        self.settle()
        self.assertEqual(self.js(f"return {self.handle}.scale"), 100)
        self.assertIn("× 100", self.find(".lv").text)
        self.assertGreater((before != self.picture()).any(axis=2).sum(), 1000)
        slider = self.control("Scale of deformation")
        slider.send_keys(Keys.HOME)
        self.assertEqual(self.js(f"return {self.handle}.scale"), 0)
        slider.send_keys(Keys.END)
        self.assertEqual(self.js(f"return {self.handle}.scale"), 10000)
        self.button(".lv", "Auto").click()
        scale = self.js(f"return {self.handle}.scale")
        largest = max(part["displacement"]["largest"] for part in self.full.json["motion"]["parts"])
        points = np.concatenate([self.full.positions(part, t, 1) for part in range(3) for t in self.full.time])
        share = scale * largest / np.linalg.norm(np.ptp(points, axis=0))
        # rounded to 1, 2 or 5 times a power of ten
        self.assertTrue(0.025 < share < 0.08, share)

    def test_edges_and_bodies_are_switched(self):
        self.show()
        self.choose("By", "body")
        for _ in range(4):
            self.find(".lv-stage canvas").send_keys("+")
        self.settle()
        with_edges = self.picture()
        self.screenshot("view-edges")
        self.control("Mesh edges").click()
        self.settle()
        plain = self.picture()
        self.assertGreater((with_edges != plain).any(axis=2).sum(), 500)
        covered = lambda picture: (np.abs(picture - 255).sum(axis=2) > 12).sum()
        self.control(BODIES[1]).click()
        self.settle()
        self.assertLess(covered(self.picture()), 0.9 * covered(plain))
        self.control(BODIES[1]).click()
        self.settle()
        np.testing.assert_array_equal(self.picture(), plain)

    def test_modes_swing_one_by_one(self):
        self.show()
        self.choose("Show", "full")  # the run
        mode = Select(self.js("return [...document.querySelectorAll('.lv select')].find((s) => /Hz/.test(s.textContent))"))
        self.assertEqual([o.text for o in mode.options][:3], ["motion in time", "mode 1: 12.5 Hz, damping 1 %", "mode 2: 50 Hz, damping 1 %"])
        mode.select_by_visible_text("mode 2: 50 Hz, damping 1 %")
        self.settle()
        self.assertIn("relative", self.find(".lv-legend").text)
        kept, shape = self.full.parts[1], self.full.json["shapes"]["parts"][1]
        pictures = []
        for phase in (0.0, 0.2):
            self.js(f"{self.handle}.seek({phase})")
            self.settle()
            pictures.append(self.picture())
            scale = self.js(f"return {self.handle}.scale")
            u = kept["real"][:, 1] * np.cos(2 * np.pi * phase) - kept["imaginary"][:, 1] * np.sin(2 * np.pi * phase)
            R = synthetic.quaternion_matrix(shape["rotation"])
            for point in (5, 60):
                found = self.js(f"return {self.handle}.pointPosition(0, 1, {point})")
                expected = shape["position"] + R @ (kept["points"][point] + scale * u.reshape(-1, 3)[point])
                np.testing.assert_allclose(found, expected, atol=3e-6)
        self.assertGreater((pictures[0] != pictures[1]).any(axis=2).sum(), 1000)
        self.button(".lv", "Next").click()
        self.assertEqual(mode.first_selected_option.text.split(":")[0], "mode 3")
        self.control("Play").click()
        self.wait(lambda: self.js(f"return {self.handle}.time") > 0.25, "the mode to swing")
        self.button(".lv", "Previous").click()
        self.assertTrue(self.js(f"return {self.handle}.playing"), "the next mode swings on")
        self.js(f"{self.handle}.pause(); {self.handle}.setMode(-1)")
        self.assertEqual(mode.first_selected_option.text, "motion in time")

    def test_two_results_side_by_side_and_overlaid_at_the_same_time(self):
        self.show()
        self.js(f"{self.handle}.seek(1.2)")
        self.choose("By", "body")
        self.choose("Together with", "reduced")
        self.wait(lambda: "reduced" in self.find(".lv-stage").text, "the second run")
        self.settle()
        both = self.picture()
        middle = both.shape[1] // 2
        for half in (both[:, :middle - 2], both[:, middle + 2:]):
            self.assertGreater((np.abs(half - 255).sum(axis=2) > 12).sum(), 1000)
        for run, index in ((self.full, 0), (self.reduced, 1)):
            found = self.js(f"return {self.handle}.pointPosition({index}, 2, 7)")
            np.testing.assert_allclose(found, run.positions(2, 1.2, 1)[7], atol=3e-6)
        self.screenshot("view-beside")
        # pink is of nothing else
        pink = lambda p: ((p[:, :, 0] > 150) & (p[:, :, 1] < 110) & (p[:, :, 2] > 70) & (p[:, :, 2] < 170)).sum()
        self.assertEqual(pink(both), 0)
        self.choose("Arranged", "overlaid, wire frame")
        self.assertGreater(pink(self.picture()), 200)
        self.screenshot("view-overlaid")
        self.choose("Arranged", "overlaid, translucent")
        seen_through = self.picture()
        self.choose("Together with", "nothing")
        self.assertGreater((seen_through != self.picture()).any(axis=2).sum(), 500)
        self.choose("Show", "reduced")
        np.testing.assert_allclose(self.js(f"return {self.handle}.pointPosition(1, 2, 7)"), self.reduced.positions(2, 1.2, 1)[7], atol=3e-6)

    # ---- picking

    def test_a_sensor_is_picked_and_its_curve_follows_the_time(self):
        self.show()
        self.js(f"{self.handle}.seek(0.5)")
        self.settle()
        sensor = self.full.sensors[0]
        at = self.at(self.full.positions(sensor["part"], 0.5, 1)[sensor["point"]])
        self.canvas_action(*at).click().perform()
        self.wait(lambda: self.all(".lv-plot svg"), "the curve")
        self.settle()
        self.assertIn("sensor tip", self.find(".lv-tip").text)
        self.assertEqual(self.control("Curve of").get_attribute("value"), "tip")
        self.assertIn("tip.x, reduced", self.find(".lv-side").text)
        self.screenshot("view-sensor")
        # a click in the curve goes there: its x axis ends at 2 s
        plot = self.find(".lv-plot svg")
        size = plot.size
        ActionChains(self.driver).move_to_element_with_offset(plot, round(0.25 * size["width"]), round(-0.1 * size["height"])).click().perform()
        self.wait(lambda: abs(self.js(f"return {self.handle}.time") - 0.5) > 0.3, "the click in the curve")
        self.assertTrue(1.2 < self.js(f"return {self.handle}.time") < 1.8)
        self.choose("Curve of", "none")
        self.assertFalse(self.all(".lv-plot"))

    def test_a_point_under_the_mouse_tells_its_values(self):
        self.show()
        self.js(f"{self.handle}.seek(0.7)")
        self.button(".lv", "z").click()
        self.settle()
        for part, click in ((2, False), (1, True)):
            x = self.full.positions(part, 0.7, 1)
            points = self.full.parts[part]["points"]
            point = int(np.argmin(np.linalg.norm(points - [0.5, 0.0, 0.04], axis=1)))
            action = self.canvas_action(*self.at(x[point]))
            (action.click() if click else action).perform()
            self.wait(lambda: BODIES[part] in self.find(".lv-tip").text, "the tip")
            text = self.find(".lv-tip").text
            self.assertIn(f"point {point}", text)
            kept, f = self.full.parts[part], int(np.argmin(abs(self.full.time - 0.7)))
            u = np.linalg.norm((kept["basis"] @ kept["amplitudes"][:, f]).reshape(-1, 3)[point])
            shown = float(text.split("deformation ")[1].split(" m")[0])
            self.assertAlmostEqual(shown / u, 1, delta=6e-3)  # three digits
            if part == 2:
                shown = float(text.split("von Mises ")[1].split(" Pa")[0])
                self.assertAlmostEqual(shown / self.full.stresses(2, 0.7)[point], 1, delta=6e-3)
            else:
                self.assertNotIn("von Mises", text)

    def test_modes_open_with_the_first_that_vibrates_and_stay_in_the_picture(self):
        page = synthetic.ViewPage(title="Modes")
        run = synthetic.Run(page, "", ["bar"], modes=4)
        run.json.update(motion=None, sensors=[])
        # two motions of the whole body, one of which is zero but for rounding
        for mode, frequency in zip(run.json["shapes"]["modes"], (0.0, 1e-5)):
            mode["frequency_hz"] = frequency
        page.section("view", "Modes", page.picture(synthetic.view("modes", "Modes of a bar", [run]), "view"))
        self.show(page)
        self.assertEqual(Select(self.control("Show")).first_selected_option.text.split(":")[0], "mode 3")
        canvas = self.js("const c = document.querySelector('.lv-stage canvas'); return [c.width, c.height]")
        count = len(run.parts[0]["points"])
        for mode in range(4):
            self.js(f"{self.handle}.setMode({mode})")
            for phase in (0.0, 0.25, 0.5, 0.75):
                places = np.array(self.js(f"{self.handle}.seek({phase}); {self.handle}.draw(1); return Array.from({{length: {count}}}, (_, i) =>"
                                          f" {self.handle}.project({self.handle}.pointPosition(0, 0, i)))"))
                self.assertTrue((places >= 0).all() and (places <= canvas).all(), (mode, phase))

    def test_bodies_have_their_colours_where_nothing_is_deformed_yet(self):
        page = synthetic.ViewPage(title="From rest")
        run = synthetic.Run(page, "", ["bar"], stress=False)
        for part in run.json["motion"]["parts"]:
            part["displacement"]["largest"] = 1e3  # of which the first frame has next to nothing
        page.section("view", "Motion", page.picture(synthetic.view("motion", "From rest", [run]), "view"))
        self.show(page)
        self.assertEqual(Select(self.control("By")).first_selected_option.text, "body")
        self.show()
        self.assertEqual(Select(self.control("By")).first_selected_option.text, "von Mises stress")

    def test_of_many_curves_those_of_the_runs_that_are_shown_are_drawn(self):
        page = synthetic.ViewPage(title="Five runs")
        runs = [synthetic.Run(page, label, ["bar"], frames=11) for label in ("full", "a", "b", "c", "d")]
        curve = runs[0].sensor_curve(page, "tip", runs[1:])
        page.section("view", "Motion", page.picture(synthetic.view("motion", "Five", runs, [curve]), "view"))
        self.show(page)
        self.view("pick('tip')")
        names = lambda: [b.text for b in self.all(".lv-plot button.series")]
        self.wait(lambda: names() == ["tip.x, full", "tip.y, full"], "the curves of one run")
        self.choose("Together with", "c")
        self.wait(lambda: names() == ["tip.x, full", "tip.y, full", "tip.x, c", "tip.y, c"], "the curves of both")

    # ---- the rest

    def test_a_still_is_saved(self):
        self.show()
        self.button(".lv", "Save PNG").click()
        image = matplotlib.image.imread(io.BytesIO(self.download("motion.png")), format="png")
        size = self.js("const c = document.querySelector('.lv-stage canvas'); return [c.height, c.width]")
        self.assertEqual(list(image.shape[:2]), size)
        self.assertGreater((image[:, :, :3] < 0.9).any(axis=2).sum(), 2000)

    def test_dark_pages_have_dark_views_and_paper_is_white(self):
        self.media("dark")
        self.show()
        self.assertLess(self.picture()[5, 5].max(), 60)
        self.screenshot("view-dark")
        corner = "return document.querySelector('.lv-stage canvas').getContext('2d').getImageData(5, 5, 1, 1).data[0]"
        self.assertEqual(self.js("window.dispatchEvent(new Event('beforeprint')); " + corner), 255)
        self.assertLess(self.js("window.dispatchEvent(new Event('afterprint')); " + corner), 60)
        self.assertGreater(len(self.pdf()), 20000)

    def test_a_lost_context_comes_back(self):
        self.show()
        before = self.picture()
        self.js("window.loss = lissom.view_gpu.gpu().renderer.getContext().getExtension('WEBGL_lose_context'); loss.loseContext()")
        self.frames(3)
        self.js(f"{self.handle}.seek(0.5)")
        self.frames(3)
        self.js(f"loss.restoreContext(); {self.handle}.seek(0)")
        self.wait(lambda: not self.js("return lissom.view_gpu.gpu().lost"), "the context")
        self.settle()
        np.testing.assert_array_equal(self.picture(), before)

    def test_without_webgl_a_sentence_says_so(self):
        made = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const get = HTMLCanvasElement.prototype.getContext;
            HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
              return kind === 'webgl2' ? null : get.call(this, kind, ...more); };"""})
        try:
            self.open(self.page, views=True)
            self.assertIn("needs WebGL 2", self.find("figure.view").text)
            self.assertFalse(self.all(".lv"))
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)

    def test_controls_have_names_and_room_for_a_finger(self):
        self.resize(390, 844)
        self.show()
        self.js("document.querySelector('.lv-more').open = true")
        for element in self.all(".lv button, .lv select, .lv input"):
            if not element.is_displayed():
                continue
            label = element.accessible_name
            self.assertTrue(label, element.get_attribute("outerHTML"))
            if element.tag_name in ("button", "select"):
                self.assertGreaterEqual(element.size["height"], 40, label)
        # markup in names is text
        self.assertFalse(self.all(".lv i"))

    def test_full_screen(self):
        self.show()
        before = self.find(".lv-stage").size
        self.button(".lv", "Full screen").click()
        self.wait(lambda: self.js("return document.fullscreenElement !== null"), "full screen")
        self.settle()
        self.assertGreater(self.find(".lv-stage").size["width"], before["width"])
        self.button(".lv", "Full screen").click()
        self.wait(lambda: self.js("return document.fullscreenElement === null"), "the page again")

    def test_pages_without_three_have_no_errors(self):
        page = synthetic.ViewPage(title="No view")
        text = page.html(views=True)
        for path in (support.THREE / "three.min.js", support.THREE / "examples/js/controls/OrbitControls.js"):
            text = text.replace(path.read_text(errors="replace"), "")
        self.assertNotIn("OrbitControls = function", text)
        (self.folder / "bare.html").write_text(text)
        self.open(self.folder / "bare.html")
        self.assertFalse(self.all(".script-error"))

    def test_many_views_share_one_context(self):
        page = synthetic.ViewPage(title="Many")
        run = synthetic.Run(page, "full", ["bar"], (8, 2, 2), 3, 21)
        for k in range(20):
            page.section(f"s{k}", f"View {k}", page.picture(synthetic.view(f"v{k}", f"View {k}", [run]), "view"))
        self.open(page, views=True)
        self.wait_for_promise("lissom.draw_all()")
        drawn = self.js("""return [...document.querySelectorAll('.lv-stage canvas:first-child')].map((c) => {
            const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            let dark = 0;
            for (let i = 0; i < d.length; i += 4) dark += d[i] + d[i + 1] + d[i + 2] < 600;
            return dark; })""")
        self.assertEqual(len(drawn), 20)
        self.assertGreater(min(drawn), 500)


def rasterise(triangles, shape):
    """Pixels whose centre lies in one of the triangles (m by 3 by 2)."""
    inside = np.zeros(shape, bool)
    for corners in triangles:
        low, high = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)
        x, y = np.meshgrid(np.arange(max(0, low[0]), high[0]) + 0.5, np.arange(max(0, low[1]), high[1]) + 0.5)
        side = []
        for a, b in ((0, 1), (1, 2), (2, 0)):
            edge = corners[b] - corners[a]
            side.append(edge[0] * (y - corners[a, 1]) - edge[1] * (x - corners[a, 0]))
        side = np.array(side)
        hit = (side >= 0).all(axis=0) | (side <= 0).all(axis=0)
        inside[max(0, low[1]):high[1], max(0, low[0]):high[0]] |= hit[:shape[0] - max(0, low[1]), :shape[1] - max(0, low[0])]
    return inside


def grown(mask):
    """With all neighbours of its pixels."""
    wide = np.pad(mask, 1)
    return np.any([wide[i:i + mask.shape[0], j:j + mask.shape[1]] for i in range(3) for j in range(3)], axis=0)


if __name__ == "__main__":
    unittest.main()
