/* What CSS alone does not switch to another language: the page's own language and title, and what
   is read to the user. The texts stand in the page; without this script tooltips stay as they are. */
(() => {
  "use strict";
  const root = document.documentElement;
  const first = root.lang;
  const switches = Array.from(document.querySelectorAll("input[name=language]"));
  const codes = switches.map((each) => each.value);
  const titles = new Map(
    Array.from(document.head.querySelectorAll("title"), (each) => [each.lang, each.textContent]),
  );
  const told = [];
  for (const name of ["title", "aria-label"]) {
    const others = codes.map((code) => `[data-${code}-${name}]`);
    for (const element of document.querySelectorAll(others.join())) {
      told.push([element, name, element.getAttribute(name)]);
    }
  }

  function speak(code) {
    if (code === root.lang) return;
    root.lang = code;
    document.title = titles.get(code) ?? titles.get(first) ?? document.title;
    for (const [element, name, text] of told) {
      element.setAttribute(name, element.getAttribute(`data-${code}-${name}`) ?? text);
    }
    document.getElementById("timeline")?.dispatchEvent(
      new CustomEvent("fst-speak", { detail: code }),
    );
  }

  for (const each of switches) each.addEventListener("change", () => speak(each.value));
  // A page that is loaded again keeps its switches.
  for (const each of switches) if (each.checked) speak(each.value);
})();
