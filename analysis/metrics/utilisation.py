"""Compute utilisation: how much of the machine's arithmetic peak is used.

Products of 8-bit numbers are held against the peak of such products, all others against that of
float32; on a device whose peaks are known by data type each against that of its own: `Tops` has
them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.operators.number_names import type_in_name
from fusescope.analysis.quantity import Reason
from fusescope.analysis.trace import Trace

# Heavy time without FLOPs beyond this share would make the model's figure too low to show.
MAX_UNCOUNTED = 0.05
_MOST = 0.5  # of the time, in operators without FLOPs
# Beyond this share of the time of unknown class nothing is said of classes.
MAX_UNKNOWN = 0.5
_INT8 = {
    "ConvInteger", "QLinearConv", "MatMulInteger", "MatMulIntegerToFloat", "QLinearMatMul", "QGemm",
    "DynamicQuantizeMatMul",
}  # fmt: skip
_OF_INT8 = ("int8[", "uint8[")
_FLOATS = ("float64", "float32", "bfloat16", "float16")
# Kernels that multiply float32 as TF32: 'tf32f32', 'f32f32_tf32', 's1688gemm_f32' of CUTLASS.
_TF32 = re.compile(r"tf32|xf32|tensorop_s1688|_s1688")


class Tops(msgspec.Struct, frozen=True):
    """Arithmetic peaks of a machine in operations per second, None where not known: those of 8-bit
    products and of all others, or, where `by_type` is given, of each data type."""

    float32: float | None
    int8: float | None = None
    by_type: Mapping[str, float] | None = None


def model_flops(trace: Trace) -> tuple[float | None, Reason | None]:
    """FLOPs of one run and, when None, the reason code (no_heavy_operators, flops_unknown).

    The sum over operators of FLOPs per call times executions per run.
    """
    counted, reason = _counted(trace)
    return (None, reason) if counted is None else (float(_per_run(counted).sum()), None)


def time_at_peak_ns(trace: Trace, tops: Tops) -> tuple[float | None, Reason | None]:
    """Time of one run if every counted FLOP ran at its peak: sum of FLOPs / peak, and when None
    the reason code (as of model_flops; no_peak, no_int8_peak)."""
    counted, reason = _counted(trace)
    if counted is None:
        return None, reason
    return _time_at_peak_ns(counted, tops)


def counted_utilisation(operators: pd.DataFrame, tops: Tops) -> tuple[float | None, Reason | None]:
    """FLOPs / (time x peak) of these rows of `by_operator` together, and when None the reason.

    Rows without FLOPs are left out; where they take most of the time, there is no value. The same
    as the mean of each row's utilisation, weighted with its time: sum(FLOPs) / (sum(time) · peak) =
    sum(time · utilisation) / sum(time).
    """
    counted = operators[operators["flops"].notna()]
    if counted.empty or counts_little(operators):
        return None, "flops_unknown"
    ideal_ns, reason = _time_at_peak_ns(counted, tops)
    time_ns = float(counted["per_run_ns"].sum())
    if ideal_ns is None:
        return None, reason
    return (ideal_ns / time_ns, None) if time_ns else (None, "no_times")


def counts_little(operators: pd.DataFrame) -> bool:
    """Return whether most of the time of these rows is in those without FLOPs: what the others
    attain then says little of all of them."""
    time = operators["per_run_ns"]
    return float(time[operators["flops"].isna()].sum()) > _MOST * float(time.sum())


@once
def heavy_operators(trace: Trace) -> pd.DataFrame:
    """The rows of `by_operator` whose FLOPs are counted: convolutions, matrix products, …"""
    table = by_operator(trace)
    # Of no rows a list would choose columns.
    return table[np.array([is_heavy(str(name)) for name in table["op_class"]], dtype=bool)]


@once
def unknown_share(trace: Trace) -> float:
    """The part of the operators' time of one run that is of unknown class; 0 without times."""
    if trace.calls.empty:
        return 0.0
    table = by_operator(trace)
    time = table["per_run_ns"].astype(float)
    unknown = float(time[(table["op_class"].astype(str) == "unknown").to_numpy()].sum())
    total = float(time.sum())
    return unknown / total if total else 0.0


def why_no_heavy(trace: Trace) -> Reason:
    """Why a trace has no heavy operator: none ran, or nothing says what most of it is."""
    return "classes_unknown" if unknown_share(trace) > MAX_UNKNOWN else "no_heavy_operators"


def utilisation(flops: float | None, time_ns: float | None, peak: float | None) -> float | None:
    """FLOPs / (time x peak) as a fraction; above 1 is shown, never clipped. `peak` in FLOP/s."""
    if flops is None or not time_ns or not peak:
        return None
    return flops / (time_ns * 1e-9 * peak)


def operator_utilisation(
    flops: pd.Series, mean_ns: pd.Series, peak: float | pd.Series | None
) -> pd.Series:
    """Utilisation of each row; null without FLOPs, time or peak. `peak` may differ by row."""
    if peak is None or (not isinstance(peak, pd.Series) and not peak):
        return pd.Series(float("nan"), index=flops.index)
    return flops.astype("Float64") / (mean_ns.where(mean_ns > 0) * 1e-9 * peak)


