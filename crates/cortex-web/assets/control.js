// Who has the controls: the robot itself, or a person. Pause, go on, take over, hand back, and the sign of life of whoever holds.

import { bdi, confirmInline, h, icon, remake, setText } from './dom.js';
import { cut } from './format.js';

/** Cortex halts the robot when its holder is silent for a second. */
const SIGN_OF_LIFE_MS = 250;

/** What is shown of the controls: whose they are, in words, and which commands make sense. No DOM, for the tests. */
export function controlView(control, you) {
  const state = control?.state ?? 'autonomous';
  const isMine = state === 'held' && Boolean(you?.connection) && control.holder === you.connection;
  const because = capital(control?.because ?? '');
  if (state === 'autonomous') {
    return { state, isMine: false, title: '', words: '', next: '', commands: ['pause', 'take_over'] };
  }
  if (isMine) {
    return {
      state, isMine, title: 'You have the controls', words: 'The robot begins nothing by itself.',
      next: 'Keep this page in sight: when it is hidden, closed or offline for a second, everything halts. Hand back when you are done; the mission then plans anew.',
      commands: ['hand_back', 'pause'],
    };
  }
  if (state === 'held') {
    const next = you?.role === 'administer' ? 'Ask them to hand back, or take the controls from them. STOP works for everybody.' : 'Ask them to hand back. STOP works for everybody.';
    return { state, isMine, title: because, words: 'The robot begins nothing by itself.', next, commands: you?.role === 'administer' ? ['take_over'] : [] };
  }
  return {
    state, isMine, title: 'The robot is paused', words: because ? `${because}.` : '',
    next: 'What moved was halted. Continue, and the mission plans anew with the world as it is then; or take over.', commands: ['unpause', 'take_over'],
  };
}

/** A name or a reason at the beginning of a sentence. */
function capital(text) {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

export function createControl({ state, actions, seenBasis, live, announce, band }) {
  const answer = h('p.answer', { role: 'status' });
  let basis = null;
  let isMine = false;
  let said = null;

  const send = (command, from) => actions.send({ command }, answer, from);
  const act = (words, command, tone = '') => h('button', { type: 'button', class: tone, 'data-act': true, onclick: () => send(command, seenBasis()) }, words);
  const asked = (words, command, question, yes) => {
    const button = h('button', { type: 'button', class: 'primary', 'data-act': true }, words);
    const confirm = confirmInline(button, {
      words: question, yes, no: 'Not yet', onOpen: () => { basis = seenBasis(); }, onYes: () => send(command, basis),
    });
    return { button, ...confirm };
  };
  const MOVES = 'The robot acts by itself again, and may move at once. Make sure that nobody is within reach.';
  const buttons = {
    pause: act('Pause', 'pause'),
    take_over: act('Take over', 'take_over'),
    unpause: asked('Continue…', 'unpause', MOVES, 'Yes, continue'),
    hand_back: asked('Hand back…', 'hand_back', MOVES, 'Yes, hand back'),
  };
  const title = h('h2');
  const words = h('div.control-words');
  const row = h('div.row.control-row', { role: 'group', 'aria-label': 'Controls' });
  const boxes = [buttons.unpause.box, buttons.hand_back.box];
  const inBand = h('div.control-acts');
  band.append(h('div', title, words), inBand);

  function update() {
    const control = state.overview?.control;
    const view = controlView(control, state.you);
    isMine = view.isMine;
    const isCalm = view.state === 'autonomous';
    band.hidden = isCalm;
    // In a recording nobody takes over anything.
    row.hidden = !isCalm || Boolean(state.overview?.recording);
    band.classList.toggle('mine', view.isMine);
    const key = JSON.stringify([view.state, view.commands, control?.changes, state.you?.role]);
    const held = key === row.remakeKey ? null : document.activeElement;
    if (held) {
      boxes.forEach((box) => { box.hidden = true; });
      const shown = view.commands.map((name) => buttons[name].button ?? buttons[name]);
      (isCalm ? row : inBand).append(...shown);
      for (const [name, button] of Object.entries(buttons)) (button.button ?? button).hidden = !view.commands.includes(name);
      inBand.append(...boxes);
      (isCalm ? row : inBand).append(answer);
      setText(buttons.take_over, view.state === 'held' ? 'Take the controls' : 'Take over');
      setText(buttons.pause, view.isMine ? 'Let go, stay paused' : 'Pause');
      row.remakeKey = key;
      // Who pressed a button that is gone goes on from the band.
      if (held !== document.body && !held.isConnected) (isCalm ? row : band).querySelector('button:not([hidden])')?.focus();
    }
    setText(title, cut(view.title, 200));
    remake(words, JSON.stringify(view), () => [view.words ? h('p', icon('person'), ' ', bdi(cut(view.words, 400))) : null, h('p.quiet-text', view.next)]);
    if (said !== null && control && control.changes !== said) announce.textContent = cut(`${view.title || 'The robot acts by itself'}. ${view.words}`, 400);
    said = control?.changes ?? 0;
  }

  // Only whoever sees a live picture holds: a page that nobody looks at is not kept alive by its timers.
  setInterval(() => { if (isMine && !document.hidden && live()?.isFresh()) live().hold(); }, SIGN_OF_LIFE_MS);

  return { row, update };
}
