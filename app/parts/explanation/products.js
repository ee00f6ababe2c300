/* Matrix products of two phases as a table. `data` is {title, sides, heads, rows}, each row {name,
   sides}, each side null or {texts, width}. Names are those of a file: they are set as text. */
const element = (kind, parent, className = "", text = "") => {
  const made = parent.appendChild(document.createElement(kind));
  if (className) made.className = className;
  const pieces = text.split(/(?=->)|(?<=->)/); // a line must not break inside an arrow
  if (pieces.length < 2) made.textContent = text;
  else for (const piece of pieces) element("span", made, piece === "->" ? "unbroken" : "", piece);
  return made;
};

function heads(table, data) {
  const head = element("thead", table);
  const top = element("tr", head);
  const first = element("th", top, "", data.title);
  first.rowSpan = 2;
  first.scope = "col";
  const columns = element("tr", head);
  for (const side of data.sides) {
    const over = element("th", top, "side", side);
    over.colSpan = data.heads.length;
    over.scope = "colgroup";
    for (const text of data.heads) element("th", columns, "", text).scope = "col";
  }
}

function cells(line, side, place) {
  const texts = side ? side.texts : ["–", "–", "–", "–"];
  texts.forEach((text, column) => {
    const cell = element("td", line, place ? "after" : "before", text);
    if (column === 0) cell.classList.add("first");
    if (column !== 2 || !side) return;
    const track = element("span", cell, "track");
    track.setAttribute("aria-hidden", "true");
    element("i", track).style.width = `${side.width}%`;
  });
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".products");
  if (!root || !data) return;
  root.replaceChildren();
  const table = element("table", root);
  table.setAttribute("aria-label", data.title);
  heads(table, data);
  const body = element("tbody", table);
  for (const row of data.rows) {
    const line = element("tr", body);
    const name = element("th", line, "", row.name);
    name.scope = "row";
    row.sides.forEach((side, place) => cells(line, side, place));
  }
}
