"""Trace: what one profiler file (or one variant of an experiment) says, as three tables.

Checked once, at construction; after that nobody checks columns again. Times are integers in
ns, missing is null and never 0, strings are categorical, and no cell holds a list: a million
calls stay small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.host_waits import HostWaits
from fusescope.analysis.job import Collectives, Job
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.messages import Said
from fusescope.analysis.originals import Original
from fusescope.analysis.program import Captured, Program
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.text import clean_text

Severity = Literal["info", "warning", "error"]
Value = str | int | float | Said | None
Told = TypeVar("Told")
Example = str | Said  # a name, or where it stands in the file
# What a reader or a comparison can notice; analysis/wording/diagnostics/ has a sentence for each.
DiagnosticCode = Literal[
    "ambiguous_commas", "ascend_counters", "ascend_means", "ascend_no_flops",
    "ascend_no_members", "ascend_no_samples", "ascend_no_spans", "ascend_silent_runs",
    "ascend_sums", "ascend_warmup",
    "averaged", "averaged_all", "bad_event", "bad_time", "bad_unicode", "biased_rows",
    "blocks_loaded", "boundaries_included", "boundary_mismatch", "calls_not_of_graph",
    "change_unexplained", "classes_unknown",
    "command_profiled", "command_time", "command_traced",
    "communication_differs", "communication_tasks", "companion_lacks", "companion_unmatched",
    "companion_unreadable", "compared_cut_short", "compiled_dispatch", "compiled_subgraphs",
    "compiler_map", "compiler_map_foreign", "compiler_map_lacks", "compiler_map_missing",
    "compared_open_end", "compared_rows_lost", "contradiction", "control",
    "counter_units_differ", "counters_ambiguous", "counters_beyond", "counters_differ",
    "counters_of_launches", "counters_of_ranges", "counters_on_one_side", "cut_short",
    "database_half_written", "decided_at",
    "detail_borrowed", "detail_differs", "device_counts_differ", "device_memory",
    "capture_and_replay",
    "device_busy", "device_events", "device_state_unknown",
    "devices_differ", "different_models", "different_phases", "different_sizes",
    "different_work", "dtype_converted",
    "durations_impossible",
    "engine_profiles_differ", "engine_versions_differ", "engines_differ", "exports_renumbered",
    "event_cap", "files_alternate", "files_in_turn", "files_paired", "files_undated",
    "files_unlike", "formats_differ", "governor", "graph_ambiguous", "graph_foreign",
    "graph_missing", "graph_not_shown", "graph_unusable", "graphs_of_two_models", "graphs_whole",
    "graphs_launched", "graphs_unrecorded",
    "groups_by_class", "groups_inferred", "groups_launched", "groups_listed", "groups_not_formed",
    "gzip_cut_short", "gzip_junk",
    "heads_again", "heavy_counts_differ", "host_events", "host_spans_left",
    "inferred_without_partner", "json_mended",
    "kernels_before_launch", "kernels_hidden", "kernels_not_recorded", "kernels_of_nodes",
    "kernels_waited_for", "kernels_without_call", "lanes_cover", "lanes_repeat",
    "large_output_difference",
    "launchers_assumed", "launched_before", "launchers_by_place", "layer_means", "launch_times",
    "launches_unknown",
    "levels_differ", "load", "load_seen", "log_read", "log_unreadable", "long_rows",
    "long_text", "longest_block", "machines_unknown", "mean_differs", "means_only",
    "members_unknown", "memory_beyond", "missing_bracket", "model_not_shown", "models_unknown",
    "names_with_commas",
    "neighbours_left", "nested_operators",
    "no_device_rows", "no_kernels", "no_operators", "no_runs", "nodes_by_kernels",
    "nodes_without_kernels", "not_in_graph", "not_operators",
    "notes_unknown",
    "one_of_devices", "one_of_processes", "one_recording",
    "one_class", "one_process_each", "one_side_unknown", "operator_counts_differ",
    "open_last_line",
    "operators_over_one", "operators_unnamed", "originals_recomputed", "originals_unmatched",
    "other_baseline", "other_events", "outputs_not_compared", "outside_runs",
    "overlapping_calls", "paired", "paired_command", "paired_engines", "paired_providers",
    "paired_releases", "paired_spin", "part_missing", "part_unreadable",
    "profiled_headline", "profiler_inflation", "providers_differ", "quantised", "ranks_apart",
    "ranks_of_one_job", "recorded_with",
    "recordings_differ", "requests_at_once", "rounded_starts", "rows_lost", "rows_twice",
    "runs_averaged",
    "runs_differ",
    "run_behind_earlier", "runs_annotated", "runs_beside", "runs_cut_alike", "runs_entered",
    "runs_of_device", "runs_of_other_work", "runs_repeated", "runs_twice",
    "runs_unknown", "runs_untold", "runs_without_operators",
    "same_file", "same_variant", "samples_profiled", "samples_summed", "samples_twice",
    "several_processes", "short_rows", "slow_executions", "slow_first_runs", "source_moved",
    "starts_go_back",
    "statistic_differs", "step_time_differs", "step_time_overlaps", "stopped_device",
    "stopped_interrupted", "stopped_seconds", "streams_overlap", "subgraphs", "tools_differ",
    "total_row",
    "totals_joined", "trailing_bytes", "training_step", "translated", "twin_columns",
    "unclosed_quotes",
    "unexplained_operators", "unit_assumed", "units_beyond", "units_untold",
    "unknown_events", "unknown_operators",
    "unmapped_originals", "unpaired", "unpaired_events", "unsized_tensors", "untimed_operators",
    "utilisation_over_one", "values_missing", "versions_differ", "weak_attribution",
    "whole_runs_kept", "worlds_differ", "zstd_cut_short",
]  # fmt: skip

# A file, or its recording, that stops before its end: what is missing may be most of it.
ENDS_EARLY: frozenset[DiagnosticCode] = frozenset(
    (
        "cut_short",
        "gzip_cut_short",
        "zstd_cut_short",
        "event_cap",
        "database_half_written",
        "log_unreadable",
    )
)

# Kinds of runs that are units of work of a file that marks no runs: annotations of its host, and
# repetitions of its kernels. Tables of them have the annotation of each as `name`; those of periods
# of a device have `host_ns`, how long one takes on the host, and `is_behind`, where a single one
# begins behind what was launched before the file began.
# What runs are called in a sentence.
RunWord = Literal["runs", "steps", "repetitions"]
UNIT_RUNS: tuple[Literal["annotation", "repeat"], ...] = ("annotation", "repeat")

# column -> (dtype, may be null). Int64/Float64/boolean are pandas' nullable types.
RUN_COLUMNS = {
    "run": "int64",
    "kind": "category",  # model_run, step, iteration, annotation, repeat, file
    "start_ns": "Int64",
    "dur_ns": "int64",
    "cpu_ns": "Int64",  # process CPU time, where the recorder took it
    "profiled": "bool",
    "warmup": "bool",  # a run that its recorder marked as warm-up
    "block": "Int64",
    "round": "Int64",
    "launches": "Int64",  # calls of the host that launch kernels or graphs on the device
    "launch_ns": "Int64",  # the host's time in them
    "copy": "Int64",  # 1 or 2: the two copies of the baseline (A/A control)
}
OPERATOR_COLUMNS = {
    "operator": "int64",  # 0, 1, 2, … = row number
    "name": "category",
    "op_type": "category",
    "op_class": "category",
    "provider": "category",  # execution provider or core type
    "level": "category",  # device_kernel, framework_op, graph_layer
    "launched_by": "category",
    "inputs": "category",  # canonical text: float32[1,3,224,224]; float32[64,3,7,7]
    "outputs": "category",
    "bytes_in": "Int64",
    "bytes_param": "Int64",
    "bytes_out": "Int64",
    "flops": "Int64",  # floating-point operations of one call
    "flops_source": "category",
    "members": "category",  # original operators of a fused one, joined by ' + '
    "members_source": "category",
    "is_communication": "bool",
}
CALL_COLUMNS = {
    "operator": "int64",
    "run": "Int64",  # null: outside every run
    "device": "category",
    "stream": "category",
    "start_ns": "Int64",
    "dur_ns": "int64",  # self time where calls nest
    "span_ns": "Int64",  # from start to end where calls nest inside it, else null
    "wait_ns": "Int64",  # from the end of the operator before it on the stream; first: null
    "n": "int64",  # 1; or k where a file only gives the total of k calls
    "source_row": "Int64",
}


@dataclass(frozen=True)
class Diagnostic:
    """Something a reader or a comparison noticed; analysis/wording makes the sentence of it."""

    severity: Severity
    code: DiagnosticCode
    count: int = 1
    example: Example = ""
    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))


def noted(
    severity: Severity,
    code: DiagnosticCode,
    found: int | Sequence[Example],
    example: Example = "",
    *,
    chars: int = DEFAULT_LIMITS.text_chars,
) -> list[Diagnostic]:
    """A note on so many findings, or on these with the first as example; none without any."""
    if not isinstance(found, int):
        example, found = clean_example(found[0], chars) if found else "", len(found)
    return [Diagnostic(severity, code, found, example)] if found else []


def clean_example(example: Example, chars: int = DEFAULT_LIMITS.text_chars) -> Example:
    """The example fit to be shown; names in messages are so already."""
    return clean_text(example, chars) if isinstance(example, str) else example


def merged(notes: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Notes of several parts of one recording, those of one code as one."""
    joined: dict[str, Diagnostic] = {}
    for note in notes:
        known = joined.get(note.code)
        if known is not None:
            example = known.example or note.example
            note = replace(known, count=known.count + note.count, example=example)
        joined[note.code] = note
    return list(joined.values())


