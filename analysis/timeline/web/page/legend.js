/* The operator classes in their colours; a click singles one out. */

import { say } from "../data/words.js";
import { button, element, swatch } from "./elements.js";

export function createLegend(view, redraw) {
  const box = element("ul", "fst-legend");
  box.setAttribute("aria-label", say("classes"));

  function singleOut(className) {
    view.onlyClass = className;
    for (const each of box.querySelectorAll("button")) {
      each.setAttribute("aria-pressed", String(each.dataset.class === className));
    }
    redraw();
  }

  /* What the faint part of a collective is. */
  function waitingItem() {
    const item = element("li", "fst-waiting");
    item.append(swatch(view.palette.classes.communication), element("span", "", say("waits")));
    return item;
  }

  function fill() {
    box.replaceChildren(...Array.from(view.classLabels, ([id, label]) => {
      const toggle = button(
        say("single_out", { class: label }),
        "",
        () => singleOut(view.onlyClass === id ? null : id),
      );
      toggle.dataset.class = id;
      toggle.append(swatch(view.palette.classes[id]), element("span", "", label));
      const item = element("li");
      item.append(toggle);
      return item;
    }));
    if (view.sides.some(({ waits }) => waits)) box.append(waitingItem());
    singleOut(view.classLabels.has(view.onlyClass) ? view.onlyClass : null);
  }

  return { box, fill };
}
