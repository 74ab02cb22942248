// Recorded missions: the list, one opened and played again, two side by side.

import { badge, bdi, h, icon, keyed, setAttribute, setText } from './dom.js';
import { getJson } from './actions.js';
import { cut, dateTime } from './format.js';
import { createReplay } from './replay.js';
import { phaseWords } from './state.js';

const PAGE = 20;
const STATES = {
  running: () => ['run', 'Running', 'running'], broken_off: () => ['warn', 'Broken off', 'warning'], unreadable: () => ['bad', 'Unreadable', 'failed'],
  ended: (status) => [{ succeeded: 'good', answered: 'good', failed: 'bad' }[status] ?? 'off', phaseWords({ ended: status }), { succeeded: 'success', answered: 'success', failed: 'failed' }[status] ?? 'blocked'],
  disputed: (status) => ['warn', `${phaseWords({ ended: status })}, disputed`, 'person'],
};

export function createHistory(root, { actions, seenBasis }) {
  const list = h('ul.recorded');
  const empty = h('p.empty', 'Loading…');
  const older = h('button', { type: 'button', hidden: true, onclick: () => load(false) }, 'Older missions');
  const renew = h('button', { type: 'button', class: 'quiet', onclick: () => load(true) }, 'Renew');
  const compare = h('button', { type: 'button', class: 'primary', hidden: true, onclick: () => open([...ticked]) }, 'Compare the two');
  const hint = h('p.quiet-text', 'Tick two missions to see them side by side.');
  const back = h('button', { type: 'button', class: 'quiet', onclick: () => show([]) }, '← All missions');
  const single = h('span.row');
  const stage = h('div.stage');
  const index = h('section.panel', { 'aria-label': 'Recorded missions' }, h('header.panel-head', h('h2', 'History'), hint, h('div.row', compare, renew)), empty, list, h('div.row', older));
  const opened = h('div.opened', { hidden: true }, h('div.row', back, single), stage);
  root.append(index, opened);
  const known = new Map();
  const ticked = new Set();
  let replays = [];
  let isLoaded = false;
  let isLoading = false;

  async function load(fromStart) {
    if (isLoading) return;
    isLoading = true;
    const last = [...known.keys()].pop();
    try {
      const page = await getJson(`/api/v1/missions?most=${PAGE}${fromStart || !last ? '' : `&before=${encodeURIComponent(last)}`}`);
      if (fromStart) known.clear();
      for (const one of page) known.set(one.mission, one);
      isLoaded = true;
      older.hidden = page.length < PAGE;
      setText(empty, 'Nothing is recorded yet. Give the robot a task: its mission is recorded, and can be played again here.');
      empty.hidden = known.size > 0;
    } catch (error) {
      empty.hidden = false;
      setText(empty, error.message);
    }
    isLoading = false;
    draw();
  }

  function draw() {
    for (const id of ticked) if (!known.has(id)) ticked.delete(id);
    keyed(list, [...known.values()], (one) => `${one.mission}|${JSON.stringify(one.state)}`, (one) => {
      const box = h('input', { type: 'checkbox', 'aria-label': `Compare: ${cut(one.task, 80)}`, onchange: () => {
        if (box.checked) ticked.add(one.mission);
        else ticked.delete(one.mission);
        draw();
      } });
      return Object.assign(h('li', box, h('button', { type: 'button', class: 'recorded-open', onclick: () => open([one.mission]) },
        h('bdi.recorded-task', { dir: 'auto' }, cut(one.task, 300) || '(no task)'), h('span.recorded-meta', badge(...(STATES[one.state.state] ?? STATES.unreadable)(one.state.status)), one.dry_run ? badge('off', 'Rehearsed', 'observe') : null, h('time', dateTime(Date.parse(one.time)))))), { box });
    }, (item, one) => {
      item.box.checked = ticked.has(one.mission);
      item.box.disabled = ticked.size >= 2 && !ticked.has(one.mission);
    });
    compare.hidden = ticked.size !== 2;
  }

  async function open(ids) {
    setText(hint, 'Loading…');
    try {
      const tapes = await Promise.all(ids.map((id) => getJson(`/api/v1/missions/${encodeURIComponent(id)}/events`)));
      show(ids.map((id, index) => ({ recorded: known.get(id), events: tapes[index] })));
      setText(hint, 'Tick two missions to see them side by side.');
    } catch (error) {
      setText(hint, error.message);
    }
  }

  function show(missions) {
    replays.forEach((replay) => replay.destroy());
    const compact = missions.length > 1;
    replays = missions.map((one) => createReplay({ ...one, actions: compact ? null : actions, seenBasis, compact }));
    stage.className = `stage${compact ? ' side-by-side' : ''}`;
    stage.replaceChildren(...missions.map(({ recorded }, at) => h('div.stage-part',
      compact ? h('div.row', downloads(recorded.mission)) : null, replays[at].root)));
    single.replaceChildren(...(missions.length === 1 ? downloads(missions[0].recorded.mission) : []));
    index.hidden = missions.length > 0;
    setAttribute(opened, 'hidden', missions.length ? null : '');
    if (missions.length) back.focus();
  }

  const downloads = (id) => [['report', 'Report'], ...(actions.mayAct() ? [] : [['tape', 'Tape'], ['incident', 'Incident']])].map(([name, word]) => h('a.button.quiet', { href: `/api/v1/missions/${encodeURIComponent(id)}/${name}`, download: '' }, icon('download'), word));

  return { show: () => { if (!isLoaded) load(true); }, renew: () => isLoaded && load(true) };
}
