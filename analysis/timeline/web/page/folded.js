/* The line below the canvas that says which lanes are folded away, and unfolds them. */

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
        : some.map((side) => `${side.label}: ${side.folded}.`).join(" ");
      toggle.textContent = view.unfolded ? "Fold the lanes of nearly nothing" : "Show them";
      toggle.setAttribute(
        "aria-label",
        view.unfolded ? toggle.textContent : "Show the folded lanes",
      );
      toggle.setAttribute("aria-expanded", String(view.unfolded));
    },
  };
  return folded;
}