@dataclass(frozen=True)
class Part:
    """One of several recordings in a trace: its name, its hash, and when it began."""

    name: str
    sha256: str
    started_ns: int | None


@dataclass(frozen=True)
class Meta:
    """Where a trace comes from. `redactable` names fields that may identify a person.

    `files` are the paths of further files that were read with it. `started_ns` is when the
    recording began, in ns since 1970 or since the machine started, whichever the format tells; it
    puts recordings of one machine in order. None where the file does not say. `parts` are those of
    a trace of several recordings, part n being its block n; none of any other trace. `job` is which
    rank of which job it is of, None where the file does not say anything of it.
    """

    format: str
    tool: str
    version: str | None = None
    device: str | None = None
    file_name: str = ""
    sha256: str = ""
    variant: str | None = None
    files: tuple[str, ...] = ()
    redactable: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    started_ns: int | None = None
    parts: tuple[Part, ...] = ()
    job: Job | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """One recording: `runs`, distinct `operators`, their `calls`, and what was noticed; `stacks`
    is where in the host's code they come from, None where the file does not say it, `memory` the
    memory of each device over time, where it does; `host_waits` are calls of the host that wait for
    the device, None where the file has no calls of the host to a device; `host` is what its threads
    did and when they launched the calls, None where the file does not say it; `originals` are
    operators of the model that members name, in the order of one run, none where no compiler told
    them; `program` the operators of the host behind the calls of a device, None where a compiler
    made one of them, and where the file does not say it; `collectives` is what the file says of
    collectives beside their times, None where it does not; `captured` are kernels that the host
    recorded into graphs without running them, None where it recorded none; `others` are the other
    processes or devices of the same file, each under the name of its `meta.variant`, none where
    there is one."""

    meta: Meta
    runs: pd.DataFrame
    operators: pd.DataFrame
    calls: pd.DataFrame
    diagnostics: tuple[Diagnostic, ...] = ()
    stacks: Stacks | None = None
    memory: tuple[MemoryUse, ...] = ()
    host_waits: HostWaits | None = None
    host: HostActivity | None = None
    originals: tuple[Original, ...] = ()
    program: Program | None = None
    collectives: Collectives | None = None
    captured: Captured | None = None
    others: tuple[Trace, ...] = ()

    def __post_init__(self) -> None:
        _check("runs", self.runs, RUN_COLUMNS)
        _check("operators", self.operators, OPERATOR_COLUMNS)
        _check("calls", self.calls, CALL_COLUMNS)
        count = len(self.operators)
        if not (self.operators["operator"].to_numpy() == np.arange(count)).all():
            raise ValueError("operators: operator is not the row number")
        known = self.calls["operator"].to_numpy()
        if len(known) and (known.min() < 0 or known.max() >= count):
            raise ValueError("calls: operator is not in operators")
        if any((table["dur_ns"].to_numpy() < 0).any() for table in (self.calls, self.runs)):
            raise ValueError("a duration is negative")

    @cached_property
    def units(self) -> Mapping[str, Trace]:
        """The processes or devices of the file by name, this one first; none where it has one."""
        every = (self, *self.others) if self.others else ()
        return {trace.meta.variant or "": trace for trace in every}

    @cached_property
    def profiled_runs(self) -> pd.DataFrame:
        """Runs under the profiler."""
        return self.runs[self.runs["profiled"]]

    @cached_property
    def has_runs(self) -> bool:
        """True when the file tells its runs apart, so that figures per run are of one run."""
        kinds = self.profiled_runs["kind"]
        return len(kinds) > 0 and not bool((kinds == "file").any())

    @property
    def has_blocks(self) -> bool:
        """True where runs are in blocks, of copies in a recording or of several files: these have a
        typical run. Those of one process have a mean run."""
        return bool(self.meta.parts) or bool(self.runs["copy"].notna().any())

    @cached_property
    def told_runs(self) -> pd.DataFrame:
        """Profiled runs whose operators the file has; all of them where it has none of any.

        Of the others only the time is known, and perhaps what they communicated.
        """
        computes = ~self.operators["is_communication"].to_numpy()
        runs = self.calls["run"].to_numpy("int64", na_value=-1)
        told = pd.unique(runs[computes[self.calls["operator"].to_numpy()]])
        is_told = self.profiled_runs["run"].isin(told)
        return self.profiled_runs[is_told] if is_told.any() else self.profiled_runs

    @cached_property
    def sampled_runs(self) -> pd.DataFrame:
        """Un-profiled runs: the only ones that a headline may rest on."""
        return self.runs[~self.runs["profiled"]]

    @cached_property
    def early_end(self) -> Diagnostic | None:
        """Why nothing may be said of a run: the file stops before its end, and nothing in it shows
        which runs are whole. None of a whole file, and of one that was left with its whole runs."""
        codes = {note.code for note in self.diagnostics}
        if "whole_runs_kept" in codes:
            return None
        return next((note for note in self.diagnostics if note.code in ENDS_EARLY), None)

    @property
    def ends_early(self) -> bool:
        """True where `early_end` says why nothing may be said of a run."""
        return self.early_end is not None

    def texts(self, column: str) -> list[str]:
        """A column of the operators as text, '' for null."""
        return self.each(column, str)

    def each(self, column: str, tell: Callable[[str], Told]) -> list[Told]:
        """Return what `tell` says of the text of each operator in a column, '' for null: asked
        once for each text that there is."""
        values = self.operators[column].array
        told = [*map(tell, values.categories.to_numpy(dtype=object)), tell("")]
        return [told[code] for code in values.codes.tolist()]


