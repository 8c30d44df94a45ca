// Figures of a matrix: cells coloured by their value, drawn as SVG with d3 (version 5). lissom.plot comes
// here for a FIGURE with "matrix", see docs/reference/report-page.md. handle: ready, matrix {rows, columns,
// values}, place(row, column) (the middle of a cell in the drawing), hover(row, column), svg(), png() (a
// promise of a Blob), csv(), note() and remove().
(function() {
"use strict";

const lissom = (window.lissom = window.lissom || {});
const levels = 64;         // colours
const most_paths = 10000;  // cells that are drawn as lines; more become a picture of pixels
const most_height = 520, largest_cell = 36, line_height = 13;  // [px]
const most_letters = 16;  // of a label in the drawing; values are told with all of them

const short = (text) => (text.length > most_letters ? text.slice(0, most_letters - 1) + "…" : text);

lissom.plot_matrix = function(element, figure) {
  const {
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
  } = lissom.plot_tools;
  const make = lissom.make;
  const matrix = figure.matrix;
  const title = figure.title || "", name = figure.id || "figure";
  const rows = matrix.rows, columns = matrix.columns;
  const row_axis = (figure.y && figure.y.label) || "row",
        column_axis = (figure.x && figure.x.label) || "column";
  const value_name = matrix.value || "value";
  const marked_rows = new Set(matrix.marked_rows || []),
        marked_columns = new Set(matrix.marked_columns || []);
  const mark = marked_rows.size || marked_columns.size ? matrix.mark || "marked" : "";
  let values = null, low = matrix.low, high = matrix.high;
  let hover = null;  // {r, c}
  let frame = 0, printing = false;
  let size = null;  // of the drawing

  const tools = make(
      "div", {class: "plot-tools", role: "group", "aria-label": "Figure " + title},
      ...save_buttons(title, name, () => handle));
  const area = make("div", {class: "plot-area"});
  const tip = make("div", {class: "plot-tip", hidden: true, role: "status"});
  const note = make("p", {class: "plot-note", hidden: true});
  const body = make(
      "div", {class: "plot-body"},
      make("div", {class: "plot-head"}, make("div", {class: "plot-title"}, title), tools), area, note);
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
  const cells = svg.append("g").attr("class", "cells");
  const frame_box = svg.append("rect").attr("class", "frame");
  const texts = svg.append("g").attr("class", "axes");
  const marks = svg.append("g").attr("class", "marked");
  const over = svg.append("g").attr("class", "over").style("display", "none");
  over.append("rect").attr("class", "here under");
  over.append("rect").attr("class", "here");

  // ---- colours

  // Where a value lies between low (0) and high (1); not a number where it has no colour.
  function share(v) {
    if (!Number.isFinite(v)) return NaN;
    const t = matrix.log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
    return matrix.log && !(v > 0) ? NaN : Math.min(Math.max(t, 0), 1);
  }
  const level_of = (v) => {
    const t = share(v);
    return Number.isNaN(t) ? -1 : Math.min(levels - 1, Math.floor(t * levels));
  };
  // The colours as the style sheet has them at an element.
  function ramp_at(place) {
    const style = getComputedStyle(place);
    const stops = [0, 1, 2, 3, 4].map((k) => style.getPropertyValue("--m" + k).trim());
    const scale =
        d3.scaleLinear().domain([0, 0.25, 0.5, 0.75, 1]).range(stops).interpolate(d3.interpolateLab);
    return Array.from({length: levels}, (_, k) => scale(k / (levels - 1)));
  }

  // Cells and the legend into a group, which may be that of a picture to be saved.
  function paint(group, ramp) {
    group.selectAll("*").remove();
    const {left, top, cell_w, cell_h} = size;
    const n = columns.length;
    if (rows.length * n > most_paths) {
      const canvas = make("canvas", {width: n, height: rows.length});
      const context = canvas.getContext("2d");
      const pixels = context.createImageData(n, rows.length);
      const rgb = ramp.map((colour) => d3.rgb(colour));
      for (let i = 0; i < values.length; ++i) {
        const k = level_of(values[i]);
        if (k >= 0) pixels.data.set([rgb[k].r, rgb[k].g, rgb[k].b, 255], 4 * i);
      }
      context.putImageData(pixels, 0, 0);
      group.append("image")
          .call(set_box, left, top, n * cell_w, rows.length * cell_h)
          .attr("preserveAspectRatio", "none")
          .attr("image-rendering", "pixelated")
          .attr("xlink:href", canvas.toDataURL("image/png"));
    } else {
      const paths = Array.from({length: levels}, () => []);
      for (let r = 0; r < rows.length; ++r)
        for (let c = 0; c < n; ++c) {
          const k = level_of(values[r * n + c]);
          if (k < 0) continue;
          // up to the next cell's edge, so that no gap shines through
          const x0 = tenth(left + c * cell_w), x1 = tenth(left + (c + 1) * cell_w);
          const y0 = tenth(top + r * cell_h), y1 = tenth(top + (r + 1) * cell_h);
          paths[k].push("M" + x0 + "," + y0 + "H" + x1 + "V" + y1 + "H" + x0 + "z");
        }
      group.selectAll("path")
          .data(paths.map((d, k) => ({path: d.join(""), fill: ramp[k]})).filter((d) => d.path))
          .join("path")
          .attr("d", (d) => d.path)
          .attr("fill", (d) => d.fill)
          .attr("shape-rendering", "crispEdges");
    }
    const bar = size.bar;
    const step = bar.height / levels;
    group.selectAll("rect")
        .data(ramp)
        .join("rect")
        .attr("x", bar.x)
        .attr("y", (_, k) => tenth(bar.y + (levels - 1 - k) * step))
        .attr("width", bar.width)
        .attr("height", tenth(step + 0.4))
        .attr("fill", (fill) => fill)
        .attr("shape-rendering", "crispEdges");
  }

  // ---- drawing

  // Every so many labels have room.
  const every = (cell) => Math.max(1, Math.ceil(line_height / cell));

  function layout() {
    const width = printing ? print_width : Math.round(area.clientWidth);
    if (width < 40) return false;
    const letters = (labels) => Math.max(1, ...labels.map((text) => short(text).length));
    const left = Math.min(24 + 6.6 * letters(rows), width / 3);
    const below = 20 + 6.2 * letters(columns) * Math.sin(Math.PI / 3);
    const right = 74, top = 26;
    const wide = Math.max(width - left - right, 60), tall = printing ? 330 : most_height;
    const cell = Math.min(wide / columns.length, tall / rows.length, largest_cell);
    // very long ones are not square
    const cell_w = Math.min(wide, Math.max(cell * columns.length, 120)) / columns.length;
    const cell_h = Math.max(cell * rows.length, 60) / rows.length;
    const inner_w = cell_w * columns.length, inner_h = cell_h * rows.length;
    size = {
      width: width,
      left: left,
      top: top,
      cell_w: cell_w,
      cell_h: cell_h,
      inner_w: inner_w,
      inner_h: inner_h,
      height: Math.ceil(top + Math.max(inner_h, 90) + below + 22 + (mark ? 18 : 0)),
      below: below,
      bar: {x: left + inner_w + 18, y: top, width: 14, height: Math.max(Math.min(inner_h, 240), 90)},
    };
    return true;
  }

  function draw() {
    frame = 0;
    body.classList.toggle("light", printing);
    if (!values || !layout()) return;
    const {width, height, left, top, cell_w, cell_h, inner_w, inner_h, bar} = size;
    svg.attr("viewBox", "0 0 " + width + " " + height).attr("width", width).attr("height", height);
    frame_box.call(set_box, left, top, inner_w, inner_h);
    paint(cells, ramp_at(area));

    const words = [], arrows = [];
    const row_step = every(cell_h), column_step = every(cell_w);
    rows.forEach((text, r) => {
      const y = tenth(top + (r + 0.5) * cell_h);
      const kind = marked_rows.has(r) ? "is-marked" : "";
      if (r % row_step === 0)
        words.push({x: tenth(left - 12), y: y + 4, anchor: "end", text: short(text), kind: kind});
      if (kind) arrows.push("M" + tenth(left - 2) + "," + y + "l-6,-3.5v7z");
    });
    const base = top + inner_h;
    columns.forEach((text, c) => {
      const x = tenth(left + (c + 0.5) * cell_w), y = tenth(base + 15);
      const kind = marked_columns.has(c) ? "is-marked" : "";
      const turn = "rotate(-60 " + (x + 4) + " " + y + ")";
      if (c % column_step === 0)
        words.push({x: x + 4, y: y, anchor: "end", turn: turn, text: short(text), kind: kind});
      if (kind) arrows.push("M" + x + "," + tenth(base + 2) + "l-3.5,6h7z");
    });
    const last = Math.ceil(top + Math.max(inner_h, 90) + size.below + 16);
    const middle = tenth(left + inner_w / 2);
    words.push(
        {x: 4, y: 14, text: row_axis, kind: "label"},
        {x: tenth(bar.x + bar.width), y: 14, anchor: "middle", text: value_name, kind: "label"},
        {x: middle, y: last, anchor: "middle", text: column_axis, kind: "label"});
    if (mark) {
      arrows.push("M" + tenth(left + 6) + "," + (last + 14) + "l-6,-3.5v7z");
      words.push({x: tenth(left + 12), y: last + 18, text: mark, kind: "is-marked"});
    }
    const told = matrix.log ? [low, Math.sqrt(low * high), high] : linear_ticks([low, high], 5);
    const numbers = matrix.log ? told.map((v) => value_text(v, 2)) : tick_texts(told);
    told.forEach((v, k) => {
      const y = tenth(bar.y + (1 - share(v)) * bar.height + 4);
      words.push({x: tenth(bar.x + bar.width + 5), y: y, text: numbers[k]});
    });
    texts.selectAll("text").data(words).join("text").call(set_texts);
    marks.selectAll("path").data(arrows).join("path").attr("d", (d) => d);
    draw_over();
  }

  function redraw() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  function draw_over() {
    over.style("display", hover ? null : "none");
    tip.hidden = !hover;
    if (!hover) return;
    const {r, c} = hover, {left, top, cell_w, cell_h} = size;
    over.selectAll("rect").call(
        set_box, tenth(left + c * cell_w), tenth(top + r * cell_h), tenth(Math.max(cell_w, 3)),
        tenth(Math.max(cell_h, 3)));
    const v = values[r * columns.length + c];
    const line = (what, text, is_marked) => make(
        "div", {class: "tip-x"}, what + ": " + text,
        is_marked ? make("span", {class: "tip-mark"}, " (" + mark + ")") : "");
    tip.replaceChildren(
        line(row_axis, rows[r], marked_rows.has(r)), line(column_axis, columns[c], marked_columns.has(c)),
        make(
            "div", {class: "tip-row here"}, make("span", {class: "tip-name"}, value_name),
            make("span", {class: "tip-value", "data-value": v}, Number.isFinite(v) ? String(v) : "-")));
    const at = place(r, c), scale = area.clientWidth / size.width || 1;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    let x = (at.x + cell_w / 2) * scale + 10;
    if (x + w > area.clientWidth) x = (at.x - cell_w / 2) * scale - 10 - w;
    tip.style.left = Math.max(0, Math.min(x, area.clientWidth - w)) + "px";
    tip.style.top = Math.max(0, Math.min(at.y * scale - h - 10, size.height * scale - h)) + "px";
  }

  // ---- pointer and keys

  const place = (r, c) => ({x: size.left + (c + 0.5) * size.cell_w, y: size.top + (r + 0.5) * size.cell_h});

  function set_hover(cell) {
    hover = cell;
    if (size) draw_over();
  }

  function cell_at(event) {
    if (!size) return null;
    const box = node.getBoundingClientRect();
    const scale = size.width / (box.width || size.width);
    const c = Math.floor(((event.clientX - box.left) * scale - size.left) / size.cell_w);
    const r = Math.floor(((event.clientY - box.top) * scale - size.top) / size.cell_h);
    return r >= 0 && r < rows.length && c >= 0 && c < columns.length ? {r: r, c: c} : null;
  }
  node.addEventListener("pointermove", (event) => set_hover(cell_at(event)));
  node.addEventListener("pointerdown", (event) => set_hover(cell_at(event)));
  node.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") set_hover(null);
  });
  node.addEventListener("blur", () => set_hover(null));
  node.addEventListener("keydown", (event) => {
    if (!values || event.ctrlKey || event.metaKey || event.altKey) return;
    const many = event.shiftKey ? 10 : 1;
    const steps = {
      ArrowLeft: [0, -many],
      ArrowRight: [0, many],
      ArrowUp: [-many, 0],
      ArrowDown: [many, 0],
      Home: [0, -Infinity],
      End: [0, Infinity],
      PageUp: [-Infinity, 0],
      PageDown: [Infinity, 0],
    };
    if (event.key === "Escape") {
      set_hover(null);
    } else if (steps[event.key]) {
      const within = (v, n) => Math.min(Math.max(v, 0), n - 1);
      const [dr, dc] = hover ? steps[event.key] : [0, 0];
      const from = hover || {r: 0, c: 0};
      set_hover({r: within(from.r + dr, rows.length), c: within(from.c + dc, columns.length)});
    } else {
      return;
    }
    event.preventDefault();
  });

  // ---- files

  function csv() {
    const cell = lissom.csv_cell;
    const lines = [[cell(row_axis + " / " + column_axis), ...columns.map(cell)].join(",")];
    rows.forEach((text, r) => {
      const own = Array.from(values.slice(r * columns.length, (r + 1) * columns.length));
      lines.push([cell(text), ...own.map((v) => (Number.isNaN(v) ? "" : String(v)))].join(","));
    });
    return lines.join("\r\n") + "\r\n";
  }

  // The drawing with its title in light colours, as an SVG that needs no style sheet.
  function standalone() {
    if (!size) throw new Error("the figure has not been drawn yet");
    const copy = node.cloneNode(true);
    const stage = make("div", {class: "plot-export light"}, copy);
    area.append(stage);
    const out = d3.select(copy);
    out.select(".over").remove();
    paint(out.select(".cells"), ramp_at(stage));
    for (const attribute of ["tabindex", "role", "aria-label"]) out.attr(attribute, null);
    out.attr("xmlns", "http://www.w3.org/2000/svg");
    const head = title ? 26 : 0, tall = head + size.height;
    if (title) out.append("text").attr("class", "title").attr("x", 4).attr("y", -8).text(title);
    out.insert("rect", ":first-child").attr("class", "sheet").call(set_box, 0, -head, size.width, tall);
    out.attr("viewBox", "0 " + -head + " " + size.width + " " + tall)
        .attr("width", size.width)
        .attr("height", tall);
    inline_style(copy);
    copy.removeAttribute("class");
    stage.remove();
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy);
  }

  // ---- life

  async function load() {
    values = await lissom.array(matrix.values);
    if (values.length !== rows.length * columns.length)
      throw new Error(
          "the matrix has " + values.length + " values, not " + rows.length + " times " + columns.length);
    handle.matrix = {rows: rows, columns: columns, values: values};
    let least = Infinity, most = -Infinity, missing = 0;
    for (const v of values)
      if (Number.isNaN(share(v))) {
        ++missing;
      } else {
        least = Math.min(least, v);
        most = Math.max(most, v);
      }
    if (missing)
      note.textContent = (missing === 1 ? "1 cell has" : missing + " cells have") + " no colour: no value.";
    note.hidden = !missing;
    svg.attr(
        "aria-label",
        "Figure " + title + ", " + value_name + " of " + rows.length + " rows (" + row_axis + ") and " +
            columns.length + " columns (" + column_axis + ")" +
            (least <= most ? ", from " + value_text(least) + " to " + value_text(most) : "") +
            (mark ? ", " + Math.max(marked_rows.size, marked_columns.size) + " of them " + mark : "") +
            ". Arrow keys read the values.");
    draw();
  }

  const observer = "ResizeObserver" in window ? new ResizeObserver(() => {
    if (!printing && size && Math.abs(area.clientWidth - size.width) > 1) redraw();
    if (!size) redraw();
  }) :
                                                null;
  if (observer) observer.observe(area);
  window.addEventListener("lissom-theme", redraw);

  const handle = {
    matrix: null,
    place: place,
    hover: (r, c) => set_hover(r === null ? null : {r: r, c: c}),
    svg: standalone,
    png: async (scale = 2) => picture_of(standalone(), scale),
    csv: csv,
    note: () => (note.hidden ? "" : note.textContent),
    print: (on) => {
      printing = on;
      hover = null;
      draw();
    },
    remove: () => {
      if (observer) observer.disconnect();
      if (frame) cancelAnimationFrame(frame);
      window.removeEventListener("lissom-theme", redraw);
      living.delete(handle);
      body.remove();
    },
  };
  handle.ready = load();
  living.add(handle);
  element.lissom = handle;
  return handle;
};

lissom.shortcuts = lissom.shortcuts || {};
lissom.shortcuts["Figures of a matrix"] = [
  ["← → ↑ ↓", "read values from cell to cell; with Shift in steps of ten"],
  ["Home  End", "first, last column"],
  ["Page Up  Page Down", "first, last row"],
  ["Esc", "put the cursor away"],
];
})();
