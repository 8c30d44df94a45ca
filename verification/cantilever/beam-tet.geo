// The same bar in tetrahedra.
SetFactory("OpenCASCADE");
h = 0.1; length = 1;
Box(1) = {0, -h/2, -h/2, length, h, h};
// a node where stress is compared
Point(101) = {0.5, h/2, h/2};
BooleanFragments { Volume{1}; Delete; }{ Point{101}; Delete; }
e = 1e-6;
Physical Volume("beam") = Volume{:};
Physical Surface("root") = Surface In BoundingBox{-e, -h, -h, e, h, h};
Physical Surface("tip") = Surface In BoundingBox{length - e, -h, -h, length + e, h, h};
Physical Point("top") = Point In BoundingBox{0.5 - e, h/2 - e, h/2 - e, 0.5 + e, h/2 + e, h/2 + e};
Mesh.CharacteristicLengthMin = 0.04;
Mesh.CharacteristicLengthMax = 0.04;
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
