#!/usr/bin/env python3
"""The flexible four-bar of examples/four-bar in Exudyn, from bodies that Lissom has assembled and reduced, as JSON.

    exudyn_four_bar.py bar.body.h5 left.reduced.h5 coupler.body.h5 coupler.reduced.h5 --step 1e-4 --end 0.2

Three bodies of the floating-frame object of exudyn_pendulum.py, which says what is taken from Lissom; all flexible natural
modes of the reduced bodies; eight spherical joints, two to each hinge, node to node or node to ground; and a force of 5 N on
"top right" of the left bar, which acts from the start on. The ramp of the example would need a Python function in Exudyn.
Printed as by exudyn_pendulum.py: `top` is the node where the force acts, `coupler end` is "right 2" of the coupler.
"""
import argparse
import json

import numpy as np

from exudyn_pendulum import Body, System, add_options, fastest

DISTANCE, PIVOT = 0.135, 0.0925  # [m] between the hinges of the coupler, and above those of the ground


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bar_body", "bar_reduced", "coupler_body", "coupler_reduced"):
        parser.add_argument(name)
    add_options(parser)
    parser.set_defaults(gravity=[0, 0, 0])
    options = parser.parse_args()
    bar, coupler = Body(options.bar_body, options.bar_reduced), Body(options.coupler_body, options.coupler_reduced)

    def build():
        system = System(options.gravity)
        left, right = system.add(bar), system.add(bar, (0, DISTANCE, 0))
        middle = system.add(coupler, (0, 0, PIVOT))
        for number, y in ((left, 0), (right, DISTANCE)):
            for foot in ("foot left", "foot right"):
                node = bar.nodes(foot)
                system.spherical(system.ground_marker(bar.points[node[0]] + np.array([0, y, 0])), system.marker(number, node))
        for number, side in ((left, "left"), (right, "right")):
            for top, end in (("top left", "1"), ("top right", "2")):
                system.spherical(system.marker(number, bar.nodes(top)), system.marker(middle, coupler.nodes(f"{side} {end}")))
        system.force(system.marker(left, bar.nodes("top right")), (0, 5, 0))
        system.sense("top", left, bar.nodes("top right")[0])
        system.sense("coupler end", middle, coupler.nodes("right 2")[0])
        return system

    print(json.dumps({**fastest(build, options), "modes": [bar.modes.shape[1], coupler.modes.shape[1]]}))


if __name__ == "__main__":
    main()
