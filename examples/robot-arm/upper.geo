// the upper arm
length = 0.8; R = 0.025; w = 0.002;
layers = 24;
Include "tube.geo";
