// Lower wishbone of steel, in metres: a flat V of 24 mm height with a web towards the ball joint and a lug on it.
//
//    front  __                        "front", "rear": end faces, held by the chassis
//             `---.____ _              "ball": end face, (0, 0.62, 0.18), to the upright
//               __.  [#] |  ball       "lug": top of [#], (0, 0.56, 0.215), to the push rod
//    rear   __.---'`````               y to the right, x upwards in this sketch, z towards the viewer
SetFactory("OpenCASCADE");

z = 0.18;  height = 0.024;
Point(1) = {0.182, 0.2555, z - height / 2};
Point(2) = {0.022, 0.62, z - height / 2};
Point(3) = {-0.022, 0.62, z - height / 2};
Point(4) = {-0.202, 0.2555, z - height / 2};
Point(5) = {-0.178, 0.2445, z - height / 2};
Point(6) = {-0.020, 0.53, z - height / 2};
Point(7) = {0.020, 0.53, z - height / 2};
Point(8) = {0.158, 0.2445, z - height / 2};
For k In {1:8}
  Line(k) = {k, k % 8 + 1};
EndFor
Curve Loop(1) = {1:8};
Plane Surface(1) = {1};
Extrude {0, 0, height} { Surface{1}; }
Box(2) = {-0.014, 0.546, z, 0.028, 0.028, 0.035};
BooleanUnion { Volume{1}; Delete; }{ Volume{2}; Delete; }

e = 1e-5;
Physical Volume("lower wishbone") = Volume{:};
Physical Surface("front") = Surface In BoundingBox{0.158 - e, 0.2445 - e, 0, 0.182 + e, 0.2555 + e, 1};
Physical Surface("rear") = Surface In BoundingBox{-0.202 - e, 0.2445 - e, 0, -0.178 + e, 0.2555 + e, 1};
Physical Surface("ball") = Surface In BoundingBox{-1, 0.62 - e, 0, 1, 0.62 + e, 1};
Physical Surface("lug") = Surface In BoundingBox{-1, 0, 0.215 - e, 1, 1, 0.215 + e};

Mesh.CharacteristicLengthMin = 0.024;
Mesh.CharacteristicLengthMax = 0.024;
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
