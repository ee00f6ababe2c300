/* Lays the timeline out on a canvas and draws it. Lengths are CSS pixels unless they say device. */

import { CLASSES, firstWhere } from "../data/calls.js";
import { createColumns } from "../data/columns.js";
import { HEADER_LINE, layOutSides, SCROLLBAR_HEIGHT, SIDE_INDENT, SIDE_MARK } from "./layout.js";
import { DIMMED, readPalette } from "./palette.js";
import { drawGaps, drawRibbons, drawRibbonsOf } from "./ribbons.js";
import { drawRings } from "./rings.js";
import { callsOfGroup, groupOfCall, litOperators, selectedCalls } from "../data/selection.js";
import { cutMiddle, duration, moment, plainText, tickStep } from "../data/text.js";
import { say } from "../data/words.js";

const THIN = 0.7; // boxes narrower than this share columns of this width
const LEAST_HEIGHT = 0.3; // of a lane: a column in which little ran
const HATCH = 6; // px between the lines over time that is not drawn

/* `view` is the state to draw: {sides, groups, ribbons, mode, span, from, to, printing, selected,
   onlyClass, cursor, overGroup, pointerX, width}. The painter adds `palette` when it is asked to
   read the theme. */
export function createPainter(canvas, view) {
  const screen = canvas.getContext("2d");
  // Boxes, texts and axis are drawn here once; what follows the pointer comes on top.
  const base = document.createElement("canvas");
  const pen = base.getContext("2d");
  const painter = { rows: [], rowsOf: [], captions: [], band: null, height: 0, plotLeft: 0 };
  let textWidths = new Map();
  let tickTexts = []; // [left, right] of the texts on the axis

  const plotWidth = () => Math.max(1, view.width - painter.plotLeft);
  const xOf = (ns) => painter.plotLeft + ((ns - view.from) / (view.to - view.from)) * plotWidth();
  const timeAt = (x) => view.from + ((x - painter.plotLeft) / plotWidth()) * (view.to - view.from);
  // Undefined for a call in a lane that is folded away.
  const rowOf = (call) => painter.rowsOf[call.side]?.[call.lane];
  const density = () => Math.max(view.printing ? 3 : 0.1, devicePixelRatio || 1);
  const font = (size, weight = 400) => `${weight} ${size}px ${view.palette.family}`;

  function textWidth(text, size, weight = 400) {
    const key = `${weight} ${size} ${text}`;
    let known = textWidths.get(key);
    if (known === undefined) {
      if (textWidths.size > 20000) textWidths.clear();
      pen.font = font(size, weight);
      known = pen.measureText(text).width;
      textWidths.set(key, known);
    }
    return known;
  }

  function write(text, left, baseline, size, weight, colour) {
    pen.font = font(size, weight);
    pen.fillStyle = colour;
    pen.fillText(text, left, baseline);
  }

  /* Text that is cut in the middle where room is short; the tooltip then has it in full. */
  function writeCaption(text, left, baseline, room, size, weight, colour) {
    const shown = cutMiddle(text, room, (part) => textWidth(part, size, weight));
    write(shown, left, baseline, size, weight, colour);
    if (shown === text) return;
    painter.captions.push({
      left,
      right: left + room,
      top: baseline - size,
      bottom: baseline + 4,
      text,
    });
  }

  function layOut() {
    layOutSides(view, painter, textWidth);
    canvas.style.height = `${painter.height}px`;
  }

  /* Boxes lie on whole device pixels, so that they are crisp. Calls too short for a box of their own
     share columns (columns.js). Returns the calls with room for a text. */
  function drawBoxes(row, lit) {
    const side = view.sides[row.side];
    const lane = side.lanes[row.lane];
    const scale = density();
    const line = Math.max(1, Math.round(scale));
    const thin = Math.max(1, Math.round(THIN * scale));
    const perNs = (plotWidth() * scale) / (view.to - view.from);
    const rightmost = Math.round(plotWidth() * scale) + 2;
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
  function drawBoxTexts(row, calls, lit) {
    const side = view.sides[row.side];
    const lane = side.lanes[row.lane];
    const middle = row.top + row.height / 2;
    pen.globalAlpha = 1;
    for (const [at, i] of calls.entries()) {
      const op = lane.op[i];
      const left = Math.max(painter.plotLeft, xOf(lane.start[i])) + 6;
      // A box inside this one lies over it and has a text of its own.
      const next = at + 1 < calls.length ? lane.start[calls[at + 1]] : Infinity;
      const inside = next >= lane.start[i] ? next : Infinity;
      const room = Math.min(view.width, xOf(Math.min(lane.end[i], inside))) - left - 6;
      const text = [side.ops.name[op], side.ops.op_type[op]].map(plainText)
        .find((each) => each !== "" && textWidth(each, 11) <= room);
      if (text === undefined) continue;
      const time = duration(lane.end[i] - lane.start[i]);
      const twoLines = row.height >= 34 && textWidth(time, 10) <= room;
      const ink = lit[op] ? view.palette.classes[side.classOf[op]].ink : view.palette.muted;
      write(text, left, twoLines ? middle - 2 : middle + 4, 11, 400, ink);
      if (twoLines) write(time, left, middle + 11, 10, 400, ink);
    }
  }

  /* Lines over the time from `start` to `end` in which calls are not drawn: it was not idle. */
  function drawHatch(row, start, end) {
    const left = Math.max(painter.plotLeft, xOf(start));
    const right = Math.min(view.width, xOf(end));
    if (right <= left) return;
    pen.save();
    pen.beginPath();
    pen.rect(left, row.top, right - left, row.height);
    pen.clip();
    pen.strokeStyle = view.palette.thumb;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = Math.floor(left / HATCH) * HATCH; x < right + row.height; x += HATCH) {
      pen.moveTo(x, row.top);
      pen.lineTo(x - row.height, row.top + row.height);
    }
    pen.stroke();
    pen.restore();
    const text = say("not_drawn");
    const size = textWidth(text, 11) + 12;
    if (row.height < 14 || right - left < size + 8) return;
    const middle = (left + right) / 2;
    pen.fillStyle = view.palette.background;
    pen.fillRect(middle - size / 2, row.top + 2, size, row.height - 4);
    write(text, middle - size / 2 + 6, row.top + row.height / 2 + 4, 11, 400, view.palette.text);
  }

  function drawRow(row, lit) {
    const side = view.sides[row.side];
    const scale = density();
    pen.save();
    pen.beginPath();
    pen.rect(painter.plotLeft, row.top, plotWidth(), row.height);
    pen.clip();
    pen.fillStyle = view.palette.track; // what stays visible of it is time in no operator
    const end = view.mode === "aligned" ? view.span : side.notDrawn > 0 ? side.shown : side.dur;
    pen.fillRect(
      painter.plotLeft,
      row.top,
      Math.max(0, xOf(Math.min(end, view.to)) - painter.plotLeft),
      row.height,
    );
    if (side.notDrawn > 0) drawHatch(row, side.shown, side.dur);
    if (view.mode === "aligned") drawGaps(pen, view, row.side, xOf, row.top, row.height);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    const spacious = drawBoxes(row, lit);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    drawBoxTexts(row, spacious, lit);
    if (side.lanes[row.lane].count === 0) {
      write(
        say("no_operator"),
        painter.plotLeft + 6,
        row.top + row.height / 2 + 4,
        11,
        400,
        view.palette.muted,
      );
    }
    pen.restore();
    if (painter.plotLeft > 0 && side.lanes.length > 1) {
      const baseline = row.top + row.height / 2 + 4;
      writeCaption(
        side.laneLabels[row.lane],
        0,
        baseline,
        painter.plotLeft - 8,
        11,
        400,
        view.palette.muted,
      );
    }
  }

  function drawHeader(side) {
    const { text, muted } = view.palette;
    const baseline = side.top + 15;
    pen.fillStyle = view.palette.sides[side.id] ?? muted;
    pen.beginPath(); // round, as in the charts: squares are classes of operators
    pen.arc(SIDE_MARK, baseline - SIDE_MARK, SIDE_MARK, 0, 2 * Math.PI);
    pen.fill();
    writeCaption(side.label, SIDE_INDENT, baseline, view.width - SIDE_INDENT, 14, 600, text);
    const left = side.oneLine ? SIDE_INDENT + textWidth(side.label, 14, 600) + 10 : SIDE_INDENT;
    writeCaption(
      side.caption,
      left,
      baseline + (side.oneLine ? 0 : HEADER_LINE),
      view.width - left + 1,
      13,
      400,
      muted,
    );
  }

  function drawAxis() {
    const size = view.to - view.from;
    const label = (ns) => (ns === 0 ? "0" : moment(ns, view.to, step));
    let count = plotWidth() / 90;
    let step = tickStep(size, count);
    while (count > 1 && textWidth(label(view.to), 11) + 18 > (step / size) * plotWidth()) {
      count /= 1.4;
      step = tickStep(size, count);
    }
    tickTexts = [];
    if (view.mode === "aligned") return drawScale(step);
    for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
      const x = xOf(k * step);
      pen.fillStyle = view.palette.tick;
      for (const side of view.sides) {
        if (side.bottom !== painter.band?.top) {
          pen.fillRect(Math.min(Math.round(x), view.width - 1), side.bottom + 1, 1, 4);
        }
      }
      const text = label(k * step);
      const left = Math.min(
        Math.max(x - textWidth(text, 11) / 2, painter.plotLeft),
        view.width - textWidth(text, 11),
      );
      write(text, left, painter.axisTop + 15, 11, 400, view.palette.muted);
      tickTexts.push([left, left + textWidth(text, 11)]);
    }
  }

  /* Where groups are aligned a place is no time: a length to measure with. */
  function drawScale(step) {
    const left = painter.plotLeft;
    const size = Math.round((step / (view.to - view.from)) * plotWidth());
    pen.fillStyle = view.palette.muted;
    pen.fillRect(left, painter.axisTop + 10, size, 1);
    for (const x of [left, left + size - 1]) pen.fillRect(x, painter.axisTop + 6, 1, 9);
    write(duration(step), left + size + 6, painter.axisTop + 15, 11, 400, view.palette.muted);
  }

  /* Which part of the run is shown, once it is not all of it. */
  function drawScrollbar() {
    const size = view.to - view.from;
    if (size >= view.span) return;
    const top = painter.height - SCROLLBAR_HEIGHT + 1;
    const thumb = Math.max(8, (size / view.span) * plotWidth());
    pen.fillStyle = view.palette.track;
    pen.fillRect(painter.plotLeft, top, plotWidth(), 4);
    pen.fillStyle = view.palette.thumb;
    pen.fillRect(
      painter.plotLeft + (view.from / (view.span - size)) * (plotWidth() - thumb),
      top,
      thumb,
      4,
    );
  }

  function drawBase() {
    const scale = density();
    base.width = Math.max(1, Math.round(view.width * scale));
    base.height = Math.max(1, Math.round(painter.height * scale));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    painter.captions = [];
    const lit = litOperators(view);
    view.sides.forEach(drawHeader);
    if (painter.band) drawRibbons(pen, view, painter.band);
    for (const row of painter.rows) drawRow(row, lit[row.side]);
    drawAxis();
    drawScrollbar();
  }

  /* One line through all sides at the pointer, with its time on the axis. */
  function drawPointer() {
    if (view.pointerX === null || view.pointerX < painter.plotLeft) return;
    screen.fillStyle = view.palette.thumb;
    view.sides.forEach((side, sideIndex) => {
      const top = painter.rows.find((row) => row.side === sideIndex)?.top ?? side.bottom;
      screen.fillRect(Math.round(view.pointerX), top - 3, 1, side.bottom - top + 6);
    });
    if (view.mode === "aligned") return;
    const text = moment(timeAt(view.pointerX), view.to, (view.to - view.from) / 1000);
    const size = textWidth(text, 11, 600);
    const left = Math.min(Math.max(view.pointerX - size / 2, painter.plotLeft), view.width - size);
    const covered = tickTexts.filter(([start, end]) => start < left + size + 8 && end > left - 8);
    const [first, last] = [
      Math.min(left, ...covered.flat()),
      Math.max(left + size, ...covered.flat()),
    ];
    screen.fillStyle = view.palette.background;
    screen.fillRect(first - 2, painter.axisTop + 3, last - first + 4, 16);
    screen.font = font(11, 600);
    screen.fillStyle = view.palette.text;
    screen.fillText(text, left, painter.axisTop + 15);
  }

  let stale = true;

  function paint() {
    if (view.width === 0) return;
    if (stale || base.width !== Math.round(view.width * density())) {
      layOut();
      drawBase();
      stale = false;
    }
    if (canvas.width !== base.width || canvas.height !== base.height) {
      canvas.width = base.width;
      canvas.height = base.height;
    }
    screen.setTransform(1, 0, 0, 1, 0, 0);
    screen.clearRect(0, 0, canvas.width, canvas.height);
    screen.drawImage(base, 0, 0);
    screen.setTransform(density(), 0, 0, density(), 0, 0);
    drawRings(screen, view, painter, selectedCalls(view), true);
    if (view.printing) return;
    const over = view.overGroup ?? (view.cursor && groupOfCall(view, view.cursor));
    if (painter.band && over !== null) drawRibbonsOf(screen, view, painter.band, over);
    if (view.overGroup !== null) {
      drawRings(screen, view, painter, callsOfGroup(view, view.overGroup), false);
    }
    drawPointer();
    if (view.cursor) drawRings(screen, view, painter, [view.cursor], false);
  }

  return Object.assign(painter, {
    plotWidth,
    xOf,
    timeAt,
    rowOf,
    layOut,
    paint,
    invalidate: () => {
      stale = true;
    },
    readTheme: (root) => {
      view.palette = readPalette(root);
      textWidths = new Map();
      stale = true;
    },
  });
}
