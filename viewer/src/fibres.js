// Fibres as tubes: each piece between two points is a strip that faces the eye, shaded as the round
// thing it stands for, at least about a pixel wide. Positions stay quantised in textures; the
// vertex shader fetches them by number, so a new frame costs one upload and no work here.
import * as THREE from 'three';
import { INNER, STRAIN_STEPS } from './frame.js';

const WIDTH = 1024; // of the textures, in texels
const MAX_STRIDE = 16;

// pale yellow to dark blue, readable without red and green
export const HEAT = `
vec3 heat(float x) {
  return mix(mix(vec3(0.13, 0.24, 0.55), vec3(0.15, 0.60, 0.60), clamp(2.0 * x, 0.0, 1.0)),
             vec3(0.97, 0.80, 0.25), clamp(2.0 * x - 1.0, 0.0, 1.0));
}`;

// from blue, the most that presses or turns the other way, over grey to red, the most that pulls
const SIGNED = `
vec3 twoSided(float x) {
  vec3 to = x < 0.0 ? vec3(0.10, 0.28, 0.62) : vec3(0.80, 0.16, 0.10);
  return mix(vec3(0.80, 0.80, 0.78), to, min(abs(x), 1.0));
}`;

const VERTEX = `
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D earlier, later, earlierInner, laterInner, facts;
uniform sampler2D rods;
uniform vec4 earlierOrigin, earlierScale, laterOrigin, laterScale; // of place and curvature
uniform float mixing, pixel, thickness, kappaMax, innerMax;
uniform vec4 innerAxis;
uniform vec2 innerSpan, innerSpanLater; // origin and scale of what is shown
uniform int picked;
uniform vec3 pickedColour;
uniform mat4 modelViewMatrix, projectionMatrix;
out vec3 colour, sideways, toward, tangent;
out float across, roundness;

ivec2 texel(int i) { return ivec2(i % ${WIDTH}, i / ${WIDTH}); }

vec4 point(int i) {
  vec4 a = earlierOrigin + earlierScale * vec4(texelFetch(earlier, texel(i), 0));
  if (mixing == 0.0) { return a; }
  vec4 b = laterOrigin + laterScale * vec4(texelFetch(later, texel(i), 0));
  return mix(a, b, mixing);
}

// of what the fibre bears: one of the four numbers of a texel
float inner(int i) {
  float a = innerSpan.x + innerSpan.y * dot(innerAxis, vec4(texelFetch(earlierInner, texel(i), 0)));
  if (mixing == 0.0) { return a; }
  vec4 b = vec4(texelFetch(laterInner, texel(i), 0));
  return mix(a, innerSpanLater.x + innerSpanLater.y * dot(innerAxis, b), mixing);
}

${HEAT}
${SIGNED}

void main() {
  int i = gl_VertexID >> 1;
  uint fact = texelFetch(facts, texel(i), 0).x;
  int rod = int(fact >> 2u);
  vec4 self = point(i);
  vec3 here = self.xyz;
  vec3 before = (fact & 1u) != 0u ? here : point(i - 1).xyz;
  vec3 after = (fact & 2u) != 0u ? here : point(i + 1).xyz;
  vec4 look = texelFetch(rods, texel(rod), 0);
  colour = look.rgb;
  if (kappaMax > 0.0) { colour = heat(self.w / kappaMax); }
  if (innerMax > 0.0) { colour = twoSided(inner(i) / innerMax); }
  bool isPicked = rod == picked;
  if (isPicked && innerMax == 0.0) { colour = pickedColour; }
  vec4 eye = modelViewMatrix * vec4(here, 1.0);
  vec3 along = mat3(modelViewMatrix) * (after - before);
  toward = normalize(-eye.xyz);
  tangent = along / max(length(along), 1e-20);
  vec3 s = cross(along, toward);
  float size = length(s);
  sideways = size > 0.0 ? s / size : vec3(1.0, 0.0, 0.0);
  across = float(gl_VertexID & 1) * 2.0 - 1.0;
  float dot1 = pixel * -eye.z;
  float radius = look.a * thickness;
  float least = (isPicked ? 1.6 : 0.6) * dot1;
  roundness = clamp(radius / dot1 - 0.6, 0.0, 1.0);
  eye.xyz += sideways * across * max(radius, least);
  gl_Position = projectionMatrix * eye;
}`;

