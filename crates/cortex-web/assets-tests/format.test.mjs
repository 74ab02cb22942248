// How values are shown to people who decide by them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { age, clip, coarse, cut, duration, flatten, json, number, outcomeWords, parseJson, valueText, visible } from '../assets/format.js';

test('characters that turn or hide text are written out', () => {
  assert.equal(visible('a\u202Egnp.exe'), 'a⟨U+202E⟩gnp.exe');
  assert.equal(visible('pay\u200B\u0000\u001b[31m'), 'pay⟨U+200B⟩⟨U+0000⟩⟨U+001B⟩[31m');
  assert.equal(visible('مرحبا 👩‍👧 naïve\nline'), 'مرحبا 👩‍👧 naïve\nline');
});

test('a text and a number are told apart', () => {
  assert.deepEqual(flatten({ n: 2, s: '2', deep: { a: [{ b: null }, []] } }).map(([path, value]) => `${path}=${json(value)}`), ['n=2', 's="2"', 'deep.a.0.b=null', 'deep.a.1=[]']);
  assert.deepEqual(flatten({}), []);
});

test('long texts say how much is left out, and are not cut within a character', () => {
  assert.equal(cut('short', 10), 'short');
  assert.equal(cut('x'.repeat(10240), 4), 'xxxx… (10\u202f236 more characters)');
  assert.ok(clip('😀'.repeat(20), 5).startsWith('😀😀😀😀…'));
});

test('times read as people say them', () => {
  assert.deepEqual([0, 940, 12_400, 185_000, 7_800_000, 273_600_000].map(duration), ['0.0 s', '0.9 s', '12 s', '3 min 05 s', '2 h 10 min', '3 d 4 h']);
  assert.deepEqual([-5, 900, 61_000].map(age), ['0 s', '0 s', '1 min 01 s']);
  assert.deepEqual([30_000, 3_000_000, 90_000_000, 900_000_000].map(coarse), ['30 s', '50 min', '25 h', '10 d']);
});

test('outcomes and values are words', () => {
  assert.equal(outcomeWords({ status: { failed: 'timeout' } }), 'failed: no answer in time');
  assert.equal(outcomeWords({ status: { failed: 'something_new' } }), 'failed');
  assert.deepEqual([null, 'a', { text: 'b', more: 1 }, { only: 'c' }, { n: 1 }, [1]].map(valueText), ['', 'a', 'b', 'c', '{"n":1}', '[1]']);
  assert.equal(number(1234567.8), '1\u202f234\u202f568');
});

test('whole numbers are shown to the digit where the browser can tell them', () => {
  assert.deepEqual(parseJson('{"a": 1.5, "b": "1234567890123456789"}'), { a: 1.5, b: '1234567890123456789' });
  assert.equal(json({ serial: 12345678901234567890n, text: 'a' }), '{"serial":12345678901234567890,"text":"a"}');
});
