"""What tests do with a 3D view: its controls by their names, its pixels, places on its canvas."""

import base64
import io
import time

import matplotlib.image
import numpy as np
from selenium.webdriver import ActionChains
from selenium.webdriver.support.ui import Select

import support


class ViewTools(support.BrowserTest):
    """Of the view that the class names; `handle` is its handle in JavaScript."""
    VIEW = "figure.view"

    @property
    def handle(self):
        return f"document.querySelector('{self.VIEW}').lissom"

    def settle(self):
        """Until nothing is drawn any more: software draws once more, finer, when all is still."""
        frames = lambda: self.js(f"return {self.handle}.stats().frames_rendered")
        end, last = time.monotonic() + 20, -1
        while last != (last := frames()) and time.monotonic() < end:
            time.sleep(0.4)

    def view(self, text):
        """Does something with the handle, and waits for the picture."""
        value = self.js(f"return {self.handle}.{text}")
        self.settle()
        return value if isinstance(value, (int, float, str, list, dict)) else None

    def picture(self, samples=2):
        """Pixels of the view, height by width by 3, 0..255."""
        data = self.js(f"{self.handle}.draw({samples});"
                       f"return document.querySelector('{self.VIEW} .lv-stage canvas').toDataURL('image/png')")
        image = matplotlib.image.imread(io.BytesIO(base64.b64decode(data.split(",")[1])), format="png")
        return np.rint(255 * image[:, :, :3]).astype(int)

    def control(self, label):
        """The input, select or button that a reader finds under this name."""
        for element in self.all(f"{self.VIEW} .lv label, {self.VIEW} .lv button, {self.VIEW} .lv input"):
            name = element.get_attribute("aria-label") or element.get_attribute("textContent").strip()
            if element.tag_name == "label":
                spans = element.find_elements("css selector", "span")
                name = spans[-1 if "lv-check" in element.get_attribute("class") else 0].text
            if name == label and element.is_displayed():
                inner = element.find_elements("css selector", "select, input") if element.tag_name == "label" else []
                return inner[0] if inner else element
        self.fail(f"no control {label!r}")

    def choose(self, label, text):
        Select(self.control(label)).select_by_visible_text(text)
        self.settle()

    def at(self, position):
        """Where a position is on the page's canvas, from its upper left corner [pixels]."""
        return self.js(f"return {self.handle}.project(arguments[0])", [float(v) for v in position])

    def canvas_action(self, x, y):
        """Actions that begin at a place of the canvas."""
        canvas = self.find(f"{self.VIEW} .lv-stage canvas")
        # offsets count from the middle of what is on the screen
        self.js("arguments[0].scrollIntoView({block: 'center'})", canvas)
        size = canvas.size
        return ActionChains(self.driver).move_to_element_with_offset(canvas, round(x - size["width"] / 2), round(y - size["height"] / 2))
