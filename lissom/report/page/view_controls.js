// Buttons, sliders and lists of a view, and the texts on its picture; what they do is in view.js.
(function() {
'use strict';

const lissom = (window.lissom = window.lissom || {});

const speeds = [
  1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02,
  0.05, 0.1,  0.2,  0.5,  1,    2,    5,    10,   20,   50,   100
];

const keys_help =
    'Drag to orbit, right button or shift and drag to move, wheel to zoom after a click. Keys: ' +
    'arrows orbit, shift and arrows move, + and - zoom, space plays, comma and period step, Home resets.';

const shortcuts = [
  ['arrows', 'orbit'], ['Shift + arrows', 'move'], ['+ -', 'zoom'], ['space', 'play or pause'],
  [', .', 'one frame back or on'], ['Home', 'first view'], ['Esc', 'put the note on a point away']
];

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

class Controls {
  constructor(view) {
    const {spec} = view, {body_colours} = lissom.view_gpu, run = view.runs[0], controls = this;
    this.view = view;
    const play = button('▶', 'Play (space)', () => (view.playing ? view.pause() : view.play()));
    play.className = 'lv-play';
    const scrub =
        make('input', {type: 'range', min: 0, max: 1000, value: 0, class: 'lv-scrub', 'aria-label': 'Time'});
    scrub.addEventListener('input', () => {
      // a pause puts the slider where the picture is
      const share = scrub.value / 1000;
      view.pause();
      view.seek(view.begin() + share * (view.end() - view.begin()));
    });
    const time = make('output', {class: 'lv-time', 'aria-label': 'Time shown'});
    controls.speed = select([], '', (value) => {
      view.speeds[view.kind()] = Number(value);
    });
    const loop = checkbox('Loop', view.loop, (on) => {
      view.loop = on;
    });
    Object.assign(this, {play, scrub, time});
    controls.moving = make(
        'div', {class: 'lv-moving'}, play, scrub, time,
        make('div', {class: 'lv-pair'}, labelled('Speed', controls.speed), loop.label));
    controls.screen = button('Full screen', 'Full screen', () => {
      if (document.fullscreenElement)
        document.exitFullscreen();
      else
        view.root.requestFullscreen();
    });
    controls.still = button('Save PNG', 'Save this picture', () => view.save_still());
    const bar = make(
        'div', {class: 'lv-bar'}, controls.moving,
        make('div', {class: 'lv-buttons lv-pictures'}, controls.still, controls.screen));

    const groups = [];
    // which run, and which mode
    if (spec.runs.length > 1) {
      const names = spec.runs.map((r, i) => [String(i), r.label]);
      controls.first = select(names, '0', (value) => view.set_run(Number(value), view.second));
      controls.second =
          select([['-1', 'nothing'], ...names], '-1', (value) => view.set_run(view.first, Number(value)));
      controls.arrangement = select(
          [
            ['beside', 'side by side'], ['translucent', 'overlaid, translucent'],
            ['wire', 'overlaid, wire frame']
          ],
          view.arrangement, (value) => view.set_run(view.first, view.second, value));
      groups.push(group(
          'Results', labelled('Show', controls.first), labelled('Together with', controls.second),
          labelled('Arranged', controls.arrangement)));
    }
    if (spec.runs.some((r) => r.shapes)) {
      controls.mode = select([], '', (value) => view.set_mode(Number(value)));
      const other = (by) => {
        const {modes, time} = view.runs[view.first];
        view.set_mode(Math.min(modes.length - 1, Math.max(time ? -1 : 0, view.mode + by)));
      };
      groups.push(group(
          'Mode', labelled('Show', controls.mode),
          make(
              'div', {class: 'lv-buttons'}, button('Previous', 'Previous mode', () => other(-1)),
              button('Next', 'Next mode', () => other(1)))));
    }
    // colour
    controls.colour = select([], '', (value) => view.set_colour(value));
    controls.range = select([['all', 'all frames'], ['frame', 'this frame']], 'all', (value) => {
      view.range_of_frame = value === 'frame';
      view.invalidate();
    });
    controls.range_field = labelled('Range of', controls.range);
    const edges = checkbox('Mesh edges', view.edges, (on) => {
      view.edges = on;
      view.invalidate();
    });
    edges.label.title = 'Where they lie dense they fade; zoom in to see them';
    controls.edges = edges.box;
    groups.push(group('Colour', labelled('By', controls.colour), controls.range_field, edges.label));
    // deformation: the slider is logarithmic, its left end is 0
    controls.slider =
        make('input', {type: 'range', min: 0, max: 100, value: 0, 'aria-label': 'Scale of deformation'});
    controls.slider.addEventListener('input', () => {
      const v = Number(controls.slider.value);
      view.set_scale(v === 0 ? 0 : Number((10 ** ((v - 1) / 99 * 5 - 1)).toPrecision(2)));
    });
    controls.scale = make(
        'input',
        {type: 'number', min: 0, max: 10000, step: 'any', 'aria-label': 'Scale of deformation, number'});
    controls.scale.addEventListener('change', () => view.set_scale(Number(controls.scale.value)));
    controls.scale_label = make('span', {class: 'lv-label'});
    controls.scale_field = make(
        'div', {class: 'lv-field'}, controls.scale_label, controls.slider,
        make(
            'div', {class: 'lv-buttons'}, controls.scale,
            button('× 1', 'As computed', () => view.set_scale(1)),
            button(
                'Auto', 'Automatic: largest deformation about 5 % of the size',
                () => view.set_scale(view.automatic_scale()))));
    controls.amplitude =
        make('input', {type: 'range', min: 0, max: 30, step: 1, value: 100 * view.amplitude});
    controls.amplitude.addEventListener('input', () => {
      view.amplitude = controls.amplitude.value / 100;
      view.hold_shown();
      view.refresh();
    });
    controls.amplitude_label = make('span', {class: 'lv-label'});
    controls.amplitude_field =
        make('label', {class: 'lv-field'}, controls.amplitude_label, controls.amplitude);
    controls.deformation = group('Deformation', controls.scale_field, controls.amplitude_field);
    groups.push(controls.deformation);
    // camera
    const camera = make(
        'div', {class: 'lv-buttons'}, button('Fit', 'All of it, from here', () => view.camera.fit()),
        ...['x', 'y', 'z'].map((axis) => button(axis, `Look along ${axis}`, () => view.camera.along(axis))),
        button('Reset', 'First view (Home)', () => view.camera.fit(view.camera.first_direction)));
    groups.push(group('Camera', camera));
    // sensors
    if (run.sensors.length) {
      controls.sensor = select(
          [['', 'none'], ...run.sensors.map((s) => [s.name, s.name])], '', (value) => view.pick(value));
      groups.push(group(
          'Sensor', labelled('Curve of', controls.sensor),
          make('p', {class: 'lv-hint'}, 'Or click a ball in the view.')));
    }
    // bodies
    const names = [...new Set(run.parts.filter((part) => part.count).map((part) => part.name))];
    controls.bodies = make('div', {class: 'lv-bodies'});
    for (const name of names) {
      const index = run.parts.findIndex((part) => part.name === name);
      const {box, label} = checkbox(name, true, (on) => {
        if (on)
          view.hidden.delete(name);
        else
          view.hidden.add(name);
        view.invalidate();
      });
      box.after(make(
          'span', {class: 'lv-swatch', style: `background:${body_colours[index % body_colours.length]}`}));
      controls.bodies.append(label);
    }
    if (names.length > 1) groups.push(group('Bodies', controls.bodies));

    const help = make('p', {class: 'lv-hint lv-help'}, keys_help);
    controls.notes = make('ul', {class: 'lv-notes'});
    const more = make(
        'details', {class: 'lv-more', open: window.innerWidth > 640}, make('summary', {}, 'Controls'),
        make('div', {class: 'lv-controls'}, ...groups, help));
    view.root.append(bar, more, controls.notes);
    this.show_playing();
    this.refresh();
  }

  mode_names({modes, time}) {
    const names = modes.map((mode, k) => {
      const damping = mode.damping_ratio > 0 ? `, damping ${number(100 * mode.damping_ratio, 2)} %` : '';
      return [String(k), `${mode.label}: ${number(mode.frequency_hz, 4)} Hz${damping}`];
    });
    return time || !names.length ? [['-1', 'motion in time'], ...names] : names;
  }

  // Controls show what is chosen.
  refresh() {
    const {view} = this, {mode} = view, controls = this, put = (control, value) => {
      if (control) control.value = value;
    };
    put(controls.first, view.first);
    put(controls.second, view.second);
    put(controls.arrangement, view.arrangement);
    if (controls.arrangement) controls.arrangement.disabled = view.second < 0;
    const fill = (element, options, chosen) => {
      element.replaceChildren(...options.map(([value, text]) => make('option', {value}, text)));
      element.value = chosen;
    };
    if (controls.mode) fill(controls.mode, this.mode_names(view.runs[view.first]), String(mode));
    fill(controls.colour, view.colours(), view.colour);
    controls.range_field.hidden = view.colour === 'body' || mode >= 0;
    const speed = view.speeds[view.kind()];
    const offered = mode >= 0 ? [0.1, 0.2, 0.5, 1, 2, 5] :
                                speeds.filter((s) => s === 1 || (s >= speed / 20 && s <= 50 * speed));
    const all = [...new Set([...offered, speed])].sort((a, b) => a - b);
    fill(
        controls.speed, all.map((s) => [String(s), s === 1 && mode < 0 ? 'real time' : `${number(s)} ×`]),
        String(speed));
    controls.moving.hidden = !view.moves();
    // of motions without deformation there is nothing to scale
    const deforms = view.shown_runs().some((run) => run.largest.deformation > 0);
    controls.deformation.hidden = mode < 0 && !deforms;
    controls.scale_field.hidden = mode >= 0;
    controls.amplitude_field.hidden = mode < 0;
    controls.scale_label.textContent = `Shown × ${number(view.scale, 4)}`;
    controls.scale.value = view.scale;
    controls.slider.value =
        view.scale > 0 ? Math.round(1 + 99 * (Math.log10(Math.max(0.1, view.scale)) + 1) / 5) : 0;
    controls.slider.setAttribute('aria-valuetext', `times ${number(view.scale, 4)}`);
    controls.amplitude_label.textContent = `Amplitude ${Math.round(100 * view.amplitude)} % of the size`;
    view.names.forEach((name, i) => {
      const run = view.shown_runs()[i];
      const title = run && mode >= 0 ? this.mode_names(run).find(([k]) => Number(k) === mode)[1] : '';
      const label = view.spec.runs.length > 1 && run ? run.label : '';
      name.textContent = [label, title].filter(Boolean).join(', ');
      name.hidden = !name.textContent;
      name.classList.toggle('lv-right', i === 1 && view.beside());
      name.classList.toggle('lv-over', i === 1 && !view.beside());
      name.style.color = i === 1 && !view.beside() ? lissom.view_gpu.second_colour : '';
    });
    const notes = [...new Set(view.shown_runs().flatMap((run) => run.spec.notes || []))];
    controls.notes.replaceChildren(...notes.map((text) => make('li', {}, text)));
    this.show_time();
  }

  show_time() {
    const {view, scrub, time} = this, length = view.end() - view.begin();
    scrub.value = length > 0 ? Math.round(1000 * (view.time - view.begin()) / length) : 0;
    const text = view.time_text();
    if (text !== time.textContent) {
      time.textContent = text;
      scrub.setAttribute('aria-valuetext', text);
    }
  }
  show_playing() {
    const {view, play} = this;
    play.textContent = view.playing ? '❚❚' : '▶';
    play.setAttribute('aria-label', view.playing ? 'Pause' : 'Play');
    play.title = view.playing ? 'Pause (space)' : 'Play (space)';
  }
}

lissom.view_controls = {
  Controls,
  number,
  keys_help,
  shortcuts
};
})();
