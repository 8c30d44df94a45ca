// Views on the graphics card. One WebGL2 context draws for all views of a page, since browsers allow few;
// each view copies the picture to a canvas of its own, which also can be printed. While a view plays, the
// canvas of the context lies over its own instead: in software the copy costs as much as the drawing.
//
// A vertex shader expands the motion: basis columns lie in a texture of 32-bit floats, per point and
// component all columns in a row, four to a texel; the amplitudes of the frame are uniforms.
(function() {
'use strict';

const lissom = (window.lissom = window.lissom || {});
const colourings = {
  body: 0,
  deformation: 1,
  stress: 2,
  mode: 3
};

// ---------------------------------------------------------------------------------------- shaders

const head = '#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2D;\n';

// quads: size of the arrays of amplitudes; fold: textures are 1 << fold texels wide
const vertex_shader = (quads, stress_quads, fold, coloured) =>
    head +
    `
    uniform mat4 modelViewMatrix, projectionMatrix;
    uniform float scale;
    uniform int quads, stress_quads, colouring;
    uniform sampler2D basis, stress_basis;
    uniform vec4 amplitudes[${quads}], stress_amplitudes[${stress_quads}];
    in vec3 position;
    out vec3 seen;
    out float value;

    vec4 texel(sampler2D columns, int at) {
      return texelFetch(columns, ivec2(at & ${(1 << fold) - 1}, at >> ${fold}), 0);
    }
    float von_mises() {
      vec3 normal = vec3(0), shear = vec3(0);
      int at = gl_VertexID * 6 * stress_quads;
      for (int k = 0; k < stress_quads; ++k, ++at) {
        vec4 a = stress_amplitudes[k];
        normal.x += dot(a, texel(stress_basis, at));
        normal.y += dot(a, texel(stress_basis, at + stress_quads));
        normal.z += dot(a, texel(stress_basis, at + 2 * stress_quads));
        shear.x += dot(a, texel(stress_basis, at + 3 * stress_quads));
        shear.y += dot(a, texel(stress_basis, at + 4 * stress_quads));
        shear.z += dot(a, texel(stress_basis, at + 5 * stress_quads));
      }
      vec3 d = normal - normal.yzx;
      return sqrt(0.5 * dot(d, d) + 3.0 * dot(shear, shear));
    }
    // of a mode: the amplitude of the vibration, the same at all times
    float vibration() {
      float square = 0.0;
      int at = gl_VertexID * 3 * quads;
      for (int k = 0; k < 3 * quads; ++k) {
        vec4 column = texel(basis, at + k);
        square += dot(column, column);
      }
      return sqrt(square);
    }
    void main() {
      vec3 u = vec3(0);
      int at = gl_VertexID * 3 * quads;
      for (int k = 0; k < quads; ++k, ++at) {
        vec4 a = amplitudes[k];
        u += vec3(dot(a, texel(basis, at)), dot(a, texel(basis, at + quads)), dot(a, texel(basis, at + 2 * quads)));
      }
      vec4 place = modelViewMatrix * vec4(position + scale * u, 1);
      gl_Position = projectionMatrix * place;
      seen = place.xyz;
      value = 0.0;
      ${
        coloured ? `if (colouring == ${colourings.deformation}) value = length(u);
      else if (colouring == ${colourings.stress}) value = von_mises();
      else if (colouring == ${colourings.mode}) value = vibration();` :
                   ''}
    }`;

// flat faces that are lit from the eye, both sides alike
const surface_shader = head + `
    uniform vec3 colour;
    uniform vec2 range;
    uniform float opacity;
    uniform int colouring;
    uniform sampler2D ramp;
    in vec3 seen;
    in float value;
    out vec4 pixel;
    void main() {
      vec3 normal = normalize(cross(dFdx(seen), dFdy(seen)));
      if (dot(normal, seen) > 0.0) normal = -normal;
      float light = 0.56 + 0.44 * max(0.0, dot(normal, vec3(0.18, 0.31, 0.93)));
      vec3 base = colour;
      if (colouring != 0) {
        float t = clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
        base = texelFetch(ramp, ivec2(int(t * 255.0 + 0.5), 0), 0).rgb;
      }
      pixel = vec4(base * light, opacity);
    }`;

const edge_shader = head + `
    uniform vec4 edge_colour;
    out vec4 pixel;
    void main() { pixel = edge_colour; }`;

// sensors: spheres of a fixed size on the screen, in front of everything
const sensor_vertex_shader = head + `
    uniform mat4 modelViewMatrix, projectionMatrix;
    uniform float size;
    uniform int chosen;
    in vec3 position;
    out float mark;
    void main() {
      mark = gl_VertexID == chosen ? 1.0 : 0.0;
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1);
      gl_PointSize = size * (1.0 + 0.4 * mark);
    }`;
const sensor_shader = head + `
    uniform vec3 colour, chosen_colour, rim;
    in float mark;
    out vec4 pixel;
    void main() {
      vec2 at = 2.0 * gl_PointCoord - 1.0;
      float square = dot(at, at);
      if (square > 1.0) discard;
      vec3 base = mix(colour, chosen_colour, mark);
      float light = 0.55 + 0.45 * dot(vec3(at.x, -at.y, sqrt(1.0 - square)), vec3(-0.35, 0.45, 0.82));
      pixel = vec4(square > 0.66 ? rim : base * light, 1);
    }`;

// --------------------------------------------------------------------------------------- colours

const body_colours = [
  '#4c8fd0', '#e08b3a', '#58a866', '#c9605f', '#8f79c4', '#3fa7a5', '#b08a4a', '#c878a8', '#7f9440', '#7d8896'
];
const second_colour = '#e0457b';  // of a run that lies over another

// From blue over green to yellow, evenly growing lighter: lightness, chroma and hue of OKLCH.
function ramp_colour(t) {
  const L = 0.45 + 0.46 * t, chroma = 0.135, hue = (275 - 175 * t) * Math.PI / 180;
  const a = chroma * Math.cos(hue), b = chroma * Math.sin(hue);
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  ].map((v) => {
    const c = Math.min(1, Math.max(0, v));
    return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
  });
}
const ramp = Array.from({length: 256}, (_, i) => ramp_colour(i / 255));

// ------------------------------------------------------------------------------------ the context

let shared;  // the one renderer of the page, null where there is no WebGL2

function context(antialias) {
  const canvas = document.createElement('canvas');
  return [
    canvas, canvas.getContext('webgl2', {antialias, alpha: false, powerPreference: 'high-performance'})
  ];
}

function gpu() {
  if (shared !== undefined) return shared;
  shared = null;
  let [canvas, gl] = context(true);
  if (!gl) return shared;
  // in software smooth edges cost more than all the rest
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const software = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(
      info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '');
  if (software) {
    const loss = gl.getExtension('WEBGL_lose_context');
    [canvas, gl] = context(false);
    if (loss) loss.loseContext();
  }
  canvas.className = 'lv-live';
  const renderer = new THREE.WebGLRenderer({canvas, context: gl});
  renderer.autoClear = false;
  renderer.setPixelRatio(1);
  renderer.setSize(1, 1, false);
  const colours = new Uint8Array(1024);
  ramp.forEach((rgb, i) => colours.set([...rgb, 255], 4 * i));
  const size = gl.getParameter(gl.MAX_TEXTURE_SIZE);
  shared = {
    renderer,
    canvas,
    size,
    software,
    fold: Math.min(13, Math.floor(Math.log2(size))),
    max_quads: gl.getParameter(gl.MAX_VERTEX_UNIFORM_VECTORS) - 32,
    ramp: data_texture(colours, 256, 1, THREE.UnsignedByteType),
    empty: data_texture(new Float32Array(4), 1, 1, THREE.FloatType),
    lost: false,
    last: null,  // the picture drawn last, and when
    last_instant: 0,
    listeners: new Set(),
  };
  // three sends everything again after a loss
  const tell = (lost) => {
    shared.lost = lost;
    shared.listeners.forEach((listener) => listener(lost));
  };
  canvas.addEventListener('webglcontextlost', () => tell(true));
  canvas.addEventListener('webglcontextrestored', () => tell(false));
  return shared;
}

function data_texture(data, width, height, type) {
  const texture = new THREE.DataTexture(data, width, height, THREE.RGBAFormat, type);
  texture.needsUpdate = true;
  return texture;
}

function series_texture(series) {
  const {fold, size, empty} = shared;
  if (!series || !series.rank || !series.basis.length) return empty;
  const texels = series.basis.length / series.rank * lissom.view_model.padded(series.rank) / 4;
  const width = 1 << fold, height = Math.ceil(texels / width);
  if (height > size) throw new Error('a body has more shapes and points than the graphics card takes');
  const data = new Float32Array(4 * width * height);
  lissom.view_model.unpack(series, data);
  return data_texture(data, width, height, THREE.FloatType);
}

const series_quads = (series) => (series && series.rank ? lissom.view_model.padded(series.rank) / 4 : 0);

// ----------------------------------------------------------------------------------- parts and runs

// The surface and edges of a part. style: 'solid', 'translucent' or 'wire'.
class Skin {
  constructor(run, part) {
    this.run = run;
    this.part = part;
    const motion = part.motion || {};
    // arrays of amplitudes in steps of 16 columns, so that parts share programs
    const room = (series) => 4 * Math.max(1, Math.ceil(series_quads(series) / 4));
    const quads = room(motion.displacement), stress_quads = room(motion.stress);
    if (quads + stress_quads > shared.max_quads) {
      throw new Error(`${part.name} moves in more shapes than the graphics card takes`);
    }
    this.uniforms = {
      scale: {value: 1},
      colouring: {value: 0},
      range: {value: new THREE.Vector2(0, 1)},
      opacity: {value: 1},
      colour: {value: new THREE.Color()},
      edge_colour: {value: new THREE.Vector4(0, 0, 0, 1)},
      ramp: {value: shared.ramp},
      quads: {value: 0},
      basis: {value: shared.empty},
      amplitudes: {value: new Float32Array(4)},
      stress_quads: {value: 0},
      stress_basis: {value: shared.empty},
      stress_amplitudes: {value: new Float32Array(4)},
    };
    const material = (fragmentShader, coloured, options) => {
      const made = new THREE.RawShaderMaterial({
        vertexShader: vertex_shader(quads, stress_quads, shared.fold, coloured),
        fragmentShader,
        ...options
      });
      made.uniforms = this.uniforms;
      return made;
    };
    const position = new THREE.BufferAttribute(part.points, 3);
    const geometry = (index) => {
      const made = new THREE.BufferGeometry();
      made.setAttribute('position', position);
      made.setIndex(new THREE.BufferAttribute(index, 1));
      return made;
    };
    this.surface = new THREE.Mesh(
        geometry(part.triangles),
        material(
            surface_shader, true,
            {side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1}));
    this.edges =
        new THREE.LineSegments(geometry(part.edges), material(edge_shader, false, {transparent: true}));
    for (const object of [this.surface, this.edges]) {
      object.frustumCulled = false;
      object.matrixAutoUpdate = false;
      object.matrix = part.matrix;
    }
  }

  // Textures follow what is asked for: stress travels when it is shown, a mode when it is chosen.
  update(colouring, scale, range) {
    const {run, part, uniforms} = this, displacement = run.displacement(part);
    if (this.displacement !== displacement) {
      this.displacement = displacement;
      const kept = displacement === (part.motion || {}).displacement;
      if (this.mode_texture) this.mode_texture.dispose();
      this.mode_texture = null;
      if (kept) {
        this.texture = this.texture || series_texture(displacement);
        uniforms.basis.value = this.texture;
      } else {
        const made = series_texture(displacement);
        if (made !== shared.empty) this.mode_texture = made;
        uniforms.basis.value = made;
      }
      uniforms.quads.value = series_quads(displacement);
    }
    uniforms.amplitudes.value = part.amplitudes;
    const stress = colouring === 'stress' ? run.stress(part) : null;
    if (stress) {
      this.stress_texture = this.stress_texture || series_texture(stress);
      uniforms.stress_basis.value = this.stress_texture;
      uniforms.stress_quads.value = series_quads(stress);
      uniforms.stress_amplitudes.value = part.stress_amplitudes;
    }
    const known = colouring === 'stress' ? stress : colouring === 'body' || displacement;
    uniforms.colouring.value =
        known ? colourings[colouring === 'deformation' && run.mode >= 0 ? 'mode' : colouring] : 0;
    uniforms.scale.value = scale;
    uniforms.range.value.set(range[0], range[1]);
    for (const object of [this.surface, this.edges]) object.matrixWorldNeedsUpdate = true;
    return Boolean(known);
  }

  style(style) {
    const see_through = style === 'translucent', material = this.surface.material;
    material.transparent = see_through;
    material.depthWrite = !see_through;
    this.uniforms.opacity.value = see_through ? 0.35 : 1;
    this.surface.renderOrder = see_through ? 1 : 0;
  }
}

// Scene of a run: its skins, one for each part.
class RunScene {
  constructor(run) {
    this.run = run;
    this.scene = new THREE.Scene();
    this.skins = run.parts.map((part) => new Skin(run, part));
    for (const skin of this.skins) this.scene.add(skin.surface, skin.edges);
  }
}

class SensorScene {
  constructor(count) {
    this.scene = new THREE.Scene();
    this.position = new THREE.BufferAttribute(new Float32Array(3 * count), 3);
    this.uniforms = {
      size: {value: 12},
      chosen: {value: -1},
      colour: {value: new THREE.Color('#ffffff')},
      chosen_colour: {value: new THREE.Color('#ff7a1a')},
      rim: {value: new THREE.Color('#222222')}
    };
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', this.position);
    const material = new THREE.RawShaderMaterial({
      vertexShader: sensor_vertex_shader,
      fragmentShader: sensor_shader,
      depthTest: false,
      depthWrite: false
    });
    material.uniforms = this.uniforms;
    this.points = new THREE.Points(geometry, material);
    this.points.frustumCulled = false;
    this.scene.add(this.points);
  }
}

// Draws passes [{scenes, camera, x, width}] side by side on a picture {stage, canvas, context}. live: more
// pictures follow at once. samples: pixels along a side of one that is shown, more than one cannot be live.
// Returns false, without a picture, while the context is lost.
function draw(picture, background, passes, live, samples) {
  const {renderer, canvas, lost} = shared, now = performance.now();
  if (lost) return false;
  // views that play at the same time share the context: all copy
  live = live && (shared.last === picture || now - shared.last_instant > 200);
  shared.last = picture;
  shared.last_instant = now;
  const width = samples * picture.canvas.width, height = samples * picture.canvas.height;
  if (live ? canvas.width !== width || canvas.height !== height :
             canvas.width < width || canvas.height < height) {
    renderer.setSize(
        live ? width : Math.max(canvas.width, width), live ? height : Math.max(canvas.height, height), false);
  }
  const bottom = canvas.height - height;
  const window_at = (x, wide) => {
    renderer.setViewport(samples * x, bottom, samples * wide, height);
    renderer.setScissor(samples * x, bottom, samples * wide, height);
  };
  renderer.setScissorTest(true);
  renderer.setClearColor(background, 1);
  window_at(0, picture.canvas.width);
  renderer.clear();
  for (const pass of passes) {
    window_at(pass.x, pass.width);
    for (const scene of pass.scenes) renderer.render(scene, pass.camera);
  }
  if (live) {
    if (canvas.parentNode !== picture.stage) picture.canvas.after(canvas);
  } else {
    picture.context.drawImage(canvas, 0, 0, width, height, 0, 0, picture.canvas.width, picture.canvas.height);
    canvas.remove();
  }
  return true;
}

lissom.view_gpu = {
  gpu,
  RunScene,
  SensorScene,
  draw,
  ramp,
  body_colours,
  second_colour
};
})();
