"""Import doctor: what a file holds, what was dropped, which figures it can feed, and what lacks.

Codes and named values only; analysis/wording/doctor.py makes the sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeVar

import numpy as np
import pandas as pd

from fusescope.analysis.compare.graphs.names_by_order import with_own_names_by_order
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.timing.latency import log_times, time_source
from fusescope.analysis.compare.timing.statistics import MIN_SAMPLES
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import mark
from fusescope.analysis.metrics.breakdown import distinct_operators
from fusescope.analysis.metrics.counters import hardware_counters
from fusescope.analysis.metrics.small_ops import small_ops
from fusescope.analysis.metrics.spans import lacks_kernels
from fusescope.analysis.metrics.traffic import bytes_moved
from fusescope.analysis.metrics.utilisation import model_flops
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.device_peaks import device_peaks
from fusescope.analysis.quantity import Reason
from fusescope.analysis.readers.experiment import EXPERIMENT, JAX, OPENVINO
from fusescope.analysis.readers.reader import FIELDS, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Meta, Trace, Value

# Diagnostics that tell of rows or bytes that are not in the Trace, and of those that were mended.
DROPPED = frozenset(
    ("bad_time", "bad_event", "other_events", "not_operators", "compiled_dispatch",
     "unpaired_events", "cut_short", "whole_runs_kept",
     "gzip_cut_short", "gzip_junk", "zstd_cut_short", "runs_without_operators",
     "communication_tasks", "kernels_of_nodes", "counters_ambiguous", "counters_beyond",
     "memory_beyond",
     "companion_unreadable", "companion_unmatched", "rows_twice", "samples_twice",
     "total_row", "part_missing", "part_unreadable", "lanes_repeat", "host_events")
)  # fmt: skip
REPAIRED = frozenset(
    (
        "bad_unicode",
        "missing_bracket",
        "json_mended",
        "short_rows",
        "long_rows",
        "names_with_commas",
        "long_text",
        "unclosed_quotes",
    )
)
FigureCode = Literal[
    "latency", "verdict", "small_ops", "short_ops", "dispatch_gap", "compute_utilisation",
    "bytes_moved", "cache", "memory", "counters", "fusion", "timeline",
]  # fmt: skip
AnswerCode = Literal[
    "samples", "runs", "enough", "few", "one_process", "no_times", "unknown_classes", "by_type",
    "by_name", "means", "some_means", "each", "starts", "some_flops", "no_heavy_operators",
    "classes_unknown", "measured_peak", "public_peak", "no_peak", "graph", "sizes", "some_sizes",
    "recorded", "named", "graphs", "members", "ends_early", "inferred", "missing",
    "in_order", "kernels_missing", "memory_over_time", "whole_file",
]  # fmt: skip
_MEANS = ("averaged", "averaged_all", "layer_means", "means_only")
_NO_FLOPS: Mapping[Reason | None, AnswerCode] = {
    "no_heavy_operators": "no_heavy_operators",
    "classes_unknown": "classes_unknown",
}
_NO_GRAPH = mark("The engine did not show the graph of a variant; the notes on the file say why.")
_NO_SETTING = mark("No setting of the profiler adds this.")
_MAX_NAMED = 6
# Notes of a file whose runs were found, because it marks none.
FOUND_RUNS = frozenset({"runs_annotated", "runs_repeated", "runs_cut_alike"})
# Fields that recordings of an engine never have, although those of others do.
_NEVER_OF: Mapping[str, tuple[str, ...]] = {JAX: ("flops", "graph"), OPENVINO: ("start", "stream")}


@dataclass(frozen=True)
class Lack:
    """A field that the file does not have.

    `switch` is what would have it recorded ('Record with …'), '' where such files always have it,
    None where they never do.
    """

    field: str
    switch: str | None


@dataclass(frozen=True)
class Answer:
    """Whether the file can feed a figure. `code` says from what, or why not.

    `needs` is the field that is missing, where one is; `switch` as in Lack. `without` names the
    variants that cannot feed it, where others of the same experiment can.
    """

    figure: FigureCode
    available: bool
    code: AnswerCode
    needs: str = ""
    switch: str | None = None
    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    without: tuple[str, ...] = ()


_Lacking = TypeVar("_Lacking", Lack, Answer)


@dataclass(frozen=True)
class Examination:
    """What is in one file, or in one recording of several.

    `format` is the reader's name, `title` what its users call it; `files` were read with it.
    `runs` are profiled, `samples` un-profiled, both with warm-up; `operators` are distinct, `rows`
    executions of all these runs. The
    diagnostics are parted into dropped, repaired and noted. Of an experiment, counts are sums over
    variants, a field is one that any variant has, an answer one that holds for all.
    """

    format: str
    title: str
    tool: str
    version: str | None
    device: str | None
    file_name: str
    files: tuple[str, ...]
    variants: tuple[str, ...]
    run_kind: str | None
    runs: int
    samples: int
    operators: int
    rows: int
    dropped: tuple[Diagnostic, ...]
    repaired: tuple[Diagnostic, ...]
    noted: tuple[Diagnostic, ...]
    has: tuple[str, ...]
    lacks: tuple[Lack, ...]
    answers: tuple[Answer, ...]

    @property
    def shown_answers(self) -> tuple[Answer, ...]:
        """Answers that say more than that the file ends early, which is said once."""
        return tuple(answer for answer in self.answers if answer.code != "ends_early")


def format_title(name: str) -> str:
    """What users call a format, untranslated; the name itself where no reader has it."""
    reader = _reader(name)
    return name if reader is None else reader.title


def _reader(name: str) -> Reader | None:
    if name == EXPERIMENT.name:
        return EXPERIMENT
    from fusescope.analysis.readers.formats import READERS  # all formats, which take long to load

    return next((reader for reader in READERS if reader.name == name), None)


def examine(value: Trace | Experiment) -> Examination:
    """The examination of a file; of an experiment that of all variants together."""
    if isinstance(value, Experiment):
        return _of_experiment(value)
    return _examination(value, {"": value}, fields(value), answers(value), _notes(value))


def _notes(trace: Trace) -> tuple[Diagnostic, ...]:
    """Return the notes of a file, where kernels of graphs have names from the same file with how
    many."""
    if not any(note.code == "graphs_launched" for note in trace.diagnostics):
        return trace.diagnostics
    return with_own_names_by_order(trace).diagnostics


def fields(value: Trace | Experiment) -> dict[str, bool]:
    """Which of the readers' FIELDS are there."""
    if isinstance(value, Experiment):
        each = [fields(trace) for trace in value.traces.values()]
        found = {name: any(one[name] for one in each) for name in FIELDS}
        peaks = (variant.peak_memory_bytes for variant in value.record.variants)
        found["peak_memory"] = any(peak is not None for peak in peaks)
        found["samples"] |= any(len(one) for one in _sampled(value))
        found["members"] |= bool(value.graphs)  # in the groups that follow from them
        return {**found, "graph": bool(value.graphs)}
    calls, operators = value.calls, value.operators
    tensors = [
        str(text)
        for column in ("inputs", "outputs")
        for text in operators[column].cat.categories
        if "[" in str(text)
    ]
    dtypes = (tensor.partition("[")[0] for text in tensors for tensor in text.split("; "))
    return {
        "start": bool(calls["start_ns"].notna().any()),
        "runs": value.has_runs,
        "samples": not value.sampled_runs.empty,
        "types": bool(operators["op_type"].notna().any()),
        "shapes": bool(tensors),
        "dtypes": any(dtype not in ("", "?") for dtype in dtypes),
        "flops": bool(operators["flops"].notna().any()),
        "counters": bool(hardware_counters(value)),
        "members": _names_members(value),
        "stream": bool(calls["stream"].notna().any()),
        "communication": bool(operators["is_communication"].any()),
        "sizes": bool(operators[["bytes_in", "bytes_out"]].notna().any().any()),
        "peak_memory": False,
        "memory": bool(value.memory),
        "graph": False,
    }


