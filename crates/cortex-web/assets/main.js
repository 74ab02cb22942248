// The page: one state, one stream, its views. What changes is drawn once per frame of the screen.

import { createActions, getJson } from './actions.js';
import { createCards } from './cards.js';
import { createComponents } from './components.js';
import { controlView, createControl } from './control.js';
import { badge, bdi, h, keyed, remake, setAttribute, setText } from './dom.js';
import { age, clip, clock, coarse, cut, plural } from './format.js';
import { bindKeys } from './keys.js';
import { connectLive } from './live.js';
import { createMissionPanel } from './mission.js';
import { applyEarly, applyFrame, applyHistory, createState, missionOf, phaseTone, phaseWords } from './state.js';
import { createStop } from './stop.js';
import { createTaskBox } from './task.js';
import { bindTheme } from './theme.js';
import { createTools } from './tools.js';

/** Events of a mission that a page begins with. */
const FIRST_EVENTS = 400;
const VIEWS = ['mission', 'robot', 'components', 'tools', 'history', 'memory', 'skills', 'access'];
const byId = (id) => document.getElementById(id);

const state = createState();
/** What is on the screen: what a person decides on. */
let shown = { frame: 0, basis: null };
let link = { frozen: true, everSeen: false, ageMs: 0, connected: false, refused: false };
let frozenSince = 0;
let live = null;
let dirty = false;
let selected = null;

const isRecording = () => Boolean(state.overview?.recording);
const mayOperate = () => (state.you === null || state.you.role !== 'watch') && !isRecording();
const seenBasis = () => shown.basis;
const mayAct = () => {
  if (isRecording()) return 'This is a recording: no robot is connected, and nothing can be asked of it.';
  if (!live?.isFresh()) return 'The view is frozen: what you see may not be so any more. Wait until it is live again.';
  return mayOperate() ? null : 'You may watch and stop. Acting takes the role operate: ask who administers this robot.';
};
const actions = createActions({ seen: () => shown, connection: () => state.you?.connection, mayAct });
const stop = createStop({ live: () => live, state, actions });
const cardsRoot = h('div.cards', { hidden: true });
const cards = createCards({ actions, seenBasis, root: cardsRoot, polite: byId('polite') });
const show = (mission) => { selected = mission; };
const nodeLog = { lines: [], nodes: new Set(), version: 0 };
const panel = createMissionPanel({ actions, seenBasis, onReopened: show, nodeLog });
const taskBox = createTaskBox({ actions, running: () => state.basis?.mission ?? null, seenBasis, onSubmitted: show });
if (window.SpeechRecognition || window.webkitSpeechRecognition || window.speechSynthesis) {
  import('./voice.js').then(({ bindVoice }) => bindVoice({ row: taskBox.row, field: taskBox.field, say: taskBox.say, stop: () => stop.stop(), announced: [byId('polite'), byId('urgent')] }));
}
/** The log of the robot's nodes, and that log where there is no mission. Both come after the first picture. */
const early = [];
let takeLogs = (log, frame) => { if (early.length < 100 && (frame.you || frame.logs)) early.push(frame); };
const idleSlot = h('div');
let idleLog = null;
import('./log.js').then((module) => {
  takeLogs = module.takeLogs;
  for (const frame of early.splice(0)) takeLogs(nodeLog, frame);
  idleLog = module.createLog({ nodeLog });
  idleSlot.append(idleLog.root);
  schedule();
});
const control = createControl({ state, actions, seenBasis, live: () => live, announce: byId('urgent'), band: byId('control') });
const missionList = h('ul.missions');
const noMission = h('div.panel.welcome');
byId('mission').append(
  h('div.mission-left', taskBox.root, control.row, h('section.panel', { 'aria-label': 'Missions' }, h('header.panel-head', h('h2.small', 'Missions')), missionList)),
  h('div.mission-stage', cardsRoot, noMission, idleSlot, panel.root));
const components = createComponents(byId('components'));
const tools = createTools(byId('tools'), {
  actions, seenBasis, isOffered: () => !isRecording(), control: () => controlView(state.overview?.control, state.you),
  onSubmitted: (mission) => { show(mission); location.hash = 'mission'; },
});
/** Most people never open them: each is loaded when somebody does. */
let access = null;
let memory = null;
let skills = null;
let history = null;
/** Loaded when it is first opened. */
let robot = null;
async function loadRobot() {
  const { createRobot } = await import('./robot.js');
  robot ??= createRobot(byId('robot-view'), { actions, seen: () => shown, seenBasis, connection: () => state.you?.connection, mayAct, onSubmitted: (id) => { show(id); location.hash = 'mission'; } });
  showView();
}

