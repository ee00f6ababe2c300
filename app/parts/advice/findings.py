"""Findings: what limits the candidate now, what to try, and what that would bring."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from fusescope.analysis.advice import TOP, Finding, Findings
from fusescope.analysis.messages import say
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.wording import findings as words
from fusescope.app.language import spoken
from fusescope.app.parts import panels
from fusescope.app.parts.heads import told

_NAME_CHARS = 120  # of what a finding names: whole, as in reports
ToGroup = Callable[[int], None]
ToStretch = Callable[[Stretch], None]


@st.fragment
@spoken
def show(
    found: Findings, name: str, to_stretch: ToStretch, to_group: ToGroup | None = None
) -> None:
    """The list, five at first, and what the files cannot answer; `name` is that of the side,
    `to_stretch` shows one on its timeline, and `to_group` leads to a group by its id."""
    with panels.guarded():
        title = panels.parts_text(words.FINDINGS_TITLE.parts(side=name), "gray", _NAME_CHARS)
        st.subheader(title, anchor=False, help=told(words.FINDINGS_HELP))
        if not found.found:
            st.markdown(panels.own(words.NOTHING.text()))
        for place, finding in enumerate(found.found[:TOP], 1):
            _finding(found, finding, place, to_stretch, to_group)
        rest = found.found[TOP:]
        if rest:
            with st.expander(words.MORE.text(n=len(rest)), key="more_findings"):
                for place, finding in enumerate(rest, TOP + 1):
                    _finding(found, finding, place, to_stretch, to_group)
        _unknown(found)


def _finding(
    found: Findings,
    finding: Finding,
    place: int,
    to_stretch: ToStretch,
    to_group: ToGroup | None,
) -> None:
    """What limits, what it would bring to change that, and, unfolded, why and how."""
    with st.container(border=True, gap="xxsmall"):
        limits = panels.parts_text(words.limit_parts(finding), "gray", _NAME_CHARS)
        label = say("{place}. {label}.", place=place, label=words.label_text(finding))
        st.markdown(f"**{panels.own(label)}** {limits}")
        gain = panels.strong(words.gain_parts(finding, found.run_ns))
        confidence = panels.own(words.CONFIDENCE[finding.confidence].text())
        st.markdown(f"{gain} :gray[{confidence}]")
        st.text(say("Try: {remedy:name}", remedy=words.remedy_text(finding)))
        ways = st.container(horizontal=True, vertical_alignment="center", gap="small")
        with ways.popover(say("Why, and where"), key=f"finding_{place}"):
            st.text(words.why_text(finding))  # may name what the file names
            if time := words.time_text(finding, found.run_ns, has_runs=found.has_runs):
                st.text(time)
            if names := words.names_text(finding):
                st.text(say("Operators: {names:name}", names=names))
            if finding.where == "group" and to_group is not None:
                key = f"group_of_finding_{place}"
                group = int(str(finding.values["group"]))
                several = int(str(finding.values.get("n", 1))) > 1
                if st.button(
                    say("Show the largest group") if several else say("Show this group"),
                    key=key,
                    type="tertiary",
                    on_click=to_group,
                    args=(group,),
                ):
                    st.rerun()  # of the whole page, a part of which opens
            st.caption(panels.own(words.source_text(finding)))
        if finding.stretch is not None:
            key = f"stretch_of_finding_{place}"
            if ways.button(words.SHOW_STRETCH.text(), key=key, type="tertiary"):
                to_stretch(finding.stretch)
                st.rerun()


def _unknown(found: Findings) -> None:
    """What the times are of, and what these files cannot answer."""
    st.caption(panels.own(words.times_text(found)))
    lines = words.unknown_lines(found)
    if lines:
        with st.expander(words.UNKNOWN_TITLE.text(), key="unknown_findings"):
            st.markdown("\n".join(f"- {panels.own(line)}" for line in lines))
