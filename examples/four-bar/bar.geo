// A side bar of the four-bar mechanism of paper 000, Sec. 6, in metres: a plate with two ears that hold the
// coupler between them. Our own geometry, after the shape of the published meshes.
//
//        |  |            |  |   "top left" and "top right": nodes on the inner faces of the ears, 92.5 mm up
//        |  |____________|  |
//        |                  |   z
//        |                  |   |
//        |       plate      |   |
//        o__________________o   o-----> x        50 mm wide, 15 mm thick (along y), 100 mm high
//      "foot left"      "foot right": nodes on the lower edge, where the ground's hinge is
SetFactory("OpenCASCADE");

width = 0.05;  thick = 0.015;  plate = 0.08;  height = 0.1;  ear = 0.005;  pivot = 0.0925;
size = 0.0075;

Box(1) = {0, -thick / 2, 0, width, thick, plate};
Box(2) = {0, -thick / 2, plate, ear, thick, height - plate};
Box(3) = {width - ear, -thick / 2, plate, ear, thick, height - plate};
bar[] = BooleanUnion { Volume{1}; Delete; }{ Volume{2, 3}; Delete; };

// hinge nodes: points that the mesh must have
Point(101) = {0, 0, 0};
Point(102) = {width, 0, 0};
Point(103) = {ear, 0, pivot};
Point(104) = {width - ear, 0, pivot};
BooleanFragments { Volume{bar[]}; Delete; }{ Point{101, 102, 103, 104}; Delete; }

e = 1e-6;
Physical Volume("bar") = Volume{:};
Physical Point("foot left") = Point In BoundingBox{-e, -e, -e, e, e, e};
Physical Point("foot right") = Point In BoundingBox{width - e, -e, -e, width + e, e, e};
Physical Point("top left") = Point In BoundingBox{ear - e, -e, pivot - e, ear + e, e, pivot + e};
Physical Point("top right") = Point In BoundingBox{width - ear - e, -e, pivot - e, width - ear + e, e, pivot + e};

Mesh.CharacteristicLengthMin = size;
Mesh.CharacteristicLengthMax = size;
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
