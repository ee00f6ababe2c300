/* Where sides, lanes and axis of the timeline lie, in CSS pixels. */

import { HOST, showsHost } from "../data/host.js";
import { wrapped } from "../data/text.js";
import { say } from "../data/words.js";

export const HEADER_LINE = 20;
export const SIDE_MARK = 5; // radius of the dot in the side's colour before its label
export const SIDE_INDENT = 2 * SIDE_MARK + 7;
const MOST_CAPTION_LINES = 6;
const LANE_GAP = 4;
const MOST_HOST_HEIGHT = 24;
const HOST_GAP = 8; // more, for the lines from launches
const SIDE_GAP = 16;
const BAND_HEIGHT = { flow: 76, aligned: 34 }; // of the ribbons between two sides
const AXIS_HEIGHT = 24;
const MAP_HEIGHT = { gap: 4, side: 14, most: 42 }; // of all of the time in small
const MAX_LANES_HEIGHT = 6000; // browsers give up on canvases of some 16 000 device pixels

/* Sets the places of sides, lanes, ribbons and axes on `painter` and the sides; `textWidth` measures
   text in a font size. */
export function layOutSides(view, painter, textWidth) {
  const { sides, width } = view;
  const shownLanes = sides.map((side) =>
    Array.from(side.lanes.keys()).filter((lane) => view.unfolded || !side.smallLanes[lane])
  );
  const laneCount = shownLanes.reduce((sum, lanes) => sum + lanes.length, 0);
  const roomy = laneCount <= sides.length ? 38 : laneCount <= 8 ? 28 : 20;
  const laneHeight = Math.max(
    1,
    Math.min(roomy, MAX_LANES_HEIGHT / Math.max(1, laneCount) - LANE_GAP),
  );
  const named = sides.flatMap((
    side,
    sideIndex,
  ) => [
    ...(side.lanes.length > 1 || showsHost(view, side)
      ? shownLanes[sideIndex].map((lane) => side.laneLabels[lane])
      : []),
    ...(showsHost(view, side) ? [say("host_lane")] : []),
  ]);
  const widest = named.reduce((most, label) => Math.max(most, textWidth(label, 11)), 0);
  const gutter = named.length > 0 && laneHeight >= 12;
  painter.plotLeft = gutter ? Math.ceil(Math.min(widest + 12, width * 0.2, 140)) : 0;
  painter.rows = [];
  painter.rowsOf = sides.map(() => []);
  let y = 0;
  painter.band = null;
  painter.axes = []; // {side, top, bottom, above}: side -1 for all; above its lanes or below
  const addAxis = (side, top, above = false) => {
    painter.axes.push({ side, top, bottom: top + AXIS_HEIGHT, above });
    return top + AXIS_HEIGHT;
  };
  sides.forEach((side, sideIndex) => {
    // Ribbons need a free way to the second side: its text goes below its lanes.
    const below = view.mode !== "time" && sideIndex > 0;
    side.top = side.zoneTop = y;
    side.oneLine =
      SIDE_INDENT + textWidth(side.label, 14, 600) + 10 + textWidth(side.caption, 13) <= width;
    side.captionLines = side.oneLine
      ? [side.caption]
      : wrapped(side.caption, width - SIDE_INDENT, MOST_CAPTION_LINES, (part) =>
        textWidth(part, 13));
    const header = (side.oneLine ? 1 : 1 + side.captionLines.length) * HEADER_LINE + 4;
    if (!below) y += header;
    // Ribbons begin below the first side's lanes: its own axis is above them.
    const isAbove = view.own !== null && view.mode !== "time" && sideIndex === 0;
    if (isAbove) y = addAxis(sideIndex, y, true);
    for (const lane of shownLanes[sideIndex]) {
      const row = { side: sideIndex, lane, top: y, height: laneHeight };
      painter.rows.push(row);
      painter.rowsOf[sideIndex][lane] = row;
      y += laneHeight + LANE_GAP;
    }
    if (showsHost(view, side)) {
      const height = Math.min(laneHeight, MOST_HOST_HEIGHT);
      y += HOST_GAP;
      const row = { side: sideIndex, lane: HOST, top: y, height };
      painter.rows.push(row);
      painter.rowsOf[sideIndex][HOST] = row;
      y += height + LANE_GAP;
    }
    side.bottom = y - LANE_GAP;
    y = side.bottom + SIDE_GAP;
    if (view.own !== null && !isAbove && sideIndex < sides.length - 1) {
      y = addAxis(sideIndex, side.bottom + 4) + SIDE_GAP - 8;
    }
    if (view.mode !== "time" && sideIndex === 0) {
      y = side.bottom + BAND_HEIGHT[view.mode];
      painter.band = {
        xOf: painter.xOf,
        left: painter.plotLeft,
        right: width,
        top: side.bottom,
        bottom: y,
      };
    }
    if (below) {
      side.top = side.bottom + 4;
      y = side.top + header + SIDE_GAP - 8;
    }
  });
  const last = Math.max(0, y - SIDE_GAP) + 4;
  const bottom = addAxis(view.own === null ? -1 : sides.length - 1, last);
  const height = Math.min(MAP_HEIGHT.most, MAP_HEIGHT.side * Math.max(1, sides.length));
  painter.map = { top: bottom + MAP_HEIGHT.gap, height };
  painter.height = Math.ceil(painter.map.top + height);
}
