/* What is drawn: the payload in the wanted mode, and of one that is not all here the layer that
   shows most of the view. */

import { knownClass, middleCall, middleOf } from "../data/calls.js";
import { arrange } from "../data/groups.js";
import { createLayers } from "../data/layers.js";
import { rowsOf } from "../data/selection.js";
import { plainText } from "../data/text.js";
import { unpackColumns, unpackPayload, unpackShown } from "../data/unpack.js";
import { extent, windowOf } from "../data/view.js";
import { inTurn, say } from "../data/words.js";

const MARGIN = 1; // of the view, on both of its sides: it moves so far without asking
const MOST_PIXELS = 8192;
const MOST_MARKED = 1000; // as question.py takes them

export function createContent(root, view, parts) {
  const { canvas, cursor, painter, timeWindow, picking, legend, modes, folded, stretch, hostLine } =
    parts;
  const { questions, detailLine, viewTable, redraw } = parts;
  let payload = null;

  /* Puts every call where the wanted mode has it; what was in the middle stays there. */
  function place() {
    const size = view.to - view.from;
    const middle = size < view.span && !view.layers ? middleCall(view) : null;
    cursor.clear();
    const before = view.mode;
    Object.assign(view, arrange(payload, modes.wanted, view.layers));
    view.version += 1;
    view.content += 1;
    // Where groups are aligned both sides have one place.
    if (view.mode === "aligned" || view.own?.length !== view.sides.length) view.own = null;
    if (view.own === null) view.active = 0;
    root.dataset.mode = view.mode;
    modes.refresh();
    const centre = middle && middleOf(view, middle);
    if (view.own !== null) timeWindow.show(view.from, view.to);
    else if (centre === null) timeWindow.showAll();
    else timeWindow.show(centre - size / 2, centre + size / 2);
    picking.setSelected(view.selected);
    if (view.mode !== before && view.mode === "aligned") stretch.clear();
    folded.refresh();
    hostLine.fill();
  }

  function update(packed, columns) {
    const next = unpackPayload(packed, columns);
    const { from, to, mode } = view;
    const keep = payload !== null && payload.span_ns === next.span_ns;
    payload = next;
    view.layers = next.level === undefined ? null : createLayers(next);
    view.marks = null;
    view.groups = new Map((next.groups ?? []).map((group) => [group.id, group]));
    view.classLabels = new Map(
      next.classes.map(({ id, label }) => [knownClass(id), plainText(label)]),
    );
    if (view.selected?.side >= 0 && view.selected.row === null || view.selected?.rows) {
      view.selected = null;
    }
    place();
    if (!keep && view.own !== null) timeWindow.showAll();
    if (keep && mode === view.mode) timeWindow.show(from, to);
    if (!keep) stretch.clear();
    const runs = inTurn(
      view.sides.map((side) => say("labelled", { label: side.label, text: side.caption })),
    );
    canvas.setAttribute("aria-label", say("timeline_of", { runs: runs || say("no_run") }));
    legend.fill();
  }

  const windows = (margin = 0) =>
    view.sides.map((_, side) => {
      const { from, to } = windowOf(view, side);
      return [from - (to - from) * margin, to + (to - from) * margin];
    });
  const pixels = () => painter.plotWidth() * Math.min(2, Math.max(1, devicePixelRatio || 1));

  /* Exchanges the layer; the keyboard's call goes with it. */
  function useLayer() {
    const { cursor: at } = view;
    const kept = at?.by === "keyboard" && at.bin === undefined ? extent(view, at) : null;
    if (!view.layers.use(windows())) return;
    view.version += 1;
    if (at === null) return;
    view.cursor = null;
    if (kept) cursor.setAt({ side: at.side, lane: at.lane }, ...kept);
    else cursor.set(null);
  }

  /* Another time is shown. */
  function moved() {
    viewTable.moved();
    if (!view.layers) return detailLine.fill();
    useLayer();
    root.dataset.level = view.layers.isExact() ? "exact" : String(view.layers.level());
    detailLine.fill();
    const isFine = view.layers.isFine(windows(), pixels());
    root.dataset.fine = String(isFine);
    if (!isFine || isUnmarked()) refine();
  }

  /* Whether what is selected has not been looked for in the time that is shown. */
  const isUnmarked = () =>
    view.selected !== null &&
    (view.marks?.of !== view.selected ||
      windows().some(([from, to], side) => {
        const [start, end] = view.marks.windows[side] ?? [0, 0];
        return from < start || to > end || to - from < (end - start) / 4 / (1 + 2 * MARGIN);
      }));

  /* Asks for what the view shows, and what is selected in it. */
  function refine() {
    if (!view.layers || view.width === 0) return;
    questions.ask("windows", () => {
      const { selected } = view;
      const rows = selected ? rowsOf(selected) : [];
      const mark = selected && (rows.length > 0 || selected.side >= 0)
        ? {
          rows: rows.slice(0, MOST_MARKED),
          side: selected.side,
          op: selected.side < 0 ? -1 : view.sides[selected.side].ops.id[selected.op],
        }
        : null;
      return {
        windows: windows(MARGIN).map((each) => each.map(Math.round)),
        pixels: Math.min(MOST_PIXELS, Math.ceil(pixels() * (1 + 2 * MARGIN))),
        mark,
        asking: { selected, sizes: windows().map(([from, to]) => to - from), layers: view.layers },
      };
    }, shown);
  }

  function shown(answer, data, { asking, windows: asked }) {
    if (view.layers !== asking.layers || !answer.shown) return;
    const { sides, level } = answer.shown;
    view.layers.add(sides.map((side) => unpackShown(side, data)), level, asking.sizes);
    view.version += 1;
    if (answer.marks && asking.selected === view.selected) {
      const marked = answer.marks.map(({ count, calls }) => ({
        count,
        calls: prepareMarks(unpackColumns(calls, data)),
      }));
      view.marks = { of: asking.selected, windows: asked, sides: marked };
      picking.tellCounts();
    }
    moved();
    cursor.findSought();
    redraw();
  }

  return { place, update, moved, refine };
}

/** @param {any} calls */
const prepareMarks = ({ lane, start_ns: starts, dur_ns: durs, waits }) =>
  Array.from(starts, (start, i) => ({
    lane: lane[i],
    start,
    end: start + durs[i],
    wait: waits ? waits[i] - 1 : -1,
  }));
