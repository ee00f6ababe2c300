"""Recording from a page: whether it can be, its start, its progress, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import ModelFacts
from fusescope.analysis.messages import Message, Part, listed, say
from fusescope.app.language import spoken
from fusescope.app.recording import recorder
from fusescope.app.recording.recorder import Status
from fusescope.app.server.same_origin import is_local
from fusescope.app.sources import places

if TYPE_CHECKING:
    from fusescope.collectors.progress import Stage

NEEDED = ("onnxruntime", "onnx", "psutil")
COMPILER = "numba"
STAGES = {
    "prepare": Message("Preparing the model"),
    "check": Message("Trying each variant alone"),
    "peaks": Message("Measuring what this machine can do"),
    "blocks": Message("Recording"),
    "write": Message("Writing the file"),
    "done": Message("Done"),
}


_LACKING = Message(
    "Recording needs packages that are not installed: {packages}. Install them with "
    "{command:name} and start the dashboard again."
)
_OFF = Message(
    "Recording is off because this dashboard can be reached from other machines. Start it on "
    "127.0.0.1, or record with {command:name} and open the file on the {page} page."
)


def missing(*, compiler: bool = False) -> tuple[str, ...]:
    """Packages that recording lacks here; `compiler`: with kernels of one's own."""
    needed = (*NEEDED, COMPILER) if compiler else NEEDED
    return tuple(package for package in needed if find_spec(package) is None)


def is_built_in(model: ModelFacts) -> bool:
    """Whether this installation can make the model of a recording anew."""
    if model.source != "zoo" or missing():
        return False
    from fusescope.collectors.record import zoo_models

    return model.name in zoo_models()


def refusal(*, compiler: bool = False) -> tuple[Part, ...] | None:
    """Why nothing can be recorded from here; None when it can."""
    lacking = missing(compiler=compiler)
    if lacking:
        extra = "kernels" if lacking == (COMPILER,) else "collect"
        extra = "collect,kernels" if COMPILER in lacking and len(lacking) > 1 else extra
        return _LACKING.parts(
            packages=listed(lacking),
            command=f"pip install 'fusescope[{extra}]'",
        )
    if not is_local():
        return _OFF.parts(command="fusescope collect", page=Message("Compare"))
    return None


def folder() -> Path:
    """The folder of recordings, made where it is not there. Raises FuseScopeError."""
    path = places.experiments_folder()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FuseScopeError(
            "recordings_folder_impossible",
            where=str(path),
            reason=error.strerror or str(error),
            variable=places.EXPERIMENTS_VARIABLE,
        ) from error
    return path


@st.fragment(run_every=1.0)
@spoken
def running() -> None:
    """Live progress; the whole page again once it is over."""
    status = recorder.RECORDER.status
    if status is None or not status.running:
        st.rerun()
        return
    with st.container(border=True):
        st.subheader(say("Recording"), anchor=False)
        if status.recipe:
            what = say(
                "{model:name}, recipe {recipe:name}", model=status.model, recipe=status.recipe
            )
            st.text(what)
        else:
            st.text(status.model)
        if status.told is not None:
            st.text(str(status.told))
        progress = status.progress
        st.progress(_share(status), text=_stage_text(status))
        st.text(
            str(progress.message) if progress is not None else say("Starting the first process")
        )
        st.button(
            say("Stopping …") if status.cancelling else say("Stop"),
            key="record_cancel",
            icon=":material/stop_circle:",
            disabled=status.cancelling,
            on_click=recorder.RECORDER.cancel,
            help=say("Complete blocks are kept, and so are the settings before.")
            if status.settings
            else say("Complete blocks are kept."),
        )
        st.caption(
            say(
                "One recording runs at a time on this server, for all tabs together. You can leave "
                "this page: the recording continues."
            )
        )


