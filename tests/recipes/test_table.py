"""The table of a recipe, from experiments whose times can be checked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import (
    Agreement,
    Bandwidth,
    Experiment,
    Outcome,
    OutputDifference,
    Samples,
    Spread,
)
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.messages import Message
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.recipes import (
    Recipe,
    RecipeTable,
    beside_published,
    find,
    fit,
    misfit,
)
from fusescope.analysis.recipes import (
    recipe_table as made_table,
)
from fusescope.analysis.recipes.measures import (
    convolution_from,
    convolution_of,
    is_3x3,
    is_depthwise,
)
from fusescope.analysis.recipes.notes import OF_RECORDING, Note, NoteCode
from fusescope.analysis.wording import recipes as words
from tests.factories import BN, CONV, FUSED, GEMM, RELU, Operator, experiment_zip

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"

MUL: Operator = ("Mul", "Mul", 40, [(1, 1000)], [(1, 1000)])
ADD: Operator = ("Add", "Add", 40, [(1, 1000)], [(1, 1000)])
KERNEL: Operator = ("Mul", "FusedElementwise", 30, [(1, 1000)], [(1, 1000)])
MUL_ADD = {
    "unfused": (MUL, ADD),
    "segments:mul_add": (MUL, ADD),
    "custom:mul_add": (KERNEL,),
    "fused": (MUL, ADD),
}

recipe_table = cache(made_table)  # of one recording and one recipe there is one table


def experiment(
    recipe: Recipe,
    ms: Mapping[str, float],
    operators: Mapping[str, Sequence[Operator]],
    blocks: int = 8,
) -> Experiment:
    """Blocks scatter a little, all variants alike, so that ratios are exact."""
    ordered = {recipe.baseline: ms[recipe.baseline], **ms}
    times = {
        name: [base * (1 + 0.01 * (block % 3)) for block in range(blocks)]
        for name, base in ordered.items()
    }
    made = {name: operators[name] for name in ordered}
    data = experiment_zip(times, made, looks=(blocks,), model_name=recipe.model)
    value = read(Source("x.zip", data))
    assert isinstance(value, Experiment)
    return value


@cache
def mul_add(blocks: int = 8) -> Experiment:
    ms = {"unfused": 4.0, "segments:mul_add": 5.0, "custom:mul_add": 2.0, "fused": 4.0}
    return experiment(find("mul_add"), ms, MUL_ADD, blocks)


@cache
def conv3x3() -> Experiment:
    operators = {
        "unfused": (CONV, BN, RELU, GEMM),
        "only:NchwcTransformer": (CONV, BN, RELU, GEMM),
        "fused": (FUSED, GEMM),
        "int8": (FUSED, GEMM),
    }
    ms = {"unfused": 18.2, "only:NchwcTransformer": 14.0, "fused": 10.0, "int8": 7.5}
    return experiment(find("conv3x3"), ms, operators)


def with_record(whole: Experiment, **fields: Any) -> Experiment:
    return replace(whole, record=msgspec.structs.replace(whole.record, **fields))


def with_variant(whole: Experiment, name: str, **fields: Any) -> Experiment:
    """The experiment with other facts of one variant."""
    variants = [
        msgspec.structs.replace(one, **fields) if one.name == name else one
        for one in whole.record.variants
    ]
    return with_record(whole, variants=variants)


def value(table: RecipeTable, variant: str, code: str) -> float | None:
    [row] = [row for row in table.rows if row.step.variant == variant]
    quantity = row.cells[code].quantity
    assert quantity is not None
    return quantity.value


def column(table: RecipeTable, code: str) -> list[str]:
    return [words.cell_text(code, row.cells[code]) for row in table.rows]


def notes(table: RecipeTable) -> dict[str, Note]:
    return {note.code: note for note in table.notes}


def test_ratios_are_the_verdicts() -> None:
    whole = mul_add()
    table = recipe_table(find("mul_add"), whole)
    assert [row.step.variant for row in table.rows] == list(find("mul_add").variants)
    assert column(table, "speedup_first") == [
        "–", "0.80× (0.80× to 0.80×)", "2.00× (2.00× to 2.00×)", "1.000× (0.999× to 1.001×)",
    ]  # fmt: skip
    assert column(table, "latency_change") == ["–", "+25.0 %", "−50.0 %", "0.0 %"]
    assert column(table, "throughput_change") == ["–", "−20.0 %", "+100.0 %", "0.0 %"]
    before = [value(table, name, "speedup_previous") for name in find("mul_add").variants]
    assert before == [None, pytest.approx(0.8), pytest.approx(2.5), pytest.approx(0.5)]
    sides = [side_of_variant(whole, name) for name in ("segments:mul_add", "custom:mul_add")]
    verdict = compare(sides[0], sides[1]).verdict
    assert table.rows[2].previous == verdict
    cell = table.rows[2].cells["speedup_previous"]
    assert verdict.interval is not None
    assert (cell.low, cell.high) == (verdict.interval.low, verdict.interval.high)
    assert words.missing_text(table.rows[0].cells["speedup_first"]) == "nothing comes before it"
    # The headline is against what a user would run; the cut stands beside it.
    assert table.cut == verdict
    assert words.answer_text(table) == (
        "custom kernel is 2.00× faster than unfused (95 % interval 2.00× to 2.00×). "
        "Speedup over the same cut without the kernel: 2.50× (2.50× to 2.50×)."
    )


def test_figures_are_those_of_a_comparison() -> None:
    whole = conv3x3()
    table = recipe_table(find("conv3x3"), whole)
    first = side_of_variant(whole, "unfused")
    for name in find("conv3x3").variants[1:]:
        compared = compare(first, side_of_variant(whole, name))
        for figure in compared.figures:
            if figure.code in table.columns:
                assert value(table, name, figure.code) == figure.candidate.value
                assert value(table, "unfused", figure.code) == figure.baseline.value
    assert {"latency", "compute_utilisation", "cache_utilisation"} <= set(table.columns)


def test_operators_before_and_after() -> None:
    table = recipe_table(find("mul_add"), mul_add())
    assert column(table, "operators") == ["2", "2", "1", "2"]
    assert [row.graph for row in table.rows] == [
        ("Mul", "Add"), ("Mul", "Add"), ("FusedElementwise",), ("Mul", "Add"),
    ]  # fmt: skip
    assert words.graph_text(table.rows[0].graph) == "Mul → Add"
    # One tensor of 1000 float32 between the two, written once and read once.
    assert column(table, "intermediate_bytes") == ["~8.00 kB", "~8.00 kB", "~0 B", "~8.00 kB"]
    assert column(table, "intermediate_removed") == ["~0 B", "~0 B", "~8.00 kB", "~0 B"]
    told = {row.variant: row.cells["operators"] for row in table.published}
    assert {name: words.cell_text("operators", cell) for name, cell in told.items()} == {
        "unfused": "2",
        "custom:mul_add": "1",
    }
    assert words.column_basis(table, "operators") == "measured"
    assert words.column_basis(table, "intermediate_bytes") == "modelled"


def test_3x3_convolutions_by_hand() -> None:
    table = recipe_table(find("conv3x3"), conv3x3())
    assert column(table, "conv3x3_time") == ["100 µs", "100 µs", "110 µs", "110 µs"]
    # 8 x 8 outputs have 3·8 - 2 valid taps an axis; 3 channels, 4 filters; the peak is 1e11.
    flops = 2 * (3 * 8 - 2) ** 2 * 3 * 4
    assert value(table, "unfused", "conv3x3_utilisation") == pytest.approx(flops / 100e-6 / 1e11)
    assert column(table, "latency_change")[-1] == "−58.8 %"
    assert column(table, "throughput_change")[-1] == "+142.7 %"
    before, after = (table.published_at(name) for name in ("unfused", "int8"))
    assert before is not None and after is not None
    assert words.cell_text("latency", before.cells["latency"]) == "18.2 ms"
    quantity = after.cells["cache_utilisation"].quantity
    assert quantity is not None and quantity.basis == "counter"
    assert table.published_at("fused") is None
    assert "top5_accuracy_change" not in table.columns


def test_convolutions_by_the_shapes_of_their_inputs() -> None:
    usual = [(1, 64, 56, 56), (64, 64, 3, 3), (64,)]
    depthwise = [(1, 144, 56, 56), (144, 1, 3, 3)]
    grouped = [(1, 144, 56, 56), (144, 2, 3, 3)]
    quantised = [(1, 64, 56, 56), (), (), (64, 64, 3, 3), (64,), (64,), (), (), (64,)]
    grey = [(1, 1, 28, 28), (32, 1, 5, 5)]
    pointwise = [(1, 64, 56, 56), (64, 64, 1, 1)]
    found = [convolution_from(s) for s in (usual, depthwise, grouped, quantised, grey, pointwise)]
    known = [one for one in found if one is not None]
    assert [is_3x3(one) for one in known] == [True, True, True, True, False, False]
    assert [is_depthwise(one) for one in known] == [False, True, False, False, False, False]
    for shapes in ([], [(1, 2)], [(1, 3), (3, 3)], [(1, 3, 8, 8), (3, 0, 3, 3)]):
        assert convolution_from(shapes) is None


def test_a_convolution_whose_weights_the_profile_leaves_out() -> None:
    """A quantised one as ONNX Runtime runs it: channels last, weights packed."""
    shapes = {"x": (1, 28, 28, 1), "s": (), "z": (), "w": (32, 1, 3, 3), "y": (1, 28, 28, 32)}
    graph = Graph(
        (Node("c", "QLinearConv", ("x", "s", "z", "w", "s", "z"), ("y",)),),
        tuple(Tensor(name, "uint8", shape) for name, shape in shapes.items()),
        ("x",),
        ("y",),
    )
    found = convolution_of(graph.nodes[0], graph)
    assert found is not None and is_3x3(found)
    assert not is_depthwise(found), "one group, though its input has one channel"
    unknown = msgspec.structs.replace(graph, tensors=())
    assert convolution_of(graph.nodes[0], unknown) is None
    whole = conv3x3()
    packed: Operator = ("a/Conv", "FusedConv", 110, [(1, 3, 8, 8)], [(1, 4, 8, 8)])
    trace = experiment(
        find("conv3x3"), dict.fromkeys(find("conv3x3").variants, 1.0),
        dict.fromkeys(find("conv3x3").variants, (packed, GEMM)),
    ).traces["int8"]  # fmt: skip
    told = replace(whole, traces={**whole.traces, "int8": trace})
    assert column(recipe_table(find("conv3x3"), told), "conv3x3_time")[-1] == "110 µs"
    blind = replace(told, graphs={k: v for k, v in whole.graphs.items() if k != "int8"})
    cell = recipe_table(find("conv3x3"), blind).rows[-1].cells["conv3x3_time"]
    assert words.missing_text(cell) == "no such operator ran"


def test_mean_and_median_of_runs_without_the_control() -> None:
    recipe = find("three_modes")
    operators = {
        "eager": (CONV, BN, RELU, GEMM),
        "unfused": (CONV, BN, RELU, GEMM),
        "fused": (FUSED, GEMM),
    }
    whole = experiment(recipe, {"eager": 52.0, "unfused": 18.0, "fused": 12.0}, operators)
    samples = Samples([0, 0, 0, 0], [0, 0, 1, 2], [1, 2, 1, 1], [10, 999, 20, 60], [1, 1, 1, 1])
    table = recipe_table(recipe, with_variant(whole, "unfused", samples=samples))
    assert value(table, "unfused", "latency_mean") == 30
    assert value(table, "unfused", "latency_median") == 20
    assert column(table, "fused_nodes") == ["0", "0", "1"]
    assert column(table, "operators") == ["4", "4", "2"]
    assert column(table, "memory") == ["8.00 MB", "10.0 MB", "8.00 MB"]
    assert dict(notes(table)["fewer_runs"].values) == {"runs": 3, "wanted": 100}
    enough = replace(recipe, mean_runs=3)
    assert "mean_of" in notes(recipe_table(enough, whole))
    assert "memory" in notes(table)
    alone = replace(recipe, columns=tuple(one for one in recipe.columns if one != "allocator"))
    assert "memory" not in notes(recipe_table(alone, whole))  # which speaks of the allocator


def test_the_allocator_stands_beside_memory() -> None:
    recipe = find("mul_add")
    table = recipe_table(recipe, mul_add())
    assert "allocator" not in table.columns
    whole = with_variant(mul_add(), "unfused", settings={"memory_arena": "one a session"})
    table = recipe_table(recipe, whole)
    assert column(table, "allocator") == ["one per session", "–", "–", "–"]
    assert words.column_basis(table, "allocator") == "–", "a text is not a figure"


def test_what_nobody_has_is_no_column() -> None:
    table = recipe_table(find("conv3x3"), conv3x3())
    assert "agreement_top1" not in table.columns
    agreement = Agreement("y", 10, 16, 1, 15, 0.5625, 0.9375)
    table = recipe_table(find("conv3x3"), with_variant(conv3x3(), "int8", agreement=agreement))
    assert column(table, "agreement_top1")[-1] == "56.3 %"
    assert column(table, "agreement_top5")[-1] == "93.8 %"
    assert column(table, "agreement_top1")[0] == "–", "with itself it agrees by definition"
    sentence = words.note_sentence(notes(table)["agreement"])
    assert "16 inputs other than" in sentence and "15 classes" in sentence
    assert "not accuracy" in sentence
    assert not notes(table)["agreement"].is_doubt
    poor = Agreement("y", 10, 16, 1, 1, 1.0, 1.0)
    table = recipe_table(find("conv3x3"), with_variant(conv3x3(), "int8", agreement=poor))
    assert notes(table)["agreement"].is_doubt


def test_doubts() -> None:
    recipe = find("mul_add")
    table = recipe_table(recipe, mul_add(blocks=3))
    few = words.note_sentence(notes(table)["few_blocks"])
    assert few.startswith("Only 3 blocks were recorded.")
    assert table.rows[2].cells["speedup_first"].low is None
    assert "few_blocks" not in notes(recipe_table(recipe, mul_add()))
    wrong = with_variant(mul_add(), "custom:mul_add", output_difference=OutputDifference(1.0, 2e-3))
    sentence = words.note_sentence(notes(recipe_table(recipe, wrong))["outputs_differ"])
    assert "custom:mul_add" in sentence and "0.002" in sentence
    quantised = with_variant(conv3x3(), "int8", output_difference=OutputDifference(1.0, 0.3))
    assert "outputs_differ" not in notes(recipe_table(find("conv3x3"), quantised))
    memory = Bandwidth(None, 1.0, Spread(1.0, 1.0), 1000)
    near = msgspec.structs.replace(conv3x3().record.peaks, bandwidths=(memory,))
    recipe_of_roof = replace(find("conv3x3"), columns=("latency", "roofline_share"))
    table = recipe_table(recipe_of_roof, with_record(conv3x3(), peaks=near))
    assert "main memory" in words.note_sentence(notes(table)["over_roof"])
    low = msgspec.structs.replace(conv3x3().record.peaks, gemm_flops_per_s=1e6)
    table = recipe_table(find("conv3x3"), with_record(conv3x3(), peaks=low))
    sentence = words.note_sentence(notes(table)["over_peak"])
    assert "over 100 %" in sentence and "Products of float32 numbers" in sentence
    broken = Outcome(8, 0, "interrupted", None, 2)
    table = recipe_table(recipe, with_record(mul_add(), outcome=broken))
    told = notes(table)
    assert words.note_sentence(told["stopped_interrupted"]) == (
        "The recording was interrupted after 8 blocks."
    )
    assert told["stopped_interrupted"].is_doubt and "load_seen" in told
    twin = find("conv_bn_clip")
    other = replace(recipe, threads=7, batch=16)
    table = recipe_table(other, mul_add())
    assert dict(notes(table)["other_threads"].values) == {"wanted": 7, "got": 2}
    assert dict(notes(table)["other_batch"].values) == {"wanted": 16, "got": 1}
    assert twin.threads == 2
    doubts = [note.is_doubt for note in table.notes]
    assert doubts == sorted(doubts, reverse=True)


def loaded() -> RecipeTable:
    """conv3x3, ended by its budget after 6 blocks, recorded while other work ran."""
    whole = conv3x3()
    machine = msgspec.structs.replace(whole.record.machine, load_before=3.0, load_after=2.5)
    outcome = Outcome(6, 0, "seconds", -4.0, 2)
    return recipe_table(find("conv3x3"), with_record(whole, machine=machine, outcome=outcome))


def test_doubts_of_compare_stand_beside_the_table_once() -> None:
    table = loaded()
    told = {note.code: words.note_sentence(note) for note in table.notes if note.is_doubt}
    assert told["stopped_seconds"] == "The time budget ended the recording after 6 blocks."
    assert told["load"].startswith("Load average 3.0 before the recording and 2.5 after it, on 2 ")
    assert "more than a fifth of the blocks" in told["load_seen"]
    codes = [note.code for note in table.notes]
    assert len(set(codes) - {"same_graph"}) == len([c for c in codes if c != "same_graph"])
    sides = (side_of_variant(table.experiment, name) for name in find("conv3x3").compare)
    compared = {note.code for note in compare(*sides).diagnostics if note.severity == "warning"}
    pair = {"profiler_inflation": "inflation"}
    bearing = OF_RECORDING | {"profiler_inflation", "weak_attribution", "mean_differs"}
    assert {pair.get(code, code) for code in compared & bearing} == told.keys() & (
        OF_RECORDING | {"inflation", "weak_attribution", "mean_differs"}
    )


def test_profiled_figures_say_so_and_how_much_the_profiler_adds() -> None:
    """Operators of a profiled run: 100 + 30 + 20 + 50 µs and five gaps of 2 µs, in a run of 200."""
    ops = dict.fromkeys(find("conv3x3").variants, (CONV, BN, RELU, GEMM))
    fast = experiment(find("conv3x3"), dict.fromkeys(ops, 0.14) | {"int8": 0.1}, ops)
    table = recipe_table(find("conv3x3"), fast)
    assert words.column_basis(table, "conv3x3_time") == "measured, profiled"
    assert words.column_basis(table, "conv3x3_utilisation") == "modelled, profiled"
    assert words.column_basis(table, "latency") == "measured"
    assert words.column_basis(table, "compute_utilisation") == "modelled"
    # 210 / (140 x 1.01) and 210 / (100 x 1.01): the trimmed mean over blocks of +0, +1 and +2 %.
    note = notes(table)["inflation"]
    assert note.is_doubt
    assert words.note_sentence(note).startswith(
        "Profiled runs take 1.49× (layout) to 2.08× (precision) the time of un-profiled ones"
    )
    assert "inflation" not in notes(recipe_table(find("mul_add"), mul_add())), "no profiled figure"


def test_doubts_about_the_pair_name_it() -> None:
    pair = {"before": "a", "after": "b"}
    weak = Note("weak_attribution", True, {**pair, "dispatch_ns": -529e3, "delta_ns": -1.53e6})
    assert "the change from a to b." in words.note_sentence(weak)
    both = "The mean run changed by −1.53 ms. Beside the operators that compute: idle time −529 µs."
    assert both in words.note_sentence(weak)
    lost = Note("weak_attribution", True, {**pair, "slow_ns": 5e7, "delta_ns": 46.6e6})
    assert "slow executions +50.0 ms" in words.note_sentence(lost)
    mean = Note("mean_differs", True, {**pair, "mean": -0.4, "typical": -0.16})
    assert "the mean run changed by −40.0 %" in words.note_sentence(mean)
    assert "the typical run changed by −16.0 %" in words.note_sentence(mean)


def test_our_times_and_their_ratio_are_those_of_the_verdict() -> None:
    """The verdict's ratio is paired inside blocks: typical times by themselves have 4.00."""
    sample = read_path(SAMPLES / "recipes/conv3x3.zip")
    assert isinstance(sample, Experiment)
    both = beside_published(find("conv3x3"), sample.record)
    assert both is not None
    (_, before), (_, after) = both[1].values
    verdict = paired_verdict(sample.record, "unfused", "int8")
    assert before / after == pytest.approx(verdict.speedup)
    assert "4.01×, latency −75.1 %" in words.published_line(find("conv3x3"), both[1])


