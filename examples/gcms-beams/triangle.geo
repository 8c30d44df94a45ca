// An equilateral triangle with a side of 120 mm, 2 m long, in wedges: three lines of symmetry.
a = 0.12; across = 4; along = 24;
h = a * Sqrt(3) / 2;
Point(1) = {-a/2, -h/3, -1}; Point(2) = {a/2, -h/3, -1}; Point(3) = {0, 2*h/3, -1};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 1};
Curve Loop(1) = {1, 2, 3};
Plane Surface(1) = {1};
Transfinite Curve{1:3} = across + 1;
Transfinite Surface{1};
e[] = Extrude {0, 0, 2} { Surface{1}; Layers{along}; Recombine; };
Physical Volume("beam") = {e[1]};
Mesh.SecondOrderIncomplete = 1;
