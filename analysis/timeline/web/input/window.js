/* The window of time that is drawn, and the buttons that change it. */

import { button, element } from "../page/elements.js";
import { duration, moment } from "../data/text.js";
import { say } from "../data/words.js";

const MIN_WINDOW_NS = 10;

/* `onMove` is called when another time is shown, `onSelect` to select it. */
export function createWindow(root, view, { redraw, onMove, onSelect }) {
  const range = element("span", "fst-range");
  const zoomOut = button(say("zoom_out"), "−", () => zoom(2));
  const zoomIn = button(say("zoom_in"), "+", () => zoom(0.5));
  const reset = button(say("reset_zoom"), say("reset"), () => showAll());
  const select = button(say("select_shown"), say("select"), onSelect);
  const tools = element("div", "fst-tools");
  tools.append(range, select, zoomOut, zoomIn, reset);

  function rangeText(size) {
    if (view.mode === "aligned") return say("wide", { time: duration(size) });
    if (size >= view.span) return say("from_to", { start: "0", end: duration(view.span) });
    const point = (ns) => moment(ns, view.to, size / 1000);
    return say("from_to", { start: point(view.from), end: point(view.to) });
  }

  function show(from, to) {
    const size = Math.min(view.span, Math.max(MIN_WINDOW_NS, to - from));
    view.from = Math.min(Math.max(0, from), view.span - size);
    view.to = view.from + size;
    root.dataset.fromNs = Math.round(view.from);
    root.dataset.toNs = Math.round(view.to);
    range.textContent = rangeText(size);
    reset.disabled = zoomOut.disabled = size >= view.span;
    zoomIn.disabled = size <= MIN_WINDOW_NS;
    select.disabled = view.mode === "aligned";
    onMove();
    redraw();
  }

  const showAll = () => show(0, view.span);
  const pan = (ns) => show(view.from + ns, view.to + ns);

  /* `factor` below 1 zooms in; the time `at` stays where it is. */
  function zoom(factor, at = (view.from + view.to) / 2) {
    const size = view.to - view.from;
    const wanted = Math.min(view.span, Math.max(MIN_WINDOW_NS, size * factor));
    const from = at - ((at - view.from) / size) * wanted;
    show(from, from + wanted);
  }

  /* Brings [start, end] into view if it is not, and zooms out only if it has to. */
  function reveal(start, end) {
    const size = view.to - view.from;
    if (start >= view.from && end <= view.to) return;
    const wanted = end - start > size ? (end - start) * 1.2 : size;
    show((start + end - wanted) / 2, (start + end + wanted) / 2);
  }

  return { tools, show, showAll, pan, zoom, reveal };
}
