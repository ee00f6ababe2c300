/* The stretch of time that is selected: {from, to, side}, `side` -1 for all of them. Where groups
   are aligned a place is no time, so there is none. */

export function createStretch(root, view, { timeWindow, modes, summary, live, redraw }) {
  function set(next) {
    view.stretch = next;
    root.dataset.stretch = next ? `${Math.round(next.from)} ${Math.round(next.to)}` : "";
    redraw(false);
  }

  /* What the user selects; nothing where it is empty. */
  function select(from, to, side = -1) {
    const [first, last] = [
      Math.max(0, Math.min(from, to)),
      Math.min(view.span, Math.max(from, to)),
    ];
    set(view.mode === "aligned" || last <= first ? null : { from: first, to: last, side });
    summary.fill();
    if (view.stretch) live.textContent = summary.text();
  }

  const clear = () => {
    set(null);
    summary.fill();
  };

  return {
    /* While it is drawn by the pointer: no table yet. */
    draw: (from, to, side = -1) => set({ from: Math.min(from, to), to: Math.max(from, to), side }),
    select,
    selectShown: () => select(view.from, view.to, view.own === null ? -1 : view.active),
    clear,
    /* What the host asks for: a stretch of one side, by its id, in the middle of the view. */
    show(id, from, to) {
      if (view.mode === "aligned") modes.choose("time");
      const size = Math.max(1, to - from);
      const side = view.sides.findIndex((each) => each.id === id);
      timeWindow.activate(side);
      timeWindow.show(from - size / 2, to + size / 2);
      select(from, Math.max(to, from + 1), side);
    },
    zoomTo() {
      if (view.stretch) timeWindow.show(view.stretch.from, view.stretch.to, view.stretch.side);
    },
  };
}
