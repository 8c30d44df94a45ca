// A connecting rod, 200 mm between the bores, in millimetres.
//
//        .--------.                              .----.
//       /   .--.   \____________________________/ .--. \
//      |   (    )   ____________________________ (    ) |      z up, x along the shank
//       \   `--'   /                            \ `--' /
//        `--------'                              `----'
//         big end                               small end
SetFactory("OpenCASCADE");

length = 200;
big_outer = 40;   big_bore = 26;
small_outer = 25; small_bore = 14;
width = 30;       // of both ends, along z

Cylinder(1) = {0, 0, 0, 0, 0, width, big_outer};
Cylinder(2) = {length, 0, 0, 0, 0, width, small_outer};
// the shank: an H section, which is a box less two grooves
Box(3) = {0, -12, 6, length, 24, 18};
Box(4) = {big_outer + 8, -7, 18, length - big_outer - small_outer - 14, 14, 10};
Box(5) = {big_outer + 8, -7, 2, length - big_outer - small_outer - 14, 14, 10};
BooleanUnion(6) = { Volume{1}; Delete; }{ Volume{2, 3}; Delete; };
Cylinder(7) = {0, 0, -1, 0, 0, width + 2, big_bore};
Cylinder(8) = {length, 0, -1, 0, 0, width + 2, small_bore};
BooleanDifference(9) = { Volume{6}; Delete; }{ Volume{4, 5, 7, 8}; Delete; };

Physical Volume("rod") = {9};
e = 0.1;
Physical Surface("big bore") = Surface In BoundingBox{-big_bore - e, -big_bore - e, -e, big_bore + e, big_bore + e, width + e};
Physical Surface("small bore") =
    Surface In BoundingBox{length - small_bore - e, -small_bore - e, -e, length + small_bore + e, small_bore + e, width + e};
Mesh.CharacteristicLengthMax = 5;
