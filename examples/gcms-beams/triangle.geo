// An equilateral triangle with a side of 120 mm, 2 m long, in wedges: three lines of symmetry, which the mesh keeps.
//
//            /\
//           /__\          n by n equal triangles, one element each:
//          /\  /\         lines h along x, l up the left side, d down the right one
//         /__\/__\
a = 0.12; n = 4; along = 24;
height = a * Sqrt(3) / 2;
For j In {0:n}
  For i In {0:n-j}
    Point(100 + 10*j + i) = {a * ((i + j/2) / n - 0.5), height * (j / n - 1/3), -1};
  EndFor
EndFor
For j In {0:n-1}
  For i In {0:n-1-j}
    p = 100 + 10*j + i;
    Line(1000 + p) = {p, p + 1};        // h
    Line(2000 + p) = {p, p + 10};       // l
    Line(3000 + p) = {p + 1, p + 10};   // d
    Transfinite Curve{1000 + p, 2000 + p, 3000 + p} = 2;
  EndFor
EndFor
For j In {0:n-1}
  For i In {0:n-1-j}
    p = 100 + 10*j + i;
    Curve Loop(p) = {1000 + p, 3000 + p, -(2000 + p)};
    Plane Surface(p) = {p};
    If (i + j < n - 1)
      Curve Loop(100 + p) = {2000 + p + 1, -(1000 + p + 10), -(3000 + p)};
      Plane Surface(100 + p) = {100 + p};
    EndIf
  EndFor
EndFor
Extrude {0, 0, 2} { Surface{:}; Layers{along}; Recombine; }
Physical Volume("beam") = {Volume{:}};
Mesh.SecondOrderIncomplete = 1;
