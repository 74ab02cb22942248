// What the page knows, made from frames and events alone: no DOM, no clock, no network. The same functions serve the live
// view, the replay of a recorded mission and the tests.

export const MAX_LINES = 2000;
const MAX_MISSIONS = 24;
const MAX_HELD = 20000;

/** Milliseconds of a serialized Duration. */
export function millis(duration) {
  return duration ? duration.secs * 1000 + duration.nanos / 1e6 : 0;
}

export function createState() {
  return {
    frame: 0, atMs: 0, overview: null, basis: null, questions: [], you: null, stop: null,
    missions: new Map(), lastEvent: null, missed: 0,
    /** Missions whose earlier events must be fetched before their later ones can be understood. */
    wanted: new Set(),
  };
}

export function createMission(id) {
  return {
    id, sequence: 0, gap: false, loading: false, held: [],
    task: '', origin: null, session: null, taskClass: null, phase: 'unknown', ahead: 0, turn: 0,
    acceptedMs: 0, lastMs: 0, plans: [], research: [], flight: [], questions: [], revisions: [], disputes: [],
    notes: [], halts: [], warnings: [], missing: null, paused: null, interrupted: null, stopping: null, replanning: null, result: null,
    lines: [], dropped: 0, keep: MAX_LINES,
    /** Where only the last events are known: what comes before `before` makes the state, and what was taken since. */
    early: null,
  };
}

/** The mission of this id, made where it is not known yet. The oldest that have ended are forgotten. */
export function missionOf(state, id) {
  let mission = state.missions.get(id);
  if (!mission) {
    mission = createMission(id);
    state.missions.set(id, mission);
    if (state.missions.size > MAX_MISSIONS) {
      const spare = [...state.missions.values()].find((other) => other.result && other !== mission);
      if (spare) state.missions.delete(spare.id);
    }
  }
  return mission;
}

/** Takes one frame of the live stream. */
export function applyFrame(state, frame) {
  state.frame = frame.frame;
  state.atMs = frame.at_ms;
  for (const key of ['overview', 'basis', 'questions', 'you', 'stop']) {
    if (frame[key] !== undefined && frame[key] !== null) state[key] = frame[key];
  }
  if (frame.missed) state.missed += frame.missed;
  for (const event of frame.events ?? []) applyLive(state, event);
}

/** Takes one live event: an event twice counts once, and an event after a gap waits for what was before it. */
export function applyLive(state, event) {
  state.lastEvent = event.id;
  const mission = missionOf(state, event.subject);
  if (event.sequence <= mission.sequence) return;
  const isNext = event.sequence === mission.sequence + 1;
  if (mission.loading || (!isNext && !mission.gap)) {
    if (mission.held.length < MAX_HELD) mission.held.push(event);
    if (!mission.loading) {
      mission.loading = true;
      state.wanted.add(mission.id);
    }
    return;
  }
  take(mission, event);
}

/**
 * Takes the earlier events of a mission, or null where they can't be had, and then the live ones that waited for them. These may be its
 * last events alone: then `early` says before which one the others are, which make the state.
 */
export function applyHistory(state, id, events) {
  const mission = missionOf(state, id);
  const held = mission.held;
  mission.held = [];
  mission.loading = false;
  if (!events) mission.gap = true;
  else if (events.length && !mission.sequence && events[0].sequence > 1) mission.early = { before: events[0].id, since: [] };
  for (const event of [...(events ?? []), ...held]) {
    if (event.sequence > mission.sequence) take(mission, event);
  }
}

/** Takes the events before the last ones, without those that others outdate; or null where they can't be had. */
export function applyEarly(state, id, events) {
  const mission = missionOf(state, id);
  const { early, held, loading, gap, lines, dropped, keep } = mission;
  mission.early = null;
  if (!early || !events) return;
  const whole = createMission(id);
  for (const event of events) change(whole, event);
  for (const event of early.since) change(whole, event);
  Object.assign(mission, whole, { held, loading, gap: gap || early.since.length > MAX_HELD, lines, dropped, keep });
}