def test_published_figures_have_their_own_basis() -> None:
    table = recipe_table(find("conv3x3"), conv3x3())
    assert words.published_basis(table, "latency") == "measured"
    assert words.published_basis(table, "cache_utilisation") == "counter"
    assert words.published_basis(table, "output_difference") == ""


@pytest.mark.parametrize(("name", "code"), [("conv3x3", "latency"), ("mul_add", "operators")])
def test_ours_beside_the_published_is_that_of_the_table(name: str, code: str) -> None:
    recipe, whole = find(name), {"conv3x3": conv3x3, "mul_add": mul_add}[name]()
    both = beside_published(recipe, whole.record)
    assert both is not None
    published, ours = both
    assert published.code == ours.code == code and ours.values
    table = recipe_table(recipe, whole)
    for variant, figure in ours.values:
        assert figure == pytest.approx(value(table, variant, code))
    told = find("conv_bn_relu").published[1:2]
    change = replace(recipe, published=told, source_message=Message("x"))
    last = replace(change.published[0], values=((recipe.variants[-1], 0.8),))
    both = beside_published(replace(change, published=(last,)), whole.record)
    assert both is not None
    [(variant, figure)] = both[1].values
    assert figure == pytest.approx(value(table, variant, "throughput_change"))
    profiled = find("depthwise").published
    assert beside_published(replace(recipe, published=profiled), whole.record) is None


