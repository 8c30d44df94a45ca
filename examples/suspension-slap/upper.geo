// Upper wishbone of aluminium, in metres: a flat V of 24 mm height.
//
//    front  __                        "front", "rear": end faces, held by the chassis
//             `--.___                  "ball": end face, (0, 0.585, 0.42), to the upright
//               ___  |  ball          y to the right, x upwards in this sketch, z towards the viewer
//    rear   __.--'```
SetFactory("OpenCASCADE");

z = 0.42;  height = 0.024;
Point(1) = {0.132, 0.3255, z - height / 2};
Point(2) = {0.020, 0.585, z - height / 2};
Point(3) = {-0.020, 0.585, z - height / 2};
Point(4) = {-0.152, 0.3255, z - height / 2};
Point(5) = {-0.128, 0.3145, z - height / 2};
Point(6) = {0, 0.545, z - height / 2};
Point(7) = {0.108, 0.3145, z - height / 2};
For k In {1:7}
  Line(k) = {k, k % 7 + 1};
EndFor
Curve Loop(1) = {1:7};
Plane Surface(1) = {1};
Extrude {0, 0, height} { Surface{1}; }

e = 1e-5;
Physical Volume("upper wishbone") = Volume{:};
Physical Surface("front") = Surface In BoundingBox{0.108 - e, 0.3145 - e, 0, 0.132 + e, 0.3255 + e, 1};
Physical Surface("rear") = Surface In BoundingBox{-0.152 - e, 0.3145 - e, 0, -0.128 + e, 0.3255 + e, 1};
Physical Surface("ball") = Surface In BoundingBox{-1, 0.585 - e, 0, 1, 0.585 + e, 1};

Mesh.CharacteristicLengthMin = 0.024;
Mesh.CharacteristicLengthMax = 0.024;
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
