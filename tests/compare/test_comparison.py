"""Whole comparisons: joined tables, figures, doubts and the choice of sides."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import msgspec
import pandas as pd
import pytest

from fusescope.analysis.compare import Assumptions, compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.joining.matching import match_operators, match_types
from fusescope.analysis.compare.side import Side, side_of_trace, side_of_variant
from fusescope.analysis.compare.single import unprofiled_ns
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.graph import COMPILED_DOMAIN
from fusescope.analysis.metrics.counters import hardware_counters, total_counters, type_counters
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import (
    basis_text,
    diagnostic_sentence,
    verdict_basis,
    verdict_sentence,
)
from fusescope.analysis.wording.sentences import engines_text
from tests.factories import (
    BN,
    CONV,
    FUSED_OPERATORS,
    GEMM,
    RELU,
    UNFUSED_OPERATORS,
    Operator,
    experiment_zip,
    profile_json,
)

TIMES = {"unfused": [10.0 + b / 100 for b in range(8)], "fused": [5.0] * 8}


def trace_of(data: bytes, name: str = "p.json") -> Trace:
    trace = read(Source(name, data))
    assert isinstance(trace, Trace)
    return trace


@lru_cache(maxsize=64)
def experiment_of(data: bytes, name: str = "e.zip") -> Experiment:
    experiment = read(Source(name, data))
    assert isinstance(experiment, Experiment)
    return experiment


def variants() -> Comparison:
    experiment = experiment_of(experiment_zip(TIMES))
    return compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))


def codes(comparison: Comparison) -> set[str]:
    return {note.code for note in comparison.diagnostics}


def test_operators_join_outer_and_drop_nothing() -> None:
    a, b = trace_of(profile_json(UNFUSED_OPERATORS)), trace_of(profile_json(FUSED_OPERATORS))
    table = match_operators(a, b).set_index("name")
    assert table["side"].to_dict() == {
        "a/Conv": "both", "a/BatchNormalization": "baseline", "a/Relu": "baseline",
        "head/Gemm": "both",
    }  # fmt: skip
    conv = table.loc["a/Conv"]
    assert (conv["op_type_baseline"], conv["op_type_candidate"]) == ("Conv", "FusedConv")
    assert conv["delta_ns"] == 10_000 and conv["speedup"] == pytest.approx(100 / 110)
    assert table["delta_ns"].abs().is_monotonic_decreasing
    assert table["per_run_ns_baseline"].sum() == 200_000
    assert table["per_run_ns_candidate"].sum() == 160_000


def test_operators_without_common_names_join_on_type_and_shapes() -> None:
    renamed = [(f"other{i}", *op[1:]) for i, op in enumerate((CONV, BN, GEMM))]
    table = match_operators(
        trace_of(profile_json((CONV, BN, GEMM))), trace_of(profile_json(renamed))
    )
    assert table["matched_by"].tolist() == ["shape"] * 3
    assert set(table["delta_ns"]) == {0.0}


def test_renamed_operators_join_by_their_original_name() -> None:
    blocked = ("a/Relu:0_nchwc", "Conv", 60, [(1, 3, 8, 8), (16, 3, 3, 3)], [(1, 16, 8, 8)])
    table = match_operators(
        trace_of(profile_json(UNFUSED_OPERATORS)),
        trace_of(profile_json((blocked, GEMM))),
        {"a/Relu:0_nchwc": "a/Conv"},
    ).set_index("name")
    assert table["matched_by"].dropna().to_dict() == {"a/Conv": "graph", "head/Gemm": "name"}
    assert table.loc["a/Conv", "delta_ns"] == -40_000


def test_repeated_names_join_by_occurrence() -> None:
    first, second = ("x", "Relu", 10, [(1, 4)], [(1, 4)]), ("x", "Relu", 30, [(1, 8)], [(1, 8)])
    slower = ("x", "Relu", 45, [(1, 8)], [(1, 8)])
    table = match_operators(
        trace_of(profile_json((first, second))), trace_of(profile_json((first, slower)))
    )
    assert sorted(table["delta_ns"]) == [0.0, 15_000.0]


def test_types_join_outer() -> None:
    table = match_types(
        trace_of(profile_json(UNFUSED_OPERATORS)), trace_of(profile_json(FUSED_OPERATORS))
    ).set_index("op_type")
    assert table["side"].to_dict() == {
        "Conv": "baseline", "BatchNormalization": "baseline", "Relu": "baseline",
        "Gemm": "both", "FusedConv": "candidate",
    }  # fmt: skip
    assert table.loc["FusedConv", "delta_ns"] == 110_000
    assert table.loc["Conv", "delta_ns"] == -100_000


def test_figures_of_an_experiment() -> None:
    comparison = variants()
    latency = comparison.figure("latency")
    assert latency.candidate.value == pytest.approx(5e6)
    assert latency.baseline.value == pytest.approx(10.04e6, rel=1e-3)
    assert latency.change == pytest.approx(comparison.verdict.latency_change)
    throughput = comparison.figure("throughput")
    assert throughput.candidate.value == pytest.approx(200)
    assert throughput.change == pytest.approx(comparison.verdict.throughput_change)
    small = comparison.figure("small_op_time")
    assert small.baseline.value == pytest.approx(0.25) and small.candidate.value == 0
    assert small.change == pytest.approx(-0.25)
    assert comparison.tau.value == 10_000 and comparison.tau.basis == "assumed"
    assert comparison.figure("cpu_time").candidate.value == pytest.approx(10e6)
    # FLOPs of Conv (padded taps out) and Gemm at the un-profiled latency of 5 ms and 1e11 FLOP/s.
    flops = 2 * 12 * 22 * 22 + 2 * 10 * 256
    utilisation = comparison.figure("compute_utilisation")
    assert utilisation.candidate.value == pytest.approx(flops / (5e-3 * 1e11))
    assert utilisation.candidate.basis == "modelled"
    # Conv 768 + 432 + 1024, two operators of 1024 + 1024, Gemm 1024 + 40 + 40 bytes.
    assert comparison.figure("bytes_moved").baseline.value == 2224 + 2 * 2048 + 1104
    # t1, t2 of 1 KiB and t3 disappear from between the operators.
    removed = comparison.figure("intermediate_bytes")
    assert removed.baseline.value == 3 * 2 * 1024 and removed.candidate.value == 2 * 1024
    assert comparison.figure("memory").change == pytest.approx(-0.2)
    assert comparison.figure("output_difference").candidate.value == 1e-6
    inflation = comparison.figure("profiler_inflation")
    assert inflation.baseline.value == pytest.approx(210e3 / 10.04e6, rel=1e-3)


def test_beside_another_model_a_variant_has_the_latency_of_its_recording() -> None:
    """fused takes half as long as unfused in four blocks, as long in the other four: its latency
    is the baseline's × the ratio paired in blocks, as in its recording, not its own mean."""
    slow = [10.0] * 5 + [40.0, 42.0, 44.0]
    recorded = experiment_of(
        experiment_zip({"unfused": slow, "fused": [ms / 2 for ms in slow[:4]] + slow[4:]}), "a.zip"
    )
    softmax = ("x/Softmax", "Softmax", 300, [(8, 640, 640)], [(8, 640, 640)])
    tall = ("x/Transpose", "Transpose", 200, [(8, 640, 640)], [(640, 8, 640)])
    other = experiment_of(
        experiment_zip(TIMES, {name: [softmax, tall] for name in TIMES}, model_sha256="cd" * 32),
        "b.zip",
    )
    fused = side_of_variant(recorded, "fused")
    paired = compare(side_of_variant(recorded, "unfused"), fused).figure("latency").candidate.value
    apart = compare(side_of_variant(other, "fused"), fused)
    assert apart.verdict.reason == "different_models" and apart.verdict.speedup is None
    assert apart.figure("latency").candidate.value == paired == unprofiled_ns(fused)


