// Building the page from nodes. Everything that comes from the robot, a model or a person goes in as text or as an
// attribute's value, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

const isAttributes = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Node);

function make(create, tag, parts) {
  const [name, ...classes] = tag.split('.');
  const element = create(name);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  const attributes = isAttributes(parts[0]) ? parts.shift() : {};
  return fill(element, attributes, parts);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  return element;
}

/** An element: `h('p.note', { dir: 'auto' }, child, ...)`. Attributes may be left out; children that are null or false are. */
export const h = (tag, ...parts) => make((name) => document.createElement(name), tag, parts);
export const s = (tag, ...parts) => make((name) => document.createElementNS(SVG, name), tag, parts);

/** Sets a text where it differs, so that selections and screen readers are left alone. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/** Shows each item in one child, by its key: known children are updated in place, so that focus and input survive. */
export function keyed(parent, items, keyOf, make, update) {
  const known = (parent.keyedChildren ??= new Map());
  const wanted = new Set(items.map(keyOf));
  for (const [key, child] of known) {
    if (wanted.has(key)) continue;
    child.remove();
    known.delete(key);
  }
  let before = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let child = known.get(key);
    if (!child) {
      child = make(item);
      known.set(key, child);
    }
    if (child === before) before = before.nextElementSibling;
    else parent.insertBefore(child, before);
    update?.(child, item);
  }
}

/** Replaces the children where what they are made from has changed. */
export function remake(parent, key, children) {
  if (parent.remakeKey === key) return;
  parent.remakeKey = key;
  parent.replaceChildren(...[children()].flat(Infinity).filter(Boolean));
}

const PATHS = {
  pending: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11z',
  waiting: 'M4 2.5h8M4 13.5h8M5 2.5c0 3.5 3 3.5 3 5.5s-3 2-3 5.5M11 2.5c0 3.5-3 3.5-3 5.5s3 2 3 5.5',
  running: 'M5 3l8 5l-8 5z',
  success: 'M2.5 8.5l3.5 3.5l7.5-8',
  failed: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  halted: 'M5.5 3v10M10.5 3v10',
  skipped: 'M2.5 3.5l5 4.5l-5 4.5M8.5 3.5l5 4.5l-5 4.5',
  blocked: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11zM4 4l8 8',
  warning: 'M8 2l6.5 11.5h-13zM8 6.5v3.5M8 11.6v.4',
  unknown: 'M5.5 6a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .7-1 1.7M8 12.6v.4',
  silent: 'M3 3l10 10M6 6H3.5v4H6l3 2.5V9M9 6V3.5L7.6 4.7',
  person: 'M8 2.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5zM3 13.5c0-3 2-4.5 5-4.5s5 1.5 5 4.5',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  download: 'M8 2.5v7M5 7l3 3l3-3M3 13.5h10',
  observe: 'M1.5 8c3-5 10-5 13 0c-3 5-10 5-13 0zM8 6.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6z',
  act: 'M9 1.5l-5 8h4l-1 5l5-8h-4z',
  move: 'M8 1.5v13M1.5 8h13M6 3.5l2-2l2 2M6 12.5l2 2l2-2M3.5 6l-2 2l2 2M12.5 6l2 2l-2 2',
};

/** A drawn sign; the words stand beside it. */
export function icon(name) {
  return s('svg', { viewBox: '0 0 16 16', class: `icon icon-${name}`, 'aria-hidden': 'true' }, s('path', { d: PATHS[name] ?? PATHS.unknown }));
}

export function setIcon(svg, name) {
  setAttribute(svg, 'class', `icon icon-${name}`);
  setAttribute(svg.firstElementChild, 'd', PATHS[name] ?? PATHS.unknown);
}

/** A sign with its word. */
export function badge(tone, word, sign) {
  return h('span', { class: `badge tone-${tone}` }, sign ? icon(sign) : null, h('span', word));
}

/** Text from outside, in its own direction. */
export function bdi(text, tag = 'bdi') {
  return h(tag, { dir: 'auto' }, text);
}

/** A question before something that can't be taken back: the button opens it, and its own buttons answer. */
export function confirmInline(button, { words, yes, no, onYes, onOpen }) {
  const box = h('div.confirm', { role: 'group', 'aria-label': words, hidden: true },
    h('p', words),
    h('div.row',
      h('button', { type: 'button', class: 'primary', 'data-act': true, onclick: () => { close(); onYes(); } }, yes),
      h('button', { type: 'button', class: 'quiet', onclick: () => { close(); button.focus(); } }, no)));
  const close = () => { box.hidden = true; button.setAttribute('aria-expanded', 'false'); };
  button.setAttribute('aria-expanded', 'false');
  button.addEventListener('click', () => {
    if (!box.hidden) return close();
    onOpen?.();
    box.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    box.querySelector('button').focus();
  });
  return { box, close };
}
