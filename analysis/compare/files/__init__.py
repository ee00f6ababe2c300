"""Several files on one side: recordings of one graph, each of a process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.files.pooled import pooled
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.joined_time import are_different_models, joined_shares
from fusescope.analysis.compare.joining.matching import match_operators
from fusescope.analysis.compare.joining.weights import other_weights
from fusescope.analysis.compare.side import Side, check_whole, side_of_trace
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.trace import Part, Trace

_UNKNOWN = "unknown"  # a tool of a trace that does not tell


def side_of_files(
    values: Sequence[Trace | Experiment],
    label: str,
    names: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Side:
    """One side made of several files, in the order in which they were recorded, where all say it.

    Each file is one block of its trace; `names` are what the files are called, else by their own
    names. Of a single file it is that file's side. Raises FuseScopeError for an experiment among
    several, for a file that stands there twice or ends early, for files of several profilers,
    formats or models, and for more rows than the limit.
    """
    if not values:
        raise FuseScopeError("side_without_files", where=label)
    traces: list[Trace] = []
    for value in values:
        if isinstance(value, Experiment):
            raise FuseScopeError("experiment_among_files", where=value.file_name)
        traces.append(value)
    names = list(names) if names is not None else [trace.meta.file_name for trace in traces]
    if len(traces) == 1:
        return side_of_trace(traces[0])
    for trace, name in zip(traces, names, strict=True):
        check_whole(trace, name)
    _check(traces, names)
    starts = [trace.meta.started_ns for trace in traces]
    if None not in starts:
        order = sorted(range(len(traces)), key=lambda at: starts[at] or 0)
        traces, names = [traces[at] for at in order], [names[at] for at in order]
    files = tuple(
        Part(name, trace.meta.sha256, trace.meta.started_ns)
        for name, trace in zip(names, traces, strict=True)
    )
    return Side(label=label, trace=pooled(traces, label, files, limits))


def check_apart(baseline: Side, candidate: Side) -> None:
    """Raises FuseScopeError for a file that stands on both sides of several files."""
    if len(baseline.files) or len(candidate.files):
        first = {one.sha256 for one in baseline.files} or {baseline.trace.meta.sha256}
        others = candidate.files or (Part(candidate.label, candidate.trace.meta.sha256, None),)
        for other in others:
            if other.sha256 in first:
                raise FuseScopeError("file_on_both_sides", where=other.name)


def _check(traces: Sequence[Trace], names: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for trace, name in zip(traces, names, strict=True):
        if trace.meta.sha256 in seen:
            raise FuseScopeError("file_twice", where=name, other=seen[trace.meta.sha256])
        seen[trace.meta.sha256] = name
    first = traces[0]
    for trace, name in zip(traces[1:], names[1:], strict=True):
        if trace.meta.format != first.meta.format:
            tools = (trace.meta.tool, first.meta.tool)
            if tools[0] == tools[1] or _UNKNOWN in tools:
                raise FuseScopeError("formats_on_one_side", where=name, other=names[0])
            raise FuseScopeError(
                "profilers_on_one_side",
                where=name,
                tool=tools[0],
                other=names[0],
                other_tool=tools[1],
            )
        if _are_other_models(first, trace):
            raise FuseScopeError("models_on_one_side", where=name, other=names[0])


def _are_other_models(first: Trace, second: Trace) -> bool:
    if other_weights(first, second) is not None:
        return True
    shares = joined_shares(match_operators(first, second), Fusion("none"), (first, second))
    return are_different_models(side_of_trace(first), side_of_trace(second), shares)
