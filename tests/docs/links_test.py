"""Links of the documentation: files and headings that they name are there (scripts/check-links), and dead ones are found."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
sys.dont_write_bytecode = True


def load_script(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SOURCE / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


links = load_script("check-links")
interface = load_script("interface-pages")


class LinksTest(unittest.TestCase):
    def test_no_link_of_the_documentation_is_dead(self):
        problems, _ = links.check(SOURCE)
        self.assertEqual(problems, [])

    def test_dead_links_are_found_and_live_ones_are_not_taken_for_dead(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "other.md").write_text("# Some *Title*, with `code`\n\n## Twice\n\n## Twice\n")
            (root / "page.md").write_text(
                "# A\n[a](other.md#some-title-with-code) [b](other.md#twice-1) [c](#a) [d](https://example.org/x) <https://example.org/y>\n\n"
                "    [in code](nothing.md)\n\n`[in code](nothing.md)`\n\n```text\n[in code](nothing.md)\n# No heading\n```\n"
                "[e](nothing.md) ![f](no.png)\n[g](other.md#thrice) [h](#no-heading) [i](../x.md)\n")
            problems, external = links.check(root, [root / "page.md"])
        self.assertEqual(sorted(external), ["https://example.org/x", "https://example.org/y"])
        self.assertEqual([problem.split(": ")[:2] for problem in problems],
                         [["page.md:12", "nothing.md"], ["page.md:12", "no.png"], ["page.md:13", "other.md#thrice"], ["page.md:13", "#no-heading"],
                          ["page.md:13", "../x.md"]])


class InterfacePagesTest(unittest.TestCase):
    def test_a_header_keeps_what_is_public_and_loses_what_is_not(self):
        head, code = interface.split_header("// What it is.\n//   x = A b\n#pragma once\n\n#include <vector>\n\nnamespace lissom {\n\nclass Box {\n public:\n"
                                            "  int size() const { return n_; }\n\n private:\n  struct Impl { int a; };\n  int n_ = 0;\n};\n\nvoid f(Box& box);\n\n}\n")
        self.assertEqual(head, "What it is.\n  x = A b")
        self.assertIn("int size() const", code)
        self.assertNotIn("n_ = 0", code)
        self.assertNotIn("Impl", code)
        self.assertNotIn("#", code)
        self.assertEqual(interface.names_of(code), ["Box", "f"])

    def test_every_header_has_its_page_and_braces_that_match(self):
        with tempfile.TemporaryDirectory() as folder:
            interface.write_cpp(SOURCE / "lissom", pathlib.Path(folder))
            text = "".join(path.read_text() for path in pathlib.Path(folder).glob("*.md"))
        headers = list((SOURCE / "lissom").glob("**/*.hpp"))
        self.assertGreater(len(headers), 150)
        for header in headers:
            self.assertIn(f'#include "{header.relative_to(SOURCE)}"', text)
            _, code = interface.split_header(header.read_text())
            # strings may hold braces, but not in declarations
            self.assertEqual(code.count("{"), code.count("}"), header)


if __name__ == "__main__":
    unittest.main()
