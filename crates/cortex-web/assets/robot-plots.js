// Numbers of the robot over the last minutes, as lines. The server keeps them only while somebody looks.

import { bdi, h, keyed, remake, s, setAttribute, setText } from './dom.js';
import { clip, cut, number } from './format.js';
import { linePath } from './robot-lines.js';

const SPAN_MS = 5 * 60 * 1000;
const LEAST_SPAN_MS = 30 * 1000;
const MOST_PLOTS = 8;
const [WIDTH, HEIGHT] = [320, 64];
const keyOf = (one) => `${one.topic}:${one.field}`;

export function createPlots() {
  const select = h('select', { id: 'plot-choice' });
  const add = h('button', { type: 'button', class: 'quiet', onclick: () => { if (select.value) wantedKeys.add(select.value); update(); } }, 'Plot');
  const chooser = h('div.row.plot-chooser', h('label', { for: 'plot-choice' }, 'Add'), select, add);
  const list = h('ul.plots');
  const empty = h('p.empty', 'No number is plotted. Choose one that the robot publishes.');
  const root = h('section.panel', { 'aria-label': 'Numbers' }, h('header.panel-head', h('h2', 'Numbers')), list, empty, chooser);
  let offered = [];
  let begun = false;
  const wantedKeys = new Set();
  /** By key: the points so far, and what is wrong. */
  const known = new Map();
  let nowMs = 0;

  function make(key) {
    const line = s('path.plot-line');
    const picture = s('svg.plot', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' }, line);
    const value = h('strong.plot-value');
    const span = h('span.quiet-text');
    const remove = h('button', { type: 'button', class: 'quiet plot-remove', 'aria-label': `Remove ${clip(key, 120)}`, onclick: () => { wantedKeys.delete(key); known.delete(key); update(); } }, '×');
    const name = h('span.plot-name', bdi(clip(key.slice(0, key.indexOf(':')), 60)), ' ', h('span.quiet-text', bdi(clip(key.slice(key.indexOf(':') + 1), 60))));
    return Object.assign(h('li', h('div.plot-head', name, value, remove), picture, span), { parts: { line, picture, value, span } });
  }

  function redraw(item, key) {
    const { line, picture, value, span } = item.parts;
    const { points, problem } = known.get(key) ?? { points: [], problem: null };
    const source = offered.find((one) => keyOf(one) === key);
    const show = (one) => (source?.is_charge ? `${Math.round(one * 100)} %` : number(one));
    // What has come fills the picture.
    const fromMs = Math.min(nowMs - LEAST_SPAN_MS, points.length ? points[0][0] : nowMs);
    const drawn = linePath(points, fromMs, nowMs, WIDTH, HEIGHT, source?.is_charge ? [0, 1] : null);
    setAttribute(line, 'd', drawn.path);
    const last = points.length ? points[points.length - 1][1] : null;
    setText(value, last === null ? '–' : show(last));
    const words = problem ?? (last === null ? 'Nothing has come yet.' : `between ${show(drawn.least)} and ${show(drawn.greatest)} in the last ${points.length > 1 ? Math.max(1, Math.ceil((points[points.length - 1][0] - points[0][0]) / 60000)) : 1} min`);
    setText(span, cut(words, 300));
    setAttribute(picture, 'aria-label', `${clip(key, 120)}: ${last === null ? 'nothing yet' : `${show(last)} now, ${words}`}`);
  }

  function update() {
    keyed(list, [...wantedKeys], (key) => key, make, redraw);
    empty.hidden = wantedKeys.size > 0;
    chooser.hidden = !offered.length;
    add.disabled = wantedKeys.size >= MOST_PLOTS;
  }

  return {
    root,
    offer(numbers) {
      offered = numbers;
      if (!begun && numbers.length) {
        begun = true;
        for (const one of numbers.filter((charge) => charge.is_charge).slice(0, 2)) wantedKeys.add(keyOf(one));
      }
      remake(select, JSON.stringify(numbers), () => numbers.map((one) => h('option', { value: keyOf(one) }, `${clip(one.topic, 60)} · ${clip(one.field, 60)}`)));
      update();
    },
    wanted() {
      if (!wantedKeys.size) return {};
      const ends = [...wantedKeys].map((key) => { const points = known.get(key)?.points; return points?.length ? points[points.length - 1][0] : 0; });
      return { plots: [...wantedKeys].join(','), since: Math.min(...ends) };
    },
    show(scene) {
      nowMs = scene.at_ms;
      for (const plot of scene.plots) {
        const key = keyOf(plot);
        const before = known.get(key)?.points ?? [];
        const end = before.length ? before[before.length - 1][0] : 0;
        const points = [...before, ...plot.points.filter(([at]) => at > end)].filter(([at]) => at > nowMs - SPAN_MS);
        known.set(key, { points, problem: plot.problem });
      }
      update();
    },
  };
}
