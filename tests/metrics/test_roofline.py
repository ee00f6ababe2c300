"""Roofline and utilisation by peak, against numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofline import Dot, Line, Picture, roofline_picture
from fusescope.analysis.compare.roofs import ROOFLINE
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.experiment import Bandwidth, Experiment, Peaks, Spread
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.roofline import compulsory_bytes, roofline, share_of_roof
from fusescope.analysis.metrics.utilisation import (
    Tops,
    counted_utilisation,
    heavy_operators,
    is_int8,
    peaks_of,
    time_at_peak_ns,
)
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording.roofline import no_roofline, roofline_notes, share_text
from tests.factories import CONV, RELU, experiment_zip, profile_json

NOTHING = Assumptions()
SPREAD = Spread(1e9, 2e9)
MEMORY = Bandwidth(None, 1e10, SPREAD, 2**28)
L2 = Bandwidth(2, 5e10, SPREAD, 2**19)
# Conv 3x3 of 3 to 4 channels on 8 x 8: 22·22 taps inside, 2·3·4·22·22 = 11 616 FLOPs, 100 µs;
# bytes: (3·64 + 4·27 + 4·64) · 4 = 2224.
CONV_FLOPS, CONV_BYTES = 2 * 3 * 4 * 22 * 22, 4 * (3 * 64 + 4 * 27 + 4 * 64)


def series(*values: float | None) -> pd.Series:
    return pd.Series(values, dtype="Float64")


def under(
    flops: float | None,
    bytes_: float | None,
    ns: float,
    peak: float | None,
    bandwidth: float | None,
    int8: bool = False,
) -> dict[str, object]:
    table = roofline(
        series(flops),
        series(bytes_),
        pd.Series([ns]),
        series(peak),
        bandwidth,
        pd.Series([int8]),
    )
    return {str(k): v for k, v in table.iloc[0].items()}


def compared(peaks: Peaks, assumptions: Assumptions = NOTHING) -> Comparison:
    times = {"unfused": [10.0] * 8, "fused": [5.0] * 8}
    experiment = read(Source("e.zip", experiment_zip(times, changes={"peaks": peaks})))
    assert isinstance(experiment, Experiment)
    sides = [side_of_variant(experiment, name) for name in times]
    return compare(sides[0], sides[1], assumptions)


def test_memory_bound_and_compute_bound() -> None:
    """2000 FLOPs on 1000 B: 2 FLOP/B; 10 GB/s allow 20 GFLOP/s, the peak 100."""
    row = under(2000, 1000, 200.0, 1e11, 1e10)
    assert row["intensity"] == 2
    assert row["attained_flops_per_s"] == pytest.approx(1e10)
    assert row["attained_bytes_per_s"] == pytest.approx(5e9)
    assert row["bound_flops_per_s"] == pytest.approx(2e10)
    assert row["bound_share"] == pytest.approx(0.5)
    assert (row["bound_by"], row["roofline_reason"]) == ("memory", None)
    row = under(50_000, 1000, 1000.0, 1e11, 1e10)
    assert row["bound_flops_per_s"] == 1e11
    assert (row["bound_share"], row["bound_by"]) == (pytest.approx(0.5), "compute")


def test_above_the_roof_is_not_clipped() -> None:
    row = under(2000, 1000, 50.0, 1e11, 1e10)
    assert row["bound_share"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (under(None, 10, 1.0, 1.0, 1.0), "no_flops"),
        (under(10, None, 1.0, 1.0, 1.0), "no_sizes"),
        (under(10, 0, 1.0, 1.0, 1.0), "no_sizes"),
        (under(10, 10, 0.0, 1.0, 1.0), "no_times"),
        (under(10, 10, 1.0, None, 1.0), "no_peak"),
        (under(10, 10, 1.0, None, 1.0, int8=True), "no_int8_peak"),
        (under(10, 10, 1.0, 1.0, None), "no_bandwidth"),
    ],
)
def test_what_lacks_is_named(row: dict[str, object], reason: str) -> None:
    assert row["roofline_reason"] == reason
    assert pd.isna(row["bound_share"])  # type: ignore[call-overload]
    assert (row["bound_by"] is None) == (reason != "no_times")  # a roof needs no time


@given(
    st.integers(1, 10**12), st.integers(1, 10**12), st.floats(1, 1e12), st.floats(1e3, 1e15),
    st.floats(1e3, 1e15),
)  # fmt: skip
def test_the_bound_is_the_lower_roof(
    flops: int, bytes_: int, ns: float, peak: float, bandwidth: float
) -> None:
    row = under(flops, bytes_, ns, peak, bandwidth)
    bound, share = row["bound_flops_per_s"], row["bound_share"]
    assert isinstance(bound, float) and isinstance(share, float)
    assert bound == pytest.approx(min(peak, flops / bytes_ * bandwidth))
    # The share is the time that the roof allows over the time taken.
    allowed = max(flops / peak, bytes_ / bandwidth)
    assert math.isclose(share, allowed / (ns * 1e-9), rel_tol=1e-9)


def test_bytes_come_from_the_graph_where_it_knows_them_all() -> None:
    rows = pd.DataFrame(
        {
            "name": ["a", "b", "elsewhere"],
            "bytes_in": [1, 1, 7],
            "bytes_param": [None, None, None],
            "bytes_out": [1, 1, 5],
            "is_communication": [False] * 3,
        }
    )
    graph = Graph(
        (Node("a", "Mul", ("x", "x"), ("y",)), Node("b", "Add", ("y", "u"), ("z",))),
        tuple(
            Tensor(name, "float32", shape)
            for name, shape in (("x", (4,)), ("y", (4,)), ("u", None))
        ),
        ("x",),
        ("z",),
    )
    assert compulsory_bytes(rows, graph).tolist() == [32, 2, 12]  # x counts once
    assert compulsory_bytes(rows, None).tolist() == [2, 2, 12]


def quantised(runs: int = 2) -> Trace:
    operators = (CONV, ("q/Conv", "QLinearConv", 25, [*CONV[3]], [*CONV[4]]), RELU)
    trace = read(Source("p.json", profile_json(operators, runs)))
    assert isinstance(trace, Trace)
    return trace


def test_8_bit_products_have_a_peak_of_their_own() -> None:
    rows = heavy_operators(quantised()).sort_values("per_run_ns", ascending=False)
    assert is_int8(rows).tolist() == [False, True]
    assert peaks_of(rows, Tops(1e9, 4e9)).tolist() == [1e9, 4e9]
    flops = 2 * 4 * 64 * 27  # of the shapes alone: padded taps counted
    ideal = flops / 1e9 + flops / 4e9
    assert counted_utilisation(rows, Tops(1e9, 4e9))[0] == pytest.approx(ideal / 125e-6)
    assert time_at_peak_ns(quantised(), Tops(1e9, 4e9))[0] == pytest.approx(ideal * 1e9)
    assert counted_utilisation(rows, Tops(1e9)) == (None, "no_int8_peak")
    assert counted_utilisation(rows, Tops(None, 1e9)) == (None, "no_peak")
    assert counted_utilisation(rows.iloc[:0], Tops(1e9)) == (None, "flops_unknown")


def test_the_first_input_tells_8_bit_numbers_of_other_tools() -> None:
    rows = pd.DataFrame(
        {
            "op_type": ["Conv2D", "Conv2D", None, "DynamicQuantizeMatMul"],
            "inputs": ["int8[1,3]; int8[3]", "float16[1]; int8[1]", None, "float32[2,2]"],
            "op_class": ["convolution", "convolution", "", "matrix_product"],
        }
    )
    assert is_int8(rows).tolist() == [True, False, False, True]
    condition = rows.assign(op_type="If", inputs="uint8[1]", op_class="control_flow")
    assert not is_int8(condition).any(), "OpenVINO keeps booleans as uint8"


def test_time_weighted_mean_is_the_sum() -> None:
    """sum(FLOPs) / (sum(time) · peak) is the mean of the rows' utilisation by time."""
    comparison = compared(Peaks(1e9, 384, 500.0, bandwidths=(MEMORY,)))
    table = by_operator(comparison.baseline.trace)
    counted = table[table["flops"].notna()]
    used = counted["flops"].astype(float) / (counted["per_run_ns"] * 1e-9 * 1e9)
    mean = float((used * counted["per_run_ns"]).sum() / counted["per_run_ns"].sum())
    assert comparison.figure("operator_utilisation").baseline.value == pytest.approx(mean)


