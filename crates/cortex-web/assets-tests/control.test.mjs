// What the page says of who has the controls.

import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document ??= { createElementNS: () => ({}) };
const { controlView } = await import('../assets/control.js');
const { applyEvent, createMission } = await import('../assets/state.js');

const tablet = { channel: 'web', client: 'the tablet' };
const held = { state: 'held', by: tablet, holder: 'a', because: 'the tablet has the controls', changes: 1 };

test('whoever holds is told so, by the connection and not by the name', () => {
  assert.deepEqual(controlView(held, { connection: 'a', role: 'operate', name: 'the tablet' }).commands, ['hand_back', 'pause']);
  const other = controlView(held, { connection: 'b', role: 'operate', name: 'the tablet' });
  assert.equal(other.isMine, false);
  assert.match(other.title, /The tablet has the controls/);
  assert.deepEqual(other.commands, []);
  assert.deepEqual(controlView(held, { connection: 'b', role: 'administer' }).commands, ['take_over']);
  assert.equal(controlView(held, null).isMine, false);
  assert.equal(controlView({ ...held, holder: undefined }, { role: 'operate' }).isMine, false);
});

test('a pause says who and why, and what can be done', () => {
  const because = 'the tablet held the controls and vanished: nothing was heard any more';
  const view = controlView({ state: 'paused', by: tablet, because, changes: 2 }, { connection: 'a', role: 'operate' });
  assert.equal(view.words, `T${because.slice(1)}.`);
  assert.deepEqual(view.commands, ['unpause', 'take_over']);
  assert.deepEqual(controlView(undefined, null).commands, ['pause', 'take_over']);
});

test('a mission shows who has the controls, until it has them again', () => {
  const mission = createMission('m');
  const event = (sequence, control) => ({ sequence, time: '2026-01-01T00:00:00Z', event: 'mission', actor: 'user', data: { origin: tablet, text: '', payload: { kind: 'control_changed', control } } });
  applyEvent(mission, event(1, held));
  assert.equal(mission.interrupted, held.because);
  const stopping = { kind: 'stopping', reason: held.because, tools: ['base.go_to'] };
  applyEvent(mission, { ...event(2, held), data: { origin: tablet, text: '', payload: stopping } });
  assert.equal(mission.phase, 'interrupted', 'it can be ended all the same');
  applyEvent(mission, event(3, { state: 'autonomous', because: 'the tablet handed the controls back', changes: 2 }));
  assert.equal(mission.interrupted, null);
});
