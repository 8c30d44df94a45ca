// A section without any symmetry, of about 100 mm, 2 m long; its mesh of quadrangles and triangles has none either.
along = 24;
Point(1) = {-0.046, -0.041, -1}; Point(2) = {0.031, -0.052, -1}; Point(3) = {0.055, -0.006, -1};
Point(4) = {0.037, 0.049, -1}; Point(5) = {-0.012, 0.038, -1}; Point(6) = {-0.053, 0.017, -1};
Line(1) = {1, 2};
Spline(2) = {2, 3, 4};
Line(3) = {4, 5};
Line(4) = {5, 6};
Line(5) = {6, 1};
Curve Loop(1) = {1:5};
Plane Surface(1) = {1};
Recombine Surface{1};
Mesh.CharacteristicLengthMin = 0.028;
Mesh.CharacteristicLengthMax = 0.028;
e[] = Extrude {0, 0, 2} { Surface{1}; Layers{along}; Recombine; };
Physical Volume("beam") = {e[1]};
Mesh.SecondOrderIncomplete = 1;
