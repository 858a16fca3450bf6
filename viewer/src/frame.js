// A frame as bytes, as src/app/frame_block.c writes it (little endian):
//
//   f64      time
//   f32[5]   origin, f32[5] scale of x, y, z, curvature of fibres and strain of surfaces: a value is
//            origin + scale * q, q in 0..65535
//   u32      how they were predicted: for axis c, bits 3c and 3c + 1 the order of the differences
//            along the fibre, bit 3c + 2 whether of the change since the frame before
//   u32      number of contacts
//   f32[12]  a pose of each collider, then of each rigid body: position, columns of the rotation
//   f32[7]   of each contact: point, force on the second body, 1 where it slides
//   u8[4n]   low bytes of the residuals, x of all points, then y, z and the fourth; u8[4n] high bytes
//
// Points are those of the fibres, then the vertices of each surface, which counts as a line too. The
// fourth number of a point is curvature on a fibre, strain on a surface.
// All differences are modulo 65536; a residual r is kept as r << 1 ^ r >> 15 (zigzag).

export const HEAD_BYTES = 56;
export const CONTACT_FLOATS = 7;
const AXES = 4;
const SPANS = 5;
export const STRAIN = 4; // its place among the spans
export const STRAIN_STEPS = 4095; // of the largest

/** Where the points of each line begin: of the fibres, then of the surfaces; and how many poses. */
export function layoutOf(head) {
  const pointStart = [...head.point_start];
  for (const surface of head.surfaces) {
    pointStart.push(pointStart.at(-1) + surface.points);
  }
  return { pointStart: Int32Array.from(pointStart), poseCount: head.collider_count + head.body_count };
}

/**
 * @param {Uint8Array} bytes
 * @param {{pointStart: Int32Array, poseCount: number}} layout
 * @param {Uint16Array | undefined} before points of the frame before, where the frame refers to it
 */
export function decodeFrame(bytes, layout, before) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const float = (at) => view.getFloat32(at, true);
  const floats = (at, count) => Float32Array.from({ length: count }, (_, i) => float(at + 4 * i));
  const { pointStart, poseCount } = layout;
  const count = pointStart[pointStart.length - 1];
  const contactCount = view.getUint32(52, true);
  const contactAt = HEAD_BYTES + 48 * poseCount;
  const residualAt = contactAt + 4 * CONTACT_FLOATS * contactCount;
  const expected = residualAt + 2 * AXES * count;
  if (bytes.length !== expected) {
    throw new Error(`a frame of ${bytes.length} bytes where ${expected} were expected`);
  }
  const points = new Uint16Array(AXES * count);
  for (let axis = 0; axis < AXES; ++axis) {
    const how = view.getUint32(48, true) >> (3 * axis);
    readAxis(bytes, residualAt, axis, count, points);
    for (let order = how & 3; order > 0; --order) {
      undoDifferences(points, axis, pointStart);
    }
    if (how & 4) {
      for (let i = axis; i < 4 * count; i += 4) {
        points[i] += before[i];
      }
    }
  }
  return {
    time: view.getFloat64(0, true),
    origin: [...floats(8, SPANS)],
    scale: [...floats(28, SPANS)],
    points,
    poses: floats(HEAD_BYTES, 12 * poseCount),
    contacts: floats(contactAt, CONTACT_FLOATS * contactCount),
  };
}

function readAxis(bytes, at, axis, count, points) {
  let low = at + axis * count;
  let high = low + AXES * count;
  for (let i = axis; i < 4 * count; i += 4) {
    const z = bytes[low++] | (bytes[high++] << 8);
    points[i] = (z >> 1) ^ -(z & 1);
  }
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
