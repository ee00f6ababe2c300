"""What the device counted: ratios, bandwidths, hit rates and operations of profilers' counters.

Never mixed with models: a cache hit rate here is one of the device's cache, not of the modelled
one. Definitions are those of CANN's documentation of the profiler's files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.utilisation import MAX_UNCOUNTED
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.trace import CALL_COLUMNS, Trace

Unit = Literal["fraction", "factor", "GB/s", "flop", "KB"]
Core = Literal["aic", "aiv", ""]


# Columns that are not counters of the hardware, as letters only.
_NOT_COUNTED = frozenset(
    ("registersperthread", "sharedmemory", "staticsharedmemory", "dynamicsharedmemory", "gridsize",
     "blocksize", "blockspersm", "warpspersm", "blockdim", "blocknum", "mixblockdim", "mixblocknum",
     "bytes", "bytesaccessed", "memorybandwidth", "throughput", "privatesegmentsize",
     "groupsegmentsize", "ldsblocksize",
     "scratchsize", "vgprcount", "accumvgprcount", "sgprcount", "workgroupsize", "regtrd",
     "stcsmem", "dymsmem", "estachievedoccupancy", "occupancy", "occpct", "totalallocated",
     "totalreserved", "totalactive")
)  # fmt: skip
HEAD_UNIT = re.compile(r"\s*\(([^()]*)\)$")


class Measure(msgspec.Struct, frozen=True):
    """One figure of counters: the columns that it is made of, each with the core it is of.

    `of` says whose time a column is weighed with: the cube core's (or the one core's, where cube
    and vector are not apart), the vector core's, or '' the operator's duration. `is_total`: a sum
    per run instead of a mean.
    """

    code: str
    unit: Unit
    of: tuple[tuple[str, Core], ...]
    is_total: bool = False


def _both(name: str) -> tuple[tuple[str, Core], ...]:
    """A counter of either core, or of the one core of chips that do not part them."""
    return ((f"aic_{name}", "aic"), (f"aiv_{name}", "aiv"), (name, "aic"))


_CUBE_FLOPS = _both("cube_fops")
MEASURES: tuple[Measure, ...] = (
    Measure(
        "cube_ratio",
        "fraction",
        (("aic_mac_ratio", "aic"), ("aic_cube_ratio", "aic"), ("mac_ratio", "aic"),
         ("cube_ratio", "aic")),
    ),
    Measure("vector_ratio", "fraction", (("aiv_vec_ratio", "aiv"), ("vec_ratio", "aic"))),
    Measure("scalar_ratio", "fraction", _both("scalar_ratio")),
    Measure("mte1_ratio", "fraction", _both("mte1_ratio")),
    Measure("mte2_ratio", "fraction", _both("mte2_ratio")),
    Measure("mte3_ratio", "fraction", _both("mte3_ratio")),
    Measure("fixpipe_ratio", "fraction", _both("fixpipe_ratio")),
    Measure("memory_bound", "factor", (("memory_bound", "aic"),)),
    Measure(
        "cube_utilisation", "fraction", (("cube_utilization", ""), ("aic_cube_utilization", ""))
    ),
    Measure("l2_hit_rate", "fraction", (("l2_hit_rate", ""),)),
    Measure("l2_victim_rate", "fraction", (("l2_victim_rate", ""),)),
    Measure("icache_miss_rate", "fraction", _both("icache_miss_rate")),
    Measure("cube_fp16_ratio", "fraction", (*_both("mac_fp16_ratio"), *_both("cube_fp16_ratio"))),
    Measure("cube_int8_ratio", "fraction", (*_both("mac_int8_ratio"), *_both("cube_int8_ratio"))),
    Measure("vector_fp32_ratio", "fraction", _both("vec_fp32_ratio")),
    Measure("vector_fp16_ratio", "fraction", _both("vec_fp16_ratio")),
    Measure("vector_int32_ratio", "fraction", _both("vec_int32_ratio")),
    Measure("vector_misc_ratio", "fraction", _both("vec_misc_ratio")),
    Measure("bank_group_conflict", "fraction", _both("vec_bankgroup_cflt_ratio")),
    Measure("bank_conflict", "fraction", _both("vec_bank_cflt_ratio")),
    Measure("resource_conflict", "fraction", _both("vec_resc_cflt_ratio")),
    Measure("cube_flops", "flop", _CUBE_FLOPS, is_total=True),
    Measure(
        "vector_flops", "flop", (*_both("vector_fops"), *_both("vec_fops")), is_total=True
    ),
    Measure("ub_read_bandwidth", "GB/s", _both("ub_read_bw")),
    Measure("ub_write_bandwidth", "GB/s", _both("ub_write_bw")),
    Measure("ub_vector_read_bandwidth", "GB/s", _both("ub_read_bw_vector")),
    Measure("ub_vector_write_bandwidth", "GB/s", _both("ub_write_bw_vector")),
    Measure("ub_scalar_read_bandwidth", "GB/s", _both("ub_read_bw_scalar")),
    Measure("ub_scalar_write_bandwidth", "GB/s", _both("ub_write_bw_scalar")),
    Measure("gm_to_ub_bandwidth", "GB/s", _both("gm_to_ub_bw")),
    Measure("ub_to_gm_bandwidth", "GB/s", _both("ub_to_gm_bw")),
    Measure("l0a_read_bandwidth", "GB/s", _both("l0a_read_bw")),
    Measure("l0a_write_bandwidth", "GB/s", _both("l0a_write_bw")),
    Measure("l0b_read_bandwidth", "GB/s", _both("l0b_read_bw")),
    Measure("l0b_write_bandwidth", "GB/s", _both("l0b_write_bw")),
    Measure("l0c_read_bandwidth", "GB/s", (*_both("l0c_read_bw_cube"), *_both("l0c_read_bw"))),
    Measure("l0c_write_bandwidth", "GB/s", (*_both("l0c_write_bw_cube"), *_both("l0c_write_bw"))),
    Measure("l1_read_bandwidth", "GB/s", _both("l1_read_bw")),
    Measure("l1_write_bandwidth", "GB/s", _both("l1_write_bw")),
    Measure("l2_read_bandwidth", "GB/s", _both("l2_read_bw")),
    Measure("l2_write_bandwidth", "GB/s", _both("l2_write_bw")),
    Measure("main_memory_read_bandwidth", "GB/s", _both("main_mem_read_bw")),
    Measure("main_memory_write_bandwidth", "GB/s", _both("main_mem_write_bw")),
    Measure("main_memory_read", "KB", _both("read_main_memory_datas"), is_total=True),
    Measure("main_memory_write", "KB", _both("write_main_memory_datas"), is_total=True),
    Measure(
        "occupancy",
        "fraction",
        (("est._achieved_occupancy", ""), ("achieved_occupancy", ""), ("occupancy", "")),
    ),
    Measure("copy_bandwidth", "GB/s", (("memory_bandwidth", ""),)),
)  # fmt: skip
UNITS: Mapping[str, Unit] = {measure.code: measure.unit for measure in MEASURES}
# Means over the time of cores: of cube and vector core each by its own, where they are apart, or
# of the one core that does both. Those of the two kinds of chip do not compare; totals do.
OF_CORES = frozenset(
    measure.code
    for measure in MEASURES
    if not measure.is_total and any(core for _, core in measure.of)
)

# Reads, and what computes beside them on the same core.
_BOUND: tuple[tuple[str, tuple[str, ...], Core], ...] = (
    ("aic_mte2_ratio", ("aic_mac_ratio", "aic_cube_ratio"), "aic"),
    ("aiv_mte2_ratio", ("aiv_vec_ratio",), "aiv"),
    ("mte2_ratio", ("mac_ratio", "vec_ratio"), "aic"),
)
_CORE_TIME: Mapping[Core, tuple[str, ...]] = {
    "aic": ("aicore_time", "aic_total_time", "aic_time"),
    "aiv": ("aiv_time", "aiv_total_time"),
}
_HIT = re.compile(
    r"(?:ai[cv]_)?(?:(?:write|r0_read|r1_read)_cache_hit|(?:read|write)_local_l2_hit)"
)
_MISS = re.compile(
    r"(?:ai[cv]_)?(?:(?:write|r0_read|r1_read)_cache_miss_allocate|(?:read|write)_local_l2_miss)"
)
_BETWEEN = re.compile(r"Memcpy (?:HtoD|DtoH)")  # a link, many times as slow as the device's memory
_LEAST_BYTES = 2.0**20  # GB/s x ns, of a copy: smaller ones say nothing about the bandwidth
_TIME_UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3}


class Counter(msgspec.Struct, frozen=True):
    """A counter over one run: its value, and the part of the operators' time it is known for."""

    value: float
    covered: float


