/* What is drawn of a lane: its calls, and bins instead of those too short to be seen. */

import { CLASSES, firstWhere, NO_BINS } from "./calls.js";

const CROWDED = 4; // calls a column from which on bins are made of them
const MOST_LEVELS = 8; // that a lane keeps
const GOLDEN = 0.618034;

/* {calls, bins, lit} of a lane in the window `shown`: `calls` the places of those to draw, null for all;
   `lit` says of each bin whether it is, null where bins are lit by their kind. `columns` of them
   are drawn, each as long as `column` ns. A picture is made of all calls of the lane when it is
   first drawn in some detail, so a frame does not depend on how many there are. */
export function pictureOf(lane, shown, column, columns, kindOf, lit) {
  const whole = { calls: null, bins: lane.bins, lit: null };
  if (lane.count < CROWDED * columns) return whole;
  const first = firstWhere(lane.count, (i) => lane.latest[i] > shown.from);
  const last = firstWhere(lane.count, (i) => lane.start[i] >= shown.to);
  if (last - first < CROWDED * columns) return whole;
  const level = Math.max(0, Math.floor(Math.log2(column)));
  lane.pictures ??= new Map();
  let picture = lane.pictures.get(level);
  if (picture?.of !== lit) {
    picture = { of: lit, ...makePicture(lane, level, kindOf, lit) };
    if (lane.pictures.size >= MOST_LEVELS) lane.pictures.clear();
    lane.pictures.set(level, picture);
  }
  return picture;
}

/* Bins of 2**level ns. Which class a bin is drawn in is decided by shares of its time and a fixed
   noise, as in detail.py; one that is lit before all others. */
function makePicture(lane, level, kindOf, lit) {
  const width = 2 ** level;
  const calls = [];
  const bins = { from: [], share: [], kind: [], lit: [] };
  const times = new Float64Array(2 * CLASSES.length); // of the open bin; the lit ones first
  let open = null;
  let used = 0;

  function close() {
    if (open === null) return;
    const offset = times.subarray(0, CLASSES.length).some((time) => time > 0) ? 0 : CLASSES.length;
    const own = times.subarray(offset, offset + CLASSES.length);
    let left = own.reduce((sum, time) => sum + time, 0) * (((open + 1) * GOLDEN) % 1);
    let kind = 0;
    while (kind < own.length - 1 && (own[kind] === 0 || left >= own[kind])) left -= own[kind++];
    bins.from.push(open * width);
    bins.share.push(Math.min(1, used / width));
    bins.kind.push(kind);
    bins.lit.push(offset === 0 ? 1 : 0);
    times.fill(0);
    used = 0;
  }

  function put(bin, time, op) {
    if (bin !== open) {
      close();
      open = bin;
    }
    used += time;
    // A call of no time is one all the same.
    times[kindOf[op] + (lit[op] ? 0 : CLASSES.length)] += Math.max(time, 1e-6);
  }

  for (let i = 0; i < lane.count; i++) {
    const [start, end] = [lane.start[i], lane.end[i]];
    if (end - start >= width) {
      calls.push(i);
      continue;
    }
    const bin = Math.floor(start / width);
    const split = (bin + 1) * width;
    put(bin, Math.min(end, split) - start, lane.op[i]);
    if (end > split) put(bin + 1, end - split, lane.op[i]);
  }
  close();
  return {
    calls: Int32Array.from(calls),
    bins: {
      ...NO_BINS,
      count: bins.from.length,
      width,
      from: Float64Array.from(bins.from),
      share: Float32Array.from(bins.share),
      kind: Uint8Array.from(bins.kind),
    },
    lit: Uint8Array.from(bins.lit),
  };
}

/* The bin of `lane` at time `t`, or -1. */
export function binAt({ bins }, t) {
  const at = firstWhere(bins.count, (i) => bins.from[i] > t) - 1;
  return at >= 0 && t < bins.from[at] + bins.width ? at : -1;
}
