// The parts of the system and who needs whom, from the live status and the graph of nodes. Pure.

import { layoutPlan } from './layout.js';

/** More would be no picture. */
const MOST = 60;

/**
 * The parts in order, each `{number, name, health, standing, cause, depends, reads, standbyFor, after}`; `more` is how many
 * are left out. A component and the node of its name are one part.
 */
export function systemOf(components, nodes) {
  const short = (name) => name.replace(/^\//, '');
  const parts = new Map();
  for (const one of components) {
    parts.set(short(one.name), {
      name: short(one.name), health: one.health, standing: one.standing, cause: one.quarantine_cause ? short(one.quarantine_cause) : null,
      depends: (one.depends_on ?? []).map(short), reads: [], standbyFor: [], isSupervised: (one.depends_on ?? []).length > 0,
    });
  }
  for (const one of components) {
    const standby = one.standby && parts.get(short(one.standby));
    if (standby) standby.standbyFor.push(short(one.name));
  }
  for (const node of nodes) {
    const name = short(node.name);
    const part = parts.get(name) ?? { name, health: 'node', standing: '', cause: null, depends: [], reads: [], standbyFor: [], isSupervised: false };
    // What the recipe says of it says more than who reads whom.
    if (!part.isSupervised) part.reads = node.reads.map(short).filter((other) => other !== name);
    parts.set(name, part);
  }
  const all = [...parts.values()].sort((a, b) => Number(a.health === 'node') - Number(b.health === 'node') || (a.name < b.name ? -1 : 1));
  const shown = all.slice(0, MOST).map((part, index) => ({ ...part, number: index + 1 }));
  const numbers = new Map(shown.map((part) => [part.name, part.number]));
  for (const part of shown) {
    const needs = [...part.depends, ...part.standbyFor, ...part.reads, ...(part.cause ? [part.cause] : [])];
    part.after = [...new Set(needs.filter((name) => numbers.has(name) && name !== part.name).map((name) => numbers.get(name)))];
  }
  return { parts: withoutCircles(shown), more: all.length - shown.length };
}

/** Two that read each other are drawn with one line, from the first to the second. */
function withoutCircles(parts) {
  const after = new Map(parts.map((part) => [part.number, []]));
  const leadsTo = (from, to, passed = new Set()) => {
    if (from === to) return true;
    if (passed.has(from)) return false;
    passed.add(from);
    return after.get(from).some((next) => leadsTo(next, to, passed));
  };
  for (const part of parts) {
    for (const other of part.after) {
      if (!leadsTo(other, part.number)) after.get(part.number).push(other);
    }
  }
  return parts.map((part) => ({ ...part, after: after.get(part.number) }));
}

/** Where the parts stand: those that need each other by levels, and below them, in rows, those that stand alone. */
export function pictureOf(parts, width) {
  const joined = new Set(parts.flatMap((part) => (part.after.length ? [part.number, ...part.after] : [])));
  const steps = parts.map((part) => ({ number: part.number, after: part.after }));
  const picture = layoutPlan(steps.filter((step) => joined.has(step.number)), [], width);
  const lone = steps.filter((step) => !joined.has(step.number));
  if (!lone.length) return picture;
  const { size } = picture;
  const across = Math.max(1, Math.floor((width - 2 * size.pad + size.columnGap) / (size.width + size.columnGap)));
  const top = joined.size ? picture.height : size.pad;
  lone.forEach((step, at) => picture.nodes.push({
    number: step.number, x: size.pad + (at % across) * (size.width + size.columnGap), y: top + Math.floor(at / across) * (size.height + size.rowGap),
  }));
  picture.height = top + Math.ceil(lone.length / across) * (size.height + size.rowGap) - size.rowGap + size.pad;
  picture.width = width;
  return picture;
}
