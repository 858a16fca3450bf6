// Surfaces whose vertices move: a collider with a cache, cloth. Their places come with every frame;
// normals are made anew, smooth over every edge. Cloth is coloured by its own colour or by its strain.
import * as THREE from 'three';
import { material } from './bodies.js';
import { HEAT } from './fibres.js';
import { STRAIN, STRAIN_STEPS } from './frame.js';

const COLOUR = [0.56, 0.67, 0.72];
const CLOTH_COLOURS = [
  [0.77, 0.47, 0.36],
  [0.36, 0.55, 0.72],
  [0.48, 0.62, 0.36],
  [0.80, 0.66, 0.32],
];

// Shaded from both sides; the side turned away from its normals is a little darker.
const VERTEX = `
attribute float strain;
varying vec3 side, own;
uniform vec3 colour;
uniform float strainMax;
${HEAT}
void main() {
  side = normalMatrix * normal;
  own = strainMax > 0.0 ? heat(strain / strainMax) : colour;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
const FRAGMENT = `
varying vec3 side, own;
void main() {
  vec3 normal = normalize(gl_FrontFacing ? side : -side);
  float light = 0.45 + 0.55 * max(dot(normal, normalize(vec3(0.35, 0.6, 0.72))), 0.0);
  gl_FragColor = vec4(own * light * (gl_FrontFacing ? 1.0 : 0.82), 1.0);
}`;

function clothMaterial(index) {
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: {
      colour: { value: new THREE.Vector3(...CLOTH_COLOURS[index % CLOTH_COLOURS.length]) },
      strainMax: { value: 0 },
    },
    side: THREE.DoubleSide,
  });
}

function attribute(geometry, name, count, size) {
  const made = new THREE.Float32BufferAttribute(new Float32Array(size * count), size);
  made.setUsage(THREE.DynamicDrawUsage);
  geometry.setAttribute(name, made);
}

export class Surfaces {
  /**
   * @param {{points: number, triangles: number[], cloth: boolean}[]} surfaces
   * @param {number} first the first of their points in a frame
   */
  constructor(surfaces, first) {
    this.group = new THREE.Group();
    this.clothCount = 0;
    this.byStrain = false;
    this.strainMax = 0;
    this.parts = surfaces.map(({ points, triangles, cloth }) => {
      const geometry = new THREE.BufferGeometry();
      attribute(geometry, 'position', points, 3);
      if (cloth) {
        attribute(geometry, 'strain', points, 1);
      }
      geometry.setIndex(triangles);
      const mesh = new THREE.Mesh(geometry, cloth ? clothMaterial(this.clothCount++) : material(1, COLOUR));
      mesh.frustumCulled = false;
      mesh.visible = false; // until there is a frame
      this.group.add(mesh);
      const part = { mesh, first, points, cloth };
      first += points;
      return part;
    });
  }

  /** Shows the moment between two frames; mixing 0 is the earlier one. */
  show(earlier, later, mixing) {
    // of a recording the same in all frames; live it grows
    for (const { origin, scale } of [earlier, later]) {
      this.strainMax = Math.max(this.strainMax, origin[STRAIN] + STRAIN_STEPS * scale[STRAIN]);
    }
    for (const { mesh, first, points, cloth } of this.parts) {
      const { position, strain } = mesh.geometry.attributes;
      for (let c = 0; c < 3; ++c) {
        blend(earlier, later, mixing, first, points, [c, c], position.array, 3, c);
      }
      position.needsUpdate = true;
      if (cloth) {
        blend(earlier, later, mixing, first, points, [3, STRAIN], strain.array, 1, 0);
        strain.needsUpdate = true;
        mesh.material.uniforms.strainMax.value = this.byStrain ? this.strainMax || 1 : 0;
      }
      mesh.geometry.computeVertexNormals();
      mesh.visible = true;
    }
  }

  /** Colours cloth by its strain, or by its own colour. */
  colourByStrain(wanted) {
    this.byStrain = wanted;
    for (const { mesh, cloth } of this.parts) {
      if (cloth) {
        mesh.material.uniforms.strainMax.value = wanted ? this.strainMax || 1 : 0;
      }
    }
  }

  /** The point of a cloth that is nearest to where a ray meets it first, or -1. */
  pick(ray) {
    const cloths = this.parts.filter(({ mesh, cloth }) => cloth && mesh.visible);
    cloths.forEach(({ mesh }) => mesh.geometry.computeBoundingSphere());
    const hit = ray.intersectObjects(cloths.map(({ mesh }) => mesh))[0];
    if (hit === undefined) {
      return -1;
    }
    const { mesh, first } = cloths.find((part) => part.mesh === hit.object);
    const { position } = mesh.geometry.attributes;
    const away = (i) => new THREE.Vector3().fromBufferAttribute(position, i).distanceToSquared(hit.point);
    const [a, b, c] = [hit.face.a, hit.face.b, hit.face.c];
    return first + [a, b, c].reduce((best, i) => (away(i) < away(best) ? i : best));
  }

  /** Whether a point of a frame is a vertex of these. */
  has(point) {
    return this.parts.length > 0 && point >= this.parts[0].first;
  }

  placeOf(point, out) {
    const { mesh, first } = this.parts.find((part) => point < part.first + part.points);
    return out.fromBufferAttribute(mesh.geometry.attributes.position, point - first);
  }

  /** The place of a vertex as shown, in metres; for the console and tests. */
  place(surface, vertex) {
    return Array.from(this.parts[surface].mesh.geometry.attributes.position.array.slice(3 * vertex, 3 * vertex + 3));
  }

  /** Grows a box by what is shown. */
  extend(box) {
    for (const { mesh } of this.parts) {
      mesh.geometry.computeBoundingBox();
      box.union(mesh.geometry.boundingBox);
    }
  }
}

// One number of each point between two frames: the axis that it is on and the span that it has.
function blend(earlier, later, mixing, first, points, [axis, span], out, stride, at) {
  const origin = earlier.origin[span] + mixing * (later.origin[span] - earlier.origin[span]);
  const [a, b] = [(1 - mixing) * earlier.scale[span], mixing * later.scale[span]];
  for (let i = 0, from = 4 * first + axis; i < points; ++i, from += 4) {
    out[stride * i + at] = origin + a * earlier.points[from] + b * later.points[from];
  }
}
