"""Captures: kernels that the host records into a graph of the device instead of running them."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from fusescope.analysis.limits import Limits
from fusescope.analysis.program import MAX_CAPTURED, Captured, captured_frame
from fusescope.analysis.readers.building.host.launch_calls import is_launch
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.pytorch.event import plain
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.inputs import Inputs
from fusescope.analysis.readers.pytorch.launches import Launches, launching_names
from fusescope.analysis.readers.pytorch.spans import NONE, Spans
from fusescope.analysis.text import clean_text

_BEGIN = re.compile(r"(?:cuda|cu|hip)StreamBeginCapture\w{0,40}")
_END = re.compile(r"(?:cuda|cu|hip)StreamEndCapture\w{0,40}")
_COPY = re.compile(r"(?:cuda|cu|hip)Mem(?:cpy|set)\w{0,40}Async\w{0,20}")
_GRAPH = re.compile(r"(?:cuda|cu|hip)GraphLaunch\w{0,20}")


def captured_of(found: Sorted, launches: Launches, limits: Limits) -> Captured | None:
    """Return what the host launched between begin and end of each capture, and did not run: the
    file has no kernel of it. None without any."""
    calls = found.launches
    begins, ends = (np.sort(calls.starts[_named(calls, form)]) for form in (_BEGIN, _END))
    rows = _captured(calls, found.kernels.correlation)
    graph = np.searchsorted(begins, calls.starts[rows], side="right") - 1
    stop = np.searchsorted(ends, begins)
    is_open = graph >= 0
    rows, graph = rows[is_open], graph[is_open]
    until = np.append(ends, np.iinfo("int64").max)[stop] if len(begins) else begins
    is_inside = calls.starts[rows] < until[graph]
    rows, graph = rows[is_inside][:MAX_CAPTURED], graph[is_inside][:MAX_CAPTURED]
    if not len(rows):
        return None
    order = np.argsort(calls.rows[rows], kind="stable")
    chosen, graph = calls.take(rows[order]), graph[order]
    around = launches.around(chosen)
    inputs = Inputs()
    texts = {
        at: inputs.text_of(found.tables.inputs[at])
        for at in (distinct(found.ops.more["inputs"]).tolist() if len(found.ops) else ())
    }
    of_op = found.ops.more["inputs"][around].tolist() if len(found.ops) else []
    return Captured(
        captured_frame(
            source_row=chosen.rows,
            graph=graph,
            start_ns=chosen.starts,
            dur_ns=chosen.lengths,
            name=_kernel_names(chosen, limits),
            launched_by=[str(name or "") for name in launching_names(found.ops, around)],
            inputs=[
                texts.get(of, "") if op != NONE else ""
                for of, op in zip(of_op or around.tolist(), around.tolist(), strict=True)
            ],
        )
    )


def _captured(calls: Spans, ran: Ints) -> Ints:
    """Return the calls that launch a kernel, a copy or a fill that did not run."""
    launching = [
        at
        for at in distinct(calls.names).tolist()
        if (is_launch(name := calls.tables.names[at]) and not _GRAPH.fullmatch(name))
        or _COPY.fullmatch(name)
    ]
    is_one = np.isin(calls.names, launching) & ~np.isin(calls.correlation, ran)
    return np.flatnonzero(is_one)


def _named(calls: Spans, form: re.Pattern[str]) -> Ints:
    """Return the calls whose name has this form."""
    names = [at for at in distinct(calls.names).tolist() if form.fullmatch(calls.tables.names[at])]
    return np.flatnonzero(np.isin(calls.names, names))


def _kernel_names(calls: Spans, limits: Limits) -> list[str]:
    """Return the kernel that each call launches, '' where the file does not say it; of a copy or a
    fill what it is."""
    labels = calls.more["kernel"]
    known = {
        at: clean_text(
            plain(msgspec.Raw(calls.tables.labels[at])).decode("utf-8", "replace"),
            limits.text_chars,
        )
        for at in distinct(labels).tolist()
    }
    return [known[at] for at in labels.tolist()]
