// Components, what is in flight, and what may still move.

import { badge, bdi, h, keyed, remake, setText } from './dom.js';
import { age, clip, cut, plural } from './format.js';

const HEALTH = { healthy: ['good', 'Healthy', 'success'], unknown: ['off', 'Unknown', 'unknown'], suspect: ['warn', 'Suspect', 'warning'], failed: ['bad', 'Failed', 'failed'], silent: ['bad', 'Silent', 'silent'] };
const WORST_FIRST = ['failed', 'silent', 'suspect', 'unknown', 'healthy'];

export function createComponents(root) {
  const body = h('tbody');
  const table = h('table.grid', h('thead', h('tr', ['Component', 'Health', 'Standing', 'Lifecycle', 'Symptoms', 'Attempts', 'Restarts'].map((word) => h('th', { scope: 'col' }, word)))), body);
  const empty = h('p.empty', 'No component is known. Start the robot with a recipe (cortex run --recipe FILE), or start nodes that offer ~/describe: Cortex finds them.');
  const count = h('p.quiet-text');
  const unsettled = h('ul.flight');
  const unsettledPanel = h('section.panel.tone-bad', { 'aria-label': 'May still move' }, h('header.panel-head', h('h2', 'May still move')),
    h('p.quiet-text', 'Nobody waits for these calls any more, and they did not confirm that they are at rest. Look at the robot before you go near it.'), unsettled);
  const calls = h('ul.flight');
  const noCalls = h('p.empty', 'Nothing is in flight.');
  const watchdog = h('p.quiet-text');
  root.append(unsettledPanel,
    h('section.panel', { 'aria-label': 'List of components' }, h('header.panel-head', h('h2', 'Components'), count), empty, h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': 'Table of components' }, table)),
    h('section.panel', { 'aria-label': 'Calls in flight' }, h('header.panel-head', h('h2', 'Calls in flight')), noCalls, calls),
    h('section.panel', { 'aria-label': 'Cortex itself' }, h('header.panel-head', h('h2', 'Cortex itself')), watchdog));

  const call = (item) => h('li', h('bdi.flight-tool', { dir: 'auto' }, clip(item.tool, 120)), h('span.flight-age'), h('bdi.flight-text', { dir: 'auto' }, cut(item.why ?? item.kind, 400)));

  return {
    update(overview, nowMs) {
      if (!overview) return;
      const components = [...overview.components].sort((a, b) => WORST_FIRST.indexOf(a.health) - WORST_FIRST.indexOf(b.health) || a.name.localeCompare(b.name));
      empty.hidden = components.length > 0;
      table.hidden = !components.length;
      const well = components.filter((one) => one.health === 'healthy').length;
      setText(count, `${well} of ${components.length} healthy`);
      keyed(body, components, (one) => one.name, () => h('tr'), (row, one) => remake(row, JSON.stringify(one), () => [
        h('th', { scope: 'row' }, bdi(clip(one.name, 120))), h('td', badge(...(HEALTH[one.health] ?? HEALTH.unknown))), h('td', { 'data-label': 'Standing' }, cut(one.standing, 120) || '–'),
        h('td', { 'data-label': 'Lifecycle' }, cut(one.lifecycle, 120) || '–'),
        h('td', { 'data-label': 'Symptoms' }, one.symptoms.length ? h('ul', one.symptoms.slice(0, 20).map((text) => h('li', bdi(cut(text, 500))))) : '–'),
        h('td.count', { 'data-label': 'Attempts' }, one.attempts), h('td.count', { 'data-label': 'Restarts' }, one.restarts)]));
      const open = overview.unsettled ?? [];
      unsettledPanel.hidden = !open.length;
      for (const [list, items] of [[unsettled, open], [calls, overview.calls]]) {
        keyed(list, items, (one) => `${one.tool}|${one.since_ms}`, call, (child, one) => setText(child.querySelector('.flight-age'), age(nowMs - one.since_ms)));
      }
      noCalls.hidden = overview.calls.length > 0;
      setText(watchdog, [`Node ${overview.node}, runs for ${age(nowMs - overview.started_ms)}.`, overview.watchdog ? `A watchdog ends it when one of ${plural(overview.watchdog.loops.length, 'loop')} hangs for ${overview.watchdog.limit_s} s: ${overview.watchdog.loops.join(', ')}.` : 'No watchdog watches it.'].join(' '));
    },
  };
}
