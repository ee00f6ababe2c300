/* What ran in a stretch of time on one side: sums of what lies in it, from the calls as drawn. */

import { firstWhere } from "./calls.js";

/* {from, to, busy, executions, classes, operators, isWhole}: the stretch within the run; the time
   in which anything ran; how many executions; of each class and operator {key, time, count, call},
   most time first, `call` being the longest in it. Not `isWhole` where executions are not drawn. */
export function sumUp(side, sideIndex, from, to) {
  const last = Math.min(to, side.dur);
  const [classes, operators] = [new Map(), new Map()];
  const found = [];
  side.lanes.forEach((lane, laneIndex) => {
    // Calls may nest: what began before may still run.
    let index = firstWhere(lane.count, (i) => lane.latest[i] > from);
    for (; index < lane.count && lane.start[index] < last; index++) {
      const [start, end] = [Math.max(from, lane.start[index]), Math.min(last, lane.end[index])];
      if (end <= start) continue;
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
    executions: found.length,
    classes: inOrder(classes),
    operators: inOrder(operators),
    isWhole: side.notDrawn === 0 || last <= side.shown,
  };
}

function add(sums, key, time, call) {
  const sum = sums.get(key) ?? { key, time: 0, count: 0, longest: -1, call };
  sum.time += time;
  sum.count += 1;
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
