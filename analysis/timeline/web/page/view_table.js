/* What is in view as a table: the picture for those who do not see it. It is filled while open. */

import { firstWhere } from "../data/calls.js";
import { causeLabel, HOST, kindLabel, showsHost } from "../data/host.js";
import { durationsBelow, moment, plainText } from "../data/text.js";
import { windowOf } from "../data/view.js";
import { say } from "../data/words.js";
import { element } from "./elements.js";

const MOST_ROWS = 40;
const DELAY = 250; // ms after the last move

/* The longest calls in view, in the order of their starts, and how many more executions there are,
   and how many more bars of the host. */
function inView(view) {
  const found = [];
  const rest = { executions: 0, bars: 0 };
  const countIn = (laneIndex) => laneIndex === HOST ? "bars" : "executions";
  view.sides.forEach((side, sideIndex) => {
    const { from, to } = windowOf(view, sideIndex);
    const lanes = [
      ...side.lanes.entries(),
      ...(showsHost(view, side) ? [[HOST, side.hostLane]] : []),
    ];
    for (const [laneIndex, lane] of lanes) {
      const first = firstWhere(lane.count, (i) => lane.latest[i] > from);
      for (let i = first; i < lane.count && lane.start[i] < to; i++) {
        if (lane.end[i] <= from) continue;
        found.push({ side, sideIndex, lane, laneIndex, i, dur: lane.end[i] - lane.start[i] });
      }
      const { bins } = lane;
      let bin = firstWhere(bins.count, (i) => bins.from[i] + bins.width > from);
      for (; bin < bins.count && bins.from[bin] < to; bin++) {
        rest[countIn(laneIndex)] += bins.calls[bin];
      }
    }
  });
  found.sort((a, b) => b.dur - a.dur);
  for (const { laneIndex } of found.slice(MOST_ROWS)) rest[countIn(laneIndex)] += 1;
  const rows = found.slice(0, MOST_ROWS).sort((a, b) =>
    a.sideIndex - b.sideIndex || a.lane.start[a.i] - b.lane.start[b.i]
  );
  return { rows, rest };
}

/* The lane, the name and the type of a call; of the host, the cause and its kind. */
function namesIn(side, laneIndex, op) {
  if (laneIndex === HOST) {
    const cause = side.host.causes[op];
    return [say("host_lane"), causeLabel(cause), kindLabel(cause.kind)];
  }
  return [
    side.laneLabels[laneIndex],
    plainText(side.ops.name[op]) || say("unnamed"),
    plainText(side.ops.op_type[op]) || say("untyped"),
  ];
}

/* The digits of starts of each side, in ns: enough to tell the shortest row from its neighbours. */
function resolutions(view, rows) {
  return view.sides.map((_, index) =>
    Math.min(...rows.filter(({ sideIndex }) => sideIndex === index).map(({ dur }) => dur)) / 10
  );
}

/* The columns of a table, {key, look, text(row, digits)}: those in which its rows differ or say
   something. Times stand before the other names: a narrow window shows them. */
function columnsOf(view, rows) {
  const names = ({ side, lane, laneIndex, i }) => namesIn(side, laneIndex, lane.op[i]);
  const told = durationsBelow(rows.map(({ dur }) => dur));
  const columns = [
    { key: "view_side", look: "fst-short", text: ({ side }) => side.label },
    { key: "stretch_operator", look: "", text: (row) => names(row)[1] },
    {
      key: "start",
      look: "fst-time",
      text: ({ side, sideIndex, lane, i }, digits) =>
        side.inOrder
          ? say("no_start")
          : moment(lane.ran[i], Math.max(side.dur, 1), digits[sideIndex]),
    },
    { key: "duration", look: "fst-time", text: ({ dur }) => told(dur) },
    { key: "lane", look: "fst-short", text: (row) => names(row)[0] },
    { key: "view_type", look: "fst-type", text: (row) => names(row)[2] },
  ];
  const silent = new Set([
    view.sides.length === 1 ? "view_side" : "",
    view.sides.every(({ inOrder }) => inOrder) ? "start" : "",
    rows.every((row) => names(row)[0] === "") ? "lane" : "",
  ]);
  return columns.filter(({ key }) => !silent.has(key));
}

/* `shares` says what the host did, and stands above the table. */
export function createViewTable(view, shares) {
  const box = element("details", "fst-view");
  const content = element("div");
  box.append(element("summary", "", say("view_table")), shares, content);
  let timer = 0;

  function fill() {
    timer = 0;
    if (!box.open) return;
    const { rows, rest } = inView(view);
    const table = element("table");
    const head = element("tr");
    const columns = columnsOf(view, rows);
    head.append(...columns.map(({ key }) => {
      const cell = element("th", "", say(key));
      cell.scope = "col";
      return cell;
    }));
    const top = element("thead");
    top.append(head);
    const body = element("tbody");
    const digits = resolutions(view, rows);
    for (const row of rows) {
      const line = element("tr");
      line.append(...columns.map(({ look, text }) => element("td", look, text(row, digits))));
      body.append(line);
    }
    table.append(top, body);
    const more = [
      { key: "view_rest", count: rest.executions },
      { key: "view_rest_bars", count: rest.bars },
    ].filter(({ count }) => count > 0).map(({ key, count }) =>
      element("p", "", say(key, { count }))
    );
    // What each side shows, where they do not show the same time.
    const shown = (view.own ?? []).map(({ from, to }, side) => {
      const point = (ns) => (ns === 0 ? "0" : moment(ns, to, (to - from) / 1000));
      const text = say("from_to", { start: point(from), end: point(to) });
      return element("p", "", say("labelled", { label: view.sides[side].label, text }));
    });
    content.replaceChildren(...shown, table, ...more);
  }

  box.addEventListener("toggle", fill);
  return {
    box,
    moved() {
      if (!box.open) return;
      clearTimeout(timer);
      timer = setTimeout(fill, DELAY);
    },
  };
}
