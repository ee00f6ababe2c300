"""Subject: the side that findings are about, and what several kinds of them look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.advice.finding import Finding, FindingCode, Unknown
from fusescope.analysis.advice.settings import is_of_engine
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.roofs import UnderRoofs, under_roofs
from fusescope.analysis.compare.timing.run_times import run_times
from fusescope.analysis.metrics.breakdown import by_operator, steady_calls
from fusescope.analysis.metrics.exposure import hidden_times
from fusescope.analysis.metrics.spans import call_times, run_spans
from fusescope.analysis.metrics.step import StepParts, mean_gaps, mean_step
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.short_names import short_name
from fusescope.analysis.text import clean_text

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.compare.side import Side
    from fusescope.analysis.host.runs import IdleOfRuns
    from fusescope.analysis.trace import Trace, Value

# What a kind gives: its findings, or why it cannot be answered.
Answer = tuple[Finding, ...] | Unknown
MIN_SHARE = 0.02  # of the run: below it a finding is not worth a line
MAX_NAMES = 8
_NAME_CHARS = 120
# Columns of operators under their roofs that are of the time of one execution.
_RATES = ("utilisation", "attained_flops_per_s", "attained_bytes_per_s", "bound_share")
_AND, _AND_MORE = " + ", " + …"


class Work(msgspec.Struct, frozen=True):
    """Operations and compulsory bytes of an operator in one run."""

    flops: float
    bytes: float


@dataclass(frozen=True, eq=False)
class Subject:
    """One side; `comparison` where it is the candidate of one."""

    side: Side
    comparison: Comparison | None = None

    @property
    def trace(self) -> Trace:
        """The trace of the side."""
        return self.side.trace

    @cached_property
    def operators(self) -> pd.DataFrame:
        """Return `by_operator` of the side: one row an operator that ran, in a recording without
        the time of slow executions, as its ledger has them."""
        table, kept = by_operator(self.trace), self._steady_part
        if kept is None:
            return table
        return table.assign(per_run_ns=table["per_run_ns"] * kept, mean_ns=table["mean_ns"] * kept)

    @cached_property
    def slow_ns(self) -> float:
        """Return what slow executions add to a mean profiled run of a recording, in ns; 0 for other
        files."""
        return 0.0 if self.side.variant is None else run_times(self.trace, None).slow.per_run_ns

    @cached_property
    def _steady_part(self) -> np.ndarray | None:
        """Return the part of the time of each row that is not of slow executions; None without
        any."""
        if not self.slow_ns:
            return None
        calls = run_times(self.trace, None).calls
        sums = calls.groupby("operator")[["dur_ns", "slow_ns"]].sum()
        sums = sums.reindex(by_operator(self.trace)["operator"].astype("int64"))
        whole, slow = (sums[name].to_numpy(dtype=float) for name in ("dur_ns", "slow_ns"))
        part = np.divide(slow, whole, out=np.zeros(len(sums)), where=whole > 0)
        return np.asarray(1 - part)

    @cached_property
    def under(self) -> UnderRoofs:
        """Those under the roofs of the machine, in the same rows."""
        assumptions = self.comparison.assumptions if self.comparison else Assumptions()
        under, kept = under_roofs(assumptions, self.side), self._steady_part
        if kept is None:
            return under
        rates = {name: under.operators[name] / kept for name in _RATES}
        return msgspec.structs.replace(under, operators=under.operators.assign(**rates))

    @cached_property
    def times(self) -> dict[str, float]:
        """ns per run by the name of an operator."""
        found: dict[str, float] = {}
        for name, ns in zip(self.texts["name"], self.operators["per_run_ns"], strict=True):
            found[name] = found.get(name, 0.0) + float(ns)
        return found

    @cached_property
    def work(self) -> dict[str, Work]:
        """Operations and bytes per run by the name of an operator, where both are known."""
        table = self.under.operators
        columns = (self.texts["name"], self.operators["flops"], table["bytes"])
        counts = self.operators["count"].astype(float)
        return {
            name: Work(float(flops) * count, float(size) * count)
            for name, flops, size, count in zip(*columns, counts, strict=True)
            if not pd.isna(flops) and not pd.isna(size)
        }

    @cached_property
    def step(self) -> StepParts | None:
        """The mean run in parts; None where they are not known, and where it took no time."""
        found = mean_step(self.trace)
        return found if found is not None and found.span_ns else None

    @cached_property
    def gaps_ns(self) -> np.ndarray:
        """For each row of `operators`, the time of the mean run in which nothing ran before its
        calls; zeros where its parts are not known."""
        gaps = mean_gaps(self.trace)
        if gaps is None:
            return np.zeros(len(self.operators))
        return np.asarray(gaps.before_ns[self.operators["operator"].to_numpy()], dtype=float)

    @property
    def idle_after_ns(self) -> float:
        """The time of the mean run after its last operator, likewise; 0 where its parts are not
        known."""
        gaps = mean_gaps(self.trace)
        return 0.0 if gaps is None else gaps.after_ns

    @cached_property
    def host_idle(self) -> IdleOfRuns | None:
        """The idle time of the device by what the host did; None where that is not known, and
        without a device."""
        if not self.has_kernels:
            return None
        from fusescope.analysis.host.runs import idle_of_runs

        return idle_of_runs(self.trace)

    @property
    def has_kernels(self) -> bool:
        """True where the file tells what ran on a device that the host launches on."""
        return bool((self.trace.operators["level"] == "device_kernel").any())

    @cached_property
    def run_ns(self) -> float | None:
        """Return the mean run as profiled, without `slow_ns`; without runs the time that the file
        spans, of a file without starts its operators together. None without operators."""
        if self.trace.has_runs:
            spans = run_spans(self.trace)["span_ns"].astype(float)
            if len(spans) and float(spans.mean()) > self.slow_ns:
                return float(spans.mean()) - self.slow_ns
        spanned_ns = 0.0 if self.trace.has_runs else _spanned_ns(self.trace)
        total = spanned_ns or self.operators_ns
        return total if total > 0 else None

    @cached_property
    def unprofiled_ns(self) -> float | None:
        """The median un-profiled run of a variant; None without any."""
        walls = np.array(self.side.variant.samples.wall_ns if self.side.variant else (), float)
        return float(np.median(walls[walls > 0])) if (walls > 0).any() else None

    @cached_property
    def median_unprofiled_ns(self) -> float | None:
        """The median of the un-profiled runs of the trace that are no warm-up; None without any."""
        sampled = self.trace.sampled_runs
        dur_ns = sampled.loc[~sampled["warmup"], "dur_ns"]
        return None if dur_ns.empty else float(dur_ns.median())

    @property
    def operators_ns(self) -> float:
        """All operators of a run as profiled."""
        return float(self.operators["per_run_ns"].sum())

    @property
    def unprofiled_part(self) -> float:
        """By what a time as profiled is multiplied for an un-profiled run: profiling makes every
        operator longer. 1 where either is not known."""
        if self.unprofiled_ns is None or not self.operators_ns:
            return 1.0
        return self.unprofiled_ns / self.operators_ns

    @cached_property
    def texts(self) -> pd.DataFrame:
        """Columns of `operators` as plain text, '' for null: name, op_type, op_class, provider,
        level."""
        ran = self.operators["operator"].to_numpy()
        columns = ("name", "op_type", "op_class", "provider", "level")
        told = {name: np.array(self.trace.texts(name), dtype=object)[ran] for name in columns}
        return pd.DataFrame(told, dtype="object")

    def time_of(self, chosen: np.ndarray) -> float:
        """ns per run of the operators that a mask chooses."""
        return float(self.operators["per_run_ns"].to_numpy(dtype=float)[chosen].sum())

    @cached_property
    def hidden_ns(self) -> np.ndarray:
        """For each row of `operators`, its time in ns per run inside of communication that lasts
        longer: removing it saves nothing of the run."""
        hidden = hidden_times(self.trace)
        if hidden is None or not hidden.any():
            return np.zeros(len(self.operators))
        steady = steady_calls(self.trace)
        of_call = pd.Series(hidden, self.trace.calls.index).loc[steady.index]
        sums = of_call.groupby(steady["operator"].to_numpy()).sum() / self.runs
        return sums.reindex(self.operators["operator"].astype("int64")).to_numpy(dtype=float)

    @property
    def runs(self) -> int:
        """How many runs count, at least 1."""
        return max(1, len(steady_runs(self.trace).runs))

    def names(self, chosen: np.ndarray) -> tuple[str, ...]:
        """Names of those operators, fit to be shown, the one whose executions take most time
        together first, whatever their shapes; a few of many."""
        names = self.texts["name"].to_numpy()[chosen].tolist()
        each_ns = self.operators["per_run_ns"].to_numpy(dtype=float)[chosen].tolist()
        times: dict[str, float] = {}
        for name, ns in zip(map(shown, names), each_ns, strict=True):
            times[name] = times.get(name, 0.0) + ns
        return tuple(sorted(times, key=lambda name: -times[name])[:MAX_NAMES])

    def share(self, ns: float | None) -> float | None:
        """`ns` as a part of the run, at most all of it: operators of streams that overlap may take
        longer together."""
        return None if ns is None or not self.run_ns else min(1.0, ns / self.run_ns)

    def wasted(
        self, code: FindingCode, chosen: np.ndarray, values: Mapping[str, Value]
    ) -> tuple[Finding, ...]:
        """The finding that a run could do without these operators; none where they take too little
        of it. `values` are added to their time, their share and the name of the largest."""
        time_ns = self.time_of(chosen)
        if not self.matters(time_ns):
            return ()
        names, share = self.names(chosen), self.share(time_ns)
        told = {**values, "time_ns": time_ns, "share": share, "operator": names[0]}
        return (
            Finding(
                code,
                values=told,
                at_most_ns=time_ns,
                share=share,
                where="operators",
                names=names,
            ),
        )

    @property
    def other_engine(self) -> str:
        """The name of the engine that ran it, as findings have it, where that is not the one whose
        settings remedies are about; '' otherwise, and of a trace."""
        engine = None if is_of_engine(self.side) else self.side.engine
        return "" if engine is None else shown(engine.name)

    def executions(self, chosen: np.ndarray) -> int:
        """How often these operators run in a run, at least 1: some are in a few runs only."""
        return max(1, round(float(self.operators["count"].to_numpy(dtype=float)[chosen].sum())))

    def matters(self, ns: float) -> bool:
        """Return True for time that is worth a finding: of a run, or where a file marks none, of
        all operators, because between its runs nothing need run."""
        run_ns = (self.run_ns or 0.0) if self.trace.has_runs else 0.0
        whole_ns = max(run_ns, self.operators_ns)
        return whole_ns > 0 and ns >= MIN_SHARE * whole_ns


def _spanned_ns(trace: Trace) -> float:
    """The time from the first call of a trace to the end of the last; 0 where one has no start."""
    if not len(trace.calls) or trace.calls["start_ns"].isna().any():
        return 0.0
    starts, lasts = call_times(trace.calls)
    return float((starts + lasts).max() - starts.min())


def shown(name: object) -> str:
    """A name from a file, fit to be shown; 'unknown' for none."""
    text = name if isinstance(name, str) else ""
    return clean_text(text, _NAME_CHARS) or "unknown"


def shown_chain(types: Sequence[str]) -> str:
    """Return op types one after the other, fit to be shown: each whole in its short form, '…' for
    those that do not fit; at least the first, which is cut where it alone does not."""
    names = [short_name(name) for name in types]
    chain = shown(names[0])
    for name in names[1:]:
        if len(chain) + len(name) + len(_AND) + len(_AND_MORE) > _NAME_CHARS:
            return chain + _AND_MORE
        chain = f"{chain}{_AND}{shown(name)}"
    return chain