def answers(trace: Trace, experiment: Experiment | None = None) -> tuple[Answer, ...]:
    """One answer a figure, in the order in which figures are shown."""
    variant = experiment.record.variant(trace.meta.variant or "") if experiment else None
    has_graph = experiment is not None and (trace.meta.variant or "") in experiment.graphs
    peak = experiment.record.peaks.gemm_flops_per_s if experiment else None
    has = fields(trace)
    sampled = trace.sampled_runs
    if experiment is not None and variant is not None:
        sampled = side_of_variant(experiment, variant.name).sampled_runs
        has["samples"] = not sampled.empty
    named = hardware_counters(trace)
    shown, more = ", ".join(named[:_MAX_NAMED]), max(0, len(named) - _MAX_NAMED)
    memory = variant is not None and variant.peak_memory_bytes is not None
    made = (
        _latency(trace, has, sampled),
        _verdict(trace, has, sampled),
        _small_ops(trace, has),
        _short_ops(trace),
        _gap(trace, has),
        _utilisation(trace, has, peak),
        _bytes(trace, has, has_graph),
        _either("cache", has_graph, "graph", "graph"),
        Answer("memory", False, "memory_over_time")
        if has["memory"] and not memory
        else _either("memory", memory, "recorded", ""),
        Answer(
            "counters", True, "named", values={"count": len(named), "names": shown, "more": more}
        )
        if named
        else Answer("counters", False, "missing", "counters"),
        _fusion(trace, has, has_graph),
        _timeline(trace, has),
    )
    if trace.ends_early:
        return tuple(
            answer if answer.figure == "timeline" else Answer(answer.figure, False, "ends_early")
            for answer in made
        )
    return tuple(_with_switch(answer, trace.meta, has) for answer in made)


