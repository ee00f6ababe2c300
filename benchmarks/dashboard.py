"""The dashboard in a real browser: start, click, memory."""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import time
from pathlib import Path

import psutil

from benchmarks.row import Row

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("FUSESCOPE_CHROMIUM", "/usr/bin/chromium")
_STARTS = 3
_CLICKS = 12
_TABS = 10
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
_OTHER_SAMPLE = "baseline=sample:resnet50/unfused&candidate=sample:resnet50/fused"
_VERDICT = re.compile("faster|slower|Cannot tell")


def measure() -> list[Row]:
    """Rows for start to verdict, click to answer, memory. Empty without Chromium."""
    if not Path(CHROMIUM).exists():
        return [Row("dashboard", "not measured", "", f"no Chromium at {CHROMIUM}")]
    from playwright.sync_api import sync_playwright

    starts, clicks = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for _ in range(_STARTS):
            port = free_port()
            begin = time.perf_counter()
            server = serve(port)
            try:
                wait_healthy(port, server)
                page = browser.new_context().new_page()
                page.goto(f"http://127.0.0.1:{port}")
                page.get_by_role("heading", name=_VERDICT).first.wait_for(timeout=60_000)
                starts.append(time.perf_counter() - begin)
            finally:
                stop(server)
        port = free_port()
        server = serve(port)
        try:
            wait_healthy(port, server)
            page = browser.new_context().new_page()
            page.set_default_timeout(60_000)
            page.goto(f"http://127.0.0.1:{port}")
            heading = page.get_by_role("heading", name=_VERDICT).first
            heading.wait_for()
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
            wait_idle(page)
            page.goto(f"http://127.0.0.1:{port}/?{_OTHER_SAMPLE}")
            page.get_by_role("heading", name="1.").first.wait_for()
            wait_idle(page)
            process = app_process(server)
            loaded = process.memory_info().rss
            for _ in range(_TABS):
                tab = browser.new_context().new_page()
                tab.goto(f"http://127.0.0.1:{port}")
                tab.get_by_role("heading", name=_VERDICT).first.wait_for(timeout=60_000)
                wait_idle(tab)
            per_tab = (process.memory_info().rss - loaded) / _TABS
        finally:
            stop(server)
        browser.close()
    start, click = statistics.median(starts), statistics.median(clicks)
    return [
        Row("make run to first verdict on screen", f"{start:.2f} s", "< 4 s"),
        Row(
            "click (swap sides) to new verdict",
            f"{click:.2f} s",
            "< 0.3 s",
            f"{click / start:.1%} of make run to verdict",
        ),
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
