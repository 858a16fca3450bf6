// Surfaces whose vertices move: a collider with a cache, cloth. Their places come with every frame;
// normals are made anew, smooth over every edge.
import * as THREE from 'three';
import { material } from './bodies.js';

const COLOUR = [0.56, 0.67, 0.72];

export class Surfaces {
  /**
   * @param {{points: number, triangles: number[]}[]} surfaces
   * @param {number} first the first of their points in a frame
   */
  constructor(surfaces, first) {
    this.group = new THREE.Group();
    this.parts = surfaces.map(({ points, triangles }) => {
      const geometry = new THREE.BufferGeometry();
      const position = new THREE.Float32BufferAttribute(new Float32Array(3 * points), 3);
      position.setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute('position', position);
      geometry.setIndex(triangles);
      const mesh = new THREE.Mesh(geometry, material(1, COLOUR));
      mesh.frustumCulled = false;
      mesh.visible = false; // until there is a frame
      this.group.add(mesh);
      const part = { mesh, first, points };
      first += points;
      return part;
    });
  }

  /** Shows the moment between two frames; mixing 0 is the earlier one. */
  show(earlier, later, mixing) {
    for (const { mesh, first, points } of this.parts) {
      const { position } = mesh.geometry.attributes;
      const places = position.array;
      for (let c = 0; c < 3; ++c) {
        const origin = earlier.origin[c] + mixing * (later.origin[c] - earlier.origin[c]);
        const [a, b] = [(1 - mixing) * earlier.scale[c], mixing * later.scale[c]];
        for (let i = 0, from = 4 * first + c; i < points; ++i, from += 4) {
          places[3 * i + c] = origin + a * earlier.points[from] + b * later.points[from];
        }
      }
      position.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
      mesh.visible = true;
    }
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
