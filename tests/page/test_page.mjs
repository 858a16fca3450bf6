// The page in a real browser: a result whose numbers are known goes in, and what a user sees and
// does is checked. With --large: size and first picture of 2000 fibres x 100 points x 50 frames.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { GRAINS, INNER, decodeFrame, layoutOf } from '../../viewer/src/frame.js';
import { check, cover, data, equal, finish, launch, look, near, openPage, shown, test, until, work } from './driver.mjs';

const { TENDRIL_COMMAND: tendril, TENDRIL_MAKE_RESULT: makeResult } = process.env;
const ORANGE = [212, 74, 0]; // the picked fibre, where light falls on it
const FLOOR = [229, 231, 234]; // over the background

function makePage(name, rods, points, frames, ...forces) {
  const folder = join(work, name);
  rmSync(folder, { recursive: true, force: true });
  execFileSync(makeResult, [folder, rods, points, frames, ...forces].map(String));
  const said = execFileSync(tendril, ['view', folder, '--json'], { encoding: 'utf8' });
  return JSON.parse(said);
}

const url = (path) => `file://${path}`;

// --- the same formulas as make_result.c ----------------------------------------------------------

function place(r, i, n, t) {
  const u = i / (n - 1);
  const radius = 0.01 * (1 + (r % 7)) * (1 + 0.3 * Math.sin(9 * t + r));
  const angle = (3 + (r % 5)) * u + 0.1 * r;
  return [0.2 * u, 0.004 * r + radius * Math.cos(angle), 0.003 * (r % 13) + radius * Math.sin(angle)];
}

// Vertex k of the sheet.
const COLUMNS = 5;
const VERTICES = 20;
function vertex(k, t) {
  const [column, row] = [k % COLUMNS, Math.floor(k / COLUMNS)];
  return [0.05 * column, 0.12 + 0.03 * row, -0.06 + 0.02 * Math.sin(9 * t + 0.7 * column + row)];
}

// The cloth is the same sheet beside it, and stretched.
const BESIDE = 0.15;
const strain = (k, t) => 1e-3 * (1 + Math.sin(0.4 * k + 5 * t));

// What point i of n of a fibre bears, in the order of the page.
function bears(r, i, n, t) {
  const u = i / (n - 1);
  return [3 * Math.cos(3 * u + r + t), 0.5 * u, 0.05 * u * t, 0.01 * Math.sin(2 * u + t) - 0.002 * r];
}

// Particle k: its place, then speed, pressure and fraction. From frame 8 on the last hundred are lost.
function grain(k, t) {
  const at = [k % 10, Math.floor(k / 10) % 10, Math.floor(k / 100)].map((n) => 0.01 * n);
  const speed = 0.001 * k;
  return [0.2 + at[0] + t, -0.1 + at[1], at[2] + speed * t, speed, 2 * k, 0.6 - 0.0001 * k];
}
const grainCount = (f) => (f < 8 ? 1000 : 900);

// A helix of this radius that turns by `turns` over the length along x.
function curvature(r, t) {
  const radius = 0.01 * (1 + (r % 7)) * (1 + 0.3 * Math.sin(9 * t + r));
  const pitch = 0.2 / (3 + (r % 5));
  return radius / (radius * radius + pitch * pitch);
}

// --- without a browser ---------------------------------------------------------------------------

function frameIn(html, index) {
  const text = html.match(new RegExp(`id="tendril-frame-${index}">([^<]*)<`))[1];
  return new Uint8Array(inflateSync(Buffer.from(text, 'base64')));
}

