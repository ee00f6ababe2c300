"""Fixtures that start the dashboard and drive it with the system's Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

# expect() has a default of its own, 5 s.
TIMEOUT_MS = GIVE_UP_S * 1000
expect.set_options(timeout=TIMEOUT_MS)

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("browser")


@contextmanager
def streamlit_server(script: Path, folder: Path) -> Iterator[str]:
    """The address of `python -m streamlit run script`, started from the project's root."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log_path = folder / f"streamlit-{port}.log"
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += ["--server.headless=true", "--browser.gatherUsageStats=false"]
    command += ["--server.address=127.0.0.1", f"--server.port={port}"]
    command += ["--server.fileWatcherType=none"]
    with log_path.open("w") as log:
        server = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_until_healthy(server, port, log_path)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_healthy(server: subprocess.Popen[bytes], port: int, log_path: Path) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while True:
        if server.poll() is not None:
            raise RuntimeError(f"Streamlit ended early:\n{log_path.read_text()}")
        try:
            url = f"http://127.0.0.1:{port}/_stcore/health"
            with urllib.request.urlopen(url, timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"Streamlit is not up:\n{log_path.read_text()}")
        time.sleep(0.1)


@pytest.fixture(scope="session")
def allowed_origins() -> set[str]:
    """What a page may ask for: filled by the servers below, and by tests with files."""
    return set()


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory, allowed_origins: set[str]) -> Iterator[str]:
    """The address of the dashboard."""
    with streamlit_server(ROOT / "app" / "main.py", tmp_path_factory.mktemp("dashboard")) as url:
        allowed_origins.add(f"{url}/")
        yield url


@pytest.fixture
def serve(tmp_path: Path, allowed_origins: set[str]) -> Iterator[Callable[[str], str]]:
    """`serve(source)` runs a Streamlit script of the test's own and returns its address."""
    with ExitStack() as servers:

        def start(source: str) -> str:
            script = tmp_path / "script.py"
            script.write_text(source, encoding="utf-8")
            url = servers.enter_context(streamlit_server(script, tmp_path))
            allowed_origins.add(f"{url}/")
            return url

        yield start


# One browser a module and not a session: Playwright leaves an event loop in this thread, which
# other tests of the same process must not find.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("FUSESCOPE_CHROMIUM") or next(filter(None, map(shutil.which, names)), "")
    if not Path(found).is_file():
        reason = "no Chromium found: install it, or set FUSESCOPE_CHROMIUM to its path"
        if os.environ.get("FUSESCOPE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, allowed_origins: set[str]) -> Iterator[Page]:
    """A fresh browser context: no session and no upload leaks from test to test.

    Requests to anything but our own servers are stopped and kept in `page.outside_requests`:
    the dashboard and the report work offline. `page.console_errors` has what the scripts said.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 1000}, accept_downloads=True, color_scheme="light"
    )
    outside: list[str] = []
    errors: list[str] = []

    def guard(route: Route) -> None:
        if route.request.url.startswith(("data:", "blob:", *allowed_origins)):
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route("**/*", guard)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.outside_requests = outside
    page.console_errors = errors
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
