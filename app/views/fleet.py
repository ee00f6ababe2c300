"""The Fleet page: all ranks of a job, what is wrong with which, and a rank beside the median."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis import units
from fusescope.analysis.fleet.examined import Examined
from fusescope.analysis.messages import Message, Part, say
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.wording.fleet.bases import BASES, PARTS, TITLES, Question
from fusescope.analysis.wording.fleet.sentences import (
    KINDS,
    answer_sentences,
    ranks_text,
    state_sentences,
    text_of,
)
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.fleet import keeping
from fusescope.app.parts.heads import NO_HEAD, Head
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.table import NAME_CHARS, NAME_WIDTH, Table, whole_height, width_of
from fusescope.app.parts.upload import files
from fusescope.app.sources import fleets, kept_fleets, loading
from fusescope.app.state.opened import Opened

TABLE = "fleet_ranks"
MAX_ROWS = 12  # that are shown without scrolling
_COMMANDS = "fusescope ingest traces/ --to ranks\nfusescope serve ranks"
_NAME_CHARS = 60
# Pixels; what is wrong stands beside its rank at 420, too.
_RANK_WIDTH, _TOLD_WIDTH, _WAIT_WIDTH, _LEAST_WIDTH = 50, 250, 130, 90
_PARTS = ("step_ns", "computing_ns", "uncovered_ns", "free_ns")
_HINT = Message("A click on a rank compares it with a rank of median computing time.")
_HINT_STAGES = Message(
    "A click on a rank compares it with a rank of median computing time of its pipeline stage."
)
_WAITS = Message("{ns:duration} for rank {rank}")
_OPEN = Message("Open files: ranks {ranks} of one job")
_SLOW = Message("slow: the others wait {waited:duration} for it")
_DIFFERS, _LINKED = Message("other kernels"), Message("slow link")
_AWAITED = Message("others wait for it")


def show(compare_page: st.Page, shown_on: Mapping[Shows, StreamlitPage] | None = None) -> None:
    """Draw the page; two ranks are compared on the `compare_page`, and what is dropped and is no
    job leads to the page of `shown_on`."""
    with panels.page():
        opening.greet()
        others: dict[Shows, StreamlitPage] = {
            name: page for name, page in (shown_on or {}).items() if name != "fleet"
        }
        opening.follow({**others, "compare": compare_page}, is_compared_here=False)
        stores = kept_fleets.stores()
        opened = fleets.open_ranks(state.files.opened().values())
        if not stores and not opened:
            st.subheader(say("No ranks of a job are here"), anchor=False)
            st.markdown(
                say("Drop the traces of all ranks here, or read them into a store, and open that:")
            )
            panels.code(_COMMANDS)
            files.here()
            return
        name = _choose([*stores, *([fleets.OPEN] if opened else [])], list(opened))
        path = stores.get(name)
        if path is None:
            files.show_what_to_heed()
            keeping.show(opened)
        with panels.guarded(say("This store cannot be shown.")):
            with st.spinner(say("Looking at the ranks …")):
                found = fleets.load_open(opened) if path is None else fleets.load(path)
            _answers(found)
            rank = _ranks(found)
            if rank is not None:
                _compare(path, opened, found, rank, compare_page)
            _delays(found)
            _split(found)
            _links(found)
            _outliers(found)
            _formulas(found)
        if path is not None:
            keeping.removal(path)


def _choose(names: list[str], ranks: list[int]) -> str:
    """The store that is shown, or the `ranks` that are open."""
    asked = state.pages.fleet()
    shown = asked if asked in names else names[0]
    state.pages.keep_fleet(shown)
    of_open = _OPEN.text(ranks=ranks_text(ranks))
    if len(names) > 1:
        st.selectbox(
            say("Job"),
            names,
            key=state.pages.FLEET_KEY,
            on_change=state.pages.pick_fleet,
            format_func=lambda name: of_open if name == fleets.OPEN else name,
        )
    elif shown == fleets.OPEN:
        st.subheader(of_open, anchor=False)
    return shown


def _answers(found: Examined) -> None:
    """Draw what is wrong, what the first sentence emphasises as a headline; then what that rests
    on."""
    is_well = not (found.slow or found.links or found.stages.differing)
    colour = "gray" if is_well else "red"
    first_sentence, *others = answer_sentences(found)
    headline, following = _split_headline(first_sentence)
    st.subheader(panels.parts_text(headline, colour), anchor=False)
    for sentence in [following, *others] if following else others:
        st.markdown(panels.parts_text(sentence, colour))
    first, *rest = state_sentences(found)
    st.caption(panels.parts_text(first, "gray"))
    for sentence in rest:
        panels.note(text_of(sentence), ":orange[:material/warning:]")


def _split_headline(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return what a sentence emphasises at its beginning, and the rest as a sentence of its own;
    the whole and nothing where it begins with something else."""
    first, *rest = parts
    if first.role != "number" or not rest:
        return parts, ()
    text = rest[0].text.lstrip(" ,:，：")
    return (first,), (replace(rest[0], text=text[:1].upper() + text[1:]), *rest[1:])


