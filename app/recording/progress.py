"""Recording from a page: whether it can be, its start, its progress, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from analysis.errors import FuseScopeError
from app.recording import recorder
from app.recording.recorder import Status
from app.server.same_origin import is_local
from app.sources import places

NEEDED = ("onnxruntime", "onnx", "psutil")
COMPILER = "numba"
STAGES = {
    "prepare": "Preparing the model",
    "check": "Trying each variant alone",
    "peaks": "Measuring what this machine can do",
    "blocks": "Recording",
    "write": "Writing the file",
    "done": "Done",
}


def missing(*, compiler: bool = False) -> tuple[str, ...]:
    """Packages that recording lacks here; `compiler`: with kernels of one's own."""
    needed = (*NEEDED, COMPILER) if compiler else NEEDED
    return tuple(package for package in needed if find_spec(package) is None)


def refusal(*, compiler: bool = False) -> str | None:
    """Why nothing can be recorded from here; None when it can."""
    lacking = missing(compiler=compiler)
    if lacking:
        extra = "kernels" if lacking == (COMPILER,) else "collect"
        extra = "collect,kernels" if COMPILER in lacking and len(lacking) > 1 else extra
        return (
            f"Recording needs {', '.join(lacking)}. Install what is missing with "
            f"`pip install 'fusescope[{extra}]'` and start the dashboard again."
        )
    if not is_local():
        return (
            "Recording is off because this dashboard answers other machines. Start it on "
            "127.0.0.1, or record with `fusescope collect` and open the file on the Compare page."
        )
    return None


def folder() -> Path:
    """The folder of recordings, made where it is not there. Raises FuseScopeError."""
    path = places.experiments_folder()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FuseScopeError(
            f"The recordings folder cannot be made: {error.strerror or error}",
            where=str(path),
            hint=f"Set {places.EXPERIMENTS_VARIABLE} to a folder that can be written.",
        ) from error
    return path


@st.fragment(run_every=1.0)
def running() -> None:
    """Live progress; the whole page again once it is over."""
    status = recorder.RECORDER.status
    if status is None or not status.running:
        st.rerun()
        return
    with st.container(border=True):
        st.subheader("Recording", anchor=False)
        st.text(f"{status.model}, recipe {status.recipe}" if status.recipe else status.model)
        progress = status.progress
        stage = STAGES[progress.stage] if progress is not None else "Starting"
        share = progress.done / max(1, progress.total) if progress is not None else 0.0
        st.progress(min(1.0, share), text=f"{stage}{_left(status)}")
        st.text(progress.message if progress is not None else "Starting a first process")
        st.button(
            "Stopping …" if status.cancelling else "Stop",
            key="record_cancel",
            icon=":material/stop_circle:",
            disabled=status.cancelling,
            on_click=recorder.RECORDER.cancel,
            help="Complete blocks are kept.",
        )
        st.caption(
            "One recording runs at a time on this server, also for other tabs. You may leave this "
            "page: it goes on."
        )


def _left(status: Status) -> str:
    seconds = status.progress.seconds_left if status.progress is not None else None
    if seconds is None:
        return ""
    return (
        f" · about {seconds:.0f} s left"
        if seconds < 90
        else f" · about {seconds / 60:.0f} min left"
    )


def result(
    status: Status,
    compare_page: st.Page,
    query: Mapping[str, str],
    verdicts: Iterable[str] = (),
) -> None:
    """What came of a recording that is over: how its variants compare, in sentences; `query` is
    the comparison to open, {} for none."""
    with st.container(border=True):
        if status.error is not None:
            st.error("Nothing was recorded.", icon=":material/error:")
            st.code(status.error.text, language=None, wrap_lines=True)
        elif status.path is not None:
            st.success("Recorded.", icon=":material/check_circle:")
            st.code(status.path.name, language=None)
            for sentence in verdicts:
                st.text(sentence)
            if status.progress is not None:
                st.text(status.progress.message)
            if query and st.button(
                "Open in Compare",
                key="record_open",
                type="primary",
                icon=":material/compare_arrows:",
            ):
                st.switch_page(compare_page, query_params=dict(query))
        st.button(
            "Dismiss", key="record_dismiss", on_click=recorder.RECORDER.forget, type="tertiary"
        )
