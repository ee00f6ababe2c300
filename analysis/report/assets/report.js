/* The report's own script: an operator picked in the table is picked in the timeline and back.
   The page is complete without it. */
(() => {
  "use strict";
  const timeline = document.getElementById("timeline");
  const bar = document.getElementById("picked");
  if (!timeline?.classList.contains("fst") || !bar) return;
  const rows = new Map(
    Array.from(document.querySelectorAll("tr[data-row]"), (row) => [Number(row.dataset.row), row]),
  );
  // A time with the unit that the head of its column names; a cell may lack one.
  const text = (row, name) => {
    const cell = row.querySelector(`.${name}`);
    const shown = cell?.textContent.trim() ?? "";
    const { unit } = row.closest("table").dataset;
    return /\d/.test(shown) ? shown.replace(/†?$/, (mark) => ` ${unit}${mark}`) : shown;
  };
  let picked = null;
  document.getElementById("pick-hint").hidden = false;

  function show(next) {
    for (const [id, on] of [[picked, false], [next, true]]) {
      const row = rows.get(id);
      row?.toggleAttribute("data-picked", on);
      row?.querySelector("button")?.setAttribute("aria-pressed", String(on));
    }
    picked = next;
    const row = rows.get(next);
    bar.hidden = !row;
    if (!row) return;
    bar.querySelector(".picked-name").textContent = row.querySelector("button").title;
    const [before, after] = [text(row, "before"), text(row, "after")];
    bar.querySelector(".picked-times").textContent = row.querySelector(".after")
      ? `${before} → ${after} (${text(row, "delta")})`
      : before;
    bar.querySelector(".to-row").hash = row.id;
  }

  function pick(next) {
    show(next);
    timeline.dispatchEvent(new CustomEvent("fst-pick", { detail: next }));
  }

  for (const [id, row] of rows) {
    const name = row.querySelector(".name");
    const button = document.createElement("button");
    button.type = "button";
    button.title = name.title;
    button.setAttribute("aria-pressed", "false");
    button.append(...name.childNodes);
    name.append(button);
    row.addEventListener("click", () => {
      if (getSelection().isCollapsed) pick(picked === id ? null : id);
    });
  }
  timeline.addEventListener("fst-picked", (event) => show(event.detail));
  bar.querySelector("button").addEventListener("click", () => pick(null));
  bar.querySelector(".to-row").addEventListener("click", () => {
    const fold = rows.get(picked)?.closest("details");
    if (fold) fold.open = true;
  });

  addEventListener("click", (event) => {
    const way = event.target.closest?.("a.to-stretch");
    if (!way) return;
    const [spans, rows] = [way.dataset.spans, way.dataset.rows ?? "[]"].map((text) =>
      JSON.parse(text)
    );
    timeline.dispatchEvent(new CustomEvent("fst-stretch", { detail: { spans, rows } }));
  });

  // Browsers that print only what is open: doubts are on paper in any case. All else prints as it
  // stands: who wants a folded table on paper opens it.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("#trust details:not([open])")];
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });
})();
