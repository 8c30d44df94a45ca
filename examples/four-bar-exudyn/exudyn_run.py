#!/usr/bin/env python3
"""The flexible four-bar in Exudyn; the positions of all nodes over time go into an .npz file that `lissom train` reads.

    lissom modes bar.msh     --material E=210e9,nu=0.288,rho=7829 --mass lumped --count 1 --no-paraview --out matrices
    lissom modes coupler.msh --material E=210e9,nu=0.288,rho=7829 --mass lumped --count 1 --no-paraview --out matrices
    python exudyn_run.py matrices --out run.npz

Needs exudyn, numpy, scipy and h5py (pip install exudyn h5py). Taken from Lissom: K and M of the nodes, as any FE program
would give them. All else is Exudyn's: Hurty-Craig-Bampton modes (FEMinterface), floating frames (ObjectFFRFreducedOrder),
spherical joints at nodes, and the generalized-alpha integrator of index 3. Prints what came out as JSON.
"""
import argparse
import contextlib
import json
import sys
import time
from pathlib import Path

import exudyn
import h5py
import numpy as np
import scipy.linalg
import scipy.sparse
from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
from exudyn.itemInterface import LoadForceVector, MarkerBodyPosition, MarkerSuperElementPosition, SensorSuperElement, SphericalJoint

DISTANCE, PIVOT = 0.135, 0.0925  # [m] between the hinges of the coupler, and above those of the ground
FORCE, RAMP = 5.0, 0.01  # [N], [s]
FEET, TOPS = ("foot left", "foot right"), ("top left", "top right")
ENDS = ("left 1", "left 2", "right 1", "right 2")


class Body:
    """Nodes (n, 3), their ids, node sets and Exudyn's modes of a body file (docs/reference/body-file.md)."""

    def __init__(self, path, interfaces, eigenmodes):
        with h5py.File(path) as file:
            self.points, self.ids = file["model/points"][:], file["model/node_ids"][:]
            K, M = (self.matrix(file[f"model/{name}"]) for name in "KM")
            group = file["mesh/node_sets"]
            ends = group["offsets"][:]
            sets = {name.decode(): group["indices"][a:b] for name, a, b in zip(group["names"], ends[:-1], ends[1:])}
        self.node = {name: int(sets[name][0]) for name in interfaces}
        self.fem = FEMinterface()
        self.fem.nodes = {"Position": self.points}
        self.fem.massMatrix, self.fem.stiffnessMatrix = M, K
        self.fem.ComputeHurtyCraigBamptonModes([[node] for node in self.node.values()], eigenmodes,
                                               computationMode=HCBstaticModeSelection.allBoundaryNodes,
                                               excludeRigidBodyMotion=False)
        # the floating frame has the rigid motions: leave the flexible natural modes of the reduced body
        modes = self.fem.modeBasis["matrix"]
        _, vectors = scipy.linalg.eigh(modes.T @ (K @ modes), modes.T @ (M @ modes))
        self.fem.modeBasis = {"matrix": modes @ vectors[:, 6:], "type": "NormalModes"}

    @staticmethod
    def matrix(group):
        lower = scipy.sparse.csc_matrix((group["data"][:], group["indices"][:], group["indptr"][:]), shape=tuple(group.attrs["shape"]))
        return (lower + scipy.sparse.tril(lower, -1).T).tocsr()


def build(bar, coupler):
    """The mechanism, and the sensors of all nodes of each body."""
    mbs = exudyn.SystemContainer().AddSystem()
    ground = mbs.CreateGround()
    bodies = {"left": (bar, (0, 0, 0)), "coupler": (coupler, (0, 0, PIVOT)), "right": (bar, (0, DISTANCE, 0))}
    number, sensors = {}, {}
    for name, (body, place) in bodies.items():
        reduced = ObjectFFRFreducedOrderInterface(body.fem)
        number[name] = reduced.AddObjectFFRFreducedOrder(mbs, positionRef=list(place))["oFFRFreducedOrder"]

    def marker(name, place):
        return mbs.AddMarker(MarkerSuperElementPosition(bodyNumber=number[name], meshNodeNumbers=[bodies[name][0].node[place]],
                                                        weightingFactors=[1]))

    for name in ("left", "right"):
        for foot in FEET:
            point = bar.points[bar.node[foot]] + bodies[name][1]
            mbs.AddObject(SphericalJoint(markerNumbers=[
                mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=list(point))), marker(name, foot)]))
        for top, end in zip(TOPS, "12"):
            mbs.AddObject(SphericalJoint(markerNumbers=[marker(name, top), marker("coupler", f"{name} {end}")]))
    mbs.AddLoad(LoadForceVector(markerNumber=marker("left", "top right"), loadVector=[0, FORCE, 0],
                                loadVectorUserFunction=lambda mbs, t, load: [0, FORCE * min(1, t / RAMP), 0]))
    for name, (body, _) in bodies.items():
        sensors[name] = [mbs.AddSensor(SensorSuperElement(bodyNumber=number[name], meshNodeNumber=i, storeInternal=True, writeToFile=False,
                                                          outputVariableType=exudyn.OutputVariableType.Position))
                         for i in range(len(body.points))]
    mbs.Assemble()
    return mbs, sensors, {name: body for name, (body, _) in bodies.items()}


