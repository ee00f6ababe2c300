/* The model tree: rows that fold in place. `data` is {title, heads, rows}, each row {names,
   instances, executions, before, after, change, share, kind, is_open, rows}. Names are those of a
   file: they are set as text and never interpreted. What a row holds is made when it is opened. */
const shown = new WeakMap(); // the box -> the text of what it shows

const element = (kind, parent, className, text = "") => {
  const made = parent.appendChild(document.createElement(kind));
  made.className = className;
  const pieces = text.split(/(?=->)|(?<=->)/); // a line must not break inside an arrow
  if (pieces.length < 2) made.textContent = text;
  else for (const piece of pieces) element("span", made, piece === "->" ? "unbroken" : "", piece);
  return made;
};

function cells(parent, row) {
  const what = element("span", parent, "what");
  what.title = row.names.join(" › ");
  row.names.forEach((name, place) => {
    if (place) element("span", what, "between", " › ");
    element("bdi", what, "name", name);
  });
  if (row.instances) element("span", what, "instances", ` ${row.instances}`);
  element("span", parent, "number executions", row.executions);
  element("span", parent, "number", row.before);
  element("span", parent, "number", row.after);
  element("span", parent, `number change ${row.kind}`, row.change);
  element("span", parent, "number share", row.share);
}

function draw(parent, rows, depth) {
  for (const row of rows) {
    const box = element(row.rows.length ? "details" : "div", parent, "part");
    const line = element(row.rows.length ? "summary" : "div", box, "line");
    line.style.setProperty("--depth", String(depth));
    cells(line, row);
    if (!row.rows.length) continue;
    line.tabIndex = -1;
    const fill = () => {
      if (box.childElementCount === 1) draw(box, row.rows, depth + 1);
    };
    box.addEventListener("toggle", fill);
    if (row.is_open) {
      box.open = true;
      fill();
    }
  }
}

/* The tree is one Tab stop: the row that had the focus last, the first one until then. */
function stopAt(tree, line) {
  for (const one of tree.querySelectorAll('summary[tabindex="0"]')) one.tabIndex = -1;
  if (line) line.tabIndex = 0;
}

/* Arrow keys: up and down go from row to row, right opens one, left closes it or goes out of it. */
function move(event) {
  const line = event.target;
  if (line.localName !== "summary") return;
  const box = line.parentElement;
  const lines = [...event.currentTarget.querySelectorAll("summary")]
    .filter((one) => one.checkVisibility());
  const at = lines.indexOf(line);
  const outer = box.parentElement.closest("details")?.firstElementChild;
  if (event.key === "ArrowDown") lines[at + 1]?.focus();
  else if (event.key === "ArrowUp") lines[at - 1]?.focus();
  else if (event.key === "ArrowRight" && !box.open) box.open = true;
  else if (event.key === "ArrowLeft" && box.open) box.open = false;
  else if (event.key === "ArrowLeft") outer?.focus();
  else return;
  event.preventDefault();
}

export default function ({ data, parentElement }) {
  const tree = parentElement.querySelector(".tree");
  const text = JSON.stringify(data ?? null);
  if (!tree || !data || shown.get(tree) === text) return; // what is open stays open
  if (!shown.has(tree)) {
    tree.addEventListener("focusin", ({ target }) => {
      if (target.localName === "summary") stopAt(tree, target);
    });
  }
  shown.set(tree, text);
  tree.replaceChildren();
  tree.setAttribute("role", "group");
  tree.setAttribute("aria-label", data.title);
  const head = element("div", tree, "line head");
  data.heads.forEach((name, place) => element("span", head, place ? "number" : "what", name));
  draw(tree, data.rows, 0);
  stopAt(tree, tree.querySelector("summary"));
  tree.onkeydown = move;
}
