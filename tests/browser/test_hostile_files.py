"""Hostile files of other formats in a real browser, and files that are too large."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import miniatures
from tests.browser.dashboard import quiet, upload, verdict, wait_idle
from tests.browser.serving import RUNS_AT, STREAMLIT, free_port, started
from tests.security.planted import CONTROLS, MARKUP
from tests.security.test_pages import BY_NAME, FOLDER, hostile_zip


@pytest.fixture(scope="module")
def limited_url(
    tmp_path_factory: pytest.TempPathFactory, allowed_origins: set[str]
) -> Iterator[str]:
    """The address of the dashboard, whose files may have 1 MB."""
    options = [f"--server.port={free_port()}", "--server.maxUploadSize=1"]
    command = [STREAMLIT, "run", "app/application.py", *options]
    with started(command, tmp_path_factory.mktemp("serve")) as server:
        address = server.wait_for(RUNS_AT)
        allowed_origins.add(f"{address}/")
        yield address


def test_a_file_over_the_limit_is_refused_and_the_page_lives_on(
    page: Page, limited_url: str, tmp_path: Path
) -> None:
    """R5. A hostile file opens there afterwards."""
    page.goto(limited_url)
    expect(verdict(page)).to_contain_text("faster")
    wait_idle(page)
    a_file_over_the_limit_is_refused(page, tmp_path)
    page.console_errors.clear()  # the answer 413 is one
    page.goto(limited_url)
    wait_idle(page)
    a_file_reaches_no_network(page, tmp_path, "ascend_kernel_details")


@pytest.mark.exhaustive
def test_a_hostile_file_of_another_format_reaches_no_network(
    page: Page, limited_url: str, tmp_path: Path
) -> None:
    page.goto(limited_url)
    wait_idle(page)
    a_file_reaches_no_network(page, tmp_path, "kineto")


def a_file_over_the_limit_is_refused(page: Page, folder: Path) -> None:
    """Told in the browser before anything is sent; the server refuses it as well."""
    large = folder / "large.json"
    large.write_bytes(b"[" + b" " * 2**21)
    upload(page, large)
    expect(page.get_by_text(re.compile("large.json")).first).to_be_visible()
    expect(page.get_by_text(re.compile("File must be 1(.0)? ?MB or smaller"))).to_be_visible()
    small = folder / "small.json"
    small.write_bytes(b"[]")
    with page.expect_request(re.compile("/_stcore/upload_file/")) as sent:
        upload(page, small)
    answers = page.evaluate(
        """async ([address, token]) => {
          const form = new FormData();
          form.append("file", new Blob([new Uint8Array(2 ** 21)]), "large.json");
          const put = await fetch(address, {
            method: "PUT", body: form, headers: { "X-Xsrftoken": token },
          });
          return [put.status, (await fetch("/_stcore/health")).status];
        }""",
        [sent.value.url, sent.value.headers.get("x-xsrftoken", "")],
    )
    assert answers == [413, 200]
    expect(verdict(page)).to_contain_text("faster")


def a_file_reaches_no_network(page: Page, folder: Path, name: str) -> None:
    """A hostile file of a format beside a plain one: everything that the page says of it."""
    hostile, plain = folder / f"before {FOLDER}.zip", folder / "after.zip"
    hostile.write_bytes(hostile_zip(BY_NAME[name]))
    plain.write_bytes(miniatures.zipped(miniatures.files(BY_NAME[name])))
    upload(page, hostile, plain)
    expect(verdict(page)).to_contain_text("<img src=")
    wait_idle(page)
    page.get_by_text("What it contains").first.click()
    page.get_by_text("More figures").click()
    for button in ("Ascend", "Classes", "Launched by"):
        found = page.get_by_role("radio", name=button)
        if found.count():
            found.first.click()
            wait_idle(page)
    # Beside the report's stands that of the doubts, which leads on to the files.
    page.get_by_test_id("stPopover").filter(has_text=re.compile("More")).last.click()
    page.get_by_role("button", name="What the files say").click()
    dialog = page.get_by_role("dialog", name="What the files say")
    expect(dialog).to_contain_text("<img src=x onerror=alert(1)>")
    for element in ("img", "script", "iframe", "a[href*='evil']", "a[href^='javascript']"):
        assert dialog.locator(element).count() == 0, element
    assert page.locator("img[src*='127.0.0.1:9'], a[href*='evil']").count() == 0
    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e]", page.locator("body").inner_text())
    assert MARKUP and CONTROLS and quiet(page)