function decodesToWhatWentIn(html) {
  const head = JSON.parse(html.match(/id="tendril-head">(.*?)<\/script>/)[1]);
  equal(head.title, 'Made <for> the "page"', 'title');
  const layout = layoutOf(head);
  let before;
  let worst = 0;
  let worstCurvature = 0;
  let worstStrain = 0;
  for (let f = 0; f < head.times.length; ++f) {
    const frame = decodeFrame(frameIn(html, f), layout, before);
    near(frame.time, 0.01 * f, 1e-12, 'time');
    for (let r = 0; r < 5; ++r) {
      for (let i = 0; i < 21; ++i) {
        place(r, i, 21, frame.time).forEach((x, c) => {
          const seen = frame.origin[c] + frame.scale[c] * frame.points[4 * (21 * r + i) + c];
          worst = Math.max(worst, Math.abs(seen - x) / frame.scale[c]);
        });
      }
      const kappa = frame.origin[3] + frame.scale[3] * frame.points[4 * (21 * r + 10) + 3];
      worstCurvature = Math.max(worstCurvature, Math.abs(kappa / curvature(r, frame.time) - 1));
    }
    for (let k = 0; k < VERTICES; ++k) {
      vertex(k, frame.time).forEach((x, c) => {
        const seen = frame.origin[c] + frame.scale[c] * frame.points[4 * (105 + k) + c];
        worst = Math.max(worst, Math.abs(seen - x) / frame.scale[c]);
      });
    }
    for (let k = 0; k < VERTICES; ++k) {
      const point = 4 * (105 + VERTICES + k);
      const y = frame.origin[1] + frame.scale[1] * frame.points[point + 1];
      worst = Math.max(worst, Math.abs(y - vertex(k, frame.time)[1] - BESIDE) / frame.scale[1]);
      const seen = frame.origin[4] + frame.scale[4] * frame.points[point + 3];
      worstStrain = Math.max(worstStrain, Math.abs(seen - strain(k, frame.time)) / frame.scale[4]);
      equal(frame.points[4 * (105 + k) + 3] * frame.scale[4] + frame.origin[4], 0, 'strain of what is no cloth');
    }
    equal(frame.contacts.length / 7, f % 7, 'contacts');
    for (let k = 0; k < f % 7; ++k) {
      near(frame.contacts[7 * k], 0.02 * k, 1e-7, 'contact x');
      near(frame.contacts[7 * k + 5], -1 - 0.1 * f, 1e-6, 'contact force z');
      equal(frame.contacts[7 * k + 6], (f + k) % 2, 'sliding');
    }
    near(frame.poses[12], 0.1 + 0.1 * frame.time, 1e-7, 'ball x');
    near(frame.poses[36], -0.1, 1e-7, 'mesh x');
    near(frame.poses[48], -0.05, 1e-7, 'box x');
    before = frame;
  }
  check(worst < 0.51, `places are right to ${worst} of a step, not to half of one`); // and float32
  check(worstStrain < 0.51, `strains are right to ${worstStrain} of a step, not to half of one`);
  check(worstCurvature < 0.01, `curvature is right to ${worstCurvature} only`); // of a polygon
}

function decodesForces(html) {
  const head = JSON.parse(html.match(/id="tendril-head">(.*?)<\/script>/)[1]);
  equal(head.forces, true, 'the head has forces');
  equal(JSON.stringify(head.joints), '[{"name":"pin <1>","kind":"hinge"},{"name":"tie","kind":"distance"}]', 'joints');
  const layout = layoutOf(head);
  let before;
  let worst = 0;
  for (let f = 0; f < head.times.length; ++f) {
    const frame = decodeFrame(frameIn(html, f), layout, before);
    for (let k = 0; k < 5 * 21; ++k) {
      bears(Math.floor(k / 21), k % 21, 21, frame.time).forEach((x, c) => {
        const seen = frame.origin[INNER + c] + frame.scale[INNER + c] * frame.inner[4 * k + c];
        worst = Math.max(worst, Math.abs(seen - x) / frame.scale[INNER + c]);
      });
    }
    equal(frame.joints.length, 16, 'numbers of joints');
    near(frame.joints[8], 0.2, 1e-7, 'x of the second');
    near(frame.joints[2], 0.01 * f, 1e-7, 'z of the first');
    near(frame.joints[13], 8, 0, 'its force');
    near(frame.joints[14], 0.25, 0, 'its torque');
    equal(frame.joints[7], 0, 'the first holds');
    equal(frame.joints[15], f >= 8 ? 1 : 0, 'the second breaks');
    before = frame;
  }
  check(worst < 0.51, `forces are right to ${worst} of a step, not to half of one`); // and float32
}

