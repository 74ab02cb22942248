// Who the robot is, and its skills: which are on, how well each works, and those that it has learned and asks about. Loaded when it
// is first opened.

import { getJson, postJson } from './actions.js';
import { badge, bdi, confirmInline, h, keyed, setText } from './dom.js';
import { cut, plural } from './format.js';

const STANDINGS = { on: ['good', 'on', 'success'], proposed: ['warn', 'proposed, off until somebody says yes', 'waiting'], off: ['off', 'off, somebody said no', 'blocked'] };

export function createSkills(root, { seen, mayAct, role }) {
  const about = h('p', { dir: 'auto' });
  const state = h('p.quiet-text', { role: 'status' });
  const proposals = h('ul.skill-list');
  const list = h('ul.skill-list');
  const troubles = h('ul.skill-list');
  const proposed = h('section.panel.stack', { 'aria-label': 'Proposed skills', hidden: true }, h('h2', 'It has learned'),
    h('p.quiet-text', 'What it did three times, and verified each time. Nothing of it is used before somebody says yes.'), proposals);
  root.append(
    h('link', { rel: 'stylesheet', href: new URL('./skills.css', import.meta.url).href }),
    h('section.panel.stack', { 'aria-label': 'Who the robot is' }, h('h2', 'Who it is'), about),
    proposed,
    h('section.panel.stack', { 'aria-label': 'Skills' }, h('h2', 'How it is to do things'), state, list, troubles));
  let loads = 0;

  async function load() {
    loads += 1;
    const mine = loads;
    try {
      const [who, found] = await Promise.all([getJson('/api/v1/identity'), getJson('/api/v1/skills')]);
      if (mine !== loads) return;
      setText(about, cut(who.about, 4000) || 'Nothing says who this robot is: neither its configuration nor a description of its body.');
      const key = (one) => `${one.name}|${JSON.stringify(one)}|${role()}`;
      const waiting = found.skills.filter((one) => one.standing === 'proposed');
      const others = found.skills.filter((one) => one.standing !== 'proposed');
      proposed.hidden = !waiting.length;
      keyed(proposals, waiting, key, skill);
      keyed(list, others, key, skill);
      setText(state, others.length ? plural(others.length, 'skill') : 'No skills yet. A skill is a folder with a file SKILL.md beside the recipe.');
      keyed(troubles, found.troubles, (one) => one, (one) => h('li', badge('bad', 'not used', 'failed'), ' ', bdi(cut(one, 500))));
    } catch (error) {
      if (mine === loads) setText(state, cut(error.message, 500));
    }
  }

  function skill(one) {
    const answer = h('p.answer', { role: 'status' });
    const { succeeded, unverified, failed, disputed, cancelled } = one.counts;
    const tried = succeeded + unverified + failed + disputed;
    const counts = [[succeeded, 'succeeded'], [unverified, 'not verified'], [failed, 'failed'], [disputed, 'disputed'], [cancelled, 'cancelled']]
      .filter(([count]) => count).map(([count, word]) => `${count} ${word}`).join(', ');
    const bar = tried ? h('meter.skill-meter', { min: 0, max: tried, value: succeeded, 'aria-label': `${succeeded} of ${tried} tasks succeeded` }) : null;
    return h('li',
      h('p.skill-head', bdi(cut(one.name, 64), 'strong'), badge(...(STANDINGS[one.standing] ?? STANDINGS.off)), one.is_learned ? badge('off', 'learned', 'person') : null),
      h('p', { dir: 'auto' }, cut(one.description, 1024)),
      h('p.quiet-text.skill-head', bar, counts || 'not tried yet'),
      one.phrases.length ? h('p', 'Say: ', one.phrases.map((phrase, at) => [at ? ' / ' : null, h('q', { dir: 'auto' }, cut(phrase, 300))])) : null,
      one.triggers.map((fires) => h('p.quiet-text', { dir: 'auto' }, `Fires ${cut(fires, 1000)}`)),
      one.steps.length ? h('ol.skill-steps', one.steps.map((step) => h('li', { dir: 'auto' }, cut(step, 300)))) : null,
      one.is_learned && role() === 'administer' ? choices(one, answer) : null, answer);
  }

  function choices(one, answer) {
    const buttons = [];
    const boxes = [];
    const choice = (decision, word, words, tone) => {
      const button = h('button', { type: 'button', class: tone, 'aria-label': `${word} ${one.name}` }, word);
      const { box } = confirmInline(button, { words, yes: word, no: 'Not now', onYes: () => decide(one, decision, answer) });
      buttons.push(button);
      boxes.push(box);
    };
    if (one.standing !== 'on') choice('accept', 'Use it', 'From the next task on the robot does this by itself where a task is such a sentence. Policy and approvals hold as ever.', 'primary');
    if (one.standing !== 'off') choice('reject', 'Don’t use it', 'It is not used, and not proposed again. It can be switched on later.', 'quiet');
    return [h('div.row', buttons), boxes];
  }

  async function decide(one, decision, answer) {
    answer.className = 'answer tone-bad';
    const refusal = mayAct();
    if (refusal) return setText(answer, refusal);
    try {
      await postJson('/api/v1/skills/decide', { seen: seen(), name: one.name, decision });
      await load();
    } catch (error) {
      setText(answer, cut(error.message, 500));
    }
  }

  return { show: load };
}
