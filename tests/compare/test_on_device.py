"""A side that an execution provider ran on a device: what is not known of it is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.kinds.missed import missed_fusion
from fusescope.analysis.advice.kinds.threads import idle_threads
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side, side_of_variant
from fusescope.analysis.compare.step import parts_of
from fusescope.analysis.experiment import Engine
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, calls_frame
from tests.accounts import check_ledger
from tests.factories import experiment_zip

GPU = "NVIDIA H100 80GB HBM3"
SETTINGS = {
    "provider": "CUDAExecutionProvider", "kernel_times": "device", "device": GPU,
    "graph_optimization": "all", "execution": "one session",
}  # fmt: skip


@pytest.fixture(scope="module")
def pair() -> Comparison:
    """'unfused' on the processor, and the same engine's provider on a device."""
    times = {"unfused": [10.0] * 8, "provider:cuda": [5.0] * 8}
    plain = read(Source("plain.zip", experiment_zip(times)))
    variants = [
        one
        if one.name == "unfused"
        else msgspec.structs.replace(
            one,
            settings=SETTINGS,
            engine=Engine("onnxruntime", "1.31.1", "CUDAExecutionProvider"),
            peak_memory_bytes=None,
        )
        for one in plain.record.variants
    ]
    file = read(Source("device.zip", experiment_zip(times, changes={"variants": variants})))
    return compare(*(side_of_variant(file, name) for name in times))


def test_the_trace_names_the_device(pair: Comparison) -> None:
    assert pair.baseline.trace.meta.device == "Test CPU"
    assert pair.candidate.trace.meta.device == GPU


def test_figures_that_rest_on_the_processor_are_not_given(pair: Comparison) -> None:
    reasons = {figure.code: figure.candidate.reason for figure in pair.figures}
    for code in ("cache_missed_bytes", "cache_utilisation", "cache_hit_ratio", "memory"):
        assert (pair.figure(code).candidate.value, reasons[code]) == (None, "on_device"), code
    assert pair.figure("compute_utilisation").candidate.reason == "no_peak"
    assert pair.figure("memory").baseline.value == 10_000_000
    for code in ("bytes_moved", "intermediate_bytes"):  # follow from the graph
        assert pair.figure(code).candidate.value is not None, code


def test_the_profiler_does_not_lengthen_kernels_on_a_device(pair: Comparison) -> None:
    def biased(candidate: Side) -> set[object]:
        notes = compare(pair.baseline, candidate).diagnostics
        return {note.values.get("side") for note in notes if note.code == "biased_rows"}

    side = pair.candidate
    short = calls_frame(**{**side.trace.calls, "dur_ns": side.trace.calls["dur_ns"] // 1000})
    side = replace(side, trace=replace(side.trace, calls=short))
    assert side.variant is not None
    launched = {**SETTINGS, "kernel_times": "host"}
    by_host = replace(side, variant=msgspec.structs.replace(side.variant, settings=launched))
    assert "candidate" in biased(by_host)
    assert "candidate" not in biased(side)
    lacks = replace(side.trace, diagnostics=(Diagnostic("warning", "kernels_not_recorded", 1),))
    assert "candidate" in biased(replace(side, trace=lacks))


def test_advice_for_a_processor_is_not_given(pair: Comparison) -> None:
    subject = Subject(pair.candidate, pair)
    assert idle_threads(subject) == "on_device"
    assert missed_fusion(subject) == "other_provider"
    processor = Subject(pair.baseline)
    assert idle_threads(processor) != "on_device"


@pytest.fixture(scope="module")
def on_gpu() -> Comparison:
    """A transformer encoder that CUDA ran on an H100, without and with optimisations."""
    path = Path(__file__).parents[2] / "sample_traces" / "cases" / "cuda_transformer_encoder.zip"
    file = read(Source(path.name, path.read_bytes()))
    return compare(*(side_of_variant(file, f"provider:cuda{level}") for level in (":unfused", "")))


def test_every_operator_on_the_device_is_in_one_group(on_gpu: Comparison) -> None:
    fusion = on_gpu.fusion
    assert (fusion.mapped_nodes, fusion.original_nodes) == (98, 98)
    grouped = [one.name for group in fusion.groups for one in group.original]
    assert len(grouped) == len(set(grouped)) == 98
    codes = {note.code for note in on_gpu.diagnostics}
    assert not codes & {"not_in_graph", "boundary_mismatch", "launch_times", "biased_rows"}


def test_the_ledger_of_kernels_adds_up(on_gpu: Comparison) -> None:
    check_ledger(on_gpu)
    total = on_gpu.ledger.reconciliation
    assert (total.of, total.communication_ns) == ("unprofiled_wall", None)
    copies = on_gpu.ledger.ungrouped.query("reason == 'copies'")
    assert sorted(copies["name"]) == ["Memcpy DtoH", "Memcpy DtoH", "Memcpy HtoD", "Memcpy HtoD"]


def test_idle_time_of_a_device_is_saved_without_what_the_profiler_adds(on_gpu: Comparison) -> None:
    """Kernels take as long without it, so they and the saving fill an un-profiled run."""
    for side in (on_gpu.baseline, on_gpu.candidate):
        [found] = [one for one in findings(Subject(side)).found if one.code == "idle_time"]
        step = parts_of(side)
        assert step is not None and found.at_most_ns is not None and found.of_ns is not None
        busy_ns = step.computing_ns + step.copies_ns
        assert found.values["idle_ns"] == step.idle_ns > found.at_most_ns
        assert found.at_most_ns + busy_ns == pytest.approx(found.of_ns, abs=1)
        sampled = side.trace.sampled_runs
        assert found.of_ns == sampled.loc[~sampled["warmup"], "dur_ns"].median()


def test_kernels_fit_into_their_runs_and_do_not_overlap(on_gpu: Comparison) -> None:
    for side in (on_gpu.baseline, on_gpu.candidate):
        calls = side.trace.calls.merge(side.trace.runs, on="run", suffixes=("", "_run"))
        calls = calls[calls["device"] == "CUDA"].sort_values("start_ns")
        ends = calls["start_ns"] + calls["dur_ns"]
        assert len(calls) > 200
        assert (calls["start_ns"] >= calls["start_ns_run"]).all()
        # The file has runs in whole µs.
        assert (ends <= calls["start_ns_run"] + calls["dur_ns_run"] + 1_000).all()
        for _, of_run in calls.groupby("run"):
            starts = of_run["start_ns"].to_numpy()
            assert (starts[1:] >= (starts + of_run["dur_ns"].to_numpy())[:-1]).all()
