"""A report opened in Debian's chromium without a screen or a graphics card: how long until its view is there, and how many
frames a second it shows. Usage: report_browser.py REPORT.html"""

import json
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PLAY = """
const [colour, seconds, done] = arguments;
const view = document.querySelector("figure.view").lissom;
view.setColour(colour);
view.play();
// the first second warms up
setTimeout(() => {
  const first = view.stats().frames_rendered, start = performance.now();
  setTimeout(() => {
    const rate = (view.stats().frames_rendered - first) / (performance.now() - start) * 1e3;
    view.pause();
    done(rate);
  }, 1e3 * seconds);
}, 1000);
"""


def measure(report, seconds=4):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                 "--window-size=1200,1000", "--force-device-scale-factor=1"):
        options.add_argument(flag)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        driver.set_script_timeout(120)
        start = time.monotonic()
        driver.get(Path(report).resolve().as_uri())
        # brought to the screen, it is made and its first frame drawn
        driver.execute_async_script("""
            const done = arguments[0], figure = document.querySelector("figure.view");
            figure.scrollIntoView();
            const wait = () => figure.lissom ? figure.lissom.ready.then(() => done()) : setTimeout(wait, 5);
            wait();""")
        loaded = time.monotonic() - start
        driver.execute_script("""
            const canvas = document.querySelector("figure.view canvas");
            canvas.parentElement.style.flex = "none";
            canvas.parentElement.style.width = "800px";
            canvas.parentElement.style.height = "500px";
            window.dispatchEvent(new Event("resize"));""")
        # figures further down are drawn while nothing else happens
        driver.execute_async_script("lissom.draw_all().then(arguments[0])")
        # the browser translates scripts and shaders while they run for the first time
        driver.execute_async_script(PLAY, "body", 1)
        fps = {colour: driver.execute_async_script(PLAY, colour, seconds) for colour in ("body", "deformation", "stress")}
        stats = driver.execute_script("""
            const figure = document.querySelector("figure.view"), canvas = figure.querySelector("canvas");
            return {...figure.lissom.stats(), width: canvas.width, height: canvas.height};""")
    finally:
        driver.quit()
    return {"load_seconds": loaded, "fps": fps, "points": stats["points"], "triangles": stats["triangles"], "width": stats["width"],
            "height": stats["height"]}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1]), indent=2))
