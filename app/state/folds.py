"""The parts of a page behind titles: which are open stands in the address, by their key."""

from __future__ import annotations

import streamlit as st

from fusescope.app.state.session import session

OPEN = "true"  # of a part in the address


def open_fold(key: str) -> None:
    """Open the part `key` in the next run of the page, which brings it into view."""
    st.session_state[key] = True
    kept = session()
    kept.brought = (key, kept.brought[1] + 1)


def brought() -> tuple[str, int]:
    """Return the part that was opened last from elsewhere, and how many were in this session."""
    return session().brought
