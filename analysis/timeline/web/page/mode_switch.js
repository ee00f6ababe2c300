/* The switch between the ways to place operators, and the line below the canvas about them. */

import { MODES, toneOf, TONES } from "../data/modes.js";
import { paragraph, say } from "../data/words.js";
import { element, swatch } from "./elements.js";

let lastMode = null; // what the user chose last, also in a timeline that is gone

/* `wanted` is the mode to show once there are groups: what was chosen, else `first`. */
export function createModes(view, name, first, onChoose) {
  const box = element("fieldset", "fst-modes");
  box.append(element("legend", "fst-live", say("modes")));
  const note = element("p", "fst-note");
  const inputs = MODES.map((mode) => {
    const input = element("input");
    input.type = "radio";
    input.name = name;
    input.value = mode;
    input.addEventListener("change", () => modes.choose(mode));
    const item = element("label");
    item.append(input, element("span", "", say(mode)));
    box.append(item);
    return input;
  });

  const modes = {
    box,
    note,
    wanted: lastMode ?? first,
    choose(mode) {
      lastMode = modes.wanted = mode;
      onChoose();
    },
    /* Shows the view's mode; without groups there is nothing to choose. */
    refresh() {
      box.hidden = view.ribbons.length === 0;
      for (const input of inputs) input.checked = input.value === view.mode;
      const isCut = view.groups.size > 0 && view.sides.length === 2 && view.layers !== null;
      const notes = [`${view.mode}_note`, "shared_pixel", ...(isCut ? ["not_linked"] : [])];
      note.replaceChildren(paragraph(notes.map((key) => say(key))), " ");
      if (view.mode === "time") return;
      const keys = element("span", "fst-keys");
      const used = new Set(view.ribbons.map(({ group }) => toneOf(view.groups.get(group))));
      for (const tone of TONES) {
        if (!used.has(tone)) continue;
        const item = element("span", "fst-key");
        item.append(swatch(view.palette.tones[tone]), element("span", "", say(tone)));
        keys.append(item, " ");
      }
      note.append(keys);
    },
  };
  return modes;
}
