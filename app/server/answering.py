"""The route by which a timeline gets more detail, sums and hits: a question in, its answer out.

It stands behind the check of host and origin, and answers nobody without the ticket of a tab.
Running a page, or a fragment of it, for each question would take ten times as long.
"""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from fusescope.analysis.timeline.question import question_of
from fusescope.app.server.desk import Desk

PATH = "/fusescope/timeline"
TICKET = "x-fusescope-ticket"
MAX_BYTES = 64 * 1024  # of a question: windows of 64 sides, and a text
MAX_AT_ONCE = 2  # questions of all tabs that are answered together; the others wait
NO_TICKET, NOT_HERE, TOO_LARGE, NO_QUESTION = 403, 410, 413, 400


def route(desk: Desk) -> Route:
    """POST: the body is a question (analysis.timeline.question) as JSON; the answer a container
    (analysis.timeline.packing)."""
    busy = asyncio.Semaphore(MAX_AT_ONCE)

    async def answer(request: Request) -> Response:
        ticket = request.headers.get(TICKET, "")
        if not desk.knows(ticket):
            return Response(status_code=NO_TICKET)
        try:
            asked = await _body(request)
        except ClientDisconnect:
            return Response(status_code=NO_QUESTION)
        if asked is None:
            return Response(status_code=TOO_LARGE)
        try:
            question = question_of(msgspec.json.decode(asked))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            question = None
        if question is None:
            return Response(status_code=NO_QUESTION)
        drawing = desk.drawing(ticket, question.drawing)
        if drawing is None:
            return Response(status_code=NOT_HERE)
        async with busy:
            content = await asyncio.to_thread(drawing.answer, question)
        headers = {"Cache-Control": "no-store"}
        return Response(content, media_type="application/octet-stream", headers=headers)

    return Route(PATH, answer, methods=["POST"])


async def _body(request: Request) -> bytes | None:
    """The body; None where it is too long. Raises ClientDisconnect."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            return None
    return bytes(body)