def _ranks(found: Examined) -> int | None:
    """The table of ranks, those that were named first; the rank that was clicked."""
    slow = {one.rank: one for one in found.slow}
    differing = {one.rank for one in found.stages.differing}
    linked = {rank for link in found.links for rank in link.ranks}
    order = [*slow, *sorted(differing - set(slow))]
    order += [rank for rank in found.awaited if rank not in order]
    ranks = [*order, *(split.rank for split in found.by_rank if split.rank not in order)]
    splits = {split.rank: split for split in found.by_rank}
    told: list[str] = []
    for rank in ranks:
        own = [_SLOW.text(waited=slow[rank].waited_ns)] if rank in slow else []
        marks = [
            (_DIFFERS, rank in differing),
            (_LINKED, rank in linked),
            (_AWAITED, rank in found.awaited),
        ]
        told.append(", ".join([*own, *(mark.text() for mark, is_so in marks if is_so)]))
    longest = {wait.rank: wait for wait in reversed(found.waits)}
    waits = [
        _WAITS.text(ns=longest[rank].ns, rank=longest[rank].awaited) if rank in longest else ""
        for rank in ranks
    ]
    table = Table()
    _numbers(table, Head(Message("rank")), ranks, _RANK_WIDTH)
    table.text(Head(Message("what is wrong")), _column(told), "", _TOLD_WIDTH)
    table.text(Head(Message("longest wait")), _column(waits), "", _WAIT_WIDTH)
    if found.stages.count > 1:
        stages = [found.stages.of.get(rank or 0) for rank in ranks]
        _numbers(table, Head(Message("pipeline stage")), stages)
    for part in _PARTS:
        of_ranks = [getattr(splits[rank], part) if rank in splits else None for rank in ranks]
        _times(table, PARTS[part], of_ranks)
    st.subheader(say("Ranks"), anchor=False)
    st.caption((_HINT if found.stages.count == 1 else _HINT_STAGES).text())
    key = f"{TABLE}_{hashlib.sha256(repr(ranks).encode()).hexdigest()[:12]}"
    height = whole_height(min(len(ranks), MAX_ROWS))
    table.draw(key, say("Ranks"), height=height, on_select="rerun")
    picked = [line for line in state.table.picked_lines(key) if line < len(ranks)]
    return ranks[picked[0]] if picked else None


def _compare(
    path: Path | None,
    opened: Mapping[int, Opened],
    found: Examined,
    rank: int,
    compare_page: st.Page,
) -> None:
    """Opens the rank beside the median rank of its stage, on the Compare page."""
    other = fleets.median_rank(found, rank)
    if other is None:
        st.caption(say("There is no other rank to compare it with."))
        return
    if path is None:
        files = [opened[other], opened[rank]]
    else:
        files = [fleets.opened_rank(path, found, one) for one in (other, rank)]
        state.files.tell(loading.closed(state.files.remember(files)))
    query = {"baseline": files[0].id, "candidate": files[1].id}
    st.switch_page(compare_page, query_params=query)


def _title(question: Question) -> None:
    st.subheader(TITLES[question].text(), anchor=False, help=BASES[question].text())


def _delays(found: Examined) -> None:
    from fusescope.analysis.charts.delays import delays

    figure = delays(found.delays, panels.mark_colours())
    if figure is not None:
        _title("delays")
        panels.chart(figure, "fleet_delays", TITLES["delays"].text())


