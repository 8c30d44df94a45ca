"""Views that are made up, as docs/reference/report-page.md says: bars that turn and bend, with all numbers at hand.

As a program it writes a page with so many surface points, shapes and frames, for measurements:
    synthetic.py PAGE.html --points 10000 --rank 10 --frames 1000
"""

import argparse
import base64
import zlib

import numpy as np

import support

KINDS = {"f32": "<f4", "f64": "<f8", "u32": "<u4", "u16": "<u2", "i16": "<i2"}


class ViewPage(support.Page):
    """Takes arrays of numpy, which may be large."""

    def array(self, values, kind="f64"):
        data = np.ascontiguousarray(values if isinstance(values, np.ndarray) else list(values), dtype=KINDS[kind])
        self.blobs.append(base64.b64encode(zlib.compress(data.tobytes(), 6)).decode())
        return {"blob": f"b{len(self.blobs) - 1}", "type": kind, "count": int(data.size), "at": 0}


def bar_surface(nx, ny, nz, size):
    """Points (n by 3), triangles and edges of a box of nx by ny by nz cells; its axis is x, from 0."""
    index, points, triangles, edges = {}, [], [], set()

    def node(i, j, k):
        if (i, j, k) not in index:
            index[i, j, k] = len(points)
            points.append((size[0] * i / nx, size[1] * (j / ny - 0.5), size[2] * (k / nz - 0.5)))
        return index[i, j, k]

    def face(a, b, na, nb, place, flip):
        for i in range(na):
            for j in range(nb):
                q = [node(*place(i + di, j + dj)) for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1))]
                q = q[::-1] if flip else q
                triangles.extend([(q[0], q[1], q[2]), (q[0], q[2], q[3])])
                edges.update(tuple(sorted((q[m], q[(m + 1) % 4]))) for m in range(4))

    for end in (0, 1):
        face("x", "y", nx, ny, lambda i, j: (i, j, end * nz), not end)
        face("x", "z", nx, nz, lambda i, j: (i, end * ny, j), bool(end))
        face("y", "z", ny, nz, lambda i, j: (end * nx, i, j), not end)
    return np.array(points), np.array(triangles), np.array(sorted(edges))


def series(page, columns, amplitudes, components, largest):
    """A series S of the page, and the columns as the page has them."""
    scales = np.maximum(np.abs(columns).max(axis=0), 1e-300)
    whole = np.rint(columns / scales * 32767).astype(np.int16)
    data = {"components": components, "rank": columns.shape[1], "scales": scales.tolist(),
            "basis": page.array(whole.T, "i16"), "largest": largest, "error": 0.0,
            "amplitudes": None if amplitudes is None else page.array(amplitudes.T, "f32")}
    return data, whole / 32767.0 * scales


def quaternion_matrix(q):
    x, y, z, w = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def von_mises(s):
    """Of rows xx yy zz xy yz zx."""
    a, b, c = s[:, 0] - s[:, 1], s[:, 1] - s[:, 2], s[:, 2] - s[:, 0]
    return np.sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[:, 3:] ** 2).sum(axis=1))


