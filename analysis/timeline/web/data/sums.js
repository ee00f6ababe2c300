/* What ran in a stretch of time on one side: sums of what lies in it, from the calls as drawn. */

import { firstWhere } from "./calls.js";
import { unpackOperators } from "./unpack.js";

export const TOGETHER = "together"; // the key of calls that are not here themselves

/* {from, to, busy, executions, classes, operators, width}: the stretch within the run; the time
   in which anything ran; how many executions; of each class and operator {key, time, count, call},
   most time first, `call` being the longest in it. Calls of bins have the key TOGETHER and count
   where they begin; `width` is that of the bins, 0 without any. */
export function sumUp(side, sideIndex, from, to) {
  const last = Math.min(to, side.dur);
  const [classes, operators] = [new Map(), new Map()];
  const found = [];
  let [width, begun] = [0, 0];
  side.lanes.forEach((lane, laneIndex) => {
    const { bins } = lane;
    let bin = firstWhere(bins.count, (i) => bins.from[i] + bins.width > from);
    for (; bin < bins.count && bins.from[bin] < last; bin++) {
      width = bins.width;
      const [start, end] = [Math.max(from, bins.from[bin]), Math.min(last, bins.from[bin] + width)];
      const time = (end - start) * bins.share[bin];
      found.push([start, start + time]);
      for (const sums of [classes, operators]) add(sums, TOGETHER, time, null, bins.calls[bin]);
      begun += bins.calls[bin] - 1; // it is in `found` once
    }
    // Calls may nest: what began before may still run.
    let index = firstWhere(lane.count, (i) => lane.latest[i] > from);
    for (; index < lane.count && lane.start[index] < last; index++) {
      const [start, end] = [Math.max(from, lane.start[index]), Math.min(last, lane.end[index])];
      // What takes no time by the clock of the file is an execution, too.
      if (end < start || (end === start && lane.start[index] < from)) continue;
      found.push([start, end]);
      const op = lane.op[index];
      const call = { side: sideIndex, lane: laneIndex, index };
      add(classes, side.classOf[op], end - start, call);
      add(operators, op, end - start, call);
    }
  });
  return {
    from,
    to: Math.max(from, last),
    busy: union(found),
    executions: found.length + begun,
    classes: inOrder(classes),
    operators: inOrder(operators),
    width,
  };
}

/* Sums of the server (analysis/timeline/sums.py) in the same form. */
export function fromServer(view, { side: index, longest, ops, operators, ...sums }, data) {
  const side = view.sides[index];
  const places = view.layers.known(index, unpackOperators(ops, data));
  return {
    side,
    span: view.stretch.spans[index],
    found: {
      ...sums,
      width: 0,
      operators: operators.map(({ time, count }, i) => {
        const { lane, start_ns: start, dur_ns: dur } = longest[i];
        const call = { side: index, lane, op: places[i], start, end: start + dur };
        return { key: places[i], time, count, call };
      }),
    },
  };
}

/* What is left of the sums of operators, together. */
export const restOf = (sums) => ({
  operators: sums.length,
  time: sums.reduce((total, each) => total + each.time, 0),
  count: sums.reduce((total, each) => total + each.count, 0),
});

function add(sums, key, time, call, count = 1) {
  const sum = sums.get(key) ?? { key, time: 0, count: 0, longest: -1, call };
  sum.time += time;
  sum.count += count;
  if (time > sum.longest) Object.assign(sum, { longest: time, call });
  sums.set(key, sum);
}

const inOrder = (sums) => [...sums.values()].sort((a, b) => b.time - a.time);

function union(intervals) {
  intervals.sort((a, b) => a[0] - b[0]);
  let [sum, reached] = [0, -Infinity];
  for (const [start, end] of intervals) {
    sum += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return sum;
}