def test_operators_of_an_experiment_under_their_roofs() -> None:
    comparison = compared(Peaks(1e9, 384, 500.0, bandwidths=(L2, MEMORY)))
    row = comparison.operators.set_index("name").loc["a/Conv"]
    assert (row["flops_baseline"], row["bytes_baseline"]) == (CONV_FLOPS, CONV_BYTES)
    assert row["intensity_baseline"] == pytest.approx(CONV_FLOPS / CONV_BYTES)
    assert row["attained_flops_per_s_baseline"] == pytest.approx(CONV_FLOPS / 100e-6)
    assert row["bound_by_baseline"] == "compute"
    assert row["utilisation_baseline"] == pytest.approx(CONV_FLOPS / 100e-6 / 1e9)
    assert row["bound_share_baseline"] == pytest.approx(row["utilisation_baseline"])
    relu = comparison.operators.set_index("name").loc["a/Relu"]
    assert relu["roofline_reason_baseline"] == "no_flops"
    assert relu["attained_bytes_per_s_baseline"] == pytest.approx(2 * 4 * 256 / 20e-6)
    assert {f"{c}_{s}" for c in ROOFLINE for s in ("baseline", "candidate")} <= set(
        comparison.operators.columns
    )


def test_share_of_the_roofline_weighs_with_time() -> None:
    operators = pd.DataFrame({"flops": series(10, 10, None), "per_run_ns": [100.0, 300.0, 50.0]})
    told = pd.DataFrame(
        {"bound_share": series(0.5, 0.1, None), "roofline_reason": [None, None, "no_flops"]}
    )
    share, reason = share_of_roof(operators, told)
    assert (share, reason) == (pytest.approx((0.5 * 100 + 0.1 * 300) / 400), None)
    told["bound_share"] = series(0.5, None, None)
    told["roofline_reason"] = [None, "no_sizes", "no_flops"]
    assert share_of_roof(operators, told) == (None, "no_sizes")