def _timeline(trace: Trace, has: Mapping[str, bool]) -> Answer:
    if has["start"] or trace.calls.empty:
        return _either("timeline", has["start"], "starts", "start")
    return Answer("timeline", False, "in_order", "start")


def _either(figure: FigureCode, available: bool, code: AnswerCode, needs: str) -> Answer:
    return Answer(figure, available, code) if available else Answer(figure, False, "missing", needs)


def _sampled(experiment: Experiment) -> list[pd.DataFrame]:
    """The un-profiled runs of every variant."""
    return [side_of_variant(experiment, name).sampled_runs for name in experiment.traces]


def _latency(trace: Trace, has: Mapping[str, bool], sampled: pd.DataFrame) -> Answer:
    if has["samples"]:
        blocks = sampled["block"].dropna().nunique()
        values: dict[str, Value] = {"runs": len(sampled), "blocks": int(blocks)}
        return Answer("latency", True, "samples", values=values)
    if has["runs"]:
        return Answer("latency", True, "runs", values={"runs": len(steady_runs(trace).runs)})
    return Answer("latency", False, "missing", "runs")


def _verdict(trace: Trace, has: Mapping[str, bool], sampled: pd.DataFrame) -> Answer:
    if not has["samples"] and not has["runs"]:
        return Answer("verdict", False, "missing", "runs")
    blocks = sampled["block"].nunique()
    is_one = not trace.meta.parts and blocks < 2  # blocks and files are processes
    times = len(sampled) if is_one and has["samples"] else _blocks_or_runs(trace, sampled)
    values: dict[str, Value] = {"runs": times, "least": MIN_SAMPLES}
    if is_one and times >= MIN_SAMPLES:
        return Answer("verdict", True, "one_process", values=values)
    return Answer(
        "verdict", times >= MIN_SAMPLES, "enough" if times >= MIN_SAMPLES else "few", values=values
    )


def _blocks_or_runs(trace: Trace, sampled: pd.DataFrame) -> int:
    if not sampled.empty and trace.sampled_runs.empty:  # of a command
        return int(sampled["block"].nunique())
    return len(trace.meta.parts) or len(log_times(trace, time_source(trace)))


