"""The route that takes a file of any size: piece by piece to the disk, and never into memory.

It stands behind the check of host and origin, and takes nothing without the ticket of a page.
Places are few, so a sender who stops gives its own back, and so does a page that is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import IO
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fusescope.analysis.limits import MIB
from fusescope.app.server.spool import Spool

PATH = "/fusescope/file"
TICKET, NAME = "x-fusescope-ticket", "x-fusescope-name"
_PIECE_BYTES = MIB
_NAME_CHARS = 1000
# What the page makes a sentence of.
NO_TICKET, TOO_SLOW, TOO_LARGE, BUSY, FULL = 403, 408, 413, 503, 507
SLOW_S, SLOW_BYTES = 30.0, 64 * 1024  # whoever sends less in this time has stopped
WAITING_S = 600.0  # a page that is there reads what it was sent within seconds


def route(spool: Spool, max_bytes: Callable[[], int]) -> Route:
    """PUT: the body is a file of at most `max_bytes`; the answer is its number in the spool.
    DELETE: what waits for this page is not wanted any more; the answer is how many files that is.
    """

    async def receive(request: Request) -> Response:
        ticket = request.headers.get(TICKET, "")
        maximum = max_bytes()
        declared = request.headers.get("content-length", "0")
        if not spool.knows(ticket):
            return Response(status_code=NO_TICKET)
        if not declared.isdecimal() or int(declared) > maximum:
            return Response(status_code=TOO_LARGE)
        try:
            path = await asyncio.to_thread(spool.begin)
        except OSError:
            return Response(status_code=FULL)
        if path is None:
            return Response(status_code=BUSY)
        status = FULL
        try:
            with path.open("xb") as file:
                status = await _write(request, file, maximum)
        except ClientDisconnect:
            status = 400
        except OSError:
            status = FULL
        finally:
            if status != 200:
                await asyncio.to_thread(spool.drop, path)
        if status != 200:
            return Response(status_code=status)
        name = unquote(request.headers.get(NAME, ""))[:_NAME_CHARS]
        number = spool.complete(ticket, path, name)
        asyncio.get_running_loop().call_later(WAITING_S, spool.expire, ticket, number)
        return JSONResponse({"number": number})

    async def answer(request: Request) -> Response:
        if request.method == "PUT":
            return await receive(request)
        ticket = request.headers.get(TICKET, "")
        if not spool.knows(ticket):
            return Response(status_code=NO_TICKET)
        return JSONResponse({"dropped": await asyncio.to_thread(spool.leave, ticket)})

    return Route(PATH, answer, methods=["PUT", "DELETE"])


async def _write(request: Request, file: IO[bytes], maximum: int) -> int:
    """The status: 200 where all of it is in the file. Raises OSError and ClientDisconnect."""
    size = 0
    held = bytearray()
    loop = asyncio.get_running_loop()
    stream = aiter(request.stream())
    until, enough = loop.time() + SLOW_S, SLOW_BYTES
    while True:
        try:
            chunk = await asyncio.wait_for(anext(stream), until - loop.time())
        except StopAsyncIteration:
            break
        except TimeoutError:
            return TOO_SLOW
        size += len(chunk)
        if size > maximum:
            return TOO_LARGE
        held += chunk
        if len(held) >= _PIECE_BYTES:
            await asyncio.to_thread(file.write, bytes(held))
            held.clear()
        if size >= enough:
            until, enough = loop.time() + SLOW_S, size + SLOW_BYTES
    await asyncio.to_thread(file.write, bytes(held))
    return 200
