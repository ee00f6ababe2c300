"""What was tried beside the best variant: predicted, measured, and whether it is kept."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis.advice.tried import kept, tried
from analysis.experiment import ExperimentRecord
from analysis.messages import Message, say
from analysis.report.text import slug
from analysis.wording import tried as words
from app.parts import panels
from app.parts.heads import Head, told
from app.parts.table import Table
from app.recording import tries

_ROW_HEIGHT = 88  # four lines of text
_LABELS = {".toml": Message("Rule file of what is kept"), ".py": Message("Script of what is kept")}
_HELP = {
    ".toml": Message("For {command:name}: it writes the fused model."),
    ".py": Message("It opens the model in ONNX Runtime as the kept variant runs it."),
}


def show(record: ExperimentRecord, stem: str) -> None:
    """The section; nothing of a recording that was made for no tries. Downloads are called
    `stem`."""
    with panels.guarded():
        results = tried(record)
        if not results:
            return
        best = record.settings.baseline
        title = panels.parts_text(words.TITLE.parts(best=best), "gray")
        st.subheader(title, anchor=False, help=told(words.TITLE_HELP))
        st.text(words.conclusion(results, best))
        table = Table()
        for head, help_, width, cells in (
            ("variant", Message("The variant that was recorded."), 150,
             [one.remedy.variant for one in results]),
            ("finding", Message("The finding that asks for it."), 150,
             [words.finding_text(one) for one in results]),
            ("predicted", Message("Modelled, before it was recorded."), 200,
             [words.predicted_text(one) for one in results]),
            ("measured", Message("Measured, un-profiled, beside the best."), 200,
             [words.measured_text(one) for one in results]),
            ("outcome", Message("The verdict, the outputs, and whether it is kept."), 480,
             [" ".join(words.outcome_lines(one, best)) for one in results]),
        ):  # fmt: skip
            column = pd.Series(cells, dtype="object")
            table.text(Head(words.HEADS[head]), column, help_, width)
        alt = say("What was tried, predicted and measured")
        table.draw("tried", alt, row_height=_ROW_HEIGHT)
        st.caption(panels.parts_text(words.NOTES.parts(best=best), "gray"))
        files = tries.kept_files(record, results)
        if ".py" not in files:
            one = kept(results)
            st.text(words.no_script_text(best if one is None else one.remedy.variant))
        with st.container(horizontal=True, gap="small"):
            for suffix, text in files.items():
                st.download_button(
                    _LABELS[suffix].text(),
                    text.encode(),
                    file_name=f"{slug(stem)}{suffix}",
                    mime="text/plain",
                    on_click="ignore",
                    key=f"download_kept{suffix}",
                    help=panels.own(_HELP[suffix].text(command="fusescope fuse --rules")),
                )
