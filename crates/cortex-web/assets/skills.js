// Who the robot is, and its skills: which are on, how well each works, its whole text, and those that it has learned and asks about.
// Loaded when it is first opened.

import { getJson, postJson } from './actions.js';
import { badge, bdi, confirmInline, h, keyed, setText } from './dom.js';
import { cut, plural, visible } from './format.js';

const STANDINGS = { on: ['good', 'on', 'success'], proposed: ['warn', 'proposed, off until somebody says yes', 'waiting'], off: ['off', 'off, somebody said no', 'blocked'] };
const OUTCOMES = [['succeeded', 'succeeded'], ['unverified', 'not verified'], ['failed', 'failed'], ['disputed', 'disputed'], ['cancelled', 'cancelled']];
const MEANINGS = [
  ['Succeeded', 'It was carried out, and at least a part of it was verified.'],
  ['Not verified', 'It was carried out, by the word of the tools alone: half a success.'],
  ['Failed', 'It was not carried out, or nothing shows that it was.'],
  ['Disputed', 'A person said “that was not it”: as much as two failures.'],
  ['Cancelled', 'Somebody ended it, which says nothing of the skill.'],
];

const tried = ({ succeeded, unverified, failed, disputed }) => succeeded + unverified + failed + disputed;
const hasCounts = (counts) => tried(counts) + counts.cancelled > 0;
const countWords = (counts) => (hasCounts(counts)
  ? `Its tasks: ${OUTCOMES.filter(([key]) => counts[key]).map(([key, word]) => `${counts[key]} ${word}`).join(', ')}.`
  : 'Not tried yet.');

