"""What a timeline in the browser has asked for."""

from __future__ import annotations

from typing import Any

import streamlit as st


def asked(key: str) -> object:
    """The last question that came through the component `key`, as the browser sent it; None before
    the first."""
    state: Any = st.session_state.get(key) or {}
    return state.get("asked")
