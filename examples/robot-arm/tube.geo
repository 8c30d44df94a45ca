// A round tube along x from 0 to length, outer radius R, wall w, in metres: 16 hexahedra around, one through the wall.
Point(1) = {0, 0, 0};
For s In {0:3}
  Point(10+s) = {0, R*Cos(s*Pi/2), R*Sin(s*Pi/2)};
  Point(20+s) = {0, (R-w)*Cos(s*Pi/2), (R-w)*Sin(s*Pi/2)};
EndFor
For s In {0:3}
  n = (s+1)%4;
  Circle(10+s) = {10+s, 1, 10+n};
  Circle(20+s) = {20+s, 1, 20+n};
  Line(30+s) = {20+s, 10+s};
EndFor
For s In {0:3}
  n = (s+1)%4;
  Curve Loop(s+1) = {30+s, 10+s, -(30+n), -(20+s)};
  Plane Surface(s+1) = {s+1};
  Transfinite Curve{10+s, 20+s} = 5;
  Transfinite Curve{30+s} = 2;
  Transfinite Surface{s+1};
  Recombine Surface{s+1};
EndFor
e[] = Extrude {length/4, 0, 0} { Surface{1:4}; Layers{layers/4}; Recombine; };
f[] = Extrude {3*length/4, 0, 0} { Surface{e[0], e[6], e[12], e[18]}; Layers{3*layers/4}; Recombine; };
b = 1e-6;
Physical Volume("tube") = Volume{:};
Physical Surface("root") = {1:4};
Physical Surface("tip") = Surface In BoundingBox{length-b, -R-b, -R-b, length+b, R+b, R+b};
// where stress is compared with beam theory, away from the rigid ends
Physical Surface("quarter") = Surface In BoundingBox{length/4-b, -R-b, -R-b, length/4+b, R+b, R+b};
Mesh.SecondOrderIncomplete = 1;