class Run:
    """Bars in a chain, each turning at its own speed, with shapes of bending; keeps what the page should show."""

    def __init__(self, page, label, names, cells=(20, 4, 4), rank=5, frames=101, duration=2.0, stress=True, modes=0,
                 deviation=0.0, notes=(), seed=1):
        random = np.random.default_rng(seed)
        size = (1.0, 0.12, 0.08)
        self.time = np.linspace(0, duration, frames)
        self.parts, parts, moving, shaped = [], [], [], []
        pivot = np.zeros((frames, 3))
        for b, name in enumerate(names):
            points, triangles, edges = bar_surface(*cells, size)
            n, x = len(points), points[:, 0]
            angle = 0.5 * b + (1.0 + deviation) * (2 + b) * self.time / duration
            position, rotation = pivot.copy(), np.zeros((frames, 4))
            rotation[:, 2], rotation[:, 3] = np.sin(angle / 2), np.cos(angle / 2)
            pivot = pivot + np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) * size[0]
            # displacements and stresses in shapes that need not belong together
            u, s = np.zeros((3 * n, rank)), np.zeros((6 * n, rank))
            for k in range(rank):
                u[k % 3::3, k] = np.sin((k // 3 + 1) * np.pi * x)
                u[(k + 1) % 3::3, k] = 0.3 * random.normal() * x * points[:, 1] / size[1]
                for c in range(6):
                    s[c::6, k] = random.normal() * np.cos((k // 3 + 1) * np.pi * x + c) * (0.2 + points[:, 1] / size[1])
            phase = random.uniform(0, 6, rank)[:, None]
            amplitudes = np.sin(2 * np.pi * (np.arange(rank)[:, None] + 1) * self.time / duration + phase)
            amplitudes *= 4e-3 / (1 + np.arange(rank)[:, None])
            kept = {"points": points.astype(np.float32), "position": position.astype(np.float32), "triangles": triangles,
                    "rotation": rotation.astype(np.float32), "amplitudes": amplitudes.astype(np.float32)}
            largest = max(np.linalg.norm((u @ a).reshape(-1, 3), axis=1).max() for a in amplitudes.T[::7])
            displacement, kept["basis"] = series(page, u, amplitudes, 3, float(largest))
            part = {"name": name, "points": page.array(points, "f32"), "triangles": page.array(triangles, "u32"),
                    "edges": page.array(edges, "u32"), "mesh_nodes": n}
            motion = {"position": page.array(position, "f32"), "rotation": page.array(rotation, "f32"),
                      "displacement": displacement, "stress": None}
            if stress and b != 1:
                kept["stress_amplitudes"] = (1e10 * amplitudes).astype(np.float32)
                top = max(von_mises((s @ a).reshape(-1, 6)).max() for a in 1e10 * amplitudes.T[::7])
                motion["stress"], kept["stress_basis"] = series(page, s, 1e10 * amplitudes, 6, float(top))
            if modes:
                real = np.zeros((3 * n, modes))
                for k in range(modes):
                    real[(1 + k % 2)::3, k] = np.sin((k + 1) * np.pi / 2 * x)
                imaginary = 0.5 * np.roll(real, 1, axis=0)
                real_series, kept["real"] = series(page, real, None, 3, 1.0)
                imaginary_series, kept["imaginary"] = series(page, imaginary, None, 3, 0.5)
                shaped.append({"position": position[0].tolist(), "rotation": rotation[0].tolist(),
                               "real": real_series, "imaginary": imaginary_series})
            parts.append(part)
            moving.append(motion)
            self.parts.append(kept)
        tip = int(np.argmax(self.parts[-1]["points"] @ np.array([1, 0.1, 0.1])))
        self.sensors = [{"name": "tip", "part": len(names) - 1, "point": tip, "columns": ["tip.x", "tip.y"]},
                        {"name": "root", "part": 0, "point": 0, "columns": ["root.x"]}]
        everywhere = np.concatenate([p["position"] for p in self.parts])
        self.json = {"label": label, "notes": list(notes), "box": [everywhere.min(0).tolist(), everywhere.max(0).tolist()], "parts": parts,
                     "motion": {"time": page.array(self.time), "parts": moving} if frames > 1 else None,
                     "shapes": {"modes": [{"label": f"mode {k + 1}", "frequency_hz": 12.5 * (k + 1) ** 2, "damping_ratio": 0.01}
                                          for k in range(modes)], "parts": shaped} if modes else None,
                     "sensors": self.sensors}

    def positions(self, part, t, scale):
        """x = p + R (X + s u) of all points at a frame's time (n by 3)."""
        f, kept = int(np.argmin(abs(self.time - t))), self.parts[part]
        u = (kept["basis"] @ kept["amplitudes"][:, f].astype(float)).reshape(-1, 3)
        return kept["position"][f] + (kept["points"] + scale * u) @ quaternion_matrix(kept["rotation"][f].astype(float)).T

    def stresses(self, part, t):
        f, kept = int(np.argmin(abs(self.time - t))), self.parts[part]
        return von_mises((kept["stress_basis"] @ kept["stress_amplitudes"][:, f].astype(float)).reshape(-1, 6))

    def sensor_curve(self, page, name, others=()):
        sensor = next(s for s in self.sensors if s["name"] == name)
        rows = []
        for run in (self, *others):
            at = np.array([run.positions(sensor["part"], t, 1)[sensor["point"]] for t in run.time])
            suffix = f", {run.json['label']}" if others else ""
            rows += [(f"{name}.{axis}{suffix}", run.time, at[:, c], "line" if run is self else "dashed") for c, axis in enumerate("xy")]
        figure = page.figure(f"curve-{name}", rows, title=name, x="time [s]", y="position [m]")
        figure.pop("caption")
        return figure


def view(name, title, runs, curves=()):
    return {"id": name, "title": title, "runs": [run.json for run in runs], "curves": list(curves), "caption": title}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page")
    parser.add_argument("--points", type=int, default=10000)
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--frames", type=int, default=1000)
    given = parser.parse_args()
    # one bar of square cells: n = 2 (nx + 1)(ny + nz) + ... about
    side = max(2, round((given.points / 40) ** 0.5))
    cells = (max(2, round(given.points / (4 * side))), side, side)
    page = ViewPage(title=f"{given.points} points, {given.rank} shapes, {given.frames} frames")
    run = Run(page, "full", ["bar"], cells, given.rank, given.frames, 10.0)
    page.section("view", "The view", page.picture(view("motion", "Motion of a bar", [run], [run.sensor_curve(page, "tip")]), "view"))
    page.write(given.page, views=True)


if __name__ == "__main__":
    main()
