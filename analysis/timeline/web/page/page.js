/* The page elements of a timeline: a bar above the canvas, and below it how to use it. */

import { say } from "../data/words.js";
import { element } from "./elements.js";

export function createCanvas(hint) {
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", say("timeline_role"));
  canvas.setAttribute("aria-describedby", hint.id);
  return canvas;
}

export function createHint(id) {
  const hint = element("p", "fst-hint");
  hint.id = id;
  say("hint").split(/\[(.+?)\]/).forEach((part, place) => {
    hint.append(place % 2 ? element("kbd", "", part) : part);
  });
  return hint;
}

/* The line that a screen reader says when it changes. */
export function createLive() {
  const live = element("div", "fst-live");
  live.setAttribute("role", "status");
  return live;
}

/* `parts` are {modes, legend, search, tools, canvas, summary, folded, hostLine, detailLine, viewTable, hint,
   tooltip, help, live}. */
export function fillPage(root, parts) {
  const bar = element("div", "fst-bar");
  bar.append(parts.modes.box, parts.legend.box, parts.search.box, parts.tools);
  root.classList.add("fst");
  root.replaceChildren(
    bar,
    parts.canvas,
    parts.summary.box,
    parts.folded.box,
    parts.hostLine.box,
    parts.detailLine.box,
    parts.viewTable.box,
    parts.modes.note,
    parts.hint,
    parts.tooltip.box,
    parts.help.box,
    parts.live,
  );
}
