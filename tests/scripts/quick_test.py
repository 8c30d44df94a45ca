"""Which tests `make quick` chooses for a change, in a small tree and in this one."""

import subprocess
import unittest

from support import SOURCE, load

quick = load("scripts/quick")

FILES = {
    "lissom/core/text.hpp": "", "lissom/core/text.cpp": '#include "lissom/core/text.hpp"\n',
    "lissom/fe/mesh.hpp": "", "lissom/fe/mesh.cpp": '#include "lissom/fe/mesh.hpp"\n#include "lissom/core/text.hpp"\n',
    # declared in another header of the folder
    "lissom/fe/read_x.cpp": '#include "lissom/fe/mesh.hpp"\n',
    # of meshes only in its source
    "lissom/cms/basis.hpp": "", "lissom/cms/basis.cpp": '#include "lissom/cms/basis.hpp"\n#include "lissom/fe/mesh.hpp"\n',
    "lissom/time/step.hpp": "", "lissom/time/step.cpp": '#include "lissom/time/step.hpp"\n',
    "lissom/report/page/plot.js": "",
    "apps/lissom/modes.cpp": 'add("modes");\n', "apps/lissom/sweep.cpp": 'add("sweep");\n', "apps/lissom/main.cpp": "",
    "tests/helper.hpp": '#include "lissom/time/step.hpp"\n',
    "tests/fe/mesh_test.cpp": '#include "lissom/fe/mesh.hpp"\nTEST(Mesh, IsRead) {}\nTEST_P(Formats, Agree) {}\n',
    "tests/cms/basis_test.cpp": '#include "lissom/cms/basis.hpp"\nTEST_F(Basis, IsSmall) {}\n',
    "tests/time/step_test.cpp": '#include "tests/helper.hpp"\nTEST(Step, HasOrderTwo) {}\n',
    "tests/cli/support.py": "", "tests/cli/modes_test.py": 'from support import x\nself.lissom("modes")\n',
    "tests/cli/sweep_test.py": 'from modes_test import STUDY\nself.lissom("sweep")\n', "tests/cli/examples_test.py": "",
    "tests/cli/howto_test.py": 'page = "docs/howto/a.md"\n', "tests/browser/page_test.py": "from support import Page\n",
    "tests/docs/links_test.py": "scripts/check-links\n", "tests/install/manual_test.py": "", "tests/install/completion_test.py": "",
    "tests/cli/program_test.py": "", "scripts/check-links": "", "docs/howto/a.md": "", "CMakeLists.txt": "", "docs/images/a.png": "",
    "tests/data/check_mesh.py": "", "tests/study/written_test.cpp": 'run("check_mesh.py");\nTEST(Written, IsReadByOthers) {}\n', "examples/plotting.py": "",
}
TREE = quick.Tree(FILES, lambda name: FILES.get(name, ""))


def choose(*changed):
    return quick.choose(list(changed), TREE)