def hardware_counters(trace: Trace) -> tuple[str, ...]:
    """Columns that hold what the device counted in a call, as the file heads them.

    Not what a kernel was launched with, what follows from that (occupancy), sizes of copies, nor
    the memory that was allocated at the time.
    """
    return tuple(
        str(name)
        for name in trace.calls.columns
        if name not in CALL_COLUMNS
        and re.sub(r"[^a-z]", "", HEAD_UNIT.sub("", str(name)).lower()) not in _NOT_COUNTED
        and bool(trace.calls[name].notna().any())
    )


def measures_of(name: str) -> frozenset[str]:
    """Return the codes of the figures that a column of counters is part of, by its head."""
    head = _head(name)
    return frozenset(
        measure.code for measure in MEASURES if any(head == column for column, _ in measure.of)
    )


def total_counters(trace: Trace) -> dict[str, Counter]:
    """Every measure that the trace has counters for, over the calls that count, by code.

    Means are weighed with the time of the core that a column is of, where the trace has it, else
    with the duration: mean = sum(value · time) / sum(time). Sums are per run. Communication is
    outside. `memory_bound` = sum(mte2_ratio · time) / sum(max(mac_ratio, vec_ratio) · time): how
    long reads took for each second of computing, above 1 is bound by memory; cores count each for
    itself where they are apart. `l2_hit_rate` = sum(hits) / sum(hits + misses) where there are
    counts, else the mean of the profiler's rates without its first operator, whose rate is not
    for reference. `copy_bandwidth` is that of copies between host and device: with the much faster
    ones inside a device's memory the mean would be a bandwidth that no copy had.
    """
    return dict(_everything(trace).total)


