/* The line below the canvas that says how exactly the view is drawn: which calls one by one, and how
   many together. */

import { firstWhere } from "../data/calls.js";
import { duration } from "../data/text.js";
import { windowOf } from "../data/view.js";
import { paragraph, say } from "../data/words.js";
import { element } from "./elements.js";

/* How many calls of a lane begin in the view: {alone, together}. */
function countOf({ count, start, latest, bins }, { from, to }) {
  const first = firstWhere(count, (i) => latest[i] > from);
  const alone = Math.max(0, firstWhere(count, (i) => start[i] >= to) - first);
  let together = 0;
  const begin = firstWhere(bins.count, (i) => bins.from[i] + bins.width > from);
  for (let i = begin; i < bins.count && bins.from[i] < to; i++) together += bins.calls[i];
  return { alone, together };
}

export function createDetailLine(view, questions) {
  const box = element("p", "fst-detail");
  box.hidden = true;

  function fill() {
    box.hidden = !view.layers;
    if (!view.layers) return;
    const counts = view.sides.flatMap(({ lanes }, side) =>
      lanes.map((lane) => countOf(lane, windowOf(view, side)))
    );
    const sum = (name) => counts.reduce((total, each) => total + each[name], 0);
    const [alone, together] = [sum("alone"), sum("together")];
    const width = duration(2 ** view.layers.level());
    const facts = [
      together === 0
        ? say("detail_exact", { count: alone })
        : say("detail_together", { alone, together, width }),
    ];
    if (together > 0) {
      facts.push(say(questions.isOpen ? "detail_more" : "detail_most", { width }));
    }
    box.textContent = paragraph(facts);
  }

  return { box, fill };
}
