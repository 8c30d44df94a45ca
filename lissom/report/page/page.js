// The page of a report: unpacks its numbers, makes figures and views when they come near the screen, and
// gives the reader contents, sortable tables, a theme and keys. docs/reference/report-page.md says what the
// page holds.
(function() {
"use strict";

const lissom = (window.lissom = window.lissom || {});

// An element with attributes and children; texts are never taken for markup.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (value === true)
      element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
lissom.make = make;

// ---- errors: a reader seldom looks at the console

let problems = 0;
function show_error(text) {
  // the same trouble in a loop should not fill the page
  if (++problems > 5) return;
  const box = make("p", {class: "script-error", role: "alert"}, "This page has a problem: " + text);
  const main = document.querySelector("main") || document.body;
  main.insertBefore(box, main.firstChild);
}
window.addEventListener("error", (event) => {
  // browsers report a layout that took two rounds like this; nothing is wrong
  if (/ResizeObserver loop/.test(event.message || "")) return;
  show_error(event.message || "a script failed");
});
window.addEventListener("unhandledrejection", (event) => {
  show_error((event.reason && event.reason.message) || String(event.reason));
});

// ---- numbers

const blobs = new Map();

async function unpack(id) {
  const script = document.getElementById(id);
  if (!script) throw new Error("the numbers \"" + id + "\" are missing; the file may be cut off");
  if (typeof DecompressionStream === "undefined")
    throw new Error(
        "this browser is too old to unpack the numbers of figures; Chrome or Edge 80, Firefox 113, " +
        "Safari 16.4 and what came after them can");
  const text = atob(script.textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return await new Response(stream).arrayBuffer();
  } catch (error) {
    throw new Error("the numbers \"" + id + "\" cannot be unpacked; the file may be damaged");
  }
}

// A promise of the bytes of a blob.
lissom.blob = function(id) {
  if (!blobs.has(id)) blobs.set(id, unpack(id));
  return blobs.get(id);
};

const types = {
  f32: Float32Array,
  f64: Float64Array,
  u32: Uint32Array,
  u16: Uint16Array,
  i16: Int16Array
};

// A promise of the typed array of A = {blob, type, count, at}. Numbers are little-endian, as all browsers'
// are.
lissom.array = async function(A) {
  const type = types[A.type];
  if (!type) throw new Error("numbers of an unknown type \"" + A.type + "\"");
  let bytes = await lissom.blob(A.blob);
  let at = A.at || 0;
  if (at + A.count * type.BYTES_PER_ELEMENT > bytes.byteLength)
    throw new Error("the numbers \"" + A.blob + "\" are too few; the file may be damaged");
  if (at % type.BYTES_PER_ELEMENT) {
    bytes = bytes.slice(at, at + A.count * type.BYTES_PER_ELEMENT);
    at = 0;
  }
  return new type(bytes, at, A.count);
};

// ---- files

// Hands content (a text or a Blob) to the reader as a file.
lissom.save = function(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], {type: type});
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

// A cell of a CSV file.
lissom.csv_cell = function(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
};

// ---- figures and views

// Draws a figure or view unless it is there; keeps a promise when it is drawn.
const started = new Map();
function draw(element) {
  if (started.has(element)) return started.get(element);
  const kind = element.classList.contains("view") ? "view" : "plot";
  const promise = (async () => {
    const script = element.querySelector('script[type="application/json"]');
    if (!script || typeof lissom[kind] !== "function") return;
    try {
      const handle = lissom[kind](element, JSON.parse(script.textContent));
      await (handle && handle.ready);
    } catch (error) {
      element.prepend(make(
          "p", {class: "script-error", role: "alert"},
          "This " + (kind === "view" ? "view" : "figure") + " cannot be shown: " + error.message));
      console.error(error);
    }
    element.classList.add("drawn");
  })();
  started.set(element, promise);
  return promise;
}

const pictures = () => Array.from(document.querySelectorAll("figure.plot, figure.view"));
// A promise kept when every figure and view has been drawn, also those in folded parts.
lissom.draw_all = () => Promise.all(pictures().map(draw));

function start_pictures() {
  // consecutive figures stand side by side where there is room
  for (const first of document.querySelectorAll("figure.plot")) {
    if (first.closest(".figures")) continue;
    const run = [first];
    for (let next = first.nextElementSibling; next && next.matches("figure.plot");
         next = next.nextElementSibling)
      run.push(next);
    if (run.length < 2) continue;
    const row = make("div", {class: "figures"});
    first.before(row);
    row.append(...run);
  }

  const near = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.bottom > -300 && box.top < window.innerHeight + 300;
  };
  const first = pictures().filter(near).map(draw);
  if ("IntersectionObserver" in window) {
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries)
        if (entry.isIntersecting) {
          observer.unobserve(entry.target);
          draw(entry.target);
        }
    }, {rootMargin: "300px"});
    pictures().forEach((element) => observer.observe(element));
  } else {
    lissom.draw_all();
  }

  // figures are cheap: the rest is drawn while nothing else happens, so that printing from the menu finds
  // them
  const idle = window.requestIdleCallback || ((call) => setTimeout(call, 200));
  const rest = document.querySelectorAll("figure.plot");
  const one = (k) => {
    if (k < rest.length) idle(() => draw(rest[k]).then(() => one(k + 1)));
  };
  Promise.all(first).then(() => one(0));
  return Promise.all(first);
}

