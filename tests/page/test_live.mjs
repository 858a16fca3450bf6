// A live run in a real browser: it is seen, paused, given another gravity, dragged; others watch, and
// who is slow or a stranger does not disturb it.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, data, equal, finish, launch, look, near, openPage, shown, test, work } from './driver.mjs';

const ROD = `title: One rod
time: {step: 1e-3, end: 1000}
output: {frame: 10, samples: 4}
materials: [{name: rubber, young: 1e7, density: 1000, damping: 0.02, mass_damping: 2}]
rods:
  - {name: a, material: rubber, length: 0.2, radius: 1e-3, elements: 8}
`;
const TIP = 32; // its last point
const PLATE = 'v -0.1 -0.1 -0.2\nv 0.3 -0.1 -0.2\nv 0.3 0.1 -0.2\nv -0.1 0.1 -0.2\nf 1 2 3 4\n';
// It rises by 0.5 m in 10 s: two samples of a point cache.
function risingCache() {
  const corners = [[-0.1, -0.1], [0.3, -0.1], [0.3, 0.1], [-0.1, 0.1]];
  const bytes = Buffer.alloc(32 + 2 * 4 * 12);
  bytes.write('POINTCACHE2', 'latin1');
  bytes.writeUInt32LE(1, 12);
  bytes.writeUInt32LE(4, 16);
  bytes.writeFloatLE(0, 20);
  bytes.writeFloatLE(1, 24);
  bytes.writeUInt32LE(2, 28);
  [-0.2, 0.3].forEach((z, sample) =>
    corners.forEach(([x, y], k) => [x, y, z].forEach((value, c) => bytes.writeFloatLE(value, 32 + 12 * (4 * sample + k) + 4 * c))),
  );
  return bytes;
}
const MANY = `title: Many rods side by side
time: {step: 1e-3, end: 1000}
output: {frame: 10, samples: 12}
materials: [{name: rubber, young: 1e7, density: 1000, damping: 0.02, mass_damping: 2}]
rods:
  - {name: a, material: rubber, length: 0.05, radius: 1e-4, elements: 4, repeat: {count: [1, 20, 20], spacing: [0, 0.1, 0.1]}}
`;

const runs = []; // all that were started, to end those that a failed test leaves

// Starts a live run; gives its address.
async function begin(name, scene, ...words) {
  const path = join(work, `${name}.yaml`);
  const out = join(work, `${name}-run`);
  writeFileSync(path, scene);
  rmSync(out, { recursive: true, force: true });
  const run = spawn(process.env.TENDRIL_COMMAND, ['run', '--live', path, '-o', out, ...words]);
  runs.push(run);
  let said = '';
  const url = await new Promise((done, fail) => {
    run.stderr.on('data', (text) => {
      said += text;
      const found = said.match(/http:\/\/\S+(?=\s)/);
      if (found) {
        done(found[0]);
      }
    });
    run.on('exit', () => fail(new Error(`it ended: ${said}`)));
  });
  const ended = new Promise((done) => run.on('exit', (code) => done(code)));
  return { run, url, ended };
}

// Asks to watch by hand; resolves to the status and the open socket.
function handshake(url, { origin, search, host } = {}) {
  const at = new URL(url);
  const socket = connect(Number(at.port), '127.0.0.1');
  socket.write(
    `GET /live${search ?? at.search} HTTP/1.1\r\nHost: ${host ?? at.host}\r\nUpgrade: websocket\r\n` +
      'Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n' +
      `${origin === undefined ? '' : `Origin: ${origin}\r\n`}\r\n`,
  );
  return new Promise((done, fail) => {
    socket.once('data', (bytes) => {
      socket.pause(); // and never reads again
      done({ status: Number(bytes.toString('latin1').split(' ')[1]), socket });
    });
    socket.on('error', fail);
  });
}

const where = (page, point) => page.evaluate((i) => window.tendril.whereIs(i), point);
const time = async (page) => Number(await data(page, 'time'));
// Waits for an event, however long a busy machine takes; the time is of one that never comes.
async function waitUntil(page, condition, what, seconds = 120) {
  const start = Date.now();
  while (!(await condition())) {
    if (Date.now() - start > 1000 * seconds) {
      check(false, `${what} did not happen in ${seconds} s`);
      return;
    }
    await page.waitForTimeout(50);
  }
}

/** Waits until the run has gone on by simulated seconds. */
async function goOn(page, seconds, what = 'going on') {
  const before = await time(page);
  await waitUntil(page, async () => (await time(page)) >= before + seconds, what);
}

