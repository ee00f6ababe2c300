"""Keeping ranks in the library: the offer, how far it is, what came of it, and their removal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from fusescope.analysis.messages import Message, say
from fusescope.app import state
from fusescope.app.fleet.keeping import KEEPER, Status
from fusescope.app.language import spoken
from fusescope.app.parts import panels
from fusescope.app.sources import kept_fleets
from fusescope.app.state.opened import Opened

_OFFER = Message(
    "{n:count} rank is open, and is gone when the dashboard ends.",
    "{n:count} ranks are open, and are gone when the dashboard ends.",
)
_KEPT = Message(
    "{n:count} rank is kept in the library: {store:name}",
    "{n:count} ranks are kept in the library: {store:name}",
)
_UNREAD = Message("{file:name}: {reason}.")
_OTHERS = Message("Other ranks are being kept. Try again when that is done.")


def show(ranks: Mapping[int, Opened]) -> None:
    """Draw for ranks that are open whether they are in the library, or how they get there."""
    if not kept_fleets.is_offered():
        return
    status = KEEPER.status
    if status is not None and status.is_running:
        _running()
        return
    if status is not None:
        _result(status)
        if status.kept is not None:
            return
    target = kept_fleets.target(ranks)
    if target.name in kept_fleets.stores():
        _kept(len(ranks), target.name)
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.caption(_OFFER.text(n=len(ranks)), width="content")
        clicked = st.button(
            say("Keep in the library"), key="fleet_keep", icon=":material/inventory_2:"
        )
    if clicked:
        with panels.guarded(say("The ranks were not kept.")):
            if not kept_fleets.keep(ranks, state.files.fates()):
                st.info(_OTHERS.text())
                return
            st.rerun()


@st.fragment(run_every=0.5)
@spoken
def _running() -> None:
    """How many ranks are kept so far; the whole page again once it is over."""
    status = KEEPER.status
    if status is None or not status.is_running:
        st.rerun()
        return
    with st.container(border=True):
        st.progress(
            status.done / max(1, status.total),
            text=say(
                "Keeping ranks in the library: {done:count} of {n:count}",
                done=status.done,
                n=status.total,
            ),
        )
        st.button(
            say("Stopping …") if status.is_cancelling else say("Cancel"),
            key="fleet_keep_cancel",
            disabled=status.is_cancelling,
            on_click=KEEPER.cancel,
            help=say("Nothing is kept then."),
        )


def _result(status: Status) -> None:
    """What came of it: where the ranks are, and which file could not be read, or why none is."""
    with st.container(border=True):
        if status.error is not None:
            panels.problem(status.error, say("The ranks were not kept."))
        elif status.kept is None:
            st.info(say("Stopped. Nothing was kept."), icon=":material/stop_circle:")
        else:
            n = sum(entry.facts is not None for entry in status.kept.read)
            _kept(n, status.target.name)
            for entry in status.kept.failed:
                if entry.failure is not None:
                    text = _UNREAD.text(file=entry.path, reason=entry.failure.said)
                    panels.note(text, ":orange[:material/warning:]")
        st.button(say("Dismiss"), key="fleet_kept_dismiss", on_click=KEEPER.forget, type="tertiary")


def _kept(count: int, name: str) -> None:
    """Say where the ranks are, with the way there."""
    panels.note(_KEPT.text(n=count, store=name), ":green[:material/check_circle:]")
    st.button(
        say("Open what is kept"),
        key="fleet_open_kept",
        icon=":material/folder_open:",
        on_click=state.pages.keep_fleet,
        args=(name,),
    )


def removal(path: Path) -> None:
    """Draw how a store that lies in the library is removed from it; nothing for others."""
    if not kept_fleets.is_kept(path):
        return
    with st.popover(say("Remove from the library …"), key="fleet_remove"):
        st.text(
            say(
                "Remove the ranks {store:name} from the library? Their files stay.", store=path.name
            )
        )
        if st.button(say("Delete permanently"), key="fleet_remove_sure", type="primary"):
            with panels.guarded(say("Nothing was deleted.")):
                kept_fleets.remove(path.name)
                st.rerun()
