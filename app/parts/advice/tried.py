"""What was tried beside the best variant: predicted, measured, and whether it is kept."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.advice.tried import Tried, kept, tried
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.messages import Message, paragraph
from fusescope.analysis.report.text import slug
from fusescope.analysis.wording import tried as words
from fusescope.app.parts import panels
from fusescope.app.parts.heads import told
from fusescope.app.recording import tries

_LABELS = {".toml": Message("Rule file of the best"), ".py": Message("Script of the best")}
_HELP = {
    ".toml": Message("For {command:name}: it writes the fused model."),
    ".py": Message("It opens the model in ONNX Runtime as the best variant runs it."),
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
        for one in results:
            _one(one, best)
        st.caption(panels.parts_text(words.NOTES.parts(best=best), "gray"))
        files = tries.kept_files(record, results)
        if ".py" not in files:
            keep = kept(results)
            st.text(words.no_script_text(best if keep is None else keep.remedy.variant))
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


def _one(one: Tried, best: str) -> None:
    """What was tried, its savings side by side, and what became of it; all may name the file's."""
    with st.container(border=True, gap="xxsmall"):
        st.text(words.head_text(one))
        if one.verdict is not None:
            columns = st.columns(2)
            for column, name, saving in (
                (columns[0], "predicted", words.predicted_text(one)),
                (columns[1], "measured", words.measured_text(one)),
            ):
                with column, st.container(gap=None):
                    st.caption(words.HEADS[name].text())
                    st.markdown(f"**{panels.own(saving)}**" if saving else words.NONE[name].text())
        st.text(paragraph(*words.outcome_lines(one, best)))
