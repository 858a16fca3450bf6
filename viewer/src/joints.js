// Joints: a small ring each, a cross where it broke, on top of what it holds; and their list with
// what each bears.
import * as THREE from 'three';
import { JOINT_FLOATS } from './frame.js';
import { brief } from './plots.js';

const MOST_LISTED = 50;

const VERTEX = `
attribute float broken;
varying float gone;
uniform float size;
void main() {
  gone = broken;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
}`;
const FRAGMENT = `
varying float gone;
uniform vec3 colour, edge;
void main() {
  if (gone > 1.5) discard; // its time is not now
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float r = length(at);
  float ring = abs(r - 0.6);
  float cross = min(abs(at.x - at.y), abs(at.x + at.y)) + max(r - 0.9, 0.0) * 4.0;
  float d = gone > 0.5 ? cross : ring;
  if (d > 0.38) discard;
  gl_FragColor = vec4(d < 0.2 ? colour : edge, 1.0);
}`;

export class Joints {
  /** @param {{name: string, kind: string}[]} joints */
  constructor(joints) {
    this.joints = joints;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * joints.length), 3));
    geometry.setAttribute('broken', new THREE.BufferAttribute(new Float32Array(joints.length), 1));
    this.mesh = new THREE.Points(
      geometry,
      new THREE.ShaderMaterial({
        vertexShader: VERTEX,
        fragmentShader: FRAGMENT,
        uniforms: {
          size: { value: 16 },
          colour: { value: new THREE.Vector3(0.98, 0.76, 0.12) },
          edge: { value: new THREE.Vector3(0.1, 0.1, 0.12) },
        },
        depthTest: false, // they lie inside what they hold
        transparent: true,
      }),
    );
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 2;
    this.mesh.visible = false; // until there is a frame
  }

  setPixelRatio(ratio) {
    this.mesh.material.uniforms.size.value = 16 * ratio;
  }

  /** @param {Float32Array} joints of the frame @param {HTMLElement} list where they are told */
  show(joints, list) {
    const { position, broken } = this.mesh.geometry.attributes;
    this.joints.forEach((_, i) => {
      position.array.set(joints.subarray(JOINT_FLOATS * i, JOINT_FLOATS * i + 3), 3 * i);
      broken.array[i] = joints[JOINT_FLOATS * i + 7];
    });
    position.needsUpdate = broken.needsUpdate = true;
    this.mesh.visible = this.joints.length > 0;
    const lines = this.joints.slice(0, MOST_LISTED).map(({ name, kind }, i) => {
      const [x, y, z, torque, gone] = joints.subarray(JOINT_FLOATS * i + 3, JOINT_FLOATS * (i + 1));
      const bears = gone > 1.5 ? 'not now' : gone > 0.5 ? 'broken' : `${brief(Math.hypot(x, y, z))} N, ${brief(torque)} N m`;
      return [`${name} (${kind})`, bears];
    });
    this.list(lines, list);
  }

  list(lines, list) {
    if (list.children.length !== 2 * lines.length) {
      list.replaceChildren(
        ...lines.flatMap(() => [document.createElement('dt'), document.createElement('dd')]),
      );
    }
    lines.flat().forEach((text, k) => {
      list.children[k].textContent = text;
    });
  }
}
