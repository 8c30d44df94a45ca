// What a view shows, as numbers: surfaces, their motion or modes, and any point of them at any time. The
// graphics card expands the same arrays by itself (view_gpu.js); this is for picking, sensors and legends.
//
//   x = p + R (X + s u),   u = basis * amplitudes     (docs/reference/report-page.md)
(function() {
'use strict';

const lissom = (window.lissom = window.lissom || {});

// basis: i16 columns of components * n; amplitudes: r for each frame, or null of shapes
async function load_series(S) {
  if (!S) return null;
  const [basis, amplitudes] = await Promise.all([
    S.rank ? lissom.array(S.basis) : new Int16Array(0),
    S.rank && S.amplitudes ? lissom.array(S.amplitudes) : null,
  ]);
  return {
    components: S.components,
    rank: S.rank,
    factors: Float32Array.from(S.scales, (scale) => scale / 32767),
    basis,
    amplitudes,
    largest: S.largest || 0,
  };
}

// A series as the graphics card likes it: for each point and component all columns in a row, their number
// padded; out has components * n * padded(rank) numbers.
function unpack(series, out) {
  const width = padded(series.rank), rows = series.basis.length / series.rank;
  for (let k = 0; k < series.rank; ++k) {
    const factor = series.factors[k], from = k * rows;
    for (let row = 0, to = k; row < rows; ++row, to += width) out[to] = factor * series.basis[from + row];
  }
}
// a multiple of four
const padded = (rank) => 4 * Math.max(1, Math.ceil(rank / 4));

class Part {
  constructor(spec, points, triangles, edges, node_ids) {
    this.name = spec.name;
    this.points = points;
    this.triangles = triangles;
    this.edges = edges;
    this.node_ids = node_ids;  // of the mesh, or null
    this.count = points.length / 3;
    this.motion = null;
    this.shapes = null;
    // now: place, amplitudes (padded with zeros), whether the stress is known
    this.matrix = new THREE.Matrix4();
    this.position = new THREE.Vector3();
    this.rotation = new THREE.Quaternion();
    this.next_rotation = new THREE.Quaternion();
    this.amplitudes = new Float32Array(4);
    this.stress_amplitudes = new Float32Array(4);
    const box = new THREE.Box3().setFromArray(points);
    this.box = [box.min, box.max];
    // about the length of an edge
    const step = 2 * Math.max(1, Math.floor(edges.length / 600)), a = new THREE.Vector3(),
          b = new THREE.Vector3();
    let sum = 0, number = 0;
    for (let i = 0; i + 1 < edges.length; i += step, ++number) {
      sum += a.fromArray(points, 3 * edges[i]).distanceTo(b.fromArray(points, 3 * edges[i + 1]));
    }
    this.edge_length = number ? sum / number : 0;
  }
}

class Run {
  constructor(spec, parts, time) {
    this.spec = spec;
    this.label = spec.label || '';
    this.parts = parts;
    this.time = time;  // null without a motion
    this.modes = spec.shapes ? spec.shapes.modes : [];
    this.sensors = spec.sensors || [];
    this.mode = -1;    // the one shown, -1: the motion
    this.version = 0;  // changes with all that changes positions or stresses
    this.has_stress = parts.some((part) => part.motion && part.motion.stress);
    this.largest = {
      deformation: Math.max(0, ...parts.map((part) => (part.motion ? part.motion.displacement.largest : 0))),
      stress: Math.max(
          0, ...parts.map((part) => (part.motion && part.motion.stress ? part.motion.stress.largest : 0))),
    };
  }

  static async load(spec) {
    const motion = spec.motion, shapes = spec.shapes;
    const parts = await Promise.all(spec.parts.map(async (part, i) => {
      const loaded = new Part(part, ...await Promise.all([
        lissom.array(part.points), lissom.array(part.triangles), lissom.array(part.edges),
        part.node_ids ? lissom.array(part.node_ids) : null
      ]));
      if (motion) {
        const m = motion.parts[i];
        const [position, rotation, displacement, stress] = await Promise.all([
          lissom.array(m.position), lissom.array(m.rotation), load_series(m.displacement),
          load_series(m.stress)
        ]);
        loaded.motion = {position, rotation, displacement, stress};
      }
      if (shapes) {
        const s = shapes.parts[i];
        const [real, imaginary] = await Promise.all([load_series(s.real), load_series(s.imaginary)]);
        loaded.shapes = {position: s.position, rotation: s.rotation, real, imaginary};
      }
      return loaded;
    }));
    return new Run(spec, parts, motion ? await lissom.array(motion.time) : null);
  }

  get points() { return this.parts.reduce((sum, part) => sum + part.count, 0); }
  get triangles() { return this.parts.reduce((sum, part) => sum + part.triangles.length / 3, 0); }
  begin() { return this.mode < 0 && this.time ? this.time[0] : 0; }
  end() { return this.mode >= 0 ? 1 : this.time ? this.time[this.time.length - 1] : 0; }

  // The frame before t, and how far t is on the way to the next one.
  frame(t) {
    const time = this.time, last = time.length - 1;
    if (!(t > time[0])) return [0, 0];
    if (t >= time[last]) return [last, 0];
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (time[middle] <= t)
        low = middle;
      else
        high = middle;
    }
    return [low, (t - time[low]) / (time[high] - time[low])];
  }

  // Motion at t [s], between the ends of the run; of a mode, t counts periods. Shown mode: columns real,
  // imaginary.
  update(mode, t) {
    if (mode === this.mode && t === this.shown) return;
    const columns_change = mode !== this.mode || this.shown === undefined;
    this.mode = mode;
    this.shown = t;
    ++this.version;
    if (mode >= 0) {
      for (const part of this.parts) update_shape(part, mode, t, columns_change);
    } else if (this.time) {
      const [frame, weight] = this.frame(t);
      for (const part of this.parts) update_motion(part, frame, weight);
    }
  }

  // The series whose amplitudes are part.amplitudes now.
  displacement(part) {
    return this.mode >= 0 ? part.mode_series : part.motion ? part.motion.displacement : null;
  }
  stress(part) { return this.mode < 0 && part.motion ? part.motion.stress : null; }

  // u of a point in the part's own axes [m]
  displacement_at(part, point, out) {
    out.set(0, 0, 0);
    const series = this.displacement(part);
    for (let k = 0; series && k < series.rank; ++k) {
      const a = part.amplitudes[k] * series.factors[k], at = 3 * (k * part.count + point);
      out.x += a * series.basis[at];
      out.y += a * series.basis[at + 1];
      out.z += a * series.basis[at + 2];
    }
    return out;
  }
  // where it is shown [m]
  position_at(part, point, scale, out) {
    this.displacement_at(part, point, out).multiplyScalar(scale);
    out.x += part.points[3 * point];
    out.y += part.points[3 * point + 1];
    out.z += part.points[3 * point + 2];
    return out.applyMatrix4(part.matrix);
  }
  // von Mises stress [Pa], null where it is not known
  stress_at(part, point) {
    const series = this.stress(part);
    if (!series) return null;
    const s = [0, 0, 0, 0, 0, 0];
    for (let k = 0; k < series.rank; ++k) {
      const a = part.stress_amplitudes[k] * series.factors[k], at = 6 * (k * part.count + point);
      for (let c = 0; c < 6; ++c) s[c] += a * series.basis[at + c];
    }
    return von_mises(s, 0);
  }

  // All points of a part where they are shown.
  positions(part, scale) {
    const x = expand(this.displacement(part), part.amplitudes, 3 * part.count);
    const m = part.matrix.elements;
    for (let i = 0; i < x.length; i += 3) {
      const a = part.points[i] + scale * x[i], b = part.points[i + 1] + scale * x[i + 1],
            c = part.points[i + 2] + scale * x[i + 2];
      x[i] = m[0] * a + m[4] * b + m[8] * c + m[12];
      x[i + 1] = m[1] * a + m[5] * b + m[9] * c + m[13];
      x[i + 2] = m[2] * a + m[6] * b + m[10] * c + m[14];
    }
    return x;
  }

  // Smallest and largest |u| or von Mises stress of this frame.
  range(colour) {
    let low = Infinity, high = 0;
    const take = (value) => {
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const part of this.parts) {
      if (colour === 'stress') {
        if (!this.stress(part)) continue;
        const s = expand(this.stress(part), part.stress_amplitudes, 6 * part.count);
        for (let i = 0; i < s.length; i += 6) take(von_mises(s, i));
      } else {
        const u = expand(this.displacement(part), part.amplitudes, 3 * part.count);
        for (let i = 0; i < u.length; i += 3) take(Math.sqrt(u[i] ** 2 + u[i + 1] ** 2 + u[i + 2] ** 2));
      }
    }
    return low <= high ? [low, high] : [0, 0];
  }

  // Points that the picture should hold: corners of the parts' boxes at a hundred frames at most, undeformed;
  // of modes, of a swing so far to either side [m].
  cloud(swing) {
    const found = [], at = new THREE.Vector3(), p = new THREE.Vector3(), p0 = new THREE.Vector3(),
          q = new THREE.Quaternion();
    const frames = this.mode < 0 && this.time ? this.time.length : 1,
          step = Math.max(1, Math.floor(frames / 100));
    for (const part of this.parts) {
      const place = this.mode < 0 ? part.motion : part.shapes;
      if (!part.count) continue;
      const reach = this.mode >= 0 ? mode_reach(part).map((u) => u * swing) : [0, 0, 0];
      for (let f = 0; f < frames; f += step) {
        if (place) {
          p.fromArray(place.position, 3 * f);
          q.fromArray(place.rotation, 4 * f);
        }
        for (let corner = 0; corner < 8; ++corner) {
          const side = [corner & 1, (corner >> 1) & 1, corner >> 2];
          at.set(part.box[side[0]].x, part.box[side[1]].y, part.box[side[2]].z);
          at.add(p0.fromArray(reach.map((u, axis) => (side[axis] ? u : -u))));
          at.applyQuaternion(q).add(p);
          found.push(at.x, at.y, at.z);
        }
      }
    }
    return found.length ? found : [0, 0, 0, 1, 1, 1];
  }
}

// The largest displacement of any mode along each of the part's axes; 1 is that of the whole mechanism.
function mode_reach(part) {
  if (part.reach) return part.reach;
  part.reach = [0, 0, 0];
  for (const series of [part.shapes.real, part.shapes.imaginary]) {
    for (let k = 0; series && k < series.rank; ++k) {
      const from = 3 * k * part.count, most = [0, 0, 0];
      for (let i = from; i < from + 3 * part.count; ++i) {
        const axis = (i - from) % 3, u = Math.abs(series.basis[i]);
        if (u > most[axis]) most[axis] = u;
      }
      most.forEach((u, axis) => {
        part.reach[axis] = Math.max(part.reach[axis], u * series.factors[k]);
      });
    }
  }
  return part.reach;
}

function place(part) { part.matrix.makeRotationFromQuaternion(part.rotation).setPosition(part.position); }

function update_motion(part, frame, weight) {
  const {position, rotation, displacement, stress} = part.motion;
  const next = weight > 0 ? frame + 1 : frame, p = 3 * frame, pn = 3 * next, q = 4 * frame, qn = 4 * next;
  const mix = (array, i, j) => array[i] + weight * (array[j] - array[i]);
  part.position.set(mix(position, p, pn), mix(position, p + 1, pn + 1), mix(position, p + 2, pn + 2));
  part.rotation.set(rotation[q], rotation[q + 1], rotation[q + 2], rotation[q + 3]).normalize();
  if (weight > 0) {
    part.next_rotation.set(rotation[qn], rotation[qn + 1], rotation[qn + 2], rotation[qn + 3]).normalize();
    part.rotation.slerp(part.next_rotation, weight);
  }
  place(part);
  part.amplitudes = mix_amplitudes(displacement, frame, next, weight, part.amplitudes);
  if (stress) part.stress_amplitudes = mix_amplitudes(stress, frame, next, weight, part.stress_amplitudes);
}

function mix_amplitudes(series, frame, next, weight, out) {
  const rank = series.rank, a = series.amplitudes;
  if (out.length !== padded(rank)) out = new Float32Array(padded(rank));
  for (let k = 0, i = frame * rank, j = next * rank; k < rank; ++k, ++i, ++j)
    out[k] = a[i] + weight * (a[j] - a[i]);
  return out;
}

// u = real cos(2 pi t) - imaginary sin(2 pi t)
function update_shape(part, mode, t, columns_change) {
  const {position, rotation, real, imaginary} = part.shapes;
  if (columns_change) {
    const columns = [real, imaginary].filter((series) => series && series.rank);
    const rows = 3 * part.count, basis = new Int16Array(rows * columns.length);
    columns.forEach(
        (series, k) => basis.set(series.basis.subarray(mode * rows, (mode + 1) * rows), k * rows));
    part.mode_series = {
      components: 3,
      rank: columns.length,
      basis,
      factors: columns.map((series) => series.factors[mode]),
      largest: 1
    };
    part.position.fromArray(position);
    part.rotation.fromArray(rotation).normalize();
    place(part);
    part.amplitudes = new Float32Array(4);
  }
  part.amplitudes[0] = Math.cos(2 * Math.PI * t);
  part.amplitudes[1] = part.mode_series.rank > 1 ? -Math.sin(2 * Math.PI * t) : 0;
}

function expand(series, amplitudes, rows) {
  const out = new Float32Array(rows);
  for (let k = 0; series && k < series.rank; ++k) {
    const a = amplitudes[k] * series.factors[k], from = k * rows, basis = series.basis;
    for (let row = 0; row < rows; ++row) out[row] += a * basis[from + row];
  }
  return out;
}

// of xx yy zz xy yz zx
function von_mises(s, i) {
  const a = s[i] - s[i + 1], b = s[i + 1] - s[i + 2], c = s[i + 2] - s[i];
  return Math.sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[i + 3] ** 2 + s[i + 4] ** 2 + s[i + 5] ** 2));
}

