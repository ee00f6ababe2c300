/* What a timeline shows: read by everything that draws or answers the pointer, and changed by the
   parts that own a line of it. */

import { firstWhere } from "./calls.js";
import { laneAt } from "./host.js";

export function newView(byGroup) {
  return {
    sides: [],
    groups: new Map(), // id -> fusion group
    ribbons: [],
    mode: "time",
    byGroup,
    span: 1,
    from: 0, // what is shown: of all sides, else of the active one
    to: 1,
    own: null, // where sides have axes of their own, what each shows, as {from, to}
    active: 0, // the side that keys and buttons move then
    width: 0,
    palette: null,
    printing: false,
    classLabels: new Map(),
    hostHidden: false, // whether the lanes of the host are folded away
    unfolded: false, // whether lanes of nearly nothing are shown
    selected: null, // as selection.js says
    onlyClass: null, // the class that the legend singles out
    cursor: null, // {side, lane, index, by}: the call with the tooltip, by pointer or keyboard
    overGroup: null, // the group whose ribbon is under the pointer
    marks: null, // {of, sides}: what the server found of the selection `of`, as selection.js says
    layers: null, // where not every call is here, as layers.js says
    content: 0, // counts payloads and modes: what is made of all of it is made anew with it
    sought: null, // {place, start, end}: the call to go to once it is here, as input/cursor.js says
    version: 0, // of what the sides have: what is made of them is made anew with it
    stretch: null, // {spans}: what is selected of the time of each side, as input/stretch.js says
    pointerX: null,
  };
}

/* What a side shows, as {from, to} in ns. */
export const windowOf = (view, side) => view.own?.[side] ?? view;

/* Start and end of a call or bin where it is drawn, in ns. */
export function extent(view, { side, lane, index, bin, start, end }) {
  if (start !== undefined) return [start, end];
  const calls = laneAt(view, { side, lane });
  if (bin === undefined) return [calls.start[index], calls.end[index]];
  return [calls.bins.from[bin], calls.bins.from[bin] + calls.bins.width];
}

/* A call {side, lane, index} that starts at `start`, wherever its lane has it by now; null where it
   has it no more. */
export function callFrom(view, { side, lane, index: known }, start) {
  if (!view.layers && known !== undefined) return { side, lane, index: known };
  const calls = laneAt(view, { side, lane });
  if (calls === undefined) return null;
  const index = firstWhere(calls.count, (i) => calls.start[i] >= start);
  return index < calls.count && calls.start[index] === start ? { side, lane, index } : null;
}
