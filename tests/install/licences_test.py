"""What the program and the Python module are linked with, and under which licences."""

import re
import subprocess
import unittest

from support import BUILD, SOURCE, InstallTest


def linked(path):
    """The shared libraries that a binary names itself, without versions: libhdf5_serial, libc, ..."""
    text = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    return sorted(re.split(r"\.so", name)[0] for name in re.findall(r"NEEDED\s+(\S+)", text))


def licences():
    """The table of docs/howto/install.md: {library: licence}."""
    section = (SOURCE / "docs/howto/install.md").read_text().split("## Licence")[1]
    table = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].startswith(("lib", "ld-")):
            for name in cells[0].split(", "):
                table[name] = cells[2]
    return table


class Licences(InstallTest):
    def binaries(self):
        return [BUILD / "lissom", *(BUILD / "python/lissom").glob("_core*.so")]

    def test_every_library_is_in_the_table_and_none_is_under_the_gpl(self):
        table = licences()
        for path in self.binaries():
            names = linked(path)
            self.assertIn("libmetis", names)
            for name in names:
                self.assertIn(name, table, f"{path} is linked with {name}; add it, with its licence, to docs/howto/install.md")
                print(f"{path.name}: {name}: {table[name]}")
                # the run time of GCC is meant for programs under any licence
                if "Exception" not in table[name]:
                    self.assertFalse(re.search(r"(?<!L)GPL", table[name]), f"{name}: {table[name]}")

    def test_nothing_under_the_gpl_comes_with_other_libraries(self):
        # libraries of this field that are under the GPL without an exception
        gpl = re.compile(r"lib(cholmod|umfpack|spqr|superlu_dist|fftw3|gsl|readline|gmsh|cgal|ginac|cln)\b")
        for path in self.binaries():
            text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
            self.assertIn("libhdf5", text)
            self.assertEqual([line for line in text.splitlines() if gpl.search(line)], [])


if __name__ == "__main__":
    unittest.main()
