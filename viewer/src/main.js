// The page: puts the parts together and listens to the user.
import * as THREE from 'three';
import { Bodies } from './bodies.js';
import { Contacts } from './contacts.js';
import { Fibres } from './fibres.js';
import { INNER_FORCES, curvatureOf, innerRange } from './frame.js';
import { GRAINS_COLOURS, Grains } from './grains.js';
import { Hand } from './hand.js';
import { Joints } from './joints.js';
import { LiveRecording } from './live.js';
import { CurvaturePlot, Plots, brief } from './plots.js';
import { Recording, readLog } from './recording.js';
import { Stage } from './stage.js';
import { Surfaces } from './surfaces.js';
import { Timeline } from './timeline.js';

const byId = (id) => document.getElementById(id);
const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const PICK_REACH = 12; // px

class Page {
  constructor(recording) {
    recording.want(0); // unpacks while the rest is made
    this.recording = recording;
    this.head = recording.head;
    this.picked = -1;
    this.firstPicture = new Promise((done) => (this.pictureDone = done));
    byId('panel').hidden = !matchMedia('(min-width: 1000px)').matches;
    this.stage = new Stage(byId('canvas'));
    this.stage.hold = true;
    this.timeline = new Timeline(recording.times, () => this.present());
    this.plots = new Plots(byId('plots'), (time) => this.timeline.seek(time));
    this.curvature = new CurvaturePlot(byId('curvature'));
    this.makeThings();
    this.describe();
    this.listen();
    this.setTheme(this.storedTheme());
    recording.onFrame = () => this.present();
    if (this.head.live) {
      this.listenLive();
    }
    this.stage.beforeDraw = (now) => this.beforeDraw(now);
    this.stage.afterDraw = () => this.afterDraw();
    this.present();
  }

  // --- what is shown -----------------------------------------------------------------------------

  makeThings() {
    const { head } = this;
    const box = new THREE.Box3(new THREE.Vector3(...head.box[0]), new THREE.Vector3(...head.box[1]));
    if (head.live) {
      box.expandByScalar(0.3 * box.getSize(new THREE.Vector3()).length()); // it may go anywhere
    }
    const reach = Math.max(1e-6, 0.5 * box.getSize(new THREE.Vector3()).length());
    this.wholeBox = box;
    this.fibres = new Fibres(Int32Array.from(head.point_start), head.radius, head.forces);
    this.surfaces = new Surfaces(head.surfaces, this.fibres.pointCount);
    const flat = head.grains?.dimension === 2; // looked at from the front
    this.bodies = new Bodies(head.shapes, reach, box.getCenter(new THREE.Vector3()), flat);
    this.contacts = new Contacts(reach, head.force_max);
    this.joints = new Joints(head.joints);
    this.grains = new Grains(head.grains);
    this.stage.fibres = this.fibres;
    this.stage.grains = this.grains;
    const { fibres, bodies, surfaces, contacts, joints, grains } = this;
    this.stage.scene.add(fibres.mesh, bodies.group, surfaces.group, grains.mesh, contacts.group, joints.mesh);
    this.stage.renderer.compile(this.stage.scene, this.stage.camera);
    if (flat) {
      this.stage.narrow();
    }
    this.stage.fit(box, flat ? new THREE.Vector3(0, -1, 0) : new THREE.Vector3(0.9, -2, 0.7));
  }

  describe() {
    const { head } = this;
    document.title = head.title ? `${head.title} - Tendril` : 'Tendril';
    byId('title').textContent = head.title || 'Tendril';
    const plural = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
    const facts = [plural(this.fibres.rodCount, 'fibre'), plural(this.fibres.pointCount, 'point')];
    if (head.collider_count > 0) {
      facts.push(plural(head.collider_count, 'collider'));
    }
    if (head.body_count > 0) {
      facts.push(plural(head.body_count, 'rigid body').replace('bodys', 'bodies'));
    }
    const { clothCount } = this.surfaces;
    if (clothCount > 0) {
      facts.push(plural(clothCount, 'cloth'));
    }
    if (head.surfaces.length > clothCount) {
      facts.push(plural(head.surfaces.length - clothCount, 'moving surface'));
    }
    if (head.joints.length > 0) {
      facts.push(plural(head.joints.length, 'joint'));
    }
    byId('joints').hidden = head.joints.length === 0;
    this.describeGrains(facts);
    byId('by-strain').hidden = clothCount === 0;
    const inner = head.forces && this.fibres.pointCount > 0 ? INNER_FORCES : [];
    byId('colour').append(...inner.map(({ name }) => new Option(`by ${name}`, name)));
    byId('facts').textContent = facts.join(', ');
    document.body.dataset.surfaces = head.surfaces.length;
    document.body.dataset.cloths = clothCount;
    byId('legend').hidden = !head.contacts;
    document.querySelectorAll('.contacts').forEach((label) => (label.hidden = !head.contacts));
    document.body.dataset.fibres = this.fibres.rodCount;
    document.body.dataset.joints = head.joints.length;
    document.body.dataset.forces = inner.length > 0;
    const speed = byId('speed');
    speed.replaceChildren(...Timeline.speeds.map((value) => new Option(`${value}×`, value)));
  }

