"""What pages other than Compare show, and several sides on Compare: the address holds it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from fusescope.app.state.folds import OPEN
from fusescope.app.state.pair import SIDES
from fusescope.app.state.session import LANGUAGE, MAX_ID, linked_id, session

TRACE_KEY = "choose_trace"
SEVERAL_KEY = "choose_several"
SEVERAL_BASELINE_KEY = "choose_several_baseline"
SWEEP_KEY = "choose_sweep"
FLEET_KEY = "choose_fleet"
HISTORY_KEY = "choose_history"
ENGINES_KEY = "choose_engines"
SEVERAL_FOLD = "several"
_TRACE = "trace"
_SEVERAL = "variant"
_SWEEP = "sweep"
_RECIPE = "recipe"
_FLEET = "fleet"
_HISTORY = "releases"
_ENGINES = "engines"
_MAX_SEVERAL = 64
_MAX_RECIPE = 60


def traced() -> str | None:
    """Id of what the Trace page shows: from the address, else what this session showed last.

    It may be any printable text, so whoever looks it up must check it.
    """
    return linked_id(_TRACE) or session().traced


def trace(id_: str | None) -> None:
    """Put what the Trace page shows into the address.

    Always: a link inside a page hands over its query but leaves the browser's address alone.
    """
    session().traced = id_
    if id_ is None:
        st.query_params.pop(_TRACE, None)
    else:
        st.query_params[_TRACE] = id_


def show_traced(id_: str | None) -> None:
    """Before its selector is drawn: what it shows."""
    st.session_state[TRACE_KEY] = id_


def pick_traced() -> None:
    """The selector of the Trace page was used."""
    trace(st.session_state[TRACE_KEY])


def linked() -> dict[str, str | list[str]]:
    """Return the query of the address."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def linked_several() -> tuple[str, ...]:
    """Return the ids of several sides in the address, the baseline first.

    They may be any printable text, so whoever looks them up must check them."""
    linked = st.query_params.get_all(_SEVERAL)[:_MAX_SEVERAL]
    asked = [id_ for id_ in linked if len(id_) <= MAX_ID and id_.isprintable()]
    return tuple(dict.fromkeys(asked))


def several() -> tuple[str, ...]:
    """Return the ids of several sides, the baseline first: from the address, else what this session
    chose last. They may be any printable text."""
    return linked_several() or session().several


def compare_several(ids: Iterable[str]) -> None:
    """Put several sides into the address, the baseline first.

    Always: a link inside a page hands over its query but leaves the browser's address alone.
    """
    session().several = tuple(ids)
    st.query_params[_SEVERAL] = list(session().several)


def keep_several(ids: Iterable[str]) -> None:
    """Keep what is shown of several sides where the address asks for none."""
    session().several = tuple(ids)


def several_query(ids: Sequence[str], best: str = "") -> dict[str, str | list[str]]:
    """Return the query of an address that shows these, the first with `best`, else the second."""
    candidate = ids[1] if best in ("", ids[0]) else best
    baseline, other = SIDES
    pair: dict[str, str | list[str]] = {baseline: ids[0], other: candidate}
    return {**pair, _SEVERAL: list(ids), SEVERAL_FOLD: OPEN}


def show_several(ids: Sequence[str]) -> None:
    """Before the selectors of several sides are drawn: what they show."""
    st.session_state[SEVERAL_KEY] = list(ids)
    st.session_state[SEVERAL_BASELINE_KEY] = next(iter(ids), None)


def pick_several() -> None:
    """The selector of variants was used: the baseline stays in front while it is among them."""
    chosen = [str(id_) for id_ in st.session_state[SEVERAL_KEY]]
    front = [id_ for id_ in (st.session_state[SEVERAL_BASELINE_KEY],) if id_ in chosen]
    compare_several([*front, *(id_ for id_ in chosen if id_ not in front)])


def pick_several_baseline() -> None:
    """The selector of the baseline was used."""
    first = st.session_state[SEVERAL_BASELINE_KEY]
    chosen = [str(id_) for id_ in st.session_state[SEVERAL_KEY]]
    compare_several([first, *(id_ for id_ in chosen if id_ != first)])


def swept() -> str | None:
    """Key of the sweep that the Scaling page shows: from the address, else what this session showed
    last. It may be any printable text."""
    return linked_id(_SWEEP) or session().swept


def sweep_query(key: str) -> dict[str, str]:
    """The query of an address of the Scaling page that shows this."""
    return {_SWEEP: key}


def sweep(key: str) -> None:
    """Put what the Scaling page shows into the address, and into its selector, before it is
    drawn."""
    session().swept = key
    st.query_params[_SWEEP] = key
    st.session_state[SWEEP_KEY] = key


def pick_sweep() -> None:
    """The selector of the Scaling page was used."""
    key = st.session_state[SWEEP_KEY]
    session().swept = key
    st.query_params[_SWEEP] = key


def engines() -> str | None:
    """Key of the recordings that the Engines page shows: from the address, else what this session
    showed last. It may be any printable text."""
    return linked_id(_ENGINES) or session().engines


def engines_query(key: str) -> dict[str, str]:
    """The query of an address of the Engines page that shows this."""
    return {_ENGINES: key}


def keep_engines(key: str) -> None:
    """Put the recordings that are shown into the address, and into its selector, before it is
    drawn."""
    session().engines = key
    st.query_params[_ENGINES] = key
    st.session_state[ENGINES_KEY] = key


def pick_engines() -> None:
    """The selector of the Engines page was used."""
    key = st.session_state[ENGINES_KEY]
    session().engines = key
    st.query_params[_ENGINES] = key


def fleet() -> str | None:
    """Name of the store that the Fleet page shows, from the address. It may be any printable
    text."""
    return linked_id(_FLEET)


def fleet_query(name: str) -> dict[str, str]:
    """Return the address of the Fleet page that shows this store."""
    return {_FLEET: name}


def keep_fleet(name: str) -> None:
    """Put the store that is shown into the address, and into its selector, before it is drawn."""
    st.query_params[_FLEET] = name
    st.session_state[FLEET_KEY] = name


def pick_fleet() -> None:
    """The selector of stores was used."""
    st.query_params[_FLEET] = st.session_state[FLEET_KEY]


def history() -> str | None:
    """Name of the file that the Releases page shows, from the address. It may be any printable
    text."""
    return linked_id(_HISTORY)


def history_query(name: str) -> dict[str, str]:
    """Return the query of an address of the Releases page that shows this file."""
    return {_HISTORY: name}


def keep_history(name: str) -> None:
    """Put the file that is shown into the address, and into its selector, before it is drawn."""
    st.query_params[_HISTORY] = name
    st.session_state[HISTORY_KEY] = name


def pick_history() -> None:
    """The selector of files of releases was used."""
    st.query_params[_HISTORY] = st.session_state[HISTORY_KEY]


def recipe() -> str | None:
    """Name of the recipe in the address; None for all of them.

    It is any printable text, so whoever looks it up must check it.
    """
    linked = st.query_params.get(_RECIPE, "")
    return linked[:_MAX_RECIPE] if linked and linked.isprintable() else None


def keep_recipe(name: str | None) -> None:
    """Put the recipe that is shown into the address, None for all of them.

    Always: a link inside a page hands over its query but leaves the browser's address alone.
    """
    if name is None:
        spoken = {LANGUAGE: session().language} if session().language else {}
        st.query_params.from_dict(spoken)
    else:
        st.query_params[_RECIPE] = name


def recipe_query(name: str) -> dict[str, str]:
    """The query of an address that shows this recipe."""
    return {_RECIPE: name}