def test_what_speaks_for_a_paired_comparison() -> None:
    assert {"paired", "control", "decided_at", "profiler_inflation"} <= codes(variants())


@pytest.mark.parametrize(("apart", "severity"), [(1.01, "info"), (1.5, "warning")])
def test_copies_that_may_be_far_apart_are_a_doubt(apart: float, severity: str) -> None:
    """The second copy takes as much more in one block as less in the next."""
    experiment = experiment_of(experiment_zip(TIMES, control=(apart, 1 / apart)))
    pair = compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))
    [note] = [note for note in pair.diagnostics if note.code == "control"]
    assert note.severity == severity


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (UNFUSED_OPERATORS, UNFUSED_OPERATORS, "and may not slow down both sides equally."),
        (
            FUSED_OPERATORS,
            UNFUSED_OPERATORS,
            "(4 executions instead of 2), so the profiler favours the baseline.",
        ),
        # Another device: it is not known that fusion is what changed.
        (
            UNFUSED_OPERATORS,
            FUSED_OPERATORS,
            "(2 executions instead of 4), so the profiler favours the candidate.",
        ),
    ],
)
def test_what_the_profilers_charge_does_is_told_by_what_changed(
    before: list[Operator], after: list[Operator], told: str
) -> None:
    traces = [
        trace_of(profile_json(ops, runs), "p.json") for ops, runs in ((before, 9), (after, 8))
    ]
    if len(before) > len(after):
        traces = [
            replace(trace, meta=replace(trace.meta, device=device))
            for trace, device in zip(traces, ("H100", "MI300X"), strict=True)
        ]
    comparison = compare(*map(side_of_trace, traces))
    (rests,) = (d for d in comparison.diagnostics if d.code == "profiled_headline")
    sentence = diagnostic_sentence(rests)
    assert sentence.endswith(told) and "fusion" not in sentence
    # What a file names is not said to be unknown.
    (unknown,) = (d for d in comparison.diagnostics if d.code == "machines_unknown")
    named = all(trace.meta.device for trace in traces)
    assert diagnostic_sentence(unknown) == (
        "The profiles name their device, but not the rest of the machine, the number of threads or "
        "the input."
        if named
        else "The profiles do not name their machine, the number of threads or the input."
    )