function take(mission, event) {
  if (mission.early && mission.early.since.length <= MAX_HELD) mission.early.since.push(event);
  applyEvent(mission, event);
}

/** The mission after these events, as far as `untilMs`. */
export function foldEvents(id, events, untilMs = Infinity) {
  const mission = createMission(id);
  for (const event of events) {
    if (Date.parse(event.time) > untilMs) break;
    applyEvent(mission, event);
  }
  return mission;
}

export function currentPlan(mission) {
  return mission.plans[mission.plans.length - 1] ?? null;
}

function planOf(mission, number) {
  return mission.plans.find((plan) => plan.number === number) ?? null;
}

function stepOf(mission, number, plan = currentPlan(mission)) {
  return plan?.steps.find((step) => step.number === number) ?? null;
}

/** How a step stands in one word for the picture: `waiting` is a pending step that something holds up. */
export function stepState(step) {
  if (step.status === 'PENDING' && step.holdup) return 'waiting';
  // Somebody had it halted, or its mission ended: that is no fault of the step.
  if (step.status === 'FAILED' && (step.report?.interrupted || step.report?.outcome?.status === 'cancelled')) return 'halted';
  return step.status.toLowerCase();
}

/** A step's state with the reason, in words. */
export function holdupWords(step) {
  const holdup = step.holdup;
  if (!holdup) return '';
  if (holdup.kind === 'resource') {
    return `waits for ${holdup.resource}, held by ${holdup.holder ? `step ${holdup.holder}` : 'research'}`;
  }
  return holdup.kind === 'person' ? 'waits for a person' : 'waits for what is in flight';
}

function newStep(step) {
  return {
    number: step.number, tool: step.call.tool, arguments: step.call.arguments, planned: null, after: step.after,
    priority: step.priority, again: step.again ?? '', status: step.status, decisions: [], conflicts: [], problems: [],
    holdup: null, denied: '', by: null, startedMs: 0, feedback: '', stalled: null, report: null,
  };
}

function begin(mission, call, step, tool, timeMs) {
  mission.flight.push({ call, step, tool, startedMs: timeMs, feedback: '', stalledMs: 0 });
}

function takeFlight(mission, inFlight, timeMs) {
  mission.flight = inFlight.map((one) => ({
    call: one.call, step: one.step, tool: one.tool, startedMs: timeMs - millis(one.age), feedback: one.feedback,
    stalledMs: millis(one.stalled),
  }));
}

function takeReport(mission, report) {
  const plan = planOf(mission, report.plan);
  const step = plan && stepOf(mission, report.number, plan);
  if (!step) return;
  step.status = report.status;
  step.report = report;
  step.holdup = null;
  step.by = report.by ?? step.by;
  if (report.planned && Object.keys(report.planned).length) step.planned = report.planned;
  step.arguments = report.arguments;
}

