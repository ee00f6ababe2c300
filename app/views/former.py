"""Addresses that no page has: they lead to the page, or the part of it, that they name."""

from __future__ import annotations

import streamlit as st

from fusescope.app import state
from fusescope.app.sources import choices


def start(home_page: st.Page) -> None:
    """Lead from the title of the landing page, which has no path, to that page."""
    st.switch_page(home_page, query_params=state.pages.linked())


def fusion(compare_page: st.Page) -> None:
    """Lead to the groups of the pair in the address."""
    _lead(compare_page, "groups", {})


def variants(compare_page: st.Page) -> None:
    """Lead to the sides in the address, of which a pair is compared."""
    known = {one.id for one in choices.choices(state.files.opened())}
    ids = [id_ for id_ in state.pages.linked_several() if id_ in known or _is_file(id_)]
    query = state.pages.several_query(ids) if len(ids) > 1 else {}
    _lead(compare_page, "several", query)


def _is_file(id_: str) -> bool:
    """Return True for what the page of a comparison opens, or asks for."""
    return id_.partition(":")[0] not in ("sample", "recorded", "engines", "recipe")


def _lead(page: st.Page, part: str, query: dict[str, str | list[str]]) -> None:
    state.folds.open_fold(part)
    st.switch_page(page, query_params={**state.pages.linked(), **query, part: state.folds.OPEN})
