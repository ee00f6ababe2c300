"""The ways to start the dashboard, each up to a verdict on the screen, and its end."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import MAX_SHIFT, WATCH_SHIFTS
from tests.browser.dashboard import upload, verdict, wait_idle
from tests.browser.serving import ROOT, RUNS_AT, SERVE, SERVES_AT, STREAMLIT, free_port, started
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json
from tests.patience import GIVE_UP_S


def expect_verdict(page: Page, url: str, allowed_origins: set[str], path: str = "") -> None:
    allowed_origins.add(f"{url}/")
    page.goto(f"{url}/{path}")
    expect(page.get_by_role("heading", level=2).first).to_contain_text(
        re.compile("faster|slower|Cannot tell|the time of")
    )


@pytest.mark.exhaustive  # `serve` below starts the same page
@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("how", ["streamlit", "python -m streamlit"])
def test_streamlit_run(
    page: Page, tmp_path: Path, allowed_origins: set[str], how: str, elsewhere: bool
) -> None:
    port = free_port()
    start = [STREAMLIT] if how == "streamlit" else [sys.executable, "-m", "streamlit"]
    script = str(ROOT / "app" / "main.py") if elsewhere else "app/main.py"
    cwd = tmp_path if elsewhere else ROOT
    options = [f"--server.port={port}", "--server.maxUploadSize=1"]
    with started([*start, "run", script, *options], tmp_path, cwd) as server:
        # The settings are found from anywhere: 127.0.0.1 comes from them.
        url = server.wait_for(RUNS_AT)
        expect_verdict(page, url, allowed_origins, "compare")
        expect_files_over_1_mb_are_refused(page, tmp_path)
    assert page.outside_requests == []


def expect_files_over_1_mb_are_refused(page: Page, folder: Path) -> None:
    """The browser says so before anything is sent, and the server refuses it as well."""
    wait_idle(page)
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
    page.console_errors.clear()  # the answer 413 is one


def test_serve_opens_the_files_it_is_given_and_ends_cleanly(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    (tmp_path / "after.json").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    (tmp_path / "before.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    command = [*SERVE, f"--port={free_port()}", "after.json", "before.json"]
    with started(command, tmp_path, tmp_path) as server:
        url = server.wait_for(SERVES_AT)
        expect_verdict(page, url, allowed_origins)
        expect(page.get_by_role("heading", level=2).first).to_contain_text("before.json")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(GIVE_UP_S) == 0
        assert server.log.read_text() == f"FuseScope: {url}\n"
    assert page.outside_requests == []


def test_serve_takes_the_next_free_port_and_says_so(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8501))
            taken.listen()
        except OSError:
            pass  # somebody else holds it, which serves as well
        with started(SERVE, tmp_path) as server:
            port = server.wait_for(
                r"FuseScope: http://127\.0\.0\.1:(\d+) \(port 8501 is in use\)\n"
            )
            assert int(port) > 8501


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with started([*SERVE, f"--port={port}"], tmp_path) as server:
            assert server.process.wait(60) == 2
            assert server.log.read_text() == (
                f"fusescope: Port {port} cannot be used. "
                "Give another one with --port, or leave it out.\n"
            )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.json"], "There is no such file"),
        (["--folder", "none"], "This is not a folder"),
        (["--host", "203.0.113.9", "--port", "0"], "Invalid value for '--port'"),
        (["--host", "203.0.113.9"], "This address cannot be used"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    with started([*SERVE, *arguments], tmp_path, tmp_path) as server:
        assert server.process.wait(60) == 2
        assert said in server.log.read_text()
        assert "Traceback" not in server.log.read_text()


def test_other_hosts_and_origins_are_refused(url: str) -> None:
    port = int(url.rpartition(":")[2])
    websocket = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    foreign = {"Origin": "http://evil.example"}
    own = {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}"}
    for path, headers, status in (
        ("/", {"Host": "evil.example"}, 403),
        ("/", foreign, 403),
        ("/", own, 200),
        ("/_stcore/stream", websocket | foreign, 403),
        ("/_stcore/stream", websocket | {"Host": "evil.example"}, 403),
        ("/_stcore/stream", websocket | own, 101),
    ):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GIVE_UP_S)
        connection.request("GET", path, headers=headers)
        assert connection.getresponse().status == status, (path, headers)
        connection.close()


def test_every_answer_carries_the_security_headers(url: str) -> None:
    for path in ("/", "/record", "/_stcore/health", "/_stcore/host-config", "/favicon.png"):
        with urllib.request.urlopen(f"{url}{path}") as answer:
            headers = answer.headers
        assert headers["X-Frame-Options"] == "DENY", path
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy


WATCH_WIDTH = """
new PerformanceObserver((list) => {
  for (const { sources } of list.getEntries())
    for (const { node, previousRect, currentRect } of sources)
      if (node?.dataset?.testid === "stMainBlockContainer")
        window.widened = [previousRect.width, currentRect.width];
}).observe({ type: "layout-shift", buffered: true });
"""


def test_pages_stand_still_when_they_are_opened_again(page: Page, url: str) -> None:
    """With all scripts in the browser's cache the content may be there before the settings of the
    page, which make it wide."""
    page.add_init_script(WATCH_SHIFTS)
    page.add_init_script(WATCH_WIDTH)
    for path in ("", "compare", "trace"):
        page.goto(f"{url}/{path}")
        wait_idle(page)
        moved = []
        for _ in range(3):  # a page that moves by itself moves in each of three
            page.reload()
            wait_idle(page)
            moved.append(float(page.evaluate("window.shifted")))
            assert page.evaluate("window.widened ?? null") is None, path
        assert min(moved) < MAX_SHIFT, (path, moved)
        expect(page.get_by_text("Writing the report …")).to_be_hidden()
