"""The dashboard in a real browser: start, pages, clicks, memory."""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from benchmarks.row import Row

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("FUSESCOPE_CHROMIUM", "/usr/bin/chromium")
_STARTS = 3
_CLICKS = 12
_ROUNDS = 5
_TABS = 10
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
_OTHER_SAMPLE = "baseline=sample:resnet50/unfused&candidate=sample:resnet50/fused"
_SAMPLE = "baseline=sample:mobilenetv2/unfused&candidate=sample:mobilenetv2/fused"
_VERDICT = re.compile("is .* (?:faster|slower) than|Cannot tell")
_CARD = "ONNX Runtime: MobileNetV2"  # the last text of the page Start


def measure() -> list[Row]:
    """Return rows for start, pages, clicks and memory; one row that says why without Chromium."""
    if not Path(CHROMIUM).exists():
        return [Row("dashboard", "not measured", "", f"no Chromium at {CHROMIUM}")]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        start = statistics.median(_start(browser) for _ in range(_STARTS))
        port = free_port()
        server = serve(port)
        try:
            wait_healthy(port, server)
            rows = _pages(browser, port, server)
            rows += _clicks(browser, port, start)
            rows += _memory(browser, port, server)
        finally:
            stop(server)
        browser.close()
    return [Row("make run to the page Start on screen", f"{start:.2f} s", "< 4 s"), *rows]


def _start(browser: Browser) -> float:
    """Return the seconds from `make run` to the page that it opens on."""
    port = free_port()
    begin = time.perf_counter()
    server = serve(port)
    try:
        wait_healthy(port, server)
        page = browser.new_context().new_page()
        page.goto(f"http://127.0.0.1:{port}")
        page.get_by_text(_CARD).wait_for(timeout=60_000)
        return time.perf_counter() - begin
    finally:
        stop(server)


def _pages(browser: Browser, port: int, server: subprocess.Popen[bytes]) -> list[Row]:
    """Return how long pages of a warm server take, beside an empty page of Streamlit, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text('import streamlit as st\nst.header("Empty")\n')
        other = free_port()
        command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={other}"]
        empty = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            wait_healthy(other, empty)
            process = app_process(server)
            rounds = []
            for _ in range(_ROUNDS + 1):
                empty_page = _shown(browser, other, "", "Empty")
                start = _shown(browser, port, "", _CARD)
                before = sum(process.cpu_times()[:2])
                compared = _shown(browser, port, f"compare?{_SAMPLE}", _VERDICT)
                taken = sum(process.cpu_times()[:2]) - before
                rounds.append((empty_page[1], start[1], *compared, taken))
        finally:
            stop(empty)
    # The first round makes what is cached afterwards.
    nothing, start_s, verdict_s, complete_s, cpu_s = map(statistics.median, zip(*rounds[1:]))
    return [
        Row("the page Start, warm and complete", f"{start_s:.2f} s", "< 1.5 x an empty page",
            f"{start_s / nothing:.2f} x an empty page"),
        Row("a sample's comparison, warm, to its verdict", f"{verdict_s:.2f} s", "< 2 s"),
        Row("a sample's comparison, warm and complete", f"{complete_s:.2f} s", "",
            f"{complete_s / start_s:.2f} x the page Start"),
        Row("its processor time in the server", f"{cpu_s:.2f} s", "< 1.2 s"),
    ]  # fmt: skip


def _shown(
    browser: Browser, port: int, path: str, text: str | re.Pattern[str]
) -> tuple[float, float]:
    """Return the seconds until a page of a new tab shows this text, and until it is complete."""
    context = browser.new_context()
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(f"http://127.0.0.1:{port}/{path}")
    page.get_by_text(text).first.wait_for(timeout=60_000)
    shown = time.perf_counter() - begin
    wait_idle(page)
    complete = time.perf_counter() - begin
    context.close()
    return shown, complete


def _clicks(browser: Browser, port: int, start: float) -> list[Row]:
    """Return how long the verdict takes after sides are swapped."""
    page = browser.new_context().new_page()
    page.set_default_timeout(60_000)
    page.goto(f"http://127.0.0.1:{port}/compare?{_SAMPLE}")
    heading = page.get_by_role("heading", name=_VERDICT).first
    heading.wait_for()
    clicks = []
    for _ in range(_CLICKS):
        wait_idle(page)
        before = heading.inner_text()
        begin = time.perf_counter()
        page.get_by_role("button", name=re.compile("swap", re.IGNORECASE)).click()
        page.wait_for_function(
            "text => [...document.querySelectorAll('h1,h2,h3')]"
            ".some(h => /faster|slower|Cannot tell/.test(h.innerText)"
            " && h.innerText !== text)",
            arg=before,
        )
        clicks.append(time.perf_counter() - begin)
    click = statistics.median(clicks)
    share = f"{click / start:.1%} of make run to the page Start"
    return [Row("click (swap sides) to new verdict", f"{click:.2f} s", "< 0.3 s", share)]


def _memory(browser: Browser, port: int, server: subprocess.Popen[bytes]) -> list[Row]:
    """Return what the server holds with both samples, and for one more tab."""
    page = browser.new_context().new_page()
    page.goto(f"http://127.0.0.1:{port}/compare?{_OTHER_SAMPLE}")
    page.get_by_role("heading", name="1.").first.wait_for(timeout=60_000)
    wait_idle(page)
    process = app_process(server)
    loaded = process.memory_info().rss
    for _ in range(_TABS):
        tab = browser.new_context().new_page()
        tab.goto(f"http://127.0.0.1:{port}/compare?{_SAMPLE}")
        tab.get_by_role("heading", name=_VERDICT).first.wait_for(timeout=60_000)
        wait_idle(tab)
    per_tab = (process.memory_info().rss - loaded) / _TABS
    return [
        Row("memory of the app, both samples loaded", f"{loaded / 1e6:.0f} MB", "< 400 MB"),
        Row("memory of one more idle tab", f"{per_tab / 1e6:.2f} MB", "< 1 MB"),
    ]


def serve(port: int, *paths: Path) -> subprocess.Popen[bytes]:
    given = " ".join(map(str, paths))
    return subprocess.Popen(
        ["make", "run", f"ARGS=--no-browser --port {port} {given}"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # so that make and the server end together
    )


def stop(server: subprocess.Popen[bytes]) -> None:
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(timeout=20)


def app_process(server: subprocess.Popen[bytes]) -> psutil.Process:
    """The server itself below make and its shell: the largest of them."""
    processes = psutil.Process(server.pid).children(recursive=True)
    return max(processes, key=lambda process: process.memory_info().rss)


def wait_healthy(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the dashboard did not start")


def wait_idle(page) -> None:  # type: ignore[no-untyped-def]
    page.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