def test_two_profiles_say_what_they_rest_on() -> None:
    a = side_of_trace(trace_of(profile_json(UNFUSED_OPERATORS, runs=9), "before.json"))
    b = side_of_trace(trace_of(profile_json(FUSED_OPERATORS, runs=9), "after.json"))
    comparison = compare(a, b)
    assert comparison.verdict.of == "run_span" and comparison.verdict.reason == "one_process"
    assert verdict_sentence(comparison) == (
        "after.json took 0.79× the time of before.json (166 against 210 µs, −21.0 %). One process "
        "each, so the noise between processes is unknown."
    )
    assert "not paired" in verdict_basis(comparison.verdict)
    assert {"unpaired", "one_process_each", "machines_unknown", "profiled_headline"} <= codes(
        comparison
    )
    (rests,) = (d for d in comparison.diagnostics if d.code == "profiled_headline")
    assert diagnostic_sentence(rests) == (
        "The verdict compares this time: profiled wall time. Profilers add time to every operator. "
        "Fusion leaves fewer operators (2 executions instead of 4), so its gain is overstated."
    )
    assert comparison.figure("memory").baseline.reason == "not_recorded"
    # Without a graph the sizes in the profile count: 768 + 432 + 1024 for each of 4 and 2.
    assert comparison.figure("bytes_moved").baseline.value == 4 * 2224
    assert comparison.figure("bytes_moved").candidate.value == 2 * 2224
    assert "peak" in basis_text(comparison.figure("compute_utilisation"))


def test_differences_between_recordings_are_named() -> None:
    first = experiment_of(experiment_zip(TIMES))
    settings = first.record.settings
    other = experiment_of(
        experiment_zip(TIMES, changes={"settings": msgspec.structs.replace(settings, threads=1)})
    )
    comparison = compare(side_of_variant(first, "fused"), side_of_variant(other, "fused"))
    differ = [note for note in comparison.diagnostics if note.code == "recordings_differ"]
    assert [note.values["what"] for note in differ] == ["threads"]
    assert comparison.verdict.pairing == "unpaired_blocks"