/** Waits for messages of the run, which answers a word even where it stands still. */
const messages = (page, count) =>
  page.evaluate(
    (wanted) =>
      new Promise((done) => {
        const { recording } = window.tendril;
        const take = () => (--wanted === 0 ? (recording.socket.removeEventListener('message', take), done()) : null);
        recording.socket.addEventListener('message', take);
        recording.say('hello');
      }),
    count,
  );

// --- one rod -------------------------------------------------------------------------------------

async function turnsStrangersAway(url) {
  const refused = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { search: '?token=00000000000000000000000000000000' },
    { search: '' },
    { host: 'evil.example' },
  ];
  for (const how of refused) {
    const { status, socket } = await handshake(url, how);
    equal(status, 403, `status for ${JSON.stringify(how)}`);
    socket.destroy();
  }
}

async function runsAndPauses(page) {
  const before = await time(page);
  await waitUntil(page, async () => (await time(page)) > before + 0.1, 'time going on');
  await page.keyboard.press('Space');
  await waitUntil(page, async () => (await data(page, 'paused')) === 'true', 'the pause');
  const stopped = await time(page);
  for (let i = 0; i < 3; ++i) {
    await messages(page, 1);
  }
  equal(await time(page), stopped, 'time while paused');
  await page.keyboard.press('Space');
  await waitUntil(page, async () => (await time(page)) > stopped + 0.05, 'going on');
}

async function obeysGravity(page) {
  check((await where(page, TIP)).place[2] < -0.02, 'it hangs at first');
  await page.fill('#gravity', '9.81');
  await waitUntil(page, async () => (await where(page, TIP)).place[2] > 0.02, 'the rod rising');
  equal(await data(page, 'gravity'), '9.81', 'gravity');
  await page.fill('#gravity', '0');
}

// Where a point is once it hardly moves on the screen.
async function atRest(page, point) {
  let seen = await where(page, point);
  await waitUntil(page, async () => {
    const before = seen.screen;
    await goOn(page, 0.3);
    seen = await where(page, point);
    return Math.hypot(seen.screen[0] - before[0], seen.screen[1] - before[1]) < 2;
  }, 'rest');
  return seen;
}

async function followsTheHand(page) {
  await atRest(page, TIP);
  await page.keyboard.press('y'); // from the side, so that the plane of the hand holds the rod
  const tip = await atRest(page, TIP);
  await page.mouse.move(...tip.screen);
  await page.mouse.down();
  await page.mouse.move(tip.screen[0] - 60, tip.screen[1] - 120, { steps: 8 });
  const target = (await data(page, 'target')).split(' ').map(Number);
  check(Math.hypot(...target.map((x, c) => x - tip.place[c])) > 0.02, 'the hand moved away');
  const distance = async () => Math.hypot(...(await where(page, TIP)).place.map((x, c) => x - target[c]));
  await waitUntil(page, async () => (await distance()) < 0.005, `the tip following to ${target}`);
  await look(page, 'live-drag', [0, 0, 0]);
  await page.mouse.up();
  await waitUntil(page, async () => (await distance()) > 0.01, 'the tip going back');
}

async function leadsAHeldEnd(page) {
  const start = await atRest(page, 0);
  near(Math.hypot(...start.place), 0, 1e-3, 'the start is at the origin');
  await page.mouse.move(...start.screen);
  await page.mouse.down();
  await page.mouse.move(start.screen[0] + 40, start.screen[1] - 60, { steps: 8 });
  const target = (await data(page, 'target')).split(' ').map(Number);
  await waitUntil(page, async () => {
    const { place } = await where(page, 0);
    return Math.hypot(...place.map((x, c) => x - target[c])) < 1e-3;
  }, `the start being led to ${target}`);
  await page.mouse.up();
  await goOn(page, 0.3);
  const { place } = await where(page, 0);
  check(Math.hypot(...place.map((x, c) => x - target[c])) < 2e-3, 'it stays where it was led');
}

async function anotherMayWatch(browser, url, first) {
  const { page, faults, context } = await openPage(browser, url);
  await shown(page);
  const before = [await time(first), await time(page)];
  await waitUntil(page, async () => (await time(first)) > before[0] + 0.1 && (await time(page)) > before[1] + 0.1, 'both seeing it');
  near(await time(page), await time(first), 1.0, 'the same moment in both');
  equal(faults.filter((fault) => !fault.includes('/live')).join('; '), '', 'faults');
  await context.close();
  const after = await time(first);
  await waitUntil(first, async () => (await time(first)) > after + 0.1, 'going on without the other');
}

