"""Each kind of finding on a trace built to have it and on one built not to, computed by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice import Finding, Gain, Subject
from fusescope.analysis.advice.finding import FindingCode, Unknown
from fusescope.analysis.advice.findings import KINDS, findings
from fusescope.analysis.advice.subject import shown_chain
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.limits import Limits
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.metrics.hierarchy import hierarchy
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.readers import read_path
from fusescope.analysis.readers.building.host.wait_calls import host_waits
from fusescope.analysis.timeline.payload import trace_payload
from fusescope.analysis.trace import Trace, calls_frame, runs_frame
from fusescope.analysis.wording import findings as words
from fusescope.analysis.wording.findings.texts import TEXTS
from fusescope.analysis.wording.findings.unknown import REASONS
from tests.advice.traces import Call, found_in, of_code, reason, trace_of
from tests.compare.test_comparison import experiment_of
from tests.factories import experiment_zip
from tests.host.hosts import host_of

BUSY: list[Call] = [("MatMul", 0, 500), ("Conv", 500, 500)]


def test_every_kind_has_its_words() -> None:
    assert set(KINDS) == set(get_args(FindingCode)) == set(TEXTS)
    assert set(get_args(Unknown)) == set(REASONS)


def test_nothing_stands_out() -> None:
    found = found_in(trace_of(BUSY))
    assert found.found == ()
    assert found.run_ns == 1000
    assert reason(found, "missed_fusion") == "no_graph"
    assert reason(found, "run_tail") == "no_samples"


def test_a_run_that_waits_for_dispatch() -> None:
    """Ten operators of 30 ns, one each 100 ns: nothing runs for 630 of 1000 ns between them and for
    70 after the last one, no gap above the others."""
    waits = trace_of([("MatMul", 100 * at, 30) for at in range(10)])
    one = of_code(found_in(waits), "dispatch_bound")
    assert one is not None
    assert (one.at_most_ns, one.share, one.of_ns) == (630, 0.63, 1000)
    assert one.values["each_ns"] == 63
    assert one.stretch == Stretch(0, 93), "all tenths are equal"
    longer = trace_of([*(("MatMul", 100 * at, 30) for at in range(9)), ("Conv", 960, 20)])
    one = of_code(found_in(longer), "dispatch_bound")
    assert one is not None
    assert one.stretch == Stretch(882, 980)
    half = trace_of([("MatMul", 100 * at, 50) for at in range(10)])
    assert of_code(found_in(half), "dispatch_bound") is None


def test_one_gap_is_not_dispatch() -> None:
    """Nothing runs from 100 to 900: one operator is waited for."""
    found = found_in(trace_of([("MatMul", 0, 100), ("Conv", 900, 100)]))
    one = of_code(found, "idle_before")
    assert one is not None
    assert (one.names, one.at_most_ns, one.share) == (("Conv_1",), 800, 0.8)
    assert one.stretch == Stretch(100, 900)
    assert of_code(found, "dispatch_bound") is None
    assert of_code(found_in(trace_of(BUSY)), "idle_before") is None


def test_gaps_that_are_spread() -> None:
    """Of 1000 ns nothing runs for 100 at first, for 140 before Conv and 60 at the end."""
    calls: list[Call] = [("MatMul", 100, 300), ("Conv", 540, 400)]
    one = of_code(found_in(trace_of(calls)), "idle_time")
    assert one is not None
    assert (one.at_most_ns, one.values["gap_ns"], one.names) == (300, 140, ("Conv_1",))
    assert one.stretch == Stretch(400, 540)
    found = found_in(trace_of([("MatMul", 0, 500), ("Conv", 520, 480)]))
    assert of_code(found, "idle_time") is None, "less than 5 %"


def test_idle_time_that_comes_before_no_operator_names_none() -> None:
    one = Finding("idle_time", values={"idle_ns": 300.0, "share": 0.3, "operator": "x"})
    told = words.limit_parts(replace(one, values={**one.values, "gap_ns": 0.0}))
    assert "".join(part.text for part in told) == "Nothing runs for 300 ns, 30.0 % of the time."
    told = words.limit_parts(replace(one, values={**one.values, "gap_ns": 100.0}))
    assert "".join(part.text for part in told).endswith("; 100 ns of it before x.")


def test_a_run_that_goes_on_after_its_last_operator() -> None:
    """Of 1000 ns the last 700: neither dispatch nor a gap before an operator."""
    found = found_in(trace_of([("MatMul", 0, 200), ("Conv", 200, 100)]))
    one = of_code(found, "idle_after")
    assert one is not None
    assert (one.at_most_ns, one.share, one.names) == (700, 0.7, ())
    assert one.stretch == Stretch(300, 1000)
    assert not {"dispatch_bound", "idle_before", "idle_time"} & {of.code for of in found.found}
    assert (
        of_code(found_in(trace_of([("MatMul", 0, 200), ("Conv", 500, 500)])), "idle_after") is None
    )


def test_a_gap_before_the_first_operator() -> None:
    one = of_code(found_in(trace_of([("MatMul", 400, 300), ("Conv", 700, 300)])), "idle_before")
    assert one is not None
    assert (one.names, one.at_most_ns) == (("MatMul_0",), 400)
    assert one.stretch == Stretch(0, 400)


def test_a_gap_that_another_stream_fills_is_none() -> None:
    calls: list[Call] = [("MatMul", 0, 100), ("Conv", 900, 100), ("Gemm", 100, 800)]
    found = found_in(trace_of(calls, streams=["7", "7", "8"]))
    assert of_code(found, "idle_before") is None


def test_communication_and_copies_count_where_nothing_hides_them() -> None:
    calls: list[Call] = [
        ("MatMul", 0, 500), ("AllReduce", 400, 300), ("Memcpy HtoD", 700, 100), ("Conv", 800, 200)
    ]  # fmt: skip
    found = found_in(trace_of(calls, is_communication=[False, True, False, False]))
    one, other = of_code(found, "communication"), of_code(found, "copies")
    assert one is not None
    assert other is not None
    assert (one.at_most_ns, one.share) == (200, 0.2)
    assert (other.at_most_ns, other.share) == (100, 0.1)
    assert (one.stretch, other.stretch) == (Stretch(500, 700), Stretch(700, 800))
    hidden: list[Call] = [("MatMul", 0, 1000), ("AllReduce", 400, 300), ("Memcpy HtoD", 700, 100)]
    found = found_in(trace_of(hidden, is_communication=[False, True, False]))
    assert of_code(found, "communication") is None
    assert of_code(found, "copies") is None


def test_the_device_runs_dry_while_the_host_waits() -> None:
    """MatMul to 300, Conv from 500 to 900. The first wait began before 300; the second when nothing
    ran any more, and the last one ends after Conv: neither keeps the device waiting."""
    trace = trace_of([("MatMul", 0, 300), ("Conv", 500, 400)])
    assert reason(found_in(trace), "host_waits") == "no_host_calls"
    host = host_of([(0, "runtime", "hipLaunchKernel", 0, 50)], [(0, 300, 0, 0), (500, 900, 0, 20)])
    with_calls = found_in(replace(trace, host=host))
    assert reason(with_calls, "host_waits") == "no_host_waits", "it says what the host called"
    waits = [("aten::item", 100, 320), ("cudaStreamSynchronize", 310, 350), ("end", 600, 990)]
    waiting = replace(trace, host_waits=host_waits(waits, Limits()))
    one = of_code(found_in(waiting), "host_waits")
    assert one is not None
    assert (one.at_most_ns, one.share, one.stretch) == (200, 0.2, Stretch(300, 500))
    assert (one.values["waits"], one.values["places"], one.values["call"]) == (3, 1, "aten::item")
    early = replace(trace, host_waits=host_waits([("aten::item", -50, 320)], Limits()))
    one = of_code(found_in(early), "host_waits")
    assert one is not None
    assert (one.values["waits"], one.values["places"]) == (1, 1), "it began before MatMul did"
    for harmless in ([], waits[1:]):
        free = replace(trace, host_waits=host_waits(harmless, Limits()))
        assert of_code(found_in(free), "host_waits") is None
        assert reason(found_in(free), "host_waits") is None


def test_streams_of_which_one_does_the_work() -> None:
    """800 against 200 ns: moving 300 would even them out."""
    calls: list[Call] = [("MatMul", 0, 800), ("Conv", 800, 200)]
    one = of_code(found_in(trace_of(calls, streams=["7", "8"])), "stream_imbalance")
    assert one is not None
    assert one.at_most_ns == 300
    assert one.stretch == Stretch(0, 800)
    even: list[Call] = [("MatMul", 0, 500), ("Conv", 500, 300)]
    assert of_code(found_in(trace_of(even, streams=["7", "8"])), "stream_imbalance") is None
    for other in ({"provider": ["AI_CORE", "AI_CPU"]}, {"op_type": ["MatMul", "Memcpy HtoD"]}):
        found = found_in(trace_of(calls, streams=["7", "8"], **other))
        assert of_code(found, "stream_imbalance") is None, "nothing that could take the work"


@pytest.mark.parametrize(
    ("code", "op_type"),
    [
        ("reorders", "TransData"), ("reorders", "aten::permute"),
        ("type_conversions", "Cast"), ("type_conversions", "DequantizeLinear"),
    ],
)  # fmt: skip
def test_operators_that_compute_nothing(code: str, op_type: str) -> None:
    one = of_code(found_in(trace_of([("MatMul", 0, 900), (op_type, 900, 100)])), code)
    assert one is not None
    assert (one.at_most_ns, one.share) == (100, 0.1)
    short = trace_of([("MatMul", 0, 981), (op_type, 981, 19)])
    assert of_code(found_in(short), code) is None, "less than 2 %"


def test_a_recording_on_the_processor_has_no_device_to_wait_for() -> None:
    side = side_of_variant(experiment_of(experiment_zip({"unfused": [10.0] * 5})), "unfused")
    assert not side.is_on_device
    assert reason(findings(Subject(side)), "host_waits") is None


def test_operators_that_fall_back_to_the_host() -> None:
    calls: list[Call] = [("MatMul", 0, 900), ("Where", 900, 100)]
    found = found_in(trace_of(calls, provider=["AI_CORE", "AI_CPU"]))
    one = of_code(found, "fallback")
    assert one is not None
    assert (one.at_most_ns, one.names) == (100, ("Where_1",))
    assert "CPUs of the device" in words.why_text(one) and "host" not in words.why_text(one)
    cpu = "CPUExecutionProvider"
    of_host = found_in(trace_of(calls, provider=["CUDAExecutionProvider", cpu]))
    on_host = of_code(of_host, "fallback")
    assert on_host is not None and "the CPU of the host" in words.why_text(on_host)
    libraries = [[f"{name}ExecutionProvider", cpu] for name in ("Dnnl", "MKLDNN")]
    others = (["AI_CORE", "AI_VECTOR_CORE"], ["FuseScope", cpu], *libraries)
    for providers in others:
        assert of_code(found_in(trace_of(calls, provider=providers)), "fallback") is None
    unknown = found_in(trace_of(calls, level="framework_op"))
    assert reason(unknown, "fallback") == "no_providers"
    # Kernels ran on a device, whatever its name is: none of them fell back to the host.
    kernels = found_in(trace_of(calls))
    assert "fallback" not in [one.code for one in kernels.unanswered]
    assert of_code(kernels, "fallback") is None


def test_what_communication_hides_is_no_saving() -> None:
    """A Cast of 100 ns inside of an AllReduce that runs on until 700: without it the step would
    take as long. Beside computing that ends after the AllReduce it would end 100 ns earlier."""
    calls: list[Call] = [("MatMul", 0, 300), ("AllReduce", 300, 400), ("Cast", 350, 100)]
    talks = [False, True, False]
    streams = ["1", "2", "1"]
    hidden = found_in(trace_of(calls, streams=streams, is_communication=talks))
    assert of_code(hidden, "type_conversions") is None
    calls.append(("MatMul", 450, 300))
    open_ = found_in(trace_of(calls, streams=[*streams, "1"], is_communication=[*talks, False]))
    one = of_code(open_, "type_conversions")
    assert one is not None and one.at_most_ns == 100
    # Of a Cast that begins 50 ns before the AllReduce, these 50 can be saved.
    early: list[Call] = [("MatMul", 0, 250), ("AllReduce", 300, 400), ("Cast", 250, 100)]
    part = of_code(
        found_in(trace_of(early, streams=streams, is_communication=talks)), "type_conversions"
    )
    assert part is not None and part.at_most_ns == 50


def test_a_conversion_on_a_cpu_is_saved_once() -> None:
    calls: list[Call] = [("MatMul", 0, 800), ("Cast", 800, 100), ("Where", 900, 100)]
    found = found_in(trace_of(calls, provider=["AI_CORE", "AI_CPU", "AI_CPU"]))
    fallback, conversions = (of_code(found, code) for code in ("fallback", "type_conversions"))
    assert fallback is not None and fallback.names == ("Where_2",)
    assert conversions is not None and conversions.names == ("Cast_1",)


def test_light_operators_in_a_row() -> None:
    """Mul, Add and Relu of 100, 150 and 50 ns: all but the longest could go."""
    calls: list[Call] = [
        ("MatMul", 0, 700),
        ("Mul", 700, 100),
        ("Add", 800, 150),
        ("Relu", 950, 50),
    ]
    one = of_code(found_in(trace_of(calls)), "light_chains")
    assert one is not None
    assert one.at_most_ns == 150
    assert one.gain == Gain(90, 30, 150, "modelled")
    assert one.values["example"] == "Mul + Add + Relu"
    assert one.names == ("Add_2", "Mul_1", "Relu_3")


def test_what_the_host_did_is_not_denied_beside_a_lane_that_shows_it() -> None:
    """The sample has 217 of 691 us without operators, and a lane of the host that fills them; a
    trace without anything of its host cannot say what that did."""
    sample = Path(__file__).resolve().parents[2] / "sample_traces/torch_compile/compiled.json.gz"
    trace = read_path(sample)
    assert isinstance(trace, Trace) and trace.host is not None
    [side] = trace_payload(side_of_trace(trace))["sides"]
    one = of_code(found_in(trace), "idle_time")
    assert one is not None and side["host"].totals["idle_ns"] > 0
    assert "The lane of the host on the timelines shows" in words.why_text(one)
    assert "not in the file" not in words.why_text(one)
    assert "520 µs are torch.compile's own code (guards and wrappers)" in words.why_text(one)
    assert words.remedy_text(one).startswith("Call the compiled code less often")
    calls: list[Call] = [("MatMul", 100, 300), ("Conv", 540, 400)]  # as above
    blind = of_code(found_in(trace_of(calls)), "idle_time")
    assert blind is not None and "which of these is not in the file" in words.why_text(blind)


def test_an_example_names_operators_whole_or_not_at_all() -> None:
    """Three names of 50 characters are 156 in a row: the third is left out, never its end alone."""
    names = [f"{letter * 44}_kernel" for letter in "abc"]
    assert shown_chain(names[:2]) == " + ".join(names[:2])
    assert shown_chain(names) == f"{names[0]} + {names[1]} + …"
    tensile = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64"
    assert shown_chain([tensile, "relu"]) == "Tensile GEMM TN bf16 MT256x192x64 + relu"


CHANNELS = "float32[2,8,6,6]"


def after_heavy(types: list[str], inputs: list[str]) -> Finding | None:
    """The finding of operators of 500, 200, 200 and 100 ns."""
    times = [(0, 500), (500, 200), (700, 200), (900, 100)]
    calls: list[Call] = [(of, *time) for of, time in zip(types, times, strict=False)]
    found = found_in(trace_of(calls, inputs=inputs, outputs=[None] * len(calls)))
    return of_code(found, "light_after_heavy")


def test_light_operators_that_follow_a_heavy_one() -> None:
    """60 % of 400 ns are predicted to go, less a quarter of the 500 of Conv at worst."""
    conv = "float32[2,3,8,8]; float32[8,3,3,3]"
    norm = f"{CHANNELS}; float32[8]"
    one = after_heavy(["Conv", "BatchNormalization", "Relu"], [conv, norm, CHANNELS])
    assert one is not None
    assert one.values["example"] == "Conv + BatchNormalization + Relu"
    assert one.gain is not None
    assert one.gain.value == pytest.approx(240)
    assert one.gain.low == pytest.approx(240 - 125)
    assert one.gain.high == one.at_most_ns == pytest.approx(400), "no more than what they take"
    assert set(one.names) == {"BatchNormalization_1", "Relu_2"}
    assert words.remedy_text(one).startswith("Fold BatchNormalization into the weights")
    product = after_heavy(["MatMul", "Gelu"], ["float32[4,8]; float32[8,16]", "float32[4,16]"])
    assert product is not None
    assert "BatchNormalization" not in words.remedy_text(product)
    other = "float32[2,9,6,6]"
    for types, inputs in (
        (["Conv", "Relu"], [conv, other]),
        (["Conv", "BatchNormalization", "Softmax"], [conv, f"{other}; float32[9]", CHANNELS]),
        (["Conv", "MaxPool", "Relu"], [conv, CHANNELS, CHANNELS]),
        (["Conv", "Relu", "ReluGrad"], [conv, CHANNELS, CHANNELS]),
        (["Conv", "triton_fused_relu"], [conv, CHANNELS]),
    ):
        assert after_heavy(types, inputs) is None, types


@pytest.mark.parametrize(
    ("types", "columns"),
    [
        (["Mul", "MatMul", "Add"], {}),
        (["Mul", "Add", "MatMul"], {"outputs": ["float32[4]"] * 3}),
        (["loop_multiply_fusion", "loop_add_fusion", "MatMul"], {}),
        (["Mul", "Add", "MatMul"], {"streams": ["7", "8", "7"]}),
    ],
)
def test_light_operators_that_are_no_chain(types: list[str], columns: dict[str, list[str]]) -> None:
    calls: list[Call] = [(op_type, 300 * at, 300) for at, op_type in enumerate(types)]
    assert of_code(found_in(trace_of(calls, **columns)), "light_chains") is None


def test_original_operators_that_two_fused_ones_contain() -> None:
    calls: list[Call] = [("fusion", 0, 600), ("fusion", 600, 400)]
    names = {"members_source": ["names", "names"]}
    part = found_in(trace_of(calls, members=["a + b", "b + c"], **names))
    assert of_code(part, "recomputed") is None, "the second one computes c, too"
    twice = found_in(trace_of(calls, members=["a + b", "a + b"], name=["f", "f"], **names))
    assert of_code(twice, "recomputed") is None, "one operator, of two shapes"
    one = of_code(found_in(trace_of(calls, members=["a + b", "b"], **names)), "recomputed")
    assert one is not None
    assert one.at_most_ns == 400
    assert of_code(found_in(trace_of(calls, members=["a + b", "c"], **names)), "recomputed") is None


def test_kernels_that_only_rearrange_are_known_by_their_names() -> None:
    """Class layout also holds what costs nothing or is a part of other work: Reshape, im2col."""
    for kernel, code in (
        ("batched_transpose_32x32_half", "reorders"),
        ("Reformat", "reorders"),
        ("vectorizedcast_kernel", "type_conversions"),
        ("im2col", None),
    ):
        calls: list[Call] = [("MatMul", 0, 900), (kernel, 900, 100)]
        found = found_in(trace_of(calls, op_class=["matrix_product", "layout"]))
        assert {one.code for one in found.found} == ({code} if code else set())


def test_heavy_operators_in_a_wider_type() -> None:
    """Of 300 ns in float32 half could go where the others compute in float16."""
    calls: list[Call] = [("MatMul", 0, 700), ("Conv", 700, 300)]
    inputs = ["float16[8,16]; float32[4]", "float32[8,16]"]
    found = found_in(trace_of(calls, inputs=inputs))
    one = of_code(found, "wide_types")
    assert one is not None
    assert (one.at_most_ns, one.names, one.values["wide"]) == (150, ("Conv_1",), "float32")
    assert of_code(found_in(trace_of(calls)), "wide_types") is None
    assert reason(found_in(trace_of(calls, inputs=["", ""])), "wide_types") == "no_shapes"


def test_what_is_unknown_is_not_what_the_file_has() -> None:
    """Of two operators one has FLOPs, neither has sizes; shapes without a type are shapes."""
    bare = trace_of([("MatMul", 0, 700), ("Conv", 700, 300)])
    counted = bare.operators.assign(flops=pd.array([2_000, None], dtype="Int64"))
    for kind in ("memory_bound", "low_utilisation"):
        assert reason(found_in(bare), kind) == "no_counted_flops"
        assert reason(found_in(replace(bare, operators=counted)), kind) == "no_sizes"
    untyped = trace_of([("MatMul", 0, 700), ("Conv", 700, 300)], inputs=["?[8,16]", "?[8,16]"])
    assert reason(found_in(untyped), "wide_types") == "no_dtypes"


def test_memory_that_one_moment_needs() -> None:
    """100 MB for 600 of 700 ns, 300 MB for the rest; then only 140 MB."""
    for peak_mb, found_peak in ((300, True), (140, False)):
        use = MemoryUse(
            "GPU 0",
            np.array([0, 300, 400, 700]),
            np.array([100, peak_mb, 100, 100]) * 10**6,
            peak_in="Linear_3",
        )
        found = found_in(replace(trace_of(BUSY), memory=(use,)))
        one = of_code(found, "peak_memory")
        assert (one is not None) is found_peak
        if one is not None:
            assert (one.values["peak"], one.values["usual"]) == (300 * 10**6, 100 * 10**6)
            assert "Linear_3" in words.why_text(one)
            assert one.at_most_ns is None
    assert reason(found_in(trace_of(BUSY)), "peak_memory") == "no_memory"


def test_runs_of_which_some_are_slow() -> None:
    """Of 20 runs 18 take 100 ns and 2 take 300: the mean is 120."""
    slow = trace_of(BUSY, samples=[100] * 9 + [300] + [100] * 9 + [300])
    one = of_code(found_in(slow), "run_tail")
    assert one is not None
    assert one.at_most_ns == pytest.approx(20)
    assert one.of_ns == pytest.approx(120)
    assert one.values["cause"] == "other"
    assert of_code(found_in(trace_of(BUSY, samples=[100] * 20)), "run_tail") is None
    # Mean 78, median 100: the slow runs take nothing that a usual run does not give back.
    both = trace_of(BUSY, samples=[100] * 11 + [20] * 7 + [160] * 2)
    assert of_code(found_in(both), "run_tail") is None
    few = found_in(trace_of(BUSY, samples=[100] * 19))
    assert reason(few, "run_tail") == "too_few_samples"


@pytest.mark.parametrize(
    ("samples", "cause"),
    [([300] * 2 + [100] * 18, "other"), ([200] * 8 + [100] * 12, "warm_up")],
)
def test_why_runs_are_slow(samples: list[int], cause: str) -> None:
    one = of_code(found_in(trace_of(BUSY, samples=samples)), "run_tail")
    assert one is not None
    assert one.values["cause"] == cause
    late = of_code(found_in(trace_of(BUSY, samples=samples[::-1])), "run_tail")
    assert late is not None
    assert late.values["cause"] == {"warm_up": "throttling"}.get(cause, cause)


def test_slow_runs_are_told_apart_by_their_cpu_time() -> None:
    """Runs of 300 instead of 100 ns in each of two processes, with and without as much CPU time."""
    trace = trace_of(BUSY, samples=([100] * 9 + [300] * 2 + [100] * 9) * 2)
    for cpu_ns, cause in ((390, "slower"), (130, "waited"), (260, "other")):
        took = [0, *[cpu_ns if dur > 100 else 130 for dur in trace.sampled_runs["dur_ns"]]]
        blocks = pd.array([None, *[0] * 20, *[1] * 20], dtype="Int64")
        runs = trace.runs.assign(cpu_ns=pd.array(took, dtype="Int64"), block=blocks)
        one = of_code(found_in(replace(trace, runs=runs)), "run_tail")
        assert one is not None
        assert one.values["cause"] == cause


def test_idle_time_that_the_profiler_may_have_made_is_none() -> None:
    """Of 1000 ns nothing runs for 300; un-profiled runs take 700 or 900."""
    calls: list[Call] = [("MatMul", 100, 300), ("Conv", 540, 400)]
    assert of_code(found_in(trace_of(calls, samples=[700] * 5)), "idle_time") is None
    one = of_code(found_in(trace_of(calls, samples=[900] * 5)), "idle_time")
    assert one is not None
    assert (one.values["idle_ns"], one.at_most_ns, one.of_ns) == (300, 300, 900)


def test_of_idle_time_no_more_is_saved_than_an_unprofiled_run_takes() -> None:
    """Ten operators of 20 ns, one each 100 ns: idle are 800 of 1000 ns, 720 between operators; an
    un-profiled run takes 600, of which the operators are at most a third."""
    waits: list[Call] = [("MatMul", 100 * at, 20) for at in range(10)]
    one = of_code(found_in(trace_of(waits, samples=[600] * 5)), "dispatch_bound")
    assert one is not None
    assert (one.share, one.at_most_ns, one.of_ns) == (0.72, 600, 600)
    assert one.confidence == "low", "all of the run is a bound, and no estimate"
    busy = found_in(trace_of(waits, samples=[500] * 5))
    assert of_code(busy, "dispatch_bound") is None
    shorter = of_code(found_in(trace_of(waits, samples=[1200] * 5)), "dispatch_bound")
    assert shorter is not None
    assert (shorter.at_most_ns, shorter.of_ns, shorter.confidence) == (720, 1200, "medium")


@pytest.mark.parametrize(
    ("calls", "code"),
    [
        ([("MatMul", 0, 350), ("Conv", 650, 350)], "idle_before"),
        ([("MatMul", 0, 350), ("Conv", 350, 350)], "idle_after"),
    ],
)
def test_a_gap_that_the_profiler_may_have_made_is_none(
    calls: list[Call], code: FindingCode
) -> None:
    """Of 1000 ns nothing runs for 300 in one place; the profiler adds 200, or 280 of them."""
    one = of_code(found_in(trace_of(calls, samples=[800] * 5)), code)
    assert one is not None
    assert (one.at_most_ns, one.of_ns) == (300, 800)
    assert of_code(found_in(trace_of(calls, samples=[720] * 5)), code) is None


def test_streams_that_overlap_take_no_more_than_the_run() -> None:
    """Casts of 900 and 800 ns beside each other in a run of 1000: 1700 of 1700, at most 1000."""
    calls: list[Call] = [("Cast", 0, 900), ("Cast", 0, 800)]
    one = of_code(found_in(trace_of(calls, streams=["7", "8"])), "type_conversions")
    assert one is not None
    assert (one.share, one.at_most_ns) == (1.0, 1000)


def test_gaps_are_those_of_the_median_run_in_a_mean_run() -> None:
    """Before Conv nothing runs for 400 ns of the first run and 600 of the second: of the mean run
    500, at the places of the first of two equal ones."""
    trace = trace_of([("MatMul", 0, 100), ("Conv", 500, 500)])
    again = replace(
        trace,
        runs=runs_frame(
            run=[0, 1],
            kind=["step"] * 2,
            start_ns=[0, 5000],
            dur_ns=[1000] * 2,
            profiled=[True] * 2,
        ),
        calls=calls_frame(
            operator=[0, 1, 0, 1],
            run=[0, 0, 1, 1],
            device=["0"] * 4,
            stream=["7"] * 4,
            start_ns=[0, 500, 5000, 5700],
            dur_ns=[100, 500, 100, 300],
        ),
    )
    gaps = Subject(side_of_trace(again)).gaps_ns
    assert gaps.tolist() == [0, 500]


def test_operators_without_a_name() -> None:
    """A file may leave a name out: it is told as unknown, on every page."""
    calls: list[Call] = [("MatMul", 0, 500), ("Transpose", 900, 100)]
    trace = trace_of(calls, name=["a", None])
    found = found_in(trace)
    assert {one.names for one in found.found} == {("unknown",)}
    leaves = [node for node in hierarchy(trace, None, "op_class") if node.level == "operator"]
    assert [node.label for node in leaves] == ["a", ""]


def test_what_is_worth_most_comes_first() -> None:
    """Communication of 400 ns counts half, a chain that saves 90 as it is predicted, a cast of 100
    half."""
    calls: list[Call] = [
        ("Cast", 0, 100), ("AllReduce", 100, 400), ("Mul", 500, 150), ("Add", 650, 150),
        ("MatMul", 800, 200),
    ]  # fmt: skip
    found = found_in(trace_of(calls, is_communication=[False, True, False, False, False]))
    assert [one.code for one in found.found] == [
        "communication",
        "light_chains",
        "type_conversions",
    ]


@pytest.mark.parametrize("way", ["DtoD", "HtoD"])
def test_copies_within_the_device_are_not_told_of_pinned_memory(way: str) -> None:
    """100 of 130 ns of copies, whose advice is about them."""
    calls: list[Call] = [
        ("MatMul", 0, 500), (f"Memcpy {way}", 500, 100), ("Memcpy DtoH", 600, 30), ("Conv", 630, 70)
    ]  # fmt: skip
    one = of_code(found_in(trace_of(calls)), "copies")
    assert one is not None
    told = words.why_text(one), words.remedy_text(one)
    assert all("pin" not in text for text in told) == (way == "DtoD")
    assert ("stay on the device" in told[0]) == (way == "DtoD")


def test_a_file_without_operators_answers_nothing() -> None:
    empty = trace_of([], samples=[100] * 30)
    found = found_in(empty)
    assert found.found == ()
    assert {one.reason for one in found.unanswered} == {"no_operators"}
    assert found.run_ns == 1000


def test_a_file_without_runs_says_so() -> None:
    found = found_in(trace_of([("MatMul", 0, 100), ("Conv", 900, 100)], kind="file"))
    assert not found.has_runs
    assert reason(found, "dispatch_bound") == "runs_unknown"
    assert found.run_ns == 1000, "from the first start to the last end"
    calls: list[Call] = [("MatMul", 0, 100), ("Memcpy HtoD", 50, 100), ("Memcpy DtoH", 800, 50)]
    one = of_code(found_in(trace_of(calls, kind="file")), "copies")
    assert one is not None
    assert (one.at_most_ns, one.of_ns, one.share) == (100, 850, 100 / 850), "of what it spans"


TYPES = st.sampled_from(("MatMul", "Mul", "Add", "Cast", "Transpose", "AllReduce", "Memcpy HtoD"))


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    calls, at = [], 0
    for op_type in draw(st.lists(TYPES, min_size=1, max_size=12)):
        at += draw(st.integers(0, 300))
        calls.append((op_type, at, draw(st.integers(0, 200))))
        at += calls[-1][2] if draw(st.booleans()) else 0
    end = max(start + dur for _, start, dur in calls)
    return trace_of(
        calls,
        end + draw(st.integers(0, 500)),
        streams=[draw(st.sampled_from("78")) for _ in calls],
        is_communication=[op_type == "AllReduce" for op_type, _, _ in calls],
        samples=draw(st.lists(st.integers(1, 1000), max_size=30)),
    )


@given(traces())
def test_no_finding_promises_more_than_the_run(trace: Trace) -> None:
    found = found_in(trace)
    answered = {one.code for one in found.found} | {one.code for one in found.unanswered}
    assert answered <= set(KINDS)
    for one in found.found:
        whole = one.of_ns or found.run_ns
        assert one.at_most_ns is not None
        assert whole is not None
        assert 0 <= one.at_most_ns <= whole + 1e-6
        assert one.share is not None
        assert 0 <= one.share <= 1 + 1e-9
        if one.gain is not None:
            assert one.gain.low <= one.gain.value <= one.gain.high <= one.at_most_ns + 1e-6
        told = [words.why_text(one), words.remedy_text(one), words.source_text(one)]
        told += ["".join(part.text for part in words.limit_parts(one))]
        told += ["".join(part.text for part in words.gain_parts(one, found.run_ns))]
        assert all(told)
        assert not any("None" in text or "{" in text or "nan" in text for text in told)
