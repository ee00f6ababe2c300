/* Numbers and names as text. */

const MISSING = "–";
const MAX_TEXT = 600;
/** @type {[number, string][]} */
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

const unitOf = (ns) => UNITS.find(([size]) => ns >= size * 0.9995) ?? UNITS[3];

/* Three significant digits, as analysis.units.duration. */
export const duration = (ns) => printed(ns, 0).text;

/* How many digits behind the point make three significant ones. */
const placesOf = (value) => value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

/* A duration with `more` digits, as text and as it reads in ns, and what its last digit is. */
function printed(ns, more) {
  const [size, unit] = unitOf(ns);
  const value = ns / size;
  const digits = size === 1 ? 0 : placesOf(value) + more;
  const number = value.toFixed(digits);
  return { text: `${number} ${unit}`, ns: Number(number) * size, step: ns && size / 10 ** digits };
}

/* How durations that stand below each other are written: in one unit, as analysis.units.column_of. */
export function durationsBelow(all) {
  const known = all.filter((ns) => ns > 0);
  const largest = Math.max(1, ...known);
  const least = Math.min(largest, ...known);
  let at = UNITS.indexOf(unitOf(largest));
  let digits = placesOf(largest / UNITS[at][0]);
  for (const few of [9.5, 0.95]) digits += Number(least / UNITS[at][0] < few * 10 ** -digits);
  if (digits >= 3 && at < UNITS.length - 1) [at, digits] = [at + 1, digits - 3];
  const [size, unit] = UNITS[at];
  const places = size === 1 ? 0 : digits;
  return (ns) => {
    const [whole, part] = (ns / size).toFixed(places).split(".");
    if (ns > 0 && Number(`${whole}.${part ?? 0}`) === 0) {
      return `<${(10 ** -places).toFixed(places)} ${unit}`;
    }
    return `${grouped(whole)}${part === undefined ? "" : `.${part}`} ${unit}`;
  };
}

/* Two durations beside which that of their difference stands, as analysis.units.durations_apart. */
export function durationsApart(before, after) {
  const change = printed(Math.abs(after - before), 0);
  const texts = (more) =>
    [before, after].map((ns) => withDigits(ns, more, change.step / 10 ** more));
  const more = [0, 1, 2].find((digits) => {
    const [one, other] = texts(digits);
    const isFiner = change.step < Math.max(one.step, other.step) * 0.999;
    if (digits === 0 && isFiner) return true;
    return Math.abs(change.ns - Math.abs(other.ns - one.ns)) <= change.step * 0.501;
  });
  return texts(more ?? 2).map(({ text }) => text);
}

/* Its last digit stands for no less than `finest`, as of 1.18 beside 58.73 ms. */
function withDigits(ns, more, finest) {
  const made = printed(ns, more);
  return more && made.step < finest * 0.999 ? withDigits(ns, more - 1, finest) : made;
}

/* A count as analysis.units.count: a narrow space that breaks no line between groups of digits. */
export const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/* A point in time with the digits that `resolution` asks for, in a unit that suits `span`. */
export function moment(ns, span, resolution) {
  const [size, unit] = unitOf(span);
  const digits = Math.ceil(Math.log10(size / Math.max(1, resolution)) - 1e-9);
  return `${(ns / size).toFixed(Math.max(0, digits))} ${unit}`;
}

export function share(part, whole) {
  if (!(whole > 0)) return MISSING;
  const percent = (100 * part) / whole;
  return `${percent.toFixed(percent < 1 ? 2 : 1)} %`;
}

/* The round step that puts at most `count` ticks into a window of `size`; never below 1 ns. */
export function tickStep(size, count) {
  const raw = Math.max(1, size / Math.max(1, count));
  const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
  return [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.9999) * power;
}

/* `text` cut in the middle so that `width(text)` is at most `room`; "" if nothing fits. */
export function cutMiddle(text, room, width) {
  if (width(text) <= room) return text;
  const letters = Array.from(text);
  const cut = (kept) => {
    const tail = Math.floor(kept / 2);
    return `${letters.slice(0, kept - tail).join("")}…${
      letters.slice(letters.length - tail).join("")
    }`;
  };
  let low = 0;
  let high = letters.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (width(cut(middle)) <= room) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? cut(low) : "";
}

/* `text` in at most `most` lines of `width(text)` up to `room`, broken at spaces, or between signs
   where one word is longer; the last line has all that is left. */
export function wrapped(text, room, most, width) {
  const lines = [];
  let rest = text;
  while (lines.length < most - 1 && width(rest) > room) {
    const letters = Array.from(rest);
    let fits = 1;
    while (fits < letters.length && width(letters.slice(0, fits + 1).join("")) <= room) fits++;
    const space = letters[fits] === " " ? fits : letters.lastIndexOf(" ", fits - 1);
    const end = space > 0 ? space : fits;
    lines.push(letters.slice(0, end).join(""));
    rest = letters.slice(end).join("").trimStart();
  }
  return [...lines, rest];
}

export function plainText(value) {
  const text = String(value ?? "");
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT / 2)}…${text.slice(-MAX_TEXT / 2)}`;
}
