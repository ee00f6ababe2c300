/* The timeline: one or two runs on one time scale.

   mount(root, payload, {theme, onSelect}) draws into `root` and returns
   {update(payload), select(row), setTheme(theme), destroy()}; onSelect(row or null) is called when
   the user selects another operator. Times are integer ns from the start of the run. Every text of
   the payload comes from a trace and is hostile: it is drawn on the canvas or set as textContent,
   never read as markup. The root's data-* attributes say what is shown: from-ns, to-ns,
   selected-row, highlighted-<side> (calls), lane-centres (px below the canvas's top), plot-left. */

const REACH = 3;   // px beside a thin box where the pointer still finds it
const MIN_WINDOW_NS = 10;
const CLICK_SLOP = 4;
const HINT = ["Scroll to zoom after a click here, or hold ", ["Ctrl"], " / ", ["⌘"], "; drag to pan, double-click to reset. ",
  ["←"], " ", ["→"], " pan, ", ["+"], " ", ["−"], " zoom, ", ["↑"], " ", ["↓"], " step through operators, ",
  ["Enter"], " select, ", ["F"], " zoom to it, ", ["0"], " reset."];

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function button(label, text, action) {
  const node = element("button", "", text);
  node.type = "button";
  node.title = label;
  node.setAttribute("aria-label", label);
  node.addEventListener("click", action);
  return node;
}

function swatch(view, className) {
  const node = element("span", "fst-swatch");
  const colours = view.palette.classes[className];
  node.style.background = colours.fill;
  node.style.borderColor = colours.edge ?? colours.fill;
  return node;
}

/* Every call of the selected operator, on all sides, as [{side, lane, index}]. */
function selectedCalls({ sides, selected }) {
  if (selected === null) return [];
  if (selected.row !== null) {
    return sides.flatMap((side, sideIndex) => (side.byRow.get(selected.row) ?? []).map((call) => ({ side: sideIndex, ...call })));
  }
  return sides[selected.side].lanes.flatMap((lane, laneIndex) =>
    Array.from(lane.op.keys()).filter((index) => lane.op[index] === selected.op)
      .map((index) => ({ side: selected.side, lane: laneIndex, index })));
}

let mounted = 0;

