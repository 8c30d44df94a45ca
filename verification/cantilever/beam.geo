// A square bar, 1 m long, 0.1 m thick, along x: 16 x 2 x 2 hexahedra.
h = 0.1; length = 1;
Point(1) = {0, -h/2, -h/2}; Point(2) = {0, h/2, -h/2}; Point(3) = {0, h/2, h/2}; Point(4) = {0, -h/2, h/2};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 2, 3, 4} = 3;
Transfinite Surface{1};
Recombine Surface{1};
e[] = Extrude {length / 2, 0, 0} { Surface{1}; Layers{8}; Recombine; };
f[] = Extrude {length / 2, 0, 0} { Surface{e[0]}; Layers{8}; Recombine; };
b = 1e-6;
Physical Volume("beam") = {e[1], f[1]};
Physical Surface("root") = {1};
Physical Surface("tip") = {f[0]};
// where stress is compared
Physical Point("top") = Point In BoundingBox{length/2 - b, h/2 - b, h/2 - b, length/2 + b, h/2 + b, h/2 + b};
Mesh.SecondOrderIncomplete = 1;
