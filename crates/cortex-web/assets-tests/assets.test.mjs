// What holds of every file of the page: its size, and that nothing from outside can become markup or script.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const folder = new URL('../assets/', import.meta.url);
const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
const named = (ending) => [...files].filter(([name]) => name.endsWith(ending));
const MOST_BYTES = 161_000;

/** The files that a file has the browser load with it; views that are loaded when they are opened are none of them. */
const loadedWith = (text) => [...text.matchAll(/from '\.\/([^']+)'|(?:href|src)="\{\{ assets \}\}\/([\w.-]+)/g)].map(([, module, other]) => module ?? other);

test('what is loaded before a view is opened is small', () => {
  const first = new Set(['page.html']);
  for (const name of first) loadedWith(files.get(name)).forEach((other) => first.add(other));
  const bytes = [...first].reduce((sum, name) => sum + Buffer.byteLength(files.get(name)), 0);
  assert.ok(first.has('state.js') && first.has('page.css') && bytes <= MOST_BYTES, `${bytes} bytes of ${[...first]}`);
});

test('no script makes markup or code of text', () => {
  for (const [name, text] of named('.js')) {
    for (const way of ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', 'eval(', 'new Function', 'DOMParser', 'srcdoc', 'javascript:', 'setTimeout(\'']) {
      assert.ok(!text.includes(way), `${name} uses ${way}`);
    }
  }
});

test('no page holds a script or a style of its own, which the policy would refuse', () => {
  for (const [name, text] of named('.html')) {
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/, name);
    assert.match(text, /<html lang="en">/, name);
  }
});

test('no age and no time is told by the clock of the browser, which may be off by an hour', () => {
  for (const [name, text] of named('.js')) assert.doesNotMatch(text, /Date\.now\(|new Date\(\)/, name);
});

test('nothing is loaded from elsewhere', () => {
  for (const [name, text] of files) {
    const addresses = (text.match(/https?:\/\/[^\s'")]+/g) ?? []).filter((address) => address !== 'http://www.w3.org/2000/svg');
    assert.deepEqual(addresses, [], name);
  }
});

test('every file that is named is there', () => {
  for (const [name, text] of files) {
    for (const [, module, other] of text.matchAll(/(?:from |import\()'\.\/([^']+)'|\{\{ assets \}\}\/([\w.-]+)/g)) {
      assert.ok(files.has(module ?? other), `${name} names ${module ?? other}`);
    }
  }
});

test('pages ask only for what the server fills in, and STOP is a form on them', () => {
  const asked = (name) => new Set([...files.get(name).matchAll(/\{\{ (\w+) \}\}/g)].map((found) => found[1]));
  assert.deepEqual(asked('page.html'), new Set(['robot', 'assets', 'summary', 'version']));
  assert.deepEqual(asked('login.html'), new Set(['robot', 'assets', 'problem', 'users']));
  assert.deepEqual(asked('stopped.html'), new Set(['robot', 'assets', 'outcome', 'not_stopped']));
  for (const name of ['page.html', 'stopped.html']) assert.match(files.get(name), /method="post" action="\/stop"/);
});
