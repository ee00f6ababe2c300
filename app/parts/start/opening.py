"""What was opened: files of the command line and those dropped, and which page shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import shown as words
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.sources import choices, fleets, kept_fleets, loading, places, sweeps
from fusescope.app.sources.choices import Pair
from fusescope.app.state.opened import Fate, Opened

Shows = Literal["compare", "trace", "scaling", "fleet", "releases", "record"]
_MANY_RANKS = 3  # of one job that are shown side by side; two are compared


@dataclass(frozen=True)
class Destination:
    """The page that shows what was opened, and the query of its address."""

    page: Shows
    query: Mapping[str, str | list[str]]


def greet() -> None:
    """Open the files of the command line on a page that shows something else, where a session
    begins."""
    _open_given(state.pair.keep_compared)


def follow(pages: Mapping[Shows, StreamlitPage], *, is_compared_here: bool) -> Destination | None:
    """Open the files of the command line, or what was read in the run before, and lead to the one
    of `pages` that shows it: a pair, a single trace, a sweep, or what a report of several compares;
    return what no other page shows. Where pairs are compared here, they go into the address of this
    page, and one file is compared with the one that waits for another."""
    keep = state.pair.compare if is_compared_here else state.pair.keep_compared
    destination = _open_given(keep) or _open_read(keep, is_compared_here=is_compared_here)
    if destination is not None and destination.page in pages:
        st.switch_page(pages[destination.page], query_params=destination.query)
    return destination


def _open_given(keep: Callable[[str | None, str | None], None]) -> Destination | None:
    """Return the page that shows the files of the command line, the pair of which is kept, where
    the address asks for nothing. Nothing where this session has opened them: a run that ends while
    they are read, as by a click on another page, leaves them to the next one."""
    place = st.empty()  # in every run, so that nothing below is drawn anew
    if state.session.is_greeted():
        return None
    names = [panels.name(name) for name in places.given_files()]
    with place, st.spinner(words.opening_sentence(names)) if names else nullcontext():
        read, fates = loading.open_given()
    state.session.greet()
    if fates:
        state.files.tell(fates + loading.closed(state.files.remember(read)))
        if read and state.pair.compared() == (None, None):
            kept = _kept(read)
            pair = choices.suggested(kept, in_order=True)
            destination = _shown(kept, pair, keep)
            if destination is None or destination.page != "fleet":
                _tell_why(kept, pair)
            return destination
    return None


def _open_read(
    keep: Callable[[str | None, str | None], None], *, is_compared_here: bool
) -> Destination | None:
    """Open what was read in the run before; should this run end here, the next one goes on. The
    page that shows it is returned, unless there is a refusal to be read."""
    inbox = state.files.inbox()
    histories, inbox.histories = inbox.histories, []
    if histories:
        state.files.keep_histories(histories)
        if not inbox.told:
            state.files.empty_uploader()
            return Destination("releases", state.pages.history_query(histories[-1].name))
    models, inbox.models = inbox.models, []
    if models and not inbox.told:
        state.files.empty_uploader()
        return Destination("record", state.recording.query(models[-1]))
    if not inbox.told:
        return None
    before = state.files.last_opened()
    refused = any(fate.read is False for fate in inbox.told)
    inbox.told += loading.closed(state.files.remember(inbox.read))
    state.files.tell(list(inbox.told))
    waited = inbox.gone is not None and any(inbox.gone.startswith(f.id) for f in inbox.read)
    destination = None
    if inbox.read and not waited:
        kept = _kept(inbox.read)
        chosen_from, pair = kept, choices.suggested(kept)
        if None in pair and is_compared_here:
            chosen_from = [*_waiting(kept, before), *kept]
            pair = choices.suggested(chosen_from)
        destination = _shown(kept, pair, keep)
        if destination is not None and destination.page == "fleet":
            _keep_closed(inbox.read, inbox.told)
        else:
            _tell_why(chosen_from, pair)
    state.files.empty_uploader()
    inbox.put([], [], None)
    is_shown = not refused or (destination is not None and destination.page == "fleet")
    return destination if is_shown else None  # Fleet names what was refused


def _keep_closed(read: list[Opened], told: list[Fate]) -> None:
    """Keep the ranks of a job in the library of which some had to make room for others, so that
    Fleet can show all of them."""
    ranks = fleets.open_ranks(read)
    are_open = all(one.id in state.files.opened() for one in ranks.values())
    if are_open or not kept_fleets.is_offered():
        return
    try:
        kept_fleets.keep(ranks, told)
    except FuseScopeError as error:
        state.files.tell([*told, Fate("library", False, error)])


def _shown(
    kept: list[Opened], pair: Pair, keep: Callable[[str | None, str | None], None]
) -> Destination | None:
    """Return the page that shows the files that were opened, of which the pair is kept."""
    keep(*pair)
    ranks = fleets.open_ranks(kept)
    if len(ranks) >= _MANY_RANKS:
        return Destination("fleet", state.pages.fleet_query(fleets.OPEN))
    _assume(kept, pair)
    several = choices.of_report(kept)
    if several:
        state.pages.keep_several(several)
        state.folds.open_fold(state.pages.SEVERAL_FOLD)
        query = state.pages.several_query(several) if len(several) > 1 else {}
        return Destination("compare", query)
    swept = sweeps.of_files(kept)
    if swept is not None:
        return Destination("scaling", state.pages.sweep_query(swept))
    ids = tuple(id_ for id_ in pair if id_ is not None)
    return Destination(*place_of(ids)) if ids else None


def place_of(ids: tuple[str, ...]) -> tuple[Shows, dict[str, str]]:
    """Return the page that shows one trace or a pair, and the query of its address."""
    if len(ids) == 1:
        return "trace", {"trace": ids[0]}
    return "compare", {"baseline": ids[0], "candidate": ids[1]}


def _tell_why(read: list[Opened], pair: Pair) -> None:
    """Say how the pair was chosen, where that is not as the files came."""
    note = choices.why_suggested(read, pair)
    if note is not None:
        state.files.tell([note, *state.files.fates()])


def _assume(read: list[Opened], pair: Pair) -> None:
    """Start with the settings of the report that was read, where that is what is compared."""
    assumed = next((file.assumed for file in read if file.assumed is not None), None)
    if assumed is not None and choices.suggested(read) == pair:
        state.pair.assume(assumed, pair)


def _waiting(kept: list[Opened], before: str) -> list[Opened]:
    """The profile that one profile alone is compared with: the one whose page asks for another,
    else the one that this session opened `before`, else one of those on screen."""
    shown = state.pair.compared()
    alone = shown if None in shown else ()
    for id_ in (*alone, before, *reversed(shown)):
        file = state.files.opened().get(id_ or "")
        is_other = file is not None and file.id not in {one.id for one in kept}
        if file is not None and is_other and isinstance(file.value, Trace):
            return [file]
    return []


def _kept(read: list[Opened]) -> list[Opened]:
    """Those that are open still: of many at once the first make room for the others."""
    return [file for file in read if file.id in state.files.opened()]
