"""Files that are sent to the server's disk: taken whole, within the limit, from a page alone."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from fusescope.app.server import receiving
from fusescope.app.server.spool import MAX_WAITING, Spool
from fusescope.app.sources import uploads
from tests.factories import UNFUSED_OPERATORS, profile_json


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spool]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = Spool()
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


def put(
    spool: Spool,
    pieces: Sequence[bytes | None],
    *,
    ticket: str,
    name: str = "a.json",
    declared: str | None = None,
    maximum: int = 100,
    method: str = "PUT",
    then: Callable[[], Awaitable[bytes]] | None = None,
) -> tuple[int, Any]:
    """The status and what is answered; None among the pieces is a sender who goes away. `then` is
    what comes after them: more, without end."""
    app = Starlette(routes=[receiving.route(spool, lambda: maximum)])
    headers = [(b"x-fusescope-ticket", ticket.encode()), (b"x-fusescope-name", name.encode())]
    if declared is not None:
        headers.append((b"content-length", declared.encode()))
    scope = {
        "type": "http", "method": method, "path": receiving.PATH, "headers": headers,
        "query_string": b"", "http_version": "1.1", "scheme": "http", "root_path": "",
    }  # fmt: skip
    left = list(pieces)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if not left and then is not None:
            return {"type": "http.request", "body": await then(), "more_body": True}
        piece = left.pop(0)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": bool(left) or then is not None}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], json.loads(body) if body else None


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_file_comes_in_pieces_and_is_opened_once(spool: Spool, tmp_path: Path) -> None:
    data = profile_json(UNFUSED_OPERATORS, runs=3)
    ticket = spool.ticket()
    pieces = [data[at : at + 500] for at in range(0, len(data), 500)]
    name = "..%2F..%2Fb%C3%A4r%1b.json"
    status, answer = put(spool, pieces, ticket=ticket, name=name, maximum=10**6)
    assert status == 200
    [path] = files(tmp_path)
    assert path.read_bytes() == data and path.parent.stat().st_mode & 0o077 == 0
    number = answer["number"]
    assert spool.take(spool.ticket(), number) is None  # of another page
    received = spool.take(ticket, number)
    assert received is not None and spool.take(ticket, number) is None
    opened, told = uploads.open_received([received])
    assert [file.name for file in opened] == ["b\u00e4r\\x1b.json"] and told[0].read
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("pieces", "declared", "expected"),
    [
        ([b"x" * 60, b"x" * 60], None, receiving.TOO_LARGE),
        ([b"x"], "101", receiving.TOO_LARGE),
        ([b"x"], "-1", receiving.TOO_LARGE),
        ([b"x", None], None, 400),
        ([b"x" * 100], "100", 200),
        ([b""], "0", 200),
    ],
)
def test_what_is_too_large_or_cut_short_leaves_nothing(
    spool: Spool, tmp_path: Path, pieces: list[bytes | None], declared: str | None, expected: int
) -> None:
    status, _ = put(spool, pieces, ticket=spool.ticket(), declared=declared)
    assert status == expected
    assert len(files(tmp_path)) == (expected == 200)


def test_without_a_ticket_nothing_is_taken(spool: Spool, tmp_path: Path) -> None:
    for ticket in ("", "0" * 32):
        assert put(spool, [b"x"], ticket=ticket)[0] == receiving.NO_TICKET
    assert list(tmp_path.iterdir()) == []


def test_files_that_wait_are_bounded(spool: Spool, tmp_path: Path) -> None:
    ticket = spool.ticket()
    numbers = [put(spool, [b"x"], ticket=ticket)[1]["number"] for _ in range(MAX_WAITING)]
    assert put(spool, [b"x"], ticket=ticket)[0] == receiving.BUSY
    received = spool.take(ticket, numbers[0])
    assert received is not None
    spool.drop(received.path)
    assert put(spool, [b"x"], ticket=ticket)[0] == 200


def test_a_full_disk_is_said(spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(receiving, "_write", full)
    assert put(spool, [b"x"], ticket=spool.ticket())[0] == receiving.FULL
    assert files(tmp_path) == []


async def _nothing() -> bytes:
    await asyncio.sleep(3600)
    return b""


async def _a_little() -> bytes:
    await asyncio.sleep(0.01)
    return b"x"


@pytest.mark.parametrize("then", [_nothing, _a_little])
def test_a_sender_who_stops_gives_its_place_back(
    spool: Spool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    then: Callable[[], Awaitable[bytes]],
) -> None:
    """More of them than there are places: nothing comes any more, or hardly anything."""
    monkeypatch.setattr(receiving, "SLOW_S", 0.1)
    ticket = spool.ticket()
    for _ in range(MAX_WAITING + 2):
        told = put(spool, [b"x"], ticket=ticket, then=then, maximum=10**6)
        assert told == (receiving.TOO_SLOW, None)
    assert files(tmp_path) == []
    assert put(spool, [b"x"], ticket=ticket)[0] == 200


def test_a_sender_who_is_slow_but_goes_on_is_waited_for(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "SLOW_S", 0.5)
    monkeypatch.setattr(receiving, "SLOW_BYTES", 10)
    sent = 0

    async def pieces() -> bytes:
        nonlocal sent
        await asyncio.sleep(0.05)
        sent += 40
        return b"x" * 40

    told = put(spool, [b"x"], ticket=spool.ticket(), then=pieces, maximum=1000)
    assert told[0] == receiving.TOO_LARGE and sent >= 1000  # twice as long as one may be silent


def test_a_page_that_is_left_gives_its_places_back(spool: Spool, tmp_path: Path) -> None:
    mine, others = spool.ticket(), spool.ticket()
    numbers = [put(spool, [b"x"], ticket=mine)[1]["number"] for _ in range(MAX_WAITING - 1)]
    kept = put(spool, [b"y"], ticket=others)[1]["number"]
    read = spool.take(mine, numbers[0])  # is being read
    assert read is not None
    assert put(spool, [], ticket="0" * 32, method="DELETE", then=_nothing)[0] == receiving.NO_TICKET
    told = put(spool, [], ticket=mine, method="DELETE", then=_nothing)
    assert told == (200, {"dropped": MAX_WAITING - 2})
    assert put(spool, [], ticket=mine, method="DELETE", then=_nothing)[1] == {"dropped": 0}
    assert sorted(path.read_bytes() for path in files(tmp_path)) == [b"x", b"y"]
    assert spool.take(mine, numbers[1]) is None and spool.take(others, kept) is not None
    spool.drop(read.path)


def test_what_nobody_takes_goes(
    spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = spool.ticket()
    number = put(spool, [b"x"], ticket=ticket)[1]["number"]
    assert len(files(tmp_path)) == 1
    spool.expire(ticket, number)
    assert files(tmp_path) == [] and spool.take(ticket, number) is None
    spool.expire(ticket, number)  # once is enough