function decodesGrains(html) {
  const head = JSON.parse(html.match(/id="tendril-head">(.*?)<\/script>/)[1]);
  const { name, dimension, size, every, ends } = head.grains;
  equal([name, dimension, size, every].join(), 'sand,3,0.01,1', 'what the head says of grains');
  near(ends[0][1], 0.989, 2e-3, 'the speed of all but a hundredth'); // counted in whole particles
  equal(ends[1][0], 0, 'pressure begins at nothing');
  near(ends[2][1], 0.599, 3e-4, 'the fraction of all but a hundredth');
  const layout = layoutOf(head);
  let worst = 0;
  let before;
  for (let f = 0; f < head.times.length; ++f) {
    const frame = decodeFrame(frameIn(html, f), layout, before);
    const count = grainCount(f);
    equal(frame.grains.length, 6 * count, 'numbers of grains');
    for (let k = 0; k < count; ++k) {
      grain(k, frame.time).forEach((x, c) => {
        const span = c < 3 ? c : GRAINS + c - 3;
        const seen = frame.origin[span] + frame.scale[span] * frame.grains[c * count + k];
        worst = Math.max(worst, Math.abs(seen - x) / frame.scale[span]);
      });
    }
    before = frame;
  }
  check(worst < 0.51, `grains are right to ${worst} of a step, not to half of one`); // and float32
}

// --- in the browser ------------------------------------------------------------------------------

async function showsAndPlays(page) {
  equal(await data(page, 'fibres'), '5', 'fibres');
  equal(await page.textContent('#facts'), '5 fibres, 105 points, 4 colliders, 1 rigid body, 1 cloth, 1 moving surface', 'facts');
  check(!(await page.isVisible('#joints')), 'no joints are spoken of where there are none');
  equal((await page.$$('#colour option:not([hidden])')).length, 3, 'colours without forces');
  equal(await page.title(), 'Made <for> the "page" - Tendril', 'title');
  const back = await look(page, 'desktop', [246, 247, 249], 12);
  const { width, height } = await page.evaluate(() => {
    const { clientWidth, clientHeight } = document.getElementById('canvas');
    return { width: clientWidth, height: clientHeight - 100 };
  });
  const empty = back.length / (width * height);
  check(empty > 0.02 && empty < 0.95, `the background is ${empty} of the picture`);

  await page.keyboard.press('ArrowRight');
  equal(await data(page, 'frame'), '1', 'frame after a step');
  await page.keyboard.press('End');
  equal(await data(page, 'frame'), '29', 'last frame');
  await page.keyboard.press('Home');
  await page.keyboard.press('Space');
  await page.waitForFunction(() => Number(document.body.dataset.frame) >= 5, null, { timeout: 30000 });
  check((await data(page, 'playing')) !== undefined, 'it plays');
  await page.keyboard.press('Space');
  check((await data(page, 'playing')) === undefined, 'it pauses');
  await page.fill('#slider', '0.145');
  equal(await data(page, 'frame'), '14', 'frame where the slider is');
}

// The roof of make_result.c: its triangles, smooth within each side, sharp at the ridge, in place.
async function showsAMesh(page) {
  const seen = await page.evaluate(() => {
    const { part } = window.tendril.bodies.parts.find((p) => p.body === 3);
    const { position, normal } = part.geometry.attributes;
    return { places: Array.from(position.array), normals: Array.from(normal.array), at: part.matrix.elements.slice(12, 15) };
  });
  equal(seen.places.length, 36, 'numbers of four triangles');
  const side = Math.SQRT1_2;
  for (let i = 0; i < 12; ++i) {
    near(seen.normals[3 * i], i < 6 ? -side : side, 1e-6, 'normal x');
    near(seen.normals[3 * i + 2], side, 1e-6, 'normal z');
  }
  near(Math.max(...seen.places), 0.04, 1e-7, 'half length');
  near(seen.at[0], -0.1, 1e-7, 'mesh x');
  near(seen.at[2], 0.1, 1e-7, 'mesh z');
}

// Sums of the normals of the triangles about each vertex, each as long as twice its area.
function smoothNormals(places, triangles) {
  const minus = (a, b) => a.map((x, c) => x - b[c]);
  const normals = places.map(() => [0, 0, 0]);
  for (let f = 0; f < triangles.length; f += 3) {
    const corners = triangles.slice(f, f + 3);
    const [a, b, c] = corners.map((k) => places[k]);
    const [u, v] = [minus(b, a), minus(c, a)];
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    corners.forEach((k) => n.forEach((x, axis) => (normals[k][axis] += x)));
  }
  return normals.map((n) => n.map((x) => x / Math.hypot(...n)));
}

