"""The ways to start the dashboard, each up to a verdict on the screen, and its end."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]
SERVE = [sys.executable, "-c", "from app.cli.main import main; main()", "serve", "--no-browser"]
STREAMLIT = str(Path(sys.executable).with_name("streamlit"))
BLOCKS = {"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0 + b / 20 for b in range(8)]}


class Server:
    """A server process and what it printed."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    def wait_for(self, pattern: str) -> str:
        """The first group of `pattern` in the output, once it is there."""
        deadline = time.monotonic() + GIVE_UP_S
        while True:
            text = self.log.read_text()
            found = re.search(pattern, text)
            if found:
                return found[1]
            ended = self.process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise AssertionError(f"no {pattern!r} in the output:\n{text}")
            time.sleep(0.05)


@contextmanager
def started(command: list[str], tmp_path: Path, cwd: Path = ROOT) -> Iterator[Server]:
    recordings = tmp_path / "recordings"
    recordings.mkdir(exist_ok=True)
    (recordings / "tiny.zip").write_bytes(experiment_zip(BLOCKS))
    log = tmp_path / "server.log"
    env = {**os.environ, "FUSESCOPE_RECORDINGS": str(recordings), "PYTHONUNBUFFERED": "1"}
    if command[0] == sys.executable and "-c" in command:
        env["PYTHONPATH"] = str(ROOT)
    env.pop("DISPLAY", None)
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        yield Server(process, log)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def expect_verdict(page: Page, url: str, allowed_origins: set[str], query: str = "") -> None:
    allowed_origins.add(f"{url}/")
    page.goto(f"{url}/{query}")
    expect(page.get_by_role("heading", level=2).first).to_contain_text(
        re.compile("faster|slower|Cannot tell|the time of")
    )


TINY = "?baseline=recorded:tiny.zip/unfused&candidate=recorded:tiny.zip/fused"


@pytest.mark.parametrize("how", ["streamlit", "python -m streamlit"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_streamlit_run(
    page: Page, tmp_path: Path, allowed_origins: set[str], how: str, elsewhere: bool
) -> None:
    port = free_port()
    start = [STREAMLIT] if how == "streamlit" else [sys.executable, "-m", "streamlit"]
    script = str(ROOT / "app" / "main.py") if elsewhere else "app/main.py"
    cwd = tmp_path if elsewhere else ROOT
    with started([*start, "run", script, f"--server.port={port}"], tmp_path, cwd) as server:
        # The settings are found from anywhere: 127.0.0.1 comes from them.
        url = server.wait_for(r"URL: (http://127\.0\.0\.1:\d+)")
        expect_verdict(page, url, allowed_origins, TINY)
    assert page.outside_requests == []


def test_serve_prints_its_address_and_ends_cleanly(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    with started([*SERVE, f"--port={free_port()}"], tmp_path, tmp_path) as server:
        url = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        expect_verdict(page, url, allowed_origins, TINY)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(GIVE_UP_S) == 0
        assert server.log.read_text() == f"FuseScope: {url}\n"
    assert page.outside_requests == []


def test_serve_opens_the_files_it_is_given(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    (tmp_path / "after.json").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    (tmp_path / "before.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    command = [*SERVE, f"--port={free_port()}", "after.json", "before.json"]
    with started(command, tmp_path, tmp_path) as server:
        url = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        expect_verdict(page, url, allowed_origins)
        expect(page.get_by_role("heading", level=2).first).to_contain_text("before.json")


def test_serve_takes_the_next_free_port_and_says_so(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8501))
            taken.listen()
        except OSError:
            pass  # somebody else holds it, which serves as well
        with started(SERVE, tmp_path) as server:
            port = server.wait_for(r"FuseScope: http://127\.0\.0\.1:(\d+) \(port 8501 is taken\)\n")
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
        (["--folder", "none"], "This is no folder"),
        (["--host", "203.0.113.9", "--port", "0"], "Invalid value for '--port'"),
        (["--host", "203.0.113.9"], "This address cannot be used"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    with started([*SERVE, *arguments], tmp_path, tmp_path) as server:
        assert server.process.wait(60) == 2
        assert said in server.log.read_text()
        assert "Traceback" not in server.log.read_text()


def test_other_hosts_and_origins_are_refused(tmp_path: Path) -> None:
    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        url = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
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


def test_every_answer_carries_the_security_headers(tmp_path: Path) -> None:
    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        url = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
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
