"""The import doctor: what a file holds, lacks and can answer, and how to record what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from msgspec import structs

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.doctor import FIELDS, Examination, examine, fields
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.report.exports.inspection import doctor, inspection
from fusescope.analysis.timeline.payload import trace_payload
from fusescope.analysis.trace import (
    Diagnostic,
    Meta,
    Trace,
    calls_frame,
    operators_frame,
    runs_frame,
)
from fusescope.analysis.wording import doctor as words
from fusescope.analysis.wording.single import trace_facts
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json

SAMPLES = Path(__file__).parents[1] / "sample_traces"
ENGINES = SAMPLES / "engines" / "transformer_encoder.zip"
OPENVINO = SAMPLES / "openvino" / "mobilenetv2.zip"
TIMES = {"unfused": [10.0] * 8, "fused": [5.0] * 8}


def profile(runs: int = 6) -> Trace:
    value = read(Source("p.json", profile_json(UNFUSED_OPERATORS, runs)))
    assert isinstance(value, Trace)
    return value


def bare(**columns: object) -> Trace:
    """Three kernels of 1, 2 and 3 µs of the Ascend format, with these columns."""
    rows = {"name": ["aclnnAdd_1", "Conv2D_2", "x"], "dur_ns": [1000, 2000, 3000], **columns}
    return build_trace(Meta("ascend_kernel_details", "Ascend PyTorch Profiler"), rows)


def answer(found: Examination, figure: str) -> tuple[bool, str]:
    [one] = [one for one in found.answers if one.figure == figure]
    return one.available, words.answer_sentence(one)


def test_a_profile_says_what_it_can_answer() -> None:
    found = examine(profile())
    assert words.recognised_sentence(found) == "ONNX Runtime profile, written by ONNX Runtime."
    assert words.read_sentence(found) == (
        "6 profiled runs; 4 distinct operators and 24 executions in all."
    )
    told = (
        "Verdict: Beside another file of one process, only for a change beyond 30 %: its 6 runs "
        "or steps are of one process. Give five or more files a side for smaller ones."
    )
    assert answer(found, "verdict") == (True, told)
    assert answer(found, "dispatch_gap") == (True, "Idle time: From start times.")
    available, sentence = answer(found, "compute_utilisation")
    assert not available
    assert sentence.startswith("Compute utilisation: FLOPs are known, but the machine's peak")
    assert answer(found, "cache")[1] == (
        "Modelled cache: No graph of the model. FuseScope reads this from no file of this format."
    )


def test_too_few_runs_are_told() -> None:
    available, sentence = answer(examine(profile(3)), "verdict")
    assert not available
    assert "the file has 3 of the 5 blocks, runs or steps that are needed." in sentence


def test_what_is_missing_comes_with_the_switch_that_records_it() -> None:
    found = examine(bare())
    reader = next(one for one in READERS if one.name == "ascend_kernel_details")
    switch = reader.fields["shapes"]
    assert switch, "shapes depend on the level"
    [told] = [text for text in words.lack_sentences(found) if "shapes" in text]
    assert told.endswith(f". {switch}")
    available, sentence = answer(found, "compute_utilisation")
    assert not available
    assert sentence == f"Compute utilisation: No shapes. {switch}"
    assert answer(found, "latency") == (
        False,
        f"Latency: No marked runs or steps. {reader.fields['runs']}",
    )
    at_once = bare()
    starts = at_once.calls.assign(start_ns=pd.array([0] * len(at_once.calls), "Int64"))
    whole = "Idle time: Only of the whole file, as it does not mark its runs."
    assert answer(examine(replace(at_once, calls=starts)), "dispatch_gap") == (False, whole)


def test_a_trace_without_types_is_classed_by_kernel_names_or_not_at_all() -> None:
    unknown = bare(name=["qqq", "zzz", "xxx"])
    available, sentence = answer(examine(unknown), "small_ops")
    assert not available
    assert sentence.startswith("Small-op ratio: 100.0 % of the time is in operators of unknown")
    assert "Small-op ratio" not in trace_facts(side_of_trace(unknown))
    typed = bare(op_type=["Add", "Conv2D", "Relu"])
    assert answer(examine(typed), "small_ops") == (True, "Small-op ratio: From op types.")
    # Add and Relu take 1 and 3 of 6 µs.
    assert "Small-op ratio (time): 66.7 %." in trace_facts(side_of_trace(typed))


@pytest.mark.parametrize(("unknown_us", "is_given"), [(3, True), (4, False)])
def test_a_ratio_is_given_where_the_doctor_says_that_it_can_be(
    unknown_us: int, is_given: bool
) -> None:
    """Half of 6 µs may be unknown, more may not, beside 100 µs of communication that is in
    neither; page, comparison and the doctor have one rule."""
    trace = build_trace(
        Meta("ascend_kernel_details", "Ascend PyTorch Profiler"),
        {
            "name": ["zzz", "a", "c"],
            "op_type": [None, "Add", "hcom_allReduce_"],
            "is_communication": [False, False, True],
            "dur_ns": [unknown_us * 1000, (6 - unknown_us) * 1000, 100_000],
        },
    )
    side = side_of_trace(trace)
    assert answer(examine(trace), "small_ops")[0] is is_given
    assert ("Small-op ratio" in trace_facts(side)) is is_given
    figure = compare(side, side).figure("small_op_time")
    assert (figure.baseline.value is not None) is is_given


def test_counters_and_members_are_named() -> None:
    found = examine(bare(mac_ratio=[0.5, None, 0.1], members=["Conv + Relu", None, None]))
    assert answer(found, "counters") == (True, "Hardware counters: 1 counter: mac_ratio.")
    assert answer(found, "fusion")[1] == (
        "Fusion groups: From the members that fused operators name."
    )
    assert {"counters", "members"} <= set(found.has)


def test_op_types_of_a_fused_operator_are_not_the_names_of_those_inside() -> None:
    """The note of such a file says that the operators inside are not known."""
    columns = {"members": ["conv + relu", None, None], "op_type": ["Conv", "Relu", "Add"]}
    types = bare(**columns, members_source=["op_types", None, None])
    found = examine(types)
    assert "members" not in found.has
    assert answer(found, "fusion")[1].startswith("Fusion groups: Inferred from")


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ({"start_ns": [0, 1000, 3000]}, "start"),
        ({"run": [1, 1, 2]}, "runs"),
        ({"op_type": ["Add", None, None]}, "types"),
        ({"inputs": ["?[1,3]", None, None]}, "shapes"),
        ({"inputs": ["float32[1,3]; ?[2]", None, None]}, "dtypes"),
        ({"outputs": ["int64[]", None, None]}, "shapes"),
        ({"flops": [5, None, None]}, "flops"),
        ({"stream": ["1", "1", None]}, "stream"),
        ({"is_communication": [True, False, False]}, "communication"),
        ({"bytes_in": [4, None, None]}, "sizes"),
        ({"some_ratio": [0.5, None, None]}, "counters"),
    ],
)
def test_each_field_is_seen_where_any_row_has_it(columns: dict[str, object], field: str) -> None:
    assert not fields(bare())[field]
    assert fields(bare(**columns))[field]


def test_a_shape_without_a_type_is_no_data_type() -> None:
    found = fields(bare(inputs=["?[1,3]", None, None]))
    assert found["shapes"] and not found["dtypes"]


def test_unprofiled_runs_are_the_latency() -> None:
    trace = profile()
    count = len(trace.runs)
    sampled = runs_frame(run=range(count, count + 7), dur_ns=[5_000] * 7)
    runs = pd.concat([trace.runs, sampled], ignore_index=True)
    found = examine(replace(trace, runs=runs_frame(**{name: runs[name] for name in runs})))
    assert found.samples == 7
    assert answer(found, "latency") == (True, "Latency: From 7 un-profiled runs.")


def of_runs(times_ms: list[int], names: list[str], blocks: list[int] | None = None) -> Trace:
    """A file with a run of each of these times, each with one execution of an operator."""
    count = range(len(times_ms))
    distinct = sorted(set(names))
    return Trace(
        Meta("hand", "test", file_name="f", sha256="f" * 64),
        runs_frame(
            run=count,
            kind="step",
            dur_ns=[ms * 1_000_000 for ms in times_ms],
            profiled=True,
            block=pd.array(blocks or [None] * len(times_ms), "Int64"),
        ),
        operators_frame(operator=range(len(distinct)), name=distinct),
        calls_frame(operator=[distinct.index(name) for name in names], run=count, dur_ns=1000),
    )


def test_the_latency_is_of_the_runs_that_are_no_warm_up() -> None:
    """Of five runs the first one takes nine times the others."""
    found = examine(of_runs([9, 1, 1, 1, 1], ["a"] * 5))
    assert answer(found, "latency")[1].startswith("Latency: The mean of 4 as profiled;")
    # Of one step there is no mean.
    one = examine(profile(1))
    said = "Latency: The only one, as profiled; a profiler makes it longer."
    assert answer(one, "latency") == (True, said)
    # What is in the file is all of it.
    assert words.read_sentence(found) == "5 steps; 1 distinct operator and 5 executions in all."


def test_an_operator_that_each_process_numbers_anew_is_one() -> None:
    """Two blocks run conv and one inserted copy, which one calls copy_1, the other copy_2."""
    names = ["conv", "copy_1", "conv", "copy_2"]
    assert examine(of_runs([1] * 4, names, [0, 0, 1, 1])).operators == 2
    assert examine(of_runs([1] * 4, names)).operators == 3


def test_notes_are_parted_into_dropped_repaired_and_noted() -> None:
    notes = (
        Diagnostic("warning", "bad_time", 2, "row 7: Add"),
        Diagnostic("warning", "bad_unicode", 3),
        Diagnostic("info", "no_runs"),
    )
    found = examine(replace(profile(), diagnostics=notes))
    assert [words.note_sentence(note) for note in found.dropped] == [
        "2 events without a valid time were left out. First: row 7: Add"
    ]
    assert [note.code for note in found.repaired] == ["bad_unicode"]
    assert [note.code for note in found.noted] == ["no_runs"]


def test_an_experiment_answers_for_all_its_variants() -> None:
    value = read(Source("e.zip", experiment_zip(TIMES)))
    assert isinstance(value, Experiment)
    found = examine(value)
    assert found.variants == ("unfused", "fused")
    others = [one for one in found.answers if one.figure != "counters"]
    assert others and all(one.available for one in others)
    assert {"samples", "graph", "sizes", "peak_memory"} <= set(found.has)
    # 8 blocks of 3 + 1 profiled runs of each variant; 3 rounds, the baseline in two copies
    assert (found.runs, found.samples) == (64, 72)
    # each run of the one executes 4 operators, of the other 2
    assert (found.operators, found.rows) == (4 + 2, 32 * (4 + 2))
    # What each variant has at least: those that ran once, in 8 blocks of 3 rounds.
    assert answer(found, "latency")[1] == "Latency: From 24 un-profiled runs in 8 blocks."
    assert "members" in found.has  # the groups tell them
    damaged = replace(
        value,
        traces={
            **value.traces,
            "fused": replace(
                value.traces["fused"], diagnostics=(Diagnostic("warning", "bad_time", 2),)
            ),
        },
    )
    [note] = examine(damaged).dropped
    assert words.note_sentence(note) == "fused: 2 events without a valid time were left out."


def test_an_answer_that_some_variants_lack_names_them() -> None:
    value = read(Source("engines.zip", ENGINES.read_bytes()))
    assert isinstance(value, Experiment)
    found = examine(value)
    sentence = "No start times in openvino:fused. The figure is there for the other variants."
    assert answer(found, "dispatch_gap") == (False, f"Idle time: {sentence}")
    assert answer(found, "timeline") == (False, f"Timeline: {sentence}")
    short = "of variants that have no single executions from mean times."
    told = f"Short-op ratio: From the time of every execution; {short}"
    assert answer(found, "short_ops") == (True, told)
    assert answer(found, "counters") == (
        False,
        "Hardware counters: FuseScope reads this from no file of this format.",
    )
    figures = {one["figure"]: one["without"] for one in doctor(found)["figures"]}
    assert {name: of for name, of in figures.items() if of} == {
        "dispatch_gap": ["openvino:fused"],
        "timeline": ["openvino:fused"],
    }


def test_a_recording_of_openvino_alone_never_has_starts() -> None:
    value = read(Source("openvino.zip", OPENVINO.read_bytes()))
    assert isinstance(value, Experiment)
    found = examine(value)
    assert answer(found, "timeline") == (
        False,
        (
            "Timeline: Operators are drawn one after the other, in the order of the file. No "
            "start times. FuseScope reads this from no file of this format."
        ),
    )
    # The timeline of its page says the same.
    drawn = trace_payload(side_of_variant(value, next(iter(value.traces))))["sides"][0]["caption"]
    assert "operators are drawn one after the other in the order of the file" in str(drawn)
    # Times of layers are means over the runs of a block.
    assert answer(found, "short_ops") == (
        True,
        "Short-op ratio: From mean times, because the file does not contain single executions.",
    )
    lacks = {lack.field: lack.switch for lack in found.lacks}
    assert lacks["start"] is lacks["stream"] is None
    assert "cut off" not in " ".join(words.lack_sentences(found))


def test_what_only_graphs_tell_lacks_for_the_reason_that_the_recording_gives() -> None:
    told = read(Source("e.zip", experiment_zip(TIMES)))
    assert isinstance(told, Experiment)
    value = replace(told, graphs={}, model_graph=None)
    cut_off = "so the file may be cut off or changed."
    sentence = answer(examine(value), "cache")[1]
    assert sentence.endswith(cut_off)
    first, *others = value.record.variants
    missing = structs.replace(first, settings={**first.settings, "graph_missing": "3 graphs"})
    record = structs.replace(value.record, variants=(missing, *others))
    found = examine(replace(value, record=record))
    assert answer(found, "cache")[1] == (
        "Modelled cache: No graph of the model. The engine did not show the graph of a variant; "
        "the notes on the file say why."
    )
    assert "graph of the model" not in words.has_sentence(found)
    assert [(note.code, dict(note.values)) for note in found.noted][-1] == (
        "graph_not_shown",
        {"variant": first.name, "reason": "3 graphs"},
    )
    assert cut_off not in " ".join(words.lack_sentences(found))


def test_a_variant_without_a_graph_is_named_and_the_others_have_theirs() -> None:
    value = read(Source("e.zip", experiment_zip(TIMES)))
    assert isinstance(value, Experiment)
    first, second = value.record.variants
    missing = structs.replace(second, settings={**second.settings, "graph_missing": "2 graphs."})
    told = structs.replace(
        first, settings={**first.settings, "graph_missing": "though it is there"}
    )
    record = structs.replace(value.record, variants=[told, missing])
    some = {name: graph for name, graph in value.graphs.items() if name != second.name}
    found = examine(replace(value, record=record, graphs=some))
    notes = [note for note in found.noted if note.code == "graph_not_shown"]
    assert [dict(note.values) for note in notes] == [{"variant": second.name, "reason": "2 graphs"}]
    cache, sentence = answer(found, "cache")
    assert not cache and second.name in sentence and first.name not in sentence
    assert "graph of the model" in words.has_sentence(found)


def test_a_reason_that_some_variants_have_names_them() -> None:
    value = read(Source("e.zip", experiment_zip(TIMES)))
    assert isinstance(value, Experiment)
    short = value.traces["fused"]
    few = short.sampled_runs[short.sampled_runs["block"] < 3]
    profiled = short.profiled_runs
    runs = pd.concat([profiled, few])
    traces = {**value.traces, "fused": replace(short, runs=runs.sort_index())}
    told = answer(examine(replace(value, traces=traces)), "verdict")
    assert told[0] is False
    assert told[1].endswith("Record more of them. This is so of fused, not of all variants.")


def test_inspect_carries_the_same() -> None:
    trace = profile()
    values = inspection(trace)
    assert values["fields"] == fields(trace)
    assert set(values["fields"]) == set(FIELDS)
    assert values["doctor"] == doctor(examine(trace))
    assert [one["figure"] for one in values["doctor"]["figures"]] == list(words.FIGURE_LABELS)
    assert values["doctor"]["lacks"][0] == {"field": "samples", "record": None}


def test_every_field_has_a_label() -> None:
    assert set(words.FIELD_LABELS) == set(FIELDS)


def test_every_answer_has_words() -> None:
    """All codes that the traces of these tests and of the samples do not reach, too."""
    source = (Path(__file__).parents[1] / "analysis" / "doctor.py").read_text(encoding="utf-8")
    pairs = set(re.findall(r'Answer\(\s*"(\w+)",\s*(?:True|False),\s*"(\w+)"', source))
    assert ("latency", "samples") in pairs
    missing = {pair for pair in pairs if pair not in words.ANSWERS and pair[1] != "missing"}
    assert missing == set()


def test_the_format_of_nobody_is_named_as_it_is() -> None:
    found = examine(replace(bare(), meta=Meta("other", "Tool", "2", "GPU")))
    assert words.recognised_sentence(found) == "other, written by Tool 2 on GPU."
    assert found.lacks and all(lack.switch is None for lack in found.lacks)


def test_flops_of_some_heavy_operators_are_no_missing_field() -> None:
    """The file has FLOPs, so the advice must not be to record them."""
    found = examine(bare(op_type=["Add", "Conv2D", "MatMul"], flops=[None, None, 10**6]))
    assert "flops" in found.has
    assert answer(found, "compute_utilisation") == (
        False,
        (
            "Compute utilisation: FLOPs are not known for heavy operators with more than 5 % of "
            "the heavy operators' time."
        ),
    )


def test_flops_do_not_lack_where_nothing_multiplies() -> None:
    found = examine(bare(op_type=["Add", "Relu", "Mul"], inputs=["float32[2]"] * 3))
    assert not any("FLOPs" in sentence for sentence in words.lack_sentences(found))
    assert any("FLOPs" in sentence for sentence in words.lack_sentences(examine(bare())))


def test_a_field_that_too_few_operators_have_is_not_called_known() -> None:
    """FLOPs of one convolution, and none of the other, which takes nine tenths of the time."""
    rows = {
        "name": ["one", "other"],
        "op_type": ["Conv2D", "Conv2D"],
        "dur_ns": [1000, 9000],
        "flops": [2000.0, None],
    }
    some = examine(build_trace(Meta("ascend_kernel_details", "Ascend PyTorch Profiler"), rows))
    assert "FLOPs of some operators" in words.has_sentence(some)
    rows["flops"] = [2000.0, 18000.0]
    every = examine(build_trace(Meta("ascend_kernel_details", "Ascend PyTorch Profiler"), rows))
    assert "FLOPs of some" not in words.has_sentence(every)
    assert "FLOPs" in words.has_sentence(every)


def test_runs_that_were_found_are_not_called_marked() -> None:
    """Two kernels repeat four times in a file without marks: four runs that it does not mark."""
    rows = {
        "name": ["a", "b"] * 4,
        "op_type": ["Add", "Conv2D"] * 4,
        "start_ns": range(0, 80_000, 10_000),
        "dur_ns": [9_000] * 8,
        "run": [0, 0, 1, 1, 2, 2, 3, 3],
    }
    marked = build_trace(Meta("ascend_kernel_details", "Ascend PyTorch Profiler"), rows)
    assert "marked runs" in words.has_sentence(examine(marked))
    found = replace(marked, diagnostics=(Diagnostic("info", "runs_repeated", 4),))
    sentence = words.has_sentence(examine(found))
    assert "marked runs" not in sentence
    assert "runs that it does not mark" in sentence


@pytest.mark.parametrize("format_name", ["kineto", "ascend_trace_view"])
def test_a_file_with_shapes_is_not_told_to_record_shapes_for_sizes(format_name: str) -> None:
    """One switch records shapes and sizes. Shapes without a data type give no sizes."""
    reader = next(one for one in READERS if one.name == format_name)
    assert reader.fields["shapes"] == reader.fields["sizes"]
    rows = {"name": ["a"], "op_type": ["Add"], "dur_ns": [1000]}
    for inputs, remedy in ((None, reader.fields["sizes"]), ("?[8]", "No setting of the")):
        trace = build_trace(Meta(format_name, "a profiler"), {**rows, "inputs": [inputs]})
        [said] = [text for text in words.lack_sentences(examine(trace)) if "read and write" in text]
        assert remedy is not None and remedy in said


def test_memory_over_time_is_not_the_missing_peak_of_a_process() -> None:
    """A folder of Ascend shows 845 MB at most, and said that peak memory is missing."""
    rows = {"name": ["a"], "dur_ns": [1000]}
    found = examine(build_trace(Meta("ascend_kernel_details", "a profiler"), rows))
    said = " ".join(words.lack_sentences(found))
    assert "peak memory of the process" in said


@pytest.mark.parametrize(
    "reader", [one for one in READERS if "`" in one.fields.get("counters", "")]
)
def test_how_to_record_what_is_missing_has_no_marks_of_markdown(reader: Reader) -> None:
    trace = bare()
    found = examine(replace(trace, meta=replace(trace.meta, format=reader.name)))
    [told] = [text for text in words.lack_sentences(found) if "hardware counters" in text]
    assert "--pmc SQ_WAVES" in told and "`" not in told
