/* What is selected: {row, side, op, group}. `row` is null for an operator in no table and for a
   group; `side` and `op` are -1 where the selection came from outside; `group` may be null. */

/* The group that is lit as a whole, or null: else the selected operator is lit. */
function litGroup({ selected, mode, byGroup }) {
  if (selected === null || selected.group === null) return null;
  const whole = byGroup || mode !== "time" || (selected.row === null && selected.op < 0);
  return whole ? selected.group : null;
}

const groupOfCall = (view, { side, lane, index }) =>
  view.sides[side].groupOf[view.sides[side].lanes[lane].op[index]] ?? null;

function groupOfRow(view, row) {
  const calls = view.sides.flatMap((side, sideIndex) =>
    (side.byRow.get(row) ?? []).map((call) => ({ side: sideIndex, ...call })));
  return calls.map((call) => groupOfCall(view, call)).find((group) => group !== null) ?? null;
}

/* Every call of a group, on all sides, as [{side, lane, index}]. */
const callsOfGroup = ({ sides }, group) =>
  sides.flatMap((side, sideIndex) => (side.byGroup.get(group) ?? []).map((call) => ({ side: sideIndex, ...call })));

/* Every call of what is lit, on all sides, as [{side, lane, index}]. */
function selectedCalls(view) {
  const { sides, selected } = view;
  if (selected === null) return [];
  const group = litGroup(view);
  if (group !== null) return callsOfGroup(view, group);
  if (selected.row !== null) {
    return sides.flatMap((side, sideIndex) => (side.byRow.get(selected.row) ?? []).map((call) => ({ side: sideIndex, ...call })));
  }
  if (selected.side < 0) return [];
  return sides[selected.side].lanes.flatMap((lane, laneIndex) =>
    Array.from(lane.op.keys()).filter((index) => lane.op[index] === selected.op)
      .map((index) => ({ side: selected.side, lane: laneIndex, index })));
}

/* True for the operators to light, as (side, op); the others are dimmed. What is selected but not
   in the runs shown dims nothing. */
function litTest(view) {
  const { selected, onlyClass, sides } = view;
  const group = litGroup(view);
  const known = selected !== null
    && (group !== null ? sides.some((side) => side.byGroup.has(group))
      : selected.row !== null ? sides.some((side) => side.byRow.has(selected.row))
        : selected.side >= 0);
  return (sideIndex, op) => {
    const side = sides[sideIndex];
    if (onlyClass !== null && side.classOf[op] !== onlyClass) return false;
    if (!known) return true;
    if (group !== null) return side.groupOf[op] === group;
    if (selected.row !== null) return side.ops.row[op] === selected.row;
    return selected.side === sideIndex && selected.op === op;
  };
}
