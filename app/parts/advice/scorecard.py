"""What was predicted from the baseline alone, beside what the candidate measured."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message
from fusescope.analysis.wording import scorecard as words
from fusescope.app.parts import panels
from fusescope.app.parts.heads import NO_HEAD, Head, told
from fusescope.app.parts.table import Table


def show(comparison: Comparison) -> None:
    """The section; nothing where the pair is not one that can be predicted."""
    from fusescope.analysis.advice.scorecard import scorecard

    with panels.guarded():
        card = scorecard(comparison)
        if card is None:
            return
        title = words.SCORECARD_TITLE.text()
        st.subheader(title, anchor=False, help=told(words.SCORECARD_HELP))
        st.markdown(panels.own(words.scorecard_sentence(card)))
        if not card.scores:
            return
        scores = card.scores
        table = Table()
        named = Message("Op types of the pattern.")
        patterns = pd.Series([score.pattern for score in scores], dtype="object")
        table.text(Head(words.HEADS["pattern"]), patterns, named, 330)
        places = pd.Series([float(score.places) for score in scores])
        in_model = Message("Places in the model.")
        table.number(NO_HEAD, Head(words.HEADS["places"]), places, in_model, "%.0f")
        predicted = pd.Series([words.interval_text(score.predicted) for score in scores])
        modelled = Message("Modelled, of all places together.")
        table.text(Head(words.HEADS["predicted"]), predicted, modelled, 330)
        measured = pd.Series([score.measured_ns / 1e3 for score in scores])
        of_all = Message("Measured, of all places together.")
        table.number(NO_HEAD, Head(words.HEADS["measured"], "µs"), measured, of_all, "%.1f")
        table.draw("scorecard", title)
