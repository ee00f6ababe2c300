/* The line below the canvas that names the colours of the host's lane and folds it away, and the
   shares of what the host did while nothing ran, which stand with what is in view as a table. */

import { HOST_KINDS, kindLabel } from "../data/host.js";
import { duration, share } from "../data/text.js";
import { say } from "../data/words.js";
import { element, swatch } from "./elements.js";

/* The kinds of causes of hosts as [kind, ns], most time first. */
function byKind(...hosts) {
  const sums = new Map();
  for (const { kind, ns } of hosts.flatMap(({ causes }) => causes)) {
    sums.set(kind, (sums.get(kind) ?? 0) + ns);
  }
  return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
}

export function createHostLine(view, onToggle) {
  const box = element("div", "fst-host");
  const shares = element("div", "fst-shares");
  const launches = element("p");
  launches.hidden = true;
  const toggle = element("button");
  toggle.type = "button";
  toggle.addEventListener("click", () => {
    view.hostHidden = !view.hostHidden;
    onToggle();
    fill();
  });

  function keyOf(kind, text) {
    const key = element("span", "fst-key");
    key.append(swatch(view.palette.host[HOST_KINDS.indexOf(kind)]), element("span", "", text));
    return key;
  }

  function colours(hosts) {
    const line = element("p");
    const onDevice = hosts.some((host) => host.onDevice);
    line.append(element("span", "", say(onDevice ? "host_colours" : "host_colours_of_operators")));
    for (const [kind] of byKind(...hosts)) line.append(" ", keyOf(kind, kindLabel(kind)));
    return line;
  }

  function sharesOf({ label, dur, host }) {
    const line = element("p");
    const word = host.onDevice ? "host_idle" : "host_nothing_runs";
    const lead = say(word, { time: duration(host.idle), share: share(host.idle, dur) });
    line.append(element("span", "", say("labelled", { label, text: lead })));
    for (const [kind, ns] of byKind(host)) {
      const text = say("host_part", { kind: kindLabel(kind), share: share(ns, host.idle) });
      line.append(" ", keyOf(kind, text));
    }
    return line;
  }

  function fill() {
    const some = view.sides.filter(({ host }) => host !== undefined);
    box.hidden = some.length === 0 || view.mode === "aligned";
    toggle.textContent = say(view.hostHidden ? "host_show" : "host_fold");
    toggle.setAttribute("aria-expanded", String(!view.hostHidden));
    if (some.length > 0) {
      box.replaceChildren(colours(some.map(({ host }) => host)), launches, toggle);
    }
    shares.replaceChildren(...some.map(sharesOf));
  }

  /* `found` is {count, drawn}, or null. */
  function tell(found) {
    const text = found === null || found.count === 0
      ? ""
      : say(found.drawn < found.count ? "host_some_launches" : "host_launches", found);
    launches.hidden = text === "";
    if (launches.textContent !== text) launches.textContent = text;
  }

  return { box, shares, fill, tell };
}
