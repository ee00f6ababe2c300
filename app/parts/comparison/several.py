"""Up to eight variants or files against one baseline."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.likeness import like_these
from fusescope.analysis.compare.multiple.comparison import MAX_SIDES, MultipleComparison
from fusescope.analysis.compare.multiple.pareto import pareto
from fusescope.analysis.messages import Message, paragraph, say
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import shown
from fusescope.analysis.wording.multiple import comparison as words
from fusescope.analysis.wording.multiple.engines import reading_sentences
from fusescope.app import state
from fusescope.app.language import spoken
from fusescope.app.parts import exports, panels
from fusescope.app.parts.several import pareto_chart, several_table, steps
from fusescope.app.sources import choices, loading, several, sides

_CHOSEN = (2.6, 1)


def show(assumptions: Assumptions) -> None:
    """Draw the choice of sides and how they compare with the first of them."""
    ids = _choose()
    if len(ids) < 2:
        st.text(say("Choose two variants or files, or more"))
        return
    chosen = loading.several(ids, state.files.opened())
    if panels.end_early(chosen):
        return
    with st.spinner(shown.comparing_sentence()):
        uploads = any(map(loading.is_upload, ids))
        multiple = several.compare(chosen, assumptions, uploads=uploads)
    _answer(multiple)
    with st.container(horizontal=True, horizontal_alignment="right", gap="xsmall"):
        exports.several_downloads(multiple)
    _table(multiple)
    _why(multiple, ids)
    steps(multiple)
    pareto_chart(multiple, "pareto")
    _timelines(multiple, ids)


def _choose() -> tuple[str, ...]:
    """The selectors; ids of what is chosen, the baseline first."""
    asked = state.pages.several()
    for read, told in loading.open_links(asked, state.files.opened):
        for fate in [*told, *loading.closed(state.files.remember(read))]:
            panels.fate(fate)
    for id_ in (one for side in asked for one in sides.members(side)):
        file = loading.opened_as(id_, state.files.opened())
        if file is not None:
            state.files.use(file.id)
    ids = (*asked, *state.pair.compared())
    labels = {choice.id: choice.label for choice in choices.of_all(state.files.opened(), ids)}
    known = [id_ for id_ in asked if id_ in labels]
    if len(known) < len(asked):
        panels.fate(loading.NOT_HERE)
    if not known:
        known = [id_ for id_ in _first() if id_ in labels]
    if len(known) > MAX_SIDES:
        st.caption(
            say(
                "{n:count} are too many to compare at once: the first {limit:count} are shown.",
                n=len(known),
                limit=MAX_SIDES,
            )
        )
        known = known[:MAX_SIDES]
    state.pages.show_several(known)
    left, right = st.columns(_CHOSEN, gap="medium", vertical_alignment="top")
    left.multiselect(
        say("Variants or files, up to {limit:count}", limit=MAX_SIDES),
        list(labels),
        format_func=lambda id_: labels.get(id_, ""),
        key=state.pages.SEVERAL_KEY,
        max_selections=MAX_SIDES,
        on_change=state.pages.pick_several,
        placeholder=say("Choose two or more"),
        select_all=False,
    )
    right.selectbox(
        say("Baseline"),
        known,
        format_func=lambda id_: labels.get(id_, ""),
        key=state.pages.SEVERAL_BASELINE_KEY,
        on_change=state.pages.pick_several_baseline,
        disabled=len(known) < 2,
    )
    return tuple(known)


def _first() -> tuple[str, ...]:
    """What to show when nobody said what: the variants recorded with what is compared; of profiles
    both sides and the others that are open and like them, in groups where these are two or more;
    else the variants of the first sample."""
    pair = tuple(filter(None, state.pair.compared()))
    for id_ in pair:
        found = choices.together(id_, state.files.opened())
        if len(found) > 1:
            return found
    if pair:
        opened = state.files.opened().values()
        groups = sides.groups(opened)
        if len(groups) > 1 or any(map(sides.is_several, pair)):
            shown = [id_ for id_ in pair if sides.is_several(id_)]
            taken = {one for id_ in shown for one in sides.members(id_)}
            shown += [id_ for id_ in groups if taken.isdisjoint(sides.members(id_))]
            return tuple(shown)[:MAX_SIDES]
        return tuple(dict.fromkeys((*pair, *_like(pair))))[:MAX_SIDES]
    first = next(filter(None, choices.first_pair()), "")
    return choices.together(first, state.files.opened())


def _like(pair: tuple[str, ...]) -> list[str]:
    """Ids of the other open profiles that are like the two of a pair; none of other work, whose
    times say nothing beside theirs."""
    opened = state.files.opened()
    both = [loading.opened_as(id_, opened) for id_ in pair]
    named = [(one.name, one.value) for one in both if one and isinstance(one.value, Trace)]
    others = [file for file in sides.profiles(opened.values()) if file not in both]
    if len(named) != 2:
        return [file.id for file in others]
    traces = [(file.name, file.value) for file in others if isinstance(file.value, Trace)]
    return [others[at].id for at in like_these(named, traces)]


def _answer(multiple: MultipleComparison) -> None:
    colour = "blue" if len(multiple.best.members) == 1 else "gray"
    st.subheader(panels.parts_text(words.best_parts(multiple), colour), anchor=False)
    if lines := words.doubt_lines(multiple):
        panels.doubts(lines, words.doubts_counted_text(multiple), words.has_doubts(multiple))


def _table(multiple: MultipleComparison) -> None:
    title = panels.parts_text(words.MULTIPLE_TITLE.parts(baseline=multiple.baseline.name), "gray")
    st.subheader(title, anchor=False, help=words.MULTIPLE_HELP.text())
    alt = say("Variants against the baseline, fastest first")
    several_table(multiple, pareto(multiple)).draw("several_table", alt, max_rows=MAX_SIDES)
    st.caption(panels.own(words.bases_sentence(multiple)))
    with st.popover(say("How this was measured")):
        st.text(paragraph(words.basis_sentences(multiple), reading_sentences(multiple)))


def _why(multiple: MultipleComparison, ids: tuple[str, ...]) -> None:
    """Draw the way to where the fastest gains, operator by operator."""
    best = next(iter(multiple.best.members), 0)
    if best == 0:
        return
    names = {"best": multiple.sides[best].name, "baseline": multiple.baseline.name}
    if st.button(
        panels.parts_text(_WHY.parts(**names), "gray"),
        key="compare_fastest",
        icon=":material/compare_arrows:",
        on_click=state.pair.compare,
        args=(ids[0], ids[best]),
    ):
        st.rerun()  # of the whole page, which compares them


_WHY = Message("Compare {best:name} with {baseline:name} operator by operator")


@st.fragment
@spoken
def _timelines(multiple: MultipleComparison, ids: tuple[str, ...]) -> None:
    """A run of each side, one above the other on one scale."""
    from fusescope.app.parts.timeline import timeline

    with panels.guarded():
        st.subheader(say("Timelines of all"), anchor=False, help=words.TIMELINES_HELP.text())
        key = f"several:{'|'.join(ids)}"
        before = state.table.selected_row(key)
        row = timeline(several.drawing(multiple), selected=before, key="several_timelines")
        if row != before:
            state.table.select_row(key, row)
            st.rerun(scope="fragment")
