// Where the steps of a plan stand in its picture: levels by what waits for what, wrapped into bands that fit the width.
// Pure: numbers in, numbers out.

export const HORIZONTAL = { width: 152, height: 74, columnGap: 36, rowGap: 14, bandGap: 46, pad: 20 };
export const VERTICAL = { width: 138, height: 74, columnGap: 22, rowGap: 14, bandGap: 38, pad: 16 };
const WIDEST = 208;

/** The level of each step, from 0: one more than the latest of those it waits for. Cycles, which no plan has, end at 0. */
export function levels(steps) {
  const byNumber = new Map(steps.map((step) => [step.number, step]));
  const level = new Map();
  const visit = (number) => {
    if (level.has(number)) return level.get(number);
    level.set(number, 0);
    const before = byNumber.get(number).after.filter((other) => byNumber.has(other));
    const found = before.length ? 1 + Math.max(...before.map(visit)) : 0;
    level.set(number, found);
    return found;
  };
  steps.forEach((step) => visit(step.number));
  return level;
}

/** The edges without those that follow from others. */
export function reduceEdges(steps) {
  const after = new Map(steps.map((step) => [step.number, step.after]));
  const ancestors = new Map();
  const above = (number) => {
    if (ancestors.has(number)) return ancestors.get(number);
    const all = new Set();
    ancestors.set(number, all);
    for (const parent of after.get(number) ?? []) {
      all.add(parent);
      above(parent).forEach((one) => all.add(one));
    }
    return all;
  };
  const edges = [];
  for (const step of steps) {
    for (const parent of step.after) {
      if (!after.has(parent)) continue;
      if (!step.after.some((other) => other !== parent && above(other).has(parent))) edges.push([parent, step.number]);
    }
  }
  return edges;
}

/** Joins the edges of all members of a group into one edge of the group. Ends are `s3` for a step, `g0` for a group. */
export function bundleEdges(edges, groups) {
  let pairs = edges.map(([from, to]) => [`s${from}`, `s${to}`]);
  groups.forEach((group, index) => {
    if (group.steps.length < 2) return;
    const members = group.steps.map((number) => `s${number}`);
    for (const [mine, other] of [[0, 1], [1, 0]]) {
      const ends = new Set(pairs.filter((pair) => members.includes(pair[mine])).map((pair) => pair[other]));
      for (const end of ends) {
        const joins = (pair) => pair[other] === end && members.includes(pair[mine]);
        if (members.includes(end) || pairs.filter(joins).length !== members.length) continue;
        pairs = pairs.filter((pair) => !joins(pair));
        pairs.push(mine === 0 ? [`g${index}`, end] : [end, `g${index}`]);
      }
    }
  });
  return pairs;
}

/** The steps of each level in an order that keeps groups together and edges short. */
function order(steps, groups, level) {
  const groupOf = new Map(groups.flatMap((group, index) => group.steps.map((number) => [number, index])));
  const sparse = [];
  for (const step of steps) (sparse[level.get(step.number)] ??= []).push(step);
  const rows = sparse.filter(Boolean);
  const row = new Map();
  for (const members of rows) {
    const weight = (step) => {
      const known = step.after.filter((parent) => row.has(parent)).map((parent) => row.get(parent));
      return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : step.number;
    };
    const groupWeight = new Map();
    for (const step of members) {
      const group = groupOf.get(step.number);
      if (group !== undefined) groupWeight.set(group, Math.min(groupWeight.get(group) ?? Infinity, weight(step)));
    }
    const key = (step) => {
      const group = groupOf.get(step.number);
      return group === undefined ? [weight(step), -1, step.number] : [groupWeight.get(group), group, step.number];
    };
    const keys = new Map(members.map((step) => [step, key(step)]));
    members.sort((a, b) => {
      const [left, right] = [keys.get(a), keys.get(b)];
      return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
    });
    members.forEach((step, index) => row.set(step.number, index));
  }
  return rows;
}

/** The rectangles around the members of a group: one for each run of members that has nobody else within it. */
function boxesOf(group, nodes, size) {
  const wanted = new Set(group.steps);
  const members = nodes.filter((node) => wanted.has(node.number));
  const others = nodes.filter((node) => !wanted.has(node.number));
  const around = (some) => {
    const x = Math.min(...some.map((node) => node.x)) - 10;
    const y = Math.min(...some.map((node) => node.y)) - 18;
    return {
      x, y, width: Math.max(...some.map((node) => node.x)) + size.width + 10 - x,
      height: Math.max(...some.map((node) => node.y)) + size.height + 8 - y,
    };
  };
  const holds = (box, node) =>
    node.x < box.x + box.width && node.x + size.width > box.x && node.y < box.y + box.height && node.y + size.height > box.y;
  const runs = [];
  for (const node of members) {
    const last = runs[runs.length - 1];
    const joined = last && [...last, node];
    const fits = joined && last[0].band === node.band && !others.some((other) => holds(around(joined), other));
    if (fits) last.push(node);
    else runs.push([node]);
  }
  return runs.map(around);
}

