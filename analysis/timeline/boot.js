/* Report host: draws the page's own JSON, in the colours that the reader's system prefers.
   The element tells the page which row the user picked by the event "fst-picked", and takes the
   row to pick by "fst-pick"; `detail` is a row of the operator table, or null. */
(() => {
  "use strict";
  const root = document.getElementById("timeline");
  const data = document.getElementById("timeline-data");
  if (!root || !data) return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => (dark.matches ? "dark" : "light");
  const view = FuseScopeTimeline.mount(root, JSON.parse(data.textContent), {
    theme: theme(),
    onSelect: (row) => root.dispatchEvent(new CustomEvent("fst-picked", { detail: row })),
  });
  dark.addEventListener("change", () => view.setTheme(theme()));
  root.addEventListener("fst-pick", (event) => view.select(event.detail));
})();