_FEW_TEXTS = 8  # that may be kept for the next trace
_LISTED = (list, range, np.ndarray, ExtensionArray)  # of which a cell is a row


def runs_frame(**columns: object) -> pd.DataFrame:
    """A valid runs table from the columns that are known; the others are null or False."""
    return _frame(RUN_COLUMNS, columns, {"profiled": False, "warmup": False, "kind": "model_run"})


def operators_frame(**columns: object) -> pd.DataFrame:
    """A valid operators table from the columns that are known; the others are null."""
    return _frame(OPERATOR_COLUMNS, columns, {"is_communication": False, "op_class": "unknown"})


def calls_frame(**columns: object) -> pd.DataFrame:
    """A valid calls table from the columns that are known; counters keep their own names."""
    return _frame(CALL_COLUMNS, columns, {"n": 1})


def _frame(
    schema: Mapping[str, str], columns: Mapping[str, object], defaults: Mapping[str, object]
) -> pd.DataFrame:
    listed = all(isinstance(values, _LISTED) for values in columns.values())
    given: Any = columns if listed else pd.DataFrame(dict(columns))
    made = {name: _array(given[name], schema.get(name)) for name in columns}
    first = np.zeros(len(next(iter(made.values()), ())), np.intp)
    filled = {
        name: made[name] if name in made else _one(defaults.get(name), dtype).take(first)
        for name, dtype in schema.items()
    }
    # What was given as arrays is not copied: whoever makes a frame gives its columns away.
    return pd.DataFrame(filled | made, index=None if listed else given.index, copy=False)


