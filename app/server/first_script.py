"""The script that a page runs before Streamlit's own, and the style that it has before them."""

from __future__ import annotations

from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

FIRST_SCRIPT = Path(__file__).with_name("first_script.js").read_text(encoding="utf-8")
_FIRST_STYLE = Path(__file__).with_name("first_style.css").read_text(encoding="utf-8")
# What would be answered with something else than the whole page as it is in the file.
_NOT_WHOLE = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")


class FirstScript:
    """Puts the style and the script before the first script of each page of HTML."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._elements = f"<style>{_FIRST_STYLE}</style><script>{FIRST_SCRIPT}</script>".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI interface."""
        headers = scope.get("headers", ())
        is_page = any(name == b"accept" and b"text/html" in value for name, value in headers)
        if scope["type"] != "http" or scope["method"] != "GET" or not is_page:
            await self._app(scope, receive, send)
            return
        asked = [pair for pair in headers if pair[0] not in _NOT_WHOLE]
        page = _Page(self._elements, send)
        await self._app({**scope, "headers": asked}, receive, page.send)


class _Page:
    """One answer: kept until it is whole if it is HTML, else passed on as it comes."""

    def __init__(self, elements: bytes, send: Send) -> None:
        self._elements = elements
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
        length = (b"content-length", b"%d" % len(body))
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        await self._send({**start, "headers": [*headers, length]})
        await self._send({"type": "http.response.body", "body": body})