/**
 * The picture of a plan for `width` pixels: `nodes` with x and y, `edges` as paths, `boxes` of groups.
 * Narrow pictures run downwards, with the steps of a level side by side; wide ones run to the right, in bands.
 */
export function layoutPlan(steps, groups, width) {
  const vertical = width < 600;
  const size = { ...(vertical ? VERTICAL : HORIZONTAL) };
  const across = Math.max(1, Math.floor((width - 2 * size.pad + size.columnGap) / (size.width + size.columnGap)));
  size.width = Math.min(WIDEST, Math.floor((width - 2 * size.pad - (across - 1) * size.columnGap) / across));
  const rows = order(steps, groups, levels(steps));
  const nodes = [];
  let top = size.pad;
  if (vertical) {
    rows.forEach((members, index) => {
      members.forEach((step, at) => {
        const column = at % across;
        const line = Math.floor(at / across);
        const inLine = Math.min(across, members.length - line * across);
        const shift = ((across - inLine) * (size.width + size.columnGap)) / 2;
        nodes.push({ number: step.number, band: index, level: index, x: size.pad + shift + column * (size.width + size.columnGap), y: top + line * (size.height + size.rowGap) });
      });
      top += Math.ceil(members.length / across) * (size.height + size.rowGap) - size.rowGap + size.bandGap;
    });
  } else {
    for (let first = 0; first < rows.length; first += across) {
      const band = rows.slice(first, first + across);
      const most = Math.max(...band.map((members) => members.length));
      band.forEach((members, column) => {
        const shift = ((most - members.length) * (size.height + size.rowGap)) / 2;
        members.forEach((step, at) => nodes.push({
          number: step.number, band: first / across, level: first + column,
          x: size.pad + column * (size.width + size.columnGap), y: top + shift + at * (size.height + size.rowGap),
        }));
      });
      top += most * (size.height + size.rowGap) - size.rowGap + size.bandGap;
    }
  }
  const boxes = groups.map((group) => boxesOf(group, nodes, size));
  const edges = routes(bundleEdges(reduceEdges(steps), groups), nodes, boxes, size, vertical);
  const right = Math.max(size.pad, ...nodes.map((node) => node.x + size.width));
  return { vertical, size, nodes, edges, boxes, width: Math.min(width, right + size.pad) || width, height: Math.max(0, top - size.bandGap) + size.pad };
}

function routes(pairs, nodes, boxes, size, vertical) {
  const rectangle = (end, isSource) => {
    const index = Number(end.slice(1));
    if (end[0] === 'g') return isSource ? boxes[index][boxes[index].length - 1] : boxes[index][0];
    const node = nodes.find((one) => one.number === index);
    return node && { x: node.x, y: node.y, width: size.width, height: size.height };
  };
  let lane = 0;
  return pairs.flatMap(([from, to]) => {
    const a = rectangle(from, true);
    const b = rectangle(to, false);
    if (!a || !b) return [];
    const wraps = b.x < a.x + a.width;
    // The gap above the band that the target stands in.
    const reach = nodes.filter((node) => node.y < b.y + b.height && node.y + size.height > b.y);
    const band = Math.max(...reach.map((node) => node.band));
    const bandTop = Math.min(...nodes.filter((node) => node.band === band).map((node) => node.y));
    const path = vertical ? downwards(a, b) : onwards(a, b, bandTop, lane);
    if (!vertical && wraps) lane = (lane + 1) % 4;
    return [{ from, to, path }];
  });
}

function downwards(a, b) {
  const [x1, y1, x2, y2] = [a.x + a.width / 2, a.y + a.height, b.x + b.width / 2, b.y];
  const bend = Math.max(10, (y2 - y1) / 2);
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

function onwards(a, b, bandTop, lane) {
  const [x1, y1, x2, y2] = [a.x + a.width, a.y + a.height / 2, b.x, b.y + b.height / 2];
  if (x2 > x1) {
    const bend = Math.min(36, (x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  // To the next band: out to the right, down to the gap between the bands, back to the left, in.
  const out = x1 + 10 + lane * 3;
  const into = Math.max(4, x2 - 10 - lane * 3);
  const gap = bandTop - 24 - lane * 4;
  return `M${x1} ${y1}H${out}V${gap}H${into}V${y2}H${x2}`;
}
