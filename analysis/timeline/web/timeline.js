/* The timeline: one or two runs on one time scale.

   mount(root, payload, {columns, theme, mode, byGroup, ask, onSelect}) draws into `root` and returns
   {update(payload, columns), answer(bytes), select(row), selectGroup(id), showStretch(spans,
   rows), setTheme(theme), destroy()}; `columns` are the bytes behind a payload that came with them,
   `spans` are [from, to] of each side in ns, or null, and
   `rows` those of the operators to light there. ask(question) takes a question to the server, as questions.js says;
   `answer` takes what it answers. onSelect(row, group), either may be null, is called when the user
   selects something else. `mode` is one of modes.js, to
   begin with; with `byGroup` a selected operator always lights its whole fusion group. Times are
   integer ns from the start of the run. Every text of the payload comes from a trace and is
   hostile: it is drawn on the canvas or set as textContent, never read as markup. The root's data-*
   attributes say what is shown: mode, from-ns, to-ns, selected-row, selected-group,
   highlighted-<side> (calls), over-group, lane-centres (px below the canvas's top), plot-left, band
   (px: top and bottom of the ribbons), launches (drawn and in view, of what is selected), folded-lanes (how many are), stretch (from and to, in ns), hits (place and
   count of what is searched), axes (what each side shows, where they have their own), active (the
   side that keys move then), level
   (where not every call is here: bins are 2**level ns long; "exact" where there are none), fine
   (likewise: whether nothing finer is waited for). */

import { createContent } from "./input/content.js";
import { createCursor } from "./input/cursor.js";
import { createDetailLine } from "./page/detail_line.js";
import { createFolded } from "./page/folded.js";
import { createHostLine } from "./page/host_line.js";
import { createHelp } from "./page/help.js";
import { listenToKeys } from "./input/keyboard.js";
import { createLegend } from "./page/legend.js";
import { createModes } from "./page/mode_switch.js";
import { createCanvas, createHint, createLive, fillPage } from "./page/page.js";
import { createPainter } from "./drawing/painter.js";
import { createPicking } from "./input/picking.js";
import { createPointer, listenToPointer, listenToWheel } from "./input/pointer.js";
import { createQuestions } from "./data/questions.js";
import { createSearch } from "./input/search.js";
import { createStretch } from "./input/stretch.js";
import { createSummary } from "./page/summary.js";
import { createTheme, listenToPaper } from "./page/theme.js";
import { createTooltip } from "./page/tooltip.js";
import { createViewTable } from "./page/view_table.js";
import { newView } from "./data/view.js";
import { setWords } from "./data/words.js";
import { createWindow } from "./input/window.js";

const MARK_DELAY = 50; // ms
let mounted = 0;

/* The frame that is drawn next: {paint, redraw, stop}. redraw(false) draws what follows the pointer
   alone: only rings and the pointer's line moved. */
function createFrames(root, painter, onPaint) {
  let frame = 0;

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    painter.paint();
    root.dataset.plotLeft = painter.plotLeft;
    root.dataset.laneCentres = painter.rows.map((row) => row.top + row.height / 2).join(" ");
    const { launches } = painter;
    root.dataset.launches = launches ? `${launches.drawn} ${launches.count}` : "";
    onPaint();
    root.dataset.band = painter.band ? `${painter.band.top} ${painter.band.bottom}` : "";
  }

  function redraw(all = true) {
    if (all) painter.invalidate();
    if (!frame) frame = requestAnimationFrame(paint);
  }

  return { paint, redraw, stop: () => cancelAnimationFrame(frame) };
}

function watchSize(on, view, { canvas, redraw }) {
  on(window, "resize", () => redraw()); // also a new devicePixelRatio
  const observer = new ResizeObserver(() => {
    if (view.printing || canvas.clientWidth === view.width) return;
    view.width = canvas.clientWidth;
    redraw();
  });
  observer.observe(canvas);
  return observer;
}

/** @param {{columns?: ArrayBuffer, theme?: string, mode?: string, byGroup?: boolean,
 *   ask?: (question: object) => void,
 *   onSelect?: (row: number | null, group: string | null) => void}} options */
