// Figures of a report: curves over linear or logarithmic axes, drawn as SVG with d3 (version 5).
//   lissom.plot(element, FIGURE) -> handle, also at element.lissom; FIGURE as in
//   docs/reference/report-page.md
// handle: ready (a promise: drawn), series [{name, x, y, visible}], domain() {x, y, log_x, log_y},
// setLog(axis, on), zoom(x0, x1, y0, y1), reset(), show(k, on), cursor(x or null), onseek (a function of x,
// called on a click), svg(), png() (a promise of a Blob), csv(), note() and remove().
(function() {
"use strict";

const lissom = (window.lissom = window.lissom || {});
const colours = 8;        // --c0 .. --c7
const reach = 12;         // [px] how far from the pointer a point is looked for
const print_width = 680;  // [px] of A4 between its margins

// What is drawn at a point, from its centre on; eight colours and seven signs make 56 pairs.
const signs = [
  "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
  "m-2.7,-2.7h5.4v5.4h-5.4z",
  "m0,-3.6l3.4,6h-6.8z",
  "m0,-3.9l3.9,3.9l-3.9,3.9l-3.9,-3.9z",
  "m0,3.6l3.4,-6h-6.8z",
  "m-3.6,0h7.2m-3.6,-3.6v7.2",
  "m-2.8,-2.8l5.6,5.6m0,-5.6l-5.6,5.6",
];

// ---- texts of numbers

const tidy = (text) => text.replace(/\.?0+(e|$)/, "$1").replace("e+", "e");

// A value with the digits that a reader can use.
function value_text(value, digits = 7) {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) {
    const text = value.toExponential(digits - 1);
    return text.includes(".") ? tidy(text) : text.replace("e+", "e");
  }
  const text = value.toPrecision(digits);
  return text.includes(".") ? tidy(text) : text;
}

// Texts of equidistant ticks: as many decimals as the step needs, exponents in threes and common to all.
function tick_texts(ticks) {
  const largest = Math.max(...ticks.map(Math.abs));
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : largest;
  if (!(largest > 0)) return ticks.map(String);
  let exponent = Math.floor(Math.log10(largest) + 1e-9);
  exponent = exponent >= 5 || exponent < -2 ? 3 * Math.floor(exponent / 3) : 0;
  const unit = Math.pow(10, exponent);
  const decimals = Math.min(15, Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)));
  return ticks.map(
      (t) => (
          Math.abs(t) < step * 1e-6 ? "0" : (t / unit).toFixed(decimals) + (exponent ? "e" + exponent : "")));
}

// ---- axes

// A map from values to pixels: offset + factor * (value or its logarithm).
function Axis(domain, log, from, to) {
  const a = log ? Math.log10(domain[0]) : domain[0];
  const b = log ? Math.log10(domain[1]) : domain[1];
  const factor = (to - from) / (b - a);
  const offset = from - factor * a;
  return {
    log: log,
    factor: factor,
    offset: offset,
    domain: domain,
    pixel: (v) => offset + factor * (log ? Math.log10(v) : v),
    value: (p) => (log ? Math.pow(10, (p - offset) / factor) : (p - offset) / factor),
  };
}

// About so many round numbers. Of steps of 1 and 5 (times a power of ten) d3 takes up to 1.41 times as many
// as asked for, of 2 up to 1.58 times; labels have room for 1.33 and 1.43 times as many.
function linear_ticks([lo, hi], count) {
  const ticks = d3.ticks(lo, hi, count / (0.75 * Math.SQRT2));
  const crowded = ticks.length > 1 && (hi - lo) / (ticks[1] - ticks[0]) >= count / 0.7;
  return crowded ? d3.ticks(lo, hi, 0.9 * count) : ticks;
}

// {at, text} of about so many ticks; text is empty at those without a label.
function ticks_of(axis, count) {
  const [lo, hi] = axis.domain;
  const decades = axis.log ? Math.log10(hi / lo) : 0;
  if (!axis.log || decades < 1) {
    const at = linear_ticks([lo, hi], count).filter((t) => !axis.log || t > 0);
    const texts = tick_texts(at);
    return at.map((t, k) => ({at: t, text: texts[k]}));
  }
  // powers of ten, every second or third where there are many; between them lines at 2 .. 9 where there are
  // few
  const first = Math.ceil(Math.log10(lo) - 1e-9), last = Math.floor(Math.log10(hi) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(count, 2)));
  const plain = first >= -3 && last <= 4;
  const text = (v, e) =>
      (plain ? String(Number(v.toPrecision(3))) : Number((v / Math.pow(10, e)).toPrecision(3)) + "e" + e);
  const result = [];
  for (let e = first - 1; e <= last; ++e) {
    const power = Number("1e" + e);
    if (e >= first) result.push({at: power, text: e % every ? "" : text(power, e)});
    for (let m = 2; every === 1 && m < 10; ++m)
      if (m * power >= lo && m * power <= hi)
        result.push({at: m * power, text: decades < 2.5 && (m === 2 || m === 5) ? text(m * power, e) : ""});
  }
  return result;
}

// For selections: line.call(set_line, ...).
const set_line = (line, x1, x2, y1, y2) => line.attr("x1", x1).attr("x2", x2).attr("y1", y1).attr("y2", y2);
const set_box = (rect, x, y, width, height) =>
    rect.attr("x", x).attr("y", y).attr("width", width).attr("height", height);

// Of {x, y, text}, and where they are needed anchor, turn (a rotation) and kind (a class).
const set_texts = (texts) => texts.attr("class", (d) => d.kind || null)
                                 .attr("x", (d) => d.x)
                                 .attr("y", (d) => d.y)
                                 .attr("text-anchor", (d) => d.anchor || null)
                                 .attr("transform", (d) => d.turn || null)
                                 .text((d) => d.text);

