// The map of the robot: the cells, where the robot is, its path, and a goal by a click, which becomes a task in words that a
// person sees before it is sent.

import { badge, bdi, h, remake, setText } from './dom.js';
import { age, clip, cut } from './format.js';
import { getJson } from './actions.js';
import { choice, colours } from './robot-parts.js';
import { boundsOf, degrees, goalWords, placeOf, pointPhrase, view } from './robot-geometry.js';

const MAP_MS = 2000;
/** A pose that is older is shown as one. */
const OLD_MS = 5000;
/** So long it is waited until a position can be given in the frame of the map. */
const PATIENCE_MS = 2000;

export function createMap({ actions, seenBasis, onSubmitted }) {
  const canvas = h('canvas', { class: 'map-canvas', 'aria-hidden': 'true' });
  const frame = h('div.map-frame', canvas);
  const state = h('p.quiet-text', { role: 'status' });
  const notes = h('ul.map-notes');
  const empty = h('p.empty', 'No part of the robot publishes a map (nav_msgs/OccupancyGrid). Start its map server or its mapping, and the map appears here.');
  const mapChoice = choice('Map', () => { drawn = null; tag = null; shownAt = -Infinity; });
  const poseChoice = choice('Position by', () => { chosen = true; });
  const pathChoice = choice('Path', () => {});
  const x = h('input', { type: 'number', step: '0.05', id: 'goal-x' });
  const y = h('input', { type: 'number', step: '0.05', id: 'goal-y' });
  const text = h('textarea', { id: 'goal-task', rows: 2, required: true });
  const answer = h('p.answer', { role: 'status' });
  const known = h('div.row.places');
  const form = h('form.goal', { 'aria-label': 'Send the robot somewhere', hidden: true },
    h('h3', 'Send the robot somewhere'),
    h('p.quiet-text', 'Click on the map, or type a place. You see the task before it is sent; it goes the way of every other task.'),
    h('div.row', h('label', { for: 'goal-x' }, 'x'), x, h('label', { for: 'goal-y' }, 'y'), y, h('span.quiet-text', 'm'), known),
    h('label', { for: 'goal-task' }, 'The task'), text,
    h('div.row', h('button', { type: 'submit', class: 'primary', 'data-act': true }, 'Send the task')), answer);
  const root = h('section.panel.map-panel', { 'aria-label': 'Map' }, h('header.panel-head', h('h2', 'Map'), h('div.row.choices-row', mapChoice.root, poseChoice.root, pathChoice.root)),
    empty, frame, state, notes, form);

  let drawn = null;
  let tag = null;
  let shownAt = -Infinity;
  let problem = '';
  let scene = null;
  let goal = null;
  let sources = null;
  let chosen = false;
  let placed = null;
  let placesOf = null;
  let width = 0;
  let elsewhereSince = null;
  let tools = [];
  const tried = new Set();

  new ResizeObserver((entries) => { width = Math.floor(entries[entries.length - 1].contentRect.width); draw(); }).observe(frame);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => draw());
  new MutationObserver(() => setTimeout(draw, 50)).observe(document.documentElement, { attributes: true });

  const frameName = () => drawn?.about.origin.frame ?? scene?.pose?.shown?.frame ?? scene?.path?.shown?.frame ?? '';

  const taskFor = (place) => goalWords(place, frameName(), pointPhrase(tools, frameName()));

  function setGoal(place, words) {
    goal = place;
    x.value = place.x.toFixed(2);
    y.value = place.y.toFixed(2);
    text.value = words ?? taskFor(place);
    setText(answer, '');
    draw();
  }

  for (const field of [x, y]) {
    field.addEventListener('input', () => {
      if (x.value === '' || y.value === '') return;
      goal = { x: Number(x.value), y: Number(y.value) };
      text.value = taskFor(goal);
      draw();
    });
  }
  frame.addEventListener('click', (event) => {
    if (!placed) return;
    const box = canvas.getBoundingClientRect();
    setGoal(placeOf(placed, event.clientX - box.left, event.clientY - box.top));
    text.focus();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const outcome = await actions.send({ command: 'submit', task: text.value.trim(), session: null }, answer, seenBasis());
    if (outcome?.mission) {
      goal = null;
      onSubmitted(outcome.mission);
      draw();
    }
  });

  /** Places that the robot knows by name: the values of a tool that is called by "go to". */
  async function loadPlaces(nodes) {
    const key = JSON.stringify(nodes.map((one) => one.name));
    if (key === placesOf) return;
    let names = [];
    try {
      tools = await getJson('/api/v1/tools');
      for (const tool of tools) {
        const found = tool.phrases.map((phrase) => /^go to \{(\w+)\}$/.exec(phrase)).find(Boolean);
        const values = found && tool.parameters?.properties?.[found[1]]?.enum;
        if (Array.isArray(values)) names = names.concat(values.filter((value) => typeof value === 'string'));
      }
      placesOf = key;
    } catch { /* There are no places then; a click on the map still works. */ }
    names = [...new Set(names)].slice(0, 24);
    remake(known, JSON.stringify(names), () => names.map((name) => h('button', { type: 'button', class: 'quiet', onclick: () => { goal = null; x.value = ''; y.value = ''; text.value = `go to the ${name}`; draw(); text.focus(); } }, bdi(clip(name, 40)))));
  }

  async function renew() {
    const topic = mapChoice.value();
    if (!topic || performance.now() - shownAt < MAP_MS) return;
    shownAt = performance.now();
    const reply = await fetch(`/api/v1/robot/map?${new URLSearchParams({ topic })}`, { cache: 'no-store', headers: tag ? { 'If-None-Match': tag } : {} });
    if (reply.status === 304) return void (problem = '');
    if (!reply.ok || reply.status === 204) {
      problem = reply.ok ? 'No map has come of this topic yet. Its node may be quiet, or may have just been started.'
        : (await reply.json().catch(() => null))?.reason ?? `The map can't be had: ${reply.status}.`;
      // Soon again: the first map is on its way.
      if (!drawn) shownAt -= MAP_MS - 500;
      return draw();
    }
    problem = '';
    const about = JSON.parse(reply.headers.get('cortex-about'));
    const bitmap = await createImageBitmap(await reply.blob());
    if (topic !== mapChoice.value()) return;
    tag = reply.headers.get('etag');
    drawn = { about, bitmap, inked: null };
    draw();
  }

  /** The map in the colours of the page: from the panel's, where it is free, to that of strong lines, where it is occupied. */
  function ink(paint) {
    const key = `${paint.panel}${paint.text}`;
    if (drawn.inked?.key === key) return drawn.inked.canvas;
    const { bitmap } = drawn;
    const inked = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = inked.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const picture = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const [free, full] = [paint.rgb('--panel'), paint.rgb('--strong-line')];
    const pixels = picture.data;
    for (let at = 0; at < pixels.length; at += 4) {
      const share = 1 - pixels[at] / 255;
      for (let part = 0; part < 3; part += 1) pixels[at + part] = free[part] + (full[part] - free[part]) * share;
    }
    context.putImageData(picture, 0, 0);
    drawn.inked = { key, canvas: inked };
    return inked;
  }

  function draw() {
    const pose = scene?.pose?.shown ?? null;
    const path = scene?.path?.shown ?? null;
    const at = frameName();
    const poseFits = pose && pose.frame === at;
    const pathFits = path && path.frame === at && path.points.length > 1;
    const bounds = boundsOf(drawn?.about, poseFits ? pose : null, pathFits ? path.points : []);
    frame.hidden = !bounds;
    form.hidden = !bounds && !known.children.length;
    empty.hidden = Boolean(mapChoice.value());
    tell(pose, poseFits, path, at);
    placed = null;
    if (!bounds || !width) return;
    placed = view(bounds, width, Math.max(220, Math.min(innerHeight * 0.62, width)));
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(placed.width * scale);
    canvas.height = Math.round(placed.height * scale);
    canvas.style.width = `${placed.width}px`;
    canvas.style.height = `${placed.height}px`;
    const paint = colours();
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, placed.width, placed.height);
    const X = (value) => placed.left + (value - placed.minX) * placed.perMetre;
    const Y = (value) => placed.top + (placed.maxY - value) * placed.perMetre;
    if (drawn) {
      const { origin, resolution } = drawn.about;
      const [wide, high] = [drawn.about.width * resolution * placed.perMetre, drawn.about.height * resolution * placed.perMetre];
      context.save();
      context.translate(X(origin.x), Y(origin.y));
      context.rotate(-origin.heading);
      context.imageSmoothingEnabled = placed.perMetre * resolution < 1;
      context.drawImage(ink(paint), 0, -high, wide, high);
      context.restore();
    }
    drawScale(context, paint);
    if (pathFits) {
      context.beginPath();
      path.points.forEach(([px, py], index) => (index ? context.lineTo(X(px), Y(py)) : context.moveTo(X(px), Y(py))));
      Object.assign(context, { strokeStyle: paint.good, lineWidth: 3, lineJoin: 'round', lineCap: 'round' });
      context.stroke();
    }
    if (goal) drawGoal(context, paint, X(goal.x), Y(goal.y));
    if (poseFits) drawRobot(context, paint, X(pose.x), Y(pose.y), pose.heading, scene.pose.age_ms > OLD_MS);
  }

  function drawScale(context, paint) {
    const metres = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => one * placed.perMetre >= 48) ?? 1000;
    const [left, bottom, wide] = [14, placed.height - 14, metres * placed.perMetre];
    Object.assign(context, { fillStyle: paint.text, font: '12px system-ui, sans-serif', textBaseline: 'bottom' });
    context.beginPath();
    context.moveTo(left, bottom - 5);
    context.lineTo(left, bottom);
    context.lineTo(left + wide, bottom);
    context.lineTo(left + wide, bottom - 5);
    for (const [strokeStyle, lineWidth] of [[paint.panel, 6], [paint.text, 2]]) {
      Object.assign(context, { strokeStyle, lineWidth });
      context.stroke();
    }
    Object.assign(context, { strokeStyle: paint.panel, lineWidth: 4, lineJoin: 'round' });
    context.strokeText(`${metres} m`, left + 6, bottom - 3);
    context.fillText(`${metres} m`, left + 6, bottom - 3);
  }

  function drawRobot(context, paint, px, py, heading, isOld) {
    context.save();
    context.translate(px, py);
    context.rotate(-heading);
    context.globalAlpha = isOld ? 0.45 : 1;
    context.beginPath();
    context.moveTo(15, 0);
    context.lineTo(-10, 9);
    context.lineTo(-5, 0);
    context.lineTo(-10, -9);
    context.closePath();
    Object.assign(context, { fillStyle: paint.accent, strokeStyle: paint.panel, lineWidth: 2, lineJoin: 'round' });
    context.stroke();
    context.fill();
    context.restore();
  }

  function drawGoal(context, paint, px, py) {
    Object.assign(context, { strokeStyle: paint.bad, lineWidth: 2.5 });
    context.beginPath();
    context.arc(px, py, 9, 0, 2 * Math.PI);
    context.moveTo(px - 14, py);
    context.lineTo(px + 14, py);
    context.moveTo(px, py - 14);
    context.lineTo(px, py + 14);
    context.stroke();
  }

  function tell(pose, poseFits, path, at) {
    const place = pose ? `x ${pose.x.toFixed(2)} m, y ${pose.y.toFixed(2)} m, heading ${degrees(pose.heading)}°` : '';
    setText(state, poseFits ? `The robot is at ${place}${at ? `, in the frame ${clip(at, 60)}` : ''}${scene.pose.age_ms > OLD_MS ? ` — as of ${age(scene.pose.age_ms)} ago` : ''}.` : '');
    const lines = [];
    if (mapChoice.value() && problem) lines.push(problem);
    if (drawn && drawn.about.cells_per_pixel > 1) lines.push(`The map is large: it is shown with ${drawn.about.cells_per_pixel} × ${drawn.about.cells_per_pixel} cells to a point, the most occupied of which counts.`);
    const why = (moving) => (moving.problem ? `: ${moving.problem}` : '');
    if (pose && !poseFits) lines.push(`The robot is not drawn, because it would stand at a wrong place. Its position is given in the frame '${pose.frame}', and the map in '${at}'${why(scene.pose)}.`);
    else if (scene?.pose?.problem) lines.push(scene.pose.problem);
    if (scene && !poseChoice.value()) lines.push('No part of the robot tells where it is.');
    else if (scene?.pose && !pose && !scene.pose.problem) lines.push('The robot has not told yet where it is.');
    if (path && at && path.frame !== at && path.points.length) lines.push(`The path is given in the frame '${path.frame}', so it is not drawn${why(scene.path)}.`);
    remake(notes, lines.join('\n'), () => lines.map((line) => h('li', badge('warn', 'Note', 'warning'), ' ', bdi(cut(line, 500)))));
  }

  /** Where the chosen position can't be drawn, the next topic is tried, as long as nobody has chosen one. */
  function tryOther() {
    const pose = scene?.pose?.shown;
    if (chosen || !drawn || !sources || !pose || pose.frame === drawn.about.origin.frame) return void (elsewhereSince = null);
    // The transforms of the robot may just be on their way.
    elsewhereSince ??= performance.now();
    if (performance.now() - elsewhereSince < PATIENCE_MS) return;
    elsewhereSince = null;
    tried.add(poseChoice.value());
    const other = sources.poses.find((one) => !tried.has(one.topic));
    if (other) poseChoice.choose(other.topic);
  }

  return {
    root,
    offer(next) {
      sources = next;
      const topics = (some) => some.map((one) => one.topic);
      mapChoice.offer(topics(next.maps));
      poseChoice.offer(topics(next.poses));
      pathChoice.offer(topics(next.paths));
      return loadPlaces(next.nodes);
    },
    wanted: () => Object.fromEntries([['pose', poseChoice.value()], ['path', pathChoice.value()], ['frame', drawn?.about.origin.frame]].filter(([, name]) => name)),
    show(next) {
      scene = next;
      tryOther();
      draw();
    },
    renew,
  };
}
