// A frame as bytes, as src/app/frame_block.c writes it (little endian):
//
//   f64      time
//   f32[12]  origin, f32[12] scale of x, y, z, curvature of fibres, strain of surfaces, of what
//            fibres bear inside: tension, shear, moment of bending and of twist, and of grains:
//            speed, pressure, fraction. A value is origin + scale * q, q in 0..65535
//   u32      how they were predicted: for axis c, bits 3c and 3c + 1 the order of the differences
//            along the fibre, bit 3c + 2 whether of the change since the frame before
//   u32      number of contacts
//   u32      number of joints
//   u32      number of grains
//   f32[12]  a pose of each collider, then of each rigid body: position, columns of the rotation
//   f32[7]   of each contact: point, force on the second body, 1 where it slides
//   f32[8]   of each joint: point, force on the second body, size of the torque, 1 where it broke, 2 where its time is not now
//   u8[an]   low bytes of the residuals, x of all points, then y, z and the fourth, and the four of
//            what fibres bear where head.forces (a is 8 then, else 4); u8[an] high bytes
//   u8[2g]   of the x of all grains, by their number: low bytes, then high ones, of the residuals of
//            the differences from the grain before; then of y, z, speed, pressure and fraction
//
// Points are those of the fibres, then the vertices of each surface, which counts as a line too. The
// fourth number of a point is curvature on a fibre, strain on a surface.
// All differences are modulo 65536; a residual r is kept as r << 1 ^ r >> 15 (zigzag).

const SPANS = 12;
export const HEAD_BYTES = 24 + 8 * SPANS;
export const CONTACT_FLOATS = 7;
export const JOINT_FLOATS = 8;
const AXES = 4; // numbers of a texel
export const STRAIN = 4; // its place among the spans
export const INNER = 5; // that of the tension; three more follow
export const GRAINS = 9; // that of the speed of grains; two more follow
export const GRAIN_AXES = 6; // numbers of a grain
export const STRAIN_STEPS = 4095; // of the largest, and of what fibres bear

/** Where the points of each line begin: of the fibres, then of the surfaces; and how many poses. */
export function layoutOf(head) {
  const pointStart = [...head.point_start];
  for (const surface of head.surfaces) {
    pointStart.push(pointStart.at(-1) + surface.points);
  }
  const poseCount = head.collider_count + head.body_count;
  return { pointStart: Int32Array.from(pointStart), poseCount, axes: head.forces ? 2 * AXES : AXES };
}

/** What the grains of a frame take at most: 30,000 of them are shown, as src/app/frame_grains.h says. */
export const grainBytes = (head) => (head.grains === null ? 0 : 2 * GRAIN_AXES * 30000);

/**
 * @param {Uint8Array} bytes
 * @param {{pointStart: Int32Array, poseCount: number, axes: number}} layout
 * @param {object | undefined} before the frame before, where the frame refers to it
 */