// The sheet that waves: in place at frames and between them, smooth, and seen from both sides.
async function showsASurface(page) {
  const step = 0.5 / 65535; // no side of the box is longer than half a metre
  for (const time of [0, 0.07, 0.145, 0.29]) {
    await page.fill('#slider', String(time));
    await until(page, 'unpacked', true);
    const seen = await page.evaluate(() => {
      const { geometry, material, visible } = window.tendril.surfaces.parts[0].mesh;
      const { position, normal } = geometry.attributes;
      return { places: Array.from(position.array), normals: Array.from(normal.array), triangles: Array.from(geometry.index.array), both: material.side === 2, visible };
    });
    equal(seen.triangles.length, 72, 'corners of the triangles');
    check(seen.both && seen.visible, 'it is seen from both sides');
    const [a, b] = [0.01 * Math.floor(100 * time + 1e-9), 0.01 * Math.ceil(100 * time - 1e-9)];
    const share = b > a ? (time - a) / (b - a) : 0;
    const places = Array.from({ length: VERTICES }, (_, k) => {
      const later = vertex(k, b);
      return vertex(k, a).map((x, c) => x + share * (later[c] - x));
    });
    places.forEach((place, k) => place.forEach((x, c) => near(seen.places[3 * k + c], x, step, `axis ${c} of vertex ${k} at ${time} s`)));
    const normals = smoothNormals(places, seen.triangles);
    normals.forEach((n, k) => n.forEach((x, c) => near(seen.normals[3 * k + c], x, 2e-3, `normal ${k} at ${time} s`)));
  }
  for (const [name, key] of [['above', 'z'], ['below', 'Shift+Z']]) {
    await page.keyboard.press(key);
    const shot = () => cover(page, `surface-${name}`, FLOOR, 8);
    const empty = await shot();
    const bare = await page.evaluate(() => {
      window.tendril.surfaces.group.visible = false;
      window.tendril.stage.invalidate();
    }).then(shot);
    check(bare > empty + 3000, `seen from ${name} the sheet covers ${bare - empty} pixels`);
    await page.evaluate(() => {
      window.tendril.surfaces.group.visible = true;
      window.tendril.stage.invalidate();
    });
    await shot();
  }
  await page.evaluate(() => window.tendril.stage.fit(window.tendril.wholeBox, window.tendril.stage.camera.position.clone().set(0.9, -2, 0.7)));
}

// The cloth: in place between frames, with its strains, in its own colour or by strain.
async function showsACloth(page) {
  await page.fill('#slider', '0.145');
  await until(page, 'unpacked', true);
  equal(await data(page, 'cloths'), '1', 'cloths');
  const seen = await page.evaluate(() => {
    const { geometry, material } = window.tendril.surfaces.parts[1].mesh;
    const { position, strain: own } = geometry.attributes;
    return { places: Array.from(position.array), strains: Array.from(own.array), both: material.side === 2, plain: window.tendril.surfaces.parts[0].mesh.geometry.attributes.strain === undefined };
  });
  check(seen.both && seen.plain, 'the cloth is seen from both sides, and alone has strains');
  const between = (f) => 0.5 * (f(0.14) + f(0.15));
  for (let k = 0; k < VERTICES; ++k) {
    near(seen.places[3 * k + 1], vertex(k, 0)[1] + BESIDE, 0.5 / 65535, `y of vertex ${k}`);
    near(seen.places[3 * k + 2], between((t) => vertex(k, t)[2]), 0.5 / 65535, `z of vertex ${k}`);
    near(seen.strains[k], between((t) => strain(k, t)), 2e-3 / 4095, `strain of vertex ${k}`);
  }
  check(await page.evaluate(() => !document.getElementById('by-strain').hidden), 'strain may be chosen');
  await page.keyboard.press('z');
  const own = await look(page, 'cloth-own', [175, 106, 82], 30);
  await page.selectOption('#colour', 'strain');
  near(await page.evaluate(() => window.tendril.surfaces.strainMax), 2e-3, 1e-5, 'the largest strain');
  equal(await page.textContent('#colour-least'), '0', 'what the colours begin at');
  equal((await page.textContent('#colour-most')).trim(), '0.002', 'what the colours end at');
  const strained = await look(page, 'cloth-strain', [175, 106, 82], 30);
  check(own.length > 1000 && strained.length < 0.2 * own.length, `${own.length} pixels of its own colour, ${strained.length} by strain`);
  await page.selectOption('#colour', 'fibre');
  equal((await look(page, 'cloth-again', [175, 106, 82], 30)).length, own.length, 'pixels of its own colour again');
  await page.evaluate(() => window.tendril.stage.fit(window.tendril.wholeBox, window.tendril.stage.camera.position.clone().set(0.9, -2, 0.7)));
}