/** The robot's clock now: as of the last frame, and the age of that frame. */
const nowMs = () => state.atMs + (link.everSeen ? Math.min(live.age(), 60000) : 0);

/** A view that is loaded when it is opened; where that fails, it says so, and the next time is another try. */
async function late(name, file, create, forget) {
  try {
    const module = await import(file);
    byId(name).replaceChildren();
    return create(module);
  } catch {
    forget();
    byId(name).replaceChildren(h('p.empty', 'This view could not be loaded. Check the network, then open it again.'));
    return null;
  }
}

function currentView() {
  const name = location.hash.slice(1);
  return VIEWS.includes(name) ? name : 'mission';
}

function showView() {
  const view = currentView();
  for (const name of VIEWS) byId(name === 'robot' ? 'robot-view' : name).hidden = name !== view;
  for (const anchor of byId('views').children) setAttribute(anchor, 'aria-current', anchor.hash === `#${view}` ? 'page' : null);
  if (robot) robot.show(view === 'robot');
  else if (view === 'robot') loadRobot();
  if (view === 'tools') tools.show(state.overview);
  if (view === 'history') {
    history ??= late('history', './history.js', ({ createHistory }) => createHistory(byId('history'), { actions, seenBasis }), () => { history = null; });
    history.then((opened) => opened?.show());
  }
  if (view === 'memory') {
    memory ??= late('memory', './memory.js', ({ createMemory }) => createMemory(byId('memory'), { seen: () => shown, mayAct, role: () => state.you?.role }), () => { memory = null; });
    memory.then((opened) => opened?.show());
  }
  if (view === 'skills') {
    skills ??= late('skills', './skills.js', ({ createSkills }) => createSkills(byId('skills'), { seen: () => shown, mayAct, role: () => state.you?.role }), () => { skills = null; });
    skills.then((opened) => opened?.show());
  }
  if (view === 'access') {
    access ??= late('access', './access.js', ({ createAccess }) => createAccess(byId('access')), () => { access = null; });
    access.then((opened) => opened?.show());
  }
  schedule();
}

function schedule() {
  if (dirty) return;
  dirty = true;
  requestAnimationFrame(draw);
}

const fetching = new Set();
async function fetchWanted() {
  for (const id of state.wanted) {
    state.wanted.delete(id);
    if (fetching.has(id)) continue;
    fetching.add(id);
    // The last ones first: a long mission has more than a person reads.
    applyHistory(state, id, await eventsOf(id, `most=${FIRST_EVENTS}`));
    schedule();
    const before = missionOf(state, id).early?.before;
    if (before) {
      // What the state is made of; the other lines come when somebody scrolls to them.
      applyEarly(state, id, await eventsOf(id, `most=20000&progress=latest&before=${encodeURIComponent(before)}`));
      schedule();
    }
    fetching.delete(id);
  }
}

/** Events of a mission; null where they can't be had: then it is shown as having a gap. */
async function eventsOf(id, query) {
  try {
    return await getJson(`/api/v1/missions/${encodeURIComponent(id)}/events?${query}`);
  } catch {
    return null;
  }
}

/** Asks for the events of a mission that is to be shown and of which nothing is known. */
function want(id) {
  const mission = missionOf(state, id);
  if (mission.sequence || mission.loading || mission.gap) return;
  mission.loading = true;
  state.wanted.add(id);
}

