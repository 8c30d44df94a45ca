// The 3D view of a report: lissom.view(element, VIEW) makes it, with its controls, and returns a handle
// (docs/reference/report-page.md). Numbers are in view_model.js, drawing is in view_gpu.js,
// buttons and lists in view_controls.js.
//
// A picture is drawn only when something has changed: everything that changes calls invalidate().
(function() {
'use strict';

const lissom = (window.lissom = window.lissom || {});

const unknown_colour = '#9aa2ab';
const most_curves = 9;   // beside a view, of all its runs
const mode_hertz = 0.5;  // a mode swings this often at speed 1
// ------------------------------------------------------------------------------------- small things

const make = (...given) => lissom.make(...given);  // of page.js
const number = (...given) => lissom.view_controls.number(...given);

// 1, 2 or 5 times a power of ten, at most the value
function round_down(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = value / power;
  return Number(((digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power).toPrecision(1));
}

// The first mode that is no motion of a rigid body: those have the frequency 0, but for rounding.
function first_flexible(modes) {
  const highest = Math.max(0, ...modes.map((mode) => mode.frequency_hz));
  return Math.max(0, modes.findIndex((mode) => mode.frequency_hz > 1e-6 * highest));
}

// Colours of the page, or of paper.
function theme(element, printing) {
  const style = getComputedStyle(element);
  const read = (name, other) => (!printing && style.getPropertyValue(name).trim()) || other;
  const look = {ink: read('--ink', '#1c2126'), paper: read('--paper', '#ffffff')};
  const dark = new THREE.Color(look.paper).getHSL({}).l < 0.5;
  look.edge = new THREE.Color(dark ? '#05070a' : '#10161c');
  look.second = new THREE.Color(lissom.view_gpu.second_colour);
  look.unknown = new THREE.Color(unknown_colour);
  look.bodies = lissom.view_gpu.body_colours.map((colour) => new THREE.Color(colour));
  return look;
}

// -------------------------------------------------------------------------------------------- view

class View {
  constructor(element, spec) {
    this.element = element;
    this.spec = spec;
    this.runs = spec.runs.map(() => null);  // as they are asked for
    this.scenes = new Map();
    const first = spec.runs[0];
    this.first = 0;
    this.second = -1;
    this.arrangement = 'beside';
    this.mode = first.motion || !first.shapes ? -1 : first_flexible(first.shapes.modes);
    this.time = 0;
    this.playing = false;
    this.speeds = {motion: 1, mode: 1};
    this.loop = true;
    this.colour = 'body';
    this.range_of_frame = false;
    this.edges = true;
    this.scale = 1;
    this.amplitude = 0.1;  // of modes, of the size
    this.hidden = new Set();
    this.sensor = null;
    this.pinned = null;
    this.counters = {rendered: 0, milliseconds: 0, instants: []};
    this.cache = new Map();
    this.on_screen = true;
    this.point = new THREE.Vector3();
    this.draw_soon = this.draw_soon.bind(this);
  }

  async start() {
    if (!lissom.view_gpu.gpu()) {
      this.element.prepend(make(
          'p', {class: 'lv-missing'},
          'The 3D view needs WebGL 2, which this browser does not offer or has switched off. ' +
              'Everything else on this page can be read without it.'));
      return;
    }
    this.make_stage();
    await this.need_run(0);
    const run = this.runs[0];
    run.update(this.mode, run.begin());
    this.time = this.begin();
    this.colour = this.first_colour();
    const length = this.end() - this.begin();
    // real time where that takes 2 to 20 s, else about 8 s
    if (this.mode < 0 && length > 0 && (length < 2 || length > 20))
      this.speeds.motion = round_down(length / 8);
    this.camera = new lissom.view_camera.Camera(this.canvas, run.cloud(0), () => this.invalidate());
    this.camera.cloud = run.cloud(this.swing());
    this.camera.fit(this.camera.first_direction);
    this.resize();
    this.controls = new lissom.view_controls.Controls(this);
    this.listen();
    this.draw(2);
  }

  async need_run(index) {
    if (this.runs[index]) return;
    const run = await lissom.view_model.Run.load(this.spec.runs[index]);
    this.runs[index] = run;
    this.scenes.set(run, {
      parts: new lissom.view_gpu.RunScene(run),
      sensors: new lissom.view_gpu.SensorScene(run.sensors.length)
    });
  }

  // ---- what is shown

  // the second one only if it has what is shown of the first
  shown_runs() {
    const first = this.runs[this.first], second = this.second >= 0 ? this.runs[this.second] : null;
    return second && (this.mode >= 0 ? this.mode < second.modes.length : second.time) ? [first, second] :
                                                                                        [first];
  }
  begin() { return Math.min(...this.shown_runs().map((run) => run.begin())); }
  end() { return Math.max(...this.shown_runs().map((run) => run.end())); }
  kind() { return this.mode >= 0 ? 'mode' : 'motion'; }
  moves() { return this.end() > this.begin(); }
  deformation() { return this.mode >= 0 ? this.amplitude * this.camera.size : this.scale; }
  swing() { return this.mode >= 0 ? this.deformation() : 0; }  // how far a mode goes [m]

  colours() {
    const run = this.runs[this.first], found = [['body', 'body']];
    if (this.mode >= 0 || run.largest.deformation > 0) found.push(['deformation', 'deformation']);
    if (this.mode < 0 && run.has_stress) found.push(['stress', 'von Mises stress']);
    return found;
  }

  // Stress, else deformation, unless there is nothing of it yet: then all would have one colour.
  first_colour() {
    const last = this.colours().slice(-1)[0][0], run = this.runs[this.first];
    if (last === 'body' || this.mode >= 0) return last;
    return run.range(last)[1] > 0.02 * run.largest[last] ? last : 'body';
  }

  colour_range() {
    if (this.colour === 'body') return [0, 1];
    if (this.mode >= 0) return [0, 1];
    const ranges = this.shown_runs().map(
        (run) => (this.range_of_frame ? run.range(this.colour) : [0, run.largest[this.colour]]));
    return [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))];
  }

  automatic_scale() {
    const largest = Math.max(...this.shown_runs().map((run) => run.largest.deformation));
    return largest > 0 ? Math.min(1e4, Math.max(1, round_down(0.075 * this.camera.size / largest))) : 1;
  }

  // ---- drawing

  make_stage() {
    this.canvas = make('canvas', {
      tabindex: 0,
      role: 'application',
      'aria-label': `3D view: ${this.spec.title || 'mechanism'}. ${lissom.view_controls.keys_help}`
    });
    this.context = this.canvas.getContext('2d', {alpha: false});
    this.legend = make('div', {class: 'lv-legend', hidden: true});
    this.tip = make('div', {class: 'lv-tip', hidden: true, role: 'status'});
    this.axes = make('canvas', {class: 'lv-axes'});
    this.divider = make('div', {class: 'lv-divider', hidden: true});
    this.names = [0, 1].map(() => make('div', {class: 'lv-run-name', hidden: true}));
    this.stage = make(
        'div', {class: 'lv-stage'}, this.canvas, this.axes, this.divider, this.legend, ...this.names,
        this.tip);
    this.side = make('div', {class: 'lv-side', hidden: true});
    this.root = make('div', {class: 'lv'}, make('div', {class: 'lv-row'}, this.stage, this.side));
    this.element.prepend(this.root);
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, lissom.view_gpu.gpu().software ? 1 : 2);
    const width = Math.max(1, Math.round(this.stage.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.stage.clientHeight * ratio));
    if (width === this.canvas.width && height === this.canvas.height) return;
    this.ratio = ratio;
    this.canvas.width = width;
    this.canvas.height = height;
    this.axes.width = this.axes.height = 88 * ratio;
    this.camera.hold(this.camera.cloud, this.pass_width() / height);
    this.invalidate();
  }
  pass_width() { return this.beside() ? Math.floor(this.canvas.width / 2) : this.canvas.width; }
  beside() { return this.arrangement === 'beside' && this.shown_runs().length > 1; }

  invalidate() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(this.draw_soon);
  }
  draw_soon(now) {
    this.waiting = false;
    clearTimeout(this.refining);
    if (this.playing) this.advance(now);
    this.draw();
    if (this.playing && this.on_screen) this.invalidate();
    // software draws without smooth edges; when nothing has changed for a while it draws finer
    if (!this.playing && lissom.view_gpu.gpu().software) this.refining = setTimeout(() => this.draw(2), 250);
  }

  advance(now) {
    const elapsed = Math.min(0.25, Math.max(0, (now - (this.last_instant || now)) / 1000));
    this.last_instant = now;
    const begin = this.begin(), end = this.end();
    let time = this.time + elapsed * this.speeds[this.kind()] * (this.mode >= 0 ? mode_hertz : 1);
    if (time >= end) {
      if (this.loop || this.mode >= 0) {
        time = begin + (time - begin) % (end - begin);
      } else {
        time = end;
        this.pause();
      }
    }
    this.set_time(time);
  }

  // samples: pixels along a side of one that is shown
  draw(samples = 1) {
    if (!this.camera || !this.stage.clientWidth) return;
    const began = performance.now();
    const look = this.look = this.look || theme(this.element, this.printing);
    const scale = this.deformation(), range = this.colour_range(), runs = this.shown_runs();
    const beside = this.beside(), width = this.pass_width(), height = this.canvas.height;
    runs.forEach((run, i) => {
      run.update(this.mode, this.time);
      this.update_scene(run, i === 1 && !beside ? this.arrangement : 'solid', scale, range, look, samples);
    });
    this.camera.prepare(width / height);
    // what is seen through comes after what is not, sensors last
    const camera = this.camera.camera, parts = runs.map((run) => this.scenes.get(run).parts.scene);
    const sensors = runs.map((run) => (run.sensors.length ? [this.scenes.get(run).sensors.scene] : []));
    const passes = beside ?
        runs.map(
            (_, i) =>
                ({x: i * (this.canvas.width - width), width, camera, scenes: [parts[i], ...sensors[i]]})) :
        [{x: 0, width, camera, scenes: [...parts, ...sensors[0]]}];
    if (!lissom.view_gpu.draw(this, look.paper, passes, this.playing && samples === 1, samples)) return;
    this.divider.hidden = !beside;
    this.draw_axes(look);
    this.show_legend(range);
    if (this.pinned) this.show_tip(this.pinned);
    this.count(began);
  }

  update_scene(run, style, scale, range, look, samples) {
    const {parts, sensors} = this.scenes.get(run);
    const overlaid = style !== 'solid';
    parts.skins.forEach((skin, i) => {
      const known = skin.update(overlaid ? 'body' : this.colour, scale, range);
      const uniforms = skin.uniforms, visible = !this.hidden.has(skin.part.name);
      uniforms.colour.value.copy(
          overlaid   ? look.second :
              !known ? look.unknown :
                       look.bodies[i % look.bodies.length]);
      // edges that lie dense fade
      const spacing = this.camera.pixels(skin.part.edge_length, this.canvas.height) / this.ratio;
      const strength = Math.min(1, Math.max(0, (spacing - 3) / 6)), wire = style === 'wire';
      const edge = wire ? look.second : look.edge;
      uniforms.edge_colour.value.set(edge.r, edge.g, edge.b, wire ? 0.3 + 0.6 * strength : 0.5 * strength);
      skin.surface.visible = visible && !wire;
      // in software many lines cost as much as the faces: they come back when the motion stops
      const hurried = this.playing && lissom.view_gpu.gpu().software && skin.part.edges.length > 20000;
      skin.edges.visible = visible && (wire || (this.edges && !overlaid && !hurried && strength > 0));
      skin.style(style);
    });
    run.sensors.forEach((sensor, i) => {
      const p = run.position_at(run.parts[sensor.part], sensor.point, scale, this.point);
      sensors.position.setXYZ(i, p.x, p.y, p.z);
    });
    sensors.position.needsUpdate = true;
    sensors.uniforms.size.value = 13 * this.ratio * samples;
    sensors.uniforms.chosen.value = run.sensors.findIndex((sensor) => sensor.name === this.sensor);
  }

  // The directions of x, y and z in the lower left corner.
  draw_axes(look) {
    const {axes: canvas, ratio} = this, context = canvas.getContext('2d');
    const length = 26 * ratio, x0 = canvas.width / 2, y0 = canvas.height / 2;
    const inverse = this.camera.camera.matrixWorldInverse.elements;
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.lineWidth = 2 * ratio;
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const axes = ['x', 'y', 'z'].map((name, i) => ({
                                       name,
                                       colour: ['#d9534f', '#4aa564', '#4a86d9'][i],
                                       x: inverse[4 * i],
                                       y: -inverse[4 * i + 1],
                                       z: inverse[4 * i + 2]
                                     }));
    axes.sort((a, b) => a.z - b.z);
    for (const axis of axes) {
      context.strokeStyle = axis.colour;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x0 + length * axis.x, y0 + length * axis.y);
      context.stroke();
      context.fillStyle = look.ink;
      context.fillText(axis.name, x0 + 1.35 * length * axis.x, y0 + 1.35 * length * axis.y);
    }
  }

  count(began) {
    const now = performance.now(), {instants} = this.counters;
    ++this.counters.rendered;
    this.counters.milliseconds += 0.1 * (now - began - this.counters.milliseconds);
    instants.push(now);
    while (instants[0] < now - 1000) instants.shift();
  }

  // ---- legend and texts

  legend_texts(range) {
    const all = this.mode >= 0 ? '' : this.range_of_frame ? ', this frame' : ', all frames';
    const [title, unit] = this.colour === 'stress' ? ['von Mises stress', 'Pa'] :
        this.mode >= 0                             ? ['deformation, relative', ''] :
                                                     ['deformation', 'm'];
    const texts = [range[0], 0.5 * (range[0] + range[1]), range[1]].map((v) => number(v));
    return {title: unit ? `${title} [${unit}]${all}` : title, texts};
  }

  show_legend(range) {
    this.legend.hidden = this.colour === 'body';
    const key = `${this.colour} ${range} ${this.mode >= 0} ${this.range_of_frame}`;
    if (this.legend.hidden || key === this.legend_key) return;
    this.legend_key = key;
    const {title, texts} = this.legend_texts(range);
    const stops = lissom.view_gpu.ramp.filter((_, i) => i % 15 === 0).map((rgb) => `rgb(${rgb})`);
    const bar = make('div', {class: 'lv-ramp'});
    bar.style.background = `linear-gradient(to right, ${stops})`;
    this.legend.replaceChildren(
        make('div', {class: 'lv-legend-title'}, title), bar,
        make('div', {class: 'lv-ticks'}, ...texts.map((text) => make('span', {}, text))));
  }

  time_text() {
    if (this.mode >= 0) return `${Math.round(360 * this.time)}°`;
    const digits =
        Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(Math.max(1e-9, this.end() - this.begin())))));
    return `${this.time.toFixed(digits)} s`;
  }

  // ---- time

  set_time(time) {
    this.time = Math.min(this.end(), Math.max(this.begin(), time));
    this.show_time();
  }
  show_time() {
    // to lay out and paint numbers at every frame would slow the picture down
    const now = performance.now();
    if (this.playing && now - (this.shown_at || 0) < 80) return;
    this.shown_at = now;
    if (this.controls) this.controls.show_time();
    if (this.curve && this.mode < 0) this.curve.cursor(this.time);
  }
  seek(time) {
    this.set_time(time);
    this.invalidate();
  }
  play() {
    if (!this.moves()) return;
    if (this.time >= this.end() && this.mode < 0) this.set_time(this.begin());
    this.playing = true;
    this.last_instant = 0;
    this.tip.hidden = !this.pinned;
    this.controls.show_playing();
    this.invalidate();
  }
  pause() {
    const played = this.playing;
    this.playing = false;
    if (played) this.show_time();
    this.invalidate();
    this.controls.show_playing();
  }
  step(frames) {
    this.pause();
    const run = this.runs[this.first];
    if (this.mode >= 0 || !run.time) {
      this.seek((this.time + frames / 24 + 1) % 1);
    } else {
      const [frame, weight] = run.frame(this.time);
      const next = frame + frames + (frames < 0 && weight > 0 ? 1 : 0);
      this.seek(run.time[Math.min(run.time.length - 1, Math.max(0, next))]);
    }
  }

  // ---- choices

  async set_run(first, second = -1, arrangement = this.arrangement) {
    await Promise.all([first, ...(second >= 0 ? [second] : [])].map((i) => this.need_run(i)));
    this.first = first;
    this.second = second === first ? -1 : second;
    this.arrangement = arrangement;
    this.pinned = null;
    this.tip.hidden = true;
    const {modes, time} = this.runs[first];
    this.mode = this.mode < 0 && !time && modes.length ? 0 : Math.min(this.mode, modes.length - 1);
    // the picture holds all that is shown
    for (const run of this.shown_runs()) run.update(this.mode, this.time);
    this.hold_shown();
    this.set_time(this.time);
    this.refresh();
    if (this.sensor) this.pick(this.sensor);
  }
  hold_shown() {
    this.camera.hold(
        this.shown_runs().flatMap((run) => run.cloud(this.swing())), this.pass_width() / this.canvas.height);
  }
  set_mode(mode) {
    const was_moving = this.playing, kind_changes = (mode >= 0) !== (this.mode >= 0);
    this.pause();
    this.mode = Math.min(mode, this.runs[this.first].modes.length - 1);
    for (const run of this.shown_runs()) run.update(this.mode, 0);
    if (kind_changes) {
      this.hold_shown();
      this.set_time(this.begin());
    }
    if (!this.colours().some(([name]) => name === this.colour)) this.colour = this.colours().slice(-1)[0][0];
    this.refresh();
    if (was_moving) this.play();
  }
  set_colour(colour) {
    if (!this.colours().some(([name]) => name === colour)) throw new Error(`nothing to colour by ${colour}`);
    this.colour = colour;
    this.refresh();
  }
  set_scale(scale) {
    if (!Number.isFinite(scale)) return;
    this.scale = Math.min(1e4, Math.max(0, scale));
    this.refresh();
  }

  // ---- picking

  // The sensor or point under a place of the canvas [css pixels]; null: nothing there.
  under(x, y) {
    const rectangle = this.canvas.getBoundingClientRect();
    const width = this.beside() ? rectangle.width / 2 : rectangle.width;
    const right = this.beside() && x >= width;
    const run = this.shown_runs()[right ? 1 : 0], camera = this.camera.camera;
    const ndc_x = 2 * ((right ? x - width : x) / width) - 1, ndc_y = 1 - 2 * y / rectangle.height;
    // sensors lie in front
    let nearest = 12, sensor = null;
    for (const candidate of run.sensors) {
      const p = run.position_at(run.parts[candidate.part], candidate.point, this.deformation(), this.point);
      p.project(camera);
      const distance = Math.hypot((p.x - ndc_x) * width / 2, (p.y - ndc_y) * rectangle.height / 2);
      if (distance < nearest) [nearest, sensor] = [distance, candidate];
    }
    if (sensor) return {run, sensor, part: sensor.part, point: sensor.point};
    const caster = new THREE.Raycaster();
    caster.setFromCamera({x: ndc_x, y: ndc_y}, camera);
    return lissom.view_model.pick_point(
        run, this.deformation(), caster.ray, (part) => !this.hidden.has(part.name), this.cache);
  }

  // What is at a point, beside it.
  show_tip(hit) {
    const {run, part: index, point, sensor} = hit, part = run.parts[index];
    const p = run.position_at(part, point, this.deformation(), this.point);
    const place = p.clone().project(this.camera.camera);
    const width = this.stage.clientWidth / (this.beside() ? 2 : 1);
    const right = this.beside() && run === this.shown_runs()[1];
    const x = (place.x + 1) / 2 * width + (right ? width : 0),
          y = (1 - place.y) / 2 * this.stage.clientHeight;
    const node = part.node_ids && part.node_ids[point] !== 0xffffffff ? `node ${part.node_ids[point]}` :
                                                                        `point ${point}`;
    const u = run.displacement_at(part, point, p).length(), stress = run.stress_at(part, point);
    const lines = [sensor ? `sensor ${sensor.name}` : part.name, sensor ? `${part.name}, ${node}` : node];
    if (run.displacement(part)) {
      lines.push(this.mode >= 0 ? `deformation ${number(u)} of the largest` : `deformation ${number(u)} m`);
    }
    if (stress !== null) lines.push(`von Mises ${number(stress)} Pa`);
    if (this.tip_text !== lines.join('\n')) {
      this.tip_text = lines.join('\n');
      this.tip.replaceChildren(...lines.map((text) => make('div', {}, text)));
    }
    this.tip.hidden = false;
    const left = Math.min(x + 14, this.stage.clientWidth - this.tip.offsetWidth - 6);
    const top = Math.min(y + 14, this.stage.clientHeight - this.tip.offsetHeight - 6);
    this.tip.style.transform = `translate(${Math.max(6, left)}px, ${Math.max(6, top)}px)`;
  }

  // Of many curves only those of the runs that are shown, which end with the label of their run.
  curve_figure(name) {
    const figure = (this.spec.curves || []).find((curve) => curve.title === name);
    if (!figure || figure.series.length <= most_curves) return figure;
    const labels = this.shown_runs().map((run) => `, ${run.label}`);
    const series = figure.series.filter((s) => labels.some((label) => s.name.endsWith(label)));
    return series.length ? {...figure, series} : figure;
  }

  // A sensor's curve beside the view; none: closes it.
  pick(name) {
    this.sensor = name || null;
    if (this.controls.sensor) this.controls.sensor.value = name || '';
    const figure = this.curve_figure(name), key = figure ? JSON.stringify(figure.series) : null;
    if (this.shown_curve !== key) {
      this.shown_curve = key;
      if (this.curve && this.curve.remove) this.curve.remove();
      this.curve = null;
      this.side.replaceChildren();
      this.side.hidden = !figure;
      if (figure) {
        const plot = make('div', {class: 'lv-plot plot'});
        this.side.append(plot);
        if (lissom.plot) {
          const handle = this.curve = lissom.plot(plot, {...figure, id: `${this.spec.id}-${figure.id}`});
          handle.onseek = (time) => {
            if (this.mode < 0) this.seek(time);
          };
          Promise.resolve(handle.ready).then(() => {
            if (this.curve === handle) this.show_time();
          });
        }
      }
      this.resize();
    }
    this.invalidate();
  }

  refresh() {
    this.controls.refresh();
    this.invalidate();
  }

  listen() {
    const {canvas} = this, again = () => {
      this.look = null;
      this.invalidate();
    };
    new ResizeObserver(() => {
      this.resize();
      this.draw();  // at once: a canvas is empty after a change of size
    }).observe(this.stage);
    new IntersectionObserver(([entry]) => {
      this.on_screen = entry.isIntersecting;
      this.last_instant = 0;
      if (this.on_screen) this.invalidate();
    }).observe(this.stage);
    window.addEventListener('lissom-theme', again);
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
    lissom.view_gpu.gpu().listeners.add((lost) => {
      if (!lost) this.invalidate();
    });

    // the wheel scrolls the page until the view has been clicked
    canvas.addEventListener('wheel', (event) => {
      this.camera.controls.enableZoom =
          document.activeElement === canvas || event.ctrlKey || Boolean(document.fullscreenElement);
    }, {capture: true, passive: true});
    canvas.addEventListener('keydown', (event) => this.key(event));
    let pressed = null;
    canvas.addEventListener('pointerdown', (event) => {
      pressed = [event.clientX, event.clientY];
      this.dragging = true;
      if (!this.pinned) this.tip.hidden = true;
    });
    window.addEventListener('pointerup', (event) => {
      this.dragging = false;
      if (!pressed) return;
      const moved = Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]);
      pressed = null;
      if (moved > 4 || event.button !== 0) return;
      const at = canvas.getBoundingClientRect();
      this.pinned = this.under(event.clientX - at.left, event.clientY - at.top);
      if (this.pinned && this.pinned.sensor) this.pick(this.pinned.sensor.name);
      this.tip.hidden = !this.pinned;
      this.invalidate();
    });
    // hovering costs an expansion of all points: only while nothing moves
    let hover = null;
    canvas.addEventListener('pointermove', (event) => {
      if (this.playing || this.dragging || this.pinned || event.pointerType === 'touch') return;
      if (!hover) {
        requestAnimationFrame(() => {
          const at = canvas.getBoundingClientRect(), [x, y] = hover;
          hover = null;
          if (this.playing || this.dragging || this.pinned) return;
          const hit = this.under(x - at.left, y - at.top);
          if (hit)
            this.show_tip(hit);
          else
            this.tip.hidden = true;
        });
      }
      hover = [event.clientX, event.clientY];
    });
    canvas.addEventListener('pointerleave', () => {
      if (!this.pinned) this.tip.hidden = true;
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const turn = Math.PI / 24, move = 0.03, camera = this.camera;
    const arrow = (x, y) =>
        (event.shiftKey ? camera.pan(move * x, move * y) : camera.orbit(turn * x, turn * y));
    const actions = {
      ArrowLeft: () => arrow(-1, 0),
      ArrowRight: () => arrow(1, 0),
      ArrowUp: () => arrow(0, 1),
      ArrowDown: () => arrow(0, -1),
      '+': () => camera.zoom(0.9),
      '=': () => camera.zoom(0.9),
      '-': () => camera.zoom(1 / 0.9),
      ' ': () => (this.playing ? this.pause() : this.play()),
      ',': () => this.step(-1),
      '.': () => this.step(1),
      Home: () => camera.fit(camera.first_direction),
      Escape: () => {
        this.pinned = null;
        this.tip.hidden = true;
      },
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // Paper is white.
  print(printing) {
    this.printing = printing;
    this.look = null;
    this.draw(2);
  }

  // ---- stills

  // The picture with its title, time and legend.
  still() {
    this.draw(2);
    const {canvas, ratio, look} = this, made = make('canvas', {width: canvas.width, height: canvas.height});
    const context = made.getContext('2d');
    context.drawImage(canvas, 0, 0);
    context.drawImage(this.axes, 0, canvas.height - this.axes.height);
    context.fillStyle = look.ink;
    context.font = `${13 * ratio}px system-ui, sans-serif`;
    context.textBaseline = 'top';
    const labels =
        this.shown_runs().map((run) => run.label).filter(Boolean).join(this.beside() ? ' | ' : ' and ');
    const state = this.mode >= 0 ? this.controls.mode.selectedOptions[0].textContent :
        this.moves()             ? `t = ${this.time_text()}, deformation × ${number(this.scale, 4)}` :
                                   '';
    [this.spec.title, this.spec.runs.length > 1 ? labels : '', state].filter(Boolean).forEach(
        (text, i) => context.fillText(text, 12 * ratio, (12 + 19 * i) * ratio));
    if (this.colour !== 'body') {
      const {title, texts} = this.legend_texts(this.colour_range());
      const width = 220 * ratio, left = made.width - width - 14 * ratio, top = 12 * ratio,
            ramp = lissom.view_gpu.ramp;
      context.fillText(title, left, top);
      const gradient = context.createLinearGradient(left, 0, left + width, 0);
      ramp.forEach((rgb, i) => gradient.addColorStop(i / 255, `rgb(${rgb})`));
      context.fillStyle = gradient;
      context.fillRect(left, top + 20 * ratio, width, 12 * ratio);
      context.fillStyle = look.ink;
      texts.forEach((text, i) => {
        context.textAlign = ['left', 'center', 'right'][i];
        context.fillText(text, left + i / 2 * width, top + 36 * ratio);
      });
    }
    return new Promise((resolve) => made.toBlob(resolve, 'image/png'));
  }
  async save_still() {
    const mode = this.mode >= 0 ? `-mode-${this.mode + 1}` : '';
    lissom.save(`${this.spec.id || 'view'}${mode}.png`, await this.still());
  }
}

// A handle that others and tests use. Runs, parts, points and modes count from 0; mode -1 is the motion.
lissom.view = function(element, spec) {
  const view = new View(element, spec);
  lissom.shortcuts['3D view'] = lissom.view_controls.shortcuts;
  const part = (run, index) => {
    view.runs[run].update(view.mode, view.time);
    return view.runs[run].parts[index];
  };
  const handle = {
    ready: null,
    play: () => view.play(),
    pause: () => view.pause(),
    get playing() { return view.playing; },
    seek: (time) => view.seek(time),
    get time() { return view.time; },
    get begin() { return view.begin(); },
    get end() { return view.end(); },
    setRun: (first, second, arrangement) => view.set_run(first, second, arrangement),
    setColour: (colour) => view.set_colour(colour),
    setScale: (scale) => view.set_scale(scale === 'automatic' ? view.automatic_scale() : scale),
    get scale() { return view.deformation(); },
    setMode: (mode) => view.set_mode(mode),
    pick: (name) => view.pick(name),
    still: () => view.still(),
    draw: (samples) => view.draw(samples),
    // where a point is shown [m], its von Mises stress [Pa] or null, and where it is on the canvas [device
    // pixels]
    pointPosition: (run, index, point) =>
        view.runs[run]
            .position_at(part(run, index), point, view.deformation(), new THREE.Vector3())
            .toArray(),
    stressAt: (run, index, point) => view.runs[run].stress_at(part(run, index), point),
    project(position) {
      const p = new THREE.Vector3().fromArray(position).project(view.camera.camera);
      return [(p.x + 1) / 2 * view.pass_width(), (1 - p.y) / 2 * view.canvas.height];
    },
    stats() {
      const {rendered, milliseconds, instants} = view.counters,
                                     span = instants[instants.length - 1] - instants[0];
      const runs = view.shown_runs(), sum = (of) => runs.reduce((total, run) => total + of(run), 0);
      return {
        fps: span > 0 ? 1000 * (instants.length - 1) / span : 0,
        frames_rendered: rendered,
        points: sum((run) => run.points),
        triangles: sum((run) => run.triangles),
        milliseconds_per_frame: milliseconds
      };
    },
  };
  element.lissom = handle;
  handle.ready = view.start();
  return handle;
};
})();
