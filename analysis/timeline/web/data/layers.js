/* Layers of a timeline of which not every call is here: an overview of all of the time, and what
   the server answered about windows of it. A layer is of one side: {level, exact, size, from, to,
   lanes, host, byRow, byGroup}: bins of 2**level ns; whether it has none; the length of the view that it
   was asked for. Sides may show different times, so each takes the layer that is best for it. */

import { unpackOperators } from "./unpack.js";
import { hostLane, hostOf } from "./host.js";
import { callsBy, emptyLane, kindOfClass, knownClass, NO_BINS, sideHead } from "./calls.js";

// Columns of operators: of those that an answer names, and of all.
const NAMED = ["name", "inputs", "outputs", "provider"];
const KNOWN = ["op_type", "op_class", "row", "group", "id"];
const SHARES = 65535; // as detail.py counts shares of a bin
const MOST_LAYERS = 12; // of a side, beside the overview
const FINE = 0.7; // a layer is fine enough for views down to this part of the one it was asked for

/* The operators of a side, as far as they are known: columns that grow with every answer. */
function createOperators() {
  const columns = [...NAMED, ...KNOWN, "elsewhere"];
  const ops = /** @type {any} */ (Object.fromEntries(columns.map((name) => [name, []])));
  const places = new Map(); // id -> place in the columns
  const side = { ops, classOf: [], kindOf: [], groupOf: ops.group };

  /* The places of an answer's operators. */
  function placesOf(found) {
    return Int32Array.from(found.id, (id, i) => {
      let at = places.get(id);
      if (at === undefined) {
        at = places.size;
        places.set(id, at);
        side.classOf[at] = knownClass(found.op_class[i]);
        side.kindOf[at] = kindOfClass(found.op_class[i]);
        for (const name of KNOWN) ops[name][at] = found[name][i];
        ops.elsewhere[at] = null; // not told yet
      }
      if (i < found.told && ops.elsewhere[at] === null) {
        for (const name of NAMED) {
          ops[name][at] = found[name][i];
        }
        ops.elsewhere[at] = found.elsewhere.map(({ count, ns }) => [count[i], ns[i]]);
      }
      return at;
    });
  }

  return { side, add: placesOf };
}

function layerBins({ at, busy, kind, count, op, "longest_ns": longest }, level, places) {
  if (at.length === 0) return NO_BINS;
  const width = 2 ** level;
  return {
    count: at.length,
    width,
    from: Float64Array.from(at, (each) => each * width),
    share: Float32Array.from(busy, (each) => each / SHARES),
    kind: Uint8Array.from(kind),
    calls: Uint32Array.from(count),
    op: Int32Array.from(op, (each) => places[each]),
    longest: Float64Array.from(longest),
  };
}

function layerLane({ calls, bins }, level, places) {
  const start = Float64Array.from(calls.start_ns);
  const end = start.map((ns, i) => ns + calls.dur_ns[i]);
  return {
    count: start.length,
    call: null,
    op: Int32Array.from(calls.op, (each) => places[each]),
    start,
    end,
    ran: start,
    waiting: Float64Array.from(calls.waiting_ns ?? new Float64Array(start.length)),
    latest: end, // calls of a lane do not overlap
    bins: layerBins(bins, level, places),
  };
}

/* What the view takes of a layer. */
const drawnOf = ({ lanes, host, byRow, byGroup }) => ({ lanes, hostLane: host, byRow, byGroup });

/* @returns {{sides, use, add, learn}}: `sides` are those of the view, whose lanes `use`
   exchanges for those of the finest layer that has all of a side's view. */
export function createLayers(payload) {
  const stores = payload.sides.map(createOperators);
  const counts = payload.sides.map((side) => Math.max(1, side.lanes.length));

  function prepared(side, index, level, size) {
    const places = stores[index].add(side.ops);
    const lanes = Array.from({ length: counts[index] }, emptyLane);
    for (const lane of side.lanes) lanes[lane.lane] = layerLane(lane, level, places);
    const { ops } = stores[index].side;
    return {
      level,
      exact: lanes.every(({ bins }) => bins.count === 0),
      size,
      from: side.from,
      to: side.to,
      lanes,
      host: hostLane(side.host),
      byRow: callsBy(lanes, ops.row),
      byGroup: callsBy(lanes, ops.group),
    };
  }

  const overview = payload.sides.map((side, index) =>
    prepared(side.shown, index, side.shown.level ?? payload.level, payload.span_ns)
  );
  const details = payload.sides.map(() => []);
  const current = [...overview];
  const sides = payload.sides.map((side, index) => ({
    ...sideHead(side),
    ...stores[index].side,
    ...hostOf(side),
    callsCount: side.calls_count,
    ...drawnOf(overview[index]),
  }));

  /* The layers that have all of a view; what is behind the end of a run is nothing. */
  const covering = (index, [first, last]) => {
    const dur = Math.max(1, payload.sides[index].dur_ns);
    const from = Math.min(Math.max(0, first), dur - 1);
    return [overview[index], ...details[index]].filter((layer) =>
      layer.from <= from && layer.to >= Math.min(dur, last)
    );
  };

  return {
    sides,
    /* Takes the layers for a view; whether one is another than before. */
    use(windows) {
      let changed = false;
      sides.forEach((side, index) => {
        const best = covering(index, windows[index]).reduce(
          (one, other) => (other.level < one.level || other.exact ? other : one),
          overview[index],
        );
        if (best === current[index]) return;
        changed = true;
        current[index] = best;
        Object.assign(side, drawnOf(best));
      });
      return changed;
    },
    /* Whether what is here is as fine as windows of `pixels` can show. */
    isFine: (windows, pixels) =>
      windows.every(([from, to], index) =>
        covering(index, [from, to]).some(({ exact, size, level }) =>
          exact || to - from >= size * FINE || 2 ** level * pixels <= to - from
        )
      ),
    /* Of the coarsest side. */
    level: () => Math.max(0, ...current.map(({ level }) => level)),
    isExact: () => current.every(({ exact }) => exact),
    /* What an answer shows of each side, whose view was `sizes` ns long. */
    add(shown, level, sizes) {
      shown.forEach((side, index) => {
        const layer = prepared(side, index, side.level ?? level, sizes[index]);
        details[index] = [...details[index].slice(1 - MOST_LAYERS), layer];
      });
    },
    overview: () => overview,
    /* Takes what an answer says of operators. */
    learn(index, ops, data) {
      stores[index].add(unpackOperators(ops, data));
    },
    /* The places of operators of an answer about a side. */
    known: (index, ops) => stores[index].add(ops),
  };
}
