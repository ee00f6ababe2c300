/* What the user or the host picks becomes the selection; the host hears of the user's. */

import { HOST } from "../data/host.js";
import { countSelected, groupOfCall, groupOfRow, opOf, selectedCalls } from "../data/selection.js";
import { extent, windowOf } from "../data/view.js";

/* `onMark` is called when something else is selected. */
export function createPicking(root, view, { timeWindow, folded, redraw, onMark, onSelect }) {
  function setSelected(next) {
    view.selected = next;
    root.dataset.selectedRow = next?.row ?? "";
    root.dataset.selectedGroup = next?.group ?? "";
    delete root.dataset.highlightedBaseline;
    delete root.dataset.highlightedCandidate;
    view.marks = null;
    onMark();
    tellCounts();
    redraw();
  }

  function tellCounts() {
    const counts = countSelected(view);
    view.sides.forEach((side, sideIndex) => {
      const name = side.id === "candidate" ? "highlightedCandidate" : "highlightedBaseline";
      root.dataset[name] = counts[sideIndex];
    });
  }

  /* The user picks a call, or a group, or nothing. */
  function pick(call, group = null) {
    if (call?.lane === HOST) return; // no operator: what is selected stays
    const before = view.selected;
    if (call !== null) {
      const op = opOf(view, call);
      setSelected({
        row: view.sides[call.side].ops.row[op] ?? null,
        side: call.side,
        op,
        group: groupOfCall(view, call),
      });
    } else setSelected(group === null ? null : { row: null, side: -1, op: -1, group });
    const after = view.selected;
    const same = ["row", "group"].every((part) =>
      (before?.[part] ?? null) === (after?.[part] ?? null)
    );
    if (!same) onSelect?.(after?.row ?? null, after?.group ?? null);
  }

  function revealSelected() {
    const chosen = selectedCalls(view);
    if (
      !view.unfolded && chosen.length > 0 &&
      chosen.every(({ side, lane }) => view.sides[side].smallLanes[lane])
    ) {
      view.unfolded = true;
      folded.refresh();
      redraw();
    }
    const perSide = view.sides.map((_, side) => ({
      side,
      calls: chosen.filter((call) => call.side === side).map((call) => extent(view, call)),
    })).filter(({ calls }) => calls.length > 0);
    const hidden = perSide.filter(({ side, calls }) => {
      const { from, to } = windowOf(view, side);
      return calls.every(([start, end]) => end <= from || start >= to);
    });
    if (hidden.length === 0) return;
    if (view.own !== null) {
      for (const { side, calls } of hidden) timeWindow.reveal(...calls[0], side);
      return;
    }
    const first = perSide.map(({ calls }) => calls[0]);
    timeWindow.reveal(
      Math.min(...first.map(([start]) => start)),
      Math.max(...first.map(([, end]) => end)),
    );
  }

  function select(row = null) {
    // An operator in no table stays picked: the host knows nothing of it. So does a group.
    if (row === (view.selected?.row ?? null)) return;
    setSelected(row === null ? null : { row, side: -1, op: -1, group: groupOfRow(view, row) });
    revealSelected();
  }

  function selectGroup(group = null) {
    if (group === (view.selected?.group ?? null)) return;
    setSelected(group === null ? null : { row: null, side: -1, op: -1, group });
    revealSelected();
  }

  /* Operators of several rows at once, which the host does not follow; none leaves what is
     selected. */
  function selectRows(rows) {
    if (rows.length === 0) return;
    setSelected({ row: null, rows: new Set(rows), side: -1, op: -1, group: null });
  }

  return { setSelected, tellCounts, pick, select, selectGroup, selectRows };
}
