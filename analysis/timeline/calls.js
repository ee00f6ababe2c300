/* The payload's calls, sorted for drawing and for finding the one under the pointer. */

const CLASSES = ["convolution", "matrix_product", "attention", "recurrent", "elementwise",
  "activation", "normalisation", "pooling", "reduction", "data_movement", "layout",
  "communication", "other", "unknown"];

const knownClass = (name) => (CLASSES.includes(name) ? name : "unknown");

/* First index in [0, count) where `test` holds, given that it holds from there on. */
function firstWhere(count, test) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function prepareLane(calls, places, members) {
  members.sort((a, b) => places[a] - places[b] || calls.dur_ns[b] - calls.dur_ns[a]);
  const lane = {
    count: members.length,
    call: Int32Array.from(members),
    op: Int32Array.from(members, (call) => calls.op[call]),
    start: Float64Array.from(members, (call) => places[call]),
    end: Float64Array.from(members, (call) => places[call] + calls.dur_ns[call]),
    ran: Float64Array.from(members, (call) => calls.start_ns[call]),
    latest: new Float64Array(members.length),   // latest end so far: calls may nest
  };
  let latest = -Infinity;
  for (let i = 0; i < lane.count; i++) lane.latest[i] = latest = Math.max(latest, lane.end[i]);
  return lane;
}

/* The calls of `lanes` as {lane, index}, by what `keyOf` says of their operator; null is left out. */
function callsBy(lanes, keyOf) {
  const found = new Map();
  lanes.forEach((lane, laneIndex) => {
    for (let index = 0; index < lane.count; index++) {
      const key = keyOf[lane.op[index]] ?? null;
      if (key === null) continue;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push({ lane: laneIndex, index });
    }
  });
  return found;
}

/* One side, its calls drawn at `places` (ns, one a call): where they ran, or aligned by group. */
function prepareSide(side, places = side.calls.start_ns) {
  const members = Array.from({ length: Math.max(1, side.lanes.length) }, () => []);
  side.calls.lane.forEach((lane, call) => members[lane].push(call));
  const lanes = members.map((calls) => prepareLane(side.calls, places, calls));
  const groupOf = side.ops.group ?? [];   // of each operator: the id of its fusion group, or null
  return {
    id: side.id === "candidate" ? "candidate" : "baseline",
    label: plainText(side.label),
    caption: plainText(side.caption),
    dur: side.dur_ns,
    laneLabels: side.lanes.map(plainText),
    ops: side.ops,
    classOf: side.ops.op_class.map(knownClass),
    groupOf,
    lanes,
    byRow: callsBy(lanes, side.ops.row),
    byGroup: callsBy(lanes, groupOf),
  };
}

/* The call of `lane` under time `t`, or -1: the topmost that covers it. A call shorter than
   `reach` that lies within `reach` goes before one longer than `broad`, since nobody could point
   at it otherwise. */
function callAt(lane, t, reach, broad) {
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
function middleCall({ sides, from, to }) {
  for (const [sideIndex, side] of sides.entries()) {
    for (const [laneIndex, lane] of side.lanes.entries()) {
      const index = callAt(lane, (from + to) / 2, (to - from) / 2, Infinity);
      if (index >= 0) return { side: sideIndex, lane: laneIndex, call: lane.call[index] };
    }
  }
  return null;
}

function middleOf({ sides }, { side, lane, call }) {
  const calls = sides[side]?.lanes[lane];
  const index = calls?.call.indexOf(call) ?? -1;
  return index < 0 ? null : (calls.start[index] + calls.end[index]) / 2;
}
