// What the page makes of events, told with the reference tape of the runtime and a few made-up ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { addOlder, forgetOlder, hasOlder } from '../assets/lines.js';
import { applyEarly, applyFrame, applyHistory, createState, currentPlan, foldEvents, holdupWords, MAX_LINES, missionOf, stepState, stopRollCall } from '../assets/state.js';

const tape = readFileSync(new URL('../../cortex-runtime/tests/reference_tape.jsonl', import.meta.url), 'utf8')
  .trim().split('\n').map((line) => JSON.parse(line)).filter((event) => 'sequence' in event);
const id = tape[0].subject;
const frame = (number, more) => ({ frame: number, at_ms: 1000 * number, ...more });
const states = (mission, plan) => mission.plans[plan - 1].steps.map(stepState);

let made = 0;
function event(mission, sequence, payload, text = payload.kind) {
  made += 1;
  return {
    id: `event-${made}`, subject: mission, sequence, time: new Date(1e12 + sequence * 1000).toISOString(), event: 'step', actor: 'cortex',
    data: { origin: { channel: 'web', client: 'a' }, text, payload },
  };
}
const plan = (...steps) => ({ kind: 'planned', plan: 1, cut: [], steps: { steps: steps.map(([number, after]) => ({ number, call: { tool: `t.${number}`, arguments: {} }, after, status: 'PENDING', priority: 'NORMAL' })) } });

test('the reference tape ends as its report says', () => {
  const mission = foldEvents(id, tape);
  assert.equal(mission.task, 'Grasp the cup in the kitchen.');
  assert.equal(mission.taskClass, 'action');
  assert.deepEqual(mission.phase, { ended: 'succeeded' });
  assert.deepEqual(states(mission, 1), ['success', 'failed']);
  assert.deepEqual(states(mission, 2), ['success']);
  assert.equal(mission.plans[1].because, 'Step 2 (arm.grasp) failed: it slipped.');
  assert.equal(mission.research[0].outcome.value.text, 'a cup');
  assert.deepEqual(mission.flight, []);
  assert.equal(mission.lines.length, tape.length);
});

test('a step that failed shows with what it was called, planned and corrected', () => {
  const grasp = foldEvents(id, tape).plans[0].steps[1];
  assert.deepEqual(grasp.arguments, { thing: 'a cup' });
  assert.deepEqual(grasp.planned, { thing: '<what I saw>' });
  assert.deepEqual(grasp.decisions.map((one) => one.decision), ['CONTINUE', 'EXECUTE']);
  assert.equal(grasp.problems[0].problem, 'it slipped');
  assert.equal(grasp.report.verification, 'failed');
});

test('every prefix of the tape can be shown, and going on from it is the same as folding anew', () => {
  for (let length = 0; length <= tape.length; length += 1) {
    const state = createState();
    applyFrame(state, frame(1, { events: tape.slice(0, length) }));
    applyFrame(state, frame(2, { events: tape.slice(length) }));
    assert.deepEqual(missionOf(state, id), foldEvents(id, tape));
  }
});

test('a running step is in flight with its feedback', () => {
  const until = tape.findIndex((one) => one.data.payload.kind === 'progress') + 1;
  const mission = foldEvents(id, tape.slice(0, until));
  assert.deepEqual(states(mission, 1), ['running', 'waiting']);
  assert.equal(mission.flight[0].tool, 'base.go');
  assert.equal(currentPlan(mission).steps[0].feedback, '1 of 2');
});

test('events that come twice after a reconnect count once', () => {
  const state = createState();
  applyFrame(state, frame(1, { events: tape.slice(0, 20) }));
  applyFrame(state, frame(2, { events: tape.slice(10) }));
  assert.deepEqual(missionOf(state, id), foldEvents(id, tape));
  assert.equal(state.lastEvent, tape.at(-1).id);
});

