// Push rod of steel, in metres: a bar of 20 mm from the lower wishbone's lug up to the rocker.
//     (|=============================|)      "lower": end face at (0, 0.56, 0.215), "upper": at (0, 0.30, 0.50)
SetFactory("OpenCASCADE");

Cylinder(1) = {0, 0.56, 0.215, 0, -0.26, 0.285, 0.010};

Physical Volume("push rod") = Volume{:};
Physical Surface("lower") = Surface In BoundingBox{-0.02, 0.545, 0.2, 0.02, 0.575, 0.23};
Physical Surface("upper") = Surface In BoundingBox{-0.02, 0.285, 0.485, 0.02, 0.315, 0.515};

Mesh.CharacteristicLengthMin = 0.015;
Mesh.CharacteristicLengthMax = 0.015;
Mesh.SecondOrderLinear = 1;               // straight edges: so coarse a round bar would have elements inside out
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
