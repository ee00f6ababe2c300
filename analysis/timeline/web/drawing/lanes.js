/* A side's lanes and the text above them. `sheet` is what they are drawn on (sheet.js). */

import { HOST, showsHost } from "../data/host.js";
import { windowOf } from "../data/view.js";
import { say } from "../data/words.js";
import { contentOf, drawBoxes, drawBoxTexts, drawMarks } from "./boxes.js";
import { HEADER_LINE, SIDE_INDENT, SIDE_MARK } from "./layout.js";
import { drawGaps } from "./ribbons.js";

export function drawRow(sheet, row, lit) {
  const { pen, view, painter } = sheet;
  const side = view.sides[row.side];
  const scale = sheet.density();
  pen.save();
  pen.beginPath();
  pen.rect(painter.plotLeft, row.top, painter.plotWidth(), row.height);
  pen.clip();
  pen.fillStyle = view.palette.track; // what stays visible of it is time in no operator
  const end = view.mode === "aligned" ? view.span : side.dur;
  const isHost = row.lane === HOST; // empty while the device runs: a line alone
  pen.fillRect(
    painter.plotLeft,
    isHost ? row.top + row.height - 1 : row.top,
    Math.max(
      0,
      painter.xOf(Math.min(end, windowOf(view, row.side).to), row.side) - painter.plotLeft,
    ),
    isHost ? 1 : row.height,
  );
  if (view.mode === "aligned") drawGaps(pen, view, row.side, painter.xOf, row.top, row.height);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  const content = contentOf(view, row, lit);
  const spacious = drawBoxes(sheet, row, content);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  drawMarks(sheet, row);
  drawBoxTexts(sheet, row, spacious, content);
  if (!isHost && side.callsCount === undefined && side.lanes.every(({ count }) => count === 0)) {
    sheet.write(
      say("no_operator"),
      painter.plotLeft + 6,
      row.top + row.height / 2 + 4,
      11,
      400,
      view.palette.muted,
    );
  }
  pen.restore();
  if (painter.plotLeft > 0 && (side.lanes.length > 1 || showsHost(view, side))) {
    const baseline = row.top + row.height / 2 + 4;
    sheet.writeCaption(
      isHost ? say("host_lane") : side.laneLabels[row.lane],
      0,
      baseline,
      painter.plotLeft - 8,
      11,
      400,
      view.palette.muted,
    );
  }
}

export function drawHeader(sheet, side) {
  const { pen, view } = sheet;
  const { text, muted } = view.palette;
  const baseline = side.top + 15;
  pen.fillStyle = view.palette.sides[side.id] ?? muted;
  pen.beginPath(); // round, as in the charts: squares are classes of operators
  pen.arc(SIDE_MARK, baseline - SIDE_MARK, SIDE_MARK, 0, 2 * Math.PI);
  pen.fill();
  sheet.writeCaption(side.label, SIDE_INDENT, baseline, view.width - SIDE_INDENT, 14, 600, text);
  const left = side.oneLine ? SIDE_INDENT + sheet.textWidth(side.label, 14, 600) + 10 : SIDE_INDENT;
  side.captionLines.forEach((line, i) => {
    const down = (side.oneLine ? 0 : i + 1) * HEADER_LINE;
    sheet.writeCaption(line, left, baseline + down, view.width - left + 1, 13, 400, muted);
  });
}
