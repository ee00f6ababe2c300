"""The session of one browser tab, and the parameters of its address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from fusescope.analysis.limits import MIB
from fusescope.app.server.shelf import Shelf, weight
from fusescope.app.state.opened import Fate, History, Inbox, Opened

if TYPE_CHECKING:
    from fusescope.analysis.timeline.highlight import Highlight

MAX_OPENED = 40
MAX_OPENED_BYTES = 256 * MIB
MAX_ID = 4000  # of several files
# Parameters of the address that more than one page has.
LANGUAGE = "lang"
GROUP = "group"


def empty_shelf() -> Shelf[Opened]:
    """A place for opened files, with the bounds of all of them."""
    return Shelf(MAX_OPENED, MAX_OPENED_BYTES, lambda file: weight(file.value))


@dataclass
class Session:
    """What one browser tab holds; `language` and `group` stand in the address, too."""

    shelf: Shelf[Opened] = field(default_factory=empty_shelf)
    last_opened: str = ""
    fates: list[Fate] = field(default_factory=list)
    told_beside: tuple[str | None, str | None] | None = None
    uploads: int = 0
    upload_ticket: str = ""
    timeline_ticket: str = ""
    pair: tuple[str | None, str | None] = (None, None)
    traced: str | None = None
    several: tuple[str, ...] = ()
    swept: str | None = None
    engines: str | None = None
    selected: tuple[str, int | None] = ("", None)
    group: tuple[str, int | None] = ("", None)
    picked_row: tuple[str, int | None] = ("", None)
    unfolded: tuple[str, frozenset[str]] = ("", frozenset())
    shown_rows: tuple[int, ...] = ()
    picked_beside: int = 0
    highlight: tuple[str, Highlight] | None = None
    highlights: int = 0
    brought: tuple[str, int] = ("", 0)
    entered_runs: dict[str, int] = field(default_factory=dict)
    greeted: bool = False
    language: str = ""
    unknown_language: str = ""
    told_choices: set[str] = field(default_factory=set)
    inbox: Inbox = field(default_factory=Inbox)
    histories: dict[str, History] = field(default_factory=dict)


def session() -> Session:
    """That of the tab which runs the page."""
    kept: Session = st.session_state.setdefault("fusescope", Session())
    return kept


def link(name: str, value: str | None) -> None:
    """Put a parameter into the address, None to take it out; nothing where it is so already."""
    link_all({name: value})


def link_all(values: Mapping[str, str | None]) -> None:
    """Put parameters into the address, None to take one out; nothing where they are so already.

    All values at once: each that changes alone would be a step of the Back button.
    """
    changed = {
        name: value
        for name, value in values.items()
        if value is not None and st.query_params.get(name) != value
    }
    if changed:
        st.query_params.update(changed)
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)


def linked_id(name: str) -> str | None:
    """An id in the address, any printable text; None where there is none."""
    text = st.query_params.get(name, "")
    return text if text and len(text) <= MAX_ID and text.isprintable() else None


def linked_number(name: str, max_digits: int) -> int | None:
    """A whole number in the address; None where there is none, or one of more digits."""
    text = st.query_params.get(name, "")
    is_number = text.isascii() and text.isdecimal() and len(text) <= max_digits
    return int(text) if is_number else None


def upload_ticket(new: Callable[[], str], is_known: Callable[[str], bool]) -> str:
    """The ticket of this tab for sending files, a new one where it has none that is known."""
    kept = session()
    if not is_known(kept.upload_ticket):
        kept.upload_ticket = new()
    return kept.upload_ticket


def is_greeted() -> bool:
    """False until the files of the command line were opened in this session, True ever after."""
    return session().greeted


def greet() -> None:
    """They are open: no later run opens them again."""
    session().greeted = True
