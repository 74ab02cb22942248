// One tool, run by hand: a form from its schema, a card that shows exactly what would run, and then the run itself, as a
// mission of its own.

import { argumentTable } from './detail.js';
import { EFFECTS } from './cards.js';
import { badge, bdi, h } from './dom.js';
import { cut, json, parseJson, visible } from './format.js';

const MOST_FIELDS = 100;

/** How an argument is typed: `choice`, `truth`, `whole`, `number`, `text`, `lines`, or `json` for everything else. */
export function fieldKind(schema) {
  if (!schema || typeof schema !== 'object') return 'json';
  if (Array.isArray(schema.enum) && schema.enum.length) return 'choice';
  const types = [schema.type].flat().filter((type) => type !== 'null');
  if (types.length !== 1) return 'json';
  if (types[0] === 'array') return [schema.items?.type].flat().join() === 'string' && !schema.items.enum ? 'lines' : 'json';
  return { boolean: 'truth', integer: 'whole', number: 'number', string: 'text' }[types[0]] ?? 'json';
}

/** What was typed, as a value: `{ value }`, `{ problem }`, or `{}` where nothing was. The robot checks it once more. */
export function readField(kind, text, schema, required) {
  const typed = kind === 'text' || kind === 'lines' ? text : text.trim();
  if (typed === '') return required && kind !== 'text' && kind !== 'lines' ? { problem: 'It is needed.' } : required ? { value: kind === 'lines' ? [] : '' } : {};
  switch (kind) {
    case 'choice': return { value: schema.enum[Number(typed)] };
    case 'truth': return { value: typed === 'true' };
    case 'whole':
      if (!/^-?\d+$/.test(typed)) return { problem: 'It must be a whole number.' };
      return inRange(Number.isSafeInteger(Number(typed)) ? Number(typed) : BigInt(typed), schema);
    case 'number':
      if (!Number.isFinite(Number(typed))) return { problem: 'It must be a number.' };
      return inRange(Number(typed), schema);
    case 'text':
      if ([...typed].length > (schema.maxLength ?? Infinity)) return { problem: `It may have ${schema.maxLength} characters at most.` };
      return { value: typed };
    case 'lines': return { value: typed.split('\n').filter((line) => line !== '') };
    default:
      try {
        return { value: parseJson(typed) };
      } catch {
        return { problem: 'It must be JSON, such as {"x": 1.5} or [1, 2].' };
      }
  }
}

function inRange(value, { minimum, maximum, exclusiveMinimum, exclusiveMaximum }) {
  if (minimum !== undefined && value < minimum) return { problem: `It must be at least ${minimum}.` };
  if (maximum !== undefined && value > maximum) return { problem: `It must be at most ${maximum}.` };
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return { problem: `It must be above ${exclusiveMinimum}.` };
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return { problem: `It must be below ${exclusiveMaximum}.` };
  return { value };
}

const HINTS = { lines: 'One per line.', json: 'As JSON.' };

function limits(schema) {
  const words = [['minimum', 'at least'], ['exclusiveMinimum', 'above'], ['maximum', 'at most'], ['exclusiveMaximum', 'below']];
  return words.filter(([key]) => typeof schema?.[key] === 'number').map(([key, word]) => `${word} ${schema[key]}`).join(', ');
}

let count = 0;