function drawStrip() {
  const overview = state.overview;
  if (!overview) return;
  const readiness = { ready: ['good', 'Takes tasks', 'success'], limited: ['warn', 'Takes tasks, with limits', 'warning'], waiting: ['warn', 'Tasks wait', 'waiting'], refusing: ['bad', 'Takes no tasks', 'failed'], unknown: ['off', 'Readiness unknown', 'unknown'] }[overview.readiness?.state] ?? ['off', 'Readiness unknown', 'unknown'];
  const model = overview.model;
  const ill = overview.components.filter((one) => ['failed', 'silent', 'suspect'].includes(one.health));
  const unsettled = overview.unsettled?.length ?? 0;
  const error = model.last_error && !model.last_error.is_over ? model.last_error.message : '';
  const other = model.standbys?.[0];
  const key = JSON.stringify([overview.readiness, overview.stop?.stopped, model.name, model.requests, model.errors, error, other, ill.length, overview.components.length, unsettled, overview.paused, overview.lifecycle]);
  remake(byId('strip'), key, () => [
    h('span.chip.live-chip', { 'aria-hidden': 'true' }),
    isRecording() ? null : h('span.chip', badge(...readiness), overview.readiness?.because && !overview.stop?.stopped ? h('span.quiet-text', bdi(cut(overview.readiness.because, 300))) : null),
    overview.lifecycle && overview.lifecycle !== 'active' ? h('span.chip', badge('warn', `Lifecycle ${cut(overview.lifecycle, 40)}`, 'waiting')) : null,
    overview.paused ? h('span.chip', badge('warn', 'Paused', 'waiting'), bdi(cut(overview.paused, 200))) : null,
    h('a.chip', { href: '#components' }, ill.length ? badge('bad', `${plural(ill.length, 'component')} with symptoms`, 'warning') : badge(overview.components.length ? 'good' : 'off', overview.components.length ? `${plural(overview.components.length, 'component')}, none with symptoms` : 'No components', overview.components.length ? 'success' : 'unknown')),
    unsettled ? h('a.chip', { href: '#components' }, badge('bad', `${plural(unsettled, 'call')} may still move`, 'warning')) : null,
    isRecording() ? null : h('span.chip', badge(error ? 'bad' : 'off', model.name ? `Model ${cut(model.name, 60)}` : 'No model', error ? 'failed' : null), h('span.quiet-text', `${plural(model.requests, 'request')}, ${plural(model.errors, 'error')}`), error ? h('span', bdi(cut(error, 200))) : null, other && !error ? badge('warn', `${cut(other.model, 60)} answers in its place`, 'warning') : null),
  ]);
}

/** Where this is a recording, a band says so, and there is no box for a task. */
let recording = null;
async function drawRecording() {
  if (!isRecording()) return;
  taskBox.root.hidden = true;
  recording ??= import('./recording.js').then((module) => module.createRecording(byId('recording')));
  (await recording).update(state.overview.recording);
}

function drawLink() {
  const frozen = byId('frozen');
  document.body.classList.toggle('is-frozen', link.frozen);
  frozen.hidden = !link.frozen || (!link.everSeen && link.ageMs < 1500);
  if (!frozen.hidden) {
    const words = link.refused ? 'You are not logged in any more. STOP may not reach the robot from here.'
      : link.everSeen ? `The view is frozen since ${clock(frozenSince)}: what you see may not be so any more. Only STOP works. Reconnecting…`
        : 'The live view is not there yet. Only STOP works. Connecting…';
    remake(frozen, words, () => [words, ' ', link.refused ? h('a', { href: '/login' }, 'Log in') : null]);
  }
  const chip = document.querySelector('.live-chip');
  if (chip) setText(chip, link.frozen ? `no frame for ${age(link.ageMs)}` : 'live');
  const disabled = link.frozen || !mayOperate();
  for (const button of document.querySelectorAll('[data-act]')) if (button.disabled !== disabled) button.disabled = disabled;
}

function drawMissions() {
  const overview = state.overview;
  // Those that run and wait come in their order, then those that have ended, the latest first.
  const all = overview?.missions ?? [];
  const isOver = (one) => typeof one.phase === 'object';
  const listed = [...all.filter((one) => !isOver(one)), ...all.filter(isOver).reverse()];
  keyed(missionList, listed.length ? listed : [null], (one) => one?.id ?? 'none', (one) => {
    if (!one) return h('li.empty', 'No mission yet.');
    const parts = { task: h('bdi', { dir: 'auto', class: 'mission-task' }, cut(one.task, 160)), phase: h('span.mission-phase') };
    const button = h('button', { type: 'button', onclick: () => { selected = one.id; schedule(); } }, parts.task, parts.phase);
    return Object.assign(h('li', button), { parts, button });
  }, (item, one) => {
    if (!one) return;
    remake(item.parts.phase, JSON.stringify([one.phase, one.words_alone]), () => [badge(phaseTone(one.phase, one.words_alone), phaseWords(one.phase)), h('span.ago')]);
    setText(item.parts.phase.querySelector('.ago'), one.ended_ms ? `${coarse(nowMs() - one.ended_ms)} ago` : `for ${age(nowMs() - one.since_ms)}`);
    setAttribute(item.button, 'aria-current', one.id === shownMission()?.id ? 'true' : null);
  });
  const one = shownMission();
  noMission.hidden = Boolean(one);
  idleSlot.hidden = Boolean(one) || !nodeLog.lines.length;
  panel.root.hidden = !one;
  if (!one) {
    idleLog?.update(null);
    const refusing = overview?.readiness?.state === 'refusing';
    remake(noMission, JSON.stringify([Boolean(overview), overview?.readiness, overview?.lost]), () => (!overview ? [h('h2', 'Connecting to the robot…')]
      : isRecording() ? [h('h2', 'The recording begins…')]
      : refusing ? [h('h2', 'The robot takes no tasks'), h('p', bdi(cut(overview.readiness.because, 1000) || 'It does not say why. `cortex doctor` looks for the reason.'))]
        : [h('h2', 'The robot is free'), lostTasks(overview.lost ?? []), h('p', 'Tell it what to do, in plain words. Its plan appears here as a picture, step by step, and it asks before what needs your word.'), h('p', h('a', { href: '#tools' }, 'What it can do'), ' · ', h('a', { href: '#components' }, 'How its components are'))]));
    return;
  }
  want(one.id);
  const mission = missionOf(state, one.id);
  panel.update(mission, { nowMs: nowMs(), task: one.task, phase: one.phase, output: one.output, isLatest: one.id === all.at(-1)?.id, budget: one.id === state.basis?.mission ? overview?.budget : null });
}