def test_other_models_are_called_by_name_and_by_content_where_names_are_alike() -> None:
    first = experiment_of(experiment_zip(TIMES, model_name="bert"))
    for name, called in (("vit", ("bert", "vit")),
                         ("bert", ("bert (abababababab)", "bert (cdcdcdcdcdcd)"))):  # fmt: skip
        other = experiment_of(experiment_zip(TIMES, model_name=name, model_sha256="cd" * 32))
        comparison = compare(side_of_variant(first, "fused"), side_of_variant(other, "fused"))
        [note] = [one for one in comparison.diagnostics if one.code == "recordings_differ"]
        assert (note.values["baseline"], note.values["candidate"]) == called


def test_a_load_is_told_of_its_side_and_once_where_both_are_of_one_recording() -> None:
    machine = msgspec.structs.replace(
        experiment_of(experiment_zip(TIMES)).record.machine, load_before=0.5, load_after=1.5
    )
    one = experiment_of(experiment_zip(TIMES, changes={"machine": machine}))
    busy = msgspec.structs.replace(machine, load_before=9.0)
    other = experiment_of(experiment_zip(TIMES, changes={"machine": busy}))

    def loads(*sides: Side) -> set[tuple[object, object]]:
        notes = compare(*sides).diagnostics
        return {(n.values["before"], n.values.get("side")) for n in notes if n.code == "load"}

    fused = side_of_variant(one, "fused")
    assert loads(side_of_variant(one, "unfused"), fused) == {(0.5, None)}
    assert loads(side_of_variant(other, "fused"), fused) == {(9.0, "baseline"), (0.5, "candidate")}


def test_assumptions_change_modelled_figures_only() -> None:
    experiment = experiment_of(experiment_zip(TIMES))
    sides = side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused")
    usual = compare(*sides)
    other = compare(*sides, Assumptions(tau_ns=1e6, peak_flops_per_s=1e10, cache_bytes=2048))
    assert other.verdict == usual.verdict
    assert other.short_ops[0].count == 1.0 and other.tau.basis == "assumed"
    ratio = other.figure("compute_utilisation").baseline.value
    assert ratio == pytest.approx(10 * usual.figure("compute_utilisation").baseline.value)  # type: ignore[operator]
    assert other.figure("latency") == usual.figure("latency")


def test_every_doubt_and_reason_has_a_sentence() -> None:
    notes = variants().diagnostics
    assert len(notes) > 3
    for note in notes:
        sentence = diagnostic_sentence(note)
        assert sentence.rstrip().endswith(".") and "None" not in sentence


def test_choice_of_sides() -> None:
    three = {"eager": [12.0] * 5, "unfused": [10.0] * 5, "extended": [9.0] * 5, "fused": [5.0] * 5}
    experiment = experiment_of(experiment_zip(three))
    assert [side.label for side in choose_sides(experiment)] == ["eager", "fused"]
    named = choose_sides(experiment, None, "unfused", "extended")
    assert [side.label for side in named] == ["unfused", "extended"]
    both = choose_sides(experiment, experiment_of(experiment_zip(TIMES), "f.zip"))
    assert [side.label for side in both] == ["fused", "fused"]
    profile = trace_of(profile_json((CONV, RELU)))
    assert [s.label for s in choose_sides(profile, experiment)] == ["p.json", "fused"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("experiment", None, "unfussed"), "Did you mean 'unfused'"),
        (("profile",), "Give a second file"),
        (("profile", "profile", "fused"), "does not have variants"),
    ],
)
def test_impossible_choices_say_what_to_do(arguments: tuple[str | None, ...], says: str) -> None:
    values = {
        "experiment": experiment_of(experiment_zip(TIMES)),
        "profile": trace_of(profile_json((CONV,))),
    }
    given = [values.get(str(a), a) for a in arguments]
    with pytest.raises(FuseScopeError, match=says):
        choose_sides(*given)  # type: ignore[arg-type]


