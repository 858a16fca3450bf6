// The hand in a live run: takes an end of a fibre (with Shift any point of a fibre or of a cloth), and
// moves it in the plane that faces the eye.
import * as THREE from 'three';

const REACH = 16; // px
const END = 0.12; // share of a fibre that counts as its end

export class Hand {
  constructor(page, recording) {
    this.page = page;
    this.recording = recording;
    this.point = -1;
    this.target = new THREE.Vector3();
    this.line = new THREE.Line(
      new THREE.BufferGeometry().setFromPoints([this.target, this.target]),
      new THREE.LineBasicMaterial({ color: 0xd55e00, depthTest: false }),
    );
    this.line.frustumCulled = false;
    this.line.visible = false;
    page.stage.scene.add(this.line);
    const { canvas } = page.stage;
    // before the camera's controls hear of it
    canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(name, () => this.up());
    }
  }

  down(event) {
    const point = event.button === 0 ? this.page.pickAt(event, REACH) : -1;
    this.point = point < 0 ? -1 : this.endNear(point, event.shiftKey);
    if (this.point < 0 && event.button === 0 && event.shiftKey) {
      this.point = this.page.pickCloth(event);
    }
    if (this.point < 0) {
      return;
    }
    this.page.stage.controls.enabled = false;
    this.page.stage.canvas.setPointerCapture(event.pointerId);
    this.page.placeOf(this.point, this.target);
    this.say('grab');
  }

  // The end that a point is near to, or the point itself when any will do; else -1.
  endNear(point, any) {
    const { pointStart } = this.page.fibres;
    const rod = this.page.fibres.rodOf(point);
    const [first, last] = [pointStart[rod], pointStart[rod + 1] - 1];
    const share = (point - first) / Math.max(1, last - first);
    return share <= END ? first : share >= 1 - END ? last : any ? point : -1;
  }

  move(event) {
    if (this.point < 0) {
      return;
    }
    const { camera } = this.page.stage;
    const ray = this.page.rayAt(event);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), this.target);
    if (ray.ray.intersectPlane(plane, this.target) !== null) {
      this.say('move');
    }
  }

  say(verb) {
    const place = this.target.toArray().map((x) => x.toPrecision(9)).join(' ');
    this.recording.say(verb === 'grab' ? `grab ${this.point} ${place}` : `move ${place}`);
    document.body.dataset.target = place;
    this.show();
  }

  up() {
    if (this.point >= 0) {
      this.point = -1;
      this.recording.say('drop');
      this.page.stage.controls.enabled = true;
      this.show();
    }
  }

  /** A line from the point held to where it is wanted. */
  show() {
    this.line.visible = this.point >= 0;
    if (this.point >= 0) {
      const from = this.page.placeOf(this.point, new THREE.Vector3());
      document.body.dataset.held = from.toArray().join(' ');
      this.line.geometry.setFromPoints([from, this.target]);
    }
    this.page.stage.invalidate();
  }
}
