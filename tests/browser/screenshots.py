"""Takes the pictures of reports that the documentation shows, docs/images/report-*.png:
    /usr/bin/python3 tests/browser/screenshots.py [--out FOLDER] [--results FOLDER]

Runs the examples of which it needs the results (a minute or two), unless --results has them from last time; $LISSOM is the
program, build/lissom if it is not given. Look at the pictures before you commit them.
"""

import argparse
import base64
import io
import os
import pathlib
import subprocess

from PIL import Image

import support
import view_support

WIDTH = 1200


class Camera(view_support.ViewTools):
    def runTest(self):
        pass

    def report(self, path, width=WIDTH, height=900, scheme="light"):
        self.media(scheme)
        self.resize(width, height)
        self.driver.get(path.resolve().as_uri())
        self.wait_for_promise("lissom.ready")

    def motion(self, name, time, **choices):
        """Brings a view to the screen, chooses what it shows and waits until it is drawn."""
        self.VIEW = name
        self.js("for (let e = document.querySelector(arguments[0]); e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;"
                "document.querySelector(arguments[0]).scrollIntoView()", name)
        self.wait(lambda: self.js("return Boolean(document.querySelector(arguments[0]).lissom)", name), "the view")
        self.wait_for_promise(f"{self.handle}.ready")
        self.settle()
        if "second" in choices:
            self.choose("Together with", choices["second"])
        if "colour" in choices:
            self.js(f"{self.handle}.setColour({choices['colour']!r})")
        if "scale" in choices:
            self.js(f"{self.handle}.setScale({choices['scale']!r})")
        if "sensor" in choices:
            self.js(f"{self.handle}.pick({choices['sensor']!r})")
        if "mode" in choices:
            self.js(f"{self.handle}.setMode({choices['mode']})")
        # the pointer of the tools above may have turned it
        self.js("Array.from(document.querySelectorAll(arguments[0] + ' button')).find((b) => b.textContent === 'Reset').click()", name)
        self.js(f"{self.handle}.seek({time})")
        self.settle()

    def take(self, path, first, last=None, height=None, margins=True):
        """From the top of one element to the end of another one, or so many pixels; as wide as the page, or without margins."""
        self.frames(3)
        box = self.js("""const box = (css) => document.querySelector(css).getBoundingClientRect();
            return [box(arguments[0]).top + scrollY, box(arguments[1]).bottom + scrollY, document.documentElement.clientWidth,
                    box(arguments[0]).left, box(arguments[0]).width]""", first, last or first)
        edge = 16 if margins else 0
        top = max(0, box[0] - edge)
        clip = dict(x=0 if margins else box[3], y=top, width=box[2] if margins else box[4], height=height or box[1] - top + edge, scale=1)
        done = self.driver.execute_cdp_cmd("Page.captureScreenshot", dict(format="png", captureBeyondViewport=True, clip=clip))
        picture = Image.open(io.BytesIO(base64.b64decode(done["data"]))).convert("RGB")
        # a palette is a third of the bytes; this way of choosing it keeps colours that few pixels have
        picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"wrote {path} ({path.stat().st_size / 1000:.0f} kB)")


def results_of(example, folder):
    out = folder / example
    if not (out / "report.html").exists():
        subprocess.run([support.LISSOM, "run", support.SOURCE / "examples" / example / "study.toml", "--out", out, "--quiet"],
                       check=True, cwd=support.SOURCE)
    return out / "report.html"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=support.SOURCE / "docs" / "images")
    parser.add_argument("--results", type=pathlib.Path, default=support.SOURCE / "build" / "screenshots")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    given.out.mkdir(parents=True, exist_ok=True)
    demo, suspension, rod = (results_of(name, given.results) for name in ("four-bar-slap", "suspension-slap", "connecting-rod"))
    Camera.setUpClass()
    try:
        camera = Camera()
        picture = lambda name: given.out / f"report-{name}.png"
        camera.report(demo)
        camera.take(picture("summary"), "#summary")
        camera.wait_for_promise("lissom.draw_all()")
        camera.take(picture("training"), "#f-training-error", "#f-training-frequencies")
        # overlaid by nothing: the reference on the left, four unknowns on the right
        camera.motion("#v-motion", 0.2, second="m4", colour="stress", scale=1)
        camera.take(picture("beside"), "#v-motion .lv-stage", "#v-motion .lv-bar")
        # the wheel goes up by 43 mm at 0.155 s
        camera.report(suspension)
        camera.motion("#v-motion", 0.155, colour="stress", scale="automatic", sensor="wheel")
        camera.take(picture("view"), "#motion", "#v-motion")
        camera.report(suspension, scheme="dark")
        camera.motion("#v-motion", 0.155, colour="stress", scale="automatic")
        camera.take(picture("dark"), "#motion", "#v-motion .lv-more")
        camera.take(picture("stage"), "#v-motion .lv-stage", "#v-motion .lv-bar", margins=False)
        camera.report(rod)
        camera.motion("#v-rod-free-modes", 0, mode=1)
        camera.take(picture("modes"), "#v-rod-free-modes", "#f-rod-errors")
        camera.report(suspension, 390, 844)
        camera.motion("#v-motion", 0.155, colour="stress", scale="automatic")
        camera.take(picture("phone"), "#motion", height=844)
    finally:
        Camera.doClassCleanups()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
