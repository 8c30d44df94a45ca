// A bar along x from 0 to length, with a square section of edge h: E A = 2.8e7 N, E I = 1.4e4 N m2 and 1.2 kg/m with the
// material of the study, as Kane, Ryan and Banerjee and Simo and Vu-Quoc have them.
h = 0.07745966692414834;
Point(1) = {0, -h/2, -h/2}; Point(2) = {0, h/2, -h/2}; Point(3) = {0, h/2, h/2}; Point(4) = {0, -h/2, h/2};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 2, 3, 4} = 2;
Transfinite Surface{1};
Recombine Surface{1};
e[] = Extrude {length, 0, 0} { Surface{1}; Layers{layers}; Recombine; };
Physical Volume("bar") = {e[1]};
Physical Surface("root") = {1};
Physical Surface("tip") = {e[0]};
Mesh.SecondOrderIncomplete = 1;
