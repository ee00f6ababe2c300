"""A file beyond the uploader's limit goes to the server's disk, with its progress, and opens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import open_for_the_first_time, quiet, wait_idle
from tests.browser.serving import SERVE, SERVES_AT, free_port, started
from tests.factories import UNFUSED_OPERATORS, profile_json

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