def _array(values: Any, dtype: Any) -> ExtensionArray:
    """A list becomes the dtype at once: pandas would first guess another, cell by cell."""
    if dtype is not None and str(getattr(values, "dtype", "")) == dtype:
        made: ExtensionArray = pd.array(values, dtype=dtype, copy=False)
    elif isinstance(values, pd.Series):
        made = (values if dtype is None else values.astype(dtype)).array
    elif dtype is None:
        made = values if isinstance(values, ExtensionArray) else pd.Series(values).array
    else:
        made = _of_cells(values, dtype)
    return made


def _of_cells(values: Any, dtype: Any) -> ExtensionArray:
    """What `pd.array` makes of texts or whole numbers and None, in a fraction of the time."""
    kinds = set(map(type, values)) if isinstance(values, list) else {object}
    if dtype == "category" and kinds <= {str, type(None)}:
        places = {text: at for at, text in enumerate(sorted(set(values) - {None}))}
        codes = np.array([-1 if text is None else places[text] for text in values], dtype="int64")
        made: ExtensionArray = pd.Categorical.from_codes(codes, dtype=_texts_of(tuple(places)))
    elif dtype == "Int64" and kinds <= {int, type(None)}:
        is_null = np.array([value is None for value in values], dtype=bool)
        numbers = np.array([value or 0 for value in values], dtype="int64")
        made = pd.arrays.IntegerArray(numbers, is_null)
    else:
        made = pd.array(values, dtype=dtype)
    return made


def _texts_of(texts: tuple[str, ...]) -> pd.CategoricalDtype:
    """The type of a column of these texts: making it takes longer than making the column."""
    return _kept_texts(texts) if len(texts) <= _FEW_TEXTS else _kept_texts.__wrapped__(texts)


@lru_cache(maxsize=256)
def _kept_texts(texts: tuple[str, ...]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(texts))


@lru_cache
def _one(value: object, dtype: str) -> ExtensionArray:
    """A column of one cell: repeating it is 50 times as fast as making a column of that type."""
    made: ExtensionArray = pd.Series([value], dtype=dtype).array
    return made


def _check(table: str, frame: pd.DataFrame, schema: Mapping[str, str]) -> None:
    found = frame.dtypes.to_dict()
    for name, dtype in schema.items():
        if name not in found:
            raise ValueError(f"{table}: column {name} is missing")
        if str(found[name]) != dtype:
            raise ValueError(f"{table}.{name} is {found[name]}, not {dtype}")
