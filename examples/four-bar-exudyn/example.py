"""A small model from the motion of another program, which is nothing but arrays: node ids, times, positions.

The trajectory of Exudyn is read with NumPy, every other sample of it is written to a file of our own, and the four-bar is trained on that. The
samples that were left out are then what the small model has to meet.

Prints:

    exudyn.npz: 101 samples of 466 nodes in 0.2 s
    trained on 51 of them: order 6, 3 proposed; motion outside of the bodies' modes <1e-14 m
    against all of Exudyn's samples: epsilon 2.5e-16 m2, farthest node 2.5e-10 m
"""
import pathlib
import tempfile

import numpy as np

import lissom

HERE = pathlib.Path(__file__).resolve().parent
data = dict(np.load(HERE / "exudyn.npz"))  # "left": (samples, nodes, 3), "left/node_ids", "time", and so on
bodies = [name for name, array in data.items() if array.ndim == 3]
print(f"exudyn.npz: {len(data['time'])} samples of {sum(data[name].shape[1] for name in bodies)} nodes in {data['time'][-1]:g} s")

with tempfile.TemporaryDirectory() as folder:
    half = {name: array if name.endswith("node_ids") else array[::2] for name, array in data.items()}
    np.savez(f"{folder}/half.npz", **half)
    study = lissom.Study(HERE / "study.toml", set={
        "simulate.sample": 4e-3,  # of the training
        "train.trajectories": [dict(name="half", file=f"{folder}/half.npz", at_rest=True)],
    })
    training = study.train(order=6)
print(f"trained on {len(half['time'])} of them: order {training.order}, {training.summary['proposed']} proposed; "
      f"motion outside of the bodies' modes {training.summary['outside_space']:.0e} m")

run = training.rom.simulate(set={"simulate.sample": 2e-3})  # all of Exudyn's
epsilon, farthest = 0.0, 0.0
for name in bodies:
    order = np.argsort(run.node_ids(name))  # their nodes are in another order
    theirs = data[name][:, np.argsort(data[f"{name}/node_ids"])]
    difference = run.nodes(name)[:, order] - theirs
    epsilon += (difference**2).sum()
    farthest = max(farthest, np.linalg.norm(difference, axis=2).max())
print(f"against all of Exudyn's samples: epsilon {epsilon:.1e} m2, farthest node {farthest:.1e} m")
