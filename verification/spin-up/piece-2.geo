// one of 2 pieces of the beam of 10 m
length = 10 / 2;
layers = 20;
Include "section.geo";
