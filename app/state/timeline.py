"""What timelines in the browser have asked for, and what they ask with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from fusescope.app.state.session import session


def asked(key: str) -> object:
    """The last question that came through the component `key`, as the browser sent it; None before
    the first."""
    state: Any = st.session_state.get(key) or {}
    return state.get("asked")


def ticket(new: Callable[[], str], is_known: Callable[[str], bool]) -> str:
    """The ticket of this tab for questions, a new one where it has none that is known."""
    kept = session()
    if not is_known(kept.timeline_ticket):
        kept.timeline_ticket = new()
    return kept.timeline_ticket
