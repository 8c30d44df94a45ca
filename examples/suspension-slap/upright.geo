// Upright of cast iron with its stub axle, steering arm and a disc that stands for hub, brake disc and wheel, in metres.
//
//            ___  "upper": top face, (0, 0.585, 0.42)
//           |  |        ||
//           |  |        ||  "wheel": outer face of the disc, centre (0, 0.70, 0.30)
//           |   |=======||
//     arm --|   |       ||     z
//           |   |       ||     |
//           |___|              o----> y outwards, x (forwards) away from the viewer
//                 "lower": bottom face, (0, 0.62, 0.18);  "arm": front end face, (0.13, 0.605, 0.25), to the tie rod
SetFactory("OpenCASCADE");

depth = 0.04;
Point(1) = {-depth / 2, 0.604, 0.18};
Point(2) = {-depth / 2, 0.636, 0.18};
Point(3) = {-depth / 2, 0.630, 0.32};
Point(4) = {-depth / 2, 0.600, 0.42};
Point(5) = {-depth / 2, 0.570, 0.42};
Point(6) = {-depth / 2, 0.588, 0.32};
For k In {1:6}
  Line(k) = {k, k % 6 + 1};
EndFor
Curve Loop(1) = {1:6};
Plane Surface(1) = {1};
Extrude {depth, 0, 0} { Surface{1}; }
Box(2) = {0, 0.5925, 0.2375, 0.13, 0.025, 0.025};
Cylinder(3) = {0, 0.61, 0.30, 0, 0.06, 0, 0.024};
Cylinder(4) = {0, 0.665, 0.30, 0, 0.035, 0, 0.14};
BooleanUnion { Volume{1}; Delete; }{ Volume{2:4}; Delete; }

e = 1e-5;
Physical Volume("upright") = Volume{:};
Physical Surface("lower") = Surface In BoundingBox{-1, 0.604 - e, 0.18 - e, 1, 0.636 + e, 0.18 + e};
Physical Surface("upper") = Surface In BoundingBox{-1, 0.570 - e, 0.42 - e, 1, 0.600 + e, 0.42 + e};
Physical Surface("arm") = Surface In BoundingBox{0.13 - e, 0, 0, 0.13 + e, 0.65, 1};
Physical Surface("wheel") = Surface In BoundingBox{-1, 0.70 - e, 0, 1, 0.70 + e, 1};

Mesh.CharacteristicLengthMin = 0.035;
Mesh.CharacteristicLengthMax = 0.035;
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
