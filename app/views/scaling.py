"""The Scaling page: one model over batch sizes and threads."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis import wording
from fusescope.analysis.charts.scaling import ACROSS, Across
from fusescope.analysis.compare.multiple.scaling import Scaling, ScalingPoint
from fusescope.analysis.messages import say
from fusescope.analysis.units import Column
from fusescope.analysis.wording.multiple import scaling as words
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.start import opening
from fusescope.app.parts.start.opening import Shows
from fusescope.app.parts.upload import files
from fusescope.app.sources import sweeps
from fusescope.app.sources.sweeps import Sweep

_COMMAND = "fusescope collect MODEL --batch 1,4,16 --threads 1,2"


def show(shown_on: Mapping[Shows, StreamlitPage]) -> None:
    """Draw the page; what is dropped and is no sweep leads to the page of `shown_on`."""
    with panels.page():
        opening.greet()
        others: dict[Shows, StreamlitPage] = {
            name: page for name, page in shown_on.items() if name != "scaling"
        }
        destination = opening.follow(others, is_compared_here=False)
        if destination is not None and "sweep" in destination.query:
            state.pages.sweep(str(destination.query["sweep"]))
        found = sweeps.sweeps(state.files.opened())
        if not found:
            st.subheader(say("No model was recorded with several settings"), anchor=False)
            st.markdown(say("Drop the files of such recordings here, or record one:"))
            panels.code(_COMMAND)
            files.here()
            return
        scaling = sweeps.load(_choose(found), state.files.opened())
        _show(scaling)


def _choose(found: dict[str, Sweep]) -> Sweep:
    asked = state.pages.swept()
    shown = asked if asked in found else next(iter(found))
    state.pages.sweep(shown)
    st.selectbox(
        say("Model"),
        list(found),
        format_func=lambda key: found[key].model if key in found else "",
        key=state.pages.SWEEP_KEY,
        on_change=state.pages.pick_sweep,
    )
    return found[shown]


def _show(scaling: Scaling) -> None:
    title = words.SCALING_TITLE.parts(model=scaling.model)
    st.header(panels.parts_text(title, "gray"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        variant = panels.switch(
            say("Variant"), scaling.variants, "scaling_variant", default=scaling.variants[-1]
        )
        variant = variant if variant in scaling.variants else scaling.variants[-1]
        across = _across(scaling.of(variant))
    st.text(words.best_sentence(scaling, variant))
    doubts = words.doubt_lines(scaling)
    panels.doubts(doubts, wording.doubts_counted(len(doubts)), bool(doubts))
    _charts(scaling.of(variant), across)
    _table(scaling.of(variant))
    st.caption(panels.own(words.SCALING_BASIS.text()))


def _across(points: tuple[ScalingPoint, ...]) -> Across:
    """Over what the pictures go: chosen where both vary."""
    kinds: list[Across] = [
        kind for kind in ("batch", "threads") if len({getattr(p, kind) for p in points}) > 1
    ]
    if len(kinds) < 2:
        return kinds[0] if kinds else "threads"
    chosen = panels.switch(
        say("Over"), kinds, "scaling_across", shown=lambda kind: _LABELS[kind].text()
    )
    return "threads" if chosen == "threads" else "batch"


_LABELS = {str(kind): label for kind, label in ACROSS.items()}


def _charts(points: tuple[ScalingPoint, ...], across: Across) -> None:
    from fusescope.analysis.charts.scaling import scaling as picture

    grid = st.grid(2, min_column_width=320, key="scaling_charts")
    for measure, label in words.LABELS.items():
        if measure == "speedup":  # the efficiency shows the same
            continue
        figure = picture(points, measure, across, panels.mark_colours())
        if figure is None:
            continue
        with grid.cell():
            text = label.text()
            title = panels.own(text[:1].upper() + text[1:])
            st.markdown(f"**{title}**", help=words.HELPS[measure].text())
            panels.chart(figure, f"scaling_{measure}", text)


def _table(points: tuple[ScalingPoint, ...]) -> None:
    """The same as a table, for reading and for readers of the screen."""
    columns: dict[str, list[object]] = {
        say("Batch size"): [words.batch_text(point) for point in points],
        say("Threads"): [point.threads for point in points],
    }
    for measure, label in words.LABELS.items():
        if all(words.value_of(point, measure) is None for point in points):
            continue
        head = label.text()
        unit = words.column_of_points(points, measure)
        columns[head[:1].upper() + head[1:]] = [_cell(point, measure, unit) for point in points]
    st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        alt=say("Figures of every setting"),
        height="content",
    )


def _cell(point: ScalingPoint, measure: words.Measure, unit: Column | None) -> str:
    value = words.value_text(point, measure, unit)
    interval = words.interval_text(point, measure, unit)
    return say("{value} ({interval})", value=value, interval=interval) if interval else value
