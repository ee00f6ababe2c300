/* Report host: draws the page's own JSON, in the colours that the reader's system prefers.
   The element tells the page what the user picked by the events "fst-picked" and
   "fst-picked-group", and takes what to pick by "fst-pick" and "fst-pick-group"; `detail` is a row
   of the operator table, or the id of a fusion group, or null. */

import { mount } from "./timeline.js";

function start(root, payload) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => (dark.matches ? "dark" : "light");
  const tell = (event, detail) => root.dispatchEvent(new CustomEvent(event, { detail }));
  const view = mount(root, payload, {
    theme: theme(),
    onSelect: (row, group) => {
      tell("fst-picked", row);
      tell("fst-picked-group", group);
    },
  });
  dark.addEventListener("change", () => view.setTheme(theme()));
  root.addEventListener("fst-pick", (event) => view.select(event.detail));
  root.addEventListener("fst-pick-group", (event) => view.selectGroup(event.detail));
}

const root = document.getElementById("timeline");
const data = document.getElementById("timeline-data");
if (root && data) start(root, JSON.parse(data.textContent));
