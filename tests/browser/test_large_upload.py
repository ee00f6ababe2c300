"""A file beyond the uploader's limit goes to the server's disk, with its progress, and opens."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import open_for_the_first_time, quiet, wait_idle
from tests.browser.serving import SERVE, SERVES_AT, free_port, started
from tests.factories import UNFUSED_OPERATORS, profile_json
from tests.patience import GIVE_UP_S

SIZE = 300 * 10**6


def resident_bytes(pid: int) -> int:
    """The most memory that a process has had so far."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) * 1024  # type: ignore[index]


@pytest.mark.exhaustive  # the route is in tests/app/server
def test_300_mb_are_sent_read_and_gone(
    page: Page, tmp_path: Path, allowed_origins: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """White space in front of a small profile: what is read takes no time, what is sent does."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    data = profile_json(UNFUSED_OPERATORS, runs=3)
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.write(data[:-1])
        for _ in range(SIZE // 10**6):
            file.write(b"\n" * 10**6)
        file.write(data[-1:])
    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        address = server.wait_for(SERVES_AT)
        allowed_origins.add(f"{address}/")
        open_for_the_first_time(page, address)
        wait_idle(page)
        before = resident_bytes(server.process.pid)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Open larger files").click()
        chooser.value.set_files(path)
        expect(page.get_by_text(re.compile(r"Sending large\.json: \d+ %"))).to_be_visible()
        expect(page).to_have_url(re.compile("trace=upload"))
        expect(page.get_by_role("heading", name="Operators", exact=True)).to_be_visible()
        wait_idle(page)
        # Looked for after it was sent: the first per cent is shown before anything arrives.
        spooled = list((tmp_path / "tmp").glob("fusescope-upload-*"))
        assert len(spooled) == 1 and list(spooled[0].iterdir()) == []
        # Read from the disk once: nothing like the two copies that Streamlit's uploader takes.
        assert resident_bytes(server.process.pid) - before < 2 * SIZE
        assert quiet(page)
    assert list((tmp_path / "tmp").glob("fusescope-upload-*")) == []


def spooled(folder: Path) -> list[Path]:
    """Files that the server holds."""
    return [path for one in folder.glob("fusescope-upload-*") for path in one.iterdir()]


def until_none_is_spooled(folder: Path) -> None:
    """Waits until the server holds no file."""
    deadline = time.monotonic() + GIVE_UP_S
    while spooled(folder):
        assert time.monotonic() < deadline, spooled(folder)
        time.sleep(0.05)


def test_a_page_that_is_left_says_what_was_not_sent_and_leaves_nothing(
    page: Page, tmp_path: Path, allowed_origins: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    path = tmp_path / "large.json"
    path.write_bytes(b"[" + b" " * 8_000_000 + b"]")

    def send() -> None:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Open larger files").click()
        chooser.value.set_files([path])
        expect(page.get_by_text(re.compile(r"Sending large\.json: [1-9]\d* %"))).to_be_visible()
        assert len(spooled(tmp_path / "tmp")) == 1

    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        address = server.wait_for(SERVES_AT)
        allowed_origins.add(f"{address}/")
        open_for_the_first_time(page, address)
        wait_idle(page)
        slow = page.context.new_cdp_session(page)
        slow.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 500_000},
        )
        send()
        page.get_by_role("link", name="Library").click()
        alert = page.get_by_role("alert").filter(has_text="large.json was not opened")
        expect(alert).to_be_visible()
        until_none_is_spooled(tmp_path / "tmp")
        alert.get_by_role("button").click()
        expect(alert).to_have_count(0)
        page.get_by_role("link", name="Start").click()
        wait_idle(page)
        send()
        asked: list[str] = []
        page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
        page.reload()
        assert asked == ["beforeunload"]
        until_none_is_spooled(tmp_path / "tmp")
        wait_idle(page)
        send()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
        until_none_is_spooled(tmp_path / "tmp")
        expect(page.get_by_role("alert").filter(has_text="large.json")).to_have_count(0)
