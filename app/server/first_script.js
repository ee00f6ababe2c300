// Runs before Streamlit's own scripts: where the server is, and what the Back button goes back to.

// Streamlit would look for its server below the name of the page first, and not find it there.
globalThis.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href };

/**
 * Whether `many` has all parameters of `few`.
 *
 * @param {URL} many
 * @param {URL} few
 */
const holds = (many, few) =>
  [...few.searchParams].every(([name, value]) => many.searchParams.getAll(name).includes(value));

// A page puts what it shows into its address when it opens. That is no place of its own: Back leads
// to the page before, not to this one without what it shows. What the user opens on a page is one.
// On the way to another page, Streamlit first gives the page before the parameters of the next one.
// A page that leads on by itself is none either: Back to it would lead on again.
const push = history.pushState.bind(history);
let isUsed = false; // somebody has clicked, typed or given a file since the page opened
let actions = 0; // clicks and keys so far
let changedBy = -1; // the action after which the last entry got other parameters, of the same page
for (const name of ["pointerdown", "keydown", "drop", "change"]) {
  addEventListener(name, () => {
    isUsed = true;
    actions += 1;
  }, { capture: true });
}
addEventListener("popstate", () => isUsed = false);
history.pushState = (state, unused, url) => {
  const from = new URL(location.href);
  const to = new URL(url ?? location.href, from);
  const isSamePage = to.pathname === from.pathname;
  const isOnTheWay = !isSamePage && changedBy === actions && to.search === from.search;
  const isSamePlace = isSamePage && (!isUsed || holds(from, to));
  const isLedOn = !isSamePage && !isUsed;
  const isKept = isSamePlace || isOnTheWay || isLedOn;
  if (!isSamePage || (isKept && to.search === from.search)) changedBy = -1;
  else if (!isKept) changedBy = actions;
  if (!isSamePage) isUsed = false;
  return isKept ? history.replaceState(state, unused, url) : push(state, unused, url);
};

// Streamlit puts headings between the items of its lists of pages, which makes them no lists: what
// reads them aloud would count wrong. The links stay what they are.
new MutationObserver(() => {
  const parts = "[data-testid='stSidebarNav'] :is(ul, li):not([role])";
  for (const part of document.querySelectorAll(parts)) part.setAttribute("role", "presentation");
}).observe(document, { childList: true, subtree: true });
