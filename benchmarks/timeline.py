"""Timelines of a million operators: the bytes of an overview, a question, a redraw, a zoom."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import zoom
from benchmarks.dashboard import CHROMIUM, FLAGS
from benchmarks.row import Row
from fusescope.analysis.timeline.drawing import Drawing, Layers, packed
from fusescope.analysis.timeline.packing import Columns, json_text
from fusescope.analysis.timeline.question import Question
from fusescope.analysis.wording.timeline.script import script_words

CALLS = 1_000_000
OPERATORS = 4_000
_DISTINCT = 150_000
_QUESTIONS = 60
_REDRAWS = 40
_CLASSES = ("convolution", "matrix_product", "elementwise", "normalisation", "data_movement")


def measure() -> list[Row]:
    """Rows for what the server does; and, with Chromium, for a redraw and a zoom."""
    one, pair = payload(1, OPERATORS), payload(2, _DISTINCT)
    began = time.process_time()
    layers = Layers(one)
    drawing = Drawing(layers, said(one))
    size = len(drawing.base)
    first = time.process_time() - began
    both = len(Drawing(Layers(pair), said(pair)).base)
    asked = sorted(_questions(drawing))
    median = statistics.median(asked)
    return [
        Row(
            f"overview of {CALLS:,} executions, {OPERATORS:,} operators",
            f"{size / 1e3:.0f} kB",
            "<= 350 kB",
            f"{size / CALLS:.2f} bytes an execution",
        ),
        Row(
            f"overview of two such runs, {_DISTINCT:,} operators each",
            f"{both / 1e3:.0f} kB",
            "<= 350 kB",
            f"{both / size:.2f} of one run",
        ),
        Row("  making it and all levels, once", f"{first:.2f} s CPU", ""),
        Row(
            "  what a zoom asks for, by the server",
            f"{median * 1e3:.1f} ms CPU",
            "<= 100 ms",
            f"the slowest of {_QUESTIONS} {asked[-1] / median:.1f} x that, "
            f"{median / first:.3f} of making all levels",
        ),
        *_redraw(pair),
        Row("from the wheel to finer detail in the dashboard", "", ""),
        *zoom.measure(),
    ]


def payload(sides: int, operators: int) -> dict[str, Any]:
    """A payload (analysis.timeline.payload) of runs of CALLS executions in a row."""
    made = [_side(number, operators) for number in range(sides)]
    return {
        "span_ns": max(side["dur_ns"] for side in made),
        "classes": [{"id": name, "label": name} for name in _CLASSES],
        "groups": [],
        "sides": made,
    }


def _side(number: int, operators: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    durs = rng.lognormal(9, 1.2, CALLS).astype("int64") + 1
    starts = np.cumsum(durs + rng.integers(0, 500, CALLS)) - durs
    nothing = [None] * operators
    return {
        "id": ("baseline", "candidate")[number],
        "label": f"run {number}",
        "caption": "",
        "folded": "",
        "in_order": False,
        "origin_ns": 0,
        "dur_ns": int(starts[-1] + durs[-1]),
        "lanes": [{"label": "", "small": False, "of": 0, "depth": 0}],
        "ops": {
            "name": [f"/encoder/layer.{at}/operator" for at in range(operators)],
            "op_type": [f"Type{at % 40}" for at in range(operators)],
            "op_class": [_CLASSES[at % len(_CLASSES)] for at in range(operators)],
            "row": list(range(operators)),
            **{name: nothing for name in ("inputs", "outputs", "provider", "group")},
        },
        "calls": {
            "op": rng.integers(0, operators, CALLS),
            "lane": np.zeros(CALLS, dtype="int64"),
            "start_ns": starts,
            "dur_ns": durs,
        },
    }


def said(data: dict[str, Any]) -> dict[str, Any]:
    """What such a payload says."""
    sides = [{"caption": "", "folded": ""} for _ in data["sides"]]
    return {"words": script_words(), "classes": data["classes"], "sides": sides}


def _questions(drawing: Drawing) -> list[float]:
    """Processor time in s of windows of every length, at random places."""
    rng = np.random.default_rng(7)
    span = drawing.layers.payload["span_ns"]
    times = []
    for number in range(_QUESTIONS):
        size = max(10, int(span / 2 ** (1 + number % 18)))
        start = int(rng.integers(0, span - size))
        question = Question(drawing.id, number + 1, windows=((start, start + size),), pixels=3900)
        began = time.process_time()
        drawing.answer(question)
        times.append(time.process_time() - began)
    return times


def _redraw(data: dict[str, Any]) -> list[Row]:
    """The frame that a step to the side takes in the browser, of an overview of both runs."""
    what = "  a redraw in the browser, two runs"
    if not Path(CHROMIUM).exists():
        return [Row(what, "not measured", "<= 16 ms", f"no Chromium at {CHROMIUM}")]
    from playwright.sync_api import sync_playwright

    from fusescope.analysis.timeline import script

    text = json_text(packed(Layers(data), said(data), Columns(as_text=True), items=60_000))
    page_text = (
        f'<!doctype html><meta charset="utf-8"><style>{script.style_sheet()}</style>'
        f'<div id="timeline"></div><script type="application/json" id="timeline-data">'
        f"{text.replace('<', chr(92) + 'u003c')}</script><script>{script.report_script()}</script>"
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "timeline.html"
        path.write_text(page_text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1320, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector(".fst[data-lane-centres]")
        times = sorted(page.evaluate(_FRAMES, _REDRAWS))
        browser.close()
    median = statistics.median(times)
    nine = times[int(0.9 * len(times))]
    return [Row(what, f"{median:.1f} ms", "<= 16 ms", f"nine of ten within {nine / median:.1f} x")]


# How long after the start of its frame the timeline has drawn itself, in ms.
_FRAMES = """async (count) => {
  const canvas = document.querySelector(".fst canvas");
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const frame = () => new Promise((done) => requestAnimationFrame((begin) =>
    done(performance.now() - begin)));
  press("+");
  await frame();
  const times = [];
  for (let i = 0; i < count; i++) {
    press(i % 2 ? "a" : "d");
    times.push(await frame());
  }
  return times;
}"""
