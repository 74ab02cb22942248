// STOP: over the open socket and, where that is not open or does not answer at once, over HTTP. Who has stopped and who
// has not, and how tasks are taken again.

import { confirmInline, h, icon, remake, setText, bdi } from './dom.js';
import { plural } from './format.js';
import { stopRollCall } from './state.js';

const SOCKET_ANSWER_MS = 300;
const HTTP_ANSWER_MS = 5000;
const HTTP_TRIES = 5;

export function createStop({ live, state, actions }) {
  const form = document.getElementById('stop-form');
  const panel = document.getElementById('stop-panel');
  const announce = document.getElementById('urgent');
  let attempt = null;
  let taken = null;
  let resumeBasis = null;

  function stop() {
    const overview = state.overview;
    const flying = [...state.missions.values()].flatMap((mission) => mission.flight);
    const before = new Set([...(overview?.calls ?? []), ...(overview?.unsettled ?? []), ...flying].map((call) => call.tool));
    if (attempt) attempt.settled = true;
    attempt = { before: [...before], outcome: null, error: '', settled: false, seen: false };
    const mine = attempt;
    form.classList.add('sent');
    setTimeout(() => form.classList.remove('sent'), 600);
    announce.textContent = 'STOP sent.';
    if (!live()?.stop()) overHttp(mine);
    else setTimeout(() => { if (!mine.settled) overHttp(mine); }, SOCKET_ANSWER_MS);
    update();
  }

  async function overHttp(mine) {
    for (let tries = 1; tries <= HTTP_TRIES && !mine.settled; tries += 1) {
      const controller = new AbortController();
      const limit = setTimeout(() => controller.abort(), HTTP_ANSWER_MS);
      try {
        const answer = await fetch('/stop', { method: 'POST', headers: { Accept: 'application/json' }, signal: controller.signal });
        const body = await answer.json();
        if (answer.ok) return settle(mine, { outcome: body });
        settle(mine, { error: body });
        return;
      } catch {
        mine.error = `The robot does not answer (try ${tries} of ${HTTP_TRIES}). Use the emergency stop of the robot itself.`;
        update();
      } finally {
        clearTimeout(limit);
      }
      await new Promise((done) => { setTimeout(done, 250 * tries); });
    }
  }

  function settle(mine, answer) {
    if (mine.settled) return;
    mine.settled = true;
    mine.outcome = answer.outcome ?? null;
    mine.error = answer.error ? answer.error.reason ?? 'The stop was refused without a reason.' : '';
    announce.textContent = mine.outcome ? 'The robot is stopped.' : `The stop failed. ${mine.error}`;
    update();
  }

  const resume = h('button', { type: 'button', class: 'resume', 'data-act': true }, 'Resume…');
  const answer = h('p.answer', { role: 'status' });
  const { box, close } = confirmInline(resume, {
    words: 'The robot takes tasks again. Missions that were ended stay ended, and nothing moves until a task is given. Make sure that nobody is within reach.',
    yes: 'Yes, take tasks again', no: 'Stay stopped',
    onOpen: () => { resumeBasis = state.basis; },
    onYes: () => actions.send({ command: 'resume' }, answer, resumeBasis),
  });
  const title = h('h2');
  const body = h('div.stop-body');
  panel.append(h('div.stop-words', title, body), h('div.stop-resume', resume, box, answer));

  function list(label, tools, tone, sign) {
    return tools.length ? h('div', { class: `roll tone-${tone}` }, h('h3', icon(sign), label),
      h('ul', tools.slice(0, 50).map((tool) => h('li', bdi(tool))))) : null;
  }

  function update() {
    if (state.stop && state.stop !== taken) {
      taken = state.stop;
      if (attempt) settle(attempt, taken);
    }
    const stopped = state.overview?.stop;
    const isStopped = state.basis?.stopped ?? stopped?.stopped ?? false;
    if (attempt && isStopped) attempt.seen = true;
    else if (attempt?.seen) attempt = null;
    document.body.classList.toggle('is-stopped', isStopped);
    panel.hidden = !isStopped && !attempt;
    if (panel.hidden) {
      close();
      setText(answer, '');
      return;
    }
    if (resumeBasis && resumeBasis.stops !== state.basis?.stops) close();
    resume.hidden = !isStopped;
    if (!isStopped) close();
    setText(title, attempt?.error && !isStopped ? 'The stop was not confirmed' : isStopped ? 'The robot is stopped' : 'Stopping…');
    const outcome = attempt?.outcome;
    const roll = stopRollCall(attempt?.before ?? [], outcome ?? { not_stopped: stopped?.not_stopped ?? [] });
    remake(body, JSON.stringify([outcome, attempt?.error, stopped?.why, roll, isStopped]), () => [
      attempt?.error ? h('p.tone-bad', attempt.error) : null,
      stopped?.why && isStopped ? h('p', 'Why: ', bdi(stopped.why)) : null,
      outcome ? h('p', outcome.missions_ended ? `${plural(outcome.missions_ended, 'task was', 'tasks were')} ended.` : 'No task was running.') : null,
      list('May still move', roll.moving, 'bad', 'warning'),
      outcome || isStopped ? list('Confirmed at rest', attempt ? roll.atRest : [], 'good', 'success') : null,
      isStopped && !roll.moving.length ? h('p', 'Everything that was called has confirmed that it is at rest.') : null,
    ]);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    stop();
  });
  return { stop, update };
}
