/* A side's lanes and the text above them. `sheet` is what they are drawn on (sheet.js). */

import { say } from "../data/words.js";
import { drawBoxes, drawBoxTexts } from "./boxes.js";
import { HEADER_LINE, SIDE_INDENT, SIDE_MARK } from "./layout.js";
import { drawGaps } from "./ribbons.js";

const HATCH = 6; // px between the lines over time that is not drawn

/* Lines over the time from `start` to `end` in which calls are not drawn: it was not idle. */
function drawHatch(sheet, row, start, end) {
  const { pen, view, painter } = sheet;
  const left = Math.max(painter.plotLeft, painter.xOf(start));
  const right = Math.min(view.width, painter.xOf(end));
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
  const size = sheet.textWidth(text, 11) + 12;
  if (row.height < 14 || right - left < size + 8) return;
  const middle = (left + right) / 2;
  pen.fillStyle = view.palette.background;
  pen.fillRect(middle - size / 2, row.top + 2, size, row.height - 4);
  sheet.write(
    text,
    middle - size / 2 + 6,
    row.top + row.height / 2 + 4,
    11,
    400,
    view.palette.text,
  );
}

export function drawRow(sheet, row, lit) {
  const { pen, view, painter } = sheet;
  const side = view.sides[row.side];
  const scale = sheet.density();
  pen.save();
  pen.beginPath();
  pen.rect(painter.plotLeft, row.top, painter.plotWidth(), row.height);
  pen.clip();
  pen.fillStyle = view.palette.track; // what stays visible of it is time in no operator
  const end = view.mode === "aligned" ? view.span : side.notDrawn > 0 ? side.shown : side.dur;
  pen.fillRect(
    painter.plotLeft,
    row.top,
    Math.max(0, painter.xOf(Math.min(end, view.to)) - painter.plotLeft),
    row.height,
  );
  if (side.notDrawn > 0) drawHatch(sheet, row, side.shown, side.dur);
  if (view.mode === "aligned") drawGaps(pen, view, row.side, painter.xOf, row.top, row.height);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  const spacious = drawBoxes(sheet, row, lit);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  drawBoxTexts(sheet, row, spacious, lit);
  if (side.lanes[row.lane].count === 0) {
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
  if (painter.plotLeft > 0 && side.lanes.length > 1) {
    const baseline = row.top + row.height / 2 + 4;
    sheet.writeCaption(
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
  sheet.writeCaption(
    side.caption,
    left,
    baseline + (side.oneLine ? 0 : HEADER_LINE),
    view.width - left + 1,
    13,
    400,
    muted,
  );
}
