// A live run that is watched for a long time does not grow: one page reads all, one never reads, one
// comes and goes, and words keep changing the run. So many visits, each as long as a few messages
// take: 10 s; with TENDRIL_LONG=1 half an hour.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SCENE = `title: Two ropes on a ball, thrown up again and again
time: {step: 4e-3, end: 1e6}
output: {frame: 0.1, samples: 4}
materials: [{name: rope, young: 2e5, density: 1100, damping: 0.02, mass_damping: 1}]
rods:
  - name: ropes
    material: rope
    length: 0.4
    radius: 6e-3
    elements: 8
    clamp: {position: [-0.2, 0, 0.33], direction: [1, 0, 0]}
    repeat: {count: [1, 2, 1], spacing: [0, 0.03, 0]}
colliders:
  - {name: floor, shape: plane}
  - {name: ball, shape: sphere, radius: 0.15, position: [0, 0, 0.15]}
contacts: {detection: segments, segments: 2}
`;
const LONG = process.env.TENDRIL_LONG !== undefined;
const VISITS = LONG ? 3000 : 60;
const WARM_UP = LONG ? 500 : 30; // visits until every thread of the server has made pages
const VISIT = 5; // messages
const MOST_GROWTH = LONG ? 1024 : 2048; // kB; a page that is kept is 700
// One heap, which gives back what is freed: with a heap for each thread, what malloc keeps for the
// threads that made a page late looks like growth (1.3 to 4.5 MB; so 0.3).
const ONE_HEAP = { ...process.env, MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536' };
const work = process.env.TENDRIL_PAGE_WORK;
mkdirSync(work, { recursive: true });

async function begin() {
  const path = join(work, 'memory.yaml');
  const out = join(work, 'memory-run');
  writeFileSync(path, SCENE);
  rmSync(out, { recursive: true, force: true });
  const run = spawn(process.env.TENDRIL_COMMAND, ['run', '--live', path, '-o', out], { env: ONE_HEAP });
  let said = '';
  const url = await new Promise((done, fail) => {
    run.stderr.on('data', (text) => {
      const found = (said += text).match(/http:\/\/\S+(?=\s)/);
      if (found) {
        done(found[0]);
      }
    });
    run.on('exit', () => fail(new Error(`it ended: ${said}`)));
  });
  return { run, url, ended: new Promise((done) => run.on('exit', (code) => done(code))) };
}

// Watches by hand; `counts` receives bytes and messages. A page that is not to read stops after the
// handshake.
function watch(url, counts, reads = true) {
  const at = new URL(url);
  const socket = connect(Number(at.port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `GET /live${at.search} HTTP/1.1\r\nHost: ${at.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nOrigin: ${at.origin}\r\n\r\n`,
  );
  let left = -1; // bytes of the message that is being read; before the first: of the handshake
  let head = Buffer.alloc(0);
  const take = (bytes) => {
    counts.bytes += bytes.length;
    let data = head.length > 0 ? Buffer.concat([head, bytes]) : bytes;
    head = Buffer.alloc(0);
    if (left < 0) {
      const end = data.indexOf('\r\n\r\n');
      if (end < 0) {
        head = data;
        return;
      }
      counts.status = Number(data.toString('latin1', 0, 12).split(' ')[1]);
      data = data.subarray(end + 4);
      left = 0;
    }
    while (data.length > 0) {
      if (left > 0) {
        const used = Math.min(left, data.length);
        data = data.subarray(used);
        left -= used;
        continue;
      }
      const short = data.length > 1 ? data[1] & 127 : -1;
      const size = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (short < 0 || data.length < size) {
        head = data;
        return;
      }
      left = short < 126 ? short : short === 126 ? data.readUInt16BE(2) : Number(data.readBigUInt64BE(2));
      data = data.subarray(size);
      ++counts.messages;
    }
  };
  socket.on('data', (bytes) => {
    take(bytes);
    if (!reads) {
      socket.pause();
    }
  });
  return socket;
}

// A text frame, masked as the protocol wants it.
function say(socket, words) {
  const text = Buffer.from(words);
  const mask = Buffer.from([1, 2, 3, 4]);
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length]), mask, text.map((b, i) => b ^ mask[i % 4])]));
}

async function load(url) {
  const answer = await fetch(url);
  return (await answer.text()).length;
}

// kB, and threads.
function measure(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const number = (key) => Number(status.match(new RegExp(`^${key}:\\s+(\\d+)`, 'm'))[1]);
  return { all: number('VmRSS'), own: number('RssAnon'), threads: number('Threads') };
}

// Resolves once the reader has had so many messages more.
const receive = (reader, socket, count) => {
  const wanted = reader.messages + count;
  return new Promise((done) => {
    const look = () => {
      if (reader.messages >= wanted) {
        socket.removeListener('data', look);
        done();
      }
    };
    socket.on('data', look);
  });
};

const { run, url, ended } = await begin();
const reader = { bytes: 0, messages: 0, status: 0 };
const socket = watch(url, reader);
const sleeper = watch(url, { bytes: 0, messages: 0, status: 0 }, false);
const started = Date.now();
const elapsed = () => (Date.now() - started) / 1000;
let first = null;
let visits = 0;
let told = 0;
while (visits < VISITS) {
  await load(url);
  const visitor = watch(url, { bytes: 0, messages: 0, status: 0 });
  await receive(reader, socket, VISIT);
  visitor.destroy();
  ++visits;
  say(socket, `gravity 0 0 ${visits % 3 === 0 ? 9.81 : -9.81}`);
  say(socket, `friction ${visits % 2 === 0 ? 0.3 : 0.1}`);
  if (visits === WARM_UP) {
    first = measure(run.pid);
  }
  if (visits >= told) {
    const now = measure(run.pid);
    console.log(`  ${visits} visits: ${now.all} kB resident, ${now.own} kB its own, ${now.threads} threads, ${reader.messages} messages`);
    told += VISITS / 6;
  }
}
const last = measure(run.pid);
const seconds = elapsed();
socket.destroy();
sleeper.destroy();
run.kill('SIGINT');
const code = await ended;

const faults = [];
const check = (good, what) => good || faults.push(what);
check(reader.status === 101, `the handshake was answered with ${reader.status}`);
check(last.own - first.own <= MOST_GROWTH, `its memory grew from ${first.own} kB to ${last.own} kB`);
check(last.all - first.all <= MOST_GROWTH + 512, `it grew from ${first.all} kB to ${last.all} kB resident`);
check(last.threads <= first.threads + 1, `${first.threads} threads became ${last.threads}`);
check(code === 1, `it ended with ${code}`);
console.log(`  ${visits} visits, ${reader.messages} messages, ${(reader.bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(0)} s`);
console.log(`  from ${WARM_UP} visits on: resident ${first.all} to ${last.all} kB, its own ${first.own} to ${last.own} kB`);
faults.forEach((fault) => console.log(`  FAILED: ${fault}`));
console.log(`${faults.length === 0 ? 1 : 0} passed, ${faults.length === 0 ? 0 : 1} failed, 0 skipped`);
process.exitCode = faults.length === 0 ? 0 : 1;
