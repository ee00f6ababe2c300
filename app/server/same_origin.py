"""Requests that do not mean this server are refused before Streamlit sees them.

A page elsewhere could reach a dashboard on this machine by a name that resolves to it (DNS
rebinding) or by a WebSocket, which no same-origin rule of browsers stops. Streamlit looks at
WebSockets only, and asks a server on the internet for its own address before it refuses one.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_REFUSED = b"This address is not one of this dashboard."
_POLICY_VIOLATION = 1008


def is_local() -> bool:
    """True where the server answers this machine only, so that whoever uses it is one user."""
    return st.get_option("server.address") in LOOPBACK


class SameOrigin:
    """Answers 403 to requests for another host or from another origin; closes their WebSockets.

    `is_local` says whether the server answers this machine only: then the host must have one of
    its names, with any port, because ports are forwarded. An origin must always equal the host.
    """

    def __init__(self, app: ASGIApp, is_local: Callable[[], bool]) -> None:
        self._app = app
        self._is_local = is_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI interface."""
        if scope["type"] not in ("http", "websocket") or self._allows(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            head = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(_REFUSED))]
            await send({"type": "http.response.start", "status": 403, "headers": head})
            await send({"type": "http.response.body", "body": _REFUSED})

    def _allows(self, scope: Scope) -> bool:
        hosts, origins = (
            [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == header]
            for header in (b"host", b"origin")
        )
        if len(hosts) != 1 or len(origins) > 1:
            return False
        if self._is_local() and _name(hosts[0]) not in LOOPBACK:
            return False
        return all(origin in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins)


def _name(host: str) -> str | None:
    """The name in `name:port` or `[::1]:port`; None where it is neither."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises for what is not a number
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None
