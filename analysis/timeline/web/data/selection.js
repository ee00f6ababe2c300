/* What is selected: {row, rows, side, op, group}. `row` is null for an operator in no table, for a
   group, and where `rows`, which else is not there, are several of them; `side` and `op` are -1 where the selection came from outside; `group` may be null. A call
   is {side, lane, index}, and {side, lane, bin} stands for the longest call of a bin. */

import { CLASSES } from "./calls.js";
import { HOST } from "./host.js";
import { extent } from "./view.js";

/* The group that is lit as a whole, or null: else the selected operator is lit. */
export function litGroup({ selected, mode, byGroup }) {
  if (selected === null || selected.group === null) return null;
  const whole = byGroup || mode !== "time" || (selected.row === null && selected.op < 0);
  return whole ? selected.group : null;
}

/* The operator of a call or of the longest call of a bin. */
export function opOf(view, { side, lane, index, bin, op }) {
  if (op !== undefined) return op;
  const calls = view.sides[side].lanes[lane];
  return bin === undefined ? calls.op[index] : calls.bins.op[bin];
}

export const groupOfCall = (view, call) =>
  call.lane === HOST ? null : view.sides[call.side].groupOf[opOf(view, call)] ?? null;

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

const isMarked = ({ marks, selected }) => marks !== null && marks.of === selected;

/* Every call of what is lit, on all sides, as [{side, lane, index}]; found once for each. Where not
   all calls are here, what the server found in view, as [{side, lane, start, end}]. */
export function selectedCalls(view) {
  const { version, selected } = view;
  if (selected === null) return [];
  const group = litGroup(view);
  const known = view.selectedFound;
  if (known?.version === version && known.selected === selected && known.group === group) {
    return known.calls;
  }
  const calls = isMarked(view)
    ? view.marks.sides.flatMap(({ calls }, side) => calls.map((call) => ({ side, ...call })))
    : findSelected(view, group);
  view.selectedFound = { version, selected, group, calls };
  return calls;
}

/* Those of the selected calls that are pointed at: of several operators the ones in the stretch that
   they were selected with. */
export function pointedCalls(view) {
  const { selected, stretch } = view;
  const calls = selectedCalls(view);
  if (!selected?.rows || stretch === null) return calls;
  return calls.filter((call) => {
    const span = stretch.spans[call.side];
    const [start, end] = extent(view, call);
    return span && end > span.from && start < span.to;
  });
}

/* How many calls of what is lit each side has. */
export const countSelected = (view) =>
  isMarked(view)
    ? view.marks.sides.map(({ count }) => count)
    : view.sides.map((_, side) => selectedCalls(view).filter((call) => call.side === side).length);

/* The rows of what is selected. */
export const rowsOf = ({ row, rows }) => rows ? [...rows] : row === null ? [] : [row];

function findSelected(view, group) {
  const { sides, selected } = view;
  if (group !== null) return callsOfGroup(view, group);
  const rows = rowsOf(selected);
  if (rows.length > 0) {
    return sides.flatMap((side, sideIndex) =>
      rows.flatMap((row) => side.byRow.get(row) ?? [])
        .map((call) => ({ side: sideIndex, ...call }))
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

/* For every side {operators, kinds}: 1 for what is lit; the others are dimmed. `kinds` are the
   classes of bins. What is selected but not in the runs shown dims nothing. Made anew only when
   something else is lit. */
export function litOperators(view) {
  const { selected, onlyClass, version, marks } = view;
  const group = litGroup(view);
  const known = view.litFound;
  const same = known?.version === version && known.selected === selected &&
    known.onlyClass === onlyClass && known.group === group && known.marks === marks;
  if (!same) {
    const lit = findLit(view, group);
    view.litFound = { version, selected, onlyClass, group, marks, lit };
  }
  return view.litFound.lit;
}

function findLit(view, group) {
  const { selected, onlyClass, sides, marks } = view;
  const rows = new Set(selected === null ? [] : rowsOf(selected));
  const isShown = selected !== null &&
    (isMarked(view) && marks.sides.some(({ count }) => count > 0) ||
      (group !== null
        ? sides.some((side) => side.byGroup.has(group))
        : rows.size > 0
        ? sides.some((side) => [...rows].some((row) => side.byRow.has(row)))
        : selected.side >= 0));
  return sides.map((side, sideIndex) => ({
    operators: Uint8Array.from(side.classOf, (name, op) => {
      if (onlyClass !== null && name !== onlyClass) return 0;
      if (!isShown) return 1;
      if (group !== null) return Number(side.groupOf[op] === group);
      if (rows.size > 0) return Number(rows.has(side.ops.row[op]));
      return Number(selected.side === sideIndex && selected.op === op);
    }),
    kinds: Uint8Array.from(
      CLASSES,
      (name) => Number(!isShown && (onlyClass === null || name === onlyClass)),
    ),
  }));
}
