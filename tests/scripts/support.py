"""What the tests of scripts share."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ.get("LISSOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


def load(path):
    """A script as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(pathlib.Path(path).stem.replace("-", "_"), str(SOURCE / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
