"""Timelines for browser tests: payloads made by hand, the page around one, and a hand for it."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import FloatRect, Page, expect

from fusescope.analysis.timeline import script
from fusescope.analysis.timeline.drawing import Layers
from fusescope.analysis.timeline.drawing import packed as drawn
from fusescope.analysis.timeline.packing import Columns, json_text
from fusescope.analysis.wording.timeline.script import script_words
from tests.patience import GIVE_UP_S

HOSTILE = "<img src=x onerror=\"document.title='pwned'\"></script><script>document.title='pwned'"
CLASSES = ("convolution", "normalisation", "activation", "elementwise", "pooling", "matrix_product")


def side(
    name: str,
    operators: list[tuple[str, str, str, int | None]],
    calls: list[Any],
    groups: list[int | None] | None = None,
) -> Any:
    """One side of a payload; operators are (name, type, class, row).

    Calls are (op, start, dur) or (op, start, dur, lane). `groups` has the fusion group of each
    operator; without it they are in none.
    """
    lanes = [call[3] if len(call) > 3 else 0 for call in calls]
    calls = [call[:3] for call in calls]
    names, types, classes, rows = (list(column) for column in zip(*operators, strict=True))
    starts = [start for _, start, _ in calls]
    durations = [dur for _, _, dur in calls]
    return {
        "id": name,
        "label": {"baseline": "unfused", "candidate": "fused"}[name],
        "caption": f"{len(calls)} operators as profiled",
        "dur_ns": max(start + dur for start, dur in zip(starts, durations, strict=True)),
        "lanes": [
            {"label": label, "small": False}
            for label in ["CPU", "CPU 2", "CPU 3"][: max(lanes, default=0) + 1]
        ],
        "ops": {
            "name": names,
            "op_type": types,
            "op_class": classes,
            "inputs": ["float32[1,3,224,224]"] * len(names),
            "outputs": [None] * len(names),
            "provider": ["CPUExecutionProvider"] * len(names),
            "row": rows,
            "group": groups or [None] * len(names),
        },
        "calls": {
            "op": [op for op, _, _ in calls],
            "lane": lanes,
            "start_ns": starts,
            "dur_ns": durations,
        },
    }


def payload(*sides: Any, groups: list[Any] | None = None) -> Any:
    return {
        "span_ns": max((each["dur_ns"] for each in sides), default=0),
        "classes": [{"id": name, "label": name.replace("_", " ")} for name in CLASSES],
        "groups": groups or [],
        "sides": list(sides),
    }


def said(data: Any) -> Any:
    """What a payload says; its captions and labels are texts already."""
    sides = [{"folded": side.get("folded", "")} for side in data["sides"]]
    return {"words": script_words(), "classes": data["classes"], "sides": sides}


def packed(data: Any, items: int | None = None) -> str:
    """A payload as a report has it: all of it, or an overview of so many calls and bins."""
    return json_text(drawn(Layers(data), said(data), Columns(as_text=True), items=items))


def report(data: Any, items: int | None = None) -> str:
    """A page with the Content-Security-Policy of the report around the report's host."""
    code = script.report_script()
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    text = packed(data, items).replace("<", "\\u003c")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="color-scheme" content="light dark"><title>report</title>'
        f"<style>{script.style_sheet()}</style></head><body>"
        f'<div id="timeline"></div><div style="height: 3000px"></div>'
        f'<script type="application/json" id="timeline-data">{text}</script>'
        f"<script>{code}</script></body></html>"
    )


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """As page.wait_for_function, which the Content-Security-Policy does not let run."""
    deadline = time.monotonic() + GIVE_UP_S
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("what has to come did not come")
        page.wait_for_timeout(20)


class Timeline:
    """The timeline on a page, spoken to in ns and lanes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.locator(".fst")
        self.canvas = self.root.locator("canvas")
        self.tip = self.root.locator(".fst-tip")
        page.wait_for_selector(".fst[data-lane-centres]")  # it is drawn

    def box(self) -> FloatRect:
        box = self.canvas.bounding_box()
        assert box is not None
        return box

    def number(self, name: str) -> float:
        value = self.root.get_attribute(f"data-{name}")
        assert value is not None
        return float(value)

    def window(self) -> tuple[float, float]:
        return self.number("from-ns"), self.number("to-ns")

    def at(self, ns: float, lane: int = 0) -> tuple[float, float]:
        """Where on the page the time `ns` of a lane is."""
        expect(self.root).to_have_attribute("data-lane-centres", re.compile(r"\d"))  # it is drawn
        box, (start, end) = self.box(), self.window()
        centres = (self.root.get_attribute("data-lane-centres") or "").split()
        left = self.number("plot-left")
        x = box["x"] + left + (ns - start) / (end - start) * (box["width"] - left)
        return x, box["y"] + float(centres[lane])

    def hover(self, ns: float, lane: int = 0) -> None:
        self.page.mouse.move(*self.at(ns, lane))

    def click(self, ns: float, lane: int = 0) -> None:
        self.page.mouse.click(*self.at(ns, lane))

    def in_band(self, ns: float, down: float) -> tuple[float, float]:
        """Where on the page `ns` is at the part `down` (0 to 1) of the way between the sides."""
        top, bottom = map(float, (self.root.get_attribute("data-band") or "").split())
        return self.at(ns)[0], self.box()["y"] + top + down * (bottom - top)

    def pixel(self, x: float, y: float) -> tuple[int, ...]:
        """Red, green, blue and alpha at a place of the page, as drawn on the canvas."""
        box = self.box()
        values = self.canvas.evaluate(
            """async (canvas, [x, y]) => {
                const frame = () => new Promise((done) => requestAnimationFrame(done));
                await frame().then(frame);
                return Array.from(canvas.getContext("2d").getImageData(x, y, 1, 1).data);
            }""",
            [int(x - box["x"]), int(y - box["y"])],
        )
        return tuple(values)

    def mode(self, name: str) -> None:
        """Choose true time, fusion flow or aligned by group."""
        self.root.get_by_role("radio", name=name).check()
        self.canvas.evaluate(
            """async () => {
                const frame = () => new Promise((done) => requestAnimationFrame(done));
                await frame().then(frame);
            }"""
        )

    def row_of_pixels(self, lane: int = 0) -> list[tuple[int, ...]]:
        """Colours along the lower part of a lane (below the texts), as drawn."""
        y = self.at(0, lane)[1] - self.box()["y"] + 15
        values = self.canvas.evaluate(
            """async (canvas, y) => {
                const frame = () => new Promise((done) => requestAnimationFrame(done));
                await frame().then(frame);
                const line = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
                return Array.from(line.data);
            }""",
            round(y),
        )
        return [tuple(values[i : i + 3]) for i in range(0, len(values), 4)]

    def colour(self, ns: float, lane: int = 0) -> tuple[int, ...]:
        x = self.at(ns, lane)[0] - self.box()["x"]
        return self.row_of_pixels(lane)[int(x)]


def open_report(
    data: Any, page: Page, folder: Path, allowed_origins: set[str], items: int | None = None
) -> Timeline:
    """Opens a report with that timeline as a file: all of it, or an overview of so many items."""
    path = folder / "report.html"
    path.write_text(report(data, items), encoding="utf-8")
    allowed_origins.add(path.as_uri())
    page.goto(path.as_uri())
    return Timeline(page)
