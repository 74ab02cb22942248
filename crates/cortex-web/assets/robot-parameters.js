// The parameters of nodes: what they are, and setting them.

import { getJson, postJson } from './actions.js';
import { badge, bdi, h, keyed, setText } from './dom.js';
import { cut, json, number, parseJson } from './format.js';
import { choice } from './robot-parts.js';

const KINDS = { boolean: 'yes or no', integer: 'a whole number', number: 'a number', text: 'text', list: 'a list', not_set: 'not set' };

export function createParameters({ seen, connection, mayAct }) {
  const node = choice('Node', () => load());
  const again = h('button', { type: 'button', class: 'quiet', onclick: () => load() }, 'Read again');
  const state = h('p.quiet-text', { role: 'status' });
  const list = h('ul.parameters');
  const root = h('section.panel', { 'aria-label': 'Parameters' }, h('header.panel-head', h('h2', 'Parameters'), node.root, again),
    h('p.quiet-text', 'A node takes a new value at once, and may refuse it. Values that you set here are gone when the node starts again.'), state, list);
  let shown = null;
  let loads = 0;

  async function load() {
    const name = node.value();
    if (!name) return setText(state, 'No node of the robot has parameters.');
    loads += 1;
    const mine = loads;
    setText(state, 'Reading…');
    let parameters = [];
    try {
      parameters = await getJson(`/api/v1/robot/parameters?${new URLSearchParams({ node: name })}`);
      if (mine !== loads) return;
      setText(state, parameters.length ? '' : 'This node has no parameters that may be seen.');
    } catch (error) {
      if (mine !== loads) return;
      setText(state, cut(error.message, 500));
    }
    if (shown !== name) keyed(list, [], () => '');
    shown = name;
    // One whose value has changed is made anew, unless somebody types in it.
    keyed(list, parameters, (one) => one.name, (one) => make(name, one), renew);
  }

  function field(one, id) {
    if (one.kind === 'boolean') {
      const box = h('input', { type: 'checkbox', id });
      return { input: box, read: () => box.checked, write: (value) => { box.checked = value === true; } };
    }
    const isNumber = one.kind === 'integer' || one.kind === 'number';
    const range = isNumber && one.range;
    const box = h('input', { type: 'text', inputmode: isNumber ? 'decimal' : null, id, spellcheck: 'false', autocomplete: 'off', 'aria-describedby': `${id}-about`, 'data-from': range ? range.from : null, 'data-to': range ? range.to : null });
    const plain = (value) => typeof value === 'string' && one.kind !== 'list';
    const read = () => {
      if (one.kind === 'text') return box.value;
      try {
        return parseJson(box.value);
      } catch {
        throw new Error(`This takes ${KINDS[one.kind]}, such as ${json(one.value)}.`);
      }
    };
    return { input: box, read, write: (value) => { box.value = plain(value) ? value : json(value); } };
  }

  function rangeWords(one) {
    if (!one.range) return '';
    const { from, to, step } = one.range;
    return `, from ${number(from)} to ${number(to)}${step > 0 && !(one.kind === 'integer' && step === 1) ? ` in steps of ${number(step)}` : ''}`;
  }

  function make(ofNode, one) {
    const id = `parameter-${one.name.replace(/[^\w-]/g, '-')}`;
    const answer = h('p.answer', { role: 'status' });
    const about = h('p.quiet-text', { id: `${id}-about` }, `${KINDS[one.kind] ?? 'a value'}${rangeWords(one)}`, one.description ? [' · ', bdi(cut(one.description, 400))] : null, one.constraints ? [' · ', bdi(cut(one.constraints, 300))] : null);
    const label = h('label.parameter-name', { for: id }, bdi(one.name));
    if (one.is_read_only) {
      const value = h('code.parameter-value', { id }, cut(json(one.value), 400));
      return Object.assign(h('li', label, h('div.parameter-set', value, badge('off', 'read-only', 'lock')), about), { write: (next) => setText(value, cut(json(next), 400)), isBusy: () => false });
    }
    const { input, read, write } = field(one, id);
    write(one.value);
    let told = json(one.value);
    const button = h('button', { type: 'submit', 'data-act': true, 'aria-label': `Set ${one.name}` }, 'Set');
    const form = h('form.parameter-set', input, button);
    const tell = (tone, words) => { answer.className = `answer tone-${tone}`; setText(answer, cut(words, 500)); };
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const refusal = mayAct();
      if (refusal) return tell('bad', refusal);
      try {
        const value = read();
        tell('off', 'Setting…');
        await postJson('/api/v1/robot/parameters', { seen: seen(), connection: connection() ?? null, node: ofNode, name: one.name, value });
        told = json(value);
        tell('good', 'Set.');
        load();
      } catch (error) {
        tell('bad', error.message);
      }
    });
    return Object.assign(h('li', label, form, about, answer), {
      write: (next) => { told = json(next); write(next); },
      // Somebody has typed what is not set yet.
      isBusy: () => { try { return document.activeElement === input || json(read()) !== told; } catch { return true; } },
    });
  }

  function renew(item, one) {
    if (!item.isBusy()) item.write(one.value);
  }

  return {
    root,
    offer(nodes) {
      const names = nodes.filter((one) => one.has_parameters).map((one) => one.name);
      node.offer(names);
      node.root.hidden = !names.length;
      again.hidden = !names.length;
      if (node.value() !== shown) load();
    },
  };
}