// Whoever is told the address may ask before the world is made: 400 rods that settle.
async function waitsForTheWorld() {
  const { run, url, ended } = await begin('early', `${MANY}start: settled\n`);
  const answers = await Promise.all([fetch(url), fetch(url)]);
  for (const answer of answers) {
    equal(answer.status, 200, 'status of an early page');
    check((await answer.text()).includes('tendril-head'), 'an early page is whole');
  }
  run.kill('SIGINT');
  equal(await ended, 1, 'exit of a stopped run');
}

// A run that cannot begin, as nothing holds its rod, lets nobody wait for its page.
async function endsWithoutAPage() {
  const { url, ended } = await begin('falls', `${ROD.replace('elements: 8', 'elements: 8, start: free')}start: settled\n`);
  const status = await fetch(url).then((answer) => answer.status, () => 'none');
  check(status === 500 || status === 'none', `status without a page is ${status}`);
  equal(await ended, 1, 'exit of a run that cannot begin');
}

// --- many rods -----------------------------------------------------------------------------------

// One that never reads is sent what its buffers take, 10 MB or so; a server that waited for it would
// stand still from then on.
async function slowOnesDoNotStopIt(browser) {
  const { run, url, ended } = await begin('many', MANY, '--speed', '0.1');
  const { page, context } = await openPage(browser, url, { viewport: { width: 400, height: 300 } });
  await shown(page);
  const { status, socket } = await handshake(url, { origin: new URL(url).origin });
  equal(status, 101, 'status of the slow one');
  const size = await page.evaluate(
    () => new Promise((done) => window.tendril.recording.socket.addEventListener('message', ({ data }) => done(data.byteLength), { once: true })),
  );
  await messages(page, Math.ceil(20e6 / size));
  await goOn(page, 0.05, 'going on beside one that never reads');
  socket.destroy();
  await context.close();
  run.kill('SIGINT');
  equal(await ended, 1, 'exit of a stopped run');
}

// A program named xdg-open is handed the address; a mesh and one that moves are on the page.
async function opensTheBrowser(browser) {
  const bin = join(work, 'bin');
  const told = join(work, 'opened.txt');
  mkdirSync(bin, { recursive: true });
  rmSync(told, { force: true });
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$# $1" >'${told}'\n`);
  chmodSync(join(bin, 'xdg-open'), 0o755);
  writeFileSync(join(work, 'plate.obj'), PLATE);
  const before = process.env.PATH;
  process.env.PATH = `${bin}:${before}`;
  writeFileSync(join(work, 'plate.pc2'), risingCache());
  const scene = `${ROD}contacts: {detection: off}
colliders:
  - {name: plate, shape: mesh, mesh: {file: plate.obj}}
  - {name: rising, shape: mesh, position: [0, 0.5, 0], mesh: {file: plate.obj, cache: {file: plate.pc2, fps: 0.1}}}
`;
  const { run, url, ended } = await begin('opened', scene, '--open');
  process.env.PATH = before;
  const { page, faults, context } = await openPage(browser, url);
  await shown(page);
  equal(readFileSync(told, 'utf8'), `1 ${url}\n`, 'what xdg-open was handed');
  const places = await page.evaluate(() => window.tendril.bodies.parts[0].part.geometry.attributes.position.count);
  equal(places, 6, 'corners of the mesh');
  const rises = () => page.evaluate(() => ({ place: window.tendril.surfaces.place(0, 2), time: window.tendril.timeline.time }));
  const first = await rises();
  await waitUntil(page, async () => (await rises()).place[2] > first.place[2] + 0.01, 'the plate rising');
  const { place, time: now } = await rises();
  near(place[2], -0.2 + 0.05 * now, 1e-4, 'height of the plate');
  near(place[1], 0.6, 1e-4, 'side of the plate');
  equal(faults.join('; '), '', 'faults');
  await context.close();
  run.kill('SIGINT');
  equal(await ended, 1, 'exit of a stopped run');
}

