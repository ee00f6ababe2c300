/* Boxes of the calls in a lane, and their texts. `sheet` is what they are drawn on (sheet.js). */

import { CLASSES, firstWhere } from "../data/calls.js";
import { createColumns } from "../data/columns.js";
import { causeLabel, HOST, kindLabel, laneAt } from "../data/host.js";
import { pictureOf } from "../data/picture.js";
import { duration, plainText } from "../data/text.js";
import { windowOf } from "../data/view.js";
import { DIMMED, WAITING } from "./palette.js";

const THIN = 0.7; // boxes narrower than this share columns of this width
const LEAST_HEIGHT = 0.3; // of a lane: a column in which little ran

/* Boxes by their colour, so that it is set once for all of one. */
function createBatches(colours) {
  // Fills lit and dimmed, edges, and lit fills that wait.
  const rects = Array.from({ length: 4 * CLASSES.length }, () => []);

  return {
    hasEdge: (kind) => colours[kind].edge !== null,
    fill: (kind, isLit, ...rect) => rects[kind + (isLit ? 0 : CLASSES.length)].push(...rect),
    edge: (kind, ...rect) => rects[kind + 2 * CLASSES.length].push(...rect),
    waits: (kind, ...rect) => rects[kind + 3 * CLASSES.length].push(...rect),
    draw(pen) {
      const put = (each, colour, alpha) => {
        if (each.length === 0) return;
        pen.fillStyle = colour;
        pen.globalAlpha = alpha;
        for (let i = 0; i < each.length; i += 4) {
          pen.fillRect(each[i], each[i + 1], each[i + 2], each[i + 3]);
        }
      };
      colours.forEach(({ edge }, kind) => put(rects[kind + 2 * CLASSES.length], edge, 1));
      colours.forEach(({ fill }, kind) => {
        put(rects[kind + CLASSES.length], fill, DIMMED);
        put(rects[kind + 3 * CLASSES.length], fill, WAITING);
        put(rects[kind], fill, 1);
      });
      for (const each of rects) each.length = 0;
    },
  };
}

/* What is drawn in a row: {lane, kindOf, colours, lit, textsOf}. `colours` are by the numbers that
   `kindOf` has of operators, or of causes where it is the lane of the host, whose kinds are fewer
   than classes; `lit` is {operators, kinds}: 1 for what is lit; `textsOf` has what may stand in a
   box, the first that fits. */
export function contentOf(view, row, lit) {
  const side = view.sides[row.side];
  const lane = laneAt(view, row);
  if (row.lane === HOST) {
    const { causes, kindOf, lit } = side.host;
    const textsOf = (at) => [causeLabel(causes[at]), kindLabel(causes[at].kind)];
    return { lane, kindOf, colours: view.palette.host, lit, textsOf };
  }
  return {
    lane,
    kindOf: side.kindOf,
    colours: CLASSES.map((name) => view.palette.classes[name]),
    lit,
    textsOf: (op) => [side.ops.name[op], side.ops.op_type[op]].map(plainText),
  };
}

/* Boxes lie on whole device pixels, so that they are crisp. Calls too short for a box of their own
   share columns (columns.js), those that are not here themselves are drawn by their bins.
   `content` is as above. Returns the calls with room for a text. */
