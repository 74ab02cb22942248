// STOP: over the open socket and, where that is not open or does not answer at once, over HTTP. Who has stopped and who
// has not, and how tasks are taken again.

import { confirmInline, h, icon, remake, setText, bdi } from './dom.js';
import { plural } from './format.js';
import { stopRollCall } from './state.js';

const SOCKET_ANSWER_MS = 300;
const HTTP_ANSWER_MS = 5000;
/** For so long a STOP is sent again and again until the robot answers: it may come back while somebody still wants it to stop. */
const GIVEN_UP_AFTER_MS = 60000;
const MOST_BETWEEN_TRIES_MS = 1000;
/** Without an answer for so long, the page says what else can be done. */
const LATE_MS = 1000;
/** For so long a page of a recording says that there is nothing to stop. */
const RECORDING_SHOWN_MS = 10000;
const EMERGENCY = 'Use the emergency stop of the robot itself.';

export function createStop({ live, state, actions }) {
  const form = document.getElementById('stop-form');
  const panel = document.getElementById('stop-panel');
  const announce = document.getElementById('urgent');
  let attempt = null;
  let taken = null;
  let resumeBasis = null;

  const isRecording = () => Boolean(state.overview?.recording);

  function stop() {
    const overview = state.overview;
    const flying = [...state.missions.values()].flatMap((mission) => mission.flight);
    const before = new Set([...(overview?.calls ?? []), ...(overview?.unsettled ?? []), ...flying].map((call) => call.tool));
    if (attempt) attempt.settled = true;
    attempt = { before: [...before], outcome: null, error: '', settled: false, seen: false };
    const mine = attempt;
    setTimeout(() => {
      if (mine.settled || mine.error) return;
      mine.error = `Nothing has confirmed the stop yet. If anything moves: ${EMERGENCY.toLowerCase()}`;
      update();
    }, LATE_MS);
    form.classList.add('sent');
    setTimeout(() => form.classList.remove('sent'), 600);
    announce.textContent = 'STOP sent.';
    if (!live()?.stop()) overHttp(mine);
    else setTimeout(() => { if (!mine.settled) overHttp(mine); }, SOCKET_ANSWER_MS);
    update();
  }

  async function overHttp(mine) {
    const begunAt = performance.now();
    for (let tries = 1; !mine.settled && performance.now() - begunAt < GIVEN_UP_AFTER_MS; tries += 1) {
      const controller = new AbortController();
      const limit = setTimeout(() => controller.abort(), HTTP_ANSWER_MS);
      try {
        const answer = await fetch('/stop', { method: 'POST', headers: { Accept: 'application/json' }, signal: controller.signal });
        const body = await answer.json();
        if (answer.ok) return settle(mine, { outcome: body });
        settle(mine, { error: body });
        return;
      } catch {
        if (mine.settled) return;
        mine.error = `The robot does not answer (try ${tries}). ${EMERGENCY} STOP is sent again until it answers, for a minute.`;
        update();
      } finally {
        clearTimeout(limit);
      }
      await new Promise((done) => { setTimeout(done, Math.min(MOST_BETWEEN_TRIES_MS, 250 * tries)); });
    }
    if (mine.settled) return;
    mine.error = `The robot has not answered for a minute: this STOP did not reach it. ${EMERGENCY} Press STOP again where it is still needed.`;
    update();
  }

  function settle(mine, answer) {
    if (mine.settled) return;
    mine.settled = true;
    mine.outcome = answer.outcome ?? null;
    mine.error = answer.error ? answer.error.reason ?? 'The stop was refused without a reason.' : '';
    announce.textContent = mine.outcome ? 'The robot is stopped.' : isRecording() ? mine.error : `The stop failed. ${mine.error}`;
    if (isRecording()) setTimeout(() => { if (attempt === mine) attempt = null; update(); }, RECORDING_SHOWN_MS);
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
    else if (attempt?.seen) {
      // Somebody has resumed since: what was sent before that is not sent again.
      attempt.settled = true;
      attempt = null;
    }
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
    panel.classList.toggle('calm', isRecording());
    setText(title, isRecording() ? 'Nothing moves here' : attempt?.error && !isStopped ? 'The stop was not confirmed' : isStopped ? 'The robot is stopped' : 'Stopping…');
    const outcome = attempt?.outcome;
    const roll = stopRollCall(attempt?.before ?? [], outcome ?? { not_stopped: stopped?.not_stopped ?? [] });
    remake(body, JSON.stringify([outcome, attempt?.error, stopped?.why, roll, isStopped]), () => [
      attempt?.error ? h(isRecording() ? 'p' : 'p.tone-bad', attempt.error) : null,
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