def counted_flops(trace: Trace) -> float | None:
    """FLOPs of heavy operators per run as the device counted them; None without the counter.

    Only the cube unit's: convolutions and matrix products, as the modelled figure counts them.
    None, too, where heavy operators with more than 5 % of their time were not counted.
    """
    table = _Counted(trace)
    known = [head for head, _ in _CUBE_FLOPS if head in table.heads]
    if not known:
        return None
    classes = trace.operators["op_class"].astype(str).map(is_heavy).to_numpy(dtype=bool)
    heavy = classes[table.operator]
    if not heavy.any():
        return None
    columns = [values for head in known if (values := table.column(head)) is not None]
    flops = _added(columns) * table.n
    counted = heavy & np.isfinite(flops)
    uncounted_ns = float(table.dur_ns[heavy & ~counted].sum())
    if uncounted_ns > MAX_UNCOUNTED * float(table.dur_ns[heavy].sum()):
        return None
    total = float(flops[counted].sum()) / table.runs
    return total if np.isfinite(total) and total > 0 else None


def operator_counters(trace: Trace) -> pd.DataFrame:
    """The measures of each operator, as `total_counters`; index: operator, columns: codes.

    Null where nothing was counted. Columns that no operator has are left out.
    """
    return _everything(trace).operators.copy(deep=False)


