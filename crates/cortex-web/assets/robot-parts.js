// What the parts of the robot's view share.

import { h, remake } from './dom.js';
import { clip } from './format.js';

let choices = 0;

/** A choice among topics, hidden where there is nothing to choose. */
export function choice(label, onChange) {
  choices += 1;
  const select = h('select', { id: `choice-${choices}`, onchange: onChange });
  const root = h('span.choice-of', { hidden: true }, h('label', { for: `choice-${choices}` }, label), select);
  let names = [];
  return {
    root,
    value: () => (names.includes(select.value) ? select.value : names[0] ?? ''),
    choose(name) { select.value = name; onChange(); },
    offer(next) {
      const kept = select.value;
      names = next;
      remake(select, JSON.stringify(next), () => next.map((name) => h('option', { value: name }, clip(name, 80))));
      if (next.includes(kept)) select.value = kept;
      root.hidden = next.length < 2;
    },
  };
}

/** The colours of the page as they are now, for what is drawn. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  const probe = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgb = (name) => {
    probe.fillStyle = of(name);
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  return { rgb, panel: of('--panel'), text: of('--text'), accent: of('--accent'), good: of('--good'), bad: of('--bad') };
}
