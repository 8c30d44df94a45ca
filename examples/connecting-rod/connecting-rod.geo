// A connecting rod of a slider-crank, 105 mm between the bores, in millimetres: the kind of rod of paper 001, Sec. 5.2.
//
//          .-------.
//        /   .---.   \_______________________ .---.          y
//       |   /     \   .----------------------/ .-. \         |
//       |  |   o   |  |       groove        |  (o)  |        |
//       |   \     /   '----------------------\ '-' /         o-----> x, z towards the viewer
//        \   '---'   /------------------------'---'
//          '-------'
//        "big bore"     the shank tapers      "small bore"
//
// The paper has 4380 linear tets, of 3.6 mm in the mean and 1 mm at least. Mesh it to first order.
SetFactory("OpenCASCADE");

length = 105;                        // between the bores
big_outer = 21;    big_bore = 14;    // radii
small_outer = 13;  small_bore = 8;
big_width = 14;    small_width = 13; // along z, about z = 0
shank_big = 17;    shank_small = 12; // height of the shank at the bores
shank_width = 10;
groove = 3;                          // depth on either side
rim = 3;                             // of the shank above and below the groove
size = 3.42;                         // of an edge: 4395 tets

Cylinder(1) = {0, 0, -big_width / 2, 0, 0, big_width, big_outer};
Cylinder(2) = {length, 0, -small_width / 2, 0, 0, small_width, small_outer};

// a trapezium from x0 to x1, as high as the shank less 2 * margin, from z0 upwards
Macro Trapezium
  h0 = shank_big / 2 + (shank_small - shank_big) / 2 * x0 / length - margin;
  h1 = shank_big / 2 + (shank_small - shank_big) / 2 * x1 / length - margin;
  p = newp;
  Point(p) = {x0, -h0, z0};  Point(p + 1) = {x1, -h1, z0};  Point(p + 2) = {x1, h1, z0};  Point(p + 3) = {x0, h0, z0};
  l = newl;
  Line(l) = {p, p + 1};  Line(l + 1) = {p + 1, p + 2};  Line(l + 2) = {p + 2, p + 3};  Line(l + 3) = {p + 3, p};
  c = newll;
  Curve Loop(c) = {l : l + 3};
  s = news;
  Plane Surface(s) = {c};
  body[] = Extrude {0, 0, depth} { Surface{s}; };
Return

x0 = 0;  x1 = length;  margin = 0;  z0 = -shank_width / 2;  depth = shank_width;
Call Trapezium;
shank = body[1];
x0 = big_outer + 5;  x1 = length - small_outer - 5;  margin = rim;  depth = groove + 1;
z0 = shank_width / 2 - groove;
Call Trapezium;
front = body[1];
z0 = -shank_width / 2 - 1;
Call Trapezium;
back = body[1];

solid[] = BooleanUnion { Volume{1}; Delete; }{ Volume{2, shank}; Delete; };
b1 = newv;
Cylinder(b1) = {0, 0, -big_width, 0, 0, 2 * big_width, big_bore};
b2 = newv;
Cylinder(b2) = {length, 0, -small_width, 0, 0, 2 * small_width, small_bore};
rod[] = BooleanDifference { Volume{solid[]}; Delete; }{ Volume{front, back, b1, b2}; Delete; };

e = 0.1;
Physical Volume("rod") = {rod[]};
Physical Surface("big bore") = Surface In BoundingBox{-big_bore - e, -big_bore - e, -big_width / 2 - e,
                                                      big_bore + e, big_bore + e, big_width / 2 + e};
Physical Surface("small bore") = Surface In BoundingBox{length - small_bore - e, -small_bore - e, -small_width / 2 - e,
                                                        length + small_bore + e, small_bore + e, small_width / 2 + e};
// the corner of the front groove at the small end, for sensors
x1 = length - small_outer - 5;
h1 = shank_big / 2 + (shank_small - shank_big) / 2 * x1 / length - rim;
Physical Point("A") = Point In BoundingBox{x1 - e, h1 - e, shank_width / 2 - groove - e, x1 + e, h1 + e, shank_width / 2 - groove + e};
Mesh.CharacteristicLengthMin = size / 4;
Mesh.CharacteristicLengthMax = size;
// frontal surfaces and more swaps than usual, which leave no slivers
Mesh.Algorithm = 6;
Mesh.OptimizeThreshold = 0.45;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
