/* What is selected: {row, side, op, group}. `row` is null for an operator in no table and for a
   group; `side` and `op` are -1 where the selection came from outside; `group` may be null. */

/* The group that is lit as a whole, or null: else the selected operator is lit. */
export function litGroup({ selected, mode, byGroup }) {
  if (selected === null || selected.group === null) return null;
  const whole = byGroup || mode !== "time" || (selected.row === null && selected.op < 0);
  return whole ? selected.group : null;
}

export const groupOfCall = (view, { side, lane, index }) =>
  view.sides[side].groupOf[view.sides[side].lanes[lane].op[index]] ?? null;

export function groupOfRow(view, row) {
  const calls = view.sides.flatMap((side, sideIndex) =>
    (side.byRow.get(row) ?? []).map((call) => ({ side: sideIndex, ...call }))
  );
  return calls.map((call) => groupOfCall(view, call)).find((group) => group !== null) ?? null;
}

/* Every call of a group, on all sides, as [{side, lane, index}]. */
export const callsOfGroup = ({ sides }, group) =>
  sides.flatMap((side, sideIndex) =>
    (side.byGroup.get(group) ?? []).map((call) => ({ side: sideIndex, ...call }))
  );

/* Every call of what is lit, on all sides, as [{side, lane, index}]; found once for each. */
export function selectedCalls(view) {
  const { sides, selected } = view;
  if (selected === null) return [];
  const group = litGroup(view);
  const known = view.selectedFound;
  if (known?.sides === sides && known.selected === selected && known.group === group) {
    return known.calls;
  }
  const calls = findSelected(view, group);
  view.selectedFound = { sides, selected, group, calls };
  return calls;
}

function findSelected(view, group) {
  const { sides, selected } = view;
  if (group !== null) return callsOfGroup(view, group);
  if (selected.row !== null) {
    return sides.flatMap((side, sideIndex) =>
      (side.byRow.get(selected.row) ?? []).map((call) => ({ side: sideIndex, ...call }))
    );
  }
  if (selected.side < 0) return [];
  const found = [];
  sides[selected.side].lanes.forEach((lane, laneIndex) => {
    for (let index = 0; index < lane.count; index++) {
      if (lane.op[index] === selected.op) {
        found.push({ side: selected.side, lane: laneIndex, index });
      }
    }
  });
  return found;
}

/* For every side an array that is 1 for the operators to light; the others are dimmed. What is
   selected but not in the runs shown dims nothing. Made anew only when something else is lit. */
export function litOperators(view) {
  const { selected, onlyClass, sides } = view;
  const group = litGroup(view);
  const known = view.litFound;
  const same = known?.sides === sides && known.selected === selected &&
    known.onlyClass === onlyClass && known.group === group;
  if (!same) view.litFound = { sides, selected, onlyClass, group, lit: findLit(view, group) };
  return view.litFound.lit;
}

function findLit({ selected, onlyClass, sides }, group) {
  const isShown = selected !== null &&
    (group !== null
      ? sides.some((side) => side.byGroup.has(group))
      : selected.row !== null
      ? sides.some((side) => side.byRow.has(selected.row))
      : selected.side >= 0);
  return sides.map((side, sideIndex) =>
    Uint8Array.from(side.classOf, (name, op) => {
      if (onlyClass !== null && name !== onlyClass) return 0;
      if (!isShown) return 1;
      if (group !== null) return Number(side.groupOf[op] === group);
      if (selected.row !== null) return Number(side.ops.row[op] === selected.row);
      return Number(selected.side === sideIndex && selected.op === op);
    })
  );
}