export function mount(root, firstPayload, options = {}) {
  setWords(firstPayload.words);
  const view = newView(options.byGroup === true);
  const stop = new AbortController(); // ends every listener below
  const on = (target, type, action, more = {}) =>
    target.addEventListener(type, action, { signal: stop.signal, ...more });

  const hint = createHint(`fst-hint-${++mounted}`);
  const canvas = createCanvas(hint);
  const live = createLive();
  const painter = createPainter(canvas, view);
  const frames = createFrames(root, painter, () => hostLine.tell(painter.launches));
  const { redraw } = frames;
  const tooltip = createTooltip(view);
  const legend = createLegend(view, redraw);
  const questions = createQuestions(options.ask);
  const timeWindow = createWindow(root, view, {
    live,
    redraw,
    onMove: () => content.moved(),
    onSelect: () => stretch.selectShown(),
  });
  const cursor = createCursor(root, view, {
    canvas,
    painter,
    tooltip,
    live,
    timeWindow,
    unfold({ side, lane }) {
      if (view.unfolded || !view.sides[side].smallLanes[lane]) return;
      view.unfolded = true;
      folded.refresh();
    },
    redraw,
  });
  const folded = createFolded(view, () => {
    cursor.set(null);
    redraw();
  });
  const hostLine = createHostLine(view, () => {
    cursor.set(null);
    redraw();
  });
  const modes = createModes(view, `fst-mode-${mounted}`, options.mode, () => content.place());
  const picking = createPicking(root, view, {
    timeWindow,
    folded,
    redraw,
    // Behind the host's word of it: Streamlit takes one fragment's values at a time.
    onMark: () => setTimeout(() => content.refine(), MARK_DELAY),
    onSelect: options.onSelect,
  });
  const summary = createSummary(view, questions, {
    pick: (call) => picking.pick(call),
    zoomTo: () => stretch.zoomTo(),
    clear: () => stretch.clear(),
  });
  const stretch = createStretch(root, view, { timeWindow, modes, summary, live, redraw });
  const detailLine = createDetailLine(view, questions);
  const viewTable = createViewTable(view, hostLine.shares);
  const help = createHelp();
  const search = createSearch(root, view, {
    questions,
    timeWindow,
    cursor,
    painter,
    canvas,
    live,
  });
  const content = createContent(root, view, {
    canvas,
    cursor,
    painter,
    timeWindow,
    picking,
    legend,
    modes,
    folded,
    hostLine,
    stretch,
    questions,
    detailLine,
    viewTable,
    redraw,
  });
  const theme = createTheme(root, view, {
    painter,
    legend,
    hostLine,
    modes,
    summary,
    tooltip,
    cursor,
    paint: frames.paint,
  });
  fillPage(root, {
    modes,
    legend,
    search,
    tools: timeWindow.tools,
    canvas,
    summary,
    folded,
    hostLine,
    detailLine,
    viewTable,
    help,
    hint,
    tooltip,
    live,
  });

  const pointer = createPointer(view, { canvas, painter, tooltip, cursor, redraw });
  listenToPointer(on, view, { canvas, painter, cursor, pointer, timeWindow, picking, stretch });
  listenToWheel(on, view, { canvas, painter, pointer, timeWindow });
  listenToKeys(on, view, {
    canvas,
    painter,
    cursor,
    timeWindow,
    picking,
    stretch,
    search,
    help,
  });
  listenToPaper(on, theme);
  // The tooltip hangs on the window, the page moves away below it.
  on(window, "scroll", () => {
    cursor.setGroup(null);
    if (view.cursor || tooltip.box.dataset.open !== undefined) cursor.set(null);
  }, { capture: true, passive: true });
  const observer = watchSize(on, view, { canvas, redraw });

  theme.set(options.theme);
  content.update(firstPayload, options.columns);
  // A web font that arrives late changes every width.
  document.fonts?.ready.then(() => {
    if (!stop.signal.aborted) theme.refresh();
  });

  function destroy() {
    stop.abort();
    observer.disconnect();
    frames.stop();
    tooltip.close();
    root.replaceChildren();
    root.classList.remove("fst");
  }

  const { select, selectGroup } = picking;
  return {
    update: content.update,
    answer: questions.receive,
    select,
    selectGroup,
    showStretch(spans, rows) {
      picking.selectRows(rows);
      stretch.show(spans);
    },
    setTheme: theme.set,
    destroy,
  };
}
