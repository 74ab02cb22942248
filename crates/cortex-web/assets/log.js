// One log: the feedback lines of a mission, and what the robot's nodes report. It is drawn once per frame of the screen; the
// list follows its end until a person scrolls up.

import { getJson } from './actions.js';
import { h, keyed, setText } from './dom.js';
import { clip, clock, cut } from './format.js';
import { addOlder, forgetOlder, hasOlder, shownLines } from './lines.js';
import { MAX_LINES } from './state.js';

export { takeLogs } from './lines.js';

const LONGEST = 1200;
const NEAR_END = 24;
/** Lines that are shown while somebody reads older ones, and events that are loaded at a time. */
const MOST_SHOWN = 10000;
const OLDER = 500;
const KINDS = [['step', 'Steps'], ['plan', 'Plans'], ['model', 'Model'], ['research', 'Research'], ['question', 'Questions'], ['component', 'Components'], ['budget', 'Budget'], ['mission', 'Mission'], ['call', 'Halts']];
const LEVELS = [['', 'Feedback and warnings'], ['info', 'All that is reported'], ['debug', 'Everything'], ['feedback', 'Feedback alone']];

/**
 * Whether a list that was scrolled follows its end, `top` being where it was before. A scroll is told later than it happens:
 * lines that came meanwhile, or a list that became lower, are no reason to stop. Only who goes up stops it.
 */
export function stillFollows(list, followed, top) {
  if (list.scrollTop + list.clientHeight >= list.scrollHeight - NEAR_END) return true;
  return followed && list.scrollTop >= top;
}

/** Shows `lines` with the elements that `elements` has for them, and makes those that are missing. Gives how many were made. */
export function showLines(list, elements, lines, make) {
  const wanted = new Set(lines);
  for (const [line, element] of elements) {
    if (wanted.has(line)) continue;
    element.remove();
    elements.delete(line);
  }
  let made = 0;
  let before = list.firstElementChild;
  for (const line of lines) {
    let element = elements.get(line);
    if (element && element === before) {
      before = before.nextElementSibling;
      continue;
    }
    if (!element) {
      element = make(line);
      elements.set(line, element);
      made += 1;
    }
    list.insertBefore(element, before);
  }
  return made;
}

/** `nodeLog` is the log of the robot's nodes, where there is one; `isWhole`: the lines are all there are. */
export function createLog({ nodeLog = null, isWhole = false } = {}) {
  const option = ([value, word]) => h('option', { value }, word);
  const search = h('input', { type: 'search', placeholder: 'Filter lines', 'aria-label': 'Filter lines by text', oninput: () => rebuild() });
  const show = h('select', { 'aria-label': 'Which lines are shown', onchange: () => rebuild() },
    nodeLog ? LEVELS.map(option) : option(['', 'All kinds']),
    h('optgroup', { label: 'Feedback of one kind' }, KINDS.map(option)));
  const all = h('option', { value: '' }, 'All nodes');
  const nodes = h('select', { 'aria-label': 'Lines of which node', hidden: true, onchange: () => rebuild() }, all, h('optgroup', { label: 'Lines of one node' }));
  const list = h('ol.lines', { tabindex: '0', 'aria-label': 'Log, newest last' });
  const earlier = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => loadOlder() }, 'Earlier lines');
  const fresh = h('button', { type: 'button', class: 'fresh', hidden: true, onclick: () => toEnd() });
  const empty = h('p.empty');
  const root = h('section.panel.log', { 'aria-label': 'Log' },
    h('header.panel-head', h('h3', 'Log'), h('div.row', search, show, nodes)),
    empty, earlier, list, fresh);
  const elements = new Map();
  let mission = null;
  let isLatest = false;
  let drawn = '';
  let follows = true;
  let unread = 0;
  let top = 0;

  list.addEventListener('scroll', () => {
    follows = stillFollows(list, follows, top);
    top = list.scrollTop;
    if (follows) unread = 0;
    else if (top < NEAR_END) loadOlder();
    tellFresh();
  }, { passive: true });
  new ResizeObserver(follow).observe(list);
  // A line gets its true height when it comes into sight.
  list.addEventListener('contentvisibilityautostatechange', follow);

  let loading = false;
  let older = 0;
  /** The lines before those that are shown. What a person reads stays where it is. */
  async function loadOlder() {
    const of = mission;
    if (loading || isWhole || !hasOlder(of)) return;
    loading = true;
    setText(earlier, 'Earlier lines are being loaded…');
    try {
      const events = await getJson(`/api/v1/missions/${encodeURIComponent(of.id)}/events?most=${OLDER}&before=${encodeURIComponent(of.lines[0].id)}`);
      older = events.length;
      addOlder(of, events);
      setText(earlier, 'Earlier lines');
    } catch {
      setText(earlier, 'Earlier lines can\'t be loaded. Try again');
    }
    loading = false;
    if (of !== mission) return;
    follows = false;
    const below = list.scrollHeight - list.scrollTop;
    draw();
    list.scrollTop = list.scrollHeight - below;
    top = list.scrollTop;
  }

  function follow() {
    if (!follows) return;
    list.scrollTop = list.scrollHeight;
    top = list.scrollTop;
  }

  function tellFresh() {
    fresh.hidden = follows || !unread;
    if (!fresh.hidden) setText(fresh, `${unread} new ${unread === 1 ? 'line' : 'lines'} ↓`);
  }

  function toEnd() {
    if (mission) forgetOlder(mission);
    follows = true;
    unread = 0;
    follow();
    tellFresh();
    list.focus();
  }

  const make = (line) => h('li', { class: `line${line.tone ? ` tone-${line.tone}` : ''}${line.label === undefined ? '' : ' of-node'}` },
    h('time', clock(line.timeMs)), h('bdi.line-kind', { dir: 'auto' }, clip(line.label ?? line.event, 80)), h('bdi.line-text', { dir: 'auto' }, cut(line.text, LONGEST)));

  function rebuild() {
    follows = true;
    unread = 0;
    draw();
  }

  function draw() {
    drawn = keyNow();
    const filter = { text: search.value, show: show.value, node: nodes.value, isLatest };
    const made = showLines(list, elements, shownLines(mission, nodeLog, filter, follows ? MAX_LINES : MOST_SHOWN), make);
    if (!follows) unread += Math.max(0, made - older);
    older = 0;
    earlier.hidden = isWhole || !hasOlder(mission);
    drawNodes();
    empty.hidden = elements.size > 0;
    const isFiltered = filter.text || filter.show || filter.node;
    setText(empty, isFiltered ? 'No line matches the filter.' : 'Lines appear here as things happen.');
    follow();
    tellFresh();
  }

  function drawNodes() {
    const names = [...(nodeLog?.nodes ?? [])].filter(Boolean).sort();
    nodes.hidden = !names.length;
    keyed(nodes.lastElementChild, names, (name) => name, (name) => h('option', { value: name }, clip(name, 60)));
  }

  const keyNow = () => `${mission?.id}/${isLatest}/${mission?.sequence}/${mission?.dropped}/${mission?.lines.length}/${nodeLog?.version}`;

  return {
    root,
    update(next, isNewest = false) {
      isLatest = isNewest;
      if (next !== mission) {
        mission = next;
        rebuild();
      } else if (drawn !== keyNow()) draw();
    },
  };
}
