/* The timeline: one or two runs on one time scale.

   mount(root, payload, {theme, mode, byGroup, onSelect}) draws into `root` and returns
   {update(payload), select(row), selectGroup(id), setTheme(theme), destroy()}. onSelect(row, group),
   either may be null, is called when the user selects something else. `mode` is one of modes.js, to
   begin with; with `byGroup` a selected operator always lights its whole fusion group. Times are
   integer ns from the start of the run. Every text of the payload comes from a trace and is
   hostile: it is drawn on the canvas or set as textContent, never read as markup. The root's data-*
   attributes say what is shown: mode, from-ns, to-ns, selected-row, selected-group,
   highlighted-<side> (calls), over-group, lane-centres (px below the canvas's top), plot-left, band
   (px: top and bottom of the ribbons), folded-lanes (how many are). */

const REACH = 3;   // px beside a thin box where the pointer still finds it
const MIN_WINDOW_NS = 10;
const CLICK_SLOP = 4;
const HINT = ["Scroll to zoom after a click here, or hold ", ["Ctrl"], " / ", ["⌘"], "; drag to pan, double-click to reset. ",
  ["←"], " ", ["→"], " pan, ", ["+"], " ", ["−"], " zoom, ", ["↑"], " ", ["↓"], " step through operators, ",
  ["Enter"], " select, ", ["F"], " zoom to it, ", ["0"], " reset."];

let mounted = 0;

