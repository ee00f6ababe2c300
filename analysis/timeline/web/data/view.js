/* What a timeline shows: read by everything that draws or answers the pointer, and changed by the
   parts that own a line of it. */

export function newView(byGroup) {
  return {
    sides: [],
    groups: new Map(), // id -> fusion group
    ribbons: [],
    mode: "time",
    byGroup,
    span: 1,
    from: 0,
    to: 1,
    width: 0,
    palette: null,
    printing: false,
    classLabels: new Map(),
    unfolded: false, // whether lanes of nearly nothing are shown
    selected: null, // as selection.js says
    onlyClass: null, // the class that the legend singles out
    cursor: null, // {side, lane, index, by}: the call with the tooltip, by pointer or keyboard
    overGroup: null, // the group whose ribbon is under the pointer
    stretch: null, // {from, to, side} in ns: what is selected of the time, as input/stretch.js says
    pointerX: null,
  };
}

/* Start and end of a call {side, lane, index} where it is drawn, in ns. */
export function extent(view, { side, lane, index }) {
  const calls = view.sides[side].lanes[lane];
  return [calls.start[index], calls.end[index]];
}
