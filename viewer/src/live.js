// A run that goes on: frames come through a WebSocket, and words go back. src/app/live.c is the
// other side: a message is seven doubles of state, a row of the log, and a frame.
import { decodeFrame, grainBytes, layoutOf } from './frame.js';

const STATE_NUMBERS = 7;
const KEEP_BYTES = 200e6;
const KEEP_FRAMES = 3000;
const KEEP_ROWS = 20000;

/** Has what a Recording has; its times grow, and the oldest are forgotten. */
export class LiveRecording {
  constructor(head) {
    this.head = head;
    this.times = [];
    this.frames = [];
    this.layout = layoutOf(head);
    this.log = { names: head.log, columns: head.log.map(() => []) };
    this.state = { paused: false, speed: 1, gravity: head.gravity, mu: head.mu };
    this.failed = null;
    this.onFrame = () => {};
    const frameBytes = 2 * this.layout.axes * this.layout.pointStart.at(-1) + grainBytes(head) + 1000;
    this.room = Math.max(2, Math.min(KEEP_FRAMES, Math.floor(KEEP_BYTES / frameBytes)));
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/live${location.search}`);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this.say('hello');
    socket.onmessage = (event) => this.take(event.data);
    socket.onclose = () => {
      this.failed = 'The run has ended. What was shown is still here.';
      this.onFrame(-1);
    };
    this.socket = socket;
  }

  say(words) {
    if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(words);
    }
  }

  take(buffer) {
    const view = new DataView(buffer);
    const number = (i) => view.getFloat64(8 * i, true);
    this.state = { paused: number(0) !== 0, speed: number(1), gravity: [number(2), number(3), number(4)], mu: number(5) };
    const columns = number(6);
    const at = 8 * (STATE_NUMBERS + columns);
    const frame = decodeFrame(new Uint8Array(buffer, at), this.layout);
    if (this.times.at(-1) === frame.time) {
      this.frames[this.frames.length - 1] = frame; // the same moment, shown again
    } else {
      this.times.push(frame.time);
      this.frames.push(frame);
      this.log.columns.forEach((column, i) => column.push(number(STATE_NUMBERS + i)));
    }
    if (this.times.length > this.room) {
      this.times.shift();
      this.frames.shift();
    }
    if (this.log.columns[0]?.length > KEEP_ROWS) {
      this.log.columns.forEach((column) => column.splice(0, KEEP_ROWS / 2));
    }
    this.onFrame(this.times.length - 1);
  }

  frame(index) {
    return this.frames[index];
  }

  want() {}
}
