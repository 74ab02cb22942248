// Tell the robot what to do: a new task, or a revision of the one that runs.

import { bdi, h, remake, setText } from './dom.js';
import { cut } from './format.js';

export function createTaskBox({ actions, running, seenBasis, onSubmitted }) {
  const answer = h('p.answer', { role: 'status' });
  const text = h('textarea', { id: 'task', rows: 2, required: true, placeholder: 'Bring the cup from the kitchen', 'aria-describedby': 'task-note' });
  const submit = h('button', { type: 'submit', class: 'primary', 'data-act': true }, 'Send the task');
  const revise = h('button', { type: 'button', hidden: true, 'data-act': true }, 'Revise the one that runs');
  const note = h('p.quiet-text', { id: 'task-note' });
  const row = h('div.row', submit, revise);
  const form = h('form.panel.task-box', { 'aria-label': 'Task' }, h('label', { for: 'task' }, 'Tell the robot what to do'), text, row, note, answer);
  let isSending = false;

  async function send(command, basis) {
    if (isSending || !text.value.trim()) return text.focus();
    isSending = true;
    const outcome = await actions.send(command, answer, basis);
    isSending = false;
    if (!outcome) return;
    text.value = '';
    if (outcome.mission) onSubmitted(outcome.mission);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send({ command: 'submit', task: text.value.trim(), session: null });
  });
  revise.addEventListener('click', () => send({ command: 'revise', mission: running(), text: text.value.trim() }, seenBasis()));
  text.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });

  return {
    root: form, row, field: text,
    say(words) { setText(answer, words); },
    update(readiness) {
      const isRunning = running() !== null;
      revise.hidden = !isRunning;
      const why = readiness?.state === 'refusing' ? 'The robot takes no tasks now and would refuse it: see above for why.' : readiness && readiness.state !== 'ready' ? readiness.because : '';
      const words = why || (isRunning ? 'A new task waits for its turn. A revision halts what moves, and the robot plans anew.' : 'Enter sends, Shift+Enter starts a new line.');
      remake(note, words, () => bdi(cut(words, 500)));
    },
  };
}
