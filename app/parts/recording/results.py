"""What came of the last recording on the Record page, and where it opens."""

from __future__ import annotations

from functools import partial

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.messages import paragraph, say
from fusescope.analysis.wording.sentences import pair_parts, stricter_text
from fusescope.app import state
from fusescope.app.parts.advice import tried
from fusescope.app.parts.several import all_engines
from fusescope.app.recording import progress
from fusescope.app.recording.recorder import Status
from fusescope.app.sources import engines, sweeps
from fusescope.app.store import records


def show(status: Status, compare_page: st.Page, engines_page: st.Page) -> None:
    """What came of the last recording; of tries what was predicted beside what they brought."""
    record = None if status.path is None else records.record_at(status.path)
    if status.path is None or record is None or not record.tries:
        query = _recorded(status)
        key = engines.key_of(query.values(), state.files.opened()) if query else None
        beside = None if key is None else partial(all_engines, engines_page, key)
        progress.result(status, compare_page, query, _verdicts(status), beside)
        return
    draw = partial(tried.show, record, status.path.stem)
    progress.result(status, compare_page, _recorded(status), beside=draw)


def swept(status: Status) -> dict[str, str]:
    """The query that shows what was recorded on the Scaling page; {} where there is nothing."""
    recorded = filter(None, map(records.record_at, status.paths))
    found = sweeps.sweeps(state.files.opened())
    keys = (sweeps.key_of(record) for record in recorded)
    key = next((key for key in keys if key in found), None)
    return {} if key is None or len(status.paths) < 2 else state.pages.sweep_query(key)


def _recorded(status: Status) -> dict[str, str]:
    """The query that compares what was recorded; {} where there is nothing to compare."""
    if status.path is None:
        return {}
    baseline, candidate = records.recorded_pair(status.path)
    if baseline is None or candidate is None:
        return {}
    return {"baseline": baseline, "candidate": candidate}


def _verdicts(status: Status) -> list[str]:
    """How each variant compares with the baseline of what was recorded."""
    record = None if status.path is None else records.record_at(status.path)
    if record is None:
        return []
    baseline = record.settings.baseline
    sentences = []
    for variant in record.variants:
        if variant.name != baseline:
            verdict = paired_verdict(record, baseline, variant.name)
            parts = pair_parts(verdict, baseline, variant.name)
            interval = wording.verdict_interval(verdict)
            said = "".join(part.text for part in parts)
            sentence = (
                say("{verdict:name} ({interval:name}).", verdict=said, interval=interval)
                if interval
                else say("{verdict:name}.", verdict=said)
            )
            sentences.append(paragraph(sentence, stricter_text(verdict)))
    return sentences
