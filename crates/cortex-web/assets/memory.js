// What the robot remembers: a question and its answer, the facts with who says so, what people correct or have forgotten, and
// the tasks that it worked on. Loaded when it is first opened.

import { getJson, postJson } from './actions.js';
import { badge, bdi, confirmInline, h, icon, keyed, remake, setText } from './dom.js';
import { cut, dateTime, plural } from './format.js';

const query = (text) => new URLSearchParams({ text });

export function createMemory(root, { seen, mayAct, role }) {
  const question = h('input', { type: 'search', id: 'memory-question', maxlength: 500, autocomplete: 'off', placeholder: 'Where is the red cup?' });
  const state = h('p.quiet-text', { role: 'status' });
  const told = h('div.stack');
  const facts = h('ul.memory-list');
  const tasks = h('ul.memory-list');
  const noTask = h('p.quiet-text');
  const ask = h('form.row', { role: 'search', onsubmit: (event) => { event.preventDefault(); load(); } },
    h('label', { for: 'memory-question' }, 'Ask'), question, h('button', { type: 'submit', class: 'primary' }, 'Recall'));
  const note = noteForm();
  const title = h('h2', 'What the robot remembers');
  root.append(
    h('link', { rel: 'stylesheet', href: new URL('./memory.css', import.meta.url).href }),
    h('section.panel.stack', { 'aria-label': 'What the robot remembers' }, h('header.panel-head', title), ask, state, told, facts),
    h('section.panel.stack', { 'aria-label': 'Tell the robot' }, h('h2', 'Tell it what is so'), h('p.quiet-text', 'What a person says outranks what it corrects, until a sensor sees otherwise anew.'), note.root),
    h('section.panel.stack', { 'aria-label': 'Earlier tasks' }, h('h2', 'What it did'), noTask, tasks));
  let loads = 0;

  async function load() {
    loads += 1;
    const mine = loads;
    const text = question.value.trim();
    setText(state, 'Remembering…');
    try {
      const [answer, done] = await Promise.all([getJson(`/api/v1/memory?${query(text)}`), getJson(`/api/v1/memory/tasks?${query(text)}`)]);
      if (mine !== loads) return;
      const words = text ? `${plural(answer.facts.length, 'fact')} about it` : 'What it has seen last, and its body';
      setText(state, answer.facts.length || answer.told.length ? words : 'Nothing is known of that.');
      remake(told, answer.told.join('\n'), () => answer.told.map((sentence) => h('p.memory-told', { dir: 'auto' }, cut(sentence, 2000))));
      // One that has changed is made anew.
      keyed(facts, answer.facts, (one) => `${one.id}|${one.as_of}|${one.ended}|${role()}`, fact);
      setText(noTask, done.length ? '' : 'No task of that is remembered.');
      keyed(tasks, done, (one) => `${one.episode}|${one.gist}`, (one) => h('li', h('time.quiet-text', dateTime(Date.parse(one.began))), bdi(cut(one.gist, 2000), 'bdi.memory-gist')));
    } catch (error) {
      if (mine === loads) setText(state, cut(error.message, 500));
    }
  }

  function fact(one) {
    const answer = h('p.answer', { role: 'status' });
    const trail = h('ul.memory-trail', { hidden: true });
    const why = h('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false', 'aria-label': `Why: ${one.subject} ${one.relation} ${one.value}`, onclick: () => showTrail() }, 'Why');
    const correct = h('button', { type: 'button', class: 'quiet', 'aria-label': `Correct: ${one.subject} ${one.relation}`, onclick: () => note.fill(one) }, 'Correct');
    const forget = h('button', { type: 'button', class: 'quiet', 'aria-label': `Forget ${one.subject}` }, 'Forget');
    const { box } = confirmInline(forget, {
      words: `All that is known of ${one.subject} is gone for good then: no byte of it stays.`, yes: 'Forget it', no: 'Keep it',
      onYes: () => change(answer, () => postJson('/api/v1/memory/forget', { seen: seen(), subject: one.subject })),
    });
    async function showTrail() {
      const isOpen = !trail.hidden;
      trail.hidden = isOpen;
      why.setAttribute('aria-expanded', String(!isOpen));
      if (isOpen) return;
      try {
        const sentences = await getJson(`/api/v1/memory/facts/${one.id}`);
        trail.replaceChildren(...sentences.map((sentence) => h('li', { dir: 'auto' }, cut(sentence, 1000))));
      } catch (error) {
        trail.replaceChildren(h('li', cut(error.message, 500)));
      }
    }
    return h('li',
      h('p.memory-fact', bdi(cut(one.subject, 200), 'strong'), ' ', bdi(cut(one.relation, 200)), ' ', bdi(cut(one.value, 500), 'strong'),
        one.ended ? badge('off', 'not any more', 'blocked') : null, one.is_from_person ? badge('good', 'a person said so', 'person') : null),
      h('p.quiet-text', one.ended ? [bdi(cut(one.ended, 500)), ' '] : null, `As of ${dateTime(Date.parse(one.as_of))}, since ${dateTime(Date.parse(one.since))}, says `, bdi(cut(one.source, 200)), `, ${plural(one.observations, 'observation')}.`),
      h('div.row', why, correct, role() === 'administer' ? forget : null), box, answer, trail);
  }

  async function change(answer, what) {
    const refusal = mayAct();
    answer.className = 'answer tone-bad';
    if (refusal) return setText(answer, refusal);
    try {
      await what();
      await load();
      return true;
    } catch (error) {
      setText(answer, cut(error.message, 500));
      return false;
    }
  }

  function noteForm() {
    const field = (id, word, placeholder) => {
      const input = h('input', { type: 'text', id, maxlength: 200, autocomplete: 'off', placeholder });
      return { input, root: h('span.memory-field', h('label', { for: id }, word), input) };
    };
    const subject = field('memory-subject', 'Thing', 'red cup');
    const relation = field('memory-relation', 'What is said of it', 'is at');
    const value = field('memory-value', 'Value', 'kitchen');
    const answer = h('p.answer', { role: 'status' });
    const form = h('form.memory-note', subject.root, relation.root, value.root, h('button', { type: 'submit', class: 'primary', 'data-act': true }, icon('person'), 'Tell'), answer);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const said = { subject: subject.input.value.trim(), relation: relation.input.value.trim(), value: value.input.value.trim() };
      if (!said.subject || !said.value) {
        answer.className = 'answer tone-bad';
        return setText(answer, 'Name a thing and what is so.');
      }
      question.value = said.subject;
      if (!await change(answer, () => postJson('/api/v1/memory/facts', { seen: seen(), note: said }))) return;
      answer.className = 'answer tone-good';
      setText(answer, 'Noted.');
      value.input.value = '';
    });
    return {
      root: form,
      fill(one) {
        subject.input.value = one.subject;
        relation.input.value = one.relation;
        value.input.value = '';
        setText(answer, '');
        value.input.focus();
      },
    };
  }

  return { show: load };
}
