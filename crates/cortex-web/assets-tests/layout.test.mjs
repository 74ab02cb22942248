// Where steps stand in the picture of a plan.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bundleEdges, layoutPlan, levels, reduceEdges } from '../assets/layout.js';

const steps = (...after) => after.map((before, at) => ({ number: at + 1, after: before }));
const overlap = (a, b, size) => Math.abs(a.x - b.x) < size.width && Math.abs(a.y - b.y) < size.height;

function check(picture, count, width) {
  assert.equal(picture.nodes.length, count);
  for (const [at, node] of picture.nodes.entries()) {
    assert.ok(node.x >= 0 && node.x + picture.size.width <= width, `step ${node.number} is within the width`);
    assert.ok(node.y >= 0 && node.y + picture.size.height <= picture.height, `step ${node.number} is within the height`);
    for (const other of picture.nodes.slice(at + 1)) assert.ok(!overlap(node, other, picture.size), `${node.number} and ${other.number} lie apart`);
  }
}

test('a step stands one level after the latest of what it waits for', () => {
  assert.deepEqual([...levels(steps([], [1], [1], [2], [3, 4])).values()], [0, 1, 1, 2, 3]);
});

test('a plan that names no such step, or a circle, still has a picture', () => {
  check(layoutPlan([{ number: 1, after: [2, 9] }, { number: 2, after: [1] }], [], 800), 2, 800);
  assert.deepEqual(layoutPlan([], [], 800).nodes, []);
});

test('an edge that follows from others is not drawn', () => {
  assert.deepEqual(reduceEdges(steps([], [1], [1, 2])), [[1, 2], [2, 3]]);
});

test('edges of a whole group are one edge', () => {
  const plan = steps([], [1], [1], [2, 3], [2, 3]);
  const groups = [{ name: 'a', steps: [2, 3], at_once: 2 }, { name: 'b', steps: [4, 5], at_once: 2 }];
  assert.deepEqual(bundleEdges(reduceEdges(plan), groups).sort(), [['g0', 'g1'], ['s1', 'g0']]);
});

test('an edge of one member stays its own', () => {
  const groups = [{ name: 'a', steps: [2, 3], at_once: 2 }];
  assert.deepEqual(bundleEdges(reduceEdges(steps([], [1], [])), groups), [['s1', 's2']]);
});

test('a box of a group holds its members and nobody else', () => {
  const plan = steps([], [], [], [], [1, 4], [2, 3]);
  const groups = [{ name: 'outer', steps: [1, 4, 5], at_once: 1 }];
  const picture = layoutPlan(plan, groups, 1000);
  const inside = (node) => picture.boxes[0].some((box) => node.x < box.x + box.width && node.x + picture.size.width > box.x && node.y < box.y + box.height && node.y + picture.size.height > box.y);
  assert.deepEqual(picture.nodes.filter(inside).map((node) => node.number).sort(), [1, 4, 5]);
});

test('plans of thirty steps fit wide, tablet and phone screens', () => {
  const chain = Array.from({ length: 30 }, (_, at) => ({ number: at + 1, after: at ? [at] : [] }));
  const fan = Array.from({ length: 30 }, (_, at) => ({ number: at + 1, after: at ? [1] : [] }));
  let seed = 7;
  const random = (most) => (seed = (seed * 48271) % 2147483647) % most;
  const mixed = Array.from({ length: 30 }, (_, at) => ({ number: at + 1, after: [...new Set(at ? [random(at) + 1, random(at) + 1] : [])] }));
  const groups = [{ name: 'g', steps: [4, 5, 6, 7], at_once: 2 }, { name: 'h', steps: [20, 21], at_once: 1 }];
  for (const plan of [chain, fan, mixed]) {
    for (const width of [1100, 720, 330]) {
      const picture = layoutPlan(plan, groups, width);
      check(picture, 30, width);
      assert.ok(picture.edges.every((edge) => !/NaN|undefined|Infinity/.test(edge.path)), 'every edge has a way');
    }
  }
});

test('a chain reads in its order: to the right, then downwards', () => {
  const chain = Array.from({ length: 9 }, (_, at) => ({ number: at + 1, after: at ? [at] : [] }));
  const { nodes } = layoutPlan(chain, [], 800);
  for (let at = 1; at < nodes.length; at += 1) {
    assert.ok(nodes[at].y > nodes[at - 1].y || (nodes[at].y === nodes[at - 1].y && nodes[at].x > nodes[at - 1].x));
  }
});
