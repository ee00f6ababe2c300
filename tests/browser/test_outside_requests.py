"""That a page which asks for something outside is noticed: other tests rest on it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, Request

from tests.browser.timelines import wait_until

ASKED = {
    "http://192.0.2.1/image.png",
    "http://outside.example/frame",
    "https://outside.example/fetched",
    "http://outside.example/socket",
    "http://outside.example/opened",
}
SOURCE = """<!doctype html><title>asks</title>
<img src="http://192.0.2.1/image.png"><iframe src="http://outside.example/frame"></iframe>
<script>
  fetch("https://outside.example/fetched").catch(() => null);
  new WebSocket("ws://outside.example/socket");
  window.open("http://outside.example/opened");
</script>"""


def test_each_way_out_is_noticed_and_leads_nowhere(
    own_browser: None, page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    path = tmp_path / "asks.html"
    path.write_text(SOURCE, encoding="utf-8")
    allowed_origins.add(path.as_uri())
    failed: list[str] = []

    def note(request: Request) -> None:
        failed.append(str(request.failure))

    page.context.on("requestfailed", note)
    page.goto(path.as_uri())
    wait_until(page, lambda: set(page.outside_requests) == ASKED and len(failed) > 3)
    page.context.remove_listener("requestfailed", note)
    assert set(failed) == {"net::ERR_PROXY_CONNECTION_FAILED"}
