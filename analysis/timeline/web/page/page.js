/* The page elements of a timeline: a bar above the canvas, and below it how to use it. */

import { element } from "./elements.js";

const HINT = [
  "Scroll to zoom after a click here, or hold ",
  ["Ctrl"],
  " / ",
  ["⌘"],
  "; drag to pan, double-click to reset. ",
  ["←"],
  " ",
  ["→"],
  " pan, ",
  ["+"],
  " ",
  ["−"],
  " zoom, ",
  ["↑"],
  " ",
  ["↓"],
  " step through operators, ",
  ["Enter"],
  " select, ",
  ["F"],
  " zoom to it, ",
  ["0"],
  " reset.",
];

export function createCanvas(hint) {
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "timeline");
  canvas.setAttribute("aria-describedby", hint.id);
  return canvas;
}

export function createHint(id) {
  const hint = element("p", "fst-hint");
  hint.id = id;
  for (const part of HINT) hint.append(Array.isArray(part) ? element("kbd", "", part[0]) : part);
  return hint;
}

/* The line that a screen reader says when it changes. */
export function createLive() {
  const live = element("div", "fst-live");
  live.setAttribute("role", "status");
  return live;
}

/* `parts` are {modes, legend, tools, canvas, folded, hint, tooltip, live}. */
export function fillPage(root, parts) {
  const bar = element("div", "fst-bar");
  bar.append(parts.modes.box, parts.legend.box, parts.tools);
  root.classList.add("fst");
  root.replaceChildren(
    bar,
    parts.canvas,
    parts.folded.box,
    parts.modes.note,
    parts.hint,
    parts.tooltip.box,
    parts.live,
  );
}
