/* What packing.py packed: JSON, and columns of numbers behind it or in it. */

/* A container as the object that it is, whose columns `unpackColumn` finds. */
export function openContainer(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const whole = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
  // Typed arrays must begin at a multiple of their size, wherever the bytes arrived.
  return { whole, data: bytes.slice(8 + size).buffer };
}

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

/* A column as a typed array; a list of numbers, as it is. `data` is that of its container, if it
   is in one. */
export function unpackColumn(column, data) {
  if (Array.isArray(column)) return column;
  const kind = KINDS[column.type];
  const values = column.data === undefined
    ? new kind(data, column.at, column.count)
    : new kind(Uint8Array.from(atob(column.data), (letter) => letter.charCodeAt(0)).buffer);
  if (!column.steps) return values;
  const sums = new Float64Array(values.length);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sums[i] = sum += values[i];
  return sums;
}

/* A column of operators: texts or ids, null where there is none. */
function unpackTexts(column, data) {
  if (Array.isArray(column)) return column;
  if (column.ids) {
    return Array.from(unpackColumn(column.ids, data), (id) => (id > 0 ? id - 1 : null));
  }
  if (!column.of) return unpackColumn(column, data);
  return Array.from(
    unpackColumn(column.of, data),
    (place) => (place > 0 ? column.texts[place - 1] : null),
  );
}

export const unpackColumns = (columns, data) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, unpackColumn(column, data)]),
  );

/* Columns of operators; of an answer they are those of `detail.facts`. */
export function unpackOperators({ told, elsewhere, ...columns }, data) {
  const ops = Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, unpackTexts(column, data)]),
  );
  if (told === undefined) return ops;
  return { ...ops, told, elsewhere: elsewhere.map((side) => unpackColumns(side, data)) };
}

/* The host of a payload with its columns as arrays; undefined for none. */
function unpackHost(host, data) {
  if (!host) return undefined;
  const waits = host.waits && unpackColumn(host.waits, data);
  return { ...host, waits, bars: unpackBars(host.bars, data) };
}

/* Bars and bins, their columns as arrays; undefined for none. */
const unpackBars = (shown, data) =>
  shown &&
  { ...shown, bars: unpackColumns(shown.bars, data), bins: unpackColumns(shown.bins, data) };

/* What windows show of a side (`detail.shown`), its columns as arrays. */
export function unpackShown(shown, data) {
  return {
    ...shown,
    ops: unpackOperators(shown.ops, data),
    host: unpackBars(shown.host, data),
    lanes: shown.lanes.map(({ lane, calls, bins }) => ({
      lane,
      calls: unpackColumns(calls, data),
      bins: unpackColumns(bins, data),
    })),
  };
}

/* A payload, its columns as arrays. */
export function unpackPayload(payload, data) {
  const sides = payload.sides.map((side) =>
    side.shown ? { ...side, shown: unpackShown(side.shown, data) } : {
      ...side,
      ops: unpackOperators(side.ops, data),
      calls: unpackColumns(side.calls, data),
      host: unpackHost(side.host, data),
    }
  );
  return { ...payload, sides };
}
