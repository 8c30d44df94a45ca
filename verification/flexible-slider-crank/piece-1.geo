// one of 1 pieces of the rod of 0.3 m
length = 0.3 / 1;
layers = 32;
Include "section.geo";
