"""One Chromium for all browser tests that a process runs in a row, and its one profile.

A profile keeps the dashboard's scripts fetched and compiled, which is half the cost of a page.
What a page may leave behind for the next one (cookies, storage) is cleared between tests.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, sync_playwright

ARGS = [
    "--no-sandbox",
    "--in-process-gpu",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
]
SIZE = (1280, 1000)
# Nobody answers there: what is asked of any other machine than this one ends here.
NO_PROXY = {"server": "http://127.0.0.1:9", "bypass": "127.0.0.1,localhost"}
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_KEPT = "cookies,local_storage,indexeddb,cache_storage,service_workers"


def path() -> str:
    """Where Chromium is; the test is skipped, or fails where all must run, if it is nowhere."""
    found = os.environ.get("FUSESCOPE_CHROMIUM") or next(
        filter(None, map(shutil.which, _NAMES)), ""
    )
    if not Path(found).is_file():
        reason = "no Chromium found: install it, or set FUSESCOPE_CHROMIUM to its path"
        if os.environ.get("FUSESCOPE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class Chromium:
    """A browser that starts with the first page and runs until it is closed."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._context: BrowserContext | None = None

    def context(self) -> BrowserContext:
        """The profile, without any page of an earlier test."""
        if self._context is None:
            executable = path()
            folder = self._running.enter_context(
                tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
            )
            playwright = self._running.enter_context(sync_playwright())
            self._context = playwright.chromium.launch_persistent_context(
                folder,
                executable_path=executable,
                args=ARGS,
                proxy=NO_PROXY,
                viewport={"width": SIZE[0], "height": SIZE[1]},
                color_scheme="light",
                accept_downloads=True,
            )
            # Chromium ends with its last page: the empty one that it starts with stays.
            self._running.callback(self._context.close)
        return self._context

    def clear(self, origins: Iterable[str]) -> None:
        """Closes the pages that were opened and forgets what those of `origins` have kept."""
        if self._context is None:
            return
        first, *others = self._context.pages
        for page in others:
            page.close()
        self._context.clear_cookies()
        session = self._context.new_cdp_session(first)
        for origin in origins:
            session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": _KEPT})
        session.detach()

    def close(self) -> None:
        """Ends the browser; the next page starts another."""
        self._context = None
        self._running.close()