test('a page that opens in mid mission asks for what was before, and shows nothing out of order', () => {
  const state = createState();
  applyFrame(state, frame(1, { events: tape.slice(12, 20) }));
  assert.deepEqual([...state.wanted], [id]);
  assert.equal(missionOf(state, id).plans.length, 0);
  applyFrame(state, frame(2, { events: tape.slice(20) }));
  applyHistory(state, id, tape.slice(0, 15));
  assert.deepEqual(missionOf(state, id), foldEvents(id, tape));
});

test('where what was before can\'t be had, the mission says so and goes on', () => {
  const state = createState();
  applyFrame(state, frame(1, { events: tape.slice(12, 20) }));
  applyHistory(state, id, null);
  applyFrame(state, frame(2, { events: tape.slice(20) }));
  const mission = missionOf(state, id);
  assert.ok(mission.gap);
  assert.deepEqual(mission.phase, { ended: 'succeeded' });
  assert.equal(mission.lines.length, tape.length - 12);
});

test('a resource that another step holds is a holdup until the step starts', () => {
  const events = [event('m', 1, plan([1, []], [2, []])), event('m', 2, { kind: 'step_started', call: 1, step: 1, steps: 2, tool: 't.1', arguments: {} }),
    event('m', 3, { kind: 'conflict', step: 2, tool: 't.2', resource: 'arm', holder: 1 })];
  const step = foldEvents('m', events).plans[0].steps[1];
  assert.equal(stepState(step), 'waiting');
  assert.equal(holdupWords(step), 'waits for arm, held by step 1');
  const later = foldEvents('m', [...events, event('m', 4, { kind: 'step_started', call: 2, step: 2, steps: 2, tool: 't.2', arguments: {} })]).plans[0].steps[1];
  assert.equal(stepState(later), 'running');
  assert.equal(later.conflicts.length, 1, 'the picture keeps the mark');
});

test('regression: a step that a person had halted was shown as failed', () => {
  const finished = (report) => foldEvents('m', [event('m', 1, plan([1, []])), event('m', 2, { kind: 'step_finished', report: { plan: 1, number: 1, status: 'FAILED', ...report } })]);
  const shown = (report) => states(finished(report), 1);
  assert.deepEqual(shown({ outcome: { status: 'cancelled' } }), ['halted']);
  assert.deepEqual(shown({ outcome: { status: 'cancelled' }, interrupted: true }), ['halted']);
  assert.deepEqual(shown({ outcome: { status: { failed: 'timeout' } } }), ['failed']);
});

test('a question holds its steps up until it has ended', () => {
  const asked = [event('m', 1, plan([1, []])), event('m', 2, { kind: 'asked', question: { number: 1, text: '?', patience: { secs: 9, nanos: 0 }, subject: { kind: 'call', plan: 'd', call: { step: 1 } } } })];
  assert.equal(holdupWords(foldEvents('m', asked).plans[0].steps[0]), 'waits for a person');
  const ended = foldEvents('m', [...asked, event('m', 3, { kind: 'question_ended', number: 1, outcome: { outcome: 'expired' } })]);
  assert.equal(stepState(ended.plans[0].steps[0]), 'pending');
});

test('kinds and names that nobody knows are lines and nothing else', () => {
  for (const kind of ['teleported', 'constructor', '__proto__', 'toString']) {
    const mission = foldEvents('m', [event('m', 1, { kind }, '<script>alert(1)</script>')]);
    assert.equal(mission.lines[0].text, '<script>alert(1)</script>');
    assert.equal(mission.phase, 'unknown');
  }
});

test('a flood of lines is bounded, and its end is what is kept', () => {
  const state = createState();
  const events = Array.from({ length: 20000 }, (_, at) => event('m', at + 1, { kind: 'progress', in_flight: [] }, `line ${at + 1}`));
  applyFrame(state, frame(1, { events }));
  const { lines, dropped } = missionOf(state, 'm');
  assert.ok(lines.length >= MAX_LINES && lines.length <= MAX_LINES + 200);
  assert.equal(dropped + lines.length, 20000);
  assert.equal(lines.at(-1).text, 'line 20000');
});

