// one of 2 pieces of the rod of 0.3 m
length = 0.3 / 2;
layers = 16;
Include "section.geo";
