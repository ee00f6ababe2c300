/* Light, dark, and on paper always light. */

export function createTheme(
  root,
  view,
  { painter, legend, hostLine, modes, summary, tooltip, cursor, paint },
) {
  let theme = "light";

  function refresh() {
    root.dataset.theme = view.printing ? "light" : theme;
    root.toggleAttribute("data-printing", view.printing);
    painter.readTheme(root);
    legend.fill();
    hostLine.fill();
    modes.refresh();
    summary.fill();
    if (view.cursor) tooltip.fill(view.cursor);
  }

  function set(next) {
    theme = next === "dark" ? "dark" : "light";
    refresh();
  }

  function setPrinting(printing) {
    if (view.printing === printing) return;
    view.printing = printing;
    cursor.set(null);
    refresh();
    paint(); // the page is taken before the next frame
  }

  return { set, refresh, setPrinting };
}

export function listenToPaper(on, theme) {
  on(window, "beforeprint", () => theme.setPrinting(true));
  on(window, "afterprint", () => theme.setPrinting(false));
  const paper = matchMedia("print");
  on(paper, "change", () => theme.setPrinting(paper.matches));
}
