"""Where files are opened: the place to drop them, those that are open, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from fusescope.analysis.messages import Message, say
from fusescope.analysis.text import display_name
from fusescope.analysis.wording import shown as words
from fusescope.app import state
from fusescope.app.parts import doctor, panels
from fusescope.app.parts.upload import large, models
from fusescope.app.server.spool import SPOOL, Received
from fusescope.app.sources import histories, loading, places, uploads
from fusescope.app.state.opened import Fate, History

File = TypeVar("File", UploadedFile, Received)

_MANY_FATES = 4
_FATES_HEIGHT = 420
_READ = Message("{n:count} file was opened", "{n:count} files were opened")
_CLOSE = Message("Close {file:name}")
_CLOSE_HEIGHT = 160  # pixels; more files than fit scroll
_LARGER = Message("For larger files, start with {option:name} and give the path here.")


def show(gone: str | None, below: DeltaGenerator, side: DeltaGenerator, *, folded: bool) -> None:
    """Draw where files are opened: open, with paths at the `side`, or all `folded` to a button."""
    box = st.container()
    paths = side
    if folded:
        # A new key after each upload closes it.
        paths = box = st.popover(
            say("Open files"),
            icon=":material/upload_file:",
            width="stretch",
            key=f"folded_{state.files.upload_key()}",
        )
    with box:
        drop(gone, below)
        larger(gone, below)
        _close_buttons()
    with paths:
        by_path(gone)


def drop(gone: str | None, below: DeltaGenerator) -> None:
    """Draw where files are dropped; those that were are read, which is said `below`."""
    dropped = st.file_uploader(
        say("Drop traces here · nothing leaves this machine"),
        accept_multiple_files=True,
        key=state.files.upload_key(),
        help=panels.own(
            say(
                "Files of any of these profilers, plain or packed with gzip or zstd, a zip or tar "
                "of a profiler's folder, a recording of FuseScope, a file of releases, or an ONNX "
                "model to record; several files at once. Files of one recording are read "
                "together. Of two recordings, one becomes the baseline. "
                "Files above {limit} go through the button below it, or are opened by their "
                "path, if the dashboard was started with {option:name}.",
                limit="256 MB",
                option="--folder DIR",
            )
        ),
    )
    if dropped:
        _open(dropped, gone, below)


def here() -> None:
    """Draw where files are dropped on a page that has nothing to show yet, and what became of those
    that were; which page shows them is for `opening.follow` to say."""
    below = st.container()
    drop(None, below)
    larger(None, below)
    show_fates()


def larger(gone: str | None, below: DeltaGenerator) -> None:
    """The button for files of any size; those that were sent are read, which is said `below`."""
    sent = large.received()
    if sent:
        _open_received(sent, gone, below)


def by_path(gone: str | None) -> None:
    """Draw where the path of a file is given, or say how the dashboard is started so that it can
    be."""
    if places.folders():
        _path_input(gone)
    elif not SPOOL.is_served:
        st.caption(panels.parts_text(_LARGER.parts(option="--folder DIR"), "gray"))


def _close_buttons() -> None:
    """Each opened file with a button that closes it; the lists have it no more then."""
    files = state.files.opened()
    if not files:
        return
    with st.container(
        height=_CLOSE_HEIGHT if len(files) > _MANY_FATES else "content", border=False
    ):
        for file in reversed(list(files.values())):
            st.button(
                panels.parts_text(
                    _CLOSE.parts(file=display_name(file.name)), "gray", panels.WHOLE_NAME_CHARS
                ),
                key=f"close_{file.id}",
                icon=":material/close:",
                type="tertiary",
                on_click=state.files.close,
                args=(file.id,),
            )


def _open(files: list[UploadedFile], gone: str | None, below: DeltaGenerator) -> None:
    """Read what was uploaded, and start again, which opens it."""
    inbox = state.files.inbox()
    names = [panels.name(display_name(file.name)) for file in files]
    with below, st.spinner(words.reading_sentence(names)):
        of_releases, others = _parted(files)
        sent, others = models.parted(others)
        inbox.put(*uploads.open_uploads(others), gone)
        inbox.histories = of_releases
        models.keep(sent, inbox)
    st.rerun()


def _open_received(sent: list[Received], gone: str | None, below: DeltaGenerator) -> None:
    """Read files that lie on the disk of the server, and start again, which opens them."""
    inbox = state.files.inbox()
    names = [panels.name(display_name(file.name)) for file in sent]
    with below, st.spinner(words.reading_sentence(names)):
        of_releases, others = _parted(sent)
        sent, others = models.parted(others)
        inbox.put(*uploads.open_received(others), gone)
        inbox.histories = of_releases
        models.keep(sent, inbox)
    st.rerun()


def _parted(files: Sequence[File]) -> tuple[list[History], list[File]]:
    """Return the files of releases among these, and the others."""
    found = {id(file): histories.taken(file) for file in files}
    of_releases = [one for one in found.values() if one is not None]
    return of_releases, [file for file in files if found[id(file)] is None]


def _path_input(gone: str | None) -> None:
    with st.form("path_form", clear_on_submit=True, border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall")
        text = row.text_input(
            say("Or a file of any size, by its path"),
            key="path",
            max_chars=1000,
            placeholder=say("below a configured folder"),
            help=panels.own(
                say(
                    "A file, or a profiler's folder, below a folder that the dashboard was started "
                    "with ({option:name}).",
                    option="--folder DIR",
                )
            ),
        )
        clicked = row.form_submit_button(say("Open"), key="open_path")
    if clicked and text:
        inbox = state.files.inbox()
        of_releases = loading.history_at(text)
        inbox.put(*(loading.open_paths([text]) if of_releases is None else ([], [])), gone)
        inbox.histories = [] if of_releases is None else [of_releases]
        st.rerun()


def show_fates(still: tuple[str, ...] = ()) -> None:
    """Draw what became of the files given last, and that the pair `still` is shown after a refusal:
    behind a button where all of them were read whole."""
    told = state.files.fates()
    if not told:
        return
    with _fates_box(told):
        for index, fate in enumerate(told):
            panels.fate(fate)
            if fate.report is not None:
                _offer_export(fate.report, index)
            if fate.id in state.files.opened():
                doctor.link_to(state.files.opened()[fate.id], key=f"fate_{index}")
        if still and state.files.unchanged_since_told():
            panels.note(words.unchanged_sentence(*still), ":gray[:material/info:]")
        st.button(
            say("Hide"), key="hide_fates", type="tertiary", on_click=state.files.tell, args=([],)
        )


def show_what_to_heed() -> None:
    """Draw which of the files given last were not read whole, and what else was said of them."""
    for fate in state.files.fates():
        if not _is_whole(fate) and fate.name not in loading.LEFT_ASIDE:
            panels.fate(fate)


def has_nothing_to_heed() -> bool:
    """Return whether all files given last were read whole, or none were given."""
    fates = state.files.fates()
    return all(_is_whole(fate) or fate.name in loading.LEFT_ASIDE for fate in fates)


def _is_whole(fate: Fate) -> bool:
    return bool(fate.read) and not fate.ends_early


def _fates_box(fates: Sequence[Fate]) -> DeltaGenerator:
    """Return where fates are drawn: over the page where there is nothing to heed."""
    read = [fate for fate in fates if _is_whole(fate)]
    if read and has_nothing_to_heed():
        told = _READ.text(n=len(read))
        return st.popover(
            told, icon=":material/check_circle:", type="tertiary", width="stretch", key="fates"
        )
    # Many files would push the page far down: they scroll.
    many = len(fates) > _MANY_FATES
    return st.container(border=True, height=_FATES_HEIGHT if many else "content")


def _offer_export(report: Path, index: int) -> None:
    """The button that lets `nsys` of this machine export a report of Nsight Systems."""
    label = say("Export it with nsys and open that")
    if st.button(label, key=f"export_{index}", icon=":material/play_arrow:"):
        inbox = state.files.inbox()
        with st.spinner(say("nsys exports the report …")):
            inbox.put(*loading.open_report(report), None)
        st.rerun()
