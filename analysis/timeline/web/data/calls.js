/* The payload's calls, sorted for drawing and for finding the one under the pointer. */

import { plainText } from "./text.js";
import { say } from "./words.js";

export const CLASSES = [
  "convolution",
  "matrix_product",
  "grouped_product",
  "attention",
  "recurrent",
  "elementwise",
  "activation",
  "normalisation",
  "pooling",
  "softmax",
  "rotary",
  "routing",
  "sampling",
  "reduction",
  "optimizer",
  "quantisation",
  "kv_cache",
  "embedding",
  "data_movement",
  "copy",
  "cast",
  "layout",
  "communication",
  "other",
  "unknown",
];

const CLASS_NUMBERS = new Map(CLASSES.map((name, number) => [name, number]));
export const knownClass = (name) => (CLASS_NUMBERS.has(name) ? name : "unknown");

/* First index in [0, count) where `test` holds, given that it holds from there on. */
export function firstWhere(count, test) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Bins of calls that are too short to be there themselves, in order; empty where all are. Bin i is
   from `from[i]` on `width` ns long; something short ran in the part `share[i]` of it; `kind` is the
   number of the class that it is drawn in, `calls` how many begin in it, `op` that of the longest,
   which is `longest` ns long. */
export const NO_BINS = {
  count: 0,
  width: 1,
  from: new Float64Array(0),
  share: new Float32Array(0),
  kind: new Uint8Array(0),
  calls: new Uint32Array(0),
  op: new Int32Array(0),
  longest: new Float64Array(0),
};

/* The calls `members` of one lane as columns, in the order in which they are drawn. */
function prepareLane(calls, places, members) {
  const inOrder = (a, b) => places[a] - places[b] || calls.dur_ns[b] - calls.dur_ns[a];
  if (members.some((call, i) => i > 0 && inOrder(members[i - 1], call) > 0)) members.sort(inOrder);
  const count = members.length;
  const lane = {
    count,
    call: members,
    op: new Int32Array(count),
    start: new Float64Array(count),
    end: new Float64Array(count),
    ran: new Float64Array(count),
    waiting: new Float64Array(count), // for other ranks, 0 where that is not known
    latest: new Float64Array(count), // latest end so far
    bins: NO_BINS,
  };
  let latest = -Infinity;
  for (let i = 0; i < count; i++) {
    const call = members[i];
    lane.op[i] = calls.op[call];
    lane.start[i] = places[call];
    lane.end[i] = places[call] + calls.dur_ns[call];
    lane.ran[i] = calls.start_ns[call];
    lane.waiting[i] = calls.waiting_ns?.[call] ?? 0;
    lane.latest[i] = latest = Math.max(latest, lane.end[i]);
  }
  return lane;
}

/* The calls of each of `count` lanes, as arrays of their numbers. */
function membersOf(laneOfCall, count) {
  const sizes = new Uint32Array(count);
  for (let call = 0; call < laneOfCall.length; call++) sizes[laneOfCall[call]] += 1;
  const members = Array.from(sizes, (size) => new Int32Array(size));
  sizes.fill(0);
  for (let call = 0; call < laneOfCall.length; call++) {
    const lane = laneOfCall[call];
    members[lane][sizes[lane]++] = call;
  }
  return members;
}

/* The lane without calls. */
export const emptyLane = () =>
  prepareLane({ op: [], start_ns: [], dur_ns: [] }, [], new Int32Array(0));

/* The calls of `lanes` as {lane, index}, by what `keyOf` says of their operator; null is left out.
   Looked up when asked for: of 250 000 calls nobody asks for all. */
