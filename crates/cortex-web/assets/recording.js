// The band that says that this is a recording: loaded only where it is one.

import { bdi, h, remake } from './dom.js';
import { cut, dateTime, number } from './format.js';

export function createRecording(root) {
  return {
    update(recording) {
      root.hidden = false;
      remake(root, JSON.stringify(recording), () => {
        const at = Date.parse(recording.time);
        return [
          h('strong', 'Recording'),
          h('span', 'You see what a robot did', Number.isFinite(at) ? [' on ', h('time', dateTime(at))] : null, ', again and again',
            recording.speed === 1 ? '' : ` at ${number(recording.speed)} times its speed`, '. No robot is connected: nothing moves, and nothing can be asked of it.'),
          recording.cut ? h('span', 'The rest of it can\'t be shown: ', bdi(cut(recording.cut, 300))) : null,
        ];
      });
    },
  };
}
