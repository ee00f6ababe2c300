"""ONNX models among the files that were sent: kept on the server's disk, for the page Record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, say
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.upload import large
from fusescope.app.recording import progress
from fusescope.app.recording.own_models import SENT
from fusescope.app.server.sent_models import MODELS, Sent, may_be_data
from fusescope.app.server.spool import SPOOL, Received
from fusescope.app.sources import places
from fusescope.app.state.opened import Fate, Inbox

File = TypeVar("File", UploadedFile, Received)
_LISTED = Message(
    "Models below a folder are listed when the dashboard is started with {command:name}."
)
_IS_MODEL = Message("{file:name} is a model. The page {page} can record it.")


def parted(files: Sequence[File]) -> tuple[list[File], list[File]]:
    """Return the models among these, each with the files of its weights, and the others; no model
    where none can be recorded from here."""
    named = [Sent(file.name, b"") for file in files]
    models = [one.name for one in named if one.is_model]
    if not models or progress.refusal() is not None:
        return [], list(files)
    is_ours = [one.is_model or may_be_data(one.name, models) for one in named]
    return (
        [file for file, ours in zip(files, is_ours, strict=True) if ours],
        [file for file, ours in zip(files, is_ours, strict=True) if not ours],
    )


def keep(files: Sequence[UploadedFile | Received], inbox: Inbox) -> None:
    """Keep models that were sent; what becomes of them is put into the inbox. Beside other files a
    sentence says where they are recorded."""
    if not files:
        return
    try:
        inbox.models = _kept(files)
    except FuseScopeError as error:
        inbox.told = [*inbox.told, Fate(files[0].name, False, error)]
        return
    if inbox.told:
        said = (
            _IS_MODEL.of(file=n.partition("/")[2], page=Message("Record")) for n in inbox.models
        )
        inbox.told = [*inbox.told, *(Fate("model", None, sentence) for sentence in said)]


def _kept(files: Sequence[UploadedFile | Received]) -> list[str]:
    """Keep these, and return how the form calls the models. Raises FuseScopeError."""
    sent = [
        Sent(file.name, file.path if isinstance(file, Received) else file.getvalue())
        for file in files
    ]
    try:
        return [f"{SENT}{name}" for name in MODELS.put(sent)]
    finally:
        for file in files:
            if isinstance(file, Received):
                SPOOL.drop(file.path)


def choose() -> None:
    """Draw where a model of one's own is sent to the page Record, which shows it then."""
    with st.expander(say("A model of your own"), icon=":material/upload_file:"):
        dropped = st.file_uploader(
            say("Drop an ONNX model here · nothing leaves this machine"),
            accept_multiple_files=True,
            key=f"model_{state.files.upload_key()}",
            help=panels.own(
                say(
                    "An {suffix:name} file, together with the files that hold its weights where it "
                    "has any ({example:name}). It is kept until the dashboard ends.",
                    suffix=".onnx",
                    example="model.onnx.data",
                )
            ),
        )
        sent = dropped or large.received()
        if not places.folders():
            command = "fusescope serve --folder DIR"
            st.caption(panels.parts_text(_LISTED.parts(command=command), "gray"))
    if not sent:
        return
    state.files.empty_uploader()
    with panels.guarded(say("This model cannot be recorded.")):
        state.recording.ask(_kept(sent)[-1])
        st.rerun()
