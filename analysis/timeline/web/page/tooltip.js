/* What a call is, as facts; and the box that shows them beside the pointer. */

import { element, swatch } from "./elements.js";
import { CLASSES } from "../data/calls.js";
import { causeLabel, HOST, HOST_KINDS, kindLabel, laneAt } from "../data/host.js";
import { toneOf } from "../data/modes.js";
import { groupOfCall, opOf } from "../data/selection.js";
import { cutMiddle, duration, durationsApart, moment, plainText, share } from "../data/text.js";
import { inRow, say } from "../data/words.js";

const OF_GROUP = "of its group"; // marks facts

/* The facts of one call, as text: [term, value, OF_GROUP or nothing]. `call` is {side, lane, index}. */
function describe(view, call) {
  if (call.lane === HOST) return describeHost(view, call);
  if (call.bin !== undefined) return describeBin(view, call);
  const side = view.sides[call.side];
  const lane = side.lanes[call.lane];
  const op = opOf(view, call);
  const dur = lane.end[call.index] - lane.start[call.index];
  const facts = [
    [
      say("start"),
      side.inOrder
        ? say("no_start")
        : moment(lane.ran[call.index], Math.max(side.dur, 1), dur / 10),
    ],
    [say("duration"), duration(dur)],
    [say(side.inOrder ? "share_drawn" : "share_run"), share(dur, side.dur)],
    [say("waiting"), waitingText(lane.waiting[call.index], dur)],
    [say("inputs"), side.ops.inputs[op]],
    [say("outputs"), side.ops.outputs[op]],
    [say("provider"), side.ops.provider[op]],
  ];
  facts.push([say("lane"), side.laneLabels[call.lane]]);
  const group = view.groups.get(groupOfCall(view, call));
  if (group && group.kind !== "kept") {
    facts.push([say("group"), plainText(groupTitle(group)), OF_GROUP]);
  }
  if (group) facts.push([say("change_of_group"), changeText(group), OF_GROUP]);
  const row = side.ops.row[op] ?? null;
  for (const [place, other] of view.sides.entries()) {
    if (other === side || row === null) continue;
    const name = cutMiddle(other.label, 24, (text) => text.length);
    const time = view.layers ? timeElsewhere(side, op, place) : timeOfRow(other, row);
    facts.push([say("in_side", { side: name }), time]);
  }
  return {
    name: nameOf(side, op),
    type: plainText(side.ops.op_type[op]) || say("untyped"),
    className: side.classOf[op],
    classLabel: view.classLabels.get(side.classOf[op]) ?? side.classOf[op].replace("_", " "),
    facts: facts.filter(([, value]) => (value ?? "") !== "").map((
      [term, value, of],
    ) => [term, plainText(value), of]),
  };
}

/* How long a collective waits for other ranks; "" where that is not known. */
const waitingText = (ns, dur) =>
  ns > 0 ? say("waiting_of", { time: duration(ns), share: share(ns, dur) }) : "";

/* The facts of what the host did in an idle interval, or in those of a bin. */
function describeHost(view, { side: sideIndex, index, bin }) {
  const side = view.sides[sideIndex];
  const { bins, ...lane } = laneAt(view, { side: sideIndex, lane: HOST });
  const { causes, idle } = side.host;
  const cause = causes[bin === undefined ? lane.op[index] : bins.op[bin]];
  const kind = bin === undefined ? cause.kind : HOST_KINDS[bins.kind[bin]];
  const dur = bin === undefined ? lane.end[index] - lane.start[index] : bins.width;
  const from = bin === undefined ? lane.start[index] : bins.from[bin];
  const facts = bin === undefined
    ? [
      [say("duration"), duration(dur)],
      [say("share_run"), share(dur, side.dur)],
      [say("host_stack"), lane.path[index]],
      [
        say("host_all"),
        say("host_in_all", {
          time: duration(cause.ns),
          share: share(cause.ns, idle),
          count: cause.count,
        }),
      ],
    ]
    : [
      [say("host_bin_idle"), share(bins.share[bin], 1)],
      [
        say("longest"),
        say("host_longest", { name: causeLabel(cause), time: duration(bins.longest[bin]) }),
      ],
    ];
  return {
    name: bin === undefined
      ? causeLabel(cause)
      : say("host_bin", { count: bins.calls[bin], width: duration(bins.width) }),
    type: say("host_type"),
    colours: view.palette.host[HOST_KINDS.indexOf(kind)],
    classLabel: kindLabel(kind),
    facts: [
      [say("start"), moment(from, Math.max(side.dur, 1), dur / 10)],
      ...facts,
      [say("lane"), say("host_lane")],
    ].filter(([, value]) => value !== ""),
  };
}

