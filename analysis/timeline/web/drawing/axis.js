/* The axes of time, one of all sides or one of each, and the pointer's place on them.
   `sheet` is what they are drawn on (sheet.js), an axis one of `painter.axes` (layout.js). */

import { duration, moment, tickStep } from "../data/text.js";
import { windowOf } from "../data/view.js";

const isOf = (axis, sideIndex) => axis.side < 0 || axis.side === sideIndex;

/* Returns [left, right] of the texts on it. */
export function drawAxis(sheet, axis) {
  const { pen, view, painter } = sheet;
  const shown = windowOf(view, axis.side);
  const size = shown.to - shown.from;
  const label = (ns) => (ns === 0 ? "0" : moment(ns, shown.to, step));
  let count = painter.plotWidth() / 90;
  let step = tickStep(size, count);
  while (
    count > 1 && sheet.textWidth(label(shown.to), 11) + 18 > (step / size) * painter.plotWidth()
  ) {
    count /= 1.4;
    step = tickStep(size, count);
  }
  const tickTexts = [];
  if (view.mode === "aligned") {
    drawScale(sheet, axis, step);
    return tickTexts;
  }
  for (let k = Math.ceil(shown.from / step); k * step <= shown.to; k++) {
    const x = painter.xOf(k * step, axis.side);
    pen.fillStyle = view.palette.tick;
    const at = Math.min(Math.round(x), view.width - 1);
    view.sides.forEach((side, sideIndex) => {
      if (!isOf(axis, sideIndex)) return;
      if (axis.above) pen.fillRect(at, axis.bottom - 5, 1, 4);
      else if (side.bottom !== painter.band?.top) pen.fillRect(at, side.bottom + 1, 1, 4);
    });
    const text = label(k * step);
    const left = Math.min(
      Math.max(x - sheet.textWidth(text, 11) / 2, painter.plotLeft),
      view.width - sheet.textWidth(text, 11),
    );
    sheet.write(text, left, axis.top + 15, 11, 400, view.palette.muted);
    tickTexts.push([left, left + sheet.textWidth(text, 11)]);
  }
  return tickTexts;
}

/* Where groups are aligned a place is no time: a length to measure with. */
function drawScale(sheet, { top }, step) {
  const { pen, view, painter } = sheet;
  const left = painter.plotLeft;
  const size = Math.round((step / (view.to - view.from)) * painter.plotWidth());
  pen.fillStyle = view.palette.muted;
  pen.fillRect(left, top + 10, size, 1);
  for (const x of [left, left + size - 1]) pen.fillRect(x, top + 6, 1, 9);
  sheet.write(duration(step), left + size + 6, top + 15, 11, 400, view.palette.muted);
}

/* On `screen`, one line through all sides at the pointer, with its time on each axis; `tickTexts`
   are those that are there, of each. */
export function drawPointer(sheet, screen, tickTexts) {
  const { view, painter } = sheet;
  if (view.pointerX === null || view.pointerX < painter.plotLeft) return;
  screen.fillStyle = view.palette.thumb;
  view.sides.forEach((side, sideIndex) => {
    const top = painter.rows.find((row) => row.side === sideIndex)?.top ?? side.bottom;
    screen.fillRect(Math.round(view.pointerX), top - 3, 1, side.bottom - top + 6);
  });
  if (view.mode === "aligned") return;
  painter.axes.forEach((axis, at) => writePointer(sheet, screen, axis, tickTexts[at] ?? []));
}

function writePointer(sheet, screen, axis, tickTexts) {
  const { view, painter } = sheet;
  const { from, to } = windowOf(view, axis.side);
  const text = moment(painter.timeAt(view.pointerX, axis.side), to, (to - from) / 1000);
  const size = sheet.textWidth(text, 11, 600);
  const left = Math.min(Math.max(view.pointerX - size / 2, painter.plotLeft), view.width - size);
  const covered = tickTexts.filter(([start, end]) => start < left + size + 8 && end > left - 8);
  const [first, last] = [
    Math.min(left, ...covered.flat()),
    Math.max(left + size, ...covered.flat()),
  ];
  screen.fillStyle = view.palette.background;
  screen.fillRect(first - 2, axis.top + 3, last - first + 4, 16);
  screen.font = sheet.font(11, 600);
  screen.fillStyle = view.palette.text;
  screen.fillText(text, left, axis.top + 15);
}
