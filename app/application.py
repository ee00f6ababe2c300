"""The dashboard as a web application: Streamlit around main.py, with security headers.

`fusescope serve` runs it. Streamlit itself sends neither a content policy nor a frame policy.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import gc
import hashlib
import importlib
import re
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path

# `streamlit run` puts the folder of this file on the path, not the one that holds the package.
if find_spec("fusescope") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.recording.recorder import RECORDER
from fusescope.app.server import answering, receiving
from fusescope.app.server.desk import DESK
from fusescope.app.server.first_script import FIRST_SCRIPT, FirstScript
from fusescope.app.server.memory import housekeeping, keep_few_arenas
from fusescope.app.server.same_origin import LOOPBACK, SameOrigin, is_local
from fusescope.app.server.sent_models import MODELS
from fusescope.app.server.spool import SPOOL
from fusescope.app.sources import places

MAIN = Path(__file__).with_name("main.py")

HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_PORTS_TRIED = 50


def content_policy() -> str:
    """The Content-Security-Policy under which Streamlit, Plotly and the timeline work.

    Streamlit's page holds a script of its own and our first one, so their hashes are named;
    components are loaded from blob: URLs, and styles are set by scripts.
    """
    page = Path(st.__file__).parent / "static" / "index.html"
    scripts = (FIRST_SCRIPT, *_SCRIPT.findall(page.read_text()))
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' blob: {hashes}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "manifest-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


class SecurityHeaders:
    """Adds its headers to every response."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI interface."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in self._headers}
                kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in names]
                message = {**message, "headers": [*kept, *self._headers]}
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


@contextlib.asynccontextmanager
async def _lifespan(_: st.App) -> AsyncIterator[None]:
    """While the server runs; at its end a recording keeps its complete blocks."""
    keep_few_arenas()
    keeping = asyncio.create_task(housekeeping())
    SPOOL.is_served = DESK.is_served = True
    try:
        yield
    finally:
        SPOOL.is_served = DESK.is_served = False
        keeping.cancel()
        await asyncio.to_thread(SPOOL.close)
        await asyncio.to_thread(RECORDER.stop)
        await asyncio.to_thread(MODELS.close)


def _on_script_error(error: Exception) -> bool:
    """What no page caught, in a callback for example."""
    from fusescope.app.parts import panels

    return panels.unexpected(error)


app = st.App(
    MAIN,
    lifespan=_lifespan,
    routes=[
        receiving.route(SPOOL, lambda: places.limits().file_bytes),
        answering.route(DESK),
    ],
    middleware=[
        Middleware(
            SecurityHeaders, headers={**HEADERS, "Content-Security-Policy": content_policy()}
        ),
        Middleware(SameOrigin, is_local=is_local),
        Middleware(FirstScript),
    ],
    on_script_error=_on_script_error,
)


class _Server(uvicorn.Server):
    """A uvicorn server that says when it answers."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer."""
        await super().startup(sockets)
        self.ready()


def listen(host: str, port: int, *, search: bool) -> socket.socket:
    """A socket that listens on `port`, or on the next free one when `search` is on.

    Raises FuseScopeError when there is none or the host is not of this machine.
    """
    for candidate in range(port, port + (_PORTS_TRIED if search else 1)):
        listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, candidate))
            listening.listen(128)
            return listening
        except OSError as error:
            listening.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise FuseScopeError(
                    "address_unusable", where=host, reason=error.strerror or str(error)
                ) from error
        except OverflowError:
            listening.close()
            break
    raise FuseScopeError("port_unusable", port=port)


def _load_ahead() -> None:
    """Load what the first page needs while the browser still fetches its scripts, then what a
    comparison does. Modules last as long as the server, so no search for garbage, which stops all
    pages, looks through them from now on."""
    for module in ("fusescope.app.views.home", "fusescope.app.views.compare", "plotly"):
        importlib.import_module(module)
    gc.freeze()


def run(listening: socket.socket, host: str, ready: Callable[[], None]) -> None:
    """Answer on `listening` until Ctrl-C; `ready` is called once pages can be opened."""
    config.set_option("server.address", host)
    config.set_option("server.port", listening.getsockname()[1])
    config.set_option("server.allowedHosts", list(LOOPBACK) if host in LOOPBACK else [])
    server = _Server(
        uvicorn.Config(
            app,
            ws="websockets-sansio",
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=2,
            # On this machine, packing what a page is sent takes longer than sending it.
            ws_per_message_deflate=host not in LOOPBACK,
        )
    )

    def answered() -> None:
        ready()
        threading.Thread(target=_load_ahead, daemon=True).start()

    server.ready = answered
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
