// A round bar, 0.3 m long and 15 mm in radius, in metres: the flexible cylinder of paper 001, Sec. 5.1.
//
//        A o--------------------------------------------------.     z
//         |                                                    |    |
//         |                                                    |    |
//         |                                                    |    o-----> x
//          `---------------------------------------------------'
//      free end, x = 0                         "right end": one spider
//
// The paper has 3528 linear tets, of 7.5 mm in the mean and 5.6 mm at least. Mesh it to first order; 0.0070 gives 3310
// tets, 0.0066 gives 3923.
SetFactory("OpenCASCADE");

length = 0.3;
radius = 0.015;
size = 0.0068;    // of an edge: 3500 tets, 1016 nodes

Cylinder(1) = {0, 0, 0, length, 0, 0, radius};

e = radius / 100;
Physical Volume("cylinder") = {1};
Physical Surface("right end") = Surface In BoundingBox{length - e, -radius - e, -radius - e, length + e, radius + e, radius + e};
Physical Point("A") = Point In BoundingBox{-e, -radius - e, -radius - e, e, radius + e, radius + e};

Mesh.CharacteristicLengthMin = size;
Mesh.CharacteristicLengthMax = size;
// named, so that no user's settings change the mesh
Mesh.Algorithm = 6;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