def is_int8(operators: pd.DataFrame) -> pd.Series:
    """Whether a row multiplies 8-bit numbers: by `op_type`, else by the first of its `inputs` where
    its class multiplies; a condition is kept in 8 bits, too."""
    kinds, inputs = (pd.Categorical(operators[name]) for name in ("op_type", "inputs"))
    by_kind = np.append(kinds.categories.isin(list(_INT8)), False)
    by_input = np.array([*map(_starts_as_int8, inputs.categories.to_numpy(object)), False])
    classes = pd.Categorical(operators["op_class"])
    heavy = np.array([*map(is_heavy, classes.categories.to_numpy(object)), False])[classes.codes]
    of_input = by_input[inputs.codes] & heavy
    return pd.Series(by_kind[kinds.codes] | of_input, operators.index)


def _starts_as_int8(inputs: object) -> bool:
    return str(inputs).startswith(_OF_INT8)


def number_types(operators: pd.DataFrame) -> pd.Series:
    """What each row multiplies: int8 (is_int8), else the type of the first of its `inputs`, one of
    float64, float32 or tf32 (as the name of the kernel says, or of the tactic that an engine runs
    as its provider), bfloat16, float16, float8; null for others."""
    inputs = pd.Categorical(operators["inputs"])
    by_input = np.array([*map(_type_of, inputs.categories.to_numpy(object)), None], dtype=object)
    found = by_input[inputs.codes]
    for column in ("name", "provider"):
        if column in operators.columns:
            found[(found == "float32") & _says_tf32(operators[column])] = "tf32"
    found[is_int8(operators).to_numpy(dtype=bool)] = "int8"
    return pd.Series(found, operators.index, dtype=object)


def _says_tf32(column: pd.Series) -> np.ndarray:
    """Return which names are those of kernels that multiply float32 as TF32."""
    names = pd.Categorical(column)
    says = [bool(_TF32.search(str(name).lower())) for name in names.categories.to_numpy(object)]
    found: np.ndarray = np.array([*says, False], dtype=bool)[names.codes]
    return found


@once
def main_type(trace: Trace) -> str | None:
    """Return what the operators with FLOPs multiply for most of their time, as `number_types` or by
    their names; of a trace without FLOPs its heavy operators. None where nothing says it."""
    table = by_operator(trace)
    counted = table[table["flops"].notna()]
    chosen = heavy_operators(trace) if counted.empty else counted
    times = chosen["per_run_ns"].astype(float).groupby(_types_or_names(chosen)).sum()
    return str(times.idxmax()) if len(times) else None


def _types_or_names(operators: pd.DataFrame) -> pd.Series:
    """Return `number_types`, of rows without inputs what their names say."""
    named = operators["name"].astype("object").map(type_in_name, na_action="ignore")
    types = number_types(operators)
    return types.where(types.notna() | operators["inputs"].notna(), named)


def without_type(operators: pd.DataFrame) -> np.ndarray:
    """Return of which rows nothing says what they multiply, not even another type than those with
    a public peak."""
    silent: np.ndarray = (_types_or_names(operators).isna() & operators["inputs"].isna()).to_numpy(
        dtype=bool
    )
    return silent


def no_type_peak(operators: pd.DataFrame) -> Reason:
    """Return why operators without a peak of their data type have none."""
    return "no_number_type" if bool(without_type(operators).any()) else "no_type_peak"


def _type_of(inputs: object) -> str | None:
    first = str(inputs).partition("[")[0].strip()
    return "float8" if first.startswith("float8") else first if first in _FLOATS else None


def peaks_of(operators: pd.DataFrame, tops: Tops) -> pd.Series:
    """The peak of each row in FLOP/s, by what it multiplies; null where it is not known."""
    if tops.by_type is not None:
        tops_of = [tops.by_type.get(kind, np.nan) for kind in number_types(operators)]
        return pd.Series(tops_of, operators.index, dtype=float).astype("Float64")
    int8, float32 = (np.nan if top is None else top for top in (tops.int8, tops.float32))
    return pd.Series(np.where(is_int8(operators), int8, float32), operators.index).astype("Float64")


def _counted(trace: Trace) -> tuple[pd.DataFrame | None, Reason | None]:
    """Heavy operators with FLOPs; None where there are none, or too few to speak of a model."""
    heavy = heavy_operators(trace)
    if heavy.empty:
        return None, why_no_heavy(trace)
    counted = heavy["flops"].notna()
    time = heavy["per_run_ns"]
    if float(time[~counted].sum()) > MAX_UNCOUNTED * float(time.sum()):
        return None, "flops_unknown"
    return heavy[counted], None


def _per_run(counted: pd.DataFrame) -> pd.Series:
    return counted["flops"].astype(float) * counted["count"]


def _time_at_peak_ns(counted: pd.DataFrame, tops: Tops) -> tuple[float | None, Reason | None]:
    peaks = peaks_of(counted, tops)
    if peaks.isna().any():
        of_int8 = is_int8(counted)[peaks.isna()]
        if tops.by_type is not None:
            return None, no_type_peak(counted[peaks.isna().to_numpy()])
        return None, "no_int8_peak" if bool(of_int8.all()) else "no_peak"
    return float((_per_run(counted) / peaks.astype(float)).sum()) * 1e9, None
