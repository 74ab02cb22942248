// The robot itself: its map, what its cameras see, its numbers, its parts and their parameters. Loaded when it is first
// opened. While it is hidden, nothing is asked for, so that the robot is not bothered.

import { getJson } from './actions.js';
import { h, setText } from './dom.js';
import { createCamera } from './robot-camera.js';
import { createSystem } from './robot-graph.js';
import { createMap } from './robot-map.js';
import { createParameters } from './robot-parameters.js';
import { createPlots } from './robot-plots.js';

/** How often what moves is asked for, and what there is to look at. */
const SCENE_MS = 250;
const SOURCES_MS = 5000;

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export function createRobot(root, { actions, seen, seenBasis, connection, mayAct, onSubmitted }) {
  const style = h('link', { rel: 'stylesheet', href: new URL('./robot.css', import.meta.url).href });
  document.head.append(style);
  const trouble = h('p.answer.tone-bad', { role: 'status' });
  const map = createMap({ actions, seenBasis, onSubmitted });
  const camera = createCamera();
  const plots = createPlots();
  const system = createSystem();
  const parameters = createParameters({ seen, connection, mayAct });
  root.append(trouble, h('div.robot-top', map.root, h('div.robot-side', camera.root, plots.root)), system.root, parameters.root);
  let visible = false;
  let running = false;
  let overview = null;
  let sources = null;

  const isLooking = () => visible && !document.hidden;

  async function renewSources() {
    sources = await getJson('/api/v1/robot');
    await map.offer(sources);
    camera.offer(sources.cameras);
    plots.offer(sources.numbers);
    parameters.offer(sources.nodes);
    system.update(overview, sources);
  }

  /** One request after the other: a browser has few connections to one host, and STOP must always get one. */
  async function look() {
    if (running) return;
    running = true;
    let renewedAt = -Infinity;
    while (isLooking()) {
      const begunAt = performance.now();
      try {
        if (begunAt - renewedAt > SOURCES_MS) {
          await renewSources();
          renewedAt = begunAt;
        }
        const scene = await getJson(`/api/v1/robot/scene?${new URLSearchParams({ ...map.wanted(), ...plots.wanted() })}`);
        map.show(scene);
        plots.show(scene);
        await map.renew();
        setText(trouble, '');
      } catch (error) {
        setText(trouble, error.message);
        await pause(750);
      }
      await pause(Math.max(20, SCENE_MS - (performance.now() - begunAt)));
    }
    running = false;
  }

  function wake() {
    camera.look(isLooking());
    if (isLooking()) look();
  }
  document.addEventListener('visibilitychange', wake);

  return {
    show(isShown) { visible = isShown; wake(); },
    update(next) {
      overview = next;
      system.update(overview, sources);
    },
  };
}