def solve(mbs, options):
    settings = exudyn.SimulationSettings()
    ti = settings.timeIntegration
    ti.endTime, ti.numberOfSteps = options.end, round(options.end / options.step)
    ti.adaptiveStep = ti.automaticStepSize = False  # a step that does not converge ends the run
    ti.generalizedAlpha.spectralRadius = options.rho
    ti.generalizedAlpha.useNewmark = ti.generalizedAlpha.useIndex2Constraints = False
    ti.newton.useModifiedNewton = options.modified
    ti.newton.relativeTolerance, ti.newton.absoluteTolerance = options.tolerance, options.absolute_tolerance
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = options.sample
    settings.parallel.numberOfThreads = 1
    mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", type=Path, help="folder with bar.body.h5 and coupler.body.h5")
    parser.add_argument("--out", required=True, help="the .npz file")
    parser.add_argument("--step", type=float, default=2.5e-5, help="[s] (default 2.5e-5)")
    parser.add_argument("--end", type=float, default=0.2, help="[s] (default 0.2)")
    parser.add_argument("--sample", type=float, default=2e-3, help="[s] between samples, a multiple of the step (default 2e-3)")
    parser.add_argument("--rho", type=float, default=0.8, help="spectral radius at infinity (default 0.8)")
    parser.add_argument("--tolerance", type=float, default=1e-12, help="relative, of Newton's residual (default 1e-12)")
    parser.add_argument("--absolute-tolerance", type=float, default=1e-9, help="of Newton's residual [N, m] (default 1e-9)")
    parser.add_argument("--modified", action="store_true", help="modified Newton: faster, and the joints gape more")
    parser.add_argument("--eigenmodes", type=int, default=4, help="fixed-interface modes of each body (default 4)")
    options = parser.parse_args()

    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        bar = Body(options.matrices / "bar.body.h5", FEET + TOPS, options.eigenmodes)
        coupler = Body(options.matrices / "coupler.body.h5", ENDS, options.eigenmodes)
        mbs, sensors, bodies = build(bar, coupler)
        solve(mbs, options)

    arrays, positions = {}, {}
    for name, body in bodies.items():
        data = np.stack([np.array(mbs.GetSensorStoredData(sensor)) for sensor in sensors[name]], axis=1)
        # the samples lie on the grid to round-off, and a time is written as 0.002, not as 0.0020000000000000005
        times = options.sample * np.arange(len(data))
        if np.abs(data[:, 0, 0] - times).max() > 1e-9 * options.end or len(data) != round(options.end / options.sample) + 1:
            sys.exit("Exudyn's samples are not on the grid: a step was cut, or sample is no multiple of step")
        positions[name] = arrays[name] = data[:, :, 1:]
        arrays[f"{name}/node_ids"] = body.ids
        arrays["time"] = times
    np.savez_compressed(options.out, **arrays)

    gaps = [positions[name][:, bar.node[foot]] - positions[name][0, bar.node[foot]] for name in ("left", "right") for foot in FEET]
    gaps += [positions[name][:, bar.node[top]] - positions["coupler"][:, coupler.node[f"{name} {end}"]]
             for name in ("left", "right") for top, end in zip(TOPS, "12")]
    print(json.dumps({"exudyn": exudyn.__version__, "samples": len(arrays["time"]), "nodes": sum(len(x[0]) for x in positions.values()),
                      "flexible_modes": {name: body.fem.modeBasis["matrix"].shape[1] for name, body in bodies.items()},
                      "largest_joint_gap": float(max(np.linalg.norm(gap, axis=1).max() for gap in gaps)),
                      "loaded_node": positions["left"][-1, bar.node["top right"]].tolist(), "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
