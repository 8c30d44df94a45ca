// A link of aluminium with two bores, 120 mm between them; lengths in millimetres.
//   gmsh link.geo -parse_and_exit        writes link.step
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, -5, 0, 0, 10, 14};
Cylinder(2) = {120, 0, -5, 0, 0, 10, 11};
Box(3) = {0, -7, -4, 120, 14, 8};
BooleanUnion(4) = { Volume{1}; Delete; }{ Volume{2, 3}; Delete; };
Cylinder(5) = {0, 0, -6, 0, 0, 12, 8};
Cylinder(6) = {120, 0, -6, 0, 0, 12, 6};
BooleanDifference(7) = { Volume{4}; Delete; }{ Volume{5, 6}; Delete; };
Save "link.step";
