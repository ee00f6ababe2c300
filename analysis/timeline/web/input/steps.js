/* Where the keyboard goes from call to call. `rows` are the painter's; a call is {side, lane,
   index}, and view.cursor is the one to start from, or null. */

import { firstWhere } from "../data/calls.js";
import { laneAt } from "../data/host.js";
import { windowOf } from "../data/view.js";

export const callIn = ({ side, lane }, index) => ({ side, lane, index });

/* Lanes with calls, and the place of the cursor's lane among them. */
function filledRows(view, rows) {
  const filled = rows.filter((row) => laneAt(view, row).count > 0);
  const at = filled.findIndex(({ side, lane }) =>
    view.cursor?.bin === undefined && side === view.cursor?.side && lane === view.cursor?.lane
  );
  return [filled, at];
}

/* The call after (+1) or before (-1) the cursor's, over the end of a lane into the next one;
   without a cursor the first in view. */
export function neighbour(view, rows, by) {
  const [filled, at] = filledRows(view, rows);
  if (filled.length === 0) return null;
  if (at < 0) {
    const lane = laneAt(view, filled[0]);
    return callIn(
      filled[0],
      Math.min(
        lane.count - 1,
        firstWhere(lane.count, (i) => lane.latest[i] > windowOf(view, filled[0].side).from),
      ),
    );
  }
  const index = view.cursor.index + by;
  if (index >= 0 && index < laneAt(view, filled[at]).count) return callIn(filled[at], index);
  const next = filled[at + by];
  return next ? callIn(next, by > 0 ? 0 : laneAt(view, next).count - 1) : view.cursor;
}

/* The call at the same time in the lane below (+1) or above (-1). */
export function across(view, rows, by) {
  const [filled, at] = filledRows(view, rows);
  if (at < 0) return neighbour(view, rows, 1);
  const next = filled[at + by];
  if (!next) return view.cursor;
  const time = laneAt(view, view.cursor).start[view.cursor.index];
  const lane = laneAt(view, next);
  return callIn(next, Math.max(0, firstWhere(lane.count, (i) => lane.start[i] > time) - 1));
}