const kinds = {
  accepted(mission, data, timeMs) {
    Object.assign(mission, { task: data.task, session: data.session, acceptedMs: timeMs, phase: 'accepted' });
  },
  queued: (mission, data) => Object.assign(mission, { phase: 'queued', ahead: data.ahead }),
  classified: (mission, data) => { mission.taskClass = data.class; },
  planning: (mission, data) => Object.assign(mission, { phase: 'planning', turn: data.turn }),
  researching(mission, data, timeMs) {
    mission.research.push({ call: data.call, tool: data.tool, arguments: data.arguments, timeMs, outcome: null });
    begin(mission, data.call, null, data.tool, timeMs);
  },
  researched(mission, data) {
    const asked = mission.research.find((one) => one.call === data.call);
    if (asked) asked.outcome = data.outcome;
    mission.flight = mission.flight.filter((one) => one.call !== data.call);
  },
  planned(mission, data, timeMs) {
    mission.plans.push({
      number: data.plan, timeMs, steps: data.steps.steps.map(newStep), groups: data.steps.groups ?? [], cut: data.cut,
      because: mission.replanning ?? '',
    });
    Object.assign(mission, { phase: 'acting', replanning: null });
  },
  decided(mission, data, timeMs) {
    takeFlight(mission, data.in_flight, timeMs);
    const step = stepOf(mission, data.step);
    if (!step) return;
    step.decisions.push({ decision: data.decision, reason: data.reason, changes: data.changes ?? [], timeMs });
    step.holdup = data.decision === 'CONTINUE' ? { kind: 'flight' } : null;
  },
  asked(mission, data) {
    mission.questions.push({ ...data.question, outcome: null });
    const subject = data.question.subject;
    const calls = subject.kind === 'call' ? [subject.call] : subject.steps ?? [];
    for (const call of calls) {
      const step = stepOf(mission, call.step);
      if (step) step.holdup = { kind: 'person', question: data.question.number };
    }
  },
  question_ended(mission, data) {
    const question = mission.questions.find((one) => one.number === data.number);
    if (question) question.outcome = data.outcome;
    for (const step of currentPlan(mission)?.steps ?? []) {
      if (step.holdup?.question === data.number) step.holdup = null;
    }
  },
  policy_denied(mission, data) {
    const step = stepOf(mission, data.step);
    if (step) step.denied = data.reason;
  },
  disputed: (mission, data) => { mission.disputes.push(data); },
  correcting(mission, data) {
    stepOf(mission, data.step)?.problems.push({ what: `arguments corrected, attempt ${data.attempt}`, problem: data.problem });
  },
  retrying(mission, data) {
    stepOf(mission, data.step)?.problems.push({ what: 'tried again', problem: data.problem });
  },
  budget_warning: (mission, data) => { mission.warnings.push(data); },
  conflict(mission, data) {
    const step = stepOf(mission, data.step);
    if (!step) return;
    step.holdup = { kind: 'resource', resource: data.resource, holder: data.holder };
    step.conflicts.push({ resource: data.resource, holder: data.holder });
  },
  step_started(mission, data, timeMs) {
    const step = stepOf(mission, data.step);
    begin(mission, data.call, data.step, data.tool, timeMs);
    if (!step) return;
    if (JSON.stringify(step.arguments) !== JSON.stringify(data.arguments)) step.planned ??= step.arguments;
    Object.assign(step, { status: 'RUNNING', startedMs: timeMs, arguments: data.arguments, by: data.by ?? null, holdup: null });
  },
  progress: (mission, data, timeMs) => takeFlight(mission, data.in_flight, timeMs),
  step_finished(mission, data) {
    takeReport(mission, data.report);
    if (data.report.plan === currentPlan(mission)?.number) {
      mission.flight = mission.flight.filter((one) => one.step !== data.report.number);
    }
  },
  replanning: (mission, data) => Object.assign(mission, { phase: 'planning', replanning: data.reason }),
  component_missing: (mission, data) => Object.assign(mission, { phase: 'waiting', missing: data.tools }),
  component_returned: (mission) => Object.assign(mission, { phase: 'acting', missing: null }),
  paused: (mission, data) => { mission.paused = data.because; },
  unpaused: (mission) => { mission.paused = null; },
  control_changed(mission, data) {
    mission.interrupted = data.control.state === 'autonomous' ? null : data.control.because;
    if (mission.phase !== 'queued') mission.phase = mission.interrupted ? 'interrupted' : 'planning';
  },
  task_revised: (mission, data, timeMs) => { mission.revisions.push({ text: data.text, origin: data.origin, timeMs }); },
  stopping: (mission, data) => Object.assign(mission, { phase: mission.interrupted ? 'interrupted' : 'stopping', stopping: data }),
  halted(mission, data) {
    mission.halts.push({ tool: data.tool, step: data.step, state: data.state });
    mission.flight = mission.flight.filter((one) => one.call !== data.call);
  },
  finished(mission, data) {
    for (const report of data.result.steps) takeReport(mission, report);
    Object.assign(mission, { phase: { ended: data.result.status }, result: data.result, flight: [], paused: null, interrupted: null, missing: null });
    mission.taskClass ??= data.result.class;
  },
};