class SmallTree(unittest.TestCase):
    def test_a_source_is_touched_by_all_that_it_uses_and_reached_through_its_header(self):
        self.assertEqual(choose("lissom/core/text.cpp").suites, {"Mesh", "Formats", "Basis"})
        self.assertEqual(choose("lissom/fe/mesh.cpp").suites, {"Mesh", "Formats", "Basis"})
        self.assertEqual(choose("lissom/cms/basis.cpp").suites, {"Basis"})
        self.assertEqual(choose("lissom/time/step.hpp").suites, {"Step"})
        self.assertEqual(choose("tests/helper.hpp").suites, {"Step"})
        self.assertEqual(choose("tests/fe/mesh_test.cpp").suites, {"Mesh", "Formats"})

    def test_a_source_without_a_header_is_that_of_the_headers_beside_it(self):
        self.assertEqual(choose("lissom/fe/read_x.cpp").suites, {"Mesh", "Formats", "Basis"})

    def test_the_program_is_tested_by_verb_and_by_folder(self):
        self.assertEqual(choose("apps/lissom/sweep.cpp").tests, {"cli.sweep", "cli.program", "install.manual", "install.completion"})
        # what all verbs share
        self.assertIn("cli.modes", choose("apps/lissom/main.cpp").tests)
        self.assertEqual(choose("lissom/fe/mesh.cpp").tests, {f"cli.{name}" for name in quick.CLI_OF_FOLDER["fe"]})
        # core has no line in the table: all, but the long ones
        self.assertEqual(choose("lissom/core/text.cpp").tests, {"cli.modes", "cli.sweep", "cli.program"})

    def test_everything_else_goes_by_who_uses_it(self):
        self.assertEqual(choose("lissom/report/page/plot.js").tests, {"browser.page", "cli.report"})
        self.assertEqual(choose("tests/cli/modes_test.py").tests, {"cli.modes", "cli.sweep"})
        self.assertEqual(choose("docs/howto/a.md").tests, {"docs.links", "cli.howto"})
        self.assertEqual(choose("scripts/check-links").tests, {"docs.links"})
        self.assertEqual(choose("docs/images/a.png").tests, set())
        self.assertEqual(choose("tests/data/check_mesh.py").suites, {"Written"})
        self.assertEqual(choose("examples/plotting.py").tests, {"cli.examples", "cli.howto", "cli.readme_tables"})

    def test_what_belongs_to_nothing_touches_everything(self):
        for name in ("CMakeLists.txt", "cmake/units.cmake", "scripts/unheard-of", "tests/CMakeLists.txt", "new/file"):
            self.assertEqual(choose(name).everything, name)
            self.assertEqual(quick.targets_of(choose(name), [name]), ["all"])
        self.assertIsNone(choose("lissom/core/text.cpp").everything)

    def test_of_ctests_list_the_tests_of_the_suites_and_files_are_taken(self):
        names = ["Mesh.IsRead", "X/Formats.Agree/a", "Basis.IsSmall", "cli.modes", "cli.sweep"]
        choice = choose("tests/fe/mesh_test.cpp", "tests/cli/sweep_test.py")
        self.assertEqual(quick.chosen(choice, names), [1, 2, 5])
        self.assertEqual(quick.targets_of(choice, []), ["lissom", "lissom_tests"])
        self.assertEqual(quick.left_out(choice, names, [1, 2, 5]), "1 unit tests, cli.modes, the fuzz corpus")
        self.assertEqual(quick.chosen(choose("CMakeLists.txt"), names), [1, 2, 3, 4, 5])


class ThisTree(unittest.TestCase):
    def setUp(self):
        names = [str(path.relative_to(SOURCE)) for folder in ("lissom", "apps", "tests", "python", "scripts") for path in (SOURCE / folder).rglob("*")
                 if path.is_file()]
        self.tree = quick.Tree(set(names), lambda name: (SOURCE / name).read_text(errors="replace"))

    def test_the_table_has_every_folder_but_the_one_that_all_use_and_tests_that_exist(self):
        folders = {path.name for path in (SOURCE / "lissom").iterdir() if path.is_dir()}
        self.assertEqual(set(quick.CLI_OF_FOLDER), folders - {"core"})
        tests = set(self.tree.python_tests.values())
        for folder, names in quick.CLI_OF_FOLDER.items():
            self.assertEqual({f"cli.{name}" for name in names} - tests, set(), folder)
        self.assertEqual(set(quick.LONG) - tests, set())

    def test_every_test_file_is_reached_by_its_own_change(self):
        for name in self.tree.files:
            if name.endswith("_test.cpp"):
                suites = self.tree.suites(name)
                self.assertTrue(suites, name)
                self.assertLessEqual(suites, quick.choose([name], self.tree).suites)

    def test_a_joint_touches_mechanisms_and_not_matrices(self):
        suites = quick.choose(["lissom/mbs/joint.cpp"], self.tree).suites
        self.assertIn("Joint", suites)
        self.assertNotIn("Cholesky", suites)

    def test_it_lists_without_building(self):
        if subprocess.run(["git", "rev-parse", "HEAD"], cwd=SOURCE, capture_output=True).returncode != 0:
            self.skipTest("the sources are not a git checkout")
        done = subprocess.run([SOURCE / "scripts/quick", "--list", "--base", "HEAD"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"nothing differs from|to be built: ")
        wrong = subprocess.run([SOURCE / "scripts/quick", "--list", "--base", "no-such-commit"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("no-such-commit", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