/* What the server did not name is named where the view has fewer operators. */
const nameOf = (side, op) =>
  plainText(side.ops.name[op]) ||
  say(side.ops.elsewhere?.[op] === null ? "name_closer" : "unnamed");

/* The facts of a bin: calls that are drawn together. */
function describeBin(view, { side: sideIndex, lane, bin }) {
  const side = view.sides[sideIndex];
  const { bins } = side.lanes[lane];
  const op = bins.op[bin];
  const from = bins.from[bin];
  const className = CLASSES[bins.kind[bin]];
  const longest = say("longest_of", {
    name: nameOf(side, op),
    type: plainText(side.ops.op_type[op]) || say("untyped"),
    time: duration(bins.longest[bin]),
  });
  return {
    name: say("bin", { count: bins.calls[bin], width: duration(bins.width) }),
    type: say("bin_class"),
    className,
    classLabel: view.classLabels.get(className) ?? className.replace("_", " "),
    facts: [
      [say("start"), moment(from, Math.max(side.dur, 1), bins.width / 10)],
      [say("bin_busy"), share(bins.share[bin], 1)],
      [say("longest"), longest],
      [say("lane"), side.laneLabels[lane]],
    ].filter(([, value]) => value !== ""),
  };
}

/* What of the operator's row ran on another side, where not every call is here. */
function timeElsewhere(side, op, place) {
  const found = side.ops.elsewhere[op]?.[place];
  if (!found) return null;
  const [count, ns] = found;
  if (count === 0) return say("no_call");
  return count === 1 ? duration(ns) : say("calls", { time: duration(ns), count });
}

function timeOfRow(side, row) {
  const calls = side.byRow.get(row) ?? [];
  if (calls.length === 0) return say("no_call");
  const lengths = calls.map(({ lane, index }) =>
    side.lanes[lane].end[index] - side.lanes[lane].start[index]
  );
  const total = duration(lengths.reduce((sum, each) => sum + each, 0));
  return calls.length === 1 ? total : say("calls", { time: total, count: calls.length });
}

const NOTHING = { folded: "nothing_folded", removed: "nothing_removed" };
const becomesText = (group) => group.becomes || say(NOTHING[group.kind] ?? "nothing");
const groupTitle = (group) => `${group.pattern || say("nothing")} → ${becomesText(group)}`;
const signed = (ns) => (ns < 0 ? `−${duration(-ns)}` : ns > 0 ? `+${duration(ns)}` : duration(ns));
const changeText = (group) =>
  group.gain_ns === null
    ? say("not_known")
    : say("change_of_mean", { change: signed(-group.gain_ns) });

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
  ) => (before === null || after === null ? null : durationsApart(before, after).join(" → "));
  const facts = [
    [say("change"), changeText(group)],
    [say("mean"), change(group.before_ns, group.after_ns)],
    [say("these_runs"), change(...sums)],
    ["", group.hurts ? say("hurts") : null],
  ];
  return {
    name: plainText(group.pattern) || say("nothing"),
    type: group.kind === "kept" ? say("kept") : `→ ${plainText(becomesText(group))}`,
    tone: toneOf(group),
    facts: facts.filter(([, value]) => value !== null),
  };
}

/* A line for a screen reader. */
export function spoken(view, call) {
  const { name, type, classLabel, facts } = describe(view, call);
  const side = view.sides[call.side];
  if (call.bin !== undefined) {
    return inRow([name, ...facts.map(([term, value]) => `${term} ${value}`)]);
  }
  if (call.lane === HOST) {
    const cause = [...new Set([name, type, classLabel])];
    const text = inRow([...cause, ...facts.map(([term, value]) => `${term} ${value}`)]);
    return say("labelled", { label: side.label, text });
  }
  const told = view.mode === "time"
    ? facts.slice(0, 3)
    : facts.filter(([, , of], i) => i < 3 || of === OF_GROUP);
  return say("spoken", {
    side: side.label,
    number: call.index + 1,
    count: side.lanes[call.lane].count,
    name,
    type,
    class: classLabel,
    facts: inRow(told.map(([term, value]) => `${term} ${value}`)),
  });
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
    const { name, type, className, colours, classLabel, facts } = describe(view, call);
    const kind = name === classLabel ? type : `${type} · ${classLabel}`;
    fillBox(name, colours ?? view.palette.classes[className], kind, facts);
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
