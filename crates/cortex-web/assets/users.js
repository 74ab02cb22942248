// People who log in with a name and a password: made and removed by those who administer the robot.

import { badge, bdi, h, keyed } from './dom.js';
import { deleteAt, getJson, postJson } from './actions.js';

/** `attempt(what)` tells what goes wrong; `roles` are pairs of a role and its words; `removed()` is called when somebody is out. */
export function createUsers({ attempt, roles, removed }) {
  const name = h('input', { id: 'user-name', required: true, maxlength: 32, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' });
  const password = h('input', { id: 'user-password', type: 'password', required: true, minlength: 12, maxlength: 256, autocomplete: 'new-password', 'aria-describedby': 'user-note' });
  const role = h('select', { id: 'user-role' }, roles.map(([value, words]) => h('option', { value }, words)));
  const list = h('ul.access-list');
  const form = h('form.row', { onsubmit: (event) => { event.preventDefault(); attempt(make); } },
    h('label', { for: 'user-name' }, 'Name'), name, h('label', { for: 'user-password' }, 'Password'), password,
    h('label', { for: 'user-role' }, 'Role'), role, h('button', { type: 'submit', class: 'primary' }, 'Add the person'));

  async function make() {
    await postJson('/api/v1/users', { name: name.value, role: role.value, password: password.value });
    form.reset();
    await renew();
  }

  async function remove(one) {
    await deleteAt(`/api/v1/users/${encodeURIComponent(one.name)}`);
    await renew();
    await removed();
  }

  async function renew() {
    const known = await getJson('/api/v1/users');
    keyed(list, known.length ? known : [null], (one) => one?.name ?? '', (one) => (one
      ? h('li', bdi(one.name, 'bdi.flight-tool'), badge('off', one.role), h('button', { type: 'button', class: 'danger', onclick: () => attempt(() => remove(one)) }, 'Remove the person'))
      : h('li.empty', 'Nobody has a password. Devices come in by codes.')));
  }

  const root = h('section.panel.stack', { 'aria-label': 'People' }, h('h2', 'People with a password'),
    h('p.quiet-text', { id: 'user-note' }, 'A name of letters and digits, and a password of 12 characters or more: four words make a good one. Removing a person ends all their sessions.'), form, list);
  return { root, renew };
}