def test_steps_that_run_one_graph_are_told() -> None:
    table = recipe_table(find("mul_add"), mul_add())
    assert [dict(n.values) for n in table.notes if n.code == "same_graph"] == [
        {"variant": "fused", "other": "unfused"}
    ]
    same = [dict(n.values) for n in recipe_table(find("conv3x3"), conv3x3()).notes
            if n.code == "same_graph"]  # fmt: skip
    assert {"variant": "int8", "other": "fused"} in same
    assert not any(one["variant"] == "fused" for one in same)


def test_every_note_has_words() -> None:
    assert set(words.NOTES) == set(get_args(NoteCode)) and len(words.NOTES) > 10


def test_experiments_that_do_not_fit() -> None:
    recipe = find("mul_add")
    assert misfit(recipe, mul_add().record) is None
    other = with_record(
        mul_add(), model=msgspec.structs.replace(mul_add().record.model, name="resnet50")
    )
    of_another = misfit(recipe, other.record)
    assert of_another is not None and of_another.what == (
        "This experiment does not fit the recipe mul_add: it is of the model 'resnet50', not of "
        "'mynet'"
    )
    mine = with_record(
        mul_add(), model=msgspec.structs.replace(mul_add().record.model, source="file")
    )
    assert misfit(recipe, mine.record) is not None, "a file of the same name is another model"
    settings = msgspec.structs.replace(mul_add().record.settings, baseline="fused\x1b[2J")
    beside_another = misfit(recipe, with_record(mul_add(), settings=settings).record)
    assert beside_another is not None and beside_another.what == (
        "This experiment does not fit the recipe mul_add: its outputs were compared with those of "
        r"'fused\x1b[2J', not with those of 'unfused'"
    )
    with pytest.raises(FuseScopeError, match="missing: only:NchwcTransformer, int8"):
        lacking = {"unfused": (CONV, GEMM), "fused": (FUSED, GEMM)}
        whole = experiment(find("conv3x3"), {"unfused": 2.0, "fused": 1.0}, lacking)
        fit(find("conv3x3"), whole.record, "x.zip")
    with pytest.raises(FuseScopeError, match=r"x\.zip"):
        recipe_table(find("composite"), mul_add())


