// Values as people read them. Pure.

/** Characters that would show something else than what they are: controls, and those that turn or hide text. */
const TREACHEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The text with each such character written out, for places where a person decides by what stands there. */
export function visible(text) {
  return text.replace(TREACHEROUS, (character, at) => {
    // Joins emoji, as in a family.
    if (character === '\u200d' && at > 0 && text.codePointAt(at + 1) > 0x2000) return character;
    return `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** The beginning of a long text, with the number of characters that are left out. */
export function cut(text, most) {
  const characters = [...text.slice(0, most * 2 + 2)];
  if (text.length <= most || characters.length <= most) return text;
  return `${characters.slice(0, most).join('')}… (${grouped(text.length - most)} more characters)`;
}

/** The beginning of a long text, for labels. */
export function clip(text, most) {
  const characters = [...text.slice(0, most * 2 + 2)];
  return text.length <= most || characters.length <= most ? text : `${characters.slice(0, Math.max(1, most - 1)).join('')}…`;
}

export function grouped(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export function number(value) {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 || Number.isInteger(value) ? grouped(value) : String(Math.round(value * 100) / 100);
}

/** An age or a duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`, `4 d 3 h`. */
export function duration(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 9.95) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const pad = (value) => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${pad(Math.floor(seconds % 60))} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${pad(minutes % 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The same in whole seconds, for ages that run. */
export function age(milliseconds) {
  return milliseconds < 60000 ? `${Math.floor(Math.max(0, milliseconds) / 1000)} s` : duration(milliseconds);
}

/** The same in its largest unit, for what is over. */
export function coarse(milliseconds) {
  const minutes = Math.floor(milliseconds / 60000);
  if (minutes < 1) return age(milliseconds);
  return minutes < 60 ? `${minutes} min` : minutes < 2880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

const two = (value) => String(value).padStart(2, '0');

export function clock(milliseconds) {
  const time = new Date(milliseconds);
  return Number.isNaN(time.getTime()) ? '--:--:--' : `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

export function dateTime(milliseconds) {
  const time = new Date(milliseconds);
  if (Number.isNaN(time.getTime())) return 'unknown time';
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock(milliseconds)}`;
}

/** A JSON value on one line or several, as it is: texts in quotes. Whole numbers that JSON.parse would round are kept. */
export function json(value, indent) {
  const text = JSON.stringify(value, (key, one) => (typeof one === 'bigint' ? `\u0001${one}\u0001` : one), indent);
  return (text ?? 'nothing').replace(/"\\u0001(-?\d+)\\u0001"/g, '$1');
}

/** JSON with whole numbers beyond 2^53 kept to the digit where the browser can tell them. */
export function parseJson(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context.source) : value);
}

/** A value that a tool returned, as `value_as_text` of the protocol has it. */
export function valueText(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && !Array.isArray(value)) {
    if (typeof value.text === 'string') return value.text;
    const fields = Object.values(value);
    if (value.text === undefined && fields.length === 1 && typeof fields[0] === 'string') return fields[0];
  }
  return json(value);
}

/** How a call ended, in words. */
export function outcomeWords(outcome) {
  const status = outcome.status;
  if (status === 'succeeded') return 'succeeded';
  if (status === 'cancelled') return 'cancelled';
  if (status === 'not_begun') return 'never sent';
  return {
    invalid_arguments: 'failed: the arguments do not fit', not_found: 'failed: no such tool', unavailable: 'failed: not reachable',
    component_lost: 'failed: its component was lost', timeout: 'failed: no answer in time', reported: 'failed, says the tool',
    bad_response: 'failed: the answer can\'t be read', changed: 'failed: the tool has changed', not_ready: 'not sent: a precondition does not hold',
    expired: 'not sent: its confirmation was out of date', invariant_broken: 'halted: an invariant did not hold',
    contradicted: 'failed: what was seen says otherwise', no_evidence: 'failed: nothing showed that it was done',
    denied: 'denied by policy', internal: 'failed: a flaw of Cortex',
  }[status?.failed] ?? 'failed';
}

export function haltWords(halt) {
  return { at_rest: 'at rest', halted: 'halted', refused: 'refused to halt: it goes on', unconfirmed: 'may still move' }[halt] ?? halt;
}

export function originWords(origin) {
  if (!origin) return '';
  const channel = origin.channel === 'web' ? 'page' : origin.channel;
  return origin.client ? `${channel} · ${origin.client}` : channel;
}

export function plural(count, one, many = `${one}s`) {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** A reader of tables: the path of each value within nested arguments, with its text. */
export function flatten(value, path = '') {
  const nested = value !== null && typeof value === 'object';
  if (!nested) return [[path, value]];
  const entries = Array.isArray(value) ? value.map((one, index) => [String(index), one]) : Object.entries(value);
  if (!entries.length) return path ? [[path, value]] : [];
  return entries.flatMap(([key, one]) => flatten(one, path ? `${path}.${key}` : key));
}
