/* Pointer and wheel: hover, click, drag and zoom on the canvas. */

import { callAt } from "../data/calls.js";
import { laneAt } from "../data/host.js";
import { binAt } from "../data/picture.js";
import { ribbonAt } from "../drawing/ribbons.js";
import { windowOf } from "../data/view.js";
import { callIn } from "./steps.js";

const REACH = 3; // px beside a thin box where the pointer still finds it
const CLICK_SLOP = 4;

export function createPointer(view, { canvas, painter, tooltip, cursor, redraw }) {
  function placeOf(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function callUnder(event) {
    const [x, y] = placeOf(event);
    const row = painter.rows.find((each) => y >= each.top - 1 && y < each.top + each.height + 1);
    if (!row || x < painter.plotLeft || x > view.width) return null;
    const { from, to } = windowOf(view, row.side);
    const nsPerPx = (to - from) / painter.plotWidth();
    const time = painter.timeAt(x, row.side);
    const index = callAt(
      laneAt(view, row),
      time,
      REACH * nsPerPx,
      3 * REACH * nsPerPx,
    );
    const by = event.pointerType === "touch" ? "touch" : "pointer";
    if (index >= 0) return { ...callIn(row, index), by };
    const bin = binAt(laneAt(view, row), time);
    return bin < 0 ? null : { side: row.side, lane: row.lane, bin, by };
  }

  const groupUnder = (
    event,
  ) => (painter.band ? ribbonAt(view, painter.band, ...placeOf(event), REACH) : null);

  function hover(event) {
    const [x, y] = placeOf(event);
    view.pointerX = x;
    const call = callUnder(event);
    cursor.set(call, event.clientX, event.clientY);
    cursor.setGroup(call === null ? groupUnder(event) : null);
    if (view.overGroup !== null) tooltip.open(event.clientX, event.clientY);
    canvas.dataset.over = call || view.overGroup !== null ? "box" : "";
    const cut = painter.captions.find((each) =>
      x >= each.left && x <= each.right && y >= each.top && y <= each.bottom
    );
    if (!call && view.overGroup === null && cut) {
      tooltip.fillText(cut.text);
      tooltip.open(event.clientX, event.clientY);
    }
    redraw(false);
  }

  function leave() {
    view.pointerX = null;
    cursor.setGroup(null);
    if (!view.cursor || view.cursor.by === "pointer") cursor.set(null);
    redraw(false);
  }

  return { placeOf, callUnder, groupUnder, hover, leave };
}

export function listenToPointer(
  on,
  view,
  { canvas, painter, cursor, pointer, timeWindow, picking, stretch },
) {
  let drag = null;
  /* The time at a place of the map comes into the middle of the view. */
  const moveTo = (x, side) => {
    const middle = ((x - painter.plotLeft) / painter.plotWidth()) * view.span;
    const { from, to } = windowOf(view, side);
    timeWindow.show(middle - (to - from) / 2, middle + (to - from) / 2, side);
  };
  function timeOf(x, side) {
    const { from, to } = windowOf(view, side);
    return Math.min(to, Math.max(from, painter.timeAt(x, side)));
  }
  on(canvas, "pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = pointer.placeOf(event);
    view.sought = null;
    const onMap = y >= painter.map.top;
    const side = painter.sideAt(y);
    timeWindow.activate(side);
    if (onMap) moveTo(x, side);
    const selects = !onMap && view.mode !== "aligned" && (event.shiftKey || painter.onAxis(y));
    const { from, to } = windowOf(view, side);
    drag = {
      side,
      x: event.clientX,
      from,
      to,
      moved: false,
      selects,
      onMap,
      at: timeOf(x, side),
    };
    canvas.setPointerCapture(event.pointerId);
  });
  on(canvas, "pointermove", (event) => {
    if (drag === null) return pointer.hover(event);
    if (drag.onMap) return moveTo(pointer.placeOf(event)[0], drag.side);
    drag.moved ||= Math.abs(event.clientX - drag.x) > CLICK_SLOP;
    if (!drag.moved) return;
    view.pointerX = null;
    cursor.clear();
    if (drag.selects) {
      canvas.dataset.over = "select";
      stretch.draw(drag.at, timeOf(pointer.placeOf(event)[0], drag.side), drag.side);
      return;
    }
    canvas.dataset.over = "drag";
    const shift = ((drag.x - event.clientX) / painter.plotWidth()) * (drag.to - drag.from);
    timeWindow.show(drag.from + shift, drag.to + shift, drag.side);
  });
  on(canvas, "pointerup", (event) => {
    if (drag?.moved && drag.selects) {
      stretch.select(drag.at, timeOf(pointer.placeOf(event)[0], drag.side), drag.side);
    } else if (drag && !drag.moved && !drag.onMap) {
      const call = pointer.callUnder(event);
      picking.pick(call, call === null ? pointer.groupUnder(event) : null);
    }
    drag = null;
    pointer.hover(event);
  });
  on(canvas, "pointercancel", () => {
    if (drag?.moved && drag.selects) stretch.clear();
    drag = null;
    pointer.leave();
  });
  on(canvas, "pointerleave", pointer.leave);
  on(canvas, "dblclick", timeWindow.showAll);
  on(canvas, "blur", () => {
    if (view.cursor && view.cursor.by !== "pointer") cursor.set(null);
  });
}

export function listenToWheel(on, view, { canvas, painter, pointer, timeWindow }) {
  const pxOf = (event) =>
    event.deltaMode === WheelEvent.DOM_DELTA_LINE
      ? 16
      : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
      ? 400
      : 1;
  on(canvas, "wheel", (event) => {
    const focused = canvas.getRootNode().activeElement === canvas;
    if (!focused && !event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    const unit = pxOf(event);
    const [x, y] = pointer.placeOf(event);
    const side = painter.sideAt(y);
    timeWindow.activate(side);
    const [sideways, down] = event.shiftKey
      ? [event.deltaX || event.deltaY, 0]
      : [event.deltaX, event.deltaY];
    if (Math.abs(sideways) > Math.abs(down)) {
      timeWindow.pan((sideways * unit * (view.to - view.from)) / painter.plotWidth(), side);
    } else {
      // A pinch arrives as many small steps with Ctrl set, a wheel as few large ones.
      const speed = event.ctrlKey && Math.abs(down) < 30 ? 0.01 : 0.002;
      const factor = Math.exp(Math.max(-400, Math.min(400, down * unit)) * speed);
      timeWindow.zoom(factor, painter.timeAt(x, side), side);
    }
    pointer.hover(event);
  }, { passive: false });
}
