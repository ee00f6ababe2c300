// Runs before Streamlit's own scripts: where the server is, and what the Back button goes back to.

// Streamlit would look for its server below the name of the page first, and not find it there.
globalThis.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href };

/**
 * Whether two addresses are of one page, and one of them has all parameters of the other.
 *
 * @param {URL} one
 * @param {URL} other
 */
const isSamePlace = (one, other) => {
  const [few, many] = [one.searchParams, other.searchParams].sort((a, b) => a.size - b.size);
  const isHeld = ([name, value]) => many.getAll(name).includes(value);
  return one.pathname === other.pathname && [...few].every(isHeld);
};

// A page puts what it shows into its address when it opens. That is no place of its own: Back leads
// to the page before, not to this one without what it shows. On the way to another page, Streamlit
// first gives the page before the parameters of the next one.
const push = history.pushState.bind(history);
let hasOthers = false; // the last entry has other parameters than the one before, of the same page
history.pushState = (state, unused, url) => {
  const from = new URL(location.href);
  const to = new URL(url ?? location.href, from);
  const isSamePage = to.pathname === from.pathname;
  const isOnTheWay = !isSamePage && hasOthers && to.search === from.search;
  const isKept = isSamePlace(from, to) || isOnTheWay;
  hasOthers = isSamePage && (!isKept || (hasOthers && to.search !== from.search));
  return isKept ? history.replaceState(state, unused, url) : push(state, unused, url);
};
