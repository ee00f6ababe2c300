"""Findings that rest on graphs: of real engine graphs with made-up times, and of the samples."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest

from fusescope.analysis.advice import Finding, Findings, Subject, findings
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording import findings as words
from fusescope.analysis.wording.findings import limit_parts, remedy_text
from tests.advice.experiments import compared
from tests.advice.traces import of_code, reason
from tests.factories import FUSED, GEMM, UNFUSED_OPERATORS, experiment_zip
from tests.pattern_cases import conv_bn, elementwise
from tests.pattern_models import Builder

SAMPLES = Path(__file__).parents[2] / "sample_traces"


def of_candidate(comparison: Comparison) -> Findings:
    return findings(Subject(comparison.candidate, comparison))


def of_baseline(comparison: Comparison) -> Findings:
    return findings(Subject(comparison.baseline))


@cache
def sample(name: str) -> Experiment:
    found = read_path(SAMPLES / f"{name}.zip")
    assert isinstance(found, Experiment)
    return found


def one_of(found: Findings, code: str) -> Finding:
    one = of_code(found, code)
    assert one is not None
    return one


def test_what_an_engine_would_fuse_that_optimises_nothing() -> None:
    """Conv of 60 and BatchNormalization of 20 µs: 30 % of both are predicted to go."""
    comparison = compared(conv_bn(), us={"Conv": 60, "BatchNormalization": 20})
    one = one_of(of_baseline(comparison), "not_optimised")
    assert one.values["op_types"] == "BatchNormalization"
    assert one.values["light_ns"] == 20_000
    assert one.gain is not None
    assert one.gain.value == pytest.approx(24_000)
    assert (one.gain.low, one.gain.high) == (pytest.approx(8_000), pytest.approx(52_000))
    assert of_code(of_candidate(comparison), "not_optimised") is None


def test_a_pattern_that_no_kernel_runs() -> None:
    """Two light operators of 10 µs each: with a kernel of one's own 65 % of one of them."""
    found = of_candidate(compared(elementwise("Mul", "Add")))
    one = one_of(found, "missed_fusion")
    assert one.values["blocked_by"] == "no_kernel"
    assert one.gain is not None
    assert one.gain.value == pytest.approx(6_500)
    assert one.gain.low < 0 < one.gain.high, "a kernel of one's own may be slower"
    assert one.confidence == "low"
    assert of_code(of_candidate(compared(conv_bn())), "missed_fusion") is None


def test_fused_and_slower() -> None:
    """150 µs for three operators before, 400 for one after, in every block."""
    slower = (FUSED[0], FUSED[1], 400, FUSED[3], FUSED[4])
    data = experiment_zip(
        {"unfused": [10.0] * 8, "fused": [12.0] * 8},
        {"unfused": UNFUSED_OPERATORS, "fused": (slower, GEMM)},
    )
    value = read(Source("made.zip", data))
    subject = advised(value)
    one = one_of(findings(subject), "fused_slower")
    assert one.gain is not None
    assert one.gain.value == pytest.approx(250_000, rel=0.01)
    assert one.gain.basis == "measured"
    assert one.confidence == "high"
    faster = read(Source("made.zip", experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})))
    assert of_code(findings(advised(faster)), "fused_slower") is None


def test_slower_groups_of_one_pattern_are_one_finding() -> None:
    """Two Add + LayerNormalization of 10 + 20 µs became operators of 80 µs each: 160 in place of
    60 µs, so 100 are lost; the optimizer that makes these operators is named."""
    build = Builder()
    x, y = build.input(1, 8, 64), build.input(1, 8, 64)
    for _ in range(2):
        added = build.node("Add", x, y)
        x = build.node("LayerNormalization", added, build.weight(64), build.weight(64), axis=-1)
    us = {"Add": 10, "LayerNormalization": 20, "SkipLayerNormalization": 80}
    one = one_of(of_candidate(compared(build.model(x), us=us)), "fused_slower")
    assert one.gain is not None and one.gain.value == pytest.approx(100_000)
    assert (one.values["n"], one.values["before_ns"]) == (2, pytest.approx(60_000))
    assert "without:SkipLayerNormFusion" in remedy_text(one)
    said = "".join(part.text for part in limit_parts(one))
    assert said.startswith("2 groups of Add + LayerNormalization run as SkipLayerNormalization")
    assert len(one.names) == 2


