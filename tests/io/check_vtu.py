"""Reads a VTU file with VTK itself (Debian: python3-vtk9) and holds it against raw doubles.

check_vtu.py FILE.vtu EXPECTED.bin NODES: EXPECTED holds the points and then the displacements, NODES by 3 each.
Exit code 77 when VTK is not installed, 1 with a message when something differs.
"""
import sys

import numpy as np

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError:
    print("python3-vtk9 is not installed")
    sys.exit(77)


def check(condition, text):
    if not condition:
        print("FAILED:", text)
        sys.exit(1)


path, expected_path, nodes = sys.argv[1], sys.argv[2], int(sys.argv[3])
errors = []
reader = vtk.vtkXMLUnstructuredGridReader()
reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
reader.SetFileName(path)
reader.Update()
grid = reader.GetOutput()
check(not errors, "VTK reports an error")

# every number as it was given, bit by bit
expected = np.fromfile(expected_path).reshape(2, nodes, 3)
check(np.array_equal(vtk_to_numpy(grid.GetPoints().GetData()), expected[0]), "points")
data = grid.GetPointData()
check(np.array_equal(vtk_to_numpy(data.GetArray("displacement")), expected[1]), "displacement")
check(data.GetVectors() is not None and data.GetVectors().GetName() == "displacement", "active vectors")
ids = vtk_to_numpy(data.GetArray("node_id"))
check(ids[0] == 11 and ids[-1] == 9000 and len(ids) == nodes, "node ids")
mask = vtk_to_numpy(data.GetArray('set left/right "<&>"'))
check(sorted(ids[mask == 1]) == [11, 13, 20] and mask.sum() == 3, "node set")
cells = grid.GetCellData()
check(list(vtk_to_numpy(cells.GetArray("element_id"))) == [101, 102, 103, 104, 105, 106], "element ids")
check(list(vtk_to_numpy(cells.GetArray("set inside"))) == [0, 1, 0, 0, 1, 0], "element set")
check(vtk_to_numpy(cells.GetArray("material")).min() == -1, "materials")
check(abs(grid.GetFieldData().GetArray("frequency_hz").GetValue(0) - 123.456) < 1e-12, "frequency")

# what VTK makes of the node order: types, edges and volumes
check([grid.GetCellType(i) for i in range(grid.GetNumberOfCells())] == [10, 24, 12, 25, 13, 26], "cell types")
for i in range(grid.GetNumberOfCells()):
    cell = grid.GetCell(i)
    for j in range(cell.GetNumberOfEdges()):
        points = vtk_to_numpy(cell.GetEdge(j).GetPoints().GetData())
        if len(points) == 3:
            check(np.allclose(points[2], (points[0] + points[1]) / 2, atol=1e-15), f"edge {j} of cell {i}")
            check(np.linalg.norm(points[1] - points[0]) > 0.9, f"edge {j} of cell {i} is no edge")
sizes = vtk.vtkCellSizeFilter()
sizes.SetInputData(grid)
sizes.Update()
volumes = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))
check(np.allclose(volumes, [1 / 6, 1 / 6, 1, 1, 0.5, 0.5], rtol=1e-12), f"volumes {volumes}")

# the surface as ParaView draws it: closed, of the right area, and facing outward (divergence theorem)
surface = vtk.vtkDataSetSurfaceFilter()
surface.SetInputData(grid)
surface.SetNonlinearSubdivisionLevel(1)
triangles = vtk.vtkTriangleFilter()
triangles.SetInputConnection(surface.GetOutputPort())
triangles.Update()
poly = triangles.GetOutput()
points = vtk_to_numpy(poly.GetPoints().GetData())
a, b, c = (points[vtk_to_numpy(poly.GetPolys().GetData()).reshape(-1, 4)[:, i]] for i in (1, 2, 3))
normals = np.cross(b - a, c - a) / 2
area = np.linalg.norm(normals, axis=1).sum()
expected_area = 2 * (1.5 + np.sqrt(3) / 2) + 2 * 6 + 2 * (3 + np.sqrt(2))
check(abs(area - expected_area) < 1e-6, f"surface {area}, expected {expected_area}")
volume = ((a + b + c) / 3 * normals).sum() / 3
check(abs(volume - volumes.sum()) < 1e-6, f"volume {volume} inside the surface, expected {volumes.sum()}")
print("as expected, read with VTK", vtk.vtkVersion().GetVTKVersion())