/** Takes one event of a mission, in its order. Kinds that a later version may add are shown as a line and change nothing. */
export function applyEvent(mission, event) {
  change(mission, event);
  mission.lines.push(lineOf(event));
  const spare = mission.lines.length - mission.keep;
  if (spare > 200) {
    mission.dropped += spare;
    mission.lines.splice(0, spare);
  }
}

export function lineOf(event) {
  const payload = event.data.payload;
  return { id: event.id, sequence: event.sequence, timeMs: Date.parse(event.time), event: event.event, kind: payload.kind, actor: event.actor, text: event.data.text, tone: tone(payload) };
}

/** What the event changes, without its line. */
function change(mission, event) {
  const timeMs = Date.parse(event.time);
  const payload = event.data.payload;
  mission.sequence = event.sequence;
  mission.lastMs = timeMs;
  mission.origin ??= event.data.origin;
  if (Object.hasOwn(kinds, payload.kind)) kinds[payload.kind](mission, payload, timeMs);
  for (const flying of mission.flight) {
    const step = flying.step === null ? null : stepOf(mission, flying.step);
    if (step) Object.assign(step, { feedback: flying.feedback, stalled: flying.stalledMs });
  }
}

/** How a line is marked: `bad`, `warn`, `good` or nothing. */
export function tone(payload) {
  switch (payload.kind) {
    case 'step_finished':
      return { SUCCESS: 'good', FAILED: 'bad', BLOCKED: 'warn' }[payload.report.status] ?? '';
    case 'finished':
      if (payload.result.status === 'cancelled') return 'warn';
      return payload.result.status !== 'failed' && !payload.result.words_alone ? 'good' : 'bad';
    case 'plan_compared':
      return payload.opinion === 'other' ? 'warn' : '';
    case 'policy_denied': case 'quarantined': case 'stopping':
      return 'bad';
    case 'halted':
      return ['refused', 'unconfirmed'].includes(payload.state) ? 'bad' : '';
    case 'model_mistake': case 'model_changed': case 'plan_doubted': case 'correcting': case 'retrying': case 'budget_warning': case 'meter_silent': case 'conflict':
    case 'replanning': case 'component_missing': case 'paused': case 'control_changed': case 'asked': case 'disputed':
      return 'warn';
    default:
      return '';
  }
}

/** The phase in words. */
export function phaseWords(phase) {
  if (phase && typeof phase === 'object') {
    return { answered: 'Answered', succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Cancelled' }[phase.ended] ?? phase.ended;
  }
  return {
    accepted: 'Accepted', queued: 'Queued', planning: 'Planning', acting: 'Acting', waiting: 'Waiting',
    stopping: 'Stopping', interrupted: 'Waits for a person',
  }[phase] ?? 'Loading';
}

export function phaseTone(phase, wordsAlone = false) {
  if (phase && typeof phase === 'object') {
    if (phase.ended === 'cancelled') return 'off';
    return phase.ended === 'failed' || wordsAlone ? 'bad' : 'good';
  }
  return { planning: 'run', acting: 'run', waiting: 'warn', interrupted: 'warn', stopping: 'bad' }[phase] ?? 'off';
}

export function classWords(taskClass) {
  return {
    conversation: 'a conversation', knowledge_question: 'a question of general knowledge',
    question_about_self: 'a question about the robot itself', question_about_world: 'a question about the world',
    action: 'an action', search_or_patrol: 'a search or patrol', standing_order: 'a standing order',
    endless_order: 'an order without an end',
  }[taskClass] ?? '';
}

/** Which tools of those that were in flight at a stop are at rest, and which are not known to be. */
export function stopRollCall(before, outcome) {
  const moving = new Set(outcome.not_stopped ?? []);
  return { atRest: [...new Set(before)].filter((tool) => !moving.has(tool)), moving: [...moving] };
}
