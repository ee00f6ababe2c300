/* Buttons that copy. `data` is {ways, copied, refused, hide, text}: ways are [code, label]; a click
   asks the page for the text of its code, which comes with the next data, goes to the clipboard
   where the browser allows that, and stands below to be selected. */
const drawn = new WeakMap(); // the box -> its labels, and what it copies

const element = (kind, parent, className, text) => {
  const made = parent.appendChild(document.createElement(kind));
  made.className = className;
  made.textContent = text;
  return made;
};

function button(parent, label, action) {
  const made = element("button", parent, "", label);
  made.type = "button";
  made.addEventListener("click", action);
}

async function offer(place, data) {
  const { text } = data;
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    isCopied = false;
  }
  place.replaceChildren();
  const line = element("p", place, "line", "");
  element("span", line, "", isCopied ? data.copied : data.refused).setAttribute("role", "status");
  button(line, data.hide, () => place.replaceChildren());
  const box = element("textarea", place, "", "");
  box.readOnly = true;
  box.value = text;
  box.rows = Math.min(12, text.split("\n").length);
  box.setAttribute("aria-label", isCopied ? data.copied : data.refused);
  if (!isCopied) {
    box.focus();
    box.select();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".copying");
  if (!root || !data) return;
  const labels = JSON.stringify([data.ways, data.of]);
  if (drawn.get(root) !== labels) {
    drawn.set(root, labels);
    root.replaceChildren();
    const row = element("div", root, "row", "");
    for (const [code, label] of data.ways) button(row, label, () => setTriggerValue("asked", code));
    element("div", root, "place", "");
  }
  if (data.text !== null) offer(root.querySelector(".place"), data);
}
