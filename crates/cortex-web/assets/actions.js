// Commands of a person, over HTTP, with what the person was looking at. An answer is words near the button.

import { json, parseJson } from './format.js';

/** A UUID. `crypto.randomUUID` is there only over HTTPS and on the machine itself. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const JSON_ONLY = { Accept: 'application/json' };

export const getJson = (path) => request(path, { headers: JSON_ONLY });
export const postJson = (path, body) => request(path, { method: 'POST', headers: { ...JSON_ONLY, 'Content-Type': 'application/json' }, body: json(body) });
export const deleteAt = (path) => request(path, { method: 'DELETE', headers: JSON_ONLY });

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, { ...options, cache: 'no-store' });
  } catch {
    throw new Error('The robot does not answer. Check the network, then try again.');
  }
  const text = await answer.text();
  let body = null;
  try {
    body = parseJson(text);
  } catch { /* An answer that is no JSON is told below. */ }
  if (!answer.ok) throw new Error(body?.reason ?? `The robot answered ${answer.status}. Reload the page.`);
  if (body === null && text) throw new Error('The robot\'s answer can\'t be read. Reload the page.');
  return body;
}

const OUTCOMES = {
  submitted: 'Taken.', cancelled: 'The mission is being ended.', revised: 'The mission takes the revision and plans anew.',
  answered: 'Your answer counts.', reopened: 'The mission is reopened.', resumed: 'Tasks are taken again.', stopped: 'Stopped.',
  control: '',
};

/** Done twice is done once, and what came of it once may be over: each press is a command of its own. */
const OF_THE_CONTROLS = new Set(['pause', 'unpause', 'take_over', 'hand_back']);

/**
 * `seen()` is `{frame, basis}` of what is on the screen; `connection()` is the live connection, over which the controls are held; `mayAct()` is null, or why not.
 * A command whose answer was lost keeps its id, so that pressing again can't do it twice.
 */
export function createActions({ seen, connection, mayAct }) {
  const unanswered = new Map();

  async function post(command, basis) {
    const key = json(command);
    const id = unanswered.get(key) ?? uuid();
    if (!OF_THE_CONTROLS.has(command.command)) unanswered.set(key, id);
    const now = seen();
    const body = { id, seen: { frame: now.frame, basis: basis ?? now.basis }, connection: connection?.() ?? null, command };
    const controller = new AbortController();
    const limit = setTimeout(() => controller.abort(), 15000);
    try {
      const answer = await fetch('/api/v1/commands', {
        method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: json(body), signal: controller.signal,
      });
      const result = parseJson(await answer.text());
      unanswered.delete(key);
      return answer.ok ? { outcome: result } : { error: result };
    } catch {
      return { error: { kind: 'unavailable', reason: 'The robot\'s answer did not arrive. Look whether it happened; pressing again does not do it twice.' } };
    } finally {
      clearTimeout(limit);
    }
  }

  /** Sends a command and writes what came of it into `near`. Returns the outcome, or null. */
  async function send(command, near, basis) {
    const tell = (tone, words) => {
      near.className = `answer tone-${tone}`;
      near.textContent = words;
    };
    const refusal = mayAct();
    if (refusal) {
      tell('bad', refusal);
      return null;
    }
    tell('off', 'Sending…');
    const { outcome, error } = await post(command, basis);
    if (error) tell('bad', error.reason ?? 'The robot refused it without a reason.');
    else tell('good', OUTCOMES[outcome.outcome] ?? 'Done.');
    return outcome ?? null;
  }

  return { send, mayAct };
}