def test_a_file_without_runs_is_not_compared_with_single_runs() -> None:
    import json

    events = json.loads(profile_json(UNFUSED_OPERATORS, runs=7))
    unmarked = json.dumps([e for e in events if e["name"] != "model_run"]).encode()
    comparison = compare(
        side_of_trace(trace_of(unmarked, "norun.json")),
        side_of_trace(trace_of(profile_json(FUSED_OPERATORS, runs=7))),
    )
    assert comparison.verdict.reason == "runs_unknown" and comparison.verdict.speedup is None
    assert "runs_unknown" in codes(comparison)
    for code in ("latency", "throughput", "light_time", "light_count", "bytes_moved"):
        figure = comparison.figure(code)
        assert figure.baseline.value is None and figure.change is None, code
        assert figure.candidate.value is not None, code


def test_blocks_kept_under_load_are_said() -> None:
    usual = experiment_of(experiment_zip(TIMES)).record.outcome
    loaded = msgspec.structs.replace(usual, blocks_loaded=3)
    experiment = experiment_of(experiment_zip(TIMES, changes={"outcome": loaded}))
    sides = side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused")
    told = compare(*sides)
    assert "load_seen" in codes(told)
    # A sign that is not told is not called reliable.
    alike = experiment_of(experiment_zip({"a": [1.0] * 8, "b": [1.1, 0.9] * 4},
                                         changes={"outcome": loaded}))  # fmt: skip
    untold = compare(side_of_variant(alike, "a"), side_of_variant(alike, "b"))
    assert told.verdict.is_decided and not untold.verdict.is_decided
    for one in (told, untold):
        (note,) = (note for note in one.diagnostics if note.code == "load_seen")
        assert ("sign of the change is reliable" in diagnostic_sentence(note)) == (one is told)


def test_without_a_quiet_reference_load_is_not_known_and_no_doubt() -> None:
    usual = experiment_of(experiment_zip(TIMES)).record.outcome
    for reference, severity, said in (
        (None, "info", "how much other work slowed the measured runs is not known. If it did"),
        (-4.0, "warning", "more than a fifth of the blocks were slower than its quiet reference. "),
    ):
        outcome = msgspec.structs.replace(usual, quiet_reference=reference, blocks_loaded=3)
        experiment = experiment_of(experiment_zip(TIMES, changes={"outcome": outcome}))
        told = compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))
        (note,) = (note for note in told.diagnostics if note.code == "load_seen")
        assert note.severity == severity and said in diagnostic_sentence(note)


def test_classes_join_outer_and_sum() -> None:
    table = variants().op_classes.set_index("op_class")
    assert table.loc["convolution", "side"] == "both"
    assert table.loc["normalisation", "side"] == "baseline"
    assert table["delta_ns"].sum() == pytest.approx(-40_000)


def test_a_variant_beside_itself_is_said() -> None:
    experiment = experiment_of(experiment_zip(TIMES))
    same = compare(side_of_variant(experiment, "fused"), side_of_variant(experiment, "fused"))
    assert "same_variant" in [note.code for note in same.diagnostics]
    other = compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))
    assert other.diagnostics
    assert "same_variant" not in [note.code for note in other.diagnostics]


def test_one_file_on_both_sides_is_not_two_separate_recordings() -> None:
    data = profile_json(FUSED_OPERATORS, runs=9)
    first, copy = (side_of_trace(trace_of(data, name)) for name in ("a.json", "copy of a.json"))
    same = compare(first, copy)
    of_two_recordings = {"unpaired", "one_process_each", "machines_unknown", "profiled_headline"}
    assert "same_file" in codes(same) and not codes(same) & of_two_recordings
    assert trust(same.diagnostics).specific[0].code == "same_file"


def of_type(trace: Trace, first: str, others: str) -> pd.DataFrame:
    types = [first, *[others] * (len(trace.operators) - 1)]
    return trace.operators.assign(op_type=pd.Categorical(types))


