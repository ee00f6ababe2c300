/* The three ways to place operators, their switch, and the line that says how to read them. */

import { element, swatch } from "./elements.js";

const PROFILED =
  "Profiled time of one run a side, or of the whole file where runs are not marked. The profiler charges every operator: a verdict rests on un-profiled runs, where there are any. ";
export const MODES = {
  time: { label: "true time", note: PROFILED },
  flow: {
    label: "fusion flow",
    note:
      "A ribbon leads from a group of operators to what took its place; its ends are as long as they took in the " +
      "two runs shown, as profiled. The gain beside the pointer is the mean of all runs. ",
  },
  aligned: {
    label: "aligned by group",
    note:
      "Every group starts at the same place on both sides, so a gap is what it gained or lost between the two runs " +
      "shown, as profiled. Groups stand in the baseline's order; time between operators is left out. ",
  },
};
const SHARED =
  "Executions too short for a pixel share one, which is as high as the part of it in which something ran. ";
const NOT_LINKED = "Fusion flow and alignment by group need both runs drawn whole. ";
export const TONES = {
  replaced: "fused or replaced",
  kept: "kept as it was",
  hurts: "slower beyond noise",
};

/* How a group is coloured: it hurts, it is as before, or something took its place. */
export function toneOf(group) {
  if (group?.hurts) return "hurts";
  return group?.kind === "kept" ? "kept" : "replaced";
}

let lastMode = null; // what the user chose last, also in a timeline that is gone

/* `wanted` is the mode to show once there are groups: what was chosen, else `first`. */
export function createModes(view, name, first, onChoose) {
  const box = element("fieldset", "fst-modes");
  box.append(element("legend", "fst-live", "Place operators by"));
  const note = element("p", "fst-note");
  const inputs = Object.entries(MODES).map(([mode, { label }]) => {
    const input = element("input");
    input.type = "radio";
    input.name = name;
    input.value = mode;
    input.addEventListener("change", () => {
      lastMode = modes.wanted = mode;
      onChoose();
    });
    const item = element("label");
    item.append(input, element("span", "", label));
    box.append(item);
    return input;
  });

  const modes = {
    box,
    note,
    wanted: lastMode ?? first,
    /* Shows the view's mode; without groups there is nothing to choose. */
    refresh() {
      box.hidden = view.ribbons.length === 0;
      for (const input of inputs) input.checked = input.value === view.mode;
      const isCut = view.groups.size > 0 && view.sides.some((side) => side.notDrawn > 0);
      note.replaceChildren(MODES[view.mode].note, SHARED, isCut ? NOT_LINKED : "");
      if (view.mode === "time") return;
      const keys = element("span", "fst-keys");
      const used = new Set(view.ribbons.map(({ group }) => toneOf(view.groups.get(group))));
      for (const [tone, label] of Object.entries(TONES)) {
        if (!used.has(tone)) continue;
        const item = element("span", "fst-key");
        item.append(swatch(view.palette.tones[tone]), element("span", "", label));
        keys.append(item, " ");
      }
      note.append(keys);
    },
  };
  return modes;
}