async function picksAFibre(page) {
  await page.keyboard.press('Home');
  await page.keyboard.press('n');
  await page.keyboard.press('n');
  equal(await data(page, 'picked'), '1', 'picked by key');
  near(Number(await data(page, 'curvature')), curvature(1, 0), 0.02 * curvature(1, 0), 'curvature');
  await page.keyboard.press('Escape');
  equal(await data(page, 'picked'), '-1', 'picked after Escape');
  // where the third fibre is drawn, a click finds it
  for (let i = 0; i < 3; ++i) {
    await page.keyboard.press('n');
  }
  await page.uncheck('#show-contacts');
  const orange = await look(page, 'picked', ORANGE, 70);
  check(orange.length > 50, `the picked fibre has ${orange.length} pixels`);
  await page.keyboard.press('Escape');
  const [x, y] = orange[Math.floor(orange.length / 2)];
  await page.mouse.click(x, y);
  equal(await data(page, 'picked'), '2', 'picked by click');
  check(await page.isVisible('#curvature canvas'), 'its curvature is plotted');
  await page.click('#unpick');
  await page.mouse.click(20, 500);
  equal(await data(page, 'picked'), '-1', 'picked beside all');
}

async function plotsFollow(page) {
  equal(await page.locator('.plot').count(), 3, 'plots, all columns but time');
  const left = () => page.evaluate(() => parseFloat(document.querySelector('.plot .now').style.left));
  await page.keyboard.press('Home');
  const first = await left();
  await page.keyboard.press('End');
  const last = await left();
  const width = await page.evaluate(() => document.querySelector('.plot .u-over').clientWidth);
  check(last - first > 0.9 * width, `the cursor went from ${first} to ${last} of ${width}`);
  near(Number(await page.textContent('.plot:nth-of-type(2) b')), Math.sin(9 * 0.29), 1e-3, 'height at the end');
  const box = await page.locator('.plot .u-over').first().boundingBox();
  await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
  near(Number(await data(page, 'time')), 0.145, 0.01, 'time clicked in a plot');
}

async function showsContacts(page) {
  await page.check('#show-contacts');
  await page.fill('#slider', '0.06'); // frame 6, with 6 contacts
  equal(await page.textContent('#stick'), '3', 'sticking');
  equal(await page.textContent('#slide'), '3', 'sliding');
  const seen = await look(page, 'contacts', [213, 94, 0], 25);
  await page.keyboard.press('c');
  const hidden = await look(page, 'no-contacts', [213, 94, 0], 25);
  check(seen.length > hidden.length + 60, `${seen.length} pixels with sliding contacts, ${hidden.length} without`);
  await page.keyboard.press('c');
}

async function hasTwoThemes(page) {
  await page.keyboard.press('t');
  equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'theme');
  const dark = await look(page, 'dark', [18, 22, 29], 12);
  check(dark.length > 5000, `${dark.length} dark pixels`);
  await page.keyboard.press('t');
}

async function fitsAPhone(browser, path) {
  const { page, faults, context } = await openPage(browser, url(path), {
    viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2,
  });
  await shown(page);
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  check(await fits(), 'nothing is wider than the phone');
  check(!(await page.isVisible('#panel')), 'the panel is closed at first');
  await look(page, 'phone', [0, 0, 0]);
  await page.tap('#open-panel');
  check(await page.isVisible('.plot'), 'plots open');
  check(await fits(), 'nor with the panel');
  for (const button of ['#play', '#back', '#forward', '#fit', '#slider', '#speed']) {
    const box = await page.locator(button).boundingBox();
    check(box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844, `${button} is on the screen`);
  }
  await page.tap('#play');
  await page.waitForFunction(() => Number(document.body.dataset.frame) >= 2, null, { timeout: 30000 });
  await look(page, 'phone-plots', [0, 0, 0]);
  equal(faults.join('; '), '', 'faults');
  await context.close();
}

