// The live stream: one socket, its age, and how it comes back. The socket says STOP to the server, and that whoever
// holds the controls is still there.

import { parseJson } from './format.js';

/** Without a frame for so long, the view is frozen. */
export const FROZEN_AFTER_MS = 1000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;
/** A socket that stays silent for so long is given up, though it does not say that it is closed. */
const SILENT_MS = 3000;

/**
 * Calls `onFrame(frame)`, `onState({frozen, sinceMs, connected, refused})`. `after()` is the last event that the page has.
 * Ages are measured by the page's own monotonic clock, from when a frame came: clocks are never compared.
 */
export function connectLive({ after, onFrame, onState }) {
  let socket = null;
  let lastFrameAt = null;
  let openedAt = 0;
  let retryMs = FIRST_RETRY_MS;
  let retry = null;
  let refused = false;
  const startedAt = performance.now();

  const age = () => performance.now() - (lastFrameAt ?? startedAt);
  const isFresh = () => lastFrameAt !== null && age() <= FROZEN_AFTER_MS;
  const isOpen = () => socket?.readyState === WebSocket.OPEN;
  const report = () => onState({ frozen: !isFresh(), ageMs: age(), everSeen: lastFrameAt !== null, connected: isOpen(), refused });

  function open() {
    clearTimeout(retry);
    retry = null;
    const url = new URL('/api/v1/live', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const last = after();
    if (last) url.searchParams.set('after', last);
    openedAt = performance.now();
    const mine = new WebSocket(url);
    socket = mine;
    mine.addEventListener('message', (message) => {
      if (mine !== socket) return;
      let frame;
      try {
        frame = parseJson(message.data);
      } catch {
        return mine.close();
      }
      lastFrameAt = performance.now();
      retryMs = FIRST_RETRY_MS;
      refused = false;
      onFrame(frame);
      report();
    });
    mine.addEventListener('close', () => { if (mine === socket) again(); });
  }

  function again() {
    socket = null;
    if (retry) return;
    retry = setTimeout(open, retryMs * (0.75 + Math.random() / 2));
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
    askWhy();
    report();
  }

  /** A socket does not say why it was refused; a plain request does. */
  async function askWhy() {
    try {
      const answer = await fetch('/api/v1/overview', { headers: { Accept: 'application/json' }, cache: 'no-store' });
      refused = answer.status === 401 || answer.status === 403;
    } catch {
      refused = false;
    }
    report();
  }

  function look() {
    report();
    const silentFor = performance.now() - Math.max(lastFrameAt ?? 0, openedAt);
    if (socket && silentFor > SILENT_MS) {
      socket.close();
      again();
    }
  }

  open();
  setInterval(look, 200);
  const wake = () => { if (!document.hidden && !isOpen() && !(socket?.readyState === WebSocket.CONNECTING)) { retryMs = FIRST_RETRY_MS; open(); } };
  document.addEventListener('visibilitychange', wake);
  window.addEventListener('online', wake);

  return {
    isFresh, age,
    /** Says that the person who holds the controls is still there. */
    hold() {
      if (isOpen()) socket.send('{"hold":true}');
    },
    /** Sends STOP over the open socket. False where there is none. */
    stop() {
      if (!isOpen()) return false;
      socket.send('{"stop":true}');
      return true;
    },
  };
}
