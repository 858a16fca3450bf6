// For tests in a real browser: finds Chromium, counts checks, looks at pictures.
import { createRequire } from 'node:module';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const require = createRequire(new URL('../../viewer/package.json', import.meta.url));
const SKIPPED = 77; // what ctest takes for it

export const work = process.env.TENDRIL_PAGE_WORK;
mkdirSync(work, { recursive: true });

function findChromium() {
  const folders = (process.env.PATH ?? '').split(':');
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
  const places = [process.env.CHROMIUM, ...folders.flatMap((folder) => names.map((name) => join(folder, name)))];
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Starts Chromium with software rendering; ends the test as skipped where there is none. */
export async function launch() {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    console.log('skipped: there is no Chromium; scripts/setup packages-dev installs it');
    console.log('0 passed, 0 failed, 1 skipped');
    process.exit(SKIPPED);
  }
  const { chromium } = require('playwright-core');
  return chromium.launch({
    executablePath,
    args: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-sandbox', '--disable-gpu-vsync'],
  });
}

let passed = 0;
let failed = 0;
let failures = 0;

export function check(good, what) {
  if (!good) {
    ++failures;
    console.log(`  FAILED: ${what}`);
  }
}

export function equal(seen, expected, what) {
  check(seen === expected, `${what} is ${seen}, expected ${expected}`);
}

export function near(seen, expected, tolerance, what) {
  check(Math.abs(seen - expected) <= tolerance, `${what} is ${seen}, expected ${expected} within ${tolerance}`);
}

export async function test(name, run) {
  console.log(name);
  failures = 0;
  try {
    await run();
  } catch (error) {
    check(false, error.stack ?? error);
  }
  if (failures > 0) {
    ++failed;
  } else {
    ++passed;
  }
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/** A page with what it did wrong: requests beyond itself, and anything it complained about. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) {
      faults.push(`requested ${request.url()}`);
    }
  });
  await page.goto(url, { waitUntil: 'commit' });
  return { page, faults, context };
}

export const shown = (page) => page.waitForFunction(() => document.body?.dataset.firstPicture !== undefined, null, { timeout: 120000 });

export const data = (page, name) => page.evaluate((key) => document.body.dataset[key], name);

export const until = (page, name, value) =>
  page.waitForFunction(([key, wanted]) => document.body.dataset[key] === wanted, [name, String(value)], { timeout: 120000 });

/** Waits until the picture has its full detail, unless it plays, and two more have been drawn. */
export async function rest(page) {
  await page.waitForFunction(() => {
    const { stage, timeline } = window.tendril;
    return timeline.playing || performance.now() - stage.lastMotion > 200; // stage.js: REST
  }, null, { timeout: 60000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The picture as the user sees it, and its pixels near a colour: [x, y] each. */
export const look = (page, name, colour, tolerance = 60) => takePicture(page, name, colour, tolerance, false);

/** Of as many as there may be, only how many. */
export const cover = (page, name, colour, tolerance) => takePicture(page, name, colour, tolerance, true);

async function takePicture(page, name, colour, tolerance, counted) {
  await rest(page);
  const png = await page.screenshot({ path: join(work, `${name}.png`) });
  return page.evaluate(
    async ([source, [r, g, b], most, onlyCount]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${source}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const area = document.getElementById('canvas').getBoundingClientRect();
      const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
      const found = [];
      for (let y = Math.ceil(area.top) + 60; y < area.bottom - 40; ++y) {
        for (let x = Math.ceil(area.left); x < area.right; ++x) {
          const at = 4 * (y * image.width + x);
          if (Math.hypot(bytes[at] - r, bytes[at + 1] - g, bytes[at + 2] - b) < most) {
            found.push([x, y]);
          }
        }
      }
      return onlyCount ? found.length : found;
    },
    [png.toString('base64'), colour, tolerance, counted],
  );
}
