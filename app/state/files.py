"""Files that were opened: by anybody where the server is one user's own, else by this session."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from fusescope.app.server.memory import was_freed
from fusescope.app.server.same_origin import is_local
from fusescope.app.server.shelf import Shelf
from fusescope.app.state.opened import Fate, History, Inbox, Opened
from fusescope.app.state.pair import is_of, replace_files
from fusescope.app.state.session import empty_shelf, session


def opened() -> dict[str, Opened]:
    """Files that are open to this session, oldest first, by id."""
    return _shelf().values()


def remember(files: Iterable[Opened]) -> list[Opened]:
    """Keep opened files; beyond the bounds those used longest ago go and are returned."""
    by_id = {file.id: file for file in files}
    if by_id:
        session().last_opened = next(reversed(by_id))
        was_freed()
    return _shelf().put(by_id)


def close(id_: str) -> None:
    """Let go of the file of this id: it can be chosen no more, and is compared no more."""
    _shelf().drop(id_)
    kept = session()
    if kept.last_opened == id_:
        kept.last_opened = ""
    if kept.traced is not None and is_of(kept.traced, id_):
        kept.traced = None
    kept.several = tuple(one for one in kept.several if not is_of(one, id_))
    tell([fate for fate in fates() if fate.id != id_])
    replace_files(id_, None)


def keep_histories(histories: Iterable[History]) -> None:
    """Keep files of releases that were dropped, for the page that shows them."""
    session().histories.update((one.name, one) for one in histories)


def histories() -> dict[str, History]:
    """Return the files of releases that were dropped in this session, by name."""
    return session().histories


def use(id_: str) -> None:
    """The file of this id is on screen, so others make room before it."""
    _shelf().get(id_)


def last_opened() -> str:
    """Id of the file that this session opened last; empty where it opened none."""
    return session().last_opened


def _shelf() -> Shelf[Opened]:
    return _server_shelf() if is_local() else session().shelf


@st.cache_resource(show_spinner=False)
def _server_shelf() -> Shelf[Opened]:
    """Files of a server that is one user's own: a reload and a second tab find them again."""
    return empty_shelf()


def fates() -> list[Fate]:
    """What became of the files given last."""
    return session().fates


def tell(fates: list[Fate]) -> None:
    """Show these fates until the next files are given."""
    session().fates = fates
    session().told_beside = None


def unchanged_since_told() -> bool:
    """True while the pair is the one beside which the fates were first shown."""
    kept = session()
    if kept.told_beside is None:
        kept.told_beside = kept.pair
    return kept.told_beside == kept.pair


def inbox() -> Inbox:
    """What was read and has not been opened yet."""
    return session().inbox


def upload_key() -> str:
    """Widget key of the uploader; a new one after each upload, so that it is empty again."""
    return f"upload_{session().uploads}"


def empty_uploader() -> None:
    """Let the uploader forget its files: they have been read."""
    session().uploads += 1