def test_where_most_heavy_time_is_not_counted_there_is_no_share() -> None:
    """Of 450 ns 250 are of rows without FLOPs, as of kernels that a graph launches."""
    operators = pd.DataFrame({"flops": series(10, None), "per_run_ns": [200.0, 250.0]})
    told = pd.DataFrame({"bound_share": series(0.5, None), "roofline_reason": [None, "no_flops"]})
    assert share_of_roof(operators, told) == (None, "flops_unknown")
    assert counted_utilisation(operators, Tops(1e9)) == (None, "flops_unknown")
    less = operators.assign(per_run_ns=[200.0, 190.0])
    assert share_of_roof(less, told) == (pytest.approx(0.5), None)


def test_dots_that_are_little_of_the_time_say_so() -> None:
    dot = Dot("baseline", "a", "Conv", 1.0, 1e9, 100.0, 0.25, False, 0.5, "compute")
    other = replace(dot, side="candidate", share=0.6)
    picture = Picture((dot, dot, other), (), 0)
    little = "The operators that are drawn take 50.0 % of the baseline's operator time."
    drawn = "The operators that are drawn take 25.0 % of the baseline's operator time."
    roofs = compared(Peaks(1e9, 384, 500.0, bandwidths=(MEMORY,))).roofs
    assert little not in roofline_notes(roofs, picture), "half of it is enough"
    assert drawn in roofline_notes(roofs, Picture((dot, other), (), 0))


def test_files_without_bandwidth_or_peaks_say_so() -> None:
    old = compared(Peaks(1e9, 384, 500.0))
    share = old.figure("roofline_share").baseline
    assert (share.value, share.reason) == (None, "no_bandwidth")
    entered = compared(Peaks(1e9, 384, 500.0), Assumptions(bandwidth_bytes_per_s=1e10))
    assert entered.figure("roofline_share").baseline.value is not None
    assert entered.roofs[0].bandwidth.basis == "assumed"
    picture = roofline_picture(old)
    assert picture is not None
    assert {line.what for line in picture.lines} == {"peak"}
    notes = roofline_notes(old.roofs, picture)
    assert any("memory bandwidth is not in the file" in note for note in notes)
    # Of one side alone, as the Trace page has it: a roof, and a sentence for the one that lacks.
    [alone] = roofline_notes(old.roofs[:1], picture)
    assert alone.startswith("A roof is missing: ")


def test_the_picture_has_a_dot_an_operator_and_a_line_a_roof() -> None:
    comparison = compared(Peaks(1e9, 384, 500.0, bandwidths=(L2, MEMORY)))
    picture = roofline_picture(comparison)
    assert picture is not None
    assert {(dot.side, dot.name) for dot in picture.dots} >= {
        ("baseline", "a/Conv"),
        ("candidate", "a/Conv"),
    }
    assert [line.what for line in picture.lines] == ["peak", "memory", "L2"]
    assert all(line.side is None for line in picture.lines)  # one machine
    low, high = picture.intensities
    for dot in picture.dots:
        assert low < dot.intensity < high
    for line in picture.lines:
        (x1, y1), (x2, y2) = picture.ends(line)
        assert x1 <= x2
        if line.rises:
            assert y1 == pytest.approx(x1 * line.rate) and y2 == pytest.approx(x2 * line.rate)
            assert y2 == pytest.approx(1e9)  # both reach the peak inside the picture
        else:
            assert y1 == y2 == line.rate


