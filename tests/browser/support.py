"""What the tests in a browser share: Debian's chromium without a screen, pages in the manner of
docs/reference/report-page.md, and downloads.

The browser draws with software, so that the tests run on machines without graphics. A test fails when the page
writes an error to the browser's console.
"""

import base64
import html
import json
import os
import pathlib
import struct
import tempfile
import time
import unittest
import zlib

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
LISSOM = os.path.abspath(os.environ.get("LISSOM", SOURCE / "build" / "lissom"))
SCRIPTS = SOURCE / "lissom" / "report" / "page"
THREE = pathlib.Path("/usr/share/javascript/three")
D3 = pathlib.Path("/usr/share/nodejs/d3/dist/d3.min.js")
CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
# where screenshots are left, for people to look at; empty: nowhere
SCREENSHOTS = os.environ.get("LISSOM_SCREENSHOTS", "")

CODES = {"f32": "f", "f64": "d", "u32": "I", "u16": "H", "i16": "h"}


class Page:
    """A page as the program writes it, with the scripts and the style of the sources."""

    def __init__(self, title="A report", subtitle="", summary="", warnings=()):
        self.title, self.subtitle, self.summary, self.warnings = title, subtitle, summary, list(warnings)
        self.cards, self.sections, self.blobs = [], [], []

    def array(self, values, kind="f64"):
        """Stores numbers, returns what JSON has of them."""
        values = list(values)
        data = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
        text = base64.b64encode(zlib.compress(data)).decode()
        if text not in self.blobs:
            self.blobs.append(text)
        return {"blob": f"b{self.blobs.index(text)}", "type": kind, "count": len(values), "at": 0}

    def card(self, label, value, note="", mood="plain", number=None):
        shown = f' data-value="{number!r}"' if number is not None else ""
        self.cards.append(f'<div class="card {mood}"><div class="label">{html.escape(label)}</div><div class="value"{shown}>'
                          f'{html.escape(value)}</div><div class="note">{html.escape(note)}</div></div>')

    def section(self, name, title, *blocks, lead=""):
        lead = f'<p class="lead">{html.escape(lead)}</p>' if lead else ""
        self.sections.append((name, title, lead + "\n".join(blocks)))

    def figure(self, name, series, title="", x="x", y="y", log_x=False, log_y=False, marks=(), caption=""):
        """series: (name, x, y) or (name, x, y, style)."""
        xs, places, listed = [], {}, []
        for entry in series:
            label, a, b, style = (*entry, "line")[:4]
            a = [float(v) for v in a]
            key = struct.pack(f"<{len(a)}d", *a)
            if key not in places:
                places[key] = len(xs)
                xs.append(self.array(a))
            listed.append({"name": label, "x": places[key], "y": self.array(map(float, b)), "style": style})
        return {"id": name, "title": title or name, "x": {"label": x, "log": log_x}, "y": {"label": y, "log": log_y}, "xs": xs,
                "series": listed, "marks": list(marks), "caption": caption}

    def matrix(self, name, rows, columns, values, title="", x="column", y="row", value="value", low=0, high=1, log=False, marked=(),
               mark="", caption=""):
        """values: a list of rows; marked: rows and columns of these numbers."""
        return {"id": name, "title": title or name, "x": {"label": x}, "y": {"label": y}, "caption": caption,
                "matrix": {"rows": list(rows), "columns": list(columns), "values": self.array([v for row in values for v in row]),
                           "value": value, "low": low, "high": high, "log": log, "marked_rows": list(marked),
                           "marked_columns": list(marked), "mark": mark}}

    @staticmethod
    def picture(data, kind="plot"):
        """The block of a figure, or of a view."""
        caption = data.pop("caption", "")
        text = json.dumps(data).replace("<", "\\u003c")
        return (f'<figure class="{kind}" id="{kind[0].replace("p", "f")}-{data["id"]}"><script type="application/json">{text}</script>'
                f"<figcaption>{html.escape(caption)}</figcaption></figure>")

    @staticmethod
    def table(name, columns, rows, caption=""):
        """Cells are texts or numbers or (text, number)."""
        def cell(value):
            if isinstance(value, str):
                return f"<td>{html.escape(value)}</td>"
            shown, number = value if isinstance(value, tuple) else (f"{value:.4g}", value)
            return f'<td class="n" data-value="{number:.17g}">{html.escape(shown)}</td>'
        head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in columns)
        body = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
        caption = f"<caption>{html.escape(caption)}</caption>" if caption else ""
        return f'<div class="table" id="t-{name}"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    def html(self, views=False):
        style = (SCRIPTS / "page.css").read_text() + (SCRIPTS / "plot_matrix.css").read_text()
        scripts = []
        if views:
            style += (SCRIPTS / "view.css").read_text() if (SCRIPTS / "view.css").exists() else ""
            scripts += [THREE / "three.min.js", THREE / "examples/js/controls/OrbitControls.js"]
        scripts += [D3, SCRIPTS / "page.js", *sorted(SCRIPTS.glob("plot*.js"))]
        scripts += sorted(SCRIPTS.glob("view*.js")) if views else []
        contents = ([("warnings", "Warnings")] if self.warnings else []) + [("summary", "Summary")]
        contents += [(name, title) for name, title, _ in self.sections]
        parts = ['<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
                 '<meta name="viewport" content="width=device-width, initial-scale=1">',
                 # nothing is fetched
                 '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src \'unsafe-inline\'; '
                 'style-src \'unsafe-inline\'; img-src data: blob:">',
                 f"<title>{html.escape(self.title)}</title><style>{style}</style></head><body>",
                 '<a class="skip" href="#main">Skip to the report</a>',
                 f'<header><h1>{html.escape(self.title)}</h1><p class="subtitle">{html.escape(self.subtitle)}</p></header>',
                 '<nav aria-label="Contents"><ul>']
        parts += [f'<li><a href="#{name}">{html.escape(title)}</a></li>' for name, title in contents]
        parts += ['</ul></nav><main id="main">']
        if self.warnings:
            count = len(self.warnings)
            parts += [f'<section id="warnings" class="warnings"><h2>{count} warning{"s" * (count > 1)}</h2><ul>']
            parts += [f"<li>{html.escape(text)}</li>" for text in self.warnings]
            parts += ["</ul></section>"]
        parts += [f'<section id="summary"><h2>Summary</h2><p class="summary">{html.escape(self.summary)}</p><div class="cards">',
                  *self.cards, "</div></section>"]
        parts += [f'<section id="{name}"><h2>{html.escape(title)}</h2>{body}</section>' for name, title, body in self.sections]
        parts += ["</main><footer>Written by a test.</footer>"]
        parts += [f'<script type="application/octet-stream" id="b{k}">{text}</script>' for k, text in enumerate(self.blobs)]
        parts += [f"<script>{path.read_text(errors='replace')}</script>" for path in scripts]
        return "\n".join(parts) + "</body></html>"

    def write(self, path, views=False):
        pathlib.Path(path).write_text(self.html(views))
        return path


