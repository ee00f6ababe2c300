/* The stretch of time that is selected: {spans}, for each side {from, to} in ns, or null. Where groups
   are aligned a place is no time, so there is none. */

import { distinctSpans } from "../data/spans.js";

export function createStretch(root, view, { timeWindow, modes, summary, live, redraw }) {
  function set(spans) {
    view.stretch = spans?.some((span) => span) ? { spans } : null;
    root.dataset.stretch = distinctSpans(view.stretch)
      .map(({ from, to }) => `${Math.round(from)} ${Math.round(to)}`).join(", ");
    redraw(false);
  }

  /* The same time of one side, or with -1 of all. */
  const sameOf = (from, to, side) =>
    view.sides.map((_, index) => (side < 0 || index === side ? { from, to } : null));

  function choose(spans) {
    set(view.mode === "aligned" ? null : spans);
    summary.fill();
    if (view.stretch) live.textContent = summary.text();
  }

  /* What the user selects; nothing where it is empty. */
  function select(from, to, side = -1) {
    const [first, last] = [
      Math.max(0, Math.min(from, to)),
      Math.min(view.span, Math.max(from, to)),
    ];
    choose(last <= first ? null : sameOf(first, last, side));
  }

  const clear = () => {
    set(null);
    summary.fill();
  };

  return {
    /* While it is drawn by the pointer: no table yet. */
    draw: (from, to, side = -1) => set(sameOf(Math.min(from, to), Math.max(from, to), side)),
    select,
    selectShown: () => select(view.from, view.to, view.own === null ? -1 : view.active),
    clear,
    /* What the host asks for: of each side [from, to], or null, in the middle of its view and at one
       scale; two places at different times need an axis each. */
    show(asked) {
      if (view.mode === "aligned") modes.choose("time");
      const spans = view.sides.map((_, side) =>
        asked[side]
          ? { from: asked[side][0], to: Math.max(asked[side][1], asked[side][0] + 1) }
          : null
      );
      const size = Math.max(...spans.map((span) => (span ? span.to - span.from : 0)));
      if (distinctSpans({ spans }).length > 1) timeWindow.part();
      spans.forEach((span, side) => {
        if (!span) return;
        timeWindow.activate(side);
        const middle = (span.from + span.to) / 2;
        timeWindow.show(middle - size, middle + size, side);
      });
      choose(spans);
    },
    zoomTo() {
      view.stretch?.spans.forEach((span, side) => {
        if (span && (view.own !== null || span === view.stretch.spans.find((each) => each))) {
          timeWindow.show(span.from, span.to, side);
        }
      });
    },
  };
}
