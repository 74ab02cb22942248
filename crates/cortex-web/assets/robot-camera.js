// What a camera sees. One request at a time, each of which waits for a newer picture than the one that is shown.

import { bdi, h, remake, setText } from './dom.js';
import { age, clip, cut } from './format.js';
import { choice } from './robot-parts.js';

/** Pictures come at most so often. */
const EVERY_MS = 100;
/** Without a picture for so long, the page says so. */
const STILL_MS = 2000;

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export function createCamera() {
  const topic = choice('Camera', () => { tag = null; shownAt = null; problem = ''; forget(); });
  const canvas = h('canvas', { class: 'camera-canvas', role: 'img', 'aria-label': 'Picture of the camera', hidden: true });
  const still = h('p.camera-still', { role: 'status', hidden: true });
  const about = h('p.quiet-text');
  const empty = h('p.empty', 'No part of the robot publishes pictures (sensor_msgs/Image or CompressedImage).');
  const root = h('section.panel.camera-panel', { 'aria-label': 'Camera' }, h('header.panel-head', h('h2', 'Camera'), topic.root),
    empty, h('div.camera-frame', canvas, still), about);
  let tag = null;
  let shownAt = null;
  let askedSince = 0;
  let problem = '';
  let looking = false;
  let running = false;
  let came = [];

  function forget() {
    askedSince = performance.now();
    came = [];
    canvas.hidden = true;
    tell();
  }

  function tell() {
    const has = Boolean(topic.value());
    empty.hidden = has;
    const since = performance.now() - (shownAt ?? askedSince);
    const isStill = has && (problem !== '' || since > STILL_MS);
    still.hidden = !isStill;
    canvas.classList.toggle('is-still', isStill);
    const words = shownAt === null ? 'No picture yet' : `No picture for ${age(since)}`;
    remake(still, `${words}|${problem}`, () => [words, problem ? ': ' : '.', bdi(cut(problem, 300))]);
  }

  async function once(name) {
    const reply = await fetch(`/api/v1/robot/picture?${new URLSearchParams({ topic: name })}`, { cache: 'no-store', headers: tag ? { 'If-None-Match': tag } : {} });
    if (name !== topic.value()) return;
    if (reply.status === 304) {
      // What the camera sends looks as before: it is alive all the same.
      shownAt = performance.now() - Number(reply.headers.get('cortex-age-ms'));
      return void (problem = '');
    }
    if (reply.status === 204) return void (problem = 'nothing has come of this topic yet. Its node may be quiet, or may have just been started');
    if (!reply.ok) {
      problem = (await reply.json().catch(() => null))?.reason ?? `the robot answered ${reply.status}`;
      return void await pause(500);
    }
    const bitmap = await createImageBitmap(await reply.blob());
    const told = JSON.parse(reply.headers.get('cortex-about'));
    tag = reply.headers.get('etag');
    problem = '';
    shownAt = performance.now() - Number(reply.headers.get('cortex-age-ms'));
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    canvas.hidden = false;
    came = [...came.filter((at) => performance.now() - at < 3000), performance.now()];
    const { size } = told;
    const rate = came.length > 3 ? Math.round(((came.length - 1) * 1000) / (came[came.length - 1] - came[0])) : 0;
    setText(about, `${clip(name, 80)} · ${size[0]} × ${size[1]} · ${clip(told.encoding, 40)}${rate ? ` · ${rate} a second` : ''}`);
    bitmap.close();
  }

  async function run() {
    if (running) return;
    running = true;
    askedSince = performance.now();
    while (looking) {
      const begunAt = performance.now();
      try {
        if (topic.value()) await once(topic.value());
      } catch {
        problem = 'the picture does not arrive, or can\'t be read';
        await pause(500);
      }
      tell();
      await pause(Math.max(topic.value() ? 0 : 500, EVERY_MS - (performance.now() - begunAt)));
    }
    running = false;
  }

  setInterval(() => { if (looking) tell(); }, 500);
  return {
    root,
    offer(cameras) { topic.offer(cameras.map((one) => one.topic)); tell(); },
    look(next) {
      looking = next;
      if (next) run();
    },
  };
}
