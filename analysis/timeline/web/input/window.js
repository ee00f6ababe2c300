/* The window of time that is drawn, of all sides or of each its own, and the buttons that change
   it. Without a side named, what is done concerns the active one, or all where they are linked. */

import { button, element } from "../page/elements.js";
import { duration, moment } from "../data/text.js";
import { windowOf } from "../data/view.js";
import { say } from "../data/words.js";

const MIN_WINDOW_NS = 10;

/* `onMove` is called when another time is shown, `onSelect` to select it; `live` says aloud which
   side keys move, and what it shows. */
export function createWindow(root, view, { live, redraw, onMove, onSelect }) {
  const range = element("span", "fst-range");
  const link = button(say("link"), say("linked"), () => toggleOwn());
  const zoomOut = button(say("zoom_out"), "−", () => zoom(2));
  const zoomIn = button(say("zoom_in"), "+", () => zoom(0.5));
  const reset = button(say("reset_zoom"), say("reset"), () => showAll());
  const select = button(say("select_shown"), say("select"), onSelect);
  const tools = element("div", "fst-tools");
  tools.append(range, link, select, zoomOut, zoomIn, reset);

  function rangeOf({ from, to }) {
    const size = to - from;
    if (view.mode === "aligned") return say("wide", { time: duration(size) });
    if (size >= view.span) return say("from_to", { start: "0", end: duration(view.span) });
    const point = (ns) => moment(ns, to, size / 1000);
    return say("from_to", { start: point(from), end: point(to) });
  }

  function rangeText() {
    if (view.own === null) return rangeOf(view);
    return say("labelled", { label: view.sides[view.active].label, text: rangeOf(view) });
  }

  function tell() {
    const size = view.to - view.from;
    const windows = view.own ?? [view];
    root.dataset.fromNs = Math.round(view.from);
    root.dataset.toNs = Math.round(view.to);
    root.dataset.axes = (view.own ?? [])
      .map(({ from, to }) => `${Math.round(from)} ${Math.round(to)}`).join(", ");
    root.dataset.active = view.own === null ? "" : String(view.active);
    range.textContent = rangeText();
    link.hidden = view.sides.length < 2;
    link.disabled = view.mode === "aligned";
    link.setAttribute("aria-pressed", String(view.own === null));
    zoomOut.disabled = size >= view.span;
    reset.disabled = windows.every(({ from, to }) => to - from >= view.span);
    zoomIn.disabled = size <= MIN_WINDOW_NS;
    select.disabled = view.mode === "aligned";
    onMove();
    redraw();
  }

  function place(from, to, side) {
    const size = Math.min(view.span, Math.max(MIN_WINDOW_NS, to - from));
    const first = Math.min(Math.max(0, from), view.span - size);
    const shown = { from: first, to: first + size };
    if (view.own !== null) view.own[side] = shown;
    if (view.own === null || side === view.active) Object.assign(view, shown);
  }

  function show(from, to, side = -1) {
    place(from, to, side < 0 ? view.active : side);
    tell();
  }

  function showAll() {
    view.sides.forEach((_, side) => place(0, view.span, side));
    if (view.sides.length === 0) place(0, view.span, 0);
    tell();
  }

  const shownOf = (side) => windowOf(view, side < 0 ? view.active : side);

  function pan(ns, side = -1) {
    const { from, to } = shownOf(side);
    show(from + ns, to + ns, side);
  }

  /* `factor` below 1 zooms in; the time `at` stays where it is, else the middle. */
  function zoom(factor, at = undefined, side = -1) {
    const { from: start, to } = shownOf(side);
    const fixed = at ?? (start + to) / 2;
    const size = to - start;
    const wanted = Math.min(view.span, Math.max(MIN_WINDOW_NS, size * factor));
    const from = fixed - ((fixed - start) / size) * wanted;
    show(from, from + wanted, side);
  }

  /* Brings [start, end] into view if it is not, and zooms out only if it has to. */
  function reveal(start, end, side = -1) {
    const shown = shownOf(side);
    const size = shown.to - shown.from;
    if (start >= shown.from && end <= shown.to) return;
    const wanted = end - start > size ? (end - start) * 1.2 : size;
    show((start + end - wanted) / 2, (start + end + wanted) / 2, side);
  }

  /* Makes a side the one that keys and buttons move. */
  function activate(side) {
    if (view.own === null || side < 0 || side === view.active) return;
    view.active = side;
    Object.assign(view, view.own[side]);
    tell();
  }

  const sayActive = () => {
    live.textContent = say("axis_of", { range: rangeText() });
  };

  function nextSide() {
    if (view.own === null) return;
    activate((view.active + 1) % view.sides.length);
    sayActive();
  }

  /* An axis for each side, from where they are; or one for all, which shows what the active one
     does. */
  function setOwn(wanted) {
    if (view.sides.length < 2 || view.mode === "aligned") return;
    view.own = wanted ? view.sides.map(() => ({ from: view.from, to: view.to })) : null;
    view.version += 1;
    tell();
  }

  function toggleOwn() {
    setOwn(view.own === null);
    if (view.own !== null) sayActive();
    else live.textContent = say("axes_linked", { range: rangeText() });
  }

  return {
    tools,
    show,
    showAll,
    pan,
    zoom,
    reveal,
    activate,
    nextSide,
    toggleOwn,
    /* Gives each side an axis of its own. */
    part: () => {
      if (view.own === null) setOwn(true);
    },
  };
}
