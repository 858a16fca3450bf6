// Time: where the present is among the frames, and how fast it runs.

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const NICE_SECONDS = 6; // a recording plays in about this time at first

export class Timeline {
  /** @param {number[]} times of the frames; may grow @param {() => void} changed */
  constructor(times, changed) {
    this.times = times;
    this.changed = changed;
    this.time = times[0] ?? 0;
    this.playing = false;
    this.atEnd = false; // stays at the newest frame of a live run
    const wanted = (this.last - this.first) / NICE_SECONDS;
    this.speed = SPEEDS.reduce((a, b) => (Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a));
    if (!(wanted > 0)) {
      this.speed = 1;
    }
  }

  get first() {
    return this.times[0] ?? 0;
  }

  get last() {
    return this.times.at(-1) ?? 0;
  }

  /** The frame at or before the present, and how far it is to the next, in 0..1. */
  position() {
    let low = 0;
    let high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= this.time) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const span = (this.times[low + 1] ?? Infinity) - this.times[low];
    return { index: low, mixing: Math.min(1, Math.max(0, (this.time - this.times[low]) / span)) || 0 };
  }

  seek(time) {
    this.time = Math.min(this.last, Math.max(this.first, time));
    this.atEnd = this.time === this.last;
    this.changed();
  }

  step(by) {
    this.playing = false;
    const { index, mixing } = this.position();
    const from = by < 0 && mixing > 0 ? index + 1 : index;
    this.seek(this.times[Math.min(this.times.length - 1, Math.max(0, from + by))] ?? 0);
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.last) {
      this.time = this.first;
    }
    this.clock = undefined;
    this.changed();
  }

  /** Runs on; called before each picture. The next frame may not be there yet: it then waits. */
  advance(now, ready) {
    if (!this.playing) {
      return;
    }
    const passed = this.clock === undefined ? 0 : Math.min(0.25, (now - this.clock) / 1000);
    this.clock = now;
    if (!ready) {
      return;
    }
    this.time = Math.min(this.last, this.time + passed * this.speed);
    if (this.time >= this.last) {
      this.playing = false;
      this.atEnd = true;
    }
  }

  changeSpeed(by) {
    const at = SPEEDS.indexOf(this.speed);
    this.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + by))];
    this.changed();
  }

  static get speeds() {
    return SPEEDS;
  }
}
