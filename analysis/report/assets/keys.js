/* A table is one Tab stop: arrow keys, Home and End go from line to line. Where nothing in a table
   takes the focus, its region does, and browsers scroll it. Without script every line is a stop. */
(() => {
  "use strict";
  const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  const isShown = (item) => item.checkVisibility();

  for (const table of document.querySelectorAll(".scroll")) {
    /** @type {HTMLElement[]} */
    const items = Array.from(table.querySelectorAll("button, summary, a[href]"));
    if (!items.length) continue;
    let stop = items[0];

    const stopAt = (item) => {
      stop.tabIndex = -1;
      stop = item;
      stop.tabIndex = 0;
    };

    table.removeAttribute("tabindex");
    for (const item of items) item.tabIndex = -1;
    stopAt(stop);
    table.addEventListener("focusin", ({ target }) => {
      if (items.includes(target)) stopAt(target);
    });
    table.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const shown = items.filter(isShown);
      const next = Math.min(Math.max(shown.indexOf(stop) + step, 0), shown.length - 1);
      event.preventDefault();
      shown[next].focus();
    });
    // What is folded away with the stop in it hands it to its own line.
    table.addEventListener("toggle", ({ target }) => {
      if (!isShown(stop)) stopAt(target.querySelector("summary"));
    }, true);
  }
})();