// ---- contents

function start_contents() {
  const nav = document.querySelector("nav");
  const links = nav ? Array.from(nav.querySelectorAll("a[href^='#']")) : [];
  if (!links.length) return;
  const toggle = make("button", {type: "button", class: "contents", "aria-expanded": "false"}, "Contents");
  const open = (on) => {
    nav.classList.toggle("open", on);
    toggle.setAttribute("aria-expanded", String(on));
  };
  toggle.addEventListener("click", () => open(!nav.classList.contains("open")));
  nav.prepend(toggle);
  nav.classList.add("folds");

  const sections = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  // the current section is the last one whose beginning has passed the upper third of the screen
  let current = -1;
  const mark = () => {
    let now = 0;
    sections.forEach((section, k) => {
      if (section && section.getBoundingClientRect().top < window.innerHeight / 3) now = k;
    });
    const root = document.documentElement;
    if (root.scrollHeight - root.clientHeight - window.scrollY < 4 && window.scrollY > 0)
      now = sections.length - 1;
    if (window.scrollY < 4) now = 0;
    if (now === current) return;
    current = now;
    links.forEach((link, k) => {
      if (k === now)
        link.setAttribute("aria-current", "true");
      else
        link.removeAttribute("aria-current");
    });
    toggle.textContent = "Contents: " + links[now].textContent;
  };
  links.forEach((link) => link.addEventListener("click", () => open(false)));
  let waiting = false;
  window.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  }, {passive: true});
  mark();
  lissom.go = (step) => {
    const target = sections[Math.min(Math.max(current + step, 0), sections.length - 1)];
    if (target) target.scrollIntoView();
  };
}

// ---- tables

// What a cell is worth: its number where it has one, with all digits, else its text; a dash stands for
// nothing.
function worth(cell) {
  if (!cell) return "";
  if (cell.dataset.value !== undefined) return cell.dataset.value;
  const text = cell.textContent.trim();
  return text === "-" ? "" : text;
}

function sort_rows(body, rows, column, direction) {
  if (!direction) {
    body.append(...rows);
    return;
  }
  const value = (row) => {
    const text = worth(row.cells[column]);
    const number = text === "" ? NaN : Number(text);
    return {row: row, text: text, number: number};
  };
  const values = rows.map(value);
  // numbers before texts before nothing, whichever the direction
  const rank = (v) => (!Number.isNaN(v.number) ? 0 : v.text !== "" ? 1 : 2);
  values.sort(
      (a, b) => rank(a) - rank(b) ||
          direction *
              (rank(a) === 0 ? a.number - b.number :
                               a.text.localeCompare(b.text, undefined, {numeric: true})));
  body.append(...values.map((v) => v.row));
}

