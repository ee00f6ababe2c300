/* The three ways to place operators, with the line that says how to read them, and the tones of
   fusion groups. */

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
export const SHARED =
  "Executions too short for a pixel share one, which is as high as the part of it in which something ran. ";
export const NOT_LINKED = "Fusion flow and alignment by group need both runs drawn whole. ";
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