// What fibres bear colours them, blue to red; joints are marked and listed.
async function showsForces(browser, html, path) {
  decodesForces(html);
  const { page, faults, context } = await openPage(browser, url(path));
  await shown(page);
  await page.keyboard.press('Home');
  await until(page, 'unpacked', true);
  const choices = await page.$$eval('#colour option:not([hidden])', (all) => all.map(({ value }) => value).join());
  equal(choices, 'fibre,curvature,strain,tension,shear,moment,twist', 'colours to choose from');
  check(!(await page.isVisible('#colour-legend')), 'no legend where fibres have their own colours');
  await page.fill('#thickness', '0.5');
  await page.uncheck('#show-contacts');
  // the eye of frame 0: along fibre 0 the tension goes from 3 to 3 cos 3, along fibre 3 the other way
  await page.selectOption('#colour', 'tension');
  equal((await page.textContent('#colour-most')).trim(), '3 N', 'the most');
  equal((await page.textContent('#colour-least')).trim(), '-3', 'the least');
  const red = await look(page, 'tension', [190, 45, 30], 45);
  const blue = await look(page, 'tension-blue', [25, 68, 150], 45);
  check(red.length > 100 && blue.length > 100, `${red.length} red pixels, ${blue.length} blue ones`);
  await page.selectOption('#colour', 'twist');
  check(/ N m$/.test(await page.textContent('#colour-most')), 'twist has its unit');
  await page.selectOption('#colour', 'shear');
  equal((await page.textContent('#colour-least')).trim(), '0', 'a size begins at nothing');
  await look(page, 'shear', [0, 0, 0]);
  await page.keyboard.press('n');
  check(/tension -2.971 to 3 N; shear 0 to 0.5 N; moment 0 to 0 N m; twist 0 to 0.009996 N m/.test(await page.textContent('#picked-facts')), await page.textContent('#picked-facts'));
  await page.keyboard.press('Escape');
  const rows = () => page.$$eval('#joint-list > *', (all) => all.map((one) => one.textContent).join('|'));
  equal(await rows(), 'pin <1> (hinge)|5 N, 0 N m|tie (distance)|8.544 N, 0.25 N m', 'joints');
  await page.selectOption('#colour', 'fibre');
  const marks = await cover(page, 'joints', [250, 194, 31], 40);
  await page.keyboard.press('j');
  const hidden = await cover(page, 'joints-hidden', [250, 194, 31], 40);
  check(marks > 30 && hidden < 0.2 * marks, `${marks} pixels of marks, ${hidden} when they are hidden`);
  await page.keyboard.press('j');
  await page.keyboard.press('End');
  await until(page, 'unpacked', true);
  check(/tie \(distance\)\|broken$/.test(await rows()), `at the end: ${await rows()}`);
  await look(page, 'joints-broken', [0, 0, 0]);
  equal(faults.join('; '), '', 'faults');
  await context.close();
}

