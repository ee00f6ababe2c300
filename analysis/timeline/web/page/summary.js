/* The table of what ran in the stretch that is selected, below the canvas. */

import { fromServer, restOf, sumUp, TOGETHER } from "../data/sums.js";
import { duration, durationsBelow, grouped, moment, plainText, share } from "../data/text.js";
import { paragraph, say } from "../data/words.js";
import { distinctSpans } from "../data/spans.js";
import { button, element, swatch } from "./elements.js";

const MOST = 10; // operators with a line of their own

/* How much of a stretch lies in pieces [start, end] of time that do not overlap. */
const within = (pieces, { from, to }) =>
  pieces.reduce(
    (sum, [start, end]) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)),
    0,
  );

/* `questions` are for sums of calls that are not here. */
export function createSummary(view, questions, actions) {
  const box = element("section", "fst-stretch");
  let known = null; // {stretch, found}: sums of the server
  box.setAttribute("aria-label", say("stretch"));
  box.hidden = true;

  const rangeOf = ({ from, to }) => {
    const point = (ns) => (ns === 0 ? "0" : moment(ns, view.span, (to - from) / 1000));
    const range = say("from_to", { start: point(from), end: point(to) });
    return say("stretch_of", { range, time: duration(to - from) });
  };

  /* When it is; of two places each with its side. */
  function title(stretch) {
    if (distinctSpans(stretch).length === 1) return rangeOf(distinctSpans(stretch)[0]);
    const ranges = view.sides.map((side, index) =>
      stretch.spans[index] &&
      say("labelled", { label: side.label, text: rangeOf(stretch.spans[index]) })
    );
    return paragraph(ranges.filter((range) => range));
  }

  /* The sides that it is of, with their sums. */
  function sums() {
    if (known?.stretch === view.stretch) return known.found;
    return view.sides.map((side, index) => ({ side, index, span: view.stretch.spans[index] }))
      .filter(({ span }) => span)
      .map(({ side, index, span }) => ({
        side,
        found: sumUp(side, index, span.from, span.to),
        span,
      }));
  }

  /* The server has every call: its sums take the place of what is made of those that are here. */
  function askSums() {
    const { stretch } = view;
    if (!view.layers || view.layers.isExact() || !questions.isOpen) return;
    if (known?.stretch === stretch) return;
    questions.ask("stretch", () => ({
      stretch: stretch.spans.map((span) => span && [Math.round(span.from), Math.round(span.to)]),
    }), (answer, data) => {
      if (view.stretch !== stretch || !answer.sums) return;
      known = { stretch, found: answer.sums.map((each) => fromServer(view, each, data)) };
      draw();
    });
  }

  function sentence({ side, found, span }) {
    const size = found.to - found.from;
    if (size <= 0) return say("stretch_ended");
    const facts = [
      say(side.inOrder ? "stretch_ran" : "stretch_busy", {
        count: found.executions,
        busy: duration(found.busy),
        busy_share: share(found.busy, size),
        idle: duration(size - found.busy),
        idle_share: share(size - found.busy, size),
      }),
    ];
    const unrecorded = within(side.unrecorded, found);
    if (unrecorded > 0) facts.push(say("stretch_unrecorded", { time: duration(unrecorded) }));
    if (found.to < span.to) facts.push(say("stretch_ends", { time: duration(size) }));
    if (found.width > 0) facts.push(say("stretch_together", { width: duration(found.width) }));
    return paragraph(facts);
  }

  function table(head, rows, size) {
    const made = element("table");
    const line = element("tr");
    for (const text of [head, say("stretch_time"), say("stretch_share"), say("stretch_count")]) {
      const cell = element("th", "", text);
      cell.scope = "col";
      line.append(cell);
    }
    const top = element("thead");
    top.append(line);
    const body = element("tbody");
    const told = durationsBelow(rows.map(({ time }) => time));
    for (const { name, time, count } of rows) {
      const row = element("tr");
      const first = element("th");
      first.scope = "row";
      first.append(...name);
      const cells = [told(time), share(time, size), grouped(count)];
      row.append(first, ...cells.map((text) => element("td", "", text)));
      body.append(row);
    }
    made.append(top, body);
    return made;
  }

  function operatorName(side, { key, call }) {
    if (key === TOGETHER) return [element("span", "", say("stretch_short"))];
    const name = plainText(side.ops.name[key]) || say("unnamed");
    const pick = button(say("stretch_pick", { operator: name }), name, () => actions.pick(call));
    return [pick, element("small", "", plainText(side.ops.op_type[key]) || say("untyped"))];
  }

  function ofSide(sum) {
    const { side, found } = sum;
    const part = element("div", "fst-stretch-side");
    const lead = say("labelled", { label: side.label, text: sentence(sum) });
    part.append(element("p", "", lead));
    const size = found.to - found.from;
    if (size <= 0 || found.executions === 0) return part;
    const classes = found.classes.map(({ key, time, count }) => ({
      name: key === TOGETHER ? [element("span", "", say("stretch_short"))] : [
        swatch(view.palette.classes[key]),
        element("span", "", view.classLabels.get(key) ?? key),
      ],
      time,
      count,
    }));
    const rows = found.operators.slice(0, MOST)
      .map((sum) => ({ ...sum, name: operatorName(side, sum) }));
    const rest = found.rest ?? restOf(found.operators.slice(MOST));
    if (rest.operators > 0) {
      const name = [element("span", "", say("stretch_rest", { count: rest.operators }))];
      rows.push({ ...rest, name });
    }
    part.append(table(say("stretch_class"), classes, size));
    part.append(table(say("stretch_operator"), rows, size));
    return part;
  }

  function fill() {
    box.hidden = view.stretch === null;
    if (view.stretch === null) return box.replaceChildren();
    draw();
    askSums();
  }

  function draw() {
    const head = element("div", "fst-stretch-head");
    head.append(
      element("strong", "", title(view.stretch)),
      button(say("stretch_zoom"), say("stretch_zoom"), () => actions.zoomTo()),
      button(say("stretch_clear"), "×", () => actions.clear()),
    );
    const sides = element("div", "fst-stretch-sides");
    sides.append(...sums().map(ofSide));
    box.replaceChildren(head, sides, element("p", "fst-note", say("stretch_note")));
  }

  /* For a screen reader. */
  const text = () =>
    paragraph([
      title(view.stretch),
      ...sums().map((sum) => say("labelled", { label: sum.side.label, text: sentence(sum) })),
    ]);

  return { box, fill, text };
}
