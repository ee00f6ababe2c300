/* Brings a part of the page into view that was opened from elsewhere. `data` is {key, number}; the
   number is new each time. What is above it may grow for a while, so it is followed until the user
   moves. */
const PATIENCE_MS = 2500;
const BELOW_HEADER = "72px";
let seen = 0;

export default function ({ data }) {
  if (!data || !data.number || data.number === seen) return;
  seen = data.number;
  const until = performance.now() + PATIENCE_MS;
  let isLeft = false;
  const leave = () => {
    isLeft = true;
  };
  for (const kind of ["wheel", "pointerdown", "keydown", "touchmove"]) {
    document.addEventListener(kind, leave, { once: true, capture: true, passive: true });
  }
  const follow = () => {
    if (isLeft || performance.now() > until) return;
    const part = document.querySelector(`.st-key-${CSS.escape(data.key)}`);
    if (part) part.style.scrollMarginTop = BELOW_HEADER;
    part?.scrollIntoView({ block: "start" });
    setTimeout(follow, 120);
  };
  follow();
}