def test_a_dot_has_the_name_that_its_own_side_gives_the_operator() -> None:
    """A row of two joined operators has the baseline's."""
    comparison = compared(Peaks(1e9, 384, 500.0, bandwidths=(MEMORY,)))
    side = comparison.candidate
    names = side.trace.operators["name"].cat.rename_categories({"a/Conv": "nchwc/Conv"})
    trace = replace(side.trace, operators=side.trace.operators.assign(name=names))
    changed = replace(comparison, candidate=replace(side, trace=trace))
    picture = roofline_picture(changed)
    assert picture is not None
    convolutions = {(dot.side, dot.name) for dot in picture.dots if dot.name.endswith("Conv")}
    assert {("baseline", "a/Conv"), ("candidate", "nchwc/Conv")} <= convolutions


def test_hostile_rates_leave_the_picture_finite() -> None:
    huge, tiny = Bandwidth(3, 1e18, SPREAD, 1), Bandwidth(2, 1e-300, SPREAD, 1)
    peaks = Peaks(1e18, 384, 500.0, bandwidths=(tiny, *[huge] * 1000, MEMORY))
    picture = roofline_picture(compared(peaks))
    assert picture is not None
    assert [line.what for line in picture.lines] == ["peak", "memory", "L3", "L3", "L3"]
    ends = [number for line in picture.lines for end in picture.ends(line) for number in end]
    assert all(0 < n < 1e40 for n in (*ends, *picture.intensities, *picture.rates))


def test_over_the_roof_is_said_and_without_dots_why() -> None:
    tight = compared(Peaks(1e6, 384, 500.0, bandwidths=(MEMORY,)))
    picture = roofline_picture(tight)
    assert picture is not None
    assert any("above the roof" in note for note in roofline_notes(tight.roofs, picture))
    assert any("over: " in share_text(dot) for dot in picture.dots)
    light = read(Source("p.json", profile_json((RELU,), runs=2)))
    assert isinstance(light, Trace)
    nothing = compare(side_of_trace(light), side_of_trace(light))
    assert roofline_picture(nothing) is None
    assert no_roofline(nothing).startswith("No roofline: FLOPs are not counted for these operators")
    # What operators lack that have FLOPs is named, however little time they take.
    some = nothing.operators.assign(roofline_reason_candidate="no_sizes")
    assert no_roofline(replace(nothing, operators=some)) == (
        "No roofline: the file does not give the sizes of all inputs and outputs."
    )


def test_old_files_have_no_new_peaks() -> None:
    old = msgspec.json.decode(b'{"gemm_flops_per_s":1.0,"gemm_n":2,"dispatch_ns":3.0}', type=Peaks)
    assert old.memory is None and old.bandwidths == ()
    again = msgspec.json.decode(msgspec.json.encode(Peaks(bandwidths=(L2, MEMORY))), type=Peaks)
    assert again.memory == MEMORY


def test_a_file_without_operators_has_no_heavy_ones() -> None:
    trace = Trace(
        Meta("test", "test"),
        runs_frame(run=[0], dur_ns=[5]),
        operators_frame(operator=[], name=[]),
        calls_frame(operator=[], run=[], dur_ns=[]),
    )
    assert heavy_operators(trace).empty
    side = side_of_trace(trace)
    comparison = compare(side, side, Assumptions(peak_flops_per_s=1.0))
    assert comparison.figure("roofline_share").baseline.reason == "no_heavy_operators"
    assert roofline_picture(comparison) is None


def test_names_of_lines_stand_where_they_have_room() -> None:
    """The axis goes from 0.5e9 to 512e9 FLOP/s, as by 2 of room around 1e9 and 256e9: 1024 times.
    A name is 0.06 of it high, 1.52 times; beside a rising line 0.12, 2.30 times."""
    dots = tuple(
        Dot("baseline", "a", "Conv", 1.0, rate, 1e3, 0.5, False, None, None)
        for rate in (1e9, 256e9)
    )

    def labelled(*lines: tuple[str, float, str | None]) -> list[str]:
        found = (
            Line(what, rate, "peak" not in what, side, "measured") for what, rate, side in lines
        )
        return [line.what for line in Picture(dots, tuple(found), 0).labelled]

    assert labelled(("memory", 10e9, None), ("L3", 24e9, None), ("L2", 40e9, None)) == [
        "L2", "memory"
    ]  # fmt: skip
    assert labelled(("memory", 10e9, None), ("L3", 24e9, None)) == ["L3", "memory"]
    flat = ("float32_peak", 100e9, "baseline"), ("float16_peak", 150e9, "baseline")
    assert labelled(*flat) == ["float16_peak"]
    assert labelled(("float32_peak", 50e9, "candidate"), flat[1]) == [
        "float16_peak",
        "float32_peak",
    ]
    assert labelled(flat[0], ("float32_peak", 100e9, "candidate")) == ["float32_peak"]
