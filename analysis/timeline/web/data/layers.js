/* Layers of a timeline of which not every call is here: an overview of all of the time, and what
   the server answered about windows of it. A layer is {level, exact, size, sides}: bins of
   2**level ns; whether it has no bins; the length of the view that it was asked for; and per side
   {from, to, lanes, byRow, byGroup}. */

import { unpackOperators } from "./unpack.js";
import { callsBy, emptyLane, kindOfClass, knownClass, NO_BINS, sideHead } from "./calls.js";

// Columns of operators: of those that an answer names, and of all.
const NAMED = ["name", "inputs", "outputs", "provider"];
const KNOWN = ["op_type", "op_class", "row", "group", "id"];
const SHARES = 65535; // as detail.py counts shares of a bin
const MOST_LAYERS = 12; // beside the overview
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
    latest: end, // calls of a lane do not overlap
    bins: layerBins(bins, level, places),
  };
}

/* @returns {{sides, use, fits, add, merge}}: `sides` are those of the view, whose lanes `use`
   exchanges for those of the finest layer that has the whole view. */
export function createLayers(payload) {
  const stores = payload.sides.map(createOperators);
  const counts = payload.sides.map((side) => Math.max(1, side.lanes.length));

  function prepared(shown, level, size) {
    const sides = shown.map((side, index) => {
      const places = stores[index].add(side.ops);
      const lanes = Array.from({ length: counts[index] }, emptyLane);
      for (const lane of side.lanes) lanes[lane.lane] = layerLane(lane, level, places);
      const { ops } = stores[index].side;
      return {
        from: side.from,
        to: side.to,
        lanes,
        byRow: callsBy(lanes, ops.row),
        byGroup: callsBy(lanes, ops.group),
      };
    });
    const exact = sides.every(({ lanes }) => lanes.every(({ bins }) => bins.count === 0));
    return { level, exact, size, sides };
  }

  const overview = prepared(
    payload.sides.map((side) => side.shown),
    payload.level,
    payload.span_ns,
  );
  let details = [];
  let current = overview;
  const sides = payload.sides.map((side, index) => ({
    ...sideHead(side),
    ...stores[index].side,
    callsCount: side.calls_count,
    ...overview.sides[index],
  }));

  /* Whether a layer has all of a view; what is behind the end of a run is nothing. */
  const covers = (layer, windows) =>
    layer.sides.every(({ from, to }, index) => {
      const dur = Math.max(1, payload.sides[index].dur_ns);
      const [first, last] = windows[index];
      return from <= Math.min(Math.max(0, first), dur - 1) && to >= Math.min(dur, last);
    });

  const fine = (layer, size) => layer.exact || size >= layer.size * FINE;

  return {
    sides,
    /* Takes the layer for a view; whether it is another one than before. */
    use(windows) {
      const found = details.filter((layer) => covers(layer, windows));
      const best = found.reduce(
        (one, other) => (other.level < one.level || other.exact ? other : one),
        overview,
      );
      if (best === current) return false;
      current = best;
      sides.forEach((side, index) => Object.assign(side, best.sides[index]));
      return true;
    },
    /* Whether what is here is as fine as a view of that size, with `pixels`, can show. */
    isFine(windows, size, pixels) {
      const layers = [overview, ...details].filter((layer) => covers(layer, windows));
      return layers.some((layer) => fine(layer, size) || 2 ** layer.level * pixels <= size);
    },
    level: () => current.level,
    isExact: () => current.exact,
    add(shown, level, size) {
      details = [...details.slice(1 - MOST_LAYERS), prepared(shown, level, size)];
    },
    overview: () => overview.sides,
    /* Takes what an answer says of operators. */
    learn(index, ops, data) {
      stores[index].add(unpackOperators(ops, data));
    },
    /* The places of operators of an answer about a side. */
    known: (index, ops) => stores[index].add(ops),
  };
}
