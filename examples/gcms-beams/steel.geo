// The steel beam of Sec. 3.3: 60 mm square, 900 mm long.
side = 0.06; across = 3; along = 24;
Point(1) = {-side/2, -side/2, -0.45}; Point(2) = {side/2, -side/2, -0.45}; Point(3) = {side/2, side/2, -0.45}; Point(4) = {-side/2, side/2, -0.45};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1:4} = across + 1;
Transfinite Surface{1};
Recombine Surface{1};
e[] = Extrude {0, 0, 0.9} { Surface{1}; Layers{along}; Recombine; };
Physical Volume("beam") = {e[1]};
Mesh.SecondOrderIncomplete = 1;
