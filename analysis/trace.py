"""Trace: what one profiler file (or one variant of an experiment) says, as three tables.

Checked once, at construction; after that nobody checks columns again. Times are integers in
ns, missing is null and never 0, strings are categorical, and no cell holds a list: a million
calls stay small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from analysis.limits import DEFAULT_LIMITS
from analysis.text import clean_text

Severity = Literal["info", "warning", "error"]
Value = str | int | float | None

# column -> (dtype, may be null). Int64/Float64/boolean are pandas' nullable types.
RUN_COLUMNS = {
    "run": "int64",
    "kind": "category",  # model_run, step, iteration, file
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
    code: str
    count: int = 1
    example: str = ""
    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))


def noted(
    severity: Severity,
    code: str,
    found: int | Sequence[str],
    example: str = "",
    *,
    chars: int = DEFAULT_LIMITS.text_chars,
) -> list[Diagnostic]:
    """A note on so many findings, or on these with the first as example; none without any."""
    if not isinstance(found, int):
        example, found = clean_text(found[0], chars) if found else "", len(found)
    return [Diagnostic(severity, code, found, example)] if found else []


@dataclass(frozen=True)
class Meta:
    """Where a trace comes from. `redactable` names fields that may identify a person.

    `files` are the paths of further files that were read with it.
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


@dataclass(frozen=True, eq=False)
class Trace:
    """One recording: `runs`, distinct `operators`, their `calls`, and what was noticed."""

    meta: Meta
    runs: pd.DataFrame
    operators: pd.DataFrame
    calls: pd.DataFrame
    diagnostics: tuple[Diagnostic, ...] = ()

    def __post_init__(self) -> None:
        _check("runs", self.runs, RUN_COLUMNS)
        _check("operators", self.operators, OPERATOR_COLUMNS)
        _check("calls", self.calls, CALL_COLUMNS)
        if not (self.operators["operator"].to_numpy() == range(len(self.operators))).all():
            raise ValueError("operators: operator is not the row number")
        known = self.calls["operator"]
        if len(known) and (known.min() < 0 or known.max() >= len(self.operators)):
            raise ValueError("calls: operator is not in operators")
        if (self.calls["dur_ns"] < 0).any() or (self.runs["dur_ns"] < 0).any():
            raise ValueError("a duration is negative")

    @cached_property
    def profiled_runs(self) -> pd.DataFrame:
        """Runs under the profiler."""
        return self.runs[self.runs["profiled"]]

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
    given = pd.DataFrame(dict(columns))
    made: dict[str, ExtensionArray] = {}
    for name, dtype in schema.items():
        if name not in columns:
            made[name] = _one(defaults.get(name), dtype).take(np.zeros(len(given), np.intp))
        elif str(given[name].dtype) == dtype:
            made[name] = given[name].array
        else:
            made[name] = given[name].astype(dtype).array  # type: ignore[call-overload]
    made |= {name: given[name].array for name in columns if name not in schema}
    return pd.DataFrame(made, index=given.index)


@lru_cache
def _one(value: object, dtype: str) -> ExtensionArray:
    """A column of one cell: repeating it is 50 times as fast as making a column of that type."""
    made: ExtensionArray = pd.Series([value], dtype=dtype).array
    return made


def _check(table: str, frame: pd.DataFrame, schema: Mapping[str, str]) -> None:
    for name, dtype in schema.items():
        if name not in frame:
            raise ValueError(f"{table}: column {name} is missing")
        if str(frame[name].dtype) != dtype:
            raise ValueError(f"{table}.{name} is {frame[name].dtype}, not {dtype}")
