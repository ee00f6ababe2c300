"""Engines beside ONNX Runtime on the Record page: whether one is there, and what it can record."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from analysis.messages import Message, say
from app.parts import panels

_NOT_READY = Message(
    "The engine {engine:name} is not there. This command says what adding it takes, and asks:"
)
_OWN_CODE = Message(
    "Only models that are built in can be recorded here: one of your own is code that runs with "
    "your rights, so it is for the command line to name."
)
_COMPILES = Message(
    "Compiling takes a minute or more of the time budget before the first block, and every block "
    "is a process that starts anew: allow 3 minutes."
)
_FUNCTION = "net.py:make"


def how_to_add(runtime: str) -> None:
    """The command that adds an engine which is not there."""
    parts = _NOT_READY.parts(engine=runtime)
    st.info(panels.parts_text(parts, "gray"), icon=":material/download:")
    st.code(f"fusescope runtimes add {runtime}", language=None)


def choose(able: Sequence[str], changed: Callable[[], None]) -> str:
    """The engine, of those that can run the model: the one that is chosen, the first at first.
    `changed` is called when it is another one than before."""
    if len(able) == 1:
        return able[0]
    chosen = st.segmented_control(
        say("Engine"),
        able,
        default=able[0],
        format_func=panels.segment,
        key="record_engine",
        required=True,
        persist_state="session",
        on_change=changed,
    )
    return str(chosen or able[0])


def explain(runtime: str, *, takes_files: bool) -> None:
    """What can be recorded of an engine here, and the command for everything else."""
    if takes_files:
        return
    if runtime == "torch":
        st.caption(panels.own(_COMPILES.text()))
    st.caption(panels.own(_OWN_CODE.text()))
    st.code(f"fusescope collect {_FUNCTION} --runtime {runtime}", language=None)


def ablate(runtime: str, *, is_own: bool) -> bool:
    """The switch for an ablation; False for an engine that has none."""
    if is_own:
        return st.toggle(
            say("Also record what each optimizer brings"),
            key="record_ablate",
            help=say(
                "An ablation: the model without each optimizer of the engine, and with it alone, "
                "for up to eight optimizers that change the model. These are up to 16 more "
                "variants, so allow more time."
            ),
            persist_state="session",
        )
    if runtime != "torch":
        return False
    return st.toggle(
        say("Also record what each fusion brings"),
        key="record_ablate_fusions",
        help=say(
            "An ablation: the model without each of its largest fusions, one at a time, for up to "
            "five of them. Each is compiled anew, so allow more time."
        ),
        persist_state="session",
    )