// ---- data

const usable = (v, log) => Number.isFinite(v) && (!log || v > 0);

// What must be known of an array to fit an axis to it.
function extent_of(values) {
  let lo = Infinity, hi = -Infinity, positive = Infinity;
  for (let i = 0; i < values.length; ++i) {
    const v = values[i];
    if (!Number.isFinite(v)) continue;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
    if (v > 0 && v < positive) positive = v;
  }
  return {lo: lo, hi: hi, positive: positive};
}

function is_sorted(x) {
  for (let i = 0; i < x.length; ++i)
    if (!Number.isFinite(x[i]) || (i && x[i] < x[i - 1])) return false;
  return true;
}

// The domain that shows all of these, with a margin.
function fit(extents, marks, log, margin) {
  let lo = Infinity, hi = -Infinity;
  for (const e of extents) {
    lo = Math.min(lo, log ? e.positive : e.lo);
    hi = Math.max(hi, log && !(e.hi > 0) ? -Infinity : e.hi);
  }
  for (const m of marks)
    if (usable(m, log)) {
      lo = Math.min(lo, m);
      hi = Math.max(hi, m);
    }
  if (!(lo <= hi)) return log ? [0.1, 10] : [0, 1];
  if (log) {
    const grow = hi / lo > 1.001 ? Math.pow(hi / lo, margin) : 1.5;
    const low = Math.min(Math.max(lo / grow, 1e-300), 1e299);
    return [low, Math.max(Math.min(hi * grow, 1e300), 1.5 * low)];
  }
  lo = Math.max(lo, -1e300);
  hi = Math.min(hi, 1e300);
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  // what is constant but for rounding gets room, so that noise does not look like a result
  const grow = hi - lo > 1e-12 * size ? margin * (hi - lo) : 0.1 * size || 1;
  return [lo - grow, hi + grow];
}

const tenth = (p) => Math.round(Math.min(Math.max(p, -1e6), 1e6) * 10) / 10;

// The path of a curve: of many points in one column of pixels, the lowest and the highest are drawn. Points
// between gaps, which make no line, come with their sign.
function line_path(s, range, X, Y) {
  const x = s.x, y = s.y, log_x = X.log, log_y = Y.log, fx = X.factor, ox = X.offset, fy = Y.factor,
        oy = Y.offset;
  let d = "", alone = "";
  let column = NaN, count = 0, drawn = 0;
  let px = 0, first = 0, low = 0, high = 0, last = 0, low_at = 0, high_at = 0;
  const put = (p, q) => {
    d += (drawn++ ? "L" : "M") + tenth(p) + "," + tenth(q);
  };
  const flush = () => {
    if (!count) return;
    const down = low_at < high_at;
    if (count > 4) {
      // dense: the lowest and the highest alone, the neighbours are a pixel away
      put(px, down ? low : high);
      if (low !== high) put(px, down ? high : low);
    } else {
      put(px, first);
      if (low !== first && low !== last && down) put(px, low);
      if (high !== first && high !== last) put(px, high);
      if (low !== first && low !== last && !down) put(px, low);
      if (count > 1) put(px, last);
    }
    count = 0;
  };
  const end = () => {
    if (count === 1 && !drawn) {
      alone += "M" + tenth(px) + "," + tenth(first) + s.sign;
      count = 0;
    }
    flush();
    drawn = 0;
    column = NaN;
  };
  for (let i = range[0]; i < range[1]; ++i) {
    const a = log_x ? Math.log10(x[i]) : x[i], b = log_y ? Math.log10(y[i]) : y[i];
    // numbers without a logarithm, gaps and what is not finite: the difference to itself is not zero
    if (a - a !== 0 || b - b !== 0) {
      end();
      continue;
    }
    const p = ox + fx * a, q = oy + fy * b, c = Math.floor(p);
    if (c !== column) {
      flush();
      column = c;
      px = p;
      first = low = high = q;
      low_at = high_at = i;
    } else if (q < low) {
      low = q;
      low_at = i;
    } else if (q > high) {
      high = q;
      high_at = i;
    }
    last = q;
    ++count;
  }
  end();
  return {line: d, alone: alone};
}

// Signs at points, one in each cell of so many pixels.
function sign_path(s, range, X, Y, sign, cell) {
  const d = [], taken = new Set();
  const [left, right] = X.pixels, [top, bottom] = Y.pixels;
  for (let i = range[0]; i < range[1]; ++i) {
    if (!usable(s.x[i], X.log) || !usable(s.y[i], Y.log)) continue;
    const p = X.pixel(s.x[i]), q = Y.pixel(s.y[i]);
    if (p < left - 4 || p > right + 4 || q < top - 4 || q > bottom + 4) continue;
    const key = Math.floor(p / cell) * 65536 + Math.floor(q / cell);
    if (taken.has(key)) continue;
    taken.add(key);
    d.push("M", tenth(p), ",", tenth(q), sign);
  }
  return d.join("");
}

// Some signs along a curve, to tell it from others without colours.
function sparse_signs(s, range, X, Y, sign, k, count) {
  const d = [], step = 130;
  if (!s.sorted || range[1] <= range[0]) return "";
  for (let p = X.pixels[0] + (step * (k + 0.5)) / count % step; p < X.pixels[1]; p += step) {
    const i = d3.bisectLeft(s.x, X.value(p), range[0], range[1]);
    if (i >= range[1] || !usable(s.x[i], X.log) || !usable(s.y[i], Y.log)) continue;
    const at = X.pixel(s.x[i]), q = Y.pixel(s.y[i]);
    // where points are far apart the next one may lie outside or be taken
    if (at > X.pixels[1] || Math.abs(at - p) > step / 2 || q < Y.pixels[0] || q > Y.pixels[1]) continue;
    d.push("M", tenth(at), ",", tenth(q), sign);
  }
  return d.join("");
}

