"""Known answers: every problem of verification/ meets its tolerances, and its page in the documentation is complete."""

import json
import re
import subprocess
import unittest

from support import LISSOM, SOURCE, CliTest

PAGES = SOURCE / "docs" / "verification"


def problems():
    return sorted(path.parent.name for path in (SOURCE / "verification").glob("*/check.py"))


class VerifyTest(CliTest):
    def verify(self, *arguments):
        return subprocess.run(["/usr/bin/python3", "-B", str(SOURCE / "scripts" / "verify"), "--lissom", LISSOM, "--out", "out", *arguments],
                              cwd=self.folder, capture_output=True, text=True, timeout=800, stdin=subprocess.DEVNULL)

    def test_all_known_answers_are_met(self):
        done = self.verify()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        summary = json.loads((self.folder / "out" / "summary.json").read_text())
        self.assertEqual(summary["missed"], 0)
        self.assertEqual(sorted(summary["seconds"]), problems())
        for name in problems():
            self.assertGreaterEqual(sum(row["problem"] == name for row in summary["rows"]), 3, name)
            self.assertGreater((self.folder / "out" / f"verify-{name}.png").stat().st_size, 5000, name)
        # one line of the table for each, under the heading
        self.assertEqual(len(re.findall(r"\| ok$", done.stdout, re.M)), len(summary["rows"]) + 1)

    def test_a_missed_answer_is_an_error(self):
        # a program that does nothing cannot give the answers
        liar = self.folder / "liar"
        liar.write_text("#!/bin/sh\nexit 3\n")
        liar.chmod(0o755)
        done = self.verify("pendulum", "--lissom", str(liar))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("MISSED", done.stdout)

    def test_an_unknown_problem_is_refused(self):
        done = self.verify("nosuch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("pendulum", done.stderr)


class PagesTest(unittest.TestCase):
    def test_every_problem_has_its_page_and_figure(self):
        index = (PAGES / "README.md").read_text()
        for name in problems():
            text = (PAGES / f"{name}.md").read_text()
            self.assertIn(f"verify-{name}.png", text)
            self.assertIn("## What it does not show", text)
            self.assertIn(f"({name}.md)", index)
            self.assertTrue((SOURCE / "docs" / "images" / f"verify-{name}.png").exists(), name)


if __name__ == "__main__":
    unittest.main()
