// What is known of one step: arguments, decisions with their reasons, outcome, verification. And tables of arguments.

import { badge, bdi, h } from './dom.js';
import { clock, cut, duration, flatten, haltWords, json, outcomeWords, valueText, visible } from './format.js';
import { holdupWords, millis, stepState } from './state.js';

/** Values longer than this are shown in a box of their own that scrolls; nothing that a person approves is left out. */
const LONG = 240;

function value(one) {
  const text = visible(typeof one === 'string' ? json(one) : json(one));
  return text.length > LONG ? h('pre.long', { tabindex: '0' }, text) : h('code', { dir: 'auto' }, text);
}

/** Arguments as a table, each value as JSON, so that a text "2" and a number 2 are told apart. */
export function argumentTable(args, planned, changes = []) {
  const rows = flatten(args);
  if (!rows.length) return h('p.quiet-text', 'No arguments.');
  const before = planned ? new Map(flatten(planned)) : null;
  const changed = (path, one) => before && json(before.get(path)) !== json(one);
  return h('table.arguments',
    h('thead', h('tr', h('th', { scope: 'col' }, 'Argument'), h('th', { scope: 'col' }, 'Value'), before ? h('th', { scope: 'col' }, 'Planned') : null)),
    h('tbody', rows.map(([path, one]) => h('tr', { class: changed(path, one) || changes.includes(path) ? 'changed' : null },
      h('th', { scope: 'row' }, bdi(cut(visible(path), 200))), h('td', value(one)),
      before ? h('td', before.has(path) ? value(before.get(path)) : '–') : null))));
}

const VERIFICATION = {
  verified: ['good', 'Verified: what its tool names as evidence was seen', 'success'],
  not_verified: ['warn', 'Not verified: done by its tool\'s word alone', 'unknown'],
  failed: ['bad', 'Not done', 'failed'],
  unknown: ['warn', 'Nobody knows whether it was done', 'unknown'],
};

export function verificationBadge(verification) {
  const known = VERIFICATION[verification];
  return known ? badge(...known) : null;
}

const STATE_TONES = { running: 'run', success: 'good', failed: 'bad', halted: 'warn', blocked: 'off', skipped: 'off', waiting: 'warn', pending: 'off' };

export function stepDetail(step) {
  const report = step.report;
  const outcome = report?.outcome;
  const term = (name, ...content) => (content.flat().filter(Boolean).length ? [h('dt', name), h('dd', ...content)] : []);
  const timing = report ? [['waited', report.timing?.waited], ['was confirmed for', report.timing?.confirmed], ['ran', report.timing?.ran]]
    .filter(([, time]) => millis(time) > 0).map(([word, time]) => `${word} ${duration(millis(time))}`).join(', ') : '';
  return h('div.detail',
    h('h4', `Step ${step.number} · `, bdi(cut(visible(step.tool), 300)), ' ', badge(STATE_TONES[stepState(step)], stepState(step) === 'success' ? 'done' : stepState(step), stepState(step))),
    h('dl',
      term('Holdup', holdupWords(step)),
      term('Feedback', step.status === 'RUNNING' && step.feedback ? bdi(cut(step.feedback, 2000)) : null),
      term('Arguments', argumentTable(step.arguments, step.planned)),
      term('After', step.after.length ? `step ${step.after.join(', ')}` : null),
      term('Priority', step.priority === 'NORMAL' ? null : step.priority.toLowerCase()),
      term('Really done by', step.by ? bdi(visible(step.by)) : null),
      term('Repeats', step.again ? bdi(cut(step.again, 2000)) : null),
      term('Instead of', report?.instead_of?.length ? report.instead_of.map((one) => `step ${one}`).join(', ') : null),
      term('Decisions', step.decisions.length ? h('ul', step.decisions.map((one) => h('li',
        h('time', clock(one.timeMs)), ' ', h('strong', one.decision), one.reason ? [': ', bdi(cut(one.reason, 2000))] : null,
        one.changes.map((change) => h('div', bdi(visible(change.argument)), ': ', value(change.from), ' → ', value(change.to)))))) : null),
      term('Conflicts', step.conflicts.length ? h('ul', step.conflicts.map((one) => h('li', bdi(one.resource), ` was held by ${one.holder ? `step ${one.holder}` : 'research'}`))) : null),
      term('Problems', step.problems.length ? h('ul', step.problems.map((one) => h('li', `${one.what}: `, bdi(cut(one.problem, 2000))))) : null),
      term('Denied', step.denied ? bdi(cut(step.denied, 2000)) : null),
      term('Outcome', outcome ? [outcomeWords(outcome), outcome.message ? [': ', bdi(cut(outcome.message, 4000))] : null,
        valueText(outcome.value) ? h('pre.long', { dir: 'auto', tabindex: '0' }, cut(valueText(outcome.value), 8000)) : null] : null),
      term('At rest', outcome && outcome.halt !== 'at_rest' ? badge(outcome.halt === 'halted' ? 'good' : 'bad', haltWords(outcome.halt), outcome.halt === 'halted' ? 'success' : 'warning') : null),
      term('Verification', report ? verificationBadge(report.verification) : null),
      term('Evidence', outcome?.evidence?.length ? h('ul', outcome.evidence.map((one) => h('li', bdi(cut(one, 2000))))) : null),
      term('Note', report?.note ? bdi(cut(report.note, 2000)) : null),
      term('Time', timing),
    ));
}
