/* The line below the canvas that says which lanes are folded away, and unfolds them. */

import { paragraph, say } from "../data/words.js";
import { element } from "./elements.js";

export function createFolded(view, onToggle) {
  const box = element("div", "fst-folded");
  const text = element("span");
  const toggle = element("button");
  toggle.type = "button";
  toggle.addEventListener("click", () => {
    view.unfolded = !view.unfolded;
    onToggle();
    folded.refresh();
  });
  box.append(text, " ", toggle);
  const folded = {
    box,
    refresh() {
      const some = view.sides.filter((side) => side.smallLanes.includes(true));
      box.hidden = some.length === 0;
      text.textContent = view.unfolded
        ? ""
        : paragraph(some.map((side) => say("labelled", { label: side.label, text: side.folded })));
      toggle.textContent = view.unfolded ? say("fold") : say("show_folded");
      toggle.setAttribute(
        "aria-label",
        view.unfolded ? toggle.textContent : say("show_folded_label"),
      );
      toggle.setAttribute("aria-expanded", String(view.unfolded));
    },
  };
  return folded;
}
