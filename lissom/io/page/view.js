// The 3D view of a report: lissom.view(element, VIEW) makes it, with its controls, and returns a handle
// (docs/reference/report-page.md). Numbers are in view_model.js, drawing is in view_gpu.js.
//
// A picture is drawn only when something has changed: everything that changes calls invalidate().
(function () {
  'use strict';

  const lissom = (window.lissom = window.lissom || {});

  const body_colours = ['#4c8fd0', '#e08b3a', '#58a866', '#c9605f', '#8f79c4', '#3fa7a5', '#b08a4a', '#c878a8',
                        '#7f9440', '#7d8896'];
  const unknown_colour = '#9aa2ab';
  const second_colour = '#e0457b';
  const speeds = [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5,
                  10, 20, 50, 100];
  const mode_hertz = 0.5;      // a mode swings this often at speed 1
  const view_angle = 28;       // of the camera, from top to bottom [degrees]
  const keys_help = 'Drag to orbit, right button or shift and drag to move, wheel to zoom after a click. Keys: ' +
      'arrows orbit, shift and arrows move, + and - zoom, space plays, comma and period step, Home resets.';

  // ------------------------------------------------------------------------------------- small things

  const make = (...given) => lissom.make(...given);  // of page.js

  const labelled = (text, control, ...more) =>
      make('label', {class: 'lv-field'}, make('span', {class: 'lv-label'}, text), control, ...more);

  function select(options, chosen, on_change) {
    const element = make('select');
    for (const [value, text] of options) element.append(make('option', {value}, text));
    element.value = chosen;
    element.addEventListener('change', () => on_change(element.value));
    return element;
  }

  function button(text, title, on_click) {
    const element = make('button', {type: 'button', title}, text);
    element.addEventListener('click', on_click);
    return element;
  }

  function checkbox(text, checked, on_change) {
    const box = make('input', {type: 'checkbox', checked});
    box.addEventListener('change', () => on_change(box.checked));
    return {box, label: make('label', {class: 'lv-check'}, box, make('span', {}, text))};
  }

  const group = (name, ...children) =>
      make('fieldset', {class: 'lv-group'}, make('legend', {}, name), ...children);

  // Three digits: 0, 12.3, 1.23e-5.
  function number(value, digits = 3) {
    if (!Number.isFinite(value)) return '-';
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits)));
    return Number(value.toPrecision(digits)).toExponential().replace('e+', 'e');
  }

  // 1, 2 or 5 times a power of ten, at most the value
  function round_down(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    const digit = value / power;
    return Number(((digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power).toPrecision(1));
  }

  function theme(element, printing) {
    if (printing) return {ink: '#1c2126', paper: '#ffffff', line: '#b9c0c7', accent: '#1f6feb'};
    const style = getComputedStyle(element);
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const read = (name, light, night) => style.getPropertyValue(name).trim() || (dark ? night : light);
    return {ink: read('--ink', '#1c2126', '#e6e9ec'), paper: read('--paper', '#ffffff', '#14181c'),
            line: read('--line', '#d5dae0', '#3a4149'), accent: read('--accent', '#1f6feb', '#6ea8fe')};
  }

  // ------------------------------------------------------------------------------------------ camera

  // Orbits around a target; z points up, or y of a mechanism that is flat in z.
  class Camera {
    constructor(canvas, cloud, on_change) {
      const box = new THREE.Box3().setFromArray(cloud), extent = box.getSize(new THREE.Vector3());
      this.box = box;
      this.size = extent.length() || 1;
      const flat = extent.z < 0.35 * Math.min(extent.x, extent.y);
      this.camera = new THREE.PerspectiveCamera(view_angle, 1, 0.1, 10);
      this.camera.up.set(0, flat ? 1 : 0, flat ? 0 : 1);
      this.first_direction = flat ? new THREE.Vector3(0.22, 0.3, 1) : new THREE.Vector3(0.55, -1, 0.5);
      this.cloud = cloud;
      this.controls = new THREE.OrbitControls(this.camera, canvas);
      this.controls.enableKeys = false;
      this.controls.screenSpacePanning = true;
      this.controls.addEventListener('change', on_change);
      this.controls.addEventListener('start', () => { this.touched = true; });
      this.aspect = 1;
      this.touched = false;  // by the reader, since all was in the picture
    }

    // from: a direction to look from, or nothing to keep it
    fit(from) {
      const {camera, controls, cloud} = this;
      const towards = from ? from.clone() : camera.position.clone().sub(controls.target);
      camera.position.copy(controls.target).add(towards.normalize());
      camera.lookAt(controls.target);
      camera.updateMatrixWorld();
      const axes = [0, 1, 2].map((i) => new THREE.Vector3().setFromMatrixColumn(camera.matrixWorld, i));
      const tangent_y = Math.tan(view_angle / 2 * Math.PI / 180) * 0.92, tangent_x = tangent_y * this.aspect;
      // the middle of what is seen, then the distance at which all of it is
      const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], at = new THREE.Vector3();
      const seen = (i) => axes.map((axis) => axis.dot(at.fromArray(cloud, i)));
      for (let i = 0; i < cloud.length; i += 3) {
        seen(i).forEach((value, k) => {
          low[k] = Math.min(low[k], value);
          high[k] = Math.max(high[k], value);
        });
      }
      const middle = low.map((value, k) => (value + high[k]) / 2);
      let distance = 1e-6 * this.size;
      for (let i = 0; i < cloud.length; i += 3) {
        const [x, y, z] = seen(i);
        distance = Math.max(distance, z - middle[2] + Math.max(Math.abs(x - middle[0]) / tangent_x,
                                                               Math.abs(y - middle[1]) / tangent_y));
      }
      controls.target.set(0, 0, 0);
      axes.forEach((axis, k) => controls.target.addScaledVector(axis, middle[k]));
      camera.position.copy(controls.target).addScaledVector(axes[2], distance);
      controls.update();
      this.touched = false;
    }
    // what the picture should hold, and its width over its height
    hold(cloud, aspect) {
      this.cloud = cloud;
      this.box.setFromArray(cloud);
      this.aspect = aspect;
      if (!this.touched) this.fit();
    }

    along(axis) {
      const up = this.camera.up, from = new THREE.Vector3();
      from[axis] = 1;
      // at the pole the picture's up is what the small tilt points away from
      if (up[axis] === 1) from[axis === 'z' ? 'y' : 'z'] = axis === 'z' ? -1e-4 : 1e-4;
      if (axis === 'y' && up.z === 1) from.y = -1;
      this.fit(from);
    }

    orbit(right, upwards) {
      this.touched = true;
      const {camera, controls} = this, offset = camera.position.clone().sub(controls.target);
      const to_y = new THREE.Quaternion().setFromUnitVectors(camera.up, new THREE.Vector3(0, 1, 0));
      const place = new THREE.Spherical().setFromVector3(offset.applyQuaternion(to_y));
      place.theta += right;
      place.phi -= upwards;
      place.makeSafe();
      camera.position.setFromSpherical(place).applyQuaternion(to_y.inverse()).add(controls.target);
      controls.update();
    }
    zoom(factor) {
      this.touched = true;
      const {camera, controls} = this;
      camera.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
      controls.update();
    }
    pan(right, upwards) {
      this.touched = true;
      const {camera, controls} = this, step = camera.position.distanceTo(controls.target);
      for (const [axis, by] of [[0, right], [1, upwards]]) {
        const move = new THREE.Vector3().setFromMatrixColumn(camera.matrix, axis).multiplyScalar(by * step);
        camera.position.add(move);
        controls.target.add(move);
      }
      controls.update();
    }

    // Depths that hold all of the box, and twice that for deformation.
    prepare(aspect) {
      const {camera, box, size} = this;
      const distance = camera.position.distanceTo(box.getCenter(new THREE.Vector3()));
      camera.far = distance + 2 * size;
      camera.near = Math.max(distance - 2 * size, camera.far / 2000);
      camera.aspect = aspect;
      camera.updateProjectionMatrix();
      camera.updateMatrixWorld();
    }
    // of a length at the target, in a picture so many pixels high
    pixels(length, height) {
      const {camera, controls} = this;
      return length * height / (2 * Math.tan(view_angle / 2 * Math.PI / 180) * camera.position.distanceTo(controls.target));
    }
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
      this.mode = first.motion || !first.shapes ? -1 : 0;
      this.time = 0;
      this.playing = false;
      this.speed = 1;
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
        this.element.prepend(make('p', {class: 'lv-missing'},
            'The 3D view needs WebGL 2, which this browser does not offer or has switched off. ' +
            'Everything else on this page can be read without it.'));
        return;
      }
      this.make_stage();
      await this.need_run(0);
      const run = this.runs[0];
      run.update(this.mode, run.begin());
      this.time = this.begin();
      this.colour = this.colours().slice(-1)[0][0];
      const length = this.end() - this.begin();
      // real time where that takes 2 to 20 s, else about 8 s
      if (this.mode < 0 && (length < 2 || length > 20)) this.speed = round_down(Math.max(1e-5, length / 8)) || 1;
      this.camera = new Camera(this.canvas, run.cloud(), () => this.invalidate());
      this.camera.fit(this.camera.first_direction);
      this.resize();
      this.make_controls();
      this.listen();
      this.draw(2);
    }

    async need_run(index) {
      if (this.runs[index]) return;
      const run = await lissom.view_model.Run.load(this.spec.runs[index]);
      this.runs[index] = run;
      this.scenes.set(run, {parts: new lissom.view_gpu.RunScene(run),
                            sensors: new lissom.view_gpu.SensorScene(run.sensors.length)});
    }

    // ---- what is shown

    shown_runs() {
      return [this.first, ...(this.second >= 0 ? [this.second] : [])].map((i) => this.runs[i]);
    }
    begin() { return Math.min(...this.shown_runs().map((run) => run.begin())); }
    end() { return Math.max(...this.shown_runs().map((run) => run.end())); }
    moves() { return this.end() > this.begin(); }
    deformation() { return this.mode >= 0 ? this.amplitude * this.camera.size : this.scale; }

    colours() {
      const run = this.runs[this.first], found = [['body', 'body']];
      if (this.mode >= 0 || run.largest.deformation > 0) found.push(['deformation', 'deformation']);
      if (this.mode < 0 && run.has_stress) found.push(['stress', 'von Mises stress']);
      return found;
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
      this.canvas = make('canvas', {tabindex: 0, role: 'application',
                                    'aria-label': `3D view: ${this.spec.title || 'mechanism'}. ${keys_help}`});
      this.context = this.canvas.getContext('2d', {alpha: false});
      this.legend = make('div', {class: 'lv-legend', hidden: true});
      this.tip = make('div', {class: 'lv-tip', hidden: true, role: 'status'});
      this.axes = make('canvas', {class: 'lv-axes'});
      this.divider = make('div', {class: 'lv-divider', hidden: true});
      this.names = [0, 1].map(() => make('div', {class: 'lv-run-name', hidden: true}));
      this.stage = make('div', {class: 'lv-stage'}, this.canvas, this.axes, this.divider, this.legend,
                        ...this.names, this.tip);
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
    beside() { return this.second >= 0 && this.arrangement === 'beside'; }

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
      let time = this.time + elapsed * this.speed * (this.mode >= 0 ? mode_hertz : 1);
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
        run.update(Math.min(this.mode, run.modes.length - 1), this.time);
        this.update_scene(run, i === 1 && !beside ? this.arrangement : 'solid', scale, range, look, samples);
      });
      this.camera.prepare(width / height);
      // what is seen through comes after what is not, sensors last
      const camera = this.camera.camera, parts = runs.map((run) => this.scenes.get(run).parts.scene);
      const sensors = runs.map((run) => (run.sensors.length ? [this.scenes.get(run).sensors.scene] : []));
      const passes = beside ?
          runs.map((_, i) => ({x: i * (this.canvas.width - width), width, camera, scenes: [parts[i], ...sensors[i]]})) :
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
      const overlaid = style !== 'solid', dark = new THREE.Color(look.paper).getHSL({}).l < 0.5;
      parts.skins.forEach((skin, i) => {
        const known = skin.update(overlaid ? 'body' : this.colour, scale, range);
        const uniforms = skin.uniforms, visible = !this.hidden.has(skin.part.name);
        uniforms.colour.value.set(overlaid ? second_colour : !known ? unknown_colour :
                                                                      body_colours[i % body_colours.length]);
        skin.surface.visible = visible && style !== 'wire';
        skin.edges.visible = visible && (style === 'wire' || (this.edges && !overlaid));
        // edges that lie dense fade
        const spacing = this.camera.pixels(skin.part.edge_length, this.canvas.height) / this.ratio;
        const edge = new THREE.Color(style === 'wire' ? second_colour : dark ? '#05070a' : '#10161c');
        const strength = Math.min(1, Math.max(0, (spacing - 3) / 6));
        uniforms.edge_colour.value.set(edge.r, edge.g, edge.b, style === 'wire' ? 0.3 + 0.6 * strength : 0.5 * strength);
        if (strength === 0 && style !== 'wire') skin.edges.visible = false;
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
        name, colour: ['#d9534f', '#4aa564', '#4a86d9'][i],
        x: inverse[4 * i], y: -inverse[4 * i + 1], z: inverse[4 * i + 2]}));
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
                            this.mode >= 0 ? ['deformation, relative', ''] : ['deformation', 'm'];
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
      this.legend.replaceChildren(make('div', {class: 'lv-legend-title'}, title), bar,
          make('div', {class: 'lv-ticks'}, ...texts.map((text) => make('span', {}, text))));
    }

    time_text() {
      if (this.mode >= 0) return `${Math.round(360 * this.time)}°`;
      const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(Math.max(1e-9, this.end() - this.begin())))));
      return `${this.time.toFixed(digits)} s`;
    }

    // ---- time

    set_time(time) {
      this.time = Math.min(this.end(), Math.max(this.begin(), time));
      if (this.transport) this.show_time();
    }
    seek(time) {
      this.set_time(time);
      this.invalidate();
    }
    show_time() {
      const {scrub, time} = this.transport, length = this.end() - this.begin();
      scrub.value = length > 0 ? Math.round(1000 * (this.time - this.begin()) / length) : 0;
      const text = this.time_text();
      if (text !== time.textContent) {
        time.textContent = text;
        scrub.setAttribute('aria-valuetext', text);
      }
      if (this.curve && this.mode < 0) this.curve.cursor(this.time);
    }
    play() {
      if (!this.moves()) return;
      if (this.time >= this.end() && this.mode < 0) this.set_time(this.begin());
      this.playing = true;
      this.last_instant = 0;
      this.tip.hidden = !this.pinned;
      this.show_playing();
      this.invalidate();
    }
    pause() {
      this.playing = false;
      this.invalidate();
      this.show_playing();
    }
    show_playing() {
      const {play} = this.transport;
      play.textContent = this.playing ? '❚❚' : '▶';
      play.setAttribute('aria-label', this.playing ? 'Pause' : 'Play');
      play.title = this.playing ? 'Pause (space)' : 'Play (space)';
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
      // the picture holds all that is shown
      for (const run of this.shown_runs()) run.update(Math.min(this.mode, run.modes.length - 1), this.time);
      this.hold_shown();
      this.set_time(this.time);
      this.refresh();
      if (this.sensor) this.pick(this.sensor);
    }
    hold_shown() {
      this.camera.hold(this.shown_runs().flatMap((run) => run.cloud()), this.pass_width() / this.canvas.height);
    }
    set_mode(mode) {
      const was_moving = this.playing, kind_changes = (mode >= 0) !== (this.mode >= 0);
      this.pause();
      this.mode = Math.min(mode, this.runs[this.first].modes.length - 1);
      for (const run of this.shown_runs()) run.update(Math.min(this.mode, run.modes.length - 1), 0);
      if (kind_changes) {
        this.hold_shown();
        this.set_time(this.begin());
        this.speed = 1;
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
      return lissom.view_model.pick_point(run, this.deformation(), caster.ray,
                                          (part) => !this.hidden.has(part.name), this.cache);
    }

    // What is at a point, beside it.
    show_tip(hit) {
      const {run, part: index, point, sensor} = hit, part = run.parts[index];
      const p = run.position_at(part, point, this.deformation(), this.point);
      const place = p.clone().project(this.camera.camera);
      const width = this.stage.clientWidth / (this.beside() ? 2 : 1);
      const right = this.beside() && run === this.shown_runs()[1];
      const x = (place.x + 1) / 2 * width + (right ? width : 0), y = (1 - place.y) / 2 * this.stage.clientHeight;
      const node = part.node_ids && part.node_ids[point] !== 0xffffffff ? `node ${part.node_ids[point]}` : `point ${point}`;
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

    // A sensor's curve beside the view; none: closes it.
    pick(name) {
      this.sensor = name || null;
      if (this.controls.sensor) this.controls.sensor.value = name || '';
      const figure = (this.spec.curves || []).find((curve) => curve.title === name);
      if (this.shown_curve !== (figure || null)) {
        this.shown_curve = figure || null;
        this.curve = null;
        this.side.replaceChildren();
        this.side.hidden = !figure;
        if (figure) {
          const plot = make('div', {class: 'lv-plot plot'});
          this.side.append(plot);
          if (lissom.plot) {
            const handle = this.curve = lissom.plot(plot, {...figure, id: `${this.spec.id}-${figure.id}`});
            handle.onseek = (time) => { if (this.mode < 0) this.seek(time); };
            Promise.resolve(handle.ready).then(() => { if (this.curve === handle) this.show_time(); });
          }
        }
        this.resize();
      }
      this.invalidate();
    }

    // ---- controls

    make_controls() {
      const spec = this.spec, run = this.runs[0], controls = this.controls = {};
      const play = button('▶', 'Play (space)', () => (this.playing ? this.pause() : this.play()));
      play.className = 'lv-play';
      const scrub = make('input', {type: 'range', min: 0, max: 1000, value: 0, class: 'lv-scrub', 'aria-label': 'Time'});
      scrub.addEventListener('input', () => {
        this.pause();
        this.seek(this.begin() + scrub.value / 1000 * (this.end() - this.begin()));
      });
      const time = make('output', {class: 'lv-time', 'aria-label': 'Time shown'});
      controls.speed = select([], '', (value) => { this.speed = Number(value); });
      const loop = checkbox('Loop', this.loop, (on) => { this.loop = on; });
      this.transport = {play, scrub, time};
      controls.moving = make('div', {class: 'lv-moving'}, play, scrub, time,
          make('div', {class: 'lv-pair'}, labelled('Speed', controls.speed), loop.label));
      controls.screen = button('Full screen', 'Full screen', () => {
        if (document.fullscreenElement) document.exitFullscreen(); else this.root.requestFullscreen();
      });
      controls.still = button('Save PNG', 'Save this picture', () => this.save_still());
      const bar = make('div', {class: 'lv-bar'}, controls.moving,
                       make('div', {class: 'lv-buttons lv-pictures'}, controls.still, controls.screen));

      const groups = [];
      // which run, and which mode
      if (spec.runs.length > 1) {
        const names = spec.runs.map((r, i) => [String(i), r.label]);
        controls.first = select(names, '0', (value) => this.set_run(Number(value), this.second));
        controls.second = select([['-1', 'nothing'], ...names], '-1', (value) => this.set_run(this.first, Number(value)));
        controls.arrangement = select([['beside', 'side by side'], ['translucent', 'overlaid, translucent'],
                                       ['wire', 'overlaid, wire frame']], this.arrangement,
                                      (value) => this.set_run(this.first, this.second, value));
        groups.push(group('Results', labelled('Show', controls.first), labelled('Together with', controls.second),
                          labelled('Arranged', controls.arrangement)));
      }
      if (run.modes.length) {
        const names = run.modes.map((mode, k) => {
          const damping = mode.damping_ratio > 0 ? `, damping ${number(100 * mode.damping_ratio, 2)} %` : '';
          return [String(k), `${mode.label}: ${number(mode.frequency_hz, 4)} Hz${damping}`];
        });
        if (run.time) names.unshift(['-1', 'motion in time']);
        controls.mode = select(names, String(this.mode), (value) => this.set_mode(Number(value)));
        const other = (by) => this.set_mode(Math.min(run.modes.length - 1, Math.max(run.time ? -1 : 0, this.mode + by)));
        groups.push(group('Mode', labelled('Show', controls.mode), make('div', {class: 'lv-buttons'},
            button('Previous', 'Previous mode', () => other(-1)), button('Next', 'Next mode', () => other(1)))));
      }
      // colour
      controls.colour = select([], '', (value) => this.set_colour(value));
      controls.range = select([['all', 'all frames'], ['frame', 'this frame']], 'all', (value) => {
        this.range_of_frame = value === 'frame';
        this.invalidate();
      });
      controls.range_field = labelled('Range of', controls.range);
      const edges = checkbox('Mesh edges', this.edges, (on) => {
        this.edges = on;
        this.invalidate();
      });
      edges.label.title = 'Where they lie dense they fade; zoom in to see them';
      controls.edges = edges.box;
      groups.push(group('Colour', labelled('By', controls.colour), controls.range_field, edges.label));
      // deformation: the slider is logarithmic, its left end is 0
      controls.slider = make('input', {type: 'range', min: 0, max: 100, value: 0, 'aria-label': 'Scale of deformation'});
      controls.slider.addEventListener('input', () => {
        const v = Number(controls.slider.value);
        this.set_scale(v === 0 ? 0 : Number((10 ** ((v - 1) / 99 * 5 - 1)).toPrecision(2)));
      });
      controls.scale = make('input', {type: 'number', min: 0, max: 10000, step: 'any', 'aria-label': 'Scale of deformation, number'});
      controls.scale.addEventListener('change', () => this.set_scale(Number(controls.scale.value)));
      controls.scale_label = make('span', {class: 'lv-label'});
      controls.scale_field = make('div', {class: 'lv-field'}, controls.scale_label, controls.slider,
          make('div', {class: 'lv-buttons'}, controls.scale, button('× 1', 'As computed', () => this.set_scale(1)),
               button('Auto', 'Automatic: largest deformation about 5 % of the size', () => this.set_scale(this.automatic_scale()))));
      controls.amplitude = make('input', {type: 'range', min: 0, max: 30, step: 1, value: 100 * this.amplitude});
      controls.amplitude.addEventListener('input', () => {
        this.amplitude = controls.amplitude.value / 100;
        this.refresh();
      });
      controls.amplitude_label = make('span', {class: 'lv-label'});
      controls.amplitude_field = make('label', {class: 'lv-field'}, controls.amplitude_label, controls.amplitude);
      controls.deformation = group('Deformation', controls.scale_field, controls.amplitude_field);
      groups.push(controls.deformation);
      // camera
      const camera = make('div', {class: 'lv-buttons'},
          button('Fit', 'All of it, from here', () => this.camera.fit()),
          ...['x', 'y', 'z'].map((axis) => button(axis, `Look along ${axis}`, () => this.camera.along(axis))),
          button('Reset', 'First view (Home)', () => this.camera.fit(this.camera.first_direction)));
      groups.push(group('Camera', camera));
      // sensors
      if (run.sensors.length) {
        controls.sensor = select([['', 'none'], ...run.sensors.map((s) => [s.name, s.name])], '', (value) => this.pick(value));
        groups.push(group('Sensor', labelled('Curve of', controls.sensor),
                          make('p', {class: 'lv-hint'}, 'Or click a ball in the view.')));
      }
      // bodies
      const names = [...new Set(run.parts.map((part) => part.name))];
      controls.bodies = make('div', {class: 'lv-bodies'});
      for (const name of names) {
        const index = run.parts.findIndex((part) => part.name === name);
        const {box, label} = checkbox(name, true, (on) => {
          if (on) this.hidden.delete(name); else this.hidden.add(name);
          this.invalidate();
        });
        box.after(make('span', {class: 'lv-swatch', style: `background:${body_colours[index % body_colours.length]}`}));
        controls.bodies.append(label);
      }
      if (names.length > 1) groups.push(group('Bodies', controls.bodies));

      const help = make('p', {class: 'lv-hint lv-help'}, keys_help);
      controls.notes = make('ul', {class: 'lv-notes'});
      const more = make('details', {class: 'lv-more', open: this.root.clientWidth > 560}, make('summary', {}, 'Controls'),
                        make('div', {class: 'lv-controls'}, ...groups, help));
      this.root.append(bar, more, controls.notes);
      this.show_playing();
      this.refresh();
    }

    // Controls show what is chosen.
    refresh() {
      const {controls, mode} = this, put = (control, value) => { if (control) control.value = value; };
      put(controls.first, this.first);
      put(controls.second, this.second);
      put(controls.arrangement, this.arrangement);
      if (controls.arrangement) controls.arrangement.disabled = this.second < 0;
      put(controls.mode, mode);
      const fill = (element, options, chosen) => {
        element.replaceChildren(...options.map(([value, text]) => make('option', {value}, text)));
        element.value = chosen;
      };
      fill(controls.colour, this.colours(), this.colour);
      controls.range_field.hidden = this.colour === 'body' || mode >= 0;
      const offered = mode >= 0 ? [0.1, 0.2, 0.5, 1, 2, 5] : speeds.filter((s) => s >= 0.05 * this.speed && s <= 50 * this.speed || s === 1);
      fill(controls.speed, offered.map((s) => [String(s), s === 1 && mode < 0 ? 'real time' : `${number(s)} ×`]), String(this.speed));
      controls.moving.hidden = !this.moves();
      // of motions without deformation there is nothing to scale
      const deforms = this.shown_runs().some((run) => run.largest.deformation > 0);
      controls.deformation.hidden = mode < 0 && !deforms;
      controls.scale_field.hidden = mode >= 0;
      controls.amplitude_field.hidden = mode < 0;
      controls.scale_label.textContent = `Shown × ${number(this.scale, 4)}`;
      controls.scale.value = this.scale;
      controls.slider.value = this.scale > 0 ? Math.round(1 + 99 * (Math.log10(Math.max(0.1, this.scale)) + 1) / 5) : 0;
      controls.slider.setAttribute('aria-valuetext', `times ${number(this.scale, 4)}`);
      controls.amplitude_label.textContent = `Amplitude ${Math.round(100 * this.amplitude)} % of the size`;
      this.names.forEach((name, i) => {
        const run = this.shown_runs()[i];
        name.hidden = this.spec.runs.length < 2 || !run;
        name.textContent = run ? run.label : '';
        name.classList.toggle('lv-right', i === 1 && this.beside());
        name.classList.toggle('lv-over', i === 1 && !this.beside());
        name.style.color = i === 1 && !this.beside() ? second_colour : '';
      });
      const notes = [...new Set(this.shown_runs().flatMap((run) => run.spec.notes || []))];
      controls.notes.replaceChildren(...notes.map((text) => make('li', {}, text)));
      this.show_time();
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
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
      new MutationObserver(again).observe(document.documentElement, {attributes: true});
      window.addEventListener('beforeprint', () => this.print(true));
      window.addEventListener('afterprint', () => this.print(false));
      lissom.view_gpu.gpu().listeners.add((lost) => { if (!lost) this.invalidate(); });

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
            if (hit) this.show_tip(hit); else this.tip.hidden = true;
          });
        }
        hover = [event.clientX, event.clientY];
      });
      canvas.addEventListener('pointerleave', () => { if (!this.pinned) this.tip.hidden = true; });
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const turn = Math.PI / 24, move = 0.03, camera = this.camera;
      const arrow = (x, y) => (event.shiftKey ? camera.pan(move * x, move * y) : camera.orbit(turn * x, turn * y));
      const actions = {
        ArrowLeft: () => arrow(-1, 0), ArrowRight: () => arrow(1, 0), ArrowUp: () => arrow(0, 1), ArrowDown: () => arrow(0, -1),
        '+': () => camera.zoom(0.9), '=': () => camera.zoom(0.9), '-': () => camera.zoom(1 / 0.9),
        ' ': () => (this.playing ? this.pause() : this.play()),
        ',': () => this.step(-1), '.': () => this.step(1),
        Home: () => camera.fit(camera.first_direction),
        Escape: () => { this.pinned = null; this.tip.hidden = true; },
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
      const labels = this.shown_runs().map((run) => run.label).filter(Boolean).join(this.beside() ? ' | ' : ' and ');
      const state = this.mode >= 0 ? this.controls.mode.selectedOptions[0].textContent :
          this.moves() ? `t = ${this.time_text()}, deformation × ${number(this.scale, 4)}` : '';
      [this.spec.title, this.spec.runs.length > 1 ? labels : '', state].filter(Boolean).forEach(
          (text, i) => context.fillText(text, 12 * ratio, (12 + 19 * i) * ratio));
      if (this.colour !== 'body') {
        const {title, texts} = this.legend_texts(this.colour_range());
        const width = 220 * ratio, left = made.width - width - 14 * ratio, top = 12 * ratio, ramp = lissom.view_gpu.ramp;
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
  lissom.view = function (element, spec) {
    const view = new View(element, spec);
    const part = (run, index) => {
      view.runs[run].update(Math.min(view.mode, view.runs[run].modes.length - 1), view.time);
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
      // where a point is shown [m], its von Mises stress [Pa] or null, and where it is on the canvas [device pixels]
      pointPosition: (run, index, point) =>
          view.runs[run].position_at(part(run, index), point, view.deformation(), new THREE.Vector3()).toArray(),
      stressAt: (run, index, point) => view.runs[run].stress_at(part(run, index), point),
      project(position) {
        const p = new THREE.Vector3().fromArray(position).project(view.camera.camera);
        return [(p.x + 1) / 2 * view.pass_width(), (1 - p.y) / 2 * view.canvas.height];
      },
      stats() {
        const {rendered, milliseconds, instants} = view.counters, span = instants[instants.length - 1] - instants[0];
        const runs = view.shown_runs(), sum = (of) => runs.reduce((total, run) => total + of(run), 0);
        return {fps: span > 0 ? 1000 * (instants.length - 1) / span : 0, frames_rendered: rendered,
                points: sum((run) => run.points), triangles: sum((run) => run.triangles),
                milliseconds_per_frame: milliseconds};
      },
    };
    element.lissom = handle;
    handle.ready = view.start();
    return handle;
  };
})();