export function callsBy(lanes, keyOf) {
  const known = new Set(Array.from(keyOf).filter((key) => (key ?? null) !== null));
  const found = new Map();
  return {
    has: (key) => known.has(key),
    get(key) {
      if (!known.has(key)) return undefined;
      if (!found.has(key)) {
        const calls = [];
        lanes.forEach((lane, laneIndex) => {
          for (let index = 0; index < lane.count; index++) {
            if (keyOf[lane.op[index]] === key) calls.push({ lane: laneIndex, index });
          }
        });
        if (found.size >= 64) found.clear();
        found.set(key, calls);
      }
      return found.get(key);
    },
  };
}

/* What is the same of a side wherever its calls are drawn. */
export function sideHead(side) {
  return {
    id: side.id === "candidate" ? "candidate" : "baseline",
    label: plainText(side.label),
    caption: plainText(side.caption),
    folded: plainText(side.folded),
    dur: side.dur_ns,
    inOrder: side.in_order === true, // without start times
    unrecorded: side.unrecorded ?? [], // pieces of time in which something may run that is not here
    waits: side.waits === true, // some collectives are known to wait
    laneLabels: side.lanes.map(({ label, depth }) => laneLabel(plainText(label), depth ?? 0)),
    smallLanes: side.lanes.map(({ small }) => small === true),
  };
}

/* What runs inside calls of a lane has a lane of its own. */
const laneLabel = (label, depth) =>
  depth === 0 ? label : say(label ? "lane_inside" : "inside", { lane: label, depth });

export const kindOfClass = (name) => CLASS_NUMBERS.get(knownClass(name));

/* One side, its calls drawn at `places` (ns, one a call): where they ran, or aligned by group. */
export function prepareSide(side, places = side.calls.start_ns) {
  const lanes = membersOf(side.calls.lane, Math.max(1, side.lanes.length))
    .map((members) => prepareLane(side.calls, places, members));
  const groupOf = side.ops.group ?? []; // of each operator: the id of its fusion group, or null
  return {
    ...sideHead(side),
    ops: side.ops,
    classOf: side.ops.op_class.map(knownClass),
    kindOf: Uint8Array.from(side.ops.op_class, kindOfClass),
    groupOf,
    lanes,
    byRow: callsBy(lanes, side.ops.row),
    byGroup: callsBy(lanes, groupOf),
  };
}

/* The call of `lane` under time `t`, or -1: the topmost that covers it. A call shorter than
   `reach` that lies within `reach` goes before one longer than `broad`, since nobody could point
   at it otherwise. */
export function callAt(lane, t, reach, broad) {
  let covering = -1;
  let nearest = -1;
  let distance = Infinity;
  const after = firstWhere(lane.count, (i) => lane.start[i] > t + reach);
  for (let i = after - 1; i >= 0 && lane.latest[i] >= t - reach; i--) {
    const covers = lane.start[i] <= t && lane.end[i] > t;
    if (covers && covering < 0) covering = i;
    const away = covers ? 0 : Math.max(lane.start[i] - t, t - lane.end[i]);
    if (lane.end[i] - lane.start[i] < reach && away <= reach && away < distance) {
      nearest = i;
      distance = away;
    }
  }
  if (covering < 0) return nearest;
  const isBroad = lane.end[covering] - lane.start[covering] >= broad;
  return nearest >= 0 && isBroad ? nearest : covering;
}

/* The call that is in the middle of the view, as {side, lane, call}, or null; and the time at which
   that call is in the middle of another view. */
export function middleCall({ sides, from, to }) {
  for (const [sideIndex, side] of sides.entries()) {
    for (const [laneIndex, lane] of side.lanes.entries()) {
      const index = callAt(lane, (from + to) / 2, (to - from) / 2, Infinity);
      if (index >= 0) return { side: sideIndex, lane: laneIndex, call: lane.call[index] };
    }
  }
  return null;
}

export function middleOf({ sides }, { side, lane, call }) {
  const calls = sides[side]?.lanes[lane];
  const index = calls?.call.indexOf(call) ?? -1;
  return index < 0 ? null : (calls.start[index] + calls.end[index]) / 2;
}
