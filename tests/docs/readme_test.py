"""The table of README.md is made by scripts/readme-table, and its rows are those that the script knows."""

import copy
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("readme_table", str(SOURCE / "scripts" / "readme-table"))
readme_table = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(readme_table)

SUMMARY = {
    "bodies": {"crankshaft": {"nodes": 10, "reduce": {"coordinates": 7, "range": 3, "errors": [{"bound": 1e-5}, {"bound": 9.31e-4}]}}},
    "models": {name: {"unknowns": 50, "seconds": seconds, "largest_error": 2e-6, "motion": 0.5}
               for name, seconds in (("study", 4), ("ffrf", 2), ("full", 6), ("kerb", 8), ("m6", 0.5), ("bump small", 1), ("kerb small", 1), ("reduced", 1))},
}


class ReadmeTableTest(unittest.TestCase):
    def table(self, summary):
        return readme_table.table({name: summary for name, _ in readme_table.ROWS})

    def test_numbers_are_those_of_the_summaries(self):
        body, four_bar = self.table(SUMMARY)[2:4]
        # a bound is rounded up, and the speed-up is by the quickest full run
        self.assertIn("| 30 | - | 7 | 0.094 % of 3 eigenvalues, proven | - |", body)
        self.assertIn("| 30 | 50 | 50 | 2.0e-06 m of 0.5 m, farthest node | 4 |", four_bar)

    def test_other_errors_are_noticed_and_other_times_are_not(self):
        other = copy.deepcopy(SUMMARY)
        other["models"]["m6"]["seconds"] = 1
        self.assertEqual(readme_table.without_times(self.table(other)), readme_table.without_times(self.table(SUMMARY)))
        other["models"]["m6"]["largest_error"] = 3e-6
        self.assertNotEqual(readme_table.without_times(self.table(other)), readme_table.without_times(self.table(SUMMARY)))

    def test_the_readme_has_the_rows_of_the_script(self):
        found = re.search(r"<!-- table -->\n(.*?)\n<!-- /table -->", (SOURCE / "README.md").read_text(), re.DOTALL)[1].splitlines()
        expected = self.table(SUMMARY)
        self.assertEqual(found[:2], expected[:2])
        self.assertEqual([line.split("|")[1] for line in found], [line.split("|")[1] for line in expected])


if __name__ == "__main__":
    unittest.main()