def _small_ops(trace: Trace, has: Mapping[str, bool]) -> Answer:
    small = small_ops(trace)
    if small.unknown_time is None:
        return Answer("small_ops", False, "no_times")
    values: dict[str, Value] = {"unknown": small.unknown_time}
    if small.mostly_unknown:
        return Answer(
            "small_ops", False, "unknown_classes", "" if has["types"] else "types", values=values
        )
    return Answer("small_ops", True, "by_type" if has["types"] else "by_name", values=values)


def _short_ops(trace: Trace) -> Answer:
    told = any(note.code in _MEANS for note in trace.diagnostics)
    means = told or bool((trace.calls["n"] > 1).any())
    return Answer("short_ops", True, "means" if means else "each")


def _gap(trace: Trace, has: Mapping[str, bool]) -> Answer:
    if lacks_kernels(trace):
        return Answer("dispatch_gap", False, "kernels_missing")
    if has["start"] and not has["runs"]:
        return Answer("dispatch_gap", False, "whole_file")
    return _either("dispatch_gap", has["start"], "starts", "start")


def _utilisation(trace: Trace, has: Mapping[str, bool], peak: float | None) -> Answer:
    figure: FigureCode = "compute_utilisation"
    flops, reason = model_flops(trace)
    if reason == "flops_unknown" and has["flops"]:
        return Answer(figure, False, "some_flops")
    if flops is None:
        needs = "flops" if reason == "flops_unknown" else ""
        # Neither counted nor countable: shapes would do.
        needs = "shapes" if needs and not has["flops"] and not has["shapes"] else needs
        if needs:
            return Answer(figure, False, "missing", needs)
        return Answer(figure, False, _NO_FLOPS.get(reason, "no_times"))
    public = device_peaks(trace.meta.device)
    if peak is None and public is not None:
        values = {"device": public.name, "source": public.source}
        return Answer(figure, True, "public_peak", values=values)
    return Answer(figure, peak is not None, "measured_peak" if peak is not None else "no_peak")


def _bytes(trace: Trace, has: Mapping[str, bool], has_graph: bool) -> Answer:
    if has_graph:
        return Answer("bytes_moved", True, "graph")
    if bytes_moved(trace) is not None:
        return Answer("bytes_moved", True, "sizes")
    if has["sizes"]:
        return Answer("bytes_moved", False, "some_sizes")
    return Answer("bytes_moved", False, "missing", "sizes" if has["shapes"] else "shapes")


def _fusion(trace: Trace, has: Mapping[str, bool], has_graph: bool) -> Answer:
    if has_graph:
        return Answer("fusion", True, "graphs")
    if has["members"]:
        return Answer("fusion", True, "members")
    if has["types"] and (has["shapes"] or trace.operators["members"].notna().any()):
        return Answer("fusion", True, "inferred")
    if has["types"]:
        return Answer("fusion", True, "by_name")
    return Answer("fusion", False, "missing", "types")


def _names_members(trace: Trace) -> bool:
    """Return whether a fused operator names the operators inside it; False where all list op types
    alone, from which groups are inferred."""
    if not trace.operators["members"].notna().any():
        return False
    sources = trace.operators["members_source"].dropna()
    return sources.empty or not bool((sources == "op_types").all())


def _with_switch(answer: Answer, meta: Meta, has: Mapping[str, bool]) -> Answer:
    return replace(answer, switch=_switch(meta, answer.needs, has)) if answer.needs else answer


def _switch(meta: Meta, name: str, has: Mapping[str, bool]) -> str | None:
    """Return what the format's reader says of a field: a switch, '' for always, None for never. Of
    sizes in a file with shapes, which one switch records, that no other one adds them."""
    if meta.format == "experiment" and name in _NEVER_OF.get(meta.tool, ()):
        return None
    reader = _reader(meta.format)
    switches = reader.fields if reader is not None else {}
    switch = switches.get(name)
    if switch and name == "sizes" and has["shapes"] and switch == switches.get("shapes"):
        return _NO_SETTING
    return switch


