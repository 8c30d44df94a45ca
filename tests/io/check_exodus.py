"""Reads an Exodus file with SciPy's NetCDF reader, and with ParaView's or VTK's where it is there, and holds it against raw doubles.

check_exodus.py FILE.exo EXPECTED.bin NODES: the sample mesh as one part; EXPECTED holds the points, then displacements at times
1, 2, ..., NODES by 3 each. Runs in python3 (VTK: Debian's python3-vtk9) and in pvpython. Exit code 77 when SciPy is not installed,
1 with a message when something differs; the last line says what read it.
"""
import sys

import numpy as np

try:
    from scipy.io import netcdf_file
except ImportError:
    print("SciPy is not installed")
    sys.exit(77)


def check(condition, text):
    if not condition:
        print("FAILED:", text)
        sys.exit(1)


path, expected_path, nodes = sys.argv[1], sys.argv[2], int(sys.argv[3])
expected = np.fromfile(expected_path).reshape(-1, nodes, 3)
points, displacements = expected[0], expected[1:].astype(np.float32)
times = 1 + np.arange(len(displacements))

# as a NetCDF file
with netcdf_file(path, mmap=False) as file:
    var = {name: variable[:].copy() for name, variable in file.variables.items()}


def texts(name):
    return [row.tobytes().split(b"\0")[0].decode() for row in var[name]]


check(np.array_equal(np.stack([var["coord" + c] for c in "xyz"], 1), points), "points")
check(np.array_equal(var["time_whole"], times), "times")
check(texts("name_nod_var") == ["displacement_x", "displacement_y", "displacement_z"], "names of fields")
found = np.stack([var[f"vals_nod_var{k}"] for k in (1, 2, 3)], 2)
check(np.array_equal(found, displacements), "displacements")
check(texts("name_glo_var") == ["frequency_hz", "displacement_scale"], "names of globals")
check(np.allclose(var["vals_glo_var"][:, 0], 100.5 * times, rtol=1e-15), "frequencies")
check(var["node_num_map"][0] == 11 and var["node_num_map"][-1] == 9000, "node numbers")
check(list(var["elem_num_map"]) == [101, 102, 103, 104, 105, 106], "element numbers")
check(texts("eb_names") == [f"sample {t}" for t in ("tet4", "tet10", "hex8", "hex20", "wedge6", "wedge15")], "blocks")
check(texts("ns_names") == ['left/right "<&>"'], "node sets")
check(sorted(var["node_num_map"][var["node_ns1"] - 1]) == [11, 13, 20], "nodes of a set")
check([var[f"attrib{b}"][0, 2] for b in range(1, 7)] == [0, 1, 0, 0, 1, 0], "element set")
check(texts("attrib_name3") == ["body", "material", "set inside"], "names of attributes")

# as ParaView sees it
try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkVersion
except ImportError:
    print("as expected, read with SciPy alone")
    sys.exit(0)
try:
    from vtkmodules.vtkIOIOSS import vtkIOSSReader as Reader
except ImportError:
    from vtkmodules.vtkIOExodus import vtkExodusIIReader as Reader
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkFiltersGeometry import vtkDataSetSurfaceFilter
from vtkmodules.vtkFiltersCore import vtkTriangleFilter
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter

errors = []
reader = Reader()
reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
ioss = "IOSS" in reader.GetClassName()
if ioss:
    reader.AddFileName(path)
else:
    reader.SetFileName(path)
reader.UpdateInformation()
if not ioss:
    for i in range(reader.GetNumberOfPointResultArrays()):
        reader.SetPointResultArrayStatus(reader.GetPointResultArrayName(i), 1)
steps = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
check(np.array_equal(steps, times), f"times {steps}")


def leaves(data):
    iterator = data.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        block = iterator.GetCurrentDataObject()
        if block.GetNumberOfCells():
            yield block
        iterator.GoToNextItem()


for apply in (False, True):
    reader.SetApplyDisplacements(apply)
    for k in reversed(range(len(times))):
        reader.UpdateTimeStep(times[k])
        for block in leaves(reader.GetOutputDataObject(0)):
            if block.GetCellType(0) == 1:
                continue
            x = vtk_to_numpy(block.GetPoints().GetData())
            data = block.GetPointData()
            array = data.GetArray("displacement") or data.GetArray("displacement_")
            check(array is not None, f"no displacement among {[data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]}")
            u = vtk_to_numpy(array)
            at = [np.argmin(np.abs(points - p).sum(1)) for p in (x - u if apply else x)]
            check(np.allclose(points[at] + (u if apply else 0), x, atol=1e-6), "points")
            check(np.array_equal(u.astype(np.float32), displacements[k][at]), f"displacements at {times[k]}")
check(not errors, "the reader reports an error")

# what VTK makes of the node order: volumes and edges, and a surface that faces outward (divergence theorem)
reader.SetApplyDisplacements(False)
reader.UpdateTimeStep(1)
volumes, enclosed = {}, {}
for block in leaves(reader.GetOutputDataObject(0)):
    kind = block.GetCellType(0)
    if kind == 1:
        continue
    cell = block.GetCell(0)
    for j in range(cell.GetNumberOfEdges()):
        edge = vtk_to_numpy(cell.GetEdge(j).GetPoints().GetData())
        if len(edge) == 3:
            check(np.allclose(edge[2], (edge[0] + edge[1]) / 2, atol=1e-12), f"edge {j} of a cell of type {kind}")
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(block)
    sizes.Update()
    volumes[kind] = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))[0]
    surface = vtkDataSetSurfaceFilter()
    surface.SetInputData(block)
    surface.SetNonlinearSubdivisionLevel(1)
    triangles = vtkTriangleFilter()
    triangles.SetInputConnection(surface.GetOutputPort())
    triangles.Update()
    poly = triangles.GetOutput()
    x = vtk_to_numpy(poly.GetPoints().GetData())
    a, b, c = (x[vtk_to_numpy(poly.GetPolys().GetData()).reshape(-1, 4)[:, i]] for i in (1, 2, 3))
    enclosed[kind] = ((a + b + c) / 3 * np.cross(b - a, c - a) / 2).sum() / 3
known = {10: 1 / 6, 24: 1 / 6, 12: 1, 25: 1, 13: 0.5, 26: 0.5}
check(set(volumes) == set(known), f"cell types {sorted(volumes)}")
for kind in known:
    check(abs(volumes[kind] - known[kind]) < 1e-6, f"volumes {volumes}")
    check(abs(enclosed[kind] - known[kind]) < 1e-6, f"volume inside the surface {enclosed}")
print("as expected, read with", Reader.__name__, "of VTK", vtkVersion.GetVTKVersion())
