"""The numbers of the examples' READMEs: the rule by which they are compared, that every README is, and the example that takes a minute."""

import unittest
from unittest import mock

import readme_tables as readme
from examples_test import ExamplesBase
from support import SOURCE, load_script

PAGE = """
Expected:

| load | error | steps |
|---|---|---|
| small | 2.9e-8 m | 2,000 |
| | 0.072 % | 4,000 |
"""


class PendulumTest(ExamplesBase):
    TIMEOUT = 3600  # with sanitizers; a minute without

    def test_the_whole_seven_seconds_are_as_the_page_has_them(self):
        figures = [f"pendulum-{f}.png" for f in ("chaos", "motion", "stress", "maximum")]
        summary = self.run_example("quadruple-pendulum", figures)
        self.assertEqual(summary["simulation"]["end"], 7)


class RuleTest(unittest.TestCase):
    def test_the_last_digit_may_differ_by_one(self):
        for said, found in (("2.9e-8", 2.88e-8), ("2.9e-8", 3.0e-8), ("0.072", 0.0719), ("4.6", 4.63), ("1,306,800", 1306800), ("8.4e4", 83533.0),
                            ("29152.9", 29170.0), ("4e-16", readme.RoundOff(9e-16)), ("0", 0)):
            self.assertTrue(readme.same_number(said, found), (said, found))
        for said, found in (("2.9e-8", 3.02e-8), ("0.072", 0.0735), ("2,000", 2001), ("463", 462), ("29152.9", 29190.0), ("4e-16", readme.RoundOff(5e-15)),
                            ("1.6e-5", -1.6e-5)):
            self.assertFalse(readme.same_number(said, found), (said, found))

    def test_words_of_a_block_are_compared_by_the_same_rule(self):
        self.assertTrue(readme.same_word("0.0719", "0.0720"))
        self.assertTrue(readme.same_word("(m=2.9e-8)", "(m=2.9e-8)"))
        for said, found in (("0.0719", "0.0721x"), ("0.072", "0.08"), ("55", "56"), ("coordinates", "unknowns"), ("0.072", "coordinates")):
            self.assertFalse(readme.same_word(said, found), (said, found))

    def test_numbers_are_not_digits_of_names(self):
        self.assertEqual(readme.numbers("4.3e-16 m2 / 5.2e-16, 24 of 72 (B1), 1,306,800 c"), ["4.3e-16", "5.2e-16", "24", "72", "1,306,800"])

    def test_wrong_cells_missing_tables_and_tables_that_nothing_checks_are_told(self):
        def row(results, label, cells, place):
            return [[results[place][0]], [results[place][1]]]

        with mock.patch.dict(readme.TABLES, {"x": [("load", row)]}):
            self.assertEqual(readme.problems("x", PAGE, [(2.9e-8, 2000), (0.072, 4000)]), ([], 4))
            wrong, _ = readme.problems("x", PAGE, [(2.9e-8, 2000), (0.08, 4001)])
            self.assertEqual(len(wrong), 2)
            self.assertIn("load, small, error: the page says '0.072 %'", wrong[0])
            self.assertIn("there is no table", readme.problems("x", "nothing", [])[0][0])
            wrong, _ = readme.problems("x", PAGE + "\n| other | n |\n|---|---|\n| a | 1 |\n", [(2.9e-8, 2000), (0.072, 4000)])
            self.assertEqual(wrong, ["nothing checks the table other|n"])

    def test_every_readme_with_a_study_and_every_row_of_the_front_page_is_compared(self):
        examples = {path.parent.name for path in (SOURCE / "examples").glob("*/study.toml")}
        self.assertEqual(set(readme.TABLES), examples)
        self.assertLessEqual({name for name, _ in load_script("readme-table").ROWS}, examples)
        tests = "".join((SOURCE / "tests" / "cli" / name).read_text() for name in ("examples_test.py", "howto_test.py", "readme_tables_test.py"))
        for name in examples:
            self.assertTrue(f'run_example("{name}"' in tests or f'pages, "{name}")' in tests, name)
            # a block that is indented instead of fenced would not be followed
            text = (SOURCE / "examples" / name / "README.md").read_text()
            self.assertNotRegex(text, r"Expected[^|\n]*\n\n    ", name)


if __name__ == "__main__":
    unittest.main()
