// The system as a picture: its components and nodes, who depends on whom, and who is in quarantine because of whom. A list
// laid out over lines, so that it is read in order where there is no picture.

import { h, icon, keyed, remake, s, setAttribute, setText } from './dom.js';
import { clip, cut, plural } from './format.js';
import { pictureOf, systemOf } from './robot-system.js';

const HEALTH = { healthy: ['success', 'healthy'], unknown: ['pending', 'unknown'], suspect: ['waiting', 'suspect'], failed: ['failed', 'failed'], silent: ['failed', 'silent'], node: ['pending', 'node'] };

export function createSystem() {
  const lines = s('svg.plan-lines', { 'aria-hidden': 'true', focusable: 'false' });
  const list = h('ul.plan-steps');
  const canvas = h('div.plan-canvas', lines, list);
  const frame = h('div.plan', canvas);
  const count = h('p.quiet-text');
  const empty = h('p.empty', 'No node of the robot is on the network. Start the robot, or look whether ROS_DOMAIN_ID is the same here and there.');
  const legend = h('ul.legend', { 'aria-label': 'Lines' }, h('li', h('span.line-sample'), 'depends on (recipe)'), h('li', h('span.line-sample.is-read'), 'reads topics of'), h('li', h('span.line-sample.is-bad'), 'kept from work by'), h('li', h('span.line-sample.is-standby'), 'stands in for'));
  const root = h('section.panel', { 'aria-label': 'System' }, h('header.panel-head', h('h2', 'System'), count), empty, frame, legend);
  let width = 0;
  let drawn = '';
  let last = null;

  new ResizeObserver((entries) => { width = Math.floor(entries[entries.length - 1].contentRect.width); draw(); }).observe(frame);

  function make() {
    const parts = { sign: h('span'), name: h('bdi.node-method', { dir: 'auto' }), state: h('span.node-state'), about: h('span.node-given'), more: h('span.unseen') };
    return Object.assign(h('li', h('div.node', h('span.node-head', parts.sign, parts.name), parts.about, h('span.node-foot', parts.state), parts.more)), { parts });
  }

  function show(item, one) {
    const { sign, name, state, about, more } = item.parts;
    const [look, word] = one.cause ? ['blocked', 'in quarantine'] : HEALTH[one.health] ?? HEALTH.unknown;
    remake(sign, look, () => icon(look));
    setText(name, clip(one.name, 60));
    setText(state, one.health === 'node' ? '' : word);
    setText(about, cut(one.cause ? `by ${one.cause}` : one.standing, 80));
    setAttribute(item.firstElementChild, 'class', `node system-node state-${look === 'success' ? 'success' : look}`);
    setText(more, [one.health === 'node' ? 'a node' : word, one.depends.length ? `depends on ${one.depends.join(', ')}` : '', one.reads.length ? `reads topics of ${one.reads.join(', ')}` : '', one.standbyFor.length ? `stands in for ${one.standbyFor.join(', ')}` : ''].filter(Boolean).join('; '));
  }

  function draw() {
    if (!last || !width) return;
    const key = `${width}|${JSON.stringify(last)}`;
    if (key === drawn) return;
    drawn = key;
    empty.hidden = last.parts.length > 0;
    legend.hidden = frame.hidden = !last.parts.length;
    const held = last.parts.filter((one) => one.cause).length;
    setText(count, `${plural(last.parts.length, 'part')}${held ? `, ${held} in quarantine` : ''}${last.more ? `, ${last.more} more not shown` : ''}`);
    keyed(list, last.parts, (one) => one.name, make, show);
    const picture = pictureOf(last.parts, width);
    canvas.style.height = `${picture.height}px`;
    canvas.style.width = `${picture.width}px`;
    setAttribute(lines, 'width', picture.width);
    setAttribute(lines, 'height', picture.height);
    const at = new Map(last.parts.map((one) => [`s${one.number}`, one]));
    lines.replaceChildren(...picture.edges.map((edge) => {
      const [from, to] = [at.get(edge.from), at.get(edge.to)];
      const kind = to.cause === from.name ? ' is-bad' : to.depends.includes(from.name) ? '' : to.standbyFor.includes(from.name) ? ' is-standby' : ' is-read';
      return s('path', { class: `edge${kind}`, d: edge.path });
    }));
    const place = new Map(picture.nodes.map((node) => [node.number, node]));
    last.parts.forEach((one, index) => {
      const node = place.get(one.number);
      Object.assign(list.children[index].style, { transform: `translate(${node.x}px, ${node.y}px)`, width: `${picture.size.width}px`, height: `${picture.size.height}px` });
    });
  }

  return {
    root,
    update(overview, sources) {
      if (!overview && !sources) return;
      last = systemOf(overview?.components ?? [], sources?.nodes ?? []);
      draw();
    },
  };
}