# Where each stage begins and ends on the bar: roughly the part of a short recording that it takes,
# so that the bar moves while the model is prepared and never goes back.
_SPANS: Mapping[Stage, tuple[float, float]] = {
    "prepare": (0.02, 0.08),
    "check": (0.08, 0.14),
    "peaks": (0.14, 0.2),
    "blocks": (0.2, 1.0),
    "write": (1.0, 1.0),
    "done": (1.0, 1.0),
}


def _share(status: Status) -> float:
    """Return how far the job is, from 0 to 1, of all settings together."""
    progress, share = status.progress, 0.01
    if progress is not None:
        begin, end = _SPANS[progress.stage]
        share = begin + (end - begin) * min(1.0, progress.done / max(1, progress.total))
    before = max(0, status.setting - 1)
    return (before + share) / status.settings if status.settings else share


def _stage_text(status: Status) -> str:
    if status.progress is None:
        return say("Starting")
    stage, seconds = STAGES[status.progress.stage], status.progress.seconds_left
    if seconds is None:
        return stage.text()
    if status.settings:
        return say(
            "{stage} · about {left:count} s left of this setting", stage=stage, left=round(seconds)
        )
    if seconds < 90:
        return say("{stage} · about {left:count} s left", stage=stage, left=round(seconds))
    return say("{stage} · about {left:count} min left", stage=stage, left=round(seconds / 60))


def sweep_result(status: Status, scaling_page: st.Page, query: Mapping[str, str]) -> None:
    """What came of a sweep that is over, also where a setting failed; `query` is the model to show
    on the `scaling_page`, {} where fewer than two settings are there."""
    with st.container(border=True):
        kept = say(
            "Recorded settings: {kept:count} of {n:count}.",
            kept=len(status.paths),
            n=status.settings,
        )
        if _is_stopped(status):
            st.info(say("The sweep was stopped."), icon=":material/stop_circle:")
            st.text(kept)
        elif status.error is not None:
            failed = say("The sweep ended at a setting that could not be recorded.")
            st.error(failed, icon=":material/error:")
            if status.told is not None:
                st.text(str(status.told))
            st.code(status.error.text, language=None, wrap_lines=True)
            st.text(kept)
        else:
            st.success(say("Recorded."), icon=":material/check_circle:")
            st.text(kept)
        if status.paths:
            st.code("\n".join(path.name for path in status.paths), language=None, wrap_lines=True)
        if query and st.button(
            say("Open in Scaling"), key="record_open", type="primary", icon=":material/show_chart:"
        ):
            st.switch_page(scaling_page, query_params=dict(query))
        _dismiss()


def _is_stopped(status: Status) -> bool:
    """Return True for a job that ended because somebody pressed Stop, which is no failure."""
    is_early = status.error is not None and status.error.code == "interrupted_too_early"
    return status.cancelling and is_early


def _dismiss() -> None:
    st.button(
        say("Dismiss"), key="record_dismiss", on_click=recorder.RECORDER.forget, type="tertiary"
    )


def result(
    status: Status,
    compare_page: st.Page,
    query: Mapping[str, str],
    verdicts: Iterable[str] = (),
    beside: Callable[[], None] | None = None,
) -> None:
    """What came of a recording that is over: how its variants compare, in sentences; `query` is
    the comparison to open, {} for none, and `beside` draws what else there is to show."""
    with st.container(border=True):
        if _is_stopped(status):
            st.info(
                say("Stopped before the first block was complete, so there is no recording."),
                icon=":material/stop_circle:",
            )
        elif status.error is not None:
            st.error(say("Nothing was recorded."), icon=":material/error:")
            st.code(status.error.text, language=None, wrap_lines=True)
        elif status.path is not None:
            st.success(say("Recorded."), icon=":material/check_circle:")
            st.code(status.path.name, language=None, wrap_lines=True)
            for sentence in verdicts:
                st.text(sentence)
            if beside is not None:
                beside()
            if status.progress is not None:
                st.text(str(status.progress.message))
            if query and st.button(
                say("Open in Compare"),
                key="record_open",
                type="primary",
                icon=":material/compare_arrows:",
            ):
                st.switch_page(compare_page, query_params=dict(query))
        _dismiss()
