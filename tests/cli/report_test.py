"""lissom report: the page of a run, of single files, of what other verbs leave, and what no page is made of."""

import base64
import csv
import html.parser
import json
import struct
import unittest
import zlib

from support import CliTest

STUDY = """
title = "A swing <script>alert(1)</script> & more"
gravity = [0, 0, -9.81]
[bodies.arm]
rigid = { mass = 2, center = [0.25, 0, 0], inertia = [1e-4, 0.05, 0.05] }
points = { hub = [0, 0, 0], tip = [0.5, 0, 0] }
[[joints]]
name = "hinge </script>"
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
sample = 1e-2
"""
COARSE = """
[[cases]]
name = "coarse <i>&"
set = { "simulate.step" = 1e-2 }
"""


class Page(html.parser.HTMLParser):
    """Ids of sections, cells of tables by id, figures by id, texts."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.tables, self.figures, self.blobs, self.warnings = [], {}, {}, {}, []
        self.text, self.tags = "", []
        self.table = self.row = self.cell = self.script = self.figure = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag == "section":
            self.sections.append(attrs["id"])
        if tag == "div" and attrs.get("class") == "table":
            self.table = self.tables.setdefault(attrs["id"], [])
        if tag == "tr" and self.table is not None:
            self.row = []
            self.table.append(self.row)
        if tag in ("td", "th") and self.row is not None:
            self.cell = ["", attrs.get("data-value")]
            self.row.append(self.cell)
        if tag == "figure":
            self.figure = attrs.get("id")
        if tag == "script":
            self.script = (attrs.get("type"), attrs.get("id"))
        if tag == "li" and self.sections == ["warnings"]:
            self.warnings.append("")

    def handle_endtag(self, tag):
        if tag == "td" or tag == "th":
            self.cell = None
        if tag == "table":
            self.table = self.row = None
        if tag == "script":
            self.script = None

    def handle_data(self, data):
        if self.script:
            kind, name = self.script
            if kind == "application/json":
                self.figures[self.figure] = json.loads(data)
            elif kind == "application/octet-stream":
                self.blobs[name] = zlib.decompress(base64.b64decode(data))
            return
        self.text += data
        if self.cell is not None:
            self.cell[0] += data
        if self.warnings and self.sections == ["warnings"]:
            self.warnings[-1] += data

    def array(self, a):
        code, size = {"f64": ("d", 8), "f32": ("f", 4)}[a["type"]]
        return struct.unpack_from(f"<{a['count']}{code}", self.blobs[a["blob"]], a.get("at", 0))

    def column(self, table, name):
        head, *rows = self.tables[table]
        index = [cell[0] for cell in head].index(name)
        return [float(row[index][1]) if row[index][1] is not None else row[index][0] for row in rows]


class ReportTest(CliTest):
    def page(self, name):
        return Page((self.folder / name).read_text())

    def run_swing(self, text=STUDY + COARSE):
        self.write("swing.toml", text)
        result = self.lissom("run", "swing.toml", "--out", "results")
        self.assertEqual(result.code, 0, result.err)

    def test_a_run_has_its_numbers_on_the_page_and_markup_is_text(self):
        self.run_swing()
        found = self.json_of("report", "results", "--out", "page.html")
        self.assertEqual(found["file"], "page.html")
        self.assertEqual(found["bytes"], (self.folder / "page.html").stat().st_size)
        page = self.page("page.html")
        self.assertEqual([s for s in page.sections if s not in ("warnings", "summary")], found["sections"])
        for section in ("motion", "mechanism", "simulation", "models", "comparison", "reproduction"):
            self.assertIn(section, found["sections"])
        # names are shown as they are, and are no markup
        self.assertIn("A swing <script>alert(1)</script> & more", page.text)
        self.assertIn("coarse <i>&", page.text)
        self.assertNotIn("i", page.tags)
        self.assertNotIn("b", page.tags)

        summary = json.loads((self.folder / "results" / "summary.json").read_text())
        case = summary["comparison"]["cases"]["coarse <i>&"]["sensors"]
        largest = dict(zip(page.column("t-differences", "sensor"), page.column("t-differences", "largest difference")))
        self.assertEqual(largest, {name: entry["largest"] for name, entry in case.items()})
        seconds = {"the study itself": summary["models"]["study"]["seconds"],
                   "coarse <i>&": summary["models"]["coarse <i>&"]["seconds"]}
        self.assertEqual(dict(zip(page.column("t-models", "model"), page.column("t-models", "time [s]"))), seconds)

        # a curve is that of sensors.csv, digit by digit
        with open(self.folder / "results" / "sensors.csv") as file:
            rows = list(csv.DictReader(file))
        figure = page.figures["f-sensor-tip-b-m"]
        series = {s["name"]: s for s in figure["series"]}["tip <b>.z, the study itself"]
        self.assertEqual(list(page.array(series["y"])), [float(row["tip <b>.z"]) for row in rows])
        self.assertEqual(list(page.array(figure["xs"][series["x"]])), [float(row["t"]) for row in rows])
        # the study's text and the command
        self.assertIn('name = "tip <b>"', page.text)
        self.assertIn("lissom run swing.toml --out results", page.text)

    def test_other_verbs_have_reports_too(self):
        self.run_swing()
        simulated = self.lissom("simulate", "swing.toml", "--out", "simulated")
        self.assertEqual(simulated.code, 0, simulated.err)
        self.assertIn("simulation", self.json_of("report", "simulated")["sections"])
        self.assertTrue((self.folder / "simulated" / "report.html").exists())
        self.assertIn("simulation", self.json_of("report", "simulated/result.h5")["sections"])
        self.assertTrue((self.folder / "simulated" / "result.report.html").exists())
        self.json_of("compare", "results", "results/coarse <i>&", "--out", "difference")
        self.assertEqual(self.json_of("report", "difference")["sections"], ["comparison"])
        # a page without views has none of the scripts that need three.js
        self.assertNotIn("THREE", (self.folder / "difference" / "report.html").read_text())
        # comparisons in words
        self.assertIn("The sensor that differs most is tip <b>.", self.page("difference/report.html").text)

    def test_a_run_that_did_not_end_is_shown_with_a_warning_first(self):
        self.run_swing()
        (self.folder / "results" / "summary.json").unlink()
        found = self.json_of("report", "results")
        self.assertIn("has no summary.json", found["page_warnings"][0])
        page = self.page("results/report.html")
        self.assertEqual(page.sections[0], "warnings")
        self.assertIn("has no summary.json", page.warnings[0])

    def test_what_no_report_is_made_of_is_refused_with_what_was_looked_for(self):
        self.write("empty/readme.txt", "nothing")
        self.assert_refused(["report", "empty"], "there are no results here", "summary.json", "lissom run")
        self.assert_refused(["report", "nowhere"], "there is no such file or folder")
        self.write("notes.txt", "nothing")
        self.assert_refused(["report", "notes.txt"], "is nothing that a report is made of")
        self.write("swing.toml", STUDY)
        self.assert_refused(["report", "swing.toml"], "'lissom run' carries out a study")
        self.write("damaged/summary.json", '{"title": "a')
        self.assert_refused(["report", "damaged"], "summary.json: is damaged or cut off at byte")
        self.write("none/summary.json", "")
        self.assert_refused(["report", "none"], "summary.json: is empty")
        self.assert_refused(["report", "empty", "--max-size", "0"], "--max-size")
        self.assert_refused(["report"], "RUN")

    def test_a_page_that_cannot_be_written_is_an_error(self):
        self.run_swing(STUDY)
        self.assert_refused(["report", "results", "--out", "no/such/folder/page.html"], "no/such/folder", code=1)
        self.assert_refused(["report", "results", "--out", "results"], "results", code=1)


if __name__ == "__main__":
    unittest.main()
