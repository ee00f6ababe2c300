"""How a recording is made, as the Record page asks: time budget, threads, batch size, shapes."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from fusescope.analysis.messages import Message, say
from fusescope.app import state
from fusescope.app.parts import panels

BUDGETS = {
    15: Message("15 s"),
    30: Message("30 s"),
    60: Message("1 min"),
    180: Message("3 min"),
    0: Message("until decided"),
}
_MAX_NUMBERS = 200  # characters


@dataclass(frozen=True)
class Settings:
    """How it is recorded: `threads` and `batch` as typed, one number or several; `seconds` 0 for
    no time budget."""

    seconds: int | None
    threads: str
    batch: str
    shapes: str

    def options(self) -> list[str]:
        """The same for `fusescope collect`, as far as it is not what that takes by itself."""
        told = [*(("--seconds", str(self.seconds)) if self.seconds else ())]
        for name, value in (("--threads", self.threads), ("--batch", self.batch)):
            told += [name, value.replace(" ", "")] if value.strip() else []
        for shape in filter(None, (one.strip() for one in self.shapes.split(";"))):
            told += ["--shape", shape]
        return told


def choose(has_sizes: bool) -> Settings:
    """Sizes are those of an ONNX model."""
    seconds = st.segmented_control(
        say("Time budget"),
        list(BUDGETS),
        default=60,
        format_func=lambda seconds: panels.segment(BUDGETS[seconds].text()),
        key=state.language.told_choice("record_seconds"),
        required=True,
        help=say(
            "The number of rounds is reduced to fit. A large model may need longer for its first "
            "blocks."
        ),
        persist_state="session",
    )
    left, right = st.columns(2)
    several = say(
        "A number, or several with commas between them, as {example:name}: then every combination "
        "of batch size and threads is recorded, one after the other within the time budget, and "
        "shown on the {page} page.",
        example="1,4,16",
        page=say("Scaling"),
    )
    threads = left.text_input(
        say("Threads"),
        max_chars=_MAX_NUMBERS,
        placeholder=say("physical cores"),
        key="record_threads",
        help=several,
        persist_state="session",
    )
    if not has_sizes:
        return Settings(seconds, threads or "", "", "")
    batch = right.text_input(
        say("Batch size"),
        max_chars=_MAX_NUMBERS,
        placeholder=say("that of the model, else 1"),
        key="record_batch",
        help=several,
        persist_state="session",
    )
    with st.expander(say("More settings"), key="record_more"):
        shapes = st.text_input(
            say("Input shapes"),
            key="record_shapes",
            max_chars=2000,
            placeholder="input=1,3,224,224; mask=1,128",
            help=say(
                "Needed where the model leaves dimensions open. Write {example:name}, with a "
                "semicolon between inputs. An open first dimension needs no size: it is the batch "
                "size, else 1.",
                example="name=1,3,224,224",
            ),
            persist_state="session",
        )
    return Settings(seconds, threads or "", batch or "", shapes or "")
