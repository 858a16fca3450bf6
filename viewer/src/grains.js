// Grains: a ball each, in the colour of its speed, pressure or fraction, or in one of their own.
import * as THREE from 'three';
import { HEAT } from './fibres.js';
import { GRAINS, GRAIN_AXES } from './frame.js';

const COVER = 1.42; // of the distance from one to the next: packed ones leave no holes

const ROUND = 32768; // half of the span of places: nothing goes so far between two frames

/** What grains can be coloured by, in the order of the spans from GRAINS on: src/app/grains_colour.c. */
export const GRAINS_COLOURS = [
  { name: 'speed', unit: 'm/s' },
  { name: 'pressure', unit: 'Pa' },
  { name: 'fraction', unit: '' },
];

const VERTEX = `
attribute float share;
varying vec3 shade;
uniform float diameter, perMetre;
uniform vec3 plain;
${HEAT}
void main() {
  shade = share < 0.0 ? plain : heat(share);
  vec4 at = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * at;
  gl_PointSize = max(1.5, diameter * perMetre / -at.z);
}`;
const FRAGMENT = `
varying vec3 shade;
void main() {
  vec2 at = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
  float rest = 1.0 - dot(at, at);
  if (rest < 0.0) discard;
  float light = 0.62 + 0.42 * max(0.0, dot(vec3(at, sqrt(rest)), vec3(-0.35, 0.6, 0.72)));
  gl_FragColor = vec4(shade * light, 1.0);
}`;

export class Grains {
  /** @param {{dimension: number, size: number, every: number, ends: number[][]} | null} head */
  constructor(head) {
    this.head = head;
    this.which = -1; // of GRAINS_COLOURS
    this.ends = head?.ends.map((ends) => [...ends]) ?? [];
    this.capacity = 0;
    this.count = 0;
    const grown = head === null ? 1 : head.every ** (1 / head.dimension); // as full with some left out
    this.uniforms = {
      diameter: { value: COVER * grown * (head?.size ?? 1) },
      perMetre: { value: 1 },
      plain: { value: new THREE.Vector3(0.8, 0.68, 0.47) },
    };
    this.mesh = new THREE.Points(
      new THREE.BufferGeometry(),
      new THREE.ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: this.uniforms }),
    );
    this.mesh.frustumCulled = false;
    this.mesh.visible = false; // until there is a frame
  }

  /** @param {number} pixels of a metre at the distance of one */
  setScale(pixels) {
    this.uniforms.perMetre.value = pixels;
  }

  reserve(count) {
    if (count <= this.capacity) {
      return;
    }
    this.capacity = count;
    this.mesh.geometry.dispose();
    this.mesh.geometry = new THREE.BufferGeometry();
    for (const [name, size] of [['position', 3], ['share', 1]]) {
      this.mesh.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(size * count), size));
    }
  }

  // A live run tells no ends: they grow with what is seen.
  grow(frame) {
    this.ends.forEach((ends, which) => {
      const span = GRAINS + which;
      if (ends[1] === ends[0] || this.growing) {
        this.growing = true;
        ends[0] = which === 2 ? Math.min(ends[0] || Infinity, frame.origin[span]) : 0;
        ends[1] = Math.max(ends[1], frame.origin[span] + 4095 * frame.scale[span]);
      }
    });
  }

  /** Between two frames; where some were lost, those of the nearer one. */
  show(earlier, later, mixing, live) {
    if (this.head === null) {
      return;
    }
    if (live) {
      this.grow(earlier);
    }
    const same = earlier.grains.length === later.grains.length;
    const [a, b] = same ? [earlier, later] : mixing > 0.5 ? [later, later] : [earlier, earlier];
    this.count = a.grains.length / GRAIN_AXES;
    this.reserve(this.count);
    this.mesh.visible = this.count > 0;
    if (this.count === 0) {
      return;
    }
    const { position, share } = this.mesh.geometry.attributes;
    for (let axis = 0; axis < 3; ++axis) {
      this.blend(a, b, mixing, axis, axis, position.array, 3, axis);
    }
    const shown = this.which;
    if (shown < 0) {
      share.array.fill(-1);
    } else {
      this.blend(a, b, mixing, 3 + shown, GRAINS + shown, share.array, 1, 0);
      const [least, most] = this.ends[shown];
      const span = most > least ? most - least : 1;
      for (let i = 0; i < this.count; ++i) {
        share.array[i] = Math.min(1, Math.max(0, (share.array[i] - least) / span));
      }
    }
    this.mesh.geometry.setDrawRange(0, this.count);
    position.needsUpdate = share.needsUpdate = true;
    this.last = [earlier, later, mixing, live];
  }

  blend(a, b, mixing, axis, span, out, stride, at) {
    const from = axis * this.count;
    const origin = a.origin[span] + mixing * (b.origin[span] - a.origin[span]);
    const [own, other] = [(1 - mixing) * a.scale[span], mixing * b.scale[span]];
    for (let i = 0; i < this.count; ++i) {
      const [p, q] = [a.grains[from + i], b.grains[from + i]];
      out[stride * i + at] =
        axis < 3 && Math.abs(p - q) > ROUND // it came back on the other side of a grid that goes round
          ? origin + (own + other) * (mixing > 0.5 ? q : p)
          : origin + own * p + other * q;
    }
  }

  /** By one of GRAINS_COLOURS, or -1: their own. */
  setColour(which) {
    this.which = which;
    if (this.last !== undefined) {
      this.show(...this.last);
    }
  }

  /** The place of one as shown, in metres; for the console and tests. */
  place(i) {
    return Array.from(this.mesh.geometry.attributes.position.array.slice(3 * i, 3 * i + 3));
  }

  /** Grows a box by what is shown. */
  extend(box) {
    const at = new THREE.Vector3();
    for (let i = 0; i < this.count; ++i) {
      box.expandByPoint(at.fromBufferAttribute(this.mesh.geometry.attributes.position, i));
    }
  }
}
