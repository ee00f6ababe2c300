/* Pieces of page. Text from a trace gets in as textContent only. */

export function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
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
