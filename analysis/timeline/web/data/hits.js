/* Calls whose operator has a text in its name or type, as analysis/timeline/search.py finds them;
   of what is here. */

/* Hits {side, lane, index, start, end} in the order of their starts, of equal ones in that of the
   sides; `text` is in lower case. */
export function hitsOf(view, text) {
  const hits = [];
  view.sides.forEach(({ ops, lanes }, side) => {
    const has = Uint8Array.from(
      ops.op_type,
      (type, op) =>
        Number([ops.name[op], type].some((each) => (each ?? "").toLowerCase().includes(text))),
    );
    lanes.forEach((lane, laneIndex) => {
      for (let index = 0; index < lane.count; index++) {
        if (!has[lane.op[index]]) continue;
        const [start, end] = [lane.start[index], lane.end[index]];
        hits.push({ side, lane: laneIndex, index, start, end });
      }
    });
  });
  return hits.sort((a, b) => a.start - b.start || a.side - b.side || a.lane - b.lane);
}

/* The place of the hit that comes `step` (1 or -1) after the hit at place `last`, or, without one,
   of the first from time `at` on. */
export function nextHit(hits, last, at, step) {
  if (last >= 0) return (last + step + hits.length) % hits.length;
  const found = hits.findIndex((hit) => hit.start >= at);
  return found < 0 ? 0 : found;
}
