// The log of the robot's nodes, and how it is shown in one list with the feedback of a mission. No DOM, no clock, no network.

import { lineOf, MAX_LINES } from './state.js';

/** Lines of nodes that are kept. */
export const MAX_NODE_LINES = 3000;
/** Lines of one node that are kept for certain: one that has more gives way first. */
const SHARE = MAX_NODE_LINES / 8;
const SPARE = 300;
/** Nodes that can be chosen. */
const MAX_NODES = 300;
/** Lines of nodes belong to a mission that others followed until so long after its end. */
const AFTER_END_MS = 2000;

const RANK = { debug: 0, info: 1, warn: 2, error: 3, fatal: 4 };
const TONE = { warn: 'warn', error: 'bad', fatal: 'bad' };
const WORD = { debug: 'debug', info: '', warn: 'warning', error: 'error', fatal: 'fatal error' };

/** `version` changes with the lines. */
export function createNodeLog() {
  return { lines: [], nodes: new Set(), version: 0 };
}

/** Takes the lines of a frame. The first frame of a connection has the newest ones again. */
export function takeLogs(log, frame) {
  const isFirst = Boolean(frame.you);
  if (!isFirst && !frame.logs?.length && !frame.logs_missed) return;
  if (isFirst) log.lines = [];
  if (frame.logs_missed) {
    insert(log.lines, line({ at_ms: frame.at_ms, level: 'warn', node: '', text: `${frame.logs_missed} lines of nodes are missing here: this page did not keep up.`, count: 1 }));
  }
  for (const one of frame.logs ?? []) {
    insert(log.lines, line(one));
    if (log.nodes.size < MAX_NODES) log.nodes.add(one.node);
  }
  if (log.lines.length > MAX_NODE_LINES + SPARE) thin(log);
  log.version += 1;
}

function line(one) {
  const rank = RANK[one.level] ?? 1;
  const label = [one.node, WORD[one.level] ?? ''].filter(Boolean).join(' · ');
  return { timeMs: one.at_ms, node: one.node, rank, label, text: one.text, tone: TONE[one.level] ?? '' };
}

/** Into the order of time; what comes is almost always the newest. */
function insert(lines, one) {
  let at = lines.length;
  while (at > 0 && lines[at - 1].timeMs > one.timeMs) at -= 1;
  if (at === lines.length) lines.push(one);
  else lines.splice(at, 0, one);
}

/** A node that logs without end displaces its own lines, and not those of others. */
function thin(log) {
  const counts = new Map();
  for (const one of log.lines) counts.set(one.node, (counts.get(one.node) ?? 0) + 1);
  let spare = log.lines.length - MAX_NODE_LINES;
  const without = (may) => {
    log.lines = log.lines.filter((one) => {
      if (spare <= 0 || !may(one)) return true;
      counts.set(one.node, counts.get(one.node) - 1);
      spare -= 1;
      return false;
    });
  };
  without((one) => counts.get(one.node) > SHARE);
  without(() => true);
}

/** What is shown where nobody has chosen: feedback, and what is wrong in nodes. */
export const NO_FILTER = { text: '', show: '', node: '', isLatest: false };

const LEAST = { '': 2, info: 1, debug: 0 };

/**
 * The last `most` lines that fit the filter, in the order of time. `show` is empty, `feedback`, `info`, `debug`, or a kind of
 * feedback; a node that was chosen shows all that it reports. After the end of the latest mission (`isLatest`), what nodes
 * report is shown with it: there is no other place for it.
 */
export function shownLines(mission, log, filter, most) {
  const wanted = filter.text.trim().toLowerCase();
  const has = (one) => !wanted || one.text.toLowerCase().includes(wanted) || (one.label ?? '').toLowerCase().includes(wanted);
  const isLevel = Object.hasOwn(LEAST, filter.show);
  const feedback = filter.node ? [] : (mission?.lines ?? []);
  const fits = (one) => (isLevel || filter.show === 'feedback' || one.event === filter.show) && has(one);
  const least = isLevel ? (filter.node ? Math.min(1, LEAST[filter.show]) : LEAST[filter.show]) : Infinity;
  const [from, until] = timesOf(mission, filter.isLatest);
  const nodes = log?.lines ?? [];
  const shown = [];
  let one = feedback.length - 1;
  let other = nodes.length - 1;
  // From the end: no more is looked at than is shown.
  while (shown.length < most && (one >= 0 || other >= 0)) {
    if (other < 0 || (one >= 0 && feedback[one].timeMs >= nodes[other].timeMs)) {
      if (fits(feedback[one])) shown.push(feedback[one]);
      one -= 1;
    } else {
      const line = nodes[other];
      if (line.rank >= least && line.timeMs >= from && line.timeMs <= until && (!filter.node || line.node === filter.node) && has(line)) shown.push(line);
      other -= 1;
    }
  }
  return shown.reverse();
}

/** From when until when lines of nodes belong to a mission. Without one, all do. */
function timesOf(mission, isLatest) {
  if (!mission?.acceptedMs) return [-Infinity, Infinity];
  return [mission.acceptedMs, mission.result && !isLatest ? mission.lastMs + AFTER_END_MS : Infinity];
}

/** Lines that are kept while somebody reads the older ones. */
const MOST_KEPT = 20000;

/** Takes lines that were before those that are known. They are kept as long as somebody reads them. */
export function addOlder(mission, events) {
  const first = mission.lines[0]?.sequence ?? Infinity;
  const older = events.filter((event) => event.sequence < first).map(lineOf);
  mission.lines = [...older, ...mission.lines];
  mission.keep = Math.min(MOST_KEPT, Math.max(MAX_LINES, mission.lines.length + 200));
  mission.dropped -= older.length;
}

/** Whether there are lines before those that are known, and room for them. */
export function hasOlder(mission) {
  return Boolean(mission?.lines.length) && mission.lines[0].sequence > 1 && mission.lines.length < MOST_KEPT;
}

/** Nobody reads the older lines any more. */
export function forgetOlder(mission) {
  mission.keep = MAX_LINES;
}
