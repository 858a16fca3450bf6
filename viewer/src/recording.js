// What there is to show: the head, and frames by number. Two kinds: a page with all its frames in
// it (unpacked when they are wanted, the ones near the present kept), and a live run (live.js).
import { decodeFrame, grainBytes, layoutOf } from './frame.js';

const KEY_EVERY = 16; // frames that refer to no other, as src/app/view_page.c writes them
const KEEP_BYTES = 400e6;
const AHEAD = 64;

export function fromBase64(text) {
  if (Uint8Array.fromBase64 !== undefined) {
    return Uint8Array.fromBase64(text);
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The columns of the log, each a plain array: {names, columns}. */
export async function readLog(names) {
  const holder = document.getElementById('tendril-log');
  if (holder === null || names.length === 0) {
    return { names: [], columns: [] };
  }
  const bytes = await inflate(fromBase64(holder.textContent.trim()));
  const numbers = new Float64Array(bytes.buffer);
  const rows = numbers.length / names.length;
  return { names, columns: names.map((_, i) => Array.from(numbers.subarray(i * rows, (i + 1) * rows))) };
}

export class Recording {
  /** @param {object} head as src/app/view_page.c writes it */
  constructor(head) {
    this.head = head;
    this.times = head.times;
    this.layout = layoutOf(head);
    this.unpacked = new Map();
    this.present = 0;
    this.onFrame = () => {};
    this.failed = null;
    const frameBytes = 2 * this.layout.axes * this.layout.pointStart.at(-1) + grainBytes(head) + 1000;
    this.room = Math.max(2 * KEY_EVERY, Math.floor(KEEP_BYTES / frameBytes));
    this.parsed =
      document.readyState === 'loading'
        ? new Promise((done) => document.addEventListener('DOMContentLoaded', done, { once: true }))
        : Promise.resolve();
  }

  frame(index) {
    return this.unpacked.get(index);
  }

  /** The present moved: frames near it are unpacked next. */
  want(index) {
    this.present = index;
    this.working ??= this.work().finally(() => (this.working = undefined));
  }

  // The next frame to unpack: the first missing one from the present on, or what it refers to.
  next() {
    const last = Math.min(this.times.length, this.present + Math.min(AHEAD, this.room / 2));
    for (let i = this.present; i < last; ++i) {
      if (!this.unpacked.has(i)) {
        let from = i;
        while (from % KEY_EVERY !== 0 && !this.unpacked.has(from - 1)) {
          --from;
        }
        return from;
      }
    }
    return -1;
  }

  async work() {
    for (let i = this.next(); i >= 0 && this.failed === null; i = this.next()) {
      try {
        const holder = await this.holder(i);
        const bytes = await inflate(fromBase64(holder.textContent.trim()));
        this.unpacked.set(i, decodeFrame(bytes, this.layout, this.unpacked.get(i - 1)));
      } catch (error) {
        this.failed = `Frame ${i} is damaged: ${error.message}`;
      }
      this.forget();
      this.onFrame(i);
      await new Promise((done) => setTimeout(done)); // let the page draw
    }
  }

  async holder(index) {
    const id = `tendril-frame-${index}`;
    const found = document.getElementById(id);
    if (found !== null && index === 0) {
      return found;
    }
    await this.parsed;
    const late = document.getElementById(id);
    if (late === null) {
      throw new Error('it is not in the file, which was cut');
    }
    return late;
  }

  // Drops what lies farthest from the present.
  forget() {
    while (this.unpacked.size > this.room) {
      let farthest = -1;
      for (const i of this.unpacked.keys()) {
        const distance = (k) => (k < this.present ? 2 * (this.present - k) : k - this.present);
        if (farthest < 0 || distance(i) > distance(farthest)) {
          farthest = i;
        }
      }
      this.unpacked.delete(farthest);
    }
  }
}
