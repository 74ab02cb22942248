// A recorded mission, played again: its events up to a moment, shown as the live view shows them.

import { h, setAttribute, setText } from './dom.js';
import { duration } from './format.js';
import { createMissionPanel } from './mission.js';
import { applyEvent, createMission } from './state.js';

const SPEEDS = [1, 5, 20];

export function createReplay({ events, recorded, actions, seenBasis, compact }) {
  const times = events.map((event) => Date.parse(event.time));
  const startMs = times[0] ?? 0;
  const endMs = times[times.length - 1] ?? 0;
  const length = Math.max(1, endMs - startMs);
  const panel = createMissionPanel({ actions, seenBasis, compact, isReplay: true });
  const play = h('button', { type: 'button', onclick: () => (playing ? pause() : start()) }, 'Play');
  const slider = h('input', { type: 'range', min: 0, max: 1000, value: 1000, 'aria-label': 'Moment of the mission', oninput: () => { pause(); seek((Number(slider.value) / 1000) * length); } });
  const speed = h('select', { 'aria-label': 'Speed' }, SPEEDS.map((times) => h('option', { value: times }, `×${times}`)));
  const back = h('button', { type: 'button', class: 'quiet', 'aria-label': 'One event back', onclick: () => jump(-1) }, '◂');
  const forth = h('button', { type: 'button', class: 'quiet', 'aria-label': 'One event on', onclick: () => jump(1) }, '▸');
  const place = h('span.place');
  const bar = h('div.replay-bar', { role: 'group', 'aria-label': 'Replay' }, play, back, forth, slider, place, speed);
  const root = h('div.replay', events.length ? bar : h('p.empty', 'Nothing of this mission was recorded.'), panel.root);
  let mission = createMission(recorded.mission);
  let applied = 0;
  let atMs = length;
  let playing = null;

  function seek(toMs) {
    atMs = Math.min(length, Math.max(0, toMs));
    take(times.findIndex((time) => time - startMs > atMs));
  }

  /** Shows the first `count` events; -1 is all of them. */
  function take(count) {
    const wanted = count < 0 ? events.length : count;
    if (wanted < applied) {
      mission = createMission(recorded.mission);
      applied = 0;
    }
    while (applied < wanted) applyEvent(mission, events[applied++]);
    setText(place, `${duration(atMs)} of ${duration(length)} · event ${applied} of ${events.length}`);
    slider.value = String(Math.round((atMs / length) * 1000));
    setAttribute(slider, 'aria-valuetext', `${duration(atMs)} of ${duration(length)}`);
    panel.update(mission, { nowMs: startMs + atMs, budget: null, task: recorded.task, phase: 'unknown' });
  }

  function jump(by) {
    pause();
    const count = Math.min(events.length, Math.max(1, applied + by));
    atMs = times[count - 1] - startMs;
    take(count);
  }

  function start() {
    if (atMs >= length) seek(0);
    let before = performance.now();
    const tick = (now) => {
      seek(atMs + (now - before) * Number(speed.value));
      before = now;
      if (atMs >= length) pause();
      else playing = requestAnimationFrame(tick);
    };
    playing = requestAnimationFrame(tick);
    setText(play, 'Pause');
  }

  function pause() {
    cancelAnimationFrame(playing);
    playing = null;
    setText(play, 'Play');
  }

  seek(length);
  return { root, destroy() { pause(); panel.destroy(); } };
}
