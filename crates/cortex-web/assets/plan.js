// The picture of a plan: an ordered list of buttons, one for each step, laid out as a graph over an SVG of edges and groups.
// Without the picture (list view, screen reader) the same list is read in order.

import { h, icon, keyed, s, setAttribute, setIcon, setText } from './dom.js';
import { age, clip, duration, flatten, json } from './format.js';
import { layoutPlan } from './layout.js';
import { holdupWords, millis, stepState } from './state.js';

const WORDS = { pending: 'pending', waiting: 'waiting', running: 'running', success: 'done', failed: 'failed', halted: 'halted', skipped: 'skipped', blocked: 'never began' };
export const STATES = Object.entries(WORDS);
let pictures = 0;

/** A plan's picture. `onPick(number)` is called with the step that a person chooses. */
export function createPlan({ onPick }) {
  const marker = `arrow-${pictures += 1}`;
  const lines = s('svg.plan-lines', { 'aria-hidden': 'true', focusable: 'false' });
  const list = h('ol.plan-steps');
  const canvas = h('div.plan-canvas', lines, list);
  const root = h('div.plan', canvas);
  let plan = null;
  let picked = null;
  let drawn = '';
  let asList = false;
  let nowMs = 0;

  let width = 0;

  const observer = new ResizeObserver((entries) => {
    width = Math.floor(entries[entries.length - 1].contentRect.width);
    draw();
  });
  observer.observe(root);

  function draw() {
    if (!plan || !width) return;
    const states = plan.steps.map((step) => `${step.number}${stepState(step)[0]}`).join();
    const key = `${plan.key}|${width}|${asList}|${states}`;
    if (key === drawn) return;
    drawn = key;
    root.classList.toggle('as-list', asList);
    lines.replaceChildren();
    if (asList) {
      canvas.removeAttribute('style');
      for (const item of list.children) item.removeAttribute('style');
      return;
    }
    const picture = layoutPlan(plan.steps, plan.groups, width);
    canvas.style.height = `${picture.height}px`;
    canvas.style.width = `${picture.width}px`;
    setAttribute(lines, 'width', picture.width);
    setAttribute(lines, 'height', picture.height);
    lines.append(s('defs', s('marker', { id: marker, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, s('path', { d: 'M0 0.5L7.5 4L0 7.5z', class: 'arrowhead' }))));
    plan.groups.forEach((group, index) => {
      picture.boxes[index].forEach((box) => lines.append(s('rect.group', { x: box.x, y: box.y, width: box.width, height: box.height, rx: 8 })));
    });
    const done = new Set(plan.steps.filter((step) => step.status === 'SUCCESS').map((step) => `s${step.number}`));
    for (const edge of picture.edges) {
      lines.append(s('path', { class: done.has(edge.from) ? 'edge done' : 'edge', d: edge.path, 'marker-end': `url(#${marker})` }));
    }
    plan.groups.forEach((group, index) => {
      const box = picture.boxes[index][0];
      const most = group.at_once < group.steps.length ? ` · ${group.at_once} at once` : '';
      if (box) lines.append(s('text.group-name', { x: box.x + 8, y: box.y + 13 }, clip(group.name, Math.floor(box.width / 9)) + most));
    });
    const place = new Map(picture.nodes.map((node) => [node.number, node]));
    for (const item of list.children) {
      const node = place.get(item.step);
      if (!node) continue;
      item.style.transform = `translate(${node.x}px, ${node.y}px)`;
      item.style.width = `${picture.size.width}px`;
      item.style.height = `${picture.size.height}px`;
    }
  }

  function make(step) {
    const sign = icon('pending');
    const parts = {
      given: h('bdi.node-given', { dir: 'auto' }), sign, tool: h('span.node-tool'), component: h('bdi.node-component', { dir: 'auto' }),
      method: h('bdi.node-method', { dir: 'auto' }), state: h('span.node-state'), marks: h('span.node-marks'),
      after: h('span.unseen'),
    };
    parts.tool.append(parts.method);
    const button = h('button', { type: 'button', class: 'node', onclick: () => onPick(step.number) },
      h('span.node-head', sign, h('span.node-number', String(step.number)), parts.tool, parts.marks),
      parts.given,
      h('span.node-foot', parts.component, parts.state), parts.after);
    const item = h('li', button);
    Object.assign(item, { step: step.number, parts, button });
    return item;
  }

  function update(item, step) {
    const { parts, button } = item;
    const state = stepState(step);
    const cutAt = Math.max(step.tool.lastIndexOf('.'), step.tool.lastIndexOf('/'));
    setIcon(parts.sign, state);
    setText(parts.method, clip(step.tool.slice(cutAt + 1), 60));
    setText(parts.component, clip(cutAt > 0 ? step.tool.slice(0, cutAt) : '', 60));
    setText(parts.given, clip(flatten(step.arguments).map(([, one]) => (typeof one === 'string' ? one : json(one))).join(', '), 60));
    let words = state === 'pending' ? '' : WORDS[state];
    if (state === 'running') words = age(nowMs - step.startedMs);
    else if (state === 'waiting') words = step.holdup.resource ? `needs ${clip(step.holdup.resource, 20)}` : holdupWords(step).replace('waits for ', '');
    else if (state === 'blocked' && step.status === 'FAILED') words = 'halted';
    else if (state === 'success' && step.report?.duration) words = duration(millis(step.report.duration));
    setText(parts.state, words);
    const marks = [step.conflicts.length ? 'lock' : '', step.problems.length || step.stalled ? 'warning' : '', step.holdup?.kind === 'person' ? 'person' : ''].filter(Boolean);
    keyed(parts.marks, marks, (name) => name, (name) => icon(name));
    setText(parts.after, `${WORDS[state]}${step.holdup ? `: ${holdupWords(step)}` : ''}${step.after.length ? `, after ${step.after.join(' and ')}` : ''}${step.conflicts.length ? `, resource conflict on ${step.conflicts[0].resource}` : ''}`);
    const priority = { CRITICAL: ' is-critical', HIGH: ' is-high' }[step.priority] ?? '';
    setAttribute(button, 'class', `node state-${state}${priority}${step.report?.verification === 'verified' ? ' is-verified' : ''}`);
    setAttribute(button, 'aria-pressed', String(picked === step.number));
  }

  return {
    root,
    setList(value) {
      asList = value;
      draw();
    },
    /** `plan.key` tells plans apart, of this mission and of others. */
    update(next, pickedStep, now) {
      if (plan && plan.key !== next.key) keyed(list, [], () => null);
      plan = next;
      picked = pickedStep;
      nowMs = now;
      keyed(list, plan.steps, (step) => step.number, make, update);
      draw();
    },
    destroy: () => observer.disconnect(),
  };
}

/** What the signs mean. */
export function legend() {
  return h('ul.legend', { 'aria-label': 'Signs' }, STATES.map(([state, word]) => h('li', { class: `state-${state}` }, icon(state), word)),
    h('li', icon('lock'), 'resource conflict'));
}
