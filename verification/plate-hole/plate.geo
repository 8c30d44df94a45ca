// A plate of 0.6 x 0.2 x 0.01 m with a hole of 40 mm diameter in its middle; wedges, fine around the hole.
w = 0.2; l = 0.6; a = 0.02; t = 0.01;
fine = 0.002; coarse = 0.03;
Point(1) = {-l/2, -w/2, 0, coarse}; Point(2) = {l/2, -w/2, 0, coarse}; Point(3) = {l/2, w/2, 0, coarse}; Point(4) = {-l/2, w/2, 0, coarse};
Point(5) = {0, 0, 0}; Point(6) = {a, 0, 0, fine}; Point(7) = {0, a, 0, fine}; Point(8) = {-a, 0, 0, fine}; Point(9) = {0, -a, 0, fine};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Circle(5) = {6, 5, 7}; Circle(6) = {7, 5, 8}; Circle(7) = {8, 5, 9}; Circle(8) = {9, 5, 6};
Curve Loop(1) = {1, 2, 3, 4}; Curve Loop(2) = {5, 6, 7, 8};
Plane Surface(1) = {1, 2};
e[] = Extrude {0, 0, t} { Surface{1}; Layers{1}; Recombine; };
b = 1e-6;
Physical Volume("plate") = {e[1]};
Physical Surface("left") = Surface In BoundingBox{-l/2 - b, -w, -b, -l/2 + b, w, t + b};
Physical Surface("right") = Surface In BoundingBox{l/2 - b, -w, -b, l/2 + b, w, t + b};
// where stress is compared: above the hole, and beside it
Physical Point("edge") = {7};
Physical Point("side") = {6};
Mesh.SecondOrderIncomplete = 1;
Mesh.Algorithm = 6;
Mesh.RandomFactor = 1e-9;
