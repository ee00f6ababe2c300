"""Names by order: which operators and modules the kernels of a replayed graph stem from.

Nothing launches such a kernel by itself, so a file with the replay alone does not say it. The
capture of the graph has the same kernels in the same order with operators, shapes and modules, in
the same file or in the other one of a pair; a run without the graph has most of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fusescope.analysis.align.alignment import align
from fusescope.analysis.align.sequence import Kernel
from fusescope.analysis.align.sequence import Sequence as KernelSequence
from fusescope.analysis.align.similarity import SAME_CLASS, SAME_NAME
from fusescope.analysis.metrics.spans import call_times
from fusescope.analysis.operators.classes import is_heavy, kernel_class, op_class
from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Diagnostic, Trace
from fusescope.analysis.work_units import units_of
from fusescope.analysis.work_units.profile import profile_of
from fusescope.analysis.work_units.units import whole_file

_FEWEST = 8  # kernels that one call of the host launched, to be those of a graph
_SAME = 0.98  # of the kernels of a graph, which its capture must have in the same places
_CAPTURED = 0.8  # of the time or the kernels, which a capture of another graph must share
_EAGER = 0.5  # the same of a run without the graph
_LONGEST = 50_000  # kernels of a run that are compared with a graph
_KNOWN = 0.5  # of the kernels of a run, whose operators the file must say


@dataclass(frozen=True, eq=False)
class Line:
    """Kernels in order whose operators are known: of a capture with their shapes, of a run without
    them, since it may be of another batch. `nodes` are places in the stacks of `trace`."""

    trace: Trace
    names: tuple[str, ...]
    launchers: tuple[str, ...]
    inputs: tuple[str, ...]
    nodes: np.ndarray
    span_ns: tuple[int, int] | None = None  # of the launches, of a capture

    @property
    def is_capture(self) -> bool:
        """Return whether the host captured these kernels instead of running them."""
        return self.span_ns is not None


def with_names_by_order(before: Trace, after: Trace) -> tuple[Trace, Trace]:
    """Return both traces, the kernels of their graphs with operators and modules where one of them
    says what these are by the same order."""
    lines = [line for trace in (before, after) for line in _captures(trace)]
    lines += [line for trace in (before, after) for line in _eager(trace)]
    return _named(before, lines, of_pair=True), _named(after, lines, of_pair=True)


def replays(trace: Trace) -> list[np.ndarray]:
    """Return the kernels, as rows of calls, of each call of the host that launched many, as that of
    a graph does."""
    host = trace.host
    if host is None or not len(trace.calls):
        return []
    calls = trace.calls
    lanes, times = host.submissions_of(calls["source_row"].to_numpy("int64", na_value=-1))
    is_kernel = (trace.operators["level"] == "device_kernel").to_numpy(dtype=bool)
    chosen = np.flatnonzero((lanes >= 0) & is_kernel[calls["operator"].to_numpy()])
    if len(chosen) < _FEWEST:
        return []
    starts, _ = call_times(calls)
    order = chosen[np.lexsort((starts[chosen], times[chosen], lanes[chosen]))]
    is_new = (np.diff(times[order]) != 0) | (np.diff(lanes[order]) != 0)
    groups = np.split(order, np.flatnonzero(is_new) + 1)
    return [rows for rows in groups if len(rows) >= _FEWEST]


def with_own_names_by_order(trace: Trace) -> Trace:
    """Return a trace, the kernels of its graphs with operators and modules where the same file has
    the capture, or a run without the graph; as it is where names of a pair have travelled to it."""
    if count_by_order(trace):
        return trace
    return _named(trace, [*_captures(trace), *_eager(trace)], of_pair=False)


def count_by_order(trace: Trace) -> int:
    """Return how many kernels of a trace have operators and modules by their order alone."""
    notes = (note for note in trace.diagnostics if note.code == "graphs_launched")
    counts = [note.values.get("named") for note in notes]
    return max((count for count in counts if isinstance(count, int)), default=0)


def captured_line(trace: Trace, names: Sequence[str]) -> Line | None:
    """Return the capture in a trace whose kernels these are, in the same places."""
    return next((line for line in _captures(trace) if _is_the_same(line, names)), None)


def _captures(trace: Trace) -> Iterator[Line]:
    captured = trace.captured
    if captured is None:
        return
    names, launchers, inputs = map(captured.texts, ("name", "launched_by", "inputs"))
    rows, starts, lengths = (
        captured.table[name].to_numpy() for name in ("source_row", "start_ns", "dur_ns")
    )
    nodes = trace.stacks.of(rows) if trace.stacks is not None else np.full(len(rows), -1)
    for graph in captured.graphs():
        places = graph.tolist()
        yield Line(
            trace,
            tuple(names[at] for at in places),
            tuple(launchers[at] for at in places),
            tuple(inputs[at] for at in places),
            nodes[graph],
            (int(starts[graph].min()), int((starts + lengths)[graph].max())),
        )


def _eager(trace: Trace) -> Iterator[Line]:
    """Yield the kernels of one step of a trace that says of most of them who launched them; without
    steps all of them, as far as a graph may reach."""
    if not len(trace.calls):
        return
    launchers = trace.texts("launched_by")
    has_launcher = np.array([bool(name) for name in launchers])
    operators = trace.calls["operator"].to_numpy()
    if not len(operators) or has_launcher[operators].mean() < _KNOWN:
        return
    units = units_of(trace)
    is_step = units.kind in ("step", "annotation")
    units = units.of_work(units.kinds_of_work()[0]) if is_step else whole_file(trace)
    profile = profile_of(trace, units)
    names = trace.texts("name")
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)[profile.calls[:_LONGEST]]
    of = profile.operators[:_LONGEST].tolist()
    yield Line(
        trace,
        tuple(names[at] for at in of),
        tuple(launchers[at] for at in of),
        ("",) * len(of),
        trace.stacks.of(rows) if trace.stacks is not None else np.full(len(rows), -1),
    )


def _named(trace: Trace, lines: Sequence[Line], *, of_pair: bool) -> Trace:
    """Return the trace with the names of the first line that has the kernels of each graph."""
    groups = replays(trace) if lines else []
    if not groups:
        return trace
    operators = trace.calls["operator"].to_numpy()
    line_of = np.full(len(operators), -1, dtype="int64")
    place_of = np.full(len(operators), -1, dtype="int64")
    is_nameless = np.array([not name for name in trace.texts("launched_by")])
    known: dict[bytes, tuple[int, np.ndarray]] = {}
    for rows in groups:
        ids = operators[rows]
        key = ids.tobytes()
        if key not in known:
            known[key] = _first_fitting(trace, ids, rows, lines)
        line, places = known[key]
        chosen = (places >= 0) & is_nameless[ids]
        line_of[rows[chosen]] = line
        place_of[rows[chosen]] = places[chosen]
    count = int((place_of >= 0).sum())
    if not count:
        return trace
    named = _with(trace, lines, line_of, place_of)
    notes = tuple(_with_names(note, count, of_pair=of_pair) for note in named.diagnostics)
    return replace(named, diagnostics=notes)


def _first_fitting(
    trace: Trace, ids: np.ndarray, rows: np.ndarray, lines: Sequence[Line]
) -> tuple[int, np.ndarray]:
    """Return the line whose kernels these are, and the place in it of each, -1 for none."""
    names = trace.texts("name")
    own = [names[at] for at in ids.tolist()]
    for at, line in enumerate(lines):
        if line.is_capture and _is_the_same(line, own):
            return at, np.arange(len(own))
    dur_ns = trace.calls["dur_ns"].to_numpy()[rows]
    for at, line in enumerate(lines):
        places = _aligned(line, own, dur_ns)
        if places is not None:
            return at, places
    return -1, np.full(len(own), -1)


def _is_the_same(line: Line, names: Sequence[str]) -> bool:
    """Return whether a capture has these kernels in these places. CUDA does not name what is
    captured; then the classes of heavy kernels must be those of their operators."""
    if len(line.names) != len(names):
        return False
    if any(line.names):
        pairs = [(one, other) for one, other in zip(line.names, names, strict=True) if one]
        return sum(one == other for one, other in pairs) >= _SAME * len(pairs)
    classes = [
        (op_class(by), kernel_class(name)) for by, name in zip(line.launchers, names, strict=True)
    ]
    heavy = [one == other for one, other in classes if is_heavy(one) or is_heavy(other)]
    return bool(heavy) and sum(heavy) >= _SAME * len(heavy)


def _aligned(line: Line, names: Sequence[str], dur_ns: np.ndarray) -> np.ndarray | None:
    """Return the place in a line of each kernel, -1 for none: of one name, and heavy ones of one
    class between such; None where the two have too little in common."""
    if not any(line.names):
        return None
    first = _sequence(names, dur_ns)
    second = _sequence(line.names, np.ones(len(line.names), dtype="int64"))
    alignment = align(first, second)
    is_same = alignment.evidence == SAME_NAME
    pairs = alignment.columns[is_same]
    shared = len(pairs) / max(1, min(len(names), len(line.names)))
    if shared < (_CAPTURED if line.is_capture else _EAGER):
        return None
    is_class = alignment.evidence >= SAME_CLASS
    heavy = np.array([is_heavy(kernel.op_class) for kernel in first.kernels])
    is_heavy_pair = is_class & heavy[first.ids[alignment.columns[:, 0]]]
    places = np.full(len(names), -1, dtype="int64")
    for position, place in alignment.columns[is_same | is_heavy_pair].tolist():
        places[position] = place
    return places


def _sequence(names: Sequence[str], dur_ns: np.ndarray) -> KernelSequence:
    numbers = {name: at for at, name in enumerate(dict.fromkeys(names))}
    kernels = tuple(Kernel(name, kernel_type(name) or name, kernel_class(name)) for name in numbers)
    ids = np.array([numbers[name] for name in names], dtype="int64")
    return KernelSequence(kernels, ids, dur_ns.astype("int64"))


def _with(trace: Trace, lines: Sequence[Line], line_of: np.ndarray, place_of: np.ndarray) -> Trace:
    """Return the trace, its calls with the operators and stacks of these places of lines."""
    old = trace.calls["operator"].to_numpy()
    names = trace.texts("name")
    texts: dict[tuple[str, str], int] = {}
    text_of = np.full(len(old), -1, dtype="int64")
    for row in np.flatnonzero(place_of >= 0).tolist():
        line, place = lines[line_of[row]], int(place_of[row])
        key = (_launcher(line, place, names[old[row]]), line.inputs[place])
        text_of[row] = texts.setdefault(key, len(texts))
    pairs, of = np.unique(np.stack((old, text_of)), axis=1, return_inverse=True)
    chosen = list(texts)
    texts_of_lines = [chosen[at] if at >= 0 else None for at in pairs[1].tolist()]
    operators = trace.operators.take(pairs[0]).reset_index(drop=True)
    columns = {name: trace.texts(name) for name in ("launched_by", "inputs", "op_class")}
    own = [tuple(column[at] for column in columns.values()) for at in pairs[0].tolist()]
    completed = [_completed(mine, more) for mine, more in zip(own, texts_of_lines, strict=True)]
    named = {
        name: pd.array([each[at] or None for each in completed], dtype="category")
        for at, name in enumerate(columns)
    }
    operators = operators.assign(operator=np.arange(len(operators)), **named)
    return replace(
        trace,
        operators=operators.astype(trace.operators.dtypes[["operator"]].to_dict()),
        calls=trace.calls.assign(operator=of.ravel().astype(old.dtype)),
        stacks=_stacks(trace, lines, line_of, place_of),
    )


def _with_names(note: Diagnostic, count: int, *, of_pair: bool) -> Diagnostic:
    """Return the note on kernels that graphs launched with how many have names by their order, of
    one file or of a pair; any other as it is."""
    if note.code != "graphs_launched":
        return note
    named = {"named": min(count, note.count), "of_pair": of_pair}
    return replace(note, values={**note.values, **named})


def _launcher(line: Line, place: int, name: str) -> str:
    """Return the operator of a place for a kernel of this name. A matrix product is one in whatever
    kernel; another phase launches other attentions by other operators."""
    is_it = line.is_capture or line.names[place] == name
    return line.launchers[place] if is_it or kernel_class(name) == "matrix_product" else ""


def _completed(mine: tuple[str, ...], more: tuple[str, str] | None) -> tuple[str, str, str]:
    """Return operator, inputs and class of a kernel, with what a line says where it says more."""
    launcher, inputs, known = mine
    if more is None:
        return launcher, inputs, known
    by_operator = op_class(more[0]) if known == "unknown" else known
    return more[0] or launcher, more[1] or inputs, by_operator


def _stacks(
    trace: Trace, lines: Sequence[Line], line_of: np.ndarray, place_of: np.ndarray
) -> Stacks | None:
    """Return the stacks of a trace with those of these places of lines."""
    own = trace.stacks
    names = list(own.names) if own is not None else []
    parents = [own.parents] if own is not None else []
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)
    nodes = own.of(rows) if own is not None else np.full(len(rows), -1)
    for source in {id(line.trace): line.trace for line in lines}.values():
        if source.stacks is None:
            continue
        first = 0 if source is trace else len(names)
        if source is not trace:
            names += source.stacks.names
            above = source.stacks.parents
            parents.append(np.where(above >= 0, above + first, -1))
        for at, line in enumerate(lines):
            if line.trace is source:
                mine = np.flatnonzero(line_of == at)
                node = line.nodes[place_of[mine]]
                nodes[mine] = np.where(node >= 0, node + first, nodes[mine])
    known = np.flatnonzero((nodes >= 0) & (rows >= 0))
    if not len(known):
        return own
    known = known[np.argsort(rows[known], kind="stable")]
    forward = None if own is None or own.forward is None else own.forward_of(rows[known])
    return Stacks(tuple(names), np.concatenate(parents), rows[known], nodes[known], forward)