function mount(root, firstPayload, options = {}) {
  const view = {
    sides: [],
    span: 1,
    from: 0,
    to: 1,
    width: 0,
    palette: null,
    printing: false,
    classLabels: new Map(),
    selected: null,    // {row, side, op}; row is null for an operator that is in no table
    onlyClass: null,   // the class that the legend singles out
    cursor: null,      // {side, lane, index, by}: the call with the tooltip, by pointer or keyboard
    pointerX: null,
  };
  let theme = options.theme === "dark" ? "dark" : "light";
  let drag = null;
  let frame = 0;
  const stop = new AbortController();   // ends every listener below
  const on = (target, type, action, more = {}) =>
    target.addEventListener(type, action, { signal: stop.signal, ...more });

  // ---- page elements

  const legend = element("ul", "fst-legend");
  legend.setAttribute("aria-label", "Operator classes");
  const range = element("span", "fst-range");
  const zoomOut = button("Zoom out", "−", () => zoom(2));
  const zoomIn = button("Zoom in", "+", () => zoom(0.5));
  const reset = button("Reset zoom", "Reset", () => show(0, view.span));
  const tools = element("div", "fst-tools");
  tools.append(range, zoomOut, zoomIn, reset);
  const bar = element("div", "fst-bar");
  bar.append(legend, tools);
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "timeline");
  const hint = element("p", "fst-hint");
  hint.id = `fst-hint-${++mounted}`;
  for (const part of HINT) hint.append(Array.isArray(part) ? element("kbd", "", part[0]) : part);
  canvas.setAttribute("aria-describedby", hint.id);
  const live = element("div", "fst-live");
  live.setAttribute("role", "status");
  const tooltip = createTooltip(view);
  root.classList.add("fst");
  root.replaceChildren(bar, canvas, hint, tooltip.box, live);
  const painter = createPainter(canvas, view);

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    painter.paint();
    root.dataset.plotLeft = painter.plotLeft;
    root.dataset.laneCentres = painter.rows.map((row) => row.top + row.height / 2).join(" ");
  }

  /* Draws with the next frame; `all` is false where only rings and the pointer's line moved. */
  function redraw(all = true) {
    if (all) painter.invalidate();
    if (!frame) frame = requestAnimationFrame(paint);
  }

  // ---- the window of time

  function show(from, to) {
    const size = Math.min(view.span, Math.max(MIN_WINDOW_NS, to - from));
    view.from = Math.min(Math.max(0, from), view.span - size);
    view.to = view.from + size;
    root.dataset.fromNs = Math.round(view.from);
    root.dataset.toNs = Math.round(view.to);
    const point = (ns) => moment(ns, view.to, size / 1000);
    const whole = size >= view.span;
    range.textContent = whole ? `0 to ${duration(view.span)}` : `${point(view.from)} to ${point(view.to)}`;
    reset.disabled = zoomOut.disabled = whole;
    zoomIn.disabled = size <= MIN_WINDOW_NS;
    redraw();
  }

  /* `factor` below 1 zooms in; the time `at` stays where it is. */
  function zoom(factor, at = (view.from + view.to) / 2) {
    const size = view.to - view.from;
    const wanted = Math.min(view.span, Math.max(MIN_WINDOW_NS, size * factor));
    const from = at - ((at - view.from) / size) * wanted;
    show(from, from + wanted);
  }

  const pan = (ns) => show(view.from + ns, view.to + ns);

  /* Brings [start, end] into view if it is not, and zooms out only if it has to. */
  function reveal(start, end) {
    const size = view.to - view.from;
    if (start >= view.from && end <= view.to) return;
    const wanted = end - start > size ? (end - start) * 1.2 : size;
    show((start + end - wanted) / 2, (start + end + wanted) / 2);
  }

  const extent = ({ side, lane, index }) => {
    const calls = view.sides[side].lanes[lane];
    return [calls.start[index], calls.end[index]];
  };

  function revealSelected() {
    const perSide = view.sides.map((_, sideIndex) => selectedCalls(view).filter((call) => call.side === sideIndex).map(extent))
      .filter((calls) => calls.length > 0);
    const outside = ([start, end]) => end <= view.from || start >= view.to;
    if (!perSide.some((calls) => calls.every(outside))) return;
    const first = perSide.map((calls) => calls[0]);
    reveal(Math.min(...first.map(([start]) => start)), Math.max(...first.map(([, end]) => end)));
  }

  // ---- selection

  function setSelected(next) {
    view.selected = next;
    root.dataset.selectedRow = next?.row ?? "";
    delete root.dataset.highlightedBaseline;
    delete root.dataset.highlightedCandidate;
    const calls = selectedCalls(view);
    view.sides.forEach((side, sideIndex) => {
      const name = side.id === "candidate" ? "highlightedCandidate" : "highlightedBaseline";
      root.dataset[name] = calls.filter((call) => call.side === sideIndex).length;
    });
    redraw();
  }

  /* The user picks a call, or nothing. */
  function pick(call) {
    const before = view.selected?.row ?? null;
    if (call === null) setSelected(null);
    else {
      const side = view.sides[call.side];
      const op = side.lanes[call.lane].op[call.index];
      setSelected({ row: side.ops.row[op] ?? null, side: call.side, op });
    }
    const after = view.selected?.row ?? null;
    if (after !== before) options.onSelect?.(after);
  }

  // ---- the call with the tooltip

  function setCursor(call, clientX, clientY) {
    const old = view.cursor;
    const same = call !== null && old !== null && ["side", "lane", "index"].every((part) => call[part] === old[part]);
    view.cursor = call;
    if (call === null) tooltip.close();
    else {
      if (!same) tooltip.fill(call);
      tooltip.open(clientX, clientY);
    }
    if (!same) redraw(false);
  }

  /* Moves the keyboard's call and says it aloud. */
  function stepTo(call) {
    if (call === null) return;
    const [start, end] = extent(call);
    reveal(start, end);
    view.pointerX = null;
    const box = canvas.getBoundingClientRect();
    const row = painter.rowOf(call);
    const x = (painter.xOf(Math.max(view.from, start)) + painter.xOf(Math.min(view.to, end))) / 2;
    setCursor({ ...call, by: "keyboard" }, box.left + x, box.top + row.top + row.height - 8);
    live.textContent = spoken(view, call);
  }

  /* Lanes with calls, and the place of the cursor's lane among them. */
  function filledRows() {
    const rows = painter.rows.filter(({ side, lane }) => view.sides[side].lanes[lane].count > 0);
    const at = rows.findIndex(({ side, lane }) => side === view.cursor?.side && lane === view.cursor?.lane);
    return [rows, at];
  }

  const callIn = ({ side, lane }, index) => ({ side, lane, index });
  const laneOf = ({ side, lane }) => view.sides[side].lanes[lane];

  /* The call after (+1) or before (-1) the cursor's, over the end of a lane into the next one;
     without a cursor the first in view. */
  function neighbour(by) {
    const [rows, at] = filledRows();
    if (rows.length === 0) return null;
    if (at < 0) {
      const lane = laneOf(rows[0]);
      return callIn(rows[0], Math.min(lane.count - 1, firstWhere(lane.count, (i) => lane.latest[i] > view.from)));
    }
    const index = view.cursor.index + by;
    if (index >= 0 && index < laneOf(rows[at]).count) return callIn(rows[at], index);
    const next = rows[at + by];
    return next ? callIn(next, by > 0 ? 0 : laneOf(next).count - 1) : view.cursor;
  }

  /* The call at the same time in the lane below (+1) or above (-1). */
  function across(by) {
    const [rows, at] = filledRows();
    if (at < 0) return neighbour(1);
    const next = rows[at + by];
    if (!next) return view.cursor;
    const [time] = extent(view.cursor);
    return callIn(next, Math.max(0, firstWhere(laneOf(next).count, (i) => laneOf(next).start[i] > time) - 1));
  }

  function zoomToCall() {
    const call = view.cursor ?? selectedCalls(view)[0];
    if (!call) return;
    const [start, end] = extent(call);
    show(start - (end - start), end + (end - start));
    if (call.by === "keyboard") stepTo(call);
  }

  // ---- pointer, wheel and keys

  function place(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function callUnder(event) {
    const [x, y] = place(event);
    const row = painter.rows.find((each) => y >= each.top - 1 && y < each.top + each.height + 1);
    if (!row || x < painter.plotLeft || x > view.width) return null;
    const nsPerPx = (view.to - view.from) / painter.plotWidth();
    const index = callAt(laneOf(row), painter.timeAt(x), REACH * nsPerPx, 3 * REACH * nsPerPx);
    return index < 0 ? null : { ...callIn(row, index), by: event.pointerType === "touch" ? "touch" : "pointer" };
  }

  function hover(event) {
    const [x, y] = place(event);
    view.pointerX = x;
    const call = callUnder(event);
    setCursor(call, event.clientX, event.clientY);
    canvas.dataset.over = call ? "box" : "";
    const cut = painter.captions.find((each) => x >= each.left && x <= each.right && y >= each.top && y <= each.bottom);
    if (!call && cut) {
      tooltip.fillText(cut.text);
      tooltip.open(event.clientX, event.clientY);
    }
    redraw(false);
  }

  function leave() {
    view.pointerX = null;
    if (!view.cursor || view.cursor.by === "pointer") setCursor(null);
    redraw(false);
  }

  on(canvas, "pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  on(canvas, "pointermove", (event) => {
    if (drag === null) return hover(event);
    drag.moved ||= Math.abs(event.clientX - drag.x) > CLICK_SLOP;
    if (!drag.moved) return;
    view.pointerX = null;
    setCursor(null);
    canvas.dataset.over = "drag";
    const shift = ((drag.x - event.clientX) / painter.plotWidth()) * (drag.to - drag.from);
    show(drag.from + shift, drag.to + shift);
  });
  on(canvas, "pointerup", (event) => {
    if (drag && !drag.moved) pick(callUnder(event));
    drag = null;
    hover(event);
  });
  on(canvas, "pointercancel", () => {
    drag = null;
    leave();
  });
  on(canvas, "pointerleave", leave);
  on(canvas, "dblclick", () => show(0, view.span));
  on(canvas, "blur", () => {
    if (view.cursor && view.cursor.by !== "pointer") setCursor(null);
  });
  on(canvas, "wheel", (event) => {
    const focused = canvas.getRootNode().activeElement === canvas;
    if (!focused && !event.ctrlKey && !event.metaKey) return;   // the page scrolls
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 400 : 1;
    const [sideways, down] = event.shiftKey ? [event.deltaX || event.deltaY, 0] : [event.deltaX, event.deltaY];
    if (Math.abs(sideways) > Math.abs(down)) {
      pan((sideways * unit * (view.to - view.from)) / painter.plotWidth());
    } else {
      // A pinch arrives as many small steps with Ctrl set, a wheel as few large ones.
      const speed = event.ctrlKey && Math.abs(down) < 30 ? 0.01 : 0.002;
      zoom(Math.exp(Math.max(-400, Math.min(400, down * unit)) * speed), painter.timeAt(place(event)[0]));
    }
    hover(event);
  }, { passive: false });

  const zoomAtPointer = (factor) => zoom(factor, view.pointerX === null ? undefined : painter.timeAt(view.pointerX));
  const panBy = (part) => pan((view.to - view.from) * part);
  const pickCursor = () => view.cursor && pick(view.cursor);
  const KEYS = {
    ArrowLeft: () => panBy(-1 / 8),
    ArrowRight: () => panBy(1 / 8),
    a: () => panBy(-1 / 8),
    d: () => panBy(1 / 8),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    w: () => zoomAtPointer(0.5),
    s: () => zoomAtPointer(2),
    0: () => show(0, view.span),
    f: zoomToCall,
    "]": () => stepTo(neighbour(1)),
    "[": () => stepTo(neighbour(-1)),
    ArrowDown: (event) => stepTo(event.shiftKey ? across(1) : neighbour(1)),
    ArrowUp: (event) => stepTo(event.shiftKey ? across(-1) : neighbour(-1)),
    Enter: pickCursor,
    " ": pickCursor,
    Escape: () => {
      setCursor(null);
      pick(null);
    },
  };
  on(canvas, "keydown", (event) => {
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action(event);
  });
  // The tooltip hangs on the window, the page moves away below it.
  on(window, "scroll", () => view.cursor && setCursor(null), { capture: true, passive: true });

  // ---- legend, theme, size, paper

  function singleOut(className) {
    view.onlyClass = className;
    [...legend.querySelectorAll("button")].forEach((each) =>
      each.setAttribute("aria-pressed", String(each.dataset.class === className)));
    redraw();
  }

  function fillLegend() {
    legend.replaceChildren(...Array.from(view.classLabels, ([id, label]) => {
      const toggle = button(`Single out ${label}`, "", () => singleOut(view.onlyClass === id ? null : id));
      toggle.dataset.class = id;
      toggle.append(swatch(view, id), element("span", "", label));
      const item = element("li");
      item.append(toggle);
      return item;
    }));
    singleOut(view.classLabels.has(view.onlyClass) ? view.onlyClass : null);
  }

  function refreshTheme() {
    root.dataset.theme = view.printing ? "light" : theme;
    root.toggleAttribute("data-printing", view.printing);
    painter.readTheme(root);
    fillLegend();
    if (view.cursor) tooltip.fill(view.cursor);
  }

  function setPrinting(printing) {
    if (view.printing === printing) return;
    view.printing = printing;
    setCursor(null);
    refreshTheme();
    paint();   // the page is taken before the next frame
  }

  on(window, "beforeprint", () => setPrinting(true));
  on(window, "afterprint", () => setPrinting(false));
  const paper = matchMedia("print");
  on(paper, "change", () => setPrinting(paper.matches));
  on(window, "resize", () => redraw());   // also a new devicePixelRatio
  const observer = new ResizeObserver(() => {
    if (view.printing || canvas.clientWidth === view.width) return;
    view.width = canvas.clientWidth;
    redraw();
  });
  observer.observe(canvas);

  // ---- the host's handle

  function update(payload) {
    const span = Math.max(1, payload.span_ns);
    const keep = view.sides.length > 0 && span === view.span;
    setCursor(null);
    view.sides = payload.sides.map(prepareSide);
    view.span = span;
    view.classLabels = new Map(payload.classes.map(({ id, label }) => [knownClass(id), plainText(label)]));
    const runs = view.sides.map((side) => `${side.label}: ${side.caption}`).join("; ");
    canvas.setAttribute("aria-label", `Timeline of ${runs || "no run"}`);
    fillLegend();
    if (keep) show(view.from, view.to);
    else show(0, span);
    setSelected(view.selected?.row != null ? view.selected : null);
  }

  function select(row) {
    // An operator in no table stays picked: the host knows nothing of it.
    const before = view.selected?.row ?? null;
    if ((row ?? null) === before) return;
    setSelected(row === null || row === undefined ? null : { row, side: -1, op: -1 });
    revealSelected();
  }

  function setTheme(next) {
    theme = next === "dark" ? "dark" : "light";
    refreshTheme();
  }

  function destroy() {
    stop.abort();
    observer.disconnect();
    cancelAnimationFrame(frame);
    tooltip.close();
    root.replaceChildren();
    root.classList.remove("fst");
  }

  refreshTheme();
  update(firstPayload);
  // A web font that arrives late changes every width.
  document.fonts?.ready.then(() => {
    if (!stop.signal.aborted) refreshTheme();
  });
  return { update, select, setTheme, destroy };
}
