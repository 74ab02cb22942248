// One mission: who asked what, its plan, what is in flight, what it has spent, what came of it. Used for the mission that
// runs, for those that have ended, and for recorded ones.

import { badge, bdi, confirmInline, h, icon, keyed, remake, setAttribute, setText } from './dom.js';
import { age, clip, cut, dateTime, duration, haltWords, number, originWords, plural } from './format.js';
import { stepDetail, verificationBadge } from './detail.js';
import { createPlan, legend } from './plan.js';
import { classWords, currentPlan, millis, phaseTone, phaseWords } from './state.js';

const EXPENSES = { model_calls: 'Requests to the model', tokens: 'Tokens', money: 'Cost', seconds: 'Time, s', metres: 'Way, m', watt_hours: 'Energy, Wh' };

export function createMissionPanel({ actions, seenBasis, onReopened, compact = false, isReplay = false, nodeLog = null }) {
  const task = h('h2.task');
  const meta = h('p.meta');
  const alerts = h('div.alerts');
  const cancel = h('button', { type: 'button', class: 'danger', 'data-act': true }, 'End this mission…');
  const answer = h('p.answer', { role: 'status' });
  let basis = null;
  const confirm = confirmInline(cancel, {
    words: 'The mission ends: what moves for it is halted. Its report says what was done.', yes: 'End it', no: 'Let it go on',
    onOpen: () => { basis = seenBasis(); },
    onYes: () => actions.send({ command: 'cancel', mission: mission.id }, answer, basis),
  });
  const plans = h('div.tabs', { role: 'group', 'aria-label': 'Plans' });
  const planNote = h('p.quiet-text');
  const empty = h('p.empty');
  const detail = h('div.detail-slot', { 'aria-live': 'off' });
  const picture = createPlan({ onPick: (step) => { picked = picked === step ? null : step; again(); } });
  const asList = h('button', { type: 'button', class: 'quiet', 'aria-pressed': 'false', onclick: () => {
    const next = asList.getAttribute('aria-pressed') !== 'true';
    asList.setAttribute('aria-pressed', String(next));
    picture.setList(next);
  } }, 'As a list');
  const planPanel = h('section.panel.plan-panel', { 'aria-label': 'Plan' },
    h('header.panel-head', h('h3', 'Plan'), plans, asList), planNote, empty, picture.root, legend(), detail);
  const flight = h('ul.flight');
  const flightPanel = h('section.panel', { 'aria-label': 'In flight' }, h('header.panel-head', h('h3', 'In flight')), flight);
  const budget = h('div.budget');
  const budgetPanel = h('section.panel', { 'aria-label': 'Budget' }, h('header.panel-head', h('h3', 'Spent')), budget);
  const report = h('div.report-slot');
  const logSlot = h('div');
  let log = null;
  import('./log.js').then(({ createLog }) => {
    log = createLog({ nodeLog, isWhole: isReplay });
    logSlot.replaceWith(log.root);
    again();
  });
  const incident = h('a.button.quiet', { download: '', title: 'Its tape, report and log, the robot\'s health, and the latest messages of its topics, in one archive (key I)', 'aria-keyshortcuts': 'i' }, icon('download'), 'Save incident');
  const head = h('section.panel.mission-head', { 'aria-label': 'Task' },
    h('div.task-row', task, actions && !isReplay ? [incident, cancel] : null), confirm.box, answer, meta, alerts);
  const main = h('div.mission-main', head, report, planPanel);
  const side = h('div.mission-side', flightPanel, budgetPanel, logSlot);
  const root = h('div', { class: compact ? 'mission compact' : 'mission' }, main, side);

  let mission = null;
  let view = null;
  let chosenPlan = null;
  let picked = null;

  const again = () => view && update(mission, view);

  /** `nowMs` is the robot's clock; `budget` is what the mission that runs has spent. */
  function update(next, more) {
    if (!mission || mission.id !== next.id) {
      chosenPlan = null;
      picked = null;
      confirm.close();
      setText(answer, '');
    }
    mission = next;
    view = more;
    const ended = mission.result !== null || typeof mission.phase === 'object';
    remake(task, mission.task || more.task, () => bdi(cut(mission.task || more.task || 'Loading…', 600)));
    showMeta(ended);
    showAlerts();
    const endable = actions && !ended && mission.phase !== 'stopping';
    cancel.hidden = !endable;
    setAttribute(incident, 'href', `/api/v1/missions/${encodeURIComponent(mission.id)}/incident`);
    if (actions) incident.hidden = Boolean(actions.mayAct());
    if (!endable) confirm.close();
    showReport();
    showPlan(ended);
    showFlight(ended);
    showBudget();
    log?.update(mission, view.isLatest);
  }

  function showMeta(ended) {
    const phase = ended || mission.phase !== 'unknown' ? mission.phase : view.phase ?? 'unknown';
    const took = mission.result ? millis(mission.result.duration) : Math.max(0, view.nowMs - mission.acceptedMs);
    const key = [phaseWords(phase), mission.taskClass, originWords(mission.origin), mission.acceptedMs, mission.ahead, mission.turn, ended].join('|');
    remake(meta, key, () => [
      badge(phaseTone(phase, mission.result?.words_alone), phaseWords(phase) + (phase === 'planning' && mission.turn > 1 ? `, turn ${mission.turn}` : '') + (phase === 'queued' ? `, ${mission.ahead} before it` : '')),
      mission.taskClass ? h('span', `taken for ${classWords(mission.taskClass)}`) : null,
      mission.origin ? h('span', 'asked by ', bdi(cut(originWords(mission.origin), 120))) : null,
      mission.acceptedMs ? h('time', dateTime(mission.acceptedMs)) : null,
      mission.acceptedMs ? h('span.took') : null,
    ]);
    const tookSlot = meta.querySelector('.took');
    if (tookSlot) setText(tookSlot, ended ? `took ${duration(took)}` : `for ${age(took)}`);
  }

  function showAlerts() {
    const list = [
      mission.gap ? ['warn', 'Earlier events of this mission could not be had: the picture may be incomplete.'] : null,
      mission.gap && !mission.result && view.output ? ['off', view.output] : null,
      mission.paused ? ['warn', `Paused: ${mission.paused}`] : null,
      mission.interrupted ? ['warn', mission.interrupted] : null,
      mission.missing ? ['warn', `Waits for tools that have left: ${mission.missing.join(', ')}`] : null,
      mission.stopping && !mission.result && !mission.interrupted ? ['bad', `Stopping: ${mission.stopping.reason}`] : null,
      ...mission.halts.filter((halt) => halt.state === 'refused' || halt.state === 'unconfirmed').map((halt) => ['bad', `${halt.tool}: ${haltWords(halt.state)}`]),
      ...mission.revisions.map((one) => ['off', `Revised: ${one.text}`]),
      ...mission.disputes.map((one) => ['off', `Disputed: ${one.reason}`]),
      ...mission.warnings.filter(() => !mission.result).map((one) => ['warn', `${EXPENSES[one.expense] ?? one.expense}: ${number(one.used)} of ${number(one.limit)} spent`]),
    ].filter(Boolean).slice(0, 12);
    remake(alerts, JSON.stringify(list), () => list.map(([tone, words]) => h('p', { class: `alert tone-${tone}` }, icon(tone === 'off' ? 'person' : 'warning'), bdi(cut(words, 1000)))));
  }

  function showPlan(ended) {
    const latest = currentPlan(mission);
    const plan = mission.plans.find((one) => one.number === chosenPlan) ?? latest;
    asList.hidden = !plan;
    keyed(plans, mission.plans.length > 1 ? mission.plans : [], (one) => one.number,
      (one) => h('button', { type: 'button', class: 'tab', onclick: () => { chosenPlan = one.number; picked = null; again(); } }, `Plan ${one.number}`),
      (tab, one) => setAttribute(tab, 'aria-pressed', String(one === plan)));
    picture.root.hidden = !plan;
    planPanel.querySelector('.legend').hidden = !plan;
    empty.hidden = Boolean(plan);
    if (!plan) {
      setText(empty, ended ? (mission.result?.status === 'answered' ? 'No plan was made: words were the answer.' : 'No plan was made.') : mission.phase === 'queued' ? 'The plan is made when the mission\'s turn comes.' : 'The model is asked for a plan. Its steps appear here.');
      setText(planNote, '');
      return remake(detail, '', () => []);
    }
    const notes = [plan.because ? `Made anew: ${plan.because}` : '', plan.cut.length ? `Cut because the plan was too long: ${plan.cut.join(', ')}` : ''];
    setText(planNote, cut(notes.filter(Boolean).join(' '), 800));
    picture.update({ ...plan, key: `${mission.id}/${plan.number}` }, picked, view.nowMs);
    const step = plan.steps.find((one) => one.number === picked);
    remake(detail, step ? JSON.stringify([mission.id, plan.number, step], (key, one) => (typeof one === 'bigint' ? String(one) : one)) : '', () => (step ? stepDetail(step) : []));
  }

  function showFlight(ended) {
    flightPanel.hidden = ended;
    keyed(flight, mission.flight, (one) => one.call, () => {
      const parts = { name: h('bdi.flight-tool', { dir: 'auto' }), age: h('span.flight-age'), text: h('bdi.flight-text', { dir: 'auto' }), stall: h('span.badge.tone-warn') };
      return Object.assign(h('li', parts.name, parts.age, parts.text, parts.stall), { parts });
    }, ({ parts }, one) => {
      setText(parts.name, cut(one.tool, 100) + (one.step ? ` · step ${one.step}` : ' · research'));
      setText(parts.age, age(view.nowMs - one.startedMs));
      setText(parts.text, cut(one.feedback, 300));
      parts.stall.hidden = !one.stalledMs;
      setText(parts.stall, `no progress for ${age(one.stalledMs + Math.max(0, view.nowMs - mission.lastMs))}`);
    });
    flightPanel.classList.toggle('is-empty', !mission.flight.length);
    if (!mission.flight.length) keyed(flight, ['none'], (one) => one, () => h('li.empty', 'Nothing is in flight.'));
  }

  function showBudget() {
    const usage = mission.result?.usage;
    const rows = usage ? [
      { expense: 'model_calls', used: usage.model_calls }, { expense: 'tokens', used: usage.prompt_tokens + usage.completion_tokens, estimated: usage.tokens_estimated },
      usage.cost ? { expense: 'money', used: usage.cost } : null, usage.metres ? { expense: 'metres', used: usage.metres } : null,
      usage.watt_hours ? { expense: 'watt_hours', used: usage.watt_hours } : null,
    ].filter(Boolean) : view.budget ?? [];
    budgetPanel.hidden = !rows.length;
    keyed(budget, rows, (row) => row.expense, (row) => {
      const parts = { value: h('span.budget-value'), meter: h('meter', { min: 0, 'aria-label': EXPENSES[row.expense] ?? row.expense }) };
      return Object.assign(h('div.budget-row', h('span', EXPENSES[row.expense] ?? row.expense), parts.value, parts.meter), { parts });
    }, ({ parts }, row) => {
      const limited = row.limit !== null && row.limit !== undefined;
      setText(parts.value, (row.estimated ? 'about ' : '') + number(row.used) + (limited ? ` of ${number(row.limit)}` : ''));
      parts.meter.hidden = !limited;
      if (!limited) return;
      setAttribute(parts.meter, 'max', row.limit);
      setAttribute(parts.meter, 'high', row.limit * 0.8);
      setAttribute(parts.meter, 'optimum', 0);
      setAttribute(parts.meter, 'value', row.used);
    });
  }

  function showReport() {
    const result = mission.result;
    remake(report, result ? `${mission.id}|${mission.sequence}` : '', () => (result ? reportPanel(mission, actions, onReopened) : []));
  }

  return { root, update, destroy: picture.destroy };
}