def _split(found: Examined) -> None:
    if not found.by_stage:
        return
    _title("split")
    of, stages, table = found.stages.of, found.by_stage, Table()
    if found.stages.count > 1:
        _numbers(table, Head(Message("pipeline stage")), [split.stage for split in stages])
    ranks = [ranks_text([rank for rank in of if of[rank] == split.stage]) for split in stages]
    width = width_of(ranks, least=_LEAST_WIDTH, most=_TOLD_WIDTH)
    table.text(Head(Message("ranks")), _column(ranks), "", width)
    for part in _PARTS:
        _times(table, PARTS[part], [getattr(split, part) for split in stages])
    _draw(table, "split")


def _links(found: Examined) -> None:
    shown, table = found.transfers, Table()
    if not shown:
        return
    _title("transfers")
    kinds = [KINDS[one.kind].text() for one in shown]
    width = width_of(kinds, least=_LEAST_WIDTH, most=_TOLD_WIDTH)
    table.text(Head(Message("collective")), _column(kinds), "", width)
    _numbers(table, Head(Message("ranks")), [one.size for one in shown])
    sizes = _column([one.bytes for one in shown]) / 1e3
    table.number(NO_HEAD, Head(Message("data"), "kB"), sizes, "", "%.0f")
    _numbers(table, Head(Message("process groups")), [one.groups for one in shown])
    _times(table, Message("transfer"), [one.transfer_ns for one in shown])
    _times(table, Message("mean wait"), [one.wait_ns for one in shown])
    _times(table, Message("skew"), [one.skew_ns for one in shown])
    rates = [one.bandwidth and one.bandwidth / 1e9 for one in shown]
    head = Head(Message("bus bandwidth"), "GB/s")
    table.number(NO_HEAD, head, _column(rates), "", "%.1f", units.three_digits)
    _draw(table, "transfers")


def _outliers(found: Examined) -> None:
    shown, table = found.outliers, Table()
    if not shown:
        return
    _title("outliers")
    names = short_names((one.name for one in shown), _NAME_CHARS)
    of_operators = _column([names[one.name] for one in shown])
    table.text(Head(Message("operator")), of_operators, "", NAME_WIDTH, NAME_CHARS)
    _numbers(table, Head(Message("rank")), [one.rank for one in shown])
    _times(table, Message("call"), [one.each_ns for one in shown])
    _times(table, Message("median"), [one.median_ns for one in shown])
    changes = _column([one.change for one in shown]) * 100
    table.number(NO_HEAD, Head(Message("change"), "%"), changes, "", "%+.1f")
    scores = _column([one.score for one in shown])
    table.number(NO_HEAD, Head(Message("deviations")), scores, "", "%.1f", units.small_number)
    steps = max(1, found.steps)
    sums = [one.total_ns / steps for one in shown]
    _times(table, Message("all executions of a step"), sums, "%+.1f")
    _draw(table, "outliers")


def _column(cells: Sequence[object]) -> pd.Series:
    return pd.Series(cells, dtype="object" if isinstance(cells[0], str) else "float64")


def _numbers(
    table: Table, head: Head, cells: Sequence[float | None], width: int | None = None
) -> None:
    values = _column(cells)
    table.number(NO_HEAD, head, values, "", "%.0f", units.count, width=width)


def _times(
    table: Table, label: Message, cells: Sequence[float | None], format_: str = "%.1f"
) -> None:
    table.number(NO_HEAD, Head(label, "µs"), _column(cells) / 1e3, "", format_)


def _draw(table: Table, question: Question) -> None:
    height = whole_height(min(len(table.frame), MAX_ROWS))
    table.draw(f"fleet_{question}", TITLES[question].text(), height=height)


def _formulas(found: Examined) -> None:
    """What the sentences above rest on."""
    asked: list[Question] = ["slow", "cause", "waits", "links", "differing"]
    if found.straggler_free is not None:
        asked.append("free")
    with st.expander(say("How each answer is found")):
        for question in asked:
            st.markdown(
                f"**{panels.own(TITLES[question].text())}.** {panels.own(BASES[question].text())}"
            )
