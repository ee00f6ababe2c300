/* What a call is, as facts; and the box that shows them beside the pointer. */

/* The facts of one call, as text. `call` is {side, lane, index}. */
function describe(view, call) {
  const side = view.sides[call.side];
  const lane = side.lanes[call.lane];
  const op = lane.op[call.index];
  const start = lane.start[call.index];
  const dur = lane.end[call.index] - start;
  const facts = [
    ["start", moment(start, view.span, dur / 10)],
    ["duration", duration(dur)],
    ["share of run", share(dur, side.dur)],
    ["inputs", side.ops.inputs[op]],
    ["outputs", side.ops.outputs[op]],
    ["provider", side.ops.provider[op]],
  ];
  if (side.lanes.length > 1) facts.push(["lane", side.laneLabels[call.lane]]);
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
    facts: facts.filter(([, value]) => (value ?? "") !== "").map(([term, value]) => [term, plainText(value)]),
  };
}

function timeOfRow(side, row) {
  const calls = side.byRow.get(row) ?? [];
  if (calls.length === 0) return "no match";
  const lengths = calls.map(({ lane, index }) => side.lanes[lane].end[index] - side.lanes[lane].start[index]);
  const total = duration(lengths.reduce((sum, each) => sum + each, 0));
  return calls.length === 1 ? total : `${total} in ${calls.length} calls`;
}

/* A line for a screen reader. */
function spoken(view, call) {
  const { name, type, classLabel, facts } = describe(view, call);
  const side = view.sides[call.side];
  const first = facts.slice(0, 3).map((fact) => fact.join(" ")).join(", ");
  return `${side.label}, ${call.index + 1} of ${side.lanes[call.lane].count}: ${name}, ${type}, ${classLabel}, ${first}`;
}

function createTooltip(view) {
  const box = element("div", "fst-tip");
  box.setAttribute("role", "tooltip");
  // In the top layer no container of the page can clip it or lie above it.
  if ("popover" in box) box.popover = "manual";

  function fill(call) {
    const { name, type, className, classLabel, facts } = describe(view, call);
    const kind = element("div", "fst-tip-type");
    kind.append(swatch(view, className), element("span", "", `${type} · ${classLabel}`));
    const list = element("dl");
    for (const [term, value] of facts) list.append(element("dt", "", term), element("dd", "", value));
    box.replaceChildren(element("div", "fst-tip-name", name), kind, list);
  }

  return {
    box,
    fill,
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
