// A bar along x from 0 to length; area and bending stiffness (about z) of a round rod with a diameter of 6 mm. Two halves,
// so that there are nodes in the middle.
d = 0.006;
h = d * Sqrt(0.75);           // along y: I / A = h^2 / 12 = d^2 / 16
b = Pi * d * d / 4 / h;
Point(1) = {0, -h/2, -b/2}; Point(2) = {0, h/2, -b/2}; Point(3) = {0, h/2, b/2}; Point(4) = {0, -h/2, b/2};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 2, 3, 4} = 2;
Transfinite Surface{1};
Recombine Surface{1};
e[] = Extrude {length / 2, 0, 0} { Surface{1}; Layers{layers / 2}; Recombine; };
f[] = Extrude {length / 2, 0, 0} { Surface{e[0]}; Layers{layers / 2}; Recombine; };
Physical Volume("rod") = {e[1], f[1]};
Physical Surface("root") = {1};
Physical Surface("middle") = {e[0]};
Physical Surface("tip") = {f[0]};
Mesh.SecondOrderIncomplete = 1;