const FRAGMENT = `
precision highp float;
in vec3 colour, sideways, toward, tangent;
in float across, roundness;
out vec4 shown;
void main() {
  float v = across * roundness;
  vec3 normal = normalize(sideways * v + toward * sqrt(max(1.0 - v * v, 0.0)));
  vec3 light = normalize(vec3(0.35, 0.6, 0.72));
  vec3 halfway = normalize(light + toward);
  // too thin to show its roundness: the mean over all normals, from the angle to the tangent
  float wide = max(dot(normal, light), 0.0);
  float thin = dot(tangent, light);
  float diffuse = 0.35 + 0.65 * mix(sqrt(max(1.0 - thin * thin, 0.0)), wide, roundness);
  float along = dot(tangent, halfway);
  float gloss = mix(0.18 * pow(max(1.0 - along * along, 0.0), 12.0),
                    0.25 * pow(max(dot(normal, halfway), 0.0), 24.0), roundness);
  shown = vec4(colour * diffuse + gloss, 1.0);
}`;

function texture(data, format, type, internalFormat, height) {
  const made = new THREE.DataTexture(data, WIDTH, height, format, type);
  made.internalFormat = internalFormat;
  made.minFilter = made.magFilter = THREE.NearestFilter;
  made.unpackAlignment = 1;
  made.needsUpdate = true;
  return made;
}

const rows = (count) => Math.max(1, Math.ceil(count / WIDTH));