def test_the_bandwidth_of_copies_is_no_hardware_counter() -> None:
    trace = trace_of(profile_json(FUSED_OPERATORS))
    trace = replace(trace, operators=of_type(trace, "Memcpy HtoD", "Memcpy HtoD"))
    calls = trace.calls.assign(
        dur_ns=[100_000] * len(trace.calls),  # 1.25 MB
        **{"memory bandwidth (GB/s)": [12.5] * len(trace.calls)},
    )
    sides = [side_of_trace(replace(trace, calls=calls)) for _ in range(2)]
    figure = compare(*sides).figure("copy_bandwidth")
    assert figure.baseline.value == 12.5 and figure.baseline.basis == "measured"
    assert hardware_counters(sides[0].trace) == ()
    small = replace(trace, calls=calls.assign(dur_ns=[1000] * len(calls)))  # 12.5 kB each
    both = compare(side_of_trace(small), sides[1])
    assert both.figure("copy_bandwidth").baseline.reason == "no_large_copies"
    neither = compare(side_of_trace(small), side_of_trace(small))
    assert "copy_bandwidth" not in {figure.code for figure in neither.figures}


def test_the_bandwidth_of_copies_is_without_those_inside_a_device() -> None:
    """10 GB/s over the link, beside a fill of the device's memory at 1000 GB/s."""
    trace = trace_of(profile_json(FUSED_OPERATORS))
    is_copy = trace.calls["operator"] == 0
    filled = replace(
        trace,
        operators=of_type(trace, "Memcpy HtoD", "Memset"),
        calls=trace.calls.assign(
            dur_ns=1_000_000,
            **{"memory bandwidth (GB/s)": is_copy.map({True: 10.0, False: 1000.0})},
        ),
    )
    assert total_counters(filled)["copy_bandwidth"].value == pytest.approx(10)
    by_type = type_counters(filled)["copy_bandwidth"]
    assert (by_type["Memcpy HtoD"], by_type["Memset"]) == (10, 1000)
    fills = replace(filled, operators=of_type(trace, "Memset", "Memset"))
    assert "copy_bandwidth" not in total_counters(fills)


def test_an_estimated_occupancy_is_missed_as_no_counter() -> None:
    """It follows from how a kernel was launched, so a file without it lacks no counter."""
    trace = trace_of(profile_json(FUSED_OPERATORS))
    calls = trace.calls.assign(**{"est. achieved occupancy %": [64.0] * len(trace.calls)})
    estimated = side_of_trace(replace(trace, calls=calls))
    figure = compare(estimated, side_of_trace(trace)).figure("occupancy")
    assert figure.baseline.basis == "modelled" and figure.candidate.reason == "not_recorded"
    assert hardware_counters(estimated.trace) == ()


def test_what_moves_inside_a_part_that_a_provider_compiled_is_not_known() -> None:
    """Its inputs and outputs alone would make 'fused' look as if nothing missed the cache."""
    experiment = experiment_of(experiment_zip(TIMES))
    sides = [side_of_variant(experiment, name) for name in ("unfused", "fused")]
    graph = sides[1].graph
    assert graph is not None
    first = msgspec.structs.replace(graph.nodes[0], domain=COMPILED_DOMAIN)
    graph = msgspec.structs.replace(graph, nodes=(first, *graph.nodes[1:]))
    found = compare(sides[0], replace(sides[1], graph=graph))
    figures = {figure.code: figure for figure in found.figures}
    for code in ("bytes_moved", "cache_missed_bytes", "cache_hit_ratio", "intermediate_bytes"):
        assert figures[code].baseline.value is not None, code
        candidate = figures[code].candidate
        assert (candidate.value, candidate.reason) == (None, "inside_unknown"), code
    noted = next(note for note in found.diagnostics if note.code == "compiled_subgraphs")
    assert "1 subgraph of the execution provider ran as one call" in diagnostic_sentence(noted)


def test_an_engine_of_two_providers_is_named_once() -> None:
    record = experiment_of(experiment_zip(TIMES)).record
    other = msgspec.structs.replace(record.engine, provider="OpenVINOExecutionProvider")
    second = msgspec.structs.replace(record.variants[1], engine=other)
    record = msgspec.structs.replace(record, variants=[record.variants[0], second])
    assert engines_text(record) == "onnxruntime 1.31.1"