export function decodeFrame(bytes, layout, before) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const float = (at) => view.getFloat32(at, true);
  const floats = (at, count) => Float32Array.from({ length: count }, (_, i) => float(at + 4 * i));
  const { pointStart, poseCount, axes } = layout;
  const count = pointStart[pointStart.length - 1];
  const how = view.getUint32(8 + 8 * SPANS, true);
  const contactCount = view.getUint32(12 + 8 * SPANS, true);
  const jointCount = view.getUint32(16 + 8 * SPANS, true);
  const grainCount = view.getUint32(20 + 8 * SPANS, true);
  const contactAt = HEAD_BYTES + 48 * poseCount;
  const jointAt = contactAt + 4 * CONTACT_FLOATS * contactCount;
  const residualAt = jointAt + 4 * JOINT_FLOATS * jointCount;
  const grainsAt = residualAt + 2 * axes * count;
  const expected = grainsAt + 2 * GRAIN_AXES * grainCount;
  if (bytes.length !== expected) {
    throw new Error(`a frame of ${bytes.length} bytes where ${expected} were expected`);
  }
  const read = (first, texels, earlier) => {
    for (let axis = 0; axis < AXES; ++axis) {
      const own = how >> (3 * (first + axis));
      readAxis(bytes, residualAt + (first + axis) * count, axes * count, axis, texels);
      for (let order = own & 3; order > 0; --order) {
        undoDifferences(texels, axis, pointStart);
      }
      for (let i = axis; own & 4 && i < AXES * count; i += AXES) {
        texels[i] += earlier[i];
      }
    }
    return texels;
  };
  const points = read(0, new Uint16Array(AXES * count), before?.points);
  const inner = axes > AXES ? read(AXES, new Uint16Array(AXES * count), before?.inner) : undefined;
  return {
    time: view.getFloat64(0, true),
    origin: [...floats(8, SPANS)],
    scale: [...floats(8 + 4 * SPANS, SPANS)],
    points,
    inner,
    poses: floats(HEAD_BYTES, 12 * poseCount),
    contacts: floats(contactAt, CONTACT_FLOATS * contactCount),
    joints: floats(jointAt, JOINT_FLOATS * jointCount),
    grains: readGrains(bytes, grainsAt, grainCount),
  };
}

function readAxis(bytes, at, apart, axis, points) {
  let low = at;
  let high = low + apart;
  for (let i = axis; i < points.length; i += 4) {
    const z = bytes[low++] | (bytes[high++] << 8);
    points[i] = (z >> 1) ^ -(z & 1);
  }
}

// All x, then all y and so on.
function readGrains(bytes, at, count) {
  const grains = new Uint16Array(GRAIN_AXES * count);
  for (let axis = 0; axis < GRAIN_AXES; ++axis) {
    let low = at + 2 * axis * count;
    let sum = 0;
    for (let i = axis * count; i < (axis + 1) * count; ++i, ++low) {
      const z = bytes[low] | (bytes[low + count] << 8);
      sum += (z >> 1) ^ -(z & 1);
      grains[i] = sum;
    }
  }
  return grains;
}

function undoDifferences(points, axis, pointStart) {
  for (let line = 0; line + 1 < pointStart.length; ++line) {
    let sum = 0;
    for (let i = 4 * pointStart[line] + axis; i < 4 * pointStart[line + 1]; i += 4) {
      sum += points[i];
      points[i] = sum;
    }
  }
}

/** The place of a point of a frame, in metres. */
export function pointAt(frame, index) {
  const { origin, scale, points } = frame;
  return [0, 1, 2].map((c) => origin[c] + scale[c] * points[4 * index + c]);
}

/** Curvature (1/m) along one fibre, against arc length (m). */
export function curvatureOf(frame, first, end) {
  const s = [];
  const kappa = [];
  let length = 0;
  for (let i = first; i < end; ++i) {
    if (i > first) {
      const [a, b] = [pointAt(frame, i - 1), pointAt(frame, i)];
      length += Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    }
    s.push(length);
    kappa.push(frame.origin[3] + frame.scale[3] * frame.points[4 * i + 3]);
  }
  return { s, kappa, length };
}

/** What fibres can be coloured by, in the order of the spans from INNER on: src/app/inner_force.c. */
export const INNER_FORCES = [
  { name: 'tension', unit: 'N' },
  { name: 'shear', unit: 'N' },
  { name: 'moment', unit: 'N m' },
  { name: 'twist', unit: 'N m' },
];

/** The least and the most of one of them along some points of a frame. */
export function innerRange(frame, which, first, end) {
  const [origin, scale] = [frame.origin[INNER + which], frame.scale[INNER + which]];
  let [least, most] = [Infinity, -Infinity];
  for (let i = first; i < end; ++i) {
    const kept = origin + scale * frame.inner[4 * i + which];
    const value = Math.abs(kept) < 0.5 * scale ? 0 : kept;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return [least, most];
}
