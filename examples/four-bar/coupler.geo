// The coupler (upper bar) of the four-bar mechanism of paper 000, Sec. 6, in metres. Our own geometry, after the
// shape of the published mesh.
//
//        ____|______________________|____
//       o    |                      |    o      y
//       |    |                      |    |      o-----> along the bar; x across, z up
//       o____|______________________|____o
//            |                      |
//      tongues 40 mm wide, between the side bars' ears; 50 mm in the middle; 15 mm thick (along z)
//      "left 1", "left 2", "right 1", "right 2": hinge nodes on the tongues' sides, 135 mm apart
SetFactory("OpenCASCADE");

width = 0.05;  thick = 0.015;  ear = 0.005;  distance = 0.135;  end = 0.0075;  tongue = 0.02;
size = 0.0075;

Box(1) = {ear, -end, -thick / 2, width - 2 * ear, distance + 2 * end, thick};
Box(2) = {0, -end + tongue, -thick / 2, width, distance + 2 * end - 2 * tongue, thick};
bar[] = BooleanUnion { Volume{1}; Delete; }{ Volume{2}; Delete; };

Point(101) = {ear, 0, 0};
Point(102) = {width - ear, 0, 0};
Point(103) = {ear, distance, 0};
Point(104) = {width - ear, distance, 0};
BooleanFragments { Volume{bar[]}; Delete; }{ Point{101, 102, 103, 104}; Delete; }

e = 1e-6;
Physical Volume("coupler") = Volume{:};
Physical Point("left 1") = Point In BoundingBox{ear - e, -e, -e, ear + e, e, e};
Physical Point("left 2") = Point In BoundingBox{width - ear - e, -e, -e, width - ear + e, e, e};
Physical Point("right 1") = Point In BoundingBox{ear - e, distance - e, -e, ear + e, distance + e, e};
Physical Point("right 2") = Point In BoundingBox{width - ear - e, distance - e, -e, width - ear + e, distance + e, e};

Mesh.CharacteristicLengthMin = size;
Mesh.CharacteristicLengthMax = size;
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
