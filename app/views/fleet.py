"""The Fleet page: all ranks of a job, what is wrong with which, and a rank beside the median."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.table import ROW_HEIGHT, whole_height
from fusescope.app.parts.upload import files
from fusescope.app.sources import fleets, kept_fleets, loading
from fusescope.app.state.opened import Opened

TABLE = "fleet_ranks"
MAX_ROWS = 12  # that are shown without scrolling
_COMMANDS = "fusescope ingest traces/ --to ranks\nfusescope serve ranks"
_NAME_CHARS = 60
_RANK_WIDTH, _TOLD_WIDTH = 50, 250  # pixels; what is wrong stands beside its rank at 420, too
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
    told: list[object] = []
    for rank in ranks:
        own = [_SLOW.text(waited=slow[rank].waited_ns)] if rank in slow else []
        marks = [
            (_DIFFERS, rank in differing),
            (_LINKED, rank in linked),
            (_AWAITED, rank in found.awaited),
        ]
        told.append(", ".join([*own, *(mark.text() for mark, is_so in marks if is_so)]))
    longest = {wait.rank: wait for wait in reversed(found.waits)}
    waits: list[object] = [
        _WAITS.text(ns=longest[rank].ns, rank=longest[rank].awaited) if rank in longest else ""
        for rank in ranks
    ]
    columns: dict[str, list[object]] = {
        say("rank"): list(ranks),
        say("what is wrong"): told,
        say("longest wait"): waits,
    }
    if found.stages.count > 1:
        columns[say("pipeline stage")] = [found.stages.of.get(rank or 0) for rank in ranks]
    for part in _PARTS:
        columns[PARTS[part].text()] = [
            units.duration(getattr(splits[rank], part)) if rank in splits else units.MISSING
            for rank in ranks
        ]
    st.subheader(say("Ranks"), anchor=False)
    st.caption((_HINT if found.stages.count == 1 else _HINT_STAGES).text())
    key = f"{TABLE}_{hashlib.sha256(repr(ranks).encode()).hexdigest()[:12]}"
    st.dataframe(
        pd.DataFrame(columns),
        key=key,
        hide_index=True,
        height=whole_height(min(len(ranks), MAX_ROWS)),
        row_height=ROW_HEIGHT,
        column_config={
            say("rank"): st.column_config.NumberColumn(width=_RANK_WIDTH),
            say("what is wrong"): st.column_config.TextColumn(width=_TOLD_WIDTH),
        },
        on_select="rerun",
        selection_mode="single-row",
        alt=say("Ranks"),
    )
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
    of = found.stages.of
    rows = [
        {
            **({say("pipeline stage"): split.stage} if found.stages.count > 1 else {}),
            say("ranks"): ranks_text([rank for rank in of if of[rank] == split.stage]),
            **{PARTS[part].text(): units.duration(getattr(split, part)) for part in _PARTS},
        }
        for split in found.by_stage
    ]
    _table(rows, TITLES["split"])


def _links(found: Examined) -> None:
    if not found.transfers:
        return
    _title("transfers")
    rows = [
        {
            say("collective"): KINDS[one.kind].text(),
            say("ranks"): one.size,
            say("data"): units.data_size(one.bytes),
            say("process groups"): one.groups,
            say("transfer"): units.duration(one.transfer_ns),
            say("waiting"): units.duration(one.wait_ns),
            say("skew"): units.duration(one.skew_ns),
            say("bus bandwidth"): units.bandwidth(one.bandwidth and one.bandwidth / 1e9),
        }
        for one in found.transfers
    ]
    _table(rows, TITLES["transfers"])


def _outliers(found: Examined) -> None:
    if not found.outliers:
        return
    _title("outliers")
    names = short_names((one.name for one in found.outliers), _NAME_CHARS)
    rows = [
        {
            say("operator"): names[one.name],
            say("rank"): one.rank,
            say("call"): units.duration(one.each_ns),
            say("median"): units.duration(one.median_ns),
            say("change"): units.percent(one.change, signed=True),
            say("deviations"): units.small_number(one.score),
            say("all executions of a step"): units.duration(
                one.total_ns / max(1, found.steps), signed=True
            ),
        }
        for one in found.outliers
    ]
    _table(rows, TITLES["outliers"])


def _table(rows: list[dict[str, object]], alt: Message) -> None:
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height=whole_height(min(len(rows), MAX_ROWS)),
        row_height=ROW_HEIGHT,
        alt=alt.text(),
    )


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
