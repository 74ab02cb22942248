// The log of the robot's nodes, in one list with the feedback of a mission.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MAX_NODE_LINES, NO_FILTER, createNodeLog, shownLines, takeLogs } from '../assets/lines.js';

const said = (at_ms, text, level = 'info', node = 'base') => ({ at_ms, level, node, text, count: 1 });
const feedback = (timeMs, text, event = 'step') => ({ timeMs, event, text, tone: '' });
const texts = (lines) => lines.map((line) => line.text);

function logOf(...logs) {
  const log = createNodeLog();
  takeLogs(log, { at_ms: 0, you: {}, logs });
  return log;
}

test('feedback and warnings of nodes stand in the order of time; the rest is shown on wish', () => {
  const mission = { acceptedMs: 10, lastMs: 0, result: null, lines: [feedback(10, 'begins'), feedback(30, 'ends')] };
  const log = logOf(said(5, 'before', 'error'), said(20, 'slips', 'warn'), said(25, 'rolls'), said(26, 'x=1', 'debug'), said(40, 'hot', 'fatal', 'arm'));
  const shown = (filter) => texts(shownLines(mission, log, { ...NO_FILTER, ...filter }, 100));
  assert.deepEqual(shown({}), ['begins', 'slips', 'ends', 'hot']);
  assert.deepEqual(shown({ show: 'feedback' }), ['begins', 'ends']);
  assert.deepEqual(shown({ show: 'info' }), ['begins', 'slips', 'rolls', 'ends', 'hot']);
  assert.deepEqual(shown({ show: 'debug' }), ['begins', 'slips', 'rolls', 'x=1', 'ends', 'hot']);
  assert.deepEqual(shown({ show: 'plan' }), []);
  assert.deepEqual(shown({ node: 'base' }), ['slips', 'rolls'], 'a node that was chosen shows what it reports');
  assert.deepEqual(shown({ text: 'ARM' }), ['hot'], 'the name of a node is found, too');
  assert.deepEqual(texts(shownLines(mission, log, NO_FILTER, 2)), ['ends', 'hot']);
  assert.deepEqual(texts(shownLines(null, log, NO_FILTER, 9)), ['before', 'slips', 'hot'], 'without a mission, all belong here');
  mission.result = {};
  mission.lastMs = 30;
  log.lines.push({ ...log.lines.at(-1), timeMs: 9000, text: 'later' });
  assert.deepEqual(shown({}), ['begins', 'slips', 'ends', 'hot'], 'what comes long after the end is none of it');
  assert.deepEqual(shown({ isLatest: true }), ['begins', 'slips', 'ends', 'hot', 'later'], 'unless no mission came after it');
});

test('what was logged earlier and comes later is put where it belongs', () => {
  const log = logOf(said(10, 'a', 'warn'), said(30, 'c', 'warn'));
  takeLogs(log, { at_ms: 31, logs: [said(20, 'b', 'warn')] });
  assert.deepEqual(texts(log.lines), ['a', 'b', 'c']);
});

test('a connection that begins anew has nothing twice, and a gap is told', () => {
  const log = logOf(said(10, 'a', 'warn'));
  takeLogs(log, { at_ms: 12, you: {}, logs: [said(10, 'a', 'warn'), said(11, 'b', 'warn')] });
  assert.deepEqual(texts(log.lines), ['a', 'b']);
  const version = log.version;
  takeLogs(log, { at_ms: 13 });
  assert.equal(log.version, version, 'a frame without lines changes nothing');
  takeLogs(log, { at_ms: 14, logs_missed: 7 });
  assert.match(log.lines.at(-1).text, /^7 lines/);
});

test('10,000 lines a second of one node displace nothing of others, and cost little', () => {
  const log = logOf(said(1, 'quiet', 'error', 'arm'));
  const begun = performance.now();
  for (let frame = 0; frame < 200; frame += 1) {
    takeLogs(log, { at_ms: frame, logs: Array.from({ length: 500 }, (_, at) => said(2 + frame * 500 + at, `n${at}`)) });
  }
  const took = performance.now() - begun;
  assert.ok(log.lines.length <= MAX_NODE_LINES + 500, String(log.lines.length));
  assert.ok(log.lines.some((line) => line.node === 'arm'));
  assert.ok(took < 5000, `${took} ms for 100,000 lines`);
  assert.deepEqual(texts(shownLines(null, log, NO_FILTER, 2000)), ['quiet']);
});

test('nothing that a node says is more than text', () => {
  const log = logOf({ ...said(1, '<script>', 'loud', '__proto__') });
  assert.deepEqual([log.lines[0].text, log.lines[0].node, log.lines[0].tone], ['<script>', '__proto__', '']);
});