def test_a_value_that_is_computed_twice() -> None:
    """Two equal Exp of one input: the second one computes again."""
    build = Builder()
    x = build.input(2, 4, 8)
    twice = build.model(build.node("Add", build.node("Exp", x), build.node("Exp", x)))
    one = one_of(of_baseline(compared(twice)), "recomputed")
    assert one.at_most_ns == 10_000
    assert of_code(of_baseline(compared(elementwise("Exp", "Relu"))), "recomputed") is None


def test_mobilenet_unfused_names_what_fusion_brings_and_how_much() -> None:
    """Predicted from the unfused recording alone; the fused one beside it says whether it holds."""
    experiment = sample("mobilenetv2")
    found = findings(advised(experiment, "unfused"))
    first = found.found[0]
    assert first.code == "not_optimised"
    assert str(first.values["op_types"]).startswith("BatchNormalization, Clip")
    fused = findings(advised(experiment, "fused"))
    assert found.run_ns is not None
    assert fused.run_ns is not None
    assert first.gain is not None
    assert first.gain.low <= found.run_ns - fused.run_ns <= first.gain.high


def test_mobilenet_fused_says_what_is_left() -> None:
    """Depthwise convolutions at the bandwidth of memory, and nothing that fusion has done."""
    found = findings(advised(sample("mobilenetv2"), "fused"))
    first = next(one for one in found.found if one.code == "memory_bound")
    assert "Depthwise convolutions" in words.why_text(first)
    assert float(str(first.values["depthwise_ns"])) > 0.3 * float(str(first.values["time_ns"]))
    done = {"not_optimised", "missed_fusion", "light_chains", "fused_slower", "idle_time"}
    assert not done & {one.code for one in found.found}


def test_what_only_pieces_and_their_kernels_cost() -> None:
    experiment = sample("recipes/depthwise_mobilenetv2")
    found = findings(advised(experiment, "custom:depthwise_conv"))
    one = one_of(found, "pieces")
    assert one.share is not None
    assert 0.1 < one.share < 0.2
    assert not {"idle_time", "dispatch_bound"} & {of.code for of in found.found}
    serial = findings(advised(sample("recipes/mul_add"), "custom:mul_add"))
    threads = one_of(serial, "idle_threads")
    assert threads.at_most_ns == pytest.approx(0.5 * float(threads.of_ns or 0), rel=0.02)
    whole = findings(advised(experiment, "fused"))
    assert not {"pieces", "idle_threads"} & {of.code for of in whole.found}
    assert reason(findings(advised(sample("resnet50").traces["fused"])), "pieces") is None


def test_weights_are_read_whatever_is_fused() -> None:
    """A quarter of a Gemm's weights stays, and its remedy is another than that of tensors."""
    found = findings(advised(sample("mobilenetv2"), "fused"))
    bound = one_of(found, "memory_bound")
    memory = sample("mobilenetv2").record.peaks.memory
    assert memory is not None
    of_memory = float(str(bound.values["rate"])) * 1e9 / memory.bytes_per_s
    assert float(str(bound.values["of_roof"])) == pytest.approx(of_memory, rel=1e-6)
    assert "of what main memory allows" in "".join(part.text for part in words.limit_parts(bound))
    assert bound.at_most_ns is not None
    assert bound.at_most_ns < float(str(bound.values["time_ns"]))
    mostly = replace(bound, values={**bound.values, "weights": 0.9})
    assert words.remedy_text(mostly) != words.remedy_text(bound)
    unfused = one_of(findings(advised(sample("mobilenetv2"), "unfused")), "low_utilisation")
    assert "NchwcTransformer" in words.remedy_text(unfused)


