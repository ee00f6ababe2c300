/* Spans of a stretch, as input/stretch.js says. */

/* Those that differ, in the order of their sides. */
export const distinctSpans = (stretch) =>
  (stretch?.spans ?? []).filter((span, side, all) =>
    span && all.findIndex((each) => each && each.from === span.from && each.to === span.to) === side
  );
