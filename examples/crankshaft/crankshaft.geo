// The crankshaft of a two-cylinder engine, its pins 180 degrees apart, in millimetres.
//
//                     pin 1          counterweights
//                   .--.---.--.        .--.   .--.
//                   |  |   |  |        |  |   |  |        .-.     z
//    nose   .-------|  '---'  |--------|  |   |  |--------| |     |
//     '-----| front |  .---.  | middle |  '---'  |  rear  | |     |
//     .-----|journal|  |   |  |        |  .---.  | journal| |     o-----> x
//           '-------|  |   |  |--------|  |   |  |--------| |
//                   |  |   |  |        |  |   |  |        '-' flange
//                   '--'   '--'        '--'---'--'
//               counterweights            pin 2
//
// A web is bounded by an arc about the pin, a waist, and the arc of the counterweight about the shaft. Every journal
// and pin runs into its webs by a fillet. Mesh it to second order: 30464 tet10 with 50,031
// nodes (paper 002, Sec. 6: 31999 and 50289). In steel the twelfth elastic mode is at 9.6 kHz, the thirteenth at 10.2.
SetFactory("OpenCASCADE");

throw = 22;             // of the pins
main_radius = 18;       main_length = 20;
pin_radius = 16;        pin_length = 19;
web = 13;               // thickness
web_head = 22;          // radius about the pin
waist = 23.5;           // half width beside the shaft
counterweight = 42;     // radius about the shaft
counterweight_edge = 8; // of its upper corners below the shaft
nose_radius = 12;       nose_length = 22;
flange_radius = 26;     flange_length = 9;
fillet = 3.5;
size = 4.9;             // of an edge

// from one main journal to the next
bay = pin_length + 2 * web + main_length;

// A web from x0 on, its pin at z = side * throw.
Macro Web
  p = newp;
  h = Sqrt(counterweight^2 - counterweight_edge^2);
  Point(p) = {x0, 0, 0};
  Point(p + 1) = {x0, 0, side * throw};
  Point(p + 2) = {x0, web_head, side * throw};
  Point(p + 3) = {x0, 0, side * (throw + web_head)};
  Point(p + 4) = {x0, -web_head, side * throw};
  Point(p + 5) = {x0, -waist, 0};
  Point(p + 6) = {x0, -h, -side * counterweight_edge};
  Point(p + 7) = {x0, 0, -side * counterweight};
  Point(p + 8) = {x0, h, -side * counterweight_edge};
  Point(p + 9) = {x0, waist, 0};
  l = newl;
  Circle(l) = {p + 2, p + 1, p + 3};
  Circle(l + 1) = {p + 3, p + 1, p + 4};
  Line(l + 2) = {p + 4, p + 5};
  Line(l + 3) = {p + 5, p + 6};
  Circle(l + 4) = {p + 6, p, p + 7};
  Circle(l + 5) = {p + 7, p, p + 8};
  Line(l + 6) = {p + 8, p + 9};
  Line(l + 7) = {p + 9, p + 2};
  c = newll;
  Curve Loop(c) = {l : l + 7};
  s = news;
  Plane Surface(s) = {c};
  body[] = Extrude {web, 0, 0} { Surface{s}; };
  Recursive Delete { Point{p, p + 1}; }
  parts[] += body[1];
Return

// A cylinder of the shaft or a pin.
Macro Journal
  v = newv;
  Cylinder(v) = {x0, 0, z0, x1 - x0, 0, 0, radius};
  parts[] += v;
Return

parts[] = {};
x0 = -nose_length;  x1 = 0;  z0 = 0;  radius = nose_radius;
Call Journal;
For k In {0 : 2}
  x0 = k * bay;  x1 = x0 + main_length;  z0 = 0;  radius = main_radius;
  Call Journal;
EndFor
end = 2 * bay + main_length;
x0 = end;  x1 = end + flange_length;  radius = flange_radius;
Call Journal;
For k In {0 : 1}
  side = 1 - 2 * k;
  x0 = k * bay + main_length;
  Call Web;
  x0 = k * bay + main_length + web + pin_length;
  Call Web;
  x0 = k * bay + main_length + web;  x1 = x0 + pin_length;  z0 = side * throw;  radius = pin_radius;
  Call Journal;
EndFor
first = parts[0];
parts[] -= {first};
solid[] = BooleanUnion { Volume{first}; Delete; }{ Volume{parts[]}; Delete; };

// the circles where a journal or a pin meets a web
e = 0.01;
rims[] = {};
For k In {0 : 1}
  x = k * bay + main_length;
  rims[] += Curve In BoundingBox{x - e, -main_radius - e, -main_radius - e, x + e, main_radius + e, main_radius + e};
  x = (k + 1) * bay;
  rims[] += Curve In BoundingBox{x - e, -main_radius - e, -main_radius - e, x + e, main_radius + e, main_radius + e};
  z = throw * (1 - 2 * k);
  x = k * bay + main_length + web;
  rims[] += Curve In BoundingBox{x - e, -pin_radius - e, z - pin_radius - e, x + e, pin_radius + e, z + pin_radius + e};
  x = x + pin_length;
  rims[] += Curve In BoundingBox{x - e, -pin_radius - e, z - pin_radius - e, x + e, pin_radius + e, z + pin_radius + e};
EndFor
rims[] += Curve In BoundingBox{end - e, -main_radius - e, -main_radius - e, end + e, main_radius + e, main_radius + e};
crank[] = Fillet { solid[] }{ rims[] }{ fillet };

Physical Volume("crankshaft") = {crank[]};
e = 0.1;
R = main_radius + e;
face[] = Surface In BoundingBox{-e, -R, -R, main_length - fillet + e, R, R};
face[] -= Surface In BoundingBox{-e, -R, -R, e, R, R};
Physical Surface("front journal") = {face[]};
face[] = Surface In BoundingBox{2 * bay + fillet - e, -R, -R, end - fillet + e, R, R};
Physical Surface("rear journal") = {face[]};

// Seven edges to a full turn: two across a fillet, so that its curved elements keep their shape.
Mesh.CharacteristicLengthMin = size / 5;
Mesh.CharacteristicLengthMax = size;
Mesh.CharacteristicLengthFromCurvature = 7;
Mesh.Algorithm = 5;
Mesh.Algorithm3D = 1;
Mesh.RandomFactor = 1e-9;
Mesh.ElementOrder = 2;
