// Tie rod of steel, in metres: a bar of 18 mm from the steering rack to the upright's arm.
//     (|=============================|)      "inner": end face at (0.13, 0.27, 0.24), "outer": at (0.13, 0.605, 0.25)
SetFactory("OpenCASCADE");

Cylinder(1) = {0.13, 0.27, 0.24, 0, 0.335, 0.01, 0.009};

Physical Volume("tie rod") = Volume{:};
Physical Surface("inner") = Surface In BoundingBox{0.1, 0.268, 0.2, 0.16, 0.272, 0.3};
Physical Surface("outer") = Surface In BoundingBox{0.1, 0.603, 0.2, 0.16, 0.607, 0.3};

Mesh.CharacteristicLengthMin = 0.014;
Mesh.CharacteristicLengthMax = 0.014;
Mesh.SecondOrderLinear = 1;               // straight edges: so coarse a round bar would have elements inside out
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
