/* The field that looks for operators: how many executions have its text, and a jump to the next. */

import { hitsOf, nextHit } from "../data/hits.js";
import { button, element } from "../page/elements.js";
import { say } from "../data/words.js";

const LEAST_PX = 16; // a hit is at least as wide after a jump

export function createSearch(root, view, { questions, timeWindow, cursor, painter, canvas, live }) {
  const box = element("form", "fst-search");
  box.setAttribute("role", "search");
  const field = element("input");
  field.type = "search";
  field.placeholder = say("search");
  field.setAttribute("aria-label", say("search_label"));
  const told = element("span", "fst-range");
  box.append(
    field,
    told,
    button(say("search_before"), "‹", () => jump(-1)),
    button(say("search_next"), "›", () => jump(1)),
  );
  let last = null; // {text, version, hits, place}, or of the server {text, side, call}

  const text = () => field.value.trim().toLowerCase();

  function tell(hits, place, key = "search_hit") {
    const found = hits > 0 ? say(key, { place, hits }) : say("search_none");
    told.textContent = live.textContent = text() === "" ? "" : found;
    root.dataset.hits = text() === "" ? "" : `${place} ${hits}`;
  }

  /* The hit in the middle of the view, wide enough to be seen. */
  function show({ side, lane, index, start, end }) {
    timeWindow.activate(side);
    const size = view.to - view.from;
    const wide = (Math.max(1, end - start) * painter.plotWidth()) / LEAST_PX;
    const wanted = Math.min(size, Math.max(end - start, wide));
    const middle = (start + end) / 2;
    timeWindow.show(middle - wanted / 2, middle + wanted / 2);
    cursor.seek({ side, lane, index }, start, end);
  }

  function askServer(step) {
    const known = last?.text === text() ? last : { side: -1, call: -1 };
    const search = { text: text(), at: Math.round(view.from), step };
    questions.ask("search", () => ({ search: { ...search, side: known.side, call: known.call } }), (
      { hit },
      data,
    ) => {
      if (!hit || search.text !== text()) return;
      tell(hit.hits, hit.place ?? 0);
      if (hit.hits === 0) return;
      last = { text: search.text, side: hit.side, call: hit.number };
      view.layers.learn(hit.side, hit.ops, data);
      const { lane, start_ns: start, dur_ns: dur } = hit.call;
      show({ side: hit.side, lane, index: undefined, start, end: start + dur });
    });
  }

  function jump(step) {
    if (text() === "") return tell(0, 0);
    if (view.layers && questions.isOpen) return askServer(step);
    // Of a report that has not all of them, those that are here.
    const same = last?.text === text() && last.version === (view.layers ? 0 : view.version);
    const hits = same ? last.hits : hitsOf(view, text());
    if (hits.length === 0) return tell(0, 0);
    const place = nextHit(hits, same ? last.place : -1, view.from, step);
    last = { text: text(), version: view.layers ? 0 : view.version, hits, place };
    tell(hits.length, place + 1, view.layers ? "search_hit_drawn" : "search_hit");
    show(hits[place]);
  }

  box.addEventListener("submit", (event) => {
    event.preventDefault();
    jump(1);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      jump(-1);
    } else if (event.key === "Escape") canvas.focus();
    event.stopPropagation(); // keys of the canvas are letters here
  });
  field.addEventListener("input", () => {
    told.textContent = "";
    root.dataset.hits = "";
  });

  return {
    box,
    focus() {
      field.focus();
      field.select();
    },
  };
}