// The first surface point that a ray meets: {run, part, point}, or null. shown(part): is it visible.
function pick_point(run, scale, ray, shown, cache) {
  let nearest = Infinity, hit = null;
  const o = ray.origin, d = ray.direction, at = new THREE.Vector3();
  run.parts.forEach((part, index) => {
    if (!shown(part)) return;
    let kept = cache.get(part);
    if (!kept || kept.version !== run.version || kept.scale !== scale) {
      kept = {version: run.version, scale, x: run.positions(part, scale)};
      cache.set(part, kept);
    }
    const x = kept.x, triangles = part.triangles;
    for (let i = 0; i < triangles.length; i += 3) {
      // Moeller and Trumbore: o + t d = a + v e + w f
      const a = 3 * triangles[i], b = 3 * triangles[i + 1], c = 3 * triangles[i + 2];
      const ex = x[b] - x[a], ey = x[b + 1] - x[a + 1], ez = x[b + 2] - x[a + 2];
      const fx = x[c] - x[a], fy = x[c + 1] - x[a + 1], fz = x[c + 2] - x[a + 2];
      const px = d.y * fz - d.z * fy, py = d.z * fx - d.x * fz, pz = d.x * fy - d.y * fx;
      const det = ex * px + ey * py + ez * pz;
      if (det === 0) continue;
      const sx = o.x - x[a], sy = o.y - x[a + 1], sz = o.z - x[a + 2];
      const v = (sx * px + sy * py + sz * pz) / det;
      if (v < 0 || v > 1) continue;
      const qx = sy * ez - sz * ey, qy = sz * ex - sx * ez, qz = sx * ey - sy * ex;
      const w = (d.x * qx + d.y * qy + d.z * qz) / det;
      if (w < 0 || v + w > 1) continue;
      const t = (fx * qx + fy * qy + fz * qz) / det;
      if (t <= 0 || t >= nearest) continue;
      nearest = t;
      // the corner that the hit is nearest to
      at.copy(d).multiplyScalar(t).add(o);
      const square = (k) => (x[k] - at.x) ** 2 + (x[k + 1] - at.y) ** 2 + (x[k + 2] - at.z) ** 2;
      const corner = [a, b, c].reduce((best, k) => (square(k) < square(best) ? k : best));
      hit = {run, part: index, point: corner / 3};
    }
  });
  return hit;
}

lissom.view_model = {
  Run,
  unpack,
  padded,
  pick_point
};
})();