export class Fibres {
  /** @param {Int32Array} pointStart @param {number[]} radii one for each rod
   *  @param {boolean} forces whether frames have what fibres bear inside */
  constructor(pointStart, radii, forces) {
    this.pointStart = pointStart;
    this.rodCount = pointStart.length - 1;
    this.pointCount = pointStart[this.rodCount];
    this.radii = radii;
    this.stride = 1;
    this.indices = new Map();
    const height = rows(this.pointCount);
    const points = () =>
      texture(new Uint16Array(4 * WIDTH * height), THREE.RGBAIntegerFormat, THREE.UnsignedShortType, 'RGBA16UI', height);
    this.forces = forces;
    this.innerShown = -1;
    this.innerMost = [0, 0, 0, 0]; // of each, as far as was seen
    const inner = () => (forces ? points() : texture(new Uint16Array(4 * WIDTH), THREE.RGBAIntegerFormat, THREE.UnsignedShortType, 'RGBA16UI', 1));
    this.rodTexture = texture(
      new Float32Array(4 * WIDTH * rows(this.rodCount)),
      THREE.RGBAFormat, THREE.FloatType, 'RGBA32F', rows(this.rodCount),
    );
    this.uniforms = {
      earlier: { value: points() },
      later: { value: points() },
      facts: { value: this.factTexture(height) },
      rods: { value: this.rodTexture },
      mixing: { value: 0 },
      pixel: { value: 0.001 },
      thickness: { value: 1 },
      kappaMax: { value: 0 },
      earlierInner: { value: inner() },
      laterInner: { value: inner() },
      innerAxis: { value: new THREE.Vector4() },
      innerSpan: { value: new THREE.Vector2() },
      innerSpanLater: { value: new THREE.Vector2() },
      innerMax: { value: 0 }, // 0: not coloured by it
      picked: { value: -1 },
      pickedColour: { value: new THREE.Vector3(0.9, 0.3, 0.1) },
    };
    for (const name of ['earlierOrigin', 'earlierScale', 'laterOrigin', 'laterScale']) {
      this.uniforms[name] = { value: new THREE.Vector4() };
    }
    const material = new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: this.uniforms,
      side: THREE.DoubleSide,
    });
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false; // until there is a frame
    this.setStride(1);
    this.shown = [null, null];
  }

  // The rod of each point, and whether it is the first or the last of it.
  factTexture(height) {
    const facts = new Uint32Array(WIDTH * height);
    for (let rod = 0; rod < this.rodCount; ++rod) {
      const first = this.pointStart[rod];
      const last = this.pointStart[rod + 1] - 1;
      for (let i = first; i <= last; ++i) {
        facts[i] = (rod << 2) | (i === first ? 1 : 0) | (i === last ? 2 : 0);
      }
    }
    return texture(facts, THREE.RedIntegerFormat, THREE.UnsignedIntType, 'R32UI', height);
  }

  /** Colours: a base hue with a little variety from rod to rod. */
  setColours(dark) {
    const data = this.rodTexture.image.data;
    const colour = new THREE.Color();
    for (let rod = 0; rod < this.rodCount; ++rod) {
      const noise = ((rod * 2654435761) >>> 8) / 0xffffff;
      const few = this.rodCount <= 12;
      const hue = few ? (0.58 + rod / Math.max(this.rodCount, 1)) % 1 : 0.07 + 0.05 * noise;
      colour.setHSL(hue, few ? 0.55 : 0.45, (dark ? 0.52 : 0.3) + 0.16 * (noise - 0.5), THREE.LinearSRGBColorSpace);
      data.set([colour.r, colour.g, colour.b, this.radii[rod]], 4 * rod);
    }
    this.rodTexture.needsUpdate = true;
    this.uniforms.pickedColour.value.set(...(dark ? [1.0, 0.62, 0.29] : [0.83, 0.29, 0.0]));
  }

  /** Level of detail: of each fibre only every stride-th point, and its last. */
  setStride(stride) {
    stride = Math.min(stride, MAX_STRIDE);
    if (!this.indices.has(stride)) {
      this.indices.set(stride, this.makeIndex(stride));
    }
    this.stride = stride;
    this.mesh.geometry.setIndex(this.indices.get(stride));
  }

  makeIndex(stride) {
    const ends = [];
    for (let rod = 0; rod < this.rodCount; ++rod) {
      const last = this.pointStart[rod + 1] - 1;
      for (let i = this.pointStart[rod]; i < last; i += stride) {
        ends.push(i, Math.min(i + stride, last));
      }
    }
    const index = new Uint32Array(3 * ends.length);
    for (let k = 0; k < ends.length; k += 2) {
      const a = 2 * ends[k];
      const b = 2 * ends[k + 1];
      index.set([a, a + 1, b, b, a + 1, b + 1], 3 * k);
    }
    return new THREE.BufferAttribute(index, 1);
  }

  /** Shows the moment between two frames; mixing 0 is the earlier one. */
  show(earlier, later, mixing) {
    const { uniforms } = this;
    this.mesh.visible = this.pointCount > 0;
    // going on by one frame: what was later is earlier now, and need not be uploaded again
    if (earlier === this.shown[1] && earlier !== this.shown[0]) {
      [uniforms.earlier.value, uniforms.later.value] = [uniforms.later.value, uniforms.earlier.value];
      [uniforms.earlierInner.value, uniforms.laterInner.value] = [uniforms.laterInner.value, uniforms.earlierInner.value];
      this.shown.reverse();
    }
    ['earlier', 'later'].forEach((name, k) => {
      const frame = k === 0 ? earlier : later;
      if (this.shown[k] !== frame) {
        uniforms[name].value.image.data.set(frame.points.subarray(0, 4 * this.pointCount));
        uniforms[name].value.needsUpdate = true;
        if (this.forces) {
          uniforms[`${name}Inner`].value.image.data.set(frame.inner.subarray(0, 4 * this.pointCount));
          uniforms[`${name}Inner`].value.needsUpdate = true;
          this.noteMost(frame);
        }
        this.shown[k] = frame;
      }
      uniforms[`${name}Origin`].value.fromArray(frame.origin);
      uniforms[`${name}Scale`].value.fromArray(frame.scale);
    });
    uniforms.mixing.value = mixing;
    this.setInner(this.innerShown);
  }

  // The largest of each: of a recording the same in all frames; live it grows.
  noteMost({ origin, scale }) {
    this.innerMost = this.innerMost.map((most, k) => {
      const ends = [origin[INNER + k], origin[INNER + k] + STRAIN_STEPS * scale[INNER + k]];
      return Math.max(most, ...ends.map(Math.abs));
    });
  }

  /** Colours by one of what fibres bear inside, counted as INNER_FORCES; -1: by none. */
  setInner(which) {
    const { uniforms } = this;
    this.innerShown = which;
    uniforms.innerMax.value = which < 0 || this.shown[0] === null ? 0 : this.innerMost[which] || 1;
    if (uniforms.innerMax.value > 0) {
      const span = ({ origin, scale }) => [origin[INNER + which], scale[INNER + which]];
      uniforms.innerAxis.value.set(0, 0, 0, 0).setComponent(which, 1);
      uniforms.innerSpan.value.set(...span(this.shown[0]));
      uniforms.innerSpanLater.value.set(...span(this.shown[1]));
    }
  }

  /** The place of a point as shown. */
  place(index, out) {
    const [a, b] = this.shown;
    const mixing = this.uniforms.mixing.value;
    const at = (frame, c) => frame.origin[c] + frame.scale[c] * frame.points[4 * index + c];
    const along = (c) => at(a, c) * (1 - mixing) + at(b, c) * mixing;
    return out.set(along(0), along(1), along(2));
  }

  /**
   * The point nearest to a place on the screen (in normalised device coordinates), or -1. Of those
   * within reach, the one nearest to the eye within a pixel or so of the best.
   */
  pick(camera, x, y, width, height, reach) {
    if (this.shown[0] === null) {
      return -1;
    }
    const matrix = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).elements;
    const p = new THREE.Vector3();
    const project = (i) => {
      this.place(i, p);
      const w = matrix[3] * p.x + matrix[7] * p.y + matrix[11] * p.z + matrix[15];
      const u = (matrix[0] * p.x + matrix[4] * p.y + matrix[8] * p.z + matrix[12]) / w;
      const v = (matrix[1] * p.x + matrix[5] * p.y + matrix[9] * p.z + matrix[13]) / w;
      return [0.5 * (u - x) * width, 0.5 * (v - y) * height, w];
    };
    let best = -1;
    let score = Infinity;
    for (let rod = 0; rod < this.rodCount; ++rod) {
      let a = null;
      for (let i = this.pointStart[rod]; i < this.pointStart[rod + 1]; ++i) {
        const b = project(i);
        const t = a === null ? 1 : nearestOn(a, b);
        const dx = a === null ? b[0] : a[0] + t * (b[0] - a[0]);
        const dy = a === null ? b[1] : a[1] + t * (b[1] - a[1]);
        const distance = Math.hypot(dx, dy);
        if (b[2] > 0 && distance <= reach) {
          const own = Math.max(distance - 1.5, 0) + 0.01 * b[2];
          if (own < score) {
            score = own;
            best = t < 0.5 ? i - 1 : i;
          }
        }
        a = b;
      }
    }
    return best;
  }

  rodOf(point) {
    return this.uniforms.facts.value.image.data[point] >> 2;
  }
}

function nearestOn(a, b) {
  const dx = b[0] - a[0];
  const dy = b[1] - a[1];
  const square = dx * dx + dy * dy;
  return square > 0 ? Math.min(1, Math.max(0, -(a[0] * dx + a[1] * dy) / square)) : 1;
}
