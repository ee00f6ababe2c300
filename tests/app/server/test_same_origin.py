"""Requests for another host, or from another origin, get no further than the door."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from streamlit import config, net_util

from fusescope.app import application
from fusescope.app.server.same_origin import SameOrigin

Headers = list[tuple[str, str]]


def ask(app: Any, kind: str, headers: Headers, path: str = "/") -> list[dict[str, Any]]:
    """What `app` sends in answer to a request with these headers."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": kind,
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http" if kind == "http" else "ws",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "subprotocols": ["streamlit"],
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8501),
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request" if kind == "http" else "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def passes(headers: Headers, *, is_local: bool, kind: str = "http") -> bool:
    reached = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    sent = ask(SameOrigin(inner, lambda: is_local), kind, headers)
    if kind == "http":
        told = [message["status"] for message in sent if "status" in message]
        assert told == ([] if reached else [403])
    else:
        assert [message["type"] for message in sent] == ([] if reached else ["websocket.close"])
    return bool(reached)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "origin", "local", "public"),
    [
        ("localhost:8501", None, True, True),
        ("LOCALHOST", None, True, True),
        ("127.0.0.1:9000", "http://127.0.0.1:9000", True, True),  # a forwarded port
        ("[::1]:8501", "http://[::1]:8501", True, True),
        ("dash.example", "https://dash.example", False, True),
        ("evil.example", None, False, True),
        ("evil.example:8501", "http://evil.example:8501", False, True),  # DNS rebinding
        ("127.0.0.1:8501", "http://evil.example", False, False),
        ("127.0.0.1:8501", "http://127.0.0.1:8501.evil.example", False, False),
        ("127.0.0.1:8501", "http://127.0.0.1:3000", False, False),
        ("127.0.0.1:8501", "null", False, False),
        ("127.0.0.1@evil.example", None, False, True),
        ("127.0.0.1.evil.example", None, False, True),
        ("127.0.0.1:port", None, False, True),
        ("[::1", None, False, True),
        ("", None, False, True),
    ],
)
def test_who_gets_in(host: str, origin: str | None, local: bool, public: bool, kind: str) -> None:
    headers = [("host", host)] + ([("origin", origin)] if origin else [])
    assert passes(headers, is_local=True, kind=kind) is local
    assert passes(headers, is_local=False, kind=kind) is public


def test_exactly_one_host_and_at_most_one_origin() -> None:
    host, origin = ("host", "localhost:1"), ("Origin", "http://localhost:1")
    assert passes([host, origin], is_local=True)
    assert not passes([], is_local=False)
    assert not passes([host, host], is_local=True)
    assert not passes([host, origin, origin], is_local=True)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each time that Streamlit wants to know its address on the internet."""
    calls: list[str] = []
    monkeypatch.setattr(net_util, "get_external_ip", lambda: calls.append("external"))
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: calls.append("internal"))
    return calls


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_foreign_websocket_causes_no_look_up(looked_up: list[str], address: str) -> None:
    before = config.get_option("server.address")
    config.set_option("server.address", address)
    try:
        headers = [("host", "127.0.0.1:8501"), ("origin", "http://evil.example")]
        sent = ask(application.app, "websocket", headers, "/_stcore/stream")
    finally:
        config.set_option("server.address", before)
    assert [message["type"] for message in sent] == ["websocket.close"]
    assert looked_up == []


def test_a_refusal_carries_the_security_headers() -> None:
    before = config.get_option("server.address")
    config.set_option("server.address", "127.0.0.1")
    try:
        head = ask(application.app, "http", [("host", "evil.example")])[0]
    finally:
        config.set_option("server.address", before)
    assert head["status"] == 403
    assert dict(head["headers"])[b"x-frame-options"] == b"DENY"
