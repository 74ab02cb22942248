// Who may come in from elsewhere: pairing codes and sessions. For those who administer the robot.

import { badge, bdi, h, keyed, setText } from './dom.js';
import { deleteAt, getJson, postJson } from './actions.js';
import { clip, coarse, dateTime } from './format.js';

const ROLES = [['watch', 'Watch and stop'], ['operate', 'Operate: give tasks, answer, resume'], ['administer', 'Administer: also let others in']];

export function createAccess(root) {
  const answer = h('p.answer', { role: 'status' });
  const role = h('select', { id: 'pairing-role' }, ROLES.map(([value, words]) => h('option', { value }, words)));
  const code = h('div.pairing-code', { role: 'status', hidden: true });
  const open = h('ul.access-list');
  const sessions = h('ul.access-list');
  const form = h('form.row', { onsubmit: (event) => { event.preventDefault(); attempt(make); } },
    h('label', { for: 'pairing-role' }, 'Role'), role, h('button', { type: 'submit', class: 'primary' }, 'Make a pairing code'));
  root.append(
    h('section.panel.stack', { 'aria-label': 'Pairing' }, h('h2', 'Let a device in'), h('p.quiet-text', 'Open this robot\'s address on the device and type the code there. It is good once, for ten minutes, and shown only now.'), form, code, answer, open),
    h('section.panel.stack', { 'aria-label': 'Sessions' }, h('h2', 'Devices that are in'), sessions));

  async function attempt(what) {
    setText(answer, '');
    try {
      await what();
    } catch (error) {
      answer.className = 'answer tone-bad';
      setText(answer, error.message);
    }
  }

  async function make() {
    const made = await postJson('/api/v1/pairings', { role: role.value });
    code.hidden = false;
    code.replaceChildren(h('strong', made.code), h('span.quiet-text', `gives the role ${made.role}, good for ${coarse(made.left_s * 1000)}`));
    await renew();
  }

  const row = (path, words, ...parts) => h('li', ...parts, h('button', { type: 'button', class: 'danger', onclick: () => attempt(async () => {
    await deleteAt(path);
    code.hidden = true;
    await renew();
  }) }, words));

  let users = null;
  async function renewUsers() {
    if (!users) {
      const { createUsers } = await import('./users.js');
      users ??= createUsers({ attempt, roles: ROLES, removed: renew });
      root.append(users.root);
    }
    await users.renew();
  }

  async function renew() {
    const [codes, known] = await Promise.all([getJson('/api/v1/pairings'), getJson('/api/v1/sessions')]);
    keyed(open, codes, (one) => one.id, (one) => row(`/api/v1/pairings/${encodeURIComponent(one.id)}`, 'Withdraw the code', badge('warn', `Open code: ${one.role}`), h('span.quiet-text.left-words')),
      (item, one) => setText(item.querySelector('.left-words'), `good for ${coarse(one.left_s * 1000)} more`));
    keyed(sessions, known.length ? known : [null], (one) => one?.id ?? 'none', (one) => (one
      ? row(`/api/v1/sessions/${encodeURIComponent(one.id)}`, 'End the session', bdi(clip(one.name, 60) || 'a device without a name', 'bdi.flight-tool'), badge('off', one.role), one.user ? h('span', 'by ', bdi(one.user)) : null,
        h('span.quiet-text', `since ${dateTime(one.created_s * 1000)}, last used in the hour of ${dateTime(one.last_used_s * 1000)}`))
      : h('li.empty', 'No device has a session. This computer needs none.')));
  }

  return { show: () => attempt(async () => { await renew(); await renewUsers(); }) };
}