export function drawBoxes(sheet, row, { lane, kindOf, colours, lit }) {
  const { pen, view, painter } = sheet;
  const shown = windowOf(view, row.side);
  const scale = sheet.density();
  const line = Math.max(1, Math.round(scale));
  const thin = Math.max(1, Math.round(THIN * scale));
  const perNs = (painter.plotWidth() * scale) / (shown.to - shown.from);
  const rightmost = Math.round(painter.plotWidth() * scale) + 2;
  const origin = Math.round(painter.plotLeft * scale);
  const y = Math.round(row.top * scale);
  const boxHeight = Math.max(1, Math.round((row.top + row.height) * scale) - y);
  const heightOf = (share) =>
    share > 0.97 ? boxHeight : Math.max(1, Math.round(boxHeight * Math.max(LEAST_HEIGHT, share)));
  const spacious = [];
  const columns = createColumns(rightmost, thin);
  const batches = createBatches(colours);
  const { calls, bins, lit: litBins } = pictureOf(
    lane,
    shown,
    thin / perNs,
    rightmost / thin,
    kindOf,
    lit.operators,
  );
  const isLitBin = (at) => (litBins ? litBins[at] : lit.kinds[bins.kind[at]]) > 0;
  const binWidth = bins.width * perNs;
  const lastBin = firstWhere(bins.count, (at) => bins.from[at] >= shown.to);
  let bin = firstWhere(bins.count, (at) => bins.from[at] + bins.width > shown.from);

  // Bins of a layer that is coarser than the screen, below the calls.
  for (; binWidth >= thin && bin < lastBin; bin++) {
    const left = Math.max(-2, Math.round((bins.from[bin] - shown.from) * perNs));
    const right = Math.min(
      rightmost,
      Math.round((bins.from[bin] + bins.width - shown.from) * perNs),
    );
    const high = heightOf(bins.share[bin]);
    batches.fill(
      bins.kind[bin],
      isLitBin(bin),
      origin + left,
      y + boxHeight - high,
      right - left,
      high,
    );
  }
  batches.draw(pen);

  function shareBin() {
    const from = (bins.from[bin] - shown.from) * perNs;
    const width = bins.share[bin] * binWidth;
    columns.ran(from, from + width);
    columns.share(from + binWidth / 2, width, bins.kind[bin], isLitBin(bin));
    bin += 1;
  }

  const count = calls ? calls.length : lane.count;
  const callOf = calls ? (at) => calls[at] : (at) => at;
  const first = firstWhere(count, (at) => lane.latest[callOf(at)] > shown.from);
  for (let at = first; at < count && lane.start[callOf(at)] < shown.to; at++) {
    const i = callOf(at);
    if (lane.end[i] < shown.from) continue;
    while (bin < lastBin && bins.from[bin] <= lane.start[i]) shareBin();
    const from = (lane.start[i] - shown.from) * perNs;
    const to = (lane.end[i] - shown.from) * perNs;
    const left = Math.max(-2, Math.round(from));
    let width = Math.max(1, Math.min(rightmost, Math.round(to)) - left);
    const op = lane.op[i];
    const kind = kindOf[op];
    columns.ran(from, to);
    if (to - from < thin) {
      columns.share((from + to) / 2, to - from, kind, lit.operators[op]);
      continue;
    }
    columns.cover(left, left + width);
    // Neighbours that touch are kept apart by a line of the track.
    const next = at + 1 < count ? callOf(at + 1) : -1;
    const touches = next >= 0 &&
      Math.round((lane.start[next] - shown.from) * perNs) <= left + width;
    if (touches && width >= 4 * line) width -= line;
    // Waiting is drawn first: all ranks of a collective leave it at about the same time.
    const waits = Math.min(width, Math.round(lane.waiting[i] * perNs));
    if (lit.operators[op] && waits > 0) {
      batches.waits(kind, origin + left, y, waits, boxHeight);
      batches.fill(kind, true, origin + left + waits, y, width - waits, boxHeight);
    } else if (lit.operators[op] && width >= 4 * line && batches.hasEdge(kind)) {
      batches.edge(kind, origin + left, y, width, boxHeight);
      batches.fill(
        kind,
        true,
        origin + left + line,
        y + line,
        width - 2 * line,
        boxHeight - 2 * line,
      );
    } else batches.fill(kind, lit.operators[op], origin + left, y, width, boxHeight);
    if (width >= 22 * scale && row.height >= 14) spacious.push(i);
  }
  while (bin < lastBin) shareBin();
  batches.draw(pen);
  // Last, since the neighbour that follows begins on the same pixel.
  for (const { left, share, kind, isLit } of columns.shared()) {
    const high = heightOf(share);
    batches.fill(kind, isLit, origin + left, y + boxHeight - high, thin, high);
  }
  batches.draw(pen);
  return spacious;
}

/* What is selected of calls that are not here themselves, on top of their bins. */
export function drawMarks(sheet, row) {
  const { pen, view, painter } = sheet;
  const marks = view.marks?.sides[row.side];
  if (!marks) return;
  pen.fillStyle = view.palette.text;
  pen.globalAlpha = 1;
  const shown = windowOf(view, row.side);
  for (const { lane, start, end } of marks.calls) {
    if (lane !== row.lane || end < shown.from || start > shown.to) continue;
    const left = painter.xOf(start, row.side);
    const width = Math.max(1, painter.xOf(end, row.side) - left);
    pen.fillRect(left, row.top, width, Math.max(2, row.height / 6));
  }
}
/* Name and duration inside the box where they fit, else the op type, else nothing. */
export function drawBoxTexts(sheet, row, calls, { lane, kindOf, colours, lit, textsOf }) {
  const { pen, view, painter } = sheet;
  const middle = row.top + row.height / 2;
  pen.globalAlpha = 1;
  for (const [at, i] of calls.entries()) {
    const op = lane.op[i];
    const left = Math.max(painter.plotLeft, painter.xOf(lane.start[i], row.side)) + 6;
    // A box inside this one lies over it and has a text of its own.
    const next = at + 1 < calls.length ? lane.start[calls[at + 1]] : Infinity;
    const inside = next >= lane.start[i] ? next : Infinity;
    const end = painter.xOf(Math.min(lane.end[i], inside), row.side);
    const room = Math.min(view.width, end) - left - 6;
    const text = textsOf(op).find((each) => each !== "" && sheet.textWidth(each, 11) <= room);
    if (text === undefined) continue;
    const time = duration(lane.end[i] - lane.start[i]);
    const twoLines = row.height >= 34 && sheet.textWidth(time, 10) <= room;
    const waits = 2 * lane.waiting[i] > lane.end[i] - lane.start[i];
    const { muted, text: plain } = view.palette;
    const ink = !lit.operators[op] ? muted : waits ? plain : colours[kindOf[op]].ink;
    sheet.write(text, left, twoLines ? middle - 2 : middle + 4, 11, 400, ink);
    if (twoLines) sheet.write(time, left, middle + 11, 10, 400, ink);
  }
}
