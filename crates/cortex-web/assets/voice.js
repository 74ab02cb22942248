// Voice, where the browser has it: what a person says becomes the words of a task, which they read and send themselves; and
// what the page announces is read aloud.

import { h, setText } from './dom.js';

const KEY = 'cortex-read-aloud';
/** Announcements that wait to be read: what is older is of no use any more. */
const MOST_WAITING = 3;
const LONGEST = 400;
const PROBLEMS = {
  'not-allowed': 'The browser does not let this page hear you. Allow the microphone for it.',
  'service-not-allowed': 'The browser does not let this page hear you. Allow the microphone for it.',
  'audio-capture': 'There is no microphone.',
  network: 'The browser can\'t reach what understands speech for it. Type the task.',
  'no-speech': 'Nothing was heard.',
  'language-not-supported': 'The browser does not understand this language. Type the task.',
};

/** What was heard so far, as one line. */
export function heard(results) {
  return [...results].map((result) => result[0]?.transcript ?? '').join(' ').replace(/\s+/g, ' ').trim();
}

/** Whether that is nothing but a call to stop. It is done at once: whoever shouts it does not want it typed. */
export function isStop(words) {
  return /^(stop|stopp|halt)([\s,.!]+(stop|stopp|halt))*[\s.!]*$/i.test(words);
}

/** The button with which a person speaks into `field`. `say(words)` tells the person what is wrong. */
export function createHearing({ Recognition, field, stop, say }) {
  const button = h('button', { type: 'button', class: 'quiet', 'aria-pressed': 'false', title: 'Your browser may send what you say to its maker. Nothing is sent to the robot before you send the task.' }, 'Speak');
  let hearing = null;

  function show() {
    button.setAttribute('aria-pressed', String(hearing !== null));
    setText(button, hearing ? 'Listening…' : 'Speak');
  }

  function begin() {
    const mine = new Recognition();
    const before = field.value.trim();
    mine.continuous = false;
    mine.interimResults = true;
    mine.onresult = (event) => {
      if (mine !== hearing) return;
      const words = heard(event.results);
      if (isStop(words)) {
        field.value = before;
        end();
        stop();
        return;
      }
      field.value = [before, words].filter(Boolean).join(' ');
    };
    mine.onerror = (event) => { if (mine === hearing && event.error !== 'aborted') say(PROBLEMS[event.error] ?? 'Nothing could be understood. Type the task.'); };
    mine.onend = () => {
      if (mine !== hearing) return;
      hearing = null;
      show();
      field.focus();
    };
    hearing = mine;
    say('');
    try {
      mine.start();
    } catch {
      hearing = null;
      say('The browser can\'t listen now. Try again, or type the task.');
    }
    show();
  }

  function end() {
    const mine = hearing;
    hearing = null;
    mine?.abort();
    show();
  }

  button.addEventListener('click', () => { if (hearing) end(); else begin(); });
  return button;
}

/** The button that has announcements read aloud, and `read(words)`. Off until a person wants it. */
export function createReading({ synthesis, Utterance, kept = storage() }) {
  let isOn = kept.get() === 'on';
  let waiting = 0;
  const button = h('button', { type: 'button', class: 'quiet', 'aria-pressed': String(isOn), title: 'What the page announces: questions of the robot, and how missions end' }, 'Read aloud');

  function silence() {
    waiting = 0;
    synthesis.cancel();
  }

  function read(words) {
    const text = words.trim().slice(0, LONGEST);
    if (!isOn || !text) return;
    if (waiting >= MOST_WAITING) silence();
    const utterance = new Utterance(text);
    waiting += 1;
    utterance.onend = () => { waiting = Math.max(0, waiting - 1); };
    utterance.onerror = utterance.onend;
    synthesis.speak(utterance);
  }

  button.addEventListener('click', () => {
    isOn = !isOn;
    kept.set(isOn ? 'on' : 'off');
    button.setAttribute('aria-pressed', String(isOn));
    if (isOn) read('Announcements are read aloud.');
    else silence();
  });
  return { button, read };
}

/** What of both this browser has, in `row`. Whatever stands in one of `announced` is read. */
export function bindVoice({ row, field, stop, say, announced }) {
  const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
  if (Recognition && window.isSecureContext) row.append(createHearing({ Recognition, field, stop, say }));
  if (!window.speechSynthesis || !window.SpeechSynthesisUtterance) return;
  const { button, read } = createReading({ synthesis: window.speechSynthesis, Utterance: window.SpeechSynthesisUtterance });
  row.append(button);
  for (const place of announced) {
    new MutationObserver(() => read(place.textContent)).observe(place, { childList: true, characterData: true, subtree: true });
  }
}

/** Works also where the browser keeps nothing. */
function storage() {
  return {
    get() { try { return localStorage.getItem(KEY); } catch { return null; } },
    set(value) { try { localStorage.setItem(KEY, value); } catch { /* It holds until the page is left. */ } },
  };
}
