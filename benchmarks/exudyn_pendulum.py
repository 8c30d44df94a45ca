#!/usr/bin/env python3
"""A flexible pendulum in Exudyn, from a body that Lissom has assembled and reduced: one simulation, timed, as JSON.

    exudyn_pendulum.py beam.body.h5 beam.reduced.h5 --interface left --tip 17 --modes 8 --step 1e-3 --end 1

The body is where its mesh is, undeformed and at rest. The mean of the nodes of the interface's set is held in space by a
spherical joint, and gravity pulls. Needs exudyn, numpy, scipy and h5py; benchmarks/run.py and tests/cli/exudyn_test.py
start it with the Python named by EXUDYN_PYTHON.

What is taken from Lissom and what is not: K and M of the nodes and the node sets come from the body file
(docs/reference/body-file.md), the shapes of the flexible natural modes from the reduced-body file
(docs/reference/reduced-body-file.md). All that the equations of motion need (masses, inertia, the integrals of modes with
modes) is made of these by Exudyn itself, as are the joint, the equations, and the integrator.

What Exudyn 1.13 does here:

- ObjectFFRFreducedOrder, its floating-frame object in C++ without user functions, with Euler parameters; the fast module
  (exudynCPPfast, no range checks), chosen by sys.exudynFast before the import.
- The joint's marker is MarkerSuperElementPosition, the mean of the nodes with equal weights. It goes through all its nodes
  whenever it is evaluated, so that its cost grows with them.
- Generalized-alpha of index 3 with fixed step. Its modified Newton keeps the Jacobian until an iteration contracts by less
  than 0.5. A step ends when the norm of the residual is below tolerance times the first one's, or below an absolute
  tolerance [N, m]; round-off in the residual of stiff modes can lie above its own default of 1e-8 and 1e-10 and then
  stalls. A step that does not converge would be cut into shorter ones, and all output after it leaves the grid: cutting is
  switched off, such a run fails instead.

Printed: wall and CPU seconds of SolveDynamic alone, steps, Newton iterations, Jacobians, the times of the samples, and
the position of the tip there.
"""
import argparse
import contextlib
import json
import sys
import time

import h5py
import numpy as np

from exudyn_craig_bampton import read_matrix

# before exudyn is imported: the module without range checks
sys.exudynFast = True


class Body:
    """K and M (csr), node positions (n, 3), node sets by name, and mode shapes (3 n, modes) of a body."""

    def __init__(self, body_path, reduced_path, modes=None):
        with h5py.File(body_path) as file:
            if file.attrs["format"] != b"lissom-body":
                sys.exit(f"{body_path}: expected a body file of Lissom")
            if file["model/recovery/data"].size:
                sys.exit(f"{body_path}: expected a body without spiders")
            self.points = file["model/points"][:]
            self.K, self.M = read_matrix(file["model/K"]), read_matrix(file["model/M"])
            self.index_of = {int(node): i for i, node in enumerate(file["model/node_ids"][:])}
            group = file["mesh/node_sets"]
            ends = group["offsets"][:]
            self.sets = {name.decode(): group["indices"][a:b] for name, a, b in zip(group["names"], ends[:-1], ends[1:])}
        with h5py.File(reduced_path) as file:
            if file.attrs["format"] != b"lissom-reduced-body":
                sys.exit(f"{reduced_path}: expected a reduced-body file of Lissom")
            rigid = int(file["natural_modes"].attrs["rigid_count"])
            flexible = file["natural_modes/eigenvectors"][:, rigid:]
            if modes is not None and flexible.shape[1] < modes:
                sys.exit(f"{reduced_path}: expected {modes} flexible modes, there are {flexible.shape[1]}")
            self.eigenvalues = file["natural_modes/eigenvalues"][rigid:][:modes]
            rows = [self.index_of[int(node)] for node in file["nodes/node_ids"][:]]
            if sorted(rows) != list(range(len(self.points))):
                sys.exit(f"{reduced_path}: expected the modes at all nodes of {body_path}")
            shapes = np.zeros((len(self.points), 3, flexible[:, :modes].shape[1]))
            shapes[rows] = (file["nodes/modes"][:] @ flexible[:, :modes]).reshape(len(rows), 3, -1)
            self.modes = shapes.reshape(3 * len(rows), -1)

    def nodes(self, name):
        """Node indices of a set, or of the one node of "node 17"."""
        if name.startswith("node "):
            return [self.index_of[int(name[5:])]]
        if name not in self.sets:
            sys.exit(f"no node set '{name}'; there are {', '.join(self.sets)}")
        return list(map(int, self.sets[name]))


