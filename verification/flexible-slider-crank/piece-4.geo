// one of 4 pieces of the rod of 0.3 m
length = 0.3 / 4;
layers = 8;
Include "section.geo";
