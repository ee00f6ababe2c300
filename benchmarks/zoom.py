"""Zooms in the dashboard, of large traces: from the turn of the wheel to finer detail, drawn."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import traces
from benchmarks.dashboard import CHROMIUM, FLAGS, free_port, serve, stop, wait_healthy, wait_idle
from benchmarks.row import Row

AIM = "<= 120 ms"
_ZOOMS = 60
_PATIENCE_MS = 240_000


@dataclass(frozen=True)
class _Zoom:
    """One turn of the wheel: ms until what is drawn is as fine as it can be, and whether the server
    was asked for that."""

    ms: float
    asked: bool


def measure() -> list[Row]:
    """A row for each of two traces; one that says so without Chromium."""
    if not Path(CHROMIUM).exists():
        return [Row("a zoom in the dashboard", "not measured", AIM, f"no Chromium at {CHROMIUM}")]
    with tempfile.TemporaryDirectory() as folder:
        return [_row(what, path) for what, path in _written(Path(folder))]


def _written(folder: Path) -> Iterator[tuple[str, Path]]:
    """Traces of which a single run has more than is sent to the browser at once."""
    one_step = folder / "kineto.json"
    with one_step.open("w", buffering=1 << 20) as file:
        file.writelines(traces.kineto(1_000_000, step_events=1_000_000))
    yield "Kineto, 1,000,000 events in a step", one_step
    summary = folder / "op_summary.csv"
    with summary.open("w", buffering=1 << 20) as file:
        file.writelines(traces.op_summary(250_000))
    yield "op_summary, 250,000 rows", summary


def _row(what: str, path: Path) -> Row:
    zooms = _zooms(path)
    median = statistics.median(zoom.ms for zoom in zooms)
    asked = [zoom.ms for zoom in zooms if zoom.asked]
    drawn = [zoom.ms for zoom in zooms if not zoom.asked]
    if not asked or not drawn:
        return Row(f"  {what}", f"{median:.0f} ms", AIM, f"{len(asked)} of {_ZOOMS} asked")
    slow, quick = statistics.median(asked), statistics.median(drawn)
    return Row(
        f"  {what}",
        f"{slow:.0f} ms",
        AIM,
        f"{slow / quick:.1f} x one that needs no server; {len(asked)} of {_ZOOMS} asked it, the "
        f"median of all is {median / slow:.2f} of that",
    )


def _zooms(path: Path) -> list[_Zoom]:
    from playwright.sync_api import sync_playwright

    port = free_port()
    server = serve(port, path)
    try:
        wait_healthy(port, server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page: Any = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(_PATIENCE_MS)
            page.goto(f"http://127.0.0.1:{port}")
            page.wait_for_selector(".fst[data-fine='true']")
            wait_idle(page)
            found = page.locator(".fst").evaluate(_WHEEL, _ZOOMS)
            browser.close()
    finally:
        stop(server)
    return [_Zoom(ms, asked) for ms, asked in found]


# To where the wheel turns, six times deeper, then out again and elsewhere. A time ends with the
# second frame behind the last data, when the first of them has been drawn.
_WHEEL = """async (root, count) => {
  const canvas = root.querySelector("canvas");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const turn = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  });
  const rest = () => new Promise((done) => setTimeout(done, 100));
  let seed = 7;
  const chance = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const zooms = [];
  canvas.focus();
  for (let i = 0; i < count; i++) {
    if (i % 6 === 0) canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
    await rest();
    const { left, top, width } = canvas.getBoundingClientRect();
    const clientX = left + width * (0.15 + 0.8 * chance());
    const wheel = { deltaY: -347, clientX, clientY: top + 40, bubbles: true, cancelable: true };
    const begin = performance.now();
    canvas.dispatchEvent(new WheelEvent("wheel", wheel));
    const asked = root.dataset.fine === "false";
    while (root.dataset.fine === "false") await turn();
    await frame();
    await frame();
    zooms.push([performance.now() - begin, asked]);
  }
  return zooms;
}"""
