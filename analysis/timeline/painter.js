/* Lays the timeline out on a canvas and draws it. Lengths are CSS pixels unless they say device. */

const HEADER_LINE = 20;
const LANE_GAP = 4;
const SIDE_GAP = 16;
const BAND_HEIGHT = { flow: 76, aligned: 34 };   // of the ribbons between two sides
const AXIS_HEIGHT = 24;
const SCROLLBAR_HEIGHT = 6;
const MAX_LANES_HEIGHT = 6000;   // browsers give up on canvases of some 16 000 device pixels
const THIN = 0.7;                // a box that is narrower than this gets this width
const DIMMED = 0.4;

/* `view` is the state to draw: {sides, groups, ribbons, mode, span, from, to, printing, selected,
   onlyClass, cursor, overGroup, pointerX, width}. The painter adds `palette` when it is asked to
   read the theme. */
function createPainter(canvas, view) {
  const screen = canvas.getContext("2d");
  // Boxes, texts and axis are drawn here once; what follows the pointer comes on top.
  const base = document.createElement("canvas");
  const pen = base.getContext("2d");
  const painter = { rows: [], captions: [], band: null, height: 0, plotLeft: 0 };
  let textWidths = new Map();
  let tickTexts = [];   // [left, right] of the texts on the axis

  const plotWidth = () => Math.max(1, view.width - painter.plotLeft);
  const xOf = (ns) => painter.plotLeft + ((ns - view.from) / (view.to - view.from)) * plotWidth();
  const timeAt = (x) => view.from + ((x - painter.plotLeft) / plotWidth()) * (view.to - view.from);
  const rowOf = (call) => painter.rows.find((row) => row.side === call.side && row.lane === call.lane);
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
    painter.captions.push({ left, right: left + room, top: baseline - size, bottom: baseline + 4, text });
  }

  function layOut() {
    const { sides, width } = view;
    const laneCount = sides.reduce((sum, side) => sum + side.lanes.length, 0);
    const roomy = laneCount <= sides.length ? 38 : laneCount <= 8 ? 28 : 20;
    const laneHeight = Math.max(1, Math.min(roomy, MAX_LANES_HEIGHT / Math.max(1, laneCount) - LANE_GAP));
    const named = sides.filter((side) => side.lanes.length > 1).flatMap((side) => side.laneLabels);
    const widest = named.reduce((most, label) => Math.max(most, textWidth(label, 11)), 0);
    const gutter = named.length > 0 && laneHeight >= 12;
    painter.plotLeft = gutter ? Math.ceil(Math.min(widest + 12, width * 0.2, 140)) : 0;
    painter.rows = [];
    let y = 0;
    painter.band = null;
    sides.forEach((side, sideIndex) => {
      // Ribbons need a free way to the second side: its text goes below its lanes.
      const below = view.mode !== "time" && sideIndex > 0;
      side.top = y;
      side.oneLine = textWidth(side.label, 14, 600) + 10 + textWidth(side.caption, 13) <= width;
      const header = (side.oneLine ? 1 : 2) * HEADER_LINE + 4;
      if (!below) y += header;
      side.lanes.forEach((_, lane) => {
        painter.rows.push({ side: sideIndex, lane, top: y, height: laneHeight });
        y += laneHeight + LANE_GAP;
      });
      side.bottom = y - LANE_GAP;
      y = side.bottom + SIDE_GAP;
      if (view.mode !== "time" && sideIndex === 0) {
        y = side.bottom + BAND_HEIGHT[view.mode];
        painter.band = { xOf, left: painter.plotLeft, right: width, top: side.bottom, bottom: y };
      }
      if (below) {
        side.top = side.bottom + 4;
        y = side.top + header + SIDE_GAP - 8;
      }
    });
    painter.axisTop = Math.max(0, y - SIDE_GAP) + 4;
    painter.height = Math.ceil(painter.axisTop + AXIS_HEIGHT + SCROLLBAR_HEIGHT);
    canvas.style.height = `${painter.height}px`;
  }

  /* Boxes lie on whole device pixels: crisp, and where several calls share a pixel the one at
     its centre shows, so that colours keep the proportions of time. A call too short to get a
     pixel that way is drawn all the same, but at most every third pixel goes to such calls: they
     must neither vanish nor take over. In a crowd a fixed noise decides which, so that a repeating
     pattern does not always favour its first. Returns the calls with room for a text. */
  function drawBoxes(row, isLit) {
    const side = view.sides[row.side];
    const lane = side.lanes[row.lane];
    const scale = density();
    const line = Math.max(1, Math.round(scale));
    const thin = Math.max(1, Math.round(THIN * scale));
    const perNs = (plotWidth() * scale) / (view.to - view.from);
    const edgeOf = (ns) => Math.round((ns - view.from) * perNs);
    const rightmost = Math.round(plotWidth() * scale) + 2;
    const origin = Math.round(painter.plotLeft * scale);
    const y = Math.round(row.top * scale);
    const boxHeight = Math.max(1, Math.round((row.top + row.height) * scale) - y);
    const spacious = [];
    const widened = [];
    const paintBox = (left, width, colour, lit) => {
      pen.globalAlpha = lit ? 1 : DIMMED;
      pen.fillStyle = colour;
      pen.fillRect(origin + left, y, width, boxHeight);
    };
    let allowance = 4;
    let lastThin = -Infinity;
    for (let i = firstWhere(lane.count, (at) => lane.latest[at] > view.from); i < lane.count && lane.start[i] < view.to; i++) {
      if (lane.end[i] < view.from) continue;
      const left = Math.max(-2, edgeOf(lane.start[i]));
      let width = Math.min(rightmost, edgeOf(lane.end[i])) - left;
      const op = lane.op[i];
      const colours = view.palette.classes[side.classOf[op]];
      const lit = isLit(row.side, op);
      if (width < thin) {
        allowance = Math.min(4, allowance + Math.max(0, left - lastThin) / 3);
        lastThin = left;
        if (allowance >= 1 + ((i * 0.618034) % 1)) {
          allowance -= 1;
          widened.push([left, thin, colours.fill, lit]);
          continue;
        } else if (width < 1) continue;
      }
      // Neighbours that touch are kept apart by a line of the track.
      const touches = i + 1 < lane.count && edgeOf(lane.start[i + 1]) <= left + width;
      if (touches && width >= 4 * line) width -= line;
      if (colours.edge && lit && width >= 4 * line) {
        paintBox(left, width, colours.edge, lit);
        pen.fillStyle = colours.fill;
        pen.fillRect(origin + left + line, y + line, width - 2 * line, boxHeight - 2 * line);
      } else {
        paintBox(left, width, colours.fill, lit);
      }
      if (width >= 22 * scale && row.height >= 14) spacious.push(i);
    }
    // Last, since the neighbour that follows begins on the same pixel.
    for (const box of widened) paintBox(...box);
    return spacious;
  }

  /* Name and duration inside the box where they fit, else the op type, else nothing. */
  function drawBoxTexts(row, calls, isLit) {
    const side = view.sides[row.side];
    const lane = side.lanes[row.lane];
    const middle = row.top + row.height / 2;
    pen.globalAlpha = 1;
    for (const i of calls) {
      const op = lane.op[i];
      const left = Math.max(painter.plotLeft, xOf(lane.start[i])) + 6;
      const room = Math.min(view.width, xOf(lane.end[i])) - left - 6;
      const text = [side.ops.name[op], side.ops.op_type[op]].map(plainText)
        .find((each) => each !== "" && textWidth(each, 11) <= room);
      if (text === undefined) continue;
      const time = duration(lane.end[i] - lane.start[i]);
      const twoLines = row.height >= 34 && textWidth(time, 10) <= room;
      const ink = isLit(row.side, op) ? view.palette.classes[side.classOf[op]].ink : view.palette.muted;
      write(text, left, twoLines ? middle - 2 : middle + 4, 11, 400, ink);
      if (twoLines) write(time, left, middle + 11, 10, 400, ink);
    }
  }

  function drawRow(row, isLit) {
    const side = view.sides[row.side];
    const scale = density();
    pen.save();
    pen.beginPath();
    pen.rect(painter.plotLeft, row.top, plotWidth(), row.height);
    pen.clip();
    pen.fillStyle = view.palette.track;   // what stays visible of it is time in no operator
    const end = view.mode === "aligned" ? view.span : side.dur;
    pen.fillRect(painter.plotLeft, row.top, xOf(Math.min(end, view.to)) - painter.plotLeft, row.height);
    if (view.mode === "aligned") drawGaps(pen, view, row.side, xOf, row.top, row.height);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    const spacious = drawBoxes(row, isLit);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    drawBoxTexts(row, spacious, isLit);
    if (side.lanes[row.lane].count === 0) {
      write("no operator with a start time", painter.plotLeft + 6, row.top + row.height / 2 + 4, 11, 400, view.palette.muted);
    }
    pen.restore();
    if (painter.plotLeft > 0 && side.lanes.length > 1) {
      const baseline = row.top + row.height / 2 + 4;
      writeCaption(side.laneLabels[row.lane], 0, baseline, painter.plotLeft - 8, 11, 400, view.palette.muted);
    }
  }

  function drawHeader(side) {
    const { text, muted } = view.palette;
    const baseline = side.top + 15;
    writeCaption(side.label, 0, baseline, view.width, 14, 600, text);
    const left = side.oneLine ? textWidth(side.label, 14, 600) + 10 : 0;
    writeCaption(side.caption, left, baseline + (side.oneLine ? 0 : HEADER_LINE), view.width - left + 1, 13, 400, muted);
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
        if (side.bottom !== painter.band?.top) pen.fillRect(Math.min(Math.round(x), view.width - 1), side.bottom + 1, 1, 4);
      }
      const text = label(k * step);
      const left = Math.min(Math.max(x - textWidth(text, 11) / 2, painter.plotLeft), view.width - textWidth(text, 11));
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
    pen.fillRect(painter.plotLeft + (view.from / (view.span - size)) * (plotWidth() - thumb), top, thumb, 4);
  }

  function drawBase() {
    const scale = density();
    base.width = Math.max(1, Math.round(view.width * scale));
    base.height = Math.max(1, Math.round(painter.height * scale));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    painter.captions = [];
    const isLit = litTest(view);
    view.sides.forEach(drawHeader);
    if (painter.band) drawRibbons(pen, view, painter.band);
    for (const row of painter.rows) drawRow(row, isLit);
    drawAxis();
    drawScrollbar();
  }

  /* A ring around each call, at least 3 px wide; a thin selected one gets a mark above as well.
     Where rings would lie on each other, the first stands for all. */
  function drawRings(calls, strong) {
    const reached = new Map();   // row -> right end of its last ring
    screen.save();
    screen.beginPath();
    screen.rect(Math.max(0, painter.plotLeft - 3), 0, plotWidth() + 3, painter.height);
    screen.clip();
    for (const call of calls) {
      const row = rowOf(call);
      const lane = view.sides[call.side].lanes[call.lane];
      if (lane.end[call.index] < view.from || lane.start[call.index] > view.to) continue;
      const start = Math.max(painter.plotLeft - 4, xOf(lane.start[call.index]));
      const end = Math.min(view.width + 4, xOf(lane.end[call.index]));
      const spare = Math.max(0, 3 - (end - start)) / 2;
      if (end + spare <= (reached.get(row) ?? -Infinity) + 1) continue;
      reached.set(row, end + spare);
      drawRing(row, start - spare, end - start + 2 * spare, strong);
    }
    screen.restore();
  }

  function drawRing(row, left, size, strong) {
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

  /* One line through all sides at the pointer, with its time on the axis. */
  function drawPointer() {
    if (view.pointerX === null || view.pointerX < painter.plotLeft) return;
    screen.fillStyle = view.palette.thumb;
    view.sides.forEach((side, sideIndex) => {
      const top = painter.rows.find((row) => row.side === sideIndex).top;
      screen.fillRect(Math.round(view.pointerX), top - 3, 1, side.bottom - top + 6);
    });
    if (view.mode === "aligned") return;
    const text = moment(timeAt(view.pointerX), view.to, (view.to - view.from) / 1000);
    const size = textWidth(text, 11, 600);
    const left = Math.min(Math.max(view.pointerX - size / 2, painter.plotLeft), view.width - size);
    const covered = tickTexts.filter(([start, end]) => start < left + size + 8 && end > left - 8);
    const [first, last] = [Math.min(left, ...covered.flat()), Math.max(left + size, ...covered.flat())];
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
    drawRings(selectedCalls(view), true);
    if (view.printing) return;
    const over = view.overGroup ?? (view.cursor && groupOfCall(view, view.cursor));
    if (painter.band && over !== null) drawRibbonsOf(screen, view, painter.band, over);
    if (view.overGroup !== null) drawRings(callsOfGroup(view, view.overGroup), false);
    drawPointer();
    if (view.cursor) drawRings([view.cursor], false);
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
