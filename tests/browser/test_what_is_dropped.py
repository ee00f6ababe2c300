"""Ranks that are dropped go into the library, and a model that is dropped to the page Record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.fleet_job import Job, write
from fusescope.analysis.releases.history import history_file
from tests.app.test_sent_models import onnx_model
from tests.browser.dashboard import open_for_the_first_time, quiet, wait_idle
from tests.browser.serving import SERVE, SERVES_AT, free_port, started
from tests.factories import UNFUSED_OPERATORS, profile_json
from tests.releases.test_changes import FUSED, PLAIN, history


def test_ranks_are_kept_and_a_model_is_ready_to_be_recorded(
    page: Page, tmp_path: Path, allowed_origins: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(Job(nodes=1, devices=8, steps=2, layers=2), tmp_path / "traces")
    (tmp_path / "traces" / "rank7.json").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "net.onnx").write_bytes(onnx_model())
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("FUSESCOPE_LIBRARY", str(tmp_path / "library"))
    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        address = server.wait_for(SERVES_AT)
        allowed_origins.add(f"{address}/")
        open_for_the_first_time(page, address)
        wait_idle(page)
        page.locator("input[type=file]").first.set_input_files(
            sorted((tmp_path / "traces").iterdir())
        )
        expect(page).to_have_url(re.compile("/fleet.*fleet=open"))
        expect(page.get_by_text("Open files: ranks 0-6 of one job")).to_be_visible()
        expect(
            page.get_by_text(re.compile("rank7.json.*PNG|PNG.*rank7.json")).first
        ).to_be_visible()
        page.get_by_role("button", name="Keep in the library").click()
        expect(page.get_by_text("7 ranks are kept in the library")).to_be_visible()
        page.get_by_role("button", name="Open what is kept").click()
        expect(page).to_have_url(re.compile("fleet=7-ranks"))
        wait_idle(page)
        page.get_by_role("link", name="Start").click()
        wait_idle(page)
        page.locator("input[type=file]").first.set_input_files(tmp_path / "net.onnx")
        expect(page.get_by_role("heading", name="Record a model")).to_be_visible()
        model = page.get_by_role("combobox", name="Model", exact=True)
        expect(model).to_have_value(re.compile(r"^net\.onnx, \d+ B$"))
        assert quiet(page)
    [kept] = (tmp_path / "library" / "fleets").iterdir()
    assert kept.name.startswith("7-ranks-") and not list((tmp_path / "tmp").glob("fusescope-*"))


def test_the_page_releases_takes_whatever_is_dropped(page: Page, url: str, tmp_path: Path) -> None:
    """A file of releases is shown there, a trace on the page that shows traces."""
    (tmp_path / "kept.bin").write_bytes(history_file(history(FUSED, PLAIN)))
    (tmp_path / "profile.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    page.goto(f"{url}/releases")
    wait_idle(page)
    page.locator("input[type=file]").first.set_input_files(tmp_path / "kept.bin")
    expect(page).to_have_url(re.compile(r"releases\?(.*&)?releases=kept\.bin"))
    expect(page.get_by_text("1 of 2 releases from 1.0 to 1.1")).to_be_visible()
    wait_idle(page)
    page.locator("input[type=file]").first.set_input_files(tmp_path / "profile.json")
    expect(page).to_have_url(re.compile("/trace"))
    expect(page.get_by_role("heading", level=2).first).to_contain_text("profile.json")
    assert quiet(page)
