#!/usr/bin/python3
"""Figures 13 and 14 of paper 001 and the counts of all ways of choosing modes, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/connecting-rod/plot.py RESULTS     writes RESULTS/rod-{errors,convergence,counts,cost}.png
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plotting import paper_001_figures

paper_001_figures(Path(sys.argv[1]), "rod", printed={0.1: 8, 0.01: 25, 0.001: 105},  # Sec. 5.2
                  plain_counts=[30, 60], figure_number=13, modes=[4, 5, 6], most=400)
