"""Models as programs from Python."""

import subprocess
import unittest
import zipfile

import lissom
from linear_test import carts
from support import FolderTest


class Exports(FolderTest):
    def test_a_model_is_written_compiled_and_agrees(self):
        rom = carts().train().rom
        told = rom.export(c="c", fmu="carts.fmu", name="carts")
        self.assertEqual(told["files"], ["c/lissom_carts.h", "c/lissom_carts.c", "c/lissom_carts_test.c", "carts.fmu"])
        self.assertEqual([one["name"] for one in told["inputs"]], rom.inputs)
        self.assertEqual([one["name"] for one in told["outputs"]], rom.columns)
        subprocess.run(["cc", "-std=c99", "-O2", "c/lissom_carts.c", "c/lissom_carts_test.c", "-o", "check", "-lm"], check=True)
        done = subprocess.run(["./check"], capture_output=True, text=True, check=True)
        self.assertIn("agrees with Lissom", done.stdout)
        self.assertIn("modelDescription.xml", zipfile.ZipFile("carts.fmu").namelist())

    def test_wrong_calls_are_told(self):
        rom = carts().train().rom
        with self.assertRaisesRegex(lissom.InputError, "nothing to write"):
            rom.export()
        with self.assertRaisesRegex(lissom.InputError, "expected 2 or 3"):
            rom.export(fmu="carts.fmu", fmi=4)


if __name__ == "__main__":
    unittest.main()
