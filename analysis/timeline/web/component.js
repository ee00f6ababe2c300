/* Streamlit host. `data` is {payload, by, selected, mode, stretch}: `by` says whether the page follows rows
   of the operator table or fusion groups, and `selected` is one of those;
   `stretch`, which may be null, is {side, from, to, number}: a new number shows it. Streamlit calls this again for new data and for a new theme, with the same
   parentElement for as long as the component stays on the page. */

import { mount } from "./timeline.js";

const views = new WeakMap();
let lastStretch = 0; // number of the one shown last, also in a timeline that is gone

function isDark(root) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color") || "white";
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  if (!data) return;
  let host = views.get(parentElement);
  if (!host) {
    const root = document.createElement("div");
    parentElement.appendChild(root);
    host = { root, told: null, sent: [], calls: 0 };
    views.set(parentElement, host);
  }
  const theme = isDark(host.root) ? "dark" : "light";
  if (data.payload !== host.json) {
    const payload = JSON.parse(data.payload);
    const words = JSON.stringify(payload.words);
    if (host.view && words === host.words) {
      host.view.update(payload);
    } else { // the first one, or another language
      host.view?.destroy();
      host.view = mount(host.root, payload, {
        theme,
        mode: data.mode,
        byGroup: data.by === "group",
        onSelect: (row, group) => {
          const told = data.by === "group" ? group : row;
          if (told === host.told) return;
          host.told = told;
          host.sent.push(told);
          host.send({ row, group });
        },
      });
    }
    host.json = data.payload;
    host.words = words;
  }
  host.view.setTheme(theme);
  host.send = (value) => setTriggerValue("picked", value);

  // While a newer click is still on its way to Python, what Python says is out of date.
  const answered = host.sent.indexOf(data.selected);
  host.sent = answered < 0 ? [] : host.sent.slice(answered + 1);
  if (host.sent.length === 0) {
    host.told = data.selected;
    if (data.by === "group") host.view.selectGroup(data.selected);
    else host.view.select(data.selected);
  }

  if (data.stretch && data.stretch.number !== lastStretch) {
    const { side, from, to, number } = data.stretch;
    lastStretch = number;
    host.view.showStretch(side, from, to);
    host.root.scrollIntoView({ block: "center" });
  }

  // Streamlit keeps the clean-up of the last call, but may also run one of an overtaken call.
  const call = ++host.calls;
  return () => {
    if (call !== host.calls) return;
    host.view.destroy();
    host.root.remove();
    views.delete(parentElement);
  };
}
