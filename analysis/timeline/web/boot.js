/* Report host: draws the page's own JSON, in the colours that the reader's system prefers.
   The element tells the page what the user picked by the events "fst-picked" and
   "fst-picked-group", and takes what to pick by "fst-pick" and "fst-pick-group"; `detail` is a row
   of the operator table, or the id of a fusion group, or null. "fst-stretch" shows a stretch of
   time and the operators that ran there, `detail` is {spans, rows}. */

import { mount } from "./timeline.js";

/* `payload.languages` has the texts of the page's other languages; the event "fst-speak" asks for
   one by its code. The drawing begins anew then. */
function start(root, payload) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => (dark.matches ? "dark" : "light");
  const tell = (event, detail) => root.dispatchEvent(new CustomEvent(event, { detail }));
  const draw = (texts) =>
    mount(root, inLanguage(payload, texts), {
      theme: theme(),
      onSelect: (row, group) => {
        tell("fst-picked", row);
        tell("fst-picked-group", group);
      },
    });
  let view = draw(null);
  root.addEventListener("fst-speak", (event) => {
    view.destroy();
    view = draw(payload.languages?.[event.detail]);
  });
  dark.addEventListener("change", () => view.setTheme(theme()));
  root.addEventListener("fst-pick", (event) => view.select(event.detail));
  root.addEventListener(
    "fst-stretch",
    ({ detail: { spans, rows } }) => view.showStretch(spans, rows ?? []),
  );
  root.addEventListener("fst-pick-group", (event) => view.selectGroup(event.detail));
}

/* The payload with the texts of another language; without, as it is. */
function inLanguage(payload, texts) {
  if (!texts) return payload;
  const sides = payload.sides.map((side, place) => ({ ...side, ...texts.sides[place] }));
  return { ...payload, words: texts.words, classes: texts.classes, sides };
}

const root = document.getElementById("timeline");
const data = document.getElementById("timeline-data");
if (root && data) start(root, JSON.parse(data.textContent));
