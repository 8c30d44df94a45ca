"""The manual page: made from the program's own verbs and flags, and well-formed."""

import subprocess
import unittest

from support import BUILD, InstallTest


class ManualPage(InstallTest):
    def setUp(self):
        super().setUp()
        page = self.lissom("manual")
        self.assertEqual(page.code, 0, page.err)
        self.page = page.out
        self.write("lissom.1", self.page)

    def test_mandoc_has_nothing_to_warn_of(self):
        self.run_program("mandoc", "-T", "lint", "-W", "warning,stop", "lissom.1")

    def test_it_has_every_verb_and_flag_as_the_help_has(self):
        text = self.run_program("mandoc", "-T", "ascii", "-O", "width=200", "lissom.1")
        # bold and underlined characters are printed twice
        plain = subprocess.run(["col", "-b"], input=text, capture_output=True, text=True).stdout
        sections = {}
        for line in plain.splitlines():
            if line.startswith("   lissom "):
                name = line.split()[1]
                sections[name] = ""
            elif line[:1].strip():
                name = ""
            if sections.get(name if sections else "") is not None:
                sections[name] += line + "\n"
        self.assertEqual(sorted(sections), sorted(self.verbs()))
        for verb, section in sections.items():
            for flag in self.flags(verb):
                self.assertRegex(section, rf"(^|[ ,]){flag}\b", verb)
        for word in ("OMP_NUM_THREADS", "LISSOM_JS", "EXIT STATUS", "EXAMPLES", "model.rom.h5"):
            self.assertIn(word, plain)

    def test_man_shows_it(self):
        text = self.run_program("man", "-l", "--warnings", "lissom.1", MANPAGER="cat", MANWIDTH="100", LC_ALL="C.UTF-8")
        self.assertIn("lissom", text)

    def test_the_page_of_the_build_is_this_one(self):
        self.assertEqual((BUILD / "pages" / "lissom.1").read_text(), self.page)


if __name__ == "__main__":
    unittest.main()
