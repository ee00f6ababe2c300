/* Streamlit host. `data` is {drawing, route, by, selected, mode, stretch}: `drawing` names what the
   loader (loader.js) brings; `route`, which may be null, is {address, ticket} of the server's way to
   answer questions about it; `by` says whether the page follows rows of the operator table or fusion
   groups, and `selected` is one of those; `stretch`, which may be null, is {spans, rows, number}: of
   each side [from, to] or null, and rows whose operators are lit; a new number shows it. Streamlit calls this again for new data and for a new theme, with the same
   parentElement for as long as the component stays on the page. */

import { openContainer } from "./data/unpack.js";
import { mount } from "./timeline.js";

const views = new WeakMap();
let lastStretch = 0; // number of the one shown last, also in a timeline that is gone

/* As in loader.js, which may come first or later. */
function entryOf(drawing) {
  const drawings = globalThis.fusescopeDrawings ??= new Map();
  if (!drawings.has(drawing)) drawings.set(drawing, {});
  return drawings.get(drawing);
}

function isDark(root) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color") || "white";
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

/* Takes a question to the server, and its answer to the view that asked. Without a route, and where
   it does not answer, the loader takes it, for which a fragment of the page has to run. */
async function ask(host, question) {
  const { mounts, data: { drawing, route } } = host;
  if (!route) return entryOf(drawing).send?.(question);
  try {
    const response = await fetch(route.address, {
      method: "POST",
      headers: { "content-type": "application/json", "x-fusescope-ticket": route.ticket },
      body: JSON.stringify({ ...question, drawing }),
    });
    if (!response.ok) throw new Error(response.statusText);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (host.mounts === mounts) host.view?.answer(bytes);
  } catch {
    entryOf(drawing).send?.(question);
  }
}

/* Draws what the loader has brought; what is drawn already stays. */
function draw(host, entry, theme) {
  const { data } = host;
  if (!entry.base || host.drawn === data.drawing) return;
  const { whole, data: columns } = openContainer(entry.base);
  const words = JSON.stringify(whole.words);
  if (host.view && words === host.words) {
    host.view.update(whole, columns);
  } else { // the first one, or another language
    host.view?.destroy();
    host.mounts += 1;
    host.view = mount(host.root, whole, {
      columns,
      theme,
      mode: data.mode,
      byGroup: data.by === "group",
      ask: (question) => ask(host, question),
      onSelect: (row, group) => {
        const told = host.data.by === "group" ? group : row;
        if (told === host.told) return;
        host.told = told;
        host.sent.push(told);
        host.send({ row, group });
      },
    });
  }
  host.drawn = data.drawing;
  host.words = words;
}

/* Shows what the page has selected, and the stretch that it asks for. */
function follow(host) {
  if (!host.view) return;
  const { data } = host;
  // While a newer click is still on its way to Python, what Python says is out of date.
  const answered = host.sent.indexOf(data.selected);
  host.sent = answered < 0 ? [] : host.sent.slice(answered + 1);
  if (host.sent.length === 0) {
    host.told = data.selected;
    if (data.by === "group") host.view.selectGroup(data.selected);
    else host.view.select(data.selected);
  }
  if (data.stretch && data.stretch.number !== lastStretch) {
    const { spans, rows, number } = data.stretch;
    lastStretch = number;
    host.view.showStretch(spans, rows);
    host.root.scrollIntoView({ block: "start" });
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  if (!data) return;
  let host = views.get(parentElement);
  if (!host) {
    const root = document.createElement("div");
    parentElement.appendChild(root);
    host = { root, told: null, sent: [], calls: 0, mounts: 0 };
    views.set(parentElement, host);
  }
  const theme = isDark(host.root) ? "dark" : "light";
  host.data = data;
  host.send = (value) => setTriggerValue("picked", value);
  const entry = entryOf(data.drawing);
  entry.listener = {
    arrived() {
      draw(host, entry, theme);
      follow(host);
    },
    answered: (bytes) => host.view?.answer(bytes),
  };
  draw(host, entry, theme);
  host.view?.setTheme(theme);
  follow(host);

  // Streamlit keeps the clean-up of the last call, but may also run one of an overtaken call.
  const call = ++host.calls;
  return () => {
    if (call !== host.calls) return;
    host.view?.destroy();
    host.root.remove();
    entry.listener = undefined;
    views.delete(parentElement);
  };
}