class BrowserTest(unittest.TestCase):
    """One browser for all tests of a class, and a folder for each test."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="lissom-browser-", ignore_cleanup_errors=True)
        cls.addClassCleanup(holder.cleanup)
        cls.downloads = pathlib.Path(holder.name) / "downloads"
        cls.downloads.mkdir()
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        # curves are drawn by the processor, as on machines without graphics; only views go through WebGL in software
        for flag in ("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                     "--ignore-gpu-blocklist", "--disable-gpu-rasterization",
                     "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
                     f"--user-data-dir={holder.name}/profile"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.add_experimental_option("prefs", {"download.default_directory": str(cls.downloads),
                                                  "profile.default_content_setting_values.automatic_downloads": 1})
        cls.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        cls.addClassCleanup(cls.driver.quit)
        cls.driver.set_script_timeout(120)
        cls.driver.set_page_load_timeout(120)

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="lissom-page-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        for path in self.downloads.iterdir():
            path.unlink()
        self.media()
        self.resize(1400, 900)
        self.driver.get_log("browser")

    def tearDown(self):
        errors = [entry for entry in self.console() if entry["level"] == "SEVERE"]
        self.assertEqual(errors, [], "the page wrote errors to the console")

    def console(self):
        """What the page wrote to the console since it was last asked."""
        return self.driver.get_log("browser")

    def open(self, page, views=False):
        """Shows a Page, or a file, and waits until what is visible has been drawn."""
        if isinstance(page, Page):
            page = page.write(self.folder / "page.html", views)
        self.driver.get(pathlib.Path(page).resolve().as_uri())
        self.wait_for_promise("lissom.ready")

    def js(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def wait_for_promise(self, text, *arguments):
        """The value of a promise; text is an expression."""
        found = self.driver.execute_async_script(
            f"const done = arguments[arguments.length - 1]; Promise.resolve({text})"
            ".then((v) => done({value: v === undefined || typeof v === 'object' ? null : v}), (e) => done({error: String(e)}))",
            *arguments)
        self.assertNotIn("error", found)
        return found["value"]

    def wait(self, condition, what, seconds=20):
        """Until condition() is true or not empty; returns it."""
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > end:
                self.fail(f"waited {seconds} s for {what}")
            time.sleep(0.05)

    def frames(self, count=2):
        """Waits until the browser has drawn so many times."""
        self.driver.execute_async_script(
            "const done = arguments[1]; let left = arguments[0];"
            "(function next() { if (left-- <= 0) done(); else requestAnimationFrame(next); })()", count)

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def button(self, css, text):
        """The button with this text within an element."""
        for button in self.all(f"{css} button"):
            if button.text.strip() == text:
                return button
        self.fail(f"no button {text!r} in {css}: {[b.text for b in self.all(css + ' button')]}")

    def download(self, name, seconds=20):
        """The bytes of a file that the page has handed out."""
        path = self.downloads / name
        self.wait(path.exists, f"the download of {name}; there are {list(self.downloads.iterdir())}", seconds)
        self.wait(lambda: not list(self.downloads.glob("*.crdownload")), f"the end of {name}", seconds)
        content = path.read_bytes()
        path.unlink()
        return content

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    dict(width=width, height=height, deviceScaleFactor=1, mobile=width < 600))

    def media(self, scheme="light"):
        # scrolling that takes time would move buttons away from the pointer
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dict(media="", features=[
            dict(name="prefers-color-scheme", value=scheme), dict(name="prefers-reduced-motion", value="reduce")]))

    def pdf(self):
        """The page as a printer gets it."""
        done = self.driver.execute_cdp_cmd("Page.printToPDF", dict(printBackground=True, preferCSSPageSize=True))
        return base64.b64decode(done["data"])

    def screenshot(self, name, whole=False):
        """A picture for people, where they asked for one."""
        if not SCREENSHOTS:
            return
        done = self.driver.execute_cdp_cmd("Page.captureScreenshot", dict(format="png", captureBeyondViewport=whole))
        pathlib.Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(SCREENSHOTS) / f"{name}.png").write_bytes(base64.b64decode(done["data"]))


