#!/usr/bin/python3
"""Figures 3 and 4 of paper 001 and the counts of all ways of choosing modes, from what `lissom run` left in a folder.

    /usr/bin/python3 examples/cylinder/plot.py RESULTS     writes RESULTS/cylinder-{errors,convergence,counts,cost}.png
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plotting import paper_001_figures

paper_001_figures(Path(sys.argv[1]), "cylinder", printed={0.1: 35, 0.01: 58, 0.001: 446},  # Sec. 5.1
                  plain_counts=[50, 100], figure_number=3, modes=[1, 6, 10, 15, 16, 17, 19, 26, 30], most=500)
