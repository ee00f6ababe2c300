"""Memory of the dashboard after a day of uploads: tabs come, drop files and are closed."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.dashboard import (
    CHROMIUM,
    FLAGS,
    app_process,
    free_port,
    serve,
    stop,
    wait_healthy,
    wait_idle,
)
from benchmarks.row import Row

_TABS = 20
_DROPS = (2, 2, 1)  # files dropped together in each tab
_RUNS = 100
_OPERATORS = 200
_WARM_TABS = 4
_IDLE_S = 180  # Streamlit keeps a closed tab for 2 minutes


def measure() -> list[Row]:
    """Rows for the memory after the first closed tabs and after the last; none without Chromium."""
    if not Path(CHROMIUM).exists():
        return [Row("uploads", "not measured", "", f"no Chromium at {CHROMIUM}")]
    from playwright.sync_api import sync_playwright

    port = free_port()
    server = serve(port)
    try:
        wait_healthy(port, server)
        with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            process = app_process(server)
            held = []
            for tab in range(_TABS):
                context = browser.new_context()
                _use(context.new_page(), f"http://127.0.0.1:{port}", Path(folder), tab)
                context.close()
                held.append(process.memory_info().rss / 1e6)
                print(f"tab {tab + 1}: {held[-1]:.0f} MB", flush=True)  # minutes go by
            time.sleep(_IDLE_S)
            idle = process.memory_info().rss / 1e6
            browser.close()
    finally:
        stop(server)
    count = sum(_DROPS)
    early, late = held[_WARM_TABS - 1], held[-1]
    return [
        Row(f"memory after {_WARM_TABS} closed tabs of {count} uploads", f"{early:.0f} MB", ""),
        Row(
            f"memory after {_TABS} closed tabs of {count} uploads",
            f"{late:.0f} MB",
            "< 450 MB",
            f"{late / early:.2f} of that after {_WARM_TABS}",
        ),
        Row("memory 3 minutes later", f"{idle:.0f} MB", "", f"{idle / late:.2f} of that"),
    ]


def _use(page: Any, url: str, folder: Path, tab: int) -> None:
    """Open the dashboard and drop files that nobody dropped before."""
    page.set_default_timeout(120_000)
    page.goto(url)
    page.get_by_role("heading", level=2).first.wait_for()
    wait_idle(page)
    for drop, count in enumerate(_DROPS):
        paths = []
        for file in range(count):
            paths.append(folder / f"tab{tab}_{drop}_{file}.json")
            paths[-1].write_text(_profile(seed=tab * 100 + drop * 10 + file))
        before = page.url
        if drop:
            page.get_by_test_id("stFileUploader").wait_for(state="detached")
            page.get_by_role("button", name="Open files").click()
        page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(paths)
        page.wait_for_function("before => location.href !== before", arg=before)
        wait_idle(page)
        for path in paths:
            path.unlink()


def _profile(seed: int) -> str:
    """A profile as ONNX Runtime writes it, whose first duration nobody else's has."""
    events, ts = [], 1000
    for _ in range(_RUNS):
        first = ts
        for number in range(_OPERATORS):
            dur = 20 + (number * 7 + seed) % 90
            args = {
                "op_name": ("Conv", "Relu", "Add", "Gemm")[number % 4],
                "provider": "CPUExecutionProvider",
                "input_type_shape": [{"float": [1, 8, 16, 16 + number]}],
                "output_type_shape": [{"float": [1, 8, 16, 16 + number]}],
                "output_size": "32768",
            }
            name = f"layer{number // 10}/op{number}_kernel_time"
            event = {"cat": "Node", "ph": "X", "pid": 1, "tid": 1, "name": name, "args": args}
            events.append({**event, "ts": ts, "dur": dur})
            ts += dur + 2
        run = {"cat": "Session", "ph": "X", "pid": 1, "tid": 1, "name": "model_run", "args": {}}
        events.append({**run, "ts": first, "dur": ts - first})
    return json.dumps(events)
