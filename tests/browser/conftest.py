"""Fixtures that start the dashboard and drive it with the system's Chromium."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from fusescope.analysis.recipes import find
from tests.app.test_recipes_page import changed, recorded
from tests.browser.chromium import Chromium
from tests.browser.dashboard import hostile
from tests.browser.serving import SERVE_WITH_PEAKS, SERVES_AT, free_port, started
from tests.factories import experiment_zip
from tests.patience import GIVE_UP_S

HERE = Path(__file__).resolve().parent
CHROMIUM = Chromium()
FOUR = {"unfused": [10.0] * 8, "basic": [8.0] * 8, "extended": [6.0] * 8, "fused": [5.0] * 8}

# expect() has a default of its own, 5 s.
TIMEOUT_MS = GIVE_UP_S * 1000
expect.set_options(timeout=TIMEOUT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None]:
    """Playwright leaves an event loop in this thread, which other tests of the same process must
    not find: the browser ends with the last browser test of a row."""
    yield
    if nextitem is None or not nextitem.path.is_relative_to(HERE):
        CHROMIUM.close()


@pytest.fixture(scope="session")
def allowed_origins() -> set[str]:
    """What a page may ask for: filled by the servers below, and by tests with files."""
    return set()


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory, allowed_origins: set[str]) -> Iterator[str]:
    """The address of the dashboard as `fusescope serve` starts it, one for all tests.

    It has recordings: of two recipes, one of them hostile, and four.zip of four variants.
    """
    folder = tmp_path_factory.mktemp("dashboard")
    recordings = folder / "recordings"
    recordings.mkdir()
    (recordings / "four.zip").write_bytes(experiment_zip(FOUR, model_name="four"))
    (recordings / "conv3x3.zip").write_bytes(recorded(find("conv3x3")))
    (recordings / "mul_add.zip").write_bytes(changed(recorded(find("mul_add")), hostile))
    with started([*SERVE_WITH_PEAKS, f"--port={free_port()}"], folder) as server:
        address = server.wait_for(SERVES_AT)
        allowed_origins.add(f"{address}/")
        yield address


@pytest.fixture
def page(allowed_origins: set[str]) -> Iterator[Page]:
    """A page of its own: no session, cookie or storage leaks from test to test.

    The dashboard and the report work offline: `page.outside_requests` has what was asked of
    anything but our own servers, whether or not a policy stopped it; no request gets further than
    this machine. `page.console_errors` has what the scripts said.
    """
    context = CHROMIUM.context()
    outside: list[str] = []
    errors: list[str] = []

    def note(url: str) -> None:
        if not url.startswith(("data:", "blob:", *allowed_origins)):
            outside.append(url)

    def watch(request: Request) -> None:
        note(request.url)

    def listen(opened: Page) -> None:
        opened.on("websocket", lambda socket: note(socket.url.replace("ws", "http", 1)))

    context.on("request", watch)
    context.on("page", listen)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.outside_requests = outside
    page.console_errors = errors
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.remove_listener("request", watch)
    context.remove_listener("page", listen)
    CHROMIUM.clear(origin.rstrip("/") for origin in allowed_origins if origin.startswith("http"))


@pytest.fixture
def own_browser() -> Iterator[None]:
    """No later test shares the browser of this one: Chromium asks again for what failed in a window
    that a script opened, at times after the window was closed."""
    yield
    CHROMIUM.close()
