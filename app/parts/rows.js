/* Rows of a Streamlit table: a click anywhere in one picks it, and the selected one is brought into
   view. `data` is {table, line, lines, rowHeight, picked}: the key of the table, the place of the
   selected line in the order of the page, and a number that is new each time that the user picked
   something beside the table; nothing moves without a new one.

   The table is a canvas that scrolls by itself, with a table of what it shows for screen readers
   inside it. Rows are selected by the boxes in its first column; cells stay free for the arrow keys. */
const tables = new Map(); // table -> what Python said last
const PATIENCE_MS = 2000; // until the table must have drawn its selection
const CLICK_SLOP = 4; // px
const BOX_X = 16; // px from the left: the middle of the first column
const BOX_WIDTH = 34;

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/* The parts of a table on the page, or null while it is not drawn. */
function partsOf(table) {
  const box = document.querySelector(`.st-key-${CSS.escape(table)}`);
  const scroller = box?.querySelector(".dvn-scroller");
  const canvas = box?.querySelector("canvas");
  const rows = canvas?.querySelector("table");
  return scroller && rows ? { box, scroller, canvas, rows } : null;
}

const headHeight = ({ scroller }, { lines, rowHeight }) =>
  Math.max(0, scroller.scrollHeight - lines * rowHeight);

/* True where the user sorted the table: nobody knows in which order its lines stand then. */
const isSorted = ({ rows }) =>
  Array.from(rows.querySelectorAll("th")).some((head) => /^[↑↓]/.test(head.textContent));

/* True once the table shows `line` as selected. The first row has the heads, and counting starts at 1. */
const isSelected = ({ rows }, line) =>
  rows.querySelector(`tr[aria-rowindex="${line + 2}"][aria-selected="true"]`) !== null;

async function reveal(told) {
  const { table, line, rowHeight } = told;
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until && tables.get(table) === told) {
    const parts = partsOf(table);
    if (parts) {
      if (isSorted(parts)) return;
      const { box, scroller } = parts;
      const room = scroller.clientHeight - headHeight(parts, told);
      const top = line * rowHeight;
      if (top < scroller.scrollTop || top + rowHeight > scroller.scrollTop + room) {
        scroller.scrollTop = Math.max(0, top - (room - rowHeight) / 2);
      }
      box.scrollIntoView({ block: "nearest" });
      if (isSelected(parts, line)) return;
    }
    await nextFrame();
  }
}

/* A click in a cell is a click on the box of its row. */
function clickBox(canvas, clientY) {
  const clientX = canvas.getBoundingClientRect().left + BOX_X;
  const place = {
    bubbles: true,
    cancelable: true,
    composed: true,
    clientX,
    clientY,
    button: 0,
    pointerType: "mouse",
    isPrimary: true,
  };
  for (const type of ["pointermove", "pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
    const Kind = type.startsWith("pointer") ? PointerEvent : MouseEvent;
    canvas.dispatchEvent(new Kind(type, { ...place, buttons: /down/.test(type) ? 1 : 0 }));
  }
}

function listen(table) {
  let down = null;
  document.addEventListener("pointerdown", (event) => {
    if (event.isTrusted) down = [event.clientX, event.clientY];
  }, { capture: true });
  document.addEventListener("click", (event) => {
    const parts = partsOf(table);
    if (
      !event.isTrusted || event.detail !== 1 ||
      !parts?.scroller.contains(event.target) && event.target !== parts?.canvas
    ) return;
    const moved = down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) > CLICK_SLOP;
    const { left, top } = parts.canvas.getBoundingClientRect();
    const inHeads = event.clientY - top < headHeight(parts, tables.get(table));
    if (moved || inHeads || event.clientX - left < BOX_WIDTH) return;
    clickBox(parts.canvas, event.clientY);
  });
}

export default function ({ data }) {
  if (!data) return;
  const before = tables.get(data.table);
  tables.set(data.table, data);
  if (before === undefined) listen(data.table);
  else if (before.picked !== data.picked && data.line !== null) reveal(data);
}
