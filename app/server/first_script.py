"""The script that a page runs before Streamlit's own, and the style that it has before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FIRST_SCRIPT = Path(__file__).with_name("first_script.js").read_text(encoding="utf-8")
_FIRST_STYLE = Path(__file__).with_name("first_style.css").read_text(encoding="utf-8")
# What would be answered with something else than the whole page as it is in the file.
_NOT_WHOLE = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")


# Streamlit's scripts for what stands on every page or on the first one.
_SOON_NEEDED = ("BidiComponent", "FileUploader", "ImageList", "PageLink", "Selectbox")
_SCRIPTS = Path(streamlit.__file__).parent / "static" / "static" / "js"
_IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")


def soon_needed(folder: Path = _SCRIPTS) -> tuple[str, ...]:
    """Return the names of the scripts of Streamlit that a page needs once it knows its content, and
    of those that they import; a browser that is told of them fetches them with the first ones."""
    found: dict[str, None] = {}
    waiting = [path.name for name in _SOON_NEEDED for path in folder.glob(f"{name}.*.js")]
    while waiting:
        name = waiting.pop()
        path = folder / name
        if name not in found and path.is_file():
            found[name] = None
            waiting += _IMPORTED.findall(path.read_text(encoding="utf-8"))
    return tuple(found)


class FirstScript:
    """Puts the style and the script before the first script of each page of HTML, and names there
    what it needs next."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._elements = f"<style>{_FIRST_STYLE}</style><script>{FIRST_SCRIPT}</script>".encode()
        self._links = [
            (name, f'<link rel="modulepreload" crossorigin href="./static/js/{name}">'.encode())
            for name in soon_needed()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI interface."""
        headers = scope.get("headers", ())
        is_page = any(name == b"accept" and b"text/html" in value for name, value in headers)
        if scope["type"] != "http" or scope["method"] != "GET" or not is_page:
            await self._app(scope, receive, send)
            return
        asked = [pair for pair in headers if pair[0] not in _NOT_WHOLE]
        page = _Page(self._elements, self._links, send)
        await self._app({**scope, "headers": asked}, receive, page.send)


class _Page:
    """One answer: kept until it is whole if it is HTML, else passed on as it comes."""

    def __init__(self, elements: bytes, links: Sequence[tuple[str, bytes]], send: Send) -> None:
        self._elements = elements
        self._links = links
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Pass on a message of the answer."""
        if message["type"] == "http.response.start":
            kind = dict(message.get("headers", ())).get(b"content-type", b"")
            if kind.startswith(b"text/html"):
                self._start = message
                return
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        body = self._body.replace(b"<script", self._elements + b"<script", 1)
        links = b"".join(link for name, link in self._links if name.encode() not in body)
        body = body.replace(b"</head>", links + b"</head>", 1)
        length = (b"content-length", b"%d" % len(body))
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        await self._send({**start, "headers": [*headers, length]})
        await self._send({"type": "http.response.body", "body": body})
