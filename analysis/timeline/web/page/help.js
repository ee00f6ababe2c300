/* The list of keys and of what the pointer does, in a dialog of its own. */

import { button, element } from "./elements.js";
import { say } from "../data/words.js";

/* What is done how: keys of texts, and of what is pressed; "/" stands between ways to do the same. */
const WAYS = [
  ["help_zoom", "W / S / + / −"],
  ["help_pan", "A / D / ← / →"],
  ["help_step", "↑ / ↓ / [ / ]"],
  ["help_across", "Shift ↑ / Shift ↓"],
  ["help_select", "Enter"],
  ["help_fit", "F"],
  ["help_all", "0"],
  ["help_sum", "X"],
  ["help_link", "L"],
  ["help_side", "V"],
  ["help_search", "/"],
  ["help_clear", "Esc"],
  ["help_help", "?"],
];

export function createHelp() {
  const box = element("dialog", "fst-help");
  box.setAttribute("aria-label", say("help"));
  const list = element("dl");
  const put = (term, ...texts) => {
    const keys = element("dt");
    keys.append(...texts);
    list.append(keys, element("dd", "", say(term)));
  };
  for (const [term, keys] of WAYS) {
    const ways = keys === "/" ? [keys] : keys.split(" / ");
    put(term, ...ways.map((way) => element("kbd", "", way)));
  }
  for (
    const [term, way] of [
      ["help_zoom", "help_wheel"],
      ["help_pan", "help_drag"],
      ["help_sum", "help_shift_drag"],
      ["help_all", "help_double"],
      ["help_map", "help_drag_map"],
    ]
  ) put(term, say(way));
  const head = element("div", "fst-help-head");
  head.append(
    element("strong", "", say("help")),
    button(say("help_close"), "×", () => box.close()),
  );
  box.append(head, list);
  box.addEventListener("keydown", (event) => event.stopPropagation());
  box.addEventListener("click", (event) => event.target === box && box.close());
  return { box, open: () => box.showModal() };
}
