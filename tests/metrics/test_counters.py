"""Counters of the device: hand-computed totals, and real files summed up independently."""

from __future__ import annotations

import csv
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.joining.matching import match_launchers
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.metrics.counters import (
    MEASURES,
    counted_flops,
    has_split_cores,
    operator_counters,
    total_counters,
    type_counters,
)
from fusescope.analysis.readers import read_path
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.report.counters import counter_rows, counters
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Meta, Trace
from fusescope.analysis.wording import FIGURES
from tests.conftest import SHARED_TRACES

TRACES = SHARED_TRACES / "third_party"
needs_traces = pytest.mark.usefixtures("shared_traces")
META = Meta("ascend_kernel_details", "Ascend PyTorch Profiler", file_name="kernel_details.csv")

# One core for both: a matrix product of 100 µs, a copy of 300 µs, a collective.
ONE_CORE: dict[str, list[object]] = {
    "name": ["mm", "move", "hcom_allReduce_1"],
    "op_type": ["MatMul", "TensorMove", "hcom_allReduce_"],
    "start_ns": [0, 100_000, 400_000],
    "dur_ns": [100_000, 300_000, 900_000],
    "aicore_time(us)": [80.0, 320.0, None],
    "mac_ratio": [0.5, 0.0, None],
    "vec_ratio": [0.1, 0.2, None],
    "mte2_ratio": [0.25, 0.8, None],
    "cube_utilization": [0.9, 0.0, None],
    "l2_hit_rate": [0.99, 0.4, None],
}
# Cube and vector apart: a matrix product, a vector operator, one that uses both.
SPLIT: dict[str, list[object]] = {
    "name": ["mm", "add", "mix"],
    "op_type": ["MatMulV3", "Add", "FlashAttentionScore"],
    "start_ns": [0, 100_000, 200_000],
    "dur_ns": [100_000, 100_000, 200_000],
    "aicore_time(us)": [90.0, 0.0, 150.0],
    "aic_mac_ratio": [0.8, 0.0, 0.4],
    "aic_mte2_ratio": [0.2, 0.0, 0.6],
    "aiv_time(us)": [0.0, 50.0, 100.0],
    "aiv_vec_ratio": [0.0, 0.5, 0.3],
    "aiv_mte2_ratio": [0.0, 0.9, 0.1],
    "aic_cube_fops": [1000.0, 0.0, 500.0],
    "aiv_vector_fops": [0.0, 10.0, 20.0],
}


def trace_of(rows: dict[str, list[object]], **more: list[object]) -> Trace:
    return build_trace(META, {**rows, **more})


def test_ratios_weigh_with_the_core_that_both_units_share() -> None:
    totals = total_counters(trace_of(ONE_CORE))
    assert totals["cube_ratio"].value == pytest.approx((0.5 * 80 + 0.0 * 320) / 400)
    assert totals["vector_ratio"].value == pytest.approx((0.1 * 80 + 0.2 * 320) / 400)
    assert totals["mte2_ratio"].value == pytest.approx((0.25 * 80 + 0.8 * 320) / 400)
    assert totals["mte2_ratio"].covered == pytest.approx(1.0)  # communication is outside


def test_memory_bound_is_time_of_reads_by_time_of_computing() -> None:
    trace = trace_of(ONE_CORE)
    each = operator_counters(trace)["memory_bound"]
    assert each[0] == pytest.approx(0.25 / 0.5)
    assert each[1] == pytest.approx(0.8 / 0.2)
    assert pd.isna(each[2])
    reads, computing = 0.25 * 80 + 0.8 * 320, 0.5 * 80 + 0.2 * 320
    assert total_counters(trace)["memory_bound"].value == pytest.approx(reads / computing)


def test_the_files_own_memory_bound_wins() -> None:
    trace = trace_of(ONE_CORE, memory_bound=[0.51, 4.2, None])
    each = operator_counters(trace)["memory_bound"]
    assert each[0] == pytest.approx(0.51)
    total = (0.51 * 0.5 * 80 + 4.2 * 0.2 * 320) / (0.5 * 80 + 0.2 * 320)
    assert total_counters(trace)["memory_bound"].value == pytest.approx(total)


def test_reads_of_an_operator_that_computes_nothing_count_in_the_total_only() -> None:
    rows = {**ONE_CORE, "vec_ratio": [0.1, 0.0, None]}
    trace = trace_of(rows)
    assert pd.isna(operator_counters(trace)["memory_bound"][1])
    expected = (0.25 * 80 + 0.8 * 320) / (0.5 * 80)
    assert total_counters(trace)["memory_bound"].value == pytest.approx(expected)