export function createSkills(root, { seen, mayAct, role }) {
  const about = h('p', { dir: 'auto' });
  const note = h('p.answer.skill-note', { role: 'status' });
  const state = h('p.quiet-text', { role: 'status' });
  const proposals = h('ul.skill-list');
  const list = h('ul.skill-list');
  const troubles = h('ul.skill-list');
  const proposed = h('section.panel.stack', { 'aria-label': 'Proposed skills', hidden: true }, h('h2', 'It has learned'),
    h('p.quiet-text', 'What it did three times, and verified each time. Nothing of it is used before somebody says yes.'), proposals);
  const lookAgain = h('button', { type: 'button', class: 'quiet', onclick: () => { setText(note, ''); load(); } }, 'Look again');
  const forgetAll = h('button', { type: 'button', class: 'quiet', hidden: true }, 'Forget all counts');
  const { box: forgetAllBox, close: closeForgetAll } = confirmInline(forgetAll, {
    words: 'The counts of all skills are gone for good then, also those of skills that are gone. The skills stay, and each counts as untried.',
    yes: 'Forget all', no: 'Keep them', onYes: () => act('/api/v1/skills/forget', { counts: 'all' }, 'Nothing is counted of any skill now.', () => lookAgain.focus()),
  });
  root.append(
    h('link', { rel: 'stylesheet', href: new URL('./skills.css', import.meta.url).href }),
    h('section.panel.stack', { 'aria-label': 'Who the robot is' }, h('h2', 'Who it is'), about),
    note,
    proposed,
    h('section.panel.stack', { 'aria-label': 'Skills' },
      h('header.panel-head', h('h2', 'How it is to do things'), h('div.row', forgetAll, lookAgain)), forgetAllBox, state,
      h('details.skill-counted', h('summary', 'What the counts mean'), h('dl.skill-meanings', MEANINGS.map(([word, meaning]) => [h('dt', word), h('dd', meaning)]))),
      list, troubles));
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
      forgetAll.hidden = role() !== 'administer' || !found.skills.some((one) => hasCounts(one.counts));
      if (forgetAll.hidden) closeForgetAll();
      setText(state, others.length ? plural(others.length, 'skill') : 'No skills yet. A skill is a folder with a file SKILL.md beside the recipe.');
      keyed(troubles, found.troubles, (one) => one, (one) => h('li', badge('bad', 'not used', 'failed'), ' ', bdi(cut(visible(one), 500))));
    } catch (error) {
      if (mine === loads) setText(state, cut(error.message, 500));
    }
  }

  function skill(one) {
    const whole = wholeText(one);
    const total = tried(one.counts);
    const bar = total ? h('meter.skill-meter', { min: 0, max: total, value: one.counts.succeeded, 'aria-label': `${one.counts.succeeded} of ${total} tasks succeeded` }) : null;
    const { buttons, boxes } = choices(one, whole);
    return h('li', { 'data-skill': one.name },
      h('p.skill-head', bdi(cut(one.name, 64), 'strong'), badge(...(STANDINGS[one.standing] ?? STANDINGS.off)), one.is_learned ? badge('off', 'learned', 'person') : null),
      h('p', { dir: 'auto' }, cut(visible(one.description), 1024)),
      h('p.quiet-text.skill-head', bar, countWords(one.counts)),
      one.phrases.length ? h('p', 'Say: ', one.phrases.map((phrase, at) => [at ? ' / ' : null, h('q', { dir: 'auto' }, cut(visible(phrase), 300))])) : null,
      one.triggers.map((fires) => h('p.quiet-text', { dir: 'auto' }, `Fires ${cut(visible(fires), 1000)}`)),
      one.steps.length ? h('ol.skill-steps', one.steps.map((step) => h('li', { dir: 'auto' }, cut(visible(step), 300)))) : null,
      h('div.row', whole.button, buttons), whole.root, boxes);
  }

  /** The file of a skill as it was listed: to read it is to know what a yes is said to. */
  function wholeText(one) {
    const text = h('pre.skill-text', { dir: 'auto', tabindex: 0, role: 'region', 'aria-label': `Whole text of ${one.name}` });
    const problem = h('p.answer.tone-bad', { role: 'status' });
    const shown = h('div.stack', { hidden: true }, problem, text);
    const button = h('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false', 'aria-label': `Whole text of ${one.name}`, onclick: () => open(shown.hidden) }, 'Whole text');
    async function open(isOpen) {
      shown.hidden = !isOpen;
      button.setAttribute('aria-expanded', String(isOpen));
      if (!isOpen || text.textContent) return;
      text.hidden = true;
      try {
        const read = await getJson(`/api/v1/skills/text?${new URLSearchParams({ name: one.name, digest: one.digest })}`);
        setText(text, visible(read.text));
        setText(problem, '');
        text.hidden = false;
      } catch (error) {
        setText(problem, cut(error.message, 500));
        tell('bad', error.message);
        await load();
        // It was another one: this is how it is now.
        if (!button.isConnected) focusOn(one.name);
      }
    }
    return { button, root: shown, open, isRead: () => text.textContent !== '' && !shown.hidden };
  }

  function choices(one, whole) {
    const buttons = [];
    const boxes = [];
    const choice = (word, label, tone, question) => {
      const button = h('button', { type: 'button', class: tone, 'aria-label': label }, word);
      buttons.push(button);
      boxes.push(confirmInline(button, question).box);
    };
    const decide = (decision, done) => act('/api/v1/skills/decide', { name: one.name, digest: one.digest, decision }, done, () => focusOn(one.name));
    if (role() !== 'administer') return { buttons, boxes };
    if (one.is_learned && one.standing !== 'on') {
      choice('Use it', `Use it: ${one.name}`, 'primary', {
        words: 'Read its whole text, above. From the next task on the robot does this by itself where a task is such a sentence. Policy and approvals hold as ever.',
        yes: 'Use it', no: 'Not now', onOpen: () => whole.open(true),
        onYes: () => (whole.isRead() ? decide('accept', `“${one.name}” is used from the next task on.`) : tell('bad', 'Its text is not shown, so nothing was done. Read it, then decide.')),
      });
    }
    if (one.is_learned && one.standing !== 'off') {
      choice('Don’t use it', `Don’t use it: ${one.name}`, 'quiet', {
        words: 'It is not used, and not proposed again. It can be switched on later.', yes: 'Don’t use it', no: 'Leave it', onYes: () => decide('reject', `“${one.name}” is not used.`),
      });
    }
    if (hasCounts(one.counts)) {
      choice('Forget counts', `Forget what is counted of ${one.name}`, 'quiet', {
        words: 'The counts of its tasks are gone for good then. The skill stays, and counts as untried.', yes: 'Forget them', no: 'Keep them',
        onYes: () => act('/api/v1/skills/forget', { counts: { skill: one.name } }, `Nothing is counted of “${one.name}” now.`, () => focusOn(one.name)),
      });
    }
    return { buttons, boxes };
  }

  function tell(tone, words) {
    note.className = `answer skill-note tone-${tone}`;
    setText(note, cut(words, 500));
  }

  /** Does it, tells what came of it, shows how things are now, and puts the focus where the person was. */
  async function act(path, body, done, then) {
    const refusal = mayAct();
    if (refusal) return tell('bad', refusal);
    try {
      await postJson(path, { seen: seen(), ...body });
      tell('good', done);
    } catch (error) {
      tell('bad', error.message);
    }
    await load();
    then();
  }

  function focusOn(name) {
    [...root.querySelectorAll('[data-skill]')].find((one) => one.dataset.skill === name)?.querySelector('button').focus();
  }

  return { show: load };
}
