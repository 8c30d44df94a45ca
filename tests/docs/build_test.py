"""`make docs` builds every page without a warning, and nothing of the site is fetched from a network."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("LISSOM_BUILD", SOURCE / "build"))


class BuildTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lissom-docs-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        # the Python module of the build, where there is one
        if (BUILD / "python").is_dir():
            (cls.folder / "python").symlink_to(BUILD / "python")
        cls.done = subprocess.run([SOURCE / "scripts" / "build-docs", "--build", cls.folder], capture_output=True, text=True, timeout=280)

    def test_there_is_no_warning_and_every_page_is_there(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        site = self.folder / "docs"
        for page in [*(SOURCE / "docs").rglob("*.md"), *(SOURCE / "examples").glob("*/README.md")]:
            self.assertTrue((site / page.relative_to(SOURCE)).with_suffix(".html").exists(), page)
        self.assertIn("docs/index.html", (site / "index.html").read_text())

    def test_nothing_is_fetched(self):
        for page in (self.folder / "docs").rglob("*.html"):
            text = page.read_text()
            fetched = re.findall(r"<(?:script|img|iframe|source)[^>]*\ssrc=\"(https?:|//)[^\"]*\"", text)
            fetched += re.findall(r"<link[^>]*\shref=\"(?:https?:|//)[^\"]*\"", text)
            self.assertEqual(fetched, [], page)
        self.assertTrue((self.folder / "docs" / "_static" / "mathjax" / "MathJax.js").exists())

    def test_formulas_are_typeset_and_no_dollar_is_left_over(self):
        for page in (SOURCE / "docs" / "theory").glob("*.md"):
            text = (self.folder / "docs" / "docs" / "theory" / page.name).with_suffix(".html").read_text()
            body = re.sub(r"<(pre|code|script)\b.*?</\1>", "", text, flags=re.DOTALL)
            self.assertNotIn("$", re.sub(r"<[^>]*>", "", body), page.name)
            if "```math" in page.read_text():
                self.assertIn('class="math notranslate nohighlight"', text)


if __name__ == "__main__":
    unittest.main()
