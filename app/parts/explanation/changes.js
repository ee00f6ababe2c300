/* What changed: rows that open to the kernels behind them. `data` is {title, heads, rows, more,
   moreTitle, rest, details, detailsTitle}, each row {parts, kind, left, width, facts, head, kernels,
   ways}, each of the details the parts of a sentence. Names are those of a file: they are set as
   text and never interpreted. What a row holds is made when it is opened. What is picked, {change,
   way} or {change, kernel}, goes to the page. */
const shown = new WeakMap(); // the box -> the text of what it shows

const element = (kind, parent, className = "", text = "") => {
  const made = parent.appendChild(document.createElement(kind));
  if (className) made.className = className;
  const pieces = text.split(/(?=->)|(?<=->)/); // a line must not break inside an arrow
  if (pieces.length < 2) made.textContent = text;
  else for (const piece of pieces) element("span", made, piece === "->" ? "unbroken" : "", piece);
  return made;
};

function button(parent, className, text, label, action) {
  const made = element("button", parent, className, text);
  made.type = "button";
  if (label) made.title = label;
  made.addEventListener("click", action);
}

function sentence(parent, { parts, kind }) {
  const box = element("span", parent, "sentence");
  for (const [role, text] of parts) {
    element(role === "name" ? "bdi" : "span", box, role === "number" ? kind : role, text);
  }
}

function bar(parent, { left, width, kind }) {
  const track = element("span", parent, "track");
  track.setAttribute("aria-hidden", "true");
  const filled = element("i", track, kind);
  filled.style.left = `${left}%`;
  filled.style.width = `${width}%`;
}

function times(parent, [time, each]) {
  const cell = element("td", parent, "", time || "–");
  if (each) element("small", cell, "", ` ${each}`);
}

function kernelTable(parent, row, heads, pick) {
  const table = element("table", element("div", parent, "scroll"));
  const head = element("tr", element("thead", table));
  for (const text of [row.head, ...heads]) element("th", head, "", text).scope = "col";
  const body = element("tbody", table);
  row.kernels.forEach((kernel, place) => {
    const line = element("tr", body);
    const name = element("th", line);
    name.scope = "row";
    if (kernel.pick) button(name, "name", kernel.name, kernel.pick, () => pick({ kernel: place }));
    else element("bdi", name, "name", kernel.name);
    for (const cell of kernel.cells) times(line, cell);
  });
}

function behind(box, row, heads, pick) {
  const inside = element("div", box, "behind");
  if (row.ways.length) {
    const ways = element("div", inside, "ways");
    row.ways.forEach((text, way) => button(ways, "way", text, "", () => pick({ way })));
  }
  if (row.kernels.length) kernelTable(inside, row, heads, pick);
  const facts = element("dl", inside);
  for (const [name, value] of row.facts) {
    const fact = element("div", facts);
    element("dt", fact, "", name);
    element("dd", fact, "", value);
  }
}

function draw(parent, rows, { first, heads, hasBars }, pick) {
  rows.forEach((row, place) => {
    const box = element("details", parent, "change");
    const line = element("summary", box);
    sentence(line, row);
    if (hasBars) bar(line, row);
    box.addEventListener("toggle", () => {
      if (box.childElementCount > 1) return;
      behind(box, row, heads, (picked) => pick({ change: first + place, ...picked }));
    });
  });
}

function smaller(root, data, hasBars, pick) {
  if (!data.more.length) return;
  const more = element("details", root, "more");
  element("summary", more, "", data.moreTitle);
  draw(more, data.more, { first: data.rows.length, heads: data.heads, hasBars }, pick);
  if (!data.rest[1]) return;
  const rest = element("p", more, "rest");
  element("span", rest, "", data.rest[0]);
  element("strong", rest, "", data.rest[1]);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".changes");
  const text = JSON.stringify(data ?? null);
  if (!root || !data || shown.get(root) === text) return; // what is open stays open
  shown.set(root, text);
  root.replaceChildren();
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.title);
  const pick = (picked) => setTriggerValue("picked", picked);
  const hasBars = data.rows.length + data.more.length > 1; // the bar of a single row is always full
  draw(root, data.rows, { first: 0, heads: data.heads, hasBars }, pick);
  smaller(root, data, hasBars, pick);
  if (!data.details.length) return;
  const details = element("details", root, "more");
  element("summary", details, "", data.detailsTitle);
  for (const parts of data.details) sentence(element("p", details), { parts, kind: "number" });
}
