"""Writes the same trajectories with NumPy, SciPy and h5py, as independent writers for the importers' tests.

write_trajectories.py FOLDER. Sample j, node i, coordinate c of body b (left 0, right 1) is
(1000 j + 10 i + c + b / 2) / 7; 7 samples at j / 8 s, 4 nodes of left and 5 of right. Exit code 77 when a package
is missing.
"""
import sys
from pathlib import Path

try:
    import h5py
    import numpy as np
    import scipy.io
except ImportError as error:
    print(error)
    sys.exit(77)

folder = Path(sys.argv[1])
k = 7
j, i, c = np.meshgrid(range(k), range(5), range(3), indexing="ij")
right = (1000 * j + 10 * i + c + 0.5) / 7
left = ((1000 * j + 10 * i + c) / 7)[:, :4]
time = np.arange(k) / 8
flat = right.reshape(k, 15)
left_ids, right_ids = np.array([4, 3, 20, 1]), np.array([7, 8, 9, 10, 11])

np.savez(folder / "plain.npz", left=left, right=flat, time=time)
np.savez_compressed(folder / "packed.npz", **{"left": left, "right": flat, "t": time, "left/node_ids": left_ids})
for name, array in {
    "c": left, "fortran": np.asfortranarray(left), "big": left.astype(">f8"), "single": left.astype(np.float32),
    "flat": left.reshape(k, 12), "flat_fortran": np.asfortranarray(left.reshape(k, 12)),
    "last": left.transpose(2, 1, 0).copy(), "last_fortran": np.asfortranarray(left.transpose(2, 1, 0)),
    "flat_last": left.reshape(k, 12).T.copy(), "whole": np.round(left * 7).astype(np.int32),
    "whole_big": np.round(left * 7).astype(">i8"), "complex": left * (1 + 1j), "text": np.array(["a", "b"]),
    "wrong": left.transpose(1, 0, 2).copy(), "time": time, "ids": left_ids,
    "square": np.zeros((12, 12)), "time12": np.arange(12.0), "cube": np.zeros((3, 4, 3)), "time3": np.arange(3.0),
}.items():
    np.save(folder / f"{name}.npy", array)

variables = {"left": left, "right": flat, "time": time, "text": "abc"}
scipy.io.savemat(folder / "five.mat", variables)
scipy.io.savemat(folder / "seven.mat", variables, do_compression=True)
scipy.io.savemat(folder / "four.mat", {"left": left.reshape(k, 12), "right": flat, "time": time}, format="4")
scipy.io.savemat(folder / "struct.mat", {"left": {"positions": left, "node_ids": left_ids},
                                         "right": {"positions": flat.T}, "t": time})
scipy.io.savemat(folder / "single.mat", {"left": left.astype(np.float32), "right": flat, "time": time})

# as MATLAB writes version 7.3: a head of text in front, arrays by columns
with h5py.File(folder / "seven3.mat", "w", userblock_size=512) as f:
    for name, array in (("left", left), ("right", flat), ("time", time[None, :])):
        f.create_dataset(name, data=array.T, chunks=True, compression="gzip")
        f[name].attrs["MATLAB_class"] = np.bytes_("double")
with h5py.File(folder / "group.h5", "w") as f:
    f.create_dataset("left", data=left, chunks=(2, 4, 3), compression="gzip")
    f["right/positions"] = flat
    f["right/node_ids"] = right_ids
    f["time"] = time
    f["note"] = "text"
    f["loop"] = f["/"]
with h5py.File(folder / "single.h5", "w") as f:
    f["left"], f["right"], f["t"] = left.astype(">f4"), flat, time
