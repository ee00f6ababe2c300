/* Fusion groups in time: which pieces of the lanes are a group's, how pieces of one side lead to
   those of the other, and where everything stands once groups are aligned. Times are ns. */

import { prepareSide } from "./calls.js";
import { hostOf } from "./host.js";
import { MODES, toneOf } from "./modes.js";

/* The pieces of each group on one side, by id: stretches of a lane in which no call of another
   group begins, as [start, end], in order. */
function piecesOf(side) {
  const pieces = new Map();
  for (const lane of side.lanes) {
    let last = null;
    let piece = null;
    for (let i = 0; i < lane.count; i++) {
      const group = side.groupOf[lane.op[i]] ?? null;
      if (group === null || group !== last) piece = null;
      last = group;
      if (group === null) continue;
      if (piece === null) {
        piece = [lane.start[i], lane.end[i]];
        if (!pieces.has(group)) pieces.set(group, []);
        pieces.get(group).push(piece);
      }
      piece[1] = Math.max(piece[1], lane.end[i]);
    }
  }
  for (const each of pieces.values()) each.sort((a, b) => a[0] - b[0]);
  return pieces;
}

/* What of `pieces` lies between the fractions `from` and `to` of their length, counted in order;
   both fall into piece `index`, which begins at the fraction `begun`. */
function cutOut(pieces, total, { index, begun }, from, to) {
  const [start, end] = pieces[index];
  if (total <= 0) return [start, end];
  return [
    Math.min(end, start + (from - begun) * total),
    Math.min(end, start + (to - begun) * total),
  ];
}

const lengthOf = (pieces) => pieces.reduce((sum, [start, end]) => sum + end - start, 0);

/* Ribbons of one group: pieces of both sides laid end to end share the group in proportion, so
   that several pieces lead to one without lying on each other. */
function joinPieces(group, before, after, ribbons) {
  const totals = [lengthOf(before), lengthOf(after)];
  const at = [{ index: 0, begun: 0 }, { index: 0, begun: 0 }];
  let from = 0;
  while (at[0].index < before.length && at[1].index < after.length) {
    const ends = [before, after].map((pieces, side) => {
      const last = at[side].index === pieces.length - 1;
      const [start, end] = pieces[at[side].index];
      return last || totals[side] <= 0 ? 1 : at[side].begun + (end - start) / totals[side];
    });
    const to = Math.max(from, Math.min(...ends));
    ribbons.push({
      group,
      top: cutOut(before, totals[0], at[0], from, to),
      bottom: cutOut(after, totals[1], at[1], from, to),
    });
    ends.forEach((end, side) => {
      if (end <= to) at[side] = { index: at[side].index + 1, begun: to };
    });
    from = to;
  }
}

/* For each group of `pieces`: where it would stand on the other side if it had operators there,
   which is where the group before it ends. */
function anchors(pieces, others) {
  const inOrder = Array.from(pieces).flatMap(([group, each]) =>
    each.map((piece) => [piece[0], group])
  );
  inOrder.sort((a, b) => a[0] - b[0]);
  const found = new Map();
  let last = 0;
  for (const [, group] of inOrder) {
    if (others.has(group)) last = others.get(group).at(-1)[1];
    else if (!found.has(group)) found.set(group, last);
  }
  return found;
}

/* All ribbons as {group, top: [start, end], bottom: [start, end]}, in order of the baseline. A
   group without operators on one side tapers to a point there: below its start where groups are
   `aligned`, else behind the group before it. */
function makeRibbons(sides, aligned) {
  const [before, after] = sides.map(piecesOf);
  const [below, above] = aligned
    ? [new Map(), new Map()]
    : [anchors(before, after), anchors(after, before)];
  const ribbons = [];
  const taper = ([start], anchor) => [anchor ?? start, anchor ?? start];
  for (const [group, pieces] of before) {
    if (after.has(group)) joinPieces(group, pieces, after.get(group), ribbons);
    else {for (const piece of pieces) {
        ribbons.push({ group, top: piece, bottom: taper(piece, below.get(group)) });
      }}
  }
  for (const [group, pieces] of after) {
    if (before.has(group)) continue;
    for (const piece of pieces) {
      ribbons.push({ group, top: taper(piece, above.get(group)), bottom: piece });
    }
  }
  return ribbons.sort((a, b) => a.top[0] - b.top[0] || a.bottom[0] - b.bottom[0]);
}

