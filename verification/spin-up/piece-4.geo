// one of 4 pieces of the beam of 10 m
length = 10 / 4;
layers = 10;
Include "section.geo";