// Grains are balls from blue to yellow, between frames as long as none is lost.
async function showsGrains(browser, html, path) {
  decodesGrains(html);
  const { page, faults, context } = await openPage(browser, url(path));
  await shown(page);
  await page.keyboard.press('Home');
  await until(page, 'unpacked', true);
  check((await page.textContent('#facts')).endsWith(', grains'), await page.textContent('#facts'));
  const choices = await page.$$eval('#colour option:not([hidden])', (all) => all.map(({ value }) => value).join());
  equal(choices, 'fibre,curvature,strain,speed,pressure,fraction', 'colours to choose from');
  equal(await page.inputValue('#colour'), 'speed', 'what they are coloured by at first');
  await page.uncheck('#show-contacts');
  await page.selectOption('#colour', 'pressure');
  check(/^19\d\d Pa$/.test((await page.textContent('#colour-most')).trim()), await page.textContent('#colour-most'));
  const blue = await look(page, 'grains', [33, 61, 140], 40);
  const yellow = await look(page, 'grains-yellow', [225, 186, 58], 40);
  check(blue.length > 100 && yellow.length > 100, `${blue.length} blue pixels, ${yellow.length} yellow ones`);
  await page.selectOption('#colour', 'fibre');
  const sand = await look(page, 'grains-plain', [190, 162, 112], 40);
  check(sand.length > 500, `${sand.length} pixels of sand`);
  // half way between two frames, and where the last layer has gone from one to the next
  for (const [time, f, count] of [[0.025, 2.5, 1000], [0.0725, 7, 1000], [0.0775, 8, 900]]) {
    await page.fill('#slider', String(time));
    await until(page, 'unpacked', true);
    equal(await data(page, 'grains'), String(count), `grains at ${time} s`);
    const seen = await page.evaluate(() => window.tendril.grains.place(777));
    grain(777, 0.01 * f).forEach((x, c) => c < 3 && near(seen[c], x, 1e-4, `place ${c} at ${time} s`));
  }
  equal(faults.join('; '), '', 'faults');
  await context.close();
}

async function saysWhatIsDamaged(browser, html) {
  const path = join(work, 'cut.html');
  writeFileSync(path, html.slice(0, html.indexOf('id="tendril-frame-20"') + 100));
  const { page, context } = await openPage(browser, url(path));
  await shown(page);
  await page.keyboard.press('End');
  await page.waitForFunction(() => /Frame \d+ is damaged/.test(document.getElementById('message').textContent), null, { timeout: 30000 });
  await context.close();
}

async function small() {
  const made = makePage('small', 5, 21, 30);
  const html = readFileSync(made.page, 'utf8');
  await test('frames decode to what went in', () => decodesToWhatWentIn(html));
  const browser = await launch();
  const { page, faults, context } = await openPage(browser, url(made.page));
  await shown(page);
  await until(page, 'unpacked', true);
  await test('shows and plays', () => showsAndPlays(page));
  await test('shows a mesh', () => showsAMesh(page));
  await test('shows a surface that waves', () => showsASurface(page));
  await test('shows a cloth', () => showsACloth(page));
  await test('picks a fibre', () => picksAFibre(page));
  await test('plots follow the time', () => plotsFollow(page));
  await test('shows contacts', () => showsContacts(page));
  await test('has two themes', () => hasTwoThemes(page));
  await test('asks for nothing and complains of nothing', () => equal(faults.join('; '), '', 'faults'));
  await context.close();
  await test('fits a phone', () => fitsAPhone(browser, made.page));
  const forced = makePage('forces', 5, 21, 16, 'forces');
  await test('shows forces and joints', () => showsForces(browser, readFileSync(forced.page, 'utf8'), forced.page));
  const sandy = makePage('grains', 5, 21, 16, 'grains');
  await test('shows grains', () => showsGrains(browser, readFileSync(sandy.page, 'utf8'), sandy.page));
  await test('says what is damaged', () => saysWhatIsDamaged(browser, html));
  await browser.close();
}

async function large() {
  const made = makePage('large', 2000, 100, 50);
  const browser = await launch();
  await test('2000 x 100 x 50: size and first picture', async () => {
    const megabytes = statSync(made.page).size / 1e6;
    check(megabytes < 40, `the page has ${megabytes} MB`);
    const times = [];
    for (let i = 0; i < 3; ++i) {
      const { page, faults, context } = await openPage(browser, url(made.page));
      await shown(page);
      times.push(Number(await data(page, 'firstPicture')));
      equal(await data(page, 'fibres'), '2000', 'fibres');
      await page.keyboard.press('End');
      await until(page, 'unpacked', true);
      equal(faults.join('; '), '', 'faults');
      await context.close();
    }
    console.log(`  ${megabytes.toFixed(1)} MB, first picture after ${times.join(', ')} ms`);
    check(Math.min(...times) < 10000, 'the first picture takes longer than a slow machine explains');
  });
  await browser.close();
  rmSync(join(work, 'large'), { recursive: true, force: true });
}

await (process.argv.includes('--large') ? large() : small());
finish();