def type_counters(trace: Trace) -> pd.DataFrame:
    """The measures of each op type; index as in `breakdown.by_type`."""
    return _everything(trace).types.copy(deep=False)


class _Everything(msgspec.Struct, frozen=True, eq=False):
    """The measures of the whole trace, of each operator and of each op type."""

    total: Mapping[str, Counter]
    operators: pd.DataFrame
    types: pd.DataFrame


@once
def _everything(trace: Trace) -> _Everything:
    """At once: what is weighed is much larger than what comes of it, and takes longer."""
    table = _Counted(trace)
    operators = np.arange(len(trace.operators))
    names = trace.operators["op_type"].astype("object").where(trace.operators["op_type"].notna())
    codes, labels = pd.factorize(names.fillna("unknown"))
    whole, by_operator, by_type = table.by(np.zeros_like(operators), operators, codes)
    if "copy_bandwidth" in whole:
        whole["copy_bandwidth"] = table.bandwidth_of(names.fillna("").str.fullmatch(_BETWEEN))
    total = {}
    for code, (value, known_ns) in whole.items():
        if value.size and np.isfinite(value[0]):
            covered = float(known_ns[0] / table.total_ns) if table.total_ns else 0.0
            total[code] = Counter(float(value[0]), covered)
    return _Everything(
        total, _frame(by_operator, pd.RangeIndex(len(operators))), _frame(by_type, pd.Index(labels))
    )


def _frame(values: Mapping[str, tuple[np.ndarray, np.ndarray]], index: pd.Index) -> pd.DataFrame:
    known = {
        code: pd.array(np.where(np.isfinite(value), value, np.nan), dtype="Float64")
        for code, (value, _) in values.items()
        if np.isfinite(value).any()
    }
    return pd.DataFrame(known, index=index)


def has_split_cores(trace: Trace) -> bool | None:
    """True where cube and vector are cores of their own; None where the trace does not tell."""
    heads = _heads(trace.calls)
    if any(head.startswith("aiv_") for head in heads):
        return True
    return False if any(head in heads for head in ("aicore_time", "mac_ratio")) else None