// Cloth falls on the page as it does in the run, seen from both sides, with its strain.
// A rope that hangs from a hinge with a weight at its end: 0.02 kg pull with 0.196 N and more.
const HUNG = `title: A rope on a hinge
time: {step: 1e-3, end: 1000}
output: {frame: 10, samples: 4, forces: true}
materials: [{name: rubber, young: 1e7, density: 1000, damping: 0.02, mass_damping: 2}]
rods:
  - {name: a, material: rubber, model: der, length: 0.2, radius: 1e-3, elements: 8, start: free, clamp: {direction: [0, 0, -1]}, loads: [{at: 0.2, force: [0, 0, -0.2]}]}
joints: [{name: hook, kind: ball, from: {of: a, at: 0}}]
`;

async function showsForces(browser) {
  const { run, url, ended } = await begin('hung', HUNG);
  const { page, faults, context } = await openPage(browser, url);
  await shown(page);
  await page.selectOption('#colour', 'tension');
  const most = async () => Number((await page.textContent('#colour-most')).replace(' N', ''));
  await waitUntil(page, async () => (await most()) > 0.19, 'the tension of the rope');
  await page.keyboard.press('n');
  await waitUntil(page, async () => / tension \S+ to 0\.2\d* N/.test(await page.textContent('#picked-facts')), 'what the rope bears');
  const hook = async () => (await page.textContent('#joint-list')).match(/^hook \(ball\)(.*) N, /)?.[1];
  // the load and the weight: pi 1e-6 m^2 of 1000 kg/m^3, 0.2 m, once it hardly swings
  await waitUntil(page, async () => Math.abs(Number(await hook()) - 0.2 - Math.PI * 2e-4 * 9.81) < 0.004, 'what the hook bears');
  await look(page, 'live-forces', [0, 0, 0]);
  equal(faults.join('; '), '', 'faults');
  await context.close();
  run.kill('SIGINT');
  equal(await ended, 1, 'exit of a stopped run');
}

async function showsCloth(browser) {
  const scene = `time: {step: 5e-3, end: 1000}
cloths:
  - {name: towel, rectangle: {size: [0.4, 0.5], nodes: [5, 6]}, position: [0, 0, 1], holds: [{edge: top}]}
contacts: {detection: off}
`;
  const { run, url, ended } = await begin('cloth', scene);
  const { page, faults, context } = await openPage(browser, url);
  await shown(page);
  equal(await data(page, 'cloths'), '1', 'cloths');
  check((await page.textContent('#facts')).includes('1 cloth'), 'the page tells of it');
  const corner = () => page.evaluate(() => ({ held: window.tendril.surfaces.place(0, 29), free: window.tendril.surfaces.place(0, 0) }));
  await waitUntil(page, async () => (await corner()).free[2] < 0.8, 'the free edge fallen');
  const { held } = await corner();
  [0.2, 0.25, 1].forEach((x, c) => near(held[c], x, 1e-4, `axis ${c} of a held corner`));
  await page.selectOption('#colour', 'strain');
  const strain = await page.evaluate(() => Math.max(...window.tendril.surfaces.parts[0].mesh.geometry.attributes.strain.array));
  check(strain > 0 && strain < 1e-2, `its strain is ${strain}`);
  equal(faults.join('; '), '', 'faults');
  await context.close();
  run.kill('SIGINT');
  equal(await ended, 1, 'exit of a stopped run');
}

const browser = await launch();
const { run, url, ended } = await begin('rod', ROD);
await test('waits for the world', waitsForTheWorld);
await test('ends without a page', endsWithoutAPage);
await test('strangers are turned away', () => turnsStrangersAway(url));
const { page, faults } = await openPage(browser, url);
await shown(page);
await test('runs and pauses', () => runsAndPauses(page));
await test('obeys gravity', () => obeysGravity(page));
await test('follows the hand', () => followsTheHand(page));
await test('leads a held end', () => leadsAHeldEnd(page));
await test('another may watch', () => anotherMayWatch(browser, url, page));
await test('ends cleanly', async () => {
  run.kill('SIGINT');
  equal(await ended, 1, 'exit of a stopped run');
  await page.waitForFunction(() => /ended/.test(document.getElementById('message').textContent), null, { timeout: 120000 });
  equal(faults.filter((fault) => !fault.includes('/live')).join('; '), '', 'faults');
});
await test('opens the browser', () => opensTheBrowser(browser));
await test('shows cloth', () => showsCloth(browser));
await test('shows forces and joints', () => showsForces(browser));
await test('slow ones do not stop it', () => slowOnesDoNotStopIt(browser));
await browser.close();
runs.forEach((left) => left.kill('SIGKILL'));
finish();
