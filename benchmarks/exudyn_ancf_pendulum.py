"""The double pendulum of paper 004, Sec. 5.2, with Exudyn's ANCFCable2D, for comparison:

    $EXUDYN_PYTHON benchmarks/exudyn_ancf_pendulum.py OUT.csv [--step 1e-3] [--end 1.3] [--elements 80] [--sample 1e-2]

Writes time and position of the tip, and prints the seconds of the integration as JSON. Its strain is |r'| - 1, its
curvature the material one. Modified Newton, fast module, tolerances as ours.
"""
import argparse
import json
import sys
import time

import numpy as np

sys.exudynFast = True  # without range checks
import exudyn as exu
from exudyn.itemInterface import (LoadMassProportional, MarkerBodyMass, MarkerNodePosition, NodePoint2DSlope1, NodePointGround,
                                  ObjectANCFCable2D, ObjectJointRevolute2D, SensorNode)

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--step", type=float, default=1e-3)
parser.add_argument("--end", type=float, default=1.3)
parser.add_argument("--elements", type=int, default=80)
parser.add_argument("--sample", type=float, default=1e-2)
parser.add_argument("--masses", type=float, nargs=2, default=(0.304, 0.2455))
parser.add_argument("--tolerance", type=float, default=1e-6, help="of the residual, against the first one")
parser.add_argument("--full-newton", action="store_true")
arguments = parser.parse_args()

LENGTH, SIDE = 0.5, 0.03
MODULI = (80e6, 1e6)
system_container = exu.SystemContainer()
mbs = system_container.AddSystem()
ground = mbs.AddNode(NodePointGround(referenceCoordinates=[0, 0, 0]))
previous = mbs.AddMarker(MarkerNodePosition(nodeNumber=ground))
for beam, (mass, young) in enumerate(zip(arguments.masses, MODULI)):
    n, length = arguments.elements, LENGTH / arguments.elements
    nodes = [mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=[beam * LENGTH + k * length, 0, 1, 0])) for k in range(n + 1)]
    for k in range(n):
        cable = mbs.AddObject(ObjectANCFCable2D(
            length=length, massPerLength=mass / LENGTH, bendingStiffness=young * SIDE**4 / 12,
            axialStiffness=young * SIDE**2, nodeNumbers=[nodes[k], nodes[k + 1]], useReducedOrderIntegration=False))
        mbs.AddLoad(LoadMassProportional(markerNumber=mbs.AddMarker(MarkerBodyMass(bodyNumber=cable)), loadVector=[0, -9.81, 0]))
    mbs.AddObject(ObjectJointRevolute2D(markerNumbers=[previous, mbs.AddMarker(MarkerNodePosition(nodeNumber=nodes[0]))]))
    previous = mbs.AddMarker(MarkerNodePosition(nodeNumber=nodes[-1]))
tip = mbs.AddSensor(SensorNode(nodeNumber=nodes[-1], outputVariableType=exu.OutputVariableType.Position, storeInternal=True))
mbs.Assemble()

settings = exu.SimulationSettings()
integration = settings.timeIntegration
integration.endTime = arguments.end
integration.numberOfSteps = round(arguments.end / arguments.step)
integration.newton.useModifiedNewton = not arguments.full_newton
integration.newton.relativeTolerance = arguments.tolerance
integration.newton.absoluteTolerance = 1e-10  # its own default; round-off lies above less
# HHT with alpha = -0.1 damps the highest frequencies by 0.82 a step
integration.generalizedAlpha.spectralRadius = 0.82
integration.generalizedAlpha.computeInitialAccelerations = True
integration.verboseMode = 0
integration.adaptiveStep = False  # fails where a step does not converge, instead of leaving the grid
settings.linearSolverType = exu.LinearSolverType.EigenSparse
settings.solutionSettings.writeSolutionToFile = False
settings.solutionSettings.sensorsWritePeriod = arguments.sample
settings.displayComputationTime = False
start = time.perf_counter()
mbs.SolveDynamic(settings)
seconds = time.perf_counter() - start
values = np.array(mbs.GetSensorStoredData(tip))
np.savetxt(arguments.out, values[:, :3], delimiter=",", header="t,x,y", comments="", fmt="%.15g")
print(json.dumps({"seconds": seconds, "steps": integration.numberOfSteps, "version": exu.__version__}))
