"""The language of the pages: the one in the address, else the browser's, else English."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.resources import files
from typing import ParamSpec, TypeVar

import streamlit as st

from fusescope.analysis.messages import language, say
from fusescope.app import state

Given = ParamSpec("Given")
Made = TypeVar("Made")

_asset = files(__package__).joinpath("language.js")
_component = st.components.v2.component(
    "fusescope_language",
    js=_asset.read_text(encoding="utf-8"),
)


def start() -> None:
    """At the start of a run: follow the address, and speak its language."""
    state.language.follow()
    speak()


def speak() -> None:
    """Speak the language of this page in what runs from here on."""
    language.speak(state.language.chosen() or language.best(_locale()) or language.ENGLISH)


def spoken(tell: Callable[Given, Made]) -> Callable[Given, Made]:
    """`tell` in the language of this page: for a fragment, which runs without its page."""

    @functools.wraps(tell)
    def told(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        speak()
        return tell(*args, **kwargs)

    return told


def kept(tell: Callable[Given, Made]) -> Callable[Given, Made]:
    """`tell` in the language that is spoken now: for what another thread calls later."""
    code = language.current()

    @functools.wraps(tell)
    def told(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        with language.speaking(code):
            return tell(*args, **kwargs)

    return told


def notices() -> None:
    """What is odd about the language: the address has another, or the catalogue is damaged."""
    codes = language.languages()
    code = language.current()
    unknown = state.language.unknown()
    if unknown:
        st.info(
            say("The language in the address does not exist. Choose one of: {codes}.",
                codes=", ".join(codes)),
            icon=":material/translate:",
        )  # fmt: skip
    if language.is_damaged(code):
        st.warning(
            say("The catalogue of the language {code:name} is damaged: texts are in English.",
                code=code),
            icon=":material/translate:",
        )  # fmt: skip


def switch() -> None:
    """The switch between languages, in the header; nothing where there is one language. Where it
    stands, `server/first_style.css` says: with a style in its content, a page would load what reads
    HTML."""
    codes = language.languages()
    code = language.current()
    _component(key="language_page", data={"code": code})
    if len(codes) < 2:
        return
    state.language.show(code)
    with st.container(key="language_switch"):
        st.selectbox(
            say("Language"),
            codes,
            format_func=language.own_name,
            key=state.language.KEY,
            on_change=state.language.pick,
            label_visibility="collapsed",
            filter_mode=None,
        )


def _locale() -> str | None:
    """The browser's language; None where there is no browser."""
    return st.context.locale
