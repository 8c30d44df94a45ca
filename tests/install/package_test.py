"""The Debian package: built from the build that is tested, and looked into."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from support import BUILD, SOURCE, InstallTest

VERSION = re.search(r"project\(lissom VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)


class DebianPackage(InstallTest):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="lissom-deb-")
        cls.addClassCleanup(holder.cleanup)
        # the quickest compression; `make deb` has the best
        done = subprocess.run(["cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", holder.name,
                               "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", "-D", f"CPACK_OUTPUT_FILE_PREFIX={holder.name}"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        found = list(pathlib.Path(holder.name).glob("*.deb"))
        assert len(found) == 1, found
        cls.deb = found[0]

    def field(self, name):
        return self.run_program("dpkg-deb", "-f", self.deb, name).strip()

    def test_it_says_what_it_is_and_needs(self):
        self.assertEqual(self.deb.name, f"lissom_{VERSION}_{self.field('Architecture')}.deb")
        self.assertEqual(self.field("Package"), "lissom")
        self.assertEqual(self.field("Version"), VERSION)
        needed = re.split(r",\s*", self.field("Depends"))
        names = {word.split()[0] for word in needed}
        # of the report and the Python module, then those that the program is linked with
        for name in ("libjs-three", "node-d3", "python3-numpy", "python3-scipy", "libc6", "libmetis5", "libopenblas0"):
            self.assertTrue(any(word.startswith(name) for word in names), f"{name} in {sorted(names)}")
        self.assertIn("gmsh", self.field("Recommends"))

    def test_it_holds_what_an_installation_does(self):
        listed = self.run_program("dpkg-deb", "-c", self.deb).splitlines()
        names = {line.split()[5] for line in listed}
        for name in ("./usr/bin/lissom", "./usr/lib/liblissom.a", "./usr/include/lissom/mbs/system.hpp",
                     "./usr/lib/cmake/lissom/lissom-config.cmake", "./usr/share/man/man1/lissom.1.gz",
                     "./usr/share/bash-completion/completions/lissom", "./usr/share/zsh/vendor-completions/_lissom",
                     "./usr/share/lissom/examples/four-bar/study.toml", "./usr/share/doc/lissom/copyright",
                     "./usr/share/doc/lissom/changelog.gz"):
            self.assertIn(name, names)
        for line in listed:
            self.assertTrue(line.split()[1] == "root/root", line)
            self.assertTrue(line.split()[5].startswith("./usr/") or line.split()[5] in ("./", "./usr/"), line)
        if (BUILD / "python/lissom/__init__.py").exists():
            self.assertIn("./usr/lib/python3/dist-packages/lissom/__init__.py", names)

    def test_it_says_under_which_licence_it_is_passed_on(self):
        self.run_program("dpkg-deb", "-x", self.deb, "root")
        text = (self.folder / "root/usr/share/doc/lissom/copyright").read_text()
        self.assertIn("License: BSD-3-Clause", text)
        self.assertNotIn("License: GPL", text)
        # the program in it runs
        out = self.run_program("root/usr/bin/lissom", "--version")
        self.assertEqual(out.splitlines()[0], f"lissom {VERSION}")

    def test_lintian_finds_no_error(self):
        done = subprocess.run(["lintian", "--tag-display-limit", "0", "--allow-root", self.deb], capture_output=True, text=True)
        errors = [line for line in done.stdout.splitlines() if line.startswith("E: ")]
        self.assertEqual(errors, [], done.stdout)


if __name__ == "__main__":
    unittest.main()
