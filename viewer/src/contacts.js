// Contacts: a dot each, and an arrow for the force on the second body, coloured by stick or slide.
import * as THREE from 'three';
import { CONTACT_FLOATS } from './frame.js';

const LINES = 5; // of an arrow: the shaft and four barbs

const VERTEX = `
attribute vec3 colour;
varying vec3 shade;
uniform float size;
void main() {
  shade = colour;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
}`;
const FRAGMENT = `
varying vec3 shade;
uniform float dots;
void main() {
  if (dots > 0.5 && length(gl_PointCoord - 0.5) > 0.5) discard;
  gl_FragColor = vec4(shade, 1.0);
}`;

function material(dots) {
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: { size: { value: 6 }, dots: { value: dots ? 1 : 0 } },
    depthTest: false, // they lie inside what they touch
    transparent: true,
  });
}

export class Contacts {
  /** @param {number} reach of the scene, m @param {number} forceMax N */
  constructor(reach, forceMax) {
    this.reach = reach;
    this.forceMax = forceMax;
    this.scale = 1;
    this.colours = { stick: new THREE.Color(), slide: new THREE.Color() };
    this.dots = new THREE.Points(new THREE.BufferGeometry(), material(true));
    this.arrows = new THREE.LineSegments(new THREE.BufferGeometry(), material(false));
    this.group = new THREE.Group();
    for (const part of [this.arrows, this.dots]) {
      part.frustumCulled = false;
      part.renderOrder = 1;
      this.group.add(part);
    }
    this.capacity = 0;
    this.largest = 0;
    this.counts = { stick: 0, slide: 0 };
  }

  setColours(stick, slide, pixelRatio) {
    this.colours.stick.set(stick).convertLinearToSRGB();
    this.colours.slide.set(slide).convertLinearToSRGB();
    this.dots.material.uniforms.size.value = 6 * pixelRatio;
  }

  reserve(count) {
    if (count <= this.capacity) {
      return;
    }
    this.capacity = 2 ** Math.ceil(Math.log2(count));
    for (const [part, vertices] of [[this.dots, 1], [this.arrows, 2 * LINES]]) {
      part.geometry.dispose();
      part.geometry = new THREE.BufferGeometry();
      for (const name of ['position', 'colour']) {
        part.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * vertices * this.capacity), 3));
      }
    }
  }

  /** @param {Float32Array} contacts of the frame */
  show(contacts) {
    const count = contacts.length / CONTACT_FLOATS;
    this.reserve(count);
    this.counts = { stick: 0, slide: 0 };
    this.largest = 0; // force, N
    const at = new THREE.Vector3();
    const force = new THREE.Vector3();
    const perMetre = this.forceMax > 0 ? (0.25 * this.reach * this.scale) / this.forceMax : 0;
    for (let i = 0; i < count; ++i) {
      at.fromArray(contacts, CONTACT_FLOATS * i);
      force.fromArray(contacts, CONTACT_FLOATS * i + 3);
      this.largest = Math.max(this.largest, force.length());
      force.multiplyScalar(perMetre);
      const kind = contacts[CONTACT_FLOATS * i + 6] > 0.5 ? 'slide' : 'stick';
      ++this.counts[kind];
      this.put(i, at, force, this.colours[kind]);
    }
    for (const [part, vertices] of [[this.dots, 1], [this.arrows, 2 * LINES]]) {
      part.visible = count > 0;
      part.geometry.setDrawRange(0, vertices * count);
      for (const name of count > 0 ? ['position', 'colour'] : []) {
        part.geometry.getAttribute(name).needsUpdate = true;
      }
    }
  }

  put(i, at, force, colour) {
    const dot = this.dots.geometry.attributes;
    const line = this.arrows.geometry.attributes;
    at.toArray(dot.position.array, 3 * i);
    colour.toArray(dot.colour.array, 3 * i);
    const tip = at.clone().add(force);
    const side = new THREE.Vector3(0, 0, 1).cross(force);
    if (side.lengthSq() < 1e-6 * force.lengthSq()) {
      side.set(1, 0, 0).cross(force);
    }
    side.setLength(0.12 * force.length());
    const other = side.clone().cross(force).setLength(0.12 * force.length());
    const ends = [at];
    for (const barb of [side, side.clone().negate(), other, other.clone().negate()]) {
      ends.push(tip.clone().addScaledVector(force, -0.25).add(barb));
    }
    ends.forEach((end, k) => {
      const vertex = 2 * (LINES * i + k);
      tip.toArray(line.position.array, 3 * vertex);
      end.toArray(line.position.array, 3 * vertex + 3);
      colour.toArray(line.colour.array, 3 * vertex);
      colour.toArray(line.colour.array, 3 * vertex + 3);
    });
  }
}