  describeGrains(facts) {
    const { grains } = this.head;
    if (grains === null) {
      return;
    }
    facts.push(grains.every > 1 ? `grains, one particle in ${grains.every}` : 'grains');
    const colour = byId('colour');
    colour.append(...GRAINS_COLOURS.map(({ name }) => new Option(`by ${name}`, name)));
    colour.value = GRAINS_COLOURS[0].name;
    this.grains.setColour(0);
    this.colouredBy = colour.value;
  }

  /** The present moment changed, or a frame arrived: shows it as far as it is there. */
  present() {
    const { recording, timeline } = this;
    const { index, mixing } = timeline.position();
    recording.want(index);
    const earlier = recording.frame(index);
    this.message(recording.failed ?? (earlier === undefined ? 'Waiting for a frame' : ''));
    this.frameReady = earlier !== undefined;
    if (this.stage.hold && this.frameReady) {
      this.stage.hold = false;
      this.stage.moved(); // the first picture may be coarse
    }
    if (earlier !== undefined) {
      const later = recording.frame(index + 1);
      const moment = [earlier, later ?? earlier, later === undefined ? 0 : mixing];
      this.fibres.show(...moment);
      this.surfaces.show(...moment);
      this.grains.show(...moment, this.head.live);
      document.body.dataset.grains = this.grains.count;
      const nearest = later !== undefined && mixing > 0.5 ? later : earlier;
      if (nearest !== this.shownFrame) {
        this.shownFrame = nearest;
        this.bodies.show(nearest.poses);
        this.showJoints();
        this.showContacts();
      }
      this.showPicked();
      this.showLegend();
    }
    this.showTime(index);
    this.stage.invalidate();
  }

  showContacts() {
    const shown = byId('show-contacts').checked && this.head.contacts;
    this.contacts.group.visible = shown;
    if (this.shownFrame !== undefined) {
      this.contacts.show(this.shownFrame.contacts);
      byId('stick').textContent = this.contacts.counts.stick;
      byId('slide').textContent = this.contacts.counts.slide;
    }
    this.stage.invalidate();
  }

  showJoints() {
    if (this.shownFrame !== undefined && this.head.joints.length > 0) {
      this.joints.show(this.shownFrame.joints, byId('joint-list'));
      this.joints.mesh.visible = byId('show-joints').checked;
    }
    this.stage.invalidate();
  }