def test_split_cores_weigh_with_their_own_time() -> None:
    trace = trace_of(SPLIT)
    totals = total_counters(trace)
    assert totals["cube_ratio"].value == pytest.approx((0.8 * 90 + 0.4 * 150) / 240)
    assert totals["cube_ratio"].covered == pytest.approx(300 / 400)  # the vector operator has none
    assert totals["vector_ratio"].value == pytest.approx((0.5 * 50 + 0.3 * 100) / 150)
    reads = 0.2 * 90 + 0.6 * 150 + 0.9 * 50 + 0.1 * 100
    assert totals["mte2_ratio"].value == pytest.approx(reads / (240 + 150))
    computing = 0.8 * 90 + 0.4 * 150 + 0.5 * 50 + 0.3 * 100
    assert totals["memory_bound"].value == pytest.approx(reads / computing)
    each = operator_counters(trace)
    assert pd.isna(each["cube_ratio"][1]) and pd.isna(each["vector_ratio"][0])
    assert each["memory_bound"][2] == pytest.approx((0.6 * 150 + 0.1 * 100) / (60 + 30))
    assert has_split_cores(trace) is True and has_split_cores(trace_of(ONE_CORE)) is False


def test_without_the_cores_time_the_duration_weighs() -> None:
    rows = {name: values for name, values in ONE_CORE.items() if name != "aicore_time(us)"}
    value = total_counters(trace_of(rows))["cube_ratio"].value
    assert value == pytest.approx((0.5 * 100 + 0.0 * 300) / 400)


def test_cube_utilisation_weighs_with_the_duration() -> None:
    assert total_counters(trace_of(ONE_CORE))["cube_utilisation"].value == pytest.approx(
        0.9 * 100 / 400
    )


def test_the_first_operators_hit_rate_is_not_for_reference() -> None:
    trace = trace_of(ONE_CORE)
    assert total_counters(trace)["l2_hit_rate"].value == pytest.approx(0.4)
    assert total_counters(trace)["l2_hit_rate"].covered == pytest.approx(300 / 400)
    assert pd.isna(operator_counters(trace)["l2_hit_rate"][0])
    alone = trace_of({**ONE_CORE, "l2_hit_rate": [0.99, None, None]})
    assert total_counters(alone)["l2_hit_rate"].value == pytest.approx(0.99)


def test_hits_and_misses_before_rates() -> None:
    trace = trace_of(
        SPLIT,
        aic_write_cache_hit=[6.0, None, 1.0],
        aic_write_cache_miss_allocate=[2.0, None, 1.0],
        aiv_r0_read_cache_hit=[None, 30.0, 0.0],
        aiv_r0_read_cache_miss_allocate=[None, 10.0, 0.0],
    )
    assert total_counters(trace)["l2_hit_rate"].value == pytest.approx(37 / 50)
    assert operator_counters(trace)["l2_hit_rate"].tolist() == pytest.approx([0.75, 0.75, 0.5])


def test_operations_are_summed_per_run() -> None:
    twice = {name: values * 2 for name, values in SPLIT.items()}
    twice["start_ns"] = [0, 100_000, 200_000, 500_000, 600_000, 700_000]
    trace = trace_of(twice, run=[1, 1, 1, 2, 2, 2])
    totals = total_counters(trace)
    assert totals["cube_flops"].value == 1500.0
    assert totals["vector_flops"].value == 30.0
    assert counted_flops(trace) == 1500.0


def test_flops_are_not_counted_where_a_heavy_operator_was_not() -> None:
    assert counted_flops(trace_of({**SPLIT, "aic_cube_fops": [1000.0, 0.0, None]})) is None
    assert counted_flops(trace_of(ONE_CORE)) is None


def test_types_sum_their_operators() -> None:
    rows = {name: [*values, *values] for name, values in SPLIT.items()}
    rows["name"] = ["mm", "add", "mix", "mm2", "add2", "mix2"]
    rows["aic_mac_ratio"] = [0.8, 0.0, 0.4, 0.2, 0.0, 0.4]
    table = type_counters(trace_of(rows))
    assert table["cube_ratio"]["MatMulV3"] == pytest.approx(0.5)
    assert pd.isna(table["cube_ratio"]["Add"])


def test_a_trace_without_counters_has_none() -> None:
    plain = trace_of({name: ONE_CORE[name] for name in ("name", "op_type", "dur_ns")})
    assert total_counters(plain) == {} and operator_counters(plain).columns.empty
    assert has_split_cores(plain) is None


