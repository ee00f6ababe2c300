"""Real pairs that differ most: nothing that is said of one contradicts anything else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.trace import Trace
from tests import miniatures
from tests.conftest import SHARED_TRACES

needs_traces = pytest.mark.usefixtures("shared_traces")

KINETO, TENSORRT = "third_party/kineto", "third_party/tensorrt"
TORCH, MINDSPORE = "captured/torch", "captured/mindspore_cpu"
ASCEND = "third_party/ascend_torch_npu"
# name: baseline, candidate, whether they are different models
PAIRS = {
    "two GPUs": (f"{KINETO}/h100-bert-small.json.gz", f"{KINETO}/mi300-bert-small.json.gz", False),
    "two toolkits": (
        f"{KINETO}/flux1-base-fmha.json.gz",
        f"{KINETO}/flux1-opt-sage.json.gz",
        False,
    ),
    "two precisions": (
        f"{TENSORRT}/pt-resnet-A100-fp32.profile.json",
        f"{TENSORRT}/pt-resnet-A100-fp16.profile.json",
        False,
    ),
    "times alone": (
        f"{TENSORRT}/pt-resnet-A100-fp32.timing.json",
        f"{TENSORRT}/pt-resnet-A100-fp16.timing.json",
        False,
    ),
    "compiled": (
        f"{TORCH}/cbr_eager.json",
        f"{TORCH}/cbr_compiled_kernelprofile.json",
        False,
    ),
    "compiled, one region": (f"{TORCH}/tiny_eager.json", f"{TORCH}/tiny_compiled.json", False),
    "graph kernels": (f"{MINDSPORE}/ms_graph_cbr", f"{MINDSPORE}/ms_graph_cbr_gk", False),
    "two versions": (f"{ASCEND}/2024-10-level1-rank0", f"{ASCEND}/2025-01-level1-rank0", False),
    "two levels": (f"{ASCEND}/2025-01-level0-rank0", f"{ASCEND}/2025-01-level1-rank0", False),
    "two models": (
        f"{KINETO}/resnet50-2021-worker0.json.gz",
        f"{KINETO}/h100-bert-small.json.gz",
        True,
    ),
    "steps on one side": (
        f"{KINETO}/mi300-train_resnet18.json.gz",
        f"{KINETO}/mi300-bert-small.json.gz",
        True,
    ),
    "two models on a CPU": (f"{TORCH}/cbr_eager.json", f"{TORCH}/tiny_eager.json", True),
}

AGAIN = (
    "two toolkits", "two models", "steps on one side", "two GPUs", "times alone",
    "compiled, one region", "two levels", "two versions", "two precisions", "two models on a CPU",
)  # fmt: skip


@needs_traces
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.exhaustive if name in AGAIN else ()) for name in PAIRS],
)
def test_a_real_pair_does_not_contradict_itself(name: str) -> None:
    first, second, differ = PAIRS[name]
    sides = []
    for path in (first, second):
        trace = read_path(SHARED_TRACES / path)
        assert isinstance(trace, Trace)
        sides.append(side_of_trace(trace))
    comparison = compare(*sides)
    assert (comparison.verdict.reason == "different_models") == differ
    assert list(contradictions(comparison)) == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ascend_kernel_details", "kineto"),
        pytest.param("mindspore_cpu", "openvino_graph", marks=pytest.mark.exhaustive),
        pytest.param("nsys_db", "tensorrt_profile", marks=pytest.mark.exhaustive),
        pytest.param("rocprof", "xplane", marks=pytest.mark.exhaustive),
    ],
)
def test_miniatures_do_not_contradict_themselves(name: str, other: str) -> None:
    """Two formats, whose models are others, and one beside the first half of itself."""
    by_name = {reader.name: reader for reader in miniatures.FORMATS}
    first, second = (miniatures.only_trace(miniatures.files(by_name[n])) for n in (name, other))
    calls = first.calls.iloc[: (len(first.calls) + 1) // 2].reset_index(drop=True)
    for pair in ((first, second), (first, replace(first, calls=calls))):
        assert list(contradictions(compare(*map(side_of_trace, pair)))) == []


def contradictions(comparison: Comparison) -> Iterator[str]:
    """What cannot be true of a comparison, whatever was measured."""
    yield from _verdict(comparison)
    for figure in comparison.figures:
        before, after = figure.baseline.value, figure.candidate.value
        if any(value is not None and value < 0 for value in (before, after)):
            yield f"{figure.code} is negative"
        if before is None or after is None:
            if figure.change is not None:
                yield f"{figure.code} changes beside a missing value"
        elif figure.change is not None and (after - before) * figure.change < 0:
            yield f"{figure.code} and its change differ in sign"
        if figure.code == "latency" and not comparison.has_changes and figure.change is not None:
            yield "the latency has a change though nothing compares"
    if not comparison.has_changes and comparison.operators["delta_ns"].notna().any():
        yield "operators have changes though nothing compares"
    values = comparison_values(comparison)
    if values["verdict"]["latency_change"] != comparison.verdict.latency_change:
        yield "JSON has another change"
    changes = (values["latency"]["change"], comparison.verdict.latency_change)
    if None not in changes and changes[0] != pytest.approx(changes[1]):
        yield "the latency's change is not the verdict's"
    if "What fusion bought" in wording.change_title(comparison):
        devices = {side.trace.meta.device for side in (comparison.baseline, comparison.candidate)}
        if len(devices - {None}) > 1:
            yield "a change of device is called fusion"


def _verdict(comparison: Comparison) -> Iterator[str]:
    verdict, sentence = comparison.verdict, wording.verdict_sentence(comparison)
    shown = verdict.interval
    speedup = verdict.speedup
    if shown is not None and speedup is not None and not shown.low <= speedup <= shown.high:
        yield "the estimate is outside its interval"
    if verdict.outcome == "faster" and (shown is None or shown.low <= 1):
        yield "faster, but the interval does not say so"
    if verdict.outcome == "slower" and (shown is None or shown.high >= 1):
        yield "slower, but the interval does not say so"
    if verdict.outcome == "noise_unknown":
        if shown is not None or verdict.speedup is None or verdict.times_ns is None:
            yield "noise unknown, but there is an interval, or no number"
        if "noise" not in sentence or "Cannot tell" in sentence:
            yield "unknown noise is not said"
    explained = comparison.explanation
    is_explained_so = explained is not None and explained.outcome == "no_change"
    if (verdict.reason == "no_change") != (verdict.outcome == "cannot_tell" and is_explained_so):
        yield "no change, but the explanation does not say so"
    is_bare = shown is None and verdict.speedup is not None
    if verdict.outcome == "cannot_tell" and is_bare and verdict.reason != "no_change":
        yield "cannot tell without an interval"
    times = verdict.times_ns
    if times is not None and times[0] / times[1] != pytest.approx(speedup):
        yield "the times shown do not have the ratio of the speedup"
