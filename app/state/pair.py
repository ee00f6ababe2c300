"""The pair that is compared, which the address holds, and the runs of files without marks."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.side import Role
from fusescope.app.state.session import GROUP, link, link_all, linked_id, linked_number, session

SIDES: tuple[Role, Role] = ("baseline", "candidate")
_RUNS_DIGITS = 6


def compared() -> tuple[str | None, str | None]:
    """Ids of baseline and candidate: from the address, else what this session compared last.

    None where neither says; an id is any printable text, so whoever looks it up must check it.
    """
    if not any(st.query_params.get(side) for side in SIDES):
        return session().pair
    baseline, candidate = map(linked_id, SIDES)
    return baseline, candidate


def linked_query() -> dict[str, list[str]]:
    """Return the query of the address where it names a side to compare; empty where it does not."""
    if not any(st.query_params.get(side) for side in SIDES):
        return {}
    return {name: st.query_params.get_all(name) for name in st.query_params}


def compare(baseline: str | None, candidate: str | None) -> None:
    """Put what is compared into the address, which the page follows on its next run."""
    kept = session()
    linked: dict[str, str | None] = dict(zip(SIDES, (baseline, candidate), strict=True))
    if kept.pair not in ((None, None), (baseline, candidate)):
        linked[GROUP] = None  # a number means another group there
        linked |= {_runs_param(side): None for side in SIDES}  # the runs of another file
        if not {baseline, candidate} <= {*kept.several}:
            kept.several = ()  # chosen for another pair
    kept.pair = (baseline, candidate)
    link_all(linked)


def keep_compared(baseline: str | None, candidate: str | None) -> None:
    """What the Compare page shows when it is opened, which this page is not."""
    session().pair = (baseline, candidate)


def set_selectors(baseline: str | None, candidate: str | None) -> None:
    """Before the selectors are drawn: what they show. Both must be among their options.

    Set in every run: a key's value is what another page's selector showed, and the one of this
    page, which is new, would take its first option in spite of it.
    """
    for side, value in zip(SIDES, (baseline, candidate), strict=True):
        st.session_state[selector_key(side)] = value


def replace_files(old: str, new: str | None) -> None:
    """Ids of the file `old` are of the file `new` now; with None they are compared no more."""

    def follow(id_: str | None) -> str | None:
        if id_ is None or not is_of(id_, old):
            return id_
        return new and new + id_[len(old) :]

    pair = [follow(id_) for id_ in session().pair]
    if tuple(pair) == session().pair:
        return
    if None in pair and new is None:
        pair = [None, None]
    compare(*pair)


def is_of(id_: str, file: str) -> bool:
    """Return True for the id of a file, and of a variant or process in it."""
    return f"{id_}/".startswith(f"{file}/")


def swap() -> None:
    """Exchange baseline and candidate."""
    baseline, candidate = compared()
    compare(candidate, baseline)


def picked(side: str) -> None:
    """The selector of `side` was used: follow it, and leave the other side as it is."""
    sides: dict[str, str | None] = dict(zip(SIDES, compared(), strict=True))
    compare(**{**sides, side: st.session_state.get(selector_key(side))})


def selector_key(side: str) -> str:
    """Widget key of the selector of `side`."""
    return f"choose_{side}"


def assume(assumed: Assumptions, pair: tuple[str | None, str | None]) -> None:
    """Before the settings are drawn: what they hold, and the runs of both files of the pair."""
    values = {
        "tau_us": assumed.tau_ns and assumed.tau_ns / 1e3,
        "cache_kib": assumed.cache_bytes and assumed.cache_bytes / 1024,
        "peak_gflops": assumed.peak_flops_per_s and assumed.peak_flops_per_s / 1e9,
        "bandwidth_gbs": assumed.bandwidth_bytes_per_s and assumed.bandwidth_bytes_per_s / 1e9,
    }
    for key, value in values.items():
        st.session_state[key] = value
    for id_, runs in zip(pair, assumed.runs, strict=True):
        if id_ is not None and runs is not None:
            enter_runs(id_, runs)


def assumed(key: str, least: float, most: float) -> float | None:
    """Return what the setting `key` holds, or the address where its field is not drawn yet; None
    where that is nothing, or none of its values."""
    value = st.session_state.get(key, st.query_params.get(key))
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError):
        return None
    return number if number is not None and least <= number <= most else None


def entered_runs(baseline: str, candidate: str) -> tuple[int | None, int | None]:
    """How many runs these two hold, as entered here or in the address, which then says so."""
    kept = session().entered_runs
    found: list[int | None] = []
    for side, id_ in zip(SIDES, (baseline, candidate), strict=True):
        linked = linked_number(_runs_param(side), _RUNS_DIGITS)
        if id_ not in kept and linked:
            kept[id_] = linked
        runs = kept.get(id_)
        found.append(runs)
        link(_runs_param(side), None if runs is None else str(runs))
    return found[0], found[1]


def enter_runs(id_: str, runs: int | None) -> None:
    """Keep how many runs a file holds, None to forget it; the page follows on its next run."""
    kept = session().entered_runs
    kept.pop(id_, None)
    for side, of in zip(SIDES, session().pair, strict=True):
        if of == id_:
            st.query_params.pop(_runs_param(side), None)
    if runs is not None:
        kept[id_] = runs


def _runs_param(side: str) -> str:
    return f"{side}_runs"
