#!/usr/bin/env python3
"""Craig-Bampton reduction by Exudyn of a free body that Lissom has assembled: one call, timed, as JSON.

    exudyn_craig_bampton.py NAME.body.h5 --interfaces left right --modes 8

Needs exudyn, numpy, scipy and h5py; benchmarks/run.py starts it with the Python named by EXUDYN_PYTHON. The body file
(docs/reference/body-file.md) gives K, M, the nodes and the node sets, so that both programs reduce the same matrices.

What Exudyn 1.13 computes (exudyn/FEM.py, FEMinterface.ComputeHurtyCraigBamptonModes), in its standard settings
useSparseSolver = True and computationMode = HCBstaticModeSelection.RBE2:

- All three displacements of every node of an interface's set are boundary coordinates. They follow six coordinates of
  the interface rigidly: a node at p moves by t + (p - p0) x r, with t the translation, p0 the mean of the set's nodes
  (equal weights) and r the rotation with its sign reversed. It is a rigid spider (RBE2) without mass of its own.
- Fixed-interface modes: the smallest eigenvalues of (Kii, Mii) with all boundary coordinates at zero, by ARPACK around
  a shift of 0 (scipy's eigsh), which factorises Kii.
- Constraint modes: -Kii^-1 Kib T for the rigid motions T, by a second factorisation of Kii (scipy's factorized).
- excludeRigidBodyMotion = True, its default, leaves out the six columns of the first interface, as they are what its
  floating frame stands for. We keep them (False), which costs six right-hand sides more: the body is then free, with
  6 columns per interface + modes, and its frequencies are those of Lissom's body with one rigid spider per set,
  interfaces = these spiders, method = "fixed", count = modes, and consistent mass. Where p0 lies does not matter for
  the frequencies.
- Other choices of computationMode: allBoundaryNodes (three constraint modes per node of the sets), RBE3 (six averaged
  motions per set, made by a constraint on the weighted mean motion) and noStaticModes (which 1.13 names wrongly in the
  function, so that it cannot be called).

Printed: wall and CPU seconds of that one call, and the natural frequencies [Hz] of the reduced body Phi^T K Phi,
Phi^T M Phi (computed outside the timed part), the six rigid ones included, and those with the interfaces held.
"""
import argparse
import contextlib
import json
import resource
import sys
import time

import h5py
import numpy as np
import scipy
import scipy.linalg
import scipy.sparse as sparse


def read_matrix(group):
    shape = tuple(int(n) for n in group.attrs["shape"])
    matrix = sparse.csc_matrix((group["data"][:], group["indices"][:], group["indptr"][:]), shape=shape)
    if group.attrs["triangle"] == b"lower":
        matrix = matrix + sparse.tril(matrix, -1).T
    return matrix.tocsr()


def read_body(path, interfaces):
    """K, M (csr), points (n, 3) and the node lists of the interfaces of a body file."""
    with h5py.File(path) as file:
        if file.attrs["format"] != b"lissom-body":
            sys.exit(f"{path}: expected a body file of Lissom")
        points = file["model/points"][:]
        dofs = file["model/dofs"][:]
        # Exudyn takes x y z of node after node, without reduction
        expected = np.stack([np.repeat(np.arange(len(points)), 3), np.tile([0, 1, 2], len(points))], axis=1)
        if not np.array_equal(dofs, expected) or file["model/recovery/data"].size:
            sys.exit(f"{path}: expected three displacements of every node and no spider")
        group = file["mesh/node_sets"]
        names, ends = [name.decode() for name in group["names"]], group["offsets"][:]
        sets = {name: group["indices"][a:b] for name, a, b in zip(names, ends[:-1], ends[1:])}
        missing = [name for name in interfaces if name not in sets]
        if missing:
            sys.exit(f"{path}: no node set {', '.join(missing)}; there are {', '.join(sets)}")
        return read_matrix(file["model/K"]), read_matrix(file["model/M"]), points, [sets[name] for name in interfaces]


def reduce(K, M, points, node_lists, count):
    """The mode basis of Exudyn, fixed-interface frequencies [Hz], wall and CPU seconds of the call."""
    import exudyn
    from exudyn.FEM import FEMinterface, HCBstaticModeSelection

    fem = FEMinterface()
    fem.nodes = {"Position": points}
    fem.massMatrix, fem.stiffnessMatrix = M, K
    wall, cpu = time.perf_counter(), time.process_time()
    fem.ComputeHurtyCraigBamptonModes([list(map(int, nodes)) for nodes in node_lists], count, useSparseSolver=True,
                                      computationMode=HCBstaticModeSelection.RBE2, excludeRigidBodyMotion=False)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return exudyn.__version__, fem.modeBasis["matrix"], sorted(fem.GetEigenFrequenciesHz().tolist()), wall, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("body", help="body file of a free body without spiders")
    parser.add_argument("--interfaces", nargs="+", required=True, help="node sets, one per interface, that share no node")
    parser.add_argument("--modes", type=int, default=8, help="fixed-interface modes (default 8)")
    arguments = parser.parse_args()
    K, M, points, node_lists = read_body(arguments.body, arguments.interfaces)
    if len(np.unique(np.concatenate(node_lists))) != sum(map(len, node_lists)):
        sys.exit("the interfaces share nodes")
    # Exudyn reports its progress on standard output, which is for our JSON
    with contextlib.redirect_stdout(sys.stderr):
        version, Phi, fixed, wall, cpu = reduce(K, M, points, node_lists, arguments.modes)
    K_reduced, M_reduced = Phi.T @ (K @ Phi), Phi.T @ (M @ Phi)
    # rigid-body modes come out around zero, on either side
    eigenvalues = scipy.linalg.eigh((K_reduced + K_reduced.T) / 2, (M_reduced + M_reduced.T) / 2, eigvals_only=True)
    frequencies = np.sign(eigenvalues) * np.sqrt(np.abs(eigenvalues)) / (2 * np.pi)
    print(json.dumps({
        "exudyn": version, "scipy": scipy.__version__, "nodes": len(points), "degrees_of_freedom": K.shape[0],
        "interface_nodes": [len(nodes) for nodes in node_lists], "columns": Phi.shape[1], "wall_seconds": wall,
        "cpu_seconds": cpu, "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "frequencies_hz": frequencies.tolist(), "fixed_frequencies_hz": fixed}, indent=2))


if __name__ == "__main__":
    main()
