"""Writes the same matrices with scipy and h5py, as an independent writer for the importers' tests.

write_matrices.py FOLDER. Entry (i, j) of K is 100 i + j + 0.5 where 3 i + 7 j is divisible by 5, else 0; 12 by 12.
D is 3 by 4 with 10 i + j + 1. Exit code 77 when a package is missing.
"""
import sys
from pathlib import Path

try:
    import h5py
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
except ImportError as error:
    print(error)
    sys.exit(77)

folder = Path(sys.argv[1])
i, j = np.meshgrid(range(12), range(12), indexing="ij")
K = sp.csc_matrix(np.where((3 * i + 7 * j) % 5 == 0, 100.0 * i + j + 0.5, 0))
D = np.array([[10.0 * r + c + 1 for c in range(4)] for r in range(3)])
variables = {"K": K, "D": D, "s": {"K": K}, "whole": D.astype(np.int16), "text": "abc"}
scipy.io.savemat(folder / "compressed.mat", variables, do_compression=True)
scipy.io.savemat(folder / "plain.mat", variables, do_compression=False)
scipy.io.savemat(folder / "version4.mat", {"K": K, "D": D}, format="4")
scipy.io.savemat(folder / "complex.mat", {"K": K * (1 + 2j)})

with h5py.File(folder / "matrices.h5", "w") as f:
    for name, A in (("a/csc", K), ("a/csr", K.tocsr())):
        group = f.create_group(name)
        group.attrs["h5sparse_format" if name == "a/csr" else "format"] = A.format
        group.attrs["h5sparse_shape" if name == "a/csr" else "shape"] = A.shape
        group["data"], group["indices"], group["indptr"] = A.data, A.indices, A.indptr
    A = K.tocoo()
    group = f.create_group("coo")
    group["data"], group["row"], group["col"] = A.data, A.row, A.col
    group["shape"] = np.array(A.shape)
    f["D"] = D
    f.create_dataset("packed", data=D.astype(np.float32), compression="gzip")
    f["vector"] = np.arange(3.0)
    f["loop"] = f["/"]
    f["nowhere"] = h5py.SoftLink("/no/such/thing")