function table_csv(table) {
  return Array
             .from(
                 table.rows,
                 (row) => Array
                              .from(
                                  row.cells,
                                  (cell) => lissom.csv_cell(
                                      cell.tagName === "TH" ? cell.textContent.trim() : worth(cell)))
                              .join(","))
             .join("\r\n") +
      "\r\n";
}

function start_table(box) {
  const table = box.querySelector("table");
  const head = table && table.tHead && table.tHead.rows[0];
  const body = table && table.tBodies[0];
  if (!head || !body) return;
  const rows = Array.from(body.rows);
  const caption = table.caption ? table.caption.textContent : "";
  const numeric = (column) =>
      rows.some((row) => row.cells[column] && row.cells[column].dataset.value !== undefined);

  // on paper many columns need small letters
  table.classList.toggle("many", head.cells.length > 9);
  // words and names are not broken at their hyphens
  for (const row of rows)
    for (const cell of row.cells) cell.classList.toggle("short", cell.textContent.length <= 24);

  // a header sorts upwards, downwards, and then as it was
  Array.from(head.cells).forEach((cell, column) => {
    if (numeric(column)) cell.classList.add("n");
    if (rows.length < 2) return;
    const text = cell.textContent;
    const button = make("button", {type: "button", class: "sort", title: "Sort by this column"}, text);
    button.addEventListener("click", () => {
      const state = cell.getAttribute("aria-sort");
      const next = state === "ascending" ? "descending" : state === "descending" ? null : "ascending";
      for (const other of head.cells) other.removeAttribute("aria-sort");
      if (next) cell.setAttribute("aria-sort", next);
      sort_rows(body, rows, column, next === "ascending" ? 1 : next ? -1 : 0);
    });
    cell.replaceChildren(button);
  });

  // the table scrolls, its caption and button do not
  const scroller = make("div", {class: "table-scroll"});
  const tools = make("div", {class: "table-tools"});
  if (table.caption) {
    const id = box.id + "-caption";
    tools.append(make("span", {class: "table-caption", id: id}, caption));
    table.caption.remove();
    table.setAttribute("aria-labelledby", id);
  }
  const hint = make("span", {class: "hint", hidden: true}, "scroll sideways →");
  const save = make(
      "button", {
        type: "button",
        class: "small",
        "aria-label": "Save the table " + (caption || box.id.slice(2)) + " as CSV",
        onclick: () =>
            lissom.save((box.id.replace(/^t-/, "") || "table") + ".csv", table_csv(table), "text/csv"),
      },
      "CSV");
  tools.append(hint, save);
  table.before(tools, scroller);
  scroller.append(table);
  box.classList.add("ready");

  // only what scrolls takes the focus and tells so
  const measure = () => {
    const wide = scroller.scrollWidth > scroller.clientWidth + 1;
    hint.hidden = !wide;
    scroller.classList.toggle("wide", wide);
    scroller.classList.toggle("end", scroller.scrollLeft + scroller.clientWidth >= scroller.scrollWidth - 2);
    if (wide) {
      scroller.setAttribute("tabindex", "0");
      scroller.setAttribute("role", "region");
      scroller.setAttribute("aria-label", (caption || "Table") + ", scrolls sideways");
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) scroller.removeAttribute(name);
    }
  };
  scroller.addEventListener("scroll", measure, {passive: true});
  if ("ResizeObserver" in window) new ResizeObserver(measure).observe(scroller);
  measure();
}

// ---- code

