// A circle of 100 mm, 2 m long: a square core and four blocks around it, which leave four lines of symmetry.
//
//        .-----.
//      /  \   /  \
//     |    +-+    |
//     |    | |    |
//     |    +-+    |
//      \  /   \  /
//        `-----'
r = 0.05; c = 0.45 * r; across = 2; along = 24;
d = r * Sqrt(0.5);
Point(9) = {0, 0, -1};
Point(1) = {-d, -d, -1}; Point(2) = {d, -d, -1}; Point(3) = {d, d, -1}; Point(4) = {-d, d, -1};
Point(5) = {-c, -c, -1}; Point(6) = {c, -c, -1}; Point(7) = {c, c, -1}; Point(8) = {-c, c, -1};
Circle(1) = {1, 9, 2}; Circle(2) = {2, 9, 3}; Circle(3) = {3, 9, 4}; Circle(4) = {4, 9, 1};
Line(5) = {5, 6}; Line(6) = {6, 7}; Line(7) = {7, 8}; Line(8) = {8, 5};
Line(9) = {1, 5}; Line(10) = {2, 6}; Line(11) = {3, 7}; Line(12) = {4, 8};
Curve Loop(1) = {5, 6, 7, 8};
Curve Loop(2) = {1, 10, -5, -9};
Curve Loop(3) = {2, 11, -6, -10};
Curve Loop(4) = {3, 12, -7, -11};
Curve Loop(5) = {4, 9, -8, -12};
For s In {1:5}
  Plane Surface(s) = {s};
EndFor
Transfinite Curve{1:12} = across + 1;
Transfinite Surface{1:5};
Recombine Surface{1:5};
e[] = Extrude {0, 0, 2} { Surface{1:5}; Layers{along}; Recombine; };
Physical Volume("beam") = {1:5};
Mesh.SecondOrderIncomplete = 1;
