"""Questions of timelines: answered to the tab that shows the drawing, and to nobody else."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any

import pytest
from starlette.applications import Starlette

from fusescope.analysis.timeline.drawing import Drawing, Layers
from fusescope.app.server import answering
from fusescope.app.server.desk import _MAX_TICKETS, Desk
from tests.browser.timelines import payload, said, side


def drawing() -> Drawing:
    """One run of 100 ns in which a convolution takes 60."""
    data = payload(side("candidate", [("a", "Conv", "convolution", 0)], [(0, 0, 60), (0, 90, 10)]))
    return Drawing(Layers(data), said(data))


def ask(desk: Desk, body: bytes | list[bytes], ticket: str) -> tuple[int, bytes]:
    """The status and what is answered."""
    app = Starlette(routes=[answering.route(desk)])
    scope = {
        "type": "http", "method": "POST", "path": answering.PATH, "query_string": b"",
        "headers": [(b"x-fusescope-ticket", ticket.encode())],
        "http_version": "1.1", "scheme": "http", "root_path": "",
    }  # fmt: skip
    left = body if isinstance(body, list) else [body]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": True}

    async def whole() -> dict[str, Any]:
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive if isinstance(body, list) else whole, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def test_a_tab_is_answered_what_its_drawing_answers() -> None:
    desk, shown = Desk(), drawing()
    ticket = desk.ticket()
    desk.draw(ticket, shown)
    asked = {"drawing": shown.id, "number": 3, "stretch": [[0, 50], [0, 50]]}
    status, content = ask(desk, json.dumps(asked).encode(), ticket)
    assert status == 200
    answer = json.loads(content[8 : 8 + int.from_bytes(content[:4], "little")])
    assert (answer["drawing"], answer["answers"]) == (shown.id, 3)
    assert answer["sums"][0]["busy"] == 50


def test_nobody_else_is_answered() -> None:
    desk, shown = Desk(), drawing()
    asked = json.dumps({"drawing": shown.id, "number": 1, "windows": [[0, 50]]}).encode()
    desk.draw(desk.ticket(), shown)
    assert ask(desk, asked, desk.ticket()) == (answering.NOT_HERE, b"")  # of another tab
    for ticket in ("", "0" * 32):
        desk.draw(ticket, shown)
        assert ask(desk, asked, ticket) == (answering.NO_TICKET, b"")


def test_what_is_shown_no_more_is_gone() -> None:
    desk, shown = Desk(), drawing()
    ticket, id_ = desk.ticket(), shown.id
    desk.draw(ticket, shown)
    del shown
    gc.collect()
    asked = json.dumps({"drawing": id_, "number": 1}).encode()
    assert ask(desk, asked, ticket) == (answering.NOT_HERE, b"")
    for _ in range(_MAX_TICKETS):
        desk.ticket()
    assert not desk.knows(ticket)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", answering.NO_QUESTION),
        (b"\xff{", answering.NO_QUESTION),
        (b"[" * 60_000, answering.NO_QUESTION),
        (b'{"drawing": 1, "number": 1}', answering.NO_QUESTION),
        (b'{"drawing": "a", "number": 1e999}', answering.NO_QUESTION),
        (b'{"drawing": "a", "number": 1}', answering.NOT_HERE),
        (b" " * (answering.MAX_BYTES + 1), answering.TOO_LARGE),
        ([b" "], answering.NO_QUESTION),  # a sender who goes away
    ],
)
def test_what_is_no_question(body: bytes | list[bytes], expected: int) -> None:
    desk = Desk()
    assert ask(desk, body, desk.ticket()) == (expected, b"")