def _heads(calls: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Counter columns by their head in lower case without unit: -> (column, unit)."""
    found: dict[str, tuple[str, str]] = {}
    for name in calls.columns:
        if name in CALL_COLUMNS:
            continue
        match = HEAD_UNIT.search(name)
        found.setdefault(_head(name), (name, match[1].strip() if match else ""))
    return found


def _head(name: str) -> str:
    """Return the head of a column in lower case, without its unit."""
    return HEAD_UNIT.sub("", name).strip().rstrip("%").strip().lower().replace(" ", "_")


class _Counted:
    """The calls that count, and the measures of any grouping of their operators.

    Few files have counters, so the calls are looked for only where there are some.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.heads = _heads(trace.calls)
        self.columns: dict[str, np.ndarray] = {}
        self.weights: dict[Core, np.ndarray] = {}

    @cached_property
    def steady(self) -> pd.DataFrame:
        return steady_calls(self.trace)

    @cached_property
    def computing(self) -> np.ndarray:
        """The places in `steady` of the calls that count."""
        is_communication = self.trace.operators["is_communication"].to_numpy()
        return np.flatnonzero(~is_communication[self.steady["operator"].to_numpy()])

    @cached_property
    def operator(self) -> np.ndarray:
        operator: np.ndarray = self.steady["operator"].to_numpy()[self.computing]
        return operator

    @cached_property
    def runs(self) -> int:
        return max(1, len(steady_runs(self.trace).runs))

    @cached_property
    def dur_ns(self) -> np.ndarray:
        dur_ns: np.ndarray = self.steady["dur_ns"].to_numpy()[self.computing].astype("float64")
        return dur_ns

    @cached_property
    def total_ns(self) -> float:
        return float(self.dur_ns.sum())

    @cached_property
    def n(self) -> np.ndarray:
        n: np.ndarray = self.steady["n"].to_numpy()[self.computing].astype("float64")
        return n

    @cached_property
    def first(self) -> list[int]:
        return _first_calls(self.trace)

    def by(self, *labels: np.ndarray) -> list[dict[str, tuple[np.ndarray, np.ndarray]]]:
        """For each grouping: code -> value of each group (nan: none), and the time in ns that it is
        known for. `labels` give the group of each operator, 0, 1, ….
        """
        found: list[dict[str, tuple[np.ndarray, np.ndarray]]] = [{} for _ in labels]
        if not self.heads:
            return found
        groups = [(of[self.operator], int(of.max(initial=-1)) + 1) for of in labels]
        with np.errstate(all="ignore"):
            for measure in MEASURES:
                pieces = self._pieces(measure)
                if pieces:
                    known = _Known.of(pieces, self.dur_ns)
                    for values, (group, count) in zip(found, groups, strict=True):
                        values[measure.code] = self._value(measure, known, group, count)
        return found

    def bandwidth_of(self, copies: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Return the bandwidth in GB/s of the large copies among these operators, and their time in
        ns, as one group; nan where there are none."""
        measure = next(measure for measure in MEASURES if measure.code == "copy_bandwidth")
        here = copies.to_numpy(dtype=bool)[self.operator]
        pieces = [(np.where(here, over, np.nan), time) for over, time in self._pieces(measure)]
        return self._value(measure, _Known.of(pieces, self.dur_ns), np.zeros(len(here), int), 1)

    def _value(
        self, measure: Measure, known: _Known, groups: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        over = np.zeros(count)
        under = np.zeros(count)
        for here, numerator, weight in known.pieces:
            over += np.bincount(groups[here], numerator, count)
            under += np.bincount(groups[here], weight, count)
        known_ns = np.bincount(groups[known.calls], known.dur_ns, count)
        has = np.bincount(groups[known.calls], minlength=count) > 0
        value = over / self.runs if measure.is_total else over / np.where(under > 0, under, np.nan)
        return np.where(has, value, np.nan), known_ns

    def _pieces(self, measure: Measure) -> list[tuple[np.ndarray, np.ndarray]]:
        """Numerator and denominator of every call, for each column that the measure is made of."""
        if measure.code == "memory_bound":
            bound = self._bound()
            if bound:
                return bound
        if measure.code == "l2_hit_rate":
            counted = self._hits()
            if counted:
                return counted
        pieces = []
        for head, core in measure.of:
            values = self.column(head)
            if values is None:
                continue
            if measure.code == "occupancy":  # 0 where the profiler cannot estimate it
                values = np.where(values > 0, values, np.nan)
            if measure.code == "copy_bandwidth":  # of few bytes, time is what starting takes
                values = np.where(values * self.dur_ns < _LEAST_BYTES, np.nan, values)
            weight = self.n if measure.is_total else self._weight(core)
            if measure.code in ("l2_hit_rate", "l2_victim_rate"):
                weight = np.where(self._is_first(values), 0.0, weight)
            pieces.append((np.where(weight > 0, values * weight, np.nan), weight))
        return pieces

    def _bound(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Time of reads, time of computing; the file's own memory_bound wins where it is."""
        told = self.column("memory_bound")
        pieces = []
        for reads, computes, core in _BOUND:
            mte2 = self.column(reads)
            busy = [values for head in computes if (values := self.column(head)) is not None]
            if mte2 is None or not busy:
                continue
            computing = np.fmax.reduce(busy)
            if told is not None and reads == "mte2_ratio":
                is_told = np.isfinite(told) & (computing > 0)
                mte2 = np.where(is_told, told * computing, mte2)
            weight = self._weight(core)
            # A call that only moves data has no ratio of its own, yet its reads count.
            over = np.where(weight > 0, mte2 * weight, np.nan)
            pieces.append((over, computing * weight))
        return pieces

    def _hits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        hits = [self.column(head) for head in self.heads if _HIT.fullmatch(head)]
        misses = [self.column(head) for head in self.heads if _MISS.fullmatch(head)]
        if not hits or not misses:
            return []
        hit, miss = (_added([c for c in columns if c is not None]) for columns in (hits, misses))
        return [(hit * self.n, (hit + miss) * self.n)]

    def column(self, head: str) -> np.ndarray | None:
        """The numbers of a column by its head; None where the trace has none."""
        if head not in self.heads:
            return None
        if head not in self.columns:
            values = pd.to_numeric(self.steady[self.heads[head][0]], errors="coerce")
            numbers = values.to_numpy(dtype="float64", na_value=np.nan)
            self.columns[head] = numbers[self.computing]
        return self.columns[head]

    def _weight(self, core: Core) -> np.ndarray:
        """Time in µs of the core, of all executions of a row; the duration where not known."""
        if core not in self.weights:
            duration: np.ndarray = self.dur_ns * 1e-3
            for head in _CORE_TIME.get(core, ()):
                times = self.column(head)
                if times is not None:
                    scaled = times * _TIME_UNITS.get(self.heads[head][1], 1.0) * self.n
                    duration = np.where(np.isfinite(scaled), np.maximum(scaled, 0.0), duration)
                    break
            self.weights[core] = duration
        return self.weights[core]

    def _is_first(self, values: np.ndarray) -> np.ndarray:
        """The first operator of each recording, unless they alone were counted."""
        first: np.ndarray = np.isin(self.steady.index.to_numpy()[self.computing], self.first)
        if not np.isfinite(values[~first]).any():
            first = np.zeros(len(first), dtype=bool)
        return first


class _Known(msgspec.Struct, frozen=True, eq=False):
    """Numerator and denominator of the calls that have both, for each piece of a measure, with
    their places; and the places and durations of the calls of any piece."""

    pieces: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]
    calls: np.ndarray
    dur_ns: np.ndarray

    @classmethod
    def of(cls, pieces: Sequence[tuple[np.ndarray, np.ndarray]], dur_ns: np.ndarray) -> _Known:
        known = np.zeros(len(dur_ns), dtype=bool)
        parts = []
        for numerator, weight in pieces:
            has_both = np.isfinite(numerator) & np.isfinite(weight)
            known |= has_both
            here = np.flatnonzero(has_both)
            parts.append((here, numerator[here], weight[here]))
        calls = np.flatnonzero(known)
        return cls(parts, calls, dur_ns[calls])


def _first_calls(trace: Trace) -> list[int]:
    """Index of the earliest call without communication, of each part of a trace of several."""
    is_communication = trace.operators["is_communication"].to_numpy()
    calls = trace.calls[["run", "start_ns"]]
    calls = calls[~is_communication[trace.calls["operator"].to_numpy()]]
    if calls.empty:
        return []
    if not trace.meta.parts:
        return [_earliest(calls)]
    # The calls of a part follow one another, those outside every run too.
    block = calls["run"].map(trace.runs.set_index("run")["block"]).ffill().bfill()
    return [_earliest(of) for _, of in calls.groupby(block.to_numpy("int64", na_value=0))]


def _earliest(calls: pd.DataFrame) -> int:
    """The index of the earliest of these calls, of the first one where none has a start."""
    starts = calls["start_ns"].to_numpy("int64", na_value=np.iinfo("int64").max)
    return int(calls.index.to_numpy()[starts.argmin()])


def _added(columns: Sequence[np.ndarray]) -> np.ndarray:
    """The sum of each row; nan where no column has a number."""
    table = np.vstack(columns)
    known = np.isfinite(table)
    total: np.ndarray = np.where(known, table, 0.0).sum(axis=0)
    total[~known.any(axis=0)] = np.nan
    return total
