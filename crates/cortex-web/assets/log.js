// The feedback lines of a mission. New lines are added once per frame of the screen; the list follows its end until a person
// scrolls up.

import { h, setText } from './dom.js';
import { clock, cut } from './format.js';
import { MAX_LINES } from './state.js';

const LONGEST = 1200;
const NEAR_END = 24;

/**
 * Whether a list that was scrolled follows its end, `top` being where it was before. A scroll is told later than it happens:
 * lines that came meanwhile, or a list that became lower, are no reason to stop. Only who goes up stops it.
 */
export function stillFollows(list, followed, top) {
  if (list.scrollTop + list.clientHeight >= list.scrollHeight - NEAR_END) return true;
  return followed && list.scrollTop >= top;
}

export function createLog() {
  const search = h('input', { type: 'search', placeholder: 'Filter lines', 'aria-label': 'Filter lines by text', oninput: () => rebuild() });
  const kind = h('select', { 'aria-label': 'Filter lines by kind', onchange: () => rebuild() },
    [['', 'All kinds'], ['step', 'Steps'], ['plan', 'Plans'], ['model', 'Model'], ['research', 'Research'], ['question', 'Questions'], ['component', 'Components'], ['budget', 'Budget'], ['mission', 'Mission'], ['call', 'Halts']]
      .map(([value, word]) => h('option', { value }, word)));
  const list = h('ol.lines', { tabindex: '0', 'aria-label': 'Feedback, newest last' });
  const fresh = h('button', { type: 'button', class: 'fresh', hidden: true, onclick: () => toEnd() });
  const empty = h('p.empty', 'Lines appear here as things happen.');
  const root = h('section.panel.log', { 'aria-label': 'Feedback' },
    h('header.panel-head', h('h3', 'Feedback'), h('div.row', search, kind)),
    empty, list, fresh);
  let mission = null;
  let shown = 0;
  let follows = true;
  let unread = 0;
  let top = 0;

  list.addEventListener('scroll', () => {
    follows = stillFollows(list, follows, top);
    top = list.scrollTop;
    if (follows) unread = 0;
    tellFresh();
  }, { passive: true });
  new ResizeObserver(follow).observe(list);
  // A line gets its true height when it comes into sight.
  list.addEventListener('contentvisibilityautostatechange', follow);

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
    follows = true;
    unread = 0;
    follow();
    tellFresh();
    list.focus();
  }

  const matches = (line) => {
    const wanted = search.value.trim().toLowerCase();
    return (!kind.value || line.event === kind.value) && (!wanted || line.text.toLowerCase().includes(wanted));
  };

  const make = (line) => h('li', { class: `line${line.tone ? ` tone-${line.tone}` : ''}` },
    h('time', clock(line.timeMs)), h('span.line-kind', line.event), h('bdi.line-text', { dir: 'auto' }, cut(line.text, LONGEST)));

  function rebuild() {
    list.replaceChildren();
    shown = mission ? mission.dropped : 0;
    follows = true;
    unread = 0;
    append();
  }

  function append() {
    if (!mission) return;
    const end = mission.dropped + mission.lines.length;
    const start = Math.max(shown, end - MAX_LINES);
    if (start < end) {
      const added = mission.lines.slice(start - mission.dropped).filter(matches);
      list.append(...added.map(make));
      while (list.childElementCount > MAX_LINES) list.firstElementChild.remove();
      if (!follows) unread += added.length;
    }
    shown = end;
    empty.hidden = list.childElementCount > 0;
    setText(empty, mission.lines.length ? 'No line matches the filter.' : 'Lines appear here as things happen.');
    follow();
    tellFresh();
  }

  return {
    root,
    update(next) {
      const isOther = next !== mission || shown > next.dropped + next.lines.length;
      mission = next;
      if (isOther) rebuild();
      else if (shown < mission.dropped + mission.lines.length) append();
    },
  };
}
