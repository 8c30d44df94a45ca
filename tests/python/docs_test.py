"""Every ```python block of docs/reference/python.md runs, in its order, in one session, in an empty folder."""

import contextlib
import io
import re
import unittest
import warnings

from support import SOURCE, FolderTest


class Documentation(FolderTest):
    def test_the_examples_run(self):
        text = (SOURCE / "docs" / "reference" / "python.md").read_text()
        blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S))
        self.assertGreater(len(blocks), 8)
        names = {}
        for block in blocks:
            line = text[:block.start()].count("\n") + 1
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # the same line numbers in a traceback as on the page
                exec(compile("\n" * line + block.group(1), "python.md", "exec"), names)


if __name__ == "__main__":
    unittest.main()
