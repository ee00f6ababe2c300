/* Keys on the canvas. */

import { across, neighbour } from "./steps.js";

export function listenToKeys(
  on,
  view,
  { canvas, painter, cursor, timeWindow, picking, stretch, search, help },
) {
  const { zoom } = timeWindow;
  const zoomAtPointer = (factor) =>
    zoom(factor, view.pointerX === null ? undefined : painter.timeAt(view.pointerX, view.active));
  const panBy = (part) => timeWindow.pan((view.to - view.from) * part);
  const step = (to, by) => cursor.stepTo(to(view, painter.rows, by));
  const pickCursor = () => view.cursor && picking.pick(view.cursor);
  const KEYS = {
    ArrowLeft: () => panBy(-1 / 8),
    ArrowRight: () => panBy(1 / 8),
    a: () => panBy(-1 / 8),
    d: () => panBy(1 / 8),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    w: () => zoomAtPointer(0.5),
    s: () => zoomAtPointer(2),
    0: timeWindow.showAll,
    f: () => (view.cursor || view.selected ? cursor.zoomTo() : timeWindow.showAll()),
    "/": search.focus,
    "?": help.open,
    x: stretch.selectShown,
    l: timeWindow.toggleOwn,
    v: timeWindow.nextSide,
    "]": () => step(neighbour, 1),
    "[": () => step(neighbour, -1),
    ArrowDown: (event) => step(event.shiftKey ? across : neighbour, 1),
    ArrowUp: (event) => step(event.shiftKey ? across : neighbour, -1),
    Enter: pickCursor,
    " ": pickCursor,
    Escape: () => {
      cursor.set(null);
      picking.pick(null);
      stretch.clear();
    },
  };
  on(canvas, "keydown", (event) => {
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action(event);
  });
}
