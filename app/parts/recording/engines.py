"""Engines beside ONNX Runtime on the Record page: whether one is there, and what it can record."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from fusescope.analysis.messages import Message, say
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.recording.settings import Settings

_NOT_READY = Message(
    "The engine {engine:name} is not installed. This command says what adding it takes, and asks:"
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
SEVERAL = "several"
_BESIDE = Message(
    "Each engine runs the same model with the same inputs and threads; in every block each variant "
    "has a process of its own."
)
_BASELINE = Message("The baseline is {first:name}.")
_TRANSLATED = Message(
    "PyTorch and JAX run what FuseScope makes of the model operator by operator, and compiling "
    "takes them a minute or more of the time budget: allow 3 minutes."
)
_NOT_BESIDE = Message(
    "MindSpore does not read ONNX models, so it is recorded alone, with a network of its own."
)
_MISSING = Message("These engines are not installed. Each command below adds one:")
_ALONE = Message("Comparing engines takes at least two. Each command below adds one:")


def how_to_add(runtime: str) -> None:
    """The command that adds an engine which is not there."""
    parts = _NOT_READY.parts(engine=runtime)
    st.info(panels.parts_text(parts, "gray"), icon=":material/download:")
    panels.code(f"fusescope runtimes add {runtime}")


def choose(able: Sequence[str], changed: Callable[[], None]) -> str:
    """The engine, of those that can run the model: the one that is chosen, the first at first, or
    SEVERAL. `changed` is called when it is another one than before."""
    if len(able) == 1:
        return able[0]
    chosen = st.segmented_control(
        say("Engine"),
        [*able, SEVERAL],
        default=able[0],
        format_func=lambda name: panels.segment(say("Several") if name == SEVERAL else name),
        key="record_engine",
        required=True,
        persist_state="session",
        on_change=changed,
    )
    return str(chosen or able[0])


def explain(runtime: str, engine: str, *, takes_files: bool) -> None:
    """What can be recorded of an engine here, or of an environment that has it, and the command for
    everything else."""
    if takes_files:
        return
    if engine == "torch":
        st.caption(panels.own(_COMPILES.text()))
    st.caption(panels.own(_OWN_CODE.text()))
    panels.code(f"fusescope collect {_FUNCTION} --runtime {runtime}")


def device(found: Mapping[str, str]) -> str:
    """The device of the recording: the processor, or one of those that were found, by what their
    makers call them; without any nothing is drawn."""
    if not found:
        return "cpu"
    chosen = st.selectbox(
        say("Device"),
        ["cpu", *found],
        format_func=lambda code: f"{found[code]} ({code})" if code in found else "CPU",
        key=state.language.told_choice("record_device"),
        persist_state="session",
    )
    return str(chosen or "cpu")


def several(
    ready: Sequence[str],
    first: Sequence[str],
    missing: Sequence[str],
    changed: Callable[[], None],
    *,
    of_onnx: bool,
) -> tuple[str, ...]:
    """The engines of one recording, of those that are ready, at first those of `first`; fewer than
    two where there is nothing to compare, which is said with what to do. `changed` is called when
    others are chosen. They run a model `of_onnx`, else one of their own."""
    if len(ready) < 2:
        st.info(panels.own(_ALONE.text()), icon=":material/download:")
        _commands(missing)
        return tuple(ready)
    chosen = st.multiselect(
        say("Engines"),
        ready,
        default=first,
        key="record_engines",
        on_change=changed,
        persist_state="session",
    )
    if len(chosen) < 2:
        st.caption(panels.own(say("Choose two engines, or more.")))
        return tuple(chosen)
    st.caption(panels.own(_BESIDE.text()))
    if of_onnx and any(name.startswith(("torch", "jax")) for name in chosen):
        st.caption(panels.own(_TRANSLATED.text()))
    if of_onnx:
        st.caption(panels.own(_NOT_BESIDE.text()))
    if missing:
        st.caption(panels.own(_MISSING.text()))
        _commands(missing)
    return tuple(chosen)


def command(
    model: str, engines: Sequence[str], variants: Sequence[str], settings: Settings
) -> None:
    """What the others are compared with, and the command line that records the same."""
    first = f"{engines[0]}:fused"
    if first in variants:
        st.caption(panels.parts_text(_BASELINE.parts(first=first), "gray"))
    st.caption(panels.own(say("The same on the command line:")))
    parts = [
        "fusescope", "collect", model, "--runtime", ",".join(engines),
        "--variants", ",".join(variants), *settings.options(),
    ]  # fmt: skip
    panels.code(shlex.join(parts))


def _commands(names: Sequence[str]) -> None:
    panels.code("\n".join(f"fusescope runtimes add {name}" for name in names))


def ablate(engine: str, *, is_own: bool) -> bool:
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
    if engine != "torch":
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