function field(name, schema, required) {
  const kind = fieldKind(schema);
  const id = `by-hand-${count += 1}`;
  const common = { id, 'aria-describedby': `${id}-hint ${id}-problem` };
  const options = kind === 'choice' ? schema.enum.map((one, at) => [String(at), typeof one === 'string' ? visible(one) : json(one)]) : [['true', 'yes'], ['false', 'no']];
  const given = schema?.default === undefined || schema.default === null ? '' : kind === 'choice' ? String(schema.enum.findIndex((one) => json(one) === json(schema.default))) : typeof schema.default === 'string' ? schema.default : json(schema.default);
  const input = kind === 'choice' || kind === 'truth'
    ? h('select', common, h('option', { value: '' }, required ? 'choose…' : '(not given)'), options.map(([value, word]) => h('option', { value, selected: value === given }, cut(word, 200))))
    : kind === 'lines' || kind === 'json' ? h('textarea', { ...common, rows: 2, spellcheck: 'false' }, given)
      : h('input', { ...common, type: 'text', inputmode: { whole: 'numeric', number: 'decimal' }[kind], autocomplete: 'off', value: given });
  const problem = h('p.tone-bad', { id: `${id}-problem`, role: 'alert' });
  const hint = [schema?.description, limits(schema), HINTS[kind]].filter(Boolean).join(' · ');
  const root = h('div.by-hand-field', h('label', { for: id }, bdi(cut(visible(name), 200)), h('span.quiet-text', required ? ' needed' : ' optional')), input,
    h('p.quiet-text', { id: `${id}-hint` }, bdi(cut(hint, 600))), problem);
  const tell = (words) => {
    problem.textContent = words;
    input.setAttribute('aria-invalid', String(Boolean(words)));
  };
  // What was wrong is being put right; it is judged again when it is read.
  input.addEventListener('input', () => tell(''));
  return {
    root, input,
    read() {
      const result = readField(kind, input.value, schema, required);
      tell(result.problem ?? '');
      return result;
    },
  };
}

/** How it would run, in words. `control` is what `controlView` says of the controls. */
export function howItRuns(control) {
  if (!control?.isMine) return 'It runs as a mission of its own, and policy may ask first. You can end it, and STOP halts it.';
  return 'You have the controls: it runs now, while the mission waits for you, and policy may ask first. You can end it, and STOP halts it. Handing back halts it, too.';
}

/** The form of a tool. `onSubmitted(mission)` is told the mission in which it runs; `control()` is what `controlView` says of the controls now. */
export function createByHand(tool, { actions, seenBasis, onSubmitted, control }) {
  const needed = new Set(Array.isArray(tool.parameters?.required) ? tool.parameters.required : []);
  const properties = Object.entries(tool.parameters?.properties ?? {}).slice(0, MOST_FIELDS);
  const fields = properties.map(([name, schema]) => [name, field(name, schema, needed.has(name))]);
  const slot = h('div');
  const answer = h('p.answer', { role: 'status' });
  const form = h('form.by-hand', { 'aria-label': `Run ${tool.name} by hand`, novalidate: true }, h('h3', 'Run it by hand'),
    fields.map(([, one]) => one.root), h('div.row', h('button', { type: 'submit', 'data-act': true }, 'Run by hand…')), slot, answer);
  const close = () => slot.replaceChildren();

  form.addEventListener('input', close);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    answer.textContent = '';
    const read = fields.map(([name, one]) => [name, one, one.read()]);
    const wrong = read.find(([, , result]) => result.problem);
    if (wrong) {
      close();
      return wrong[1].input.focus();
    }
    confirm(Object.fromEntries(read.filter(([, , result]) => 'value' in result).map(([name, , { value }]) => [name, value])));
  });

  /** Shows exactly what would run, to the letter. What is sent is what is shown. */
  function confirm(args) {
    const basis = seenBasis();
    const run = async () => {
      close();
      const outcome = await actions.send({ command: 'call_tool', tool: tool.name, arguments: args }, answer, basis);
      if (outcome?.mission) onSubmitted(outcome.mission);
    };
    const yes = h('button', { type: 'button', class: 'primary', 'data-act': true, onclick: run }, 'Run it now');
    slot.replaceChildren(h('div.confirm', { role: 'group', 'aria-label': 'What would run' },
      h('p', 'This would run: ', h('code', bdi(visible(tool.name)))),
      h('p.row', badge(...(EFFECTS[tool.effect] ?? EFFECTS.move).slice(0, 3)), tool.resources.length ? h('span.quiet-text', 'holds ', bdi(visible(tool.resources.join(', ')))) : null),
      argumentTable(args),
      h('p.quiet-text', howItRuns(control?.())),
      h('div.row', yes, h('button', { type: 'button', class: 'quiet', onclick: close }, 'Not now'))));
    yes.focus();
  }

  return form;
}
