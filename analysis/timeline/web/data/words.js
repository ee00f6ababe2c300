/* The texts of the timeline in the language of the page, by the keys of
   analysis/wording/timeline/script.py. */

import { grouped } from "./text.js";

let words = {};

export function setWords(next) {
  words = next ?? {};
}

/* Texts one after the other: sentences, or what stands in a row with commas or semicolons. */
export const paragraph = (texts) => joined("next_sentence", texts, "first", "second");
export const inRow = (texts) => joined("and_next", texts);
export const inTurn = (texts) => joined("then", texts);

/* The text of `key` with its {names} filled in, counts in groups of three digits. */
export function say(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name] ?? whole;
    return typeof value === "number" ? grouped(value) : value;
  });
}

function joined(key, texts, start = "start", next = "next") {
  return texts.length === 0
    ? ""
    : texts.reduce((before, text) => say(key, { [start]: before, [next]: text }));
}
