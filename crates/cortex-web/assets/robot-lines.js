// A line through numbers over time. Pure.

/** A gap between two points that is longer is shown as one. */
const GAP_MS = 5000;
const EDGE = 3;

/**
 * The path of `points`, each `[ms, number]`, from one time to another within so many pixels. `scale` are the least and the
 * greatest number of the picture, where they are known beforehand.
 */
export function linePath(points, fromMs, toMs, width, height, scale) {
  const numbers = points.map((point) => point[1]);
  const least = Math.min(...numbers);
  const greatest = Math.max(...numbers);
  if (!points.length) return { path: '', least: NaN, greatest: NaN };
  let [low, high] = scale ?? [least, greatest];
  // A line that does not change runs through the middle.
  if (high - low < 1e-12) [low, high] = [low - 1, high + 1];
  const x = (at) => ((at - fromMs) / Math.max(1, toMs - fromMs)) * width;
  const y = (value) => EDGE + (1 - (Math.min(high, Math.max(low, value)) - low) / (high - low)) * (height - 2 * EDGE);
  let path = '';
  let before = -Infinity;
  for (const [at, value] of points) {
    path += `${at - before > GAP_MS ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    before = at;
  }
  return { path, least, greatest };
}