function reportPanel(mission, actions, onReopened) {
  const result = mission.result;
  const words = result.account && result.output.endsWith(result.account) ? result.output.slice(0, -result.account.length).trimEnd() : result.output;
  const done = result.steps.filter((step) => step.status === 'SUCCESS');
  const row = (step) => h('li', `${step.plan}.${step.number} `, bdi(clip(step.tool, 120)), ' ', step.note ? h('span.quiet-text', bdi(cut(step.note, 300))) : null);
  const group = (verification, steps) => (steps.length ? h('div.verified-group', verificationBadge(verification), h('ul', steps.map(row))) : null);
  const by = (verification) => done.filter((step) => (step.verification ?? 'not_verified') === verification);
  const others = result.steps.filter((step) => step.status === 'FAILED');
  const never = result.steps.filter((step) => step.status === 'BLOCKED' || step.status === 'SKIPPED');
  return h('section', { class: `panel report tone-${phaseTone({ ended: result.status }, result.words_alone)}`, 'aria-label': 'Report' },
    h('header.panel-head', h('h3', 'Report'), h('span.quiet-text', `${plural(result.steps.length, 'step')}, ${plural(result.execution?.plans ?? mission.plans.length, 'plan')}, ${duration(millis(result.duration))}`)),
    words ? h('p.words', { tabindex: '0' }, bdi(cut(words, 8000))) : null,
    result.words_alone ? h('p.alert.tone-warn', icon('warning'), 'Nothing but words came of a task that asks for more than words.') : null,
    result.account ? h('p.account', bdi(cut(result.account, 4000))) : null,
    result.not_stopped.length ? h('p.alert.tone-bad', icon('warning'), `May still move: ${result.not_stopped.join(', ')}`) : null,
    h('div.verified', group('verified', by('verified')), group('not_verified', by('not_verified')), group('unknown', by('unknown')), group('failed', others),
      never.length ? h('div.verified-group', badge('off', 'Left out, or never began', 'blocked'), h('ul', never.map(row))) : null),
    actions ? disputeForm(mission, actions, onReopened) : null);
}

function disputeForm(mission, actions, onReopened) {
  const answer = h('p.answer', { role: 'status' });
  const reason = h('textarea', { rows: 2, maxlength: 2048, required: true, placeholder: 'What was wrong? The cup is still on the table.' });
  const form = h('form.stack', { hidden: true, onsubmit: async (event) => {
    event.preventDefault();
    const outcome = await actions.send({ command: 'dispute', mission: mission.id, reason: reason.value.trim() }, answer);
    if (!outcome) return;
    form.hidden = true;
    onReopened?.(outcome.mission);
  } }, h('label', 'Why it was not what you asked for', reason), h('div.row', h('button', { type: 'submit', class: 'primary', 'data-act': true }, 'Reopen the mission')));
  const open = h('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false', 'data-act': true, onclick: () => {
    form.hidden = !form.hidden;
    open.setAttribute('aria-expanded', String(!form.hidden));
    if (!form.hidden) reason.focus();
  } }, 'That was not it…');
  return h('div.stack', h('div.row', open), form, answer);
}
