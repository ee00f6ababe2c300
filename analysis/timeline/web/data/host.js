/* What the host did while the device had nothing running: bars in a lane of their own, below those
   of a side, by their cause. A side has it as `host`, {idle, onDevice, causes, kindOf, lit, waits}:
   of each cause {kind, name, ns, count}; of each call, as numbered in the payload, how long before
   its start it was launched, -1 where that is not known. `hostLane` are the bars that are here.
   Names and stacks come from a trace and are hostile. */

import { NO_BINS } from "./calls.js";
import { plainText } from "./text.js";
import { say } from "./words.js";

export const HOST = -1; // the place of this lane among those of a side

/* As analysis/host/causes.py; each is also the end of a key of words.js. */
export const HOST_KINDS = [
  "data_loading",
  "synchronisation",
  "allocation",
  "copy_waits",
  "compilation",
  "garbage_collection",
  "launching",
  "python",
  "queued",
  "unknown",
];
const BIN_SHARES = 65535; // as levels.py counts shares of a bin

/* A lane of a side, by its place; undefined where the side has none. */
export const laneAt = (view, { side, lane }) =>
  lane === HOST ? view.sides[side].hostLane : view.sides[side].lanes[lane];

/* What is the same of the host wherever its bars are drawn; undefined for a side without it. */
function hostHead(host) {
  if (!host) return undefined;
  const { kind, name, ns, count } = host.causes;
  const causes = kind.map((each, i) => ({
    kind: HOST_KINDS.includes(each) ? each : "unknown",
    name: plainText(name[i]),
    ns: ns[i],
    count: count[i],
  }));
  return {
    idle: host.idle_ns,
    onDevice: host.on_device,
    causes,
    kindOf: causes.map((cause) => HOST_KINDS.indexOf(cause.kind)),
    lit: {
      operators: new Uint8Array(causes.length).fill(1),
      kinds: new Uint8Array(HOST_KINDS.length).fill(1),
    },
    waits: host.waits ? Float64Array.from(host.waits, (wait) => wait - 1) : null,
  };
}

/* Bars as a lane of calls, whose operators are causes; undefined without any. */
export function hostLane(shown) {
  if (!shown) return undefined;
  const { bars, bins, level, paths } = shown;
  const start = Float64Array.from(bars.start_ns);
  const end = start.map((ns, i) => ns + bars.dur_ns[i]);
  const width = 2 ** level;
  return {
    count: start.length,
    call: null,
    op: Int32Array.from(bars.cause),
    start,
    end,
    ran: start,
    waiting: new Float64Array(end.length),
    latest: end, // bars do not overlap
    path: Array.from(bars.path, (place) => (place > 0 ? plainText(paths[place - 1]) : "")),
    bins: bins.at.length === 0 ? NO_BINS : {
      count: bins.at.length,
      width,
      from: Float64Array.from(bins.at, (each) => each * width),
      share: Float32Array.from(bins.busy, (each) => each / BIN_SHARES),
      kind: Uint8Array.from(bins.kind),
      calls: Uint32Array.from(bins.count),
      op: Int32Array.from(bins.op),
      longest: Float64Array.from(bins.longest_ns),
    },
  };
}

export const kindLabel = (kind) => say(`host_${kind}`);
export const causeLabel = ({ kind, name }) => name || kindLabel(kind);

/* The head and the lane of the host of a side of an unpacked payload. */
export const hostOf = ({ host }) => ({ host: hostHead(host), hostLane: hostLane(host?.bars) });

/* Whether the lane of a side is shown. Where groups are aligned a place is no time. */
export const showsHost = (view, side) =>
  side.hostLane !== undefined && !view.hostHidden && view.mode !== "aligned";
