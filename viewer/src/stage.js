// The picture: renderer, camera, level of detail, and the scale in the corner.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { brief } from './plots.js';

const SLOW = 45; // ms for a picture above which motion is drawn coarser
const QUICK = 14;
const FEW = 20000; // points that any machine draws
const REST = 160; // ms without motion until the full picture

function softwareRendering() {
  const gl = document.createElement('canvas').getContext('webgl2');
  const facts = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = facts ? gl.getParameter(facts.UNMASKED_RENDERER_WEBGL) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return { there: gl !== null && gl !== undefined, slow: /swiftshader|llvmpipe|software/i.test(name) };
}

export class Stage {
  constructor(canvas) {
    const graphics = softwareRendering();
    if (!graphics.there) {
      throw new Error('This browser shows no WebGL 2, which the picture needs.');
    }
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !graphics.slow });
    this.renderer.debug.checkShaderErrors = false; // it would wait for the compiler
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // colours are used as they are
    this.renderer.setPixelRatio(graphics.slow ? 1 : Math.min(devicePixelRatio, 2));
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', () => this.moved());
    this.reach = 1;
    this.nearest = 200; // what is nearer than the radius of what is looked at over this is not seen
    this.stride = graphics.slow ? 4 : 1;
    this.lastMotion = -Infinity;
    this.hold = false; // no pictures yet
    this.beforeDraw = () => {};
    this.afterDraw = () => {};
    this.drawnAt = undefined;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  /** For what lies in a plane: from far away, so that what goes along the view is seen end on. */
  narrow() {
    this.camera.fov = 8;
    this.nearest = 50;
    this.camera.updateProjectionMatrix();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (width === 0 || height === 0) {
      return;
    }
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  /** Something moves: until it rests, pictures may be coarser. */
  moved() {
    this.lastMotion = performance.now();
    this.invalidate();
  }

  invalidate() {
    this.asked ??= requestAnimationFrame((now) => {
      this.asked = undefined;
      this.draw(now);
    });
  }

  /** Waits until the picture asked for has been drawn. */
  finish() {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  draw(now) {
    this.beforeDraw(now);
    if (this.hold) {
      return;
    }
    this.controls.update();
    const moving = performance.now() - this.lastMotion < REST;
    this.adaptStride(now, moving);
    if (this.fibres) {
      this.fibres.setStride(moving && this.fibres.pointCount > FEW ? this.stride : 1);
      const { clientHeight } = this.canvas;
      this.fibres.uniforms.pixel.value = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(clientHeight, 1);
    }
    this.grains?.setScale(this.canvas.height / (2 * Math.tan((this.camera.fov * Math.PI) / 360)));
    this.renderer.render(this.scene, this.camera);
    this.drawScale();
    this.afterDraw();
    clearTimeout(this.resting);
    if (moving && this.stride > 1) {
      this.resting = setTimeout(() => this.invalidate(), REST + 20);
    }
  }

  // The time from picture to picture while something moves tells what this machine can do.
  adaptStride(now, moving) {
    const took = this.drawnAt === undefined ? Infinity : now - this.drawnAt;
    this.drawnAt = moving ? now : undefined;
    if (!moving || took > 2000) {
      return;
    }
    this.pace = 0.7 * (this.pace ?? took) + 0.3 * took;
    const worth = this.fibres && this.fibres.pointCount > FEW * this.stride;
    if (this.pace > SLOW && this.stride < 16 && worth) {
      this.stride *= 2;
      this.pace = 0.5 * (SLOW + QUICK);
    } else if (this.pace < QUICK && this.stride > 1) {
      this.stride /= 2;
      this.pace = 0.5 * (SLOW + QUICK);
    }
  }

  /** Looks at a box from the present direction, or from a given one. */
  fit(box, direction) {
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 1e-9);
    const way = direction ?? this.camera.position.clone().sub(this.controls.target);
    if (way.lengthSq() === 0) {
      way.set(1, -2, 0.8);
    }
    const half = (Math.min(this.camera.fov, this.camera.fov * this.camera.aspect) * Math.PI) / 360;
    way.setLength((1.05 * radius) / Math.sin(half));
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).add(way);
    this.camera.near = radius / this.nearest;
    this.camera.far = radius * 400;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.invalidate();
  }

  /** Moves the eye and what it looks at. */
  shift(by) {
    this.camera.position.add(by);
    this.controls.target.add(by);
  }

  // A bar of a round length at the distance of what is looked at.
  drawScale() {
    const bar = document.querySelector('#scale i');
    const distance = this.camera.position.distanceTo(this.controls.target);
    const perPixel = (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(this.canvas.clientHeight, 1);
    const most = 120 * perPixel;
    const power = 10 ** Math.floor(Math.log10(most));
    const length = power * [5, 2, 1].find((k) => k * power <= most);
    bar.style.width = `${length / perPixel}px`;
    const [unit, factor] = length >= 1 ? ['m', 1] : length >= 1e-3 ? ['mm', 1e3] : ['µm', 1e6];
    bar.nextElementSibling.textContent = `${brief(length * factor)} ${unit}`;
  }

  setBackground(colour) {
    this.scene.background = new THREE.Color().setStyle(colour, THREE.LinearSRGBColorSpace);
    this.invalidate();
  }
}
