// What is heard, and what is read aloud, in a browser that is none.

import assert from 'node:assert/strict';
import { test } from 'node:test';

class Element {
  constructor() {
    this.attributes = new Map();
    this.listeners = new Map();
    this.value = '';
    this.textContent = '';
  }
  setAttribute(name, value) { this.attributes.set(name, value); }
  getAttribute(name) { return this.attributes.get(name) ?? null; }
  addEventListener(name, listener) { this.listeners.set(name, listener); }
  append(...parts) { this.textContent = parts.join(''); }
  focus() {}
  click() { this.listeners.get('click')(); }
}
globalThis.document = { createElement: () => new Element(), createElementNS: () => new Element(), createTextNode: (text) => text };
globalThis.Node ??= Element;
const { createHearing, createReading, heard, isStop } = await import('../assets/voice.js');

const results = (...words) => words.map((one) => [{ transcript: one }]);

class Recognition {
  static last = null;
  constructor() { Recognition.last = this; }
  start() { this.isStarted = true; }
  abort() { this.isAborted = true; }
}

function hearing(value = '') {
  const field = Object.assign(new Element(), { value });
  const said = [];
  let stops = 0;
  const button = createHearing({ Recognition, field, stop: () => { stops += 1; }, say: (words) => said.push(words) });
  return { field, said, button, stops: () => stops };
}

test('what is said stands in the field for the person to send, after what they had typed', () => {
  const { field, button, stops } = hearing('please');
  button.click();
  assert.equal(button.getAttribute('aria-pressed'), 'true');
  Recognition.last.onresult({ results: results(' go to ', 'the kitchen') });
  assert.equal(field.value, 'please go to the kitchen');
  Recognition.last.onend();
  assert.equal(button.getAttribute('aria-pressed'), 'false');
  assert.equal(stops(), 0);
});

test('whoever says nothing but stop is not asked to press a button', () => {
  const { field, button, stops } = hearing('go to the kitchen');
  button.click();
  Recognition.last.onresult({ results: results('Stop!') });
  assert.equal(stops(), 1);
  assert.equal(field.value, 'go to the kitchen');
  assert.ok(Recognition.last.isAborted);
  assert.deepEqual(['stop', 'STOP stop', 'halt.', 'Stopp'].map(isStop), [true, true, true, true]);
  assert.deepEqual(['do not stop', 'stop at the kitchen', 'nonstop', ''].map(isStop), [false, false, false, false]);
});

test('what comes after a person has ended it is not taken', () => {
  const { field, button } = hearing();
  button.click();
  const ended = Recognition.last;
  button.click();
  ended.onresult({ results: results('go to the kitchen') });
  assert.equal(field.value, '');
});

test('a browser that may not hear says so', () => {
  const { said, button } = hearing();
  button.click();
  Recognition.last.onerror({ error: 'not-allowed' });
  Recognition.last.onerror({ error: 'aborted' });
  Recognition.last.onerror({ error: '<script>' });
  assert.deepEqual(said.slice(1), ['The browser does not let this page hear you. Allow the microphone for it.', 'Nothing could be understood. Type the task.']);
});

test('nothing is read before a person wants it, and old announcements give way', () => {
  const spoken = [];
  let silenced = 0;
  const synthesis = { speak: (one) => spoken.push(one.text), cancel: () => { silenced += 1; } };
  class Utterance { constructor(text) { this.text = text; } }
  let stored = null;
  const { button, read } = createReading({ synthesis, Utterance, kept: { get: () => stored, set: (value) => { stored = value; } } });
  read('Succeeded: say hello');
  assert.deepEqual(spoken, []);
  button.click();
  assert.equal(stored, 'on');
  for (const words of ['one', 'two', 'three', 'x'.repeat(10_000)]) read(words);
  assert.equal(silenced, 1, 'three wait at most');
  assert.equal(spoken.at(-1).length, 400);
  button.click();
  read('four');
  assert.ok(!spoken.includes('four'));
});

test('several results are one line', () => {
  assert.equal(heard(results('a\n', '', ' b')), 'a b');
});