function mount(root, firstPayload, options = {}) {
  const view = {
    sides: [],
    groups: new Map(),   // id -> fusion group
    ribbons: [],
    mode: "time",
    byGroup: options.byGroup === true,
    span: 1,
    from: 0,
    to: 1,
    width: 0,
    palette: null,
    printing: false,
    classLabels: new Map(),
    unfolded: false,   // whether lanes of nearly nothing are shown
    selected: null,    // as selection.js says
    onlyClass: null,   // the class that the legend singles out
    cursor: null,      // {side, lane, index, by}: the call with the tooltip, by pointer or keyboard
    overGroup: null,   // the group whose ribbon is under the pointer
    pointerX: null,
  };
  let payload = null;
  let wanted = lastMode ?? options.mode;   // the mode to show once there are groups
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
  const modes = createModes(view, `fst-mode-${++mounted}`, (mode) => {
    wanted = mode;
    place();
  });
  bar.append(modes.box, legend, tools);
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "timeline");
  const hint = element("p", "fst-hint");
  hint.id = `fst-hint-${mounted}`;
  for (const part of HINT) hint.append(Array.isArray(part) ? element("kbd", "", part[0]) : part);
  canvas.setAttribute("aria-describedby", hint.id);
  const folded = createFolded(view, () => {
    view.unfolded = !view.unfolded;
    setCursor(null);
    folded.refresh();
    redraw();
  });
  const live = element("div", "fst-live");
  live.setAttribute("role", "status");
  const tooltip = createTooltip(view);
  root.classList.add("fst");
  root.replaceChildren(bar, canvas, folded.box, modes.note, hint, tooltip.box, live);
  const painter = createPainter(canvas, view);

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    painter.paint();
    root.dataset.plotLeft = painter.plotLeft;
    root.dataset.laneCentres = painter.rows.map((row) => row.top + row.height / 2).join(" ");
    root.dataset.band = painter.band ? `${painter.band.top} ${painter.band.bottom}` : "";
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
    range.textContent = view.mode === "aligned" ? `${duration(size)} wide` : whole ? `0 to ${duration(view.span)}` : `${point(view.from)} to ${point(view.to)}`;
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
    const chosen = selectedCalls(view);
    if (!view.unfolded && chosen.length > 0 && chosen.every(({ side, lane }) => view.sides[side].smallLanes[lane])) {
      view.unfolded = true;
      folded.refresh();
      redraw();
    }
    const perSide = view.sides.map((_, sideIndex) => chosen.filter((call) => call.side === sideIndex).map(extent))
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
    root.dataset.selectedGroup = next?.group ?? "";
    delete root.dataset.highlightedBaseline;
    delete root.dataset.highlightedCandidate;
    const calls = selectedCalls(view);
    view.sides.forEach((side, sideIndex) => {
      const name = side.id === "candidate" ? "highlightedCandidate" : "highlightedBaseline";
      root.dataset[name] = calls.filter((call) => call.side === sideIndex).length;
    });
    redraw();
  }

  /* The user picks a call, or a group, or nothing. */
  function pick(call, group = null) {
    const before = view.selected;
    if (call !== null) {
      const side = view.sides[call.side];
      const op = side.lanes[call.lane].op[call.index];
      setSelected({ row: side.ops.row[op] ?? null, side: call.side, op, group: groupOfCall(view, call) });
    } else setSelected(group === null ? null : { row: null, side: -1, op: -1, group });
    const after = view.selected;
    const same = ["row", "group"].every((part) => (before?.[part] ?? null) === (after?.[part] ?? null));
    if (!same) options.onSelect?.(after?.row ?? null, after?.group ?? null);
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
    setOverGroup(null);
    const box = canvas.getBoundingClientRect();
    const row = painter.rowOf(call);
    const x = (painter.xOf(Math.max(view.from, start)) + painter.xOf(Math.min(view.to, end))) / 2;
    setCursor({ ...call, by: "keyboard" }, box.left + x, box.top + row.top + row.height - 8);
    live.textContent = spoken(view, call);
  }

  function zoomToCall() {
    const call = view.cursor ?? selectedCalls(view)[0];
    if (!call) return;
    const [start, end] = extent(call);
    show(start - (end - start), end + (end - start));
    if (call.by === "keyboard") stepTo(call);
  }

  // ---- pointer, wheel and keys

  function placeOf(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function callUnder(event) {
    const [x, y] = placeOf(event);
    const row = painter.rows.find((each) => y >= each.top - 1 && y < each.top + each.height + 1);
    if (!row || x < painter.plotLeft || x > view.width) return null;
    const nsPerPx = (view.to - view.from) / painter.plotWidth();
    const index = callAt(laneOf(view, row), painter.timeAt(x), REACH * nsPerPx, 3 * REACH * nsPerPx);
    return index < 0 ? null : { ...callIn(row, index), by: event.pointerType === "touch" ? "touch" : "pointer" };
  }

  const groupUnder = (event) => (painter.band ? ribbonAt(view, painter.band, ...placeOf(event), REACH) : null);

  function setOverGroup(group) {
    if (group !== null && group !== view.overGroup) tooltip.fillGroup(group);
    view.overGroup = group;
    root.dataset.overGroup = group ?? "";
  }

  function hover(event) {
    const [x, y] = placeOf(event);
    view.pointerX = x;
    const call = callUnder(event);
    setCursor(call, event.clientX, event.clientY);
    setOverGroup(call === null ? groupUnder(event) : null);
    if (view.overGroup !== null) tooltip.open(event.clientX, event.clientY);
    canvas.dataset.over = call || view.overGroup !== null ? "box" : "";
    const cut = painter.captions.find((each) => x >= each.left && x <= each.right && y >= each.top && y <= each.bottom);
    if (!call && view.overGroup === null && cut) {
      tooltip.fillText(cut.text);
      tooltip.open(event.clientX, event.clientY);
    }
    redraw(false);
  }

  function leave() {
    view.pointerX = null;
    setOverGroup(null);
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
    setOverGroup(null);
    setCursor(null);
    canvas.dataset.over = "drag";
    const shift = ((drag.x - event.clientX) / painter.plotWidth()) * (drag.to - drag.from);
    show(drag.from + shift, drag.to + shift);
  });
  on(canvas, "pointerup", (event) => {
    if (drag && !drag.moved) {
      const call = callUnder(event);
      pick(call, call === null ? groupUnder(event) : null);
    }
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
      zoom(Math.exp(Math.max(-400, Math.min(400, down * unit)) * speed), painter.timeAt(placeOf(event)[0]));
    }
    hover(event);
  }, { passive: false });

  const zoomAtPointer = (factor) => zoom(factor, view.pointerX === null ? undefined : painter.timeAt(view.pointerX));
  const panBy = (part) => pan((view.to - view.from) * part);
  const step = (to, by) => stepTo(to(view, painter.rows, by));
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
    "]": () => step(neighbour, 1),
    "[": () => step(neighbour, -1),
    ArrowDown: (event) => step(event.shiftKey ? across : neighbour, 1),
    ArrowUp: (event) => step(event.shiftKey ? across : neighbour, -1),
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
  on(window, "scroll", () => {
    setOverGroup(null);
    if (view.cursor || tooltip.box.dataset.open !== undefined) setCursor(null);
  }, { capture: true, passive: true });

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
      toggle.append(swatch(view.palette.classes[id]), element("span", "", label));
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
    modes.refresh();
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

  /* Puts every call where the wanted mode has it; what was in the middle stays there. */
  function place() {
    const size = view.to - view.from;
    const middle = size < view.span ? middleCall(view) : null;
    setCursor(null);
    setOverGroup(null);
    Object.assign(view, arrange(payload, wanted));
    root.dataset.mode = view.mode;
    modes.refresh();
    const centre = middle && middleOf(view, middle);
    if (centre === null) show(0, view.span);
    else show(centre - size / 2, centre + size / 2);
    setSelected(view.selected);
    folded.refresh();
  }

  function update(packed) {
    const next = unpackPayload(packed);
    const { from, to, mode } = view;
    const keep = payload !== null && payload.span_ns === next.span_ns;
    payload = next;
    view.groups = new Map((next.groups ?? []).map((group) => [group.id, group]));
    view.classLabels = new Map(next.classes.map(({ id, label }) => [knownClass(id), plainText(label)]));
    if (view.selected?.side >= 0 && view.selected.row === null) view.selected = null;
    place();
    if (keep && mode === view.mode) show(from, to);
    const runs = view.sides.map((side) => `${side.label}: ${side.caption}`).join("; ");
    canvas.setAttribute("aria-label", `Timeline of ${runs || "no run"}`);
    fillLegend();
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
  return { update, select, selectGroup, setTheme, destroy };
}