/** What a restart has ended, so that nobody waits for it. */
function lostTasks(lost) {
  if (!lost.length) return null;
  return h('div', h('p', badge('warn', 'Lost', 'warning'), ` Cortex was restarted, and ${lost.length > 1 ? 'these tasks' : 'this task'} did not come to an end. Send again what is still wanted.`),
    h('ul', lost.map((one) => h('li', bdi(cut(one.task, 200))))));
}

/** The chosen mission, or the one that runs, or the last one. */
function shownMission() {
  const missions = state.overview?.missions ?? [];
  const chosen = missions.find((one) => one.id === selected);
  if (chosen) return chosen;
  return missions.find((one) => one.id === state.basis?.mission) ?? missions[missions.length - 1] ?? null;
}

/** What is needed to look into the mission that is shown, as a file. It changes nothing, so an old view is good enough. */
function saveIncident() {
  const one = shownMission();
  const refused = !one ? 'There is no mission to save an incident of.' : mayOperate() ? '' : 'Saving an incident takes the role operate.';
  byId('polite').textContent = refused || `The incident of ${clip(one.task, 100)} is being saved.`;
  if (!refused) h('a', { href: `/api/v1/missions/${encodeURIComponent(one.id)}/incident`, download: '' }).click();
}

function draw() {
  dirty = false;
  drawStrip();
  drawRecording();
  stop.update();
  control.update();
  if (state.overview) setText(byId('robot'), clip(state.overview.robot, 80));
  byId('memory-link').hidden = !state.you?.has_memory;
  byId('skills-link').hidden = !state.you?.has_skills;
  byId('views').lastElementChild.hidden = state.you?.role !== 'administer';
  byId('logout').hidden = !state.you?.session;
  setText(byId('you'), state.you ? `${clip(state.you.name, 40)} · ${state.you.role}` : '');
  cards.update(state.questions);
  taskBox.update(state.overview?.readiness);
  const view = currentView();
  if (view === 'mission') drawMissions();
  if (view === 'robot') robot?.update(state.overview);
  if (view === 'components') components.update(state.overview, nowMs());
  drawLink();
  fetchWanted();
  shown = { frame: state.frame, basis: state.basis };
}

let ended = 0;
function onFrame(frame) {
  const running = state.basis?.mission;
  applyFrame(state, frame);
  takeLogs(nodeLog, frame);
  // The mission that begins is shown, and the one that has ended stays in sight until another begins.
  if (frame.basis && frame.basis.mission !== running) selected = frame.basis.mission ? null : selected ?? running;
  const before = running && state.overview?.missions.find((one) => one.id === running);
  if (before && frame.basis && frame.basis.mission !== running && typeof before.phase === 'object') byId('polite').textContent = [`${phaseWords(before.phase)}: ${clip(before.task, 200)}`, clip(before.output ?? '', 200)].filter(Boolean).join('. ');
  const over = state.overview?.missions.filter((one) => typeof one.phase === 'object').length ?? 0;
  if (frame.overview && over !== ended) {
    ended = over;
    if (currentView() === 'history') history?.then((opened) => opened?.renew());
  }
  schedule();
}

live = connectLive({
  after: () => state.lastEvent,
  onFrame,
  onState(next) {
    if (next.frozen && !link.frozen) frozenSince = state.atMs;
    const changed = next.frozen !== link.frozen || next.refused !== link.refused || next.connected !== link.connected;
    link = next;
    if (changed || next.frozen) drawLink();
    if (changed) byId('polite').textContent = next.frozen ? '' : 'The view is live.';
  },
});

bindKeys({ stop: stop.stop, goTo: (index) => { location.hash = VIEWS[index]; }, saveIncident });
bindTheme(byId('theme'));
window.addEventListener('hashchange', showView);
setInterval(schedule, 1000);
showView();
