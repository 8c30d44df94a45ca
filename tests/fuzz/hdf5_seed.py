#!/usr/bin/python3
"""Prints what is in an HDF5 file as the text that tests/fuzz/hdf5_fuzz.cpp makes a file of: hdf5_seed.py FILE > SEED.

Large arrays of real numbers are cut to the first few, which the target repeats: their values say little about the reader. Lists
stay (times must ascend), and so do small matrices (which must be symmetric). Texts lose their blanks.
"""
import sys

import h5py
import numpy as np

few = 6


def words(values, data):
    kind = data.dtype.kind
    dims = "x".join(str(n) for n in data.shape) or "-"
    flat = np.atleast_1d(values).ravel()
    if kind == "O" or kind == "S":
        texts = [t.decode() if isinstance(t, bytes) else str(t) for t in flat]
        texts = [t.replace(" ", "_").replace("\n", "_").replace("\t", "_")[:200] or "_" for t in texts]
        return ["v" if kind == "O" else f"s{data.dtype.itemsize}", dims, *texts]
    numbers = flat[:few] if kind == "f" and len(data.shape) > 1 and flat.size > 150 else flat[:400]
    return [f"{kind}{data.dtype.itemsize}", dims, *[f"{n:.6g}" if kind == "f" else str(n) for n in numbers]]


def attributes(path, thing):
    for name in thing.attrs:
        kind = thing.attrs.get_id(name)
        print("a", path, name, *words(thing.attrs[name], kind))


def visit(path, group):
    attributes(path, group)
    for name, thing in group.items():
        full = path.rstrip("/") + "/" + name.replace(" ", "_")
        if isinstance(thing, h5py.Group):
            print("g", full)
            visit(full, thing)
        else:
            print("d", full, *words(thing[()], thing))
            attributes(full, thing)


with h5py.File(sys.argv[1]) as file:
    visit("/", file)
