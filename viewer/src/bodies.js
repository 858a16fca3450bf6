// Colliders and rigid bodies: each a list of simple shapes that moves with the body's pose.
import * as THREE from 'three';
import { mergeGeometries, toCreasedNormals } from 'three/addons/utils/BufferGeometryUtils.js';

// Shapes have their axis along x, as Tendril's do; three's have it along y.
const ALONG_X = new THREE.Matrix4().makeRotationZ(-Math.PI / 2);

// One small program for all: it is compiled before the first picture.
const VERTEX = `
varying vec3 side;
void main() {
  side = normalMatrix * normal;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
const FRAGMENT = `
varying vec3 side;
uniform vec3 colour;
uniform float opacity, shaded;
void main() {
  vec3 normal = normalize(gl_FrontFacing ? side : -side);
  float light = 0.45 + 0.55 * max(dot(normal, normalize(vec3(0.35, 0.6, 0.72))), 0.0);
  gl_FragColor = vec4(colour * mix(0.8, light, shaded), opacity);
}`;

/** Shaded, seen from both sides. */
export function material(opacity, colour = [0.64, 0.68, 0.73]) {
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: {
      colour: { value: new THREE.Vector3(...colour) },
      opacity: { value: opacity },
      shaded: { value: opacity === 1 ? 1 : 0 },
    },
    side: THREE.DoubleSide,
    transparent: opacity < 1,
    depthWrite: opacity === 1,
  });
}

function geometryOf(shape, reach, flat) {
  const [a, b, c] = shape.size;
  switch (shape.shape) {
    case 'sphere':
      return new THREE.SphereGeometry(a, 40, 24);
    case 'cylinder':
      if (b > 0) {
        return c > 0 ? pipeGeometry(a, b, c)
          : new THREE.CylinderGeometry(a, a, b, 48).applyMatrix4(ALONG_X);
      }
      return new THREE.CylinderGeometry(a, a, (flat ? 0.2 : 20) * reach, 48, 1, !flat).applyMatrix4(ALONG_X);
    case 'capsule':
      return new THREE.CapsuleGeometry(a, b, 12, 32).applyMatrix4(ALONG_X);
    case 'disc': // across z, with a round rim
      return discGeometry(a, b);
    case 'box': // half sizes
      return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
    case 'mesh':
      return meshGeometry(shape.vertices, shape.triangles);
    default:
      return null;
  }
}

// Smooth over edges that turn by less than 30 degrees.
function meshGeometry(vertices, triangles) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(vertices, 3));
  geometry.setIndex(triangles);
  return toCreasedNormals(geometry, Math.PI / 6);
}

function pipeGeometry(radius, length, inner) {
  const half = length / 2;
  const section = [[inner, -half], [radius, -half], [radius, half], [inner, half], [inner, -half]];
  const lathe = new THREE.LatheGeometry(section.map(([r, x]) => new THREE.Vector2(r, x)), 48);
  return toCreasedNormals(lathe, Math.PI / 6).applyMatrix4(ALONG_X);
}

function discGeometry(radius, rim) {
  const ring = new THREE.TorusGeometry(radius, rim, 16, 96);
  const sheet = new THREE.CircleGeometry(radius, 96);
  return mergeGeometries([ring, sheet]);
}

function makePlane(reach) {
  const group = new THREE.Group();
  const size = 8 * reach;
  const step = 10 ** Math.round(Math.log10(reach / 2));
  const sheet = new THREE.Mesh(
    new THREE.PlaneGeometry(size, size),
    material(0.15),
  );
  const divisions = 2 * Math.min(60, Math.max(1, Math.round(size / step / 2)));
  const grid = new THREE.GridHelper(divisions * step, divisions).rotateX(Math.PI / 2);
  grid.material = material(0.5);
  group.add(sheet, grid);
  group.userData.step = step;
  return group;
}

function poseMatrix(numbers, at, out) {
  const n = (k) => numbers[at + k];
  return out.set(
    n(3), n(6), n(9), n(0),
    n(4), n(7), n(10), n(1),
    n(5), n(8), n(11), n(2),
    0, 0, 0, 1,
  );
}

export class Bodies {
  /** @param {{body: number, shape: string, size: number[], pose: number[], vertices?: number[],
   *   triangles?: number[]}[]} shapes
   * @param {boolean} flat they are seen end on: what has no end is short */
  constructor(shapes, reach, centre, flat) {
    this.group = new THREE.Group();
    this.reach = reach;
    this.centre = centre;
    this.flat = flat;
    this.parts = shapes.flatMap((shape) => {
      const part = shape.shape === 'plane' ? makePlane(reach) : this.makeSolid(shape, reach);
      if (part === null) {
        return [];
      }
      part.matrixAutoUpdate = false;
      this.group.add(part);
      return [{ part, body: shape.body, plane: shape.shape === 'plane', local: poseMatrix(shape.pose, 0, new THREE.Matrix4()) }];
    });
  }

  makeSolid(shape, reach) {
    const geometry = geometryOf(shape, reach, this.flat);
    return geometry && new THREE.Mesh(geometry, material(1));
  }

  /** @param {Float32Array} poses of the frame */
  show(poses) {
    const pose = new THREE.Matrix4();
    for (const { part, body, plane, local } of this.parts) {
      poseMatrix(poses, 12 * body, pose);
      part.matrix.multiplyMatrices(pose, local);
      if (plane) {
        this.slidePlane(part);
      }
      part.matrixWorldNeedsUpdate = true;
    }
  }

  // A plane has no end: its piece that is drawn lies where things are, its lines where they were.
  slidePlane(part) {
    const step = part.userData.step;
    const local = this.centre.clone().applyMatrix4(part.matrix.clone().invert());
    const whole = (x) => step * Math.round(x / step);
    part.matrix.multiply(new THREE.Matrix4().makeTranslation(whole(local.x), whole(local.y), 0));
  }

  /** Grows a box by what has an end. */
  extend(box) {
    for (const { part, plane } of this.parts) {
      if (plane || part.geometry.parameters?.openEnded) {
        continue;
      }
      part.geometry.computeBoundingBox();
      box.union(part.geometry.boundingBox.clone().applyMatrix4(part.matrix));
    }
  }
}
