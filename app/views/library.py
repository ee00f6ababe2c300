"""The Library page: traces that are kept and recordings, found, named, compared and removed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis import units
from fusescope.analysis.messages import Message, Part, passage, say
from fusescope.app import state
from fusescope.app.library import changes
from fusescope.app.library.items import (
    ORDERS,
    Item,
    Order,
    items,
    matching,
    ordered,
    store,
    unlisted,
    unlisted_parts,
)
from fusescope.app.parts import panels
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.table import ROW_HEIGHT, whole_height
from fusescope.app.parts.upload import files
from fusescope.app.recording import recorder
from fusescope.app.server.same_origin import is_local
from fusescope.app.sources import kept_fleets, places
from fusescope.app.store import settings
from fusescope.app.store.facts import MAX_NAME, MAX_NOTE, MAX_TAG, MAX_TAGS

TABLE = "library_table"
MAX_ROWS = 14  # that are shown without scrolling
_ORDER_NAMES: dict[Order, Message] = {
    "date": Message("Newest first"),
    "name": Message("By name"),
    "machine": Message("By machine"),
    "model": Message("By model"),
    "bytes": Message("Largest first"),
}
_KINDS = {"trace": Message("trace"), "experiment": Message("recording")}
_WHAT = Message(
    "What is recorded on this machine appears here by itself. Large traces that are opened are "
    "kept, so that they open faster next time."
)
_TAKES = Message(
    "Traces and ranks take {used} of at most {size}, in {folder:name}. {setting:name} turns this "
    "off."
)
_JOBS = Message(
    "The ranks of {n:count} job are kept, too. The page {page} shows and removes them.",
    "The ranks of {n:count} jobs are kept, too. The page {page} shows and removes them.",
)
_OFF = Message(
    "The library is off: {setting:name} is set. To use it, start FuseScope without this setting."
)
_OTHERS = Message(
    "The library is not shown, because this dashboard can be reached from other machines. "
    "On its own machine {command:name} lists it."
)


def show(
    compare_page: st.Page,
    trace_page: st.Page,
    shown_on: Mapping[Shows, StreamlitPage] | None = None,
) -> None:
    """Draw the page; what is there opens on the others, what is dropped on those of `shown_on`."""
    with panels.page():
        opening.greet()
        pages: dict[Shows, StreamlitPage] = {**(shown_on or {}), "compare": compare_page}
        opening.follow({**pages, "trace": trace_page}, is_compared_here=False)
        st.header(say("Library"), anchor=False)
        if not is_local():
            st.info(
                panels.parts_text(_OTHERS.parts(command="fusescope library"), "gray"),
                icon=":material/block:",
            )
            return
        if not settings.is_on():
            off = _OFF.parts(setting=f"{settings.FOLDER_VARIABLE}={settings.OFF}")
            st.info(panels.parts_text(off, "gray"), icon=":material/block:")
            return
        listed = items()
        if count := unlisted():
            st.caption(panels.parts_text(unlisted_parts(count), "gray"))
        if jobs := kept_fleets.kept():
            st.caption(_JOBS.text(n=len(jobs), page=say("Fleet")))
        if not listed:
            st.subheader(say("Nothing is here yet"), anchor=False)
            st.caption(panels.parts_text(_told(), "gray"))
            files.here()
            return
        found = _found(listed)
        if not found:
            st.caption(say("Nothing in the library has these words."))
            return
        if len(found) < len(listed):
            shown = say("{n:count} of {of:count} have these words.", n=len(found), of=len(listed))
            st.caption(shown)
        _picked(_table(found), listed, compare_page, trace_page)
        st.caption(panels.parts_text(_told(), "gray"))


def _told() -> tuple[Part, ...]:
    kept_in = store()
    takes = _TAKES.parts(
        used=units.capacity(kept_in.bytes),
        size=units.capacity(kept_in.max_bytes),
        folder=str(kept_in.folder),
        setting=f"{settings.FOLDER_VARIABLE}={settings.OFF}",
    )
    return passage(_WHAT.parts(), takes)


def _found(listed: Sequence[Item]) -> list[Item]:
    """The items that the fields leave, in the order that is chosen."""
    left, right = st.columns([7, 3], vertical_alignment="bottom")
    text = panels.search(
        left, say("Search"), "library_search", say("name, tag, note, machine or model")
    )
    order = right.selectbox(
        say("Order"),
        ORDERS,
        format_func=lambda code: _ORDER_NAMES[code].text(),
        key=state.language.told_choice("library_order"),
        label_visibility="collapsed",
    )
    return ordered(matching(listed, text), order)


def _table(found: Sequence[Item]) -> list[Item]:
    """The table; the rows that are ticked."""
    frame = pd.DataFrame(
        {
            say("Name"): [item.name for item in found],
            say("Headline"): [item.headline for item in found],
            say("Kind"): [_KINDS[item.kind].text() for item in found],
            say("Model"): [item.model for item in found],
            say("Tags"): [", ".join(item.facts.tags) for item in found],
            say("Note"): [item.facts.note for item in found],
            say("Recorded, else kept"): [item.date[:16].replace("T", " ") for item in found],
            say("Machine"): [item.machine for item in found],
            say("On the disk"): [units.data_size(item.bytes) for item in found],
        },
        dtype="object",
    )
    # Rows are picked by their place: of other rows, or in another order, none is.
    told = "|".join(item.id for item in found)
    key = f"{TABLE}_{hashlib.sha256(told.encode(errors='replace')).hexdigest()[:12]}"
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=whole_height(min(len(found), MAX_ROWS)),
        row_height=ROW_HEIGHT,
        on_select="rerun",
        selection_mode="multi-row",
        alt=say("Traces and recordings"),
    )
    return [found[line] for line in state.table.picked_lines(key) if line < len(found)]


def _picked(
    picked: Sequence[Item], listed: Sequence[Item], compare_page: st.Page, trace_page: st.Page
) -> None:
    """What can be done with what is ticked."""
    if len(picked) == 1:
        [item] = picked
        if item.kind == "trace":
            label = say("See where its time goes, and what limits it")
            query = {"trace": item.id}
            st.page_link(trace_page, label=label, icon=":material/query_stats:", query_params=query)
        elif item.pair is not None:
            _compare(item.pair, compare_page)
        _details(item, listed)
    elif len(picked) == 2:
        before, after = sorted(picked, key=lambda item: item.date)
        _compare((_side(before), _side(after)), compare_page)
        st.caption(
            panels.parts_text(
                Message("{older:name} is the baseline, because it is older.").parts(
                    older=before.name
                ),
                "gray",
            )
        )
    else:
        st.caption(say("Tick one row to open, describe or delete it, or two to compare them."))


def _side(item: Item) -> str:
    return item.id if item.pair is None else item.pair[1]


def _compare(ids: tuple[str, str], compare_page: st.Page) -> None:
    st.page_link(
        compare_page,
        label=say("Open in Compare"),
        icon=":material/compare_arrows:",
        query_params={"baseline": ids[0], "candidate": ids[1]},
    )


def _details(item: Item, listed: Sequence[Item]) -> None:
    """Its name, tags and note, to be changed, and the button that removes it."""
    with st.form(f"library_{item.hash}", border=True):
        own = item.name.removesuffix(".zip") if item.kind == "experiment" else item.name
        left, right = st.columns(2)
        name = left.text_input(say("Name"), value=own, max_chars=MAX_NAME)
        tags = right.text_input(
            say("Tags"),
            value=", ".join(item.facts.tags),
            max_chars=MAX_TAGS * (MAX_TAG + 2),
            help=say("Several tags have commas between them."),
        )
        note = st.text_input(say("Note"), value=item.facts.note, max_chars=MAX_NOTE)
        saved = st.form_submit_button(say("Save"), key="library_save")
    with st.popover(say("Delete …"), key="library_delete"):
        st.text(_question(item))
        deleted = st.button(say("Delete permanently"), key="library_delete_sure", type="primary")
    if saved:
        with panels.guarded(say("Not everything was changed.")):
            changes.describe(item, tags.split(","), note)
            if name.strip() and name != own:
                _moved(item, changes.rename(item, name, listed), name)
            st.rerun()
    if deleted:
        with panels.guarded(say("Nothing was deleted.")):
            changes.delete(item)
            _moved(item, None)
            st.rerun()


def _question(item: Item) -> str:
    if item.kind == "experiment":
        return say("Delete the recording {file:name}? This cannot be undone.", file=item.name)
    return say(
        "Remove {file:name} from the library? The file that it was read from stays.",
        file=item.name,
    )


def _moved(item: Item, new: str | None, name: str = "") -> None:
    """What is compared, and the job that made it, follow to its new id; None: it is gone."""
    opened = state.files.opened().get(item.id)
    if new == item.id:
        if opened is not None:
            state.files.remember([replace(opened, name=name)])
        return
    if item.kind == "experiment":
        folder = places.experiments_folder()
        path = None if new is None else folder / new.partition(":")[2]
        recorder.RECORDER.moved(folder / item.id.partition(":")[2], path)
    state.pair.replace_files(item.id, new)