async function copy_text(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    // files opened from disk may not use the clipboard; the older way needs a selection
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

function start_code(block) {
  const code = block.querySelector("code") || block;
  const button = make("button", {type: "button", class: "small copy", "aria-label": "Copy"}, "Copy");
  button.addEventListener("click", async () => {
    const done = await copy_text(code.textContent, code);
    button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
  const box = make("div", {class: "code-box"});
  block.before(box);
  box.append(button, block);
}

// ---- theme

const themes = ["system", "light", "dark"];
let theme = "system";
let theme_button = null;

function set_theme(name) {
  theme = themes.includes(name) ? name : "system";
  if (theme === "system")
    delete document.documentElement.dataset.theme;
  else
    document.documentElement.dataset.theme = theme;
  if (theme_button) theme_button.textContent = "Theme: " + theme;
  // views read the colours again
  window.dispatchEvent(new CustomEvent("lissom-theme"));
}
lissom.theme = set_theme;
function next_theme() {
  set_theme(themes[(themes.indexOf(theme) + 1) % themes.length]);
  // a file opened from disk may be denied storage; the theme then lasts as long as the page
  try {
    localStorage.setItem("lissom-theme", theme);
  } catch (error) { /* not kept */
  }
}
try {
  set_theme(localStorage.getItem("lissom-theme") || "system");
} catch (error) { /* nothing kept */
}
if (window.matchMedia) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  if (dark.addEventListener)
    dark.addEventListener("change", () => window.dispatchEvent(new CustomEvent("lissom-theme")));
}

// ---- keys and buttons of the page

// Groups of [keys, what they do]; scripts of figures and views add theirs.
lissom.shortcuts = lissom.shortcuts || {};
lissom.shortcuts["Page"] = [
  ["?", "this list"],
  ["t", "theme: system, light, dark"],
  ["j  k", "next, previous section"],
  ["Ctrl + P", "print, with all figures"],
];

let help = null;
function show_help() {
  if (help && help.open) return help.close();
  if (!help) {
    help = make("dialog", {class: "help", "aria-label": "Keys"});
    for (const [group, keys] of Object.entries(lissom.shortcuts)) {
      const list = make("dl");
      for (const [key, text] of keys)
        list.append(make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)));
      help.append(make("h2", {}, group), list);
    }
    help.append(make("button", {type: "button", onclick: () => help.close()}, "Close"));
    document.body.append(help);
  }
  help.showModal();
}

let folded = [];
function unfold() {
  for (const part of document.querySelectorAll("details:not([open])")) {
    folded.push(part);
    part.open = true;
  }
}
function fold() {
  for (const part of folded) part.open = false;
  folded = [];
}
lissom.print = async function() {
  unfold();
  await lissom.draw_all();
  window.print();
};

function start_page() {
  const header = document.querySelector("body > header");
  if (header) {
    theme_button = make(
        "button", {type: "button", class: "small", onclick: next_theme, title: "Key t"}, "Theme: " + theme);
    header.append(make(
        "div", {class: "page-tools"}, theme_button,
        make("button", {type: "button", class: "small", onclick: lissom.print}, "Print"),
        make(
            "button",
            {type: "button", class: "small", onclick: show_help, "aria-label": "Keys", title: "Key ?"},
            "?")));
  }
  window.addEventListener("beforeprint", () => {
    unfold();
    lissom.draw_all();
  });
  window.addEventListener("afterprint", fold);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "p") {
      event.preventDefault();
      lissom.print();
      return;
    }
    if (event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const actions = {
      "?": show_help,
      t: next_theme,
      j: () => lissom.go && lissom.go(1),
      k: () => lissom.go && lissom.go(-1)
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  });
}

// ---- the beginning, when all scripts are there

lissom.ready = new Promise((resolve) => {
  const start = () => {
    start_page();
    start_contents();
    document.querySelectorAll("div.table").forEach(start_table);
    document.querySelectorAll("pre.code").forEach(start_code);
    document.documentElement.classList.add("scripted");
    resolve(start_pictures());
  };
  if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", start);
  else
    setTimeout(start, 0);
});
})();
