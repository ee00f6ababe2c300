"""Cards of the landing page: what each example shows, as it was computed when it was made."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import streamlit as st

from fusescope.analysis.report.sample_card import FILE, Card, Cards
from fusescope.app.sources import examples, places
from fusescope.app.sources.examples import Example


@dataclass(frozen=True)
class Shown:
    """An example whose files are there, and its card."""

    example: Example
    card: Card


def shown() -> list[Shown]:
    """Return the examples that are there with their cards; none where the file of cards is not."""
    try:
        state = (places.SAMPLES / FILE).stat()
        known = _cards(str(places.SAMPLES / FILE), state.st_mtime_ns)
    except (OSError, msgspec.MsgspecError):
        return []
    return [
        Shown(example, known.cards[example.name])
        for example in examples.EXAMPLES
        if example.name in known.cards and all(map(_is_there, example.ids))
    ]


def _is_there(id_: str) -> bool:
    """Return True for an id whose file lies among the samples."""
    if id_.startswith(f"{examples.PREFIX}:"):
        return examples.path_of(id_) is not None
    return id_.partition(":")[2].partition("/")[0] in places.samples()


@st.cache_resource(max_entries=1, show_spinner=False)
def _cards(path: str, changed_ns: int) -> Cards:
    """Return the cards of the file as it is now."""
    with open(path, "rb") as file:
        return msgspec.json.decode(file.read(), type=Cards)
