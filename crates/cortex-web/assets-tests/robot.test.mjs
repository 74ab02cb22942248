// Where things stand in the pictures of the robot.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { boundsOf, corners, degrees, goalWords, placeOf, pointPhrase, view } from '../assets/robot-geometry.js';
import { linePath } from '../assets/robot-lines.js';
import { pictureOf, systemOf } from '../assets/robot-system.js';

const map = (heading = 0) => ({ width: 40, height: 20, resolution: 0.5, origin: { frame: 'map', x: -2, y: 1, heading } });
const near = (a, b) => Math.abs(a - b) < 1e-9;

test('a click on the picture is the place that is drawn there', () => {
  const placed = view(boundsOf(map(), null, []), 800, 600);
  assert.equal(placed.width, 800);
  const { x, y } = placeOf(placed, placed.left, placed.top);
  assert.ok(near(x, -2) && near(y, 11), 'the upper left corner is the one with the greatest y');
  const other = placeOf(placed, placed.left + 5 * placed.perMetre, placed.top + 10 * placed.perMetre);
  assert.ok(near(other.x, 3) && near(other.y, 1));
});

test('a map that is turned keeps its corners within the picture', () => {
  const turned = corners(map(Math.PI / 2));
  const bounds = boundsOf(map(Math.PI / 2), null, []);
  for (const [x, y] of turned) assert.ok(x >= bounds.minX && x <= bounds.maxX && y >= bounds.minY && y <= bounds.maxY);
  assert.ok(near(bounds.maxX, -2) && near(bounds.minX, -12));
});

test('without a map the robot and its path are seen, and without anything there is no picture', () => {
  const bounds = boundsOf(null, { x: 5, y: 5 }, [[0, 0]]);
  assert.deepEqual([bounds.minX, bounds.maxX], [0, 7]);
  assert.equal(boundsOf(null, null, []), null);
  assert.equal(boundsOf({ ...map(), resolution: Infinity }, null, []), null);
  const tiny = view(boundsOf(null, null, [[1, 1]]), 300, 300);
  assert.ok(Number.isFinite(tiny.perMetre) && tiny.height > 0);
});

test('a goal is a task that a person can read', () => {
  assert.equal(goalWords({ x: 1.2, y: -0.4 }, 'map'), 'go to x=1.20, y=-0.40 in frame map');
  assert.equal(goalWords({ x: -0.001, y: 0 }, ''), 'go to x=0.00, y=0.00');
  assert.deepEqual([degrees(-Math.PI / 2), degrees(0), degrees(2 * Math.PI)], [270, 0, 0]);
});

test('a goal is asked for as a tool says, where that means the frame of the map and needs nothing more', () => {
  const number = { type: 'number', description: 'Along an axis of the frame map, in metres.' };
  const tool = (properties, phrases, required = ['x', 'y']) => ({ phrases, parameters: { properties, required } });
  const point = tool({ x: number, y: number }, ['come here', 'go to x {x} y {y}']);
  const phrase = pointPhrase([tool({}, ['go to {place}']), point], 'map');
  assert.equal(goalWords({ x: 1.2, y: -0.4 }, 'map', phrase), 'go to x 1.20 y -0.40');
  for (const [other, frame] of [[point, 'odom'], [point, ''], [point, 'ma'],
    [tool({ x: { type: 'number' }, y: number }, ['go to x {x} y {y}']), 'map'],
    [tool({ x: number, y: number }, ['go to x {x} y {y} at {speed}']), 'map'],
    [tool({ x: number, y: number }, ['go to x {x} y {y}'], ['x', 'y', 'speed']), 'map'],
    [{ phrases: ['go to x {x} y {y}'], parameters: null }, 'map']]) assert.equal(pointPhrase([other], frame), null);
});

test('a line has a gap where nothing came, and one that does not change has a place', () => {
  const { path, least, greatest } = linePath([[0, 1], [1000, 2], [60000, 3]], 0, 60000, 300, 60, null);
  assert.equal((path.match(/M/g) ?? []).length, 2);
  assert.deepEqual([least, greatest], [1, 3]);
  assert.doesNotMatch(linePath([[0, 5], [1000, 5]], 0, 1000, 300, 60, null).path, /NaN|Infinity/);
  assert.equal(linePath([], 0, 1, 1, 1, null).path, '');
  assert.match(linePath([[0, 9]], 0, 1, 300, 60, [0, 1]).path, /^M0\.0 3\.0$/, 'what lies beyond the scale stays in the picture');
});

test('the system shows who needs whom, and because of whom one is kept from work', () => {
  const component = (name, more) => ({ name, health: 'healthy', standing: 'up', ...more });
  const { parts, more } = systemOf([
    component('base', { health: 'failed', standing: 'recovering' }),
    component('arm', { depends_on: ['base'], standby: 'spare', standing: 'quarantined', quarantine_cause: 'base' }),
    component('spare'),
  ], [{ name: '/base', reads: [] }, { name: '/arm', reads: ['/viewer'] }, { name: '/viewer', reads: ['/base', '/driver'] }, { name: '/driver', reads: ['/viewer'] }]);
  const by = new Map(parts.map((part) => [part.name, part]));
  assert.equal(more, 0);
  assert.deepEqual([...by.keys()], ['arm', 'base', 'spare', 'driver', 'viewer'], 'components, then the other nodes');
  assert.deepEqual(by.get('arm').after, [by.get('base').number]);
  assert.equal(by.get('arm').cause, 'base');
  assert.deepEqual(by.get('arm').reads, [], 'the recipe says more');
  assert.deepEqual(by.get('spare').standbyFor, ['arm']);
  const [driver, viewer] = [by.get('driver'), by.get('viewer')];
  assert.equal(driver.after.includes(viewer.number) && viewer.after.includes(driver.number), false, 'two that read each other have one line');
  const many = systemOf([], Array.from({ length: 500 }, (_, at) => ({ name: `/n${at}`, reads: [] })));
  assert.deepEqual([many.parts.length, many.more], [60, 440]);
});

test('parts that stand alone stand below the others, and nothing lies over anything', () => {
  const parts = [{ number: 1, after: [] }, { number: 2, after: [1] }, { number: 3, after: [] }, { number: 4, after: [] }, { number: 5, after: [] }];
  for (const width of [330, 720, 1100]) {
    for (const some of [parts, parts.slice(2), parts.slice(0, 2), []]) {
      const { nodes, size, height } = pictureOf(some, width);
      assert.equal(nodes.length, some.length);
      for (const [at, one] of nodes.entries()) {
        assert.ok(one.x + size.width <= width && one.y + size.height <= height, `${width}`);
        for (const other of nodes.slice(at + 1)) assert.ok(Math.abs(one.x - other.x) >= size.width || Math.abs(one.y - other.y) >= size.height);
      }
    }
  }
});
