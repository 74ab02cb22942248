// What holds of every file of the page: its size, and that nothing from outside can become markup or script.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const folder = new URL('../assets/', import.meta.url);
const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
const named = (ending) => [...files].filter(([name]) => name.endsWith(ending));
const MOST_BYTES = 161_000;

test('the whole page is small', () => {
  // What a view needs that is opened later is loaded then.
  const later = named('.js').flatMap(([, text]) => [...text.matchAll(/\bimport\('\.\/([^']+)'\)/g)].map((found) => found[1]));
  const others = ['login.html', 'stopped.html', ...later];
  const bytes = [...files].filter(([name]) => !others.includes(name)).reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
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
  assert.deepEqual(asked('login.html'), new Set(['robot', 'assets', 'problem']));
  assert.deepEqual(asked('stopped.html'), new Set(['robot', 'assets', 'outcome', 'not_stopped']));
  for (const name of ['page.html', 'stopped.html']) assert.match(files.get(name), /method="post" action="\/stop"/);
});