def test_an_optimizer_that_was_off_is_a_missed_fusion() -> None:
    found = findings(advised(sample("mobilenetv2"), "without:ConvActivationFusion"))
    one = one_of(found, "missed_fusion")
    assert one.values["blocked_by"] == "disabled"
    assert one_of(found, "reorders").values["executions"] == 69


def test_utilisation_needs_the_peaks_of_the_machine() -> None:
    experiment = sample("mobilenetv2")
    low = one_of(findings(advised(experiment, "unfused")), "low_utilisation")
    assert low.at_most_ns is not None
    assert 0 < low.at_most_ns < float(str(low.values["time_ns"]))
    record = experiment.record
    unknown = msgspec.structs.replace(
        record, peaks=msgspec.structs.replace(record.peaks, gemm_flops_per_s=None, bandwidths=())
    )
    found = findings(advised(replace(experiment, record=unknown), "unfused"))
    assert reason(found, "low_utilisation") == "no_peak"
    assert reason(found, "memory_bound") == "no_peak"


def test_large_tensors_are_those_beyond_the_weights() -> None:
    """DeepLabV3+ keeps 40 MB beside 11 MB of weights, ResNet-50 less than its weights."""
    large = one_of(findings(advised(sample("recipes/three_modes"), "fused")), "large_tensors")
    assert large.at_most_ns is None
    assert int(str(large.values["peak"])) > int(str(large.values["weights"]))
    assert of_code(findings(advised(sample("resnet50"), "fused")), "large_tensors") is None


def test_one_trace_needs_no_second_side() -> None:
    trace = sample("resnet50").traces["fused"]
    found = findings(advised(trace))
    assert reason(found, "missed_fusion") == "no_graph"
    assert reason(found, "fused_slower") == "no_comparison"


def test_a_graph_that_grew() -> None:
    """Four operators in the model; the engine adds two products of 10 µs each."""
    extra = ("added/Mul", "Mul", 10, [(1, 10)], [(1, 10)])
    operators = {
        "unfused": UNFUSED_OPERATORS,
        "fused": (*UNFUSED_OPERATORS, extra, ("again/Mul", *extra[1:])),
    }
    data = experiment_zip({"unfused": [10.0] * 6, "fused": [10.0] * 6}, operators)
    one = one_of(findings(advised(read(Source("made.zip", data)))), "graph_growth")
    assert one.values["op_types"] == "Mul"
    assert (one.values["before"], one.values["after"], one.names) == (4, 6, ("Mul",))
    assert one.at_most_ns == pytest.approx(20_000)
    same = experiment_zip(
        {"unfused": [10.0] * 6, "fused": [10.0] * 6},
        {"unfused": UNFUSED_OPERATORS, "fused": UNFUSED_OPERATORS},
    )
    assert of_code(findings(advised(read(Source("made.zip", same)))), "graph_growth") is None


def test_what_the_roofs_allow() -> None:
    """ResNet-50's convolutions reach most of their roof; MobileNetV2's run at that of memory, and
    unfused its depthwise ones far below any."""
    resnet = findings(advised(sample("resnet50"), "fused"))
    assert of_code(resnet, "low_utilisation") is None
    assert of_code(resnet, "memory_bound") is None
    bound = one_of(findings(advised(sample("mobilenetv2"), "fused")), "memory_bound")
    assert bound.names[0] == "head/Gemm"
    assert bound.basis == "modelled"


def test_findings_stand_in_order_of_the_part_that_is_shown() -> None:
    """583 µs of 7.03 ms are 8.3 %; 448 of 5.46 ms are 8.2 %, more than 506 of 7.03 ms."""
    found = findings(Subject(side_of_variant(sample("mobilenetv2"), "fused")))
    parts = [(one.at_most_ns or 0) / (one.of_ns or found.run_ns or 0) for one in found.found[:3]]
    assert [round(part, 3) for part in parts] == [0.083, 0.082, 0.072]
    assert all(one.gain is None for one in found.found[:3])