def test_a_recording_of_this_machine_tells_how_long_the_next_takes() -> None:
    recipe = find("mul_add")
    record = mul_add().record
    slow = [
        msgspec.structs.replace(
            one,
            samples=msgspec.structs.replace(
                one.samples, wall_ns=[ns * 1000 for ns in one.samples.wall_ns]
            ),
        )
        for one in record.variants
    ]
    slower = msgspec.structs.replace(record, variants=slow)
    assert recipe.seconds(slower) > recipe.seconds(record)


def test_a_recording_that_says_what_it_took_is_the_estimate() -> None:
    recipe = find("mul_add")
    record = mul_add().record
    settings = msgspec.structs.replace(
        record.settings, rounds=recipe.rounds, profiled_rounds=recipe.profiled_rounds
    )
    outcome = msgspec.structs.replace(record.outcome, preparation_s=40.0, block_s=7.0)
    told = msgspec.structs.replace(record, settings=settings, outcome=outcome)
    assert recipe.seconds(told) == 40 + 7 * recipe.blocks
    assert recipe.seconds(told, blocks=2) == 40 + 7 * 2
    fewer = msgspec.structs.replace(told, settings=msgspec.structs.replace(settings, rounds=1))
    assert recipe.seconds(fewer) == recipe.seconds(msgspec.structs.replace(record))
