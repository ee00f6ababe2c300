/* The line below the canvas that says what the host did while nothing ran, by kinds of causes in
   their colours, and folds its lane away. */

import { HOST_KINDS, kindLabel } from "../data/host.js";
import { duration, share } from "../data/text.js";
import { say } from "../data/words.js";
import { element, swatch } from "./elements.js";

/* The kinds of causes of a host as [kind, ns], most time first. */
function byKind({ causes }) {
  const sums = new Map();
  for (const { kind, ns } of causes) sums.set(kind, (sums.get(kind) ?? 0) + ns);
  return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
}

export function createHostLine(view, onToggle) {
  const box = element("div", "fst-host");
  const launches = element("p");
  launches.hidden = true;
  const toggle = element("button");
  toggle.type = "button";
  toggle.addEventListener("click", () => {
    view.hostHidden = !view.hostHidden;
    onToggle();
    fill();
  });

  function lineOf({ label, dur, host }) {
    const line = element("p");
    const word = host.onDevice ? "host_idle" : "host_nothing_runs";
    const lead = say(word, { time: duration(host.idle), share: share(host.idle, dur) });
    line.append(element("span", "", say("labelled", { label, text: lead })));
    for (const [kind, ns] of byKind(host)) {
      const part = element("span", "fst-key");
      const text = say("host_part", { kind: kindLabel(kind), share: share(ns, host.idle) });
      part.append(swatch(view.palette.host[HOST_KINDS.indexOf(kind)]), element("span", "", text));
      line.append(" ", part);
    }
    return line;
  }

  function fill() {
    const some = view.sides.filter(({ host }) => host !== undefined);
    box.hidden = some.length === 0 || view.mode === "aligned";
    toggle.textContent = say(view.hostHidden ? "host_show" : "host_fold");
    toggle.setAttribute("aria-expanded", String(!view.hostHidden));
    box.replaceChildren(...some.map(lineOf), launches, toggle);
  }

  /* `found` is {count, drawn}, or null. */
  function tell(found) {
    const text = found === null || found.count === 0
      ? ""
      : say(found.drawn < found.count ? "host_some_launches" : "host_launches", found);
    launches.hidden = text === "";
    if (launches.textContent !== text) launches.textContent = text;
  }

  return { box, fill, tell };
}
