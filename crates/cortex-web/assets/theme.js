// Light, dark, or as the system has it. Works also where the browser keeps nothing.

import { setText } from './dom.js';

const KEY = 'cortex-colours';
const CHOICES = ['system', 'light', 'dark'];
const MEDIA = { system: '(prefers-color-scheme: dark)', light: 'not all', dark: 'all' };
const SIGNS = { system: '◐', light: '☀', dark: '☾' };

function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function bindTheme(button) {
  let choice = CHOICES.includes(kept()) ? kept() : 'system';
  const show = () => {
    document.getElementById('dark').media = MEDIA[choice];
    setText(button, SIGNS[choice]);
    button.setAttribute('aria-label', `Colours: ${choice === 'system' ? 'as the system' : choice}`);
    button.title = button.getAttribute('aria-label');
  };
  button.addEventListener('click', () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    try {
      localStorage.setItem(KEY, choice);
    } catch { /* The choice holds until the page is left. */ }
    show();
  });
  show();
}
