/* Lays the timeline out on a canvas and draws it. Lengths are CSS pixels unless they say device. */

import { drawAxis, drawPointer } from "./axis.js";
import { drawHeader, drawRow } from "./lanes.js";
import { drawLaunches } from "./launches.js";
import { drawStretch } from "./marks.js";
import { layOutSides } from "./layout.js";
import { createMinimap } from "./minimap.js";
import { readPalette } from "./palette.js";
import { drawRibbons, drawRibbonsOf } from "./ribbons.js";
import { drawRings } from "./rings.js";
import { createSheet } from "./sheet.js";
import { windowOf } from "../data/view.js";
import {
  callsOfGroup,
  groupOfCall,
  litOperators,
  pointedCalls,
  selectedCalls,
} from "../data/selection.js";

/* `view` is the state to draw: {sides, groups, ribbons, mode, span, from, to, own, printing, selected,
   onlyClass, cursor, overGroup, pointerX, width}. The painter adds `palette` when it is asked to
   read the theme. */
export function createPainter(canvas, view) {
  const screen = canvas.getContext("2d");
  const painter = {
    rows: [],
    rowsOf: [],
    axes: [],
    captions: [],
    band: null,
    map: { top: 0, height: 0 },
    height: 0,
    plotLeft: 0,
    launches: null, // of what is selected, as launches.js says
  };
  // Boxes, texts and axis are drawn here once; what follows the pointer comes on top.
  const sheet = createSheet(view, painter);
  const base = sheet.canvas;
  const drawMinimap = createMinimap();
  let tickTexts = []; // for each axis, [left, right] of its texts

  const plotWidth = () => Math.max(1, view.width - painter.plotLeft);
  // Of a side, where it may have an axis of its own.
  function xOf(ns, side) {
    const { from, to } = windowOf(view, side);
    return painter.plotLeft + ((ns - from) / (to - from)) * plotWidth();
  }
  function timeAt(x, side) {
    const { from, to } = windowOf(view, side);
    return from + ((x - painter.plotLeft) / plotWidth()) * (to - from);
  }
  /* The side that a height is of, also on its axis and in the map; -1 where all have one axis. */
  function sideAt(y) {
    if (view.own === null) return -1;
    if (y >= painter.map.top) {
      const row = Math.floor(((y - painter.map.top) / painter.map.height) * view.sides.length);
      return Math.min(view.sides.length - 1, row);
    }
    return Math.max(0, view.sides.findLastIndex(({ zoneTop }) => zoneTop <= y));
  }
  const onAxis = (y) => painter.axes.some(({ top, bottom }) => y >= top && y < bottom);
  // Undefined for a call in a lane that is folded away.
  const rowOf = (call) => painter.rowsOf[call.side]?.[call.lane];

  function layOut() {
    layOutSides(view, painter, sheet.textWidth);
    canvas.style.height = `${painter.height}px`;
  }

  function drawBase() {
    const { pen } = sheet;
    const scale = sheet.density();
    base.width = Math.max(1, Math.round(view.width * scale));
    base.height = Math.max(1, Math.round(painter.height * scale));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    painter.captions = [];
    const lit = litOperators(view);
    for (const side of view.sides) drawHeader(sheet, side);
    if (painter.band) drawRibbons(pen, view, painter.band);
    for (const row of painter.rows) drawRow(sheet, row, lit[row.side]);
    tickTexts = painter.axes.map((axis) => drawAxis(sheet, axis));
    drawMinimap(sheet);
  }

  let stale = true;

  function paint() {
    if (view.width === 0) return;
    if (stale || base.width !== Math.round(view.width * sheet.density())) {
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
    screen.setTransform(sheet.density(), 0, 0, sheet.density(), 0, 0);
    drawStretch(screen, view, painter);
    painter.launches = drawLaunches(screen, view, painter, pointedCalls(view));
    drawRings(screen, view, painter, selectedCalls(view), true);
    if (view.printing) return;
    const over = view.overGroup ?? (view.cursor && groupOfCall(view, view.cursor));
    if (painter.band && over !== null) drawRibbonsOf(screen, view, painter.band, over);
    if (view.overGroup !== null) {
      drawRings(screen, view, painter, callsOfGroup(view, view.overGroup), false);
    }
    drawPointer(sheet, screen, tickTexts);
    if (view.cursor) drawRings(screen, view, painter, [view.cursor], false);
  }

  return Object.assign(painter, {
    plotWidth,
    xOf,
    timeAt,
    sideAt,
    onAxis,
    rowOf,
    layOut,
    paint,
    invalidate: () => {
      stale = true;
    },
    readTheme: (root) => {
      view.palette = readPalette(root);
      sheet.forgetWidths();
      stale = true;
    },
  });
}
