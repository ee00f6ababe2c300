"""What a link asks to record, and what the Record page shows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping

import streamlit as st

from app.state.session import MAX_ID


def preset_recording(models: Container[str], is_variant: Callable[[str], bool]) -> None:
    """Set model and variants of the Record page as its address asks, once; others are ignored."""
    model, listed = (st.query_params.get(name) for name in ("model", "variants"))
    for name in ("model", "variants"):
        st.query_params.pop(name, None)
    if model is None or model not in models:
        return
    st.session_state["record_model"] = model
    asked = [name for name in (listed or "")[:MAX_ID].split(",") if is_variant(name)]
    if asked:
        choose_variants(asked)


def offer_rules(texts: Mapping[str, str]) -> None:
    """Rule files, by the names of their variants, that the Record page offers beside its own."""
    st.session_state["record_rules"] = dict(texts)


def offered_rules() -> dict[str, str]:
    """Texts of rule files by the names of their variants."""
    return dict(st.session_state.get("record_rules", {}))


def chosen_model() -> str:
    """The model that the Record page shows."""
    return str(st.session_state.get("record_model", ""))


def chosen_variants() -> tuple[str, ...]:
    """Those that the Record page shows."""
    return tuple(map(str, st.session_state.get("record_variants", ())))


def choose_variants(variants: Iterable[str]) -> None:
    """Before they are drawn, or in a callback: the variants that the Record page shows."""
    st.session_state["record_variants"] = list(variants)
