"""Timelines that a script has rewritten: ids and times as text, NaN; the figures stay the same."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.trace import Trace
from tests import miniatures

Event = dict[str, Any]


def events_of(document: Any) -> list[Event]:
    events = document.get("traceEvents", []) if isinstance(document, dict) else document
    return [one for one in events if isinstance(one, dict) and "ph" in one]


def document_of(reader: Reader) -> Any:
    try:
        document = json.loads(miniatures.main_file(reader).content)
    except (ValueError, UnicodeDecodeError):
        return None
    return document if isinstance(document, dict | list) else None


TIMELINES = [one for one in miniatures.FORMATS if events_of(document_of(one) or [])]


def ids_as_text(events: list[Event]) -> None:
    """Of events, but not of the labels of processes and threads."""
    for event in events:
        for key in ("pid", "tid"):
            if event["ph"] != "M" and isinstance(event.get(key), int):
                event[key] = str(event[key])


def times_as_text(events: list[Event]) -> None:
    for event in events:
        for key in ("ts", "dur"):
            if isinstance(event.get(key), int | float):
                event[key] = repr(event[key])


def no_number(events: list[Event]) -> None:
    event = next(one for one in reversed(events) if isinstance(one.get("args", {}), dict))
    event.setdefault("args", {})["loss"] = math.nan


def read_document(document: Any) -> Trace:
    trace = read(Source("timeline.json", json.dumps(document).encode()))
    assert isinstance(trace, Trace)
    return trace


def figures(trace: Trace) -> Any:
    calls = trace.calls
    columns = [calls[name].tolist() for name in ("start_ns", "dur_ns", "run", "source_row")]
    places = [calls[name].astype("object").tolist() for name in ("device", "stream")]
    notes = {note.code: note.count for note in trace.diagnostics if note.code != "json_mended"}
    return trace.meta.format, str(columns), str(places), trace.operators["name"].tolist(), notes


@pytest.mark.parametrize("rewrite", [ids_as_text, times_as_text, no_number])
@pytest.mark.parametrize("reader", TIMELINES, ids=lambda reader: str(reader.name))
def test_rewriting_changes_no_figure(
    reader: Reader, rewrite: Callable[[list[Event]], None]
) -> None:
    document = document_of(reader)
    expected = read_document(document)
    rewrite(events_of(document))
    found = read_document(document)
    assert figures(found) == figures(expected)
    mended = [note.count for note in found.diagnostics if note.code == "json_mended"]
    assert mended == ([1] if rewrite is no_number else [])


def test_timelines_of_every_family_are_among_them() -> None:
    names = {reader.name for reader in TIMELINES}
    assert names >= {"kineto", "pytorch_autograd", "ascend_trace_view", "msprof_timeline",
                     "mindspore_legacy_display", "mindspore_cpu_timeline", "onnxruntime",
                     "chrome_trace"}  # fmt: skip
