"""What a link asks to record, and what the Record page shows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import streamlit as st

from fusescope.analysis.experiment import Try
from fusescope.app.state.session import MAX_ID

_MODEL = "model"


def preset_recording(models: Container[str], is_variant: Callable[[str], bool]) -> None:
    """Set model and variants of the Record page as its address asks, once; others are ignored."""
    model, listed = (st.query_params.get(name) for name in (_MODEL, "variants"))
    for name in (_MODEL, "variants"):
        st.query_params.pop(name, None)
    if model is None or model not in models:
        return
    st.session_state["record_model"] = model
    st.session_state.pop("record_engine", None)  # variants are those of the usual one
    asked = [name for name in (listed or "")[:MAX_ID].split(",") if is_variant(name)]
    if asked:
        choose_variants(asked)
    else:
        st.session_state.pop("record_variants", None)


def ask(model: str) -> None:
    """Have the Record page show this model, with the variants that show its point."""
    st.query_params[_MODEL] = model


def query(model: str) -> dict[str, str]:
    """Return the query of an address of the Record page that shows this model."""
    return {_MODEL: model}


@dataclass(frozen=True)
class Offer:
    """What a page asks the Record page to try: `asked` beside `best` of the model, as the form
    names it, under the settings of the experiment that the findings are of. `sha256` is that of a
    file of one's own, '' for a model that is built in."""

    model: str
    best: str
    asked: tuple[Try, ...]
    threads: int | None = None
    batch: int | None = None
    shapes: str = ""
    sha256: str = ""
    input_ranges: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    spin: bool = False
    seed: int = 0


def offer(offered: Offer) -> None:
    """Before the Record page is drawn: what it offers and how it is set."""
    st.session_state["record_offer"] = offered
    for name, number in (("threads", offered.threads), ("batch", offered.batch)):
        st.session_state[f"record_{name}"] = "" if number is None else str(number)
    st.session_state["record_shapes"] = offered.shapes


def start_on_arrival() -> None:
    """Have the Record page start what it is offered as soon as it is drawn, once."""
    st.session_state[_STARTS] = True


def starts_on_arrival() -> bool:
    """Return True while the Record page has to start what it is offered."""
    return bool(st.session_state.get(_STARTS))


def started() -> None:
    """It has been started, or could not be: a later visit starts nothing."""
    st.session_state.pop(_STARTS, None)


_STARTS = "record_starts_on_arrival"


def offered() -> Offer | None:
    """What was offered last; None before."""
    found = st.session_state.get("record_offer")
    return found if isinstance(found, Offer) else None


def chosen_model() -> str:
    """The model that the Record page shows."""
    return str(st.session_state.get("record_model", ""))


def chosen_engine(among: Sequence[str]) -> str:
    """The engine that the Record page shows, of those that can run the model; the first else."""
    chosen = str(st.session_state.get("record_engine", ""))
    return chosen if chosen in among else among[0]


def chosen_engines(among: Sequence[str], first: Sequence[str]) -> tuple[str, ...]:
    """Those that the Record page shows for one recording, of those that can be in it; `first`
    before one was chosen."""
    chosen = st.session_state.get("record_engines")
    return tuple(first) if chosen is None else tuple(name for name in chosen if name in among)


def chosen_variants() -> tuple[str, ...]:
    """Those that the Record page shows."""
    return tuple(map(str, st.session_state.get("record_variants", ())))


def choose_variants(variants: Iterable[str]) -> None:
    """Before they are drawn, or in a callback: the variants that the Record page shows."""
    st.session_state["record_variants"] = list(variants)
