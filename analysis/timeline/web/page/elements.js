/* Pieces of page. Text from a trace gets in as textContent only. */

export function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text === undefined) return node;
  const pieces = `${text}`.split(/(?=->)|(?<=->)/); // a line must not break inside an arrow
  if (pieces.length < 2) node.textContent = text;
  else node.append(...pieces.map((piece) => piece === "->" ? whole(piece) : piece));
  return node;
}

function whole(text) {
  const node = element("span");
  node.textContent = text;
  node.style.whiteSpace = "nowrap";
  return node;
}

export function button(label, text, action) {
  const node = element("button", "", text);
  node.type = "button";
  node.title = label;
  node.setAttribute("aria-label", label);
  node.addEventListener("click", action);
  return node;
}

/* A small square in the colours {fill, edge} of a class or a tone. */
export function swatch(colours) {
  const node = element("span", "fst-swatch");
  node.style.background = colours.fill;
  node.style.borderColor = colours.edge ?? colours.fill;
  return node;
}