// ---- files

// What the style sheet says of a drawing, written into each of its elements.
function inline_style(copy) {
  const wanted = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap",
    "stroke-opacity", "font-family", "font-size", "font-weight", "paint-order"
  ];
  const all = Array.from(copy.querySelectorAll("*"));
  const found = all.map((e) => {
    const style = getComputedStyle(e);
    return wanted.map((property) => style.getPropertyValue(property));
  });
  const plain = {
    "fill-opacity": "1",
    "stroke-dasharray": "none",
    "stroke-linejoin": "miter",
    "stroke-linecap": "butt",
    "stroke-opacity": "1",
    "font-weight": "400",
    "paint-order": "normal"
  };
  all.forEach((e, k) => {
    e.removeAttribute("style");
    e.removeAttribute("class");
    if (!/^(path|line|rect|text)$/.test(e.tagName) || e.closest("clipPath")) return;
    wanted.forEach((property, p) => {
      const v = found[k][p];
      if (!v || v === plain[property]) return;
      if (property.startsWith("font") && e.tagName !== "text") return;
      e.setAttribute(property, v);
    });
  });
}

// A promise of the PNG of an SVG text.
async function picture_of(text, scale) {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = lissom.make(
      "canvas", {width: Math.round(image.width * scale), height: Math.round(image.height * scale)});
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => {
    if (blob)
      resolve(blob);
    else
      reject(new Error("the browser cannot make a picture of this size"));
  }, "image/png"));
}

// The buttons that save a figure.
function save_buttons(title, name, handle) {
  const save = (kind, action) => lissom.make(
      "button", {
        type: "button",
        class: "small",
        "aria-label": "Save the figure " + title + " as " + kind,
        title: "Save as " + kind,
        onclick: action,
      },
      kind);
  return [
    save("PNG", () => handle().png().then((blob) => lissom.save(name + ".png", blob))),
    save("SVG", () => lissom.save(name + ".svg", handle().svg(), "image/svg+xml")),
    save("CSV", () => lissom.save(name + ".csv", handle().csv(), "text/csv")),
  ];
}

// ---- the figure

const living = new Set();
let serial = 0;