test('missions that have ended make room for new ones', () => {
  const state = createState();
  for (let at = 0; at < 100; at += 1) {
    const result = { status: 'failed', class: 'action', steps: [] };
    applyFrame(state, frame(at, { events: [event(`m${at}`, 1, { kind: 'finished', result })] }));
  }
  assert.ok(state.missions.size <= 25);
  assert.ok(state.missions.has('m99'));
});

test('a frame keeps what it does not mention', () => {
  const state = createState();
  applyFrame(state, frame(1, { overview: { a: 1 }, basis: { stops: 0 }, questions: [{ id: 'm/1' }], you: { role: 'watch' } }));
  applyFrame(state, frame(2, {}));
  assert.equal(state.frame, 2);
  assert.deepEqual(state.overview, { a: 1 });
  assert.equal(state.questions.length, 1);
  applyFrame(state, frame(3, { questions: [] }));
  assert.equal(state.questions.length, 0);
});

test('the roll call after a stop names who is at rest and who is not', () => {
  assert.deepEqual(stopRollCall(['base.go', 'arm.grasp', 'base.go'], { not_stopped: ['arm.grasp', 'lift.up'] }), { atRest: ['base.go'], moving: ['arm.grasp', 'lift.up'] });
});

/** What is shown of a mission but its lines. */
const shown = ({ lines: _, keep: _k, dropped: _d, early: _e, ...rest }) => rest;

test('a page that begins with the last events comes to the same as one that read them all', () => {
  const isProgress = (one) => one?.data.payload.kind === 'progress';
  for (let first = 1; first < tape.length; first += 1) {
    for (const live of [0, 3]) {
      const until = Math.max(first + 1, tape.length - live);
      const state = createState();
      missionOf(state, id).loading = true;
      // Live events come while the last ones are fetched, and while what is before them is.
      applyFrame(state, frame(1, { events: tape.slice(until, until + 1) }));
      applyHistory(state, id, tape.slice(first, until));
      const { early } = missionOf(state, id);
      assert.equal(early.before, tape[first].id);
      applyFrame(state, frame(2, { events: tape.slice(until + 1) }));
      const before = tape.slice(0, first);
      applyEarly(state, id, before.filter((one, index) => !(isProgress(one) && isProgress(before[index + 1]))));
      const mission = missionOf(state, id);
      assert.deepEqual(shown(mission), shown(foldEvents(id, tape)), `from ${first}`);
      assert.equal(mission.early, null);
      assert.equal(mission.lines.length, tape.length - first);
    }
  }
});

test('older lines come before those that are known, once each, and stay while they are read', () => {
  const events = Array.from({ length: 5000 }, (_, index) => event('m', index + 1, { kind: 'planning', turn: 1 }, `${index + 1}`));
  const state = createState();
  missionOf(state, 'm').loading = true;
  applyHistory(state, 'm', events.slice(4600));
  const mission = missionOf(state, 'm');
  assert.ok(hasOlder(mission));
  while (hasOlder(mission)) {
    const first = events.findIndex((one) => one.id === mission.lines[0].id);
    // One that is known already is not taken twice.
    addOlder(mission, events.slice(Math.max(0, first - 500), first + 1));
  }
  assert.deepEqual(mission.lines.map((line) => line.text), events.map((one) => one.data.text));
  applyFrame(state, frame(1, { events: [event('m', 5001, { kind: 'planning', turn: 1 }, '5001')] }));
  assert.equal(mission.lines.length, 5001);
  forgetOlder(mission);
  applyFrame(state, frame(2, { events: [event('m', 5002, { kind: 'planning', turn: 1 }, '5002')] }));
  assert.equal(mission.lines.length, MAX_LINES);
  assert.ok(hasOlder(mission), 'they can be had again');
});

test('what is before the last events and can not be had leaves the page with these', () => {
  const state = createState();
  missionOf(state, id).loading = true;
  applyHistory(state, id, tape.slice(-3));
  applyEarly(state, id, null);
  const mission = missionOf(state, id);
  assert.deepEqual(mission.phase, { ended: 'succeeded' });
  assert.equal(mission.lines.length, 3);
  assert.equal(mission.early, null);
});