def _of_experiment(experiment: Experiment) -> Examination:
    each = [answers(trace, experiment) for trace in experiment.traces.values()]
    names = tuple(experiment.traces)
    worst = (_for_all(names, column) for column in zip(*each, strict=True))
    notes = list(experiment.diagnostics)
    for name, trace in experiment.traces.items():
        notes += [replace(d, values={**d.values, "variant": name}) for d in trace.diagnostics]
    untold = {
        one.name: one.why_no_graph
        for one in experiment.record.variants
        if one.why_no_graph and one.name in experiment.traces and one.name not in experiment.graphs
    }
    for name, why in untold.items():
        values = {"variant": name, "reason": clean_text(why)}
        notes.append(Diagnostic("warning", "graph_not_shown", values=values))
    first = next(iter(experiment.traces.values()))
    found = _examination(first, experiment.traces, fields(experiment), tuple(worst), notes)
    found = replace(found, samples=sum(map(len, _sampled(experiment))))
    if not untold:
        return found
    return replace(
        found,
        lacks=tuple(map(_for_want_of_a_graph, found.lacks)),
        answers=tuple(map(_for_want_of_a_graph, found.answers)),
    )


def _for_want_of_a_graph(one: _Lacking) -> _Lacking:
    """What such files always have otherwise: most of it comes from graphs."""
    return replace(one, switch=_NO_GRAPH) if one.switch == "" else one


def _for_all(names: Sequence[str], column: Sequence[Answer]) -> Answer:
    """The answer that holds for all variants, of the answers of each to one figure."""
    without = tuple(name for name, one in zip(names, column, strict=True) if not one.available)
    worst = next((answer for answer in column if not answer.available), None)
    worst = worst or min(column, key=_runs)  # what holds for all is said of the fewest
    if {"means", "each"} <= {answer.code for answer in column}:
        worst = replace(worst, code="some_means")
    return replace(worst, without=without if len(without) < len(column) else ())


def _examination(
    file: Trace,
    traces: Mapping[str, Trace],
    has: Mapping[str, bool],
    found: tuple[Answer, ...],
    notes: Iterable[Diagnostic],
) -> Examination:
    meta, notes = file.meta, tuple(notes)
    kinds = file.profiled_runs["kind"]
    return Examination(
        format=meta.format,
        title=format_title(meta.format),
        tool=meta.tool,
        version=meta.version,
        device=meta.device,
        file_name=meta.file_name,
        files=meta.files,
        variants=tuple(name for name in traces if name),
        run_kind=str(kinds.iloc[0]) if len(kinds) else None,
        runs=sum(len(trace.profiled_runs) for trace in traces.values()),
        samples=sum(len(trace.sampled_runs) for trace in traces.values()),
        operators=sum(map(_distinct, traces.values())),
        rows=sum(len(trace.calls) for trace in traces.values()),
        dropped=tuple(note for note in notes if note.code in DROPPED),
        repaired=tuple(note for note in notes if note.code in REPAIRED),
        noted=tuple(note for note in notes if note.code not in DROPPED | REPAIRED),
        has=tuple(name for name in FIELDS if has[name]),
        # What a file that ends early lacks may stand behind its end.
        lacks=()
        if file.ends_early
        else tuple(Lack(n, _switch(meta, n, has)) for n in FIELDS if not has[n]),
        answers=found,
    )


def _distinct(trace: Trace) -> int:
    """Return how many distinct operators a trace has; of runs in blocks, which are processes, those
    of the block with most, because a process numbers what its engine inserts in its own way."""
    calls = trace.calls[["operator", "run"]].drop_duplicates()
    block_of = trace.runs.set_index("run")["block"]
    blocks = block_of.reindex(calls["run"]).to_numpy("int64", na_value=-1)
    operators = calls["operator"].to_numpy()
    if not (blocks >= 0).any():
        return distinct_operators(trace, np.arange(len(trace.operators)))
    each = (np.unique(operators[blocks == block]) for block in np.unique(blocks))
    return max(distinct_operators(trace, one) for one in each)


def _runs(answer: Answer) -> int:
    told = answer.values.get("runs")
    return told if isinstance(told, int) else 0
