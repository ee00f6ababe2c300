/* The call or group that the pointer or the keyboard is at, and its tooltip. */

import { selectedCalls } from "../data/selection.js";
import { spoken } from "../page/tooltip.js";
import { callFrom, extent, windowOf } from "../data/view.js";

/* `unfold` brings the lane of a call into view. */
export function createCursor(
  root,
  view,
  { canvas, painter, tooltip, live, timeWindow, unfold, redraw },
) {
  function set(call, clientX, clientY) {
    const old = view.cursor;
    const same = call !== null && old !== null &&
      ["side", "lane", "index", "bin"].every((part) => call[part] === old[part]);
    view.cursor = call;
    if (call === null) tooltip.close();
    else {
      if (!same) tooltip.fill(call);
      tooltip.open(clientX, clientY);
    }
    if (!same) redraw(false);
  }

  function setGroup(group) {
    if (group !== null && group !== view.overGroup) tooltip.fillGroup(group);
    view.overGroup = group;
    root.dataset.overGroup = group ?? "";
  }

  function clear() {
    set(null);
    setGroup(null);
  }

  /* Moves the keyboard's call and says it aloud. */
  function stepTo(call) {
    if (call === null) return;
    const [start, end] = extent(view, call);
    timeWindow.activate(call.side);
    timeWindow.reveal(start, end, call.side);
    setAt(call, start, end);
  }

  /* The keyboard's call is the one that starts then, wherever its lane has it by now. */
  function setAt(place, start, end) {
    const call = callFrom(view, place, start);
    view.pointerX = null;
    if (call === null) return set(null);
    setGroup(null);
    const box = canvas.getBoundingClientRect();
    painter.layOut();
    const row = painter.rowOf(call);
    const { from, to } = windowOf(view, call.side);
    const x = (painter.xOf(Math.max(from, start), call.side) +
      painter.xOf(Math.min(to, end), call.side)) / 2;
    set({ ...call, by: "keyboard" }, box.left + x, box.top + row.top + row.height - 8);
    live.textContent = spoken(view, call);
  }

  /* Goes to a call that starts then; once it is here, where it is not yet. */
  function seek(place, start, end) {
    view.sought = { place, start, end };
    findSought();
  }

  function findSought() {
    if (view.sought === null) return;
    const { place, start, end } = view.sought;
    unfold(place);
    if (callFrom(view, place, start) === null) return;
    view.sought = null;
    setAt(place, start, end);
  }

  function zoomTo() {
    const call = view.cursor ?? selectedCalls(view)[0];
    if (!call) return;
    const [start, end] = extent(view, call);
    timeWindow.show(start - (end - start), end + (end - start), call.side);
    if (call.by === "keyboard") stepTo(call);
  }

  return { set, setGroup, clear, stepTo, setAt, seek, findSought, zoomTo };
}
