// When the feedback follows its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { stillFollows } from '../assets/log.js';

const list = (scrollTop, scrollHeight, clientHeight = 100) => ({ scrollTop, scrollHeight, clientHeight });

test('lines that come before a scroll is told do not stop the list', () => {
  // The page went to the end at 400; five lines came before the event did.
  assert.equal(stillFollows(list(400, 600), true, 400), true);
  assert.equal(stillFollows(list(400, 600), true, 300), true);
  // A panel appeared, and the list became lower.
  assert.equal(stillFollows(list(400, 500, 60), true, 400), true);
});

test('who scrolls up stops it, and who comes back to the end starts it again', () => {
  assert.equal(stillFollows(list(350, 500), true, 400), false);
  assert.equal(stillFollows(list(360, 520), false, 350), false);
  assert.equal(stillFollows(list(400, 520), false, 360), true);
});
