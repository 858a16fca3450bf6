// Reads a .usda with two parsers and compares it with the CSV of the same frames: TinyUSDZ must
// accept its syntax and types, three's parser gives the numbers.
// Usage: node check_usd.mjs FILE.usda FILE.csv BODIES [FILE-contacts.csv | - [FILE-surface-0.pc2 | FILE-cloth-0.pc2 FILE-cloths.csv]]
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { USDAParser } from 'three/examples/jsm/loaders/usd/USDAParser.js';

const [usda, csv, bodyCount, contactTable, cache, cloths] = process.argv.slice(2);
const contacts = contactTable === '-' ? undefined : contactTable;
const surfaceCount = cache === undefined ? 0 : 1;
const bytes = fs.readFileSync(usda);

// TinyUSDZ is built for browsers: tell it that this is one, and hand it its code
process.type = 'renderer';
globalThis.window = globalThis;
const { default: start } = await import('tinyusdz/tinyusdz.js');
const code = fs.readFileSync(new URL('node_modules/tinyusdz/tinyusdz.wasm', import.meta.url));
const tiny = await start({
    instantiateWasm(imports, done) {
        WebAssembly.instantiate(code, imports).then((r) => done(r.instance, r.module));
        return {};
    },
});
const layer = new tiny.TinyUSDZLoaderNative();
assert(layer.loadAsLayerFromBinary(bytes, 'a.usda'), layer.error());
const stage = new tiny.TinyUSDZLoaderNative();
assert(stage.loadFromBinary(bytes, 'a.usda'), stage.error());
assert.equal(stage.numMeshes(), Number(bodyCount) + surfaceCount);
for (let i = 0; i < stage.numMeshes(); ++i) {
    const mesh = stage.getMesh(i);
    const top = Math.max(...mesh.faceVertexIndices);
    assert(mesh.faceVertexIndices.length > 0 && 3 * (top + 1) <= mesh.points.length);
}

const specs = new USDAParser().parseData(bytes.toString()).specsByPath;
const field = (path, name) => specs[path].fields[name];
const rate = field('/', 'timeCodesPerSecond');
assert.equal(field('/', 'upAxis'), 'Z');
assert.equal(field('/', 'metersPerUnit'), 1);

// the rows of the CSV: frame, time, rod, point, x, y, z, radius, curvature
const frames = new Map();
for (const line of fs.readFileSync(csv, 'utf8').trim().split('\n').slice(1)) {
    const row = line.split(',').map(Number);
    frames.set(row[1], [...(frames.get(row[1]) ?? []), row]);
}
const { times, values } = field('/Tendril/Rods.points', 'timeSamples');
assert.equal(times.length, frames.size);
[...frames].forEach(([time, rows], k) => {
    assert(Math.abs(times[k] - time * rate) < 1e-6);
    assert.deepEqual(Array.from(values[k]), rows.flatMap((row) => row.slice(4, 7)));
});
const rows = [...frames.values()][0];
const counts = [], radii = [];
for (const row of rows) {
    counts[row[2]] = (counts[row[2]] ?? 0) + 1;
    radii[row[2]] = row[7];
}
assert.deepEqual(Array.from(field('/Tendril/Rods.curveVertexCounts', 'default')), counts);
Array.from(field('/Tendril/Rods.widths', 'default')).forEach((width, rod) => {
    assert(Math.abs(width - 2 * radii[rod]) <= 1e-6 * width);
});
for (let i = 0; i < Number(bodyCount); ++i) {
    const moves = field(`/Tendril/Body${i}.xformOp:transform`, 'timeSamples');
    assert.equal(moves.times.length, frames.size);
    for (const m of moves.values) { // rows: the axes, then the place; each ends in 0, 0, 0, 1
        assert.deepEqual([m[3], m[7], m[11], m[15]], [0, 0, 0, 1]);
        assert(Math.abs(Math.hypot(...m.slice(0, 3)) - 1) < 1e-12);
        assert(m.slice(0, 16).every(Number.isFinite));
    }
}
if (cache !== undefined) {
    // every number of the cache, and triangles that it has the vertices of
    const data = fs.readFileSync(cache);
    const count = data.readUInt32LE(16);
    const prim = cloths === undefined ? '/Tendril/Surface0' : '/Tendril/Cloth0';
    const { times: moments, values: places } = field(`${prim}.points`, 'timeSamples');
    assert.equal(moments.length, frames.size);
    places.forEach((points, k) => {
        const wanted = Array.from({ length: 3 * count }, (_, i) => data.readFloatLE(32 + 12 * count * k + 4 * i));
        assert.deepEqual(Array.from(points, Math.fround), wanted);
    });
    assert.equal(String(field(`${prim}.doubleSided`, 'default')), '1'); // as it stands there
    const corners = Array.from(field(`${prim}.faceVertexIndices`, 'default'));
    const sizes = Array.from(field(`${prim}.faceVertexCounts`, 'default'));
    assert(sizes.every((size) => size === (cloths === undefined ? 3 : 4)));
    assert.equal(corners.length, sizes.reduce((a, b) => a + b));
    assert(corners.every((k) => k >= 0 && k < count));
    const { values: normals } = field(`${prim}.normals`, 'timeSamples');
    assert.equal(normals.length, frames.size);
    assert(normals.every((n) => n.length === 3 * count));
    assert.equal(field(`${prim}.extent`, 'timeSamples').values[0].length, 6);
    if (cloths === undefined) {
        console.log(`USD: a surface of ${corners.length / 3} triangles`);
    } else {
        // frame, time, cloth, vertex, x, y, z, strain
        const strains = fs.readFileSync(cloths, 'utf8').trim().split('\n').slice(1).map((line) => Number(line.split(',')[7]));
        const seen = field(`${prim}.primvars:strain`, 'timeSamples').values.flatMap((values) => Array.from(values));
        assert.deepEqual(seen.map(Math.fround), strains.map(Math.fround));
        console.log(`USD: a cloth of ${sizes.length} quads`);
    }
}
if (contacts === undefined && contactTable !== '-') {
    assert.equal(specs['/Tendril/Contacts'], undefined);
} else if (contacts !== undefined) {
    const [names, ...lines] = fs.readFileSync(contacts, 'utf8').trim().split('\n').map((line) => line.split(','));
    const places = field('/Tendril/Contacts.points', 'timeSamples');
    const forces = field('/Tendril/Contacts.primvars:force', 'timeSamples');
    const sliding = field('/Tendril/Contacts.primvars:sliding', 'timeSamples');
    const wanted = (time, ...keys) =>
        lines.filter((line) => Number(line[1]) === time).flatMap((line) => keys.map((key) => Number(line[names.indexOf(key)])));
    let count = 0;
    [...frames.keys()].forEach((time, k) => {
        assert.deepEqual(Array.from(places.values[k]), wanted(time, 'x', 'y', 'z'));
        assert.deepEqual(Array.from(forces.values[k]), wanted(time, 'force_x', 'force_y', 'force_z'));
        assert.deepEqual(Array.from(sliding.values[k]), wanted(time, 'sliding'));
        count += sliding.values[k].length;
    });
    assert.equal(count, lines.length);
}
console.log(`USD: ${frames.size} frames, ${counts.length} rods, ${bodyCount} bodies`);