/* Groups in order of their first call on the baseline; calls in no group, and groups that only
   the candidate has, behind what ran before them. Returns slots as lists of calls per side. */
function slotsInOrder(sides) {
  const slot = (host) => ({ host, calls: sides.map(() => []), followers: [] });
  const slots = [slot(null)]; // the first is empty: what the candidate ran before all groups follows it
  const ofGroup = new Map();
  sides.forEach((side, sideIndex) => {
    const { op, start_ns: starts } = side.calls;
    let before = slots[0];
    for (
      const call of Int32Array.from(op, (_, call) => call).sort((a, b) => starts[a] - starts[b])
    ) {
      const group = side.ops.group?.[op[call]] ?? null;
      let at = group === null ? undefined : ofGroup.get(group);
      if (at === undefined) {
        at = slot(sideIndex === 0 ? null : before.host ?? before);
        (at.host?.followers ?? slots).push(at);
        if (group !== null) ofGroup.set(group, at);
      }
      at.calls[sideIndex].push(call);
      before = at;
    }
  });
  return slots.flatMap((each) => [each, ...each.followers]);
}

/* Where every call stands once groups are aligned: {places: [per side: ns per call], span}. All
   calls of a group stand together, in both lanes from the same place on; time between operators
   is left out, calls that ran at the same time still do. */
function alignByGroup(sides) {
  const places = sides.map((side) => new Float64Array(side.calls.op.length));
  let begin = 0;
  for (const slot of slotsInOrder(sides)) {
    let widest = 0;
    slot.calls.forEach((calls, sideIndex) => {
      const { start_ns: starts, dur_ns: durs } = sides[sideIndex].calls;
      let skipped = 0; // idle time left out so far, counted from 0
      let busyUntil = 0;
      for (const call of calls) { // in order of their start
        skipped += Math.max(0, starts[call] - busyUntil);
        busyUntil = Math.max(busyUntil, starts[call] + durs[call]);
        places[sideIndex][call] = begin + starts[call] - skipped;
        widest = Math.max(widest, busyUntil - skipped);
      }
    });
    begin += widest;
  }
  return { places, span: begin };
}

/* Groups lead from one side to the other only where every call of both is here. */
const isLinked = ({ sides, groups, level }) =>
  sides.length === 2 && (groups ?? []).length > 0 && level === undefined;

/* The unpacked payload as `mode` shows it: {mode, sides, span, ribbons}. Without two sides and
   groups that is true time, without ribbons; so it is of `layers`, if not every call is here. */
export function arrange(payload, wanted, layers) {
  if (layers) {
    return { mode: "time", sides: layers.sides, span: Math.max(1, payload.span_ns), ribbons: [] };
  }
  const linked = isLinked(payload);
  const mode = linked && MODES.includes(wanted) ? wanted : "time";
  const aligned = mode === "aligned" ? alignByGroup(payload.sides) : null;
  const sides = payload.sides.map((side, sideIndex) => ({
    ...prepareSide(side, aligned?.places[sideIndex]),
    ...hostOf(side),
  }));
  const joined = linked ? makeRibbons(sides, aligned !== null) : [];
  const toneOfGroup = new Map((payload.groups ?? []).map((group) => [group.id, toneOf(group)]));
  const ribbons = joined.map((each) => ({
    ...each,
    tone: toneOfGroup.get(each.group) ?? toneOf(undefined),
  }));
  return { mode, sides, span: Math.max(1, aligned ? aligned.span : payload.span_ns), ribbons };
}