class System:
    """A mechanism of such bodies."""

    def __init__(self, gravity):
        import exudyn

        self.exudyn, self.gravity = exudyn, list(gravity)
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.CreateGround()
        self.sensors = {}

    def add(self, body, position=(0, 0, 0)):
        """The number of the body's object."""
        from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface

        fem = FEMinterface()
        fem.nodes = {"Position": body.points}
        fem.massMatrix, fem.stiffnessMatrix = body.M, body.K
        fem.modeBasis = {"matrix": body.modes, "type": "NormalModes"}
        reduced = ObjectFFRFreducedOrderInterface(fem)
        return reduced.AddObjectFFRFreducedOrder(self.mbs, positionRef=list(position), gravity=self.gravity)["oFFRFreducedOrder"]

    def marker(self, number, nodes):
        """At the mean of the nodes."""
        from exudyn.itemInterface import MarkerSuperElementPosition

        return self.mbs.AddMarker(MarkerSuperElementPosition(bodyNumber=number, meshNodeNumbers=nodes,
                                                             weightingFactors=[1 / len(nodes)] * len(nodes)))

    def ground_marker(self, position):
        from exudyn.itemInterface import MarkerBodyPosition

        return self.mbs.AddMarker(MarkerBodyPosition(bodyNumber=self.ground, localPosition=list(map(float, position))))

    def spherical(self, first, second):
        from exudyn.itemInterface import SphericalJoint

        self.mbs.AddObject(SphericalJoint(markerNumbers=[first, second]))

    def force(self, marker, vector):
        from exudyn.itemInterface import LoadForceVector

        self.mbs.AddLoad(LoadForceVector(markerNumber=marker, loadVector=list(vector)))

    def sense(self, name, number, node):
        from exudyn.itemInterface import SensorSuperElement

        self.sensors[name] = self.mbs.AddSensor(SensorSuperElement(
            bodyNumber=number, meshNodeNumber=node, storeInternal=True, writeToFile=False,
            outputVariableType=self.exudyn.OutputVariableType.Position))

    def simulate(self, options):
        """What there is to print; the options are those of add_options."""
        exudyn = self.exudyn
        self.mbs.Assemble()
        settings = exudyn.SimulationSettings()
        steps = round(options.end / options.step)
        if abs(steps * options.step / options.end - 1) > 1e-9:
            sys.exit("expected a whole number of steps")
        time_settings = settings.timeIntegration
        time_settings.endTime, time_settings.numberOfSteps = options.end, steps
        time_settings.adaptiveStep = False  # a step that does not converge ends the run
        time_settings.automaticStepSize = False
        time_settings.generalizedAlpha.spectralRadius = options.rho
        time_settings.generalizedAlpha.useNewmark = False
        time_settings.generalizedAlpha.useIndex2Constraints = False
        time_settings.newton.useModifiedNewton = True
        time_settings.newton.relativeTolerance = options.tolerance
        time_settings.newton.absoluteTolerance = options.absolute_tolerance
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = options.sample or options.step
        settings.parallel.numberOfThreads = 1
        wall, cpu = time.perf_counter(), time.process_time()
        self.mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha, storeSolver=True)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        solver = self.mbs.sys["dynamicSolver"]
        # no step was cut: as many as were asked for, all of the same length
        if solver.it.currentStepIndex not in (steps, steps + 1) or abs(solver.it.currentStepSize / options.step - 1) > 1e-9:
            sys.exit(f"expected {steps} steps of {options.step} s, Exudyn made {solver.it.currentStepIndex}")
        result = {"exudyn": exudyn.__version__, "module": exudyn._compiledModuleName, "wall_seconds": wall, "cpu_seconds": cpu,
                  "steps": steps, "newton_iterations": solver.it.newtonStepsCount, "jacobians": solver.it.newtonJacobiCount}
        for name, sensor in self.sensors.items():
            data = np.array(self.mbs.GetSensorStoredData(sensor))
            period = settings.solution.sensors.writePeriod
            grid = np.arange(len(data)) * period
            if np.abs(data[:, 0] - grid).max() > 1e-9 * options.end:
                sys.exit("Exudyn's samples are not on the grid")
            result.setdefault("t", data[:, 0].tolist())
            result[name] = data[:, 1:4].tolist()
        return result


def add_options(parser):
    parser.add_argument("--step", type=float, default=1e-3, help="[s] (default 1e-3)")
    parser.add_argument("--end", type=float, default=1, help="[s] (default 1)")
    parser.add_argument("--sample", type=float, default=0, help="[s] between samples, a multiple of the step (default: every step)")
    parser.add_argument("--rho", type=float, default=0.8, help="spectral radius at infinity (default 0.8)")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="relative, of Newton's residual (default 1e-8)")
    parser.add_argument("--absolute-tolerance", type=float, default=1e-9, help="of Newton's residual [N, m] (default 1e-9)")
    parser.add_argument("--gravity", type=float, nargs=3, default=[0, 0, -9.81], metavar=("X", "Y", "Z"), help="[m/s2]")
    parser.add_argument("--repeat", type=int, default=1, help="simulate so many times, print the fastest (default 1)")


def fastest(build, options):
    """The best of options.repeat simulations of a system that build() makes; Exudyn's chatter goes to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        runs = [build().simulate(options) for _ in range(options.repeat)]
    return min(runs, key=lambda run: run["wall_seconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("body", help="body file of a free body without spiders")
    parser.add_argument("reduced", help="reduced-body file of the same mesh, all nodes kept")
    parser.add_argument("--interface", required=True, help='node set, or "node 17", that is held')
    parser.add_argument("--tip", type=int, required=True, help="the user's number of the node that is watched")
    parser.add_argument("--modes", type=int, default=8, help="flexible natural modes (default 8)")
    add_options(parser)
    options = parser.parse_args()
    body = Body(options.body, options.reduced, options.modes)
    held = body.nodes(options.interface)

    def build():
        system = System(options.gravity)
        number = system.add(body)
        system.spherical(system.ground_marker(body.points[held].mean(axis=0)), system.marker(number, held))
        system.sense("tip", number, body.index_of[options.tip])
        return system

    result = fastest(build, options)
    print(json.dumps({**result, "modes": options.modes, "nodes": len(body.points), "interface_nodes": len(held)}))


if __name__ == "__main__":
    main()
