"""The pair that is compared: selectors, files, links, and what to do while a side is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.messages import Message, paragraph, say
from fusescope.analysis.wording import shown as words
from fusescope.app import state
from fusescope.app.parts import panels, ticks
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.upload import files as opened_files
from fusescope.app.parts.work import work_of_pair
from fusescope.app.server.same_origin import is_local
from fusescope.app.sources import choices, comparisons, loading, sides
from fusescope.app.sources.choices import Pair
from fusescope.app.sources.comparisons import Shown

_SIDES = {"baseline": Message("Baseline"), "candidate": Message("Candidate")}
_WIDTHS = (2.6, 1)
_SELECTORS = (1.25, 1)  # the button that swaps them stands beside the first


@dataclass(frozen=True)
class Chosen:
    """Ids of both sides, and where the page goes on: the wide column and the one beside it."""

    baseline: str
    candidate: str
    main: DeltaGenerator
    side: DeltaGenerator

    def compare(self, assumptions: Assumptions) -> Shown | None:
        """The comparison of both sides, with a spinner in the wide column while it is made; None
        where the file of one ends early, which that column says then."""
        runs = state.pair.entered_runs(self.baseline, self.candidate)
        assumptions = replace(assumptions, runs=runs)
        uploads_ = any(loading.is_upload(id_) for id_ in (self.baseline, self.candidate))
        private = uploads_ and not is_local()
        with self.main, st.spinner(words.comparing_sentence()):
            pair = loading.pair(self.baseline, self.candidate, state.files.opened())
            if panels.end_early(pair):
                return None
            assumptions = replace(assumptions, work=work_of_pair(pair))
            return comparisons.compare(*pair, assumptions, private=private)


def choose(trace_page: st.Page, others: Mapping[Shows, StreamlitPage]) -> Chosen | None:
    """Draw the selectors and the uploader; None when there is nothing to compare, which it says,
    with the way to the `trace_page` where one side is there. A single trace that was just opened
    leads to that page, what another page shows to that one of `others`."""
    is_new = not state.session.is_greeted()
    opening.follow({**others, "trace": trace_page}, is_compared_here=True)
    pair, gone = _asked(is_new)
    baseline, candidate = pair
    is_whole = gone is None and None not in pair
    # A note on other files, as of those closed to make room, is not a refusal.
    given = [fate for fate in state.files.fates() if fate.read is not None]
    refused = bool(given) and not any(fate.read for fate in given)
    # On a narrow page columns follow each other: files are opened above the verdict there, too.
    head, files = st.columns(
        _WIDTHS, gap="medium", vertical_alignment="bottom" if is_whole else "top"
    )
    main, side = st.columns(_WIDTHS, gap="medium")
    with head:
        labels = _choose(pair)
    with main if is_whole else head:  # beside the uploader there is room for it
        below = st.container(gap="xsmall")  # its place is kept, so nothing else is drawn anew
        # Emptied at once: the note must not stand above the verdict of the user's own files.
        of_sample = below.empty()
    with files:
        opened_files.show(gone, below, side, folded=is_whole)
        ticks.show(pair)
    # What is to be heeded has the width of the sentences: at the side it would hold all below down.
    with side if opened_files.has_nothing_to_heed() else below:
        opened_files.show_fates(labels if refused and is_whole else ())
    if gone is not None or baseline is None or candidate is None:
        with main:
            _nothing(pair, gone)
            alone = next(filter(None, pair), None)
            if gone is None and alone is not None:
                st.page_link(
                    trace_page,
                    label=say("See where its time goes, and what limits it"),
                    icon=":material/query_stats:",
                    query_params={"trace": alone},
                )
        return None
    sample = words.sample_sentence(choices.is_sample(baseline), choices.is_sample(candidate))
    if sample:
        with of_sample.container():
            panels.note(sample, ":gray[:material/science:]")
    return Chosen(baseline, candidate, main, side)


def _asked(is_new: bool) -> tuple[Pair, str | None]:
    """Ids to compare, all of which can be chosen, and an upload that a link names in vain.

    A session that `is_new` reads files below the folders again: they may have changed.
    """
    asked = state.pair.compared()
    of_several = any(side and sides.is_several(side) for side in asked)
    for id_ in (one for side in asked if side for one in sides.members(side)):
        known_files = {} if is_new else state.files.opened()
        read, told = loading.open_link(id_, known_files, is_one_of_several=of_several)
        told += loading.closed(state.files.remember(read))
        if told:
            state.files.tell(told)
        file = loading.opened_as(id_, state.files.opened())
        if file is not None:
            state.files.use(file.id)
    known = {choice.id for choice in _choices(asked)}
    missing = [
        one
        for id_ in asked
        if id_ and id_ not in known
        for one in sides.members(id_) or (id_,)
        if one not in known
    ]
    first, second = (id_ if id_ in known else None for id_ in asked)
    pair: Pair = (first, second)
    gone = next(filter(loading.is_upload, missing), None)
    if gone is not None:
        return pair, gone
    if missing and not state.files.fates():
        state.files.tell([loading.NOT_HERE])
    if pair == (None, None):
        pair = choices.first_pair()
    state.pair.compare(*pair)
    return pair, None


def _choices(pair: Pair) -> tuple[choices.Choice, ...]:
    """What can stand on a side, and the sides of several files that are asked for."""
    return choices.with_several(choices.choices(state.files.opened(), pair), pair)


def _choose(pair: Pair) -> tuple[str, ...]:
    """The two selectors and the button that swaps them; the labels of the pair are returned."""
    labels = {choice.id: choice.label for choice in _choices(pair)}
    state.pair.set_selectors(*pair)
    first, right = st.columns(_SELECTORS, vertical_alignment="bottom", gap="xsmall")
    left = first.container(horizontal=True, vertical_alignment="bottom", gap="xsmall")
    for column, side in ((left, "baseline"), (right, "candidate")):
        column.selectbox(
            _SIDES[side].text(),
            list(labels),
            index=None if None in pair else 0,  # None could be cleared again
            format_func=lambda id_: labels.get(id_, ""),
            key=state.pair.selector_key(side),
            on_change=state.pair.picked,
            args=(side,),
            placeholder=say("Choose one, or open a file"),
        )
    left.button(
        say("Swap"),
        key="swap",
        help=say("Swap baseline and candidate"),
        on_click=state.pair.swap,
        disabled=None in pair,
    )
    return tuple(labels.get(id_ or "", "") for id_ in pair)


def _nothing(pair: Pair, gone: str | None) -> None:
    """What to do where there is nothing to show."""
    if gone is not None:
        own = is_local()
        st.subheader(
            say("This link leads to an upload that is no longer here")
            if own
            else say("This link leads to a file of another browser tab"),
            anchor=False,
        )
        stay = (
            paragraph(say("Uploads stay until the dashboard ends."), loading.keeps())
            if own
            else say("Uploads stay with the tab that opened them, until it is closed or reloaded.")
        )
        again = say(
            "Open the same file again and the comparison appears here, or choose another file."
        )
        st.markdown(panels.own(paragraph(stay, again)))
    elif pair == (None, None):
        st.subheader(say("Nothing to compare yet"), anchor=False)
        st.markdown(
            panels.own(
                say(
                    "Open two profiles or an experiment, or record a model on the {page} page.",
                    page=say("Record"),
                )
            )
        )
    else:
        title = (
            say("Choose a baseline to compare with")
            if pair[0] is None
            else say("Choose a candidate to compare with")
        )
        st.subheader(title, anchor=False)
        st.markdown(say("Open the other profile of the same model, or choose one in the list."))