  showTime(index) {
    const { timeline } = this;
    const slider = byId('slider');
    slider.min = timeline.first;
    slider.max = timeline.last;
    slider.value = timeline.time;
    const digits = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(timeline.last, 1e-9)))));
    byId('time').textContent = `${timeline.time.toFixed(digits)} s  #${index}`;
    byId('speed').value = timeline.speed;
    this.plots.setTime(timeline.time);
    const { dataset } = document.body;
    dataset.frame = index;
    dataset.time = timeline.time;
    dataset.unpacked = this.recording.frame(index) !== undefined;
    if (timeline.playing || (this.head.live && !this.recording.state.paused)) {
      dataset.playing = '';
    } else {
      delete dataset.playing;
    }
    byId('play').setAttribute('aria-label', dataset.playing === undefined ? 'Play' : 'Pause');
  }

  message(text) {
    byId('message').textContent = text;
  }

  beforeDraw(now) {
    if (this.timeline.playing) {
      this.timeline.advance(now, this.frameReady);
      this.stage.lastMotion = performance.now();
      this.present();
    }
  }

  afterDraw() {
    if (this.frameReady && document.body.dataset.firstPicture === undefined) {
      this.stage.finish();
      document.body.dataset.firstPicture = Math.round(performance.now());
      this.pictureDone();
    }
    document.body.dataset.stride = this.fibres.stride;
  }

  // --- the picked fibre --------------------------------------------------------------------------

  pick(rod) {
    this.picked = rod;
    this.fibres.uniforms.picked.value = rod;
    document.body.dataset.picked = rod;
    byId('picked').hidden = rod < 0;
    this.middle = undefined;
    if (rod >= 0) {
      this.openPanel(true);
    }
    this.showPicked();
    this.stage.invalidate();
  }

  showPicked() {
    if (this.picked < 0 || this.shownFrame === undefined) {
      return;
    }
    const { pointStart } = this.fibres;
    const [first, end] = [pointStart[this.picked], pointStart[this.picked + 1]];
    const { s, kappa, length } = curvatureOf(this.shownFrame, first, end);
    byId('picked-name').textContent = `Fibre ${this.picked}`;
    byId('picked-facts').textContent =
      `${brief(length)} m long, radius ${brief(this.head.radius[this.picked])} m; curvature at most ` +
      `${brief(Math.max(0, ...kappa))} 1/m${this.pickedForces(first, end)}`;
    document.body.dataset.curvature = Math.max(0, ...kappa);
    this.curvature.show(s, kappa);
    this.followPicked(first, end);
  }

  // From the least to the most of each, along the fibre.
  pickedForces(first, end) {
    if (!this.head.forces) {
      return '';
    }
    return INNER_FORCES.map(({ name, unit }, which) => {
      const [least, most] = innerRange(this.shownFrame, which, first, end);
      return `; ${name} ${brief(least)} to ${brief(most)} ${unit}`;
    }).join('');
  }

  // The eye goes with the middle of the fibre.
  followPicked(first, end) {
    const middle = this.fibres.place((first + end) >> 1, new THREE.Vector3());
    if (this.middle !== undefined && byId('follow').checked) {
      this.stage.shift(middle.clone().sub(this.middle));
    }
    this.middle = middle;
  }

  /** The pointer in normalised device coordinates, and how large these are on the screen. */
  pointerAt(event) {
    const area = this.stage.canvas.getBoundingClientRect();
    const x = (2 * (event.clientX - area.left)) / area.width - 1;
    const y = 1 - (2 * (event.clientY - area.top)) / area.height;
    return { x, y, width: area.width, height: area.height };
  }

  rayAt(event) {
    const { x, y } = this.pointerAt(event);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.stage.camera);
    return ray;
  }

  pickAt(event, reach = PICK_REACH) {
    const { x, y, width, height } = this.pointerAt(event);
    return this.fibres.pick(this.stage.camera, x, y, width, height, reach);
  }

  /** The point of a cloth under the pointer, or -1. */
  pickCloth(event) {
    return this.surfaces.pick(this.rayAt(event));
  }

  /** Where a point of the fibres or of a cloth is shown. */
  placeOf(point, out) {
    return this.surfaces.has(point) ? this.surfaces.placeOf(point, out) : this.fibres.place(point, out);
  }

  /** Where a point of the fibres or of a cloth is, in metres and on the screen; for the console and tests. */
  whereIs(point) {
    const place = this.placeOf(point, new THREE.Vector3());
    const area = this.stage.canvas.getBoundingClientRect();
    const seen = place.clone().project(this.stage.camera);
    return {
      place: place.toArray(),
      screen: [area.left + 0.5 * (1 + seen.x) * area.width, area.top + 0.5 * (1 - seen.y) * area.height],
    };
  }

  // --- the user ----------------------------------------------------------------------------------

  listen() {
    const click = (id, act) => byId(id).addEventListener('click', act);
    const input = (id, act) => byId(id).addEventListener('input', (event) => act(event.target));
    click('play', () => this.playOrPause());
    click('back', () => this.timeline.step(-1));
    click('forward', () => this.stepOn());
    click('fit', () => this.fit());
    click('theme', () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark', true));
    click('open-panel', () => this.openPanel(byId('panel').hidden));
    click('open-help', () => byId('help').showModal());
    click('unpick', () => this.pick(-1));
    input('slider', (slider) => this.timeline.seek(Number(slider.value)));
    input('speed', (select) => {
      this.timeline.speed = Number(select.value);
      this.recording.say?.(`speed ${select.value}`);
    });
    input('colour', (select) => this.setColour(select.value));
    input('thickness', (slider) => this.setThickness(slider));
    input('show-contacts', () => this.showContacts());
    input('show-joints', () => this.showJoints());
    input('force-scale', (slider) => this.setForceScale(slider));
    this.setThickness(byId('thickness'));
    this.setForceScale(byId('force-scale'));
    this.listenForClicks();
    document.addEventListener('keydown', (event) => this.key(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.setTheme(this.storedTheme()));
    new ResizeObserver(() => this.layOutPlots()).observe(byId('panel'));
  }

  // Of a live run the run itself is paused; else the time line.
  playOrPause() {
    if (this.head.live) {
      this.recording.say(this.recording.state.paused ? 'play' : 'pause');
      this.timeline.atEnd = true;
    } else {
      this.timeline.toggle();
    }
  }

  stepOn() {
    if (this.head.live && this.timeline.time >= this.timeline.last) {
      this.recording.say('step');
    } else {
      this.timeline.step(1);
    }
  }

  // A live run: what it says, and what may be said to it.
  listenLive() {
    const { recording, timeline } = this;
    this.hand = new Hand(this, recording);
    timeline.atEnd = true;
    timeline.speed = recording.state.speed;
    byId('live').hidden = false;
    byId('friction').parentElement.hidden = this.head.mu < 0;
    const sliders = [
      ['gravity', (value) => `gravity ${this.head.gravity[0]} ${this.head.gravity[1]} ${value}`],
      ['friction', (value) => `friction ${value}`],
    ];
    for (const [id, words] of sliders) {
      byId(id).addEventListener('input', ({ target }) => recording.say(words(target.value)));
    }
    this.plots.setLog(recording.log);
    let drawn = 0;
    recording.onFrame = () => {
      if (timeline.atEnd) {
        timeline.time = timeline.last;
      }
      timeline.time = Math.max(timeline.time, timeline.first);
      this.showState(recording.state);
      this.present();
      this.hand.show();
      if (performance.now() - drawn > 500) {
        drawn = performance.now();
        this.plots.refresh();
      }
    };
  }

  showState({ paused, speed, gravity, mu }) {
    this.timeline.speed = speed;
    for (const [id, value] of [['gravity', gravity[2]], ['friction', mu]]) {
      if (document.activeElement !== byId(id)) {
        byId(id).value = value;
      }
      byId(id).nextElementSibling.textContent = brief(value);
    }
    document.body.dataset.paused = paused;
    document.body.dataset.gravity = gravity[2];
    document.body.dataset.friction = mu;
    const largest = this.shownFrame ? this.contacts.largest : 0;
    this.contacts.forceMax = Math.max(0.98 * this.contacts.forceMax, largest);
  }

  // A click that did not drag picks.
  listenForClicks() {
    const { canvas } = this.stage;
    let down = null;
    canvas.addEventListener('pointerdown', (event) => {
      down = event;
    });
    canvas.addEventListener('pointerup', (event) => {
      if (down !== null && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 5 && event.button === 0) {
        const point = this.pickAt(event);
        this.pick(point < 0 ? -1 : this.fibres.rodOf(point));
      }
      down = null;
    });
  }

  key(event) {
    if (event.target.matches('input:not([type="range"]):not([type="checkbox"]), select, dialog *') || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const sign = event.shiftKey ? -1 : 1;
    const count = this.fibres.rodCount;
    const keys = {
      ' ': () => this.playOrPause(),
      ArrowLeft: () => this.timeline.step(event.shiftKey ? -10 : -1),
      ArrowRight: () => (event.shiftKey ? this.timeline.step(10) : this.stepOn()),
      Home: () => this.timeline.seek(this.timeline.first),
      End: () => this.timeline.seek(this.timeline.last),
      '+': () => this.timeline.changeSpeed(1),
      '=': () => this.timeline.changeSpeed(1),
      '-': () => this.timeline.changeSpeed(-1),
      f: () => this.fit(),
      x: () => this.fit(new THREE.Vector3(sign, 0, 0)),
      y: () => this.fit(new THREE.Vector3(0, -sign, 0)),
      z: () => this.fit(new THREE.Vector3(0, -1e-3, sign)),
      n: () => count > 0 && this.pick((this.picked + sign + count) % count),
      c: () => byId('show-contacts').click(),
      j: () => byId('show-joints').click(),
      p: () => this.openPanel(byId('panel').hidden),
      t: () => byId('theme').click(),
      '?': () => byId('help').showModal(),
      Escape: () => this.pick(-1),
    };
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act !== undefined && !(event.key === ' ' && event.target.matches('button'))) {
      event.preventDefault();
      act();
    }
  }

  /** Fits the picked fibre, or all that is there now. */
  fit(direction) {
    const box = new THREE.Box3();
    const { pointStart, pointCount } = this.fibres;
    const range = this.picked < 0 ? [0, pointCount] : [pointStart[this.picked], pointStart[this.picked + 1]];
    const place = new THREE.Vector3();
    if (this.shownFrame !== undefined) {
      for (let i = range[0]; i < range[1]; ++i) {
        box.expandByPoint(this.fibres.place(i, place));
      }
      if (this.picked < 0) {
        this.bodies.extend(box);
        this.surfaces.extend(box);
        this.grains.extend(box);
      }
    }
    this.stage.fit(box.isEmpty() ? this.wholeBox : box, direction);
  }

  openPanel(open) {
    byId('panel').hidden = !open;
    byId('open-panel').setAttribute('aria-expanded', open);
    this.layOutPlots();
  }

  layOutPlots() {
    const width = byId('panel').hidden ? 0 : byId('plots').clientWidth;
    if (width !== this.plotWidth) {
      this.plotWidth = width;
      this.buildPlots();
    }
  }

  buildPlots() {
    this.plots.build();
    this.curvature.build();
    this.showPicked();
  }

  setColour(kind) {
    this.fibres.uniforms.kappaMax.value = 0;
    if (kind === 'curvature' && this.shownFrame !== undefined) {
      this.fibres.uniforms.kappaMax.value = this.typicalCurvature() || 1;
    }
    this.surfaces.colourByStrain(kind === 'strain');
    this.fibres.setInner(INNER_FORCES.findIndex(({ name }) => name === kind));
    this.grains.setColour(GRAINS_COLOURS.findIndex(({ name }) => name === kind));
    this.colouredBy = kind;
    this.showLegend();
    this.stage.invalidate();
  }

  // The ends of the colours: what is signed has its blue at the least.
  showLegend() {
    const legends = {
      curvature: () => ['heat', 0, this.fibres.uniforms.kappaMax.value, '1/m'],
      strain: () => ['heat', 0, this.surfaces.strainMax, ''],
    };
    INNER_FORCES.forEach(({ name, unit }, which) => {
      const most = this.fibres.innerMost[which];
      const signed = name === 'tension' || name === 'twist';
      legends[name] = () => [signed ? 'signed' : 'sized', signed ? -most : 0, most, unit];
    });
    GRAINS_COLOURS.forEach(({ name, unit }, which) => {
      const [least, most] = this.grains.ends[which] ?? [0, 0];
      legends[name] = () => ['heat', least, most, unit];
    });
    const legend = legends[this.colouredBy]?.();
    byId('colour-legend').hidden = legend === undefined;
    if (legend !== undefined) {
      const [scale, least, most, unit] = legend;
      byId('colour-legend').dataset.scale = scale;
      byId('colour-least').textContent = least === 0 ? '0' : brief(least);
      byId('colour-most').textContent = `${brief(most)} ${unit}`;
    }
  }

  // Twice the mean of the largest curvature of some fibres, as the end of the colour scale.
  typicalCurvature() {
    const { pointStart, rodCount } = this.fibres;
    const stride = Math.max(1, Math.floor(rodCount / 50));
    let sum = 0;
    let count = 0;
    for (let rod = 0; rod < rodCount; rod += stride) {
      sum += Math.max(0, ...curvatureOf(this.shownFrame, pointStart[rod], pointStart[rod + 1]).kappa);
      ++count;
    }
    return count > 0 ? (1.5 * sum) / count : 0;
  }

  setThickness(slider) {
    const factor = 10 ** Number(slider.value);
    slider.nextElementSibling.textContent = `${brief(Number(factor.toPrecision(2)))}×`;
    this.fibres.uniforms.thickness.value = factor;
    this.stage.invalidate();
  }

  setForceScale(slider) {
    this.contacts.scale = 10 ** Number(slider.value);
    slider.nextElementSibling.textContent = `${brief(Number(this.contacts.scale.toPrecision(2)))}×`;
    this.showContacts();
  }

  // --- light and dark ----------------------------------------------------------------------------

  storedTheme() {
    let stored = null;
    try {
      stored = localStorage.getItem('tendril-theme');
    } catch {
      // a page from disk may not be allowed to remember
    }
    return stored ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  }

  setTheme(theme, keep) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    if (keep) {
      try {
        localStorage.setItem('tendril-theme', theme);
      } catch {
        // see above
      }
    }
    this.fibres.setColours(theme === 'dark');
    this.contacts.setColours(cssColour('--stick'), cssColour('--slide'), this.stage.renderer.getPixelRatio());
    this.joints.setPixelRatio(this.stage.renderer.getPixelRatio());
    this.showContacts();
    this.stage.setBackground(cssColour('--back'));
    this.buildPlots();
  }
}

async function start() {
  const head = JSON.parse(byId('tendril-head').textContent);
  const page = new Page(head.live ? new LiveRecording(head) : new Recording(head));
  window.tendril = page;
  await page.firstPicture; // plots can wait
  if (!head.live) {
    page.plots.setLog(await readLog(head.log));
  }
}

start().catch((error) => {
  byId('message').textContent = error.message;
  console.error(error);
});
