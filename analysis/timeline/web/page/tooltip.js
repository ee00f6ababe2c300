/* What a call is, as facts; and the box that shows them beside the pointer. */

import { element, swatch } from "./elements.js";
import { toneOf, TONES } from "../data/modes.js";
import { groupOfCall } from "../data/selection.js";
import { cutMiddle, duration, moment, plainText, share } from "../data/text.js";

/* The facts of one call, as text. `call` is {side, lane, index}. */
function describe(view, call) {
  const side = view.sides[call.side];
  const lane = side.lanes[call.lane];
  const op = lane.op[call.index];
  const dur = lane.end[call.index] - lane.start[call.index];
  const facts = [
    [
      "start",
      side.inOrder
        ? "not in the file"
        : moment(lane.ran[call.index], Math.max(side.dur, 1), dur / 10),
    ],
    ["duration", duration(dur)],
    [side.inOrder ? "share of the time drawn" : "share of run", share(dur, side.dur)],
    ["inputs", side.ops.inputs[op]],
    ["outputs", side.ops.outputs[op]],
    ["provider", side.ops.provider[op]],
  ];
  facts.push(["lane", side.laneLabels[call.lane]]);
  const group = view.groups.get(groupOfCall(view, call));
  if (group && group.kind !== "kept") facts.push(["group", plainText(groupTitle(group))]);
  if (group) facts.push(["gain of its group", gainText(group)]);
  const row = side.ops.row[op] ?? null;
  for (const other of view.sides) {
    if (other === side || row === null) continue;
    facts.push([`in ${cutMiddle(other.label, 24, (text) => text.length)}`, timeOfRow(other, row)]);
  }
  return {
    name: plainText(side.ops.name[op]) || "unnamed operator",
    type: plainText(side.ops.op_type[op]) || "unknown type",
    className: side.classOf[op],
    classLabel: view.classLabels.get(side.classOf[op]) ?? side.classOf[op].replace("_", " "),
    facts: facts.filter(([, value]) => (value ?? "") !== "").map((
      [term, value],
    ) => [term, plainText(value)]),
  };
}

function timeOfRow(side, row) {
  const calls = side.byRow.get(row) ?? [];
  if (calls.length === 0) return "no match";
  const lengths = calls.map(({ lane, index }) =>
    side.lanes[lane].end[index] - side.lanes[lane].start[index]
  );
  const total = duration(lengths.reduce((sum, each) => sum + each, 0));
  return calls.length === 1 ? total : `${total} in ${calls.length} calls`;
}

const NOTHING = { folded: "nothing: folded into weights", removed: "nothing: not needed" };
const becomesText = (group) => group.becomes || NOTHING[group.kind] || "nothing";
const groupTitle = (group) => `${group.pattern || "nothing"} → ${becomesText(group)}`;
const signed = (ns) => (ns < 0 ? `−${duration(-ns)}` : duration(ns));
const gainText = (
  group,
) => (group.gain_ns === null ? "not known" : `${signed(group.gain_ns)}, mean of all runs`);

/* The facts of one group, as text. */
function describeGroup(view, id) {
  const group = view.groups.get(id);
  const sums = view.sides.map((side) =>
    (side.byGroup.get(id) ?? [])
      .reduce(
        (sum, { lane, index }) => sum + side.lanes[lane].end[index] - side.lanes[lane].start[index],
        0,
      )
  );
  const change = (
    before,
    after,
  ) => (before === null || after === null ? null : `${duration(before)} → ${duration(after)}`);
  const facts = [
    ["gain", gainText(group)],
    ["mean of all runs", change(group.before_ns, group.after_ns)],
    ["these two runs", change(...sums)],
    ["", group.hurts ? "slower beyond noise" : null],
  ];
  return {
    name: plainText(group.pattern) || "nothing",
    type: group.kind === "kept" ? TONES.kept : `→ ${plainText(becomesText(group))}`,
    tone: toneOf(group),
    facts: facts.filter(([, value]) => value !== null),
  };
}

/* A line for a screen reader. */
export function spoken(view, call) {
  const { name, type, classLabel, facts } = describe(view, call);
  const side = view.sides[call.side];
  const told = view.mode === "time"
    ? facts.slice(0, 3)
    : facts.filter(([term], i) => i < 3 || /group$/.test(term));
  const first = told.map((fact) => fact.join(" ")).join(", ");
  return `${side.label}, ${call.index + 1} of ${
    side.lanes[call.lane].count
  }: ${name}, ${type}, ${classLabel}, ${first}`;
}

export function createTooltip(view) {
  const box = element("div", "fst-tip");
  box.setAttribute("role", "tooltip");
  // In the top layer no container of the page can clip it or lie above it.
  if ("popover" in box) box.popover = "manual";

  function fillBox(name, colours, type, facts) {
    const kind = element("div", "fst-tip-type");
    kind.append(swatch(colours), element("span", "", type));
    const list = element("dl");
    for (const [term, value] of facts) {
      list.append(element("dt", "", term), element("dd", "", value));
    }
    box.replaceChildren(element("div", "fst-tip-name", name), kind, list);
  }

  function fill(call) {
    const { name, type, className, classLabel, facts } = describe(view, call);
    fillBox(name, view.palette.classes[className], `${type} · ${classLabel}`, facts);
  }

  function fillGroup(id) {
    const { name, type, tone, facts } = describeGroup(view, id);
    fillBox(name, view.palette.tones[tone], type, facts);
  }

  return {
    box,
    fill,
    fillGroup,
    fillText: (text) => box.replaceChildren(element("div", "fst-tip-name", text)),
    open(clientX, clientY) {
      box.dataset.open = "";
      if (box.showPopover && !box.matches(":popover-open")) box.showPopover();
      const { width, height } = box.getBoundingClientRect();
      const left = clientX + 14 + width > innerWidth - 8 ? clientX - 14 - width : clientX + 14;
      const top = clientY + 18 + height > innerHeight - 8 ? clientY - 14 - height : clientY + 18;
      box.style.left = `${Math.max(8, left)}px`;
      box.style.top = `${Math.max(8, top)}px`;
    },
    close() {
      if (box.hidePopover && box.matches(":popover-open")) box.hidePopover();
      delete box.dataset.open;
    },
  };
}
