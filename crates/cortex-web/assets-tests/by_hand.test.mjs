// What a person types into the form of a tool, as the value that is sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fieldKind, howItRuns, readField } from '../assets/by_hand.js';
import { controlView } from '../assets/control.js';

test('each schema has a field that fits it, and everything else is JSON', () => {
  for (const [schema, kind] of [
    [{ enum: ['kitchen', 'office'] }, 'choice'], [{ type: 'boolean' }, 'truth'], [{ type: 'integer' }, 'whole'], [{ type: 'number' }, 'number'],
    [{ type: 'string' }, 'text'], [{ type: ['string', 'null'] }, 'text'], [{ type: 'array', items: { type: 'string' } }, 'lines'],
    [{ type: 'array', items: { type: 'number' } }, 'json'], [{ type: 'object' }, 'json'], [{ type: ['string', 'number'] }, 'json'],
    [{ anyOf: [] }, 'json'], [true, 'json'], [undefined, 'json'], [{ enum: [] }, 'json'],
  ]) assert.equal(fieldKind(schema), kind, JSON.stringify(schema));
});

test('what is typed is sent as it is, with its type', () => {
  for (const [kind, text, schema, value] of [
    ['text', ' two  words ', {}, ' two  words '], ['whole', '12', {}, 12], ['whole', '-007', {}, -7], ['whole', '12345678901234567890', {}, 12345678901234567890n],
    ['number', '1.5e-1', {}, 0.15], ['truth', 'false', {}, false], ['choice', '1', { enum: ['1', 1] }, 1], ['lines', 'a\n\nb', {}, ['a', 'b']],
    ['json', '{"x": [1, "2"]}', {}, { x: [1, '2'] }], ['json', 'null', {}, null],
  ]) {
    const read = readField(kind, text, schema, true).value;
    assert.deepEqual(read, value, `${kind} ${text}`);
  }
});

test('nothing is left out where it may be, and asked for where it may not', () => {
  for (const kind of ['text', 'whole', 'number', 'truth', 'choice', 'lines', 'json']) assert.deepEqual(readField(kind, '', {}, false), {}, kind);
  for (const kind of ['whole', 'number', 'truth', 'choice', 'json']) assert.ok(readField(kind, ' ', {}, true).problem, kind);
  assert.deepEqual(readField('text', '', {}, true), { value: '' });
});

test('what does not fit is said before anything is sent', () => {
  for (const [kind, text, schema] of [
    ['whole', '1.5', {}], ['whole', 'two', {}], ['number', 'Infinity', {}], ['number', '1,5', {}], ['whole', '6', { maximum: 5 }], ['whole', '-1', { minimum: 0 }],
    ['number', '0', { exclusiveMinimum: 0 }], ['number', '1', { exclusiveMaximum: 1 }], ['text', 'abcd', { maxLength: 3 }], ['json', '{', {}], ['json', '{a: 1}', {}],
  ]) assert.ok(readField(kind, text, schema, true).problem, `${kind} ${text}`);
});

test('whoever has the controls is told that it runs beside the mission that waits', () => {
  const control = { state: 'held', holder: 'mine', because: 'the tablet has the controls', changes: 1 };
  assert.match(howItRuns(controlView(control, { connection: 'mine', role: 'operate' })), /You have the controls.*Handing back halts it/);
  for (const you of [{ connection: 'another', role: 'operate' }, null]) assert.match(howItRuns(controlView(control, you)), /a mission of its own/);
});
