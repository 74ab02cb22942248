// Questions of the robot as cards that show exactly what would run, to the letter.

import { badge, bdi, h, icon, keyed, setAttribute, setText } from './dom.js';
import { argumentTable } from './detail.js';
import { age, cut, visible } from './format.js';
import { millis } from './state.js';

const TOO_SOON_MS = 600;

export const EFFECTS = {
  observe: ['off', 'Reads only', 'observe', 'Reads'], act: ['warn', 'Changes something that does not move', 'act', 'Acts'],
  move: ['bad', 'Moves the robot or a part of it', 'move', 'Moves'],
};

export function createCards({ actions, seenBasis, root, polite }) {
  const known = new Map();

  function callBlock(call) {
    return h('div.call',
      h('h4', `Step ${call.step} · `, h('code', bdi(visible(call.tool)))),
      h('p.row', badge(...(EFFECTS[call.effect] ?? EFFECTS.move).slice(0, 3)), call.resources.length ? h('span.quiet-text', 'holds ', bdi(visible(call.resources.join(', ')))) : null),
      h('div.call-body', argumentTable(call.arguments), call.because.length ? h('div.because', h('strong', 'Why it asks'), h('ul', call.because.map((one) => h('li', bdi(visible(one)))))) : null));
  }

  function make(open) {
    const { question } = open;
    const subject = question.subject;
    const answer = h('p.answer', { role: 'status' });
    const left = h('span.left', { role: 'timer' });
    const meter = h('meter', { min: 0, max: millis(question.patience), low: millis(question.patience) * 0.25, optimum: millis(question.patience), 'aria-label': 'Time left to answer' });
    // A card that has just appeared under somebody's finger was not read: its buttons wait a moment.
    const bornAt = performance.now();
    const send = (what) => performance.now() - bornAt > TOO_SOON_MS && actions.send({ command: 'answer', question: open.id, answer: what }, answer, seenBasis());
    const isChoice = subject.kind === 'choice';
    const calls = subject.kind === 'call' ? [subject.call] : subject.steps ?? [];
    const reason = h('input', { type: 'text', maxlength: 2048, placeholder: 'Reason (the robot plans with it)', 'aria-label': 'Reason for denying' });
    const byDefault = isChoice
      ? subject.default ? `Without an answer, “${cut(visible(subject.default), 80)}” counts.` : 'Without an answer, nobody has answered.'
      : 'Without an answer it counts as no.';
    const controls = isChoice
      ? h('div.choices', subject.choices.map((choice) => h('button', { type: 'button', class: 'choice', 'data-act': true, onclick: () => send({ answer: 'choose', choice }) }, bdi(visible(choice)), choice === subject.default ? h('span.quiet-text', ' default') : null)))
      : h('div.decide',
        h('button', { type: 'button', class: 'primary', 'data-act': true, onclick: () => send({ answer: 'approve', scope: 'once' }) }, icon('success'), 'Approve once'),
        h('button', { type: 'button', 'data-act': true, onclick: () => send({ answer: 'approve', scope: 'mission' }) }, 'Approve for this mission'),
        h('form.deny', { onsubmit: (event) => { event.preventDefault(); send({ answer: 'deny', reason: reason.value.trim() }); } }, reason,
          h('button', { type: 'submit', class: 'danger', 'data-act': true }, icon('failed'), 'Deny')));
    const card = h('article.card', { 'aria-label': isChoice ? 'The robot asks' : 'Approval' },
      h('header.card-head', icon('person'), h('h3', isChoice ? 'The robot asks' : subject.kind === 'plan' ? 'Approve these steps?' : 'Approve this call?'), left, meter),
      h('p.question', bdi(visible(question.text))),
      h('p.quiet-text', 'For the task: ', bdi(cut(visible(open.task), 300))),
      calls.map(callBlock), controls, h('p.quiet-text', byDefault), answer);
    return Object.assign(card, { left, meter, shownAt: performance.now(), leftMs: millis(open.left), was: open.left });
  }

  /** Counts down from what the server last said was left, by the page's monotonic clock. */
  function tick(card, open) {
    if (open && open.left !== card.was) Object.assign(card, { was: open.left, leftMs: millis(open.left), shownAt: performance.now() });
    const left = Math.max(0, card.leftMs - (performance.now() - card.shownAt));
    setText(card.left, left > 0 ? `${age(left)} left` : 'time is up');
    setAttribute(card.meter, 'value', Math.round(left));
  }

  return {
    update(questions) {
      root.hidden = !questions.length;
      for (const open of questions) {
        if (!known.has(open.id)) {
          known.set(open.id, true);
          polite.textContent = `The robot asks: ${open.question.text}`;
        }
      }
      for (const id of known.keys()) if (!questions.some((open) => open.id === id)) known.delete(id);
      keyed(root, questions, (open) => open.id, make, tick);
    },
  };
}
