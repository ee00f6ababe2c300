/* The texts of the timeline in the language of the page, by the keys of
   analysis/wording/timeline/script.py. */

let words = {};

export function setWords(next) {
  words = next ?? {};
}

/* The text of `key` with its {names} filled in. */
export function say(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
