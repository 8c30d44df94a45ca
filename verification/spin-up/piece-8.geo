// one of 8 pieces of the beam of 10 m
length = 10 / 8;
layers = 5;
Include "section.geo";
