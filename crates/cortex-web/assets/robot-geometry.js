// Where things stand on the map. Pure: metres and pixels in, metres and pixels out.

const MARGIN_PX = 10;
/** Without a map, so much around the robot is shown, in metres. */
const AROUND_M = 2;

/** The corners of a map, as its place says it lies. */
export function corners({ origin, width, height, resolution }) {
  const [wide, high] = [width * resolution, height * resolution];
  const [cos, sin] = [Math.cos(origin.heading), Math.sin(origin.heading)];
  return [[0, 0], [wide, 0], [0, high], [wide, high]].map(([a, b]) => [origin.x + a * cos - b * sin, origin.y + a * sin + b * cos]);
}

/** What is to be seen: `{minX, minY, maxX, maxY}`; null where there is nothing. */
export function boundsOf(map, pose, points) {
  const all = map ? corners(map) : [...points];
  if (pose && !map) all.push([pose.x - AROUND_M, pose.y - AROUND_M], [pose.x + AROUND_M, pose.y + AROUND_M]);
  if (!all.length) return null;
  const of = (index) => all.map((point) => point[index]);
  const bounds = { minX: Math.min(...of(0)), minY: Math.min(...of(1)), maxX: Math.max(...of(0)), maxY: Math.max(...of(1)) };
  return Object.values(bounds).every(Number.isFinite) ? bounds : null;
}

/** How the bounds lie in a picture of at most that size. */
export function view(bounds, mostWidth, mostHeight) {
  const wide = Math.max(bounds.maxX - bounds.minX, 0.01);
  const high = Math.max(bounds.maxY - bounds.minY, 0.01);
  const perMetre = Math.min((mostWidth - 2 * MARGIN_PX) / wide, (mostHeight - 2 * MARGIN_PX) / high);
  const height = Math.round(high * perMetre + 2 * MARGIN_PX);
  return { ...bounds, perMetre, width: mostWidth, height, left: (mostWidth - wide * perMetre) / 2, top: MARGIN_PX };
}

/** The place at a point of the picture. */
export function placeOf(placed, left, top) {
  return { x: placed.minX + (left - placed.left) / placed.perMetre, y: placed.maxY - (top - placed.top) / placed.perMetre };
}

export function degrees(radians) {
  const whole = Math.round((radians * 180) / Math.PI);
  return ((whole % 360) + 360) % 360;
}

/** How a tool that goes to a point of this frame is asked for: a phrase with `{x}` and `{y}`, null where there is none. The
 * numbers of a tool that does not name the frame may be meant in another one. */
export function pointPhrase(tools, frame) {
  const numeric = (tool, name) => {
    const { type, description } = tool.parameters?.properties?.[name] ?? {};
    return type === 'number' && Boolean(frame) && ` ${description ?? ''}`.split(/[^\w/]+/).includes(frame);
  };
  for (const tool of tools) {
    const required = tool.parameters?.required ?? [];
    if (!numeric(tool, 'x') || !numeric(tool, 'y') || required.some((name) => name !== 'x' && name !== 'y')) continue;
    const phrase = tool.phrases.find((one) => /^[^{}]*\{x\}[^{}]*\{y\}[^{}]*$/.test(one));
    if (phrase) return phrase;
  }
  return null;
}

/** A task in words for a place: as a tool is asked for, or in words that a model understands. */
export function goalWords({ x, y }, frame, phrase = null) {
  const number = (value) => (Math.abs(value) < 0.005 ? 0 : value).toFixed(2);
  if (phrase) return phrase.replace('{x}', number(x)).replace('{y}', number(y));
  return `go to x=${number(x)}, y=${number(y)}${frame ? ` in frame ${frame}` : ''}`;
}
