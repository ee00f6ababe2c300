"""The language of the page: the address holds it once it was chosen."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.messages import language
from fusescope.app.state.session import LANGUAGE, link, session

KEY = "language"
_MAX_LENGTH = 40


def follow() -> None:
    """Take the language of the address; where it has none, put the one chosen before into it."""
    kept = session()
    linked = st.query_params.get(LANGUAGE)
    if linked is None:
        link(LANGUAGE, kept.language or None)
        return
    code = language.best(linked[:_MAX_LENGTH])
    if code is None:
        kept.unknown_language = linked[:_MAX_LENGTH]
    kept.language = code or kept.language
    link(LANGUAGE, kept.language or None)


def chosen() -> str:
    """Code of the language that was chosen, here or in the address; '' for none."""
    return session().language


def unknown() -> str:
    """What the address asked for in vain, once; '' for nothing."""
    kept = session()
    asked, kept.unknown_language = kept.unknown_language, ""
    return asked


def show(code: str) -> None:
    """Before the switch is drawn: the language that it shows."""
    st.session_state[KEY] = code


def pick() -> None:
    """The switch was used: speak that language, and keep what other widgets hold.

    A browser knows an option by its text, which is another one from here on.
    """
    kept = session()
    kept.language = str(st.session_state[KEY])
    link(LANGUAGE, kept.language)
    for key in kept.told_choices & {str(key) for key in st.session_state}:
        st.session_state[key] = st.session_state[key]


def told_choice(key: str) -> str:
    """`key` itself, of a widget whose options are told: what is chosen outlives the language."""
    session().told_choices.add(key)
    return key
