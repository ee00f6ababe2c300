/* Lines from where the host launched what is selected to where it ran. */

import { HOST, showsHost } from "../data/host.js";
import { windowOf } from "../data/view.js";

const MOST_LINES = 200;

/* {count, drawn}: the launches of these calls that are in view, at their launch or their start, and
   how many of them have a line; drawn ones are spread evenly. Null where no side shows launches. */
export function drawLaunches(screen, view, painter, calls) {
  const seen = calls.flatMap((call) => launchInView(view, painter, call) ?? []);
  if (!view.sides.some((side) => showsHost(view, side) && knowsLaunches(view, side))) return null;
  const every = Math.ceil(seen.length / MOST_LINES) || 1;
  const lines = seen.filter((_, at) => at % every === 0);
  screen.save();
  screen.beginPath();
  screen.rect(painter.plotLeft, 0, painter.plotWidth(), painter.height);
  screen.clip();
  for (const [colour, width] of [[view.palette.background, 3], [view.palette.text, 1]]) {
    screen.strokeStyle = screen.fillStyle = colour;
    screen.lineWidth = width;
    for (const line of lines) drawLine(screen, painter, line);
  }
  screen.restore();
  return { count: seen.length, drawn: lines.length };
}

const knowsLaunches = (view, side) => view.layers !== null || side.host.waits !== null;

/* {side, launch, start, row} of a call whose launch is known; null of others, and out of view. */
function launchInView(view, painter, call) {
  const side = view.sides[call.side];
  const row = painter.rowOf(call);
  if (!showsHost(view, side) || row === undefined) return null;
  const lane = side.lanes[call.lane];
  const start = call.start ?? lane.start[call.index];
  const wait = call.wait ?? side.host.waits?.[lane.call?.[call.index]] ?? -1;
  const { from, to } = windowOf(view, call.side);
  if (!(wait >= 0) || start < from || start - wait > to) return null;
  return { side: call.side, launch: start - wait, start, row };
}

function drawLine(screen, painter, { side, launch, start, row }) {
  const host = painter.rowOf({ side, lane: HOST });
  const [left, right] = [painter.xOf(launch, side), painter.xOf(start, side)];
  const [low, high] = [host.top, row.top + row.height];
  screen.beginPath();
  screen.moveTo(left, low + host.height / 2);
  screen.lineTo(left, low);
  screen.lineTo(right, high);
  screen.stroke();
  screen.beginPath(); // the head
  const angle = Math.atan2(high - low, right - left);
  screen.moveTo(right, high);
  for (const turn of [-0.4, 0.4]) {
    screen.lineTo(right - 7 * Math.cos(angle + turn), high - 7 * Math.sin(angle + turn));
  }
  screen.fill();
}