def compared(baseline: Trace, candidate: Trace) -> Comparison:
    return compare(side_of_trace(baseline), side_of_trace(candidate))


def test_an_occupancy_of_zero_is_not_counted() -> None:
    estimates = {"occupancy": [0.6, 0.0, None]}  # of a product of 100 µs and one of 300 µs
    trace = trace_of(
        {k: ONE_CORE[k] for k in ("name", "op_type", "start_ns", "dur_ns")}, **estimates
    )
    total = total_counters(trace)["occupancy"]
    assert (total.value, total.covered) == (pytest.approx(0.6), pytest.approx(0.25))
    assert operator_counters(trace)["occupancy"].isna().tolist() == [False, True, True]


def test_counters_say_the_device_of_each_side() -> None:
    of = {**ONE_CORE, "inputs": ["float16[32,64]; float16[64,16]", "float16[4]", None]}
    before = trace_of(of, provider=["H100", "H100", None])
    after = trace_of({**of, "name": ["Cijk", "move", "hcom_allReduce_1"]}, provider=["MI300X"] * 3)
    shown = counters(compared(before, after))
    assert shown is not None
    rows = {row.name: row for row in shown.operators.visible}
    assert rows["mm"].by_shape and not rows["move"].by_shape
    assert {row.cores for row in (*rows.values(), *shown.types.visible)} == {("H100", "MI300X")}


def test_only_counters_that_a_side_has_become_figures() -> None:
    plain = trace_of({name: ONE_CORE[name] for name in ("name", "op_type", "dur_ns")})
    codes = {measure.code for measure in MEASURES}
    figures = {figure.code for figure in compared(plain, plain).figures}
    assert "latency" in figures and not codes & figures
    comparison = compared(plain, trace_of(ONE_CORE))
    figure = comparison.figure("mte2_ratio")
    assert figure.candidate.basis == "counter"
    assert figure.baseline.value is None and figure.baseline.reason == "no_counter"
    assert "fixpipe_ratio" not in {figure.code for figure in comparison.figures}


def test_totals_of_unlike_cores_have_no_change() -> None:
    comparison = compared(trace_of(ONE_CORE), trace_of(SPLIT))
    assert comparison.figure("cube_ratio").change is None
    assert comparison.figure("mte2_ratio").change is None
    alike = compared(trace_of(SPLIT), trace_of(SPLIT))
    assert alike.figure("cube_ratio").change == 0.0


def test_counted_operations_go_before_modelled_ones() -> None:
    side = side_of_trace(trace_of(SPLIT, run=[1, 1, 1]))
    figure = compare(side, side, Assumptions(peak_flops_per_s=1e10)).figure("compute_utilisation")
    assert figure.candidate.basis == "assumed"  # the peak is
    assert figure.candidate.value == pytest.approx(1500 / (400e-6 * 1e10))


def test_operators_and_types_carry_the_counters_of_both_sides() -> None:
    comparison = compared(trace_of(ONE_CORE), trace_of(SPLIT))
    row = comparison.operators.set_index("name").loc["mm"]
    assert row["cube_ratio_baseline"] == 0.5 and row["cube_ratio_candidate"] == 0.8
    types = comparison.op_types.set_index("op_type")
    assert types.loc["MatMulV3", "cube_ratio_candidate"] == 0.8
    assert pd.isna(types.loc["MatMulV3", "cube_ratio_baseline"])


def test_communication_joins_in_its_order_and_has_no_share() -> None:
    other = {**ONE_CORE, "name": ["mm", "move", "hcom_allReduce_9"]}
    table = compared(trace_of(ONE_CORE), trace_of(other)).operators.set_index("name")
    assert table.loc["hcom_allReduce_1", "matched_by"] == "order"
    assert table["share_baseline"].sum() == pytest.approx(1.0)
    assert pd.isna(table.loc["hcom_allReduce_1", "share_baseline"])


def test_launchers_group_what_they_launched() -> None:
    launched = trace_of(SPLIT, launched_by=["aten::mm", "aten::add", None])
    table = match_launchers(launched, launched).set_index("launched_by")
    assert table.loc["aten::mm", "per_run_ns_baseline"] == 100_000
    assert table.loc["unknown", "per_run_ns_candidate"] == 200_000


