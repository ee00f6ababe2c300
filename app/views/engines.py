"""The Engines page: one model, every engine that ran it, in one table."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis.compare.multiple.comparison import MAX_SIDES, MultipleComparison
from fusescope.analysis.messages import Message, listed, paragraph, say
from fusescope.analysis.wording import shown
from fusescope.analysis.wording.multiple import comparison as words
from fusescope.analysis.wording.multiple import engines as engine_words
from fusescope.app import state
from fusescope.app.parts import exports, panels, settings
from fusescope.app.parts.several import ENGINE_COLUMNS, engine_table, pareto_chart
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.upload import files
from fusescope.app.sources import choices, engines, loading, several
from fusescope.app.sources.engines import Recorded
from fusescope.app.state.pair import SIDES

_CHOSEN = (2.6, 1)
_COMMAND = "fusescope collect {model} --runtime onnxruntime,openvino"
_OF_FILE = "MODEL.onnx"
_BUILT_IN = "mobilenetv2"
_SET = Message("{model:name} · {engines} ({date:name})")
_APART_SET = Message(
    "{model:name} · {engines} ({n:count} recording)",
    "{model:name} · {engines} ({n:count} recordings)",
)


def show(compare_page: st.Page, shown_on: Mapping[Shows, StreamlitPage] | None = None) -> None:
    """Draw the page; two sides, and the timelines of all, are on the `compare_page`, and what is
    dropped and is not of several engines leads to the page of `shown_on`."""
    with panels.page():
        opening.greet()
        _follow(compare_page, shown_on or {})
        found = engines.recorded(state.files.opened())
        if not found:
            st.subheader(engine_words.NO_ENGINES.text(), anchor=False)
            st.markdown(say("Drop a recording of several engines here, or record one:"))
            panels.code(_COMMAND.format(model="MODEL"))
            files.here()
            return
        chosen = _choose(found)
        if len(chosen.engines) < 2:
            _alone(chosen)
            return
        ids = _sides(chosen)
        if len(ids) < 2:
            st.subheader(say("Choose two variants or files, or more"), anchor=False)
            return
        _show(chosen, ids, compare_page)


def _follow(compare_page: st.Page, shown_on: Mapping[Shows, StreamlitPage]) -> None:
    """Lead to the page that shows what was dropped here, unless that is this one."""
    others: dict[Shows, StreamlitPage] = {
        name: page for name, page in shown_on.items() if name != "compare"
    }
    destination = opening.follow(others, is_compared_here=False)
    if destination is None:
        return
    pair = [str(destination.query[side]) for side in SIDES if side in destination.query]
    key = engines.key_of(pair, state.files.opened()) if pair else None
    if key is None:
        st.switch_page(compare_page, query_params=destination.query)
    state.pages.keep_engines(key)


def _choose(found: dict[str, Recorded]) -> Recorded:
    asked = state.pages.engines()
    key = asked if asked in found else next(iter(found))
    state.pages.keep_engines(key)
    st.selectbox(
        say("Model"),
        list(found),
        format_func=lambda one: _label(found[one]) if one in found else "",
        key=state.pages.ENGINES_KEY,
        on_change=state.pages.pick_engines,
    )
    return found[key]


def _label(of: Recorded) -> str:
    names = listed(list(of.engines))
    if len(of.recordings) > 1:
        return _APART_SET.text(model=of.model, engines=names, n=len(of.recordings))
    date = of.recordings[0][1].created[:16].replace("T", " ")
    return _SET.text(model=of.model, engines=names, date=date)


def _command(of: Recorded) -> str:
    """What records several engines of this model."""
    if _is_of_own(of):
        return _COMMAND.format(model=_BUILT_IN)
    model = of.recordings[0][1].model
    return _COMMAND.format(model=model.name if model.source == "zoo" else _OF_FILE)


def _is_of_own(of: Recorded) -> bool:
    """Whether the model is not an ONNX model, but code written for an engine."""
    return of.recordings[0][1].model.opset is None


def _alone(of: Recorded) -> None:
    """How to record several engines, where one alone ran the model."""
    alone = engine_words.ONE_ENGINE_OF_OWN if _is_of_own(of) else engine_words.ONE_ENGINE
    told = alone.parts(engine=listed(list(of.engines)))
    st.subheader(panels.parts_text(told, "gray"), anchor=False)
    panels.code(_command(of))
    files.here()


def _sides(of: Recorded) -> tuple[str, ...]:
    """The selectors of variants and baseline; ids of what is chosen, the baseline first."""
    names = {id_: _variant_label(of, id_) for id_ in of.variants}
    left, right = st.columns(_CHOSEN, gap="medium", vertical_alignment="top")
    chosen = left.multiselect(
        say("Variants, up to {limit:count}", limit=MAX_SIDES),
        list(names),
        default=_first(of),
        format_func=lambda id_: names.get(id_, ""),
        key=f"engines_variants_{of.key}",
        max_selections=MAX_SIDES,
        placeholder=say("Choose two or more"),
        select_all=False,
        persist_state="session",
    )
    baseline = right.selectbox(
        say("Baseline"),
        chosen,
        format_func=lambda id_: names.get(id_, ""),
        key=f"engines_baseline_{of.key}",
        disabled=len(chosen) < 2,
        persist_state="session",
    )
    more = len(names) - len(chosen)
    if more > 0:
        st.caption(
            say(
                "{n:count} more recorded variant is not in this table.",
                "{n:count} more recorded variants are not in this table.",
                n=more,
            )
        )
    if baseline is None:
        return tuple(chosen)
    return (baseline, *(id_ for id_ in chosen if id_ != baseline))


def _first(of: Recorded) -> list[str]:
    """What is shown at first, with the two that were compared last where they are of it."""
    compared = [id_ for id_ in state.pair.compared() if id_ in of.variants]
    kept = compared if len(set(compared)) > 1 else []
    others = [id_ for id_ in of.first if id_ not in kept]
    shown_ = {*kept, *others[: MAX_SIDES - len(kept)]}
    return [id_ for id_ in dict.fromkeys((*of.first, *kept)) if id_ in shown_]


def _variant_label(of: Recorded, id_: str) -> str:
    """The variant behind its engine."""
    for prefix, record in of.recordings:
        name = id_.removeprefix(f"{prefix}/")
        if name != id_ and name in record.names:
            return f"{record.engine_of(name).name}:{record.own_name(name)}"
    return id_


def _show(of: Recorded, ids: tuple[str, ...], compare_page: st.Page) -> None:
    chosen = loading.several(ids, state.files.opened())
    main, side = st.columns(_CHOSEN, gap="medium")
    with side:
        tools = st.container(horizontal=True, horizontal_alignment="right", gap="xsmall")
    with tools:
        assumptions = settings.assumptions()
    with main:
        with st.spinner(shown.comparing_sentence()):
            uploads = any(map(loading.is_upload, ids))
            multiple = several.compare(chosen, assumptions, uploads=uploads)
        colour = "blue" if len(multiple.best.members) == 1 else "gray"
        st.header(panels.parts_text(words.best_parts(multiple), colour), anchor=False)
        if any(map(choices.is_sample, ids)):
            panels.sample_note()
        if apart := engine_words.apart_sentence(multiple, _command(of)):
            panels.note(apart, ":orange[:material/warning:]")
        panels.doubts(
            words.doubt_lines(multiple),
            words.doubts_counted_text(multiple),
            words.has_doubts(multiple),
        )
    with tools:
        exports.several_downloads(multiple)
    title = engine_words.ENGINES_TITLE.parts(model=of.model)
    st.subheader(panels.parts_text(title, "gray"), anchor=False, help=words.MULTIPLE_HELP.text())
    alt = say("Engines and their variants against the baseline, fastest first")
    engine_table(multiple).draw("engines_table", alt, max_rows=MAX_SIDES)
    st.caption(panels.own(words.measured_sentence(multiple, ENGINE_COLUMNS)))
    with st.expander(say("How this was measured"), key="engines_measured"):
        reading = engine_words.reading_sentences(multiple)
        st.text(paragraph(words.basis_sentences(multiple), reading))
    _links(multiple, ids, compare_page)
    pareto_chart(multiple, "engines_pareto")
    _comparing()


def _links(multiple: MultipleComparison, ids: tuple[str, ...], compare_page: st.Page) -> None:
    """The ways to any two of them, operator by operator, and to the timelines of all."""
    names = dict(zip(ids, (side.name for side in multiple.sides), strict=True))
    best = next((ids[at] for at in multiple.best.members if at), ids[1])
    baseline, candidate = state.pair.compared()
    if baseline in ids and candidate in ids and baseline != candidate:  # as Compare shows them
        best = str(candidate)
    else:
        baseline = ids[0]
    st.subheader(say("Two of them, operator by operator"), anchor=False)
    key = "|".join(ids)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        first = st.selectbox(
            say("Baseline"), ids, index=ids.index(str(baseline)),
            format_func=lambda id_: names.get(id_, ""),
            key=f"engines_first_{key}", width=260,
        )  # fmt: skip
        others = [id_ for id_ in ids if id_ != first]
        second = st.selectbox(
            say("Candidate"), others,
            index=others.index(best) if best in others else 0,
            format_func=lambda id_: names.get(id_, ""), key=f"engines_second_{key}_{first}",
            width=260,
        )  # fmt: skip
        st.page_link(
            compare_page, label=say("Compare these two"), icon=":material/compare_arrows:",
            query_params={"baseline": first, "candidate": second or others[0]},
        )  # fmt: skip
        st.page_link(
            compare_page, label=say("Timelines of all"), icon=":material/table_rows:",
            query_params=state.pages.several_query(ids, best),
        )  # fmt: skip


def _comparing() -> None:
    """Draw what compares between engines, and what does not."""
    with st.expander(panels.own(engine_words.COMPARES_TITLE.text()), key="engines_compare"):
        for line in engine_words.compares_lines():
            st.markdown(f"- {panels.own(line)}")
