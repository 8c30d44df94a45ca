// Rocker of steel, in metres: a plate of 20 mm (along x) with three bores.
//
//      spring (0.23, 0.54)
//        .--.                     z
//       | o  `-._                 |
//       |     _o |  push rod      o----> y outwards, x (forwards) away from the viewer
//       | O.-'  (0.30, 0.50)
//        `- pivot (0.24, 0.47), on the chassis, axis x
SetFactory("OpenCASCADE");

thick = 0.02;
Point(1) = {-thick / 2, 0.214, 0.446};
Point(2) = {-thick / 2, 0.266, 0.446};
Point(3) = {-thick / 2, 0.322, 0.490};
Point(4) = {-thick / 2, 0.316, 0.520};
Point(5) = {-thick / 2, 0.246, 0.562};
Point(6) = {-thick / 2, 0.210, 0.556};
For k In {1:6}
  Line(k) = {k, k % 6 + 1};
EndFor
Curve Loop(1) = {1:6};
Plane Surface(1) = {1};
Extrude {thick, 0, 0} { Surface{1}; }
Cylinder(2) = {-thick, 0.24, 0.47, 2 * thick, 0, 0, 0.012};
Cylinder(3) = {-thick, 0.30, 0.50, 2 * thick, 0, 0, 0.008};
Cylinder(4) = {-thick, 0.23, 0.54, 2 * thick, 0, 0, 0.008};
BooleanDifference { Volume{1}; Delete; }{ Volume{2:4}; Delete; }

e = 1e-3;
Physical Volume("rocker") = Volume{:};
Physical Surface("pivot") = Surface In BoundingBox{-1, 0.228 - e, 0.458 - e, 1, 0.252 + e, 0.482 + e};
Physical Surface("push rod") = Surface In BoundingBox{-1, 0.292 - e, 0.492 - e, 1, 0.308 + e, 0.508 + e};
Physical Surface("spring") = Surface In BoundingBox{-1, 0.222 - e, 0.532 - e, 1, 0.238 + e, 0.548 + e};

Mesh.CharacteristicLengthMin = 0.018;
Mesh.CharacteristicLengthMax = 0.018;
Mesh.SecondOrderLinear = 1;               // straight edges, as the bores are coarse
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
