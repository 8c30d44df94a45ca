// the forearm
length = 0.6; R = 0.02; w = 0.002;
layers = 20;
Include "tube.geo";
