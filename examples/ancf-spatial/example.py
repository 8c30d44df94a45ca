"""A beam rolled up into a circle, built in code: order of convergence against the closed form.

Prints:

    elements  gap [m]   order
           8  5.91e-03
          16  3.00e-04   4.30
          32  1.85e-05   4.02
          64  1.16e-06   4.00
    16 elements, all 21 steps: farthest from the arc 3.00e-04 m
    the paper's strains: the end is 2.634 mm beyond the clamp, by hand 2.635 mm
"""
import numpy as np

import lissom

L, E, d = 3.0, 1e9, 0.04
EI, EA = E * np.pi * d**4 / 64, E * np.pi * d**2 / 4
along, normal, about = np.array([[2, 1, 2], [-2, 2, 1], [-1, -2, 2]]) / 3  # the beam lies askew in space


def roll(elements, **strains):
    """The end of the beam at 21 parts of a full turn."""
    system = lissom.System(title="cantilever")
    system.add_beam("beam", [0, 0, 0], L * along, elements, dimension=3, section=dict(circle=d), young=E, density=1000, **strains)
    system.add_joint("clamp", "fixed", ["ground", "beam.start"])
    system.add_load("roll", "torque", on="beam.end", torque=[f"{c}*t" for c in about], factor=2 * np.pi * EI / L)
    system.add_sensor("tip", "position", "beam.end")
    return system.simulate(integrator="static", step=1 / 21, end=1)


print("elements  gap [m]   order")
before = None
for elements in (8, 16, 32, 64):
    run = roll(elements, axial="engineering", bending="material-curvature")
    tip = run.sensors["tip"]
    gap = np.linalg.norm(tip[-1])
    print(f"{elements:8}  {gap:.2e}" + (f"  {np.log2(before / gap):5.2f}" if before else ""))
    before = gap
    if elements == 16:
        t = run.time[1:, None]
        k = 2 * np.pi * t / L
        arc = np.sin(k * L) / k * along + (1 - np.cos(k * L)) / k * normal
        farthest = np.linalg.norm(tip[1:] - arc, axis=1).max()
print(f"16 elements, all {len(t)} steps: farthest from the arc {farthest:.2e} m")

# bending energy EI |r''|^2 / 2 also shortens the beam: k (1 - 2 EI k^2 / EA) = M / EI
k = np.roots([-2 * EI / EA, 0, 1, -2 * np.pi / L])
k = k[np.argmin(abs(k - 2 * np.pi / L))].real
radius = np.sqrt(1 - 2 * EI / EA * k**2) / k
by_hand = radius * np.hypot(np.sin(k * L), 1 - np.cos(k * L))
tip = roll(64, axial="green", bending="second-derivative").sensors["tip"][-1]
print(f"the paper's strains: the end is {1e3 * np.linalg.norm(tip):.3f} mm beyond the clamp, by hand {1e3 * by_hand:.3f} mm")
