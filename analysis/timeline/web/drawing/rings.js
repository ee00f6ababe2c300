/* Rings around calls, on top of what the painter has drawn; `painter` says where they lie. */

import { extent, windowOf } from "../data/view.js";

/* A ring around each call, at least 3 px wide; a thin selected one gets a mark above as well.
   Where rings would lie on each other, the first stands for all. */
export function drawRings(screen, view, painter, calls, strong) {
  const reached = new Map(); // row -> right end of its last ring
  screen.save();
  screen.beginPath();
  screen.rect(Math.max(0, painter.plotLeft - 3), 0, painter.plotWidth() + 3, painter.height);
  screen.clip();
  for (const call of calls) {
    const row = painter.rowOf(call);
    if (row === undefined) continue;
    const [from, to] = extent(view, call);
    const shown = windowOf(view, call.side);
    if (to < shown.from || from > shown.to) continue;
    const start = Math.max(painter.plotLeft - 4, painter.xOf(from, call.side));
    const end = Math.min(view.width + 4, painter.xOf(to, call.side));
    const spare = Math.max(0, 3 - (end - start)) / 2;
    if (end + spare <= (reached.get(row) ?? -Infinity) + 1) continue;
    reached.set(row, end + spare);
    drawRing(screen, view, painter, row, start - spare, end - start + 2 * spare, strong);
  }
  screen.restore();
}

function drawRing(screen, view, painter, row, left, size, strong) {
  const { background, text } = view.palette;
  for (const [colour, line] of [[background, strong ? 5 : 4], [text, strong ? 2.5 : 1.5]]) {
    screen.strokeStyle = colour;
    screen.lineWidth = line;
    screen.strokeRect(left, row.top, size, row.height);
  }
  if (!strong || size >= 14) return;
  const x = Math.min(Math.max(left + size / 2, painter.plotLeft + 1), view.width - 1);
  screen.fillStyle = text;
  screen.beginPath();
  screen.moveTo(x, row.top - 2);
  screen.lineTo(x - 4, row.top - 8);
  screen.lineTo(x + 4, row.top - 8);
  screen.fill();
}
