// What the robot can be asked to do: each tool with its effect and its arguments, to read and to run by hand.

import { badge, bdi, h, keyed, setText } from './dom.js';
import { EFFECTS } from './cards.js';
import { getJson } from './actions.js';
import { clip, cut, duration, json, plural } from './format.js';
import { millis } from './state.js';

const SOURCES = { declared: 'declared', pattern: 'by a pattern of the configuration', well_known: 'by its interface', type_only: 'by its interface; nothing halts it', assumed: 'assumed: nobody has declared it' };
const PHASES = { planning: 'while planning', execution: 'as a step of a plan', both: 'while planning, or as a step' };

function typeWords(schema) {
  if (schema === true || schema === undefined) return 'anything';
  if (!schema || typeof schema !== 'object') return 'nothing';
  if (schema.enum) return schema.enum.map((one) => json(one)).join(' | ');
  if (schema.const !== undefined) return json(schema.const);
  for (const [key, word] of [['anyOf', ' or '], ['oneOf', ' or '], ['allOf', ' and ']]) if (Array.isArray(schema[key])) return schema[key].map(typeWords).join(word);
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : schema.type ?? (schema.$ref ? String(schema.$ref) : 'anything');
  return type === 'array' ? `list of ${typeWords(schema.items)}` : type;
}

const LIMITS = { minimum: 'at least', exclusiveMinimum: 'above', maximum: 'at most', exclusiveMaximum: 'below', minLength: 'characters at least', maxLength: 'characters at most', minItems: 'items at least', maxItems: 'items at most', pattern: 'matches', format: 'format', default: 'default' };

function schemaRows(schema, path = '', depth = 0) {
  const required = new Set(Array.isArray(schema?.required) ? schema.required : []);
  return Object.entries(schema?.properties ?? {}).slice(0, 200).flatMap(([name, one]) => {
    const full = path ? `${path}.${name}` : name;
    const limits = Object.entries(LIMITS).filter(([key]) => one?.[key] !== undefined).map(([key, word]) => `${word} ${json(one[key])}`).join(', ');
    const inner = one?.type === 'array' ? one.items : one;
    return [
      h('tr', h('th', { scope: 'row' }, bdi(cut(full, 200))), h('td', h('code', cut(typeWords(one), 300)), limits ? h('span.quiet-text', ` ${cut(limits, 300)}`) : null),
        h('td.need', required.has(name) ? 'required' : 'optional'), h('td', bdi(cut(String(one?.description ?? ''), 1000)))),
      ...(depth < 4 && inner?.properties ? schemaRows(inner, one?.type === 'array' ? `${full}.0` : full, depth + 1) : []),
    ];
  });
}

/** `byHand` is what running a tool takes; `byHand.isOffered()` is false where nothing can be run. */
export function createTools(root, byHand) {
  const search = h('input', { type: 'search', placeholder: 'Search tools', 'aria-label': 'Search tools', oninput: () => show() });
  const effect = h('select', { 'aria-label': 'Filter by effect', onchange: () => show() }, [['', 'All effects'], ['observe', 'Reads only'], ['act', 'Acts'], ['move', 'Moves']].map(([value, word]) => h('option', { value }, word)));
  const count = h('p.quiet-text', { role: 'status' });
  const list = h('ul.tool-list');
  const empty = h('p.empty');
  root.append(h('section.panel', { 'aria-label': 'List of tools' }, h('header.panel-head', h('h2', 'Tools'), count, h('div.row', search, effect)), empty, list));
  let tools = null;
  let loadedFor = null;

  function make(tool) {
    const body = h('div.tool-body');
    const fill = () => {
      if (body.childElementCount) return;
      const rows = schemaRows(tool.parameters);
      const conditions = [['Before', tool.conditions?.before], ['While it runs', tool.conditions?.during], ['Evidence afterwards', tool.conditions?.after]].filter(([, some]) => some?.length);
      body.append(
        rows.length ? h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': `Arguments of ${tool.name}` }, h('table.grid', h('thead', h('tr', ['Argument', 'Type', 'Needed', 'Meaning'].map((word) => h('th', { scope: 'col' }, word)))), h('tbody', rows))) : h('p.quiet-text', 'It takes no arguments.'),
        h('dl', [
          ['Effect', `${(EFFECTS[tool.effect] ?? EFFECTS.move)[1]} (${SOURCES[tool.effect_source] ?? tool.effect_source})`], ['Called', PHASES[tool.phase] ?? tool.phase], ['Holds', tool.resources.join(', ') || 'nothing'],
          ['Timeout', duration(millis(tool.timeout))], ['Runs', tool.dispatch === 'background' ? 'in the background' : 'until it has ended'], ['Cancelled', tool.cancel === 'halt' ? 'by a halt that must be confirmed' : 'by dropping its answer'],
          tool.outlives_process ? ['Outlives its process', 'yes: what it begins may go on when its process has ended'] : null, tool.serves ? ['Standby for', tool.serves] : null,
          tool.phrases.length ? ['Sentences', tool.phrases.join(' · ')] : null,
        ].filter(Boolean).map(([name, value]) => [h('dt', name), h('dd', bdi(cut(String(value), 2000)))])),
        ...conditions.map(([name, some]) => h('div', h('h3', name), h('ul', some.map((one) => h('li', h('code', cut(json(one), 600))))))));
      if (byHand.isOffered()) import('./by_hand.js').then((module) => body.append(module.createByHand(tool, byHand)));
    };
    const [tone, , sign, short] = EFFECTS[tool.effect] ?? EFFECTS.move;
    return h('li', h('details', { ontoggle: fill },
      h('summary', h('bdi.tool-name', { dir: 'auto' }, clip(tool.name, 160)), badge(tone, short, sign), h('bdi.tool-about', { dir: 'auto' }, cut(tool.description, 400))), body));
  }

  function show() {
    if (!tools) return;
    const wanted = search.value.trim().toLowerCase();
    const some = tools.filter((tool) => (!effect.value || tool.effect === effect.value) && (!wanted || `${tool.name} ${tool.description} ${tool.component ?? ''}`.toLowerCase().includes(wanted)));
    setText(count, some.length === tools.length ? plural(tools.length, 'tool') : `${some.length} of ${plural(tools.length, 'tool')}`);
    empty.hidden = some.length > 0;
    setText(empty, tools.length ? 'No tool matches the search.' : 'No tool is on offer. A tool comes with a component: start the robot\'s nodes, or see `cortex doctor` for why none is found.');
    keyed(list, some, (tool) => tool.name, make);
  }

  return {
    /** Loads the tools anew where their number has changed since. */
    async show(overview) {
      const key = overview ? `${overview.started_ms}|${overview.tools}` : null;
      if (tools && loadedFor === key) return;
      loadedFor = key;
      try {
        tools = await getJson('/api/v1/tools');
        tools.sort((a, b) => a.name.localeCompare(b.name));
        keyed(list, [], () => null);
        show();
      } catch (error) {
        tools = null;
        loadedFor = null;
        empty.hidden = false;
        setText(empty, error.message);
      }
    },
  };
}
