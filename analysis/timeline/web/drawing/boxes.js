/* Boxes of the calls in a lane, and their texts. `sheet` is what they are drawn on (sheet.js). */

import { CLASSES, firstWhere } from "../data/calls.js";
import { createColumns } from "../data/columns.js";
import { duration, plainText } from "../data/text.js";
import { DIMMED } from "./palette.js";

const THIN = 0.7; // boxes narrower than this share columns of this width
const LEAST_HEIGHT = 0.3; // of a lane: a column in which little ran

/* Boxes lie on whole device pixels, so that they are crisp. Calls too short for a box of their own
   share columns (columns.js). Returns the calls with room for a text. */
export function drawBoxes(sheet, row, lit) {
  const { pen, view, painter } = sheet;
  const side = view.sides[row.side];
  const lane = side.lanes[row.lane];
  const scale = sheet.density();
  const line = Math.max(1, Math.round(scale));
  const thin = Math.max(1, Math.round(THIN * scale));
  const perNs = (painter.plotWidth() * scale) / (view.to - view.from);
  const rightmost = Math.round(painter.plotWidth() * scale) + 2;
  const origin = Math.round(painter.plotLeft * scale);
  const y = Math.round(row.top * scale);
  const boxHeight = Math.max(1, Math.round((row.top + row.height) * scale) - y);
  const spacious = [];
  const columns = createColumns(rightmost, thin);
  const colours = CLASSES.map((name) => view.palette.classes[name]);
  const first = firstWhere(lane.count, (at) => lane.latest[at] > view.from);
  for (let i = first; i < lane.count && lane.start[i] < view.to; i++) {
    if (lane.end[i] < view.from) continue;
    const from = (lane.start[i] - view.from) * perNs;
    const to = (lane.end[i] - view.from) * perNs;
    const left = Math.max(-2, Math.round(from));
    let width = Math.max(1, Math.min(rightmost, Math.round(to)) - left);
    const op = lane.op[i];
    columns.ran(from, to);
    if (to - from < thin) {
      columns.share((from + to) / 2, to - from, side.kindOf[op], lit[op]);
      continue;
    }
    columns.cover(left, left + width);
    // Neighbours that touch are kept apart by a line of the track.
    const touches = i + 1 < lane.count &&
      Math.round((lane.start[i + 1] - view.from) * perNs) <= left + width;
    if (touches && width >= 4 * line) width -= line;
    const { fill, edge } = colours[side.kindOf[op]];
    pen.globalAlpha = lit[op] ? 1 : DIMMED;
    if (edge && lit[op] && width >= 4 * line) {
      pen.fillStyle = edge;
      pen.fillRect(origin + left, y, width, boxHeight);
      pen.fillStyle = fill;
      pen.fillRect(origin + left + line, y + line, width - 2 * line, boxHeight - 2 * line);
    } else {
      pen.fillStyle = fill;
      pen.fillRect(origin + left, y, width, boxHeight);
    }
    if (width >= 22 * scale && row.height >= 14) spacious.push(i);
  }
  // Last, since the neighbour that follows begins on the same pixel.
  for (const { left, share, kind, isLit } of columns.shared()) {
    const high = share > 0.97
      ? boxHeight
      : Math.max(1, Math.round(boxHeight * Math.max(LEAST_HEIGHT, share)));
    pen.globalAlpha = isLit ? 1 : DIMMED;
    pen.fillStyle = colours[kind].fill;
    pen.fillRect(origin + left, y + boxHeight - high, thin, high);
  }
  return spacious;
}

/* Name and duration inside the box where they fit, else the op type, else nothing. */
export function drawBoxTexts(sheet, row, calls, lit) {
  const { pen, view, painter } = sheet;
  const side = view.sides[row.side];
  const lane = side.lanes[row.lane];
  const middle = row.top + row.height / 2;
  pen.globalAlpha = 1;
  for (const [at, i] of calls.entries()) {
    const op = lane.op[i];
    const left = Math.max(painter.plotLeft, painter.xOf(lane.start[i])) + 6;
    // A box inside this one lies over it and has a text of its own.
    const next = at + 1 < calls.length ? lane.start[calls[at + 1]] : Infinity;
    const inside = next >= lane.start[i] ? next : Infinity;
    const room = Math.min(view.width, painter.xOf(Math.min(lane.end[i], inside))) - left - 6;
    const text = [side.ops.name[op], side.ops.op_type[op]].map(plainText)
      .find((each) => each !== "" && sheet.textWidth(each, 11) <= room);
    if (text === undefined) continue;
    const time = duration(lane.end[i] - lane.start[i]);
    const twoLines = row.height >= 34 && sheet.textWidth(time, 10) <= room;
    const ink = lit[op] ? view.palette.classes[side.classOf[op]].ink : view.palette.muted;
    sheet.write(text, left, twoLines ? middle - 2 : middle + 4, 11, 400, ink);
    if (twoLines) sheet.write(time, left, middle + 11, 10, 400, ink);
  }
}
