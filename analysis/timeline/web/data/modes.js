/* The three ways to place operators, and the tones of fusion groups. */

/* Each is also the key of its label, with `_note` of how to read it. */
export const MODES = ["time", "flow", "aligned"];
export const TONES = ["replaced", "kept", "hurts"];

/* How a group is coloured: it hurts, it is as before, or something took its place. */
export function toneOf(group) {
  if (group?.hurts) return "hurts";
  return group?.kind === "kept" ? "kept" : "replaced";
}