lissom.plot = function(element, figure) {
  if (typeof d3 === "undefined") throw new Error("the library d3 was not found when the report was written");
  if (element.lissom && element.lissom.remove) element.lissom.remove();
  if (figure.matrix) return lissom.plot_matrix(element, figure);

  const make = lissom.make;
  const title = figure.title || "";
  const name = figure.id || "figure";
  const clip = "lissom-clip-" + ++serial;
  const marks = figure.marks || [];
  let series = [];
  let log = {x: !!(figure.x && figure.x.log), y: !!(figure.y && figure.y.log)};
  let domain = {x: [0, 1], y: [0, 1]};
  let zoomed = false;
  let width = 0, height = 0, margin = null, X = null, Y = null;
  let hover = null;   // {k, i}: a point of a series
  let cursor = null;  // an x
  let frame = 0, loaded = false, printing = false;

  // buttons above, the drawing, the legend and a note below
  const pressed = (axis) => make(
      "button", {
        type: "button",
        class: "small",
        "aria-pressed": String(log[axis]),
        title: "Logarithmic " + axis + " axis",
        onclick: () => set_log(axis, !log[axis]),
      },
      "log " + axis);
  const log_buttons = {x: pressed("x"), y: pressed("y")};
  const reset_button = make(
      "button", {
        type: "button",
        class: "small",
        onclick: reset,
        title: "Show everything (double click, or key 0)",
        disabled: true,
      },
      "reset");
  const tools = make(
      "div", {class: "plot-tools", role: "group", "aria-label": "Figure " + title}, log_buttons.x,
      log_buttons.y, reset_button, ...save_buttons(title, name, () => handle));
  const area = make("div", {class: "plot-area"});
  const tip = make("div", {class: "plot-tip", hidden: true, role: "status"});
  const legend = make("div", {class: "plot-legend", role: "group", "aria-label": "Series"});
  const note = make("p", {class: "plot-note", hidden: true});
  const body = make(
      "div", {class: "plot-body"},
      make("div", {class: "plot-head"}, make("div", {class: "plot-title"}, title), tools), area, legend,
      note);
  const caption = element.querySelector(":scope > figcaption");
  if (caption)
    caption.before(body);
  else
    element.append(body);

  const svg = d3.select(area)
                  .append("svg")
                  .attr("class", "plot-svg")
                  .attr("tabindex", 0)
                  .attr("role", "img")
                  .attr("aria-label", title + ": loading");
  area.append(tip);
  const node = svg.node();
  const clip_box = svg.append("clipPath").attr("id", clip).append("rect");
  const grid = svg.append("g").attr("class", "grid");
  const frame_box = svg.append("rect").attr("class", "frame");
  const curves = svg.append("g").attr("clip-path", "url(#" + clip + ")");
  const marking = svg.append("g").attr("class", "marks");
  const axes = svg.append("g").attr("class", "axes");
  const over = svg.append("g").attr("class", "over");
  const seek_line = over.append("line").attr("class", "seek").style("display", "none");
  const cross_x = over.append("line").attr("class", "cross").style("display", "none");
  const cross_y = over.append("line").attr("class", "cross").style("display", "none");
  const dot = over.append("circle").attr("class", "dot").attr("r", 5).style("display", "none");
  const box = over.append("rect").attr("class", "box").style("display", "none");

  const colour = (k) => "var(--c" + (k % colours) + ")";
  const shown = () => series.filter((s) => s.visible);

  // ---- drawing

  function fit_domain() {
    const of = (axis) => marks.filter((m) => m.axis === axis).map((m) => m.at);
    domain = {
      x: fit(shown().map((s) => s.extent.x), of("x"), log.x, 0.02),
      y: fit(shown().map((s) => s.extent.y), of("y"), log.y, 0.06),
    };
    zoomed = false;
  }

  // The points that can be seen and one more on either side.
  function range_of(s) {
    if (!s.sorted) return [0, s.n];
    return [
      Math.max(0, d3.bisectLeft(s.x, domain.x[0]) - 1), Math.min(s.n, d3.bisectRight(s.x, domain.x[1]) + 1)
    ];
  }

  function layout() {
    width = printing ? print_width : Math.round(area.clientWidth);
    if (width < 40) return false;
    height = printing ? 225 : Math.round(Math.min(Math.max(0.56 * width, 220), 340));
    const count = Math.max(3, Math.round((height - 60) / 36));
    const probe = ticks_of({domain: domain.y, log: log.y}, count);
    const widest = Math.max(1, ...probe.map((t) => t.text.length));
    margin = {top: 26, right: 14, bottom: 42, left: Math.min(14 + 7 * widest, width / 3)};
    X = Axis(domain.x, log.x, margin.left, width - margin.right);
    Y = Axis(domain.y, log.y, height - margin.bottom, margin.top);
    X.pixels = [margin.left, width - margin.right];
    Y.pixels = [margin.top, height - margin.bottom];
    // of a long label x may have fewer ticks
    const longest = Math.max(1, ...ticks_of(X, 6).map((t) => t.text.length));
    X.ticks =
        ticks_of(X, Math.max(2, Math.min(10, Math.floor((X.pixels[1] - X.pixels[0]) / (7 * longest + 30)))));
    Y.ticks = probe;
    return true;
  }

  function draw() {
    frame = 0;
    if (!loaded || !layout()) return;
    const [left, right] = X.pixels, [top, bottom] = Y.pixels;
    svg.attr("viewBox", "0 0 " + width + " " + height).attr("width", width).attr("height", height);
    for (const rect of [clip_box, frame_box]) rect.call(set_box, left, top, right - left, bottom - top);

    const lines = [], texts = [];
    for (const t of X.ticks) {
      const p = tenth(X.pixel(t.at));
      lines.push({x: [p, p], y: [top, bottom], kind: t.text ? "major" : "minor"});
      if (t.text) texts.push({x: p, y: bottom + 16, anchor: "middle", text: t.text});
    }
    for (const t of Y.ticks) {
      const p = tenth(Y.pixel(t.at));
      lines.push({x: [left, right], y: [p, p], kind: t.text ? "major" : "minor"});
      if (t.text) texts.push({x: left - 7, y: p + 4, anchor: "end", text: t.text});
    }
    const label_of = (axis) => (axis && axis.label) || "";
    texts.push(
        {x: (left + right) / 2, y: height - 6, anchor: "middle", text: label_of(figure.x), kind: "label"},
        {x: 4, y: 14, text: label_of(figure.y), kind: "label"});
    grid.selectAll("line")
        .data(lines)
        .join("line")
        .attr("class", (d) => d.kind)
        .attr("x1", (d) => d.x[0])
        .attr("x2", (d) => d.x[1])
        .attr("y1", (d) => d.y[0])
        .attr("y2", (d) => d.y[1]);
    axes.selectAll("text").data(texts).join("text").call(set_texts);

    draw_curves();
    draw_marks();
    draw_over();
    tell();
  }

  // A curve's paths: its line, and the signs at or along it.
  function paths_of(s, place) {
    const range = range_of(s), paths = [];
    let signs = "", alone = "";
    if (s.style !== "points") {
      const drawn = line_path(s, range, X, Y);
      paths.push({kind: drawn.line.length > 10000 ? "trace dense" : "trace", path: drawn.line});
      alone = drawn.alone;
    }
    if (s.style === "points")
      signs = sign_path(s, range, X, Y, s.sign, 2);
    else if (s.style === "linepoints" && range[1] - range[0] < (X.pixels[1] - X.pixels[0]) / 7)
      signs = sign_path(s, range, X, Y, s.sign, 2);
    else if (series.length > 1)
      signs = sparse_signs(s, range, X, Y, s.sign, place, shown().length);
    if (signs || alone) paths.push({kind: "sign", path: signs + alone});
    return paths;
  }

  function draw_curves() {
    curves.selectAll("g")
        .data(shown(), (s) => s.k)
        .join("g")
        .attr("class", (s) => "curve " + s.style)
        .attr("style", (s) => "--colour: " + colour(s.k))
        .selectAll("path")
        .data(paths_of)
        .join("path")
        .attr("class", (d) => d.kind)
        .attr("d", (d) => d.path);
  }

  function draw_marks() {
    marking.selectAll("*").remove();
    const [left, right] = X.pixels, [top, bottom] = Y.pixels;
    const taken = [];
    for (const m of marks) {
      const axis = m.axis === "y" ? Y : X;
      if (!usable(m.at, axis.log)) continue;
      const p = tenth(axis.pixel(m.at));
      if (p < axis.pixels[0] - 0.5 || p > axis.pixels[1] + 0.5) continue;
      const vertical = m.axis !== "y";
      const ends = vertical ? [p, p, top, bottom] : [left, right, p, p];
      marking.append("line").call(set_line, ...ends);
      if (!m.label) continue;
      // labels stay inside, and go down a line where another one is
      const text = marking.append("text").text(m.label);
      const size = text.node().getComputedTextLength();
      let at;
      if (vertical)
        at = {x: p + 5 + size > right ? p - 5 - size : p + 5, y: top + 14};
      else
        at = {x: right - 5 - size, y: p - 5 < top + 10 ? p + 14 : p - 5};
      while (taken.some((o) => Math.abs(o.y - at.y) < 13 && at.x < o.x + o.size && o.x < at.x + size))
        at.y += 14;
      taken.push({x: at.x, y: at.y, size: size});
      const from_right = !vertical || at.x < p;
      text.attr("x", from_right ? at.x + size : at.x)
          .attr("y", at.y)
          .attr("text-anchor", from_right ? "end" : "start");
    }
  }

  // What the figure does not show, in words.
  function tell() {
    const texts = [];
    for (const axis of ["x", "y"]) {
      if (!log[axis]) continue;
      let left_out = 0;
      for (const s of shown()) left_out += s.not_positive(axis);
      if (left_out)
        texts.push(
            (left_out === 1 ? "1 point is" : left_out + " points are") + " not shown: " + axis +
            " is not positive and has no logarithm.");
    }
    if (!series.some((s) => s.extent.y.lo <= s.extent.y.hi))
      texts.push("There is nothing to draw: no values.");
    else if (!shown().length)
      texts.push("All series are hidden.");
    note.textContent = texts.join(" ");
    note.hidden = !texts.length;
    reset_button.disabled = !zoomed;
    for (const axis of ["x", "y"]) log_buttons[axis].setAttribute("aria-pressed", String(log[axis]));
  }

  function redraw() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  // ---- the pointer's point

  // The point nearest to a place on the screen: within reach in both directions, else along x.
  function nearest(px, py) {
    let best = null;
    for (const s of shown()) {
      let from = 0, to = s.n;
      if (s.sorted) {
        from = Math.max(0, d3.bisectLeft(s.x, X.value(px - reach)) - 1);
        to = Math.min(s.n, d3.bisectRight(s.x, X.value(px + reach)) + 1);
      }
      for (let i = from; i < to; ++i) {
        if (!usable(s.x[i], X.log) || !usable(s.y[i], Y.log)) continue;
        const p = X.pixel(s.x[i]), q = Y.pixel(s.y[i]);
        if (p < X.pixels[0] - 1 || p > X.pixels[1] + 1) continue;
        const a = p - px, b = q - py;
        // along a curve, x counts more: the pointer need not be on it
        const distance = s.sorted ? 16 * a * a + b * b : a * a + b * b;
        if (!best || distance < best.distance) best = {k: s.k, i: i, distance: distance};
      }
    }
    return best;
  }

  // The value of another series at the same x: {y, exact}, or null.
  function value_at(s, from, i) {
    if (s.x === from.x) return Number.isFinite(s.y[i]) ? {y: s.y[i], exact: true} : null;
    if (!s.sorted || !s.n) return null;
    const x = from.x[i];
    const j = d3.bisectLeft(s.x, x);
    if (j < s.n && s.x[j] === x) return Number.isFinite(s.y[j]) ? {y: s.y[j], exact: true} : null;
    if (j === 0 || j === s.n || s.style === "points") return null;
    const t = (x - s.x[j - 1]) / (s.x[j] - s.x[j - 1]);
    const y = s.y[j - 1] + t * (s.y[j] - s.y[j - 1]);
    return Number.isFinite(y) ? {y: y, exact: false} : null;
  }

  function draw_over() {
    const [left, right] = X.pixels, [top, bottom] = Y.pixels;
    const at = cursor !== null && usable(cursor, log.x) ? X.pixel(cursor) : NaN;
    const inside = at >= left - 0.5 && at <= right + 0.5;
    seek_line.style("display", inside ? null : "none");
    if (inside) seek_line.call(set_line, at, at, top, bottom);

    const s = hover && series[hover.k];
    const lit = s && s.visible && usable(s.x[hover.i], log.x) && usable(s.y[hover.i], log.y);
    for (const part of [cross_x, cross_y, dot]) part.style("display", lit ? null : "none");
    if (!lit) {
      tip.hidden = true;
      return;
    }
    const p = X.pixel(s.x[hover.i]), q = Math.min(Math.max(Y.pixel(s.y[hover.i]), top), bottom);
    cross_x.call(set_line, p, p, top, bottom);
    cross_y.call(set_line, left, right, q, q);
    dot.attr("cx", p).attr("cy", q).attr("style", "--colour: " + colour(s.k));
    draw_tip(s, hover.i, p, q);
  }

  function draw_tip(from, i, p, q) {
    const rows = [make(
        "div", {class: "tip-x"}, ((figure.x && figure.x.label) || "x") + ": " + value_text(from.x[i], 9))];
    const list = [];
    for (const s of shown()) {
      const value = s === from ? {y: s.y[i], exact: true} : value_at(s, from, i);
      if (value) list.push({s: s, value: value});
    }
    // of very many, those nearest to the point
    const most = 14;
    let left_out = 0;
    if (list.length > most) {
      left_out = list.length - most;
      list.sort((a, b) => Math.abs(a.value.y - from.y[i]) - Math.abs(b.value.y - from.y[i]));
      list.length = most;
      list.sort((a, b) => a.s.k - b.s.k);
    }
    for (const {s, value} of list)
      rows.push(make(
          "div", {class: "tip-row" + (s === from ? " here" : ""), style: "--colour: " + colour(s.k)},
          make("span", {class: "tip-name"}, s.name),
          make(
              "span", {class: "tip-value", "data-value": value.y},
              (value.exact ? "" : "≈ ") + value_text(value.y))));
    if (left_out) rows.push(make("div", {class: "tip-more"}, "and " + left_out + " more"));
    tip.replaceChildren(...rows);
    tip.hidden = false;
    // beside the point, on the side with more room
    const scale = area.clientWidth / width || 1;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    let x = p * scale + 14;
    if (x + w > area.clientWidth) x = p * scale - 14 - w;
    tip.style.left = Math.max(0, Math.min(x, area.clientWidth - w)) + "px";
    tip.style.top = Math.max(0, Math.min(q * scale - h - 10, height * scale - h)) + "px";
  }

  function set_hover(point) {
    hover = point;
    if (X) draw_over();
  }

  // ---- zoom

  // What is no number leaves its axis as it is.
  function zoom(x0, x1, y0, y1) {
    const take = (a, b, old, positive) => {
      if (!Number.isFinite(a) || !Number.isFinite(b)) return old;
      const lo = Math.min(a, b), hi = Math.max(a, b);
      const size = Math.max(Math.abs(lo), Math.abs(hi));
      // no further than the digits of numbers go
      if (!(hi - lo > 1e-12 * size) || size > 1e300 || (positive && !(lo > 1e-300))) return old;
      return [lo, hi];
    };
    domain = {x: take(x0, x1, domain.x, log.x), y: take(y0, y1, domain.y, log.y)};
    zoomed = true;
    // the next event may come before the next drawing
    if (loaded) layout();
    redraw();
  }

  // By a factor about a pixel; below one comes nearer.
  function zoom_about(px, py, factor_x, factor_y) {
    const ends = (axis, p, factor) => [0, 1].map((e) => axis.value(p + (axis.pixels[e] - p) * factor));
    const x = ends(X, px, factor_x), y = ends(Y, py, factor_y);
    zoom(x[0], x[1], y[0], y[1]);
  }

  function pan(dx, dy, from) {
    const x = from.X.pixels.map((p) => from.X.value(p - dx)),
          y = from.Y.pixels.map((p) => from.Y.value(p - dy));
    zoom(x[0], x[1], y[0], y[1]);
  }

  function reset() {
    fit_domain();
    redraw();
  }

  function set_log(axis, on) {
    log[axis] = !!on;
    fit_domain();
    redraw();
  }

  function show(k, on) {
    series[k].visible = on;
    series[k].button.setAttribute("aria-pressed", String(on));
    if (!zoomed) fit_domain();
    if (hover && hover.k === k && !on) set_hover(null);
    redraw();
  }

  // ---- pointer: move shows values, drag zooms, shift-drag pans, two fingers pinch

  const fingers = new Map();
  let drag = null;

  function place(event) {
    const rect = node.getBoundingClientRect();
    const scale = width / (rect.width || width);
    return {x: (event.clientX - rect.left) * scale, y: (event.clientY - rect.top) * scale};
  }
  const inside = (p) => X && p.x >= X.pixels[0] - 4 && p.x <= X.pixels[1] + 4 && p.y >= Y.pixels[0] - 4 &&
      p.y <= Y.pixels[1] + 4;

  function draw_box(p) {
    const clamp = (v, ends) => Math.min(Math.max(v, ends[0]), ends[1]);
    const x = [clamp(drag.from.x, X.pixels), clamp(p.x, X.pixels)].sort(d3.ascending);
    const y = [clamp(drag.from.y, Y.pixels), clamp(p.y, Y.pixels)].sort(d3.ascending);
    // a flat or narrow box means one axis only
    drag.x = x[1] - x[0] >= 8 ? x : X.pixels;
    drag.y = y[1] - y[0] >= 8 ? y : Y.pixels;
    box.style("display", null)
        .call(set_box, drag.x[0], drag.y[0], drag.x[1] - drag.x[0], drag.y[1] - drag.y[0]);
  }

  node.addEventListener("pointerdown", (event) => {
    const p = place(event);
    if (!inside(p) || event.button) return;
    if (event.pointerType === "touch") {
      fingers.set(event.pointerId, p);
      if (fingers.size === 1) set_hover(nearest(p.x, p.y));
      if (fingers.size === 1) drag = {kind: "touch", from: p};
      if (fingers.size === 2) drag = {kind: "pinch"};
      return;
    }
    node.focus({preventScroll: true});
    event.preventDefault();
    node.setPointerCapture(event.pointerId);
    drag = {kind: event.shiftKey ? "pan" : "box", from: p, axes: {X: X, Y: Y}, moved: false};
  });

  node.addEventListener("pointermove", (event) => {
    if (!X) return;
    const p = place(event);
    if (drag && drag.kind === "pinch" && fingers.has(event.pointerId)) {
      const others = Array.from(fingers).filter(([id]) => id !== event.pointerId);
      const before = fingers.get(event.pointerId), other = others[0] && others[0][1];
      fingers.set(event.pointerId, p);
      if (!other) return;
      const length = (q) => Math.hypot(q.x - other.x, q.y - other.y);
      const factor = length(before) / Math.max(length(p), 1);
      zoom_about((p.x + other.x) / 2, (p.y + other.y) / 2, factor, factor);
      return;
    }
    if (drag && drag.kind !== "touch") {
      if (Math.hypot(p.x - drag.from.x, p.y - drag.from.y) > 4) drag.moved = true;
      if (!drag.moved) return;
      if (drag.kind === "pan")
        pan(p.x - drag.from.x, p.y - drag.from.y, drag.axes);
      else
        draw_box(p);
      set_hover(null);
      return;
    }
    set_hover(inside(p) ? nearest(p.x, p.y) : null);
  });

  function finish(event) {
    fingers.delete(event.pointerId);
    const done = drag;
    drag = fingers.size ? drag : null;
    box.style("display", "none");
    if (!done || event.type === "pointercancel") return;
    const p = place(event);
    if (done.kind === "box" && done.moved && done.x)
      zoom(
          ...done.x.map((q) => (done.x === X.pixels ? NaN : X.value(q))),
          ...done.y.map((q) => (done.y === Y.pixels ? NaN : Y.value(q))));
    else if (
        !done.moved && done.from && Math.hypot(p.x - done.from.x, p.y - done.from.y) < 8 && handle.onseek)
      handle.onseek(X.value(Math.min(Math.max(p.x, X.pixels[0]), X.pixels[1])));
  }
  node.addEventListener("pointerup", finish);
  node.addEventListener("pointercancel", finish);
  node.addEventListener("pointerleave", (event) => {
    if (!drag && event.pointerType !== "touch") set_hover(null);
  });
  node.addEventListener("dblclick", reset);
  node.addEventListener("wheel", (event) => {
    // the page scrolls unless the reader means the figure
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== node) return;
    const p = place(event);
    if (!inside(p)) return;
    event.preventDefault();
    const factor = Math.pow(1.0015, Math.max(-400, Math.min(400, event.deltaY * (event.deltaMode ? 30 : 1))));
    zoom_about(p.x, p.y, factor, factor);
  }, {passive: false});

  // ---- keys

  // Moves the point along its series by so many points, over gaps; sees to it that the point can be seen.
  function step(count) {
    const visible = shown();
    if (!visible.length || !X) return;
    const s = hover && series[hover.k].visible ? series[hover.k] : visible[0];
    const ok = (i) =>
        usable(s.x[i], log.x) && usable(s.y[i], log.y) && s.x[i] >= domain.x[0] && s.x[i] <= domain.x[1];
    let i = hover && hover.k === s.k ? hover.i : count > 0 ? -1 : s.n;
    const way = Math.sign(count);
    let found = -1;
    for (let left = Math.abs(count), j = i + way; j >= 0 && j < s.n && left > 0; j += way)
      if (ok(j)) {
        found = j;
        --left;
      }
    if (found >= 0) set_hover({k: s.k, i: found});
  }

  function change_series(way) {
    const visible = shown();
    if (!visible.length) return;
    if (!hover) return step(1);
    const from = series[hover.k];
    const s = visible[(visible.indexOf(from) + way + visible.length) % visible.length];
    let i = hover.i;
    if (s.x !== from.x) i = s.sorted ? Math.min(d3.bisectLeft(s.x, from.x[hover.i]), s.n - 1) : 0;
    if (i >= 0) set_hover({k: s.k, i: i});
  }

  node.addEventListener("keydown", (event) => {
    if (!X || event.ctrlKey || event.metaKey || event.altKey) return;
    const centre = {x: (X.pixels[0] + X.pixels[1]) / 2, y: (Y.pixels[0] + Y.pixels[1]) / 2};
    if (hover) centre.x = X.pixel(series[hover.k].x[hover.i]);
    // with shift a fiftieth of what can be seen
    const s = hover ? series[hover.k] : shown()[0];
    const range = s ? range_of(s) : [0, 0];
    const many = event.shiftKey ? Math.max(1, Math.round((range[1] - range[0]) / 50)) : 1;
    const actions = {
      ArrowLeft: () => step(-many),
      ArrowRight: () => step(many),
      ArrowUp: () => change_series(-1),
      ArrowDown: () => change_series(1),
      Home: () => {
        hover = hover && {k: hover.k, i: -1};
        step(1);
      },
      End: () => {
        hover = hover && {k: hover.k, i: series[hover.k].n};
        step(-1);
      },
      "+": () => zoom_about(centre.x, centre.y, 0.7, 0.7),
      "=": () => zoom_about(centre.x, centre.y, 0.7, 0.7),
      "-": () => zoom_about(centre.x, centre.y, 1 / 0.7, 1 / 0.7),
      "0": reset,
      r: reset,
      l: () => set_log("y", !log.y),
      L: () => set_log("x", !log.x),
      Escape: () => set_hover(null),
      Enter: () => {
        if (hover && handle.onseek) handle.onseek(series[hover.k].x[hover.i]);
      },
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
  node.addEventListener("blur", () => set_hover(null));

  // ---- files

  // All numbers: series with the same x stand beside it, those with another x follow with theirs.
  function csv() {
    const groups = [];
    for (const s of series) {
      let group = groups.find((g) => g.x === s.x);
      if (!group) groups.push((group = {x: s.x, members: []}));
      group.members.push(s);
    }
    const columns = [];
    for (const g of groups) {
      columns.push({name: (figure.x && figure.x.label) || "x", values: g.x});
      for (const s of g.members) columns.push({name: s.name, values: s.y});
    }
    const rows = Math.max(0, ...columns.map((c) => c.values.length));
    const lines = [columns.map((c) => lissom.csv_cell(c.name)).join(",")];
    for (let i = 0; i < rows; ++i)
      lines.push(
          columns.map((c) => (i < c.values.length && !Number.isNaN(c.values[i]) ? String(c.values[i]) : ""))
              .join(","));
    return lines.join("\r\n") + "\r\n";
  }

  // The drawing with title and legend in light colours, as an SVG that needs no style sheet.
  function standalone() {
    if (!X) throw new Error("the figure has not been drawn yet");
    const copy = node.cloneNode(true);
    const stage = make("div", {class: "plot-export light"}, copy);
    area.append(stage);
    const out = d3.select(copy);
    out.select(".over").remove();
    for (const attribute of ["tabindex", "role", "aria-label"]) out.attr(attribute, null);
    out.attr("xmlns", "http://www.w3.org/2000/svg");

    // title above, legend below, wrapped at the width
    const head = title ? 26 : 0;
    let x = margin.left, y = height + 14;
    const key = out.append("g").attr("class", "key");
    for (const s of series.length > 1 ? shown() : []) {
      const entry =
          key.append("g").attr("class", "curve " + s.style).attr("style", "--colour: " + colour(s.k));
      const text = entry.append("text").attr("class", "label").text(s.name);
      const size = 34 + text.node().getComputedTextLength() + 16;
      if (x > margin.left && x + size > width) {
        x = margin.left;
        y += 18;
      }
      if (s.style !== "points")
        entry.append("path").attr("class", "trace").attr("d", "M" + x + "," + (y - 4) + "h28");
      entry.append("path").attr("class", "sign").attr("d", "M" + (x + 14) + "," + (y - 4) + s.sign);
      text.attr("x", x + 34).attr("y", y);
      x += size;
    }
    const tall = head + (series.length > 1 ? y + 10 : height + 4);
    if (title) out.append("text").attr("class", "title").attr("x", 4).attr("y", -8).text(title);
    out.insert("rect", ":first-child").attr("class", "sheet").call(set_box, 0, -head, width, tall);
    out.attr("viewBox", "0 " + -head + " " + width + " " + tall).attr("width", width).attr("height", tall);

    inline_style(copy);
    copy.removeAttribute("class");
    stage.remove();
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy);
  }

  const png = async (scale = 2) => picture_of(standalone(), scale);

  // ---- life

  async function load() {
    const xs = await Promise.all((figure.xs || []).map(lissom.array));
    const ys = await Promise.all((figure.series || []).map((s) => lissom.array(s.y)));
    const sorted = xs.map(is_sorted), extents = xs.map(extent_of);
    series = (figure.series || []).map((s, k) => {
      const x = xs[s.x], y = ys[k];
      if (!x) throw new Error("the series \"" + s.name + "\" has no x values");
      const counts = {};
      const one = {
        k: k,
        name: s.name || "",
        style: s.style || "line",
        x: x,
        y: y,
        n: Math.min(x.length, y.length),
        visible: true,
        sorted: sorted[s.x],
        extent: {x: extents[s.x], y: extent_of(y)},
        sign: signs[k % signs.length],
        // how many points an axis of logarithms cannot show
        not_positive: (axis) => {
          if (counts[axis] === undefined) {
            counts[axis] = 0;
            for (let i = 0; i < one.n; ++i)
              if (Number.isFinite(x[i]) && Number.isFinite(y[i]) && !((axis === "x" ? x : y)[i] > 0))
                ++counts[axis];
          }
          return counts[axis];
        },
      };
      return one;
    });
    handle.series = series;
    const names = series.map((s) => s.name).filter(Boolean).join(", ");
    svg.attr(
        "aria-label",
        "Figure " + title + ((figure.y && figure.y.label) ? ", " + figure.y.label : "") +
            ((figure.x && figure.x.label) ? " over " + figure.x.label : "") + (names ? ": " + names : "") +
            ". Arrow keys read the values.");
    fill_legend();
    loaded = true;
    fit_domain();
    draw();
  }

  function fill_legend() {
    // one series is named by the title
    if (series.length < 2) {
      legend.hidden = true;
      series.forEach((s) => {
        s.button = legend;
      });
      return;
    }
    for (const s of series) {
      s.button = make("button", {
        type: "button",
        class: "series",
        "aria-pressed": "true",
        title: "Show or hide",
        style: "--colour: " + colour(s.k),
        onclick: () => show(s.k, !s.visible)
      });
      const sample = d3.select(s.button)
                         .append("svg")
                         .attr("width", 30)
                         .attr("height", 12)
                         .attr("aria-hidden", "true")
                         .append("g")
                         .attr("class", "curve " + s.style);
      if (s.style !== "points") sample.append("path").attr("class", "trace").attr("d", "M1,6h28");
      sample.append("path").attr("class", "sign").attr("d", "M15,6" + s.sign);
      s.button.append(make("span", {}, s.name));
      legend.append(s.button);
    }
  }

  const observer = "ResizeObserver" in window ? new ResizeObserver(() => {
    if (!printing && Math.abs(area.clientWidth - width) > 1) redraw();
  }) :
                                                null;
  if (observer) observer.observe(area);

  const handle = {
    series: series,
    onseek: null,
    domain: () => ({x: domain.x.slice(), y: domain.y.slice(), log_x: log.x, log_y: log.y}),
    setLog: set_log,
    zoom: zoom,
    reset: reset,
    show: show,
    cursor: (x) => {
      cursor = x === undefined ? null : x;
      if (X) draw_over();
    },
    svg: standalone,
    png: png,
    csv: csv,
    note: () => (note.hidden ? "" : note.textContent),
    // On paper a figure has another width, which is known only before.
    print: (on) => {
      printing = on;
      hover = null;
      draw();
    },
    remove: () => {
      if (observer) observer.disconnect();
      if (frame) cancelAnimationFrame(frame);
      living.delete(handle);
      body.remove();
    },
  };
  handle.ready = load();
  living.add(handle);
  element.lissom = handle;
  return handle;
};

// for figures of other kinds
lissom.plot_tools = {
  value_text,
  linear_ticks,
  tick_texts,
  tenth,
  set_box,
  set_texts,
  inline_style,
  picture_of,
  save_buttons,
  living,
  print_width
};

window.addEventListener("beforeprint", () => living.forEach((handle) => handle.print(true)));
window.addEventListener("afterprint", () => living.forEach((handle) => handle.print(false)));

lissom.shortcuts = lissom.shortcuts || {};
lissom.shortcuts["Figures"] = [
  ["drag", "zoom into a box; a flat one zooms x only"],
  ["Shift + drag", "move"],
  ["Ctrl + wheel", "zoom; after a click on the figure also without Ctrl"],
  ["double click  0", "show everything"],
  ["← →", "read values from point to point; with Shift in larger steps"],
  ["↑ ↓", "the other series"],
  ["Home  End", "first, last point"],
  ["+  -", "zoom"],
  ["l  L", "logarithmic y, x"],
  ["Enter", "move the 3D view to this time"],
  ["Esc", "put the cursor away"],
];
})();
