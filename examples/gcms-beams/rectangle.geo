// A rectangle of 100 mm by 60 mm, 2 m long: two lines of symmetry, no equal bending modes.
a = 0.1; b = 0.06; along = 24;
Point(1) = {-a/2, -b/2, -1}; Point(2) = {a/2, -b/2, -1}; Point(3) = {a/2, b/2, -1}; Point(4) = {-a/2, b/2, -1};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 3} = 5;
Transfinite Curve{2, 4} = 4;
Transfinite Surface{1};
Recombine Surface{1};
e[] = Extrude {0, 0, 2} { Surface{1}; Layers{along}; Recombine; };
Physical Volume("beam") = {e[1]};
Mesh.SecondOrderIncomplete = 1;