def test_json_and_report_show_them() -> None:
    comparison = compared(trace_of(ONE_CORE), trace_of(SPLIT, launched_by=["aten::mm", None, None]))
    values = comparison_values(comparison)
    assert values["counters"]["cube_ratio"]["candidate"]["covered"] == pytest.approx(0.75)
    assert values["counters"]["l2_hit_rate"]["candidate"]["value"] is None
    assert {row["launched_by"] for row in values["by_launcher"]} == {"aten::mm", "unknown"}
    row = next(row for row in values["operators"] if row["name"] == "mm")
    assert row["baseline"]["counters"]["cube_ratio"] == 0.5
    shown = counters(comparison)
    assert shown is not None
    assert shown.totals
    assert [row.label for row in shown.totals] == [row.label for row in counter_rows(comparison)]
    assert shown.operators.total == 4  # mm, move, add, mix; the collective has no counters
    page = report_html(comparison)
    assert 'id="counters"' in page and "50.0" in page
    plain = trace_of({name: ONE_CORE[name] for name in ("name", "op_type", "dur_ns")})
    assert counters(compared(plain, plain)) is None
    assert 'id="counters"' not in report_html(compared(plain, plain))


def test_every_measure_has_words() -> None:
    assert {measure.code for measure in MEASURES} <= set(FIGURES)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**9),
            st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)),
            st.one_of(st.none(), st.floats(-2, 2)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_a_file_holds_totals_are_finite(rows: list[tuple[int, object, object]]) -> None:
    trace = trace_of(
        {
            "name": ["a"] * len(rows),
            "dur_ns": [row[0] for row in rows],
            "aicore_time(us)": [row[1] for row in rows],
            "mac_ratio": [row[2] for row in rows],
            "mte2_ratio": [row[1] for row in rows],
            "cube_fops": [row[1] for row in rows],
        }
    )
    for counter in total_counters(trace).values():
        assert math.isfinite(counter.value) and 0 <= counter.covered <= 1 + 1e-9


def number(row: dict[str, str], head: str) -> float:
    return float(row[head].strip())


def kernels(name: str) -> list[dict[str, str]]:
    with (TRACES / "ascend_torch_npu" / name / "kernel_details.csv").open() as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if row["Accelerator Core"] not in ("HCCL", "N/A")]


@needs_traces
def test_a_real_file_of_one_core() -> None:
    trace = read_path(TRACES / "ascend_torch_npu" / "2024-10-level1-rank0" / "kernel_details.csv")
    assert isinstance(trace, Trace)
    rows = [row for row in kernels("2024-10-level1-rank0") if row["mac_ratio"] != "N/A"]
    core = [number(row, "aicore_time(us)") for row in rows]
    totals = total_counters(trace)
    for code, head in (("cube_ratio", "mac_ratio"), ("mte3_ratio", "mte3_ratio")):
        busy = sum(number(row, head) * time for row, time in zip(rows, core, strict=True))
        assert totals[code].value == pytest.approx(busy / sum(core))
    # Each operator of a single call has the file's own memory_bound.
    each = operator_counters(trace)["memory_bound"]
    calls = trace.calls.set_index("operator")
    once = calls.index.value_counts()
    told = calls[calls.index.map(once) == 1]["memory_bound"].dropna()
    checked = 0
    for operator, value in told.items():
        if not pd.isna(each[operator]):
            assert each[operator] == pytest.approx(value, abs=1e-9)
            checked += 1
    assert checked > 100


@needs_traces
def test_a_real_file_of_split_cores() -> None:
    trace = read_path(TRACES / "ascend_torch_npu" / "2025-01-level1-rank0" / "kernel_details.csv")
    assert isinstance(trace, Trace)
    rows = [row for row in kernels("2025-01-level1-rank0") if row["aic_mac_ratio"] != "N/A"]
    cube = [number(row, "aicore_time(us)") for row in rows]
    busy = sum(number(row, "aic_mac_ratio") * time for row, time in zip(rows, cube, strict=True))
    assert total_counters(trace)["cube_ratio"].value == pytest.approx(busy / sum(cube))
    dur = [number(row, "Duration(us)") for row in rows]
    used = sum(number(row, "cube_utilization(%)") * d for row, d in zip(rows, dur, strict=True))
    assert total_counters(trace)["cube_utilisation"].value == pytest.approx(used / sum(dur) / 100)


@needs_traces
def test_counted_flops_of_a_real_file() -> None:
    trace = read_path(TRACES / "ascend_torch_npu" / "2023-11-arithmetic" / "kernel_details.csv")
    assert isinstance(trace, Trace)
    rows = kernels("2023-11-arithmetic")
    steps = {row["Step Id"] for row in rows}
    products = [row for row in rows if row["Type"] in ("MatMul", "BatchMatMul")]
    assert len(steps) == 1
    assert counted_flops(trace) == sum(number(row, "aic_cube_fops") for row in products)
