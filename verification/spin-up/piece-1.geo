// one of 1 pieces of the beam of 10 m
length = 10 / 1;
layers = 40;
Include "section.geo";
