// A 100 mm square, 2 m long (paper 002, Sec. 4.1), in metres: the axis along z, centred.
side = 0.1; across = 4; along = 24;
Point(1) = {-side/2, -side/2, -1}; Point(2) = {side/2, -side/2, -1}; Point(3) = {side/2, side/2, -1}; Point(4) = {-side/2, side/2, -1};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1:4} = across + 1;
Transfinite Surface{1};
Recombine Surface{1};
e[] = Extrude {0, 0, 2} { Surface{1}; Layers{along}; Recombine; };
Physical Volume("beam") = {e[1]};
Mesh.SecondOrderIncomplete = 1;
