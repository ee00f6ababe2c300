"""A button that sends files of any size to the server, with their progress."""

from __future__ import annotations

import re
from importlib.resources import files

import streamlit as st

from fusescope.analysis import units
from fusescope.analysis.messages import say
from fusescope.app import state
from fusescope.app.server import receiving
from fusescope.app.server.spool import SPOOL, Received
from fusescope.app.sources import places

_NUMBER = re.compile(r"[0-9a-f]{16}")
_MAX_FILES = 8
_SOURCES = files(__package__)
_component = st.components.v2.component(
    "fusescope_large_upload",
    html='<div class="large"></div>',
    js=_SOURCES.joinpath("large.js").read_text(encoding="utf-8"),
    css=_SOURCES.joinpath("large.css").read_text(encoding="utf-8"),
)


def received() -> list[Received]:
    """Draw the button; the files that were sent since, once. Nothing where the server has no route
    for them, as under `streamlit run`."""
    if not SPOOL.is_served:
        return []
    ticket = state.session.upload_ticket(SPOOL.ticket, SPOOL.knows)
    limit = units.capacity(places.limits().file_bytes)
    result = _component(
        key="large_upload",
        data={
            "address": receiving.PATH,
            "ticket": ticket,
            "maximum": _MAX_FILES,
            "button": say("Open larger files …"),
            "choose": say("Choose files"),
            "limit": say("up to {limit} each", limit="256 MB"),
            "cancel": say("Cancel"),
            "sending": say("Sending {file:name}: {share:name}", file="\x01", share="\x02"),
            "reading": say("Reading {file:name}", file="\x01"),
            "failed": say("{file:name} could not be sent. Try again.", file="\x01"),
            "left": say(
                "{file:name} was not opened, because the page was left before. Stay on the page "
                "until it is open, and send it again.",
                file="\x01",
            ),
            "hide": say("Hide"),
            "refused": {
                str(receiving.TOO_LARGE): say(
                    "{file:name} is larger than the limit of {limit}.", file="\x01", limit=limit
                ),
                str(receiving.NO_TICKET): say(
                    "Reload the page, and send {file:name} again.", file="\x01"
                ),
                str(receiving.BUSY): say(
                    "{file:name} was not taken, because other files are waiting to be read. Try "
                    "again later.",
                    file="\x01",
                ),
                str(receiving.TOO_SLOW): say(
                    "{file:name} came too slowly, and was given up. Send it again.", file="\x01"
                ),
                str(receiving.FULL): say(
                    "{file:name} does not fit on the disk of the server.", file="\x01"
                ),
            },
        },
        on_sent_change=_rerun,
    )
    sent = result.sent
    numbers = sent if isinstance(sent, list) else []
    known = (one for one in numbers[:_MAX_FILES] if isinstance(one, str) and _NUMBER.fullmatch(one))
    found = [SPOOL.take(ticket, number) for number in known]
    gone = found.count(None)
    if gone:
        st.warning(
            say(
                "{n:count} file was not read in time and is gone from the server. Send it again.",
                "{n:count} files were not read in time and are gone from the server. Send them "
                "again.",
                n=gone,
            )
        )
    return [one for one in found if one is not None]


def _rerun() -> None:
    """What was sent is read by the rerun that it causes."""
